# SPDX-License-Identifier: MIT
"""An i915 error state as aubinator_error_decode prints it.

Facts: aubinator_error_decode.c of Mesa 25.0.7.
"""

from __future__ import annotations

from re import compile as pattern

from cffpy.container.damage import Damage
from cffpy.errors import UnsupportedGpu
from cffpy.intel.container.error_state import BATCH_BUFFER, HW_CONTEXT, RING_BUFFER, ErrorState
from cffpy.intel.container.sections import SectionMemory
from cffpy.intel.decoder.database import Database
from cffpy.intel.descriptions import store
from cffpy.intel.views.aubinator.error_dump import ErrorDump
from cffpy.intel.views.aubinator.options import COLOUR, OFFSETS
from cffpy.intel.views.aubinator.registers import ENGINE_OF_CLASS, RegisterLines, engine_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content
    from cffpy.intel.container.sections import Section

_PCI_ID = pattern(r"PCI ID:\s*0x\s*([0-9a-fA-F]{1,4})")
_DECODED = (RING_BUFFER, BATCH_BUFFER, HW_CONTEXT)

#: What drivers put at the start of a buffer that describes them, and the first block after it.
_IDENTIFIER = bytes.fromhex("8899aabbccddeeff0011223344556677" * 2)
_DRIVER_BLOCK, _END_BLOCK = 2, 1


class ErrorStateDump(ErrorDump):
    """Prints an i915 error state. ``all_batches``: decode buffers of every kind."""

    all_batches = False

    def file(self, content: Content) -> list[Damage]:
        """Print the file; returns its damage. Raises UnsupportedGpu for an unknown device."""
        state = ErrorState(content)
        registers: RegisterLines | None = None
        database: Database | None = None
        for line in state.lines():
            text = line.decode("utf-8", "surrogateescape")
            self._write(text)
            found = _PCI_ID.search(text)
            if found is not None:
                database = self._database(int(found[1], 16))
                self._write(f"Detected GEN{database.ver} chipset\n")
                former = registers
                registers = RegisterLines(database, bool(self._flags & COLOUR), self._write)
                if former is not None:
                    registers.head, registers.tail = former.head, former.tail
            elif registers is not None:
                registers.take(text, state.ring)
        if database is None or registers is None:
            state.damage.append(Damage(None, "no line names the PCI ID of the device"))
            return state.damage
        self._print_sections(content, state, database, registers)
        return state.damage

    def _database(self, pci_id: int) -> Database:
        device = store.devices(self._directory).get(pci_id)
        if device is None:
            raise UnsupportedGpu(f"unknown device: PCI id {pci_id:#x}")
        return Database(device[1], self._directory)

    def _print_sections(
        self, content: Content, state: ErrorState, database: Database, registers: RegisterLines
    ) -> None:
        sections = sorted(state.sections, key=lambda section: section.kind != HW_CONTEXT)
        wraps = _cut_rings(sections, registers.head, registers.tail)
        self._print_driver(sections)
        memory = SectionMemory(sections)
        printer = self._printer(content, database, memory, registers.acthd)
        for section in sections:
            unit = engine_class(section.ring)
            if unit is not None:
                printer.engine = ENGINE_OF_CLASS[unit[0]]
            high, low = section.address >> 32, section.address & 0xFFFFFFFF
            printer.out(f"--- {section.kind} ({section.ring}) at 0x{high:08x} {low:08x}\n")
            is_ring = section.kind == RING_BUFFER
            if self.all_batches or section.kind in _DECODED:
                if is_ring and wraps:
                    printer.flags &= ~OFFSETS
                address = section.address + section.start
                printer.run_data(
                    section.data[section.start : section.end],
                    address,
                    is_ring,
                    section.data[section.end :],
                )
                printer.flags = self._flags
        self._finish(printer, state.damage)

    def _print_driver(self, sections: list[Section]) -> None:
        """The driver's name, where a buffer has it."""
        for section in sections:
            data = bytes(section.data[: section.end])
            if len(data) > len(_IDENTIFIER) and data.startswith(_IDENTIFIER):
                name = _driver_name(data)
                if name is not None:
                    self._write(f"Driver identifier: {name}\n")
                return


def _driver_name(data: bytes) -> str | None:
    """The text of the driver's block: type, length and text each."""
    position = len(_IDENTIFIER)
    while position + 8 <= len(data):
        kind = int.from_bytes(data[position : position + 4], "little")
        length = int.from_bytes(data[position + 4 : position + 8], "little")
        if kind == _DRIVER_BLOCK:
            text = data[position + 8 :].split(b"\0", 1)[0]
            return text.decode("utf-8", "surrogateescape")
        if kind == _END_BLOCK or not length:
            return None
        position += length
    return None


def _cut_rings(sections: list[Section], head: int | None, tail: int | None) -> bool:
    """Limit each ring buffer to the commands between head and tail; whether one wraps."""
    wraps = False
    for section in sections:
        size = section.end
        if section.kind != RING_BUFFER or not size:
            continue
        if head is None:
            head, tail = 0, None
        if tail is None:
            tail = (head - 4 & 0xFFFFFFFFFFFFFFFF) % size
        if head > tail:
            section.data = section.data[head:size] + section.data[:tail]
            head, tail = 0, len(section.data)
            section.end = tail
            wraps = True
        section.start = min(head, size)
        section.end = section.start + (tail - head) // 4 * 4
        section.end = min(section.end, len(section.data) // 4 * 4)
    return wraps
