# SPDX-License-Identifier: MIT
"""i915 error states and Xe devcoredumps as aubinator_error_decode prints them.

Facts: aubinator_error_decode.c, aubinator_error_decode_xe.c and error_decode_xe_lib.c of Mesa
25.0.7.
"""

from __future__ import annotations

from re import compile as pattern
from struct import pack

from cffpy.container.damage import Damage
from cffpy.errors import UnsupportedGpu
from cffpy.intel.container.error_state import (
    BATCH_BUFFER,
    HW_CONTEXT,
    RING_BUFFER,
    ErrorState,
    SectionMemory,
    Topic,
    XeDevcoredump,
    parameter,
)
from cffpy.intel.decoder.groups import Database
from cffpy.intel.decoder.text import GroupText
from cffpy.intel.descriptions import store
from cffpy.intel.views.aubinator.batch import BatchPrinter
from cffpy.intel.views.aubinator.context import COLOUR, OFFSETS
from cffpy.intel.views.aubinator.registers import (
    CLASS_NAMES,
    ENGINE_OF_CLASS,
    RegisterLines,
    engine_class,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.intel.container.error_state import Section
    from cffpy.intel.views.aubinator.context import DecodeOptions
    from cffpy.intel.views.aubinator.kernels import KernelText


class ErrorDump:
    """Options and output. ``flags``: those of the command line, without the environment's.

    ``write`` takes the text. ``kernels`` decides what replaces the disassembly of kernels.
    ``directory``: another edition of the descriptions.
    """

    def __init__(
        self,
        options: DecodeOptions,
        flags: int,
        write: Callable[[str], object],
        kernels: KernelText | None = None,
        directory: str | None = None,
    ) -> None:
        self._options = options
        self._flags = flags
        self._write = write
        self._kernels = kernels
        self._directory = directory

    def _printer(
        self, content: Content, database: Database, memory: SectionMemory, acthd: int
    ) -> BatchPrinter:
        """A printer for the batches of a file; ``acthd``: the address that the GPU had reached."""
        budget = content.limits.of_capture(len(content.data)).nested_dwords
        printer = BatchPrinter(database, memory, self._options, self._write, budget)
        printer.acthd = acthd
        if self._kernels is not None:
            printer.kernel = self._kernels.text
        return printer

    def _finish(self, printer: BatchPrinter, damage: list[Damage]) -> None:
        """Write what is left, and add to the damage what the limit on commands leaves out."""
        printer.flush()
        if printer.is_exhausted:
            message = "too many commands: the rest is not decoded"
            damage.append(Damage(None, message, limit="commands"))


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


#: What a line contains -> the register that follows it; the first that fits counts.
_REGISTERS = (
    ("RING_INSTDONE", "INSTDONE_1"),
    ("SC_INSTDONE", "SC_INSTDONE"),
    ("SAMPLER_INSTDONE", "SAMPLER_INSTDONE"),
    ("ROW_INSTDONE", "ROW_INSTDONE"),
    ("INSTDONE_GEOM_SVGUNIT", "INSTDONE_GEOM"),
)


class XeDump(ErrorDump):
    """Prints an Xe devcoredump."""

    _registers: GroupText | None = None

    def file(self, content: Content) -> list[Damage]:
        """Print the file; returns its damage. Raises UnsupportedGpu for an unknown device."""
        dump = XeDevcoredump(content)
        unit = None
        acthd = 0
        unknown = 0
        for topic, line in dump.lines():
            text = line.decode("utf-8", "surrogateescape")
            if topic == Topic.DEVICE and (number := parameter(line, b"PCI ID")) is not None:
                unknown = 0 if self._detect(number & 0xFFFFFFFF) else number
            self._write(text)
            if topic != Topic.HW_ENGINES:
                continue
            if " (physical), logical instance=" in text:
                unit = engine_class(text.split(" ", 1)[0]) or unit
            elif (number := parameter(line, b"ACTHD")) is not None:
                acthd = number
            else:
                self._print_register(text, parameter(line, b"") or 0)
        if self._registers is None:
            if unknown:
                raise UnsupportedGpu(f"unknown device: PCI id {unknown:#x}")
            dump.damage.append(Damage(None, "no line names the PCI ID of the device"))
            return dump.damage
        self._print_batches(content, dump, None if unit is None else unit[0], acthd)
        return dump.damage

    def _detect(self, pci_id: int) -> bool:
        device = store.devices(self._directory).get(pci_id)
        if device is None:
            self._write(f"Unable to identify devid: 0x{pci_id:x}\n")
            return False
        self._write(f"Detected GFX ver {device[1]}\n")
        database = Database(device[1], self._directory)
        self._registers = GroupText(database, bool(self._flags & COLOUR), "\t\t", "\t")
        return True

    def _print_register(self, line: str, value: int) -> None:
        """Print the register that a line is about, if any."""
        name = next((name for part, name in _REGISTERS if part in line), None)
        if name is not None and self._registers is not None:
            register = self._registers.database.register(name)
            if register is not None:
                data = pack("<I", value & 0xFFFFFFFF)
                self._write(self._registers.text(register, 0, data))

    def _print_batches(
        self, content: Content, dump: XeDevcoredump, unit: int | None, acthd: int
    ) -> None:
        assert self._registers is not None
        memory = SectionMemory(dump.areas, only_ppgtt=True)
        database = self._registers.database
        printer = self._printer(content, database, memory, acthd)
        printer.engine = 0 if unit is None else ENGINE_OF_CLASS[unit]
        engine = "unknown" if unit is None else CLASS_NAMES[unit]
        printer.out("**** Batch buffers ****\n")
        for address in dump.batches:
            area = memory.find(address)
            if area is None:
                continue
            printer.out(f"--- batch buffer ({engine}) at 0x{address:016x}\n")
            printer.run_data(area.data[address - area.address :], address, from_ring=False)
            printer.flags = self._flags
            printer.out("\n")
        printer.out("**** HW context ****\n")
        if dump.context:
            printer.out(f"--- HW Context ({engine}) at 0x{0:016x}\n")
            printer.run_data(dump.context, 0, from_ring=False)
            printer.flags = self._flags
            printer.out("\n")
        self._finish(printer, dump.damage)
