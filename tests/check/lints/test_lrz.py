# SPDX-License-Identifier: MIT
"""LRZ and the depth test."""

from __future__ import annotations

import pytest

from tests.check.texts import checked_text, sample
from tests.selection import first_always


def test_lrz_that_is_cleared_and_that_no_draw_uses() -> None:
    text = sample("CFF012-quiet")
    off = text.replace("{ ENABLE, LRZ_WRITE, DIR=LRZ_DIR_LE }", "{ }")
    assert off != text
    (found,) = checked_text(off, "CFF012").findings
    assert found.count == 3
    assert not checked_text(off.replace("EVENT=LRZ_CLEAR", "EVENT=LRZ_FLUSH"), "CFF012").findings


@pytest.mark.parametrize(
    ("function", "direction", "fires"),
    first_always(
        [
            ("LESS", "LRZ_DIR_LE", False),
            ("LEQUAL", "LRZ_DIR_LE", False),
            ("LESS", "LRZ_DIR_GE", True),
            ("LEQUAL", "LRZ_DIR_LE, GREATER", True),
            ("GEQUAL", "LRZ_DIR_GE, GREATER", False),
            ("GREATER", "LRZ_DIR_GE", True),
            ("ALWAYS", "LRZ_DIR_LE", True),
            ("NOTEQUAL", "LRZ_DIR_LE", True),
            ("EQUAL", "LRZ_DIR_LE", False),
            ("NEVER", "LRZ_DIR_LE", False),
            ("GREATER", "0", True),
            ("GREATER", "0, GREATER", False),
            ("ALWAYS", "0", False),
        ],
        names=3,
    ),
)
def test_directions_of_lrz(function: str, direction: str, fires: bool) -> None:
    """The Gallium driver has no DIR (0); LRZ may be on for NEVER there."""
    text = sample("CFF012-quiet")
    text = text.replace("DIR=LRZ_DIR_LE", f"DIR={direction}").replace(
        "FUNC_LESS", f"FUNC_{function}"
    )
    assert bool(checked_text(text, "CFF049").findings) == fires
