# SPDX-License-Identifier: MIT
"""Files that commands write: whole or not at all, through no link, never over input files."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cffpy.__main__ import run
from cffpy.cli.forms import write_output
from cffpy.errors import CffpyError
from tests.command_server import Run
from tests.conftest import CHECKOUT
from tests.interrupts import take_interrupts
from tests.selection import first_always


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    path, link, hard = (tmp_path / name for name in ("in", "link", "hard"))
    path.write_bytes(b"in")
    link.symlink_to(path)
    os.link(path, hard)
    for output in (path, link, hard):
        with pytest.raises(CffpyError, match="is also an input file"):
            write_output(str(output), [b"out"], ["-", str(tmp_path / "absent"), str(path)])
    assert path.read_bytes() == b"in"


@pytest.mark.parametrize("content", first_always([b"", b"abc", b"\1\0\0\0\x10\0\0\0cut"]))
def test_repair_writes_nothing_where_nothing_is_left(
    tmp_path: Path, run_cffpy: Run, content: bytes
) -> None:
    source, output = tmp_path / "in.rd", tmp_path / "out.rd"
    source.write_bytes(content)
    for options in ([], ["--address", "0x1000"]):
        done = run_cffpy("repair", source, "-o", output, *options)
        assert done.returncode == 1
        said = (b"in.rd: no whole section is left\n", b"in.rd: not a capture, but text\n")
        assert done.stderr.endswith(said)
        assert not output.exists()


LINES = [
    ["edit", "--nop-draw", "#0", "IN", "-o", "IN"],
    ["repair", "IN", "-o", "IN"],
    ["decompile", "IN", "-o", "IN"],
    ["compile", "TEXT", "-o", "TEXT"],
    ["diff", "OTHER", "IN", "--html", "IN"],
    ["tiles", "--svg", "TILES", "TILES"],
]


@pytest.mark.parametrize("line", first_always(LINES, 3), ids=" ".join)
def test_commands_leave_their_input(
    tmp_path: Path, run_cffpy: Run, samples: Path, line: list[str]
) -> None:
    from tests.fuzz.bombs import many_tiles

    sample = (samples / "a220-triangle.rd").read_bytes()
    text = (CHECKOUT / "samples" / "a220-triangle.pm4").read_bytes()
    files = {"IN": sample, "OTHER": sample, "TEXT": text, "TILES": many_tiles(2)}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    done = run_cffpy(*(tmp_path / word if word in files else word for word in line))
    assert done.returncode == (2 if line[0] == "diff" else 1)
    assert b"the output file is also an input file" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize("line", first_always(LINES[:4], 2), ids=" ".join)
def test_commands_leave_the_file_that_is_their_standard_input(
    tmp_path: Path, run_cffpy: Run, samples: Path, line: list[str]
) -> None:
    path = tmp_path / "input"
    if line[0] == "compile":
        content = (CHECKOUT / "samples" / "a220-triangle.pm4").read_bytes()
    else:
        content = (samples / "a220-triangle.rd").read_bytes()
    path.write_bytes(content)
    *words, output = [path if word in ("IN", "TEXT") else word for word in line]
    arguments = ["-" if word == path else word for word in words]
    with path.open("rb") as stream:
        done = run_cffpy(*arguments, output, stdin=stream)
    assert done.returncode == 1
    assert b"the output file is also an input file" in done.stderr
    assert path.read_bytes() == content


#: Command lines that write OUT, of files that ``inputs`` makes.
WRITING = [
    "afuc asm SQE -o OUT",
    "aubinator --dump-kernels OUT AUB",
    "bisect FRAME -o OUT --state-file STATE",
    "bisect FRAME --reset --state-file OUT",
    "compile TEXT -o OUT",
    "crash DUMP --extract OUT",
    "crash DUMP --html OUT",
    "db import XML -o OUT",
    "decompile FRAME -o OUT",
    "diff GOOD FRAME --html OUT",
    "edit FRAME --nop-draw p0:0 -o OUT",
    "export FRAME -o OUT.csv --table draws",
    "export FRAME -o OUT.jsonl/",
    "export FRAME -o OUT.parquet/ --table draws",
    "export FRAME -o OUT.duckdb --table draws",
    "image PICTURE --at p0:0 --texture 0 -o OUT",
    "layout image --gpu 650 --format RGBA8 --size 64x64 --svg OUT",
    "layout tiles --gpu 660 --size 64x64 --attachments RGBA8 --svg OUT",
    "repair FRAME -o OUT",
    "report AUB -o OUT",
    "report FRAME -o OUT",
    "tiles FRAME --svg OUT",
    "vsc BINNING --svg OUT",
]

#: Of these OUT is a folder, in which there are files.
_FOLDERS = ("db import", "aubinator")

_XML = """<?xml version="1.0"?>
<database><domain name="A6XX" width="32"><reg32 offset="0x1" name="CP_TEST"/></domain></database>
"""


@pytest.fixture(scope="module")
def inputs(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Word of a line of WRITING -> the file."""
    folder = tmp_path_factory.mktemp("inputs")
    xml = folder / "mesa" / "adreno"
    xml.mkdir(parents=True)
    (xml / "a6xx.xml").write_text(_XML)
    microcode = next((CHECKOUT / "samples" / "microcode").glob("*.asm"))
    return {
        "AUB": str(CHECKOUT / "samples" / "skl-frame.aub.gz"),
        "BINNING": str(samples / "a660-frame-binning.rd"),
        "DUMP": str(CHECKOUT / "samples" / "a660-textures.devcore"),
        "FRAME": str(samples / "a660-frame-gmem.rd"),
        "GOOD": str(samples / "a660-frame-sysmem.rd"),
        "PICTURE": str(samples / "a660-pictures.rd"),
        "SQE": str(microcode),
        "STATE": str(folder / "state.json"),
        "TEXT": str(CHECKOUT / "samples" / "a220-triangle.pm4"),
        "XML": str(xml.parent),
    }


