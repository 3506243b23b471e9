# SPDX-License-Identifier: MIT
"""cffpy tiles, run as users run it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.builders import COMMANDS, capture, type4, type7
from tests.command_server import Run
from tests.tile_streams import BIN_CONTROL, MARKER, WINDOW_OFFSET, NewTile, Stream, View

STREAM = Stream(
    [
        NewTile((0, 0), [View((1 / 2, 1 / 2))]),
        NewTile((256, 0), [View((1 / 2, 1), mistake=(0, 2))]),
        NewTile((256, 256), override=1),
        NewTile((0, 256)),
    ]
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "tiles.rd"
    file.write_bytes(STREAM.build())
    return file


def test_tables(run_cffpy: Run, path: Path) -> None:
    done = run_cffpy("tiles", path)
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[0] == "pass 0: gmem with hardware binning, framebuffer 512x512, 1 draw"
    assert lines[1] == "4 tiles of 256x256, grid 2x2, 1 VSC pipe"
    rows = [line.split() for line in lines[4:8]]
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert rows[1][1:6] == ["1,0", "256,0+256x256", "256,0", "0", "0/1"]
    assert rows[1][6:11] == ["streams", "1", "unknown", "1", "no"]
    assert rows[2][6:10] == ["ignored", "1", "1", "1"]
    assert rows[1][-3:] == ["1/2", "x", "1"]
    text = "\n".join(lines)
    assert "store by CP_BLIT, to 0x500000" in text
    assert "tiles 0-3" in text
    assert "tile 1: viewport 0: y offset 2, but b_cs - s * b_s = 0" in text


def test_svg(run_cffpy: Run, path: Path, tmp_path: Path) -> None:
    out = tmp_path / "tiles.svg"
    done = run_cffpy("tiles", "--svg", out, path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert ElementTree.parse(out).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert run_cffpy("tiles", "--svg", "-", path).stdout == out.read_bytes()
    done = run_cffpy("tiles", "--svg", tmp_path / "none" / "tiles.svg", path)
    assert done.returncode == 1
    assert b"No such file" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_choosing_a_pass(run_cffpy: Run, path: Path, tmp_path: Path) -> None:
    done = run_cffpy("tiles", "--pass", "3", path)
    assert done.returncode == 1
    assert b"no pass p3: the capture has 1 pass, p0" in done.stderr
    commands = type7(0x3F, COMMANDS + 0x1000, 0, 0)
    for offset in (0, 0):
        commands += type7(MARKER, 4) + type4(BIN_CONTROL, 8 | 16 << 8)
        commands += type4(WINDOW_OFFSET, offset) + type7(0x38, 4, 1, 3)
    two = tmp_path / "two.rd"
    two.write_bytes(capture(630, commands))
    done = run_cffpy("tiles", two)
    assert done.returncode == 2
    assert b"choose one with --at: p0, p1" in done.stderr
    none = tmp_path / "none.rd"
    none.write_bytes(capture(630, type7(MARKER, 1) + type7(0x38, 4, 1, 3)))
    done = run_cffpy("tiles", none)
    assert done.returncode == 1
    assert b"no pass of this capture is rendered in tiles" in done.stderr
    done = run_cffpy("tiles", "--pass", "0", none)
    assert b"p0: no tiles here; no pass is rendered in tiles" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("word", [0, 0xFFFFFFFF, 1, 1 << 8])
def test_hostile_bins(run_cffpy: Run, tmp_path: Path, word: int) -> None:
    """Bins of size zero or of any size, offsets outside of the grid, very many tiles."""
    commands: list[int] = []
    for number in range(2000):
        commands += type7(MARKER, 4) + type4(BIN_CONTROL, word)
        commands += type4(WINDOW_OFFSET, number * 2654435761 & 0x3FFF3FFF)
        commands += type7(0x38, 4, 1, 3)
    file = tmp_path / "hostile.rd"
    file.write_bytes(capture(740, commands))
    for form in ([], ["--json"], ["--csv"], ["--svg", "-"]):
        done = run_cffpy("tiles", "--pass", "0", *form, file)
        assert done.returncode == 0, done.stderr
        assert 0 < len(done.stdout) < 4_000_000
