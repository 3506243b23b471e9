# SPDX-License-Identifier: MIT
"""Packets between draws: which are compared, and which of their fields.

Waits and cache events order what the GPU does. The other commands decide what is executed, as
predicates do, or move data between memory and registers. Addresses, timestamps and data are not
compared: they differ from one run of a program to the next. Which pipe executes what (a7xx) is
compared as that, not as the packets that switch pipes.

``CommandRecorder`` keeps their texts, and after which action each is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from cffpy.analysis.inputs.recorder import is_taken, may_hold_draws
from cffpy.analysis.observer import Observer
from cffpy.cp.packets.mode import marker_mode
from cffpy.frame.passes import Tile
from cffpy.pm4.reader import Fields
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence, Set

    from cffpy.analysis.diff.rules import RuleName
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import Pipe
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue
    from cffpy.frame.passes import PassRun
    from cffpy.pm4.reader import Packets, Payload
    from cffpy.regdb.database import Database


@dataclass(frozen=True, slots=True)
class Compared:
    """The dwords after the header that are compared.

    ``also``: those that are compared, too, if the packet's field ``where`` is not ``memory``: a
    register or a place on the chip, where other forms of the packet have an address.
    """

    dwords: tuple[int, ...] = ()
    also: tuple[int, ...] = ()
    where: Fields | None = None
    memory: int = 0
    #: Bits of the first dword that are not compared where they are one of these values. A packet
    #: without others is not compared at all then.
    ignored: tuple[int, frozenset[int]] = (0, frozenset())
    #: The rule by which the other dwords are of no effect, and that of some of them.
    rest: RuleName = "addresses"
    rules: Mapping[int, RuleName] = field(default_factory=dict)

    def rule(self, dword: int) -> RuleName:
        """The rule by which a dword that is not compared is of no effect."""
        return self.rules.get(dword, self.rest)


_NAME_ONLY = Compared()
_TIMESTAMP = Compared(rest="timestamps")
_FIRST = Compared((0,))
#: An event, then an address of one or two dwords (see ``uncompared``), then a timestamp.
_EVENT = Compared((0,), rest="timestamps")
_ALL = Compared(tuple(range(8)))
#: Values of POLL and POLL_MEMORY, of WAIT_DST and of WRITE_DST: an address in memory.
_POLL_MEMORY, _TO_RAM = 1, 0

#: Packets that order or synchronise; compared as a sequence between draws.
BARRIERS: dict[str, Compared] = {
    "CP_GLOBAL_TIMESTAMP": _TIMESTAMP,
    "CP_LOCAL_TIMESTAMP": _TIMESTAMP,
    "CP_MODIFY_TIMESTAMP": _EVENT,
    "CP_WAIT_FOR_IDLE": _NAME_ONLY,
    "CP_WAIT_FOR_ME": _NAME_ONLY,
    "CP_WAIT_MEM_GTE": Compared((0,), rules={3: "timestamps"}),
    "CP_WAIT_MEM_WRITES": _NAME_ONLY,
    "CP_WAIT_REG_EQ": _ALL,
    "CP_WAIT_REG_GTE": _ALL,
    # FUNCTION and POLL, REF, MASK, DELAY_LOOP_CYCLES; the address where it polls a register
    "CP_WAIT_REG_MEM": Compared(
        (0, 3, 4, 5), (1,), Fields("CP_WAIT_REG_MEM", "POLL"), _POLL_MEMORY
    ),
    "CP_WAIT_TIMESTAMP": Compared(
        (0,),
        (1,),
        Fields("CP_WAIT_TIMESTAMP", "WAIT_DST"),
        _TO_RAM,
        rules={3: "timestamps", 4: "timestamps"},
    ),
    "CP_WAIT_TWO_REGS": _ALL,
    "CP_WAIT_UNTIL_READ": _NAME_ONLY,
}

#: Packets with an event, which is compared as a barrier.
EVENTS: dict[str, Compared] = {
    "CP_EVENT_WRITE": _EVENT,
    "CP_EVENT_WRITE7": Compared(
        (0,), (1,), Fields("CP_EVENT_WRITE7", "WRITE_DST"), _TO_RAM, rest="timestamps"
    ),
    "CP_EVENT_WRITE_CFL": _EVENT,
    "CP_EVENT_WRITE_SHD": _EVENT,
    "CP_EVENT_WRITE_ZPD": _EVENT,
}

#: Events that are not compared as such: what is an operation, and marks.
_OTHER_EVENTS = frozenset(("BLIT", "LRZ_CLEAR", "LABEL"))

#: A packet with several registers, each with an address: the numbers of the registers.
_EVERY_THIRD = Compared(tuple(range(0, 24, 3)))

#: THREAD, and its values that name BR, BV, both.
_THREAD, _THREADS = 0x3, frozenset((1, 2, 3))

#: Modes of markers with which a run may begin: RM6_DIRECT_RENDER, RM6_BIN_VISIBILITY,
#: RM6_BIN_RENDER_START.
_BEGIN_RUNS = frozenset((1, 2, 4))

#: The other commands.
COMMANDS: dict[str, Compared] = {
    "CP_BV_BR_COUNT_OPS": Compared((0, 1)),
    "CP_CCHE_INVALIDATE": _NAME_ONLY,
    "CP_COND_EXEC": Compared((4,), rules={5: "blocks"}),
    "CP_COND_REG_EXEC": Compared((0,), rest="blocks"),
    "CP_COND_WRITE": Compared(
        (0, 2, 3),
        (1,),
        Fields("CP_COND_WRITE", "POLL_MEMORY"),
        _POLL_MEMORY,
        rules={5: "written"},
    ),
    "CP_COND_WRITE5": Compared(
        (0, 3, 4),
        (1,),
        Fields("CP_COND_WRITE5", "POLL"),
        _POLL_MEMORY,
        rules={7: "written"},
    ),
    "CP_DRAW_PRED_ENABLE_GLOBAL": _FIRST,
    "CP_DRAW_PRED_ENABLE_LOCAL": _FIRST,
    "CP_DRAW_PRED_SET": _FIRST,
    # where the program goes in the memory for instructions (a2xx), and its size
    "CP_IM_LOAD_IMMEDIATE": Compared((0, 1)),
    "CP_INVALIDATE_STATE": _FIRST,
    "CP_LOAD_CONSTANT_CONTEXT": Compared((1, 2)),
    "CP_MEMCPY": _FIRST,
    "CP_MEM_TO_MEM": _FIRST,
    "CP_MEM_TO_REG": _FIRST,
    "CP_MEM_TO_SCRATCH_MEM": Compared((0, 1)),
    "CP_MEM_WRITE": Compared(rest="written"),
    "CP_REG_RMW": _ALL,
    "CP_REG_TEST": Compared((0, 1, 2)),
    "CP_REG_TO_MEM": _FIRST,
    "CP_REG_TO_MEM_OFFSET_MEM": _FIRST,
    "CP_REG_TO_MEM_OFFSET_REG": Compared((0, 3)),
    "CP_REG_TO_SCRATCH": _FIRST,
    "CP_REG_WR_NO_CTXT": _FIRST,
    "CP_SCRATCH_TO_REG": _FIRST,
    "CP_SCRATCH_WRITE": _FIRST,
    "CP_SET_AMBLE": Compared((2,)),
    "CP_SET_BIN_DATA": _NAME_ONLY,
    "CP_SET_BIN_DATA5": _FIRST,
    "CP_SET_BIN_DATA5_OFFSET": Compared((0, 1, 2, 3)),
    "CP_SET_DRAW_INIT_FLAGS": _FIRST,
    "CP_SET_MARKER": _FIRST,
    "CP_SET_MODE": _FIRST,
    "CP_SET_PSEUDO_REG": _EVERY_THIRD,
    # MODE, GMEM_ENABLE and VSC_ENABLE, the lengths of what is saved
    "CP_SET_RENDER_MODE": Compared((0, 3, 4, 5)),
    "CP_SET_SHADER_BASES": _FIRST,
    "CP_SET_SUBDRAW_SIZE": _FIRST,
    "CP_SET_VISIBILITY_OVERRIDE": _FIRST,
    "CP_SKIP_IB2_ENABLE_GLOBAL": _FIRST,
    "CP_SKIP_IB2_ENABLE_LOCAL": _FIRST,
    # which pipe executes what follows is compared as that
    "CP_THREAD_CONTROL": Compared((0,), ignored=(_THREAD, _THREADS)),
}

#: What the texts of damaged commands begin with.
DAMAGE = "damage:"

#: Fields with the offset of a register.
_REGISTERS = frozenset(("REG", "REG0", "REG1", "DST_REG", "POLL_ADDR", "POLL_ADDR_LO"))

#: All of these packets.
COMPARED_PACKETS = {**BARRIERS, **EVENTS, **COMMANDS}

#: Texts that are kept.
_MAX_KNOWN = 1 << 14


class UncomparedValue(NamedTuple):
    """A dword, or an address, of two packets that differs; None: a packet ends before it.

    ``rule``: by which it has no effect; None: by none. ``text``: that of the packets.
    """

    rule: RuleName | None
    text: str
    good: int | None
    bad: int | None


class WrittenValues:
    """Values that packets write to memory, by their addresses: which of these are fences.

    The values of a fence increase, and never fall. An event of a program is set and reset: it is 0
    or 1. A value that is written once, whatever it is, does not show that it is a timestamp.
    """

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._rising: set[int] = set()
        self._falling: set[int] = set()

    def note(self, address: int, value: int) -> None:
        """A packet writes a value."""
        before = self._last.get(address)
        if before is not None and value != before:
            (self._falling if value < before else self._rising).add(address)
        if before is not None or len(self._last) < _MAX_KNOWN:
            self._last[address] = value

    def is_fence(self, address: int | None) -> bool:
        """Whether values tell how far the GPU is."""
        return address in self._rising and address not in self._falling


def _is_event(name: str) -> bool:
    """Whether a packet, by its name or by that of its event, is one with an event."""
    return name in EVENTS or name not in COMPARED_PACKETS


def _written_at(name: str, is_64bit: bool) -> tuple[int, int]:
    """Where the address of an event or of CP_MEM_WRITE begins, and the value after it."""
    first = 1 if _is_event(name) else 0
    return first, first + (2 if is_64bit else 1)


def _written(name: str, dwords: bytes, is_64bit: bool) -> tuple[int | None, int]:
    """The address and the value that an event or CP_MEM_WRITE writes; None: not one dword."""
    words = memoryview(dwords[: len(dwords) // 4 * 4]).cast("I")
    at, value_at = _written_at(name, is_64bit)
    if len(words) <= value_at or (name == "CP_MEM_WRITE" and len(words) > value_at + 1):
        return None, 0
    address = words[at] | words[at + 1] << 32 if is_64bit else words[at] & ~3
    return address, words[value_at]


def uncompared(
    good: Sequence[PipeCommand],
    bad: Sequence[PipeCommand],
    is_64bit: bool,
    values: tuple[WrittenValues, WrittenValues],
) -> Iterator[UncomparedValue]:
    """The dwords and addresses that are not compared and differ, of packets that are equal
    otherwise.

    ``values``: that packets of each capture write.
    """
    sides: tuple[dict[tuple[Pipe | None, str], list[bytes]], ...] = (
        defaultdict(list),
        defaultdict(list),
    )
    for of_text, commands in zip(sides, (good, bad), strict=True):
        for one in commands:
            if one.dwords:
                of_text[one.pipe, one.text].append(one.dwords)
    for key, packets in sides[0].items():
        for mine, theirs in zip(packets, sides[1].get(key, ()), strict=False):
            if mine != theirs:
                yield from _differing_values(key[1], mine, theirs, is_64bit, values)


class _Left(NamedTuple):
    """What is not compared of a packet: a dword, or an address of two. ``rule``: by which."""

    rule: RuleName
    begin: int
    end: int


def _left_out(text: str, count: int, is_64bit: bool) -> Iterator[_Left]:
    """What is not compared of a packet of ``count`` dwords, which has this text."""
    name = text.partition(" ")[0]
    compared = COMPARED_PACKETS.get(name, _EVENT)
    first, end = _written_at(name, is_64bit)
    has_address = compared.rest in ("timestamps", "written")
    rules = [
        None
        if at in compared.dwords
        else "addresses"
        if has_address and first <= at < end
        else compared.rule(at)
        for at in range(count)
    ]
    at = 0
    while at < count:
        begin, rule = at, rules[at]
        at += 1
        if is_64bit and rule == "addresses" and rules[at : at + 1] == [rule]:
            at += 1
        if rule is not None:
            yield _Left(rule, begin, at)


def addresses_of(command: PipeCommand, is_64bit: bool) -> Iterator[int]:
    """The addresses of a packet that are not compared as such."""
    data = command.dwords
    for part in _left_out(command.text, len(data) // 4, is_64bit) if data else ():
        if part.rule == "addresses":
            yield int.from_bytes(data[4 * part.begin : 4 * part.end], "little")


def _differing_values(
    text: str,
    good: bytes,
    bad: bytes,
    is_64bit: bool,
    values: tuple[WrittenValues, WrittenValues],
) -> Iterator[UncomparedValue]:
    name = text.partition(" ")[0]
    is_program = _is_of_program(name, good, bad, is_64bit, values)
    _, value_at = _written_at(name, is_64bit)
    for part in _left_out(text, max(len(good), len(bad)) // 4, is_64bit):
        one, other = (_number(of[4 * part.begin : 4 * part.end]) for of in (good, bad))
        if one != other:
            rule = None if is_program and part.begin == value_at else part.rule
            yield UncomparedValue(rule, text, one, other)


def _number(data: bytes) -> int | None:
    return int.from_bytes(data, "little") if data else None


def _is_of_program(
    name: str,
    good: bytes,
    bad: bytes,
    is_64bit: bool,
    values: tuple[WrittenValues, WrittenValues],
) -> bool:
    """Whether the value that a packet writes is no timestamp in either capture."""
    if not _is_event(name) and name != "CP_MEM_WRITE":
        return False
    return not any(
        of.is_fence(_written(name, dwords, is_64bit)[0])
        for of, dwords in zip(values, (good, bad), strict=True)
    )


class PacketTexts:
    """What is compared of packets, as text: ``CP_WAIT_REG_MEM (FUNCTION=WRITE_EQ MASK=0x1)``.

    Of an event, its name and the other fields that are not 0: ``CACHE_FLUSH_TS (TIMESTAMP)``.
    """

    def __init__(self, text: RegisterText, packets: Packets) -> None:
        self._text = text
        self._packets = packets
        self._known: dict[tuple[str, tuple[int, ...]], str | None] = {}

    def of(self, name: str, payload: Payload) -> str | None:
        """The text of a packet of ``COMPARED_PACKETS``; None where it is not compared."""
        compared = COMPARED_PACKETS[name]
        wanted = compared.dwords
        if not wanted:
            return name
        data, index, captured = payload.words.data, payload.index, payload.captured
        if compared.where is not None:
            (where,) = payload.read(self._packets[compared.where])
            if where != compared.memory:
                wanted = (*wanted, *compared.also)
        end = min(max(wanted) + 1, captured)
        dwords = tuple([data[index + at] if at in wanted else 0 for at in range(end)])
        bits, values = compared.ignored
        if dwords and dwords[0] & bits in values:
            dwords = (dwords[0] & ~bits, *dwords[1:])
            if not dwords[0]:
                return None
        key = name, dwords
        if key not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._describe(name, dwords, wanted)
        return self._known[key]

    @staticmethod
    def rest(name: str, payload: Payload) -> bytes:
        """The dwords of a packet of which some are not compared; empty: all are."""
        compared, captured = COMPARED_PACKETS[name].dwords, payload.captured
        if len(compared) >= captured and all(at in compared for at in range(captured)):
            return b""
        return payload.words.bytes(payload.index, captured)

    def _describe(self, name: str, dwords: tuple[int, ...], wanted: Sequence[int]) -> str | None:
        fields = self._text.structure_fields(name, dwords)
        fields = [one for one in fields if one.low // 32 in wanted]
        if not fields:
            return " ".join((name, *map(hex, dwords)))
        if name not in EVENTS:
            shown = self._shown(fields, dwords) or [self._field(one) for one in fields]
            return f"{name} ({' '.join(shown)})"
        event = fields[0]  # the lowest bits
        if event.text in _OTHER_EVENTS:
            return None
        title = f"event {event.text}" if event.text.startswith("0x") else event.text
        fields.remove(event)
        shown = self._shown(fields, (dwords[0] & ~_mask(event, 0), *dwords[1:]))
        return f"{title} ({' '.join(shown)})" if shown else title

    def _shown(self, fields: Sequence[FieldValue], dwords: Sequence[int]) -> list[str]:
        """The fields that are not 0, and bits that the description leaves out."""
        return [
            *(self._field(one) for one in fields if _bits(one, dwords)),
            *_others(fields, dwords),
        ]

    def _field(self, field: FieldValue) -> str:
        """``MASK=0x1``; of a flag that is set, only its name."""
        if field.value is True:
            return field.name
        if field.name in _REGISTERS and isinstance(field.value, int):
            return f"{field.name}={self._text.name(field.value)}"
        return f"{field.name}={field.text}"


def _mask(field: FieldValue, dword: int) -> int:
    """The bits of a field in a dword."""
    low, high = max(field.low - 32 * dword, 0), min(field.high - 32 * dword, 31)
    return (2 << high) - (1 << low) if low <= high else 0


def _bits(field: FieldValue, dwords: Sequence[int]) -> int:
    return sum(value & _mask(field, at) for at, value in enumerate(dwords))


def _others(fields: Sequence[FieldValue], dwords: Sequence[int]) -> Iterator[str]:
    """Bits that the description leaves out."""
    for at, value in enumerate(dwords):
        rest = value & ~sum(_mask(one, at) for one in fields)
        if rest:
            yield f"other bits of dword {at}: {rest:#x}"


#: Packets between two draws that are kept, at most.
MAX_EVENTS = 4096


class PipeCommand(NamedTuple):
    """A packet that is compared.

    ``pipe``: the one that executes it, None where there is one. ``dwords``: those after the header,
    as bytes, where some are not compared; else empty. ``begins_run``: a mode with which a run of a
    pass may begin.
    """

    pipe: Pipe | None
    text: str
    dwords: bytes = b""
    begins_run: bool = False


class _Packet(NamedTuple):
    """What a packet is for a comparison. ``command``: None where it is not compared.

    ``address``, ``value``: that it writes; None where it writes no value.
    """

    command: PipeCommand | None
    address: int | None
    value: int


#: Pass -> the packets of no effect that are executed in it, and how often: what they are, and their
#: dwords. None: outside of passes.
SkippedPackets = Mapping[int | None, Counter[tuple[str, bytes]]]

#: What these are.
CONTENTS_OF_NOP, LOADS_OF_SETS = "contents of CP_NOP", "loads of descriptors of bindless sets"


#: The run that a packet is executed in, and the packet; None: it is in a run without records.
_Event = tuple["PassRun | None", PipeCommand] | None


class TileCommands(NamedTuple):
    """The packets of a tile that are compared.

    ``intervals``: before each action while it was the current run, and after the last one.
    ``first``: ``Action.order`` of the first of these actions, or a larger number.
    """

    tile: Tile
    first: int
    intervals: tuple[tuple[PipeCommand, ...], ...]


class _TileCommands:
    """Keeps the packets of all tiles. Equal ones are one object."""

    def __init__(self) -> None:
        #: By the tile's id.
        self.found: dict[int, TileCommands] = {}
        self._tile: Tile | None = None
        self._first, self._actions = 0, 0
        self._between: list[PipeCommand] = []
        self._intervals: list[tuple[PipeCommand, ...]] = []
        self._known_intervals: dict[tuple[PipeCommand, ...], tuple[PipeCommand, ...]] = {}
        self._known: dict[
            tuple[tuple[PipeCommand, ...], ...], tuple[tuple[PipeCommand, ...], ...]
        ] = {}

    def enter(self, run: PassRun | None) -> None:
        """What follows is of this run."""
        if run is self._tile:
            return
        self.end()
        self._tile, self._first = run if isinstance(run, Tile) else None, self._actions
        if id(run) in self.found:  # it goes on
            _, self._first, (*self._intervals, between) = self.found[id(run)]
            self._between = [*between]

    def note(self, command: PipeCommand) -> None:
        """A packet of the run."""
        if self._tile is not None and len(self._between) < MAX_EVENTS:
            self._between.append(command)

    def action(self) -> None:
        """An action of the run."""
        self._actions += 1
        if self._tile is not None:
            self._end_interval()

    def end(self) -> None:
        """The tile is over, at least for now."""
        tile = self._tile
        if tile is not None:
            self._end_interval()
            commands = tuple(self._intervals)
            commands = self._known.setdefault(commands, commands)
            self.found[id(tile)] = TileCommands(tile, self._first, commands)
        self._intervals.clear()

    def _end_interval(self) -> None:
        commands = tuple(self._between)
        self._intervals.append(self._known_intervals.setdefault(commands, commands))
        self._between.clear()


class CommandRecorder(Observer):
    """Keeps the packets between actions that are compared, and after which action each is.

    ``tiles``: those of all tiles. ``values``: what packets write to memory. ``skipped``: those of
    no effect.
    """

    def __init__(self, walk: Walk, passes: PassFinder, wanted: Set[int] | None = None) -> None:
        """``wanted``: the only actions that have records, as ``InputRecorder`` has it."""
        self._walk = walk
        self._passes = passes
        self._wanted = wanted
        self._texts: PacketTexts
        self.tiles = _TileCommands()
        self.values = WrittenValues()
        self.skipped: dict[int | None, Counter[tuple[str, bytes]]] = defaultdict(Counter)
        self._packets: dict[tuple[str, bytes, Pipe | None], _Packet] = {}
        self._is_64bit = False
        #: In order: ``Action.order`` of the last action that may have a record, and the packet.
        self._events: list[tuple[int, _Event]] = []
        #: That action, its run, and where the packets since then begin.
        self._last, self._begin = -1, 0
        self._last_run: PassRun | None = None
        #: The last tile but the first that had barriers, and those since its last action.
        self._last_tile: Tile | None = None
        self._after_tile: list[PipeCommand] = []
        #: The run of the last packet.
        self._event_run: PassRun | None = None

    def between(
        self, records: Mapping[int, DrawInputs], only_in_runs: bool = False
    ) -> tuple[dict[int, tuple[PipeCommand, ...]], tuple[PipeCommand, ...]]:
        """The packets before each of these actions that has any, and those after the last one.

        ``records``: in their order. ``only_in_runs``: packets outside of runs are left out.
        """
        pending = PendingCommands(only_in_runs)
        found: dict[int, tuple[PipeCommand, ...]] = {}
        events, position = self._events, 0
        for order, record in records.items():
            while position < len(events) and events[position][0] < order:
                pending.note(events[position][1])
                position += 1
            names = pending.take(record.run, record.action.kind != "draw")
            if names:
                found[order] = names
        for _, event in events[position:]:
            pending.note(event)
        return found, pending.take(None)

    # -- while the machine runs -----------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Packets have the fields of this GPU."""
        self._is_64bit = self._walk.machine.is_64bit
        self._texts = PacketTexts(RegisterText(database), self._walk.machine.packets)

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        """Of all packets that are compared, and of those of no effect, which are counted."""
        handlers: dict[str, Callable[[Payload], None]] = {
            name: partial(self._command, name) for name in COMPARED_PACKETS
        }
        handlers["CP_NOP"] = partial(self.skip, CONTENTS_OF_NOP)
        return handlers

    def skip(self, what: str, payload: Payload) -> None:
        """A packet of no effect."""
        run = self._passes.run
        of_pass = self.skipped[None if run is None else run.pass_index]
        if len(of_pass) < MAX_EVENTS:
            of_pass[what, payload.words.bytes(payload.index, payload.captured)] += 1

    def _command(self, name: str, payload: Payload) -> None:
        captured, pipe = payload.captured, self._walk.pipe
        if captured < payload.count or not captured:
            packet = self._packet(name, payload, pipe)
        else:
            key = name, payload.words.bytes(payload.index, captured), pipe
            known = self._packets.get(key, self)
            if known is self:
                if len(self._packets) >= _MAX_KNOWN:
                    self._packets.clear()
                known = self._packets[key] = self._packet(name, payload, pipe)
            packet = cast("_Packet", known)
        if packet.address is not None:
            self.values.note(packet.address, packet.value)
        if packet.command is not None:
            self._note(packet.command)

    def _packet(self, name: str, payload: Payload, pipe: Pipe | None) -> _Packet:
        address, value = None, 0
        if name in EVENTS or name == "CP_MEM_WRITE":
            dwords = payload.words.bytes(payload.index, payload.captured)
            address, value = _written(name, dwords, self._is_64bit)
        text = self._texts.of(name, payload)
        if text is None:
            return _Packet(None, address, value)
        begins_run = name == "CP_SET_MARKER" and self._begins_run(payload)
        # the pipe of a run is compared as such
        of_pipe = None if begins_run else pipe
        command = PipeCommand(of_pipe, text, self._texts.rest(name, payload), begins_run)
        return _Packet(command, address, value)

    def _begins_run(self, payload: Payload) -> bool:
        """Whether a marker sets a mode with which a run may begin."""
        return marker_mode(self._walk.machine, payload) in _BEGIN_RUNS

    def commands_damaged(self, text: str) -> None:
        """What damaged commands do is not known: they differ from whole ones."""
        self._note(PipeCommand(self._walk.pipe, f"{DAMAGE} {text}"))

    def action(self, action: Action) -> None:
        """Packets follow that belong to what comes after it."""
        run = self._passes.run
        self.tiles.enter(run)
        self.tiles.action()
        if self._last_tile is not None:
            self._end_tile(run)
        self._after_tile.clear()
        if is_taken(action, self._passes, self._wanted):
            self._last, self._last_run, self._begin = action.order, run, len(self._events)

    def finished(self) -> None:
        """The last tile may be open."""
        self._end_tile(None)
        self.tiles.end()

    def _note(self, command: PipeCommand) -> None:
        run = self._passes.run
        self.tiles.enter(run)
        self.tiles.note(command)
        if self._last_tile is not None:
            self._end_tile(run)
        if isinstance(run, Tile) and run.number:
            self._last_tile = run
            if len(self._after_tile) < MAX_EVENTS:
                self._after_tile.append(command)
        if self._wanted is None:
            if run is not None and not may_hold_draws(self._passes, run):
                if not self._events or self._events[-1] != (self._last, None):
                    self._events.append((self._last, None))
                return
        elif run is not self._event_run:
            self._forget()
        self._event_run = run
        if len(self._events) - self._begin < MAX_EVENTS:
            self._events.append((self._last, (run, command)))

    def _end_tile(self, run: PassRun | None) -> None:
        """What follows the last action of a pass's last tile follows the pass: keep that.

        ``run``: the current one. A tile ends where another run begins, and what lies between two
        tiles is repeated after each of them.
        """
        tile = self._last_tile
        if tile is None or run is tile:
            return
        commands, self._after_tile, self._last_tile = self._after_tile, [], None
        is_kept = self._last_run is tile
        if not is_kept and not (isinstance(run, Tile) and run.pass_index == tile.pass_index):
            self._events.extend((self._last, (None, command)) for command in commands)

    def _forget(self) -> None:
        """All records are known: forget now what ``PendingCommands`` would."""
        runs = self._last_run, self._event_run
        self._events[self._begin :] = [
            one
            for one in self._events[self._begin :]
            if one[1] is not None
            and (one[1][0] is None or one[1][0] in runs or _is_without_draws(one[1][0]))
        ]


