# SPDX-License-Identifier: MIT
"""Each rule: what it counts, and a change of the same state that matters and is reported.

The captures are samples with one change of their text, and small frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.diff.model import Comparison, Extent
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.rules import REGISTER_RULES, RULES, RuleName
from cffpy.container.open import open_bytes
from cffpy.container.writer import dwords_bytes
from tests.analysis.diff.frames import (
    COND_EXEC,
    DIRECT_RENDER,
    DRAW,
    EVENT,
    MARKER,
    MEM_WRITE,
    NOP,
    THREAD_CONTROL,
    DrawCall,
    compared,
    frame,
    frame_bytes,
    vertices_bytes,
    write,
)
from tests.builders import capture, type7
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
    """A capture of ``vertices_bytes``."""
    return record(open_bytes(vertices_bytes(data)), lambda line: None)


def event(timestamp: int, event: int = 4) -> Recording:
    """A draw after two events, CACHE_FLUSH_TS, that write timestamps to 0x1_00000100."""
    first, second = (type7(EVENT, event | 1 << 30, 0x100, 1, timestamp + at) for at in (0, 1))
    return frame([DrawCall(3, packets=[*first, *second])])


def memory(value: int, reads: bool = False) -> Recording:
    """A write of two dwords to memory, where the vertices of a draw lie, or do not."""
    words = type7(MEM_WRITE, 0x200000 if reads else 0x300000, 0, 0, value)
    return record(open_bytes(vertices_bytes(DATA, words)), lambda line: None)


def pipe(thread: int | None) -> Recording:
    """A draw of an a740, by this pipe: 1 is BR, 2 is BV."""
    named = [] if thread is None else type7(THREAD_CONTROL, thread)
    words = [*named, *type7(MARKER, DIRECT_RENDER), *type7(DRAW, 4 | 2 << 6, 1, 3)]
    return record(open_bytes(capture(740, words)), lambda line: None)


def overwritten(first: int, then: int = 2) -> Recording:
    """A draw after two writes of a register, with an event between."""
    packets = [*write("GRAS_CL_CNTL", first), *type7(EVENT, 0x1E), *write("GRAS_CL_CNTL", then)]
    return frame([DrawCall(3, packets=packets)])


def after_all(name: str, value: int) -> Recording:
    """A draw, and a write of a register after it."""
    return record(
        open_bytes(frame_bytes([DrawCall(3)], behind=write(name, value))), lambda line: None
    )


def skipped(packet: int, *dwords: int) -> Recording:
    """A draw after a packet that does nothing, or one that does."""
    return frame([DrawCall(3, packets=type7(packet, *dwords))])


def block(size: int, writes: Sequence[int] = ()) -> Recording:
    """A conditional block of this size, of which only the GPU knows the condition, with a write."""
    words = [*writes, *type7(NOP, *[0] * (size - 1 - len(writes)))]
    return frame([DrawCall(3, packets=[*type7(COND_EXEC, 0x100, 1, 0x100, 1, 1, size), *words])])


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

#: Rule -> two captures that differ in nothing else, or only in their modes.
COUNTED: dict[RuleName, Pair] = {
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
    "timestamps": lambda: (event(1), event(2)),
    "written": lambda: (memory(1), memory(2)),
    "blocks": lambda: (block(2), block(3)),
    "skipped": lambda: (skipped(NOP, 1), skipped(NOP, 2)),
    "pipes": lambda: (pipe(None), pipe(1)),
    "overwritten": lambda: (overwritten(1), overwritten(3)),
    "unread": lambda: (after_all("GRAS_CL_CNTL", 1), after_all("GRAS_CL_CNTL", 2)),
}

#: Rule -> two captures of which the rule might count the difference, and what is reported.
MATTERS: dict[RuleName, tuple[Pair, str]] = {
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
        r"2 CP_WAIT_FOR_IDLE before draw p0:0 are missing in bad",
    ),
    "timestamps": (
        lambda: (event(1), event(1, 0x1D)),
        r"before draw p0:0: 2 CACHE_FLUSH_TS \(TIMESTAMP\) → 2 PC_CCU_FLUSH_COLOR_TS",
    ),
    "written": (
        lambda: (memory(1, reads=True), memory(2, reads=True)),
        r"draw p0:0: vertex buffer 0",
    ),
    "pipes": (lambda: (pipe(1), pipe(2)), r"draw p0:0: pipe: BR → BV"),
    "overwritten": (lambda: (overwritten(1, 2), overwritten(1, 3)), r"draw p0:0: GRAS_CL_CNTL"),
    "unread": (
        lambda: (after_all("HLSQ_INVALIDATE_CMD", 1), after_all("HLSQ_INVALIDATE_CMD", 2)),
        r"draw p0:0: HLSQ_INVALIDATE_CMD after the last draw",
    ),
    "skipped": (
        lambda: (skipped(NOP), skipped(0x26)),
        "CP_WAIT_FOR_IDLE before draw p0:0 is missing in good",
    ),
    "blocks": (
        lambda: (block(3), block(3, write("GRAS_CL_CNTL", 1))),
        r"draw p0:0: GRAS_CL_CNTL",
    ),
}


def test_each_rule_has_a_change_that_it_counts_and_one_that_it_does_not() -> None:
    assert set(COUNTED) == set(RULES) - {"uncompared"}  # of which there is nothing to show
    assert set(MATTERS) == set(COUNTED)
    assert {rule.rule for rule in REGISTER_RULES} <= set(MATTERS)


def found(pair: Pair, *shown: RuleName) -> Comparison:
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
@pytest.mark.parametrize("rule", first_always(COUNTED))
def test_what_it_leaves_out_is_counted(rule: RuleName) -> None:
    result = found(COUNTED[rule])
    assert sum(result.hidden[rule].values()) >= 1
    shown = found(COUNTED[rule], rule)
    assert rule not in shown.hidden
    assert places(result) < places(shown)


@pytest.mark.slow
@pytest.mark.parametrize("rule", first_always(MATTERS))
def test_what_matters_is_reported(rule: RuleName) -> None:
    pair, title = MATTERS[rule]
    titles = [entry.title for entry in found(pair).entries]
    assert any(re.match(title, one) for one in titles), titles
