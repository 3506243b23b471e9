# SPDX-License-Identifier: MIT
"""The text of a GPU crash dump, as Linux's msm driver writes it (devcoredump): lines -> items.

The text looks like YAML but is not read as YAML. A section begins with a line that starts with its
name, and ends before the first line that does not start with a space. Buffers and memories follow
as one line of ascii85 (``Block``). Facts: crashdec.c in Mesa's src/freedreno/decode and
msm_gpu_devcoredump_read in the kernel.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator

from cffpy.row_readers import BytesLike
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Value = int | bytes

#: Bytes in which a crash dump shows what it is.
_SNIFFED = 4096

#: What the first lines of a crash dump have.
_OPENING = re.compile(rb"(---\r?\n)?(kernel: [^\n]*\n)?module: msm\b|revision: [0-9]+ \([0-9.]+\)")

#: Misspelt in some kernels (crashdec: popline corrects them in every line).
_CORRECTIONS = ((b"CP_MEMPOOOL", b"CP_MEMPOOL"), (b"CP_SEQ_STAT", b"CP_SQE_STAT"))

#: Names of entries of indexed-registers that differ between kernels -> the first kernels' names.
#: Source: index_reg_renames and popline in crashdec.c of Mesa 25.3; adreno_gen7_*_snapshot.h.
_INDEXED_NAMES = {
    "CP_SQE_UCODE_DBG": "CP_UCODE_DBG_DATA",
    "CP_UCODE_DBG": "CP_UCODE_DBG_DATA",
    "CP_BV_SQE_UCODE_DBG_ADDR": "CP_BV_SQE_UCODE_DBG",
    "CP_BV_SQE_STAT_ADDR": "CP_BV_SQE_STAT",
    "CP_MEM_POOL_DBG": "CP_MEMPOOL",
    "CP_ROQ_DBG": "CP_ROQ",
}

#: Groups of ascii85 that are decoded at once.
_STEP = 1 << 14

#: Characters other than zeros in ascii85; runs of zeros that are long enough to skip.
_NOT_ZERO, _LONG_RUN = re.compile(b"[^z]+"), b"z" * 8

#: The sum of the five digits "!" of a group, each at its place.
_BIAS = 33 * (85**4 + 85**3 + 85**2 + 85 + 1)

_ALL_BITS = (1 << 64) - 1

#: Characters of a hexadecimal number, its prefix included, that has at most 32 bits; "0".
_SHORT, _DIGIT_0 = 10, 48


class Block(ValueObject):
    """A line of ascii85. ``declared``: bytes that the dump says there are.

    The kernel leaves out zeros at the end, so the text may stand for fewer bytes.
    """

    __slots__ = ("declared", "text")

    def __init__(self, text: bytes, declared: int) -> None:
        self.text = text
        self.declared = declared

    def contents(self) -> bytes:
        """The bytes that the text stands for, at most as many as are declared."""
        return decode_ascii85(self.text, self.declared // 4)

    @property
    def size(self) -> int:
        """At least as many bytes as ``contents`` returns, without decoding them."""
        zeros = self.text.count(b"z")
        return 4 * min(self.declared // 4, zeros + (len(self.text) - zeros + 4) // 5)


class DeferredContents:
    """The contents of a block as memory, with zeros at its end; decoded when a part is read.

    It stands for a memoryview of ``size`` bytes where only slices are taken. ``declared``: bytes
    that the dump says there are.
    """

    __slots__ = ("_block", "_view", "declared", "size")

    def __init__(self, block: Block, size: int) -> None:
        self._block = block
        self.declared = block.declared
        self._view: memoryview | None = None
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> DeferredContents | memoryview:
        """A part as a memoryview; all of it as this object."""
        is_all = part.start is None and (part.stop is None or part.stop >= self.size)
        return self if is_all else self.view()[part]

    def view(self) -> memoryview:
        """The whole text as a view, not copied."""
        if self._view is None:
            contents = self._block.contents()
            self._view = memoryview(contents + bytes(max(0, self.size - len(contents))))
        return self._view


class Item(ValueObject):
    """One line of a dump, or the two lines of a block.

    ``section``: the name of the section that it lies in, "" outside of known sections.
    ``key``: what the line says, "" where nothing is known of it; ``values``: its numbers (and
    names, as bytes). ``line``: the bytes of the line with its end. ``block``: for the key "data".
    ``pattern``: the form that the line should have and has not, in C's notation; else "". A
    section begins with the key "begin"; "end" comes when another line follows, not at the file's
    end. The key of a line that does not belong to the section is "foreign"; its value is how many
    lines before the place of the item it stands.
    """

    __slots__ = ("block", "key", "line", "pattern", "section", "values")

    def __init__(
        self,
        section: str,
        key: str,
        line: bytes,
        values: tuple[Value, ...] = (),
        block: Block | None = None,
        pattern: str = "",
    ) -> None:
        self.section = section
        self.key = key
        self.line = line
        self.values = values
        self.block = block
        self.pattern = pattern

    @property
    def name(self) -> str:
        """The name in a line whose only value is one."""
        value = self.values[0]
        return value.decode("latin-1") if isinstance(value, bytes) else ""


class _Row:
    """A line that is known in a section: its start, its key, its form as for C's scanf.

    Of the conversions, %lx has 64 bits, the others 32. ``size_unit``: it gives the size of the
    data that follows, in units of this number of bytes.
    """

    __slots__ = ("conversions", "expression", "key", "pattern", "size_unit", "start")

    def __init__(self, start: str, key: str, pattern: str, size_unit: int = 0) -> None:
        self.start = start.encode()
        self.key = key
        self.pattern = pattern
        self.conversions = _CONVERSION.findall(pattern)
        self.expression = re.compile(_expression(pattern))
        self.size_unit = size_unit

    def scan(self, line: bytes) -> tuple[Value, ...] | None:
        """The values in a line; None if it does not have the form."""
        match = self.expression.match(line)
        if match is None:
            return None
        return tuple([_value(*pair) for pair in zip(self.conversions, match.groups(), strict=True)])


_CONVERSION = re.compile("%lx|%x|%u|%d|%s")
_CONVERSIONS = {
    "%lx": rb"([+-]?(?:0[xX][0-9a-fA-F]+|(?!0[xX])[0-9a-fA-F]+))",
    "%x": rb"([+-]?(?:0[xX][0-9a-fA-F]+|(?!0[xX])[0-9a-fA-F]+))",
    "%u": rb"([+-]?[0-9]+)",
    "%d": rb"([+-]?[0-9]+)",
    "%s": rb"(\S+)",
}


def _expression(pattern: str) -> bytes:
    """A regular expression for a pattern of scanf, up to its last conversion."""
    parts = []
    end = 0
    for match in _CONVERSION.finditer(pattern):
        parts.append(_literal(pattern[end : match.start()]) + rb"\s*" + _CONVERSIONS[match[0]])
        end = match.end()
    return b"".join(parts)


def _literal(text: str) -> bytes:
    pieces = re.split(r"\s+", text)
    return rb"\s*".join([re.escape(piece).encode() for piece in pieces])


def _value(conversion: str, text: bytes) -> Value:
    """The value of a conversion, as C's scanf stores it."""
    if conversion == "%x" and len(text) <= _SHORT and text[0] == _DIGIT_0:  # of registers
        return int(text, 16)
    if conversion == "%s":
        return text
    digits = text.lstrip(b"+-")
    # Python refuses decimal numbers of thousands of digits; these are clamped all the same
    number = min(int(digits[:4096], 16 if conversion in ("%x", "%lx") else 10), _ALL_BITS)
    if text.startswith(b"-"):
        number = -number & _ALL_BITS
    if conversion == "%lx":
        return number
    number &= 0xFFFFFFFF
    return number - (1 << 32) if conversion == "%d" and number >> 31 else number


