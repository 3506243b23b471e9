# SPDX-License-Identifier: MIT
"""Where branches are in a program's data, for its labels.

The data of a program reach to the end of their buffer, and the reference looks for branches in all
of them. Programs of one buffer thus end alike: what was found in the last one is kept by distance
from the end, and only what stands before it is searched anew.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    #: Target, whether it counts from the branch, whether it is a call.
    Branch = tuple[int, bool, bool]

#: Words that are remembered at most.
_WORDS = 1 << 16


class BranchFinder:
    """Finds branches. ``branch_of`` tells of a word that may be one (``word & mask == match``)."""

    def __init__(self, mask: int, match: int, branch_of: Callable[[int], Branch | None]) -> None:
        self._mask = mask
        self._match = match
        self._branch_of = branch_of
        self._known: dict[int, Branch | None] = {}
        self._searched = b""
        #: (Words from the branch to the end of the data, itself included; branch), first ones last.
        self._found: list[tuple[int, Branch]] = []

    def targets(self, data: bytes) -> tuple[set[int], set[int]]:
        """Indices that branches and calls lead to, of those inside ``data`` (whole words)."""
        count = len(data) // 8
        if not self._searched.endswith(data):
            self._search(data, count)
        labels: set[int] = set()
        calls: set[int] = set()
        for distance, (target, relative, call) in self._found:
            if distance > count:
                break
            if relative:
                target += count - distance
            if 0 <= target < count:
                (calls if call else labels).add(target)
        return labels, calls

    def _search(self, data: bytes, count: int) -> None:
        before = len(self._searched) // 8
        if not before or not data.endswith(self._searched):
            before = 0
            self._found = []
        self._searched = data
        words = struct.unpack_from(f"<{count - before}Q", data)
        branches = {word: branch for word in set(words) if (branch := self._branch(word))}
        if branches:
            places = [index for index, word in enumerate(words) if word in branches]
            self._found += [(count - index, branches[words[index]]) for index in reversed(places)]

    def _branch(self, word: int) -> Branch | None:
        if word & self._mask != self._match:
            return None
        if word not in self._known:
            if len(self._known) >= _WORDS:
                self._known.clear()
            self._known[word] = self._branch_of(word)
        return self._known[word]
