# SPDX-License-Identifier: MIT
"""One side of a comparison: the state of a capture, followed record by record."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.addresses import HEAD_BYTES, Buffers
from cffpy.analysis.diff.descriptors import SetSlot, UsedDescriptors
from cffpy.analysis.diff.rules import COUNTERS, is_used
from cffpy.capture.generations import Generation, generation_of
from cffpy.regdb.register_text import RegisterText
from cffpy.regdb.subjects import UNKNOWN, RegisterSubject, Subjects

if TYPE_CHECKING:
    from collections.abc import KeysView, Sequence

    from cffpy.analysis.diff.addresses import Role
    from cffpy.analysis.diff.descriptors import SetPlace, Slots
    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.analysis.diff.model import DrawRecord, Recording
    from cffpy.analysis.provenance import Write, WriteSource

#: A register by name, or a fact by key.
Subject = str | tuple[Hashable, ...]


#: What the names of the two halves of an address end in.
_UPPER_OR_LOWER = re.compile(r"(_LO|_HI|\+0x1)$")

#: Writes that are searched for that of one register; more are sorted by register first.
_MOST_SEARCHED = 64


class NamedRegisters:
    """Registers that a record has written, by name.

    One object for all with these values, of both sides: where both write the same objects, the
    values are equal. ``of``: all that have these names. ``notable``: names that matter even where
    the values are equal.
    """

    __slots__ = ("notable", "of", "values")

    def __init__(self, values: dict[str, int], notable: tuple[str, ...], of: _SameNames) -> None:
        self.values = values
        self.notable = notable
        self.of = of


class _SameNames:
    """Registers of the same names, by their values in one order."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[tuple[int, ...], NamedRegisters] = {}


#: By names.
SharedRegisters = dict[tuple[str, ...], _SameNames]


class _RegisterList(NamedTuple):
    """Registers that are written together: their names, which of those are notable, and values."""

    names: tuple[str, ...]
    notable: tuple[str, ...]
    same: _SameNames


def parted(
    mine: list[NamedRegisters], theirs: list[NamedRegisters]
) -> tuple[Sequence[NamedRegisters], Sequence[NamedRegisters]]:
    """What both sides write at the same position, and the rest of both.

    A register that only the former write has the same value on both sides: its last write is there.
    """
    if mine == theirs:
        return mine, ()
    if len(mine) != len(theirs):
        return (), [*mine, *theirs]
    both: list[NamedRegisters] = []
    others: list[NamedRegisters] = []
    for one, other in zip(mine, theirs, strict=True):
        if one is other:
            both.append(one)
        else:
            others += one, other
    return both, others


class AddressRole(NamedTuple):
    """The role of an address in a register: its name, and whether what lies there is compared."""

    register: str
    role: Role
    is_of_contents: bool


