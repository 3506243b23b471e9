# SPDX-License-Identifier: MIT
"""Lines: one for each register write, dword of a packet, draw and instruction, for grep and awk.

A ``LineWalk`` is a walk whose packets become lines. The part after the draw's number (``LineEnds``)
is equal wherever a register gets the same value, so it is made once; the columns of the draw are
inserted when the draw is reached. Shaders are collected in the same walk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.shaders import ShaderCollector
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import generation_of
from cffpy.cp.loadstate import CONSTANTS, DIRECT, LOAD_STATE_PACKETS, loaded_state
from cffpy.cp.sink import NOTHING, WriteOutcome
from cffpy.frame.execution import Executed
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.pm4.reader import OPCODE, REGISTERS, Payload
from cffpy.regdb.decode import Decoder, Palette, float32_text
from cffpy.regdb.registers import RegisterText
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from cffpy.analysis.pipes import Pipe
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw
    from cffpy.cp.stored import LoadedGroup, StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.shader import CapturedShader
    from cffpy.regdb.database import Database

#: Lines of listings: the instruction's number, its dwords, its text.
_IR3_LINE = re.compile(r":\d+:(\d+):\d+\[([0-9a-f]{8})x_([0-9a-f]{8})x\] (.*)")
_A2XX_LINE = re.compile(r"\s*(?:([0-9a-f]{2,}):)?\s*((?:[0-9a-f]{4,8} ){2}[0-9a-f]{4,8})\s+(.*)")

#: Bytes of an instruction.
_IR3_BYTES, _A2XX_BYTES = 8, 12


class Instruction(NamedTuple):
    """An instruction of a program. ``offset``: bytes from the program's begin.

    ``number``: as the listing has it; "" for a word of control flow of a2xx, whose ``offset`` is 0.
    ``raw``: its dwords in hexadecimal, the first one of the listing first.
    """

    number: str
    offset: int
    raw: str
    text: str


def instructions(shader: CapturedShader) -> Iterator[Instruction]:
    """The instructions in the order of the listing; labels and statistics are left out."""
    if generation_of(shader.generation).instruction_set == "a2xx":
        yield from _a2xx(shader._program.text)
        return
    for line in shader._program.text.splitlines():
        match = _IR3_LINE.match(line)
        if match is not None and not match[4].endswith(":"):
            offset = int(match[1]) * _IR3_BYTES
            yield Instruction(match[1], offset, f"{match[2]} {match[3]}", _joined(match[4]))


def _a2xx(text: str) -> Iterator[Instruction]:
    """An instruction may have a second line, for its scalar part."""
    last: Instruction | None = None
    for line in text.splitlines():
        match = _A2XX_LINE.match(line)
        if match is None:
            if last is not None and line.strip():
                last = last._replace(text=f"{last.text} {_joined(line)}")
            continue
        if last is not None:
            yield last
        number = match[1] or ""
        offset = int(number, 16) * _A2XX_BYTES if number else 0
        last = Instruction(number, offset, match[2], _joined(match[3]))
    if last is not None:
        yield last


def _joined(text: str) -> str:
    return " ".join(text.split())


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.cp.machine import Machine
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.decode import VariantsKey

    #: A dword of a packet: its name, the function that decodes it, whether it has 64 bits.
    _Dword = tuple[str, Callable[[int], str], bool]

    #: The ends of the lines of a packet, after an empty string: ``lead.join`` makes the lines.
    Ends = tuple[str, ...]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

#: The column ``packet`` of registers that a packet of type 0 or 4 writes.
REGISTER_WRITE = "register write"

#: At most: entries of a memo, values of all runs, dwords of packets that are kept.
_MAX_KEPT, _MAX_RUN_VALUES, _MAX_FIELDS = 1 << 14, 1 << 16, 1 << 18
#: Dwords of a packet whose ends are kept, and of one that get a line each, at most.
_KEPT_DWORDS, _MAX_DWORDS = 12, 256

#: Behind the name of a constant of which the first components are left out.
_COMPONENTS = ("", ".yzw", ".zw", ".w")


class _Layout:
    """What the descriptions say of a packet, where its fields choose certain variants.

    ``dwords``: of each of the first dwords. ``ends``: of lines, by dword and value.
    """

    __slots__ = ("dwords", "ends", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.dwords: list[_Dword | None] = []
        self.ends: dict[tuple[int, int], str] = {}


class LineEnds:
    """Ends of the lines of one GPU."""

    #: Whether ends of lines are kept; False in a test.
    keeps = True

    def __init__(self, machine: Machine) -> None:
        """``machine``: bound to the GPU."""
        database, packet_names = machine.database, machine.packet_labels
        self._machine = machine
        self._database = database
        self._text = RegisterText(database)
        self._decoder = Decoder(database, Palette())
        self._names = tuple(packet_names)
        names = map(self.packet_name, range(len(packet_names)))
        self._domains = [PACKET_DOMAINS.get(name, name) for name in names]
        self._registers: dict[tuple[int, int], str] = {}
        #: Ends of a run of registers, by the first one and the values; of a packet.
        self._runs: dict[tuple[int, ...], Ends] = {}
        self._run_values = 0
        self._packets: dict[tuple[int, bytes], Ends] = {}
        #: By the opcode and the variants that the packet's fields choose.
        self._layouts: dict[tuple[int, VariantsKey], _Layout] = {}
        #: Ends of lines in all layouts.
        self._field_count = 0
        self._wide: dict[int, bool] = {}
        self._described_registers: dict[int, tuple[str, Callable[[int], str]]] = {}
        #: How many ends of single values were made.
        self.made = 0

    def packet_name(self, opcode: int) -> str:
        """The name of a packet, its opcode in hexadecimal where it has none."""
        return self._names[opcode] or f"{opcode:#x}"

    # -- registers --------------------------------------------------------------------------

    def run(self, register: int, values: list[int]) -> Ends:
        """The ends of a run of registers: of each value, or of two that are one register."""
        key = register, *values
        known = self._runs.get(key)
        if known is None:
            if len(values) == 1:  # which are kept here
                end = self.written(REGISTER_WRITE, register, values[0], False)
                known = "", end
            else:
                known = "", *(end for _, end in self.run_ends(register, values))
            self._run_values += len(values)
            if self._run_values > _MAX_RUN_VALUES:
                self._runs.clear()
                self._run_values = len(values)
            self._keep(self._runs, key, known)
        return known

    def run_ends(self, register: int, values: list[int]) -> Iterator[tuple[range, str]]:
        """The registers of each line of a run, and the line's end: two dwords are one line."""
        position = 0
        while position < len(values):
            offset, value = register + position, values[position]
            position += 1
            if position < len(values) and self._is_wide(offset):
                value |= values[position] << 32
                position += 1
                end = self.written(REGISTER_WRITE, offset, value, True)
                yield range(offset, offset + 2), end
            else:
                yield range(offset, offset + 1), self._register(offset, value)

    def _is_wide(self, register: int) -> bool:
        known = self._wide.get(register)
        if known is None:
            known = self._wide[register] = self._text.is_wide(register)
        return known

    def _register(self, register: int, value: int) -> str:
        key = register, value
        known = self._registers.get(key)
        if known is None:
            known = self.written(REGISTER_WRITE, register, value, False)
            self._keep(self._registers, key, known)
        return known

    def written(self, packet: str, register: int, value: int, is_wide: bool) -> str:
        """The end of the line of a register that ``packet`` writes.

        ``is_wide``: ``value`` has 64 bits.
        """
        self.made += 1
        known = self._described_registers.get(register)
        if known is None:
            name = visible(self._text.name(register))
            known = self._described_registers[register] = name, self._text.formatter(register)
        name, decoded = known
        digits = f"{value:016x}" if is_wide else f"{value:08x}"
        return f"{packet}\t{name}\t{digits}\t{visible(decoded(value))}\n"

    # -- packets ----------------------------------------------------------------------------

    def packet(self, opcode: int, payload: Payload) -> Ends:
        """The ends of the lines of a packet: of each described dword, and of all after them."""
        count = payload.captured
        if count > _KEPT_DWORDS:
            return self._packet(opcode, payload)
        key = opcode, bytes(payload.words.data[payload.index : payload.index + count])
        known = self._packets.get(key)
        if known is None:
            known = self._packet(opcode, payload)
            self._keep(self._packets, key, known)
        return known

    def _packet(self, opcode: int, payload: Payload) -> Ends:
        count = min(payload.captured, _MAX_DWORDS)
        values = payload.words.data[payload.index : payload.index + count].tolist()
        layout = self._layout(opcode, values)
        dwords, known = layout.dwords, layout.ends
        if len(dwords) < count:
            self._describe(opcode, layout, count)
        ends = [""]
        position = behind = 0
        while position < count:
            described = dwords[position]
            if described is not None:
                value = values[position]
                if described[2] and position + 1 < count:
                    value |= values[position + 1] << 32
                end = known.get((position, value))
                ends.append(end or self._field(layout, position, value, described))
                position += described[2]
                behind = position + 1
            position += 1
        if behind < count or len(ends) == 1:
            name = "" if len(ends) == 1 else str(behind)
            raw = " ".join([f"{value:08x}" for value in values[behind:]])
            raw += " ..." if payload.captured > count else ""
            text = self._payload_text(layout.name, payload, values, behind)
            ends.append(f"{layout.name}\t{name}\t{raw}\t{text}\n")
        return tuple(ends)

    def _payload_text(self, name: str, payload: Payload, values: list[int], start: int) -> str:
        """The shader constants that are in a packet, from dword ``start`` of it on."""
        if name not in LOAD_STATE_PACKETS:
            return ""
        loaded = loaded_state(self._machine, payload)
        if loaded.kind != CONSTANTS or loaded.source != DIRECT or loaded.packet_dwords != start:
            return ""
        first = loaded.first * self._machine.gpu.facts.constant_dwords
        texts = []
        values = values[start:]
        while values:
            size = 4 - first % 4
            at = f"c{first // 4}{_COMPONENTS[first % 4]}"
            numbers = " ".join(map(float32_text, values[:size]))
            texts.append(f"{loaded.stage} {at} = {numbers}")
            first += size
            del values[:size]
        return f"{{ {' | '.join(texts)} }}"

    def _layout(self, opcode: int, values: list[int]) -> _Layout:
        """The layout of a packet, whose variants are the decoder's from now on."""
        decoder = self._decoder
        decoder.choose(self._domains[opcode], values)
        key = opcode, decoder.variants_key
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = _Layout(self.packet_name(opcode))
        return layout

    def _describe(self, opcode: int, layout: _Layout, count: int) -> None:
        """Look up the first ``count`` dwords of a packet."""
        domain, decoder = self._domains[opcode], self._decoder
        for position in range(len(layout.dwords), count):
            lookup = self._database.lookup(domain, position, decoder.variants)
            described = None
            if lookup is not None and lookup.type is not None:
                text = decoder.formatter(lookup.type).text
                described = visible(lookup.name), text, lookup.dwords == 2
            layout.dwords.append(described)

    def _field(self, layout: _Layout, position: int, value: int, described: _Dword) -> str:
        self.made += 1
        name, text, is_wide = described
        digits = 16 if is_wide else 8
        end = f"{layout.name}\t{name}\t{value:0{digits}x}\t{visible(text(value))}\n"
        if self._field_count >= _MAX_FIELDS:
            self._field_count = 0
            for other in self._layouts.values():
                other.ends.clear()
        if self.keeps:
            layout.ends[position, value] = end
            self._field_count += 1
        return end

    def _keep(self, memo: dict[_Key, _Value], key: _Key, value: _Value) -> None:
        if len(memo) >= _MAX_KEPT:
            memo.clear()
        if self.keeps:
            memo[key] = value


