# SPDX-License-Identifier: MIT
"""Which packet gave each register its value: against an oracle, and over captures."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.passes.finder import find_draw
from cffpy.analysis.queries import find_passes
from cffpy.analysis.register_store.history import State
from cffpy.analysis.register_store.queries import inherited_registers, registers_at, state_of_draw
from cffpy.analysis.register_store.writes import joined
from cffpy.capture.memory import Words
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.frame.execution import Executed
from cffpy.frame.places import DrawName, ExecutedStream, PacketLocation
from cffpy.frame.register_write import RegisterWrite
from cffpy.pm4.reader import REGISTERS, HeaderMemo, Payload
from tests.analysis.passes.small import small_capture
from tests.analysis.passes.streams import Collector, Streams
from tests.analysis.register_store.replay import (
    recorded,
    replayed,
    state_at,
    texts,
    write_text,
)
from tests.builders import type0, type4

A, B, C = 0x8890, 0x88D4, 0x80F0  # RB_WINDOW_OFFSET, RB_WINDOW_OFFSET2, a window scissor


def quiet(line: str) -> None:
    raise AssertionError(line)


def state(data: bytes, order: int) -> State:
    found = state_at(open_bytes(data), order, quiet)
    assert found is not None
    assert found.action.order == order
    return found


def header(data: bytes, write: RegisterWrite) -> int:
    at = write.place.file_offset
    return int.from_bytes(data[at : at + 4], "little")


@pytest.fixture
def s() -> Streams:
    return Streams(630)


# --- which packet --------------------------------------------------------------------------------


def test_packets_that_write_registers(s: Streams) -> None:
    packets = {
        A: s.packet("CP_REG_WRITE", 1, A, 11),
        B: s.packet("CP_CONTEXT_REG_BUNCH", C, 5, B, 12),
        0x9000: type4(0x8FFE, 1, 2, 13, 4),
        0x9100: type4(0x9100, 0xFF) + s.packet("CP_REG_RMW", 0x9100, 0xF0, 0x0E),
        0x1200: type0(0x1200, 15),
    }
    values = {A: 11, B: 12, C: 5, 0x9000: 13, 0x9100: 0xFE, 0x1200: 15}
    data = s.capture([[*packets.values(), s.draw()]])
    found = state(data, 0)
    assert {register: found.registers[register] for register in values} == values
    for register, packet in packets.items():
        wanted = packet[0] if register != 0x9100 else packet[2]
        assert header(data, found.writes[register]) == wanted, hex(register)
    assert found.writes[C].place.gpuaddr == found.writes[B].place.gpuaddr
    assert set(found.writes) == set(found.registers)


def test_the_last_write_counts_and_none_behind_the_draw(s: Streams) -> None:
    draw = s.draw()
    data = s.capture([[type4(A, 1), type4(A, 2), draw, type4(A, 3), draw]])
    assert state(data, 0).registers[A] == 2
    assert state(data, 0).writes[A].place.gpuaddr == 0x100008
    assert state(data, 1).registers[A] == 3
    assert state_at(open_bytes(data), 2, quiet) is None


def test_draw_state_groups(s: Streams) -> None:
    data = s.capture(
        [
            [
                s.marker("RM6_BIN_VISIBILITY"),
                s.group(3, type4(A, 1), mask=1),
                s.group(5, type4(A, 2), mask=6),
                s.draw(),
            ]
        ]
    )
    found = state(data, 0)
    assert found.registers[A] == 1, "the other group is not for the binning run"
    stream = found.writes[A].place.stream
    assert (stream.kind, stream.group) == ("group", 3)
    assert header(data, found.writes[A]) == type4(A, 1)[0]


def test_skipped_blocks_write_nothing(s: Streams) -> None:
    skipped = [
        *type4(A, 9),
        *s.packet("CP_REG_WRITE", 1, A, 9),
        *s.packet("CP_CONTEXT_REG_BUNCH", A, 9),
        *s.packet("CP_REG_RMW", A, 0, 9),
        *s.ib(type4(A, 9)),
        *s.group(1, type4(A, 9)),
        *s.draw(),
    ]
    parts = [
        s.marker("RM6_DIRECT_RENDER"),
        type4(A, 1),
        s.only("gmem", commands=skipped),
        s.only("sysmem", commands=type4(B, 2)),
        s.draw(),
    ]
    data = s.capture([parts])
    found = state(data, 1)
    assert (found.registers[A], found.registers[B]) == (1, 2)
    assert found.writes[A].place.gpuaddr == 0x100008
    assert (found.writes[B].executed, found.writes[A].condition) == (Executed.YES, None)
    assert state_at(open_bytes(data), 0, quiet) is None, "that draw is skipped"


def test_writes_that_only_the_gpu_decides_on(s: Streams) -> None:
    parts = [
        s.marker("RM6_BIN_RENDER_START"),
        type4(A, 1),
        s.when(4, [*type4(A, 2), *s.packet("CP_REG_WRITE", 1, B, 3)]),
        s.draw(),
        type4(A, 5),
        s.draw(),
    ]
    data = s.capture([parts])
    found = state(data, 0)
    assert (found.registers[A], found.writes[A].executed) == (2, Executed.UNKNOWN)
    assert found.writes[A].condition == "predicate 4 of CP_REG_TEST"
    assert found.writes[B].executed is Executed.UNKNOWN
    assert state(data, 1).writes[A].executed is Executed.YES


def test_origins(s: Streams) -> None:
    parts = [
        type4(A, 1),
        s.marker("RM6_DIRECT_RENDER"),
        s.ib(type4(B, 2), s.draw()),
        s.marker("RM6_DIRECT_RENDER"),
        s.ib(type4(C, 3), s.draw()),
    ]
    again = [s.marker("RM6_DIRECT_RENDER"), s.ib(type4(B, 4), s.draw())]
    data = s.capture([parts, again], [again])

    def origins(order: int) -> dict[int, str]:
        found = state(data, order)
        return {
            register: found.writes[register].origin(found.action)
            for register in (A, B, C)
            if register in found.registers
        }

    assert origins(0) == {A: "before the pass", B: "this pass"}
    assert origins(1) == {A: "before the pass", B: "before the pass", C: "this pass"}
    assert origins(2) == {A: "before the pass", B: "this pass", C: "before the pass"}
    assert origins(3) == {A: "earlier submit", B: "this pass", C: "earlier submit"}


def test_inherited(s: Streams) -> None:
    first = [type4(A, 1), type4(B, 1), s.draw()]
    second = [type4(A, 2), s.packet("CP_BLIT", 3), s.draw(), type4(B, 2), s.draw()]
    data = s.capture([first], [second], [[s.packet("CP_BLIT", 3)]], [[s.draw()]])
    found, damage = inherited_registers(open_bytes(data), quiet)
    assert not damage
    assert [(one.submit, one.registers) for one in found] == [(1, [B]), (3, [A, B])]
    assert [one.state.action.dump_draw for one in found] == [2, 5]
    assert found[1].state.registers[B] == 2


def test_joined_changes_are_joined_again() -> None:
    """Between two draws may be any number of passes, each of which joins what was written."""
    change: Any = ({A: 0}, written_at(0))
    for number in range(1, 3000):
        change = joined([change, ({B: number}, written_at(number))])
    values, source = change
    assert values == {A: 0, B: 2999}
    assert (source.of(A).place._index, source.of(B).place._index) == (0, 2999)
    places = {tuple(found): write.place._index for write, found in source.by_packet([A, B])}
    assert places == {(A,): 0, (B,): 2999}


def written_at(index: int) -> RegisterWrite:
    """The write of a packet at this dword."""
    place = PacketLocation(cast("ExecutedStream", None), cast("Words", None), index)
    return RegisterWrite(place, str, None, Executed.YES)


# --- against an oracle ---------------------------------------------------------------------------

REGISTERS_USED = [A, B, C, C + 1, 0x9000]


@dataclass
class Oracle:
    """An independent model: values, and headers of the packets that wrote them."""

    s: Streams
    mode: str = ""
    registers: dict[int, tuple[int, int]] = field(default_factory=dict)
    groups: dict[int, tuple[list, int]] = field(default_factory=dict)

    def run(self, steps: list) -> list[int]:
        """Execute steps, and give the commands that make the GPU do so."""
        code: list[int] = []
        for step in steps:
            code += self.step(*step)
        return code

    def step(self, kind: str, *what) -> list[int]:
        s = self.s
        if kind == "write":
            register, values = what
            packet = type4(register, *values)
            for at, value in enumerate(values):
                self.registers[register + at] = value, packet[0]
            return packet
        if kind == "rmw":
            register, mask, bits = what
            packet = s.packet("CP_REG_RMW", register, mask, bits)
            if register in self.registers or not mask:
                old = self.registers.get(register, (0, 0))[0]
                self.registers[register] = old & mask | bits, packet[0]
            return packet
        if kind == "bunch":
            packet = s.packet(
                "CP_CONTEXT_REG_BUNCH", *[dword for pair in what[0] for dword in pair]
            )
            self.registers.update({register: (value, packet[0]) for register, value in what[0]})
            return packet
        if kind == "mode":
            self.mode = {2: "binning", 4: "gmem", 6: "gmem", 1: "sysmem"}[what[0]]
            self.mask = {2: 1, 4: 2, 1: 4}.get(what[0], getattr(self, "mask", 7))
            return s.packet("CP_SET_MARKER", what[0])
        if kind == "ib":
            return s.ib(self.run(what[0]))
        if kind == "only":
            modes, steps = what
            if self.mode in modes:
                return s.only(*modes, commands=self.run(steps))
            shadow = Oracle(s, self.mode, dict(self.registers), dict(self.groups))
            shadow.mask = getattr(self, "mask", 7)
            return s.only(*modes, commands=shadow.run(steps))
        if kind == "group":
            number, mask, steps = what
            self.groups[number] = steps, mask
            return s.group(number, Oracle(s).run(steps), mask=mask)
        assert kind == "draw"
        for number in sorted(self.groups):
            steps, mask = self.groups[number]
            if mask & getattr(self, "mask", 7):
                self.run(steps)
        self.groups.clear()
        return s.draw()


values = st.integers(0, 0xFFFFFFFF)
registers = st.sampled_from(REGISTERS_USED)
writes = st.one_of(
    st.tuples(st.just("write"), registers, st.lists(values, min_size=1, max_size=2)),
    st.tuples(st.just("rmw"), registers, values, values),
    st.tuples(st.just("bunch"), st.lists(st.tuples(registers, values), min_size=1, max_size=3)),
)
groups = st.tuples(
    st.just("group"), st.integers(0, 3), st.integers(1, 7), st.lists(writes, max_size=2)
)
modes = st.tuples(st.just("mode"), st.sampled_from([1, 2, 4, 6]))
plain = st.one_of(writes, groups, modes, st.just(("draw",)))
nested = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.tuples(st.just("ib"), st.lists(inner, max_size=4)),
        st.tuples(
            st.just("only"),
            st.lists(
                st.sampled_from(["binning", "gmem", "sysmem"]), min_size=1, max_size=2, unique=True
            ),
            st.lists(inner, max_size=4),
        ),
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.sampled_from([1, 2, 4]), st.lists(nested, max_size=12))
def test_against_an_oracle(mode: int, steps: list) -> None:
    s = Streams(630)
    oracle = Oracle(s)
    code = oracle.run([("mode", mode), *steps, ("draw",)])
    data = s.capture([[code]])
    content = open_bytes(data)
    found = recorded(content, complain=quiet)
    last = found.states()[-1]
    assert last.registers == {key: value for key, (value, _) in oracle.registers.items()}
    for register, (_, packet) in oracle.registers.items():
        assert header(data, last.writes[register]) == packet, hex(register)
    expected = replayed(content)
    assert {one.order: texts(found.state(one)) for one in found.executed} == expected
    for action in reversed(found.executed):
        values, writes = expected[action.order]
        history = found.store.history(action.order)
        assert set(history.registers(action.order)) == {*writes}
        for register, text in writes.items():
            assert history.value(register, action.order) == values.get(register)
            write = history.write(register, action.order)
            assert write is not None
            assert write_text(write) == text


# --- over captures -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("share", range(3))
def test_values_are_where_the_writes_point(shared: Path, share: int) -> None:
    """For random draws: the dword at the place of a plain register write is the value."""
    generator = random.Random(share)
    paths = [
        path
        for path in sorted((shared / "captures").glob("a[67]*.rd.gz"))
        if path.stat().st_size < 500_000
    ]
    for path in generator.sample(paths, 4):
        content = open_capture(str(path))
        finder, _ = find_passes(content, lambda line: None)
        patched = patched_dwords(content)
        executed = [action.order for action in finder.actions if action.execution.is_possible]
        checked = 0
        for order in generator.sample(executed, min(3, len(executed))):
            found = state_at(content, order, lambda line: None)
            assert found is not None
            assert found.action.order == order
            checked += check_plain_writes(content.data, found, patched)
        assert checked > 100, path.name


class Patches(Collector):
    """Keeps the addresses of the dwords that CP_MEM_WRITE writes."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: set[int] = set()

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        return {"CP_MEM_WRITE": self._memory_write}

    def _memory_write(self, payload: Payload) -> None:
        first = payload[0] | payload[1] << 32
        self.addresses.update(range(first, first + 4 * (payload.count - 2), 4))