class Side:
    """The state of a capture at the record that was applied last."""

    def __init__(self, recording: Recording, shared: SharedRegisters | None = None) -> None:
        """``shared``: of all sides of a comparison."""
        self.recording = recording
        self._text = None if recording.database is None else RegisterText(recording.database)
        database = recording.database
        self._subjects = None if database is None else Subjects.open(database)
        #: By name: names are the same in both captures where offsets need not be.
        self.registers: dict[str, int] = {}
        self._sources: dict[str, WriteSource] = {}
        #: The last writes that are not among the sources yet, in order: few are asked for.
        self._log: dict[_SameNames, tuple[NamedRegisters, WriteSource]] = {}
        self.facts: dict[FactKey, Fact] = {}
        self.sets: dict[int, SetPlace] = {}
        self.offsets: dict[str, int] = {}
        self._record: DrawRecord | None = None
        self._used = UsedDescriptors(recording.descriptors)
        self._names: dict[int, str] = {}
        #: Id of a dictionary of the recording -> the same by name.
        self._named: dict[int, NamedRegisters] = {}
        self._shared: SharedRegisters = {} if shared is None else shared
        self._lists: dict[tuple[int, ...], _RegisterList] = {}
        #: Register -> the one that an address is in.
        self._roles: dict[str, str | None] = {}
        #: Register and kind of command -> the role of the address in it.
        self._used_addresses: dict[tuple[str, str], AddressRole | None] = {}
        #: The same, of 64 bits, once both halves are written -> the names of these.
        self._halves: dict[str, tuple[str, str]] = {}
        #: The keys of the descriptors of each set.
        self._of_set: dict[int, KeysView[FactKey]] = {}
        #: The same by kind and slot.
        self._set_keys: dict[int, dict[tuple[str, int], FactKey]] = {}
        self.buffers = Buffers(recording.buffers)

    @property
    def text(self) -> RegisterText:
        """Names and values of registers; of a capture that has passes."""
        assert self._text is not None
        return self._text

    def value(self, subject: Subject) -> object:
        """The value of a register or a fact; None where there is none."""
        if isinstance(subject, str):
            return self.registers.get(subject)
        return self.facts.get(subject)

    def write(self, name: str) -> Write | None:
        """The write of a register's value; None where there is none."""
        source = self._source(name)
        return None if source is None else source.of(self.offsets[name])

    def _source(self, name: str) -> WriteSource | None:
        if len(self._log) <= _MOST_SEARCHED:
            for named, source in reversed(self._log.values()):
                if name in named.values:
                    return source
            return self._sources.get(name)
        return self.sources.get(name)

    @property
    def writes(self) -> dict[str, Write]:
        """The writes of all registers, by name."""
        return {name: source.of(self.offsets[name]) for name, source in self.sources.items()}

    @property
    def sources(self) -> dict[str, WriteSource]:
        """Where the write of each register is found, by name."""
        log, self._log = self._log, {}
        for named, source in log.values():
            self._sources.update(dict.fromkeys(named.values, source))
        return self._sources

    def fact(self, key: FactKey) -> Fact | None:
        """A fact with its place; None where there is none."""
        fact, record = self.facts.get(key), self._record
        if fact is None or record is None or key[0] != "draw":
            return fact
        return replace(fact, place=record.action.place)

    def image(self, key: FactKey, fact: Fact) -> int | None:
        """What a descriptor is of; a3xx keeps the addresses of textures elsewhere."""
        address = self.facts.get(("texture address", *key[1:])) if key[0] == "texture" else None
        return fact.points_at if address is None else address.points_at

    def address_of(self, key: FactKey, fact: Fact) -> int | None:
        """What a descriptor is of, or where something lies that was not captured."""
        address = fact.points_at if key[0] != "texture" else self.image(key, fact)
        return fact.address if address is None and fact.digest is None else address

    def apply(self, record: DrawRecord) -> set[Subject]:
        """Go on to a record: the facts that it may change, and the registers that it writes."""
        written, touched = self.go_on(record)
        for named in written:
            touched.update(named.values)
        return touched

    def go_on(self, record: DrawRecord) -> tuple[list[NamedRegisters], set[Subject]]:
        """Go on to a record: the registers that it writes, and the facts that it may change."""
        written: list[NamedRegisters] = []
        touched: set[Subject] = set()
        self._record = record
        log, facts, registers = self._log, self.facts, self.registers
        for values, source in record.changes:
            named = self._named.get(id(values)) or self._name(values)
            written.append(named)
            registers.update(named.values)
            log.pop(named.of, None)  # the last write counts, so it is to be the last one here
            log[named.of] = named, source
        for key, fact in record.facts.items():
            known = facts.get(key)
            if known is not fact and known != fact:
                touched.add(key)
            if fact is None:
                facts.pop(key, None)
            else:
                facts[key] = fact
        if record.sets is not self.sets and record.sets != self.sets:
            touched |= self._apply_sets(record)
        return written, touched

    def _name(self, values: dict[int, int]) -> NamedRegisters:
        registers = tuple(values)
        of_list = self._lists.get(registers)
        if of_list is None:
            of_list = self._lists[registers] = self._list(registers)
        key = tuple(values.values())
        same = of_list.same
        found = same.known.get(key)
        if found is None:
            by_name = dict(zip(of_list.names, key, strict=True))
            found = same.known[key] = NamedRegisters(by_name, of_list.notable, same)
        self._named[id(values)] = found
        return found

    def _list(self, registers: tuple[int, ...]) -> _RegisterList:
        for register in registers:
            name = self._names[register] = self.text.name(register)
            self.offsets[name] = register
        names = tuple([self._names[register] for register in registers])
        notable = tuple(filter(self._is_notable, names))
        return _RegisterList(names, notable, self._shared.setdefault(names, _SameNames()))

    def _is_notable(self, name: str) -> bool:
        return name in COUNTERS or self.address_role(name) is not None

    def subject(self, name: str) -> RegisterSubject:
        """What a register that was written is for."""
        return UNKNOWN if self._subjects is None else self._subjects.register(self.offsets[name])

    def is_address_register(self, name: str) -> bool:
        """Whether a register that was written holds an address."""
        is_typed = self.text.type_name(self.offsets[name]) in ("address", "waddress")
        return is_typed or "address" in self.subject(name).roles

    def descriptor_subject(self, domain: str, dword: str) -> RegisterSubject:
        """The same of a dword of a descriptor."""
        return UNKNOWN if self._subjects is None else self._subjects.descriptor(domain, dword)

    @property
    def uses(self) -> Hashable:
        """What ``slots`` depends on."""
        return None if self._record is None else (self._record.shaders, self._record.prefetched)

    def slots(self) -> Slots | None:
        """The descriptors of bindless sets that the draw uses; None: any."""
        record = self._record
        return None if record is None else self._used.of(record.shaders, record.prefetched)

    @cached_property
    def generation(self) -> Generation:
        """What is known of the generation; of a capture that has passes."""
        return generation_of(self.recording.generation)

    @cached_property
    def program_registers(self) -> frozenset[str]:
        """Registers with the lower half of the address of a program."""
        return frozenset(register for _, register, _ in self.generation.program_registers)

    def address_at(self, data: bytes, offset: int) -> int | None:
        """The address that begins at an offset of some data, if a buffer lies there."""
        size = 8 if self.generation.is_64bit else 4
        part = data[offset : offset + size]
        address = int.from_bytes(part, "little")
        return address if len(part) == size and self.buffers.find(address) is not None else None

    def has_register(self, name: str, offset: int) -> bool:
        """Whether the generation has a register of this name.

        ``offset``: that of the register in the other capture. Elements of some arrays, and
        registers without a name, are found by it alone.
        """
        if name in self.offsets:
            return True
        database = self.recording.database
        if database is not None and self.text.name(offset) == name:
            return True
        plain = name.removesuffix("_HI").removesuffix("+0x1")
        return database is not None and any(database.find_register(one) for one in (name, plain))

    def field(self, register: str, field: str) -> int | None:
        """The number in a field of a register; None where there is none."""
        if register not in self.registers:
            return None
        offset = self.offsets[register]
        for one in self.text.field_values(offset, {offset: self.registers[register]}):
            if one.name == field:
                return one.value if isinstance(one.value, int) else None
        return None

    def address_role(self, name: str) -> str | None:
        """The register that an address in ``name`` is in, of both halves; None for no address."""
        if name not in self._roles:
            is_one = self.is_address_register(name)
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
            if register is not None and is_used(subject, kind):
                is_private = "private" in subject.roles
                role: Role = ("private" if is_private else "address"), register
                found = AddressRole(register, role, "contents" in subject.roles)
            self._used_addresses[key] = found
        return self._used_addresses[key]

    def address(self, role: str) -> int | None:
        """The address that a register, see ``address_role``, holds."""
        halves = self._halves.get(role)
        if halves is None:
            names = (role, f"{role}_LO"), (f"{role}_HI", f"{role}+0x1")
            lower, upper = ([one for one in of if one in self.registers] for of in names)
            if not lower or not upper:  # which may be written later
                return self.registers[lower[0]] if lower else None
            halves = self._halves[role] = lower[0], upper[0]
        return self.registers[halves[0]] | self.registers[halves[1]] << 32

    def head(self, address: int) -> memoryview | None:
        """The first bytes that were captured at an address."""
        memory = None if self._record is None else self._record.memory
        return None if memory is None else memory.head(address, HEAD_BYTES)

    def _apply_sets(self, record: DrawRecord) -> set[FactKey]:
        """Bindless sets are facts, too: all parts of those that are bound again."""
        changed: set[FactKey] = set()
        reader, facts = self.recording.sets, self.facts
        if reader is None:
            return changed
        for number, place in record.sets.items():
            if self.sets.get(number) == place:
                continue
            _, parts = reader.read(place)
            known = self._set_keys.setdefault(number, {})
            now: dict[FactKey, Fact] = {}
            for part, fact in parts:
                key = known.get(part)
                if key is None:
                    key = known[part] = part[0], SetSlot(number, part[1])
                now[key] = fact
                before_it = facts.get(key)
                if before_it is not fact and before_it != fact:
                    changed.add(key)
            before = self._of_set.get(number, ())
            self._of_set[number] = now.keys()
            for key in before:
                if key not in now:
                    del facts[key]
                    changed.add(key)
            facts.update(now)
        self.sets = record.sets
        return changed
