# SPDX-License-Identifier: MIT
"""Groups as text: as aubinator prints them, and field by field.

aubinator announces each dword, then prints its fields, one a line. A group of one length has a
plan: pieces of text, each made of one dword, or two, and remembered by their values. The text of a
whole group is remembered by its bytes, with places for the addresses. ``field_values`` has the
fields of an instruction, struct or register with their values, those of structs included.
"""

from __future__ import annotations

from math import isfinite
from struct import pack, unpack, unpack_from

from cffpy.frame.field import FieldValue
from cffpy.intel.decoder.groups import Field, length_by_header
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.intel.decoder.groups import Database, Group

    #: Text before the value and after it; the field, or None for a decimal and for the whole
    #: dword; bits that the piece's value is shifted to the right; mask of a decimal, else 0.
    Line = tuple[str, str, Field | None, int, int]

_NUMBERS = (rows.UINT, rows.INT, rows.ENUM, rows.MBZ)
_FORMAT_FIELDS = ("Surface Format", "Source Element Format")
_M32, _M64 = (1 << 32) - 1, (1 << 64) - 1

#: Characters of remembered text, of all groups together.
_MAX_REMEMBERED = 64 << 20
#: What a remembered text takes beside its characters.
_OVERHEAD = 200
#: Lines of all plans together; Mesa's descriptions have 60,000.
_MAX_LINES = 1 << 17
#: How deep structs may lie within structs; Mesa's do so once.
_MAX_DEPTH = 8

_NO_FIELD = Field(("", 0, 0, rows.MBO, None, (), False), 0, "")


class GroupText:
    """Prints groups of a database; ``colour`` as in the reference.

    ``field_indent`` and ``dword_indent`` stand before fields and before announcements of dwords.
    """

    def __init__(
        self,
        database: Database,
        colour: bool = False,
        field_indent: str = "    ",
        dword_indent: str = "",
    ) -> None:
        self.database = database
        self.colour = colour
        self._indents = field_indent, dword_indent
        self._size = 0
        self._lines = 0
        self._plans: dict[tuple[Group, int, int], Plan] = {}

    def plan(self, group: Group, header: int, length: int | None = None) -> Plan:
        """The plan of a group whose first dword is ``header``."""
        if length is None:
            length = group.length_of(header)
        key = (group, length, length_by_header(header) if group.has_open_repeat else 0)
        plan = self._plans.get(key)
        if plan is None:
            pieces: list[_Piece] = []
            self._unfold(pieces, group, length, header, 0, 0, 0)
            plan = Plan(pieces)
            self._lines += plan.line_count
            if self._lines > _MAX_LINES:
                self._plans.clear()
                self._lines = plan.line_count
            self._plans[key] = plan
        return plan

    def text(self, group: Group, address: int, data: bytes) -> str:
        """The text of a group at ``address`` whose bytes begin ``data``.

        Bytes past the end of ``data`` count as zero.
        """
        header = unpack_from("<I", data)[0] if len(data) >= 4 else 0
        return self.planned(self.plan(group, header), address, data)

    def planned(self, plan: Plan, address: int, data: bytes) -> str:
        """As ``text``, with the group's plan."""
        key = data if len(data) == plan.size else data[: plan.size].ljust(plan.size, b"\0")
        template = plan.texts.get(key)
        if template is None:
            template = plan.texts[key] = self._template(plan, key)
        if plan.is_dense:
            return template % tuple(range(address, address + plan.span, 4))
        return template % tuple([address + offset for offset in plan.offsets])

    def headed(self, plan: Plan, address: int, data: bytes, headline: str) -> str:
        """As ``planned``, after a line of the address and ``headline``.

        The headline depends on the first dword alone.
        """
        key = data if len(data) == plan.size else data[: plan.size].ljust(plan.size, b"\0")
        template = plan.headed_texts.get(key)
        if template is None:
            template = f"0x%08x{headline.replace('%', '%%')}{self._template(plan, key)}"
            plan.headed_texts[key] = template
        if plan.is_dense:
            return template % (address, *range(address, address + plan.span, 4))
        return template % (address, *[address + offset for offset in plan.offsets])

    def _template(self, plan: Plan, data: bytes) -> str:
        """The text of these ``plan.size`` bytes, with a place for each address."""
        words = unpack(f"<{plan.size // 4}I", data)
        parts = []
        for piece in plan.pieces:
            value = words[piece.first]
            if piece.second >= 0:
                value |= words[piece.second] << 32
            text = piece.texts.get(value)
            if text is None:
                text = piece.texts[value] = self._piece_text(piece, value)
                self._size += len(text) + _OVERHEAD
            parts.append(text)
        template = "".join(parts)
        self._size += len(template) + len(data) + _OVERHEAD
        if self._size > _MAX_REMEMBERED:
            self._size = 0
            for other in self._plans.values():
                other.forget()
            plan.forget()
        return template

    def _piece_text(self, piece: _Piece, value: int) -> str:
        parts = []
        for before, after, field, shift, mask in piece.lines:
            if mask:
                parts.append(f"{before}{value >> shift & mask}{after}")
            elif field is None:
                parts.append(f"{before}{value >> shift & _M32:08x}{after}")
            else:
                text = value_text(self.database, field, value >> shift, self.colour)
                if "%" in text:
                    text = text.replace("%", "%%")
                parts.append(f"{before}{text}{after}")
        return "".join(parts)

    def _unfold(
        self,
        pieces: list[_Piece],
        group: Group,
        length: int,
        header: int,
        origin: int,
        p_bit: int,
        depth: int,
    ) -> None:
        """Append the lines of a group whose first dword is number ``origin`` of the outermost."""
        field_indent, dword_indent = ("    ", "") if depth else self._indents
        announcement = f"{dword_indent.replace('%', '%%')}0x%08x:  0x"
        last_dword = -1
        shown, place, second = _NO_FIELD, origin, -1
        for field in group.fields(length, header, p_bit):
            dword = field.high // 32
            for number in range(last_dword + 1, dword + 1):
                _append(pieces, origin + number, -1, announcement, f" : Dword {number}\n", None)
            last_dword = dword  # it may go back: then a dword is announced again
            if field.kind != rows.MBO:
                # intel_decoder.c: a field that must be one formats nothing, so that the value of
                # the field before it is printed again (mesa 25.0.7)
                shown, place = field, origin + field.dword
                second = place + 1 if field.is_wide else -1
            elif shown is _NO_FIELD:
                place = origin + field.dword
            if field.is_opcode:
                continue
            name = field.name.replace("%", "%%") if "%" in field.name else field.name
            _append(pieces, place, second, f"{field_indent}{name}: ", "\n", shown)
            if field.kind == rows.STRUCT and depth < _MAX_DEPTH:
                inner = self.database.struct(field.argument)
                if inner is not None:
                    bit = field.low % 32
                    at = origin + field.dword
                    self._unfold(pieces, inner, inner.dwords, 0, at, bit, depth + 1)


