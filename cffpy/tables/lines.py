# SPDX-License-Identifier: MIT
"""Lines: one for each register write, dword of a packet, draw and instruction, for grep and awk.

A ``LineWalk`` is a walk whose packets become lines. The part after the draw's number is made once
for each value (cffpy.tables.line_ends); the columns of the draw are inserted when the draw is
reached. Shaders are collected in the same walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.shaders import ShaderCollector
from cffpy.analysis.walk import Walk
from cffpy.cp.sink import NOTHING, WriteOutcome
from cffpy.frame.execution import Executed
from cffpy.pm4.reader import OPCODE, REGISTERS, Payload
from cffpy.tables.instructions import instructions
from cffpy.tables.line_ends import LineEnds
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
    from cffpy.tables.line_ends import Ends

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
        """As Walk has it; not before a5xx, where draws are decoded in any case."""
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
    submit = "" if action is None else str(action.place.submit.submit)
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
