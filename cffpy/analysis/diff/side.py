# SPDX-License-Identifier: MIT
"""One side of a comparison: its state as records are applied one by one, and text of it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from cffpy.analysis.diff.used_descriptors import UsedDescriptors
from cffpy.regdb.register_text import RegisterText
from cffpy.regdb.subjects import UNKNOWN, RegisterSubject, Subjects

if TYPE_CHECKING:
    from collections.abc import Hashable

    from cffpy.analysis.diff.bindless import SetPlace
    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.analysis.diff.record import Record, Recording
    from cffpy.analysis.diff.used_descriptors import Slots
    from cffpy.analysis.provenance import Write


class Side:
    """The state of a capture at the record that was applied last."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._text = None if recording.database is None else RegisterText(recording.database)
        database = recording.database
        self._subjects = None if database is None else Subjects.open(database)
        #: By name: names are the same in both captures where offsets need not be.
        self.registers: dict[str, int] = {}
        self.writes: dict[str, Write] = {}
        self.facts: dict[FactKey, Fact] = {}
        self.sets: dict[int, SetPlace] = {}
        self.offsets: dict[str, int] = {}
        self._record: Record | None = None
        self._used = UsedDescriptors(recording)
        self._names: dict[int, str] = {}
        self._starts: list[int] | None = None

    @property
    def text(self) -> RegisterText:
        """Names and values of registers; of a capture that has passes."""
        assert self._text is not None
        return self._text

    def apply(self, record: Record) -> tuple[set[str], set[FactKey]]:
        """Go on to a record: the names of registers and the keys of facts that it may change."""
        names = set()
        self._record = record
        for register, (value, write) in record.registers.items():
            name = self._names.get(register)
            if name is None:
                name = self._names[register] = self.text.name(register)
                self.offsets[name] = register
            self.registers[name] = value
            self.writes[name] = write
            names.add(name)
        keys: set[FactKey] = set()
        for key, fact in record.facts.items():
            if self.facts.get(key) != fact:
                keys.add(key)
            if fact is None:
                self.facts.pop(key, None)
            else:
                self.facts[key] = fact
        keys.update(self._apply_sets(record))
        return names, keys

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
        return None if self._record is None else self._used.of(self._record)

    def is_address(self, address: int) -> bool:
        """Whether a buffer of the capture lies there."""
        if self._starts is None:
            self._starts = [start for start, _ in self.recording.buffers]
        position = bisect_right(self._starts, address) - 1
        if position < 0:
            return False
        start, size = self.recording.buffers[position]
        return address < start + size

    def _apply_sets(self, record: Record) -> set[FactKey]:
        """Bindless sets are facts, too: all parts of those that are bound anew."""
        changed: set[FactKey] = set()
        reader = self.recording.sets
        if reader is None or record.sets == self.sets:
            return changed
        for number, place in record.sets.items():
            if self.sets.get(number) == place:
                continue
            _, parts = reader.read(place)
            keys: set[FactKey] = {(str(key[0]), f"set {number}", key[1]) for key, _ in parts}
            gone: set[FactKey] = {
                key for key in self.facts if key[1:2] == (f"set {number}",) and key not in keys
            }
            for key in gone:
                del self.facts[key]
            whole: FactKey
            for key, fact in parts:
                whole = (str(key[0]), f"set {number}", key[1])
                if self.facts.get(whole) != fact:
                    changed.add(whole)
                self.facts[whole] = fact
            changed |= gone
        self.sets = record.sets
        return changed
