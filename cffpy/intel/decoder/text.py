# SPDX-License-Identifier: MIT
"""Groups as aubinator prints them: each dword announced, then its fields, one a line.

A group of one length has a plan: pieces of text, each made of one dword, or two, and remembered by
their values. The text of a whole group is remembered by its bytes, with places for the addresses.
"""

from __future__ import annotations

from struct import pack, unpack, unpack_from

from cffpy.intel.decoder.groups import length_by_header
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Field, Group

    Line = Callable[[int], str]

_FORMAT_FIELDS = ("Surface Format", "Source Element Format")

#: Characters of remembered text, of all groups together.
_MAX_REMEMBERED = 64 << 20
#: Texts that one piece remembers.
_MAX_VALUES = 1 << 14
#: How deep structs may lie within structs; Mesa's do so once.
_MAX_DEPTH = 8


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
        self._key = (colour, field_indent, dword_indent)
        self._size = 0
        self._plans: list[_Plan] = []

    def plan(self, group: Group, header: int, length: int | None = None) -> _Plan:
        """The plan of a group whose first dword is ``header``."""
        if length is None:
            length = group.length_of(header)
        key = (self._key, length, length_by_header(header) if group.has_open_repeat else 0)
        plan: _Plan | None = group.texts.get(key)
        if plan is None:
            steps: list[_Step] = []
            self._unfold(steps, group, length, header, 0, 0, 0)
            plan = group.texts[key] = _Plan(_pieces(steps))
            self._plans.append(plan)
        return plan

    def text(self, group: Group, address: int, data: bytes) -> str:
        """The text of a group at ``address`` whose bytes begin ``data``.

        What lies behind the end of ``data`` counts as zero.
        """
        header = unpack_from("<I", data)[0] if len(data) >= 4 else 0
        return self.planned(self.plan(group, header), address, data)

    def planned(self, plan: _Plan, address: int, data: bytes) -> str:
        """As ``text``, with the group's plan."""
        key = data if len(data) == plan.size else data[: plan.size].ljust(plan.size, b"\0")
        template = plan.texts.get(key)
        if template is None:
            template = plan.make(key)
            self._size += len(template) + len(key)
            if self._size > _MAX_REMEMBERED:
                for other in self._plans:
                    other.texts.clear()
                self._size = 0
            plan.texts[key] = template
        if plan.is_dense:
            return template % tuple(range(address, address + plan.span, 4))
        return template % tuple([address + offset for offset in plan.offsets])

    def _unfold(
        self,
        steps: list[_Step],
        group: Group,
        length: int,
        header: int,
        first: int,
        p_bit: int,
        depth: int,
    ) -> None:
        """Append the lines of a group whose first dword is number ``first`` of the outermost."""
        field_indent, dword_indent = ("    ", "") if depth else self._indents
        last_dword = -1
        line = _constant("")
        source: tuple[int, ...] = ()
        for field in group.fields(length, header, p_bit):
            dword = field.high // 32
            if dword != last_dword:
                for number in range(last_dword + 1, dword + 1):
                    announce = _announcement(number, dword_indent)
                    steps.append(_Step((first + number,), announce, is_announcement=True))
                last_dword = dword
            place = first + field.dword
            if field.kind != rows.MBO:
                # intel_decoder.c: a field that must be one formats nothing, so that the value of
                # the field before it is printed again (mesa 25.0.7)
                line = value_text(field, self.database, self.colour)
                source = (place, place + 1) if field.is_wide else (place,)
            if field.is_opcode:
                continue
            label = f"{field_indent}{field.name.replace('%', '%%')}: "
            steps.append(_Step(source or (place,), _labelled(label, line)))
            if field.kind == rows.STRUCT and depth < _MAX_DEPTH:
                inner = self.database.struct(field.argument)
                if inner is not None:
                    bit = field.low % 32
                    self._unfold(steps, inner, inner.dwords, 0, place, bit, depth + 1)


