# SPDX-License-Identifier: MIT
"""The capture under construction: open blocks, labels, statements of sections and data."""

from __future__ import annotations

from collections.abc import Callable

from cffpy.container.rd import RESYNC_MARKER, SECTION_HEADER, offset_in
from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    NewSection,
    address_section,
    capture_bytes,
    chip_id_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
    header_bytes,
    marker_bytes,
    parameter_section,
)
from cffpy.errors import StructError
from cffpy.pm4asm.contents import row_words, string_bytes
from cffpy.pm4asm.model import (
    Call,
    Item,
    Line,
    Name,
    Number,
    SourceProblem,
    Statement,
    Value,
    unquoted,
)
from cffpy.pm4asm.values import Resolve, encode, nearest, plain_field

#: Deepest nesting: a section, and blocks in it.
_DEEPEST = 4


class Label:
    """A block's place: its address, its dwords once ``is_complete``."""

    __slots__ = ("address", "dwords", "is_complete")

    def __init__(self, address: int) -> None:
        self.address = address
        self.dwords = 0
        self.is_complete = False


class _Block:
    """An open block: ``address`` of its first byte, ``start`` of that byte in the output."""

    __slots__ = ("address", "close", "label", "start")

    def __init__(
        self, start: int, address: int, label: Label | None, close: Callable[[int], None] | None
    ) -> None:
        self.start = start
        self.address = address
        self.label = label
        self.close = close


