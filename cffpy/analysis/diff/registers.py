# SPDX-License-Identifier: MIT
"""The registers of both captures at a pair of draws, followed through the stores of both.

Both captures have a register under the same key, its offset; in captures of two generations, a
register has the key that its name got first. So what both write is compared without names, and what
both captures write at the same position with the same values is not looked at any further.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.diff.rules import COUNTERS, is_read, is_used
from cffpy.analysis.register_store.log import BR, RegisterCursor
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.capture.gpu import Generation, generation_of
from cffpy.regdb.registers import RegisterText
from cffpy.regdb.subjects import UNKNOWN as NO_SUBJECT
from cffpy.regdb.subjects import RegisterSubject, Subjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.register_store.log import Reader
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.regdb.database import Database

#: What the names of the two halves of an address end in.
_UPPER_OR_LOWER = re.compile(r"(_LO|_HI|\+0x1)$")

_NOTHING: frozenset[int] = frozenset()

#: The keys of both halves of addresses; the second one of 32 bits is None.
_Halves = tuple[tuple[int, int | None], ...]

#: Writes that are equal and not done yet, at most.
_MAX_WAITING = 1 << 16


#: What an address is of: a texture, an attachment, anything else that a register names, memory
#: of the driver's own, uniform data by a descriptor that itself lies at two addresses, or what a
#: packet between actions names.
AddressKind = Literal["texture", "target", "address", "private", "uniform", "packet"]

#: The role that an address plays: what it is of, and a name.
Role = tuple[AddressKind, str]


class AddressRole(NamedTuple):
    """The role of an address in a register: its name, and whether what lies there is compared."""

    register: str
    role: Role
    is_of_contents: bool


class RegisterNames:
    """The names of the registers of both captures, and their keys."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.keys: dict[str, int] = {}

    def key(self, name: str, offset: int) -> int:
        """The key of a register with this name, which has this offset in the capture that asks."""
        found = self.keys.get(name)
        if found is None:
            found = offset if offset not in self.names else -1 - len(self.names)
            self.keys[name] = found
            self.names[found] = name
        return found


class RegisterList(NamedTuple):
    """Registers that are written together.

    ``addresses``: keys of those that hold addresses; ``is_whole``: both halves of each are among
    them. ``counts``: whether some are ``COUNTERS``. These matter even where both captures write the
    same value. ``has_commands``: whether the writes of some are commands. ``keys``: of all
    registers, in order; None where they are the offsets.
    """

    addresses: tuple[int, ...]
    is_whole: bool
    counts: bool
    has_commands: bool
    keys: tuple[int, ...] | None


class Written:
    """Registers that were written together: key -> value. Both captures may share it.

    ``unknown``: keys of those whose value only the GPU knows.
    """

    __slots__ = ("noted", "of", "unknown", "values")

    def __init__(
        self, values: dict[int, int], of: RegisterList, unknown: frozenset[int] = _NOTHING
    ) -> None:
        self.values = values
        self.of = of
        self.unknown = unknown
        #: The kind of command for which its addresses were noted last, the same in both captures.
        self.noted = ""


