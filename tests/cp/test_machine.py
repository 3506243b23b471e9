# SPDX-License-Identifier: MIT
"""The machine: what packets do to the state, streams within streams, draw-state groups."""

from __future__ import annotations

import pytest

from cffpy.cp.packets import TABLE
from cffpy.cp.runner import Runner
from cffpy.cp.sink import NullSink
from cffpy.cp.state import ALL_MODES, BINNING, GMEM, SYSMEM, CpState

DRAW = 0x38
NOP = 0x10


def draw_64(packets, indices: int = 3) -> list[int]:
    return packets.type7(DRAW, 4, 1, indices)


def group(count: int, address: int, number: int = 0, mask: int = 7, flags: int = 0) -> list[int]:
    return [count | flags << 16 | mask << 20 | number << 24, address, 0]


# --- streams -------------------------------------------------------------------------------------


def test_register_writes(run, packets) -> None:
    done = run(630, packets.type4(0x8000, 1, 2) + packets.type0(0x10, 3))
    assert done.state.registers == {0x8000: 1, 0x8001: 2, 0x10: 3}
    assert done.state.rewritten == {0x8000, 0x8001, 0x10}
    assert done.sink.of("write") == [("write", 0x8000, [1, 2], 1), ("write", 0x10, [3], 1)]
    assert done.sink.of("register")[0] == ("register", 0x8000, 1, 2)


def test_a_stream_in_no_buffer(run) -> None:
    assert run(630, []).sink.heard == [("no_command_stream",)]


def test_resync_and_its_absence(run, packets) -> None:
    commands = [0xFFFFFFFF, 0xC0001000, *packets.type7(NOP)]
    done = run(630, commands)
    assert done.sink.heard == [("bad_header", 0xFFFFFFFF), ("packet", NOP, 0, 0)]
    assert run(320, commands).sink.heard == [("bad_header", 0xFFFFFFFF)]


def test_overrun_and_end_of_buffer(run, packets) -> None:
    commands = packets.type7(NOP, 1, 2)
    assert run(630, commands, dwords=1).sink.of("overrun") == [("overrun", 2)]
    assert run(630, commands, dwords=10).sink.of("overrun") == []
    done = run(630, packets.type4(0x8000, 1, 2)[:2], dwords=9)
    assert done.state.registers == {0x8000: 1}, "only what was captured is written"


def test_indirect_buffers(run, packets) -> None:
    call = packets.type7(0x3F, 0x200000, 0, 2)
    done = run(630, call, {0x200000: packets.type4(0x8000, 5)})
    assert done.state.registers == {0x8000: 5}
    assert done.state.ib_level == 0
    assert ("write", 0x8000, [5], 2) in done.sink.heard
    vetoed = run(630, call, {0x200000: packets.type4(0x8000, 5)}, vetoes=True)
    assert vetoed.state.registers == {}
    assert vetoed.sink.of("missing_stream") == []
    assert run(630, call).sink.of("missing_stream") == [("missing_stream", 0x200000, 2)]


def test_a_stream_that_calls_itself_ends(run, packets) -> None:
    call = packets.type7(0x3F, 0x100000, 0, 4)
    done = run(630, call)
    assert done.sink.of("refused") == [("refused", 0x100000, "call themselves")]
    assert done.state.ib_level == 0


def test_a_stream_of_calls_of_itself_ends_soon(run, packets) -> None:
    class Enough(Exception):
        pass

    class Counting(NullSink):
        packets = 0

        def packet(self, *_: object) -> None:
            self.packets += 1
            if self.packets > 100_000:
                raise Enough

    done = run(630, packets.type7(0x3F, 0x100000, 0, 40) * 10, vetoes=True)
    machine = Runner(Counting(), done.machine.image, TABLE)
    machine.bind(done.machine.gpu, done.machine.database)
    machine.run_submit(0x100000, 40)
    assert 0 < machine.sink.packets <= 100_000


def test_blocks_run_one_behind_the_other(run, packets) -> None:
    blocks = packets.type4(0x8000, 1) + packets.type4(0x8001, 2) + packets.type4(0x8002, 3)
    done = run(630, packets.type7(0x50, 2, 0x200000, 0, 2, 0), {0x200000: blocks})
    assert done.state.registers == {0x8000: 1, 0x8001: 2}
    assert done.sink.of("numbered_stream") == [
        ("numbered_stream", "bin", 0),
        ("numbered_stream", "bin", 1),
    ]
    table = run(740, packets.type7(0x7F, 0x200000, 0, 2 << 20 | 99, 3), {0x200000: blocks})
    assert table.state.registers == {0x8000: 1, 0x8001: 2, 0x8002: 3}
    assert len(table.sink.of("numbered_stream")) == 3
    absent = run(630, packets.type7(0x50, 2, 0x200000, 0, 2, 0))
    assert absent.sink.of("missing_stream") == [("missing_stream", 0x200000, 2)]


