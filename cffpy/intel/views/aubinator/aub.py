# SPDX-License-Identifier: MIT
"""An AUB file as aubinator prints it: its head, then each submission.

Facts: aubinator.c and aub_read.c of Mesa 25.0.7.
"""

from __future__ import annotations

from cffpy.container.damage import Damage
from cffpy.errors import UnsupportedGpu
from cffpy.intel.container import aub
from cffpy.intel.container.memory import AubMemory, HostMemory
from cffpy.intel.container.submissions import AubSubmissions
from cffpy.intel.decoder.groups import Database
from cffpy.intel.descriptions import store
from cffpy.intel.views.aubinator.batch import BatchPrinter
from cffpy.intel.views.aubinator.context import ACCUMULATE, COLOUR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.intel.container.submissions import Commands
    from cffpy.intel.views.aubinator.context import DecodeOptions
    from cffpy.intel.views.aubinator.kernels import KernelText

_GREEN_HEADER = "\x1b[1;42m"
_NORMAL = "\x1b[0m"


class AubDump:
    """Prints one AUB file after the other.

    ``write`` takes the text. ``kernels`` decides what replaces the disassembly of kernels.
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
        self._write = write
        self._kernels = kernels
        self._fallback = fallback
        self._directory = directory

    def file(self, content: Content, name: str) -> list[Damage]:
        """Print a file, called ``name`` in its head; returns its damage.

        Raises UnsupportedGpu where its device is unknown.
        """
        memory = (HostMemory if self._options.flags & ACCUMULATE else AubMemory)(len(content.data))
        submissions = AubSubmissions(content.data, memory)
        budget = content.limits.of_capture(len(content.data)).nested_dwords
        printer: BatchPrinter | None = None
        try:
            for item in submissions.items():
                if isinstance(item, aub.Identity):
                    if printer is not None:
                        printer.flush()
                    printer = self._begin(item, name, memory, budget)
                    submissions.ver = printer.database.ver
                elif printer is None:
                    continue
                elif isinstance(item, aub.Comment):
                    printer.out(f"{item.text}\n")
                else:
                    _print_commands(printer, item, memory)
                if printer.is_exhausted:
                    break
        finally:
            if printer is not None:
                printer.flush()
        if printer is not None and printer.is_exhausted:
            message = "AUB: too many commands: the rest is ignored"
            return [Damage(submissions.position, message, limit="commands"), *submissions.damage]
        return submissions.damage

    def _begin(
        self, identity: aub.Identity, name: str, memory: AubMemory, budget: int
    ) -> BatchPrinter:
        """Print the head; the printer for what follows."""
        pci_id = identity.pci_id or self._fallback
        device = store.devices(self._directory).get(pci_id)
        if device is None:
            raise UnsupportedGpu(f"{name}: unknown device: PCI id {pci_id:#x}")
        database = Database(device[1], self._directory)
        printer = BatchPrinter(database, memory, self._options, self._write, budget)
        if self._kernels is not None:
            printer.kernel = self._kernels.text
        green, normal = (_GREEN_HEADER, _NORMAL) if self._options.flags & COLOUR else ("", "")
        printer.out(f"{green}Aubinator: Intel AUB file decoder.{'':80}{normal}\n")
        printer.out(f"File name:        {name}\n")
        if identity.pci_id:
            printer.out(f"PCI ID:           0x{identity.pci_id:x}\n")
        printer.out(f"Application name: {identity.application}\n")
        printer.out(f"Decoding as:      {device[0]}\n\n")
        return printer


def _print_commands(printer: BatchPrinter, commands: Commands, memory: AubMemory) -> None:
    pointer = None
    if isinstance(memory, HostMemory) and commands.global_address is not None:
        pointer = memory.pointer(False, commands.global_address)
    printer.engine = commands.engine
    printer.tables.clear()
    printer.run_data(commands.data, commands.address, commands.is_ring, commands.following, pointer)
