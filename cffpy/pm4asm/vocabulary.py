# SPDX-License-Identifier: MIT
"""The names of one generation: packets, registers, structures, as the database has them."""

from __future__ import annotations

from functools import cached_property

from cffpy.capture.gpu import Gpu
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.pm4.reader import Packets
from cffpy.pm4asm.elements import Element, Variants, make_element, row_elements
from cffpy.pm4asm.model import Call, Name, Number, SourceProblem, is_name
from cffpy.pm4asm.values import nearest, plain_field
from cffpy.regdb.database import Database, Found
from cffpy.regdb.rows import ARRAY, REGISTER, ElementRow
from cffpy.regdb.structures import field_names

PACKET_ENUM = "adreno_pm4_type3_packets"
_OPCODES = 128
#: Dwords of a structure in memory at most.
_LARGEST_STRUCTURE = 64

#: Packets that the database may not describe, but cffpy.pm4.structs does.
_UNDESCRIBED = (
    "CP_INDIRECT_BUFFER",
    "CP_INDIRECT_BUFFER_PFD",
    "CP_SET_CTXSWITCH_IB",
    "CP_SET_CONSTANT",
    "CP_WIDE_REG_WRITE",
    "CP_IM_LOAD_IMMEDIATE",
)


class Structure:
    """A packet's payload or a structure in memory, dword by dword.

    ``entry``: the dwords of each entry where it is a list of equal entries, else 0.
    """

    def __init__(
        self,
        name: str,
        domain: str,
        database: Database,
        variants: Variants,
        entry: int,
        fixed: dict[int, Element] | None,
    ) -> None:
        """``fixed``: all that is known of it, where the database does not describe ``domain``."""
        self.name = name
        self._domain = domain
        self.entry = entry
        self.database = database
        self._variants = variants
        self._fixed = fixed
        self._elements: dict[tuple[int, tuple[tuple[str, int], ...]], Element | None] = {}

    def start(self) -> Variants:
        """The variants at its beginning."""
        return dict(self._variants)

    @property
    def is_known(self) -> bool:
        """Whether anything of it is described."""
        return self._fixed is None or bool(self._fixed)

    def element(self, position: int, variants: Variants) -> Element | None:
        """The element that begins at a dword, or None if none is described."""
        if self._fixed is not None:
            return self._fixed.get(position)
        key = position, tuple(variants.items())
        if key not in self._elements:
            self._elements[key] = self._make(position, variants)
        return self._elements[key]

    def _make(self, position: int, variants: Variants) -> Element | None:
        register = self.database.lookup(self._domain, position, variants)
        if register is None or register.type is None or not _is_start(register):
            return None
        name = str(register.parts[-1][1]) if register.parts[-1][0] == "name" else ""
        return make_element(register, "" if name.isdigit() else name, self.database, variants)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its fields, and those by which the halves of an address are known."""
        row = self.database.domain(self._domain)
        return frozenset() if row is None else field_names(row[0])

    def other_fields(self, name: str) -> tuple[str, ...]:
        """The names of a field in other installed editions."""
        return () if self._fixed is not None else self.database.other_fields(self._domain, name)

    @property
    def dwords(self) -> int:
        """The size of a structure in memory."""
        row = self.database.domain(self._domain)
        return 0 if row is None else min(_extent(row[0]), _LARGEST_STRUCTURE)


class Vocabulary:
    """All names of a generation. Look-ups by name raise SourceProblem with the nearest name."""

    def __init__(self, gpu: Gpu, database: Database) -> None:
        self.gpu = gpu
        self.database = database
        self.packets = Packets(gpu.chip)
        chip = database.variant("chip", database.chip)
        self.variants: Variants = {} if chip is None else {"chip": chip}
        self._packets = [
            database.enum_name(PACKET_ENUM, opcode, self.variants) for opcode in range(_OPCODES)
        ]
        self._opcodes: dict[str, int] = {}
        for opcode, name in enumerate(self._packets):
            if name is not None and is_name(name):
                self._opcodes.setdefault(name, opcode)
        self._structures: dict[str, Structure | None] = {}
        self._registers: dict[int, tuple[str, Element] | None] = {}
        self._offsets: dict[str, int] = {}

    # -- packets ----------------------------------------------------------------------------

    def packet_name(self, opcode: int) -> str | None:
        """The packet's name, if that name means this opcode alone."""
        name = self._packets[opcode]
        return name if name is not None and self._opcodes.get(name) == opcode else None

    def opcode(self, name: str) -> int | None:
        """The opcode of a packet, by its name in this edition or in another; or None."""
        opcode = self._opcodes.get(name)
        for other in self.database.other_values(name) if opcode is None else ():
            opcode = self._opcodes.get(other) if opcode is None else opcode
        return opcode

    def structure(self, name: str) -> Structure | None:
        """The contents of a packet or of a structure in memory; None if they are not described.

        ``name``: in this edition or in another.
        """
        if name not in self._structures:
            structure = self._make_structure(name)
            if structure is None and name not in self._opcodes:
                aliases = self.database.aliases
                others = map(self._make_structure, (*aliases.values(name), *aliases.domains(name)))
                structure = next((other for other in others if other is not None), None)
            self._structures[name] = structure
        return self._structures[name]

    def _make_structure(self, name: str) -> Structure | None:
        database, variants = self.database, self.variants
        domain = PACKET_DOMAINS.get(name, name)
        row = database.domain(domain)
        if row is None:
            if name not in self._opcodes:
                return None
            fixed = row_elements(self.packets.rows(name)) if name in _UNDESCRIBED else {}
            return Structure(name, domain, database, variants, 0, fixed)
        if name in database.register_domains:
            return None
        entry = 0
        if name == "CP_SET_DRAW_STATE":  # described with 64-bit addresses for all generations
            entry = self.packets.entry_dwords(name)
        elif len(row[0]) == 1 and row[0][0][0] == ARRAY and row[0][0][3] == 0:
            entry = int(row[0][0][5])
        return Structure(name, domain, database, variants, entry, None)

    def unknown(self, name: str) -> str:
        """``, did you mean X?`` among packets, registers and structures."""
        names = [*self._opcodes, *(name for name, _ in self.database.register_names())]
        names += self.database.domain_names()
        return nearest(name, names)

    # -- registers --------------------------------------------------------------------------

    def register(self, offset: int) -> tuple[str, Element] | None:
        """Name and element of the register that begins at an offset; its name means it alone."""
        try:
            return self._registers[offset]
        except KeyError:
            pass
        described = self.database.register(offset, self.variants)
        known = None
        if described is not None and described.type is not None and _is_start(described):
            name = "".join(_plain(part) for part in described.parts)
            words = [str(part[1]) for part in described.parts if part[0] == "name"]
            if self._offset(name) == offset and all(map(is_name, words)):
                known = name, make_element(described, name, self.database, self.variants)
        self._registers[offset] = known
        return known

    def _offset(self, name: str) -> int:
        offset = self._offsets.get(name)
        if offset is None:
            offset = self._offsets[name] = self.database.register_offset(name)
        return offset

    def named_register(self, name: str, column: int = 0) -> tuple[int, Element]:
        """Offset and element of the register of this name."""
        offset = self._offset(name)
        named = None if offset else self.database.find_named(name)
        if named is not None:
            offset = named.offset
            if not named.is_described:
                field = plain_field(named.name, 0, named.bits - 1)
                return offset, Element((field,), named.bits // 32, False)
        known = self.register(offset)
        if known is None or (not offset and known[0] != name):
            near = nearest(name, (known for known, _ in self.database.register_names()))
            raise SourceProblem(f"no register is called {name}{near}", column)
        return offset, known[1]

    def target(self, register: Name | Number) -> tuple[int, Element | None, str]:
        """Offset, element and name of the register that a line writes, by name or offset."""
        if isinstance(register, Name):
            offset, element = self.named_register(register.text, register.column)
            return offset, element, register.text
        return register.integer, None, register.text

    def register_of(self, call: Call) -> int:
        """The value of ``reg(NAME)``."""
        return self.named_register(call.name, call.column)[0] + call.addend


def _is_start(register: Found) -> bool:
    """Whether the element begins at the dword that was looked up."""
    return register.parts[-1][0] not in ("high", "plus")


def _plain(part: tuple[object, ...]) -> str:
    kind = part[0]
    if kind == "name":
        return str(part[1])
    return "." if kind == "dot" else f"[{part[1]}]"


def _extent(elements: tuple[ElementRow, ...]) -> int:
    """Dwords up to the end of the last element; of a repeated one, one repeat."""
    end = 0
    for element in elements:
        start = element[3] if isinstance(element[3], int) else max(element[3])
        if element[0] == REGISTER:
            end = max(end, start + element[6])
        else:
            end = max(end, start + _extent(element[-1]))
    return end
