# SPDX-License-Identifier: MIT
"""Shader programs: hex, disassembly, and the files of --dump-shaders.

cffdump: disasm_gpuaddr, dump_shader (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.capture.memory import Words
from cffpy.pm4.descriptions import Disassemblers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.cp.machine import Machine
    from cffpy.views.cffdump.output import Output

#: Stage -> file name extension; stages without one are not written to files.
EXTENSIONS = {"VS": "vo3", "FS": "fo3", "GS": "go3", "CS": "co3"}

_SHOWN_DWORDS = 64

#: Dwords after the packet that an a2xx program may reach: its addresses have 9 bits, in units of
#: three dwords.
_REACH_A2XX = 1 << 12

#: Characters of programs at an address that are kept at most.
_KEPT_CHARACTERS = 16 << 20


class ShaderText:
    """Shows shader programs. Keeps the text of programs by their address until memory changes."""

    def __init__(
        self,
        machine: Machine,
        output: Output,
        show_hex: Callable[[Words, int, int, int], None],
        register_db: str | None,
        writes_files: bool,
        shows_statistics: bool,
    ) -> None:
        """``show_hex`` prints dwords: words, index, count, level. ``writes_files``: --dump-shaders.

        ``register_db``: directory of another edition.
        """
        self._machine = machine
        self._output = output
        self._show_hex = show_hex
        self._writes_files = writes_files
        self._shows_statistics = shows_statistics
        self._disassemblers = Disassemblers(register_db)
        self._texts: dict[tuple[int, int], str] = {}
        self._kept = 0
        self._epoch = -1
        self._files = 0

    def at_address(self, gpuaddr: int, level: int, extension: str | None) -> None:
        """The program at an address: hex of its start, disassembly to the buffer's end."""
        image = self._machine.image
        if self._epoch != image.epoch:
            self._epoch = image.epoch
            self._texts.clear()
            self._kept = 0
        place = image.place(gpuaddr)
        if place is None:
            return
        words, index = place
        self._show_hex(words, index, _SHOWN_DWORDS, level + 1)
        text = self._texts.get((gpuaddr, level))
        if text is None:
            text = self._ir3(words.bytes(index, words.count), level + 2)
            if self._kept > _KEPT_CHARACTERS:
                self._texts.clear()
                self._kept = 0
            self._texts[gpuaddr, level] = text
            self._kept += len(text)
        self._output.put_large(text)
        if extension and self._writes_files:
            self.write_file(extension, words, index, words.count)

    def program(self, words: Words, index: int, dwords: int, level: int) -> None:
        """The ir3 program in ``dwords`` from ``index``."""
        self._output.put_large(self._ir3(words.bytes(index, dwords), level))

    def program_a2xx(
        self, words: Words, index: int, dwords: int, level: int, fragment: bool
    ) -> None:
        """The a2xx program in ``dwords`` from ``index``."""
        disassembler = self._disassemblers.a2xx()
        listing = disassembler.listing(words.bytes(index, dwords), level, fragment)
        if listing.is_cut:
            # cffdump: disasm_a2xx does not look at the size that it is given (mesa 25.0.7)
            listing = disassembler.listing(words.bytes(index, _REACH_A2XX), level, fragment)
        self._output.put(listing.text)

    def write_file(self, extension: str, words: Words, index: int, dwords: int) -> None:
        """--dump-shaders: the next file in the working directory. Errors are ignored."""
        if not self._writes_files:
            return
        name = f"{self._files:04d}.{extension}"
        self._files += 1
        from cffpy.output_files import written_file  # lazily: for this option alone

        try:
            with written_file(name, has_guessed_name=True) as file:
                file.write(words.bytes(index, dwords))
        except OSError:
            return

    def _ir3(self, code: bytes, level: int) -> str:
        listing = self._disassemblers.ir3(self._machine.gpu.generation).listing(code, level)
        return listing.text if self._shows_statistics else listing.code
