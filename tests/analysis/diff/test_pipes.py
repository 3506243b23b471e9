# SPDX-License-Identifier: MIT
"""Registers of the pipes BR and BV of a7xx: each is compared with those of the same pipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.rules import RULES
from cffpy.container.open import open_bytes, open_capture
from tests.analysis.passes.marked import bins, sysmem, targets, tile
from tests.analysis.passes.streams import Streams

BR, BV, BOTH, DISABLE = 1, 2, 3, 1 << 27
STATE, OTHER = "GRAS_SU_CNTL", "RB_BLEND_CNTL"

S = Streams(740)
Words = Sequence[int]


def thread(pipe: int) -> list[int]:
    return S.packet("CP_THREAD_CONTROL", pipe)


def state(value: int, name: str = STATE) -> list[int]:
    return S.raw(name, value)


def binning(body: Words, pipe: int = BV, before: Words = ()) -> list[int]:
    """A binning run. ``body``: what both runs execute."""
    return [
        *thread(pipe),
        *before,
        *S.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 256, 96),
        *S.marker("RM6_BIN_VISIBILITY"),
        *bins(S, 128, 96, "BINNING_PASS"),
        *S.ib(targets(S), body),
        *S.packet("CP_SET_MARKER", 0xF),
    ]


def tiles(body: Words, before: Words = ()) -> list[int]:
    places = ((0, 0), (128, 0))
    found = [*thread(BR), *before]
    for x, y in places:
        found += tile(S, x, y, x + 128, 96, S.ib(targets(S), body))
    return [*found, *S.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0), *S.event("LRZ_FLUSH")]


def recorded(*parts: Words) -> Recording:
    first = [*thread(BOTH), *state(1), *state(1, OTHER)]
    content = S.capture([[first, *parts]])
    return record(open_bytes(content), lambda line: None)


def compared(good: Recording, bad: Recording) -> Comparison:
    return compare(good, bad, frozenset(RULES))


def told(good: Recording, bad: Recording) -> list[tuple[str, list[str]]]:
    return [
        (entry.title, sorted({"" if one.phase == "draws" else one.phase for one in entry.extents}))
        for entry in compared(good, bad).entries
    ]


DRAWS = [*S.draw(), *S.draw()]


def concurrent(of_bv: Words = (), of_br: Words = ()) -> Recording:
    """A pass that bins concurrently. Before its binning run, the pipes write for themselves."""
    return recorded(thread(BR), of_br, binning(DRAWS, before=of_bv), tiles(DRAWS))


def test_what_bv_writes_differs_in_the_binning_run_alone() -> None:
    ((title, runs),) = told(concurrent(state(0x2)), concurrent(state(0x3)))
    assert STATE in title
    assert runs == ["binning run"]
    ((title, runs),) = told(concurrent(), concurrent(state(0x3)))
    assert runs == ["binning run"]


def test_what_br_writes_differs_in_its_draws_alone() -> None:
    ((title, runs),) = told(concurrent((), state(0x2)), concurrent((), state(0x3)))
    assert STATE in title
    assert runs == [""]


def test_each_differs_in_its_own_way() -> None:
    good, bad = concurrent(state(0), state(0)), concurrent(state(2), state(1))  # another bit
    found = told(good, bad)
    assert sorted(runs for _, runs in found) == [[""], ["binning run"]]


def test_the_same_is_the_same() -> None:
    assert told(concurrent(state(2), state(3)), concurrent(state(2), state(3))) == []


def test_values_of_the_same_name_are_those_of_the_pipe() -> None:
    """Both captures end with the same values in the order of the stream."""
    good = recorded(thread(BR), state(2), thread(BV), state(4), binning(DRAWS), tiles(DRAWS))
    bad = recorded(thread(BR), state(3), thread(BV), state(4), binning(DRAWS), tiles(DRAWS))
    ((title, runs),) = told(good, bad)
    assert STATE in title
    assert runs == [""]


def test_what_is_written_for_both_is_of_both() -> None:
    def both(value: int) -> Recording:
        return recorded(
            thread(BR), thread(BOTH), state(value), thread(BV), binning(DRAWS), tiles(DRAWS)
        )

    ((title, runs),) = told(both(2), both(3))  # told once, for the program's draws
    assert STATE in title
    assert runs == [""]


def passes_of_either(value: int) -> Recording:
    """BV bins the first pass and BR the second one; BV alone has a register at all."""
    return recorded(
        binning(DRAWS, BV, [*state(value), *S.raw("RB_ALPHA_CONTROL", value)]),
        tiles(DRAWS),
        binning(DRAWS, BR | DISABLE),
        tiles(DRAWS),
        binning(DRAWS, BV),
        tiles(DRAWS),
    )


def test_binning_runs_of_either_pipe_have_its_registers() -> None:
    found = compared(passes_of_either(2), passes_of_either(3)).entries
    passes = {
        extent.good_pass for one in found for extent in one.extents if extent.phase == "binning run"
    }
    assert passes == {0, 2}
    assert {extent.phase for one in found for extent in one.extents} == {"binning run"}


def test_draws_of_either_pipe_in_a_pass() -> None:
    """A pass whose draws BV executes, between passes that BR does: without tiles."""

    def of(value: int) -> Recording:
        return recorded(
            thread(BR),
            sysmem(S, S.draw()),
            thread(BV),
            state(value),
            sysmem(S, S.draw()),
            thread(BR),
            sysmem(S, S.draw()),
        )

    found = compared(of(2), of(3)).entries
    assert {extent.good_pass for one in found for extent in one.extents} == {1}


def loaded(value: int) -> list[int]:
    """CP_LOAD_STATE6_FRAG: a constant."""
    return S.packet("CP_LOAD_STATE6_FRAG", 1 << 22 | 12 << 18 | 1 << 14, 0, 0, value, 2, 3, 4)


def test_what_is_loaded_is_of_the_pipe() -> None:
    def of(value: int) -> Recording:
        return recorded(
            binning([*loaded(value), *DRAWS], BV), thread(BV), tiles([*loaded(9), *DRAWS])
        )

    assert {runs for _, [runs] in told(of(1), of(2))} == {"binning run"}


@pytest.mark.slow
def test_real_captures_are_equal_to_themselves(shared: Path) -> None:
    for name in ("m26-a740-vk-scene100-cb", "m26-a750-vk-frame-auto"):
        path = str(shared / f"m26/captures/{name}.rd.gz")
        good, bad = (record(open_capture(path), lambda line: None) for _ in range(2))
        assert compared(good, bad).entries == []


WAIT = S.packet("CP_WAIT_FOR_IDLE")
INVALIDATE = S.packet("CP_WAIT_MEM_WRITES")


def barriers_of(*parts: Words) -> Recording:
    """A pass in sysmem after these packets."""
    body = S.ib(targets(S), DRAWS)
    return recorded(*parts, thread(BR), sysmem(S, body))


def test_waits_are_compared_for_each_pipe() -> None:
    """In whatever order the stream has what the pipes execute."""
    of_br, of_bv = (thread(BR), WAIT), (thread(BV), INVALIDATE)
    good = barriers_of(*of_br, *of_bv)
    assert told(good, barriers_of(*of_bv, *of_br)) == []
    titles = [title for title, _ in told(good, barriers_of(*of_br))]
    assert titles == ["BV: CP_WAIT_MEM_WRITES before draw p0:0 is missing in bad"]
    titles = [title for title, _ in told(good, barriers_of(*of_bv))]
    assert titles == ["CP_WAIT_FOR_IDLE before draw p0:0 is missing in bad"]
    both = thread(BOTH), WAIT
    titles = [title for title, _ in told(good, barriers_of(*of_br, *of_bv, *both))]
    assert len(titles) == 1, "what both execute is told once"


def test_concurrent_binning_that_is_disabled_is_compared() -> None:
    good, bad = barriers_of(S.packet("CP_THREAD_CONTROL", BR | DISABLE)), barriers_of(thread(BR))
    titles = [title for title, _ in told(good, bad)]
    assert titles == [
        "CP_THREAD_CONTROL (CONCURRENT_BIN_DISABLE) before draw p0:0 is missing in bad"
    ]
