# SPDX-License-Identifier: MIT
"""Commands work without POSIX-only features, as on Windows and partly macOS.

A process simulates such a system: modules cannot be imported, attributes of ``os`` and ``signal``
are removed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.selection import first_always

MODULES = (
    "fcntl",
    "grp",
    "pty",
    "pwd",
    "readline",
    "resource",
    "syslog",
    "termios",
    "tty",
)
OS_NAMES = (
    "O_CLOEXEC",
    "O_DIRECTORY",
    "O_NOFOLLOW",
    "O_NONBLOCK",
    "chown",
    "fchmod",
    "fork",
    "forkpty",
    "getegid",
    "geteuid",
    "getgid",
    "getpgid",
    "getuid",
    "killpg",
    "mkfifo",
    "openpty",
    "posix_fadvise",
    "pread",
    "sched_getaffinity",
    "setsid",
    "sysconf",
    "uname",
    "wait4",
    "waitid",
)
SIGNAL_NAMES = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "alarm", "setitimer")
MMAP_NAMES = ("MAP_PRIVATE", "MAP_SHARED", "PROT_READ", "PROT_WRITE", "MADV_SEQUENTIAL")

#: Runs first, and removes the above.
PRELUDE = f"""
import mmap, os, signal, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {MODULES!r}:
            raise ModuleNotFoundError(f"no module named {{name}} on this system", name=name)

sys.meta_path.insert(0, Absent())
for name in {MODULES!r}:
    sys.modules.pop(name, None)
for module, names in ((os, {OS_NAMES!r}), (signal, {SIGNAL_NAMES!r}), (mmap, {MMAP_NAMES!r})):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
COMMAND = PRELUDE + "from cffpy.__main__ import main\nmain()\n"
#: Libraries that some modules need. Other systems have other builds of them, so they are
#: imported before names are taken away.
LIBRARIES = ("numpy", "PIL.Image", "distributed", "fsspec", "textual.app", "textual.widgets")
IMPORTS = (
    f"""
import importlib
for name in {LIBRARIES!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        pass
"""
    + PRELUDE
    + """
import importlib, pkgutil
import cffpy
for module in pkgutil.walk_packages(cffpy.__path__, "cffpy."):
    if module.name != "cffpy.__main__":
        importlib.import_module(module.name)
"""
)

LINES = [
    ["dump", "FILE"],
    ["dump", "--annotate", "--dump-shaders", "FILE"],
    ["info", "FILE"],
    ["passes", "--json", "FILE"],
    ["draws", "FILE"],
    ["diff", "FILE", "OTHER"],
    ["shaders", "FILE"],
    ["decompile", "FILE"],
    ["edit", "--nop-draw", "#0", "FILE", "-o", "-"],
    ["repair", "FILE", "-o", "OUT"],
]


def run(script: list[str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, *script, *arguments]
    return subprocess.run(command, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("line", first_always(LINES), ids=" ".join)
def test_commands(
    samples: Path,
    tmp_path: Path,
    run_cffpy: Callable[..., subprocess.CompletedProcess[bytes]],
    line: list[str],
) -> None:
    """Output, messages, exit code and files are those of a system with all features."""
    names = {
        "FILE": str(samples / "a630-triangle.rd.gz"),
        "OTHER": str(next(samples.glob("a630-indirect.*"))),
        "OUT": "out.rd",
    }
    arguments = [names.get(word, word) for word in line]
    there, here = tmp_path / "there", tmp_path / "here"
    done = run(["-c", COMMAND], there, *arguments)
    here.mkdir()
    wanted = run_cffpy(*arguments, cwd=here)
    assert wanted.returncode in (0, 1)
    assert (done.returncode, done.stdout, done.stderr) == (
        wanted.returncode,
        wanted.stdout,
        wanted.stderr,
    )
    assert files(there) == files(here)


@pytest.mark.slow
def test_every_module_is_imported(tmp_path: Path) -> None:
    done = run(["-c", IMPORTS], tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_use_of_what_is_absent_is_found(tmp_path: Path) -> None:
    for statement in ("import fcntl", "import os; os.geteuid()", "import signal; signal.SIGPIPE"):
        assert run(["-c", PRELUDE + statement], tmp_path).returncode == 1


#: ``os.geteuid`` and the like.
USE = re.compile(rf"\b(?:os\.(?:{'|'.join(OS_NAMES)})|signal\.(?:{'|'.join(SIGNAL_NAMES)}))\b")


def without_guard(text: str) -> list[str]:
    """Names that are used without ``hasattr(os, "geteuid")`` anywhere in the file."""
    found = [match.split(".") for match in USE.findall(text)]
    return [".".join(name) for name in found if 'hasattr({}, "{}")'.format(*name) not in text]


def test_each_use_is_guarded() -> None:
    found = {
        str(path.relative_to(CHECKOUT)): names
        for path in sorted((CHECKOUT / "cffpy").rglob("*.py"))
        if (names := without_guard(path.read_text("utf-8")))
    }
    assert found == {}


def test_a_use_without_a_guard_is_found() -> None:
    guarded = 'if hasattr(os, "fork"):\n    os.fork()\n'
    assert without_guard(guarded + "os.getuid()\nself.os.path\n") == ["os.getuid"]


def test_no_path_of_one_system_is_named() -> None:
    """``/dev/null`` is ``os.devnull``; of devices and /proc only what is guarded is opened."""
    found = set()
    for path in (CHECKOUT / "cffpy").rglob("*.py"):
        found |= set(re.findall(r"""["'](/(?:dev|proc|tmp)[/"'][^"']*)""", path.read_text("utf-8")))
    # of dumps with two processes, and of tables made by two: on Linux only
    assert found == {"/proc/loadavg", "/proc/self/task"}
