# SPDX-License-Identifier: MIT
"""Bindings: what each of the program's draws has bound, and how it uses it.

Draws of a recording share their facts. Here each fact has its changes by draw, so that
those in force at one draw are found by binary searches, and memory grows with what changes.

``FetchedTextures`` are the textures of a2xx, which packets load as fetch constants. A fetch
constant has six dwords: one texture, or three vertex buffers of two dwords each; its lowest bits
say which. All stages share them; an instruction names one by its number.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, NamedTuple, cast

from cffpy.analysis.inputs.descriptor_sets import SetSlot
from cffpy.analysis.inputs.draw_descriptors import KIND_OF_FACT, DrawDescriptors
from cffpy.analysis.inputs.facts import FactChanges, InputFact, digest
from cffpy.analysis.inputs.uses import (
    ALL_STAGES,
    NO_SLOT_REGISTERS,
    STORAGE,
    TEXTURE,
    DrawUses,
    UsedDescriptors,
)
from cffpy.analysis.structure_text import StructureText
from cffpy.capture.gpu import generation_of
from cffpy.frame.binding import CLASSES, DESCRIPTORS, Binding, Slot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from cffpy.analysis.inputs.draw_descriptors import Flags
    from cffpy.analysis.inputs.facts import FactKey
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.inputs.recording import InputRecording
    from cffpy.frame.binding import BindingKind, Images

#: CP_SET_CONSTANT: the type of fetch constants; constants of each type.
_FETCH_CONSTANTS, _CONSTANTS = 1, 1 << 16

#: Fetch constants of the GPU.
_COUNT = 32

#: Set in constants of buffers. Of textures, the lowest bits say whether it is valid; Mesa's driver
#: leaves them 0.
_IS_BUFFER = 1

#: The dword with the address of a texture, and its bits.
_ADDRESS_DWORD, _ADDRESS = 1, 0xFFFFF000


class FetchedTextures:
    """Follows the constants that packets load, draw after draw."""

    def __init__(self, descriptor: tuple[str, int]) -> None:
        """``descriptor``: domain and dwords of a texture's descriptor."""
        self._domain, self._dwords = descriptor
        #: Index of a dword -> its value and the fact that it is of.
        self._loaded: dict[int, tuple[int, InputFact]] = {}
        #: Key of what was loaded -> the indices of its dwords.
        self._indices: dict[FactKey, range] = {}
        self._found: dict[int, InputFact] = {}

    def changed(self, facts: Mapping[FactKey, InputFact | None]) -> dict[FactKey, InputFact | None]:
        """The textures that change at a draw, by what packets have loaded; None: no more there."""
        slots: set[int] = set()
        for key, fact in facts.items():
            first = _first_dword(key)
            if first is not None:
                slots.update(index // self._dwords for index in self._load(key, first, fact))
        return dict(self._changed_slots(sorted(slot for slot in slots if slot < _COUNT)))

    def _load(self, key: FactKey, first: int, fact: InputFact | None) -> Iterator[int]:
        """Note the dwords of a load; the indices of those that may have changed."""
        before = self._indices.pop(key, range(0))
        for index in before:
            self._loaded.pop(index, None)
        yield from before
        if fact is None or not fact.data:
            return
        most = max(0, _COUNT * self._dwords - first)
        values = fact.data.cast("B")[: 4 * most].cast("I")
        self._indices[key] = range(first, first + len(values))
        for index, value in zip(self._indices[key], values, strict=True):
            self._loaded[index] = value, fact
            yield index

    def _changed_slots(self, slots: list[int]) -> Iterator[tuple[FactKey, InputFact | None]]:
        for slot in slots:
            fact, before = self._texture(slot), self._found.get(slot)
            if fact == before:
                continue
            if fact is None:
                self._found.pop(slot)
            else:
                self._found[slot] = fact
            yield (TEXTURE, ALL_STAGES, slot), fact

    def _texture(self, slot: int) -> InputFact | None:
        """The texture in a constant; None where it has none, or not all of it was loaded."""
        first = slot * self._dwords
        parts = [self._loaded.get(index) for index in range(first, first + self._dwords)]
        known = [part for part in parts if part is not None]
        dwords = [value for value, _ in known]
        if len(known) < self._dwords or dwords[0] & _IS_BUFFER or not any(dwords):
            return None
        data = memoryview(b"".join(value.to_bytes(4, "little") for value in dwords))
        address = dwords[_ADDRESS_DWORD] & _ADDRESS
        place = known[0][1].place
        return InputFact(digest(data), data, None, place, self._domain, address or None)


def _first_dword(key: FactKey) -> int | None:
    """The index of the first dword that a load of fetch constants is of."""
    index = key[1] if key[0] == "constants" and len(key) == 2 else None
    if not isinstance(index, int) or index // _CONSTANTS != _FETCH_CONSTANTS:
        return None
    return index % _CONSTANTS


#: Descriptors that ``Bindings.spans`` and ``lists`` look at, each as often as its set or what draws
#: use changes.
_MAX_LOOKED = 1 << 24

#: The first parts of keys with the address of something whose descriptor has none: the first that
#: is there counts.
ADDRESS_OF = {
    "texture": ("texture address",),
    "storage": ("storage address",),
    "storage size": ("storage address", "storage"),
}

#: Kinds of the facts that bindings are made of.
_BOUND = frozenset((*CLASSES, *chain.from_iterable(ADDRESS_OF.values())))


def stage_of(key: FactKey) -> str | None:
    """The stage that a packet loaded something for.

    None in a bindless set, and for what all stages of draws share: storage, textures of a2xx.
    """
    stage = next((part for part in key[1:] if isinstance(part, str)), None)
    is_shared = stage == "VS" and KIND_OF_FACT.get(str(key[0])) == STORAGE
    return None if is_shared or stage == ALL_STAGES else stage


def set_of(key: FactKey) -> int | None:
    """The number of the bindless set that something is in; None where a packet loaded it."""
    slot = key[-1]
    return slot.set if isinstance(slot, SetSlot) else None


def slot_of(key: FactKey) -> int:
    """The index of something: among those of its stage, or in its set."""
    slot = key[-1]
    if isinstance(slot, SetSlot):
        return slot.slot
    return slot if isinstance(slot, int) else 0


def address_keys(key: FactKey) -> Iterator[FactKey]:
    """The keys of the facts that may have the address for a descriptor; see ``ADDRESS_OF``."""
    for kind in ADDRESS_OF.get(str(key[0]), ()):
        yield kind, *key[1:]


def slot_at(key: FactKey) -> Slot:
    """Where what a key is about is bound."""
    return Slot(cast("BindingKind", key[0]), stage_of(key), set_of(key), slot_of(key))


def _slot_order(where: Slot) -> tuple[str, int, int]:
    """What sorts bindings of one kind: stages by name, then bindless sets; slots as numbers."""
    number = where.bindless_set
    return where.stage or "", -1 if number is None else number, where.slot


class Span(NamedTuple):
    """A binding, and the first and the last draw, by ``Action.order``, between which it holds.

    All these draws use it in the same way.
    """

    binding: Binding
    first: int
    last: int


class Bindings:
    """The facts of a recording by draw. ``order`` is ``Action.order`` of a draw of the program."""

    def __init__(self, recording: InputRecording) -> None:
        self._recording = recording
        database = recording.database
        self._decoder = None if database is None else StructureText(database)
        self._slots: dict[FactKey, Slot] = {}
        self._orders = sorted(recording.records)
        self._used = UsedDescriptors(recording.descriptors)
        #: Of a capture without commands there is no generation.
        self._names_uniform = bool(self._orders) and (
            generation_of(recording.generation).names_uniform_buffers
        )
        self._draws: dict[DrawUses, DrawDescriptors] = {}
        #: Of actions that run no programs, or of which nothing was recorded.
        self._nothing = DrawDescriptors(DrawUses((), NO_SLOT_REGISTERS, names_uniform=True))
        #: Programs, their digests and slots of the last draw that was asked for, and what it uses.
        self._last: tuple[tuple[object, ...], DrawDescriptors] = ((None,) * 3, self._nothing)
        #: Key of a fact -> draws at which it changed, and its value from then on; None: gone.
        self._changes: dict[FactKey, tuple[list[int], list[InputFact | None]]] = {}
        changes = FactChanges()
        for order in self._orders:
            self._add(order, changes.next(recording.records[order].facts))
        if self._orders and generation_of(recording.generation).instruction_set == "a2xx":
            fetched = FetchedTextures(generation_of(recording.generation).descriptors["texture"])
            changes = FactChanges()
            for order in self._orders:
                self._add(order, fetched.changed(changes.next(recording.records[order].facts)))
        #: What bindings are made of, of what packets load; draws have other facts, too.
        self._bound_keys = [key for key in self._changes if key[0] in _BOUND]
        #: Kind -> the facts of this kind that packets load, in the order of their slots.
        self._keys: dict[str, list[FactKey]] = {}
        #: Draws at whose descriptors ``spans`` has not looked, because there were too many.
        self.left_out = 0

    def _add(self, order: int, changed: Mapping[FactKey, InputFact | None]) -> None:
        for key, fact in changed.items():
            orders, facts = self._changes.setdefault(key, ([], []))
            orders.append(order)
            facts.append(fact)

    def draw(self, order: int) -> DrawDescriptors:
        """How a draw uses its descriptors; the same object for draws with the same uses."""
        record = self._recording.records.get(order)
        return self._nothing if record is None else self._descriptors(record)

    def _descriptors(self, record: DrawInputs) -> DrawDescriptors:
        last, given = self._last, (record.action.programs, record.shaders, record.slots)
        if all(map(is_, last[0], given)):  # mostly
            return last[1]
        found = self._find_descriptors(record)
        self._last = given, found
        return found

    def _find_descriptors(self, record: DrawInputs) -> DrawDescriptors:
        stages = tuple([stage for stage, _ in record.action.programs])
        if len(stages) != len(record.shaders):  # neither a draw nor a dispatch
            return self._nothing
        uses = self._used.of_draw(stages, record.shaders, record.slots, self._names_uniform)
        found = self._draws.get(uses)
        if found is None:
            found = self._draws[uses] = DrawDescriptors(uses)
        return found

    def of_draw(self, order: int) -> Iterator[tuple[FactKey, InputFact]]:
        """The facts of bindings in force at a draw; none at an action that was not recorded."""
        record = self._recording.records.get(order)
        if record is None:
            return
        loaded = set()
        for key in self._bound_keys:
            fact = self._at(key, order)
            if fact is not None:
                loaded.add(key)
                yield key, fact
        for key, fact in self._of_memory(record):
            if key not in loaded:
                yield key, fact

    def bindings_of(self, order: int, images: Images | None = None) -> list[Binding]:
        """All that a draw has bound, by kind and slot; [] at a draw that was not recorded.

        ``images``: of the memory of its submit.
        """
        facts = dict(self.of_draw(order))
        flags = self.draw(order).flags
        found: list[Binding] = []
        for key, fact in facts.items():
            if key[0] not in CLASSES:
                continue
            if key[0] in DESCRIPTORS and fact.domain is None and fact.data is None:
                continue
            places = (facts[one] for one in address_keys(key) if one in facts)
            found.append(self._binding(key, fact, flags(key), next(places, None), images))
        kinds = list(CLASSES)
        found.sort(key=lambda one: (kinds.index(one.kind), *_slot_order(one._where)))
        return found

    def _binding(
        self,
        key: FactKey,
        fact: InputFact,
        flags: Flags | None,
        addressed: InputFact | None = None,
        images: Images | None = None,
    ) -> Binding:
        where = self._slots.get(key)
        if where is None:
            where = self._slots[key] = slot_at(key)
        return CLASSES[where.kind](where, fact, flags, addressed, self._decoder, images)

    def of_kind(
        self, order: int, kind: BindingKind, only_used: bool = True
    ) -> list[Binding] | None:
        """The bindings of one kind at a draw by their slots; None at one that was not recorded.

        ``only_used``: those that the draw uses or may use, see ``uses.py``.
        """
        record = self._recording.records.get(order)
        if record is None:
            return None
        draw = self._descriptors(record)
        loaded = self._loaded(order, kind, draw, only_used)
        found = [*loaded.values()]
        if kind == "storage":
            found += self._without_first_part(order, loaded, only_used)
        for key, fact in self._of_memory(record):
            if key[0] == kind and key not in loaded and (flags := draw.flags(key)) is not None:
                found.append(self._binding(key, fact, flags))
        if len(found) > 1:
            found.sort(key=lambda one: _slot_order(one._where))
        return found

    def _loaded(
        self, order: int, kind: str, draw: DrawDescriptors, only_used: bool
    ) -> dict[FactKey, Binding]:
        """Bindings of a kind that packets or registers named."""
        found = {}
        has_slots = kind in KIND_OF_FACT
        for key in self._keys_of(kind):
            flags = draw.flags(key)
            if has_slots and (flags is None or (only_used and not flags.is_used)):
                continue
            fact = self._at(key, order)
            if fact is not None:
                places = (self._at(one, order) for one in address_keys(key))
                addressed = next((one for one in places if one is not None), None)
                found[key] = self._binding(key, fact, flags, addressed)
        return found

    def _without_first_part(
        self, order: int, loaded: Collection[FactKey], only_used: bool
    ) -> Iterator[Binding]:
        """Storage buffers of a5xx: their descriptors have only a size and an address."""
        record = self._recording.records[order]
        parts = self._loaded(order, "storage size", self._descriptors(record), only_used)
        for part, one in parts.items():
            key: FactKey = (STORAGE, *part[1:])
            if key not in loaded:
                fact = self._at(part, order)
                assert fact is not None
                without = replace(fact, data=None, domain=None)
                yield replace(one, _where=slot_at(key), _contents=without)

    def _keys_of(self, kind: str) -> list[FactKey]:
        keys = self._keys.get(kind)
        if keys is None:
            keys = self._keys[kind] = [key for key in self._changes if key[0] == kind]
        return keys

    def has(self, order: int) -> bool:
        """Whether a draw was recorded."""
        return order in self._recording.records

    def lists(
        self, kind: BindingKind, only_used: bool = True
    ) -> Iterator[tuple[int, list[Binding] | None]]:
        """The draws at which ``of_kind`` may change, in their order, with its result from then on.

        None from the draw on where too many descriptors of bindless sets were looked at.
        """
        kinds = kind, *ADDRESS_OF.get(kind, ())
        last: object = None
        looked, changes = 0, FactChanges()
        for order in self._orders:
            record = self._recording.records[order]
            bound, changed = (record.sets, self._descriptors(record)), changes.next(record.facts)
            if bound == last and not any(key[0] in kinds for key in changed):
                continue
            if looked > _MAX_LOOKED:
                yield order, None
                return
            last = bound
            looked += self._size_of_sets(record)
            found = self.of_kind(order, kind, only_used) or []
            looked += len(found)
            yield order, found

    def _at(self, key: FactKey, order: int) -> InputFact | None:
        orders, facts = self._changes.get(key, ([], []))
        position = bisect_right(orders, order) - 1
        return facts[position] if position >= 0 else None

    def _of_memory(self, record: DrawInputs) -> Iterator[tuple[FactKey, InputFact]]:
        """Descriptors of bindless sets and of tables that the draw uses or may use."""
        sets = self._recording.sets
        if sets is not None:
            draw = self._descriptors(record)
            yield from draw.of_sets(sets, record.sets)
            yield from draw.of_tables(sets, record.memory)

    # -- all draws ------------------------------------------------------------------------------

    def spans(self, kinds: Collection[str]) -> Iterator[Span]:
        """The descriptors of these kinds, one for each change: "texture", "sampler", ...

        One that is loaded again with the same contents is one span, as long as draws use it in the
        same way. A descriptor of a bindless set is in force at the draws that can use it.
        """
        self.left_out = 0
        if self._orders:
            uses = self._uses_by_draw()
            loaded = [key for key in self._changes if key[0] in kinds]
            most = _MAX_LOOKED // len(uses)
            if len(loaded) > most:
                self.left_out = len(self._orders)
            yield from chain.from_iterable(self._spans_of(key, uses) for key in loaded[:most])
            yield from self._spans_of_memory(kinds)

    def _uses_by_draw(self) -> dict[int, DrawDescriptors]:
        """The draws at which the uses change, and what they are from then on."""
        found: dict[int, DrawDescriptors] = {}
        last: DrawDescriptors | None = None
        for order in self._orders:
            now = self._descriptors(self._recording.records[order])
            if now is not last:
                found[order] = last = now
        return found

    def _spans_of(self, key: FactKey, uses: dict[int, DrawDescriptors]) -> Iterator[Span]:
        """The spans of a descriptor that packets load."""
        known = (self._changes[one] for one in address_keys(key) if one in self._changes)
        where: tuple[list[int], list[InputFact | None]] = next(known, ([], []))
        facts = dict(zip(*self._changes[key], strict=True))
        addresses = dict(zip(*where, strict=True))
        fact = address = None
        draw = self._nothing
        is_data = key[0] not in DESCRIPTORS
        open_span: Span | None = None
        for order in sorted({*facts, *addresses, *uses}):
            fact, address = facts.get(order, fact), addresses.get(order, address)
            draw = uses.get(order, draw)
            flags = draw.flags(key)
            if open_span is not None:
                if fact is not None and _is_same(open_span.binding, fact, address, flags):
                    continue
                yield open_span._replace(last=self._before(order))
            open_span = None
            if fact is not None and (is_data or (fact.domain is not None and flags is not None)):
                binding = self._binding(key, fact, flags, address)
                open_span = Span(binding, order, self._orders[-1])
        if open_span is not None:
            yield open_span

    def _spans_of_memory(self, kinds: Collection[str]) -> Iterator[Span]:
        found: dict[FactKey, Span] = {}
        last: object = None
        looked = 0
        for order in self._orders:
            record = self._recording.records[order]
            draw = self._descriptors(record)
            bound = record.sets, draw
            if bound == last:
                continue
            if looked > _MAX_LOOKED:
                self.left_out += 1
                continue
            last = bound
            looked += self._size_of_sets(record)
            now = {key: fact for key, fact in self._of_memory(record) if key[0] in kinds}
            for key in [*found]:
                flags = draw.flags(key)
                if key not in now or not _is_same(found[key].binding, now[key], None, flags):
                    yield found.pop(key)._replace(last=self._before(order))
            for key, fact in now.items():
                flags = draw.flags(key)
                if key not in found and flags is not None:
                    found[key] = Span(self._binding(key, fact, flags), order, self._orders[-1])
        yield from found.values()

    def _size_of_sets(self, record: DrawInputs) -> int:
        sets = self._recording.sets
        return 0 if sets is None else sum(len(sets.read(one)[1]) for one in record.sets.values())

    def _before(self, order: int) -> int:
        return self._orders[bisect_left(self._orders, order) - 1]


def _is_same(
    binding: Binding, fact: InputFact, address: InputFact | None, flags: Flags | None
) -> bool:
    contents, held = binding._contents, binding._flags
    is_same = contents is fact or (contents == fact and contents.data == fact.data)
    if not is_same or binding._addressed != address:
        return False
    return held is flags or held == flags
