# SPDX-License-Identifier: MIT
"""i915 error states and Xe devcoredumps as aubinator_error_decode prints them, with registers.

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
from cffpy.intel.descriptions.rows import ENGINE_BITS
from cffpy.intel.views.aubinator.batch import BatchPrinter
from cffpy.intel.views.aubinator.context import COLOUR, OFFSETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.container.open import Content
    from cffpy.intel.container.error_state import Section
    from cffpy.intel.views.aubinator.context import DecodeOptions
    from cffpy.intel.views.aubinator.kernels import KernelText

_RENDER, _COPY, _VIDEO, _VIDEO_ENHANCE, _COMPUTE = range(5)

#: Class of an engine -> the bit of the engines of instructions; video enhancement has none.
ENGINE_OF_CLASS = {
    _RENDER: ENGINE_BITS["render"],
    _COPY: ENGINE_BITS["blitter"],
    _VIDEO: ENGINE_BITS["video"],
    _VIDEO_ENHANCE: 0,
    _COMPUTE: ENGINE_BITS["compute"],
}
CLASS_NAMES = {
    _RENDER: "render",
    _COPY: "copy",
    _VIDEO: "video",
    _VIDEO_ENHANCE: "video-enh",
    _COMPUTE: "compute",
}
_PREFIXES = {
    "rcs": _RENDER,
    "ccs": _COMPUTE,
    "bcs": _COPY,
    "vcs": _VIDEO,
    "vecs": _VIDEO_ENHANCE,
}
_OLD_NAMES = {
    "render": (_RENDER, 0),
    "blt": (_COPY, 0),
    "bsd": (_VIDEO, 0),
    "bsd2": (_VIDEO, 1),
    "vebox": (_VIDEO_ENHANCE, 0),
}

_ACTHD = {
    (_COPY, 0): "BCS_ACTHD_UDW",
    (_VIDEO, 0): "VCS_ACTHD_UDW",
    (_VIDEO, 1): "VCS2_ACTHD_UDW",
    (_RENDER, 0): "ACTHD_UDW",
    (_VIDEO_ENHANCE, 0): "VECS_ACTHD_UDW",
}
_CTL = {
    (_COPY, 0): "BCS_RING_BUFFER_CTL",
    (_VIDEO, 0): "VCS_RING_BUFFER_CTL",
    (_VIDEO, 1): "VCS2_RING_BUFFER_CTL",
    (_RENDER, 0): "RCS_RING_BUFFER_CTL",
    (_VIDEO_ENHANCE, 0): "VECS_RING_BUFFER_CTL",
}
_FAULT = {
    (_COPY, 0): "BCS_FAULT_REG",
    (_VIDEO, 0): "VCS_FAULT_REG",
    (_RENDER, 0): "RCS_FAULT_REG",
    (_VIDEO_ENHANCE, 0): "VECS_FAULT_REG",
}
_INSTDONE = {
    (_VIDEO, 0): "VCS_INSTDONE",
    (_VIDEO, 1): "VCS2_INSTDONE",
}

#: Bits of PGTBL_ER.
_PAGE_TABLE_ERRORS = (
    (26, "Invalid Sampler Cache GTT entry"),
    (24, "Invalid Render Cache GTT entry"),
    (23, "Invalid Instruction/State Cache GTT entry"),
    (22, "There is no ROC, this cannot occur!"),
    (21, "Invalid GTT entry during Vertex Fetch"),
    (20, "Invalid GTT entry during Command Fetch"),
    (19, "Invalid GTT entry during CS"),
    (18, "Invalid GTT entry during Cursor Fetch"),
    (17, "Invalid GTT entry during Overlay Fetch"),
    (8, "Invalid GTT entry during Display B Fetch"),
    (4, "Invalid GTT entry during Display A Fetch"),
    (1, "Valid PTE references illegal memory"),
    (0, "Invalid GTT entry during fetch for host"),
)

_HEX = r"\s*([0-9a-fA-F]{1,8})"
_UNDERSCORED = r"\s*\[\s*[-+]?[0-9]+\s*\]\s*\[\s*[-+]?[0-9]+\s*\]"

#: Lines that are followed by the register of this name.
_SIMPLE = tuple(
    (pattern(rf"\s*{line}:\s*0x{_HEX}"), register)
    for line, register in (
        ("GAM_DONE", "GAM_DONE"),
        ("SC_INSTDONE", "SC_INSTDONE"),
        ("GEN7_SC_INSTDONE", "SC_INSTDONE"),
        ("SC_INSTDONE_EXTRA", "SC_INSTDONE_EXTRA"),
        ("GEN12_SC_INSTDONE_EXTRA", "SC_INSTDONE_EXTRA"),
        ("SC_INSTDONE_EXTRA2", "SC_INSTDONE_EXTRA2"),
        ("GEN12_SC_INSTDONE_EXTRA2", "SC_INSTDONE_EXTRA2"),
        (rf"SAMPLER_INSTDONE{_UNDERSCORED}", "SAMPLER_INSTDONE"),
        (rf"GEN8_SAMPLER_INSTDONE{_UNDERSCORED}", "SAMPLER_INSTDONE"),
        (rf"ROW_INSTDONE{_UNDERSCORED}", "ROW_INSTDONE"),
        (rf"GEN8_ROW_INSTDONE{_UNDERSCORED}", "ROW_INSTDONE"),
        (rf"GEOM_SVGUNIT_INSTDONE{_UNDERSCORED}", "INSTDONE_GEOM"),
        (rf"XEHPG_INSTDONE_GEOM_SVG{_UNDERSCORED}", "INSTDONE_GEOM"),
        ("INSTDONE1", "INSTDONE_1"),
    )
)
_NAMED = {
    name: pattern(rf"\s*{name}:\s*0x{_HEX}(?:\s*([0-9a-fA-F]{{1,8}}))?")
    for name in ("CTL", "ACTHD", "ACTHD_LDW", "ACTHD_UDW", "PGTBL_ER", "ERROR", "INSTDONE", "TAIL")
}
_HEAD = pattern(rf"\s*HEAD:\s*0x{_HEX}(?:\s*\[\s*0x{_HEX})?")
_FENCE = pattern(r"\s*fence\[\s*[-+]?[0-9a-fA-FxX]+\s*\]\s*=\s*(?:0[xX])?([0-9a-fA-F]+)")
_FAULT_REG = pattern(rf"\s*FAULT_REG:\s*0x{_HEX}")
_FAULT_DATA = pattern(rf"\s*FAULT_TLB_DATA:\s*0x{_HEX}\s*0x{_HEX}")


def engine_class(ring: str) -> tuple[int, int] | None:
    """Class and instance of a ring's name ("rcs0", "bsd2"), or None."""
    for prefix, number in _PREFIXES.items():
        if ring.startswith(prefix):
            rest = ring[len(prefix) :].lstrip()
            digits = len(rest) - len(rest.lstrip("0123456789"))
            return number, int(rest[:digits] or 0)
    return _OLD_NAMES.get(ring)


