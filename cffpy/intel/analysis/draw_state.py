# SPDX-License-Identifier: MIT
"""What actions use: state, kernels, samplers, buffers. Read while their memory is available.

``SetValue`` is what a slot or a register of the state holds: of a slot the instruction that set it,
with its fields; of a register a dword. ``StateSpans`` has them as spans of the program's draws.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.anv import descriptor_sets, push_constants
from cffpy.intel.analysis.programs import COMPUTE, stage_samplers
from cffpy.intel.analysis.state import command_structs
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.text import field_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Set

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.anv import PushConstants
    from cffpy.intel.analysis.programs import KernelFacts
    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.analysis.survey import Survey, SurveyWalk
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Group


class Kernel(NamedTuple):
    """A kernel of a stage: width ("SIMD8" or ""), address; ``facts`` is None if not in memory."""

    stage: str
    width: str
    address: int
    facts: KernelFacts | None


class VertexBuffer(NamedTuple):
    """A vertex buffer: address, bytes, pitch in bytes."""

    number: int
    address: int
    size: int
    pitch: int


class ConstantBuffer(NamedTuple):
    """Constants that are pushed to a stage: slot, address, and what memory holds there."""

    stage: str
    slot: int
    address: int
    size: int
    data: bytes


class DrawState:
    """An action and what it uses."""

    def __init__(self, walk: SurveyWalk, action: Action, command: Instruction) -> None:
        self.action = action
        self.uses = uses = walk.uses[action.order]
        self.state: State = walk.state.copy()
        self.kernels = _kernels(walk, uses)
        self.samplers = stage_samplers(walk.state, uses.programs, walk, walk.kernels)
        self.vertex_buffers = _vertex_buffers(walk)
        self.constants = _constants(walk, uses)
        self.pushed = pushed_constants(walk, uses, command)
        self.sets = descriptor_sets(walk.state, uses, walk, self.pushed)


def states_of_actions(
    content: Content, orders: Set[int], directory: str | None = None
) -> dict[int, DrawState]:
    """What the actions with these numbers use; the capture after the last of them is not run."""
    taken: dict[int, DrawState] = {}

    def at_action(walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        if action.order in orders:
            taken[action.order] = DrawState(walk, action, command)
        return len(taken) == len(orders)

    survey(content, directory, at_action)
    return taken


def _kernels(walk: SurveyWalk, uses: Uses) -> list[Kernel]:
    return [
        Kernel(program.stage, width, address, walk.kernels.facts(address))
        for program in uses.programs
        for width, address in program.kernels
    ]


def _vertex_buffers(walk: SurveyWalk) -> list[VertexBuffer]:
    found = []
    for number, (state, _) in sorted(walk.state.vertex_buffers.items()):
        start, end, size, pitch = (
            value or 0
            for value in state.values(
                "Buffer Starting Address", "End Address", "Buffer Size", "Buffer Pitch"
            )
        )
        start &= (1 << 48) - 1
        size = size or max(end + 1 - start, 0)
        if start and not state.number("Null Vertex Buffer"):
            found.append(VertexBuffer(number, start, size, pitch))
    return found


def _constants(walk: SurveyWalk, uses: Uses) -> list[ConstantBuffer]:
    return [
        ConstantBuffer(program.stage, slot, address, size, walk.span(address, size))
        for program in uses.programs
        for slot, address, size in walk.state.constants.get(program.stage, ())
    ]


def pushed_constants(walk: SurveyWalk, uses: Uses, command: Instruction) -> list[PushConstants]:
    """The push constants of each stage; a dispatch before 12.5 loads them by MEDIA_CURBE_LOAD."""
    found = []
    for program in uses.programs:
        pieces = [
            (address, size) for _, address, size in walk.state.constants.get(program.stage, ())
        ]
        if program.stage == COMPUTE:
            pieces = _compute_constants(walk, command)
        block = push_constants(walk.state, walk, program.stage, pieces)
        if block is not None:
            found.append(block)
    return found


def _compute_constants(walk: SurveyWalk, walker: Instruction) -> list[tuple[int, int]]:
    """Address and bytes of a dispatch's constants."""
    for body in command_structs(walk.database, walker, "COMPUTE_WALKER_BODY"):
        start, length = body.values("Indirect Data Start Address", "Indirect Data Length")
        return [(walk.state.general_base + (start or 0), length or 0)]
    load = walk.state.get("MEDIA_CURBE_LOAD")
    if load is None:
        return []
    offset = load.number("CURBE Data Start Address")
    return [(walk.state.dynamic_base + offset, load.number("CURBE Total Data Length"))]


#: Values at draws that are kept: a limit for hostile captures.
_MAX_SPANS = 1 << 22


