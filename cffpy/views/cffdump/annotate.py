# SPDX-License-Identifier: MIT
"""``dump --annotate``: lines of cffpy between the reference's.

Each begins with a prefix that no line of the reference begins with, and is only put where the
reference begins a line. Without these lines, the output is the reference's.

A source is a function from the results of a walk to notes; a new kind of annotation is a function
in ``SOURCES``. Notes on one packet are printed in the order of the sources. The lines on draw-state
groups (``GroupLines``) come from the dump's own machine, while it runs.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from cffpy.analysis.annotations import Annotations, Annotator, Note, Position
from cffpy.analysis.visibility import VisibilityReader
from cffpy.cp.loadstate import (
    CONSTANTS,
    LOAD_STATE_PACKETS,
    SAMPLERS,
    SHADER,
    SSBO_0,
    SSBO_1,
    SSBO_2,
    TEXTURES,
    UBO,
    loaded_state,
)
from cffpy.cp.state import ALL_MODES, BINNING, GMEM, SYSMEM
from cffpy.frame.execution import Executed
from cffpy.frame.passes import Tile
from cffpy.pm4.reader import OPCODE, REGISTERS, Payload
from cffpy.regdb.registers import RegisterText
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.output import Output
from cffpy.views.cffdump.text import CffdumpSink
from cffpy.views.passes import attachment_text, operation_text, title
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.analysis.annotations import AnnotationFinder, Source
    from cffpy.analysis.conditions import ConditionalBlock
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw
    from cffpy.cp.state import DrawStateGroup
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Operation, Pass, PassRun, TileVisibility
    from cffpy.frame.places import PacketLocation
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.options import DumpOptions

_PHASES = {"load": "loads", "clear": "clears", "store": "stores"}
_UNKNOWN = "attachment unknown"


# -- submits --------------------------------------------------------------------------------------


def submit_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """Where submits and their command streams begin and end, and which passes run on."""
    going_on: dict[int, list[Pass]] = {}
    for render_pass in finder.found.passes:
        for number in render_pass.streams[1:]:
            going_on.setdefault(number, []).append(render_pass)
    for number, group in groupby(finder.streams, key=lambda stream: stream.submit):
        streams = list(group)
        counted = _count(len(streams), "command stream")
        yield Note(streams[0].number, f"submit {number} begins: {counted}")
        for stream in streams:
            name = f"stream {stream.number} of submit {number}"
            if len(streams) > 1:
                yield Note(stream.number, f"{name} begins")
                yield Note(stream.number, f"{name} ends", Position.AFTER)
            for render_pass in going_on.get(stream.number, ()):
                yield Note(stream.number, f"pass {render_pass.index} continues")
        yield Note(streams[-1].number, f"submit {number} ends", Position.AFTER)


# -- passes ---------------------------------------------------------------------------------------


def pass_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """Where passes, binning runs, tiles, and loads and stores begin and end."""
    for render_pass in finder.found.passes:
        yield Note(render_pass.first, f"pass {render_pass.index} begins: {_describe(render_pass)}")
        runs = render_pass.runs
        for run, following in zip(runs, [*runs[1:], None], strict=False):
            yield from _run_lines(render_pass, run, following)
        idle = bool(runs) and not _ordered(runs[-1])
        last = runs[-1].place if idle else render_pass.last
        yield Note(last, f"pass {render_pass.index} ends", Position.AFTER)


def _describe(render_pass: Pass) -> str:
    parts = [title(render_pass).partition(": ")[2]]
    if render_pass.bin_size is not None:
        grid = (
            f" in {render_pass.grid.width} x {render_pass.grid.height}" if render_pass.grid else ""
        )
        parts.append(f"{_count(len(render_pass.tiles), 'tile')} of {render_pass.bin_size}{grid}")
    if render_pass.pipes:
        parts.append(_count(len(render_pass.pipes), "VSC pipe"))
    parts.extend(attachment_text(attachment) for attachment in render_pass.attachments)
    parts.extend(f"marker {marker}" for marker in render_pass.markers)
    return "; ".join(parts)


def _run_lines(render_pass: Pass, run: PassRun, following: PassRun | None) -> Iterator[Note]:
    """A binning run or a tile. A sysmem pass is one run and has no separate lines for it."""
    if run is render_pass.direct:
        yield from _phase_lines(run, f"pass {render_pass.index}")
        return
    name = _run_name(render_pass, run)
    yield Note(run.place, f"{name} begins{_tile_text(run) if isinstance(run, Tile) else ''}")
    yield from _phase_lines(run, name)
    actions = _ordered(run)
    if actions:
        yield Note(actions[-1][0].place, f"{name} ends", Position.AFTER)
    elif following is not None:
        yield Note(following.place, f"{name} ends")
    else:
        yield Note(run.place, f"{name} ends", Position.AFTER)


def _run_name(render_pass: Pass, run: PassRun) -> str:
    if isinstance(run, Tile):
        return f"tile {run.number} of pass {render_pass.index}"
    return f"binning run of pass {render_pass.index}"


def _tile_text(tile: Tile) -> str:
    parts = [f"rectangle {tile.window_scissor or 'unknown'}"]
    if tile.pipe is not None:
        parts.append(f"VSC pipe {tile.pipe}")
    if tile.slot is not None:
        parts.append(f"slot {tile.slot}")
    if tile.visibility_override:
        parts.append("visibility stream ignored")
    return f": {', '.join(parts)}"


def _ordered(run: PassRun) -> list[tuple[Action, Operation | None]]:
    """What a run does, in order."""
    actions: list[tuple[Action, Operation | None]] = [(draw, None) for draw in run.draws]
    actions.extend((operation.action, operation) for operation in run.operations)
    return sorted(actions, key=lambda entry: entry[0].order)


def _phase_lines(run: PassRun, name: str) -> Iterator[Note]:
    """Loads, clears and stores that follow each other, with nothing else executed between."""
    executed = [entry for entry in _ordered(run) if entry[0].execution.is_possible]
    for kind, group in groupby(executed, key=lambda entry: entry[1] and entry[1].kind):
        if kind is None or kind not in _PHASES:
            continue
        operations = [operation for _, operation in group if operation is not None]
        names = dict.fromkeys(operation.attachment or _UNKNOWN for operation in operations)
        phase = f"{_PHASES[kind]} of {name}"
        yield Note(operations[0].action.place, f"{phase} begin: {', '.join(names)}")
        yield Note(operations[-1].action.place, f"{phase} end", Position.AFTER)


# -- draws ----------------------------------------------------------------------------------------


def draw_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """The role of each draw, dispatch and blit in its pass."""
    operations: dict[int, list[Operation]] = {}
    for run in (run for render_pass in finder.found.passes for run in render_pass.runs):
        for operation in run.operations:
            operations.setdefault(operation.action.order, []).append(operation)
    for action in finder.actions:
        own = operations.get(action.order, [])
        parts = [
            f"{operation.attachment or _UNKNOWN}: {operation_text(operation)}" for operation in own
        ]
        text = f"{'; '.join(parts)}; {_where(action)}"
        if not own:
            text = f"{_draw_name(action)} {_where(action)}"
        yield Note(action.place, text, Position.DRAW, more=_doubt(action, bool(own)))


def _doubt(action: Action, is_operation: bool) -> str:
    if action.execution is Executed.NO:
        return f"; not executed: {action.condition}"
    if action.execution is Executed.UNKNOWN and not is_operation:  # an operation's text has it
        return f"; conditional: {action.condition}"
    return ""


def _draw_name(action: Action) -> str:
    if action.number is not None:
        return f"{action.kind} {action.number}"
    return action.kind


def _where(action: Action) -> str:
    if action.clears_lrz_of is not None:
        return f"for pass {action.clears_lrz_of}"
    if action.pass_index is None:
        return "outside of passes"
    where = f"of pass {action.pass_index}"
    if action.binning:
        return f"{where}, binning run"
    return where if action.tile_number is None else f"{where}, tile {action.tile_number}"


# -- conditional blocks ---------------------------------------------------------------------------


def block_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """Why the dwords after a packet are executed, or not."""
    for block in finder.blocks:
        extent = f"the next {_count(block.ndwords, 'dword')}, to {block.end:#x},"
        yield Note(block.place, f"{extent} {_outcome(block)}", is_detail=True)


def _outcome(block: ConditionalBlock) -> str:
    executed, reason = block.condition.executed, block.condition.reason
    if block.outside is Executed.NO:
        return f"are not executed: part of what is not executed ({reason})"
    if executed is Executed.UNKNOWN:
        return f"are conditional, the GPU decides: {reason}"
    return f"are {'' if executed is Executed.YES else 'not '}executed: {reason}"


# -- indirect buffers -----------------------------------------------------------------------------


def buffer_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """What each IB is for, by what is drawn in it."""
    held: dict[tuple[int, ...], list[Action]] = {}
    for caller, actions in _actions_by_caller(finder.actions):
        held.setdefault(caller.key, []).extend(actions)
    for call in finder.calls:
        if call.executed is Executed.NO:
            text = "not executed"
        elif not call.is_captured:
            text = "not captured"
        else:
            text = _contents(held.get(call.place.key, []))
        if call.executed is Executed.UNKNOWN:
            text += "; conditional"
        yield Note(call.place, f"IB: {text}", is_detail=True)


def _actions_by_caller(actions: Iterable[Action]) -> Iterator[tuple[PacketLocation, list[Action]]]:
    """The packets that call the IBs that actions lie in, and these actions."""
    for stream, group in groupby(actions, key=lambda action: action.place.stream):
        actions = list(group)
        for outer in stream.path:
            if outer.kind == "IB" and outer.caller is not None:
                yield outer.caller, actions


def _contents(actions: list[Action]) -> str:
    executed = [action for action in actions if action.execution.is_possible]
    if not executed:
        return "nothing is drawn"
    counts = Counter(action.role or action.kind for action in executed)
    parts = [_count(number, *_NOUNS.get(name, (name,))) for name, number in counts.items()]
    indices = {action.pass_index for action in executed}
    places = {_where(action) for action in executed}
    if len(places) == 1:
        where = places.pop()
    elif len(indices) == 1:
        where = f"of pass {indices.pop()}"
    else:
        where = f"of {len(indices)} passes"
    return f"{', '.join(parts)} {where}"


_NOUNS = {
    "dispatch": ("dispatch", "dispatches"),
    "copy": ("copy", "copies"),
    "unknown": ("unknown operation",),
}


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def inherited_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """Registers whose values of earlier submits are in force at a submit's first draw."""
    for inheritance in finder.inherited:
        text = RegisterText(inheritance.state.database)
        names = [text.name(register) for register in text.listed(inheritance.registers)]
        shown = ", ".join(names[:_SHOWN_REGISTERS])
        rest = len(names) - _SHOWN_REGISTERS
        more = f" and {rest} more" if rest > 0 else ""
        number = _count(len(names), "register")
        yield Note(
            inheritance.state.action.place,
            f"inherited: {number} of earlier submits in force: {shown}{more}",
            Position.DRAW,
        )