class Image:
    """The output, and where in it the text is. Raises SourceProblem beyond ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self.output = bytearray()
        self.labels: dict[str, Label] = {}
        #: Lines of the program that is being read, if one is.
        self.program: list[Line] | None = None
        self._limit = limit
        self._blocks: list[_Block] = []

    def add(self, data: bytes) -> None:
        """Append bytes to the open block."""
        if not self._blocks:
            raise SourceProblem("this belongs in a block, such as: buffer b 0x1000 {", 1)
        self.output += data
        self._check(0)

    def check_content(self) -> None:
        """Raise SourceProblem if no block is open."""
        self.add(b"")

    def section(self, data: bytes) -> None:
        """Append a whole section. Raises SourceProblem inside a block."""
        if self._blocks:
            raise SourceProblem("a section cannot be inside a block: } is missing", 1)
        self.output += data
        self._check(0)

    def fill(self, size: int) -> None:
        """Append ``size`` zero bytes. Raises SourceProblem beyond the limit."""
        self._check(size)
        self.output += bytes(size)

    def _check(self, more: int) -> None:
        if len(self.output) + more > self._limit:
            raise SourceProblem(f"the capture would have more than {self._limit} bytes", 1)

    def check_size(self, size: int) -> None:
        """Raise SourceProblem if ``size`` more bytes exceed the limit."""
        self._check(size)

    # -- blocks -----------------------------------------------------------------------------

    def open(
        self, address: int, name: str | None, close: Callable[[int], None] | None, column: int = 1
    ) -> None:
        """A block begins. ``close`` takes the number of its bytes at its end."""
        if len(self._blocks) >= _DEEPEST:
            raise SourceProblem(f"blocks nested more than {_DEEPEST} deep", 1)
        label = None
        if name is not None:
            if name in self.labels:
                raise SourceProblem(f"label {name} is already defined", column)
            label = self.labels[name] = Label(address)
        self._blocks.append(_Block(len(self.output), address, label, close))

    def open_inner(self, name: str, column: int) -> None:
        """A labelled block in a section begins here."""
        if not self._blocks:
            raise SourceProblem("a block belongs into a buffer", 1)
        # a buffer may begin at any address: its own dwords count
        if (len(self.output) - self._blocks[0].start) % 4:
            raise SourceProblem(f"a block cannot begin at {self.address:#x}, amid a dword", 1)
        self.open(self.address, name, None, column)

    def close(self) -> None:
        """The innermost block ends: its label is known. Raises SourceProblem if none is open."""
        if not self._blocks:
            raise SourceProblem("no block is open", 1)
        block = self._blocks[-1]
        size = len(self.output) - block.start
        if block.close is not None:
            block.close(size)
        if block.label is not None:
            block.label.dwords = (len(self.output) - block.start) // 4
            block.label.is_complete = True
        self._blocks.pop()
        self.program = None

    @property
    def address(self) -> int:
        """The address of the next byte."""
        block = self._blocks[-1]
        return block.address + len(self.output) - block.start

    def move_to(self, address: int, column: int) -> None:
        """Zeros up to ``address``, which must not be before the end of the block."""
        if not self._blocks:
            raise SourceProblem("an address belongs into a buffer", 1)
        missing = address - self.address
        if missing < 0:
            raise SourceProblem(
                f"overlap: {address:#x} is {-missing} bytes before {self.address:#x}, "
                "where the content so far ends",
                column,
            )
        self.fill(missing)

    def finish(self) -> None:
        """End of the text. Raises SourceProblem if a block is still open."""
        if self._blocks:
            raise SourceProblem("the text ends, but a block is open: } is missing", 1)


#: The version of the language.
VERSION = 1

_DWORD = plain_field("value", 0, 31)
_ADDRESS = plain_field("ADDRESS", 0, 63)
_TEXTS = {"cmd": SectionType.CMD, "test": SectionType.TEST}
_TYPES = {f"RD_{name}": number for name, number in vars(SectionType).items() if name.isupper()}


class Sections:
    """Runs statements that are neither packets nor programs."""

    def __init__(self, image: Image, resolve: Resolve) -> None:
        self._image = image
        self._resolve = resolve
        self._run: dict[str, Callable[[Statement], None]] = {
            "version": self._version,
            "gpu_id": self._gpu_id,
            "chip_id": self._chip_id,
            "marker": self._marker,
            "cmd": self._text,
            "test": self._text,
            "param": self._param,
            "stream": self._stream,
            "address": self._address,
            "section": self._section,
            "trailing": self._trailing,
            "buffer": self._buffer,
            "commands": self._inner,
            "data": self._inner,
            "shader": self._shader,
            "end": lambda statement: image.close(),
            "at": self._at,
            "row": self._row,
            "bytes": self._bytes,
            "string": self._string,
            "fill": self._fill,
        }

    def run(self, statement: Statement) -> None:
        """Do what a statement says. Raises SourceProblem."""
        try:
            action = self._run[statement.kind]
        except KeyError:
            raise SourceProblem("nothing to go on with: + belongs to packets", 1) from None
        try:
            action(statement)
        except StructError as problem:
            raise SourceProblem(str(problem), statement.column) from None

    # -- sections ---------------------------------------------------------------------------

    def _put(self, section: NewSection) -> None:
        self._image.section(capture_bytes([section]))

    def _version(self, statement: Statement) -> None:
        number = _number(statement.parts[0])
        if number.integer != VERSION:
            raise SourceProblem(f"this is version {VERSION} of the language", number.column)

    def _gpu_id(self, statement: Statement) -> None:
        self._put(gpu_id_section(_number(statement.parts[0]).integer))

    def _chip_id(self, statement: Statement) -> None:
        self._put(chip_id_section(_number(statement.parts[0]).integer))

    def _marker(self, statement: Statement) -> None:
        given = statement.parts[0]
        count = 1 if given is None else _positive(given)
        self._image.check_size(count * len(RESYNC_MARKER))
        self._image.section(marker_bytes(count))

    def _text(self, statement: Statement) -> None:
        self._put(NewSection(_TEXTS[statement.kind], unquoted(str(statement.parts[0]))))

    def _param(self, statement: Statement) -> None:
        self._put(parameter_section(*[_number(part).integer for part in statement.parts]))

    def _stream(self, statement: Statement) -> None:
        self._image.section(self.stream_section(statement))

    def stream_section(self, statement: Statement) -> bytes:
        """The section that executes a command stream."""
        values = [
            part for part in statement.parts if not isinstance(part, str) and part is not None
        ]
        short = any(isinstance(part, str) for part in statement.parts)
        place, dwords = values[0], values[1] if len(values) > 1 else None
        if dwords is None:
            if not isinstance(place, Name):
                raise SourceProblem("how many dwords? stream ADDRESS dwords COUNT", 1)
            dwords = Call("sizeof", place.text, 0, place.column)
        address = self._value(place, _ADDRESS)
        if short and address >> 32:
            raise SourceProblem(f"{address:#x} is not a 32-bit address", statement.column)
        count = self._value(dwords, _DWORD)
        return capture_bytes([command_stream_section(address, count, short=short)])

    def _value(self, value: object, field: object) -> int:
        assert isinstance(value, Number | Name | Call)
        shown: Value = value
        return encode(_ADDRESS if field is _ADDRESS else _DWORD, shown, self._resolve)

    def _address(self, statement: Statement) -> None:
        place, size, short = statement.parts
        sizes = _attributes([size], ("size",))
        self._put_address(statement, place, sizes["size"], short is not None)

    def _put_address(self, statement: Statement, place: object, size: int, short: bool) -> int:
        """The section that names an address, which is returned."""
        address = encode(_ADDRESS, _number(place), self._resolve)
        if short and address >> 32:
            raise SourceProblem(f"{address:#x} is not a 32-bit address", statement.column)
        self._put(address_section(address, size, short=short))
        return address

    def _section(self, statement: Statement) -> None:
        kind, *attributes = statement.parts
        sizes = _attributes(attributes, ("size", "contents", "declared"))
        if isinstance(kind, Name):
            number = _TYPES.get(kind.text)
            if number is None:
                near = nearest(kind.text, _TYPES)
                raise SourceProblem(f"no type of section is called {kind.text}{near}", kind.column)
        else:
            number = _number(kind).integer
        self._open(number, 0, None, sizes.get("contents", sizes.get("size")), sizes)

    def _buffer(self, statement: Statement) -> None:
        name, place, *rest = statement.parts
        assert isinstance(name, Name)
        short = rest.pop() is not None
        sizes = _attributes(rest, ("size", "contents", "declared"))
        address = self._put_address(statement, place, sizes.get("size", 0), short)
        length = self._image.output
        at = len(length) - len(address_section(address, 0, short=short).payload)
        at += offset_in("GPU_ADDRESS", "length")
        wanted = sizes.get("contents", sizes.get("size"))

        def close(size: int) -> None:
            if "size" not in sizes:
                length[at : at + 4] = dwords_bytes([size])

        self._open(SectionType.BUFFER_CONTENTS, address, name, wanted, sizes, close, name.column)

    def _open(
        self,
        kind: int,
        address: int,
        name: Name | None,
        wanted: int | None,
        sizes: dict[str, int],
        then: Callable[[int], None] | None = None,
        column: int = 1,
    ) -> None:
        """A section with content; ``wanted``: its bytes, up to which zeros are added."""
        image = self._image
        header = len(image.output)
        image.section(header_bytes(kind, 0))

        def close(size: int) -> None:
            if wanted is not None:
                if size > wanted:
                    raise SourceProblem(
                        f"the content has {size} bytes, {size - wanted} more than the section", 1
                    )
                image.fill(wanted - size)
                size = wanted
            declared = sizes.get("declared", size)
            image.output[header : header + SECTION_HEADER.size] = header_bytes(kind, declared)
            if then is not None:
                then(size)

        image.open(address, None if name is None else name.text, close, column)

    def _trailing(self, statement: Statement) -> None:
        self._image.section(b"")
        self._image.open(0, None, None)

    # -- blocks and data --------------------------------------------------------------------

    def _inner(self, statement: Statement) -> None:
        name, place = statement.parts
        assert isinstance(name, Name)
        if place is not None:
            self._image.move_to(_number(place).integer, _number(place).column)
        self._image.open_inner(name.text, name.column)

    def _shader(self, statement: Statement) -> None:
        self._inner(statement)
        self._image.program = []

    def _at(self, statement: Statement) -> None:
        place = _number(statement.parts[0])
        self._image.move_to(place.integer, place.column)

    def _row(self, statement: Statement) -> None:
        self._image.add(dwords_bytes(row_words(str(statement.parts[0]))))

    def _bytes(self, statement: Statement) -> None:
        self._image.add(bytes.fromhex(str(statement.parts[0])))

    def _string(self, statement: Statement) -> None:
        self._image.add(string_bytes(str(statement.parts[0])))

    def _fill(self, statement: Statement) -> None:
        word, given = statement.parts
        count = _positive(given)
        self._image.check_size(count * 4)
        self._image.add(dwords_bytes([encode(_DWORD, _number(word), self._resolve)]) * count)


def _number(part: object) -> Number:
    assert isinstance(part, Number)
    return part


def _positive(part: object) -> int:
    number = _number(part)
    if number.integer < 0:
        raise SourceProblem(f"{number} is not a count", number.column)
    return number.integer


def _attributes(given: list[object], known: tuple[str, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for item in given:
        if not isinstance(item, Item):
            continue
        name = str(item.name)
        if name in sizes:
            raise SourceProblem(f"{name} is given twice", item.column)
        if name not in known or not isinstance(item.value, Number):
            raise SourceProblem(f"{name} is not known here", item.column)
        sizes[name] = encode(_DWORD, item.value, lambda call: 0)
    return sizes
