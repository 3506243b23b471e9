# SPDX-License-Identifier: MIT
"""``cffpy vsc``: streams given as hex, and those of a capture, as a process."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.analysis.visibility import VisibilityReader
from cffpy.container.open import open_capture
from cffpy.views.visibility import drawing
from tests import binned
from tests.binned import SCENE, Binned, draw
from tests.builders import capture
from tests.command_server import Run

EXAMPLE = ("vsc", "--hex", "f9 62 80 00", "--bins", "4")
INSTANCED = ("vsc", "--hex", "9d45800002000000", "--bins", "4", "--draws")


def test_the_example_of_the_document(run_cffpy: Run) -> None:
    done = run_cffpy(*EXAMPLE)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert lines[1:3] == [["0", "5", "0-3", "1111"], ["11", "5", "none", "0000"]]
    assert ["10", "primitives", "in", "2", "runs"] in lines
    assert lines[-4:] == [[str(slot), "5", "50.0%"] for slot in range(4)]
    assert run_cffpy(*EXAMPLE, "--primitive-count", 10).stdout == done.stdout


def test_json_of_streams(run_cffpy: Run) -> None:
    document = json.loads(run_cffpy(*EXAMPLE, "--json").stdout)
    assert document == {
        "schema": "cffpy.vsc-hex/1",
        "stream": "primitives",
        "bin_count": 4,
        "size": 4,
        "runs": [
            {"bit": 0, "primitives": 5, "bins": [0, 1, 2, 3], "bitfield": "1111"},
            {"bit": 11, "primitives": 5, "bins": [], "bitfield": "0000"},
        ],
        "primitives": 10,
        "bins": [{"slot": slot, "primitives": 5, "culled": 0.5} for slot in range(4)],
        "errors": [],
    }


def test_draws(run_cffpy: Run) -> None:
    done = run_cffpy(*INSTANCED)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
    assert lines[1:4] == [
        "0 0 0 0-1 0011 2 dwords at dword 0",
        "10 0 1 to last none 0000",
        "10 1 0 none 0000",
    ]
    assert "2 draws, then the end packet; primitive streams of 2 dwords" in lines


def test_draws_as_json(run_cffpy: Run) -> None:
    document = json.loads(run_cffpy(*INSTANCED, "--json").stdout)
    assert document["schema"] == "cffpy.vsc-hex/1"
    assert [run["instances"] for run in document["runs"]] == [1, None, 1]
    assert document["runs"][0]["primitive_stream"] == {"offset": 0, "size": 2}
    assert (document["entries"], document["end_packet"], document["errors"]) == (2, True, [])
    assert document["bins"][0] == {"slot": 0, "entries": 1, "culled": 0.5}


def test_standard_input(run_cffpy: Run) -> None:
    done = run_cffpy("vsc", "--hex", "-", "--bins", 4, input=b"f962\n8000\n")
    assert done.stdout == run_cffpy(*EXAMPLE).stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_damage_is_said_behind_what_is_good(run_cffpy: Run, options: list[str]) -> None:
    done = run_cffpy("vsc", "--hex", "f9628100", "--bins", 4, *options)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("cffpy: error: ")
    assert "(at bit 18, byte 0x2)" in done.stderr.decode()
    if options:
        document = json.loads(done.stdout)
        assert len(document["runs"]) == 2
        assert document["errors"][0]["bit"] == 18
    else:
        assert b"1111" in done.stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_damage_of_draws(run_cffpy: Run, options: list[str]) -> None:
    done = run_cffpy("vsc", "--hex", "9d45c000", "--bins", 4, "--draws", *options)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "cffpy: error: draw stream: the stream ends inside a packet (at bit 16, byte 0x2)\n"
    )
    assert b"0011" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give FILE, or --hex HEX --bins N"),
        (["--hex", "00"], "--hex needs --bins N"),
        (["--hex", "0", "--bins", "4"], "two hex digits each, got '0'"),
        (["--hex", "zz" * 40, "--bins", "4"], "..."),
        (["--hex", " ", "--bins", "4"], "--hex needs at least one byte"),
        (["--hex", "00", "--bins", "0"], "0 is not in the range"),
        (["--hex", "00", "--bins", "64"], "64 is not in the range"),
        (["--hex", "00", "--bins", "4", "file"], "--hex and FILE cannot be used together"),
        (
            ["--hex", "00", "--bins", "4", "--draws", "--primitive-count", "1"],
            "cannot be used with --draws",
        ),
    ],
)
def test_usage_of_streams(run_cffpy: Run, arguments: list[str], message: str) -> None:
    done = run_cffpy("vsc", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert done.stdout == b""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "scene.rd"
    path.write_bytes(SCENE.capture())
    return path


def test_text(run_cffpy: Run, written: Path) -> None:
    done = run_cffpy("vsc", written)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
    assert lines == [
        "pass 0: gmem with hardware binning, framebuffer 128x128, 2 draws, submit 0",
        "draw streams at 0x300000, pitch 1088, limit 1024",
        "primitive streams at 0x400000, pitch 4160, limit 4096",
        "sizes at 0x500000",
        "draws of the binning run that use streams: 2",
        "culled in all bins: 50.0% of draws, 65.0% of primitives",
        "pipe 0, 2 x 2 tiles from 0,0: decoded",
        "draw stream at 0x300000: 8 of 1024 bytes, size at 0x500000",
        "primitive streams at 0x400000: 8 of 4096 bytes",
        "2 draws, as in the binning run, 2 visible; 20 primitives",
        "bin tile column row draws culled primitives culled",
        "0 0 0 0 1 50.0% 6 70.0%",
        "1 1 1 0 2 0.0% 16 20.0%",
        "2 2 0 1 1 50.0% 6 70.0%",
        "3 3 1 1 0 100.0% 0 100.0%",
    ]
    assert run_cffpy("vsc", "-", input=written.read_bytes()).stdout == done.stdout
    assert run_cffpy("vsc", "--pass", 0, written).stdout == done.stdout


def test_entries_are_in_documents_of_one_pass(run_cffpy: Run, written: Path) -> None:
    ((one,), (alone,)) = (
        json.loads(run_cffpy("vsc", "--json", *more, written).stdout)["passes"]
        for more in ((), ("--pass", 0))
    )
    assert "visible" not in one["pipes"][0]
    assert alone["pipes"][0]["visible"] == [
        {"entry": 0, "primitives": [6, 6, 6, 0], "draw": 0, "bins": [0, 1, 2]},
        {"entry": 1, "primitives": [0, 10, 0, 0], "draw": 1, "bins": [1]},
    ]


SVG = "{http://www.w3.org/2000/svg}"


def test_heat_map(run_cffpy: Run, written: Path, tmp_path: Path) -> None:
    out = tmp_path / "heat.svg"
    done = run_cffpy("vsc", "--svg", out, written)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    root = ElementTree.parse(out).getroot()
    hints = [
        title.text
        for rectangle in root.iter(f"{SVG}rect")
        for title in rectangle.iter(f"{SVG}title")
    ]
    assert [hint.splitlines()[0] for hint in hints] == [
        "tile 0, 0,0+64x64",
        "tile 1, 64,0+64x64",
        "tile 2, 0,64+64x64",
        "tile 3, 64,64+64x64",
    ]
    assert "16 primitives" in hints[1]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"6", "16", "0", "primitives a tile", "VSC pipe 0: decoded"} <= set(texts)
    fills = [
        rectangle.get("fill")
        for rectangle in root.iter(f"{SVG}rect")
        if rectangle.find(f"{SVG}title") is not None
    ]
    assert fills[0] == fills[2]
    assert len(set(fills)) == 3
    assert run_cffpy("vsc", "--svg", "-", written).stdout == out.read_bytes()


def test_heat_map_without_primitives_or_streams(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "scene.rd"
    path.write_bytes(
        Binned(
            draws=SCENE.draws, visibility=SCENE.visibility, missing=(binned.PRIMITIVE_STREAMS,)
        ).capture()
    )
    drawn = run_cffpy("vsc", "--svg", "-", path).stdout.decode()
    assert "draws a tile" in drawn
    assert "primitives a tile" not in drawn
    path.write_bytes(Binned(draws=SCENE.draws).capture())
    drawn = run_cffpy("vsc", "--svg", "-", path).stdout.decode()
    ElementTree.fromstring(drawn)
    assert "no stream was decoded" in drawn
    assert "VSC pipe 0: not written" in drawn


def test_heat_map_of_bins_that_no_tile_is_known_to_use(written: Path) -> None:
    finder, _ = find_passes(open_capture(str(written)), pytest.fail)
    found = VisibilityReader(finder.found).read(finder.found.passes[0])
    for tile in found.pass_.tiles:
        tile.slot = None
    drawn = "\n".join(drawing(found).lines())
    assert "no stream was decoded" not in drawn
    assert "the bins of tiles are unknown" in drawn


def test_heat_map_of_merged_bins(written: Path) -> None:
    finder, _ = find_passes(open_capture(str(written)), pytest.fail)
    found = VisibilityReader(finder.found).read(finder.found.passes[0])
    for tile in found.pass_.tiles:
        tile.merged_slots = (0, 1)
    drawn = "\n".join(drawing(found).lines())
    assert "slot 0+1: decoded" in drawn
    assert f"{len(found.pipes[0].visible)} of {found.pipes[0].entries} draws" in drawn


def test_damage(run_cffpy: Run, tmp_path: Path) -> None:
    data = bytearray(SCENE.capture())
    data[data.index(SCENE.memory()[binned.DRAW_STREAMS]) + 2] ^= 0x10
    path = tmp_path / "damaged.rd"
    path.write_bytes(data)
    done = run_cffpy("vsc", path)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "pipe 0, 2 x 2 tiles from 0,0: damaged" in text
    assert "! draw stream: " in text
    assert json.loads(run_cffpy("vsc", "--json", path).stdout)["passes"][0]["tiles"] == []


def test_what_does_not_agree_is_no_failure(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "stale.rd"
    path.write_bytes(Binned(draws=draw(30), visibility=SCENE.visibility).capture())
    done = run_cffpy("vsc", path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (
        b"! it has 2 draws, but the binning run executed 1: it is not of this pass" in done.stdout
    )


def test_states_in_words(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "scene.rd"
    path.write_bytes(Binned(sizes={0: 0xFFFFFFFF}).capture())
    text = run_cffpy("vsc", path).stdout.decode()
    assert "overflowed: the draw stream has 4294967295 bytes, its limit is 1024" in text
    path.write_bytes(Binned(missing=(binned.DRAW_STREAMS,)).capture())
    text = run_cffpy("vsc", path).stdout.decode()
    assert "pipe 0, 2 x 2 tiles from 0,0: not captured" in text


def test_captures_without_binning(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "nothing.rd"
    path.write_bytes(capture(660, draw(3)))
    done = run_cffpy("vsc", path)
    assert (done.returncode, done.stdout) == (0, b"no pass with hardware binning\n")
    path.write_bytes(capture(530, draw(3)))
    text = run_cffpy("vsc", path).stdout.decode()
    assert text.endswith("visibility streams: not decoded (a5xx format)\n")


def test_what_is_not_there(run_cffpy: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.rd"
    empty.write_bytes(capture(660, draw(3)))
    done = run_cffpy("vsc", empty, "--svg", "-")
    assert done.returncode == 1
    assert b"empty.rd: no pass of this capture has hardware binning" in done.stderr


def test_usage(run_cffpy: Run, written: Path, tmp_path: Path) -> None:
    two = tmp_path / "two.rd"
    two.write_bytes(SCENE.capture(passes=2))
    for arguments, message in (
        ((written, "--bins", 4), "need --hex"),
        ((written, "--draws"), "need --hex"),
        ((written, "--json", "--svg", "-"), "cannot be used together"),
        ((two, "--svg", "-"), "choose it with --at: p0, p1"),
        (("--hex", "f9628000", "--bins", 4, "--pass", 1), "need FILE"),
        ((), "give FILE, or --hex HEX --bins N"),
    ):
        done = run_cffpy("vsc", *arguments)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.decode().split())
    shared = run_cffpy("vsc", two).stdout.decode()
    assert "the same memory as pass 1: it holds the streams of one only" in shared
