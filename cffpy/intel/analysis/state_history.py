# SPDX-License-Identifier: MIT
"""The state at all actions of a capture: what instructions, structures and registers hold.

``SetValue`` is what a name of the state holds: of an instruction its dwords and fields, of a
structure in memory what the instruction points at that set it, of a register a dword.
``StateHistory`` has the changes of each name, as the log of registers has them of other GPUs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.state import STRUCTURES, read_struct, sets_state
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.text import field_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.survey import Survey, SurveyWalk
    from cffpy.intel.decoder.groups import Database, Group

#: Actions that do not use the structures of the 3D pipeline.
_WITHOUT_STRUCTURES = ("dispatch", "blit")

#: Arrays with an item for each viewport.
_OF_VIEWPORTS = (
    *("CC_VIEWPORT", "SF_CLIP_VIEWPORT", "SF_VIEWPORT", "CLIP_VIEWPORT", "SCISSOR_RECT"),
    "CPS_STATE",
)
_MAX_VIEWPORTS = 16

#: Units of gen4 and gen5 that point at viewports: the dword, and what it points at.
_UNIT_VIEWPORTS = {
    "CLIP_STATE": (6, "CLIP_VIEWPORT"),
    "SF_STATE": (5, "SF_VIEWPORT"),
    "COLOR_CALC_STATE": (4, "CC_VIEWPORT"),
}

#: Changes that are kept: a limit for hostile captures.
_MAX_CHANGES = 1 << 22


class SetValue(NamedTuple):
    """What a name of the state holds.

    ``name``: of an instruction, as in ``3DSTATE_SO_BUFFER[1]``, of a structure or of a register.
    ``offset``: of a register, in bytes. ``words``: the dwords; None where only the GPU knows them,
    or a structure is not in memory. ``command``: the instruction that set it.
    """

    name: str
    offset: int | None
    words: tuple[int, ...] | None
    command: Instruction
    group: Group | None

    @property
    def value(self) -> int | None:
        """The dword of a register; None for all else, and where only the GPU knows it."""
        return None if self.offset is None or self.words is None else self.words[0]

    def fields(self, database: Database) -> list[FieldValue]:
        """Its fields; none where it is unknown or has no description."""
        if self.words is None or self.group is None:
            return []
        return list(field_values(database, self.group, self.words))

    def text(self, database: Database) -> str:
        """Its fields in one line; of a register without any the dword."""
        if self.words is None:
            return "not in memory" if self.offset is None else "only the GPU knows"
        fields = [f"{field.name} = {field.text}" for field in self.fields(database)]
        if not fields and self.value is not None:
            return f"{self.value:#010x}"
        return f"{{ {' | '.join(fields)} }}" if fields else "{}"


class Span(NamedTuple):
    """A value, and the program's draws at which it holds, by their position among all of them."""

    held: SetValue
    first: int
    last: int


class _Changes(NamedTuple):
    """The changes of a name: ``Action.order``, rising, and the value from each on."""

    orders: list[int]
    values: list[SetValue]


