# SPDX-License-Identifier: MIT
"""RegisterHistory: the registers of one pipe, or of the only one, at every action.

A register is looked up in all entries of the log when it is first asked for; its value at an action
is found by a binary search among its changes. So memory grows with what is asked. All registers at
an action are a ``Snapshot`` of the log, a ``State`` with what wrote them, or a ``RegisterMap``,
which is one object for all actions that see the same.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from cffpy.analysis.register_store.log import BR, DROPPED, RegisterLog
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.command_writes import CommandWrite
    from cffpy.analysis.register_store.log import Reader
    from cffpy.frame.action import Action
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.regdb.database import Database


@dataclass(slots=True)
class State:
    """All registers at an action: values as dwords, and what wrote each.

    A register with a write but no value was filled by the GPU: its value is unknown.
    """

    action: Action
    database: Database
    registers: dict[int, int]
    writes: Mapping[int, RegisterWrite]
    #: Of registers whose writes are commands: all of them since the action before.
    commands: Mapping[int, Sequence[CommandWrite]] = field(default_factory=dict)

    @property
    def written(self) -> list[int]:
        """All registers that were written, also those whose value is unknown."""
        return [*self.registers, *(other for other in self.writes if other not in self.registers)]


class LoggedWrites(Mapping[int, "RegisterWrite"]):
    """Register -> its write, found in a log when it is asked for."""

    __slots__ = ("_entries", "_log")

    def __init__(self, entries: dict[int, int], log: RegisterLog) -> None:
        """``entries``: register -> number of the entry that has its write."""
        self._entries = entries
        self._log = log

    def __getitem__(self, register: int) -> RegisterWrite:
        return self._log.source(self._entries[register], is_kept=True).of(register)

    def __contains__(self, register: object) -> bool:
        return register in self._entries

    def __iter__(self) -> Iterator[int]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class RegisterMap(Mapping[int, "int | None"]):
    """All dwords at an action: number -> value, None where only the GPU knows it."""

    __slots__ = ("__weakref__", "_hash", "values_by_number")

    #: The same, with UNKNOWN in place of None. Do not change it.
    values_by_number: dict[int, int]

    def __init__(self, values: dict[int, int]) -> None:
        """``values``: UNKNOWN for what only the GPU knows. They are not changed any more."""
        self.values_by_number = values
        self._hash = hash(frozenset(values.items()))

    def __getitem__(self, number: int) -> int | None:
        value = self.values_by_number[number]
        return None if value == UNKNOWN else value

    def __contains__(self, number: object) -> bool:
        return number in self.values_by_number

    def __iter__(self) -> Iterator[int]:
        return iter(self.values_by_number)

    def __len__(self) -> int:
        return len(self.values_by_number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegisterMap):
            return NotImplemented
        return self is other or (
            self._hash == other._hash and self.values_by_number == other.values_by_number
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<RegisterMap: {len(self)} dwords>"


#: Registers whose changes are collected one by one, before those of all are collected at once; and
#: how many dwords may be executed for that.
_COLLECTED, _MOST_COLLECTED = 16, 1 << 23


class Changes:
    """The changes of one register: the actions that see them first, and the values from then on.

    ``entries``: those of the log that have the writes; empty where they are not known.
    """

    __slots__ = ("entries", "orders", "values")

    def __init__(self) -> None:
        self.orders = array("I")
        self.values = array("q")
        self.entries = array("I")

    def add(self, order: int, value: int, entry: int) -> bool:
        """Add a change; False where it replaces one at the same action."""
        orders = self.orders
        if orders and orders[-1] == order:
            self.values[-1], self.entries[-1] = value, entry
            return False
        orders.append(order)
        self.values.append(value)
        self.entries.append(entry)
        return True

    def set(self, order: int, value: int) -> bool:
        """Add a change whose entry is not kept; False where it replaces one at the same action."""
        if self.orders and self.orders[-1] == order:
            self.values[-1] = value
            return False
        self.orders.append(order)
        self.values.append(value)
        return True

    def copy(self) -> Changes:
        """The same changes, to which others can be added."""
        other = Changes()
        other.orders, other.values = self.orders[:], self.values[:]
        return other


class Snapshot:
    """All registers at an action: values, and the entries of the log with their writes."""

    __slots__ = ("entries", "order", "values")

    def __init__(self, order: int, values: dict[int, int], entries: dict[int, int]) -> None:
        self.order = order
        #: Register -> value, or UNKNOWN. Do not change it.
        self.values = values
        self.entries = entries


class RegisterHistory:
    """The registers that actions of a pipe see. ``order``: ``Action.order`` of such an action."""

    def __init__(
        self, log: RegisterLog, reader: Reader = BR, draws: array[int] | None = None
    ) -> None:
        """``draws``: positions of the program's draws among the actions; they are BR's."""
        self._log: RegisterLog | None = log
        self._reader = reader
        self._draws = array("I") if draws is None else draws
        #: Whether the log has what was written before actions.
        self._has_entries = True
        #: The changes of registers that were asked for; of some that have none, nothing.
        self.rows: dict[int, Changes] = {}
        #: Whether ``rows`` has all registers. If not, it has some of those that were collected.
        self.is_complete = False
        self._collected: set[int] = set()
        #: The action after each entry.
        self._after = array("I")
        #: Register -> the first action that sees a write of it; made when it is first asked for.
        self._written: dict[int, int] = {}
        #: The last one that was asked for.
        self._snapshot: Snapshot | None = None
        #: The values at actions that are in use, by their hash.
        self._maps: WeakValueDictionary[int, RegisterMap] = WeakValueDictionary()
        #: Held while registers are collected: several threads may ask.
        self._lock = RLock()

    @property
    def log(self) -> RegisterLog:
        """The log. Raises UsageError where it was released."""
        if self._log is None:
            raise UsageError("the capture is closed")
        return self._log

    def release(self) -> None:
        """Forget everything: the capture is closed, but its states may still be held."""
        self._log, self.is_complete = None, False
        self.rows.clear()  # states have this object, too
        self._collected.clear()
        self._after, self._written, self._snapshot = array("I"), {}, None

    def use(self, rows: dict[int, Changes]) -> None:
        """These are the changes of all registers, and the log has no entries any more."""
        self.rows, self.is_complete, self._has_entries = rows, True, False
        self._draws = array("I")

    # -- one register ---------------------------------------------------------------------------

    def row(self, register: int) -> Changes | None:
        """The changes of one register: most questions are about a few of them."""
        if not self.is_complete and register not in self._collected:
            with self._lock:
                log = self.log
                if len(self._collected) < _COLLECTED or log.dwords() > _MOST_COLLECTED:
                    self._collect(log, register)
                else:
                    self._complete(log)
        return self.rows.get(register)

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """Positions of the actions before which a dword was written, and its value from each on.

        A value is -1 where only the GPU knows it. Both are empty for what was never written.
        """
        row = self.row(register)
        return ((), ()) if row is None else (row.orders, row.values)

    def value(self, register: int, order: int) -> int | None:
        """The value of a dword at an action; None where it is unknown or was never written."""
        row = self.rows.get(register) or self.row(register)
        if row is None:
            return None
        index = bisect_right(row.orders, order)
        if not index:
            return None
        value = row.values[index - 1]
        return None if value == UNKNOWN else value

    def is_written(self, register: int, order: int) -> bool:
        """Whether a dword was written before an action."""
        row = self.rows.get(register) or self.row(register)
        return row is not None and row.orders[0] <= order

    def write(self, register: int, order: int) -> RegisterWrite | None:
        """The write of a dword's value at an action; None where it was never written."""
        entry = self.entry(register, order)
        if entry is None:
            return None
        with self._lock:
            return self.log.source(entry, is_kept=True).of(register)

    def entry(self, register: int, order: int) -> int | None:
        """The log's entry of a dword's value at an action; None where it was never written."""
        row = self.row(register)
        index = 0 if row is None else bisect_right(row.orders, order)
        return row.entries[index - 1] if row is not None and index and row.entries else None

    # -- all registers --------------------------------------------------------------------------

    def registers(self, order: int) -> Iterator[int]:
        """The dwords that were written before an action, in no particular order."""
        if self.is_complete:
            return (register for register, row in self.rows.items() if row.orders[0] <= order)
        with self._lock:
            if not self._written:
                self._find_written(self.log)
        return (register for register, first in self._written.items() if first <= order)

    def snapshot(self, order: int) -> Snapshot:
        """All registers at an action."""
        if not self._has_entries:
            rows = {one: self.rows[one] for one in self.registers(order)}
            known = {
                register: row.values[bisect_right(row.orders, order) - 1]
                for register, row in rows.items()
            }
            return Snapshot(order, known, {})
        with self._lock:
            log, last = self.log, self._snapshot
            begin, values, entries = 0, dict[int, int](), dict[int, int]()
            if last is not None and last.order <= order:
                if last.order == order:
                    return last
                begin = log.ends[last.order]
                values, entries = dict(last.values), dict(last.entries)
            # of those that write the same, as tiles do, the last one counts
            distinct = {
                id(log.entries[at].registers): at for at in self._between(log, begin, order)
            }
            for at in sorted(distinct.values()):
                written = log.entries[at].registers
                values.update(written)
                entries.update(dict.fromkeys(written, at))
            self._snapshot = Snapshot(order, values, entries)
            return self._snapshot

    def dwords(self, order: int) -> RegisterMap:
        """The values of all registers at an action: one object for all that see the same."""
        snapshot = self.snapshot(order)
        found = RegisterMap(snapshot.values)
        known = self._maps.setdefault(hash(found), found)
        if known != found:
            return found
        snapshot.values = known.values_by_number
        return known

    def state(self, action: Action, database: Database) -> State:
        """The same with what wrote them."""
        found = self.snapshot(action.order)
        values = {register: value for register, value in found.values.items() if value != UNKNOWN}
        writes, commands = LoggedWrites(found.entries, self.log), self.commands(action.order)
        return State(action, database, values, writes, commands)

    def commands(self, order: int) -> dict[int, list[CommandWrite]]:
        """The writes of registers whose writes are commands, since the pipe's action before.

        By register, in order. Where the log was joined, those that were joined are left out.
        """
        log = self.log
        commands: dict[int, list[CommandWrite]] = {}
        for at in self.command_entries(order):
            assert log.commands is not None
            for one in log.commands.of_change(log.entries[at].registers, log.source(at)):
                commands.setdefault(one.register, []).append(one)
        return commands

    def command_entries(self, order: int) -> list[int]:
        """The entries with writes that are commands, in order.

        Since the action before that the pipe executes: what is skipped uses none of them.
        """
        log, before = self.log, order - 1
        if log.commands is None or not self._has_entries:
            return []
        while before >= 0 and not self._is_before(log, before):
            before -= 1
        begin = log.ends[before] if before >= 0 else 0
        has_none, entries = log.commands.registers.isdisjoint, log.entries
        return [
            at for at in self._between(log, begin, order) if not has_none(entries[at].registers)
        ]

    def _is_before(self, log: RegisterLog, order: int) -> bool:
        """Whether an action is executed by this pipe, and its registers are known."""
        return (
            log.ends[order] != DROPPED
            and log.is_executed(order)
            and (not log.switches or log.reader_of(order) == self._reader)
        )

    def before(self, order: int) -> int | None:
        """The program's draw before this one of its draws; None for another action."""
        position = bisect_left(self._draws, order)
        is_draw = position < len(self._draws) and self._draws[position] == order
        return self._draws[position - 1] if is_draw and position else None

    def written_since(self, order: int) -> Iterable[int]:
        """The dwords that were written between the program's draw before and this one.

        Empty for an action that is not one of the program's draws.
        """
        log = self.log
        before = self.before(order)
        if before is None and order not in self._draws[:1]:
            return ()
        begin = 0 if before is None else log.ends[before]
        written: set[int] = set()
        for at in self._between(log, begin, order):
            written.update(log.entries[at].registers)
        return written

    # -- the log --------------------------------------------------------------------------------

    def _between(self, log: RegisterLog, begin: int, order: int) -> Iterator[int]:
        """The entries from one on that come before an action."""
        end = log.ends[order]
        for span in log.spans(self._reader):
            yield from range(max(span.start, begin), min(span.stop, end))

    def _entries_after(self, log: RegisterLog) -> Iterator[tuple[int, int]]:
        """Each entry with the action after it."""
        if not self._after:
            self._after = log.actions_after()
        after = self._after
        for span in log.spans(self._reader):
            part = range(span.start, min(span.stop, len(after)))
            yield from zip(part, after[part.start : part.stop], strict=True)

    def _collect(self, log: RegisterLog, register: int) -> None:
        row, entries = Changes(), log.entries
        for at, order in self._entries_after(log):
            written = entries[at].registers
            if register in written:
                row.add(order, written[register], at)
        if row.orders:
            self.rows[register] = row
        self._collected.add(register)  # now others may look it up

    def collect(self, registers: Iterable[int]) -> None:
        """Look up several registers at once, which is faster than one after another."""
        with self._lock:
            wanted = {*registers} - self._collected
            if self.is_complete or not wanted:
                return
            log, rows = self.log, dict[int, Changes]()
            entries, chosen = log.entries, dict[int, list[tuple[int, int]]]()
            for at, order in self._entries_after(log):
                written = entries[at].registers
                if id(written) not in chosen:
                    chosen[id(written)] = [(one, written[one]) for one in wanted & written.keys()]
                for register, value in chosen[id(written)]:
                    rows.setdefault(register, Changes()).add(order, value, at)
            self.rows.update(rows)  # states have this object
            self._collected |= wanted

    def _complete(self, log: RegisterLog) -> None:
        """Collect all registers."""
        entries = log.entries
        rows: dict[int, Changes] = {}
        for at, order in self._entries_after(log):
            for register, value in entries[at].registers.items():
                row = rows.get(register)
                if row is None:
                    row = rows[register] = Changes()
                row.add(order, value, at)
        self.rows.update(rows)  # states have this object
        self.is_complete = True

    def _find_written(self, log: RegisterLog) -> None:
        entries, written = log.entries, self._written
        seen: set[int] = set()
        for at, order in self._entries_after(log):
            registers = entries[at].registers
            if id(registers) not in seen:
                seen.add(id(registers))
                for register in registers.keys() - written.keys():
                    written[register] = order


def at_actions(
    row: Changes | None, orders: array[int]
) -> tuple[list[int] | array[int], list[int] | array[int]]:
    """The changes of a register as some actions see them: the first of these, and the values."""
    if row is None:
        return (), ()  # type: ignore[return-value]
    seen: dict[int, int] = {}
    for order, value in zip(row.orders, row.values, strict=True):
        position = bisect_left(orders, order)
        if position == len(orders):
            break
        seen[orders[position]] = value
    return [*seen], [*seen.values()]