@pytest.mark.slow
def test_any_number_of_blocks_ends(run, packets) -> None:
    for size in (0, 1):
        packet = packets.type7(0x50, 0xFFFFFFFF, 0x200000, 0, size, 0)
        done = run(630, packet, {0x200000: packets.type7(NOP)})
        assert done.state.ib_level == 0


def test_memory_writes_of_commands_take_effect(run, packets) -> None:
    inner = packets.type4(0x8000, 9)
    assert run(630, packets.type7(0x3D, 1, 0, *inner)).state.registers == {0x8000: 9}
    assert run(630, packets.type7(0x3D, 1, 0, 0xC0001000, 1)).state.registers == {}
    assert run(630, packets.type7(0x3D, 1, 0, *inner), vetoes=True).state.registers == {}


# --- packets that write registers ----------------------------------------------------------------


def test_read_modify_write(run, packets) -> None:
    done = run(630, packets.type4(0x8000, 0xFF) + packets.type7(0x21, 0x8000, 0x0F, 0x100))
    assert done.state.value(0x8000) == 0x10F
    assert done.sink.of("read_modify_write") == [("read_modify_write", 0x8000, 0x0F, 0x100)]
    assert run(630, packets.type7(0x21, 0x70008000, 0, 7)).state.registers == {0x8000: 7}


def test_register_write_packets(run, packets) -> None:
    assert run(630, packets.type7(0x6D, 1, 0x8000, 5)).state.registers == {0x8000: 5}
    wide = run(430, packets.type3(0x74, 0x2000, 5, 6))
    assert wide.state.registers == {0x2000: 5, 0x2001: 6}
    bunch = run(630, packets.type7(0x5C, 0x8000, 1, 0x8005, 2))
    assert bunch.state.registers == {0x8000: 1, 0x8005: 2}
    second = run(740, packets.type7(0x5D, 0x8000, 1, 0x8005, 2))
    assert second.state.registers == {0x8005: 2}


def test_a2xx_set_constant(run, packets) -> None:
    done = run(220, packets.type3(0x2D, 4 << 16 | 0x104, 1, 2))
    assert done.state.registers == {0x2104: 1, 0x2105: 2}
    for kind in (0, 1, 2, 3, 5):
        assert run(220, packets.type3(0x2D, kind << 16, 1, 2)).state.registers == {}
    commands = packets.type0(0x578, 0xFFFFFFFF)
    commands += packets.type3(0x2D, 1 << 31 | 4 << 16 | 0x104, 0x578, 0x11)
    done = run(220, commands)
    assert done.state.value(0x2104) == 0x10
    assert done.sink.of("register_sum") == [("register_sum", 0x2104, 0x11, 0x578)]


# --- modes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marker", "mode", "mask"),
    [
        (1, "RM6_DIRECT_RENDER", SYSMEM),
        (2, "RM6_BIN_VISIBILITY", BINNING),
        (0x102, "RM6_BIN_VISIBILITY", BINNING),
        (4, "RM6_BIN_RENDER_START", GMEM),
        (0xF, "0xf", ALL_MODES),
    ],
)
def test_markers(run, packets, marker: int, mode: str, mask: int) -> None:
    state = run(630, packets.type7(0x65, marker)).state
    assert (state.render_mode, state.enable_mask) == (mode, mask)


def test_other_markers_keep_the_mask(run, packets) -> None:
    state = run(630, packets.type7(0x65, 1) + packets.type7(0x65, 5)).state
    assert state.render_mode not in (None, "RM6_DIRECT_RENDER")
    assert state.enable_mask == SYSMEM


def test_threads_flags_and_bins(run, packets) -> None:
    commands = packets.type7(0x17, 2) + packets.type7(0x1D, 9) + packets.type7(0x23, 0)
    state = run(740, commands).state
    assert state.thread == "CP_SET_THREAD_BV"
    assert (state.skip_ib2_global, state.skip_ib2_local) == (True, False)
    packet = packets.type3(0x4C, 0, 2 << 16 | 1, 4 << 16 | 3)
    assert run(220, packet).state.bin_rectangle == (1, 2, 3, 4)
    assert run(320, packet).state.bin_rectangle == (0, 0, 0, 0), "it has no such packet"


def test_needs_wfi(run, packets) -> None:
    draw, write = packets.type3(0x22, 0, 4, 3), packets.type0(0x1000, 1)
    assert run(320, draw).state.needs_wfi
    assert run(320, draw + write).sink.of("write_without_wfi") == [("write_without_wfi", 0x1000)]
    assert not run(320, draw + packets.type0(0x2000, 1)).sink.of("write_without_wfi")
    assert run(320, draw + packets.type0(0x23FF, 1, 2)).sink.of("write_without_wfi") == [
        ("write_without_wfi", 0x2400)
    ]
    assert not run(320, draw + packets.type3(0x26, 0)).state.needs_wfi
    assert not run(320, packets.type3(0x36, 0, 4, 3)).state.needs_wfi
    assert not run(630, draw_64(packets)).state.needs_wfi