class SetValue(NamedTuple):
    """What a slot or a register holds.

    ``name``: of the slot, as in ``3DSTATE_SO_BUFFER[1]``, or of the register. ``offset``: of a
    register, in bytes. ``words``: the dwords; None where only the GPU knows them. ``command``: the
    instruction that set it.
    """

    name: str
    offset: int | None
    words: tuple[int, ...] | None
    command: Instruction
    group: Group | None

    def fields(self, database: Database) -> list[FieldValue]:
        """Its fields; none where it is unknown or has no description."""
        if self.words is None or self.group is None:
            return []
        return list(field_values(database, self.group, self.words))

    @property
    def value(self) -> int | None:
        """The dword of a register; None for a slot, and where only the GPU knows it."""
        return None if self.offset is None or self.words is None else self.words[0]

    def text(self, database: Database) -> str:
        """Its fields in one line; of a register without any the dword."""
        if self.words is None:
            return "only the GPU knows"
        fields = [f"{one.name} = {one.text}" for one in self.fields(database)]
        if not fields and self.value is not None:
            return f"{self.value:#010x}"
        return f"{{ {' | '.join(fields)} }}" if fields else "{}"


class Span(NamedTuple):
    """A value, and the program's draws at which it holds, by their position among all of them."""

    held: SetValue
    first: int
    last: int


def slot_value(slot: str, command: Instruction) -> SetValue:
    """The value of a slot."""
    return SetValue(slot, None, command.words, command, command.group)


def register_value(
    database: Database, offset: int, value: int | None, command: Instruction
) -> SetValue:
    """The value of a register at an offset in bytes."""
    register = database.register_at(offset)
    name = f"{offset:#x}" if register is None else register.name
    return SetValue(name, offset, None if value is None else (value,), command, register)


def values_of(state: State) -> Iterator[SetValue]:
    """All that is set: slots by name, then registers by offset."""
    for slot, command in sorted(state.slots.items()):
        yield slot_value(slot, command)
    for offset, (value, writer) in sorted(state.registers.items()):
        yield register_value(state.database, offset, value, writer)


class StateSpans:
    """What holds at the program's draws: ``spans``, in the order in which they end.

    ``survey``: what else the run has found. ``is_cut``: a limit left out spans.
    """

    def __init__(self, content: Content, directory: str | None) -> None:
        self.spans: list[Span] = []
        self.is_cut = False
        #: The program's draws, by ``Action.order``: their positions among all of them.
        self._positions: dict[int, int] = {}
        self._by_name: dict[str, tuple[list[int], list[Span]]] = {}
        #: The value whose fields were asked for last.
        self._last: tuple[SetValue | None, dict[str, FieldValue]] = (None, {})
        #: What holds since which draw: slots by name, registers by offset.
        self._slots: dict[str, tuple[int, Instruction]] = {}
        self._registers: dict[int, tuple[int, int | None, Instruction]] = {}
        self._database: Database | None = None
        self.survey: Survey = survey(content, directory, self._take)
        self._finish()

    @property
    def database(self) -> Database | None:
        """The descriptions of the GPU; None where no draw was run."""
        return self._database

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    def state_value(self, slot: str, field: str | None, order: int) -> FieldValue | int | None:
        """A field of a slot or a register at a draw of the program; without a name a register.

        ``order``: ``Action.order``. None where it was not set, or only the GPU knows it.
        """
        if not self._by_name:
            for one in self.spans:
                firsts, spans = self._by_name.setdefault(one.held.name, ([], []))
                firsts.append(one.first)
                spans.append(one)
        position = self._positions.get(order, -1)
        firsts, spans = self._by_name.get(slot, ([], []))
        number = bisect_right(firsts, position) - 1
        if number < 0 or spans[number].last < position:
            return None
        held = spans[number].held
        if field is None:
            return held.value
        if self._last[0] is not held:
            assert self._database is not None
            self._last = held, {one.name: one for one in held.fields(self._database)}
        return self._last[1].get(field)

    def slots(self, pattern: re.Pattern[str]) -> list[str]:
        """The slots and registers whose whole names match."""
        names = dict.fromkeys(one.held.name for one in self.spans)
        return [name for name in names if pattern.fullmatch(name)]

    def _take(self, walk: SurveyWalk, action: Action, _command: Instruction) -> bool:
        if is_program(action) and action.pass_index is not None:
            self._database = walk.database
            self._compare(walk.state, len(self._positions))
            self._positions[action.order] = len(self._positions)
        return False

    def _compare(self, state: State, draw: int) -> None:
        known = self._slots
        for slot, command in state.slots.items():
            held = known.get(slot)
            if held is not None and (held[1] is command or held[1].words == command.words):
                continue
            if held is not None:
                self._add(slot_value(slot, held[1]), held[0], draw - 1)
            known[slot] = draw, command
        for offset, (value, writer) in state.registers.items():
            before = self._registers.get(offset)
            if before is not None and before[1] == value:
                continue
            if before is not None:
                self._add(register_value(state.database, offset, *before[1:]), before[0], draw - 1)
            self._registers[offset] = draw, value, writer

    def _add(self, held: SetValue, first: int, last: int) -> None:
        if len(self.spans) < _MAX_SPANS:
            self.spans.append(Span(held, first, last))
        else:
            self.is_cut = True

    def _finish(self) -> None:
        """What holds at the last draw."""
        database = self._database
        if database is None:
            return
        last = len(self._positions) - 1
        for slot, (first, command) in self._slots.items():
            self._add(slot_value(slot, command), first, last)
        for offset, (first, value, writer) in self._registers.items():
            self._add(register_value(database, offset, value, writer), first, last)
        self.spans.sort(key=lambda one: (one.held.name, one.first))
