# SPDX-License-Identifier: MIT
"""Conditional blocks: live or discarded; draws keep the dump's numbers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.queries import find_passes
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.cp.packets.streams import MAX_BLOCKS
from cffpy.cp.session import Session
from cffpy.cp.sink import DISCARDED, INLINE, LIVE, BlockOutcome, Draw, NullSink
from cffpy.cp.state import GROUP_COUNT, CpState
from cffpy.limits import MAX_DEPTH
from cffpy.pm4.reader import Payload
from tests.analysis.passes.streams import Collector, Streams
from tests.cp.conftest import RecordingSink

COND_REG_EXEC, COND_EXEC, NOP = 0x47, 0x44, 0x10


class Deciding(RecordingSink):
    """Returns ``outcomes`` in turn."""

    def __init__(self, *outcomes: BlockOutcome) -> None:
        super().__init__()
        self.outcomes = list(outcomes)

    def conditional_block(
        self, name: str, payload: Payload, ndwords: int, level: int
    ) -> BlockOutcome:
        self.heard.append(("block", name, ndwords))
        return self.outcomes.pop(0)

    def conditional_block_done(self) -> None:
        self.heard.append(("done",))


@pytest.fixture
def decided(run, packets):
    """``decided(commands, *outcomes)``: runs them with a sink that returns these."""

    def run_so(commands: list[int], *outcomes: BlockOutcome, dwords: int | None = None):
        machine = run(630, commands).machine
        machine.state = CpState()
        machine.sink = sink = Deciding(*outcomes)
        machine.run_submit(0x100000, len(commands) if dwords is None else dwords)
        assert not sink.outcomes
        assert machine.streams == []
        return machine.state, sink

    return run_so


def block(packets, commands: list[int], ndwords: int | None = None) -> list[int]:
    size = len(commands) if ndwords is None else ndwords
    return [*packets.type7(COND_REG_EXEC, 3 << 28, size), *commands]


def test_without_an_opinion_everything_runs(run, packets) -> None:
    commands = block(packets, packets.type4(0x8000, 1)) + packets.type4(0x8001, 2)
    done = run(630, commands)
    assert done.state.registers == {0x8000: 1, 0x8001: 2}
    linear = [entry for entry in done.sink.heard if entry[0] == "write"]
    assert linear == [("write", 0x8000, [1], 1), ("write", 0x8001, [2], 1)]


def test_a_block_may_run_inline(decided, packets) -> None:
    commands = block(packets, packets.type4(0x8000, 1)) + packets.type4(0x8001, 2)
    state, sink = decided(commands, INLINE)
    assert state.registers == {0x8000: 1, 0x8001: 2}
    assert sink.of("block", "done") == [("block", "CP_COND_REG_EXEC", 2)]


@pytest.mark.parametrize("outcome", [LIVE, DISCARDED], ids=lambda outcome: outcome.name)
def test_blocks(decided, packets, outcome: BlockOutcome) -> None:
    inside = (
        packets.type4(0x8000, 2)
        + packets.type7(0x65, 2)  # CP_SET_MARKER
        + packets.type7(0x43, 2 | 7 << 20, 0x100008, 0)  # CP_SET_DRAW_STATE
        + packets.type7(0x38, 4, 1, 3)  # a draw, which loads the group
        + packets.type7(0x43, 2 | 7 << 20 | 3 << 24, 0x100008, 0)
        + packets.type4(0x8002, 5)
    )
    commands = [
        *packets.type4(0x8000, 1),
        *packets.type4(0x8001, 1),
        *block(packets, inside),
        *packets.type4(0x8003, 4),
    ]
    state, sink = decided(commands, outcome)
    assert state.draw_count == 1
    assert state.ib_level == 0
    if outcome is LIVE:
        assert state.registers == {0x8000: 2, 0x8001: 1, 0x8002: 5, 0x8003: 4}
        assert state.render_mode == "RM6_BIN_VISIBILITY"
        assert state.groups[3] is not None
    else:
        assert state.registers == {0x8000: 1, 0x8001: 1, 0x8003: 4}
        assert state.render_mode is None
        assert state.groups.count(None) == GROUP_COUNT
        assert set(state.registers) == state.rewritten | state.written_before
    heard = [entry[:2] for entry in sink.of("block", "done", "write", "draw")]
    begin, end = heard.index(("block", "CP_COND_REG_EXEC")), heard.index(("done",))
    assert ("write", 0x8002) in heard[begin:end], "the same callbacks, live or discarded"
    assert ("draw", "CP_DRAW_INDX_OFFSET") in heard[begin:end]
    assert heard[end + 1 :] == [("write", 0x8003)]


def test_levels_are_the_streams(decided, packets) -> None:
    commands = block(packets, packets.type4(0x8000, 1) + packets.type7(NOP, 1))
    state, sink = decided(commands, LIVE)
    assert sink.of("write") == [("write", 0x8000, [1], 1)]
    assert sink.of("packet")[-1] == ("packet", NOP, 1, 0)
    assert state.draws[0] == 0


def test_ends_of_blocks(decided, packets) -> None:
    """No dwords, a last packet that reaches beyond the block, a block beyond its stream."""
    odd = 0xFFFFFFFF  # no packet header
    write = packets.type4(0x8000, odd, odd)
    for ndwords in (0, 1, 2, 3):
        commands = block(packets, write, ndwords) + packets.type4(0x8009, 9)
        state, _ = decided(commands, DISCARDED)
        written = {0x8000: odd, 0x8001: odd, 0x8009: 9}
        assert state.registers == ({0x8009: 9} if ndwords else written)
        state, _ = decided(commands, LIVE)
        assert state.registers == written, "the last packet is executed whole"
    write = packets.type4(0x8000, 1, 2)
    state, sink = decided(block(packets, write + packets.type4(0x8009, 9), 0xFFFFFF), LIVE)
    assert state.registers == {0x8000: 1, 0x8001: 2, 0x8009: 9}
    assert sink.of("overrun") == []
    cut = block(packets, write)
    _, sink = decided(cut, LIVE, dwords=len(cut) - 1)
    assert sink.of("overrun") == [("overrun", 1)]


def test_memory_conditions(decided, packets) -> None:
    write = packets.type4(0x8000, 1)
    state, sink = decided(packets.type7(COND_EXEC, 1, 2, 3, 4, 5, 2) + write, DISCARDED)
    assert state.registers == {}
    assert sink.of("block") == [("block", "CP_COND_EXEC", 2)]


@pytest.mark.parametrize("payload", [(COND_EXEC, 1, 2, 3, 2), (COND_REG_EXEC, 3 << 28)])
def test_packets_that_are_too_short(decided, packets, payload: tuple[int, ...]) -> None:
    state, sink = decided(packets.type7(*payload) + packets.type4(0x8000, 1))
    assert state.registers == {0x8000: 1}
    assert sink.of("block") == []


def test_blocks_are_no_streams_for_the_limit_of_depth(decided, packets) -> None:
    commands = packets.type4(0x8000, 1)
    depth = 3 * MAX_DEPTH
    for _ in range(depth):
        commands = block(packets, commands)
    state, sink = decided(commands, *[LIVE] * depth)
    assert state.registers == {0x8000: 1}
    assert sink.of("refused") == []


def test_blocks_have_a_limit_of_their_own(decided, packets) -> None:
    commands = packets.type4(0x8000, 1)
    for _ in range(MAX_BLOCKS + 1):
        commands = block(packets, commands)
    commands += packets.type4(0x8001, 2)
    state, sink = decided(commands, *[LIVE] * (MAX_BLOCKS + 1))
    assert state.registers == {0x8001: 2}
    assert [entry[2] for entry in sink.of("refused")] == ["are under too many conditions"]


# --- the state of a skipped block ----------------------------------------------------------------

_small = st.dictionaries(st.integers(0, 9), st.integers(0, 99))


@given(_small, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99))), _small)
def test_a_fork_reads_what_is_below_and_changes_nothing(
    below: dict[int, int], writes: list[tuple[int, int]], more: dict[int, int]
) -> None:
    state = CpState()
    state.registers.update(below)
    fork = state.fork().fork()
    expected = dict(below)
    for register, value in writes:
        fork.set_register(register, value)
        expected[register] = value
    fork.registers.update(more)
    expected.update(more)
    assert [fork.value(register) for register in range(10)] == [
        expected.get(register, 0) for register in range(10)
    ]
    assert [register in fork.registers for register in range(10)] == [
        register in expected for register in range(10)
    ]
    assert fork.registers.get(50) is None
    assert fork.registers.get(50, 7) == 7
    for register, value in expected.items():
        assert fork.registers[register] == value
    fork.groups[3] = object()  # type: ignore[call-overload]
    fork.draws[2] = 5
    fork.render_mode = "other"
    assert state.registers == below
    assert (state.groups[3], state.draws[2], state.render_mode) == (None, 0, None)


# --- numbers of draws ----------------------------------------------------------------------------


class Counter(NullSink):
    """Counts draws like the dump."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if draw.counted:
            self.numbers.append(self.machine.state.draw_count)


