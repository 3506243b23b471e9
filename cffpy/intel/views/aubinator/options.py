# SPDX-License-Identifier: MIT
"""What aubinator prints: its options and the variables of the environment that it reads."""

from __future__ import annotations

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
