# SPDX-License-Identifier: MIT
"""Registers of the two sides of a comparison: what records write, and the values since then.

Both sides have a register under the same key, its offset; in captures of two generations, a
register has the key that its name got first. So what both write is compared without its names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class RegisterNames:
    """The names of the registers of all sides, and their keys."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.keys: dict[str, int] = {}

    def key(self, name: str, offset: int) -> int:
        """The key of a register with this name, which has this offset on the side that asks."""
        found = self.keys.get(name)
        if found is None:
            found = offset if offset not in self.names else -1 - len(self.names)
            self.keys[name] = found
            self.names[found] = name
        return found


class RegisterList(NamedTuple):
    """Registers that are written together.

    ``addresses``: keys of those that hold addresses. ``counts``: whether some are ``COUNTERS``.
    These matter even where both sides write the same value. ``keys``: of all registers, in order;
    None where they are the offsets.
    """

    addresses: tuple[int, ...]
    counts: bool
    #: Whether both halves of each address are among them.
    is_whole: bool
    keys: tuple[int, ...] | None


class Written:
    """Registers that a record has written: key -> value. Sides may share it."""

    __slots__ = ("addresses", "counts", "is_whole", "noted", "values")

    def __init__(self, values: dict[int, int], of: RegisterList) -> None:
        self.values = values
        self.addresses = of.addresses
        self.counts = of.counts
        self.is_whole = of.is_whole
        #: The kind of command for which its addresses were noted last, the same on both sides.
        self.noted = ""


def parted(
    mine: Sequence[Written], theirs: Sequence[Written]
) -> tuple[Sequence[Written], Sequence[Written]]:
    """What both sides write at the same position, and the rest of both.

    A register that only the former write has the same value on both sides: its last write is there.
    """
    if mine == theirs:
        return mine, ()
    if len(mine) != len(theirs):
        return (), [*mine, *theirs]
    both: list[Written] = []
    others: list[Written] = []
    for one, other in zip(mine, theirs, strict=True):
        if one is other or one.values == other.values:
            both.append(one)
        else:
            others += one, other
    return both, others


class Registers(Mapping[str, int]):
    """The registers of one side by name, and by key."""

    def __init__(self, names: RegisterNames) -> None:
        self._names = names
        self.by_key: dict[int, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.by_key[self._names.keys[name]]

    def __contains__(self, name: object) -> bool:
        return self._names.keys.get(name) in self.by_key  # type: ignore[call-overload]

    def __iter__(self) -> Iterator[str]:
        return map(self._names.names.__getitem__, self.by_key)

    def value(self, name: str) -> int | None:
        """The value of a register; None where it was not written."""
        key = self._names.keys.get(name)
        return None if key is None else self.by_key.get(key)

    def __len__(self) -> int:
        return len(self.by_key)
