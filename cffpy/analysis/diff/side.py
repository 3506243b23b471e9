# SPDX-License-Identifier: MIT
"""One side of a comparison: the state of a capture, followed record by record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.addresses import HEAD_BYTES, Buffers
from cffpy.analysis.diff.register_state import RegisterList, RegisterNames, Registers, Written
from cffpy.analysis.diff.rules import COUNTERS, is_used
from cffpy.analysis.inputs.descriptor_sets import SetSlot
from cffpy.analysis.inputs.uses import UsedDescriptors
from cffpy.capture.generations import Generation, generation_of
from cffpy.regdb.register_text import RegisterText
from cffpy.regdb.subjects import UNKNOWN, RegisterSubject, Subjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, KeysView, Sequence

    from cffpy.analysis.diff.addresses import Role
    from cffpy.analysis.diff.model import DrawRecord, Recording
    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.facts import Fact, FactKey
    from cffpy.analysis.inputs.uses import Slots
    from cffpy.analysis.register_store.writes import Change, WriteSource
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.regdb.database import Database

#: A register by name, or a fact by key.
Subject = str | tuple[Hashable, ...]


#: What the names of the two halves of an address end in.
_UPPER_OR_LOWER = re.compile(r"(_LO|_HI|\+0x1)$")

NO_KEYS: KeysView[FactKey] = {}.keys()

#: Records that are searched for the write of one register; of earlier ones, writes are sorted by
#: register.
_MOST_SEARCHED = 8

#: Sets whose descriptors are kept by key.
_MAX_SETS = 1 << 12


class AddressRole(NamedTuple):
    """The role of an address in a register: its name, and whether what lies there is compared."""

    register: str
    role: Role
    is_of_contents: bool


class Side:
    """The state of a capture at the record that was applied last."""

    def __init__(self, recording: Recording, other: Side | None = None) -> None:
        """``other``: the side that it is compared with, made before."""
        self.recording = recording
        self._text = None if recording.database is None else RegisterText(recording.database)
        database = recording.database
        self._subjects = None if database is None else Subjects.open(database)
        #: Whether registers have the same names on both sides.
        self.is_alike = other is not None and _is_same(database, other.recording.database)
        self.names: RegisterNames = RegisterNames() if other is None else other.names
        self.registers = Registers(self.names)
        #: By name; of all registers that records have named so far, of both sides if those are the
        #: same ones.
        self.offsets: dict[str, int] = {}
        self._lists: dict[tuple[int, ...], RegisterList] = {}
        #: Id of a dictionary of either recording -> the same by key.
        self._written: dict[int, Written] = {}
        if other is not None and self.is_alike:
            self.offsets, self._lists = other.offsets, other._lists
            self._written = other._written
        #: Where the last write of each register is found, by key.
        self._sources: dict[int, WriteSource] = {}
        #: What was written since then, in order: few writes are asked for.
        self._recent: list[list[Change]] = []
        self.facts: dict[FactKey, Fact] = {}
        self.sets: dict[int, SetPlace] = {}
        self._record: DrawRecord | None = None
        self._used = UsedDescriptors(recording.descriptors)
        #: Register -> the one that an address is in.
        self._roles: dict[str, str | None] = {}
        #: Register and kind of command -> the role of the address in it.
        self._used_addresses: dict[tuple[str, str], AddressRole | None] = {}
        #: The same, of 64 bits, once both halves are written -> the keys of these.
        self._halves: dict[str, tuple[int, int]] = {}
        #: The keys of the descriptors of each set.
        self._of_set: dict[int, KeysView[FactKey]] = {}
        #: The same by kind and slot.
        self._set_keys: dict[int, dict[tuple[str, int], FactKey]] = {}
        #: Number of a set and id of its contents -> its descriptors by key.
        self._facts_of_sets: dict[tuple[int, int], dict[FactKey, Fact]] = {}
        if other is not None:
            self._facts_of_sets = other._facts_of_sets
        self.buffers = Buffers(recording.buffers)

    @property
    def text(self) -> RegisterText:
        """Names and values of registers; of a capture that has passes."""
        assert self._text is not None
        return self._text

    def value(self, subject: Subject) -> object:
        """The value of a register or a fact; None where there is none."""
        if isinstance(subject, str):
            return self.registers.value(subject)
        return self.facts.get(subject)

    def write(self, name: str) -> RegisterWrite | None:
        """The write of a register's value; None where there is none."""
        source = self.source(name)
        return None if source is None else source.of(self.offsets[name])

    def source(self, name: str) -> WriteSource | None:
        """Finds the write of a register's value; None where there is none."""
        key = self.names.keys.get(name)
        if key not in self.registers.by_key:
            return None
        written = self._written
        for changes in self._recent[: -_MOST_SEARCHED - 1 : -1]:
            for values, source in reversed(changes):
                if key in written[id(values)].values:
                    return source
        self._sort_writes()
        return self._sources.get(key)

    def _sort_writes(self) -> None:
        recent, self._recent = self._recent, []
        for changes in recent:
            for values, source in changes:
                self._sources.update(dict.fromkeys(self._written[id(values)].values, source))

    @property
    def writes(self) -> dict[str, RegisterWrite]:
        """The writes of all registers, by name."""
        self._sort_writes()
        named = ((self.names.names[key], source) for key, source in self._sources.items())
        return {name: source.of(self.offsets[name]) for name, source in named}

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
        touched: set[Subject] = {*self.change_facts(record)}
        for one in self.write_registers(record):
            touched.update(map(self.names.names.__getitem__, one.values))
        return touched

    def write_registers(
        self, record: DrawRecord, beside: Sequence[Written] = ()
    ) -> Sequence[Written]:
        """Go on to the registers of a record: what it writes, in order.

        ``beside``: what its counterpart writes, of which equal parts are returned as they are.
        """
        known, changes = self._written, record.changes
        alike = beside if self.is_alike else ()
        found: list[Written] = []
        if record.gone:
            found.append(self._forget(record.gone))
        for values, _ in changes:
            part = known.get(id(values))
            if part is None:
                number = len(found)
                part = alike[number] if number < len(alike) else None
                if part is None or part.values != values:
                    part = self._name(values)
                known[id(values)] = part
            found.append(part)
        registers = self.registers.by_key
        for one in found[1:] if record.gone else found:
            registers.update(one.values)
        self._recent.append(changes)
        return found

    def _forget(self, gone: Iterable[int]) -> Written:
        """These registers have no value any more. Returns them as if they were written."""
        part = self._name(dict.fromkeys(sorted(gone), 0))
        for key in part.values:
            self.registers.by_key.pop(key, None)
        return part

    def change_facts(self, record: DrawRecord) -> set[FactKey]:
        """Go on to the facts of a record: those that it may change."""
        self._record = record
        touched: set[FactKey] = set()
        facts = self.facts
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
        return touched

    def written(self, values: dict[int, int]) -> Written:
        """What a dictionary of a record writes."""
        found = self._written.get(id(values))
        if found is None:
            found = self._written[id(values)] = self._name(values)
        return found

    def write_alike(self, values: dict[int, int], part: Written) -> None:
        """A dictionary of a record is equal to the one that ``part`` stands for on either side.

        Both sides have the same descriptions.
        """
        self._written[id(values)] = part

    def write_later(self, values: dict[int, int], records: Sequence[DrawRecord]) -> None:
        """Go on to the registers of several records. ``values``: what they write, by key."""
        self.registers.by_key.update(values)
        self._recent += [record.changes for record in records]

    def take_facts(self, record: DrawRecord, gone: Iterable[FactKey]) -> None:
        """The same where nothing has to be known of what was there before.

        ``gone``: keys of facts of the record that are gone.
        """
        self._record = record
        self.facts.update(record.facts)  # type: ignore[arg-type]
        for key in gone:
            del self.facts[key]

    def take_facts_later(
        self, records: Sequence[DrawRecord], gone: Sequence[tuple[FactKey, ...]]
    ) -> None:
        """Go on to the facts and sets of several records. ``gone``: of each, as above."""
        facts: object = None
        sets: dict[int, SetPlace] = {}
        last: object = None
        for record, without in zip(records, gone, strict=True):
            if record.facts is not facts:
                facts = record.facts
                self.take_facts(record, without)
            if record.sets is not last:
                last = record.sets
                sets.update(record.sets)
        for _ in self.take_sets(sets):
            pass
        self._record, self.sets = records[-1], records[-1].sets

    def contents_of_set(self, place: SetPlace) -> int:
        """Stands for what a set holds: the same for sets that are read as one."""
        assert self.recording.sets is not None
        return id(self.recording.sets.read(place))

    def take_sets(self, sets: dict[int, SetPlace]) -> Iterator[tuple[int, KeysView[FactKey]]]:
        """Go on to bindless sets: those that are bound anew, with the keys that they had.

        They are ones that can be read.
        """
        if sets is self.sets or sets == self.sets:
            return
        for number, place in sets.items():
            if self.sets.get(number) == place:
                continue
            before = self._of_set.get(number, NO_KEYS)
            now = self.facts_of_set(number, place)
            for key in before - now.keys():
                del self.facts[key]
            self.facts.update(now)
            self._of_set[number] = now.keys()
            yield number, before
        self.sets = sets

    def keys_of_set(self, number: int) -> KeysView[FactKey]:
        """The keys of what is in a set."""
        return self._of_set.get(number, NO_KEYS)

    def set_key(self, number: int, part: tuple[str, int]) -> FactKey:
        """The key of a part of a set."""
        known = self._set_keys.setdefault(number, {})
        key = known.get(part)
        if key is None:
            key = known[part] = part[0], SetSlot(number, part[1])
        return key

    def _name(self, values: dict[int, int]) -> Written:
        registers = tuple(values)
        of_list = self._lists.get(registers)
        if of_list is None:
            of_list = self._lists[registers] = self._list(registers)
        if of_list.keys is not None:
            values = dict(zip(of_list.keys, values.values(), strict=True))
        return Written(values, of_list)

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
        counts = any(self.names.names[key] in COUNTERS for key in keys)
        is_whole = self._has_halves(addresses)
        return RegisterList(tuple(addresses), counts, is_whole, tuple(keys) if is_moved else None)

    def _has_halves(self, addresses: list[int]) -> bool:
        """Whether these registers hold both halves of each address that one of them holds."""
        if not self.generation.is_64bit:
            return True
        roles = Counter(self.address_role(self.names.names[key]) for key in addresses)
        return all(count == 2 for count in roles.values())

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
        if name in self.registers:
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

    def halves(self, role: str) -> tuple[int, int] | None:
        """The keys of the registers with both halves of an address, once ``address`` knows them."""
        return self._halves.get(role)

    def address(self, role: str) -> int | None:
        """The address that a register, see ``address_role``, holds."""
        registers, halves = self.registers.by_key, self._halves.get(role)
        if halves is None or halves[0] not in registers or halves[1] not in registers:
            names = (role, f"{role}_LO"), (f"{role}_HI", f"{role}+0x1")
            keys = self.names.keys
            lower, upper = ([keys[one] for one in of if one in self.registers] for of in names)
            if not lower or not upper:  # which may be written later
                return registers[lower[0]] if lower else None
            halves = self._halves[role] = lower[0], upper[0]
        return registers[halves[0]] | registers[halves[1]] << 32

    def head(self, address: int) -> memoryview | None:
        """The first bytes that were captured at an address."""
        memory = None if self._record is None else self._record.memory
        return None if memory is None else memory.head(address, HEAD_BYTES)

    def _apply_sets(self, record: DrawRecord) -> set[FactKey]:
        """Bindless sets are facts, too: all parts of those that are bound again."""
        changed: set[FactKey] = set()
        facts = self.facts
        if self.recording.sets is None:
            return changed
        for number, place in record.sets.items():
            if self.sets.get(number) == place:
                continue
            now = self.facts_of_set(number, place)
            for key, fact in now.items():
                before_it = facts.get(key)
                if before_it is not fact and before_it != fact:
                    changed.add(key)
            before = self._of_set.get(number, NO_KEYS)
            self._of_set[number] = now.keys()
            for key in before - now.keys():
                del facts[key]
                changed.add(key)
            facts.update(now)
        self.sets = record.sets
        return changed

    def facts_of_set(self, number: int, place: SetPlace) -> dict[FactKey, Fact]:
        """What is in a set that can be read, by key; not to be changed."""
        assert self.recording.sets is not None
        contents = self.recording.sets.read(place)
        key = number, id(contents)  # which the recording keeps
        now = self._facts_of_sets.get(key)
        if now is None:
            if len(self._facts_of_sets) >= _MAX_SETS:
                self._facts_of_sets.clear()
            known = self._set_keys.setdefault(number, {})
            now = self._facts_of_sets[key] = {
                known.get(part) or self.set_key(number, part): fact for part, fact in contents[1]
            }
        return now


def _is_same(one: Database | None, other: Database | None) -> bool:
    """Whether two captures have the same descriptions."""
    if one is None or other is None:
        return False
    return (one.chip, one.directory) == (other.chip, other.directory)
