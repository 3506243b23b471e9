# SPDX-License-Identifier: MIT
"""Parts of captures: their syntax, and that the state before them counts."""

from __future__ import annotations

import pytest

from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.selection import BINNING, Selection, draws_of_pass, selection_of
from cffpy.container.open import open_bytes
from cffpy.errors import CaptureError
from cffpy.frame.places import DrawRange, parse_place
from tests.analysis.diff.frames import DrawCall, compared, frame
from tests.analysis.passes.marked import COLOUR, bins, move, targets, tile
from tests.analysis.passes.streams import Streams


@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("s2", Selection(submit=2)),
        ("p3", Selection(index=3)),
        ("p3:14", draws_of_pass(3, 14)),
        ("p3:t5", Selection(index=3, run=5)),
        ("p3:binning", Selection(index=3, run=BINNING)),
        ("p3:1-4", Selection(index=3, draws=DrawRange(1, 4, 3))),
        ("#62", None),
        ("#1-4", None),
    ],
)
def test_the_part_that_a_place_is(text: str, selection: Selection | None) -> None:
    assert selection_of(parse_place(text)) == selection
    if selection is not None:
        assert str(selection) == f"@{text}"


def test_all_of_a_capture() -> None:
    assert selection_of(None) == Selection()
    assert str(Selection()) == ""


def test_two_draws_of_one_capture() -> None:
    calls = [
        DrawCall(3, {"GRAS_SU_CNTL": 1}),
        DrawCall(3),
        DrawCall(3, {"GRAS_SU_CNTL": 2}),
    ]
    whole = frame(calls)
    one, other, last = (whole.selected(draws_of_pass(0, number)) for number in range(3))
    assert compared(one, other).entries == []
    (entry,) = compared(other, last).entries
    assert {d.name for d in entry.differences} == {
        "GRAS_SU_CNTL.CULL_FRONT",
        "GRAS_SU_CNTL.CULL_BACK",
    }


def test_ranges_of_draws_are_aligned() -> None:
    whole = frame([DrawCall(3 * number + 3) for number in range(6)])
    one, other = (
        whole.selected(Selection(index=0, draws=DrawRange(first, first + 3, 0))) for first in (0, 1)
    )
    assert [entry.title for entry in compared(one, other).entries] == [
        "draw p0:0 of good is missing in bad",
        "draw p0:4 of bad is missing in good",
    ]


def tiled(value: int = 0, stored: bool = True, binned: int = 0) -> Recording:
    """A pass of three tiles. ``value``: of a register in tile 1; ``stored``: tile 2 is stored;
    ``binned``: of the register in the binning run.
    """
    s = Streams(660)
    draws = s.ib(targets(s), *(s.draw(3 * at + 3) for at in range(3)))
    code = [
        *s.marker("RM6_BIN_VISIBILITY"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 384, 96),
        *bins(s, 128, 96, "BINNING_PASS"),
        *s.reg("GRAS_CL_CNTL", value=binned),
        *draws,
    ]
    for number in range(3):
        code += [
            *tile(
                s,
                128 * number,
                0,
                128,
                96,
                draws,
                move(s, "STORE", 0, COLOUR) if stored or number < 2 else (),
                before=s.reg("GRAS_CL_CNTL", value=value if number == 1 else 0),
            )
        ]
    return record(open_bytes(s.capture([[code]])), lambda line: None)


def test_two_tiles_of_a_pass() -> None:
    """What both execute is compared; where they lie is no difference."""
    tiles = [tiled(5, stored=False).selected(Selection(index=0, run=n)) for n in range(3)]
    same = [tiled().selected(Selection(index=0, run=n)) for n in range(3)]
    assert compared(same[0], same[2]).entries == []
    assert compared(same[0], tiles[0]).entries == []
    (entry,) = compared(same[1], tiles[1]).entries
    assert entry.title.startswith("draws p0:0-2: GRAS_CL_CNTL.")
    (entry,) = compared(tiles[0], tiles[1]).entries
    assert entry.title.startswith("draws p0:0-2: GRAS_CL_CNTL.")
    (entry,) = compared(same[0], tiles[2]).entries
    assert entry.title == "pass 0: color 0 at the end: store → nothing"


def test_two_binning_runs() -> None:
    """Only what the binning runs execute is compared; a tile may be the counterpart of one."""
    place = Selection(index=0, run=BINNING)
    runs = [tiled(binned=value).selected(place) for value in (0, 0, 5)]
    assert compared(runs[0], runs[1]).entries == []
    assert compared(runs[0], tiled(5, stored=False).selected(place)).entries == []
    (entry,) = compared(runs[1], runs[2]).entries
    assert entry.title.startswith("draws p0:0-2: GRAS_CL_CNTL.")
    entries = compared(runs[2], tiled().selected(Selection(index=0, run=0))).entries
    assert any("GRAS_CL_CNTL" in key.name for one in entries for key in one.differences)


def test_two_passes_of_one_capture_with_the_state_before_them() -> None:
    whole = frame(
        [DrawCall(3, {"RB_BLEND_RED_F32": 0x3F800000})],
        [DrawCall(3)],
        [DrawCall(3, {"RB_BLEND_RED_F32": 0})],
    )
    first, second, third = (whole.selected(Selection(index=n)) for n in range(3))
    assert compared(first, second).entries == []
    (entry,) = compared(second, third).entries
    assert entry.title == "draw p1:0 (pass 2 of bad): RB_BLEND_RED_F32: 1.000000 → 0.000000"


@pytest.mark.parametrize(
    "selection",
    [
        Selection(submit=9),
        Selection(index=9),
        draws_of_pass(0, 9),
        Selection(index=0, draws=DrawRange(0, 1, 0)),
        Selection(index=0, run=0),
        Selection(index=0, run=BINNING),
    ],
)
def test_a_part_that_is_not_there_is_an_error(selection: Selection) -> None:
    with pytest.raises(CaptureError, match=": no "):
        frame([DrawCall(3)]).selected(selection)
