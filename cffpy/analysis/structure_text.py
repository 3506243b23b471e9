# SPDX-License-Identifier: MIT
"""StructureText: packets and descriptors in memory, decoded by the register database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.texture_descriptors import described_by
from cffpy.frame.objects import ByField
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from construct import Struct

    from cffpy.frame.binding import DescriptorText
    from cffpy.frame.field import FieldValue
    from cffpy.regdb.database import Database

#: Distinct descriptors whose texts are kept.
_MAX_KNOWN = 1 << 12


class StructureText:
    """Decodes structures by a database. Descriptors of equal dwords are decoded once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._text = RegisterText(database)
        #: By packet and variants.
        self._structs: dict[tuple[str, tuple[tuple[str, int], ...]], Struct] = {}
        self._descriptors: dict[tuple[str | None, Sequence[int]], DescriptorText] = {}

    def packet_fields(self, name: str, dwords: tuple[int, ...]) -> dict[str, FieldValue]:
        """The fields of a packet by name."""
        return self.fields(PACKET_DOMAINS.get(name, name), dwords)

    def packet_struct(self, name: str, dwords: tuple[int, ...]) -> Struct:
        """The construct Struct of a packet's dwords, in the variants that its fields choose."""
        from cffpy.pm4.structs import payload_struct  # lazy: construct

        variants = self._text.variants(PACKET_DOMAINS.get(name, name), dwords)
        key = name, tuple(variants.items())
        if key not in self._structs:
            self._structs[key] = payload_struct(self._database, name, variants)
        return self._structs[key]

    def other_fields(self, packet: str, field: str) -> tuple[str, ...]:
        """The names of a packet's field in other installed editions."""
        return self._database.other_fields(PACKET_DOMAINS.get(packet, packet), field)

    def fields(self, domain: str | None, dwords: Sequence[int]) -> dict[str, FieldValue]:
        """The fields of a structure of ``domain`` by name."""
        if domain is None:
            return ByField()
        fields = self._text.structure_fields(domain, dwords)
        return ByField((field.name, field) for field in fields)

    def descriptor(self, domain: str | None, dwords: Sequence[int]) -> DescriptorText:
        """What a descriptor says. The same object for equal ones: it must not be changed."""
        key = domain, dwords
        known = self._descriptors.get(key)
        if known is None:
            if len(self._descriptors) >= _MAX_KNOWN:
                self._descriptors.clear()
            known = described_by(domain, self.fields(domain, dwords))
            self._descriptors[key] = known
        return known
