# SPDX-License-Identifier: MIT
"""Names of packets by their headers."""

from __future__ import annotations

from cffpy.pm4.reader import OPCODE, REGISTERS, read_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.regdb.database import Database

_PACKETS = "adreno_pm4_type3_packets"

#: What ``packet_name`` returns of a packet of type 0 or 4.
REGISTER_WRITE = "register write"


def packet_name(database: Database, header: int) -> str:
    """The name of a packet by its header; its opcode in hex where it has none."""
    kind, opcode, _ = read_header(header)
    if kind != OPCODE:
        return REGISTER_WRITE if kind == REGISTERS else "unknown"
    chip = database.variant("chip", database.chip)
    variants = {} if chip is None else {"chip": chip}
    return database.enum_name(_PACKETS, opcode, variants) or f"{opcode:#x}"
