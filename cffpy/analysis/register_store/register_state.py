# SPDX-License-Identifier: MIT
"""RegisterState: the registers at an action, and what wrote them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, Annotated, NamedTuple, NotRequired, TypedDict

from cffpy.analysis.register_store.history import RegisterHistory
from cffpy.analysis.register_store.log import RegisterLog
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.document_types import Facts, Of
from cffpy.errors import UnknownName
from cffpy.frame.faces import facts_document, facts_documents
from cffpy.frame.facts import Address, Bits, described, fact
from cffpy.frame.field import FieldValue
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.places import name_of
from cffpy.frame.register_write import Origin, RegisterWrite
from cffpy.regdb.register_text import RegisterText
from cffpy.regdb.registers import Registers, RegisterValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cffpy.analysis.register_store.history import RegisterMap, State
    from cffpy.frame.action import Action
    from cffpy.regdb.database import Database
    from cffpy.regdb.registers import Register


@described(
    "register",
    is_value=False,
    value="the value; None where only the GPU knows it, and of what has fields alone: instructions"
    " and structures in memory",
    order=(
        *("draw", "name", "register_offset", "bits", "value", "pair_value", "text", "fields"),
        *("origin", "written_by"),
    ),
)
class StateValue(RegisterValue, ModelObject):
    """A register at an action: what it holds, and the packet that wrote it.

    The packet of a 64-bit register is that of its lower dword.
    """

    __slots__ = ("_state",)

    value: Bits | None

    def __init__(self, register: Register, value: int | None, state: RegisterState) -> None:
        self.register = register  # as RegisterValue does: scripts make many of these
        self.value = value
        self._fields = None
        self._state = state

    @fact()
    def draw(self) -> str | None:
        """The draw by the name that commands take."""
        name = name_of(self._state.action)
        return None if name is None else str(name)

    @fact(name="register")
    def name(self) -> str:
        """Name of the register; of an Intel GPU also of an instruction, or of a structure in
        memory.
        """
        return self.register.name

    @fact("dwords")
    def register_offset(self) -> Address | None:
        """Its offset, of an element of a port the port's; None for an instruction or structure."""
        return self.register.offset

    @fact()
    def bits(self) -> int:
        """32, or 64 for two dwords; of an instruction or structure those of all its dwords."""
        return self.register.bits

    @fact()
    def pair_value(self) -> Bits | None:
        """Of X_LO, the 64-bit value of X_LO and X_HI."""
        name = self.register.name
        if self.value is None or not name.endswith("_LO"):
            return None
        upper = self._state.at(self.register.number + 1)
        if upper.name != f"{name[:-3]}_HI" or upper.value is None:
            return None
        return self.value | upper.value << 32

    @fact(name="decoded")
    def text(self) -> str:
        """The value as text."""
        if self.value is None and not self.is_written:
            return "never written"
        if self.register.is_port:
            return "; ".join(f"{element.name}: {element.text}" for element in self.elements)
        return super().text

    @fact()
    def fields(self) -> dict[str, FieldValue]:
        """Its fields by name; none of an unknown value, and where the register has none."""
        return super().fields

    @fact()
    def origin(self) -> Origin | None:
        """Where the value was written."""
        write = self.written_by
        return None if write is None else write.origin(self._state.action)

    @fact()
    def written_by(self) -> RegisterWrite | None:
        """The packet that wrote it."""
        return self._state.write_of(self.register)

    @property
    def elements(self) -> list[StateValue]:
        """Of a port, such as VPC_SO_PROG: the dwords written through it, ``VPC_SO_PROG[0]`` first.

        Each has its value and its write; the port itself has no value. Empty for other registers.
        """
        return self._state.elements_of(self.register)

    @property
    def commands(self) -> list[CommandValue]:
        """Of a register whose writes are commands, such as HLSQ_INVALIDATE_CMD: all of them.

        Those since the draw, dispatch or copy before, in order, each with its packet: each has an
        effect. Empty for other registers.
        """
        return self._state.commands_of(self.register)

    @property
    def is_written(self) -> bool:
        """Whether any packet wrote it before the draw; otherwise ``value`` is None."""
        return self._state.is_written(self.register)

    @property
    def is_unknown(self) -> bool:
        """Whether it was written, with a value that only the GPU knows."""
        return self.value is None and self.is_written and not self.register.is_port

    @property
    def inherited(self) -> bool:
        """Whether it was written in an earlier submit."""
        return self.origin == "earlier submit"

    __repr__ = RegisterValue.__repr__
    _repr_html_ = RegisterValue._repr_html_


