# SPDX-License-Identifier: MIT
"""cffpy index, and cffpy find on an index, run as users run them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.command_server import Run

pytest.importorskip("duckdb")
if find_spec("pyarrow") is None:  # not imported: it would stay mapped for tests of peak memory
    pytest.skip("pyarrow is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def folder(samples: Path, tmp_path_factory: pytest.TempPathFactory, run_cffpy: Run) -> Path:
    """A folder with captures, and an index of them, named relatively."""
    path = tmp_path_factory.mktemp("night")
    (path / "captures").mkdir()
    for name in ("a660-frame-gmem.rd", "a660-frame-sysmem.rd", "damaged.rd.gz"):
        shutil.copy(samples / name, path / "captures")
    done = run_cffpy("index", "build", "captures", "-o", "night.index", "--jobs", "1", cwd=path)
    assert (done.returncode, done.stderr) == (0, b"")
    text = "snapshot 1: 3 captures, 3 decoded (1 damaged), 0 failed, 0 unchanged, 0 removed\n"
    assert done.stdout.decode() == text
    return path


@pytest.mark.slow
def test_find(folder: Path, run_cffpy: Run) -> None:
    where = "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS"
    for options in ((), ("--json",), ("--jsonl",), ("--count",), ("--first",)):
        of_index = run_cffpy("find", "night.index", "--where", where, *options, cwd=folder)
        of_files = run_cffpy("find", where, "captures", *options, cwd=folder)
        assert of_index.stdout == of_files.stdout
        assert of_index.stderr == of_files.stderr
        assert of_index.returncode == of_files.returncode == 1  # one is damaged
    both = run_cffpy("find", "--count", where, "night.index", "captures", cwd=folder)
    assert both.stdout.count(b"\n") == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("find", "--where", "1", "--all", "night.index"), "--all needs the captures"),
        (("find", "--where", "1", "--gpu", "630", "night.index"), "chosen when it is built"),
        (("find", "--where", "1 ==", "night.index"), "filter, column"),
        (("index", "sql", "captures", "SELECT 1"), "there is no index; cffpy index build"),
        (("index", "values", "night.index", "NO_SUCH"), "no draw of the index has a register"),
        (("index", "shader", "night.index", "00000000"), "no program of the index"),
        (("index", "shader", "night.index", "x"), "is not a digest"),
        (("index", "build", "captures", "-o", "x", "--scheduler", "y", "--jobs", "1"), "jobs"),
    ],
)
def test_errors_are_one_line(
    folder: Path, run_cffpy: Run, arguments: tuple[str, ...], message: str
) -> None:
    done = run_cffpy(*arguments, cwd=folder)
    assert done.returncode != 0
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.slow
def test_builds(folder: Path, run_cffpy: Run, tmp_path: Path) -> None:
    done = run_cffpy("index", "build", "--json", "captures", "-o", tmp_path / "i", cwd=folder)
    document = json.loads(done.stdout)
    assert (document["schema"], document["decoded"]) == ("cffpy.index-build/1", 3)
    done = run_cffpy("index", "build", "missing", "captures", "-o", tmp_path / "i", cwd=folder)
    assert done.returncode == 1
    assert b"missing: No such file or directory\n" in done.stderr
    assert b"4 captures, 0 decoded (0 damaged), 1 failed, 3 unchanged" in done.stdout


@pytest.mark.slow
def test_without_the_libraries(folder: Path) -> None:
    code = (
        "import sys; sys.modules['duckdb'] = sys.modules['pyarrow'] = None\n"
        "sys.modules['distributed'] = sys.modules['fsspec'] = None\n"
        "from cffpy.__main__ import main; sys.exit(main())"
    )
    for arguments in (
        ("index", "sql", "night.index", "SELECT 1"),
        ("index", "build", "captures", "-o", "x"),
        ("find", "--where", "1", "night.index"),
    ):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, cwd=folder)
        assert done.returncode == 1
        assert b"pip install 'cffpy[data]'" in done.stderr
        assert done.stderr.count(b"\n") == 1