class _Step:
    """A line of a plan: the dwords that it depends on, and a function from their value to text."""

    __slots__ = ("dwords", "is_announcement", "line")

    def __init__(self, dwords: tuple[int, ...], line: Line, is_announcement: bool = False) -> None:
        self.dwords = dwords
        self.line = line
        self.is_announcement = is_announcement


class _Plan:
    """How a group of one length is printed.

    ``size``: bytes that it depends on. ``offsets``: of the addresses in its text, in bytes;
    ``is_dense``: they are 0, 4, 8, ... up to ``span``.
    """

    __slots__ = ("_pieces", "is_dense", "offsets", "size", "span", "texts")

    def __init__(self, pieces: list[_Piece]) -> None:
        self._pieces = pieces
        self.offsets = [4 * number for piece in pieces for number in piece.announced]
        self.span = 4 * len(self.offsets)
        self.is_dense = self.offsets == list(range(0, self.span, 4))
        self.size = 4 * max((max(piece.dwords) + 1 for piece in pieces), default=0)
        self.texts: dict[bytes, str] = {}

    def make(self, data: bytes) -> str:
        """The text of these ``size`` bytes, with a place for each address."""
        words = unpack(f"<{self.size // 4}I", data)
        parts = []
        for piece in self._pieces:
            dwords = piece.dwords
            value = words[dwords[0]]
            if len(dwords) > 1:
                value |= words[dwords[1]] << 32
            text = piece.texts.get(value)
            if text is None:
                text = "".join([line(value) for line in piece.lines])
                if len(piece.texts) >= _MAX_VALUES:
                    piece.texts.clear()
                piece.texts[value] = text
            parts.append(text)
        return "".join(parts)


class _Piece:
    """Lines whose text depends on the same one or two dwords."""

    __slots__ = ("announced", "dwords", "lines", "texts")

    def __init__(self, dwords: tuple[int, ...]) -> None:
        self.dwords = dwords
        self.lines: list[Line] = []
        #: Numbers of the dwords whose addresses are in the text.
        self.announced: list[int] = []
        self.texts: dict[int, str] = {}


