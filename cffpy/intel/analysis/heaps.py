# SPDX-License-Identifier: MIT
"""The heaps of ANV's address space, used to explain addresses.

They are of ANV 25.0.7; other drivers (iris, crocus, hasvk) use other layouts. So names are
given only where the bases that were programmed are those of ANV.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.analysis.state import State

_GIB = 1 << 30

BINDING_TABLES = 0xC0000000
"""Where the pool of binding tables begins: one gigabyte, below the surface states."""
SURFACE_STATES = 0x100000000
"""Where the driver's own surface states begin."""
BINDLESS = 0x140000000
"""The base of surface states that shaders address by handle; from 12.5 on also of sets."""

#: Name, start and end of heaps, up to gen12.0 and from gen12.5 on.
_OLD = (
    ("general state", 0x200000, 0x40000000),
    ("low heap", 0x40000000, 0x80000000),
    ("binding table pool", BINDING_TABLES, SURFACE_STATES),
    ("internal surface states", SURFACE_STATES, BINDLESS),
    ("bindless surface states", BINDLESS, BINDLESS + 2 * _GIB),
    ("indirect descriptors", 0x200000000, 0x2C0000000),
    ("push descriptors", 0x2C0000000, 0x300000000),
    ("instructions", 0x300000000, 0x3C0000000),
    ("dynamic state", 0x3C0000000, 0x400000000),
)
_NEW = (
    *_OLD[:5],
    ("instructions", 0x200000000, 0x2C0000000),
    ("dynamic state", 0x2C0000000, 0x300000000),
    ("samplers of sets", 0x300000000, 0x380000000),
)
_FIRST_NEW = 125


def heaps(verx10: int) -> tuple[tuple[str, int, int], ...]:
    """Name, start and end of the heaps of a generation, rising."""
    return _NEW if verx10 >= _FIRST_NEW else _OLD


def is_anv(state: State) -> bool:
    """Whether the bases of state are those of ANV."""
    known = {name: start for name, start, _ in heaps(state.database.verx10)}
    bases = known["instructions"], known["dynamic state"]
    return (state.instruction_base, state.dynamic_base) == bases


def heap_of(address: int, verx10: int) -> str:
    """The heap that an address lies in, "" where it is in none."""
    return next(
        (name for name, start, end in heaps(verx10) if start <= address < end),
        "",
    )
