# SPDX-License-Identifier: MIT
"""What a capture lacks, and a file that is none: one line of error in all commands, exit code 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_server import Run
from tests.selection import first_always

#: 24 draws of the dump; pass 0 has 2 draws.
SAMPLE = "a660-frame-gmem.rd"

PLACES = {
    "p9": "no pass p9: the capture has 1 pass, p0",
    "s9": "no submit s9: the capture has 1 submit, s0",
    "p0:999": "no draw p0:999: pass 0 has 2 draws, p0:0 to p0:1",
    "p9:0": "no pass p9: the capture has 1 pass, p0",
    "p0:0-7": "no draw p0:7: pass 0 has 2 draws, p0:0 to p0:1",
    "#999": "no draw #999: the dump has 24 draws, #0 to #23",
    "p0:t99": "no tile p0:t99: pass 0 has 4 tiles, p0:t0 to p0:t3",
    "p0:binning": "no binning run p0:binning: pass 0 has none; no pass has one",
    "sh99": "no shader sh99: the capture has 2 shaders, sh0 to sh1",
    "0x4": "no packet is executed at 0x4; the nearest one is at 0x100001000",
}
COMMANDS = {
    **{name: (name, "--at", "{}") for name in ("state", "draws", "passes", "tiles", "lrz", "vsc")},
    **{name: (name, "--at", "{}") for name in ("check", "lines", "image")},
    "layout check": ("layout", "check", "--at", "{}"),
    "shaders": ("shaders", "--at", "{}"),
    "report": ("report", "-o", "out.html", "--at", "{}"),
}
#: Commands that take draws.
OF_DRAWS = {
    "edit --nop-draw": ("edit", "--nop-draw", "{}", "-o", "out.rd"),
    "edit --truncate": ("edit", "--truncate-after-draw", "{}", "-o", "out.rd"),
    "edit --set": ("edit", "--set", "RB_DEPTH_CNTL=0", "--at", "{}", "-o", "out.rd"),
}


def check_absent(line: tuple[str, ...], place: str, path: Path, folder: Path, run: Run) -> None:
    done = run(*(one.format(place) for one in line), path, cwd=folder)
    assert done.stderr.decode() == f"cffpy: error: {path}: {PLACES[place]}\n"
    assert (done.returncode, done.stdout) == (1, b"")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_place(command: str, place: str, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    check_absent(COMMANDS[command], place, samples / SAMPLE, tmp_path, run_cffpy)


@pytest.mark.parametrize("place", ["p0:999", "p9:0", "#999"])
@pytest.mark.parametrize("command", OF_DRAWS)
def test_a_draw(command: str, place: str, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    check_absent(OF_DRAWS[command], place, samples / SAMPLE, tmp_path, run_cffpy)


@pytest.mark.parametrize("place", ["p9", "p0:999", "#999"])
def test_a_place_of_a_file(place: str, samples: Path, run_cffpy: Run) -> None:
    path = samples / SAMPLE
    done = run_cffpy("diff", f"{path}@{place}", path)
    assert done.stderr.decode() == f"cffpy: error: {path}: {PLACES[place]}\n"
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--at", "57"), "draw 57 of the dump is #57, that of pass 3 p3:57"),
        (("--at", "draw 3"), "'draw 3' is not a place: s2, p3, p3:17"),
        (("--at", "p3:9-5"), "the last draw is before the first"),
        (("--draw", "5"), "--draw 5 needs the pass, as in --pass 3 --draw 5, or --at p3:5"),
        (("--tile", "5"), "--tile 5 needs the pass, as in --pass 3 --tile 5, or --at p3:t5"),
        (("--draw", "p0:1", "--pass", "0"), "--pass cannot be used with --draw p0:1"),
        (("--draw", "s2"), "--draw: 's2' is not a draw"),
        (("--at", "p0", "--pass", "0"), "--at and --pass cannot be used together"),
        (("--submit", "0", "--pass", "0"), "--submit and --pass cannot be used together"),
        (("--pass", "p0:1"), "'p0:1' is not a pass"),
    ],
)
@pytest.mark.parametrize("command", ["draws", "state", "check"])
def test_what_is_no_place(
    command: str, options: tuple[str, ...], expected: str, samples: Path, run_cffpy: Run
) -> None:
    done = run_cffpy(command, *options, samples / SAMPLE)
    assert (done.returncode, done.stdout) == (2, b"")
    assert expected in done.stderr.decode()


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (("--pass", "0"), "p0"),
        (("--pass", "p0"), "p0"),
        (("--submit", "0"), "s0"),
        (("--pass", "0", "--draw", "1"), "p0:1"),
        (("--pass", "0", "--draw", "0-1"), "p0:0-1"),
        (("--draw", "#3"), "#3"),
        (("--pass", "0", "--tile", "2"), "p0:t2"),
        (("--tile", "p0:t2"), "p0:t2"),
    ],
)
@pytest.mark.parametrize("command", ["draws", "passes", "lrz", "check", "state"])
def test_parts_of_a_place(
    command: str, options: tuple[str, ...], place: str, samples: Path, run_cffpy: Run
) -> None:
    path = samples / SAMPLE
    done = run_cffpy(command, *options, path)
    assert done.returncode == 0
    assert done.stdout == run_cffpy(command, "--at", place, path).stdout


NO_CAPTURE = {
    "info": (),
    "passes": (),
    "tiles": (),
    "draws": (),
    "state": ("--at", "#0"),
    "vsc": (),
    "decompile": (),
    "edit": ("--nop-draw", "#0", "-o", "-"),
    "repair": ("-o", "-"),
    "shaders": (),
}


@pytest.mark.parametrize("command", first_always(NO_CAPTURE, 5))
def test_one_line_and_exit_code_1(command: str, tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "program.rd"
    path.write_bytes(b"\x7fELF\2\1\1" + bytes(4089))
    done = run_cffpy(command, *NO_CAPTURE[command], path)
    line = f"cffpy: error: {path}: not a capture, but an ELF file\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"", line)


@pytest.mark.parametrize("command", ["passes", "tiles", "draws", "state", "shaders"])
def test_an_empty_file_has_no_table(command: str, tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "empty.rd"
    path.write_bytes(b"")
    done = run_cffpy(command, *NO_CAPTURE[command], path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"the file is empty" in done.stderr.splitlines()[0]


def test_diff_has_trouble(path: Path, tmp_path: Path, run_cffpy: Run) -> None:
    other = tmp_path / "text.rd"
    other.write_bytes(b"hello\n")
    done = run_cffpy("diff", path, other)
    line = f"cffpy: error: {other}: not a capture, but text\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", line)


def test_info_documents_it(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "data.json"
    path.write_text('{"a": 1}')
    done = run_cffpy("info", "--json", path)
    (file,) = json.loads(done.stdout)["files"]
    assert (done.returncode, file["error"]) == (1, f"{path}: not a capture, but JSON text")
