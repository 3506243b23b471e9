# SPDX-License-Identifier: MIT
"""Registers that packets fill by copying: what is known afterwards, and what wrote it."""

from __future__ import annotations

import pytest

from cffpy.analysis.register_store.history import State
from cffpy.container.open import open_bytes
from cffpy.isa.encode import Assembler
from tests.analysis.passes.batches import Batch, find
from tests.analysis.passes.streams import Collector, Streams, walk
from tests.analysis.register_store.replay import state_at

A, B, C = 0x8890, 0x88D4, 0x80F0


@pytest.fixture
def s() -> Streams:
    return Streams(740)


def value(s: Streams, register: int, *parts: list[int]) -> int | None:
    found = walk(s.capture([parts]))
    return found.walk.machine.state.registers.get(register)


def state(data: bytes) -> State:
    found = state_at(open_bytes(data), 0, lambda line: pytest.fail(line))
    assert found is not None
    return found


def to_scratch(s: Streams, register: int, scratch: int, count: int = 1) -> list[int]:
    return s.packet("CP_REG_TO_SCRATCH", register | scratch << 20 | count - 1 << 24)


def from_scratch(s: Streams, register: int, scratch: int, count: int = 1) -> list[int]:
    return s.packet("CP_SCRATCH_TO_REG", register | scratch << 20 | count - 1 << 24)


def test_what_went_to_scratch_comes_back(s: Streams) -> None:
    saved = [
        s.raw("RB_WINDOW_OFFSET", 5),
        to_scratch(s, A, 3),
        s.raw("RB_WINDOW_OFFSET", 6),
    ]
    assert value(s, A, *saved, from_scratch(s, A, 3)) == 5
    assert value(s, C, *saved, from_scratch(s, C, 3)) == 5
    assert value(s, A, *saved, from_scratch(s, A, 4)) is None
    assert value(s, A, *saved) == 6


def test_several_registers_and_the_last_scratch_register(s: Streams) -> None:
    code = [
        s.raw("VSC_STATE[0].REG", 1, 2, 3),
        to_scratch(s, s.offset("VSC_STATE[0].REG"), 6, 3),
        from_scratch(s, A, 6, 3),
    ]
    found = walk(s.capture([code])).walk.machine.state.registers
    assert (found.get(A), found.get(A + 1), found.get(A + 2)) == (1, 2, None)


def test_scratch_registers_that_are_written(s: Streams) -> None:
    code = [s.packet("CP_SCRATCH_WRITE", 2 << 20, 7, 8), from_scratch(s, A, 2, 2)]
    found = walk(s.capture([code])).walk.machine.state.registers
    assert (found[A], found[A + 1]) == (7, 8)


def test_an_unknown_register_stays_so_by_way_of_scratch(s: Streams) -> None:
    code = [
        s.raw("RB_WINDOW_OFFSET", 5),
        to_scratch(s, A, 0),
        s.packet("CP_MEM_TO_REG", A, 0x1000, 0),
        to_scratch(s, A, 0),
        from_scratch(s, B, 0),
    ]
    assert value(s, B, *code) is None


def test_read_modify_write(s: Streams) -> None:
    known = [s.raw("RB_WINDOW_OFFSET", 0xF0)]
    unknown = [*known, s.packet("CP_MEM_TO_REG", A, 0x1000, 0)]
    modify = s.packet("CP_REG_RMW", A, 0xFF, 1)
    assert value(s, A, *known, modify) == 0xF1
    assert value(s, A, *unknown, modify) is None
    assert value(s, A, *unknown, s.packet("CP_REG_RMW", A, 0, 1)) == 1, "nothing old remains"
    assert value(s, A, *known, s.packet("CP_REG_RMW", A | 1 << 30, 0xFF, B)) is None
    assert value(s, A, *unknown, modify, s.raw("RB_WINDOW_OFFSET", 2)) == 2
    skipped = s.only("gmem", commands=s.packet("CP_REG_RMW", A | 1 << 30, 0xFF, B))
    assert value(s, A, *known, s.marker("RM6_DIRECT_RENDER"), skipped) == 0xF0


