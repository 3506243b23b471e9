# SPDX-License-Identifier: MIT
"""Finds the branch targets in a program's data, for its labels.

The data of a program extends to the end of its buffer, and cffdump searches all of it for branches.
Programs in the same buffer share the end of their data. The results for a few buffers are kept by
distance from the end, and only data before the known part is searched.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    #: Target, whether it is relative to the branch, whether it is a call.
    Branch = tuple[int, bool, bool]

#: Words in the memo, at most.
_WORDS = 1 << 16

#: Buffers whose results are kept. Programs of several stages alternate.
_BUFFERS = 4


class _Searched:
    """Data that was searched, and the branches in it."""

    __slots__ = ("branches", "data")

    def __init__(self, data: bytes, branches: list[tuple[int, Branch]]) -> None:
        self.data = data
        #: (Words from the branch, included, to the end of the data; branch), the last one first.
        self.branches = branches


class BranchFinder:
    """Finds branches. ``branch_of`` decodes a word with ``word & mask == match``."""

    def __init__(self, mask: int, match: int, branch_of: Callable[[int], Branch | None]) -> None:
        self._mask = mask
        self._match = match
        self._branch_of = branch_of
        self._known: dict[int, Branch | None] = {}
        #: Most recently used first.
        self._searched: list[_Searched] = []

    def targets(self, data: bytes) -> tuple[set[int], set[int]]:
        """Indices within ``data`` that branches and calls jump to; ``data`` is whole words."""
        count = len(data) // 8
        labels: set[int] = set()
        calls: set[int] = set()
        for distance, (target, relative, call) in self._search(data, count).branches:
            if distance > count:
                break
            if relative:
                target += count - distance
            if 0 <= target < count:
                (calls if call else labels).add(target)
        return labels, calls

    def _search(self, data: bytes, count: int) -> _Searched:
        """The branches in ``data``; possibly also branches in data before it."""
        alike = [
            searched
            for searched in self._searched
            if searched.data.endswith(data) or data.endswith(searched.data)
        ]
        if alike:
            searched = max(alike, key=lambda searched: len(searched.data))
            self._searched.remove(searched)
        else:
            searched = _Searched(b"", [])
            del self._searched[_BUFFERS - 1 :]
        self._searched.insert(0, searched)
        if len(searched.data) < len(data):
            self._extend(searched, data, count)
        return searched

    def _extend(self, searched: _Searched, data: bytes, count: int) -> None:
        """Search ``data``, whose end was searched before."""
        words = struct.unpack_from(f"<{count - len(searched.data) // 8}Q", data)
        searched.data = data
        mask, match = self._mask, self._match
        candidates = {word for word in words if word & mask == match}
        branches = {word: branch for word in candidates if (branch := self._branch(word))}
        if branches:
            places = [index for index, word in enumerate(words) if word in branches]
            searched.branches += [
                (count - index, branches[words[index]]) for index in reversed(places)
            ]

    def _branch(self, word: int) -> Branch | None:
        if word not in self._known:
            if len(self._known) >= _WORDS:
                self._known.clear()
            self._known[word] = self._branch_of(word)
        return self._known[word]
