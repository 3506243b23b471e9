# SPDX-License-Identifier: MIT
"""Which image of one capture is which of the other: by address, where addresses can tell.

Each image of one capture must stand for the same one of the other wherever it is used. Captures of
one program by one driver mostly have the same addresses, so one that alone is elsewhere is another
image, and so are those that have changed places. But where a program allocates a little more, those
behind have moved, several by as much.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Difference, Extent
from cffpy.analysis.diff.rules import IMAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

_TARGETS = ("color ", "depth", "stencil")


class Images:
    """Collects pairs of addresses that play the same role."""

    def __init__(self) -> None:
        #: (good, bad) -> what they are in which draws.
        self._pairs: dict[tuple[int, int], list[tuple[str, Extent]]] = {}
        #: Role -> (good, bad), and the draw since which they play it.
        self._bound: dict[str, tuple[tuple[int | None, int | None], int]] = {}

    def note(self, good: int | None, bad: int | None, role: str, extent: Extent) -> None:
        """The images that a texture or a target is of, in a pair of draws."""
        if good and bad:
            self._pairs.setdefault((good, bad), []).append((role, extent))

    def bind(
        self, role: str, images: tuple[int | None, int | None], extent: Extent, last: int
    ) -> None:
        """These images play a role from the draw of ``extent`` on; ``last``: the draw before."""
        known = self._bound.get(role)
        if known is not None and known[0] == images:
            return
        self._release(role, extent, last)
        assert extent.first is not None
        self._bound[role] = images, extent.first

    def release(self, extent: Extent, last: int) -> None:
        """The pass of ``extent`` is over, with this draw."""
        for role in list(self._bound):
            self._release(role, extent, last)

    def _release(self, role: str, extent: Extent, last: int) -> None:
        known = self._bound.pop(role, None)
        if known is not None and known[1] <= last:
            (good, bad), since = known
            self.note(good, bad, role, Extent(extent.good_pass, extent.bad_pass, since, last))

    def differences(self) -> Iterator[tuple[Difference, list[Extent]]]:
        """Roles that are played by different images."""
        kept = self._mapping()
        for (good, bad), uses in self._pairs.items():
            if (good, bad) in kept:
                continue
            by_role: dict[str, list[Extent]] = {}
            for role, extent in uses:
                by_role.setdefault(role, []).append(extent)
            for role, extents in by_role.items():
                yield Difference(f"{role}: image", f"{good:#x}", f"{bad:#x}", IMAGES), extents

    @property
    def consistent(self) -> int:
        """Pairs of different addresses that are taken for the same image."""
        return sum(good != bad for good, bad in self._mapping())

    def _mapping(self) -> set[tuple[int, int]]:
        """The pairs that are taken for the same image."""
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
                (shifts[bad - good] > 1 or self._is_target(good, bad))
                and not _comes_back(good, goods)
            )
        }

    def _is_target(self, good: int, bad: int) -> bool:
        """Whether they are only drawn to: frames take turns with buffers."""
        return all(role.startswith(_TARGETS) for role, _ in self._pairs[good, bad])


def _comes_back(start: int, goods: dict[int, int]) -> bool:
    """Whether images have changed places, this one among them."""
    place: int | None = goods.get(start)
    for _ in range(len(goods)):
        if place is None or place == start:
            break
        place = goods.get(place)
    return place == start
