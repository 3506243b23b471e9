# SPDX-License-Identifier: MIT
"""The queries of a capture: packets that store counters, those that belong together, and results.

A *sample* is one execution of a packet that stores counters: ZPASS_DONE stores the samples that
passed, WRITE_PRIMITIVE_COUNTS the primitives of the streams, CP_REG_TO_MEM registers that count. A
query has two, and which two the driver says:

- CP_MEM_TO_MEM adds the difference of both to the result (turnip; gallium from a5xx on).
- ZPASS_DONE with SAMPLE_COUNT_END_OFFSET stores its count 16 bytes behind the begin, and with
  WRITE_ACCUM_SAMPLE_COUNT_DIFF adds the difference to the 64 bits between them (a7xx).
- The autotuners, which sum on the CPU, store the end 16 bytes behind the begin (a6xx and later).
- Up to a4xx the CPU sums: nothing in the stream says which end belongs to which begin. Two samples
  of a counter that follow each other are a query then, by order alone. A sample may end one query
  and begin the next.

A timestamp is a query where the driver marks it as available: it sets 64 bits just below to 1.
Other timestamps are those of u_trace. Facts: tu_query_pool.cc of turnip, fd*_query of gallium (Mesa
25.0.7), and the packets' descriptions.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.frame.gpu_query import GpuQuery, QueryCopy, QueryCounter, QueryPredicate
from cffpy.frame.passes import Tile
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.frame.action import Action
    from cffpy.frame.gpu_query import Pairing, QueryKind
    from cffpy.frame.passes import PassRun
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.submit import Memory
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

#: Addresses that are remembered, packets with samples, and copies, of each kind. Hostile streams
#: have no end.
_MAX_KEPT = 1 << 16

#: Executions of packets that store counters.
_MAX_SAMPLES = 1 << 20

#: Actions that are looked at for what queries count, in all.
_MAX_ACTIONS = 1 << 22

#: Counters that one packet stores.
_MAX_COUNTERS = 64

_EVENT = Fields("CP_EVENT_WRITE", "EVENT", "TIMESTAMP", "ADDR_0")
_EVENT7 = Fields(
    "CP_EVENT_WRITE7",
    "EVENT",
    "WRITE_SAMPLE_COUNT",
    "SAMPLE_COUNT_END_OFFSET",
    "WRITE_ACCUM_SAMPLE_COUNT_DIFF",
    "WRITE_SRC",
    "1",
)
_REG_TO_MEM = Fields("CP_REG_TO_MEM", "REG", "CNT", "64B", "ACCUMULATE", "DEST")
_MEM_WRITE = Fields("CP_MEM_WRITE", "ADDR")
_PREDICATE = Fields("CP_DRAW_PRED_SET", "SRC", "MEM_ADDR")
_COND_EXEC = Fields("CP_COND_EXEC", "ADDR0")
_SUM = Fields("CP_MEM_TO_MEM", "NEG_A", "NEG_B", "NEG_C", "DOUBLE")
_SUM_ADDRESSES = Fields("CP_MEM_TO_MEM", "DST", "SRC_A", "SRC_B", "SRC_C", variant="ADDRESSES")

#: result = result + end - begin.
_DIFFERENCE = (0, 0, 1)
#: WRITE_SRC (event_write_src), SRC (cp_draw_pred_src).
_ALWAYS_ON, _PREDICATE_IN_MEMORY = 3, 5
#: From a begin to its result and its end, where the event knows both.
_RESULT_OFFSET, _END_OFFSET = 8, 16
#: How far below its counters the mark of a query is, in bytes; of performance counters, whose
#: results may all come before the first counter.
_MARK_DISTANCE, _MARK_DISTANCE_PERFORMANCE = 32, 4096

#: CP_SET_CONSTANT of a3xx and a4xx, whose name is that of a2xx alone; its type 4, which counts
#: context registers from 0x2000, with the bit that adds a register.
_ADD_TO_REGISTER, _ADDED_REGISTER, _CONTEXT_REGISTERS = "0x2d", 0x80040000, 0x2000

#: Registers as editions name them.
_SAMPLE_CONTROL = ("RB_SAMPLE_COUNT_CONTROL", "RB_SAMPLE_COUNTER_CNTL")
_SAMPLE_ADDRESS = ("RB_SAMPLE_COUNT_ADDR", "RB_SAMPLE_COUNT_ADDR_LO", "RB_SAMPLE_COUNTER_BASE")
_STREAM_COUNTS = ("VPC_SO_STREAM_COUNTS", "VPC_SO_QUERY_BASE")

_PRIMITIVE_COUNTERS = tuple(
    f"stream {stream} primitives {what}" for stream in range(4) for what in ("written", "generated")
)
_TIME = re.compile(r"ALWAYS_?ON_COUNTER")
_STATISTICS = re.compile(r"RBBM_(?:PRIMCTR_(\d+)|PIPESTAT_(\w+))")
_PERFORMANCE = re.compile(r"(?:RBBM|CP|VBIF|GBIF)_PERF(?:CTR|_CNT|_PWR_CNT)\w*")
_PERFORMANCE_OF = re.compile(r"RBBM_PERFCTR_(\w+?)(?:\[(\d+)\]|_(\d+))$")
_SELECT = re.compile(r"(?:\w+_)?PERFCTR_(\w+?)_SEL(?:\[(\d+)\]|_(\d+))")

#: What the registers RBBM_PRIMCTR count, in their order.
_STATISTIC_NAMES = (
    "input assembly vertices",
    "input assembly primitives",
    "vertex shader invocations",
    "tessellation control shader patches",
    "tessellation evaluation shader invocations",
    "geometry shader invocations",
    "geometry shader primitives",
    "clipping invocations",
    "clipping primitives",
    "fragment shader invocations",
    "compute shader invocations",
)
#: The same of editions that name the registers by what they count: RBBM_PIPESTAT_IAVERTICES.
_PIPESTAT_NAMES = (
    *("IAVERTICES", "IAPRIMITIVES", "VSINVOCATIONS", "HSINVOCATIONS", "DSINVOCATIONS"),
    *("GSINVOCATIONS", "GSPRIMITIVES", "CINVOCATIONS", "CPRIMITIVES", "PSINVOCATIONS"),
    "CSINVOCATIONS",
)
_GENERATED = _STATISTIC_NAMES[7]


class _Counter(NamedTuple):
    """What a packet stores one number of."""

    name: str
    statistic: str | None = None
    countable: str | None = None


class _Packet:
    """A packet that stores counters, in one submit. ``size``: bytes of each counter.

    ``is_used``: a query has it. ``closed``: the query that it began last, where an event ends it.
    """

    __slots__ = ("closed", "counters", "is_used", "kind", "place", "samples", "size", "submit")

    def __init__(
        self,
        kind: QueryKind,
        counters: tuple[_Counter, ...],
        size: int,
        place: PacketLocation,
        submit: int,
    ) -> None:
        self.kind, self.counters, self.size = kind, counters, size
        self.place, self.submit = place, submit
        self.samples: list[_Sample] = []
        self.is_used = False
        self.closed: _Found | None = None


class _Sample(NamedTuple):
    """One execution of such a packet. ``order``: of the action after it.

    ``address``: of the first counter. ``run``: the run of a pass that is open. ``serial``: its
    number among all samples.
    """

    packet: _Packet
    address: int
    order: int
    run: PassRun | None
    serial: int


class _Found:
    """A query while it is found. ``spans``: for each execution, the actions between."""

    __slots__ = (
        *("begin", "copies", "counters", "end", "first", "last", "pairing", "predicates", "spans"),
    )

    def __init__(self, begin: _Packet, end: _Packet, pairing: Pairing) -> None:
        self.begin, self.end, self.pairing = begin, end, pairing
        #: Address of the begin -> the counter.
        self.counters: dict[int, QueryCounter] = {}
        self.spans: list[tuple[int, int, PassRun | None]] = []
        #: The serial numbers of the first execution of its begin, and of the last of its end.
        self.first = self.last = -1
        #: (submit, address of the packet) -> what it does; each once, however often it is executed.
        self.copies: dict[tuple[int, int], QueryCopy] = {}
        self.predicates: dict[tuple[int, int], QueryPredicate] = {}

    @property
    def addresses(self) -> Iterator[int]:
        """Where its counters and results are."""
        for one in self.counters.values():
            places = one.begin_address, one.end_address, one.result_address
            yield from (address for address in places if address is not None)

    def add(self, begin: _Sample, end: _Sample, at: int, result: int | None) -> None:
        """A counter: the one of the begin that is ``at`` bytes behind its first one."""
        begin.packet.is_used = end.packet.is_used = True
        if self.first < 0:
            self.first = begin.serial
        if self.last != end.serial:
            self.last = end.serial
            self.spans.append((begin.order, end.order, end.run))
        address = begin.address + at
        if address not in self.counters and len(self.counters) < _MAX_COUNTERS:
            name, statistic, countable = begin.packet.counters[at // begin.packet.size]
            counter = QueryCounter(name, statistic, countable, address, end.address + at, result)
            self.counters[address] = counter


class _Copied(NamedTuple):
    """A copy of a mark or of a timestamp: their queries are known at the end.

    ``serial``: of the sample after it.
    """

    copy: QueryCopy
    serial: int


class GpuQueryFinder(Observer):
    """Finds the queries of a capture; ``queries`` has them when the walk has ended."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self._submit = 0
        #: (submit, address of the packet) -> the packet.
        self._packets: dict[tuple[int, int], _Packet] = {}
        #: Address of the first counter -> the sample that was stored there last, and from the
        #: address of each counter that of the first.
        self._stored: dict[int, _Sample] = {}
        self._first: dict[int, int] = {}
        self._found: dict[tuple[int, int, int, QueryKind], _Found] = {}
        #: Address of a result, or of a copy of it -> the query whose it is now.
        self._results: dict[int, _Found] = {}
        #: The query of performance counters to which the next sum belongs, too.
        self._collecting: _Found | None = None
        #: Address that packets have set to 1 -> the submits in which they did.
        self._marks: dict[int, set[int]] = {}
        self._marked_copies: dict[tuple[int, int], _Copied] = {}
        self._serial = 0
        self._is_full = False
        #: What CP_SET_CONSTANT has made of the register that says where samples are counted to.
        self._sum: tuple[int, int] | None = None
        self._counters: dict[
            tuple[int, int, int], tuple[QueryKind, tuple[_Counter, ...]] | None
        ] = {}
        #: Block and number of a counter -> the register that selects what it counts; how many
        #: registers were searched for these.
        self._selects: dict[tuple[str, str], int] = {}
        self._searched = 0
        #: Events by number.
        self._occlusion = self._primitives = -1

    # -- events ---------------------------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        value = self._walk.machine.names.enum_value
        occlusion = value("vgt_event_type", "ZPASS_DONE")
        primitives = value("vgt_event_type", "WRITE_PRIMITIVE_COUNTS")
        self._occlusion = -1 if occlusion is None else occlusion
        self._primitives = -1 if primitives is None else primitives
        self._counters.clear()
        self._selects.clear()
        self._searched, self._sum = 0, None

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that store counters, and that move or read results."""
        handlers: dict[str, Callable[[Payload], None]] = {
            "CP_EVENT_WRITE": self._event,
            "CP_EVENT_WRITE7": self._event7,
            "CP_REG_TO_MEM": self._registers_to_memory,
            "CP_MEM_TO_MEM": self._memory_to_memory,
            "CP_DRAW_PRED_SET": self._predicate,
            "CP_COND_EXEC": self._condition,
        }
        if self._walk.machine.is_64bit:
            handlers["CP_MEM_WRITE"] = self._memory_write
        else:
            handlers[_ADD_TO_REGISTER] = self._add_to_register
        return handlers

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Samples belong to submits."""
        self._submit = stream.submit

    # -- samples --------------------------------------------------------------------------------

    def _sample(
        self, kind: QueryKind, counters: tuple[_Counter, ...], address: int, size: int = 8
    ) -> _Sample | None:
        """Note that the packet stores counters from an address on."""
        self._collecting = None
        place = self._walk.packet_location
        key = self._submit, place.gpuaddr
        packet = self._packets.get(key)
        if packet is None or packet.kind != kind:
            if len(self._packets) >= _MAX_KEPT:
                self._note_full("packets that store counters")
                return None
            packet = self._packets[key] = _Packet(kind, counters, size, place, self._submit)
        run = self._passes.run
        sample = _Sample(packet, address, len(self._passes.actions), run, self._serial)
        self._serial += 1
        if self._serial <= _MAX_SAMPLES:
            packet.samples.append(sample)
        else:
            self._note_full("samples")
        if address in self._stored or len(self._stored) < _MAX_KEPT:
            self._stored[address] = sample
            for at in range(0, size * len(counters), size):
                self._first[address + at] = address
                self._results.pop(address + at, None)
        return sample

    def _note_full(self, what: str) -> None:
        if not self._is_full:
            self._is_full = True
            text = f"queries: too many {what}: the others are left out"
            self._walk.machine.problems.truncate("", text)

    def _sample_at(self, address: int) -> tuple[_Sample, int] | None:
        """The sample that an address has, and the distance to its first counter."""
        first = self._first.get(address)
        sample = None if first is None else self._stored.get(first)
        if sample is None or first is None:
            return None
        at = address - first
        packet = sample.packet
        return (sample, at) if at < packet.size * len(packet.counters) else None

    def _event(self, payload: Payload) -> None:
        event, is_timestamp, address = payload.read(self._walk.machine.packets[_EVENT])
        if is_timestamp and payload.count > 1:
            self._sample("timestamp", (_Counter("time stamp"),), address)
        elif event == self._occlusion:
            self._samples_passed()
        elif event == self._primitives:
            self._primitive_counts()

    def _event7(self, payload: Payload) -> None:
        values = payload.read(self._walk.machine.packets[_EVENT7])
        event, counts, is_end, adds, source, address = values
        has_address = payload.count > 1
        if event == self._occlusion and counts and has_address:
            passed = (_Counter("samples passed"),)
            begin = self._stored.get(address)
            end = self._sample("occlusion", passed, address + _END_OFFSET if is_end else address)
            if adds and begin is not None and end is not None:
                _drop_empty(begin.packet.closed)
                result = address + _RESULT_OFFSET
                begin.packet.closed = self._difference((begin, 0), (end, 0), result, "event")
        elif event == self._occlusion:
            self._samples_passed()
        elif event == self._primitives:
            self._primitive_counts()
        elif source == _ALWAYS_ON and has_address:
            self._sample("timestamp", (_Counter("time stamp"),), address)

    def _samples_passed(self) -> None:
        registers = self._walk.registers
        control = registers.first(*_SAMPLE_CONTROL) or ""
        if not registers.flag(control, "COPY") and self._sum is None:
            return
        address = registers.address(registers.first(*_SAMPLE_ADDRESS) or "")
        if address is None:  # of a4xx
            address = registers.field(control, "ADDR")
        if self._sum is not None:
            address = self._sum[1] & ~3
        if address:
            self._sample("occlusion", (_Counter("samples passed"),), address)

    def _primitive_counts(self) -> None:
        registers = self._walk.registers
        address = registers.address(registers.first(*_STREAM_COUNTS) or "")
        if address:
            self._sample("stream-out", tuple(map(_Counter, _PRIMITIVE_COUNTERS)), address)

    def _registers_to_memory(self, payload: Payload) -> None:
        values = payload.read(self._walk.machine.packets[_REG_TO_MEM])
        register, count, is_wide, accumulates, address = values
        if accumulates:
            return
        counted = self._counted(register, count, is_wide)
        if counted is None:
            return
        kind, counters = counted
        if kind == "performance counters":
            counters = tuple(self._with_countable(one) for one in counters)
        self._sample(kind, counters, address, 8 if is_wide else 4)

    def _counted(
        self, register: int, count: int, is_wide: int
    ) -> tuple[QueryKind, tuple[_Counter, ...]] | None:
        """The counters that these registers are; None where one is none."""
        key = register, count, is_wide
        if key not in self._counters:
            self._counters[key] = self._find_counters(*key)
        return self._counters[key]

    def _find_counters(
        self, register: int, count: int, is_wide: int
    ) -> tuple[QueryKind, tuple[_Counter, ...]] | None:
        step = 2 if is_wide else 1
        number = max(1, (count + step - 1) // step)
        first = self._name(register)
        kind = _kind_of(first)
        if kind is None or number > _MAX_COUNTERS:
            return None
        names = [self._name(register + step * index) for index in range(number)]
        return kind, tuple(_Counter(name, _statistic(name)) for name in names)

    def _name(self, register: int) -> str:
        declared = self._walk.machine.names.register(register, self._walk.machine.variants)
        name = f"{register:#x}" if declared is None else declared.name
        return name.partition("+")[0].removesuffix("_LO").removesuffix(".REG")

    def _with_countable(self, counter: _Counter) -> _Counter:
        """With what the counter's register for that selects."""
        wanted = _PERFORMANCE_OF.match(counter.name)
        if wanted is None:
            return counter
        machine = self._walk.machine
        offset = self._select_register(wanted[1], wanted[2] or wanted[3])
        selected = None if offset is None else machine.state.registers.get(offset)
        if selected is None:
            return counter
        enum = f"a{self._walk.generation}xx_{wanted[1].lower()}_perfcounter_select"
        named = machine.names.enum_name(enum, selected, machine.variants)
        return counter._replace(countable=named or f"{selected:#x}")

    def _select_register(self, block: str, number: str) -> int | None:
        """The register that selects what a counter of a block counts, if it was written.

        It is searched among all that were written, where there are more than at the last search.
        """
        registers = self._walk.machine.state.registers
        if len(registers) > self._searched:
            self._searched = len(registers)
            for offset in [*registers]:
                chosen = _SELECT.match(self._name(offset))
                if chosen is not None:
                    self._selects[chosen[1], chosen[2] or chosen[3]] = offset
        return self._selects.get((block, number))

    def _add_to_register(self, payload: Payload) -> None:
        """CP_SET_CONSTANT: where samples are counted to, from the base of the tile on."""
        if payload.captured < 3:
            return
        target, source, addend = payload.dwords()[:3]
        if target & 0xFFFF0000 != _ADDED_REGISTER:
            return
        register = _CONTEXT_REGISTERS + (target & 0xFFFF)
        offset = self._walk.registers.offset
        wanted = {offset("RB_SAMPLE_COUNT_ADDR"), offset("RB_SAMPLE_COUNT_CONTROL")} - {0}
        base = self._walk.registers.dword(source)
        if register in wanted:
            self._sum = None if base is None else (register, base + addend & 0xFFFFFFFF)

    # -- differences ----------------------------------------------------------------------------

    def _memory_to_memory(self, payload: Payload) -> None:
        count = (payload.captured - 1) // 2
        if count < 2:
            return
        packets = self._walk.machine.packets
        *signs, is_wide = payload.read(packets[_SUM])
        target, *sources = payload.read(packets[_SUM_ADDRESSES], 1)
        sources = sources[: count - 1]
        size = 8 if is_wide else 4
        if len(sources) == 3 and tuple(signs) == _DIFFERENCE and sources[0] == target:
            begin, end = self._sample_at(sources[2]), self._sample_at(sources[1])
            if begin is not None and end is not None:
                self._difference(begin, end, target, "sum")
                return
        for source in sources:
            self._copy(source, target, size)

    def _difference(
        self, begin: tuple[_Sample, int], end: tuple[_Sample, int], result: int, pairing: Pairing
    ) -> _Found | None:
        """A query's result is the difference of two counters, each so far behind its first one."""
        (first, at), (last, at_end) = begin, end
        if first.packet.kind != last.packet.kind or at != at_end:
            return None
        kind = first.packet.kind
        key = self._submit, first.packet.place.gpuaddr, last.packet.place.gpuaddr, kind
        found = self._found.get(key)
        if found is None and kind == "performance counters":
            found = self._collecting
        if found is None:
            if len(self._found) >= _MAX_KEPT:
                self._note_full("queries")
                return None
            found = _Found(first.packet, last.packet, pairing)
        self._found[key] = found
        if kind == "performance counters":
            if self._collecting is found:
                found.last = last.serial  # one execution stores all of them
            self._collecting = found
        found.add(first, last, at, result)
        if result in self._results or len(self._results) < _MAX_KEPT:
            self._results[result] = found
        return found

    # -- what becomes of results ----------------------------------------------------------------

    def _copy(self, source: int, target: int, size: int) -> None:
        """A packet copies memory: of a result, of a timestamp, or of a mark."""
        walk = self._walk
        copy = QueryCopy(walk.packet_location, source, target, size, condition=walk.condition)
        found = self._results.get(source)
        if found is not None:
            if target in self._results or len(self._results) < _MAX_KEPT:
                self._results[target] = found
            if len(found.copies) < _MAX_KEPT:
                found.copies.setdefault((self._submit, copy.place.gpuaddr), copy)
            return
        self._results.pop(target, None)
        is_known = source in self._marks or source in self._stored
        if is_known and len(self._marked_copies) < _MAX_KEPT:
            key = self._submit, copy.place.gpuaddr
            self._marked_copies.setdefault(key, _Copied(copy, self._serial))

    def _memory_write(self, payload: Payload) -> None:
        """What is written is a result no longer; a 1 may be the mark of a query."""
        if not 3 <= payload.captured <= 4:
            return
        (address,) = payload.read(self._walk.machine.packets[_MEM_WRITE])
        self._results.pop(address, None)
        if payload.dwords()[2:] not in ([1], [1, 0]):
            return
        if address in self._marks or len(self._marks) < _MAX_KEPT:
            self._marks.setdefault(address, set()).add(self._submit)

    def _predicate(self, payload: Payload) -> None:
        source, address = payload.read(self._walk.machine.packets[_PREDICATE])
        if source == _PREDICATE_IN_MEMORY:
            self._decides("CP_DRAW_PRED_SET", address)

    def _condition(self, payload: Payload) -> None:
        (address,) = payload.read(self._walk.machine.packets[_COND_EXEC])
        self._decides("CP_COND_EXEC", address)

    def _decides(self, packet: str, address: int) -> None:
        found = self._results.get(address)
        if found is not None and len(found.predicates) < _MAX_KEPT:
            place = self._walk.packet_location
            predicate = QueryPredicate(place, packet, address)
            found.predicates.setdefault((self._submit, place.gpuaddr), predicate)

    # -- the end --------------------------------------------------------------------------------

    def queries(self, memories: Callable[[], list[Memory]], has_run: bool) -> list[GpuQuery]:
        """The queries in the order of their begin. After the walk.

        ``memories``: of each submit; called only if there are queries. ``has_run``: they are from
        after the commands ran.
        """
        found = [one for one in dict.fromkeys(self._found.values()) if one.spans]
        found += _by_address(self._unused("occlusion"))
        found += self._by_order()
        stamps = self._unused("timestamp")
        found += [_stamp(packet) for packet in stamps]
        marks = sorted(self._marks)
        budget = _Budget(self._passes, _MAX_ACTIONS)
        queries: list[tuple[_Found, GpuQuery]] = []
        for one in sorted(found, key=lambda one: one.first):
            query = _query(one, _mark(one, marks, self._marks))
            if query.kind == "timestamp" and query.available is None:
                continue
            budget.count(one, query)
            if query.pairing == "order" and query.kind == "occlusion" and not query.counted:
                continue
            query.number = len(queries)
            _read(query, memories(), has_run)
            queries.append((one, query))
        self._assign_copies(queries)
        if budget.is_spent:
            self._walk.machine.problems.truncate("", "queries: the draws of some are not counted")
        return [query for _, query in queries]

    def _unused(self, kind: QueryKind) -> list[_Packet]:
        """Packets of a kind that no query has, in the order of their first execution."""
        packets = self._packets.values()
        return [one for one in packets if one.kind == kind and not one.is_used and one.samples]

    def _by_order(self) -> list[_Found]:
        """Samples of the same counter that follow each other, in one run of a pass.

        An occlusion sample may end a query and begin the next; other counters are read twice for
        each query.
        """
        series: dict[tuple[QueryKind, str, int], list[_Sample]] = {}
        for packet in self._packets.values():
            if packet.is_used or packet.kind == "timestamp":
                continue
            key = packet.kind, packet.counters[0].name, packet.submit
            series.setdefault(key, []).extend(packet.samples)
        found: dict[tuple[_Packet, _Packet], _Found] = {}
        for (kind, _, _), samples in series.items():
            samples.sort(key=lambda sample: sample.serial)
            step = 1 if kind == "occlusion" else 2
            for first, last in zip(samples[::step], samples[1::step], strict=False):
                if first.packet is last.packet or first.run not in (None, last.run):
                    continue
                key_of_pair = first.packet, last.packet
                pair = found.get(key_of_pair)
                if pair is None:
                    pair = found[key_of_pair] = _Found(*key_of_pair, "order")
                for at in range(
                    0, first.packet.size * len(first.packet.counters), first.packet.size
                ):
                    pair.add(first, last, at, None)
        return list(found.values())

    def _assign_copies(self, queries: list[tuple[_Found, GpuQuery]]) -> None:
        """Copies of marks and of timestamps belong to the last query before them."""
        places: dict[int, list[tuple[_Found, GpuQuery]]] = {}
        for found, query in queries:
            stamps = [one.result_address for one in query.counters if query.kind == "timestamp"]
            for address in (query.available, *stamps):
                if address is not None:
                    places.setdefault(address, []).append((found, query))
        for copied in self._marked_copies.values():
            before = [
                one for one in places.get(copied.copy.source, ()) if one[0].last < copied.serial
            ]
            if before:
                _, query = max(before, key=lambda one: one[0].last)
                copied.copy.is_availability = copied.copy.source == query.available
                query.copies.append(copied.copy)


class _Budget:
    """Finds the draws between begin and end, among so many actions in all."""

    def __init__(self, passes: PassFinder, actions: int) -> None:
        self._actions = passes.actions
        self._passes = passes.found.passes
        self._left = actions
        self.is_spent = False

    def count(self, found: _Found, query: GpuQuery) -> None:
        """Fill ``counted`` of a query."""
        numbers: dict[int, set[int]] = {}
        for begin, end, _ in found.spans:
            self._left -= end - begin
            if self._left < 0:
                self.is_spent, query.draws_known = True, False
                break
            for action in self._actions[begin:end]:
                if action.pass_index is not None and _counts(action):
                    numbers.setdefault(action.pass_index, set()).add(action.number or 0)
        query.counted = {index: sorted(those) for index, those in numbers.items()}
        if len(query.counted) == 1:
            ((index, those),) = query.counted.items()
            pass_ = self._passes[index]
            query.counts_whole_pass = pass_.kind == "render" and len(pass_.draws) == len(those)
        query.counts_whole_pass = query.counts_whole_pass or not query.counted
        self._find_runs(found, query)

    def _find_runs(self, found: _Found, query: GpuQuery) -> None:
        """In which runs of passes the end is executed.

        The last run of a pass stays open behind its end: what is executed there is in the run if it
        is nested deeper than the packet that begins the run, as the commands of draws are.
        """
        inside: set[int] = set()
        nesting = _nesting(found.end.place)
        for run in {id(run): run for _, _, run in found.spans if run is not None}.values():
            pass_ = self._passes[run.pass_index]
            tile = pass_.tiles[-1] if pass_.tiles else pass_.binning
            if run is (pass_.direct or tile) and nesting <= _nesting(run.place):
                continue
            if isinstance(run, Tile):
                inside.add(run.number)
            query.binning = query.binning or run is pass_.binning
        query.tiles = len(inside)


def _nesting(place: PacketLocation) -> int:
    """How many IBs and groups are called one within another around a packet."""
    depth, caller = 0, place.stream.caller
    while caller is not None:
        depth += caller.stream.kind != "block"
        caller = caller.stream.caller
    return depth


def _counts(action: Action) -> bool:
    """Whether it is a draw or dispatch of the program that may be executed."""
    is_of_program = action.number is not None and action.kind in ("draw", "dispatch")
    return is_of_program and action.execution.is_possible and action.vertices != 0


def _kind_of(name: str) -> QueryKind | None:
    """What a register that is stored counts; None where it is no counter."""
    if _TIME.search(name):
        return "timestamp"
    if _STATISTICS.match(name):
        return "pipeline statistics"
    return "performance counters" if _PERFORMANCE.match(name) else None


def _statistic(name: str) -> str | None:
    match = _STATISTICS.match(name)
    if match is None:
        return None
    if match[1] is not None:
        number = int(match[1])
        return _STATISTIC_NAMES[number] if number < len(_STATISTIC_NAMES) else None
    known = dict(zip(_PIPESTAT_NAMES, _STATISTIC_NAMES, strict=True))
    return known.get(match[2])


def _drop_empty(found: _Found | None) -> None:
    """Forget an end with nothing between it and the begin, which another end follows: drivers close
    pairs of events by it.
    """
    if found is not None and found.spans and found.spans[-1][0] == found.spans[-1][1]:
        found.spans.pop()
        found.last = -1


def _by_address(packets: list[_Packet]) -> Iterator[_Found]:
    """Begins with the next packet of their submit that stores 16 bytes behind them."""
    begins: dict[tuple[int, int], _Packet] = {}
    for packet in packets:
        address = packet.samples[0].address
        begin = begins.pop((packet.submit, address - _END_OFFSET), None)
        if begin is None:
            begins[packet.submit, address] = packet
            continue
        found = _Found(begin, packet, "address")
        for first, last in zip(begin.samples, packet.samples, strict=False):
            found.add(first, last, 0, None)
        yield found


def _stamp(packet: _Packet) -> _Found:
    """A timestamp: one packet, whose result is what it stores."""
    found = _Found(packet, packet, "packet")
    for sample in packet.samples:
        found.spans.append((sample.order, sample.order, sample.run))
        found.last = sample.serial
    found.first = packet.samples[0].serial
    last = packet.samples[-1].address
    found.counters[last] = QueryCounter(packet.counters[0].name, result_address=last)
    packet.is_used = True
    return found


def _mark(found: _Found, marks: list[int], submits: Mapping[int, set[int]]) -> int | None:
    """The address of the mark of a query: the next one below its counters that is set."""
    lowest = min(found.addresses, default=0)
    is_performance = found.begin.kind == "performance counters"
    distance = _MARK_DISTANCE_PERFORMANCE if is_performance else _MARK_DISTANCE
    place = bisect_left(marks, lowest) - 1
    while place >= 0 and marks[place] >= lowest - distance:
        if found.end.submit in submits[marks[place]]:
            return marks[place]
        place -= 1
    return None


def _query(found: _Found, available: int | None) -> GpuQuery:
    kind = found.begin.kind
    counters = list(found.counters.values())
    if kind == "timestamp" and found.pairing != "packet":
        kind = "time elapsed"
    elif kind == "pipeline statistics" and [one.statistic for one in counters] == [_GENERATED]:
        kind = "primitives generated"
    return GpuQuery(
        number=0,
        kind=kind,
        submit=found.end.submit,
        pairing=found.pairing,
        begin=found.begin.place,
        end=found.end.place,
        counters=counters,
        available=available,
        times=len(found.spans),
        copies=list(found.copies.values()),
        predicates=list(found.predicates.values()),
    )


def _read(query: GpuQuery, memories: list[Memory], has_run: bool) -> None:
    """Take the results from the first memory that has them, of those after the query ran."""
    first = query.submit if has_run else query.submit + 1
    for submit in range(first, len(memories)):
        memory = memories[submit]
        for counter in query.counters:
            counter.value = _value(counter, memory, query)
        if any(counter.value is not None for counter in query.counters):
            query.captured_with = submit
            return


def _value(counter: QueryCounter, memory: Memory, query: GpuQuery) -> int | None:
    if counter.result_address is not None:
        return memory.u64(counter.result_address)
    if query.pairing != "address" or counter.begin_address is None or counter.end_address is None:
        return None
    begin, end = memory.u64(counter.begin_address), memory.u64(counter.end_address)
    return None if begin is None or end is None else (end - begin) % (1 << 64)
