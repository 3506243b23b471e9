# SPDX-License-Identifier: MIT
"""An Xe devcoredump as aubinator_error_decode prints it.

Facts: aubinator_error_decode_xe.c and error_decode_xe_lib.c of Mesa 25.0.7.
"""

from __future__ import annotations

from struct import pack

from cffpy.container.damage import Damage
from cffpy.errors import UnsupportedGpu
from cffpy.intel.container.sections import SectionMemory
from cffpy.intel.container.xe_devcoredump import Topic, XeDevcoredump, parameter
from cffpy.intel.decoder.database import Database
from cffpy.intel.decoder.text import GroupText
from cffpy.intel.descriptions import store
from cffpy.intel.views.aubinator.error_dump import ErrorDump
from cffpy.intel.views.aubinator.options import COLOUR
from cffpy.intel.views.aubinator.registers import CLASS_NAMES, ENGINE_OF_CLASS, engine_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content

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