class Plan:
    """How a group of one length is printed.

    ``size``: bytes that it depends on. ``offsets``: of the addresses in its text, in bytes;
    ``is_dense``: they are 0, 4, 8, ... up to ``span``. ``texts``: text by these bytes;
    ``headed_texts``: the same with a headline.
    """

    __slots__ = (
        "headed_texts",
        "is_dense",
        "line_count",
        "offsets",
        "pieces",
        "size",
        "span",
        "texts",
    )

    def __init__(self, pieces: list[_Piece]) -> None:
        self.pieces = pieces
        self.line_count = sum([len(piece.lines) for piece in pieces])
        self.offsets = [4 * number for piece in pieces for number in piece.announced]
        self.span = 4 * len(self.offsets)
        self.is_dense = self.offsets == list(range(0, self.span, 4))
        # the first dword is among them even where it has no fields: it decides the headline
        self.size = 4 * max([max(piece.first, piece.second) + 1 for piece in pieces], default=1)
        self.texts: dict[bytes, str] = {}
        self.headed_texts: dict[bytes, str] = {}

    def forget(self) -> None:
        """Free the texts; they are made again where they are needed."""
        self.texts.clear()
        self.headed_texts.clear()
        for piece in self.pieces:
            piece.texts.clear()


class _Piece:
    """Lines whose text depends on the same dwords: ``first``, and ``second`` unless that is -1."""

    __slots__ = ("announced", "first", "lines", "second", "texts")

    def __init__(self, first: int, second: int) -> None:
        self.first = first
        self.second = second
        self.lines: list[Line] = []
        #: Numbers of the dwords whose addresses are in the text.
        self.announced: list[int] = []
        self.texts: dict[int, str] = {}


def _append(
    pieces: list[_Piece], first: int, second: int, before: str, after: str, field: Field | None
) -> None:
    """Append a line to the last piece, or to a new one where it depends on other dwords."""
    piece = pieces[-1] if pieces else None
    if second >= 0 and (piece is None or (piece.first, piece.second) != (first, second)):
        piece = _joined(pieces, first, second)
    elif piece is None or first not in (piece.first, piece.second):
        piece = _Piece(first, second)
        pieces.append(piece)
    shift = 0 if first == piece.first else 32
    if field is None:
        piece.lines.append((before, after, None, shift, 0))
        piece.announced.append(first)
    elif _is_decimal(field):
        piece.lines.append((before, after, None, shift + field.shift, field.mask))
    else:
        piece.lines.append((before, after, field, shift, 0))


def _is_decimal(field: Field) -> bool:
    """Whether all values of a field are plain decimals; ``value_text`` prints the others."""
    if field.values or field.kind not in _NUMBERS:
        return False
    return field.name not in _FORMAT_FIELDS and not field.mask >> 63