#: Names of inherited registers that are shown.
_SHOWN_REGISTERS = 8


def visibility_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """The visible draws of each tile by its captured visibility streams, at the tile's start."""
    reader = VisibilityReader(finder.found)
    for render_pass in finder.found.passes:
        if not render_pass.hardware_binning:
            continue
        visible = reader.read(render_pass).by_tile
        for tile in render_pass.tiles:
            visibility = visible.get(tile.number)
            if visibility is not None and not tile.visibility_override:
                yield Note(tile.place, _visibility_text(render_pass, tile, visibility))


def _visibility_text(render_pass: Pass, tile: Tile, visibility: TileVisibility) -> str:
    draws = _count(len(visibility.primitives), "draw")
    primitives = visibility.total_primitives
    text = f"visibility stream, pipe {tile.pipe} slot {tile.slot}: {draws} of"
    text += f" {len(render_pass.draws)} visible"
    if primitives is not None:
        text += f", {_count(primitives, 'primitive')}"
    if visibility.primitives:
        text += f": {_ranges(visibility.primitives)}"
    return text


def _ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers as ranges; long lists are cut."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(a) if a == b else f"{a}..{b}" for a, b in ranges[:_SHOWN_RANGES]]
    return ", ".join(shown) + (", ..." if len(ranges) > _SHOWN_RANGES else "")