def counted(content: Content) -> tuple[list[int], int]:
    counter = Counter()
    session = Session(counter, warn=lambda line: None)
    session.run(content)
    return counter.numbers, session.machine.state.draw_count


def test_draws_have_the_numbers_of_the_dump() -> None:
    s = Streams(630)
    body = s.ib(s.draw(), s.only("gmem", commands=s.draw() * 3), s.event("BLIT"))
    data = s.capture(
        [[s.marker("RM6_DIRECT_RENDER"), body, s.only("sysmem", "gmem", commands=body), s.draw()]]
    )
    numbers, total = counted(open_bytes(data))
    assert (numbers, total) == (list(range(11)), 11)
    finder, _ = find_passes(open_bytes(data), lambda line: None)
    assert [action.dump_draw for action in finder.actions] == numbers


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_numbers_over_captures(shared: Path, share: int) -> None:
    """For a share of the captures, the finder's actions are all of the dump's draws."""
    paths = sorted((shared / "captures").glob("*.rd*"))
    chosen = [path for path in paths if path.stat().st_size < 1_000_000]
    for path in random.Random(share).sample(chosen, 8):
        content = open_capture(str(path))
        numbers, _ = counted(content)
        finder, _ = find_passes(content, lambda line: None)
        found = [one.dump_draw for one in finder.actions if one.dump_draw is not None]
        assert found == numbers, path.name
        walk = Collector()
        walk.run(content)
        found = [one.dump_draw for one in walk.actions if one.dump_draw is not None]
        assert found == numbers, path.name


def with_alternative(packets) -> list[int]:
    """A block that ends with a CP_NOP over its alternative: a register and a draw."""
    otherwise = packets.type4(0x8001, 2) + packets.type7(0x38, 4, 1, 3)
    nop = packets.type7(NOP, *otherwise)[:1]
    inside = [*packets.type4(0x8000, 1), *nop]
    return [*block(packets, inside), *otherwise, *packets.type4(0x8002, 3)]


def test_alternative_of_a_block(decided, packets) -> None:
    commands = with_alternative(packets)
    state, sink = decided(commands, LIVE)
    assert state.registers == {0x8000: 1, 0x8002: 3}
    assert sink.of("draw") == []
    state, sink = decided(commands, DISCARDED)
    assert state.registers == {0x8001: 2, 0x8002: 3}
    assert len(sink.of("draw")) == 1
    assert state.draw_count == 0, "the reference passes over it"


def test_the_dump_passes_over_alternatives(run, packets) -> None:
    done = run(630, with_alternative(packets))
    assert done.state.registers == {0x8000: 1, 0x8002: 3}
    assert done.state.draw_count == 0