def _joined(pieces: list[_Piece], first: int, second: int) -> _Piece:
    """A new piece of two dwords, with their announcements where nothing else follows these."""
    joined = _Piece(first, second)
    while pieces and pieces[-1].second < 0 and pieces[-1].first in (first, second):
        piece = pieces[-1]
        if len(piece.lines) != len(piece.announced):
            break
        pieces.pop()
        shift = 0 if piece.first == first else 32
        joined.lines[:0] = [(*line[:3], shift, 0) for line in piece.lines]
        joined.announced[:0] = piece.announced
    pieces.append(joined)
    return joined


def value_text(database: Database, field: Field, word: int, colour: bool = False) -> str:
    """The value of a field, as aubinator prints it; ``word``: its dword, or both of them."""
    number = word >> field.shift & field.mask
    match field.kind:
        case rows.ADDRESS | rows.OFFSET:
            return f"0x{number << field.left & _M64:08x}"
        case rows.BOOL:
            if not number:
                return "false"
            return "\x1b[0;35mtrue\x1b[0m" if colour else "true"
        case rows.FLOAT:
            return float_text(number & _M32)
        case rows.STRUCT:
            return f"<struct {field.argument}>"
        case rows.UFIXED:
            return f"{_single(number) / (1 << field.argument[1]):f}"
        case rows.SFIXED:
            return _signed_fixed(number, *field.argument)
        case rows.MBO:
            return ""
    name = _value_name(database, field, number)
    if field.kind in (rows.INT, rows.ENUM) and number >> 63:
        number -= 1 << 64
    return f"{number} ({name})" if name else str(number)


def _value_name(database: Database, field: Field, number: int) -> str | None:
    for value, name in field.values:
        if value == number:
            return str(name)
    return database.formats.get(number) if field.name in _FORMAT_FIELDS else None


def _signed_fixed(number: int, whole: int, fraction: int) -> str:
    sign = 1 << (whole + fraction)
    number &= 2 * sign - 1
    if number & sign:
        number -= 2 * sign
    return f"{_single(number) / (1 << fraction):f}"


def float_text(word: int) -> str:
    """A dword as a float with six decimals, as C prints it."""
    number: float = unpack("<f", pack("<I", word))[0]
    if number != number:
        return "-nan" if word >> 31 else "nan"
    return f"{number:f}"


def _single(number: int) -> float:
    """The nearest number in single precision."""
    single: float = unpack("<f", pack("<f", number))[0]
    return single


def field_text(database: Database, field: Field, words: Sequence[int]) -> str:
    """The value of a field, as aubinator prints it; ``words``: those of its group."""
    word = words[field.dword] if field.dword < len(words) else 0
    if field.is_wide and field.dword + 1 < len(words):
        word |= words[field.dword + 1] << 32
    return value_text(database, field, word)


def field_texts(
    database: Database, group: Group, words: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Names and values of all fields, as aubinator prints them; those of structs as ``a.b``."""
    for field in field_values(database, group, words):
        yield field.name, field.text


def field_values(
    database: Database,
    group: Group,
    words: Sequence[int],
    prefix: str = "",
    start: int = 0,
    depth: int = 0,
) -> Iterator[FieldValue]:
    """All fields with their values; those of structs are called ``a.b``.

    Fields that only identify the instruction are left out, and those that must be zero or one.
    """
    header = words[0] if words else 0
    for field in group.fields(group.length_of(header), header):
        if field.is_opcode or field.kind in (rows.MBO, rows.MBZ) or field.name == "DWord Length":
            continue
        name = f"{prefix}{field.name}"
        if field.kind == rows.STRUCT:
            inner = database.struct(field.argument)
            if inner is not None and depth < _MAX_DEPTH:
                inside = words[field.dword : field.dword + inner.dwords]
                at = start + 32 * field.dword
                yield from field_values(database, inner, inside, f"{name}.", at, depth + 1)
            continue
        text, raw = field_text(database, field, words), field.value(words) >> field.left
        value = _value(field, raw, text)
        yield FieldValue(name, start + field.low, start + field.high, text, value, raw)


def described_fields(
    database: Database, group: Group, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, Field]]:
    """The fields that ``field_values`` may have of a group, by the same names."""
    for field in group.fields(-1, 0):
        if field.is_opcode or field.kind in (rows.MBO, rows.MBZ) or field.name == "DWord Length":
            continue
        if field.kind == rows.STRUCT:
            inner = database.struct(field.argument)
            if inner is not None and depth < _MAX_DEPTH:
                yield from described_fields(database, inner, f"{prefix}{field.name}.", depth + 1)
            continue
        yield f"{prefix}{field.name}", field


def _value(field: Field, raw: int, text: str) -> bool | int | float | str:
    """The value by the type of the field; of an address with the zeros below its lowest bit."""
    if field.kind == rows.BOOL:
        return bool(raw)
    if field.kind == rows.FLOAT:  # the text has six decimals only
        number: float = unpack("<f", pack("<I", raw & _M32))[0]
        return number if isfinite(number) else text
    if field.kind in (rows.UFIXED, rows.SFIXED):
        return float(text)
    if text.endswith(")"):  # a number with a name
        return text.partition(" (")[2].removesuffix(")")
    return raw << field.left
