# SPDX-License-Identifier: MIT
"""FetchedTextures: the textures of a2xx, which packets load as fetch constants.

A fetch constant has six dwords: one texture, or three vertex buffers of two dwords each; its lowest
bits say which. All stages share them; an instruction names one by its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.inputs.facts import InputFact, digest
from cffpy.analysis.inputs.slot_registers import ALL_STAGES, TEXTURE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.analysis.inputs.facts import FactKey

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
