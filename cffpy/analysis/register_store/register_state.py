# SPDX-License-Identifier: MIT
"""LoggedState: the registers at an action, of the log of all writes."""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING

from cffpy.analysis.event_reads import EventReads, event_of, next_pass, rows_of, staleness
from cffpy.analysis.register_store.history import RegisterHistory
from cffpy.analysis.register_store.log import RegisterLog
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.errors import UnknownName, UsageError
from cffpy.frame.objects import Shown
from cffpy.frame.register_state import Change, ChosenValues, CommandValue, RegisterState, StateValue
from cffpy.frame.register_write import Origin, RegisterWrite
from cffpy.regdb.registers import Registers, RegisterText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.analysis.event_reads import ReadRegister
    from cffpy.analysis.register_store.history import RegisterMap, State
    from cffpy.frame.action import Action
    from cffpy.frame.register import Register
    from cffpy.regdb.database import Database


class LoggedState(RegisterState):
    """The registers at an action, of the log of all writes."""

    __slots__ = ("_database", "_history", "_order", "_registers", "_rows", "_whole")

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
        self._database = database

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
            self._whole = self._history.state(self.action, self._database)
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
        return [self.at(one) for one in self._database.stored(register.offset) if self._has(one)]

    def commands_of(self, register: Register) -> list[CommandValue]:
        """See RegisterState."""
        if register.number not in self._database.commands:
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

    def register(self, name: str) -> Register | None:
        """The register of a name; None if the GPU has none."""
        return self._registers.find(name)

    def _knows(self, key: object) -> bool:
        if not isinstance(key, str | int):
            return False
        register = self._registers.find(key)
        if register is None:
            return self._undescribed(key) is not None
        return self.is_written(register)

    def __iter__(self) -> Iterator[str]:
        text = RegisterText(self._database)
        return map(text.name, text.listed(self._numbers()))

    def __len__(self) -> int:
        return len(RegisterText(self._database).listed(self._numbers()))

    def values(self) -> Iterator[StateValue]:
        """See RegisterState."""
        for register in RegisterText(self._database).listed(self._take().written):
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
        from cffpy.regdb.lookup import matching_names  # lazily: little needs it

        values = list(self.values())
        matching = matching_names(self._database, [value.name for value in values], pattern)
        return Shown(value for value in values if value.name in matching)

    def _chosen(
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
        return map(self.at, RegisterText(self._database).listed(numbers))

    def _named(self, name: str) -> list[int]:
        """The numbers of the registers of a name, a pattern or an offset that were written."""
        from cffpy.regdb.lookup import matching_names

        state, database = self._take(), self._database
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
        from cffpy.regdb.lookup import has_register, has_renamed, no_such_register

        chip = self._database.chip
        catalog = Catalog(store.load(directory, chip))
        offset = _offset(name)
        if offset is None:
            is_known = self._database.find_register(name) or has_register(catalog, name)
            if not is_known and not has_renamed(catalog, name):
                raise UnknownName(no_such_register(catalog, name))
        elif not any(catalog.at(domain, offset) for domain in catalog.register_domains):
            raise UnknownName(f"{chip.lower()} has no register at offset {name}")

    @property
    def written(self) -> list[StateValue]:
        """See RegisterState."""
        since = self._history.written_since(self._order)
        return Shown(self.at(register) for register in RegisterText(self._database).listed(since))

    @property
    def changed(self) -> list[Change]:
        """See RegisterState."""
        before = self._history.before(self._order)
        earlier, order = self._history, before or 0
        if before is None:
            earlier = NO_HISTORY
        old = LoggedState(earlier, order, self._registers, self._database, self.action)
        changes: Shown[Change] = Shown()
        for value in self.written:
            was = old._value(value.register)
            if was.value != value.value or was.is_unknown != value.is_unknown:
                changes.append(Change(value.name, was, value))
        return changes

    @property
    def reads(self) -> list[StateValue]:
        """See RegisterState."""
        return Shown(self.at(read.offset) for read in self._read)

    @property
    def stale(self) -> list[StateValue]:
        """See RegisterState."""
        action, frame = self.action, self.action._frame
        if frame is None:
            raise UsageError("the capture is closed")
        after = self._history.log.actions_after()
        stale: Shown[StateValue] = Shown()
        for read in self._read:
            entry = self._history.entry(read.offset, self._order)
            write = self._history.write(read.offset, self._order)
            meant_for = None if entry is None else next_pass(frame.actions, after[entry])
            if staleness(read, write, meant_for, action, frame.passes) is not None:
                stale.append(self.at(read.offset))
        return stale

    @property
    def _read(self) -> Sequence[ReadRegister]:
        """What the table of ``event_reads`` has for the action."""
        event = event_of(self.action)
        reads = EventReads(rows_of(int(self._database.chip[1])))
        return () if event is None else reads.of(event, self.action.kind, _FieldsByName(self))

    def snapshot(self) -> State:
        """All registers and writes at once."""
        return self._take()


class _FieldsByName:
    """The registers of a state as ``event_reads`` asks for them."""

    def __init__(self, state: LoggedState) -> None:
        self._state = state

    def offset(self, name: str) -> int:
        """See FieldReader."""
        register = self._state.register(name)
        return 0 if register is None else register.number

    def field(self, name: str, field: str = "") -> int | None:
        """See FieldReader."""
        value = self._state[name] if self.offset(name) else None
        if value is None or value.value is None or not field:
            return None if value is None else value.value
        known = value.fields.get(field)
        return None if known is None else known.raw


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
