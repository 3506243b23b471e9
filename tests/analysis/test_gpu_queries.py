# SPDX-License-Identifier: MIT
"""Queries of the driver: begins, ends, what they count, results, copies, predicates."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import cffpy
from cffpy.analysis import gpu_queries
from cffpy.container.open import open_capture
from cffpy.frame.gpu_query import GpuQuery
from tests.analysis.passes.marked import tile
from tests.analysis.passes.streams import Dwords, Streams

SLOT = 0x100002000
BEGIN, RESULT, END = SLOT + 16, SLOT + 24, SLOT + 32
MEMORY = bytes(0x1000)


def pair(address: int) -> tuple[int, int]:
    return address & 0xFFFFFFFF, address >> 32


def write(s: Streams, address: int, *values: int) -> Dwords:
    return s.packet("CP_MEM_WRITE", *pair(address), *values)


def sums(s: Streams, result: int, end: int, begin: int) -> Dwords:
    """result = result + end - begin, of 64 bits."""
    head = 1 << 29 | 1 << 2
    return s.packet("CP_MEM_TO_MEM", head, *pair(result), *pair(result), *pair(end), *pair(begin))


def copy(s: Streams, target: int, source: int, bits: int = 64) -> Dwords:
    return s.packet("CP_MEM_TO_MEM", 1 << 29 if bits == 64 else 0, *pair(target), *pair(source))


def passed(s: Streams, address: int) -> Dwords:
    """Store the count of samples, by the registers (a5xx, a6xx)."""
    name = "RB_SAMPLE_COUNT_ADDR" if s.gpu >= 600 else "RB_SAMPLE_COUNT_ADDR_LO"
    where = s.raw(name, *pair(address))
    return [*s.reg("RB_SAMPLE_COUNT_CONTROL", COPY=1), *where, *s.event("ZPASS_DONE")]


#: Of CP_EVENT_WRITE7: the count is stored; 16 bytes behind; and the difference is added.
COUNT, AT_END, ADDS = 1 << 12, 1 << 13, 1 << 14


def passed7(s: Streams, address: int, bits: int = COUNT) -> Dwords:
    number = s.database.enum_value("vgt_event_type", "ZPASS_DONE")
    assert number is not None
    return s.packet("CP_EVENT_WRITE7", number | bits, *pair(address))


def occlusion(s: Streams, *draws: Dwords, slot: int = SLOT) -> Dwords:
    """A query of the program around draws, as turnip emits it in a pass."""
    inside = [dword for draw in draws for dword in draw]
    if s.gpu >= 700:
        ends = COUNT | AT_END | ADDS
        return [
            *passed7(s, slot + 16),
            *inside,
            *passed7(s, slot + 16, ends),
            *write(s, slot, 1, 0),
        ]
    return [
        *passed(s, slot + 16),
        *inside,
        *passed(s, slot + 32),
        *sums(s, slot + 24, slot + 32, slot + 16),
        *write(s, slot, 1, 0),
    ]


def sysmem(s: Streams, *parts: Dwords) -> list[Dwords]:
    head = [*s.marker("RM6_DIRECT_RENDER"), *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 64, 64)]
    return [head, *parts]


def queries(data: bytes) -> list[GpuQuery]:
    with cffpy.open(data) as capture:
        found = capture.queries
        assert [query.number for query in found] == list(range(len(found)))
        assert not capture.problems
        return list(found)


def told(query: GpuQuery) -> tuple[str, str, list[str], str, str | None]:
    draws = [str(one) for one in query.draws]
    return query.kind, query.pairing, draws, query.runs, query.asked_by


GPUS = pytest.mark.parametrize("gpu", [630, 740])


@GPUS
def test_occlusion(gpu: int) -> None:
    s = Streams(gpu)
    s.buffers[0x100002000] = MEMORY
    query = occlusion(s, s.draw(), s.draw())
    (found,) = queries(s.capture([sysmem(s, s.draw(), query, s.draw())]))
    pairing = "event" if gpu >= 700 else "sum"
    assert told(found) == ("occlusion", pairing, ["p0:1-2"], "once", "program")
    (counter,) = found.counters
    places = counter.begin_address, counter.end_address, counter.result_address
    assert (counter.name, *places) == ("samples passed", BEGIN, END, RESULT)
    assert (found.available, found.value, found.captured_with) == (SLOT, None, None)
    assert found.begin.gpuaddr < found.end.gpuaddr


@GPUS
def test_a_query_in_each_tile(gpu: int) -> None:
    s = Streams(gpu)
    draws = s.ib(occlusion(s, s.draw()), s.draw())
    tiles = [*tile(s, 0, 0, 64, 64, draws), *tile(s, 64, 0, 64, 64, draws)]
    (found,) = queries(s.capture([[tiles]]))
    assert (found.times, found.tiles, found.runs) == (2, 2, "each tile")
    assert [str(one) for one in found.draws] == ["p0:0"]


@GPUS
def test_a_query_around_tiles_counts_once(gpu: int) -> None:
    """What follows the last tile is not in it: the autotuner stores its end there."""
    s = Streams(gpu)
    draws = s.ib(s.draw(), s.draw())
    tiles = [*tile(s, 0, 0, 64, 64, draws), *tile(s, 64, 0, 64, 64, draws)]
    if gpu >= 700:
        parts = [passed7(s, BEGIN), tiles, passed7(s, BEGIN, COUNT | AT_END | ADDS)]
    else:
        parts = [passed(s, BEGIN), tiles, passed(s, END)]
    (found,) = queries(s.capture([parts]))
    pairing = "event" if gpu >= 700 else "address"
    assert told(found) == ("occlusion", pairing, ["p0:0-1"], "once", "autotuner")


def test_events_that_close_pairs_are_no_queries() -> None:
    """Outside of a pass turnip ends the pair before at once, and begins a pair for the end."""
    s = Streams(740)
    ends = COUNT | AT_END | ADDS
    begin = [*passed7(s, BEGIN), *passed7(s, BEGIN, ends)]
    end = [*passed7(s, END), *passed7(s, BEGIN, ends), *write(s, SLOT, 1, 0)]
    (found,) = queries(s.capture([[begin, *sysmem(s, s.draw(), s.draw()), end]]))
    assert told(found) == ("occlusion", "event", ["p0:0-1"], "once", "program")
    assert found.end.gpuaddr - found.begin.gpuaddr > 4 * len(begin)


def test_a_query_without_draws() -> None:
    s = Streams(740)
    (found,) = queries(s.capture([sysmem(s, s.draw(), occlusion(s), s.draw())]))
    assert told(found) == ("occlusion", "event", [], "once", "program")


def test_occlusion_of_a5xx() -> None:
    """Gallium has begin, result and end side by side, and no mark."""
    s = Streams(530)
    head = [
        *s.packet("CP_SET_RENDER_MODE", 1, 0, 0, 0, 0),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 64, 64),
    ]
    inside = [*passed(s, SLOT), *s.draw(), *passed(s, SLOT + 16)]
    (found,) = queries(s.capture([[head, s.draw(), inside, sums(s, SLOT + 8, SLOT + 16, SLOT)]]))
    assert told(found) == ("occlusion", "sum", ["p0:1"], "once", None)


def test_samples_of_a4xx_are_queries_by_order() -> None:
    """Nothing says which end belongs to which begin: samples with draws between are shown."""
    s = Streams(430)
    base, control = 0x578, s.offset("RB_SAMPLE_COUNT_CONTROL") - 0x2000

    def type3(opcode: int, *payload: int) -> Dwords:
        return [3 << 30 | (len(payload) - 1) << 16 | opcode << 8, *payload]

    def sample(offset: int) -> Dwords:
        count = 1 << 1  # COPY
        event = s.database.enum_value("vgt_event_type", "ZPASS_DONE") or 0
        return [*type3(0x2D, 0x80040000 | control, base, offset | count), *type3(0x46, event)]

    def draw(vertices: int) -> Dwords:
        return type3(0x38, 4 | 2 << 6, 1, vertices)

    per_tile = [base, 0x20000000]  # a packet of type 0
    stream = [per_tile, sample(0), draw(3), sample(128), draw(0), sample(256), draw(6), sample(384)]
    found = queries(s.capture([stream]))
    assert [(one.kind, one.pairing, one.certain, one.asked_by) for one in found] == [
        ("occlusion", "order", False, None),
        ("occlusion", "order", False, None),
    ]
    first, second = (one.counters[0] for one in found)
    assert (first.begin_address, first.end_address) == (0x20000000, 0x20000080)
    assert (second.begin_address, second.end_address) == (0x20000100, 0x20000180)
    assert first.result_address is None
    assert [one.draw_count for one in found] == [1, 1]


def registers(s: Streams, register: int, address: int, count: int = 2) -> Dwords:
    return s.packet("CP_REG_TO_MEM", register | count << 18 | 1 << 30, *pair(address))


def test_performance_counters() -> None:
    """Counters that are summed one after the other are one query; what they count is selected."""
    s = Streams(530)
    selects = [
        *s.raw("CP_PERFCTR_CP_SEL_0", s.database.enum_value("a5xx_cp_perfcounter_select",
                                                           "PERF_CP_BUSY_CYCLES") or 0),
        *s.raw("CP_PERFCTR_CP_SEL_1", 0x3F),
    ]  # fmt: skip
    first, second = s.offset("RBBM_PERFCTR_CP_0_LO"), s.offset("RBBM_PERFCTR_CP_1_LO")
    begins = [*registers(s, first, SLOT + 16), *registers(s, second, SLOT + 40)]
    ends = [*registers(s, first, SLOT + 24), *registers(s, second, SLOT + 48)]
    both = [
        *sums(s, SLOT + 8, SLOT + 24, SLOT + 16),
        *sums(s, SLOT + 32, SLOT + 48, SLOT + 40),
        *write(s, SLOT, 1, 0),
    ]
    once = [*begins, *s.draw(), *ends, *both]
    (found,) = queries(s.capture([[selects, once]]))
    assert (found.kind, found.asked_by, found.times) == ("performance counters", "program", 1)
    assert [(one.name, one.countable) for one in found.counters] == [
        ("RBBM_PERFCTR_CP_0", "PERF_CP_BUSY_CYCLES"),
        ("RBBM_PERFCTR_CP_1", "0x3f"),
    ]


def test_performance_counters_without_sums_are_read_twice() -> None:
    s = Streams(530)
    register = s.offset("RBBM_PERFCTR_CP_0_LO")
    reads = [registers(s, register, SLOT + 8 * place) for place in range(4)]
    found = queries(s.capture([[reads[0], s.draw(), reads[1], reads[2], s.draw(), reads[3]]]))
    assert [(one.kind, one.pairing, one.certain) for one in found] == [
        ("performance counters", "order", False)
    ] * 2


def test_time_elapsed_and_times_of_u_trace() -> None:
    """Two times whose difference is added are a query; a time alone is none without a mark."""
    s = Streams(630)
    clock = s.offset("CP_ALWAYS_ON_COUNTER")
    elapsed = [
        *registers(s, clock, BEGIN),
        *s.draw(),
        *registers(s, clock, END),
        *sums(s, RESULT, END, BEGIN),
    ]
    trace = registers(s, clock, SLOT + 0x800)
    (found,) = queries(s.capture([sysmem(s, trace, elapsed, trace)]))
    assert told(found) == ("time elapsed", "sum", ["p0:0"], "once", None)


def test_primitives_generated() -> None:
    s = Streams(630)
    register = s.offset("RBBM_PRIMCTR_7_LO")
    query = [
        *registers(s, register, SLOT + 16),
        *s.draw(),
        *registers(s, register, SLOT + 24),
        *sums(s, SLOT + 8, SLOT + 24, SLOT + 16),
    ]
    (found,) = queries(s.capture([sysmem(s, query)]))
    assert (found.kind, found.counters[0].statistic) == (
        "primitives generated",
        "clipping invocations",
    )


def test_values_are_those_of_a_later_submit() -> None:
    """What is captured with the submit itself is from before the query."""
    s = Streams(630)
    s.buffers[SLOT] = bytes(24) + (77).to_bytes(8, "little") + bytes(32)
    streams = [sysmem(s, occlusion(s, s.draw()))]
    (alone,) = queries(s.capture(streams))
    assert (alone.value, alone.captured_with) == (None, None)
    (found,) = queries(s.capture(streams, [[s.event("CACHE_FLUSH_TS")]]))
    assert (found.value, found.captured_with, found.submit) == (77, 1, 0)


@GPUS
def test_copies_and_predicates(gpu: int) -> None:
    """A predicate decides by a copy of a copy; other memory is no copy of the result."""
    s = Streams(gpu)
    copied, predicate = SLOT + 0x400, SLOT + 0x480

    def decides(address: int) -> Dwords:
        return s.packet("CP_DRAW_PRED_SET", 5 << 4, *pair(address))

    (found,) = queries(s.capture([[
        *sysmem(s, occlusion(s, s.draw())),
        copy(s, copied, RESULT), copy(s, copied + 8, SLOT), copy(s, predicate, copied, 32),
        copy(s, predicate + 8, SLOT + 0x600), decides(predicate), decides(predicate + 8),
    ]]))  # fmt: skip
    assert [(one.destination, one.size, one.is_availability) for one in found.copies] == [
        (copied, 8, False),
        (predicate, 4, False),
        (copied + 8, 8, True),
    ]
    assert [(one.packet, one.address) for one in found.predicates] == [
        ("CP_DRAW_PRED_SET", predicate)
    ]


def test_what_is_written_over_is_no_copy() -> None:
    s = Streams(630)
    copied = SLOT + 0x400
    parts = [
        *sysmem(s, occlusion(s, s.draw())),
        copy(s, copied, RESULT),
        write(s, copied, 0, 0),
        s.packet("CP_DRAW_PRED_SET", 5 << 4, *pair(copied)),
    ]
    (found,) = queries(s.capture([parts]))
    assert not found.predicates


def test_a_slot_that_is_used_again_is_another_query() -> None:
    s = Streams(630)
    streams = [sysmem(s, occlusion(s, s.draw()))]
    assert [query.submit for query in queries(s.capture(streams, streams))] == [0, 1]


def test_draws_and_passes_name_their_queries(samples: Path) -> None:
    with cffpy.open(samples / "a650-queries.rd") as capture:
        assert [draw.queries for draw in capture.draws] == [[0], [1], [1, 2], []]
        assert [one.queries for one in capture.passes] == [[0, 1, 2], []]
        found = capture.draws.where("draw.queries == 1")
        assert [draw.name for draw in found] == ["p0:1", "p0:2"]


def test_a_limit_of_what_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_queries, "_MAX_ACTIONS", 1)
    s = Streams(630)
    with cffpy.open(s.capture([sysmem(s, occlusion(s, s.draw(), s.draw()))])) as capture:
        (found,) = capture.queries
        assert not found.draws_known


# -- captures whose programs are known -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pass_index", "tiles"),
    [
        ("captures/a660-vk-query-gmem", 0, 6),
        ("captures/a740-vk-query-gmem", 0, 3),
        ("m26/captures/m26-a618-vk-query-gmem", 2, 15),
    ],
)
def test_shared_queries(name: str, pass_index: int, tiles: int, shared: Path) -> None:
    """3 x (occlusion and statistics) around 5, 6, 7 draws; 5 times; 1 primitives around 3 draws."""
    with cffpy.open(shared / f"{name}.rd.gz") as capture:
        found = list(capture.queries)
    kinds = ("occlusion", "pipeline statistics", "timestamp", "primitives generated")
    of_kind = {kind: [one for one in found if one.kind == kind] for kind in kinds}
    assert sum(map(len, of_kind.values())) == len(found)
    ranges = [f"p{pass_index}:{draws}" for draws in ("0-4", "5-10", "11-17")]
    for kind in ("occlusion", "pipeline statistics"):
        assert [str(*one.draws) for one in of_kind[kind]] == ranges
        assert {(one.tiles, one.binning) for one in of_kind[kind]} == {(tiles, True)}
    (primitives,) = of_kind["primitives generated"]
    assert (str(*primitives.draws), primitives.runs) == (f"p{pass_index}:18-20", "binning run")
    assert len(of_kind["timestamp"]) == 5
    assert {one.asked_by for one in found} == {"program"}
    assert {len(one.counters) for one in of_kind["pipeline statistics"]} == {11}
    assert [len(one.copies) for one in of_kind["occlusion"]] == [2, 2, 2]


@pytest.mark.slow
def test_shared_queries_of_gallium(shared: Path) -> None:
    """2 draws with stream-out and its query, 2 occlusion queries around a draw each."""
    with cffpy.open(shared / "captures/a630-gl-xfb-queries.rd.gz") as capture:
        found = [one for one in capture.queries if one.asked_by == "program"]
        others = [one for one in capture.queries if one.asked_by != "program"]
    assert [(one.kind, str(*one.draws), one.tiles) for one in found] == [
        ("stream-out", "p1:0-1", 2),
        ("occlusion", "p1:2", 2),
        ("occlusion", "p1:3", 2),
    ]
    assert {one.asked_by for one in others} == {"autotuner"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["a740-vk-frame-msaa4-1080p", "a610-vk-frame-720p", "a740-gl-passes", "a660-gl-tessgeom"],
)
def test_shared_captures_without_queries_have_those_of_the_autotuner(
    name: str, shared: Path
) -> None:
    with cffpy.open(shared / f"captures/{name}.rd.gz") as capture:
        found = list(capture.queries)
    assert found
    assert {one.asked_by for one in found} == {"autotuner"}
    assert {one.kind for one in found} == {"occlusion"}
    assert all(len(one.passes) <= 1 for one in found)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_captures(seed: int, samples: Path) -> None:
    """Any bytes have an answer."""
    random = Random(seed)
    data = bytearray(open_capture(str(samples / "a650-queries.rd")).data)
    for _ in range(8):
        data[random.randrange(64, len(data))] = random.randrange(256)
    with cffpy.open(bytes(data[: random.randrange(len(data) // 2, len(data))])) as capture:
        for query in (*capture.queries, *capture.stream_out):
            assert query.to_dict()


A830 = b"""pm4 1
chip_id 0x44050001
buffer commands 0x100001000 size 4096 {
  commands main {
    CP_REG_TO_MEM REG=0x8e7 CNT=2 64B DEST=0x100002008
    CP_MEM_WRITE ADDR=0x100002000 [2]=0x1 [3]=0x0
    RB_SAMPLE_COUNTER_CNTL = { COPY }
    RB_SAMPLE_COUNTER_BASE = 0x100002110
    CP_EVENT_WRITE7 EVENT=ZPASS_DONE
    CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST NUM_INSTANCES=1 NUM_INDICES=3
    RB_SAMPLE_COUNTER_BASE = 0x100002120
    CP_EVENT_WRITE7 EVENT=ZPASS_DONE
    CP_MEM_WRITE ADDR=0x100002100 [2]=0x1 [3]=0x0
  }
}
stream main
"""


def test_registers_of_a8xx_have_other_names() -> None:
    stamp, occluded = queries(cffpy.compile(A830))
    assert told(stamp) == ("timestamp", "packet", [], "once", "program")
    assert told(occluded)[:2] == ("occlusion", "address")
    assert (stamp.counters[0].name, occluded.available) == ("CP_ALWAYS_ON_COUNTER", 0x100002100)