def patched_dwords(content: Content) -> set[int]:
    """Addresses of commands that may differ from the file when they are executed."""
    patches = Patches()
    patches.run(content)
    return patches.addresses


def check_plain_writes(data: memoryview | bytes, found: State, patched: set[int]) -> int:
    """Compare values with the packets at the file offsets; how many were compared."""
    memo = HeaderMemo()
    checked = 0
    for register, write in found.writes.items():
        at = write.place.file_offset
        kind, number, size = memo[int.from_bytes(data[at : at + 4], "little")]
        if kind != REGISTERS or register not in found.registers:
            continue
        assert number <= register < number + size - 1
        distance = 4 * (1 + register - number)
        if write.place.gpuaddr + distance in patched:
            continue
        at += distance
        value = int.from_bytes(data[at : at + 4], "little")
        assert value == found.registers[register], (str(write.place), hex(register))
        checked += 1
    return checked


def test_the_state_of_a_draw_needs_no_walk_beyond_its_pass() -> None:
    content = open_bytes(small_capture())
    finder, _damage = find_passes(content, quiet)
    for action in finder.actions:
        if action.dump_draw is None or not action.execution.is_possible:
            continue
        names = [DrawName(action.dump_draw)]
        if action.number is not None and action.pass_index is not None:
            draws = finder.found.passes[action.pass_index].draws
            if action is draws[action.number]:
                names.append(DrawName(action.number, action.pass_index))
        whole = state_at(content, action.order, quiet)
        assert whole is not None
        for name in names:
            passes, store, damage = state_of_draw(content, name, quiet)
            found = find_draw(passes, name)
            assert not damage
            assert (found.order, found.number) == (action.order, action.number)
            database = passes.walk.machine.database
            assert store.state(found, database).registers == whole.registers
            alone = registers_at(content, action.order, quiet)
            assert alone.state(found, database).registers == whole.registers
    first, _, _ = state_of_draw(content, DrawName(0), quiet)
    assert len(first.actions) < len(finder.actions), "the rest is not decoded"
