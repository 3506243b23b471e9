# SPDX-License-Identifier: MIT
"""Where a kernel ends: at a message that ends the thread, or at an illegal instruction.

Facts: brw_disassemble_find_end of Mesa 25.0.7; instruction formats of the PRMs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from cffpy.intel.decoder.database import Database

    class KernelMemory(Protocol):
        """What kernels are read from."""

        database: Database

        def span(self, address: int, size: int, ppgtt: bool = True) -> bytes:
            """Up to ``size`` bytes from ``address`` on."""


_SENDS = (0x31, 0x32, 0x33, 0x34)
_COMPACTED = 1 << 29
_FULL_SIZE, _COMPACT_SIZE = 16, 8

_STEP = 1 << 12
#: Bytes that are searched for the end.
_MAX_SIZE = 1 << 20


def kernel_size(memory: KernelMemory, address: int) -> int:
    """The size in bytes of the kernel at an address, as far as it is in memory."""
    # bit 127 ends the thread before gen12, then bit 34
    end_byte, end_bit = (4, 2) if memory.database.ver >= 12 else (15, 7)
    data = memory.span(address, _STEP)
    position = 0
    while position < _MAX_SIZE:
        if position + _FULL_SIZE > len(data) and len(data) % _STEP == 0:
            data += memory.span(address + len(data), _STEP)
        if position + _COMPACT_SIZE > len(data):
            return len(data)
        word = int.from_bytes(data[position : position + 4], "little")
        opcode = word & 0x7F
        last = data[position + end_byte : position + end_byte + 1]
        size = _COMPACT_SIZE if word & _COMPACTED else _FULL_SIZE
        if not opcode or (opcode in _SENDS and last and last[0] >> end_bit & 1):
            return min(position + size, len(data))
        position += size
    return position
