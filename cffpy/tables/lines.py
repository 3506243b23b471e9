# SPDX-License-Identifier: MIT
"""Lines: one for each register write, dword of a packet, draw and instruction, for grep and awk.

A ``LineWalk`` is a walk whose packets become lines. The part behind the draw's number is
equal for all writes of one value to one register, so it is made once; the columns of the draw are
inserted when the draw is reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.analysis.conditions import Executed
from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.shaders import collect_shaders
from cffpy.analysis.walk import Walk
from cffpy.cp.payload import Payload
from cffpy.pm4.reader import OPCODE, REGISTERS
from cffpy.regdb.decode import Decoder, Palette
from cffpy.regdb.register_text import RegisterText
from cffpy.tables.instructions import instructions
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from cffpy.analysis.actions import Action
    from cffpy.analysis.shaders import Shader
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.outcomes import WriteOutcome
    from cffpy.cp.stored import LoadedGroup, StoredRegisters
    from cffpy.regdb.database import Database

    #: A dword of a packet: its name, the function that decodes it, whether it has 64 bits.
    _Dword = tuple[str, Callable[[int], str], bool]

#: The columns, separated by tabs. ``pass`` and ``draw`` are those of the next draw.
COLUMNS = (
    "file",
    "submit",
    "level",
    "gpuaddr",
    "pass",
    "draw",
    "packet",
    "name",
    "raw",
    "decoded",
)

#: Kinds of lines.
KINDS = ("registers", "packets", "draws", "shaders")

#: The column ``packet`` of registers that a packet of type 0 or 4 writes.
REGISTER_WRITE = "register write"

#: Placeholder for the columns of the draw. Texts do not contain this character.
_DRAW = "\0"
#: Placeholder for the columns before it.
_LEAD = "\1"

#: Maximum of: lines that wait for their draw; ends of lines in the memo; dwords of a packet that
#: get a line each, and of a packet whose lines are kept.
_MAX_WAITING, _MAX_KEPT, _MAX_DWORDS, _KEPT_DWORDS = 1 << 17, 1 << 18, 256, 12
_MAX_KEPT_RUNS = 1 << 14
#: Characters of the lines of packets that are kept; characters that are emitted at once.
_MAX_CHARACTERS, _PIECE = 1 << 24, 1 << 16


class LineOptions(NamedTuple):
    """``kinds``: of KINDS. ``changed``: of registers, only writes of another value.

    ``draws``: only lines of these draws, by their numbers in the dump; None: of all.
    """

    kinds: Collection[str] = KINDS
    changed: bool = False
    draws: frozenset[int] | None = None


class _Ends:
    """Ends of lines, from the packet's name on: of registers and of packets."""

    def __init__(self, database: Database, packet_names: tuple[str | None, ...]) -> None:
        self._database = database
        self._text = RegisterText(database)
        self._decoder = Decoder(database, Palette())
        self._names = packet_names
        self._registers: dict[tuple[int, int], str] = {}
        self._packets: dict[tuple[int, bytes], tuple[str, ...]] = {}
        self._runs: dict[tuple[int, ...], str] = {}
        #: Opcode -> what the descriptions say of each of the first dwords of the packet.
        self._layouts: dict[int, list[_Dword | None]] = {}
        self._wide: dict[int, bool] = {}
        self._fields: dict[tuple[int, int, int], str] = {}

    def packet_name(self, opcode: int) -> str:
        """The name of a packet, its opcode in hexadecimal where it has none."""
        return self._names[opcode] or f"{opcode:#x}"

    def run(self, register: int, values: list[int]) -> str:
        """The lines of a run of registers, each with _LEAD for what it begins with."""
        key = register, *values
        known = self._runs.get(key)
        if known is None:
            if len(self._runs) >= _MAX_KEPT_RUNS:
                self._runs.clear()
            lines = [_LEAD + end for _, end in self.run_ends(register, values)]
            known = self._runs[key] = "".join(lines)
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
                yield range(offset, offset + 1), self.register(offset, value)

    def _is_wide(self, register: int) -> bool:
        known = self._wide.get(register)
        if known is None:
            known = self._wide[register] = self._text.is_wide(register)
        return known

    def register(self, register: int, value: int) -> str:
        """The end of the line of a register write; of 64 bits with ``value`` above 32 bits."""
        known = self._registers.get((register, value))
        if known is None:
            if len(self._registers) >= _MAX_KEPT:
                self._registers.clear()
            known = self._registers[register, value] = self.written(
                REGISTER_WRITE, register, value, False
            )
        return known

    def written(self, packet: str, register: int, value: int, is_wide: bool) -> str:
        """The end of the line of a register that ``packet`` writes."""
        registers = {register: value & 0xFFFFFFFF}
        if is_wide:
            registers[register + 1] = value >> 32
        name, decoded = self._text.name(register), self._text.text(register, registers)
        digits = 16 if is_wide else 8
        return f"{packet}\t{_clean(name)}\t{value:0{digits}x}\t{_clean(decoded)}\n"

    def packet(self, opcode: int, payload: Payload) -> tuple[str, ...]:
        """The ends of the lines of a packet: one for each dword that is described."""
        count = payload.captured
        if count > _KEPT_DWORDS:
            return self._packet(opcode, payload)
        key = opcode, bytes(payload.words.data[payload.index : payload.index + count])
        known = self._packets.get(key)
        if known is None:
            if len(self._packets) >= _MAX_KEPT:
                self._packets.clear()
            known = self._packets[key] = self._packet(opcode, payload)
        return known

    def _packet(self, opcode: int, payload: Payload) -> tuple[str, ...]:
        count = min(payload.captured, _MAX_DWORDS)
        values = payload.words.data[payload.index : payload.index + count].tolist()
        layout = self._layouts.setdefault(opcode, [])
        ends = []
        position = 0
        while position < count:
            if position >= len(layout):  # in turn: a dword may choose the variant of the next one
                layout.append(self._described(opcode, len(layout)))
                continue
            described = layout[position]
            if described is not None:
                value = values[position]
                if described[2] and position + 1 < count:
                    value |= values[position + 1] << 32
                ends.append(self._field(opcode, position, value, described))
                position += described[2]
            position += 1
        if not ends:
            raw = " ".join(f"{value:08x}" for value in values)
            ends.append(f"{self.packet_name(opcode)}\t\t{raw}\t\n")
        return tuple(ends)

    def _field(self, opcode: int, position: int, value: int, described: _Dword) -> str:
        key = opcode, position, value
        known = self._fields.get(key)
        if known is None:
            if len(self._fields) >= _MAX_KEPT:
                self._fields.clear()
            name, text, is_wide = described
            digits = 16 if is_wide else 8
            known = self._fields[key] = (
                f"{self.packet_name(opcode)}\t{name}\t{value:0{digits}x}\t{_clean(text(value))}\n"
            )
        return known

    def _described(self, opcode: int, position: int) -> _Dword | None:
        """What the descriptions say of a dword of a packet."""
        found = self._database.lookup(self.packet_name(opcode), position, self._decoder.variants)
        if found is None or found.type is None:
            return None
        text = self._decoder.formatter(found.type).text
        return _clean(found.name), text, found.dwords == 2