#: The columns, separated by tabs. ``pipe``: of the packet, as ``Action.pipe``. ``pass``, ``draw``:
#: of the next draw.
COLUMNS = (
    "file",
    "submit",
    "level",
    "gpuaddr",
    "pipe",
    "pass",
    "draw",
    "packet",
    "name",
    "raw",
    "decoded",
)

#: Kinds of lines.
KINDS = ("registers", "packets", "draws", "shaders")

#: Placeholder for the columns of the draw. Texts do not contain this character.
_DRAW = "\0"

#: Characters that wait for their draw, at most, and that are emitted at once.
_MAX_WAITING, _PIECE = 1 << 23, 1 << 16
#: What is kept of packets that were stored at once, at most: characters of their lines, where a
#: stream runs again; dwords of groups whose ends of lines are known.
_MAX_CHARACTERS, _MAX_GROUP_DWORDS = 1 << 23, 1 << 18


class LineOptions(NamedTuple):
    """``kinds``: of KINDS. ``changed``: of registers, only writes of another value.

    ``draws``: only lines of these draws, by their numbers in the dump; None: of all.
    """

    kinds: Collection[str] = KINDS
    changed: bool = False
    draws: frozenset[int] | None = None


class LineWalk(Walk):
    """A walk that emits lines. Packets that are known not to be executed have none."""

    #: Whether lines of packets are kept for the next time; False in a test.
    keeps_lines = True
    decodes_first_runs = False

    def __init__(
        self,
        name: str,
        options: LineOptions,
        emit: Callable[[str], object],
        shaders: ShaderCollector | None = None,
    ) -> None:
        """``name``: the first column. ``emit`` is called with text: whole lines, many at once.

        ``shaders``: collects the shaders of what runs.
        """
        has_packets = not {"registers", "packets"}.isdisjoint(options.kinds)
        is_whole = not (has_packets and options.changed)
        self._has_packets = has_packets  # ``observe`` reads both
        self._shaders = shaders
        super().__init__(whole_groups=is_whole, replays_streams=is_whole)
        self._file = _clean(name)
        self._emit = emit
        self._with_registers = "registers" in options.kinds
        self._with_packets = "packets" in options.kinds
        self._with_draws = "draws" in options.kinds
        self._changed = options.changed
        self._draws = options.draws
        #: The ends of lines of the current GPU.
        self.ends: LineEnds
        #: What lines of each level begin with.
        self._heads: list[str] = []
        #: Text that waits for the number of its draw, and its characters.
        self._waiting: list[str] = []
        self._waiting_size = 0
        #: What the lines of the packet that runs begin and end with.
        self._lead = ""
        self._fields: Ends = ()
        #: The current packet with an opcode: its opcode and address.
        self._opcode = self._address = 0
        #: Lines of a step of a stream that runs again, as long as memory stays; their characters.
        self._texts: dict[tuple[StoredRegisters, int, Pipe | None], str] = {}
        self._kept_characters = 0
        self._epoch = -1
        #: By the contents of a group: the offset of each packet in bytes, and its ends of lines.
        self._groups: dict[bytes, list[tuple[int, Ends]]] = {}
        self._group_dwords = 0
        #: How often the lines of a group, or of a step, were made, and how often they were known.
        self.made = self.known = 0
        #: Text that was not emitted yet, and its characters.
        self._pieces: list[str] = []
        self._characters = 0
        #: Registers and packets that ``shaders`` looks at.
        self._program_registers = range(0)
        self._program_packets: Collection[int] = ()

    @property
    def decodes_streams_once(self) -> bool:
        """Whether streams run again as steps; not before a5xx, which decodes draws anyway."""
        return self._decodes_once and (
            self.machine.is_64bit or not (self._has_packets or self._shaders)
        )

    @decodes_streams_once.setter
    def decodes_streams_once(self, value: bool) -> None:
        self._decodes_once = value

    def observe(self, *observers: Observer) -> None:
        """Add observers; groups that are written at once are reported to this walk, too."""
        super().observe(*observers)
        self.observes_stored_registers |= self._has_packets or self._shaders is not None

    # -- Sink -----------------------------------------------------------------------------------

    def attach(self, machine: Machine) -> None:
        """Attach the collector of shaders, too."""
        super().attach(machine)
        if self._shaders is not None:
            self._shaders.attach(machine)

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Use the registers and packets of the GPU."""
        super().bind(gpu, database)
        self._forget_texts()
        self._groups.clear()
        self._group_dwords = 0
        self.ends = LineEnds(self.machine)
        if self._shaders is not None:
            self._shaders.bind(gpu, database)
            self._program_registers = self._shaders.registers
            self._program_packets = self._shaders.packets

    def submit(self, submit: CommandStream) -> None:
        """Begin the lines of a command stream."""
        super().submit(submit)
        self._heads = [f"{self._file}\t{submit.submit}\t{level}\t0x" for level in range(64)]
        self._forget_texts()
        if self._shaders is not None:
            self._shaders.submit(submit)

    def command_stream_done(self, record: CommandStream) -> None:
        """No draw follows the last lines of a stream."""
        super().command_stream_done(record)
        self.flush()

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        """A packet of type 0 or 4 writes registers."""
        if self._fields:
            self._flush_fields()
        if self._with_registers and self.executed is not Executed.NO:
            head = self._heads[self.machine.state.ib_level]
            lead = f"{head}{words.address + 4 * index:x}{self._mark}"
            if self._changed:
                self._write_changed(register, values, lead)
            else:
                text = lead.join(self.ends.run(register, values))
                self._waiting.append(text)
                self._waiting_size += len(text)
                if self._waiting_size > _MAX_WAITING:
                    self.flush()
        end = register + len(values)
        first, behind = self._watched_range
        if self._on_write or (register < behind and end > first):
            super().write(register, values, words, index, level)
        named = self._program_registers
        if register >= named.stop or end <= named.start or not self._shaders:
            return NOTHING
        if self._is_alternative:
            return NOTHING
        return self._shaders.write(register, values, words, index, level)

    def write_done(self, words: Words, index: int, ndwords: int, level: int) -> None:
        """Registers that name programs have their values."""
        if self._shaders is not None:
            self._shaders.write_done(words, index, ndwords, level)

    def registers_stored(self, stored: StoredRegisters) -> None:
        """A draw-state group, or a step of a stream that runs again: its lines are made once."""
        super().registers_stored(stored)
        if self._shaders is not None and not self._is_alternative:
            self._shaders.registers_stored(stored)
        if self._fields:
            self._flush_fields()
        if not self._has_packets or self.executed is Executed.NO:
            return
        level = self.machine.state.ib_level
        if stored.words is None:
            for group in stored.groups:
                self._wait(self._group(stored, group, level + 1))
        else:
            self._wait(self._step(stored, stored.words, level))

    @property
    def _mark(self) -> str:
        """What follows the address of a line: the pipe that executes, and the draw's columns."""
        return f"\t{self.pipe or ''}{_DRAW}"

    def _step(self, stored: StoredRegisters, words: Words, level: int) -> str:
        """The lines of a step of a stream."""
        if self._epoch != self.machine.image.epoch:
            self._forget_texts()
        known = self._texts.get((stored, level, self.pipe))
        if known is not None:
            self.known += 1
            return known
        self.made += 1
        packets = self._packets_of(stored, words, stored.start, stored.following)
        parts = [self._text(packets, words.address + 4 * stored.start, level)]
        parts += [self._group(stored, group, level + 1) for group in stored.groups]
        text = "".join(parts)
        self._kept_characters += len(text)
        if self._kept_characters > _MAX_CHARACTERS:
            self._forget_texts()
        if self.keeps_lines:
            self._texts[stored, level, self.pipe] = text
        return text

    def _group(self, stored: StoredRegisters, group: LoadedGroup, level: int) -> str:
        """The lines of a draw-state group. Many have the contents of another one."""
        _, words, index, ndwords = group
        contents = words.data[index : index + ndwords].tobytes()
        packets = self._groups.get(contents)
        if packets is None:
            self.made += 1
            packets = self._packets_of(stored, words, index, index + ndwords)
            self._group_dwords += ndwords
            if self._group_dwords > _MAX_GROUP_DWORDS:
                self._groups.clear()
                self._group_dwords = ndwords
            if self.keeps_lines:
                self._groups[contents] = packets
        else:
            self.known += 1
        return self._text(packets, words.address + 4 * index, level)

    def _text(self, packets: list[tuple[int, Ends]], gpuaddr: int, level: int) -> str:
        head, mark = self._heads[level], self._mark
        return "".join([f"{head}{gpuaddr + offset:x}{mark}".join(ends) for offset, ends in packets])

    def _packets_of(
        self, stored: StoredRegisters, words: Words, start: int, end: int
    ) -> list[tuple[int, Ends]]:
        """The packets of ``words[start:end]``, which were stored at once, as in ``_groups``."""
        packets: list[tuple[int, Ends]] = []
        line_ends, runs = self.ends, stored.runs
        for index, size, kind, number in runs.packets(words, start, end):
            ends: Ends = ()
            if kind == REGISTERS:
                if self._with_registers:
                    ends = line_ends.run(number, words.data[index + 1 : index + size].tolist())
            elif kind == OPCODE:
                payload = Payload(words, index + 1, size - 1)
                writes = runs.writes(number, payload)
                if not writes:
                    ends = line_ends.packet(number, payload) if self._with_packets else ()
                elif self._with_registers:
                    name = line_ends.packet_name(number)
                    ends = ("", *(line_ends.written(name, *write, False) for write in writes))
            if ends:
                packets.append((4 * (index - start), ends))
        return packets

    def _forget_texts(self) -> None:
        """Memory has changed, or the columns before the address."""
        self._texts.clear()
        self._kept_characters = 0
        self._epoch = self.machine.image.epoch

    def _write_changed(self, register: int, values: list[int], lead: str) -> None:
        known = self.machine.state.registers
        for offsets, end in self.ends.run_ends(register, values):
            if any(known.get(offset) != values[offset - register] for offset in offsets):
                self._wait(lead + end)

    def register(self, register: int, value: int, level: int) -> None:
        """A packet with an opcode writes a register: its line is in place of the packet's lines."""
        self._fields = ()
        if self._with_registers and self.executed is not Executed.NO:
            known = self.machine.state.registers.get(register)
            if not self._changed or known != value:
                name = self.ends.packet_name(self._opcode)
                head = self._heads[self.machine.state.ib_level]
                lead = f"{head}{self._address:x}{self._mark}"
                self._wait(lead + self.ends.written(name, register, value, False))
        super().register(register, value, level)
        if register in self._program_registers and self._shaders and not self._is_alternative:
            self._shaders.register(register, value, level)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode begins."""
        super().packet(opcode, payload, level)
        if self._fields:
            self._flush_fields()
        self._opcode, self._address = opcode, payload.words.address + 4 * payload.index - 4
        if self._with_packets and self.executed is not Executed.NO:
            head = self._heads[self.machine.state.ib_level]
            self._lead = f"{head}{self._address:x}{self._mark}"
            self._fields = self.ends.packet(opcode, payload)
        if opcode in self._program_packets and self._shaders and not self._is_alternative:
            self._shaders.packet(opcode, payload, level)

    def packet_stored(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet whose lines ``registers_stored`` has written."""
        super().packet(opcode, payload, level)
        super().packet_done(opcode, payload, level)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        """Write the line of a packet after its effect."""
        if self._fields:
            self._flush_fields()
        super().packet_done(opcode, payload, level)
        if self._shaders is not None and not self._is_alternative:
            self._shaders.packet_done(opcode, payload, level)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        """A draw: what it draws, and its shaders."""
        super().draw(draw, payload, level)
        if self._shaders is not None and not self._is_alternative:
            self._shaders.draw(draw, payload, level)

    # -- lines ----------------------------------------------------------------------------------

    def acted(self, action: Action) -> None:
        """A draw, or what counts as one: the lines before it are its lines."""
        if action.execution is Executed.NO:
            return
        if self._fields:
            self._flush_fields()
        if self._with_draws:
            place = action.place
            lead = f"{self._heads[action.level]}{place.gpuaddr:x}{self._mark}"
            self._wait(f"{lead}{action.packet}\t{action.kind}\t\t{_drawn(action)}\n")
        if action.dump_draw is not None:
            self.flush(action)

    def flush(self, action: Action | None = None) -> None:
        """Emit the lines that wait; ``action`` is their draw."""
        number = None if action is None else action.dump_draw
        waiting = self._waiting
        if waiting and (self._draws is None or number in self._draws):
            pass_index = None if action is None else action.pass_index
            columns = f"\t{_number(pass_index)}\t{_number(number)}\t"
            text = "".join(waiting).replace(_DRAW, columns)
            self._pieces.append(text)
            self._characters += len(text)
            if self._characters >= _PIECE:
                self.emit_rest()
        waiting.clear()
        self._waiting_size = 0

    def emit_rest(self) -> None:
        """Emit what waits for more."""
        if self._pieces:
            self._emit("".join(self._pieces))
            self._pieces.clear()
            self._characters = 0

    def _flush_fields(self) -> None:
        ends, self._fields = self._fields, ()
        self._wait(self._lead.join(ends))

    def _wait(self, text: str) -> None:
        """Lines that wait for their draw."""
        self._waiting.append(text)
        self._waiting_size += len(text)
        if self._waiting_size > _MAX_WAITING:
            self.flush()


