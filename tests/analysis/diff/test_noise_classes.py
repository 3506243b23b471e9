# SPDX-License-Identifier: MIT
"""Each noise class: what it hides, and a change of the same state that matters and is reported.

The captures are samples with one change of their text, and small frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.diff.model import Comparison, Extent
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.rules import CLASSES, REGISTER_RULES, NoiseClass
from cffpy.container.open import open_bytes
from cffpy.container.writer import buffer_sections, dwords_bytes
from tests.analysis.diff.frames import DrawCall, commands, compared, frame, write
from tests.builders import capture
from tests.selection import first_always

SAMPLES = Path(__file__).parents[3] / "samples"

GMEM, SYSMEM = "a660-frame-gmem", "a660-frame-sysmem"


def sample(name: str, *changes: tuple[str, str]) -> Recording:
    """A sample in which these parts of the text are replaced, wherever they stand."""
    text = (SAMPLES / f"{name}.pm4").read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return record(open_bytes(cffpy.compile(text)), lambda line: None)


def vertices(data: bytes | None) -> Recording:
    """A draw of three vertices at 0x200000; of what lies there this is captured, None: nothing.

    The buffer of 64 bytes that has them begins 16 bytes before; without one, there is no buffer.
    """
    state = (
        write("VFD_CONTROL_0", 1)
        + write("VFD_FETCH[0].BASE", 0x200000, 0)
        + write("VFD_FETCH[0].SIZE", 48)
        + write("VFD_FETCH[0].STRIDE", 4)
    )
    contents = [] if data is None else buffer_sections(0x1FFFF0, bytes(16) + data, size=64)
    words = commands([DrawCall(3, packets=state)])
    return record(open_bytes(capture(630, words, before=contents)), lambda line: None)


def decoded(value: int, count: int) -> Recording:
    """Two draws, of which the second one decodes ``count`` attributes."""
    first = DrawCall(3, {"VFD_CONTROL_0": 0x101, "VFD_DECODE[1].INSTR": value})
    return frame([first, DrawCall(6, {"VFD_CONTROL_0": count << 8 | count})])


def passes(first: int, second: int | None) -> Recording:
    """Two passes; the first one writes a register, the second one does if it has a value."""
    again = {} if second is None else {"GRAS_CL_CNTL": second}
    return frame([DrawCall(3, {"GRAS_CL_CNTL": first})], [DrawCall(6, again)])


#: Two captures.
Pair = Callable[[], tuple[Recording, Recording]]

COLOUR, ELSEWHERE = "0x100100000", "0x100500000"
STORED = "RB_BLIT_DST = "
DRAW_TWO = "    CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
#: The draw after these is executed if bit 0 of a scratch register is set.
TESTED = """    CP_SCRATCH[4].REG = {}
    CP_REG_TEST REG=reg(CP_SCRATCH[4].REG) BIT=0
    CP_COND_REG_EXEC MODE=PRED_TEST DWORDS=4