# --- draws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpu", "opcode", "values", "heard"),
    [
        (320, 0x22, (0, 4, 7), ("CP_DRAW_INDX", "DI_PT_TRILIST", 7, True)),
        (320, 0x22, (0, 4, 0), ("CP_DRAW_INDX", "DI_PT_TRILIST", 0, False)),
        (320, 0x36, (0, 4, 7), ("CP_DRAW_INDX_2", "DI_PT_TRILIST", 7, True)),
        (320, 0x31, (0,), ("CP_RUN_OPENCL", "COMPUTE", 1, True)),
        (630, 0x38, (4, 1, 7), ("CP_DRAW_INDX_OFFSET", "DI_PT_TRILIST", 7, True)),
        (630, 0x38, (4, 1, 0), ("CP_DRAW_INDX_OFFSET", "DI_PT_TRILIST", 0, False)),
        (630, 0x28, (4, 0, 0), ("CP_DRAW_INDIRECT", "DI_PT_TRILIST", 0, True)),
        (630, 0x29, (4,), ("CP_DRAW_INDX_INDIRECT", "DI_PT_TRILIST", 0, True)),
        (630, 0x2A, (4,), ("CP_DRAW_INDIRECT_MULTI", "DI_PT_TRILIST", 0, True)),
        (630, 0x24, (0x1E,), ("CP_DRAW_AUTO", None, 0, True)),
        (630, 0x2C, (1,), ("CP_BLIT", "BLIT_OP_COPY", 0, True)),
        (630, 0x2C, (99,), ("CP_BLIT", None, 0, True)),
        (630, 0x33, (0,), ("CP_EXEC_CS", "compute", 0, True)),
        (630, 0x41, (0,), ("CP_EXEC_CS_INDIRECT", "compute", 0, True)),
        (630, 0x46, (0x1E,), ("CP_EVENT_WRITE", "EVENT:BLIT", 0, True)),
        (740, 0x46, (0x1E,), ("CP_EVENT_WRITE", "EVENT:BLIT", 0, True)),
        (630, 0x46, (0x25,), ("CP_EVENT_WRITE", "EVENT:LRZ_CLEAR", 0, True)),
    ],
)
def test_what_counts_as_a_draw(run, packets, gpu, opcode, values, heard) -> None:
    build = packets.type7 if gpu > 500 else packets.type3
    done = run(gpu, packets.type0(0x2000, 1) + build(opcode, *values))
    assert done.sink.of("draw") == [("draw", *heard)]
    counted = heard[-1]
    assert done.state.draw_count == int(counted)
    assert done.state.rewritten == (set() if counted else {0x2000})
    assert done.state.was_written(0x2000)


def test_events_before_a6xx_are_no_draws(run, packets) -> None:
    done = run(540, packets.type7(0x46, 0x1E))
    assert done.sink.of("draw") == []
    assert done.sink.of("event") == [("event", "BLIT")]


def test_draws_are_counted_by_stream(run, packets) -> None:
    draw = packets.type3(0x22, 0, 4, 3)
    done = run(320, draw + draw)
    assert done.state.draws[0] == 2
    inner = run(320, draw + packets.type3(0x3F, 0x200000, len(draw)), {0x200000: draw})
    assert inner.state.draws[:2] == [1, 1]


# --- draw-state groups ---------------------------------------------------------------------------


def groups_heard(done) -> list[tuple[int, bool]]:
    return [(entry[1], entry[2]) for entry in done.sink.of("group")]


def test_groups_wait_for_a_draw_and_load_by_number(run, packets) -> None:
    buffers = {0x200000: packets.type4(0x8000, 1), 0x300000: packets.type4(0x8000, 2)}
    state = packets.type7(0x43, *group(2, 0x300000, 9), *group(2, 0x200000, 4))
    waiting = run(630, state, buffers)
    assert groups_heard(waiting) == []
    assert [entry.group_id for entry in waiting.state.groups if entry] == [4, 9]
    drawn = run(630, state + draw_64(packets) + draw_64(packets), buffers)
    assert groups_heard(drawn) == [(4, True), (9, True)]
    assert drawn.state.value(0x8000) == 2
    assert not any(drawn.state.groups)