def test_conditional_writes_to_registers(s: Streams) -> None:
    known = s.raw("RB_WINDOW_OFFSET", 5)
    to_register = s.packet("CP_COND_WRITE5", 3, B, 0, 0, 0, A, 0, 6)
    to_memory = s.packet("CP_COND_WRITE5", 0x103, B, 0, 0, 0, A, 0, 6)
    assert value(s, A, known, to_register) is None
    assert value(s, A, known, to_memory) == 5


def test_state_shows_what_is_unknown_and_what_wrote_it(s: Streams) -> None:
    packet = s.packet("CP_MEM_TO_REG", A | 2 << 19, 0x1000, 0)
    found = state(s.capture([[s.raw("RB_WINDOW_OFFSET", 5), packet, s.draw()]]))
    assert A not in found.registers
    assert found.written == [A, A + 1]
    assert found.writes[A].place.gpuaddr == 0x100000 + 4 * 2
    assert found.writes[A].origin(found.action) == "before the pass"


def test_a_binning_run_makes_visibility_states_unknown(s: Streams) -> None:
    code = [s.raw("VSC_STATE[0].REG", 5), s.marker("RM6_BIN_VISIBILITY"), s.draw()]
    found = state(s.capture([code]))
    first = s.offset("VSC_STATE[0].REG")
    assert first not in found.registers
    assert found.writes[first].place.gpuaddr == 0x100000 + 4 * 2


def test_context_registers_from_memory() -> None:
    batch = Batch(200).set("PA_SC_SCREEN_SCISSOR_BR", 5).set("PA_SC_WINDOW_OFFSET", 6)
    number = batch.database.register_offset("PA_SC_SCREEN_SCISSOR_BR")
    batch.packet(0x2E, 0x1000, 4 << 16 | number - 0x2000, 1)
    registers = find(batch).walk.registers
    assert registers.value("PA_SC_SCREEN_SCISSOR_BR") is None
    assert registers.value("PA_SC_WINDOW_OFFSET") == 6


def test_commands_that_are_stored_before_they_run(s: Streams) -> None:
    """The file has the previous contents; the packet that stored the values is reported."""
    body = s.ib(s.raw("RB_WINDOW_OFFSET", 1), s.raw("RB_WINDOW_OFFSET2", 2), s.draw())
    (address,) = s.buffers
    store = s.packet("CP_MEM_WRITE", address + 4, 0, 7)
    found = state(s.capture([[s.raw("RB_BIN_CONTROL2", 3), store, body]]))
    assert (found.registers[A], found.registers[B]) == (7, 2)
    patch = found.writes[A].patched_by
    assert patch is not None
    assert patch.gpuaddr == 0x100000 + 4 * 2
    assert found.writes[B].patched_by is None
    again = [[store, body]], [[body]]
    later = state_at(open_bytes(s.capture(*again)), 1, lambda line: pytest.fail(line))
    assert later is not None
    assert (later.registers[A], later.writes[A].patched_by) == (1, None), "buffers are new"


# -- memory ---------------------------------------------------------------------------------------

#: A buffer of the capture, and what it holds.
MEMORY = 0x20000000


def lo_hi(address: int) -> tuple[int, int]:
    return address & 0xFFFFFFFF, address >> 32


def test_a_value_from_memory_names_the_packets_that_it_comes_from(s: Streams) -> None:
    s.buffers[MEMORY] = [1, 2, 3, 4]
    parts = [
        s.packet("CP_MEM_WRITE", *lo_hi(MEMORY), 5),
        s.packet("CP_MEM_WRITE", *lo_hi(MEMORY + 4), 6),
        s.packet("CP_MEM_TO_MEM", 0, *lo_hi(MEMORY + 8), *lo_hi(MEMORY), *lo_hi(MEMORY + 4)),
        s.packet("CP_MEM_TO_REG", A, *lo_hi(MEMORY + 8)),
        s.draw(),
    ]
    found = state(s.capture([parts]))
    assert found.registers[A] == 11
    write = found.writes[A]
    assert write.place.gpuaddr == 0x100000 + 4 * 16
    sources = [place.gpuaddr - 0x100000 for place in write.computed_from]
    assert sources == [0, 4 * 4, 4 * 8], "two stores and their sum"