_REGISTER = (_Row("", "register", "  - { offset: %x, value: %x }"),)
_IOVA = _Row("    iova:", "iova", "    iova: %lx")
_SIZE = _Row("    size:", "size", "    size: %u", 1)

#: Section -> the lines that are known in it. Of two sections the first whose name fits counts.
_SECTIONS: dict[str, tuple[_Row, ...]] = {
    "fault-info": (
        _Row("  - far:", "fault", "  - far: %lx"),
        _Row("  - iova=", "fault", "  - iova=%lx"),
    ),
    "bos": (_Row("  - iova:", "iova", "  - iova: %lx"), _SIZE),
    "ringbuffer": (
        _Row("  - id:", "id", "  - id: %d"),
        _IOVA,
        _Row("    rptr:", "rptr", "    rptr: %u"),
        _Row("    wptr:", "wptr", "    wptr: %u"),
        _SIZE,
    ),
    "gmu-log": (_IOVA, _SIZE),
    "gmu-hfi": (
        _IOVA,
        _SIZE,
        _Row(
            "    queue-history",
            "history",
            "    queue-history[%u]: %d %d %d %d %d %d %d %d",
        ),
    ),
    "registers": _REGISTER,
    "registers-gmu": _REGISTER,
    "indexed-registers": (
        _Row("  - regs-name:", "name", "  - regs-name: %s"),
        _Row("    dwords:", "size", "    dwords: %u", 4),
    ),
    "shader-blocks": (
        _Row("  - type:", "type", "  - type: %s"),
        _Row("size:", "size", "size: %u", 4),
    ),
    "clusters": (
        _Row("- cluster-name:", "cluster", ""),
        _Row("- context:", "context", ""),
        _Row("- location:", "location", "- location: %u"),
        _Row("- pipe:", "pipe", ""),
        _Row("", "register", "- { offset: %x, value: %x }"),
    ),
    "debugbus": (
        _Row("  - debugbus-block:", "name", "  - debugbus-block: %s"),
        _Row("    count:", "size", "    count: %u", 4),
    ),
}

