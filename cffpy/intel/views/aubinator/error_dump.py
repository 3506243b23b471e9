# SPDX-License-Identifier: MIT
"""What printing an i915 error state and an Xe devcoredump share."""

from __future__ import annotations

from cffpy.container.damage import Damage
from cffpy.intel.views.aubinator.batch import BatchPrinter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.intel.container.sections import SectionMemory
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.views.aubinator.kernel_files import KernelText
    from cffpy.intel.views.aubinator.options import DecodeOptions


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