#: Ranges of visible draws that are shown of a tile.
_SHOWN_RANGES = 12


# -- draw-state groups ----------------------------------------------------------------------------
#
# A command stream has only the numbers of groups; their contents show what a driver uses them for.

_MODES = {BINNING: "binning", GMEM: "gmem", SYSMEM: "sysmem"}

#: State whose packets name the stage.
_OF_STAGES = {
    SHADER: "program",
    CONSTANTS: "constants",
    SAMPLERS: "samplers",
    TEXTURES: "textures",
}
_OF_ANY = {UBO: "UBOs", SSBO_0: "SSBOs", SSBO_1: "SSBOs", SSBO_2: "SSBOs"}


class GroupLines:
    """Lines about groups of one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._contents: dict[tuple[int, int], str] = {}
        self._epoch = -1

    def line(self, group: DrawStateGroup, loaded: bool) -> str:
        """A group that is loaded now, or not."""
        machine = self._machine
        name = f"draw-state group {group.group_id} ({self._find_contents(group)})"
        if not machine.gpu.facts.groups_have_modes:
            return f"{name} is loaded: groups have no modes on this GPU"
        now = machine.state.enable_mask
        wanted = _mode_names(group.enable_mask)
        current = "no mode is set yet" if now == ALL_MODES else f"now {_mode_names(now)}"
        return f"{name} is {'' if loaded else 'not '}loaded: enabled in {wanted}; {current}"

    def _find_contents(self, group: DrawStateGroup) -> str:
        if self._epoch != self._machine.image.epoch:
            self._epoch = self._machine.image.epoch
            self._contents.clear()
        key = group.gpuaddr, group.ndwords
        if key not in self._contents:
            self._contents[key] = _group_contents(self._machine, group)
        return self._contents[key]


def _group_contents(machine: Machine, group: DrawStateGroup) -> str:
    place = machine.image.place(group.gpuaddr)
    if place is None:
        return "not captured"
    words, index = place
    end = min(index + group.ndwords, words.count)
    registers = 0
    others: Counter[str] = Counter()
    while index < end:
        kind, number, size = machine.headers[words.data[index]]
        if kind == REGISTERS:
            registers += size - 1
        elif kind == OPCODE:
            payload = Payload(words, index + 1, size - 1)
            others[_packet_text(machine, machine.packet_labels[number], payload)] += 1
        index += size
    parts = [f"{registers} register{'' if registers == 1 else 's'}"] if registers else []
    parts.extend(text if count == 1 else f"{count} x {text}" for text, count in others.items())
    return ", ".join(parts) or "nothing"


def _packet_text(machine: Machine, name: str | None, payload: Payload) -> str:
    if name not in LOAD_STATE_PACKETS:
        return name or "unknown packet"
    loaded = loaded_state(machine, payload)
    if loaded.kind in _OF_STAGES:
        return f"{loaded.stage} {_OF_STAGES[loaded.kind]}"
    return _OF_ANY.get(loaded.kind, "other state")


def _mode_names(modes: int) -> str:
    return ", ".join(name for bit, name in _MODES.items() if modes & bit) or "no mode"


SOURCES: tuple[Source, ...] = (
    submit_lines,
    pass_lines,
    block_lines,
    buffer_lines,
    inherited_lines,
    visibility_lines,
    draw_lines,
)

# -- the prefix -----------------------------------------------------------------------------------
#
# The reference prints strings of the capture (names of processes, markers) as they are, and these
# may contain line feeds. So its lines may begin with anything but NUL, and no fixed prefix of
# printable characters is safe for all captures. It is chosen from what is to be printed, and the
# first line of the output begins with it.

_NAME = "#cffpy"

#: The name, maybe a number, and a space. The reference omits bytes from 0x80 on from markers.
_LOOKALIKE = re.compile(
    b"[\\x80-\\xff]*".join(re.escape(bytes([byte])) for byte in _NAME.encode())
    + b"([0-9\\x80-\\xff]*) "
)

_ABOVE_ASCII = bytes(range(0x80, 0x100))


def choose_prefix(texts: Iterable[bytes | memoryview]) -> str:
    """``#cffpy `` or, where the texts hold that, the first of ``#cffpy2 ``, ... that they do not.

    ``texts``: all that the strings that are printed come from.
    """
    taken = {
        match.group(1).translate(None, _ABOVE_ASCII)
        for text in texts
        for match in _LOOKALIKE.finditer(text)
    }
    number = b""
    while number in taken:
        number = b"%d" % (int(number or b"1") + 1)
    return f"{_NAME}{number.decode()} "


# -- output and sink ------------------------------------------------------------------------------


class AnnotatedOutput(Output):
    """Holds annotations back until the reference's text begins a line."""

    def __init__(self, write: Callable[[bytes], object], prefix: str) -> None:
        super().__init__(write)
        self._prefix = prefix
        self._due: list[str] = []
        self._begins_line = True
        self._append = self.put
        self.put = self._put

    def annotate(self, text: str) -> None:
        """Put an annotation before the next text."""
        self._due.append(f"{self._prefix}{visible(text)}\n")

    def withdraw(self, number: int) -> None:
        """Discard the pending lines after the first ``number``."""
        del self._due[number:]

    @property
    def waiting(self) -> int:
        """The number of pending lines."""
        return len(self._due)

    def settle(self) -> None:
        """Write the pending lines now: the text that they belong to does not follow."""
        if self._due and self._begins_line:
            self._append("".join(self._due))
            self._due.clear()

    def put_large(self, text: str) -> None:
        """Take a piece of text that may be long."""
        self._before(text)
        super().put_large(text)

    def _put(self, text: str) -> None:
        self._before(text)
        self._append(text)

    def _before(self, text: str) -> None:
        if text:
            self.settle()
            self._begins_line = text[-1] == "\n"