class DrawLines(Observer):
    """Reports draws to a LineWalk, once their passes are known."""

    def __init__(self, walk: LineWalk) -> None:
        self._walk = walk

    def action(self, action: Action) -> None:
        """The lines before it are its lines."""
        self._walk.acted(action)


def write_lines(
    content: Content,
    name: str,
    options: LineOptions,
    emit: Callable[[str], object],
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[PassFinder, list[Damage]]:
    """Emit the lines of a capture as it is walked; the passes and the damage.

    Lines of shaders come last. Raises UnsupportedGpu where the generation is unknown.
    """
    shaders = ShaderCollector(register_db) if "shaders" in options.kinds else None
    walk = LineWalk(name, options, emit, shaders)
    finder = PassFinder(walk)
    walk.observe(finder, DrawLines(walk))
    try:
        damage = walk.run(content, complain, register_db, gpu)
    finally:
        walk.emit_rest()
    finder.found.truncated = list(content.truncated)
    if shaders is not None:
        numbered = {
            action.dump_draw or 0: action
            for action in finder.actions
            if action.dump_draw is not None
        }
        for shader in shaders.shaders:
            emit("".join(_shader_lines(_clean(name), shader, numbered, options.draws)))
    return finder, damage


def _shader_lines(
    file: str, shader: CapturedShader, numbered: dict[int, Action], draws: frozenset[int] | None
) -> Iterator[str]:
    """A line for each instruction, under the first draw that runs it."""
    ranges = [range_ for naming in shader.where for range_ in naming.ranges]
    used = (draw for first, last in ranges for draw in range(first, last + 1))
    first = next((draw for draw in used if draws is None or draw in draws), None)
    if first is None and draws is not None:
        return
    action = None if first is None else numbered.get(first)
    submit = "" if action is None else str(action.place.submit)
    columns = (
        "\t" if action is None else f"{_number(action.pass_index)}\t{_number(action.dump_draw)}"
    )
    for instruction in instructions(shader):
        yield (
            f"{file}\t{submit}\t\t{shader.gpuaddr + instruction.offset:#x}\t\t{columns}\t"
            f"{shader.stage}\t{instruction.number}\t{instruction.raw}\t{_clean(instruction.text)}\n"
        )


def _drawn(action: Action) -> str:
    """What a draw draws, in words."""
    words = [action.role, action.primitive or ""]
    if action.vertices is not None:
        words.append(f"{action.vertices} {'indices' if action.indexed else 'vertices'}")
    if action.instances is not None:
        words.append(f"{action.instances} instances")
    if action.groups is not None:
        words.append(f"{'x'.join(map(str, action.groups))} groups")
    if action.tile_number is not None:
        words.append(f"tile {action.tile_number}")
    elif action.binning:
        words.append("binning")
    return " ".join(filter(None, words))


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


def _clean(text: str) -> str:
    """A text without tabs, line feeds and control characters of terminals."""
    return visible(text)


class UniqueLines:
    """Joins lines that differ in location only: how often each occurs, and its first location."""

    def __init__(self) -> None:
        self._found: dict[str, list[Any]] = {}
        #: Whether there are more than are kept.
        self.is_full = False

    def add(self, lines: str) -> None:
        """Take the lines of one piece."""
        shaders = self._found
        for line in lines.splitlines(keepends=True):
            # the name of the file, submit, level, address, pipe, pass and draw are its place
            end = line.split("\t", _PLACE)[_PLACE]
            known = shaders.get(end)
            if known is not None:
                known[0] += 1
            elif len(shaders) < _MAX_UNIQUE:
                shaders[end] = [1, line]
            else:
                self.is_full = True

    def lines(self) -> Iterator[str]:
        """Each line after a column with its count, sorted by packet and name."""
        for end in sorted(self._found, key=lambda end: end.split("\t")[:3]):
            count, line = self._found[end]
            yield f"{count}\t{line}"


#: Columns that are a line's place; distinct lines that are kept.
_PLACE, _MAX_UNIQUE = 7, 1 << 20