class LineWalk(Walk):
    """A walk that emits lines. Packets that are known not to be executed have none."""

    def __init__(self, name: str, options: LineOptions, emit: Callable[[str], object]) -> None:
        """``name``: the first column. ``emit`` is called with text: whole lines, many at once."""
        has_packets = not {"registers", "packets"}.isdisjoint(options.kinds)
        is_whole = not (has_packets and options.changed)
        self._has_packets = has_packets  # ``observe`` reads it
        super().__init__(whole_groups=is_whole, replays_streams=is_whole)
        self._file = _clean(name)
        self._emit = emit
        self._with_registers = "registers" in options.kinds
        self._with_packets = "packets" in options.kinds
        self._with_draws = "draws" in options.kinds
        self._changed = options.changed
        self._draws = options.draws
        self._ends: _Ends
        #: What lines of each level begin with, and the level that ``_head`` is of.
        self._heads: list[str] = []
        #: Lines that wait for the number of their draw, and those of the packet that runs.
        self._waiting: list[str] = []
        self._fields: tuple[str, ...] = ()
        self._lead = ""
        #: The current packet with an opcode: its opcode and address.
        self._opcode = self._address = 0
        #: Lines of packets that were stored at once, as long as memory stays: of a draw-state
        #: group, of a step of a stream that runs again; their characters.
        self._texts: dict[tuple[Any, ...], str] = {}
        self._kept_characters = 0
        self._epoch = -1
        #: Text that was not emitted yet, and its characters.
        self._pieces: list[str] = []
        self._characters = 0

    @property
    def decodes_streams_once(self) -> bool:
        """As Walk has it; not before a5xx, where draws are decoded in any case."""
        return self._decodes_once and (not self._has_packets or self.machine.is_64bit)

    @decodes_streams_once.setter
    def decodes_streams_once(self, value: bool) -> None:
        self._decodes_once = value

    def observe(self, *observers: Observer) -> None:
        """Add observers; groups that are written at once are reported to this walk, too."""
        super().observe(*observers)
        self.observes_stored_registers |= self._has_packets

    # -- Sink -----------------------------------------------------------------------------------

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Texts are those of the GPU."""
        super().bind(gpu, database)
        self._forget_texts()
        self._ends = _Ends(database, tuple(self.machine.packet_names))

    def submit(self, submit: CommandStream) -> None:
        """A command stream begins."""
        super().submit(submit)
        self._heads = [f"{self._file}\t{submit.submit}\t{level}\t0x" for level in range(64)]
        self._forget_texts()

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
            lead = f"{head}{words.address + 4 * index:x}{_DRAW}"
            waiting = self._waiting
            if self._changed:
                self._write_changed(register, values, lead)
            elif len(values) == 1:
                waiting.append(lead + self._ends.register(register, values[0]))
            else:
                waiting.append(self._ends.run(register, values).replace(_LEAD, lead))
            if len(waiting) > _MAX_WAITING:
                self.flush()
        return super().write(register, values, words, index, level)

    def registers_stored(self, stored: StoredRegisters) -> None:
        """A draw-state group, or a step of a stream that runs again: its lines are made once."""
        super().registers_stored(stored)
        if self._fields:
            self._flush_fields()
        if not self._has_packets or self.executed is Executed.NO:
            return
        if self._epoch != self.machine.image.epoch:
            self._forget_texts()
        level = self.machine.state.ib_level
        if stored.words is None:
            for group in stored.groups:
                self._waiting.append(self._group(stored, group, level + 1))
        else:
            key = stored, level
            text = self._texts.get(key)
            if text is None:
                parts = [self._text(stored, stored.words, stored.start, stored.end, level)]
                parts += [self._group(stored, group, level + 1) for group in stored.groups]
                text = self._keep(key, "".join(parts))
            self._waiting.append(text)
        if len(self._waiting) > _MAX_WAITING:
            self.flush()

    def _group(self, stored: StoredRegisters, group: LoadedGroup, level: int) -> str:
        """The lines of a draw-state group."""
        key = *group, level
        known = self._texts.get(key)
        if known is None:
            _, words, index, ndwords = group
            known = self._keep(key, self._text(stored, words, index, index + ndwords, level))
        return known

    def _text(self, stored: StoredRegisters, words: Words, start: int, end: int, level: int) -> str:
        """The lines of the packets of ``words[start:end]``, which were stored at once."""
        parts: list[str] = []
        ends, head, runs = self._ends, self._heads[level], stored.runs
        for index, size, kind, number in runs.packets(words, start, end):
            lead = f"{head}{words.address + 4 * index:x}{_DRAW}"
            if kind == REGISTERS:
                if self._with_registers:
                    values = words.data[index + 1 : index + size].tolist()
                    parts.append(ends.run(number, values).replace(_LEAD, lead))
            elif kind == OPCODE:
                payload = Payload(words, index + 1, size - 1)
                writes = runs.writes(number, payload)
                if not writes:
                    parts += self._packet_lines(number, payload, lead)
                elif self._with_registers:
                    name = ends.packet_name(number)
                    parts += [lead + ends.written(name, *one, False) for one in writes]
        return "".join(parts)

    def _packet_lines(self, opcode: int, payload: Payload, lead: str) -> list[str]:
        if not self._with_packets:
            return []
        return [lead + end for end in self._ends.packet(opcode, payload)]

    def _keep(self, key: tuple[Any, ...], text: str) -> str:
        self._kept_characters += len(text)
        if self._kept_characters > _MAX_CHARACTERS:
            self._forget_texts()
        self._texts[key] = text
        return text

    def _forget_texts(self) -> None:
        """Memory has changed, or the columns before the address."""
        self._texts.clear()
        self._kept_characters = 0
        self._epoch = self.machine.image.epoch

    def _write_changed(self, register: int, values: list[int], lead: str) -> None:
        known = self.machine.state.registers
        for offsets, end in self._ends.run_ends(register, values):
            if any(known.get(offset) != values[offset - register] for offset in offsets):
                self._waiting.append(lead + end)

    def register(self, register: int, value: int, level: int) -> None:
        """A packet with an opcode writes a register: its line stands for those of the packet."""
        self._fields = ()
        if self._with_registers and self.executed is not Executed.NO:
            known = self.machine.state.registers.get(register)
            if not self._changed or known != value:
                name = self._ends.packet_name(self._opcode)
                head = self._heads[self.machine.state.ib_level]
                lead = f"{head}{self._address:x}{_DRAW}"
                self._waiting.append(lead + self._ends.written(name, register, value, False))
        super().register(register, value, level)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode begins."""
        super().packet(opcode, payload, level)
        if self._fields:
            self._flush_fields()
        self._opcode, self._address = opcode, payload.words.address + 4 * payload.index - 4
        if self._with_packets and self.executed is not Executed.NO:
            head = self._heads[self.machine.state.ib_level]
            self._lead = f"{head}{self._address:x}{_DRAW}"
            self._fields = self._ends.packet(opcode, payload)

    def packet_stored(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet whose lines are those of ``registers_stored``."""
        super().packet(opcode, payload, level)
        super().packet_done(opcode, payload, level)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        """Its effect is done."""
        if self._fields:
            self._flush_fields()
        super().packet_done(opcode, payload, level)

    # -- lines ----------------------------------------------------------------------------------

    def acted(self, action: Action) -> None:
        """A draw, or what counts as one: the lines before it are its lines."""
        if action.executed is Executed.NO:
            return
        if self._fields:
            self._flush_fields()
        if self._with_draws:
            place = action.place
            lead = f"{self._heads[action.level]}{place.gpuaddr:x}{_DRAW}"
            self._waiting.append(f"{lead}{action.packet}\t{action.kind}\t\t{_drawn(action)}\n")
        if action.number is not None:
            self.flush(action)

    def flush(self, action: Action | None = None) -> None:
        """Emit the lines that wait; ``action`` is their draw."""
        number = None if action is None else action.number
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

    def emit_rest(self) -> None:
        """Emit what waits for more."""
        if self._pieces:
            self._emit("".join(self._pieces))
            self._pieces.clear()
            self._characters = 0

    def _flush_fields(self) -> None:
        lead = self._lead
        self._waiting.extend([lead + end for end in self._fields])
        self._fields = ()
        if len(self._waiting) > _MAX_WAITING:
            self.flush()


class _Actions(Observer):
    """Reports draws to a LineWalk, once their passes are known."""

    def __init__(self, walk: LineWalk) -> None:
        self._walk = walk

    def action(self, action: Action) -> None:
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

    Lines of shaders come last. Raises UnsupportedGpu where nothing tells the generation.
    """
    walk = LineWalk(name, options, emit)
    finder = PassFinder(walk)
    walk.observe(finder, _Actions(walk))
    try:
        damage = walk.run(content, complain, register_db, gpu)
    finally:
        walk.emit_rest()
    finder.found.truncated = list(content.truncated)
    if "shaders" in options.kinds:
        collector, _ = collect_shaders(content, _ignore, register_db, gpu)
        numbered = {one.number or 0: one for one in finder.actions if one.number is not None}
        for shader in collector.shaders:
            emit("".join(_shader_lines(_clean(name), shader, numbered, options.draws)))
    return finder, damage


def _ignore(_line: str) -> None:
    """Discard a warning: the first walk reported it."""


def _shader_lines(
    file: str, shader: Shader, numbered: dict[int, Action], draws: frozenset[int] | None
) -> Iterator[str]:
    """A line for each instruction, under the first draw that runs it."""
    ranges = [one for _, found in shader.where for one in found]
    used = (draw for first, last in ranges for draw in range(first, last + 1))
    first = next((draw for draw in used if draws is None or draw in draws), None)
    if first is None and draws is not None:
        return
    action = None if first is None else numbered.get(first)
    submit = "" if action is None else str(action.place.submit.submit)
    columns = "\t" if action is None else f"{_number(action.pass_index)}\t{_number(action.number)}"
    for one in instructions(shader):
        yield (
            f"{file}\t{submit}\t\t{shader.gpuaddr + one.offset:#x}\t{columns}\t{shader.stage}\t"
            f"{one.number}\t{one.raw}\t{_clean(one.text)}\n"
        )


def _drawn(action: Action) -> str:
    """What a draw draws, in words."""
    words = [action.role, action.label or ""]
    if action.vertices is not None:
        words.append(f"{action.vertices} {'indices' if action.indexed else 'vertices'}")
    if action.instances is not None:
        words.append(f"{action.instances} instances")
    if action.groups is not None:
        words.append(f"{'x'.join(map(str, action.groups))} groups")
    if action.tile is not None:
        words.append(f"tile {action.tile}")
    elif action.is_binning:
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
        found = self._found
        for line in lines.splitlines(keepends=True):
            # the name of the file, submit, level, address, pass and draw are its place
            end = line.split("\t", _PLACE)[_PLACE]
            known = found.get(end)
            if known is not None:
                known[0] += 1
            elif len(found) < _MAX_UNIQUE:
                found[end] = [1, line]
            else:
                self.is_full = True

    def lines(self) -> Iterator[str]:
        """Each line behind a column with its count, sorted by packet and name."""
        for end in sorted(self._found, key=lambda end: end.split("\t")[:3]):
            count, line = self._found[end]
            yield f"{count}\t{line}"


#: Columns that are a line's place; distinct lines that are kept.
_PLACE, _MAX_UNIQUE = 6, 1 << 20
