# SPDX-License-Identifier: MIT
"""Binding tables: their actual length, their entries, and the surfaces of these.

A table is an array of 32-bit offsets of surface states. Its own offset is counted from the base of
the pool of tables, or from the surface state base; those of surface states always from the latter.
"""

from __future__ import annotations

from struct import unpack
from typing import NamedTuple

from cffpy.intel.analysis.heaps import BINDING_TABLES, SURFACE_STATES, heap_of, is_anv
from cffpy.intel.analysis.surfaces import read_surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cffpy.intel.analysis.programs import KernelFacts, Kernels, Program
    from cffpy.intel.analysis.state import State
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.decoder.batches import BatchRunner

#: Entries of one table that are read; hardware takes no more than 256.
_MAX_ENTRIES = 256


class Entry(NamedTuple):
    """An entry: its offset, the address of the surface state, the surface.

    ``surface`` is None where the surface state is not in memory or not aligned. ``heap``: ANV's
    heap that the surface state lies in, or "". ``role``: "render target" or "".
    """

    number: int
    offset: int
    state_address: int
    surface: Surface | None
    heap: str
    role: str

    def describe(self) -> str:
        """One line."""
        what = "not valid" if self.surface is None else self.surface.describe()
        role = f" {self.role}:" if self.role else ""
        return f"{self.number}: {self.offset:#010x} -> {self.state_address:#x}{role} {what}"

    def document(self) -> dict[str, Any]:
        """As members of a JSON document."""
        return {
            "index": self.number,
            "offset": self.offset,
            "state": self.state_address,
            "heap": self.heap,
            "role": self.role,
            "surface": None if self.surface is None else self.surface.document(),
        }


class BindingTable(NamedTuple):
    """The binding table of a stage.

    ``source``: how its length is known: "driver" (the stage's instruction has it), "kernel" (the
    highest entry that a message of the kernel names), "guess" (up to the first entry that leads
    nowhere). ``in_first_gigabyte``: whether it lies in the gigabyte that ANV keeps for tables, so
    that its entries reach all surface states; None for other drivers.
    """

    stage: str
    offset: int
    address: int
    source: str
    in_first_gigabyte: bool | None
    entries: tuple[Entry, ...]

    def describe(self) -> str:
        """Its heading, in one line."""
        count = len(self.entries)
        parts = [f"{self.stage} table at {self.address:#x} (offset {self.offset:#x})"]
        parts.append(f"{count} {'entry' if count == 1 else 'entries'} ({self.source})")
        if self.in_first_gigabyte is not None:
            inside = "in" if self.in_first_gigabyte else "NOT in"
            parts.append(f"{inside} the gigabyte of binding tables")
        return ", ".join(parts)

    def document(self) -> dict[str, Any]:
        """As members of a JSON document."""
        return {
            "stage": self.stage,
            "offset": self.offset,
            "address": self.address,
            "length": len(self.entries),
            "length_source": self.source,
            "in_first_gigabyte": self.in_first_gigabyte,
            "entries": [entry.document() for entry in self.entries],
        }


def binding_table(
    state: State, program: Program, runner: BatchRunner, kernels: Kernels
) -> BindingTable | None:
    """The table of a program; None where it uses none."""
    offset = program.table if program.table is not None else state.tables.get(program.stage)
    if offset is None:
        return None
    facts = [kernels.facts(kernel) for _, kernel in program.kernels]
    known = [one for one in facts if one is not None]
    count, source = _length(state, program, max((one.highest for one in known), default=-1))
    address = state.table_base + offset
    if source == "guess":
        entries = _guessed(state, runner, address)
    else:
        entries = _entries(state, runner, address, count)
    if not entries:
        return None
    if program.stage == "PS":
        entries = _with_targets(entries, known)
    in_gigabyte = BINDING_TABLES <= address < SURFACE_STATES if is_anv(state) else None
    return BindingTable(program.stage, offset, address, source, in_gigabyte, tuple(entries))


def is_missing(state: State, program: Program, runner: BatchRunner) -> bool:
    """Whether the driver says that a program has a binding table, and it is not in memory."""
    offset = program.table if program.table is not None else state.tables.get(program.stage)
    if offset is None or not program.entries:
        return False
    return not runner.span(state.table_base + offset, 4)


def _with_targets(entries: list[Entry], kernels: list[KernelFacts]) -> list[Entry]:
    """The entries of a fragment kernel's table, with the render targets marked."""
    targets = max((one.targets for one in kernels), default=0)
    if not kernels:
        targets = _targets_without_kernel(entries)
    return [
        entry._replace(role="render target") if entry.number < targets else entry
        for entry in entries
    ]


def _length(state: State, program: Program, highest: int) -> tuple[int, str]:
    """The number of entries, and how it is known."""
    if program.entries:
        return program.entries, "driver"
    if highest >= 0:
        return highest + 1, "kernel"
    # ANV leaves the number out on gen11 (a hardware bug of prefetching)
    return (0, "guess") if state.database.ver == 11 else (0, "driver")


def _entries(state: State, runner: BatchRunner, address: int, count: int) -> list[Entry]:
    data = runner.span(address, 4 * min(count, _MAX_ENTRIES))
    offsets = unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    return [_entry(state, runner, index, offset) for index, offset in enumerate(offsets)]


def _guessed(state: State, runner: BatchRunner, address: int) -> list[Entry]:
    """The entries up to the first that is zero or has no surface state."""
    found = []
    for entry in _entries(state, runner, address, 32):
        if entry.surface is None or not entry.offset:
            break
        found.append(entry)
    return found


def _entry(state: State, runner: BatchRunner, index: int, offset: int) -> Entry:
    address = state.surface_base + offset
    surface = None
    struct = state.database.struct("RENDER_SURFACE_STATE")
    if not offset % 32 and struct is not None:
        surface = read_surface(state.database, runner.span(address, 4 * struct.dwords), address)
    heap = heap_of(address, state.database.verx10) if is_anv(state) else ""
    return Entry(index, offset, address, surface, heap, "")


def _targets_without_kernel(entries: list[Entry]) -> int:
    """Render targets come first; without the kernel all images and null surfaces count as such."""
    count = 0
    for entry in entries:
        if entry.surface is None or entry.surface.is_buffer:
            break
        count += 1
    return count
