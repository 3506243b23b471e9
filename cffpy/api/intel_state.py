# SPDX-License-Identifier: MIT
"""InstructionState: what instructions, structures in memory and registers hold at an action.

It is the RegisterState of captures of Intel GPUs: the last instruction of each name stands where
other GPUs have registers.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from cffpy.errors import UnknownName, UnknownValue
from cffpy.frame.execution import Executed
from cffpy.frame.objects import Shown
from cffpy.frame.register import FieldBits, Register
from cffpy.frame.register_state import Change, ChosenValues, RegisterState, StateValue
from cffpy.frame.register_write import RegisterWrite
from cffpy.intel.analysis.state_history import SetValue, slot_group
from cffpy.intel.analysis.survey import pass_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.frame.action import Action
    from cffpy.frame.facts import Address
    from cffpy.frame.field import FieldValue
    from cffpy.frame.passes import Pass
    from cffpy.frame.register_state import CommandValue
    from cffpy.frame.register_write import Origin
    from cffpy.intel.analysis.draw_state import DrawState
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.state_history import StateHistory
    from cffpy.intel.decoder.groups import Database, Group


class InstructionWrite(RegisterWrite):
    """The instruction that set a value."""

    __slots__ = ("_command",)

    def __init__(self, command: Instruction, owner: Pass | None) -> None:
        super().__init__(command.place, lambda _header: command.name, owner, Executed.YES)
        self._command = command

    @property
    def packet(self) -> str:
        """The name of the instruction."""
        return self._command.name


class SetRegister(Register):
    """What a name of the state is: an instruction, a structure in memory, or a register."""

    __slots__ = ("_database", "group")

    def __init__(self, name: str, offset: int | None, group: Group | None, base: Database) -> None:
        """``offset``: of a register, in bytes."""
        self.name = name
        self.number = -1 if offset is None else offset // 4
        self.offset = self.number
        self.group = group
        self.bits = 32
        self.is_pair = False
        self._database = base

    @property
    def is_port(self) -> bool:
        """False."""
        return False

    @property
    def fields(self) -> tuple[FieldBits, ...]:
        """The fields as described, those of structs within as ``a.b``."""
        from cffpy.intel.decoder.text import described_fields

        if self.group is None:
            return ()
        fields = described_fields(self._database, self.group)
        return tuple(FieldBits(name, field.low, field.high) for name, field in fields)

    @property
    def type_name(self) -> str:
        """What kind of description it has: an instruction, a struct or a register; "" for none."""
        return "" if self.group is None else self.group.kind

    def text_of(self, value: int) -> str:
        """The value of a register as text."""
        return _of_register(self, value).text(self._database)

    def fields_of(self, value: int) -> dict[str, FieldValue]:
        """The fields of a register's value by name."""
        return {one.name: one for one in _of_register(self, value).fields(self._database)}

    def other_fields(self, field: str) -> tuple[str, ...]:
        """None: names are those of one edition."""
        return ()


def _of_register(register: SetRegister, value: int) -> SetValue:
    command: Any = None
    return SetValue(register.name, 4 * register.offset, (value,), command, register.group)


class InstructionValue(StateValue):
    """What a name of the state holds at an action: an instruction, a structure or a register."""

    __slots__ = ("_held", "_of", "described")

    def __init__(
        self, register: SetRegister, held: SetValue | None, state: InstructionState
    ) -> None:
        """``held``: None where nothing set it."""
        super().__init__(register, None if held is None else held.value, state)
        self.described, self._held, self._of = register, held, state

    @property
    def register_offset(self) -> Address | None:
        """The offset of a register, in dwords; None for an instruction or structure."""
        return None if self.register.number < 0 else self.register.number

    @property
    def bits(self) -> int:
        """The bits of all its dwords."""
        return 32 * max(len(self.words), 1)

    @property
    def words(self) -> tuple[int, ...]:
        """Its dwords; none where they are not known."""
        return () if self._held is None else self._held.words or ()

    @property
    def pair_value(self) -> None:
        """None: registers are single."""

    @property
    def text(self) -> str:
        """Its fields in one line; of a register without any the dword."""
        return "never written" if self._held is None else self._held.text(self._of._database)

    @property
    def fields(self) -> dict[str, FieldValue]:
        """Its fields by name."""
        if self._fields is None:
            held = [] if self._held is None else self._held.fields(self._of._database)
            self._fields = {one.name: one for one in held}
        return self._fields

    @property
    def written_by(self) -> RegisterWrite | None:
        """The instruction that set it; of a structure, that points at it."""
        return None if self._held is None else self._of.write(self._held)

    @property
    def elements(self) -> list[StateValue]:
        """Empty: there are no ports."""
        return []

    @property
    def commands(self) -> list[CommandValue]:
        """Empty: no register is a command."""
        return []

    @property
    def is_written(self) -> bool:
        """Whether any instruction set it before the action."""
        return self._held is not None

    @property
    def is_unknown(self) -> bool:
        """Whether it was set to what only the GPU knows, or is not in memory."""
        return self._held is not None and self._held.words is None

    def __getattr__(self, name: str) -> bool | int | float | str:
        """The value of a field by its name, ``_`` for what is no letter: raises UnknownName."""
        if name.startswith("_"):
            raise AttributeError(name)
        wanted = _folded(name)
        for field in self.fields.values():
            if _folded(field.name) == wanted:
                return field.value
        return super().__getattr__(name)

    def __int__(self) -> int:
        if self.value is None and self.words:
            raise UnknownValue(f"{self.name} is no number: name a field of it")
        return super().__int__()

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, InstructionValue):
            return self.name == other.name and self.words == other.words
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        if self.register_offset is not None:
            return super().__repr__()
        return f"<{self.name}: {self.text}>"


