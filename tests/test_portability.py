# SPDX-License-Identifier: MIT
"""Commands work without POSIX-only features, as on Windows and partly macOS.

The absence is simulated in a process: modules that cannot be imported, attributes of ``os`` and
``signal`` that are not there.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

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

#: Run before anything else: takes the above away.
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
    ["disasm", "--all", "FILE"],
    ["decompile", "FILE"],
    ["edit", "--nop-draw", "0", "FILE", "-o", "-"],
    ["repair", "FILE", "-o", "OUT"],
]


def run(script: list[str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, *script, *arguments]
    return subprocess.run(command, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_commands(samples: Path, tmp_path: Path, line: list[str]) -> None:
    """Output, messages, exit code and files are those of a system that has it all."""
    names = {
        "FILE": str(samples / "a630-triangle.rd.gz"),
        "OTHER": str(next(samples.glob("a630-indirect.*"))),
        "OUT": "out.rd",
    }
    arguments = [names.get(word, word) for word in line]
    there, here = tmp_path / "there", tmp_path / "here"
    done = run(["-c", COMMAND], there, *arguments)
    wanted = run(["-m", "cffpy"], here, *arguments)
    assert wanted.returncode in (0, 1)
    assert (done.returncode, done.stdout, done.stderr) == (
        wanted.returncode,
        wanted.stdout,
        wanted.stderr,
    )
    assert files(there) == files(here)


def test_every_module_is_imported(tmp_path: Path) -> None:
    done = run(["-c", IMPORTS], tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_use_of_what_is_absent_is_found(tmp_path: Path) -> None:
    for statement in ("import fcntl", "import os; os.geteuid()", "import signal; signal.SIGPIPE"):
        assert run(["-c", PRELUDE + statement], tmp_path).returncode == 1


@pytest.mark.parametrize("names", [OS_NAMES, SIGNAL_NAMES], ids=["os", "signal"])
def test_each_use_is_guarded(names: tuple[str, ...]) -> None:
    """``os.geteuid`` stands only in a file that asks ``hasattr(os, "geteuid")`` before."""
    for path in sorted((CHECKOUT / "cffpy").rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in ("os", "signal")
                and node.attr in names
            ):
                guard = f'hasattr({node.value.id}, "{node.attr}")'
                assert guard in text, f"{path.relative_to(CHECKOUT)}: {node.attr}"


def test_no_path_of_one_system_is_named() -> None:
    """``/dev/null`` is ``os.devnull``; of devices and /proc only what is guarded is opened."""
    for path in sorted((CHECKOUT / "cffpy").rglob("*.py")):
        strings = (
            node.value
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        named = {text for text in strings if text.startswith(("/dev/", "/proc/", "/tmp"))}
        assert named <= {"/proc/loadavg"}  # of dumps with two processes: on Linux only