@pytest.mark.parametrize("opcode", [0x38, 0x28, 0x29, 0x2A, 0x24, 0x33, 0x41])
def test_every_draw_and_dispatch_loads_groups(run, packets, opcode: int) -> None:
    commands = packets.type7(0x43, *group(1, 0x200000)) + packets.type7(opcode, 4, 0, 0)
    assert groups_heard(run(630, commands, {0x200000: packets.type7(NOP)})) == [(0, True)]


@pytest.mark.parametrize("opcode", [0x2C, 0x46, 0x10, 0x31])
def test_nothing_else_loads_groups(run, packets, opcode: int) -> None:
    commands = packets.type7(0x43, *group(1, 0x200000)) + packets.type7(opcode, 0x1E, 0, 0)
    assert groups_heard(run(630, commands, {0x200000: packets.type7(NOP)})) == []


def test_flags_of_groups(run, packets) -> None:
    buffers = {0x200000: packets.type7(NOP)}
    three = [*group(1, 0x200000, 1), *group(1, 0x200000, 2), *group(1, 0x200000, 3)]

    def left(*entries: int) -> list[int]:
        done = run(630, packets.type7(0x43, *three, *entries), buffers)
        return [entry.group_id for entry in done.state.groups if entry]

    assert left(*group(0, 0, 2, flags=2)) == [1, 3]
    assert left(*group(0, 0, flags=4)) == []
    assert left(*group(0, 0, 2, flags=6)) == [], "all beats one"
    assert left(*group(0, 0, flags=4), *group(1, 0x200000, 7)) == [7]
    assert left(*group(1, 0x200000, 2, flags=10)) == [1, 3], "disable beats load"
    at_once = run(630, packets.type7(0x43, *three, *group(1, 0x200000, 2, flags=8)), buffers)
    assert groups_heard(at_once) == [(2, True)]
    assert [entry.group_id for entry in at_once.state.groups if entry] == [1, 3]


@pytest.mark.parametrize(
    ("marker", "mask", "loaded"),
    [(2, 1, True), (2, 6, False), (4, 2, True), (4, 5, False), (1, 4, True), (1, 3, False)],
)
def test_masks_of_groups(run, packets, marker: int, mask: int, loaded: bool) -> None:
    commands = packets.type7(0x65, marker)
    commands += packets.type7(0x43, *group(2, 0x200000, 5, mask)) + draw_64(packets)
    done = run(630, commands, {0x200000: packets.type4(0x8000, 1)})
    assert groups_heard(done) == [(5, loaded)]
    assert (0x8000 in done.state.registers) is loaded
    assert not any(done.state.groups)


def test_a5xx_has_no_masks(run, packets) -> None:
    commands = packets.type7(0x43, *group(2, 0x200000, 5, 0)) + draw_64(packets)
    assert run(540, commands, {0x200000: packets.type4(0x8000, 1)}).state.value(0x8000) == 1


def test_groups_of_two_dwords_before_a5xx(run, packets) -> None:
    state = packets.type0(0x2104, 1)
    commands = packets.type3(0x43, 2 | 5 << 24, 0x200000, 2 | 6 << 24, 0x300000)
    done = run(430, commands + packets.type3(DRAW, 4, 1, 3), {0x200000: state})
    assert groups_heard(done) == [(5, True), (6, True)]
    assert done.state.value(0x2104) == 1


def test_a_draw_in_a_group_loads_no_groups(run, packets) -> None:
    inner = draw_64(packets)
    commands = packets.type7(0x43, *group(len(inner), 0x200000, 1)) + draw_64(packets)
    done = run(630, commands, {0x200000: inner})
    assert len(done.sink.of("groups_within_groups")) == 1
    assert done.state.draw_count == 2


# --- what survives -------------------------------------------------------------------------------


def test_what_a_file_s_start_clears(run, packets) -> None:
    commands = [
        *packets.type4(0x8000, 5),
        *packets.type7(0x65, 1),
        *packets.type7(0x1D, 1),
        *draw_64(packets),
        *packets.type7(0x43, *group(1, 0x200000, 3)),
        *packets.type4(0x8001, 6),
    ]
    state = run(630, commands).state
    assert (state.draw_count, state.rewritten, state.written_before) == (1, {0x8001}, {0x8000})
    state.start_file()
    assert (state.draw_count, state.rewritten, state.written_before) == (0, set(), set())
    assert state.registers == {0x8000: 5, 0x8001: 6}
    assert (state.render_mode, state.enable_mask) == ("RM6_DIRECT_RENDER", SYSMEM)
    assert state.skip_ib2_global
    assert state.groups[3] is not None
    again = run(630, draw_64(packets), {0x200000: packets.type7(NOP)}, state)
    assert groups_heard(again) == [(3, True)]
    assert again.state is state


def test_a_fresh_state() -> None:
    state = CpState()
    assert state.enable_mask == ALL_MODES
    assert state.value(0x8000) == 0
    assert not state.was_written(0x8000)
