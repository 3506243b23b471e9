# SPDX-License-Identifier: MIT
"""An AUB file as aubinator prints it: its head, then each submission.

Facts: aubinator.c and aub_read.c of Mesa 25.0.7.
"""

from __future__ import annotations

from struct import unpack

from cffpy.container.damage import Damage
from cffpy.errors import UnsupportedGpu
from cffpy.intel.container import aub
from cffpy.intel.container.host_memory import HostMemory
from cffpy.intel.container.memory import AubMemory, MemoryExceeded
from cffpy.intel.decoder.database import Database
from cffpy.intel.descriptions import store
from cffpy.intel.views.aubinator.batch import BatchPrinter
from cffpy.intel.views.aubinator.options import ACCUMULATE, COLOUR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.intel.views.aubinator.kernel_files import KernelText
    from cffpy.intel.views.aubinator.options import DecodeOptions

_GREEN_HEADER = "\x1b[1;42m"
_NORMAL = "\x1b[0m"
_PAGE = 4096

_RENDER, _VIDEO, _BLITTER = (aub.ENGINES[name] for name in ("render", "video", "blitter"))
#: Offsets of a command streamer's registers: its base, and where they lie from there on.
_STREAMERS = {0x2000: _RENDER, 0x12000: _VIDEO, 0x22000: _BLITTER}

#: Bytes behind a ring's commands that its last instruction may go on in.
_BEHIND = 1 << 18
#: Dwords of the context image that are read.
_CONTEXT_DWORDS = 52


class AubDump:
    """Prints one AUB file after the other.

    ``write`` takes the text. ``kernels`` says what stands in place of kernels' disassembly.
    ``fallback``: PCI id for files without one. ``directory``: another edition of the descriptions.
    """

    def __init__(
        self,
        options: DecodeOptions,
        write: Callable[[str], object],
        kernels: KernelText | None = None,
        fallback: int = 0,
        directory: str | None = None,
    ) -> None:
        self._options = options
        self.flags = options.flags
        self._write = write
        self._kernels = kernels
        self._fallback = fallback
        self._directory = directory

    def file(self, content: Content, name: str) -> list[Damage]:
        """Print a file, called ``name`` in its head; what is wrong with it.

        Raises UnsupportedGpu where its device is unknown.
        """
        reader = aub.AubReader(content.data)
        run = _Run(self, content, reader, name)
        try:
            for item in reader.items():
                run.take(item)
                if run.is_exhausted:
                    break
        except MemoryExceeded:
            run.damage.append(
                Damage(reader.position, "AUB: memory writes exceed the limit", limit="bytes")
            )
        finally:
            run.flush()
        if run.is_exhausted:
            message = "AUB: too many commands: the rest is ignored"
            run.damage.append(Damage(reader.position, message, limit="commands"))
        if reader.damage is not None:
            run.damage.append(reader.damage)
        if run.printer is None and not run.damage:
            run.damage.append(Damage(None, "AUB: no block names the device"))
        return run.damage

    def begin(self, run: _Run, identity: aub.Identity, budget: int) -> BatchPrinter:
        """Print the head; the printer for what follows."""
        pci_id = identity.pci_id or self._fallback
        device = store.devices(self._directory).get(pci_id)
        if device is None:
            raise UnsupportedGpu(f"{run.name}: unknown device: PCI id {pci_id:#x}")
        database = Database(device[1], self._directory)
        printer = BatchPrinter(database, run.memory, self._options, self._write, budget)
        if self._kernels is not None:
            printer.kernel = self._kernels.text
        green, normal = (_GREEN_HEADER, _NORMAL) if self._options.flags & COLOUR else ("", "")
        printer.out(f"{green}Aubinator: Intel AUB file decoder.{'':80}{normal}\n")
        printer.out(f"File name:        {run.name}\n")
        if identity.pci_id:
            printer.out(f"PCI ID:           0x{identity.pci_id:x}\n")
        printer.out(f"Application name: {identity.application}\n")
        printer.out(f"Decoding as:      {device[0]}\n\n")
        return printer


