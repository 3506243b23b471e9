# SPDX-License-Identifier: MIT
"""What lies in vertex, index and constant buffers: rows of dwords, as floats where they look so."""

from __future__ import annotations

from struct import unpack

from cffpy.intel.views.aubinator.context import FLOATS, VB_DATA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.intel.decoder.groups import Command, Field, Group
    from cffpy.intel.views.aubinator.context import Printer

_COLUMNS = 8
_MAX_INDICES = 10
#: Bytes of one buffer that are printed; 32-bit sizes of hostile files go beyond any memory.
_MAX_BYTES = 64 << 20


def looks_like_float(word: int) -> bool:
    """Whether a dword is taken for a float: of usual size, zero, or with a short mantissa."""
    exponent = (word >> 23 & 0xFF) - 127
    return -30 <= exponent <= 30 or not word & 0xFFFF


def dword_rows(data: bytes, pitch: int, max_lines: int, floats: bool) -> str:
    """Rows of at most 8 dwords; a new one begins every ``pitch`` bytes, too.

    With pitch 0 there is an empty line first, which counts as a line; where ``max_lines`` (-1: no
    limit) cuts, an empty line follows.
    """
    size = len(data) // 4 * 4
    rows: list[str] = []
    remembered: dict[bytes, str] = {}
    most = size if max_lines < 0 else max_lines + (pitch != 0)
    for start, end in _row_bounds(size, pitch):
        if len(rows) == most:
            return "\n" * (not pitch) + "".join([f"{row}\n" for row in rows]) + "\n"
        chunk = data[start:end]
        row = remembered.get(chunk)
        if row is None:
            row = remembered[chunk] = _row(chunk, floats)
        rows.append(row)
    return ("\n" if rows and not pitch else "") + "\n".join(rows) + "\n"


def _row_bounds(size: int, pitch: int) -> Iterator[tuple[int, int]]:
    """Where rows begin and end, in bytes."""
    step = size if not pitch or pitch % 4 else pitch
    for outer in range(0, size, step or 1):
        for start in range(outer, min(outer + step, size), 4 * _COLUMNS):
            yield start, min(start + 4 * _COLUMNS, outer + step, size)


def _row(chunk: bytes, floats: bool) -> str:
    words = unpack(f"<{len(chunk) // 4}I", chunk)
    numbers = unpack(f"<{len(chunk) // 4}f", chunk)
    return " " + "".join(
        [
            f"   {_float_column(word, number)}"
            if floats and looks_like_float(word)
            else f"   0x{word:08x}"
            for word, number in zip(words, numbers, strict=True)
        ]
    )


def _float_column(word: int, number: float) -> str:
    if number != number:
        return f"{'-nan' if word >> 31 else 'nan':>8}"
    return f"{number:8.2f}"


def print_buffer(
    printer: Printer, address: int, size: int, pitch: int = 0, max_lines: int = -1
) -> None:
    """Print up to ``size`` bytes from ``address`` on."""
    data = printer.span(address, min(size & 0xFFFFFFFF, _MAX_BYTES))
    printer.out(dword_rows(data, pitch, max_lines, bool(printer.flags & FLOATS)))


def vertex_buffers(printer: Printer, command: Command) -> None:
    """handle_3dstate_vertex_buffers: each buffer's index and size, and its data where asked for."""
    state = printer.database.struct("VERTEX_BUFFER_STATE")
    if state is None:
        return
    walk = _VertexBuffer(printer)
    length = command.group.length_of(command.dword(0))
    for field in command.group.fields(length, command.dword(0)):
        if field.argument == "VERTEX_BUFFER_STATE" and not field.is_opcode:
            words = command.words[field.dword : field.dword + state.dwords]
            for inner in state.fields(state.dwords):
                walk.take(inner, inner.value(words))