_HEADINGS = tuple([(f"{name}:".encode(), name) for name in _SECTIONS])
_REVISION = _Row("revision:", "revision", "revision: %u (%u.%u.%u.%u)")
_DATA = b"data: !!ascii85 |"

#: What begins a section, or is a value outside of all.
_OUTSIDE = re.compile(rb"[A-Za-z][\w-]*:")

#: Foreign lines in succession that a section may have.
_MOST_FOREIGN = 1000

#: Sections with blocks of data.
_WITH_DATA = frozenset(_SECTIONS) - {"fault-info", "registers", "registers-gmu", "clusters"}

#: Sections whose lines are recognised after any indentation.
_ANY_INDENTATION = ("shader-blocks", "clusters")


def indexed_name(name: str) -> str:
    """The name that the first kernels give an entry of indexed-registers, for any kernel's name.

    Names that did not change are returned as they are.
    """
    return _INDEXED_NAMES.get(name, name)


def is_devcoredump(data: BytesLike) -> bool:
    """Whether data is a crash dump: its first lines name the driver or the GPU's revision."""
    start = bytes(memoryview(data)[:_SNIFFED])
    if not start.startswith((b"---", b"kernel:", b"module:", b"revision:")):
        return False
    return any(_OPENING.match(line) for line in start.splitlines(keepends=True))


def iter_items(data: BytesLike, goes_on: bool = False) -> Iterator[Item]:
    """The lines of a dump in order. Data is decoded when it is asked for (``Block.contents``).

    ``goes_on``: a section goes on behind empty lines and lines of a log between its own. Without
    it such a line ends the section, as it does for crashdec.
    """
    lines = _Lines(data)
    while (line := lines.next()) is not None:
        if line.startswith(_REVISION.start):
            values = _REVISION.scan(line)
            pattern = "" if values is not None else _REVISION.pattern
            yield Item("", "revision", line, values or (), pattern=pattern)
            continue
        section = next((name for heading, name in _HEADINGS if line.startswith(heading)), "")
        if not section:
            yield Item("", "", line)
            continue
        yield Item(section, "begin", line)
        yield from _section_items(lines, section, goes_on)


def _foreign_items(lines: _Lines, section: str, goes_on: bool, before: int = 0) -> list[Item]:
    """The next lines if they are foreign to a section that goes on; else []."""
    if not goes_on:
        return []
    return [Item(section, "foreign", line, (before,)) for line in lines.foreign()]


def _section_items(lines: _Lines, section: str, goes_on: bool) -> Iterator[Item]:
    rows = _SECTIONS[section]
    anywhere = section in _ANY_INDENTATION
    data_start = _DATA if anywhere else b"    " + _DATA
    has_data = section in _WITH_DATA
    size = 0
    while (line := lines.next()) is not None:
        if not line.startswith(b" "):
            lines.push(line)
            foreign = _foreign_items(lines, section, goes_on)
            if not foreign:
                yield Item(section, "end", b"")
                return
            yield from foreign
            continue
        shown = line.lstrip(b" \t") if anywhere else line
        if has_data and shown.startswith(data_start):
            foreign = _foreign_items(lines, section, goes_on, 1)
            yield Item(section, "data", line, block=Block(lines.data(), size))
            yield from foreign
            continue
        if section == "shader-blocks" and line.startswith(rows[0].start):
            shown = line
        row = next((row for row in rows if shown.startswith(row.start)), None)
        if row is None:
            yield Item(section, "", line)
            continue
        values = row.scan(shown)
        if values is None:
            yield Item(section, row.key, line, pattern=row.pattern)
            continue
        if row.size_unit:
            size = int(values[0]) * row.size_unit
        yield Item(section, row.key, line, values)