class _Run:
    """One file while it is read: memory, registers that submit, and the printer."""

    def __init__(self, dump: AubDump, content: Content, reader: aub.AubReader, name: str) -> None:
        self._dump = dump
        self._reader = reader
        self.name = name
        kind = HostMemory if dump.flags & ACCUMULATE else AubMemory
        self.memory = kind(len(content.data))
        self.printer: BatchPrinter | None = None
        self.damage: list[Damage] = []
        self._budget = content.limits.of_capture(len(content.data)).nested_dwords
        #: The last values written for a submission, by engine: 4 dwords, the last one lowest.
        self._ports = {engine: [0, 0, 0, 0] for engine in _STREAMERS.values()}
        self._written = dict.fromkeys(_STREAMERS.values(), 0)

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit on commands was met."""
        return self.printer is not None and self.printer.is_exhausted

    def flush(self) -> None:
        """Write what was printed."""
        if self.printer is not None:
            self.printer.flush()

    def take(self, item: aub.Item) -> None:
        """Do what a block says."""
        if isinstance(item, aub.MemoryWrite):
            self._write_memory(item)
        elif isinstance(item, aub.RegisterWrite):
            self._write_register(item)
        elif isinstance(item, aub.Identity):
            self.flush()
            self.printer = self._dump.begin(self, item, self._budget)
            self._reader.ver = self.printer.database.ver
        elif isinstance(item, aub.RingWrite):
            self._ring(item)
        elif self.printer is not None:
            self.printer.out(f"{item.text}\n")

    def _write_memory(self, item: aub.MemoryWrite) -> None:
        if item.space == aub.PHYSICAL:
            self.memory.write_physical(item.address, item.data)
        elif item.space == aub.GGTT:
            self.memory.write_ggtt(item.address, item.data)
        elif item.space == aub.GGTT_ENTRY:
            self.memory.write_ggtt_entries(item.address, item.data)
        elif item.space == aub.LOCAL:
            self.memory.write_local(item.address, item.data, item.behind)

    def _write_register(self, item: aub.RegisterWrite) -> None:
        base = item.offset & ~0xFFF
        engine = _STREAMERS.get(base)
        if engine is None:
            return
        port = self._ports[engine]
        match item.offset - base:
            case 0x230:  # four writes make a submission
                index = self._written[engine]
                port[index] = item.value
                self._written[engine] = (index + 1) % 4
                if index < 3:
                    return
            case 0x510:
                port[3] = item.value
                return
            case 0x514:
                port[2] = item.value
                return
            case 0x550:
                pass
            case _:
                return
        self._execute(engine, port[3])

    def _execute(self, engine: int, descriptor: int) -> None:
        """Print what the context of a submission has in its ring."""
        printer, memory = self.printer, self.memory
        if printer is None:
            return
        memory.is_classic = False
        memory.forget()
        base = descriptor & ~0xFFF
        memory.global_mapping(base)
        context = memory.span(False, base + _PAGE, 4 * _CONTEXT_DWORDS)
        if len(context) < 4 * _CONTEXT_DWORDS:
            self._missing("the context of a submission")
            return
        words = unpack(f"<{_CONTEXT_DWORDS}I", context)
        head, tail, start = words[5], words[7], words[9]
        length = (words[11] & 0x1FF000) + _PAGE
        memory.root = words[49] << 32 | words[51]
        mapping = memory.global_mapping(start)
        if mapping is None:
            self._missing("the ring of a submission")
            return
        data = memory.span(False, start + head, min(tail - head & 0xFFFFFFFF, length))
        printer.engine = engine
        pointer = None
        if isinstance(memory, HostMemory):
            pointer = memory.pointer(False, start + head)
        printer.print_data(data, mapping[0] + head, True, pointer=pointer)
        memory.end_submission()

    def _missing(self, what: str) -> None:
        self.damage.append(Damage(self._reader.position, f"AUB: {what} is not in memory"))

    def _ring(self, item: aub.RingWrite) -> None:
        """Print the commands of a classic block."""
        if self.printer is None:
            return
        self.memory.is_classic = True
        self.memory.forget()
        self.printer.engine = item.engine
        self.printer.print_data(item.data, 0, False, item.behind[:_BEHIND])
        self.memory.end_submission()
