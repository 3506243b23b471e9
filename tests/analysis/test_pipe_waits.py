# SPDX-License-Identifier: MIT
"""What the pipes BR and BV wait for, and who signals it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import cffpy
from cffpy.analysis import pipe_orders, pipe_waits
from cffpy.analysis.edits import NopPackets, edited, packet_bytes
from cffpy.analysis.observer import Observer
from cffpy.analysis.walk import Walk
from cffpy.check.registry import chosen_lints
from cffpy.check.runner import check_capture
from cffpy.container.open import open_bytes, open_capture
from cffpy.frame.execution import PipeWait
from cffpy.pm4.reader import Payload
from tests.analysis.passes.streams import Streams, find
from tests.conftest import CHECKOUT

Run = Callable[..., CompletedProcess[bytes]]

BR, BV, BOTH = 1, 2, 3
CLEAR, OFFSET, BR_WAITS, BV_WAITS = 1, 2, 3, 4
#: DUMMY_EVENT; bits of CP_EVENT_WRITE7: on the chip, enabled, the sum of the time stamps; counts.
STORE, SUM = 1 << 24 | 1 << 27, 2 << 20
INC_BV, INC_BR = 1 << 16, 1 << 17
EQUAL, ON_CHIP = 3, 3 << 4


class Chip(Streams):
    """Streams of an a740 with packets that wait and signal."""

    def __init__(self) -> None:
        super().__init__(740)
        event = self.database.enum_value("vgt_event_type", "DUMMY_EVENT")
        assert event is not None
        self.dummy = event

    def thread(self, pipe: int) -> list[int]:
        return self.packet("CP_THREAD_CONTROL", pipe)

    def store(self, address: int, value: int) -> list[int]:
        return self.packet("CP_EVENT_WRITE7", self.dummy | STORE, address, 0, value)

    def stamp(self, address: int) -> list[int]:
        return self.packet("CP_EVENT_WRITE7", self.dummy | STORE | SUM, address, 0)

    def count(self, bit: int) -> list[int]:
        return self.packet("CP_EVENT_WRITE7", self.dummy | bit)

    def add(self, number: int = 1) -> list[int]:
        return self.packet("CP_MODIFY_TIMESTAMP", 2 << 28 | number)

    def wait(self, address: int, value: int, poll: int = ON_CHIP) -> list[int]:
        return self.packet("CP_WAIT_REG_MEM", EQUAL | poll, address, 0, value, 0xFFFFFFFF, 0)

    def wait_for_stamp(self, address: int) -> list[int]:
        return self.packet("CP_WAIT_TIMESTAMP", 2 | 1 << 4, address, 0)

    def counts(self, operation: int, offset: int = 0) -> list[int]:
        return self.packet("CP_BV_BR_COUNT_OPS", operation, offset)

    def waits(self, *parts: Sequence[int]) -> list[PipeWait]:
        return self.find(*parts).found.waits


def texts(waits: list[PipeWait]) -> list[tuple[str, str, str, str | None]]:
    return [
        (one.pipe, one.wanted, one.state, None if one.signal is None else one.signal.pipe)
        for one in waits
    ]


def meeting(s: Chip) -> list[list[int]]:
    """Both pipes meet, as turnip has them meet."""
    return [
        *(s.thread(BOTH), s.add(), s.thread(BV), s.stamp(1)),
        *(s.thread(BR), s.wait_for_stamp(1), s.store(4, 1)),
        *(s.thread(BV), s.wait(4, 1), s.store(4, 0), s.wait(4, 0)),
    ]


def test_waits_have_the_signals_of_the_other_pipe() -> None:
    s = Chip()
    waits = s.waits(*meeting(s), *meeting(s))
    stamp, value = "on-chip value 0x1 >= the time stamp", "on-chip value 0x4 = 0x1"
    assert texts(waits) == [
        *[("BR", stamp, "signalled", "BV"), ("BV", value, "signalled", "BR")] * 2
    ]
    places = [one.signal.place.gpuaddr for one in waits if one.signal is not None]
    assert len(set(places)) == 4
    for one in waits:
        assert one.signal is not None
        assert one.signal.place.gpuaddr < one.place.gpuaddr


def test_a_signal_may_stand_behind_the_wait_in_the_stream() -> None:
    """The pipes run on their own: only the order of each counts."""
    s = Chip()
    waits = s.waits(s.thread(BR), s.wait(4, 1), s.thread(BV), s.store(4, 1))
    assert texts(waits) == [("BR", "on-chip value 0x4 = 0x1", "signalled", "BV")]


def test_pipes_that_wait_for_each_other_hang() -> None:
    s = Chip()
    parts = [s.thread(BR), s.wait(4, 1), s.store(5, 1), s.thread(BV), s.wait(5, 1), s.store(4, 1)]
    assert [(one.pipe, one.state) for one in s.waits(*parts)] == [
        ("BR", "never"),
        ("BV", "signalled"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda s, parts: parts[:3] + parts[4:],  # no time stamp
        lambda s, parts: [*parts[:6], s.store(4, 2), *parts[7:]],  # another value
        lambda s, parts: [*parts[:6], s.store(6, 1), *parts[7:]],  # elsewhere
    ],
)
def test_what_is_missing_in_a_meeting(change: object) -> None:
    s = Chip()
    assert callable(change)
    parts = [*meeting(s), *change(s, meeting(s))]
    assert [one.state for one in s.waits(*parts)].count("never") == 1


def test_a_value_that_may_be_written_over_is_a_race() -> None:
    """Without a new time stamp BR need not wait: it may write before BV has put zero back."""
    s = Chip()
    again = meeting(s)
    waits = s.waits(*meeting(s), *again[:1], *again[2:])
    value = "on-chip value 0x4 = "
    assert [(one.pipe, one.wanted, one.state) for one in waits] == [
        ("BR", "on-chip value 0x1 >= the time stamp", "signalled"),
        ("BV", f"{value}0x1", "signalled"),
        ("BV", f"{value}0x0", "race"),  # which BV writes itself
        ("BR", "on-chip value 0x1 >= the time stamp", "signalled"),
        ("BV", f"{value}0x1", "race"),
    ]
    zero, one = waits[2], waits[4]
    assert zero.signal is not None
    assert zero.signal.pipe == "BV"
    assert zero.overwritten is not None
    assert zero.overwritten.pipe == "BR"
    assert one.signal is not None
    assert one.signal.pipe == "BR"
    assert one.overwritten is not None
    assert one.overwritten.pipe == "BV"


def test_what_br_writes_over_before_bv_can_see_it_is_not_said_to_have_no_signal() -> None:
    s = Chip()
    found = s.waits(s.thread(BR), s.store(4, 1), s.store(4, 2), s.thread(BV), s.wait(4, 1))
    assert [one.state for one in found] == ["race"]


def test_an_order_of_one_value_is_that_of_others_too() -> None:
    """BV has seen what BR stored last: what BR stored elsewhere before it is gone."""
    s = Chip()
    br = [s.thread(BR), s.store(4, 1), s.store(4, 2), s.store(5, 1)]
    found = s.waits(*br, s.thread(BV), s.wait(5, 1), s.wait(4, 1))
    assert [one.state for one in found] == ["signalled", "never"]


def test_a_global_time_stamp_is_not_known() -> None:
    """It is one for both pipes: when the other pipe sees a change, nobody knows."""
    s = Chip()
    for change in (
        s.packet("CP_MODIFY_TIMESTAMP", 1 << 28 | 1),
        s.packet("CP_GLOBAL_TIMESTAMP", 1),
        s.packet("CP_LOCAL_TIMESTAMP", 1),
    ):
        wait = [s.thread(BV), s.add(), s.wait_for_stamp(1)]
        assert [one.state for one in s.waits(*wait)] == ["never"]
        assert [one.state for one in s.waits(*wait, s.thread(BR), change)] == ["unknown"]


def test_what_a_pipe_has_written_over_is_no_signal() -> None:
    s = Chip()
    parts = [s.thread(BR), s.store(4, 1), s.thread(BV), s.wait(4, 1), s.store(4, 0), s.wait(4, 1)]
    assert [one.state for one in s.waits(*parts)] == ["signalled", "never"]


def test_counts() -> None:
    """BV may be one ahead; BR waits for each binning pass of BV."""
    s = Chip()
    bv = [s.thread(BV), s.counts(BV_WAITS), s.count(INC_BV)]
    br = [s.thread(BR), s.counts(BR_WAITS), s.count(INC_BR)]
    begin = [s.thread(BOTH), s.counts(OFFSET, 1)]
    waits = s.waits(*begin, *bv, *br, *bv, *br)
    assert texts(waits) == [
        ("BV", "count of BR", "held before", None),
        ("BR", "count of BV", "signalled", "BV"),
        ("BV", "count of BR", "signalled", "BR"),
        ("BR", "count of BV", "signalled", "BV"),
    ]
    assert [one.state for one in s.waits(*begin, *br, *bv)] == ["signalled", "held before"]
    assert [one.state for one in s.waits(*begin, *br, *bv, *br)][-1] == "never"
    assert [one.state for one in s.waits(*begin, *bv, *br, s.counts(CLEAR), *br)][-1] == "never"
    assert [one.state for one in s.waits(*bv)] == ["unknown"]  # how far BV may be ahead


def test_what_the_gpu_decides_is_no_hang() -> None:
    s = Chip()
    wait = s.wait(4, 1)
    assert [one.state for one in s.waits(s.thread(BV), s.when(3, wait))] == ["unknown"]
    missing = s.call(0x70000000, 16)
    assert [one.state for one in s.waits(s.thread(BV), wait, missing)] == ["unknown"]
    maybe = s.when(3, s.store(4, 1))
    parts = [s.thread(BR), maybe, s.thread(BV), wait]
    assert [one.state for one in s.waits(*parts)] == ["signalled"]


def test_memory_may_be_written_by_others() -> None:
    s = Chip()
    store = s.packet("CP_EVENT_WRITE7", s.dummy | 1 << 27, 0x5000, 0, 1)
    wait = s.wait(0x5000, 1, 1 << 4)
    assert s.waits(s.thread(BV), wait) == []
    found = s.waits(s.thread(BR), store, s.thread(BV), wait)
    assert [(one.kind, one.state, one.address) for one in found] == [
        ("memory", "signalled", 0x5000)
    ]


def test_packets_that_write_memory_are_signals() -> None:
    """A wait for memory is shown where another pipe writes what it waits for."""
    s, there = Chip(), 0x10_0000
    wait = [*s.thread(BR), *s.wait(there + 8, 7, poll=1 << 4)]
    found = s.waits(s.thread(BV), s.packet("CP_MEM_WRITE", there, 0, 1, 2, 7), wait)
    assert texts(found) == [("BR", f"memory value {there + 8:#x} = 0x7", "signalled", "BV")]
    other = s.packet("CP_MEM_WRITE", there, 0, 1, 7, 2)
    assert s.waits(s.thread(BV), other, wait) == []


def wait_for_number(s: Chip, bits: int, value: int) -> list[int]:
    """CP_WAIT_TIMESTAMP for a number on the chip, of 32 or 64 bits."""
    source = {32: 0, 64: 1}[bits]
    return s.packet("CP_WAIT_TIMESTAMP", source | 1 << 4, 1, 0, value & 0xFFFFFFFF, value >> 32)


def store_wide(s: Chip, value: int) -> list[int]:
    control = s.dummy | STORE | 1 << 20
    return s.packet("CP_EVENT_WRITE7", control, 1, 0, value & 0xFFFFFFFF, value >> 32)


@pytest.mark.parametrize(
    ("bits", "stored", "wanted", "state"),
    [
        (32, 5, 5, "signalled"),
        (32, 4, 5, "never"),
        (32, 0, 0xFFFFFFFF, "held before"),  # signed: 0 >= -1
        (64, 1 << 33, 1 << 32, "signalled"),
        (64, 1 << 31, 1 << 32, "never"),
    ],
)
def test_time_stamps_of_32_and_of_64_bits(bits: int, stored: int, wanted: int, state: str) -> None:
    s = Chip()
    signal = s.store(1, stored) if bits == 32 else store_wide(s, stored)
    found = s.waits(s.thread(BR), wait_for_number(s, bits, wanted), s.thread(BV), signal)
    assert [one.state for one in found] == [state]


def test_of_a_value_of_64_bits_a_store_of_32_leaves_the_rest() -> None:
    s = Chip()
    found = s.waits(s.thread(BR), wait_for_number(s, 64, 1 << 32), s.thread(BV), s.store(1, 5))
    assert [one.state for one in found] == ["signalled"]  # it may be


def test_threads_that_are_synchronised() -> None:
    s = Chip()
    meet = s.packet("CP_THREAD_CONTROL", 1 << 31 | BR)
    found = s.waits(s.thread(BV), s.wait(4, 1), meet, s.store(4, 1))
    assert texts(found) == [
        ("BV", "on-chip value 0x4 = 0x1", "never", None),
        ("BR", "BV to be at the same packet", "signalled", "BV"),
        ("BV", "BR to be at the same packet", "signalled", "BR"),
    ]
    found = s.waits(s.thread(BR), s.store(4, 1), meet, meet, s.thread(BV), s.wait(4, 1))
    assert {one.state for one in found} == {"signalled"}
    assert len(found) == 5


@pytest.mark.parametrize(
    ("bits", "state"), [(0, "never"), (1, "never"), (4, "held before"), (8, "never")]
)
def test_what_a_context_resets(bits: int, state: str) -> None:
    """BV is ahead by as much as it may be, until the counts are cleared."""
    s = Chip()
    reset = s.packet("CP_RESET_CONTEXT_STATE", bits)
    found = s.waits(
        *(s.thread(BOTH), s.counts(OFFSET, 1), s.thread(BV), s.count(INC_BV)),
        *(s.thread(BOTH), reset, s.thread(BV), s.counts(BV_WAITS)),
    )
    assert [one.state for one in found] == [state]


@pytest.mark.parametrize(("bits", "state"), [(0, "signalled"), (1, "never"), (8, "never")])
def test_time_stamps_that_a_context_resets(bits: int, state: str) -> None:
    """With bit 0 the value on the chip is not known any more: that counts as held."""
    s = Chip()
    reset = s.packet("CP_RESET_CONTEXT_STATE", bits)
    found = s.waits(
        *(s.thread(BOTH), s.add(), s.thread(BR), s.add(), s.thread(BV), s.add()),
        *(s.thread(BV), reset, s.stamp(1), s.thread(BR), s.wait_for_stamp(1)),
    )
    assert [one.state for one in found] == ["signalled" if bits == 1 else state]


def test_waits_of_a6xx_alone_are_no_packets_of_a7xx() -> None:
    """0x14 is CP_WAIT_TIMESTAMP there: CP_WAIT_MEM_GTE cannot be in a stream with two pipes."""
    for name in ("CP_WAIT_MEM_GTE", "CP_WAIT_TWO_REGS"):
        Streams(630).opcode(name)
        for gpu in (740, 830):
            with pytest.raises(AssertionError):
                Streams(gpu).opcode(name)


def test_values_last_over_submits_and_waits_belong_to_their_pass() -> None:
    s = Chip()
    first = [s.thread(BR), s.store(4, 1)]
    pass_ = [*s.marker("RM6_DIRECT_RENDER"), *s.draw()]
    second = [s.thread(BV), s.wait(4, 1), s.thread(BR), pass_]
    found = find(s.capture([first], [second])).found
    assert [(one.state, one.pass_index) for one in found.waits] == [("signalled", 0)]
    assert found.passes[0].waits == found.waits


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe_waits, "_MAX_STEPS", 10)
    s = Chip()
    stores = [dword for value in range(8) for dword in s.store(4, value)]
    finder = s.find(s.thread(BR), stores, s.thread(BV), s.wait(4, 100), s.wait(4, 7), s.wait(4, 9))
    assert [one.state for one in finder.found.waits] == ["unknown", "signalled"]
    assert any("waits between pipes" in text for text in finder.walk.problems)


def test_orders_that_are_not_followed_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe_orders, "_STATES", 4)
    monkeypatch.setattr(pipe_orders, "_STATES_OF_STEP", 0)
    s = Chip()
    stores = [dword for value in range(8) for dword in s.store(4, value)]
    finder = s.find(s.thread(BR), stores, s.thread(BV), s.wait(4, 3), s.wait(4, 9))
    assert [one.state for one in finder.found.waits] == ["signalled", "unknown"]
    assert any("not all orders of the pipes" in text for text in finder.walk.problems)


def test_older_gpus_and_streams_without_pipes_have_none() -> None:
    s = Chip()
    assert s.waits(s.wait(4, 1), s.counts(BR_WAITS)) == []


def test_texts(tmp_path: Path, run_cffpy: Run) -> None:
    text = (CHECKOUT / "samples/a740-concurrent-gmem.pm4").read_text()
    tested = text.replace("RB_DEPTH_CNTL = { }", "RB_DEPTH_CNTL = { Z_TEST_ENABLE }")
    source, path = tmp_path / "one.pm4", tmp_path / "one.rd"
    source.write_text(tested)
    run_cffpy("compile", str(source), "-o", str(path))
    shown = run_cffpy("passes", str(path)).stdout.decode()
    assert "waits of the pipes for each other: BR 2, BV 3" in shown
    assert "cleared before the pass by pipe BV" in run_cffpy("lrz", str(path)).stdout.decode()
    listed = run_cffpy("vsc", str(path)).stdout.decode()
    assert "BR waits for count of BV, stream 0 > 0x1" in listed


class PacketsOfKind(Observer):
    """The packets of one kind that are executed: address, and all dwords."""

    def __init__(self, walk: Walk, kind: str) -> None:
        self._walk, self._kind = walk, kind
        self.found: list[tuple[int, bytes]] = []

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        return {self._kind: self._note}

    def _note(self, payload: Payload) -> None:
        self.found.append((self._walk.packet_location.gpuaddr, packet_bytes(payload)))


def without(path: Path, kind: str, number: int | None) -> bytes:
    """A capture with CP_NOPs in place of all packets of a kind, or of one."""
    walk = Walk()
    found = PacketsOfKind(walk, kind)
    walk.observe(found)
    walk.run(open_capture(str(path)), lambda _line: None)
    chosen = found.found if number is None else [found.found[number]]
    return edited(open_capture(str(path)), [NopPackets(dict(chosen))], lambda _line: None)[0]


HELD, SIGNALLED, NEVER, UNKNOWN = "held before", "signalled", "never", "unknown"


@pytest.mark.parametrize(
    ("kind", "number", "states"),
    [
        ("CP_MODIFY_TIMESTAMP", 0, [HELD, SIGNALLED, HELD, HELD, SIGNALLED]),
        ("CP_EVENT_WRITE7", None, [NEVER, NEVER, HELD, HELD, NEVER]),
        ("CP_THREAD_CONTROL", None, []),  # nobody says that there are two pipes
        ("CP_WAIT_TIMESTAMP", None, [SIGNALLED, HELD, HELD, SIGNALLED]),
        ("CP_WAIT_REG_MEM", None, [SIGNALLED, HELD, SIGNALLED]),
        ("CP_BV_BR_COUNT_OPS", 0, [SIGNALLED, SIGNALLED, HELD, UNKNOWN, SIGNALLED]),
        ("CP_BV_BR_COUNT_OPS", None, [SIGNALLED, SIGNALLED, HELD]),
        ("CP_REG_TEST", None, [SIGNALLED, SIGNALLED, HELD, HELD, SIGNALLED]),
        ("CP_COND_REG_EXEC", None, [SIGNALLED, SIGNALLED, HELD, HELD, SIGNALLED]),
        ("CP_SET_MARKER", 0, [SIGNALLED, SIGNALLED, HELD, HELD, SIGNALLED]),
    ],
)
def test_a_pass_without_a_packet_of_concurrent_binning(
    samples: Path, kind: str, number: int | None, states: list[str]
) -> None:
    data = without(samples / "a740-concurrent-gmem.rd", kind, number)
    assert [wait.state for wait in find(data).found.waits] == states
    findings = check_capture(open_bytes(data), print, lints=chosen_lints(["CFF050"])).findings
    assert len(findings) == states.count(NEVER)


@pytest.mark.slow
def test_real_captures_have_all_signals(shared: Path) -> None:
    waits = 0
    for path in sorted((shared / "m26/captures").glob("m26-a7*.rd.gz")):
        with cffpy.open(path) as capture:
            found = [wait for one in capture.passes for wait in one.waits]
            assert {wait.state for wait in found} <= {"signalled", "held before"}
            waits += len(found)
    assert waits > 300
    content = open_bytes((shared / "m26/captures/m26-a730-vk-multisubmit.rd.gz").read_bytes())
    assert not check_capture(content, print, lints=chosen_lints(["CFF050"])).findings