class CaptureRegisters:
    """The registers of one capture, at the action that it went to last.

    Names, what they are for, and values.
    """

    def __init__(self, recording: Recording, other: CaptureRegisters | None = None) -> None:
        """``other``: of the capture that it is compared with, made before."""
        self._log = recording.store.log
        self._database = database = recording.database
        self._generation_number = recording.generation
        self._text = None if database is None else RegisterText(database)
        self._subjects = None if database is None else Subjects.open(database)
        #: Whether registers have the same names in both captures.
        self.is_alike = other is not None and _is_same(database, other._database)
        self.names: RegisterNames = RegisterNames() if other is None else other.names
        #: Offset by name; of all registers that were named so far, of both captures if they have
        #: the same ones.
        self.offsets: dict[str, int] = {}
        self._lists: dict[tuple[int, ...], RegisterList] = {}
        #: Id of registers of either log -> the same by key.
        self._written: dict[int, Written] = {}
        if other is not None and self.is_alike:
            self.offsets, self._lists = other.offsets, other._lists
            self._written = other._written
        #: Of each reader, that is of each pipe.
        self._cursors = {BR: RegisterCursor(self._log)}
        self._values: dict[Reader, dict[int, int]] = {BR: {}}
        self._reader = BR
        #: Key -> value.
        self.values: dict[int, int] = self._values[BR]
        #: Register -> the one that an address is in.
        self._roles: dict[str, str | None] = {}
        #: Register and kind of command -> the role of the address in it.
        self._used_addresses: dict[tuple[str, str], AddressRole | None] = {}
        #: Register, see ``address_role``, of 64 bits -> the keys of both halves, once written.
        self._halves: dict[str, tuple[int, int]] = {}

    # -- going on -------------------------------------------------------------------------------

    def go_to(self, order: int, beside: Sequence[Written] = ()) -> tuple[list[Written], Set[int]]:
        """What the pipe of an action has written since its last one, in order.

        ``values`` have it after ``write``. ``beside``: what the other capture writes, of which
        equal parts are returned as they are. Where another pipe executes the action before, all
        that leads to the registers of this one; the second result are keys of registers that it
        has not written.
        """
        log = self._log
        reader = log.reader_of(order) if log.switches else BR
        if reader != self._reader:
            return self._switch(reader, order)
        known = self._written
        alike = beside if self.is_alike else ()
        found: list[Written] = []
        for values in self._cursors[reader].go_to(order):
            part = known.get(id(values))
            if part is None:
                number = len(found)
                part = alike[number] if number < len(alike) else None
                if part is None or part.unknown or part.values != values:
                    part = self._name(values)
                known[id(values)] = part
            found.append(part)
        return found, _NOTHING

    def write(self, written: Iterable[Written], gone: Iterable[int] = ()) -> None:
        """Go on to these values."""
        values = self.values
        for one in written:
            values.update(one.values)
            for key in one.unknown:
                values.pop(key, None)
        for key in gone:
            values.pop(key, None)

    def _switch(self, reader: Reader, order: int) -> tuple[list[Written], Set[int]]:
        before, self._reader = self.values, reader
        if reader not in self._cursors:
            self._cursors[reader] = RegisterCursor(self._log, reader)
            self._values[reader] = {}
        now = self.values = self._values[reader]
        written: set[int] = set()
        for values in self._cursors[reader].go_to(order):
            one = self._name(values)
            self.write([one])
            written.update(one.values)
        moved = {
            key: value for key, value in now.items() if key in written or before.get(key) != value
        }
        return [self._named(moved)], before.keys() - now.keys()

    def _name(self, values: dict[int, int]) -> Written:
        """The registers of an entry of the log by their keys."""
        if UNKNOWN in values.values():
            known = {one: value for one, value in values.items() if value != UNKNOWN}
            all_of = self._name(dict.fromkeys(values, 0))
            found = self._name(known)
            return Written(
                found.values, found.of, frozenset(all_of.values.keys() - found.values.keys())
            )
        registers = tuple(values)
        of_list = self._lists.get(registers)
        if of_list is None:
            of_list = self._lists[registers] = self._list(registers)
        if of_list.keys is not None:
            values = dict(zip(of_list.keys, values.values(), strict=True))
        return Written(values, of_list)

    def _named(self, values: dict[int, int]) -> Written:
        """Registers that have their keys already."""
        names = self.names.names
        addresses = [key for key in values if self.address_role(names[key]) is not None]
        counts = any(names[key] in COUNTERS for key in values)
        has_commands = self._has_commands(map(self.offset, values))
        of = RegisterList(tuple(addresses), False, counts, has_commands, None)
        return Written(values, of)

    def _list(self, registers: tuple[int, ...]) -> RegisterList:
        keys: list[int] = []
        addresses: list[int] = []
        for register in registers:
            name = self.text.name(register)
            if self.offsets.setdefault(name, register) != register:
                name = f"{name} ({register:#x})"  # described under one name twice
                self.offsets[name] = register
            key = self.names.key(name, register)
            keys.append(key)
            if self.address_role(name) is not None:
                addresses.append(key)
        is_moved = any(one != other for one, other in zip(keys, registers, strict=True))
        return RegisterList(
            tuple(addresses),
            self._has_halves(addresses),
            any(self.names.names[key] in COUNTERS for key in keys),
            self._has_commands(registers),
            tuple(keys) if is_moved else None,
        )

    def _has_halves(self, addresses: list[int]) -> bool:
        """Whether these registers hold both halves of each address that one of them holds."""
        if not self.generation.is_64bit:
            return True
        roles = Counter(self.address_role(self.names.names[key]) for key in addresses)
        return all(count == 2 for count in roles.values())

    def _has_commands(self, registers: Iterable[int]) -> bool:
        return self._database is not None and not self._database.commands.isdisjoint(registers)

    # -- values ---------------------------------------------------------------------------------

    def by_key(self, values: dict[int, int]) -> dict[int, int]:
        """Registers by their keys, of which ``values`` has them by their offsets."""
        registers = tuple(values)
        of_list = self._lists.get(registers)
        if of_list is None:
            of_list = self._lists[registers] = self._list(registers)
        return (
            values
            if of_list.keys is None
            else dict(zip(of_list.keys, values.values(), strict=True))
        )

    def restart(self) -> None:
        """Go back to the beginning."""
        self._cursors, self._reader = {BR: RegisterCursor(self._log)}, BR
        self._values = {BR: {}}
        self.values = self._values[BR]

    def offset_of(self, key: int) -> int | None:
        """The offset of a register; None where this capture has not named it."""
        return self.offsets.get(self.names.names[key])

    def offset(self, key: int) -> int:
        """The offset of a register that this capture has named."""
        return self.offsets[self.names.names[key]]

    def __contains__(self, name: object) -> bool:
        return self.names.keys.get(name) in self.values  # type: ignore[call-overload]

    def __getitem__(self, name: str) -> int:
        return self.values[self.names.keys[name]]

    def get(self, name: str) -> int | None:
        """The value of a register; None where none is known."""
        key = self.names.keys.get(name)
        return None if key is None else self.values.get(key)

    def is_unknown(self, name: str) -> bool:
        """Whether only the GPU knows the value of a register that was written."""
        if name in self or name not in self.offsets:
            return False
        return self._cursors[self._reader].entry(self.offsets[name]) is not None

    def field(self, register: str, field: str) -> int | None:
        """The number in a field of a register; None where there is none."""
        if register not in self:
            return None
        offset = self.offsets[register]
        for one in self.text.field_values(offset, {offset: self[register]}):
            if one.name == field:
                return one.value if isinstance(one.value, int) else None
        return None

    def write_of(self, name: str) -> RegisterWrite | None:
        """The write of a register's value; None where there is none."""
        return self._cursors[self._reader].write(self.offsets[name]) if name in self else None

    def entry(self, name: str) -> int | None:
        """The log's entry with the write of a register's value; None where there is none."""
        return self._cursors[self._reader].entry(self.offsets[name]) if name in self else None

    # -- what they are for ----------------------------------------------------------------------

    @property
    def text(self) -> RegisterText:
        """Names and texts of registers; of a capture that has passes."""
        assert self._text is not None
        return self._text

    @cached_property
    def generation(self) -> Generation:
        """What is known of the generation; of a capture that has passes."""
        return generation_of(self._generation_number)

    @cached_property
    def program_registers(self) -> frozenset[str]:
        """Registers with the lower half of the address of a program."""
        return frozenset(register for _, register, _ in self.generation.program_registers)

    def subject(self, name: str) -> RegisterSubject:
        """What a register that was written is for."""
        return NO_SUBJECT if self._subjects is None else self._subjects.register(self.offsets[name])

    def descriptor_subject(self, domain: str, dword: str) -> RegisterSubject:
        """The same of a dword of a descriptor."""
        return NO_SUBJECT if self._subjects is None else self._subjects.descriptor(domain, dword)

    def has_register(self, name: str, offset: int) -> bool:
        """Whether the generation has a register of this name.

        ``offset``: that of the register in the other capture. Elements of some arrays, and
        registers without a name, are found by it alone.
        """
        if name in self:
            return True
        database = self._database
        if database is not None and self.text.name(offset) == name:
            return True
        plain = name.removesuffix("_HI").removesuffix("+0x1")
        return database is not None and any(database.find_register(one) for one in (name, plain))

    # -- addresses ------------------------------------------------------------------------------

    def is_address(self, name: str) -> bool:
        """Whether a register that was written holds an address."""
        is_typed = self.text.type_name(self.offsets[name]) in ("address", "waddress")
        return is_typed or "address" in self.subject(name).roles

    def address_role(self, name: str) -> str | None:
        """The register that an address in ``name`` is in, of both halves; None for no address."""
        if name not in self._roles:
            is_one = self.is_address(name)
            self._roles[name] = _UPPER_OR_LOWER.sub("", name) if is_one else None
        return self._roles[name]

    def used_address(self, name: str, kind: str) -> AddressRole | None:
        """The role of an address in a register that was written, if a command of ``kind`` uses it.

        Both halves of an address have the same one.
        """
        key = name, kind
        if key not in self._used_addresses:
            register, subject = self.address_role(name), self.subject(name)
            found = None
            if register is not None and is_used(subject, kind) and is_read(name, kind):
                is_private = "private" in subject.roles
                role: Role = ("private" if is_private else "address"), register
                found = AddressRole(register, role, "contents" in subject.roles)
            self._used_addresses[key] = found
        return self._used_addresses[key]

    def address(self, role: str) -> int | None:
        """The address that a register, see ``address_role``, holds."""
        values, halves = self.values, self._halves.get(role)
        if halves is None or halves[0] not in values or halves[1] not in values:
            names = (role, f"{role}_LO"), (f"{role}_HI", f"{role}+0x1")
            keys = self.names.keys
            lower, upper = ([keys[one] for one in of if one in self] for of in names)
            if not lower or not upper:  # which may be written later
                return values[lower[0]] if lower else None
            halves = self._halves[role] = lower[0], upper[0]
        return values[halves[0]] | values[halves[1]] << 32

    def halves(self, role: str) -> tuple[int, int] | None:
        """The keys of the registers with both halves of an address, once ``address`` knows them."""
        return self._halves.get(role)