class _VertexBuffer:
    """A vertex buffer while its fields are read, one after the other.

    What is printed depends on their order: where nothing is printed of a buffer, it stays ready
    while the following fields are read, and its line is printed again (mesa 25.0.7).
    """

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._address = 0
        self._is_mapped = False
        self._size = 0
        self._index = -1
        self._pitch = -1
        self._is_ready = False

    def take(self, field: Field, value: int) -> None:
        """Read a field, and print the buffer if it is complete."""
        match field.name:
            case "Vertex Buffer Index":
                self._index = value
            case "Buffer Pitch":
                self._pitch = value
            case "Buffer Starting Address":
                self._address = value & ((1 << 48) - 1)
                self._is_mapped = bool(self._printer.span(value, 1))
            case "Buffer Size":
                self._size = value
                self._is_ready = True
            case "End Address":
                self._size = value + 1 - self._address if self._covers(value) else 0
                self._is_ready = True
        if self._is_ready:
            self._print()

    def _covers(self, end: int) -> bool:
        return self._is_mapped and end >= self._address

    def _print(self) -> None:
        printer = self._printer
        printer.out(f"vertex buffer {self._index}, size {_signed(self._size)}\n")
        if not self._is_mapped:
            printer.out("  buffer contents unavailable\n")
            return
        if not self._size & 0xFFFFFFFF:
            return
        if printer.flags & VB_DATA:
            lines = printer.options.max_vertex_lines
            print_buffer(printer, self._address, self._size, self._pitch & 0xFFFFFFFF, lines)
        self._is_mapped = False
        self._size = 0
        self._index = -1
        self._pitch = -1
        self._is_ready = False


def _signed(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def index_buffer(printer: Printer, command: Command) -> None:
    """handle_3dstate_index_buffer: the first ten indices."""
    kind, address, size = command.values("Index Format", "Buffer Starting Address", "Buffer Size")
    if address is None or not printer.span(address, 1):
        printer.out("  buffer contents unavailable\n")
        return
    width = {0: 1, 1: 2, 2: 4}.get(kind or 0, 0)
    data = printer.span(address, min((size or 0) & 0xFFFFFFFF, 4 * _MAX_INDICES + 1))
    there = len(data)
    count = min(_MAX_INDICES, -(-there // width)) if width else 0
    data = data.ljust(4 * _MAX_INDICES, b"\0")
    text = ""
    if count:
        numbers = unpack(f"<{count}{'?BH?i'[width]}", data[: count * width])
        text = "".join(f"{number:3d} " for number in numbers)
    if count * width < there:
        text += "..."
    printer.out(f"{text}\n")


def constants(printer: Printer, command: Command) -> None:
    """decode_3dstate_constant: up to four buffers of the instruction's body."""
    body = printer.database.struct("3DSTATE_CONSTANT_BODY")
    for words in _bodies(command, body):
        assert body is not None
        for index in range(4):
            names = (f"Read Length[{index}]", f"Buffer[{index}]")
            length, address = body.values(words, names, body.dwords)
            if not length:
                continue
            if not printer.span(address or 0, 1):
                printer.out(f"constant buffer {index} unavailable\n")
                continue
            printer.out(f"constant buffer {index}, size {length * 32}\n")
            print_buffer(printer, address or 0, length * 32)


def all_constants(printer: Printer, command: Command) -> None:
    """decode_3dstate_constant_all: the buffers of all stages; those without memory are left out."""
    body = printer.database.struct("3DSTATE_CONSTANT_ALL_DATA")
    names = ("Constant Buffer Read Length", "Pointer To Constant Buffer")
    for index, words in enumerate(_bodies(command, body)[:4]):
        assert body is not None
        length, address = body.values(words, names, body.dwords)
        if length and printer.span(address or 0, 1):
            printer.out(f"constant buffer {index}, size {length * 32}\n")
            print_buffer(printer, address or 0, length * 32)


def _bodies(command: Command, body: Group | None) -> list[tuple[int, ...]]:
    """The dwords of the fields of an instruction whose type is the struct ``body``."""
    if body is None:
        return []
    fields = command.group.fields(command.group.length_of(command.dword(0)), command.dword(0))
    return [
        command.words[field.dword : field.dword + body.dwords]
        for field in fields
        if field.argument == body.name
    ]


def curbe_load(printer: Printer, command: Command) -> None:
    """handle_media_curbe_load: the constants of media kernels."""
    offset, length = command.values("CURBE Data Start Address", "CURBE Total Data Length")
    if length:
        address = printer.dynamic_base + (offset or 0)
        if printer.span(address, 1):
            print_buffer(printer, address, length)


def gen4_constants(printer: Printer, command: Command) -> None:
    """decode_gfx4_constant_buffer: CONSTANT_BUFFER of gen4 and gen5."""
    length, valid, address = command.values("Buffer Length", "Valid", "Buffer Starting Address")
    if not valid:
        return
    if not printer.span(address or 0, 1):
        printer.out("constant buffer unavailable\n")
        return
    size = ((length or 0) + 1) * 64
    printer.out(f"constant buffer size {size & 0xFFFFFFFF}\n")
    print_buffer(printer, address or 0, size)
