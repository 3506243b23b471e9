# SPDX-License-Identifier: MIT
"""Shared by all parts of a dump: output, memory, and the bases of state."""

from __future__ import annotations

from cffpy.intel.decoder.batches import BatchRunner
from cffpy.intel.decoder.text import GroupText
from cffpy.intel.views.aubinator.options import COLOUR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Command, Group
    from cffpy.intel.views.aubinator.options import DecodeOptions

    Handler = Callable[["Printer", "Command"], None]

#: Characters that are collected before they are written.
_WRITE_SIZE = 1 << 16


class Printer(BatchRunner):
    """Output, memory and state of a dump. State bases are kept from one batch to the next.

    ``write`` takes the text in pieces. ``kernel`` is called with short name and address of each
    kernel, and returns the text that replaces its disassembly.
    """

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        options: DecodeOptions,
        write: Callable[[str], object],
        budget: int,
    ) -> None:
        super().__init__(database, memory, budget, options.follows_stores)
        self.options = options
        self.flags = options.flags
        self.kernel: Callable[[Printer, str, int], str] | None = None
        self.groups = GroupText(database, bool(self.flags & COLOUR))
        self.surface_base = 0
        self.dynamic_base = 0
        self.instruction_base = 0
        self.pool_base = 0
        self.uses_256_byte_tables = False
        #: Surface base and bytes of a binding table -> its text, while the memory stays the same.
        self.tables: dict[tuple[int, bytes], str] = {}
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

    def print_group(self, group: Group, address: int, data: bytes) -> None:
        """Print a struct or register that ``data`` begins with."""
        self.out(self.groups.text(group, address, data))
