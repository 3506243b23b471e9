# SPDX-License-Identifier: MIT
"""The text of annotations of ``dump --annotate``.

A source is a function from the results of a walk to notes; a new kind of annotation is a function
in ``SOURCES``. Notes on one packet are printed in the order of the sources. The lines on draw-state
groups (``GroupLines``) come from the dump's own machine, while it runs.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from cffpy.analysis.annotations import Note, Position
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
from cffpy.regdb.register_text import RegisterText
from cffpy.views.passes import attachment_text, operation_text, title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.annotations import AnnotationFinder, Source
    from cffpy.analysis.conditions import ConditionalBlock
    from cffpy.cp.machine import Machine
    from cffpy.cp.state import DrawStateGroup
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Operation, Pass, PassRun, TileVisibility
    from cffpy.frame.places import PacketLocation

_PHASES = {"load": "loads", "clear": "clears", "store": "stores"}
_UNKNOWN = "attachment unknown"


# -- submits --------------------------------------------------------------------------------------


def submit_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """Where submits and their command streams begin and end, and which passes run on."""
    going_on: dict[int, list[Pass]] = {}
    for one in finder.found.passes:
        for number in one.streams[1:]:
            going_on.setdefault(number, []).append(one)
    for number, group in groupby(finder.streams, key=lambda stream: stream.submit):
        streams = list(group)
        counted = _count(len(streams), "command stream")
        yield Note(streams[0].number, f"submit {number} begins: {counted}")
        for stream in streams:
            name = f"stream {stream.number} of submit {number}"
            if len(streams) > 1:
                yield Note(stream.number, f"{name} begins")
                yield Note(stream.number, f"{name} ends", Position.AFTER)
            for one in going_on.get(stream.number, ()):
                yield Note(stream.number, f"pass {one.index} continues")
        yield Note(streams[-1].number, f"submit {number} ends", Position.AFTER)


# -- passes ---------------------------------------------------------------------------------------


def pass_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """Where passes, binning runs, tiles, and loads and stores begin and end."""
    for one in finder.found.passes:
        yield Note(one.first, f"pass {one.index} begins: {_describe(one)}")
        runs = one.runs
        for run, following in zip(runs, [*runs[1:], None], strict=False):
            yield from _run_lines(one, run, following)
        idle = bool(runs) and not _ordered(runs[-1])
        last = runs[-1].place if idle else one.last
        yield Note(last, f"pass {one.index} ends", Position.AFTER)


def _describe(one: Pass) -> str:
    parts = [title(one).partition(": ")[2]]
    if one.bin_size is not None:
        grid = f" in {one.grid.width} x {one.grid.height}" if one.grid else ""
        parts.append(f"{_count(len(one.tiles), 'tile')} of {one.bin_size}{grid}")
    if one.pipes:
        parts.append(_count(len(one.pipes), "VSC pipe"))
    parts.extend(attachment_text(attachment) for attachment in one.attachments)
    parts.extend(f"marker {marker}" for marker in one.markers)
    return "; ".join(parts)


def _run_lines(one: Pass, run: PassRun, following: PassRun | None) -> Iterator[Note]:
    """A binning run or a tile. A sysmem pass is one run and has no separate lines for it."""
    if run is one.direct:
        yield from _phase_lines(run, f"pass {one.index}")
        return
    name = _run_name(one, run)
    yield Note(run.place, f"{name} begins{_tile_text(run) if isinstance(run, Tile) else ''}")
    yield from _phase_lines(run, name)
    actions = _ordered(run)
    if actions:
        yield Note(actions[-1][0].place, f"{name} ends", Position.AFTER)
    elif following is not None:
        yield Note(following.place, f"{name} ends")
    else:
        yield Note(run.place, f"{name} ends", Position.AFTER)


def _run_name(one: Pass, run: PassRun) -> str:
    if isinstance(run, Tile):
        return f"tile {run.number} of pass {one.index}"
    return f"binning run of pass {one.index}"


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
    found: list[tuple[Action, Operation | None]] = [(draw, None) for draw in run.draws]
    found.extend((operation.action, operation) for operation in run.operations)
    return sorted(found, key=lambda entry: entry[0].order)


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
    for run in (run for one in finder.found.passes for run in one.runs):
        for operation in run.operations:
            operations.setdefault(operation.action.order, []).append(operation)
    for action in finder.actions:
        own = operations.get(action.order, [])
        parts = [f"{one.attachment or _UNKNOWN}: {operation_text(one)}" for one in own]
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
        found = list(group)
        for outer in stream.path:
            if outer.kind == "IB" and outer.caller is not None:
                yield outer.caller, found


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
    for one in finder.inherited:
        text = RegisterText(one.state.database)
        names = [text.name(register) for register in text.listed(one.registers)]
        shown = ", ".join(names[:_SHOWN_REGISTERS])
        rest = len(names) - _SHOWN_REGISTERS
        more = f" and {rest} more" if rest > 0 else ""
        number = _count(len(names), "register")
        yield Note(
            one.state.action.place,
            f"inherited: {number} of earlier submits in force: {shown}{more}",
            Position.DRAW,
        )


#: Names of inherited registers that are shown.
_SHOWN_REGISTERS = 8


def visibility_lines(finder: AnnotationFinder) -> Iterator[Note]:
    """The visible draws of each tile by its captured visibility streams, at the tile's start."""
    reader = VisibilityReader(finder.found)
    for one in finder.found.passes:
        if not one.hardware_binning:
            continue
        visible = reader.read(one).by_tile
        for tile in one.tiles:
            said = visible.get(tile.number)
            if said is not None and not tile.visibility_override:
                yield Note(tile.place, _visibility_text(one, tile, said))


def _visibility_text(one: Pass, tile: Tile, said: TileVisibility) -> str:
    draws = _count(len(said.primitives), "draw")
    primitives = said.total_primitives
    text = f"visibility stream, pipe {tile.pipe} slot {tile.slot}: {draws} of"
    text += f" {len(one.draws)} visible"
    if primitives is not None:
        text += f", {_count(primitives, 'primitive')}"
    if said.primitives:
        text += f": {_ranges(said.primitives)}"
    return text


def _ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers as ranges; long lists are cut."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    shown = [str(a) if a == b else f"{a}..{b}" for a, b in found[:_SHOWN_RANGES]]
    return ", ".join(shown) + (", ..." if len(found) > _SHOWN_RANGES else "")


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
