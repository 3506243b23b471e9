# SPDX-License-Identifier: MIT
"""Passes, draws and state as text and as documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import find_passes
from cffpy.analysis.register_store.register_state import LoggedState
from cffpy.container.open import open_bytes, open_capture
from cffpy.frame.attachment import Attachment
from cffpy.frame.passes import Pass
from cffpy.views import draws, passes
from cffpy.views import state as state_view
from cffpy.views.model_documents import csv_columns, csv_rows
from cffpy.views.plain_text import visible
from tests.analysis.passes.marked import OTHER, bins, move, sysmem, targets, tile
from tests.analysis.passes.small import COLOUR, FS, VS, small_capture
from tests.analysis.passes.streams import Streams, find
from tests.analysis.register_store.replay import state_at


@pytest.fixture(scope="module")
def finder() -> PassFinder:
    return find(small_capture())


def text(finder: PassFinder) -> list[str]:
    return list(passes.lines(finder.found, finder.found.submits))


def test_tree(finder: PassFinder) -> None:
    found = text(finder)
    places = {one.index: one.first for one in finder.found.passes}
    assert [line for line in found if not line.startswith("    ")] == [
        "submit 0: 1 render pass, 2 program draws, 1 copy",
        "  pass 0: transfer, 1 copy",
        "  pass 1: gmem, framebuffer 200x90, 2 draws",
        "submit 1: 1 render pass, 2 program draws",
        "  pass 2: sysmem, framebuffer 64x32, 2 draws",
    ]
    first = found.index("  pass 1: gmem, framebuffer 200x90, 2 draws")
    second = found.index("submit 1: 1 render pass, 2 program draws")
    gmem = [line.strip() for line in found[first + 1 : second]]
    assert gmem[:-2] == [
        "render area 0,0+200x90 (rounded outwards to blocks)",
        "2 tiles of 128x96 in 2 x 1",
        f"color 0, FMT6_8_8_8_8_UNORM, TILE6_3, at {COLOUR:#x}, pitch 1024, GMEM 0x0",
        f"store by BLIT event, to {COLOUR:#x}, FMT6_8_8_8_8_UNORM, 2 times",
        "draws: #1-2, 2 DI_PT_TRILIST, 42 vertices or indices, 6 instances",
        f"shaders: VS {VS:#x}, FS {FS:#x}",
    ]
    place = places[1]
    assert gmem[-2] == f"from stream 0 > {place.gpuaddr:#x} +{place.file_offset:#x}"
    assert "    marker: \\x1b[31mred\\x07" in found
    assert "1 conditional" in "".join(found)


@pytest.mark.parametrize(
    ("known", "shown"), [(0, "unknown vertices"), (1, "at least 30 vertices"), (2, "60 vertices")]
)
def test_numbers_that_only_the_gpu_knows(known: int, shown: str) -> None:
    s = Streams(630)
    auto = s.packet("CP_DRAW_AUTO", 4 | 2 << 6, 1, 0x1000, 0, 0, 8)
    drawn = [*s.draw(30) * known, *auto * (2 - known)]
    found = [line.strip() for line in text(s.find(sysmem(s, drawn)))]
    assert [line for line in found if f" 2 DI_PT_TRILIST, {shown} or indices" in line]


def test_operations_of_the_binning_run_are_counted_apart() -> None:
    s = Streams(630)
    draws = s.ib(targets(s), move(s, "CLEAR", 0), s.draw())
    binning = [
        *s.marker("RM6_BIN_VISIBILITY"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 256, 96),
        *bins(s, 128, 96, "BINNING_PASS"),
        *draws,
    ]
    tiles = [*tile(s, 0, 0, 128, 96, draws), *tile(s, 128, 0, 128, 96, draws)]
    found = [line.strip() for line in text(s.find(binning, tiles))]
    clear = "clear by BLIT event, value 00000001 00000002 00000003 00000004, 2 times"
    assert f"{clear}, and once in the binning run" in found
    assert clear in [line.strip() for line in text(s.find(tiles))]


def test_attachments_of_one_name_have_their_draws_and_operations() -> None:
    s = Streams(630)
    second = [*s.address("RB_MRT[0].BASE", OTHER), *s.reg("RB_MRT[0].BASE_GMEM", value=0x8000)]
    draws = s.ib(targets(s), s.draw(), s.draw(), second, s.draw())
    stores = [*move(s, "STORE", 0, COLOUR), *move(s, "STORE", 0x8000, OTHER)]
    found = [line.strip() for line in text(s.find(tile(s, 0, 0, 100, 90, draws, stores)))]
    lines = {line: found[number + 1] for number, line in enumerate(found) if "color 0," in line}
    assert [(line.rpartition(", ")[2], below.split(", ")[1]) for line, below in lines.items()] == [
        ("of draws 0-1", f"to {COLOUR:#x}"),
        ("of draw 2", f"to {OTHER:#x}"),
    ]


def test_lrz_that_is_switched_off_is_not_used() -> None:
    s = Streams(630)
    clear = [*s.raw("GRAS_LRZ_DEPTH_VIEW", 0xFFFFFFFF), *s.event("LRZ_CLEAR")]
    enabled = s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1)
    found = text(s.find(clear, sysmem(s, enabled, s.draw())))
    assert "    LRZ buffer unknown, switched off for the pass" in found


def test_unknown_is_said() -> None:
    s = Streams(630)
    (title,) = [
        line
        for line in text(s.find(s.marker("RM6_DIRECT_RENDER"), s.ib(s.draw())))
        if "pass 0" in line
    ]
    assert title == "  pass 0: sysmem, framebuffer unknown, 1 draw"
    unknown = Attachment("depth", None, None)
    assert passes.attachment_text(unknown) == "depth, format unknown, at unknown"
    full = Attachment("color 1", 16, "F", "T", 64, 0, True, 32, 4, 0)
    assert passes.attachment_text(full) == (
        "color 1, F, T, at 0x10, pitch 64, UBWC flags at 0x20, GMEM 0x0, not written by draws"
    )


def test_draws(finder: PassFinder) -> None:
    cells = [dict(zip(draws.HEADINGS, draws.cells(one), strict=True)) for one in finder.actions]
    assert [(c["dump"], c["pass"], c["draw"], c["where"], c["what"]) for c in cells] == [
        ("#0", "0", "p0:0", "", "copy BLIT_OP_SCALE"),
        ("#1", "1", "p1:0", "p1:t0", "DI_PT_TRILIST"),
        ("#2", "1", "p1:1", "p1:t0", "DI_PT_TRILIST"),
        ("#3", "1", "", "p1:t0", "store EVENT:BLIT"),
        ("#4", "1", "p1:0", "p1:t1", "DI_PT_TRILIST"),
        ("#5", "1", "p1:1", "p1:t1", "DI_PT_TRILIST"),
        ("#6", "1", "", "p1:t1", "store EVENT:BLIT"),
        ("#7", "2", "", "", "DI_PT_TRILIST"),
        ("#8", "2", "p2:0", "", "DI_PT_TRILIST"),
        ("#9", "2", "p2:1", "", "DI_PT_TRILIST"),
    ]
    assert (cells[1]["vertices"], cells[1]["instances"]) == ("36", "5")
    assert cells[1]["shaders"] == f"VS:{VS:#x} FS:{FS:#x}"
    assert cells[1]["targets"] == "c0:FMT6_8_8_8_8_UNORM"
    assert cells[7]["notes"] == "not executed (in gmem only; now sysmem)"
    assert cells[9]["notes"] == "conditional (predicate 3 of CP_REG_TEST)"


def test_state() -> None:
    found = state_at(open_bytes(small_capture()), 2, lambda line: None)
    assert found is not None
    state = LoggedState.of(found)
    values = list(state.values_of(found.registers))
    lines = list(state_view.lines(state, values))
    assert lines[0].startswith("draw p1:1 (#2), tile p1:t0, DI_PT_TRILIST, ")
    at = next(n for n, line in enumerate(lines) if "GRAS_LRZ_CNTL" in line)
    assert lines[at] == "00000001  GRAS_LRZ_CNTL: { ENABLE | DIR = 0 }"
    assert lines[at + 1].strip().startswith("this pass: stream 0 > IB 0x")
    assert " > group 2 0x" in lines[at + 1]
    joined = [line for line in lines if "RB_MRT[0].BASE:" in line]
    assert joined == [f"{COLOUR:016x}  RB_MRT[0].BASE: {COLOUR:#x}"], "both dwords"
    rows = [dict(zip(state_view.columns(), row, strict=True)) for row in state_view.rows(values)]
    (lrz,) = [row for row in rows if row["register"] == "GRAS_LRZ_CNTL"]
    assert (lrz["origin"], lrz["written_by_conditional"]) == ("this pass", 0)
    assert " group:0x" in str(lrz["written_by_place_path"])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("plain é", "plain é"), ("a\x1b[0m\n\t", "a\\x1b[0m\\x0a\\x09"), ("\u202e", "\\u202e")],
)
def test_visible(given: str, wanted: str) -> None:
    assert visible(given) == wanted


@pytest.mark.slow
def test_numbers_agree_over_captures(shared: Path) -> None:
    """Totals, passes, rows and draws agree."""
    paths = sorted((shared / "captures").glob("a[67]*.rd.gz"))
    for path in [one for one in paths if one.stat().st_size < 300_000][::3]:
        finder, _ = find_passes(open_capture(str(path)), lambda line: None)
        rows = [
            dict(zip(csv_columns(Pass), row, strict=True)) for row in csv_rows(finder.found.passes)
        ]
        listed = [one for one in finder.actions if one.number is not None]
        for row in rows:
            numbers = {one.number for one in listed if one.pass_index == row["pass"]}
            assert numbers == set(range(row["draw_count"])), (path.name, row["pass"])
        totals = " ".join(passes.total(submit) for submit in finder.found.submits)
        words = totals.replace(",", "").split()
        program = sum(int(words[at - 1]) for at, word in enumerate(words) if word == "program")
        assert program == sum(row["draw_count"] for row in rows if row["kind"] == "render")
