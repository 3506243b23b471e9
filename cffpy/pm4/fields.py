# SPDX-License-Identifier: MIT
"""Fields of packets: a list of names, for which each generation has a fast reader.

    DRAW = Fields("CP_DRAW_INDX_OFFSET", "PRIM_TYPE", "NUM_INSTANCES", "NUM_INDICES")
    primitive, instances, indices = packets[DRAW].read(dwords, index)

Names are those of the register database, and of cffpy.pm4.structs for what it does not describe;
the bits come from there. A name that begins with ``cffdump:`` is one of cffpy.pm4.deviations.
"""

from __future__ import annotations

import marshal

from cffpy.pm4.deviations import BY_NAME, PREFIX
from cffpy.pm4.store import load_packets
from cffpy.row_readers import DwordReader, find_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.row_readers import Rows


class Fields:
    """Fields of a packet or structure that are read together, as ints, in the order of ``names``.

    ``variant``: the value of the enum that decides what the packet holds. A field that a generation
    does not have is read as 0. ``A..B`` is the number that the bits from field A to field B make.
    Where two dwords have a field of one name, ``2.NAME`` is that of dword "2".
    """

    __slots__ = ("names", "packet", "variant")

    def __init__(self, packet: str, *names: str, variant: str = "") -> None:
        self.packet = packet
        self.names = names
        self.variant = variant

    def __repr__(self) -> str:
        return f"Fields({self.packet!r}, {', '.join(map(repr, self.names))}, {self.variant!r})"


class Packets(dict[Fields, DwordReader]):
    """The readers of a generation ("A6XX"), made when they are first asked for."""

    def __init__(self, chip: str) -> None:
        super().__init__()
        self.chip = chip
        self._packed = load_packets(chip)

    def __missing__(self, fields: Fields) -> DwordReader:
        rows, _ = self._load(fields.packet, fields.variant)
        deviations = BY_NAME.get(fields.packet, {})
        chosen = [
            deviations[name] if name.startswith(PREFIX) else find_row(rows, name)
            for name in fields.names
        ]
        reader = self[fields] = DwordReader(chosen)
        return reader

    def rows(self, packet: str, variant: str = "") -> Rows:
        """All rows of a packet or structure; none where the generation does not have it."""
        return self._load(packet, variant)[0]

    def entry_dwords(self, packet: str) -> int:
        """The dwords of each entry of a packet that is a list of entries; else 0."""
        return self._load(packet, "")[1]

    def names(self) -> tuple[str, ...]:
        """The packets and structures that there are; ``NAME:VARIANT`` for those with variants."""
        return tuple(self._packed)

    def _load(self, packet: str, variant: str) -> tuple[Rows, int]:
        packed = self._packed.get(f"{packet}:{variant}" if variant else packet)
        if packed is None:
            return (), 0
        loaded: tuple[Rows, int] = marshal.loads(packed)
        return loaded