def _pieces(steps: Sequence[_Step]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for step in steps:
        if len(step.dwords) == 2:
            _absorb(pieces, step.dwords)
        last = pieces[-1] if pieces else None
        if last is None or not set(step.dwords) <= set(last.dwords):
            last = _Piece(step.dwords)
            pieces.append(last)
        last.lines.append(_shifted(step.line, 32 * last.dwords.index(step.dwords[0])))
        if step.is_announcement:
            last.announced.append(step.dwords[0])
    return pieces


def _absorb(pieces: list[_Piece], dwords: tuple[int, ...]) -> None:
    """Join the announcements of both dwords, where nothing else follows them, with their field."""
    joined = _Piece(dwords)
    while pieces and len(pieces[-1].dwords) == 1 and pieces[-1].dwords[0] in dwords:
        piece = pieces[-1]
        if len(piece.lines) != len(piece.announced):
            break
        pieces.pop()
        shift = 32 * dwords.index(piece.dwords[0])
        joined.lines[:0] = [_shifted(line, shift) for line in piece.lines]
        joined.announced[:0] = piece.announced
    if joined.lines:
        pieces.append(joined)


def _shifted(line: Line, shift: int) -> Line:
    return (lambda value: line(value >> shift)) if shift else line


def _announcement(number: int, indent: str) -> Line:
    start = f"{indent.replace('%', '%%')}0x%08x:  0x"
    end = f" : Dword {number}\n"
    return lambda value: f"{start}{value & 0xFFFFFFFF:08x}{end}"


def _constant(text: str) -> Line:
    return lambda value: text


def _labelled(label: str, line: Line) -> Line:
    return lambda value: f"{label}{line(value)}\n"


def value_text(field: Field, database: Database, colour: bool) -> Line:
    """A function from the dwords of a field to its value as text."""
    shift, mask, kind = field.shift, field.mask, field.kind
    if kind in (rows.ADDRESS, rows.OFFSET):
        left = field.left
        whole = (1 << 64) - 1
        plain: Line = lambda value: f"0x{(value >> shift & mask) << left & whole:08x}"  # noqa: E731
    elif kind == rows.BOOL:
        true = "\x1b[0;35mtrue\x1b[0m" if colour else "true"
        plain = lambda value: true if value >> shift & mask else "false"  # noqa: E731
    elif kind == rows.FLOAT:
        plain = lambda value: float_text(value >> shift & mask & 0xFFFFFFFF)  # noqa: E731
    elif kind == rows.STRUCT:
        plain = _constant(f"<struct {field.argument}>".replace("%", "%%"))
    elif kind == rows.UFIXED:
        scale = 1 << field.argument[1]
        plain = lambda value: f"{_single(value >> shift & mask) / scale:f}"  # noqa: E731
    elif kind == rows.SFIXED:
        plain = _signed_fixed(field)
    else:
        signed = kind in (rows.INT, rows.ENUM) and mask >> 63
        plain = _number(shift, mask, bool(signed))
    return _named(field, database, plain)


def _number(shift: int, mask: int, signed: bool) -> Line:
    if signed:
        top = 1 << 64
        return lambda value: str((value >> shift & mask) - (top if value >> shift >> 63 & 1 else 0))
    return lambda value: str(value >> shift & mask)


def _signed_fixed(field: Field) -> Line:
    shift, mask = field.shift, field.mask
    whole, fraction = field.argument
    scale = 1 << fraction
    sign = 1 << (whole + fraction)

    def line(value: int) -> str:
        number = (value >> shift & mask) & (2 * sign - 1)
        if number & sign:
            number -= 2 * sign
        return f"{_single(number) / scale:f}"

    return line


def _named(field: Field, database: Database, plain: Line) -> Line:
    """With the name of the value, where it has one."""
    names: dict[int, str] = {}
    if field.kind in (rows.INT, rows.UINT, rows.MBZ, rows.ENUM):
        for number, name in field.values:
            names.setdefault(number, name.replace("%", "%%"))
    if field.name in _FORMAT_FIELDS:
        names = {**database.formats, **names}
    if not names:
        return plain
    shift, mask = field.shift, field.mask

    def line(value: int) -> str:
        name = names.get(value >> shift & mask)
        return plain(value) if name is None else f"{plain(value)} ({name})"

    return line


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


def field_texts(
    database: Database, group: Group, words: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Names and values of all fields, as aubinator prints them; those of structs as ``a.b``."""
    for name, _, text in field_rows(database, group, words):
        yield name, text


def field_rows(
    database: Database, group: Group, words: Sequence[int], depth: int = 0
) -> Iterator[tuple[str, int, str]]:
    """As ``field_texts``, with the raw values between names and texts.

    Fields that only identify the instruction are left out, and those that must be zero or one.
    """
    header = words[0] if words else 0
    for field in group.fields(group.length_of(header), header):
        if field.is_opcode or field.kind in (rows.MBO, rows.MBZ) or field.name == "DWord Length":
            continue
        if field.kind == rows.STRUCT:
            inner = database.struct(field.argument)
            if inner is not None and depth < _MAX_DEPTH:
                inside = words[field.dword : field.dword + inner.dwords]
                for name, value, text in field_rows(database, inner, inside, depth + 1):
                    yield f"{field.name}.{name}", value, text
            continue
        yield field.name, field.value(words), field_text(database, field, words)


def field_text(database: Database, field: Field, words: Sequence[int]) -> str:
    """The value of a field, as aubinator prints it."""
    word = words[field.dword] if field.dword < len(words) else 0
    if field.is_wide and field.dword + 1 < len(words):
        word |= words[field.dword + 1] << 32
    return value_text(field, database, colour=False)(word).replace("%%", "%")
