# SPDX-License-Identifier: MIT
"""Each kind of damage in each command: exit code, one message, everything else is shown."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.__main__ import run
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from tests.builders import type4, type7
from tests.command_server import Run

STREAM, OTHER = 0x100000, 0x200000
_MARKER, _DRAW, _CALL, _GROUP = 0x65, 0x38, 0x3F, 0x43

#: A pass in sysmem with a draw: the undamaged part of every capture here.
SOUND = type7(_MARKER, 1) + type4(0x8890, 0) + type7(_DRAW, 0x84, 1, 3)


def capture(*commands: list[int], dwords: int | None = None, **other: list[int]) -> bytes:
    """A valid submit, and a second one with these commands appended; ``dwords``: its size."""
    words = [*SOUND, *(word for part in commands for word in part)]
    sections = [gpu_id_section(630), *buffer_sections(STREAM, dwords_bytes(SOUND))]
    sections.append(command_stream_section(STREAM, len(SOUND)))
    sections += buffer_sections(STREAM, dwords_bytes(words))
    for content in other.values():
        sections += buffer_sections(OTHER, dwords_bytes(content))
    sections.append(command_stream_section(STREAM, len(words) if dwords is None else dwords))
    return capture_bytes(sections)


def call(address: int, dwords: int) -> list[int]:
    return type7(_CALL, address, 0, dwords)


def group(address: int, dwords: int) -> list[int]:
    return type7(_GROUP, 0x700000 | dwords, address, 0) + type7(_DRAW, 0x84, 1, 3)


WHOLE = capture()
END = STREAM + 4 * len(SOUND)

#: Name -> a damaged capture, and the message about it.
DAMAGE = {
    "cut in a section": (WHOLE[:-5], "RD_CMDSTREAM_ADDR is cut short: 7 of 12 bytes"),
    "cut in a header": (WHOLE + b"\1\0\0\0", "4 trailing bytes, too few for a section"),
    "negative size": (WHOLE + b"\1\0\0\0" + b"\xff" * 4 + WHOLE, "impossible size: 0xffffffff"),
    "cut compression": (gzip.compress(WHOLE)[:-4], "gzip stream: cut short"),
    "empty": (b"", "the file is empty (at file offset 0x0)"),
    "stream not captured": (
        WHOLE + capture_bytes([command_stream_section(0x900000, 7)]),
        "stream 2: the 7 dwords at 0x900000 were not captured",
    ),
    "stream over its buffer's end": (
        capture(dwords=99),
        f"stream 1: only {len(SOUND)} of the 99 dwords at {STREAM:#x} were captured",
    ),
    "IB not captured": (
        capture(call(0x900000, 7), call(0x900000, 7)),
        "stream 1: the 7 dwords at 0x900000 were not captured",
    ),
    "IB over its buffer's end": (
        capture(call(OTHER, 50), other=SOUND),
        f"stream 1: only {len(SOUND)} of the 50 dwords at {OTHER:#x} were captured",
    ),
    "IB that calls itself": (
        capture(call(OTHER, 4), other=call(OTHER, 4)),
        f"stream 1: the commands at {OTHER:#x} call themselves",
    ),
    "group not captured": (
        capture(group(0x900000, 7)),
        "stream 1: the 7 dwords at 0x900000 were not captured",
    ),
    "group that draws": (
        capture(group(OTHER, 4), other=type7(_DRAW, 0x84, 1, 3)),
        f"stream 1: the draw-state group at {OTHER:#x} draws, and would load groups",
    ),
    "bad header": (
        capture([0xFFFFFFFF], SOUND),
        f"stream 1: no packet header: ffffffff at {END:#x}",
    ),
    "packet over its stream's end": (
        capture(type7(0x10, 1, 2, 3), dwords=len(SOUND) + 2),
        f"stream 1: a packet ends 2 dwords past its stream's end {END + 8:#x}",
    ),
    "table over its buffer's end": (
        capture(type7(0x50, 0xFFFFFFFF, OTHER, 0, len(SOUND)), other=SOUND),
        f"stream 1: only 1 of the 4294967295 blocks at {OTHER:#x} were captured",
    ),
}
#: Commands that info does not see, since it decodes none.
_IN_COMMANDS = ("IB ", "group ", "bad ", "packet ", "table ")

#: What state does not decode: streams after that of the draw.
_BEHIND_THE_DRAW = (*_IN_COMMANDS, "stream ")

#: Files that the reference's decompressor cannot open: its dump ends with 2.
_NOT_OPENED = ("cut compression", "empty")

#: Command line -> exit codes for a damaged capture and a sound one.
COMMANDS: dict[str, tuple[int, int]] = {
    "info FILE": (1, 0),
    "info --json FILE": (1, 0),
    "passes FILE": (1, 0),
    "passes --json FILE": (1, 0),
    "draws FILE": (1, 0),
    "draws --inherited FILE": (1, 0),
    "state --at #0 FILE": (1, 0),
    "tiles FILE": (1, 1),
    "vsc FILE": (1, 0),
    "shaders FILE": (1, 0),
    "check FILE": (1, 0),
    "lines FILE": (1, 0),
    "lrz FILE": (1, 0),
    "decompile FILE": (1, 0),
    "edit --nop-draw #0 -o OUT FILE": (1, 0),
    "diff --json FILE FILE": (0, 0),
    "dump FILE": (0, 0),
    "dump --annotate FILE": (0, 0),
}

Ran = tuple[int, str, str]


@pytest.fixture
def command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[str, bytes], Ran]:
    """Runs a command line on a file: exit code, standard output, standard error."""

    def done(line: str, data: bytes) -> Ran:
        path = tmp_path / "capture.rd"
        path.write_bytes(data)
        names = {"FILE": str(path), "OUT": str(tmp_path / "out.rd")}
        code = run([names.get(word, word) for word in line.split()])
        out, err = capfd.readouterr()
        return code, out, err

    return done


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.parametrize("kind", DAMAGE)
def test_damage(command: Callable[[str, bytes], Ran], line: str, kind: str) -> None:
    data, said = DAMAGE[kind]
    code, out, err = command(line, data)
    hidden = (line.startswith("info") and kind.startswith(_IN_COMMANDS)) or (
        line.startswith("state") and kind.startswith(_BEHIND_THE_DRAW)
    )
    unopened = line.startswith("dump") and kind in _NOT_OPENED
    unopened = unopened or (line.startswith("diff") and kind == "empty")
    assert code == (0 if hidden else 2 if unopened else COMMANDS[line][0])
    assert "Traceback" not in err
    assert "internal error" not in err
    if hidden:
        return
    told = out if line.startswith("info") else err
    if line == "info --json FILE" or (line.startswith("diff") and unopened):
        said = said.partition(" (at file")[0]
    if line.startswith("dump") and kind in ("IB not captured", "IB that calls itself"):
        said = {"n": "could not find: 0000000000900000 (7)", "t": "call themselves"}[kind[3]]
    assert told.count(said) == 1, err
    damage = [text for text in err.splitlines() if "GPU" not in text and "no draw" not in text]
    if not unopened and not line.startswith(("info", "edit", "tiles", "state")):
        assert len(damage) == 1, "one line for it"
    # like the reference, the dump shows nothing of the truncated compressed block
    lost = kind == "empty" or (kind == "cut compression" and line == "dump FILE")
    if not lost and line in ("passes FILE", "draws FILE", "dump FILE"):
        sound = command(line, WHOLE)[1].splitlines()
        assert sound[1] in out.splitlines(), "what is sound is shown"


@pytest.mark.parametrize("line", COMMANDS)
def test_no_damage(command: Callable[[str, bytes], Ran], line: str) -> None:
    code, _, err = command(line, WHOLE)
    assert code == COMMANDS[line][1]
    if code == 0 and not line.startswith("edit"):
        assert err == ""


# -- a GPU that is not known ----------------------------------------------------------------------

_MISSING = (
    "############################################################\n"
    "cmdstream[0]: 4 dwords\n"
    "NULL cmd buffer!\n"
    "############################################################\n"
    "vertices: 0\n"
)


@pytest.mark.parametrize("gpu", [None, 999])
def test_streams_that_were_not_captured_need_no_gpu(
    gpu: int | None, tmp_path: Path, run_cffpy: Run
) -> None:
    """cffdump: dump_commands prints NULL cmd buffer! for any GPU (mesa 25.0.7)."""
    path = tmp_path / "a.rd"
    named = [] if gpu is None else [gpu_id_section(gpu)]
    head = "" if gpu is None else f"gpu_id: {gpu}\n"
    path.write_bytes(capture_bytes([*named, command_stream_section(OTHER, 4)]))
    done = run_cffpy("dump", "--unit-test", path)
    assert (done.returncode, done.stdout.decode()) == (0, head + _MISSING)
    assert b"were not captured" in done.stderr
    for command in ("passes", "draws", "info"):
        done = run_cffpy(command, path)
        assert (done.returncode, b"unknown GPU" in done.stderr) == (1, False)


def test_captured_commands_of_an_unknown_gpu(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "a.rd"
    stream = [*buffer_sections(STREAM, bytes(16)), command_stream_section(STREAM, 4)]
    path.write_bytes(capture_bytes([command_stream_section(OTHER, 4), *stream]))
    done = run_cffpy("dump", "--unit-test", path)
    assert done.returncode == 1
    begun = "############################################################\ncmdstream[1]: 4 dwords\n"
    assert done.stdout.decode() == _MISSING + begun
    assert (
        b"error: unknown GPU (the file names none before its first command stream)" in done.stderr
    )


def test_errors_of_several_files_have_their_names(tmp_path: Path, run_cffpy: Run) -> None:
    """An unknown GPU is a fault of the file, and no usage error, for all commands."""
    stream = [*buffer_sections(STREAM, bytes(16)), command_stream_section(STREAM, 4)]
    paths = [tmp_path / "a.rd", tmp_path / "b.rd"]
    for path in paths:
        path.write_bytes(capture_bytes([*stream]))
    for command in ("passes", "draws", "lines", "check"):
        done = run_cffpy(command, *paths)
        assert done.returncode == 1
        errors = done.stderr.decode().splitlines()
        assert len(errors) == len(paths)
        for path, line in zip(paths, errors, strict=True):
            assert line.startswith(f"cffpy: error: {path}: unknown GPU")
    for command in ("state", "image"):
        done = run_cffpy(command, "--at", "#0", paths[0])
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"cffpy: error: unknown GPU")