class _Lines:
    """The lines of a text, one after the other; one may be given back."""

    def __init__(self, data: BytesLike) -> None:
        view = memoryview(data)
        source: Any = view.obj  # what can be searched: bytes, a bytearray, a mapped file
        if not hasattr(source, "find") or len(source) != len(view):
            source = bytes(view)
        self._source = source
        self._end = len(view)
        self._position = 0
        self._pushed: bytes | None = None

    def next(self) -> bytes | None:
        """The next line with its end, None at the end of the text.

        crashdec: lines are C strings, so a NUL ends one, its line feed included (mesa 25.0.7)
        """
        line, self._pushed = self._pushed, None
        if line is None:
            line = self._read()
            if line is None:
                return None
            if 0 in line:
                line = line[: line.index(0)]
            for wrong, right in _CORRECTIONS:
                if wrong in line:
                    line = line.replace(wrong, right, 1)
        return line

    def push(self, line: bytes) -> None:
        """Give the last line back."""
        self._pushed = line

    def foreign(self) -> list[bytes]:
        """Take the next lines if they are foreign to a section, which goes on behind them.

        [] where the next line is the section's, or where it ends: before a line that begins
        another one, and where no line of it follows.
        """
        lines: list[bytes] = []
        start, pushed = self._position, self._pushed
        while len(lines) < _MOST_FOREIGN:
            position, line = self._position, self._pushed
            self._pushed = None
            if line is None:
                line = self._read()
            if line is None or _OUTSIDE.match(line):
                break
            if line.startswith(b" "):
                self._position = position
                return lines
            lines.append(line)
        self._position, self._pushed = start, pushed
        return []

    def data(self) -> bytes:
        """The next line as ascii85; the text's end ends it like a line feed."""
        line = self._read() or b""
        return line.rstrip(b"\n").lstrip(b" ")

    def _read(self) -> bytes | None:
        start = self._position
        if start >= self._end:
            return None
        end = self._source.find(b"\n", start) + 1 or self._end
        self._position = end
        return bytes(self._source[start:end])


def decode_ascii85(text: bytes, dwords: int) -> bytes:
    """Little-endian bytes of up to ``dwords`` dwords of ascii85; missing dwords are not added.

    ``z`` is the dword 0. Other groups have five digits from ``!`` on, the last group perhaps fewer;
    sums wrap at 32 bits. Any character is taken for a digit.
    """
    text = text[: 5 * dwords]
    zeros = text.count(b"z")
    if not zeros:
        return _as_bytes(_decode_groups(text))
    if any(size % 5 for size in set(map(len, text.split(b"z")[:-1]))):
        return _decode_slowly(text, dwords)
    if 2 * len(_LONG_RUN) * text.count(_LONG_RUN) < zeros:
        return _as_bytes(_decode_groups(text.replace(b"z", b"!!!!!")[: 5 * dwords]))
    return _as_bytes(_decode_sparse(text)[:dwords])


def _decode_sparse(text: bytes) -> array[int]:
    """Decode as ``_decode_groups`` does text with long runs of ``z``, which cost nothing."""
    values = _decode_groups(text.replace(b"z", b""))
    decoded = array("I", bytes(4 * (text.count(b"z") + len(values))))
    taken = digits = 0
    for match in _NOT_ZERO.finditer(text):
        start, end = match.span()
        count = (end - start + 4) // 5
        position = start - digits + taken
        decoded[position : position + count] = values[taken : taken + count]
        taken += count
        digits += end - start
    return decoded


def _decode_groups(text: bytes) -> array[int]:
    """The dwords of groups of five digits; the last group may have fewer."""
    decoded = array("I")
    whole = len(text) // 5 * 5
    for start in range(0, whole, 5 * _STEP):
        part = text[start : min(start + 5 * _STEP, whole)]
        digits = part[0::5], part[1::5], part[2::5], part[3::5], part[4::5]
        decoded.extend(
            [
                ((((a * 85 + b) * 85 + c) * 85 + d) * 85 + e - _BIAS) & 0xFFFFFFFF
                for a, b, c, d, e in zip(*digits, strict=True)
            ]
        )
    if whole < len(text):
        decoded.append(_group(text[whole:]))
    return decoded


def _decode_slowly(text: bytes, dwords: int) -> bytes:
    """Decodes what ``decode_ascii85`` does, where a ``z`` stands within a group."""
    decoded = array("I")
    position = 0
    while position < len(text) and len(decoded) < dwords:
        if text[position] == ord("z"):
            decoded.append(0)
            position += 1
        else:
            decoded.append(_group(text[position : position + 5]))
            position += 5
    return _as_bytes(decoded)


def _group(digits: bytes) -> int:
    number = 0
    for digit in digits:
        number = number * 85 + digit - 33
    return number & 0xFFFFFFFF


def _as_bytes(decoded: array[int]) -> bytes:
    if sys.byteorder != "little":
        decoded.byteswap()
    return decoded.tobytes()