def words(line: str, inputs: dict[str, str], output: Path) -> list[str]:
    return [inputs.get(word, word).replace("OUT", str(output)) for word in line.split()]


def is_missing(line: str) -> bool:
    """Whether the libraries of a command are not installed."""
    needed = {"parquet": "pyarrow", "duckdb": "duckdb", "image PICTURE": "PIL"}
    return any(text in line and find_spec(name) is None for text, name in needed.items())


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("line", WRITING)
def test_a_full_disk_leaves_no_file(
    line: str,
    inputs: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Each file is synced before it has its name; an error of that is one of the command."""
    if is_missing(line):
        pytest.skip("the libraries are not installed")
    if line.startswith("aubinator"):
        pytest.skip("as Mesa's: its files are many, and not synced")
    Path(inputs["STATE"]).unlink(missing_ok=True)
    arguments = words(line, inputs, tmp_path / "out")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert run(arguments) in (1, 2)
    said = capfd.readouterr().err.splitlines()
    assert said[-1].startswith(f"cffpy: error: {tmp_path / 'out'}")
    assert said[-1].endswith(": No space left on device")
    assert contents(tmp_path) == {}
    assert run(arguments) in (0, 1)  # diff: 1, there are differences
    assert contents(tmp_path) != {}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("line", WRITING)
def test_a_link_is_not_written_through(
    line: str, inputs: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if is_missing(line):
        pytest.skip("the libraries are not installed")
    Path(inputs["STATE"]).unlink(missing_ok=True)
    arguments = words(line, inputs, tmp_path / "out")
    target = tmp_path / "target"
    target.write_bytes(b"# before\n")
    if line.startswith(_FOLDERS):
        run(arguments)
        outputs = [tmp_path / name for name in contents(tmp_path) if name != "target"]
        for path in outputs:
            path.unlink()
            path.symlink_to(target)
    else:
        suffix = (
            os.path.splitext(arguments[arguments.index("-o") + 1].rstrip("/"))[1]
            if "-o" in arguments
            else ""
        )
        outputs = [tmp_path / f"out{suffix}"]
        outputs[0].symlink_to(target)
    capfd.readouterr()
    code = run(arguments)
    assert target.read_bytes() == b"# before\n"
    if line.startswith("aubinator"):  # names that others can guess are replaced
        assert (code, any(path.is_symlink() for path in outputs)) == (0, False)
        return
    assert code in (1, 2)
    assert all(path.is_symlink() for path in outputs)
    said = capfd.readouterr().err
    assert " is a link: name the file itself, " in said or " exists already" in said


@pytest.mark.parametrize("command", ["report FRAME", "bisect FRAME", "repair FRAME"])
def test_nothing_is_written_beside_the_input(
    command: str, samples: Path, tmp_path: Path, run_cffpy: Run
) -> None:
    """Where no output is named, also not in the working folder."""
    (tmp_path / "here").mkdir()
    (tmp_path / "home").mkdir()
    path = tmp_path / "frame.rd"
    path.write_bytes((samples / "a660-frame-gmem.rd").read_bytes())
    line = [path if word == "FRAME" else word for word in command.split()]
    home = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": ""}
    done = run_cffpy(*line, cwd=tmp_path / "here", env=home)
    assert done.returncode == (0 if command.startswith("bisect") else 2)
    assert [name for name in contents(tmp_path) if ".cache" not in name] == ["frame.rd"]


#: The command, interrupted when all is written and only the name is missing.
_INTERRUPTED = """
import os, signal
from cffpy.__main__ import main

os.replace = lambda *names: signal.raise_signal(signal.SIGINT)
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT of its own process")
def test_interrupted(tmp_path: Path, samples: Path) -> None:
    """Ctrl-C: 130, no traceback, no part of a file."""
    output = tmp_path / "out"
    command = [sys.executable, "-c", _INTERRUPTED, "decompile", samples / "a220-triangle.rd"]
    done = subprocess.run(
        [*command, "-o", output], capture_output=True, check=False, preexec_fn=take_interrupts
    )
    assert (done.returncode, done.stderr) == (130, b"")
    assert os.listdir(tmp_path) == []
