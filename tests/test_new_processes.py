# SPDX-License-Identifier: MIT
"""A command in a new process does what it does in a fork of the server, which other tests use.

Two cases run always, all of them with ``--new-processes``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_server import IS_POSSIBLE, CommandServer

#: Cases that run without ``--new-processes``: dump, which has a start of its own, and another.
ALWAYS = ("dump", "passes")

_GMEM = "a660-frame-gmem.rd"
_TRIANGLE = "a630-triangle.rd.gz"

CASES = {
    "dump": ("dump", _TRIANGLE),
    "dump, summary": ("dump", "-s", "--color", "a220-triangle.rd"),
    "dump, standard input": ("dump", "--unit-test", "-"),
    "dump of a broken file": ("dump", "damaged-gzip.rd.gz"),
    "dump of another edition": ("dump", "--edition", "mesa-25.3", _GMEM),
    "dump with a wrong option": ("dump", "--no-such-option", _TRIANGLE),
    "crashdec": ("crashdec", "a660-textures.rd"),
    "info": ("info", _TRIANGLE),
    "info, JSON": ("info", "--json", "damaged.rd.gz"),
    "passes": ("passes", _GMEM),
    "passes, JSON": ("passes", "--json", "a830-frame-gmem.rd"),
    "draws": ("draws", _GMEM),
    "state": ("state", "--at", "#0", _GMEM),
    "tiles": ("tiles", "a660-frame-binning.rd"),
    "vsc": ("vsc", "a660-frame-binning.rd"),
    "layout": ("layout", "--help"),
    "diff": ("diff", "a430-depth-good.rd", "a430-depth-bad.rd"),
    "check": ("check", "a430-depth-bad.rd"),
    "find": ("find", "RB_MRT[0].CONTROL", _TRIANGLE),
    "sql": ("sql", _TRIANGLE, "select count(*) from draws"),
    "shaders": ("shaders", "a660-pictures.rd"),
    "decompile": ("decompile", _TRIANGLE),
    "export": ("export", "--help"),
    "edit": ("edit", "--help"),
    "db show": ("db", "show", "RB_MRT[0].CONTROL", "--gpu", "630"),
    "schema": ("schema", "passes"),
    "completion": ("completion", "bash"),
    "version": ("--version",),
    "no command": (),
    "a file that is not there": ("passes", "nowhere.rd"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        chosen = CASES if metafunc.config.getoption("--new-processes") else ALWAYS
        metafunc.parametrize("case", chosen)


def test_a_new_process_does_the_same(
    case: str, command_server: CommandServer | None, samples: Path
) -> None:
    if command_server is None:
        pytest.skip("without forks, all tests start new processes")
    environment = dict(os.environ)
    given = (samples / "a220-triangle.rd").read_bytes()
    alone = subprocess.run(
        [sys.executable, "-m", "cffpy", *CASES[case]],
        input=given,
        capture_output=True,
        cwd=samples,
        env=environment,
        timeout=120,
    )
    forked = command_server.run(CASES[case], environment, input=given, cwd=samples, timeout=120)
    assert (alone.returncode, alone.stdout, alone.stderr) == (
        forked.returncode,
        forked.stdout,
        forked.stderr,
    )


def test_there_are_thirty_cases() -> None:
    assert len(CASES) == 30
    assert set(ALWAYS) < set(CASES)


@pytest.mark.skipif(not IS_POSSIBLE, reason="without forks, there is no server")
def test_the_server_needs_no_optional_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("duckdb", "lupa", "numpy", "PIL", "pyarrow"):
        (tmp_path / f"{name}.py").write_text("raise ModuleNotFoundError")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}")
    server = CommandServer()
    try:
        assert server.run(["--version"], os.environ, timeout=60).stdout.startswith(b"cffpy")
    finally:
        server.close()