class CommandValue(StateValue):
    """One write of a register whose writes are commands."""

    __slots__ = ("_write",)

    def __init__(
        self, register: Register, value: int | None, state: RegisterState, write: RegisterWrite
    ) -> None:
        super().__init__(register, value, state)
        self._write = write

    @property
    def pair_value(self) -> None:
        """None: it is a write of this register alone."""

    @property
    def commands(self) -> list[CommandValue]:
        """Empty: it is a command itself."""
        return []

    @property
    def written_by(self) -> RegisterWrite:
        """The packet of this write."""
        return self._write


class Change(NamedTuple):
    """A register that differs from the draw before."""

    name: str
    before: StateValue
    now: StateValue


class ChosenValues(NamedTuple):
    """Values at an action. ``missing``: names of which nothing was written."""

    values: list[StateValue]
    missing: list[str]


class StateDocument(TypedDict):
    """Registers at a draw: cffpy state --json."""

    draw: Annotated[Facts, "the draw", Of("cffpy.frame.action:Action")]
    registers: Annotated[
        list[Facts],
        "the registers, by offset",
        Of("cffpy.analysis.register_store.register_state:StateValue"),
    ]
    uses: NotRequired[
        Annotated[
            Facts,
            "of an Intel GPU, what no register says",
            Of("cffpy.intel.analysis.draw_state:DrawState"),
        ]
    ]