class StateHistory:
    """What holds at actions.

    ``survey``: what else the run has found. ``end``: the first action that is not recorded, since
    there are too many changes; None: all are.
    """

    def __init__(self, content: Content, directory: str | None) -> None:
        self.end: int | None = None
        self._left = _MAX_CHANGES
        self._changes: dict[str, _Changes] = {}
        #: The writer of each register at the last action.
        self._writers: dict[int, tuple[int | None, Instruction]] = {}
        self._slots: dict[str, Instruction] = {}
        #: ``Action.order`` of the program's draws.
        self.draws: list[int] = []
        self._sorted: list[str] = []
        #: The value whose fields were asked for last.
        self._last: tuple[SetValue | None, dict[str, FieldValue]] = (None, {})
        self.database: Database | None = None
        self.survey: Survey = survey(content, directory, self._take)
        self._slots, self._writers = {}, {}

    # -- answers ---------------------------------------------------------------------------------

    def has(self, order: int) -> bool:
        """Whether an action is recorded."""
        return self.end is None or order < self.end

    def value(self, name: str, order: int) -> SetValue | None:
        """What a name holds at an action; None where nothing has set it."""
        changes = self._changes.get(name)
        index = 0 if changes is None else bisect_right(changes.orders, order)
        return changes.values[index - 1] if changes is not None and index else None

    def values(self, order: int) -> Iterator[SetValue]:
        """All that holds at an action: instructions and structures by name, registers by offset."""
        for name in self.names:
            held = self.value(name, order)
            if held is not None:
                yield held

    def set_between(self, before: int, order: int) -> list[str]:
        """The names that were set after the action ``before``, and up to another one."""
        return [
            name
            for name in self.names
            for orders in (self._changes[name].orders,)
            if bisect_right(orders, before) < bisect_right(orders, order)
        ]

    def draw_before(self, order: int) -> int | None:
        """``order`` of the program's draw before a draw of the program; None before the first."""
        index = bisect_left(self.draws, order)
        return self.draws[index - 1] if index else None

    def version(self, order: int) -> tuple[int, ...]:
        """The same for all actions that see the same: how many changes of each name they see."""
        return tuple(bisect_right(changes.orders, order) for changes in self._changes.values())

    @property
    def names(self) -> list[str]:
        """All names: those of instructions and structures, then those of registers by offset."""
        if not self._sorted:
            self._sorted = sorted(self._changes, key=self._place)
        return self._sorted

    def _place(self, name: str) -> tuple[int, str]:
        offset = self._changes[name].values[0].offset
        return (-1 if offset is None else offset), name

    def spans(self) -> Iterator[Span]:
        """The values that the program's draws see, by name."""
        for name in sorted(self._changes):
            held: tuple[SetValue, int] | None = None
            for value, first in self._seen(self._changes[name]):
                if held is None or held[0].words != value.words:
                    if held is not None:
                        yield Span(*held, first - 1)
                    held = value, first
            if held is not None:
                yield Span(*held, len(self.draws) - 1)

    def _seen(self, changes: _Changes) -> Iterator[tuple[SetValue, int]]:
        """The values that draws of the program see, each with the position of the first draw."""
        orders, values = changes
        firsts = [bisect_left(self.draws, order) for order in orders]
        for value, first, following in zip(
            values, firsts, [*firsts[1:], len(self.draws)], strict=True
        ):
            if first < following:
                yield value, first

    def state_value(self, slot: str, field: str | None, order: int) -> FieldValue | int | None:
        """A field of a name at a draw of the program; without a name of a field the register.

        ``order``: ``Action.order``. None where it was not set, or only the GPU knows it.
        """
        held = self.value(slot, order)
        if held is None or field is None:
            return None if held is None else held.value
        if self._last[0] is not held:
            assert self.database is not None
            self._last = held, {field.name: field for field in held.fields(self.database)}
        return self._last[1].get(field)

    def slots(self, pattern: re.Pattern[str]) -> list[str]:
        """The names that match as a whole."""
        return [name for name in self._changes if pattern.fullmatch(name)]

    # -- the run ---------------------------------------------------------------------------------

    def _take(self, walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        self.database = walk.database
        if self._left <= 0:
            self.end = action.order if self.end is None else self.end
            return False
        if is_program(action) and action.pass_index is not None:
            self.draws.append(action.order)
        order = action.order
        self._add_slots(walk, order)
        self._add_structures(structures(walk, action), order)
        self._add_registers(walk, order)
        return False

    def _add_slots(self, walk: SurveyWalk, order: int) -> None:
        known = self._slots
        for slot, command in walk.state.slots.items():
            if known.get(slot) is not command:
                known[slot] = command
                self._add(SetValue(slot, None, command.words, command, command.group), order)

    def _add_structures(self, structures: Iterable[SetValue], order: int) -> None:
        for structure in structures:
            changes = self._changes.get(structure.name)
            last = None if changes is None else changes.values[-1]
            if (
                last is None
                or last.command is not structure.command
                or last.words != structure.words
            ):
                self._add(structure, order)

    def _add_registers(self, walk: SurveyWalk, order: int) -> None:
        known = self._writers
        for offset, written in walk.state.registers.items():
            if known.get(offset) is not written:
                known[offset] = written
                self._add(register_value(walk.database, offset, *written), order)

    def _add(self, held: SetValue, order: int) -> None:
        self._left -= 1
        changes = self._changes.get(held.name)
        if changes is None:
            changes = self._changes[held.name] = _Changes([], [])
        changes.orders.append(order)
        changes.values.append(held)


def register_value(
    database: Database, offset: int, value: int | None, command: Instruction
) -> SetValue:
    """The value of a register at an offset in bytes."""
    register = database.register_at(offset)
    name = f"{offset:#x}" if register is None else register.name
    return SetValue(name, offset, None if value is None else (value,), command, register)


def structures(walk: SurveyWalk, action: Action) -> Iterator[SetValue]:
    """The structures in memory that instructions point at, as they are at an action.

    None at an action that does not use them.
    """
    if action.kind in _WITHOUT_STRUCTURES:
        return
    state = walk.state
    clip = state.get("3DSTATE_CLIP")
    viewports = 1 if clip is None else min(clip.number("Maximum VP Index") + 1, _MAX_VIEWPORTS)
    targets = max(len(walk.uses[action.order].targets), 1)
    for name, (pointer, offset, command) in state.pointers.items():
        address = offset + (state.general_base if pointer.is_general else state.dynamic_base)
        if name == "BLEND_STATE":
            yield from _blend_state(walk, address, targets, command)
        elif name in _OF_VIEWPORTS:
            yield from _array(walk, name, address, viewports, command)
        else:
            held = _structure(walk, name, name, address, command)
            yield held
            dword, viewport = _UNIT_VIEWPORTS.get(name, (0, ""))
            if pointer.is_general and viewport and held.words is not None:
                address = state.general_base + (held.words[dword] & ~3)
                yield from _array(walk, viewport, address, 1, command)


def _blend_state(
    walk: SurveyWalk, address: int, targets: int, command: Instruction
) -> Iterator[SetValue]:
    """What all targets share, from gen8 on, and an entry for each target."""
    shared = walk.database.struct("BLEND_STATE")
    if shared is not None and shared.dwords:
        yield _structure(walk, "BLEND_STATE", "BLEND_STATE", address, command)
        address += 4 * shared.dwords
    yield from _array(walk, "BLEND_STATE_ENTRY", address, targets, command)


def _array(
    walk: SurveyWalk, name: str, address: int, count: int, command: Instruction
) -> Iterator[SetValue]:
    """The items of an array of structures: ``SCISSOR_RECT[0]``."""
    struct = walk.database.struct(name)
    size = 0 if struct is None else 4 * struct.dwords
    for index in range(count):
        yield _structure(walk, name, f"{name}[{index}]", address + index * size, command)


def _structure(
    walk: SurveyWalk, name: str, shown: str, address: int, command: Instruction
) -> SetValue:
    """A structure at an address; without dwords where it is not whole in memory."""
    struct = walk.database.struct(name)
    content = None
    if struct is not None:
        content = read_struct(struct, walk.span(address, 4 * struct.dwords))
    return SetValue(shown, None, None if content is None else content.words, command, struct)


def slot_group(database: Database, name: str) -> Group | None:
    """What describes a name in capitals, without an index: an instruction that sets state, a
    structure that one points at, or a register; None for an unknown name.
    """
    for group in database.instructions:
        if group.name.upper() == name and sets_state(group.name):
            return group
    if name in STRUCTURES:
        return database.struct(name)
    known = next(
        (
            register_name
            for register_name in database.register_names
            if register_name.upper() == name
        ),
        None,
    )
    return None if known is None else database.register(known)
