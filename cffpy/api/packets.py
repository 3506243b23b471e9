# SPDX-License-Identifier: MIT
"""Packet: one execution of a packet. ``Capture.packets`` yields them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.errors import UnknownName
from cffpy.frame.execution import Executed
from cffpy.frame.register import RegisterValue
from cffpy.pm4.reader import OPCODE, REGISTERS, packet_name, read_header
from cffpy.regdb.registers import named_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from construct import Container, Struct

    from cffpy.analysis.packets import ExecutedPacket
    from cffpy.api.source import Source
    from cffpy.frame.field import FieldValue
    from cffpy.frame.places import PacketLocation


class Packet:
    """One execution of a packet. The same packet is executed again in each tile."""

    __slots__ = ("_found", "_source")

    def __init__(self, source: Source, found: ExecutedPacket) -> None:
        self._source = source
        self._found = found

    @property
    def name(self) -> str:
        """As in "CP_DRAW_INDX_OFFSET"; "register write" for a packet of type 0 or 4."""
        return packet_name(self._source.database, self.header)

    @property
    def opcode(self) -> int | None:
        """Its opcode; None for a register write."""
        kind, opcode, _ = read_header(self.header)
        return opcode if kind == OPCODE else None

    @property
    def place(self) -> PacketLocation:
        """Where it is: ``gpuaddr``, ``file_offset`` (bytes), ``stream`` with its ``path``."""
        return self._found.place

    @property
    def executed(self) -> bool | None:
        """Whether it is executed in this mode; None where only the GPU knows."""
        executed = self._found.executed
        return None if executed is Executed.UNKNOWN else executed is Executed.YES

    @property
    def condition(self) -> str | None:
        """The condition that ``executed`` depends on, in words."""
        return self._found.condition

    @property
    def header(self) -> int:
        """Its first dword."""
        place = self._found.place
        return place._words.get(place._index)

    @property
    def dwords(self) -> tuple[int, ...]:
        """Its dwords after the header, as far as they were captured."""
        place = self._found.place
        _, _, size = read_header(self.header)
        end = min(place._index + size, place._words.count)
        return tuple(place._words.data[place._index + 1 : end])

    @property
    def fields(self) -> dict[str, FieldValue]:
        """Its fields by name; bits count from the dword after the header on.

        Empty for a register write, and where no fields are described.
        """
        if self.opcode is None:
            return {}
        return self._source.structures.packet_fields(self.name, self.dwords)

    @property
    def struct(self) -> Struct:
        """The construct Struct of ``dwords``: of an opcode's payload, or of the registers' values.

        It has no members where nothing is described.
        """
        if self.opcode is not None:
            return self._source.structures.packet_struct(self.name, self.dwords)
        from cffpy.pm4.structs import register_struct  # lazy: construct

        return register_struct(
            [(register.name, register.register.bits // 32) for register in self.registers]
        )

    def parse(self) -> Container:
        """The values of ``struct`` in this packet, parsed by construct: bits as they are."""
        return self.struct.parse(self._payload)

    def build(self, values: Mapping[str, int] | None = None) -> bytes:
        """The packet's bytes, header included, built by construct, with other ``values``.

        Keys are names of fields, of an entry's field as in "[1].COUNT"; of a register write, names
        of registers. What is not described stays. Raises UnknownName for a name that the packet
        does not have, StructError for a value that does not fit.
        """
        from cffpy.pm4.structs import (
            header_struct,
            rebuild,  # lazy: construct
        )

        payload = rebuild(self.struct, self._payload, values or {})
        header, word = header_struct(self.header), self.header.to_bytes(4, "little")
        parsed = header.parse(word)
        name = "count" if "count" in parsed else "count_minus_1"
        count = parsed[name] + (len(payload) - len(self._payload)) // 4
        return rebuild(header, word, {name: count}) + payload

    @property
    def _payload(self) -> bytes:
        return b"".join(dword.to_bytes(4, "little") for dword in self.dwords)

    def field(self, name: str) -> FieldValue:
        """One of ``fields``, also by its name in another installed edition.

        An address may be described as one field ``X`` or as ``X_LO`` and ``X_HI``; each of these
        names is known. Raises UnknownName, which is a KeyError.
        """
        fields = self.fields
        found = named_field(fields, name)
        if found is None and fields:
            others = self._source.structures.other_fields(self.name, name)
            known = (named_field(fields, other) for other in others)
            found = next((field for field in known if field is not None), None)
        if found is None:
            has = f"; it has {', '.join(fields)}" if fields else ""
            raise UnknownName(f"{self.name} has no field {name}{has}")
        return found

    @property
    def registers(self) -> list[RegisterValue]:
        """What a register write writes; empty for a packet with an opcode."""
        kind, first, _ = read_header(self.header)
        if kind != REGISTERS:
            return []
        dwords, known = self.dwords, self._source.registers
        found: list[RegisterValue] = []
        index = 0
        while index < len(dwords):
            register, value = known.at(first + index), dwords[index]
            index += 1
            if register.bits == 64 and index < len(dwords):
                value |= dwords[index] << 32
                index += 1
            found.append(RegisterValue(register, value))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Name, place, dwords, and fields or registers as text."""
        from cffpy.frame.faces import facts_document

        return {
            "name": self.name,
            "opcode": self.opcode,
            "executed": self.executed,
            "condition": self.condition,
            "dwords": [f"{dword:#x}" for dword in self.dwords],
            "fields": {name: field.text for name, field in self.fields.items()},
            "registers": {register.name: register.text for register in self.registers},
            "place": facts_document(self.place),
        }

    def __repr__(self) -> str:
        written = self.registers
        name = self.name if not written else f"{written[0].name} and {len(written) - 1} more"
        if len(written) == 1:
            name = written[0].name
        return f"<Packet {name} at {self.place.gpuaddr:#x}, {len(self.dwords)} dwords>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = [(name, field.text) for name, field in self.fields.items()]
        rows += [(value.name, value.text) for value in self.registers]
        return html_table((self.name, str(self.place)), rows)
