# SPDX-License-Identifier: MIT
"""Packets that copy memory, and what a blit does.

Transfers of blits, clears, loads and stores are read in
``cffpy.analysis.passes.transfers`` and ``cffpy.analysis.passes.transfers``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.attachment import Transfer, TransferEnd
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.frame.attachment import Role
    from cffpy.pm4.reader import Payload

#: CP_MEM_TO_MEM: the signs of up to three operands, and whether they have 64 bits; after this
#: dword, the addresses of the destination and of the operands.
SUM = Fields("CP_MEM_TO_MEM", "NEG_A", "NEG_B", "NEG_C", "DOUBLE")
SUM_ADDRESSES = Fields("CP_MEM_TO_MEM", "DST", "SRC_A", "SRC_B", "SRC_C", variant="ADDRESSES")
_COPY = Fields("CP_MEMCPY", "DWORDS", "SRC", "DST")


def blit_role(transfer: Transfer) -> Role:
    """What a blit in memory does: "fill", "copy", "scale", "resolve"."""
    if transfer.source is None:
        return "fill"
    if transfer.resolves:
        return "resolve"
    return "scale" if transfer.scales else "copy"


def memory_copy(machine: Machine, name: str, payload: Payload) -> Transfer | None:
    """What one of MEMORY_COPIES copies; None where the packet is too short."""
    packets = machine.packets
    if name == "CP_MEMCPY":
        if payload.captured < packets[_COPY].dwords:
            return None
        dwords, *addresses = payload.read(packets[_COPY])
        read, written = (TransferEnd(address, size=4 * dwords) for address in addresses)
        return Transfer(read, written)
    count = (payload.captured - 1) // 2  # of addresses, of two dwords each
    if count < 2:
        return None
    *signs, is_double = payload.read(packets[SUM])
    destination, *operands = payload.read(packets[SUM_ADDRESSES], 1)
    size = 8 if is_double else 4
    source, *added = [
        TransferEnd(address, size=size, negated=bool(sign))
        for address, sign in zip(operands[: count - 1], signs, strict=False)
    ]
    return Transfer(source, TransferEnd(destination, size=size), added=tuple(added))
