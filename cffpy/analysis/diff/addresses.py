# SPDX-License-Identifier: MIT
"""Which address of one capture is which of the other.

Each address of one capture must stand for the same one of the other wherever it is used. Captures
of one program by one driver mostly have the same addresses, so an address that differs alone is
another image or buffer, and so are those that have changed places. But where a program allocates a
little more, what is allocated later has moved.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.diff.model import Difference, Extent
from cffpy.analysis.diff.rules import ADDRESSES, IMAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Bytes compared where two addresses differ, to see whether the same lies there.
HEAD_BYTES = 64

#: Buffers begin at pages.
_PAGE_BYTES = 4096

#: What an address is of: a texture, an attachment, anything else that a register names, or memory
#: of the driver's own.
AddressKind = Literal["texture", "target", "address", "private"]

#: Kinds that are images.
_IMAGES = ("texture", "target")

#: The role that an address plays: what it is of, and a name.
Role = tuple[AddressKind, str]


class Buffers:
    """Where the buffers of a capture lie: those of all submits."""

    def __init__(self, buffers: Sequence[tuple[int, int]]) -> None:
        self._buffers = buffers
        self._starts = [start for start, _ in buffers]

    def find(self, address: int) -> tuple[int, int] | None:
        """Start and size in bytes of the buffer that holds an address."""
        position = bisect_right(self._starts, address) - 1
        if position < 0:
            return None
        start, size = self._buffers[position]
        return (start, size) if address < start + size else None


class Addresses:
    """Collects pairs of addresses that play the same role."""

    def __init__(self, good: Buffers, bad: Buffers) -> None:
        self._buffers = good, bad
        #: (good, bad) -> what they are in which draws.
        self._pairs: dict[tuple[int, int], list[tuple[Role, Extent]]] = {}
        #: The same, where one of the two is 0.
        self._nulls: dict[tuple[int, int], list[tuple[Role, Extent]]] = {}
        #: Role -> (good, bad), and the draw since which they play it.
        self._bound: dict[Role, tuple[tuple[int | None, int | None], int]] = {}

    def note(self, good: int | None, bad: int | None, role: Role, extent: Extent) -> None:
        """The addresses of a role in a pair of draws; None where one is unknown."""
        if good and bad:
            self._pairs.setdefault((good, bad), []).append((role, extent))
        elif good is not None and bad is not None and good != bad:
            self._nulls.setdefault((good, bad), []).append((role, extent))

    def bind(
        self, role: Role, pair: tuple[int | None, int | None], extent: Extent, last: int
    ) -> None:
        """These addresses play a role from the draw of ``extent`` on; ``last``: the draw before."""
        known = self._bound.get(role)
        if known is not None and known[0] == pair:
            return
        self._release(role, extent, last)
        assert extent.first is not None
        self._bound[role] = pair, extent.first

    def release(self, extent: Extent, last: int) -> None:
        """The pass of ``extent`` is over, with this draw."""
        for role in list(self._bound):
            self._release(role, extent, last)

    def _release(self, role: Role, extent: Extent, last: int) -> None:
        known = self._bound.pop(role, None)
        if known is not None and known[1] <= last:
            (good, bad), since = known
            self.note(good, bad, role, Extent(extent.good_pass, extent.bad_pass, since, last))

    def differences(self) -> Iterator[tuple[Difference, list[Extent]]]:
        """Roles that are played by different images or buffers."""
        kept = self._mapping()
        for (good, bad), uses in (*self._pairs.items(), *self._nulls.items()):
            if (good, bad) in kept:
                continue
            by_role: dict[Role, list[Extent]] = {}
            for role, extent in uses:
                by_role.setdefault(role, []).append(extent)
            for (kind, name), extents in by_role.items():
                title, about = (f"{name}: image", IMAGES) if kind in _IMAGES else (name, ADDRESSES)
                yield Difference(title, f"{good:#x}", f"{bad:#x}", about), extents

    @property
    def consistent(self) -> int:
        """Pairs of different addresses that are taken for the same image."""
        return sum(
            good != bad and any(kind in _IMAGES for (kind, _), _ in self._pairs[good, bad])
            for good, bad in self._mapping()
        )

    def _mapping(self) -> set[tuple[int, int]]:
        """The pairs that are taken for the same image or buffer."""
        uses = {pair: len(of) for pair, of in self._pairs.items()}
        goods: dict[int, int] = {}
        bads: dict[int, int] = {}
        for good, bad in sorted(uses, key=lambda pair: (pair[0] != pair[1], -uses[pair], pair)):
            if good not in goods and bad not in bads:
                goods[good] = bad
                bads[bad] = good
        same = sum(good == bad for good, bad in goods.items())
        if same * 2 < len(goods):
            return set(goods.items())
        shifts = Counter(bad - good for good, bad in goods.items())
        return {
            (good, bad)
            for good, bad in goods.items()
            if good == bad
            or (
                (
                    shifts[bad - good] > 1
                    or self._takes_turns(good, bad)
                    or self._has_moved(good, bad)
                )
                and not _comes_back(good, goods)
            )
        }

    def _takes_turns(self, good: int, bad: int) -> bool:
        """Whether they are alike and only drawn to: frames take turns with buffers."""
        is_drawn_to = all(kind == "target" for (kind, _), _ in self._pairs[good, bad])
        return is_drawn_to and self._starts_of_alike(good, bad) is not None

    def _has_moved(self, good: int, bad: int) -> bool:
        """Whether the whole buffer lies elsewhere: each is one that the other capture lacks."""
        if self._buffers[0].find(good) is None and self._buffers[1].find(bad) is None:
            is_private = all(kind == "private" for (kind, _), _ in self._pairs[good, bad])
            return is_private and (bad - good) % _PAGE_BYTES == 0
        starts = self._starts_of_alike(good, bad)
        if starts is None:
            return False
        size = (self._buffers[0].find(good) or (0, 0))[1]
        start, other = starts
        return self._buffers[1].find(start) != (start, size) and self._buffers[0].find(other) != (
            other,
            size,
        )

    def _starts_of_alike(self, good: int, bad: int) -> tuple[int, int] | None:
        """Where the buffers begin that the addresses lie in, if both lie at the same place of them.

        None where they do not, or the buffers have other sizes.
        """
        found = self._buffers[0].find(good), self._buffers[1].find(bad)
        if found[0] is None or found[1] is None:
            return None
        (start, size), (other_start, other_size) = found[0], found[1]
        is_alike = size == other_size and good - start == bad - other_start
        return (start, other_start) if is_alike else None


def _comes_back(start: int, goods: dict[int, int]) -> bool:
    """Whether addresses have changed places, this one among them."""
    place: int | None = goods.get(start)
    for _ in range(len(goods)):
        if place is None or place == start:
            break
        place = goods.get(place)
    return place == start