def test_captured_memory_is_what_the_gpu_may_have_changed_since(s: Streams) -> None:
    s.buffers[MEMORY] = [1, 2, 3, 4]
    assert value(s, A, s.packet("CP_MEM_TO_REG", A, *lo_hi(MEMORY))) is None


def indirect(s: Streams, *parts: list[int]) -> tuple[int | None, list[int]]:
    """Vertices of an indirect draw after some packets, and the packets that they come from."""
    s.buffers[MEMORY] = [1, 2, 3, 4]
    draw = s.packet("CP_DRAW_INDIRECT", 4 | 2 << 6, *lo_hi(MEMORY))
    collector = Collector(applies_memory_writes=True)
    collector.run(open_bytes(s.capture([[*parts, draw]])))
    action = collector.actions[-1]
    return action.vertices, [place.gpuaddr - 0x100000 for place in action.parameters_from]


def test_indirect_draws_see_what_packets_have_stored(s: Streams) -> None:
    store = s.packet("CP_MEM_WRITE", *lo_hi(MEMORY), 7)
    assert indirect(s) == (1, [])
    assert indirect(s, store) == (7, [0])
    event = s.packet("CP_EVENT_WRITE7", 4 | 1 << 27, *lo_hi(MEMORY), 1)
    assert indirect(s, store, event) == (None, [])
    assert indirect(s, event, store)[0] is None, "the instances are not known"
    both = s.packet("CP_MEM_WRITE", *lo_hi(MEMORY), 7, 1, 0, 0)
    assert indirect(s, event, both) == (7, [5 * 4])
    unknown = s.packet("CP_REG_TO_MEM", A, *lo_hi(MEMORY))
    assert indirect(s, store, unknown) == (None, [])


def test_a_blit_to_the_same_buffer_makes_values_unknown(s: Streams) -> None:
    store = s.packet("CP_MEM_WRITE", *lo_hi(MEMORY), 7, 1, 0, 0)
    blit = s.packet("CP_BLIT", 3)
    beside = s.address("RB_2D_DST", MEMORY + 0x100000)
    over = s.address("RB_2D_DST", MEMORY)
    assert indirect(s, store, beside, blit)[0] == 7
    assert indirect(s, store, over, blit)[0] is None


@pytest.mark.parametrize(("stores", "vertices"), [(False, 7), (True, None)])
def test_a_program_that_stores_makes_values_unknown(
    s: Streams, stores: bool, vertices: int | None
) -> None:
    """Of a dispatch between the store and the draw: ``stib`` may reach any memory."""
    first = "stib.b.untyped.1d.u32.4.imm.base0 r2.y, r5.z, 4" if stores else "nop"
    assembler = Assembler(7)
    words = [assembler.assemble(line) for line in (first, "end")]
    program = MEMORY + 0x1000
    s.buffers[program] = [half for word in words for half in lo_hi(word)]
    parts = [
        s.packet("CP_MEM_WRITE", *lo_hi(MEMORY), 7, 1, 0, 0),
        s.reg("SP_CS_CONFIG", ENABLED=1),
        s.address("SP_CS_OBJ_START", program),
        s.packet("CP_EXEC_CS", 0, 1, 1, 1),
    ]
    assert indirect(s, *parts)[0] == vertices


def test_many_parameters_far_apart_take_no_time(s: Streams) -> None:
    """4,000 draws whose parameters are 4 GB apart, with one dword that is known."""
    s.buffers[MEMORY] = [1, 2, 3, 4]
    store = s.packet("CP_MEM_WRITE", *lo_hi(MEMORY + 0x1000), 7)
    draw = s.packet("CP_DRAW_INDIRECT_MULTI", 4 | 2 << 6, 2, 4000, *lo_hi(MEMORY), 0xFFFFFFFC)
    collector = Collector(applies_memory_writes=True)
    collector.run(open_bytes(s.capture([[store, *[draw] * 200]])))
    assert {action.vertices for action in collector.actions} == {None}


