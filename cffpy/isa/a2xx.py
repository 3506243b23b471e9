# SPDX-License-Identifier: MIT
"""The listing of an a2xx program: control flow, and the ALU and fetch instructions it executes.

The instructions are described in register_db/isa/a2xx.isa; this file knows the program layout.
Mirrors disasm-a2xx.c (mesa 25.0.7): control flow instructions in pairs of three dwords, each with
address and number of the instructions that it runs, and two bits for each of these.
"""

from __future__ import annotations

from cffpy.isa.operands import TEXTURE, Descriptor
from cffpy.isa.render import Renderer, tabs_of
from cffpy.isa.store import load
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.isa.rows import IsaRow

_CF_BYTES = 6
_DWORD = 0xFFFFFFFF
_FRAGMENT = 1 << 96
"""The bit that a2xx.isa adds to ALU words for fragment programs."""
_FETCH, _WAIT = 1, 2
"""Of the two serialize bits of an instruction: fetch instead of ALU; ``(S)``."""
_PROGRAM_BYTES = 1 << 24
_WORDS = 1 << 16


def field_bits(isa: IsaRow, bitset: str, field: str) -> tuple[int, int]:
    """(lowest bit, mask) of a field that ``bitset`` declares. Raises KeyError."""
    for name, _parent, cases in isa["bitsets"]:
        if name == bitset and field in cases[-1][2]:
            row = cases[-1][2][field]
            return row[1], (1 << row[2] - row[1] + 1) - 1
    raise KeyError(f"{bitset}.{field}")


class A2xxListing(ValueObject):
    """A program's text, and how much of the data it covers."""

    __slots__ = ("instructions", "is_cut", "size", "text")

    def __init__(self, text: str, instructions: int, size: int, is_cut: bool) -> None:
        self.text = text
        #: The program continues beyond the end of the data.
        self.is_cut = is_cut
        #: Control flow, ALU and fetch instructions listed.
        self.instructions = instructions
        #: Bytes up to the end of the last one.
        self.size = size


class VertexFetch(ValueObject):
    """A fetch of a vertex attribute. ``offset``, ``stride``: bytes.

    ``constant``: the number of its fetch constant, of two dwords each. ``format``: with the type
    that components are converted from, as in "FMT_8_8_8_8_UNORM"; "" for an unknown one.
    """

    __slots__ = ("constant", "format", "offset", "stride")

    def __init__(self, constant: int, form: str, offset: int, stride: int) -> None:
        self.constant = constant
        self.format = form
        self.offset = offset
        self.stride = stride


#: Fetch constants of vertices that lie where one of a texture would.
_VERTEX_CONSTANTS = 3

#: Bits of any fetch instruction that tell its kind: 0 for vertices; SAMPLE, and others that ask
#: about a texture; from ``_FIRST_SETTING`` on, those that only prepare the next one.
_FETCH_KIND = 0x1F
_SAMPLE = _FIRST_TEXTURE_FETCH = 1
_FIRST_SETTING = 24

_VERTEX_FIELDS = ("CONST", "CONST_SELECT", "SIGN", "NORMALIZED", "FORMAT", "STRIDE", "OFFSET")