def _is_same(one: Database | None, other: Database | None) -> bool:
    """Whether two captures have the same descriptions."""
    if one is None or other is None:
        return False
    return (one.chip, one.directory) == (other.chip, other.directory)


class RegisterPair:
    """The registers of both captures at a pair of draws, and which of them differ.

    After ``go_on``: ``written`` is what each capture has written, ``are_equal`` whether that is the
    same. ``touched`` has the keys of registers that were written and differ, or did before;
    ``addressed`` those of addresses that were written, as far as they may be others;
    ``equal_addresses`` addresses that both captures have; ``counts``: whether registers that count
    others were written. These are collected until ``forget``.
    """

    def __init__(self, good: CaptureRegisters, bad: CaptureRegisters, skips_equal: bool) -> None:
        """``skips_equal``: what both write at the same position is not looked at further."""
        self._captures = good, bad
        self._skips_equal = skips_equal
        self.differing: set[int] = set()
        self.written: tuple[Sequence[Written], Sequence[Written]] = ((), ())
        self.are_equal = True
        self.touched: set[int] = set()
        self.addressed: set[int] = set()
        self.counts = False
        self.equal_addresses: set[int] = set()
        #: Key -> the values in both captures, of a register that has the same value in the end.
        self.overwritten: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        #: What both have written the same, and ``values`` do not have yet.
        self._waiting: list[Written] = []
        #: By kind of command and registers with addresses.
        self._halves: dict[tuple[str, tuple[int, ...]], _Halves] = {}

    def go_on(self, good: int | None, bad: int | None, kind: str, keeps_addresses: bool) -> None:
        """Go on to these actions, by ``Action.order``; None: one capture has none.

        ``kind``: of both commands. ``keeps_addresses``: addresses count, also where they are equal
        and known for this kind.
        """
        one, other = self._captures
        mine: tuple[Sequence[Written], Set[int]] = ((), _NOTHING)
        theirs = mine
        if good is not None:
            mine = one.go_to(good)
        if bad is not None:
            theirs = other.go_to(bad, mine[0])
        self.written = mine[0], theirs[0]
        equal, others = parted(*self.written) if self._skips_equal else ((), _all(self.written))
        self.are_equal = not others and not mine[1] and not theirs[1]
        if self.are_equal and len(self._waiting) < _MAX_WAITING:
            self._waiting += equal
        else:
            self.settle()
            before = self._values_of_several(mine[0], theirs[0])
            one.write(*mine)
            other.write(*theirs)
            self._note_others(others)
            if good is not None and bad is not None:
                self._note_overwritten(mine[0], theirs[0], before)
            for capture, (_, gone) in zip(self._captures, (mine, theirs), strict=True):
                self._note_gone(capture, gone)
        if equal:
            self._note_equal(equal, kind, keeps_addresses)

    def settle(self) -> None:
        """Have the values of both captures include all that was written."""
        if self._waiting:
            waiting = {id(one): one for one in reversed(self._waiting)}  # of the last time each
            self._waiting = []
            for capture in self._captures:
                capture.write(reversed(waiting.values()))

    def forget(self) -> None:
        """A pair was compared: collect from now on."""
        self.forget_written()
        self.overwritten.clear()
        self.equal_addresses.clear()
        self.counts = False

    def forget_written(self) -> None:
        """Collect from now on what is written."""
        self.touched.clear()
        self.addressed.clear()

    def note(self, key: int) -> bool:
        """Whether a register differs now."""
        self.settle()
        one, other = self._captures
        if one.values.get(key) == other.values.get(key):
            self.differing.discard(key)
            return False
        self.differing.add(key)
        return True

    def _note_others(self, written: Iterable[Written]) -> None:
        """Registers that the captures did not write alike."""
        one, other = (capture.values for capture in self._captures)
        differing, touched = self.differing, self.touched
        for part in written:
            self.addressed.update(part.of.addresses)
            self.counts = self.counts or part.of.counts
            touched.update(part.unknown)
            if not self._skips_equal:
                touched.update(part.values)
            else:
                touched.update(
                    key for key in part.values if one.get(key) != other.get(key) or key in differing
                )

    def _values_of_several(
        self, mine: Sequence[Written], theirs: Sequence[Written]
    ) -> dict[int, tuple[int | None, int | None]]:
        """The present values of registers that either capture writes several times."""
        several = _written_twice(mine) | _written_twice(theirs)
        one, other = (capture.values for capture in self._captures)
        return {key: (one.get(key), other.get(key)) for key in several}

    def _note_overwritten(
        self,
        mine: Sequence[Written],
        theirs: Sequence[Written],
        before: dict[int, tuple[int | None, int | None]],
    ) -> None:
        """Registers that have the same values in the end, and had others on the way there."""
        one, other = (capture.values for capture in self._captures)
        for key, (good, bad) in before.items():
            if one.get(key) == other.get(key):
                values = _sequence(good, mine, key), _sequence(bad, theirs, key)
                if values[0] != values[1]:
                    self.overwritten[key] = values

    def _note_gone(self, capture: CaptureRegisters, gone: Set[int]) -> None:
        """Registers that one pipe has written, and the one that executes now has not."""
        self.touched.update(gone)
        names = capture.names.names
        self.addressed.update(key for key in gone if capture.address_role(names[key]) is not None)

    def _note_equal(self, written: Sequence[Written], kind: str, keeps_addresses: bool) -> None:
        """Registers that both captures have written with the same values."""
        differing = self.differing
        addressed: list[Written] | None = None
        for part in written:
            of = part.of
            if of.addresses and (keeps_addresses or part.noted != kind):
                addressed = [part] if addressed is None else [*addressed, part]
            if of.counts:
                self.counts = True
            if differing and not part.values.keys().isdisjoint(differing):
                self.touched |= part.values.keys() & differing
        if addressed is None:
            return
        if keeps_addresses or not self._take_addresses(written, addressed, kind):
            for part in addressed:
                self.addressed.update(part.of.addresses)
        for part in addressed:
            part.noted = kind if part.of.is_whole else ""

    def _take_addresses(
        self, written: Sequence[Written], addressed: Sequence[Written], kind: str
    ) -> bool:
        """Collect the addresses that ``addressed`` hold in the end; False: they are not known."""
        if None in [self._halves_of(part.of, kind) for part in addressed]:
            return False
        found: dict[int, int] = {}
        new = set(map(id, addressed))
        for part in written:
            values, is_new = part.values, id(part) in new
            for low, high in self._halves_of(part.of, kind) or ():
                if is_new or low in found:
                    found[low] = values[low] if high is None else values[low] | values[high] << 32
        self.equal_addresses.update(found.values())
        return True

    def _halves_of(self, of: RegisterList, kind: str) -> _Halves | None:
        """The keys of both halves of each whole address that such a command uses."""
        key = kind, of.addresses
        known = self._halves.get(key)
        if known is None and of.is_whole:
            known = self._find_halves(of, kind)
            if known is not None:
                self._halves[key] = known
        return known

    def _find_halves(self, of: RegisterList, kind: str) -> _Halves | None:
        one, other = self._captures
        found: dict[tuple[int, int | None], None] = {}
        for key in of.addresses:
            name = one.names.names[key]
            role = one.used_address(name, kind)
            if role is None:
                continue
            if not one.generation.is_64bit:
                if role.register != name:
                    return None
                found[key, None] = None
                continue
            halves = one.halves(role.register)
            if halves is None or other.halves(role.register) != halves:
                return None
            if not {*halves} <= {*of.addresses}:
                return None
            found[halves] = None
        return tuple(found)