@pytest.mark.parametrize("replays", [True, False])
def test_a_register_that_may_have_been_written_decides_nothing(s: Streams, replays: bool) -> None:
    """Only the GPU knows predicate 3. State shows the value of commands that may be executed."""
    draw = s.draw()

    def compared(wanted: int) -> list[int]:
        return [*s.packet("CP_COND_REG_EXEC", 4 << 28 | A, wanted, len(draw)), *draw]

    maybe = s.when(3, [*s.raw("RB_WINDOW_OFFSET", 5), *compared(5), *compared(6)])
    first = [s.raw("RB_WINDOW_OFFSET", 1), maybe, compared(5), compared(1)]
    again = [s.raw("RB_WINDOW_OFFSET", 5), compared(5), s.when(3, s.raw("RB_WINDOW_OFFSET", 5))]
    collector = Collector()
    collector.walk.decodes_streams_once = replays
    collector.run(open_bytes(s.capture([[*first, *again, compared(5)]])))
    assert [action.execution.value for action in collector.actions] == [
        *(None, False),  # in the block: if it is executed, the register holds 5
        *(None, None),
        *(True, True),  # the block writes what is there in any case
    ]
    assert collector.walk.machine.state.registers[A] == 5
    assert type(collector.walk.machine.state.registers) is dict


def test_a_thread_that_may_be_chosen_leaves_what_was_written_before_in_doubt(s: Streams) -> None:
    """The switch to BR under a predicate, as turnip turns concurrent binning off."""
    draw, bv = s.draw(), s.packet("CP_THREAD_CONTROL", 2)
    compared = [*s.packet("CP_COND_REG_EXEC", 4 << 28 | A, 5, len(draw)), *draw]
    off = s.packet("CP_THREAD_CONTROL", 1 | 1 << 27)
    maybe = s.when(3, [*s.raw("RB_WINDOW_OFFSET", 5), *off, *s.raw("RB_WINDOW_OFFSET", 5)])
    parts = [bv, s.raw("RB_WINDOW_OFFSET", 1), maybe, compared, bv, compared]
    collector = Collector()
    collector.run(open_bytes(s.capture([parts])))
    assert [action.execution.value for action in collector.actions] == [None, None]


def test_what_may_be_put_into_scratch_is_not_known(s: Streams) -> None:
    rmw = s.packet("CP_REG_RMW", 4 | 1 << 19, 0, 7)
    assert value(s, A, rmw, from_scratch(s, A, 4)) == 7
    assert value(s, A, s.when(3, rmw), from_scratch(s, A, 4)) is None


def test_conditional_writes_of_older_gpus() -> None:
    """CP_COND_WRITE of a4xx: addresses of 32 bits, a register or memory is polled and written."""
    s = Streams(430)
    one, two = s.offset("RB_MODE_CONTROL"), s.offset("GRAS_CL_CLIP_CNTL")
    there = 0x20000000

    def write(function: int, polled: int, wanted: int, target: int, bits: int = 0) -> list[int]:
        where = function | bits, polled, wanted, 0xFFFF, target, 9
        return s.packet("CP_COND_WRITE", *where)

    equal, differs = 3, 4
    polls_memory, writes_memory = 1 << 4, 1 << 8
    known = s.raw("RB_MODE_CONTROL", 0x10005)
    assert value(s, two, known, write(equal, one, 5, two)) == 9
    assert value(s, two, known, s.raw("GRAS_CL_CLIP_CNTL", 3), write(differs, one, 5, two)) == 3
    assert value(s, two, s.raw("GRAS_CL_CLIP_CNTL", 3), write(equal, one, 5, two)) is None
    s.buffers[there] = [0, 0]
    stored = s.packet("CP_MEM_WRITE", there, 0x20005)
    assert value(s, two, stored, write(equal, there, 5, two, polls_memory)) == 9
    in_memory = write(equal, there, 5, there + 4, polls_memory | writes_memory)
    back = s.packet("CP_MEM_TO_REG", two, there + 4)
    assert value(s, two, stored, in_memory, back) == 9
    assert value(s, two, in_memory, back) is None
