# SPDX-License-Identifier: MIT
"""An instruction at its place."""

from __future__ import annotations

from struct import unpack_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Group


class Command:
    """An instruction: its description, its dwords, and maybe some dwords that follow."""

    __slots__ = ("group", "words")

    def __init__(self, group: Group, data: bytes) -> None:
        self.group = group
        self.words: tuple[int, ...] = unpack_from(f"<{len(data) // 4}I", data)

    def dword(self, number: int) -> int:
        """The dword of this number; 0 where it is missing."""
        return self.words[number] if number < len(self.words) else 0

    def values(self, *names: str) -> list[int | None]:
        """The raw values of the named fields, None where the instruction has no such field."""
        return self.group.values(self.words, names)
