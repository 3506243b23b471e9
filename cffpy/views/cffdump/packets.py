# SPDX-License-Identifier: MIT
"""Text of packets with an opcode, and of structures in memory, dword by dword of their domain.

A packet is the line ``opcode: NAME (opcode) (dwords)`` and the fields. Short packets often repeat
with the same values: their text is kept by the values if it depends on nothing else.

cffdump: dump_domain (mesa 25.0.7). The meaning of a dword may depend on variants that earlier
fields selected; only fields without variants are kept.
"""

from __future__ import annotations

from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.regdb.rows import BITSET, INLINE_BITSET, NAMED_INLINE_BITSET
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.capture.memory import Words
    from cffpy.regdb.decode import Decoder, Formatter, Palette

    #: Opcode, level, dwords that the packet says it has, and its captured dwords.
    PacketKey = tuple[int, int, int, tuple[int, ...]]

_BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)

#: Dwords of a domain whose plan is kept: packets may have thousands.
_FIXED_DWORDS = 64

#: Texts kept for one field.
_VALUES_LIMIT = 4096


class _Field:
    """One dword (or pair of dwords) of a domain."""

    __slots__ = ("after", "before", "formatter", "values", "wide")

    def __init__(self, before: str, after: str, formatter: Formatter, wide: bool) -> None:
        self.before = before
        self.after = after
        self.formatter = formatter
        self.wide = wide
        self.values: dict[int, str] = {}

    def line(self, value: int) -> str:
        text = self.formatter.text
        if not self.formatter.fixed:
            return f"{self.before}{text(value)}{self.after}"
        line = self.values.get(value)
        if line is None:
            if len(self.values) >= _VALUES_LIMIT:
                self.values.clear()
            line = self.values[value] = f"{self.before}{text(value)}{self.after}"
        return line


class FieldTable:
    """The fields of all domains that were used."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._fields: dict[tuple[str, int], _Field | None] = {}
        #: Domain and number of dwords -> where its fields are, where all lines are fixed: position,
        #: field, whether it is two dwords.
        self._fixed: dict[tuple[str, int], list[tuple[int, _Field, bool]]] = {}
        self._varying: dict[tuple[str, int], bool] = {}

    def lines(
        self, domain: str, data: Sequence[int], index: int, count: int, tabs: str
    ) -> tuple[str, bool]:
        """One line a field of ``count`` dwords from ``data[index]``, until one is unknown.

        Also whether they depend on nothing but the dwords, and reading them changes nothing.
        """
        lines = []
        for position, field, is_pair in self._fixed.get((domain, count), ()):
            value = data[index + position]
            if is_pair:
                value |= data[index + position + 1] << 32
            lines.append(f"{tabs}{field.line(value)}\n")
        if lines:
            return "".join(lines), True
        plan: list[tuple[int, _Field, bool]] = []
        fields = self._fields
        fixed = True
        position = 0
        while position < count:
            key = (domain, position)
            described = fields[key] if key in fields else self._field(key)
            if key not in fields or (described is not None and not described.formatter.fixed):
                fixed = False
            if described is None:
                break
            value = data[index + position]
            is_pair = described.wide and position < count - 1
            plan.append((position, described, is_pair))
            if is_pair:
                position += 1
                value |= data[index + position] << 32
            lines.append(f"{tabs}{described.line(value)}\n")
            position += 1
        if fixed and count <= _FIXED_DWORDS:
            self._fixed[domain, count] = plan
        return "".join(lines), fixed

    def _field(self, key: tuple[str, int]) -> _Field | None:
        domain, position = key
        decoder = self._decoder
        element = decoder.database.lookup(domain, position, decoder.variants)
        field = None
        if element is not None and element.type is not None:
            formatter = decoder.formatter(element.type)
            wide = element.type[3] >= 32
            if element.type[0] in _BITSETS:
                field = _Field("", "", formatter, wide)
            else:
                palette = decoder.palette
                name = f"{palette.name}{decoder.name(element)}{palette.reset}"
                field = _Field(f"{{ {name} = ", " }", formatter, wide)
        varying = self._varying.get(key)
        if varying is None:
            varying = decoder.database.depends_on_variants(domain, position)
            self._varying[key] = varying
        if not varying:
            self._fields[key] = field
        return field


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