class A2xxDisassembler:
    """Disassembles a2xx programs. Words and programs are memoised."""

    def __init__(self, directory: str | None = None) -> None:
        isa = load("a2xx", 200, directory)
        self._flow = Renderer(isa, "#cf")
        self._vector = Renderer(isa, "#alu-vector")
        self._scalar = Renderer(isa, "#alu-scalar")
        self._fetch = Renderer(isa, "#fetch")
        self._address = field_bits(isa, "#cf-exec", "ADDRESS")
        self._count = field_bits(isa, "#cf-exec", "COUNT")
        self._serialize = field_bits(isa, "#cf-exec", "SERIALIZE")
        self._vector_mask = field_bits(isa, "#alu-vector", "VECTOR_MASK")
        self._scalar_mask = field_bits(isa, "#alu-vector", "SCALAR_MASK")
        self._exec_opcodes = _opcodes(isa, "#cf-exec")
        self._isa = isa
        #: Indexed by a word's last byte, whose upper half is the opcode: 1 for these opcodes.
        self._exec_tops = bytes(top >> 4 in self._exec_opcodes for top in range(256))
        self._words: dict[tuple[int, int], str] = {}
        self._programs: dict[tuple[int, bool, bytes], A2xxListing] = {}
        self._program_bytes = 0

    def disassemble(self, data: bytes | memoryview, level: int, fragment: bool) -> str:
        """The text of a program; ``fragment``: no vertex program.

        ``level`` is the reference's, which puts one tab more than that in front of a2xx lines.
        ``data`` is little-endian. What a program names beyond it is left out.
        """
        return self.listing(data, level, fragment).text

    def listing(self, data: bytes | memoryview, level: int, fragment: bool) -> A2xxListing:
        """The text of a program, as of ``disassemble``, and its size."""
        key = level, fragment, bytes(data)
        known = self._programs.get(key)
        if known is None:
            known = self._list(key[2], tabs_of(level + 1), fragment)
            self._program_bytes += len(known.text) + len(key[2])
            if self._program_bytes > _PROGRAM_BYTES:
                self._programs.clear()
                self._program_bytes = len(known.text) + len(key[2])
            self._programs[key] = known
        return known

    def vertex_fetches(self, data: bytes | memoryview) -> list[VertexFetch]:
        """The fetches of vertices in a program, in the order of execution."""
        fields = [field_bits(self._isa, "VERTEX", name) for name in _VERTEX_FIELDS]
        return [
            self._vertex_fetch(*(_get(word, bits) for bits in fields))
            for word in self._fetches(bytes(data))
            if not word & _FETCH_KIND
        ]

    def descriptors(self, data: bytes | memoryview) -> frozenset[Descriptor]:
        """The textures that the instructions of a program name, by their fetch constants."""
        constant = field_bits(self._isa, "#fetch-texture", "CONST")
        return frozenset(
            Descriptor(TEXTURE, False, None, _get(word, constant), word & _FETCH_KIND == _SAMPLE)
            for word in self._fetches(bytes(data))
            if _FIRST_TEXTURE_FETCH <= word & _FETCH_KIND < _FIRST_SETTING
        )

    def _fetches(self, data: bytes) -> Iterator[int]:
        """The words of fetch instructions."""
        count = min(self._flow_words(data), len(data) // _CF_BYTES)
        for number in range(count):
            flow = _flow_word(data, number)
            if flow >> 44 not in self._exec_opcodes:
                continue
            sequence, address = _get(flow, self._serialize), _get(flow, self._address)
            for place in range(address, address + _get(flow, self._count)):
                raw = data[place * 12 : place * 12 + 12]
                if len(raw) == 12 and sequence & _FETCH:
                    yield int.from_bytes(raw, "little")
                sequence >>= 2

    def _vertex_fetch(
        self, constant: int, select: int, sign: int, is_integer: int, number: int, *place: int
    ) -> VertexFetch:
        """A fetch by the values of ``_VERTEX_FIELDS``."""
        form: str = self._isa["enums"]["#fetch-format"].get(number, "")
        if form and not form.endswith("_FLOAT"):
            form += f"_{'S' if sign else 'U'}{'SCALED' if is_integer else 'NORM'}"
        stride, offset = place
        return VertexFetch(constant * _VERTEX_CONSTANTS + select, form, offset, stride)

    def _flow_words(self, data: bytes) -> int:
        """How many control flow words the program says it has; -1 where none runs anything."""
        first = data[_CF_BYTES - 1 :: _CF_BYTES].translate(self._exec_tops).find(1)
        return -1 if first < 0 else 2 * _get(_flow_word(data, first), self._address)

    def _list(self, data: bytes, tabs: str, fragment: bool) -> A2xxListing:
        count = self._flow_words(data)
        if count < 0:
            return A2xxListing("", 0, 0, is_cut=True)
        size = min(count, len(data) // _CF_BYTES) * _CF_BYTES
        is_cut = size < count * _CF_BYTES
        lines: list[str] = []
        for number in range(size // _CF_BYTES):
            word = _flow_word(data, number)
            lines.append(self._flow_line(word, tabs))
            if word >> 44 not in self._exec_opcodes:
                continue
            sequence = _get(word, self._serialize)
            address = _get(word, self._address)
            for place in range(address, address + _get(word, self._count)):
                raw = data[place * 12 : place * 12 + 12]
                if len(raw) < 12:
                    is_cut = True
                    break
                lines.append(self._instruction(place, raw, sequence, tabs, fragment))
                size = max(size, place * 12 + 12)
                sequence >>= 2
        return A2xxListing("".join(lines), len(lines), size, is_cut)

    def _flow_line(self, word: int, tabs: str) -> str:
        text = self._text(0, self._flow, word)
        return (
            f"{tabs}    {word & 0xFFFF:04x} {word >> 16 & 0xFFFF:04x} {word >> 32:04x}"
            f"            \t{text}\n"
        )

    def _instruction(self, place: int, raw: bytes, sequence: int, tabs: str, fragment: bool) -> str:
        word = int.from_bytes(raw, "little")
        kind = "FETCH" if sequence & _FETCH else "ALU"
        wait = "(S)" if sequence & _WAIT else "   "
        start = (
            f"{tabs}{place:02x}: {word & _DWORD:08x} {word >> 32 & _DWORD:08x} {word >> 64:08x}"
            f"\t   {wait}{kind}:\t"
        )
        if sequence & _FETCH:
            return start + self._text(1, self._fetch, word) + "\n"
        if fragment:
            word |= _FRAGMENT
        lines = start + self._text(2, self._vector, word) + "\n"
        if _get(word, self._scalar_mask) or not _get(word, self._vector_mask):
            lines += f"{tabs}{'':26}\t\t    \t{self._text(3, self._scalar, word)}\n"
        return lines

    def _text(self, number: int, renderer: Renderer, word: int) -> str:
        text = self._words.get((number, word))
        if text is None:
            matched, text, _events, _branch, _errors = renderer.render(word)
            if not matched:
                text = "?"  # an unknown fetch: the reference would crash
            if len(self._words) >= _WORDS:
                self._words.clear()
            self._words[number, word] = text
        return text


def _flow_word(data: bytes, number: int) -> int:
    """The control flow word with the given index."""
    return int.from_bytes(data[number * _CF_BYTES : (number + 1) * _CF_BYTES], "little")


def _get(word: int, field: tuple[int, int]) -> int:
    return word >> field[0] & field[1]


def _opcodes(isa: IsaRow, ancestor: str) -> frozenset[int]:
    """Opcodes (bits 44 to 47) of the control flow words that extend ``ancestor``."""
    slots = set()
    for bitset, match, _mask, _dontcare in isa["roots"]["#cf"][1]:
        place = bitset
        while place >= 0:
            name, parent, _cases = isa["bitsets"][place]
            if name == ancestor:
                slots.add(match >> 44)
            place = parent
    return frozenset(slots)