"""
DATA = dwords_bytes([1, 2, 3, 4])

#: Class -> two captures that differ in nothing else, or only in their modes.
NOISE: dict[NoiseClass, Pair] = {
    "addresses": lambda: (sample(GMEM), sample(GMEM, (COLOUR, ELSEWHERE))),
    "scratch": lambda: (
        frame([DrawCall(3, {"CP_SCRATCH[4].REG": 1})]),
        frame([DrawCall(3, {"CP_SCRATCH[4].REG": 2})]),
    ),
    "gmem": lambda: (sample(GMEM), sample(SYSMEM)),
    "tiles": lambda: (sample(GMEM), sample(SYSMEM)),
    "engines": lambda: (
        frame([DrawCall(3, {"RB_2D_DST_INFO": 1})]),
        frame([DrawCall(3, {"RB_2D_DST_INFO": 2})]),
    ),
    "unused": lambda: (decoded(1, 1), decoded(2, 1)),
    "uncaptured": lambda: (vertices(DATA), vertices(b"")),
    "inherited": lambda: (passes(0, None), passes(1, None)),
    "barriers": lambda: (sample(GMEM), sample(SYSMEM)),
}

#: Class -> two captures of which the class would hide the difference, and what is reported.
MATTERS: dict[NoiseClass, tuple[Pair, str]] = {
    "scratch": (
        lambda: (
            sample(GMEM, (DRAW_TWO, TESTED.format(1) + DRAW_TWO)),
            sample(GMEM, (DRAW_TWO, TESTED.format(0) + DRAW_TWO)),
        ),
        r"draw p0:1 of good is missing in bad",
    ),
    "addresses": (
        lambda: (sample(GMEM), sample(GMEM, (f"{STORED}{COLOUR}", f"{STORED}{ELSEWHERE}"))),
        r"pass 0: RB_BLIT_DST of the store of color 0: 0x100100000 → 0x100500000",
    ),
    "gmem": (
        lambda: (
            sample(GMEM),
            sample(GMEM, ("COLOR_OFFSET=0x174000", "COLOR_OFFSET=0x170000")),
        ),
        r"draws p0:0-1: RB_CCU_CNTL\.COLOR_OFFSET: ",
    ),
    "tiles": (
        lambda: (
            sample(GMEM),
            sample(GMEM, ("VSC_STATE[0].REG = 0xffffffff", "VSC_STATE[0].REG = 0x1")),
        ),
        r"draws p0:0-1: VSC_STATE\[0\]\.REG",
    ),
    "engines": (
        lambda: (
            sample("a650-blits"),
            sample("a650-blits", ("TILE_MODE=TILE6_3", "TILE_MODE=TILE6_LINEAR")),
        ),
        r"draws? p0:.*RB_2D_DST_INFO\.TILE_MODE: TILE6_3 → TILE6_LINEAR",
    ),
    "unused": (lambda: (decoded(1, 2), decoded(2, 2)), r"draw p0:1: VFD_DECODE\[1\]"),
    "uncaptured": (
        lambda: (vertices(DATA), vertices(None)),
        r"draw p0:0: vertex buffer 0: captured → no buffer at 0x200000",
    ),
    "inherited": (lambda: (passes(0, 0), passes(0, 1)), r"draw p1:0: GRAS_CL_CNTL"),
    "barriers": (
        lambda: (sample(GMEM), sample(GMEM, ("    CP_WAIT_FOR_IDLE\n", ""))),
        r"draw p0:0: waits and cache events before it",
    ),
}


def test_each_class_has_a_change_that_it_hides_and_one_that_it_does_not() -> None:
    assert set(NOISE) == set(CLASSES)
    assert set(MATTERS) == set(CLASSES)
    assert {rule.noise for rule in REGISTER_RULES} <= set(MATTERS)


def found(pair: Pair, *shown: NoiseClass) -> Comparison:
    good, bad = pair()
    return compared(good, bad, shown)


def places(result: Comparison) -> set[tuple[str, Extent]]:
    """What is reported, and where."""
    return {
        (difference.name, extent)
        for entry in result.entries
        for one in (entry, *entry.consequences)
        for difference in one.differences
        for extent in one.extents
    }


@pytest.mark.slow
@pytest.mark.parametrize("noise", first_always(CLASSES))
def test_what_it_hides_is_counted(noise: NoiseClass) -> None:
    result = found(NOISE[noise])
    assert sum(result.hidden[noise].values()) >= 1
    shown = found(NOISE[noise], noise)
    assert noise not in shown.hidden
    assert places(result) < places(shown)


@pytest.mark.slow
@pytest.mark.parametrize("noise", first_always(CLASSES))
def test_what_matters_is_reported(noise: NoiseClass) -> None:
    pair, title = MATTERS[noise]
    titles = [entry.title for entry in found(pair).entries]
    assert any(re.match(title, one) for one in titles), titles
