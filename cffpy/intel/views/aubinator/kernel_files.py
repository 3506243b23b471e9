# SPDX-License-Identifier: MIT
"""Kernels in place of their disassembly: named by size and digest, and written to files."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.views.aubinator.context import Printer

#: Characters of the digest in names of files.
_DIGITS = 12


class KernelText:
    """Prints or writes each kernel that an instruction names.

    ``prints_names``: a line with address, size and SHA-256 stands in place of the disassembly.
    ``directory``: kernels are written there, once each; None writes none. ``plain_names``: files
    are called as the reference calls them, by address only, so that a later kernel replaces one.
    """

    def __init__(
        self,
        prints_names: bool = False,
        directory: str | None = None,
        plain_names: bool = False,
    ) -> None:
        self._prints_names = prints_names
        self._directory = directory
        self._plain_names = plain_names
        self._written: set[str] = set()

    def text(self, printer: Printer, short_name: str, address: int) -> str:
        """The line of a kernel, or nothing. Raises OSError where its file cannot be written."""
        if not self._prints_names and self._directory is None:
            return ""
        # lazy: only where kernels are asked for
        from hashlib import sha256

        from cffpy.intel.decoder.kernels import kernel_size

        data = printer.span(address, kernel_size(printer, address))
        digest = sha256(data).hexdigest()
        if self._directory is not None:
            self._write(self._directory, short_name, address, data, digest)
        if not self._prints_names:
            return ""
        return f"kernel {short_name} at 0x{address:08x}: {len(data)} bytes, sha256 {digest}\n"

    def _write(
        self, directory: str, short_name: str, address: int, data: bytes, digest: str
    ) -> None:
        name = f"{short_name}_0x{address:016x}"
        if not self._plain_names:
            name = f"{name}_{len(data)}_{digest[:_DIGITS]}"
        if name in self._written and not self._plain_names:
            return
        self._written.add(name)
        from cffpy.output_files import written_file

        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, f"{name}.bin")
        with written_file(path, has_guessed_name=True) as file:
            file.write(data)
