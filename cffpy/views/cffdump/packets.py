# SPDX-License-Identifier: MIT
"""Text of packets with an opcode: the line ``opcode: NAME (opcode) (dwords)`` and the fields.

Short packets often repeat with the same values: their text is kept by the values if it depends on
nothing else.
"""

from __future__ import annotations

from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.regdb.decode import Palette
from cffpy.views.cffdump.fields import FieldTable
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.capture.memory import Words

    #: Opcode, level, dwords that the packet says it has, and those that were captured.
    PacketKey = tuple[int, int, int, tuple[int, ...]]

#: Dwords of a packet whose text is kept, and texts kept, at most.
_DWORDS_LIMIT, _TEXTS_LIMIT = 8, 1 << 14


class PacketTable:
    """Texts of packets, in the current database."""

    def __init__(self, names: Sequence[str | None], fields: FieldTable, palette: Palette) -> None:
        """``names``: by opcode."""
        self._heads = [
            f"opcode: {palette.opcode}{name or '(null)'}{palette.reset} ({opcode:02x})"
            for opcode, name in enumerate(names)
        ]
        self._domains = [name and PACKET_DOMAINS.get(name, name) for name in names]
        self._fields = fields
        self._texts: dict[PacketKey, str] = {}
        #: Opcodes with numbers of dwords whose text depends on nothing but the values.
        self._selects_nothing: set[tuple[int, int]] = set()

    def text(self, opcode: int, words: Words, index: int, count: int, level: int) -> str:
        """The packet's line, and one for each field of its ``count`` dwords from ``index`` on."""
        if count > _DWORDS_LIMIT:
            return self._make(opcode, words, index, count, level)[0]
        key = (opcode, level, count, tuple(words.data[index : index + count]))
        text = self._texts.get(key)
        if text is None:
            text, is_fixed = self._make(opcode, words, index, count, level)
            if is_fixed:
                if len(self._texts) >= _TEXTS_LIMIT:
                    self._texts.clear()
                self._texts[key] = text
        return text

    def select(self, opcode: int, words: Words, index: int, count: int) -> None:
        """Select the variants that a packet selects where it is shown, without making its text."""
        if (opcode, count) not in self._selects_nothing:
            captured = min(count, words.count - index)
            _, is_fixed = self._make(opcode, words, index, count, 0)
            if is_fixed and captured == count and len(self._selects_nothing) < _TEXTS_LIMIT:
                self._selects_nothing.add((opcode, count))

    def _make(
        self, opcode: int, words: Words, index: int, count: int, level: int
    ) -> tuple[str, bool]:
        """The text, and whether it depends on nothing but the values."""
        line = f"\t{LEVELS[level]}{self._heads[opcode]} ({count + 1} dwords)\n"
        domain = self._domains[opcode]
        if not domain:
            return line, True
        captured = min(count, words.count - index)
        fields, is_fixed = self._fields.lines(
            domain, words.data, index, captured, LEVELS[level + 2]
        )
        return line + fields, is_fixed