def _folded(name: str) -> str:
    return "".join(one if one.isalnum() else "_" for one in name).strip("_").upper()


class WordsByName(dict[str, "tuple[int, ...] | None"]):
    """The dwords that an action sees, by the name of what holds them."""

    __slots__ = ("__weakref__",)


class InstructionState(RegisterState):
    """What holds at an action of an Intel capture."""

    __slots__ = ("_database", "_history", "_shared", "_used_by")

    def __init__(
        self,
        history: StateHistory,
        action: Action,
        database: Database,
        used_by: Callable[[Action], DrawState],
        shared: Callable[[tuple[int, ...], Callable[[], WordsByName]], WordsByName],
    ) -> None:
        """``used_by``: what the action uses besides. ``shared``: keeps equal dwords, by version."""
        super().__init__(action)
        self._history, self._used_by, self._shared = history, used_by, shared
        self._database = database

    def __getitem__(self, key: str | int) -> StateValue:
        """What a name holds: an instruction (``3DSTATE_PS``, ``3DSTATE_SO_BUFFER[1]``), a structure
        in memory (``CC_VIEWPORT[0]``) or a register, also by its offset in dwords.

        Case does not matter. Raises UnknownName, which is a KeyError.
        """
        name = self._name(key)
        if name is None:
            raise UnknownName(self._no_such(str(key)))
        return self._value(name)

    def _name(self, key: str | int) -> str | None:
        """The name as it is listed; None for an unknown one."""
        if isinstance(key, int):
            register = self._database.register_at(4 * key)
            name = f"{4 * key:#x}" if register is None else register.name
            return name if register is not None or self._holds(name) else None
        if self._holds(key):
            return key
        upper = key.upper()
        listed = next((one for one in self._history.names if one.upper() == upper), None)
        if listed is not None:
            return listed
        group = slot_group(self._database, upper.partition("[")[0])
        return None if group is None else f"{group.name}{key[len(group.name) :]}"

    def _holds(self, name: str) -> bool:
        return self._history.value(name, self.action.order) is not None

    def _value(self, name: str) -> InstructionValue:
        held = self._history.value(name, self.action.order)
        if held is not None:
            register = SetRegister(name, held.offset, held.group, self._database)
            return InstructionValue(register, held, self)
        group = slot_group(self._database, name.partition("[")[0].upper())
        offset = None if group is None else group.offset
        return InstructionValue(SetRegister(name, offset, group, self._database), None, self)

    def _no_such(self, name: str) -> str:
        from difflib import get_close_matches

        database = self._database
        known = [*(one.name for one in database.instructions), *database.register_names]
        near = get_close_matches(name.upper(), known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return f"{database.name} has no instruction or register {name}{hint}"

    def __contains__(self, key: object) -> bool:
        """Whether it was set before the action. False for an unknown name."""
        name = self._name(key) if isinstance(key, str | int) else None
        return name is not None and self._holds(name)

    def values(self) -> Iterator[StateValue]:
        """See RegisterState."""
        return (self._value(one.name) for one in self._history.values(self.action.order))

    def at(self, offset: int) -> StateValue:
        """See RegisterState."""
        register = self._database.register_at(4 * offset)
        return self._value(f"{4 * offset:#x}" if register is None else register.name)

    def same(self, value: StateValue) -> StateValue:
        """See RegisterState."""
        return self._value(value.name)

    def matching(self, pattern: str) -> list[StateValue]:
        """See RegisterState."""
        folded = pattern.upper().replace("[", "[[]")
        return [one for one in self.values() if fnmatchcase(one.name.upper(), folded)]

    def _chosen(
        self,
        names: Sequence[str] = (),
        origin: Origin | None = None,
        directory: str | None = None,
    ) -> ChosenValues:
        """See RegisterState. An offset is in bytes."""
        values, missing = list(self.values()), []
        if names:
            chosen: set[str] = set()
            for name in names:
                matching = self._matching(name)
                chosen.update(one.name for one in matching)
                if not matching:
                    missing.append(name)
                    if self._name(name) is None and "*" not in name and "?" not in name:
                        raise UnknownName(self._no_such(name))
            values = [one for one in values if one.name in chosen]
        if origin is not None:
            values = [one for one in values if one.origin == origin]
        return ChosenValues(values, missing)

    def _matching(self, name: str) -> list[StateValue]:
        try:
            at = self.at(int(name, 16) // 4)
        except ValueError:
            return self.matching(name)
        return [at] if at.is_written else []

    @property
    def written(self) -> list[StateValue]:
        """See RegisterState."""
        before, order = self._before(), self.action.order
        return Shown(map(self._value, self._history.set_between(before, order)))

    def _before(self) -> int:
        """The program's draw before; -1 before the first, the action itself for no draw."""
        history, action = self._history, self.action
        if not action.is_counted:
            return action.order
        before = history.draw_before(action.order)
        return -1 if before is None else before

    @property
    def changed(self) -> list[Change]:
        """See RegisterState."""
        before = self._before()
        changes: Shown[Change] = Shown()
        for one in self._history.set_between(before, self.action.order):
            now, old = self._value(one), self._history.value(one, before)
            was = InstructionValue(now.described, old, self)
            if old is None or was != now or was.is_unknown != now.is_unknown:
                changes.append(Change(one, was, now))
        return changes

    @property
    def dwords(self) -> WordsByName:
        """See RegisterState."""
        order = self.action.order

        def made() -> WordsByName:
            return WordsByName({one.name: one.words for one in self._history.values(order)})

        return self._shared(self._history.version(order), made)

    def write(self, held: SetValue) -> RegisterWrite:
        """The instruction that set a value."""
        return InstructionWrite(held.command, pass_of(self._history.survey.passes, held.command))

    def write_of(self, register: Register) -> RegisterWrite | None:
        """See RegisterState."""
        return self._value(register.name).written_by

    def is_written(self, register: Register) -> bool:
        """See RegisterState."""
        return self._holds(register.name)

    def elements_of(self, register: Register) -> list[StateValue]:
        """Empty: there are no ports."""
        return []

    def commands_of(self, register: Register) -> list[CommandValue]:
        """Empty: no register is a command."""
        return []

    @property
    def _uses(self) -> DrawState:
        """What the action uses besides: kernels, binding tables, sets, push constants."""
        return self._used_by(self.action)

    def uses_lines(self) -> list[str]:
        """See RegisterState."""
        from cffpy.intel.views.texts import uses_lines

        return list(uses_lines(self._uses))

    def to_dict(self) -> dict[str, Any]:
        """Its facts, and in ``uses`` what no register says."""
        return self.document(self.values())

    def document(self, values: Iterable[StateValue]) -> dict[str, Any]:
        """See RegisterState; ``uses`` has what no register says."""
        return {**super().document(values), "uses": self._uses.to_dict()}


#: Values whose lines are kept.
_MOST_LINES = 1 << 14


class StateLines:
    """What is set at an action as lines that can be compared: a line for each field."""

    def __init__(self, history: StateHistory) -> None:
        self._history = history
        self._known: dict[tuple[str, tuple[int, ...] | None], list[str]] = {}

    def __call__(self, order: int) -> list[str]:
        """The lines of an action, by ``Action.order``."""
        return [line for held in self._history.values(order) for line in self._lines(held)]

    def _lines(self, held: SetValue) -> list[str]:
        key = held.name, held.words
        known = self._known.get(key)
        if known is None:
            database = self._history.database
            assert database is not None  # there is a value
            fields = held.fields(database)
            known = [f"{held.name}.{one.name} = {one.text}" for one in fields]
            known = known or [f"{held.name} = {held.text(database)}"]
            if len(self._known) >= _MOST_LINES:
                self._known.clear()
            self._known[key] = known
        return known