class RegisterState(ABC):
    """What registers hold at an action: ``state["RB_DEPTH_CNTL"]``, ``state[0x8871]``.

    Of an Intel GPU also what instructions and structures in memory hold: ``state["3DSTATE_PS"]``,
    ``state["BLEND_STATE"]``. Iterating gives the names of what was written before the action:
    registers by offset, before them instructions and structures by name.
    """

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action = action

    @abstractmethod
    def __getitem__(self, key: str | int) -> StateValue:
        """The value of a register by name, as in ``RB_MRT[0].CONTROL``, or by offset in dwords.

        Case and the radix of indices do not matter. Raises UnknownName, which is a KeyError. A
        register that was not written has no value. One without a description has the name that it
        is listed by, as in ``0x210b``, if it was written. A port, VPC_SO_PROG, has ``elements``,
        which are also found by name: ``VPC_SO_PROG[3]``.
        """

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Whether a register was written before the action. False for an unknown name."""

    @abstractmethod
    def values(self) -> Iterator[StateValue]:
        """The values of all that was written, in the order of iterating."""

    @abstractmethod
    def at(self, offset: int) -> StateValue:
        """The value of the register at an offset, which need not be described."""

    @abstractmethod
    def same(self, value: StateValue) -> StateValue:
        """The value here of what a value of another state is of."""

    @abstractmethod
    def matching(self, pattern: str) -> list[StateValue]:
        """Those whose names match, with ``*`` and ``?`` as in file names: ``RB_MRT[*].CONTROL``.

        If none does, the names of other installed editions are tried.
        """

    @abstractmethod
    def chosen(
        self,
        names: Sequence[str] = (),
        origin: Origin | None = None,
        directory: str | None = None,
    ) -> ChosenValues:
        """What the arguments of ``cffpy state`` name, all without: names, patterns, offsets.

        ``origin``: only what was written there. ``directory``: the edition. Raises UnknownName
        where the GPU has nothing of a name.
        """

    @property
    @abstractmethod
    def written(self) -> list[StateValue]:
        """What was written since the draw before, in the order of iterating, changed or not.

        Empty for an action that is not one of the program's draws.
        """

    @property
    @abstractmethod
    def changed(self) -> list[Change]:
        """What differs from the program's draw before, in the order of iterating.

        Of the capture's first draw, all that was written. Empty for an action that is not one of
        the program's draws.
        """

    @property
    @abstractmethod
    def dwords(self) -> Mapping[int, int | None] | Mapping[str, tuple[int, ...] | None]:
        """All dwords that were written: number -> value, None where only the GPU knows it.

        Of an Intel GPU name -> dwords. One object for all actions of a capture that see the same:
        compare by ``is``, or keep by it what was found out for an action, to do it once for all of
        them.
        """

    @abstractmethod
    def write_of(self, register: Register) -> RegisterWrite | None:
        """What wrote a register, of a 64-bit register the lower dword, of a port the last one."""

    @abstractmethod
    def is_written(self, register: Register) -> bool:
        """Whether a packet wrote a register, of a 64-bit register the lower dword."""

    @abstractmethod
    def elements_of(self, register: Register) -> list[StateValue]:
        """The values of the elements of a port that were written, by index; none of others."""

    @abstractmethod
    def commands_of(self, register: Register) -> list[CommandValue]:
        """The writes of a register whose writes are commands since the action before, in order."""

    def uses_lines(self) -> list[str]:
        """What no register says, as ``cffpy state`` prints it: of an Intel GPU kernels, binding
        tables, descriptor sets, buffers.
        """
        return []

    def __iter__(self) -> Iterator[str]:
        return (value.name for value in self.values())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list[str]:
        """The names of what was written, in the order of iterating."""
        return list(self)

    def items(self) -> Iterator[tuple[str, StateValue]]:
        """The names and values of all that was written, in the order of iterating."""
        return ((value.name, value) for value in self.values())

    def get(self, key: str | int, default: StateValue | None = None) -> StateValue | None:
        """The value of a register by name or offset; ``default`` where it was not written."""
        return self[key] if key in self else default  # noqa: SIM401 - this is get

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def to_dict(self) -> StateDocument:
        """The document of ``cffpy state --json``, without its schema."""
        return self.document(self.values())

    def document(self, values: Iterable[StateValue]) -> StateDocument:
        """The same with some values only."""
        return {
            "draw": facts_document(self.action),
            "registers": list(facts_documents(with_commands(values))),
        }

    def __repr__(self) -> str:
        return f"<RegisterState: {len(self)} registers>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = [
            (value.name, "unknown" if value.value is None else f"{value.value:#x}", value.text)
            for value in self.values()
        ]
        return html_table(("register", "value", "decoded"), rows)


def with_commands(values: Iterable[StateValue]) -> Iterator[StateValue]:
    """The values; of a register whose writes are commands the value of each write."""
    for value in values:
        yield from value.commands[:-1]
        yield value


class LoggedState(RegisterState):
    """The registers at an action, of the log of all writes."""

    __slots__ = ("_history", "_order", "_registers", "_rows", "_whole", "database")

    def __init__(
        self,
        history: RegisterHistory,
        order: int,
        registers: Registers,
        database: Database,
        action: Action,
    ) -> None:
        """``order``: of the action that the registers are seen at."""
        super().__init__(action)
        self._history = history
        #: All registers, once they were asked for; then single ones are looked up there.
        self._whole: State | None = None
        #: The changes of registers that were asked for before.
        self._rows = history.rows
        self._order = order
        self._registers = registers
        self.database = database

    @classmethod
    def of(cls, whole: State) -> LoggedState:
        """The same of a state that was taken, as of ``Inherited``."""
        registers = Registers(whole.database)
        found = cls(NO_HISTORY, 0, registers, whole.database, whole.action)
        found._whole = whole
        return found

    def __getitem__(self, key: str | int) -> StateValue:
        """See RegisterState."""
        try:
            register = self._registers.known[key]
        except (KeyError, TypeError):
            return self._look_up(key)
        row = self._rows.get(register.number)
        if row is None or register.bits == 64:
            return self._value(register)
        index = bisect_right(row.orders, self._order)  # as RegisterHistory.value, without a call
        value = row.values[index - 1] if index else UNKNOWN
        return StateValue(register, None if value == UNKNOWN else value, self)

    def _look_up(self, key: str | int) -> StateValue:
        try:
            return self._value(self._registers[key])
        except UnknownName:
            offset = self._undescribed(key)
            if offset is None:
                raise
            return self.at(offset)

    def _undescribed(self, key: str | int) -> int | None:
        """The offset of a register that was written and has no description."""
        written = self._numbers()
        if isinstance(key, int):
            return key if key in written else None
        at = self._registers.at
        return next((offset for offset in written if at(offset).name == key), None)

    def _value(self, register: Register) -> StateValue:
        number = register.number
        value = self._dword(number)
        if register.bits == 64 and value is not None:
            upper = self._dword(number + 1)
            if upper is not None:
                value |= upper << 32
            elif register.is_pair or self._has(number + 1):
                value = None
        return StateValue(register, value, self)

    def _dword(self, number: int) -> int | None:
        """The value of a dword; None where it is unknown or was never written."""
        whole = self._whole
        if whole is not None:
            return whole.registers.get(number)
        return self._history.value(number, self._order)

    def _has(self, number: int) -> bool:
        """Whether a dword was written."""
        whole = self._whole
        if whole is not None:
            return number in whole.registers or number in whole.writes
        return self._history.is_written(number, self._order)

    def _numbers(self) -> list[int]:
        """The dwords that were written."""
        if self._whole is not None:
            return self._whole.written
        return [*self._history.registers(self._order)]

    def _take(self) -> State:
        """All registers: to look them up one by one costs more."""
        if self._whole is None:
            self._whole = self._history.state(self.action, self.database)
        return self._whole

    def write_of(self, register: Register) -> RegisterWrite | None:
        """See RegisterState."""
        if register.is_port:
            elements = self.elements_of(register)
            return self.write_of(elements[-1].register) if elements else None
        if self._whole is not None:
            return self._whole.writes.get(register.number)
        return self._history.write(register.number, self._order)

    def is_written(self, register: Register) -> bool:
        """See RegisterState."""
        if register.is_port:
            return bool(self.elements_of(register))
        return self._has(register.number)

    def elements_of(self, register: Register) -> list[StateValue]:
        """See RegisterState."""
        if not register.is_port:
            return []
        return [self.at(one) for one in self.database.stored(register.offset) if self._has(one)]

    def commands_of(self, register: Register) -> list[CommandValue]:
        """See RegisterState."""
        if register.number not in self.database.commands:
            return []
        whole = self._whole
        known = self._history.commands(self._order) if whole is None else whole.commands
        return [
            CommandValue(register, value, self, write)
            for _, value, write in known.get(register.number, ())
        ]

    def __contains__(self, key: object) -> bool:
        """See RegisterState."""
        try:  # without a call: scripts ask again and again
            row = self._rows[self._registers.known[key].number]  # type: ignore[index]
        except (KeyError, TypeError):
            return self._knows(key)
        return row.orders[0] <= self._order

    def _knows(self, key: object) -> bool:
        if not isinstance(key, str | int):
            return False
        register = self._registers.find(key)
        if register is None:
            return self._undescribed(key) is not None
        return self.is_written(register)

    def __iter__(self) -> Iterator[str]:
        text = RegisterText(self.database)
        return map(text.name, text.listed(self._numbers()))

    def __len__(self) -> int:
        return len(RegisterText(self.database).listed(self._numbers()))

    def values(self) -> Iterator[StateValue]:
        """See RegisterState."""
        for register in RegisterText(self.database).listed(self._take().written):
            yield self.at(register)

    @property
    def dwords(self) -> RegisterMap:
        """See RegisterState."""
        return self._history.dwords(self._order)

    def at(self, offset: int) -> StateValue:
        """See RegisterState."""
        return self._value(self._registers.at(offset))

    def same(self, value: StateValue) -> StateValue:
        """See RegisterState."""
        return self.at(value.register.number)

    def matching(self, pattern: str) -> list[StateValue]:
        """See RegisterState."""
        from cffpy.regdb.search import matching_names  # lazily: little needs it

        values = list(self.values())
        matching = matching_names(self.database, [value.name for value in values], pattern)
        return Shown(value for value in values if value.name in matching)

    def chosen(
        self,
        names: Sequence[str] = (),
        origin: Origin | None = None,
        directory: str | None = None,
    ) -> ChosenValues:
        """See RegisterState."""
        state = self._take()
        numbers, missing = state.written, []
        if names:
            matches = {name: self._named(name) for name in names}
            missing = [name for name, matching in matches.items() if not matching]
            for name in missing:
                self._check_name(name, directory)
            numbers = sorted({number for matching in matches.values() for number in matching})
        if origin is not None:
            writes, action = state.writes, self.action
            numbers = [
                one for one in numbers if one in writes and writes[one].origin(action) == origin
            ]
        return ChosenValues([*self.values_of(numbers)], missing)

    def values_of(self, numbers: Iterable[int]) -> Iterator[StateValue]:
        """The values of registers by number, one of both dwords of 64 bits."""
        return map(self.at, RegisterText(self.database).listed(numbers))

    def _named(self, name: str) -> list[int]:
        """The numbers of the registers of a name, a pattern or an offset that were written."""
        from cffpy.regdb.search import matching_names

        state, database = self._take(), self.database
        named, offset = database.find_named(name), _offset(name)
        offsets = named.described if named is not None else (offset,) if offset else ()
        if offsets:
            stored = chain.from_iterable(map(database.stored, offsets))
            return [one for one in stored if one in state.registers or one in state.writes]
        text = RegisterText(database)
        names = {number: text.name(number) for number in state.written}
        matching = matching_names(database, names.values(), name)
        return [number for number, known in names.items() if known in matching]

    def _check_name(self, name: str, directory: str | None) -> None:
        """Raise UnknownName if no register of the generation has this name or offset."""
        from cffpy.regdb import store
        from cffpy.regdb.catalog import Catalog
        from cffpy.regdb.search import has_register, has_renamed, no_such_register

        chip = self.database.chip
        catalog = Catalog(store.load(directory, chip))
        offset = _offset(name)
        if offset is None:
            is_known = self.database.find_register(name) or has_register(catalog, name)
            if not is_known and not has_renamed(catalog, name):
                raise UnknownName(no_such_register(catalog, name))
        elif not any(catalog.at(domain, offset) for domain in catalog.register_domains):
            raise UnknownName(f"{chip.lower()} has no register at offset {name}")

    @property
    def written(self) -> list[StateValue]:
        """See RegisterState."""
        since = self._history.written_since(self._order)
        return Shown(self.at(register) for register in RegisterText(self.database).listed(since))

    @property
    def changed(self) -> list[Change]:
        """See RegisterState."""
        before = self._history.before(self._order)
        earlier, order = self._history, before or 0
        if before is None:
            earlier = NO_HISTORY
        old = LoggedState(earlier, order, self._registers, self.database, self.action)
        changes: Shown[Change] = Shown()
        for value in self.written:
            was = old._value(value.register)
            if was.value != value.value or was.is_unknown != value.is_unknown:
                changes.append(Change(value.name, was, value))
        return changes

    def snapshot(self) -> State:
        """All registers and writes at once."""
        return self._take()


def _offset(name: str) -> int | None:
    """The number of an offset like 0x8820; None for anything else."""
    if not name.lower().startswith("0x"):
        return None
    try:
        return int(name, 16)
    except ValueError:
        return None


#: Of what is asked as a whole: nothing was written.
NO_HISTORY = RegisterHistory(RegisterLog())