def _is_without_draws(run: PassRun) -> bool:
    """Whether nothing of a run that is over has a record: what clears LRZ before the draws."""
    return not isinstance(run, Tile) and all(action.number is None for action in run.draws)


class PendingCommands:
    """Packets since the last record, without those of runs that no record is taken in.

    The binning run and each tile repeat what the run has that records are taken in.
    """

    def __init__(self, only_in_runs: bool = False) -> None:
        self._only_in_runs = only_in_runs
        self._events: list[tuple[PassRun | None, PipeCommand]] = []
        #: The run that the last record was taken in, and the one of the last packet.
        self._recorded: PassRun | None = None
        #: By the ids of runs.
        self._without_draws: dict[int, bool] = {}
        self._last: object = None

    def note(self, event: _Event) -> None:
        """A packet; None: of another run."""
        run = self if event is None else event[0]
        if run is not self._last:
            self._events = [
                one for one in self._events if one[0] is self._last or self._is_of_records(one[0])
            ]
            self._last = run
        if event is not None and len(self._events) < MAX_EVENTS:
            self._events.append(event)

    def take(self, run: PassRun | None, begins_run: bool = False) -> tuple[PipeCommand, ...]:
        """Packets since the last call, without those of runs but this one and the last's.

        ``begins_run``: for a dispatch or a copy, which may begin a run itself: with those of the
        run of the last packet as well.
        """
        if not self._events:
            self._recorded = run
            return ()
        before = self._last if begins_run else run
        names = tuple(
            name
            for at, name in self._events
            if at is run or at is before or self._is_of_records(at)
        )
        self._events = []
        self._recorded = run
        return names

    def _is_of_records(self, run: PassRun | None) -> bool:
        if run is None or run is self._recorded:
            return run is not None or not self._only_in_runs
        return not self._only_in_runs and self._is_without_draws(run)

    def _is_without_draws(self, run: PassRun) -> bool:
        known = self._without_draws.get(id(run))
        if known is None:
            known = self._without_draws[id(run)] = _is_without_draws(run)
        return known