class RegisterLines:
    """The registers of an i915 error state, line by line.

    ``head`` and ``tail``: bytes, None while unknown. ``acthd``: the address that the GPU reached.
    """

    def __init__(self, database: Database, colour: bool, out: Callable[[str], object]) -> None:
        self._database = database
        self._text = GroupText(database, colour)
        self._out = out
        self.head: int | None = None
        self.tail: int | None = None
        self.acthd = 0

    def take(self, line: str, ring: str) -> None:
        """Print what belongs after a line."""
        if "0x" not in line and "fence" not in line:
            return
        unit = engine_class(ring)
        for text in self._found(line, unit):
            self._out(text)

    def _register(self, name: str | None, value: int) -> str:
        register = None if name is None else self._database.register(name)
        return "" if register is None else self._text.text(register, 0, pack("<I", value))

    def _found(self, line: str, unit: tuple[int, int] | None) -> Iterator[str]:
        """The texts of all patterns that match, in the order of the reference."""
        yield from self._positions(line, unit)
        number = self._value("PGTBL_ER", line)
        if number:
            for bit, sentence in _PAGE_TABLE_ERRORS:
                if number >> bit & 1:
                    yield f"    {sentence}\n"
        number = self._value("ERROR", line)
        if number:
            yield self._register("GFX_ARB_ERROR_RPT", number)
        number = self._value("INSTDONE", line)
        if number is not None:
            yield self._register(self._instdone(unit), number)
        for regex, register in _SIMPLE:
            match = regex.match(line)
            if match is not None:
                yield self._register(register, int(match[1], 16))
        yield from self._faults(line, unit)

    def _positions(self, line: str, unit: tuple[int, int] | None) -> Iterator[str]:
        number = self._value("CTL", line)
        if number is not None:
            yield self._register(_CTL.get(unit) if unit else None, number)
        match = _HEAD.match(line)
        if match is not None:
            number = int(match[1], 16)
            wraps = number >> 21
            yield f"    head = 0x{number & 0x1FFFFC:08x}, wraps = {wraps}\n"
            if match[2] is not None:
                self.head = int(match[2], 16)
        number = self._value("TAIL", line)
        if number is not None:
            self.tail = number
        match = _NAMED["ACTHD"].match(line)
        if match is not None:
            yield self._register(_ACTHD.get(unit) if unit else None, int(match[1], 16))
            if match[2] is not None:
                self.acthd = int(match[1], 16) << 32 | int(match[2], 16)
        number = self._value("ACTHD_LDW", line)
        if number is not None:
            self.acthd = number
        number = self._value("ACTHD_UDW", line)
        if number is not None:
            self.acthd |= number << 32

    def _instdone(self, unit: tuple[int, int] | None) -> str | None:
        if unit is None:
            return None
        if unit[0] == _RENDER:
            return "INSTDONE_2" if self._database.ver == 6 else "INSTDONE_1"
        if unit[0] == _COPY:
            return "BCS_INSTDONE"
        if unit[0] == _VIDEO_ENHANCE:
            return "VECS_INSTDONE"
        return _INSTDONE.get(unit)

    def _faults(self, line: str, unit: tuple[int, int] | None) -> Iterator[str]:
        match = _FENCE.match(line)
        if match is not None:
            yield _fence(self._database.ver, int(match[1][:16], 16))
        match = _FAULT_REG.match(line)
        if match is not None and int(match[1], 16):
            name = _FAULT.get(unit, "FAULT_REG") if unit else "FAULT_REG"
            yield self._register(name, int(match[1], 16))
        match = _FAULT_DATA.match(line)
        if match is not None and self._database.ver >= 8:
            high, low = int(match[1], 16), int(match[2], 16)
            address = low << 12 | (high & 0xF) << 44
            yield f"    Address 0x{address:016x} {'GGTT' if high & 16 else 'PPGTT'}\n"

    def _value(self, name: str, line: str) -> int | None:
        match = _NAMED[name].match(line)
        return None if match is None else int(match[1], 16)


def _fence(ver: int, fence: int) -> str:
    """A fence register as text; only gen4 to gen7 have them."""
    if ver not in (4, 5, 6, 7):
        return ""
    pitch = ((fence >> 32 & 0xFFF) + 1) * 128 if ver >= 6 else ((fence >> 2 & 0x1FF) + 1) * 128
    size = ((fence >> 32 & 0xFFFFF000) - (fence & 0xFFFFF000) + 4096) & 0xFFFFFFFF
    return (
        f"    {'' if fence & 1 else 'in'}valid, {'y' if fence & 2 else 'x'}-tiled,"
        f" pitch: {pitch}, start: 0x{fence & 0xFFFFF000:08x}, size: {size}\n"
    )


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
            match = _PCI_ID.search(text)
            if match is not None:
                database = self._database(int(match[1], 16))
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
