# SPDX-License-Identifier: MIT
"""Which descriptors of bindless sets a draw can use: those that its shaders' instructions name.

Nothing tells how long a set is, and others lie behind it. What no instruction names is not the
draw's. Where the index is in a register, any descriptor of the set may be used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.bindless import SetSlot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.diff.facts import FactKey
    from cffpy.analysis.diff.model import DrawRecord, Recording
    from cffpy.analysis.registers import RegisterReader
    from cffpy.isa.operands import Descriptor

#: Set -> its slots that are used; None: any.
Slots = dict[int, set[int] | None]

#: Textures that are sampled before a fragment shader starts (a6xx and later), at most.
_MAX_PREFETCHES = 8


def slots_of(descriptors: Iterable[Descriptor]) -> Slots | None:
    """The slots of bindless sets among ``descriptors``; None where a set's number is unknown."""
    found: Slots = {}
    for descriptor in descriptors:
        if not descriptor.is_bindless:
            continue
        if descriptor.base is None:
            return None
        _add(found, descriptor.base, None if descriptor.index is None else [descriptor.index])
    return found


def _add(found: Slots, number: int, indices: list[int] | None) -> None:
    known = found.setdefault(number, set())
    if indices is None or known is None:
        found[number] = None
    else:
        known.update(indices)


def _add_all(found: Slots, more: Slots) -> None:
    for number, used in more.items():
        _add(found, number, None if used is None else list(used))


class UsedDescriptors:
    """The slots that the draws of a capture use, by their shaders."""

    def __init__(self, recording: Recording) -> None:
        self._descriptors = recording.descriptors
        self._by_shader: dict[object, Slots | None] = {}
        self._by_uses: dict[object, Slots | None] = {}

    def of(self, record: DrawRecord) -> Slots | None:
        """The slots that a draw uses; None: any, as not all its shaders are known well enough."""
        key = record.shaders, record.prefetched
        if key not in self._by_uses:
            self._by_uses[key] = self._of_all(record)
        return self._by_uses[key]

    def _of_all(self, record: DrawRecord) -> Slots | None:
        whole: Slots = {}
        for digest in record.shaders:
            slots = self._of_shader(digest)
            if slots is None:
                return None
            _add_all(whole, slots)
        for number, slot in record.prefetched:
            _add(whole, number, [slot])
        return whole

    def _of_shader(self, digest: object) -> Slots | None:
        if digest not in self._by_shader:
            found = self._descriptors.get(digest) if isinstance(digest, bytes) else None
            self._by_shader[digest] = None if found is None else slots_of(found)
        return self._by_shader[digest]


def prefetched(reader: RegisterReader) -> tuple[tuple[int, int], ...]:
    """Set and slot of what is sampled before the fragment shader starts (a6xx and later)."""
    count = reader.field("SP_FS_PREFETCH_CNTL", "COUNT") or 0
    found = []
    for index in range(min(count, _MAX_PREFETCHES)):
        command, slots = f"SP_FS_PREFETCH[{index}].CMD", f"SP_FS_BINDLESS_PREFETCH[{index}].CMD"
        if reader.flag(command, "BINDLESS"):
            for field in ("TEX_ID", "SAMP_ID"):
                base, slot = reader.field(command, field), reader.field(slots, field)
                if base is not None and slot is not None:
                    found.append((base, slot))
    return tuple(found)


def note_sets(recording: Recording) -> None:
    """Draws are recognised by what they use of their sets, too."""
    sets = recording.sets
    if sets is None:
        return
    used = UsedDescriptors(recording)
    known: dict[object, object] = {}
    for record in recording.records.values():
        slots = used.of(record)
        digests = []
        for number, (memory, base) in record.sets.items():
            limit = None if slots is None else slots.get(number, set())
            key = id(memory), base, None if limit is None else frozenset(limit)
            if key not in known:
                whole, parts = sets.read((memory, base))
                own = tuple(fact.digest for (_, slot), fact in parts if limit and slot in limit)
                known[key] = whole if limit is None else own
            digests.append(known[key])
        record.fingerprint = hash((record.fingerprint, tuple(digests)))


class DrawSlots:
    """The slots that a draw can use, in either of two captures."""

    def __init__(self, slots: Iterable[Slots | None]) -> None:
        self._slots: Slots | None = {}
        for found in slots:
            if found is None:
                self._slots = None
                return
            _add_all(self._slots, found)

    def holds(self, key: FactKey) -> bool:
        """Whether a fact of a set, see ``is_of_set``, may be used."""
        if self._slots is None:
            return True
        slot = key[-1]
        assert isinstance(slot, SetSlot)
        used = self._slots.get(slot.set, set())
        return used is None or slot.slot in used

    def textures(self) -> Iterator[FactKey]:
        """Keys of textures at the slots, as far as those are known."""
        for number, used in (self._slots or {}).items():
            for slot in used or ():
                yield "texture", SetSlot(number, slot)


def is_of_set(key: object) -> bool:
    """Whether a fact's key is of a descriptor of a bindless set."""
    return isinstance(key, tuple) and isinstance(key[-1], SetSlot)