def _written_twice(written: Sequence[Written]) -> set[int]:
    """The keys of registers that are written several times."""
    found: set[int] = set()
    seen: set[int] = set()
    for one in written:
        found.update(seen & one.values.keys())
        seen.update(one.values)
    return found


def _sequence(before: int | None, written: Sequence[Written], key: int) -> tuple[int, ...]:
    """The values that a register gets, without those that it has already."""
    found: list[int] = []
    for one in written:
        value = one.values.get(key, before)
        if value is not None and value != before:
            found.append(value)
        before = value
    return tuple(found)


def parted(
    mine: Sequence[Written], theirs: Sequence[Written]
) -> tuple[Sequence[Written], Sequence[Written]]:
    """What both captures write at the same position, and the rest of both.

    A register that only the former write has the same value in both: its last write is there.
    """
    if mine == theirs:
        return mine, ()
    if len(mine) != len(theirs):
        return (), [*mine, *theirs]
    both: list[Written] = []
    others: list[Written] = []
    for one, other in zip(mine, theirs, strict=True):
        if one is other or (one.values == other.values and one.unknown == other.unknown):
            both.append(one)
        else:
            others += one, other
    return both, others


def _all(written: tuple[Sequence[Written], Sequence[Written]]) -> list[Written]:
    return [*written[0], *written[1]]
