# SPDX-License-Identifier: MIT
"""Bugs found by the fuzzer and the bombs, each with a minimal input."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from cffpy.analysis.diff.align import align
from cffpy.capture.memory import MemoryImage
from cffpy.container.section_types import SectionType
from cffpy.container.writer import NewSection, command_stream_section
from tests.builders import type4, type7
from tests.fuzz.bombs import DRAW, MARKER, capture, many_submits
from tests.selection import first_always

_DRAW = type7(DRAW, 0x84, 1, 3)


def test_push_constants_that_only_one_capture_has(tmp_path: Path, run_cffpy) -> None:
    """diff: KeyError, since the other capture had no value to show."""
    paths = []
    for number, count in enumerate((64, 60)):
        words = type7(MARKER, 1) + type4(0xAB00, *range(1, 1 + count)) + _DRAW
        path = tmp_path / f"{number}.rd"
        path.write_bytes(capture(words, gpu=740))
        paths.append(path)
    for order in (paths, paths[::-1]):
        done = run_cffpy("diff", "--strict", *order)
        assert done.returncode in (0, 1)
        assert b"internal error" not in done.stderr


@pytest.mark.parametrize("name", first_always(["nul\0", "escape\x1b[31m", "\u202eoverride"]))
def test_messages_show_control_characters(tmp_path: Path, run_cffpy, name: str) -> None:
    """db: the wrong line of a description was printed as it was."""
    folder = tmp_path / "adreno"
    folder.mkdir()
    (folder / "a6xx.regs").write_text(f"enum {name} {{\n")
    done = run_cffpy("db", "check", tmp_path)
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == 1
    assert not {"\0", "\x1b", "\u202e"} & set(text)
    assert text.count("\n") > 1, "with the line, and a caret below it"


def test_a_marker_does_not_flood_what_is_shown_of_passes(tmp_path: Path, run_cffpy) -> None:
    """passes: a debug marker of 64 KiB was shown with each pass that it contains."""
    words = type7(0x10, 0x4245474E, *[0x41414141] * 4000) + (type7(MARKER, 1) + _DRAW) * 50
    path = tmp_path / "marker.rd"
    path.write_bytes(capture(words))
    done = run_cffpy("passes", "--json", path)
    passes = json.loads(done.stdout)["passes"]
    assert len(passes) == 50
    assert len(done.stdout) < 50 * 4000


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    first_always(
        [
            ("CFFPY_MAX_DEPTH", "1", "are nested too deeply"),
            ("CFFPY_MAX_COMMANDS", "300", "come after too many others"),
            ("CFFPY_MAX_DRAWS", "4", "more than 4 passes, tiles and draws"),
            ("CFFPY_MAX_BYTES", "150", "more than 150 bytes when decompressed"),
        ],
        names=3,
    ),
)
def test_limits_are_set_and_said(
    tmp_path: Path, run_cffpy, variable: str, value: str, said: str
) -> None:
    path = tmp_path / "calls.rd"
    commands = type7(0x3F, 0x200000, 0, 4) * 6
    path.write_bytes(gzip.compress(capture(commands, buffers={0x200000: _DRAW})))
    full = run_cffpy("draws", path)
    limited = run_cffpy("draws", path, env={variable: value})
    assert (full.returncode, full.stderr) == (0, b"")
    assert limited.returncode == 1
    assert limited.stdout.splitlines()[-1].startswith(b"truncated: ")
    assert len(limited.stdout.splitlines()) < len(full.stdout.splitlines())
    assert said in limited.stderr.decode()
    assert variable in limited.stderr.decode()
    option = f"{variable.removeprefix('CFFPY_MAX_').lower()}={value}"
    chosen = run_cffpy("draws", "--limit", option, path)
    assert (chosen.stdout, chosen.stderr) == (limited.stdout, limited.stderr)
    if variable in ("CFFPY_MAX_DEPTH", "CFFPY_MAX_BYTES"):  # others limit analyses, or are larger
        assert said in run_cffpy("dump", "--limit", option, path).stderr.decode()
    for wrong in ("0", "-3", "many"):
        for command in ("draws", "dump", "info"):
            refused = run_cffpy(command, path, env={variable: wrong})
            assert (refused.returncode, refused.stdout) == (2, b"")
            assert f"Error: {variable} is not a number" in refused.stderr.decode()


def test_a_dump_that_prints_little_is_limited_as_analyses_are(tmp_path: Path, run_cffpy) -> None:
    """dump -s, -q, -D: streams that call streams ran for ever, and printed nothing."""
    path = tmp_path / "calls.rd"
    path.write_bytes(capture(type7(0x3F, 0x200000, 0, 2) * 6, buffers={0x200000: type4(0x8890, 1)}))
    for options in (["-s"], ["-q", "RB_CCU_CNTL"], ["-D", "0"]):
        done = run_cffpy("dump", *options, "--limit", "commands=300", path)
        assert b"come after too many others" in done.stderr
        assert (run_cffpy("dump", *options, path).stderr, done.returncode) == (b"", 0)
    assert run_cffpy("dump", "--limit", "commands=300", path).stderr == b""


def test_elements_that_are_shown(tmp_path: Path, run_cffpy) -> None:
    """dump: empty blocks of CP_START_BIN were cut silently; draws: registers of --inherited."""
    path = tmp_path / "blocks.rd"
    path.write_bytes(capture(type7(0x50, 0xFFFFFFFF, 0x200000, 0, 0), buffers={0x200000: [0]}))
    done = run_cffpy("dump", "--limit", "elements=7", path)
    assert done.stdout.count(b"\tbin ") == 7
    assert b"of 4294967295 empty blocks at 0x200000 only 7 are counted out" in done.stderr
    path.write_bytes(many_submits(3))
    done = run_cffpy("draws", "--inherited", "--limit", "elements=5", path)
    assert b"8192 registers are listed; those of later submits are not" in done.stderr
    assert b"--limit elements=N or CFFPY_MAX_ELEMENTS" in done.stderr


@pytest.mark.parametrize("wrong", ["depth", "depth=", "depth=0", "depth=x", "=3", "nothing=3"])
@pytest.mark.parametrize("command", first_always(["dump", "passes", "info"]))
def test_wrong_limits(tmp_path: Path, run_cffpy, command: str, wrong: str) -> None:
    done = run_cffpy(command, "--limit", wrong, tmp_path)
    assert done.returncode == 2
    assert "limit" in done.stderr.decode()


@pytest.mark.slow
def test_likenesses_are_worked_out_up_to_a_limit_only() -> None:
    """diff: many gaps, each small enough, took minutes together."""
    calls = 0

    def likeness(_one: object, _other: object) -> float:
        nonlocal calls
        calls += 1
        return 0.0

    left, right = [], []
    for gap in range(40):
        left += [("same", gap), *(("left", gap, number) for number in range(400))]
        right += [("same", gap), *(("right", gap, number) for number in range(401))]
    pairs = align(left, right, (lambda item: item,), likeness)
    assert calls <= 2_000_000
    assert [pair for pair in pairs if None not in pair][:1] == [(0, 0)]
    assert sorted(one for one, _ in pairs if one is not None) == list(range(len(left)))
    assert sorted(other for _, other in pairs if other is not None) == list(range(len(right)))


def test_many_buffers_are_found_as_few_are() -> None:
    """Buffers in falling order took a time that grew with the square of their number."""
    image = MemoryImage()
    contents = memoryview(b"12345678")
    for number in range(10_000, 0, -1):
        image.add(number * 0x100, 8, contents, number)
    assert len(image.buffers) == 10_000
    assert [buffer.file_offset for buffer in image.buffers] == list(range(1, 10_001))
    for number in (1, 2, 4095, 4096, 4097, 9_999, 10_000):
        found = image.find(number * 0x100 + 7)
        assert found is not None
        assert found.file_offset == number
        assert image.find(number * 0x100 + 8) is None
    image.add(0x100, 4, contents, 77)
    image.add(0x104, 4, contents, 78)
    found = image.find(0x104)
    assert found is not None
    assert found.file_offset == 78
    layout = image.layout
    image.write(0x100, b"x")
    assert image.layout == layout
    image.clear()
    assert image.buffers == ()
    assert image.find(0x100) is None


@pytest.mark.parametrize("line", ["edit --nop-draw #0", "repair", "decompile", "passes", "dump"])
def test_a_missing_file_is_named_once(tmp_path: Path, run_cffpy, line: str) -> None:
    """edit, repair: the name came twice."""
    more = [] if line in ("passes", "dump") else ["-o", tmp_path / "out"]
    done = run_cffpy(*line.split(), tmp_path / "absent", *more)
    assert done.stderr.count(b"absent") == 1
    assert b"No such file" in done.stderr


_EVIL = "E\x1b[31m\x07\x7f\x9b31m\x85\u202e\u2066\u200f\u061c\u2028\r\tX"


@pytest.mark.parametrize(
    "line",
    first_always(
        [
            "info --buffers FILE",
            "passes FILE",
            "draws --csv FILE",
            "diff --all --strict FILE OTHER",
            "diff --limit draws=1 FILE OTHER",
            "diff --unified FILE OTHER",
            "diff --html - FILE OTHER",
            "state --at #0 FILE EVIL",
            "passes --gpu EVIL FILE",
            "dump --limit EVIL FILE",
            "EVIL",
        ],
        5,
    ),
)
def test_nothing_that_a_terminal_obeys(tmp_path: Path, run_cffpy, line: str) -> None:
    """diff: names of files; usage errors: arguments. Also of processes and debug markers."""
    text = _EVIL.encode().ljust(64, b"\0")
    marker = type7(0x10, 0x4245474E, *memoryview(text).cast("I"))
    name = NewSection(SectionType.CMD, _EVIL.encode())
    names = {"EVIL": _EVIL, "FILE": tmp_path / "a\x1b\u202e", "OTHER": tmp_path / "b\x1b\u202e"}
    names["FILE"].write_bytes(capture(marker + type7(MARKER, 1) + _DRAW, name))
    names["OTHER"].write_bytes(capture(marker + (type7(MARKER, 1) + _DRAW) * 2, name)[:-1])
    done = run_cffpy(*(names.get(word, word) for word in line.split()))
    printed = (done.stdout + done.stderr).decode()
    assert "Traceback" not in printed
    kept = printed.replace("\n", "").replace("\t", "")
    assert not {character for character in kept if not character.isprintable()}


def test_lints_of_submits_that_are_not_run(tmp_path: Path, run_cffpy) -> None:
    """check: no packet runs of a submit that a limit, or the capture, leaves out."""
    path = tmp_path / "submits.rd"
    path.write_bytes(capture(type7(0x10, 0) * 60, streams=3))
    done = run_cffpy("check", "--limit", "commands=100", path)
    assert done.stdout == b"0 errors, 0 warnings, 0 info\n"
    assert b"come after too many others" in done.stderr
    assert b"internal error" not in done.stderr
    without = tmp_path / "without.rd"
    without.write_bytes(capture(type7(MARKER, 4), command_stream_section(0xDEAD000, 4)))
    done = run_cffpy("check", without)
    assert done.stdout == b"0 errors, 0 warnings, 0 info\n"
    assert b"were not captured" in done.stderr
