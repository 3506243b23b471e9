# SPDX-License-Identifier: MIT
"""Parts of captures: their syntax, and that the state before them counts."""

from __future__ import annotations

import pytest

from cffpy.analysis.diff.selection import Selection, selection_of
from cffpy.errors import CaptureError
from cffpy.frame.places import parse_place
from tests.analysis.diff.frames import DrawCall, compared, frame


@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("s2", Selection(submit=2)),
        ("p3", Selection(index=3)),
        ("p3:14", Selection(index=3, draw=14)),
        ("p3:t5", None),
        ("p3:1-4", None),
        ("#62", None),
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
    one, other, last = (whole.selected(Selection(index=0, draw=n)) for n in range(3))
    assert compared(one, other).entries == []
    (entry,) = compared(other, last).entries
    assert {d.name for d in entry.differences} == {
        "GRAS_SU_CNTL.CULL_FRONT",
        "GRAS_SU_CNTL.CULL_BACK",
    }


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
    "selection", [Selection(submit=9), Selection(index=9), Selection(None, 0, 9)]
)
def test_a_part_that_is_not_there_is_an_error(selection: Selection) -> None:
    with pytest.raises(CaptureError, match=": no "):
        frame([DrawCall(3)]).selected(selection)
