# SPDX-License-Identifier: MIT
"""What the parts of a dump share: output, memory, where state lies; and the current instruction."""

from __future__ import annotations

from struct import unpack_from

from cffpy.intel.decoder.text import GroupText
from cffpy.intel.views.aubinator.options import COLOUR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Group
    from cffpy.intel.views.aubinator.options import DecodeOptions

    Handler = Callable[["Printer", "Command"], None]

#: Addresses have 48 bits from gen8 on; the rest repeats the highest one.
M48 = (1 << 48) - 1

#: Characters that are collected before they are written.
_WRITE_SIZE = 1 << 20


class Command:
    """An instruction at its place, for handlers: its group, its dwords, and some that follow."""

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


class Printer:
    """Output, memory and state of a dump. State bases are kept from one batch to the next.

    ``write`` takes the text in pieces. ``kernel`` is called with short name and address of each
    kernel, and returns what stands in place of its disassembly.
    """

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        options: DecodeOptions,
        write: Callable[[str], object],
    ) -> None:
        self.database = database
        self.memory = memory
        self.options = options
        self.flags = options.flags
        self.kernel: Callable[[Printer, str, int], str] | None = None
        self.groups = GroupText(database, bool(self.flags & COLOUR))
        self.surface_base = 0
        self.dynamic_base = 0
        self.instruction_base = 0
        self.pool_base = 0
        self.uses_256_byte_tables = False
        self._write = write
        self._chunks: list[str] = []
        self._collected = 0

    def out(self, text: str) -> None:
        """Print text."""
        self._chunks.append(text)
        self._collected += len(text)
        if self._collected >= _WRITE_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write what was printed."""
        if self._chunks:
            self._write("".join(self._chunks))
            self._chunks.clear()
            self._collected = 0

    def span(self, address: int, size: int, ppgtt: bool = True) -> bytes:
        """Up to ``size`` bytes from ``address`` on; empty where it is unmapped."""
        if self.database.ver >= 8:
            address &= M48
        return self.memory.span(ppgtt, address, size)

    def print_group(self, group: Group, address: int, data: bytes) -> None:
        """Print a struct or register that ``data`` begins with."""
        self.out(self.groups.text(group, address, data))