class AnnotatingSink(CffdumpSink):
    """The text view with ``notes`` between its lines."""

    uses_segments = False

    def __init__(
        self,
        options: DumpOptions,
        output: AnnotatedOutput,
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> None:
        super().__init__(options, output, complain, register_db)
        self.follow(output)

    def follow(self, output: AnnotatedOutput) -> None:
        """Begin with no notes, outside of all streams."""
        self.output: AnnotatedOutput = output
        self.notes = Annotations()
        self._groups: GroupLines
        self._stream = 0
        #: The machine's streams, and of each the address of its last packet with an opcode, else
        #: of its first packet. Together they are ``Place.key``.
        self._path: list[tuple[Words, int, int]] = []
        self._addresses: list[int] = []
        self._of_draw: list[Note] = []

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        self._groups = GroupLines(self.machine)

    def command_stream(self, record: CommandStream, skipped: bool) -> bool:
        if self._is_wanted(record):
            self._annotate_stream(record, Position.BEFORE)
        return super().command_stream(record, skipped)

    def command_stream_done(self, record: CommandStream) -> None:
        super().command_stream_done(record)
        if self._is_wanted(record):
            self._annotate_stream(record, Position.AFTER)

    def submit(self, submit: CommandStream) -> None:
        super().submit(submit)
        self._stream = submit.number
        self._path.clear()
        self._addresses.clear()

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._enter()
        self._addresses[-1] = payload.words.address + 4 * (payload.index - 1)
        self._annotate(Position.BEFORE)
        self._of_draw = self.notes.of_packet(self._key(), Position.DRAW)
        super().packet(opcode, payload, level)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        if self._of_draw:  # an action that the reference does not count as a draw
            if not self.quiet2:
                self._annotate_draw("")
            self._of_draw = []
        super().packet_done(opcode, payload, level)
        self._enter()
        self._annotate(Position.AFTER)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        before = self.output.waiting
        if not self.quiet1:
            number = f" (dump draw {self.machine.state.draw_count})" if draw.counted else ""
            self._annotate_draw(number)
        told = self.output.waiting
        super().draw(draw, payload, level)
        if self.quiet2 and self.output.waiting >= told:  # nothing was shown of it
            self.output.withdraw(before)
        self._of_draw = []

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        if not self.quiet2:
            self.output.annotate(self._groups.line(group, loaded))
        super().group(group, loaded, level)

    # -- within -----------------------------------------------------------------------------

    def _enter(self) -> None:
        """Follow the machine into and out of streams."""
        active, path, addresses = self.machine.streams, self._path, self._addresses
        while path and (len(path) > len(active) or path[-1] is not active[len(path) - 1]):
            path.pop()
            addresses.pop()
        for entry in active[len(path) :]:
            words, index, _ = entry
            path.append(entry)
            addresses.append(words.address + 4 * index)

    def _key(self) -> tuple[int, ...]:
        return (self._stream, *self._addresses)

    def _annotate(self, position: Position) -> None:
        if self.quiet1:
            return
        for note in self.notes.of_packet(self._key(), position):
            if not (note.is_detail and self.quiet2):
                self.output.annotate(note.text)

    def _annotate_stream(self, record: CommandStream, position: Position) -> None:
        if not self.quiet1:
            for note in self.notes.of_stream(record.number, position):
                self.output.annotate(note.text)

    def _annotate_draw(self, number: str) -> None:
        for note in self._of_draw:
            self.output.annotate(f"{note.text}{number}{note.more}")


class AnnotatedDump(Dump):
    """Prints captures with annotations. The first line is an annotation that explains them."""

    _view: AnnotatingSink

    def __init__(
        self,
        prefix: str,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
    ) -> None:
        """``prefix``: of the annotations, as ``choose_prefix`` finds it. Others as for ``Dump``."""
        self._prefix = prefix
        super().__init__(options, write, complain, register_db, gpu)
        self._annotator = Annotator(SOURCES, register_db, gpu)
        self._view.output.annotate("annotations: lines that begin as this one are not cffdump's")

    def file(self, content: Content) -> None:
        """Print the dump of an opened file with its annotations."""
        output = self._view.output
        self._view.notes = self._annotator.annotate(content, self._skips)
        try:
            super().file(content)
        finally:
            output.settle()
            output.flush()
            self._view.notes = Annotations()  # the capture may be closed

    def _make_view(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> CffdumpSink:
        output = AnnotatedOutput(write, self._prefix)
        return AnnotatingSink(options, output, complain, register_db)
