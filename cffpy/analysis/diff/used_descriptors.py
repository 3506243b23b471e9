# SPDX-License-Identifier: MIT
"""Which descriptors of bindless sets a draw can use: those that its shaders' instructions name.

Nothing tells how long a set is, and others lie behind it. What no instruction names is not the
draw's. Where the index is in a register, any descriptor of the set may be used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.diff.facts import FactKey
    from cffpy.analysis.diff.record import Recording
    from cffpy.analysis.diff.side import Side

#: The set's number, in an instruction that uses descriptors of it.
_SET = re.compile(r"\.base(\d+)\b")

#: Sampler and texture of a sampling instruction.
_SAMPLED = re.compile(r"\b[st]#(\d+)\b")

#: Other instructions: an immediate index is the last operand.
_LAST = re.compile(r", (\d+)$")

#: Set -> its slots that are used; None: any.
Slots = dict[int, set[int] | None]

#: Textures that are sampled before a fragment shader starts (a6xx and later), at most.
_MAX_PREFETCHES = 8


def slots_of(listing: str) -> Slots:
    """The slots that a shader's instructions use."""
    found: Slots = {}
    for line in listing.splitlines():
        match = _SET.search(line)
        if match is not None:
            _add(found, int(match[1]), _indices(line.rstrip()))
    return found


def _indices(line: str) -> list[int] | None:
    """Indices in a set, of one instruction; None where they are in registers."""
    sampled = _SAMPLED.findall(line)
    if sampled:
        return [int(index) for index in sampled]
    last = _LAST.search(line)
    return [int(last[1])] if last is not None and ".imm" in line else None


def _add(found: Slots, number: int, indices: list[int] | None) -> None:
    known = found.setdefault(number, set())
    if indices is None or known is None:
        found[number] = None
    else:
        known.update(indices)


class UsedDescriptors:
    """The slots that the draws of a capture use, by their shaders."""

    def __init__(self, recording: Recording) -> None:
        self._listings = recording.listings
        self._by_shader: dict[object, Slots | None] = {}
        self._by_shaders: dict[tuple[object, ...], Slots | None] = {}

    def of(self, shaders: tuple[object, ...]) -> Slots | None:
        """By digests of all shaders of a draw; None where one of them was not captured."""
        if shaders not in self._by_shaders:
            self._by_shaders[shaders] = self._of_all(shaders)
        return self._by_shaders[shaders]

    def _of_all(self, shaders: tuple[object, ...]) -> Slots | None:
        whole: Slots = {}
        for digest in shaders:
            slots = self._of_shader(digest)
            if slots is None:
                return None
            for number, used in slots.items():
                _add(whole, number, None if used is None else list(used))
        return whole

    def _of_shader(self, digest: object) -> Slots | None:
        if digest not in self._by_shader:
            listing = self._listings.get(digest) if isinstance(digest, bytes) else None
            self._by_shader[digest] = None if listing is None else slots_of(listing)
        return self._by_shader[digest]


class DrawSlots:
    """The slots that a draw can use, in either of two captures."""

    def __init__(self, sides: Iterable[Side]) -> None:
        self._slots: Slots | None = {}
        for side in sides:
            by_shaders = side.used.of(side.shaders)
            if by_shaders is None:
                self._slots = None
                return
            for found in (by_shaders, _prefetched(side)):
                for number, used in found.items():
                    _add(self._slots, number, None if used is None else list(used))

    def holds(self, key: FactKey) -> bool:
        """Whether a fact of a set, see ``is_of_set``, may be used."""
        if self._slots is None:
            return True
        used = self._slots.get(int(str(key[1])[len(_PREFIX) :]), set())
        return used is None or key[2] in used

    def textures(self) -> Iterator[FactKey]:
        """Keys of textures at the slots, as far as those are known."""
        for number, used in (self._slots or {}).items():
            for slot in used or ():
                yield "texture", f"{_PREFIX}{number}", slot


_PREFIX = "set "

#: What the slots that a draw uses depend on: keys of shaders, registers of prefetches.
TELLS_SLOTS: frozenset[object] = frozenset(
    (
        *(("shader", stage) for stage in ("VS", "HS", "DS", "GS", "FS", "CS")),
        "SP_FS_PREFETCH_CNTL",
        *(f"SP_FS_PREFETCH[{number}].CMD" for number in ("0", "0x1", "0x2", "0x3")),
        *(f"SP_FS_BINDLESS_PREFETCH[{number}].CMD" for number in ("0", "0x1", "0x2", "0x3")),
    )
)


def is_of_set(key: object) -> bool:
    """Whether a fact's key is of a descriptor of a bindless set."""
    return isinstance(key, tuple) and len(key) == 3 and str(key[1]).startswith(_PREFIX)


def _prefetched(side: Side) -> Slots:
    """The slots that are sampled before the fragment shader starts."""

    def fields(name: str) -> dict[str, str]:
        if name not in side.registers:
            return {}
        return dict(side.text.fields(side.offsets[name], side.registers[name]))

    found: Slots = {}
    count = fields("SP_FS_PREFETCH_CNTL").get("COUNT", "0")
    for index in range(min(int(count), _MAX_PREFETCHES) if count.isdecimal() else 0):
        number = f"{index:#x}" if index else "0"
        command = fields(f"SP_FS_PREFETCH[{number}].CMD")
        if command.get("BINDLESS") != "TRUE":
            continue
        slots = fields(f"SP_FS_BINDLESS_PREFETCH[{number}].CMD")
        for field in ("TEX_ID", "SAMP_ID"):
            base, slot = command.get(field, ""), slots.get(field, "")
            if base.isdecimal() and slot.isdecimal():
                _add(found, int(base), [int(slot)])
    return found
