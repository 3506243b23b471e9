# SPDX-License-Identifier: MIT
"""RegisterState: the registers at a draw, and what wrote them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.register_store.history import RegisterHistory
from cffpy.analysis.register_store.log import RegisterLog
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.api.registers import RegisterValue
from cffpy.errors import UnknownName
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.register_store.state import State
    from cffpy.api.registers import Register, Registers
    from cffpy.frame.action import Action
    from cffpy.frame.register_write import Origin, RegisterWrite
    from cffpy.regdb.database import Database
    from cffpy.views.state import StateDocument


class StateValue(RegisterValue):
    """The value of a register at a draw."""

    __slots__ = ("_state",)

    def __init__(self, register: Register, value: int | None, state: RegisterState) -> None:
        self.register = register  # as RegisterValue does: scripts make many of these
        self.value = value
        self._fields = None
        self._state = state

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
    def text(self) -> str:
        """The decoded value, as ``cffpy state`` prints it."""
        if self.value is None and not self.is_written:
            return "never written"
        if self.register.is_port:
            return "; ".join(f"{element.name}: {element.text}" for element in self.elements)
        return super().text

    @property
    def written_by(self) -> RegisterWrite | None:
        """The packet that wrote it, of a 64-bit register the lower dword; None: none did."""
        return self._state.write_of(self.register)

    @property
    def origin(self) -> Origin | None:
        """Where it was written: "this pass", "before the pass" or "earlier submit"."""
        write = self._state.write_of(self.register)
        return None if write is None else write.origin(self._state.action)

    @property
    def inherited(self) -> bool:
        """Whether it was written in an earlier submit."""
        return self.origin == "earlier submit"


class CommandValue(RegisterValue):
    """One write of a register whose writes are commands. ``written_by``: its packet."""

    __slots__ = ("written_by",)

    def __init__(self, register: Register, value: int | None, written_by: RegisterWrite) -> None:
        super().__init__(register, value)
        #: The packet.
        self.written_by = written_by


class Change(NamedTuple):
    """A register that differs from the draw before."""

    name: str
    before: StateValue
    now: StateValue


class RegisterState:
    """The registers at an action: ``state["RB_DEPTH_CNTL"]``, ``state[0x8871]``.

    Iterating gives the names of the registers that were written before the draw, by offset.
    """

    __slots__ = ("_history", "_order", "_registers", "_rows", "action", "database")

    def __init__(
        self,
        history: RegisterHistory,
        order: int,
        registers: Registers,
        database: Database,
        action: Action,
    ) -> None:
        """``order``: of the action that the registers are seen at."""
        self._history = history
        #: The changes of registers that were asked for before.
        self._rows = history.rows
        self._order = order
        self._registers = registers
        self.database = database
        self.action = action

    def __getitem__(self, key: str | int) -> StateValue:
        """The value of a register by name, as in ``RB_MRT[0].CONTROL``, or by offset in dwords.

        Case and the radix of indices do not matter. Raises UnknownName, which is a KeyError. A
        register that was not written has no value. One without a description has the name that it
        is listed by, as in ``0x210b``, if it was written. A port, VPC_SO_PROG, has ``elements``,
        which are also found by name: ``VPC_SO_PROG[3]``.
        """
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
        written = self._history.registers(self._order)
        if isinstance(key, int):
            return key if key in written else None
        at = self._registers.at
        return next((offset for offset in written if at(offset).name == key), None)

    def _value(self, register: Register) -> StateValue:
        history, order, offset = self._history, self._order, register.number
        value = history.value(offset, order)
        if register.bits == 64 and value is not None:
            upper = history.value(offset + 1, order)
            if upper is not None:
                value |= upper << 32
            elif register.is_pair or history.is_written(offset + 1, order):
                value = None
        return StateValue(register, value, self)

    def write_of(self, register: Register) -> RegisterWrite | None:
        """What wrote a register, of a 64-bit register the lower dword, of a port the last one."""
        if register.is_port:
            elements = self.elements_of(register)
            return self.write_of(elements[-1].register) if elements else None
        return self._history.write(register.number, self._order)

    def is_written(self, register: Register) -> bool:
        """Whether a packet wrote a register, of a 64-bit register the lower dword."""
        if register.is_port:
            return bool(self.elements_of(register))
        return self._history.is_written(register.number, self._order)

    def elements_of(self, register: Register) -> list[StateValue]:
        """The values of the elements of a port that were written, by index; none of others."""
        if not register.is_port:
            return []
        elements = self.database.stored(register.offset)
        return [
            self.at(element)
            for element in elements
            if self._history.is_written(element, self._order)
        ]

    def commands_of(self, register: Register) -> list[CommandValue]:
        """The writes of a register whose writes are commands since the action before, in order."""
        if register.number not in self.database.commands:
            return []
        return [
            CommandValue(register, value, write)
            for _, value, write in self._history.commands(self._order).get(register.number, ())
        ]

    def __contains__(self, key: object) -> bool:
        """Whether a register was written before the draw. False for an unknown name."""
        try:  # without a call: scripts ask again and again
            row = self._rows[self._registers.known[key].number]  # type: ignore[index]
        except (KeyError, TypeError):
            return self._has(key)
        return row.orders[0] <= self._order

    def _has(self, key: object) -> bool:
        if not isinstance(key, str | int):
            return False
        register = self._registers.find(key)
        if register is None:
            return self._undescribed(key) is not None
        return self.is_written(register)

    def __iter__(self) -> Iterator[str]:
        text = RegisterText(self.database)
        return map(text.name, text.listed(self._history.registers(self._order)))

    def __len__(self) -> int:
        return len(RegisterText(self.database).listed(self._history.registers(self._order)))

    def values(self) -> Iterator[StateValue]:
        """The values of all registers that were written, by offset."""
        for register in RegisterText(self.database).listed(self._history.registers(self._order)):
            yield self.at(register)

    def keys(self) -> list[str]:
        """The names of the registers that were written, by offset."""
        return list(self)

    def items(self) -> Iterator[tuple[str, StateValue]]:
        """The names and values of all registers that were written, by offset."""
        return ((value.name, value) for value in self.values())

    def get(self, key: str | int, default: StateValue | None = None) -> StateValue | None:
        """The value of a register by name or offset; ``default`` where it was not written."""
        return self[key] if key in self else default  # noqa: SIM401 - this is get

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def at(self, offset: int) -> StateValue:
        """The value at an offset, which need not be described."""
        return self._value(self._registers.at(offset))

    def matching(self, pattern: str) -> list[StateValue]:
        """Those whose names match, with ``*`` and ``?`` as in file names: ``RB_MRT[*].CONTROL``.

        If none does, the names of other installed editions are tried.
        """
        from cffpy.regdb.search import matching_names  # lazily: little needs it

        values = list(self.values())
        matching = matching_names(self.database, [value.name for value in values], pattern)
        return [value for value in values if value.name in matching]

    @property
    def written(self) -> list[StateValue]:
        """The registers that were written since the draw before, by offset, changed or not.

        Empty for an action that is not one of the program's draws.
        """
        since = self._history.written_since(self._order)
        return [self.at(register) for register in RegisterText(self.database).listed(since)]

    @property
    def changed(self) -> list[Change]:
        """The registers whose values differ from the program's draw before, by offset.

        Of the capture's first draw, all that were written. Empty for an action that is not one of
        the program's draws.
        """
        before = self._history.before(self._order)
        earlier, order = self._history, before or 0
        if before is None:
            earlier = RegisterHistory(RegisterLog())  # nothing was written
        old = RegisterState(earlier, order, self._registers, self.database, self.action)
        found = []
        for value in self.written:
            was = old._value(value.register)
            if was.value != value.value or was.is_unknown != value.is_unknown:
                found.append(Change(value.name, was, value))
        return found

    def to_dict(self) -> StateDocument:
        """The document of ``cffpy state --json``, without its schema."""
        from cffpy.views.state import document

        state = self.snapshot()
        return document(state, state.written)

    def snapshot(self) -> State:
        """All registers and writes as the commands use them."""
        return self._history.state(self.action, self.database)

    def __repr__(self) -> str:
        return f"<RegisterState: {len(self)} registers>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = [
            (value.name, "unknown" if value.value is None else f"{value.value:#x}", value.text)
            for value in self.values()
        ]
        return html_table(("register", "value", "decoded"), rows)
