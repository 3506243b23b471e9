# SPDX-License-Identifier: MIT
"""Shared by all parts of a dump: options, variables of the environment, output, memory, bases."""

from __future__ import annotations

from cffpy.intel.decoder.batches import BatchRunner
from cffpy.intel.decoder.text import GroupText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

COLOUR = 1
FULL = 2
OFFSETS = 4
FLOATS = 8
SURFACES = 16
ACCUMULATE = 32
VB_DATA = 64
SAMPLERS = 128

_NAMES = {
    "color": COLOUR,
    "full": FULL,
    "offsets": OFFSETS,
    "floats": FLOATS,
    "surfaces": SURFACES,
    "accumulate": ACCUMULATE,
    "vb-data": VB_DATA,
}
_ALL = 0xFFFFFFFF  # also what has no name


class DecodeOptions:
    """``flags``: what is printed. ``filters``: names of the instructions that are, or None for all.

    ``max_vertex_lines``: lines of each vertex buffer, -1 for all. ``follows_stores``: commands that
    store immediate data are executed, so that secondary command buffers return.
    """

    def __init__(
        self,
        flags: int = FULL | OFFSETS | FLOATS,
        filters: frozenset[str] | None = None,
        max_vertex_lines: int = -1,
        follows_stores: bool = False,
    ) -> None:
        self.flags = flags
        self.filters = filters
        self.max_vertex_lines = max_vertex_lines
        self.follows_stores = follows_stores


def read_environment(options: DecodeOptions, environment: Mapping[str, str]) -> None:
    """Apply INTEL_DECODE and INTEL_DECODE_FILTERS."""
    chosen = environment.get("INTEL_DECODE")
    if chosen is not None:
        options.flags = _apply(chosen, options.flags)
    filters = environment.get("INTEL_DECODE_FILTERS")
    if filters is not None:
        options.filters = frozenset(filters.split(","))


# parse_enable_string of Mesa: words between commas and spaces, the sign is part of the word
def _apply(chosen: str, flags: int) -> int:
    for word in chosen.replace(" ", ",").split(","):
        enable = not word.startswith("-")
        name = word[1:] if word[:1] in ("+", "-") else word
        bits = _ALL if name == "all" else _NAMES.get(name, 0)
        flags = flags | bits if enable else flags & ~bits
    return flags


if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.groups import Command, Database, Group

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
        """Print text; it is written in larger pieces."""
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
