# SPDX-License-Identifier: MIT
"""Mappings: what newer kernels say of the GPU's address space, besides the list of buffers.

Sources: the msm kernel driver's ``vm-log`` (the last changes of a VM that userspace manages, the
oldest first) and ``pgtable-fault-info`` (the page-table entries of the faulting address, in the
Arm LPAE format of the GPU's SMMU).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cffpy.container.crash_dump import CrashDump

_ENTRY = re.compile(r"- (\w+):(-?\d+): 0x([0-9a-fA-F]{1,16})-0x([0-9a-fA-F]{1,16})", re.ASCII)
_WALK = re.compile(r"- ptes:((?: [0-9a-fA-F]{1,16}){1,4})", re.ASCII)

#: Of a page-table entry: valid; a table, or a page of the last level (else a block); read-only.
_VALID, _TABLE, _READ_ONLY = 1, 2, 1 << 7
_LAST_LEVEL = 3


class Mapping(NamedTuple):
    """A change of the address space: ``operation`` is "map" or "unmap", ``end`` exclusive.

    ``line``: of the dump, from 1.
    """

    operation: str
    queue: str
    start: int
    end: int
    line: int

    @property
    def is_mapped(self) -> bool:
        """Whether its addresses are mapped afterwards."""
        return self.operation == "map"

    def __str__(self) -> str:
        return f"{self.operation} {self.start:#x}-{self.end:#x} by queue {self.queue}"


class Mappings:
    """The changes that a dump lists, and the walk of the page table."""

    def __init__(self, dump: CrashDump) -> None:
        self._changes: list[Mapping] = []
        for text, line in dump.others.get("vm-log", ()):
            found = _ENTRY.match(text)
            if found is not None:
                operation, queue, start, end = found.groups()
                change = Mapping(operation, queue, int(start, 16), int(end, 16), line)
                self._changes.append(change)
        self._walk: tuple[list[int], int] | None = None
        for text, line in dump.others.get("pgtable-fault-info", ()):
            found = _WALK.match(text)
            if found is not None:
                self._walk = [int(entry, 16) for entry in found[1].split()], line

    def last_change(self, gpuaddr: int) -> Mapping | None:
        """The last change of an address; None where the dump lists none."""
        changes = reversed(self._changes)
        return next((one for one in changes if one.start <= gpuaddr < one.end), None)

    def holds(self, gpuaddr: int) -> bool:
        """Whether the last change of an address mapped it."""
        change = self.last_change(gpuaddr)
        return change is not None and change.is_mapped

    def page_of_fault(self) -> tuple[str, int] | None:
        """What the page table says of the faulting address, in words, and the line of the dump."""
        if self._walk is None:
            return None
        entries, line = self._walk
        for level, entry in enumerate(entries):
            if not entry & _VALID:
                return f"the page table does not map it: entry {entry:#x} of level {level}", line
            if level == _LAST_LEVEL or not entry & _TABLE:
                access = "read-only" if entry & _READ_ONLY else "writable"
                text = f"the page table maps it, {access}: entry {entry:#x} of level {level}"
                return text, line
        return None
