# SPDX-License-Identifier: MIT
"""Packet headers, packets, and their structures in memory, as construct Structs.

Public: for ``parse`` and ``build``. Importing this module imports construct. The readers that
decode streams are derived from these Structs.

Headers, and packets that the register database does not describe, are declared here, bit fields
from bit 31 down. Parity bits and packet types are filled in. Facts: Mesa's freedreno_pm4.h, and
what cffdump's handlers decode.

    >>> from cffpy.pm4.structs import TYPE7_HEADER
    >>> TYPE7_HEADER.build({"opcode": 0x26, "count": 0}).hex()
    '00802670'

All other packets, and structures in memory, are made of the register database:

    >>> from cffpy.pm4.structs import packet_struct
    >>> draw = packet_struct("CP_DRAW_INDX_OFFSET", "A6XX")
    >>> draw.build({"0": {"PRIM_TYPE": 4}, "NUM_INSTANCES": 1, "NUM_INDICES": 3}).hex()
    '040000000100000003000000'
    >>> draw.parse(bytes.fromhex("040000000100000003000000")).NUM_INDICES
    3

How a Struct follows from its description (``register_db/adreno/*.regs``):

- A dword with bit fields is a nested structure under the dword's name (``"0"``), with the fields
  under their names. Where fields overlap, the first that is declared is there.
- A dword with one field over all its bits is a number under the field's name.
- ``reg64``, and two dwords ``X_LO`` (or ``X``) and ``X_HI``, are one 64-bit number ``X``.
- A packet that is a list of equal entries has them in ``entries``.
- Values are the bits as they are: not shifted by ``shr``, no names for enum values.

What is left out of ``build`` is 0; what follows the last value that is given is not built, since
many packets have a short form. ``parse`` gives None for what a short packet lacks.
"""

from __future__ import annotations

import marshal
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from construct import (
    BitsInteger,
    Const,
    ConstructError,
    Container,
    Default,
    Int32ul,
    Int64ul,
    Padding,
    Rebuild,
    Struct,
)

from cffpy.c_numbers import odd_parity
from cffpy.errors import RegisterDbError, StructError, UnknownName
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.regdb.database import Database, holds
from cffpy.regdb.rows import ARRAY, BITSET, INLINE_BITSET, NAMED_INLINE_BITSET, REGISTER
from cffpy.row_readers import dwords_of, find_row
from cffpy.struct_rows import Dword, Entries, bits, entry_of, rows_of, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cffpy.regdb.rows import ElementRow, FieldRow, TypeRow
    from cffpy.row_readers import Rows


def _parity_of(name: str) -> Any:  # noqa: ANN401  (construct has no types)
    """A bit that is built as the odd parity of the field of this name; parsed as it is."""
    return Rebuild(BitsInteger(1), lambda this: odd_parity(this[name] or 0))


# -- headers --------------------------------------------------------------------------------------

#: Writes ``count_minus_1 + 1`` registers from ``register`` on (a2xx to a4xx).
TYPE0_HEADER = Dword(
    "type" / Const(0, BitsInteger(2)),
    "count_minus_1" / bits(14),
    Padding(1),
    "register" / bits(15),
)
#: One dword that does nothing (a2xx to a4xx).
TYPE2_HEADER = Dword("type" / Const(2, BitsInteger(2)), "zero" / Const(0, BitsInteger(30)))
#: A packet with an opcode and ``count_minus_1 + 1`` dwords of payload (a2xx to a4xx).
TYPE3_HEADER = Dword(
    "type" / Const(3, BitsInteger(2)),
    "count_minus_1" / bits(14),
    "zero_15" / bits(1),
    "opcode" / bits(7),
    "zero" / bits(7),
    "predicate" / bits(1),
)
#: Writes ``count`` registers from ``register`` on (a5xx and later).
TYPE4_HEADER = Dword(
    "type" / Const(4, BitsInteger(4)),
    "register_parity" / _parity_of("register"),
    "register" / bits(19),
    "count_parity" / _parity_of("count"),
    "count" / bits(7),
)
#: A packet with an opcode and ``count`` dwords of payload (a5xx and later).
TYPE7_HEADER = Dword(
    "type" / Const(7, BitsInteger(4)),
    "zero" / bits(4),
    "opcode_parity" / _parity_of("opcode"),
    "opcode" / bits(7),
    "count_parity" / _parity_of("count"),
    Padding(1),
    "count" / bits(14),
)

#: Headers by packet type.
HEADERS = {
    "TYPE0": TYPE0_HEADER,
    "TYPE2": TYPE2_HEADER,
    "TYPE3": TYPE3_HEADER,
    "TYPE4": TYPE4_HEADER,
    "TYPE7": TYPE7_HEADER,
}

#: The first generation whose addresses have 64 bits.
FIRST_64BIT = "A5XX"


def header_struct(word: int) -> Any:  # noqa: ANN401
    """The Struct of a packet header that is valid."""
    top = word >> 30
    return HEADERS[f"TYPE{word >> 28 if word >> 28 in (4, 7) else top}"]


# -- packets --------------------------------------------------------------------------------------

#: CP_INDIRECT_BUFFER: commands of IB_SIZE dwords at IB_BASE; with 64-bit and with 32-bit addresses.
INDIRECT_BUFFER = Struct("IB_BASE" / Int64ul, "IB_SIZE" / Int32ul)
INDIRECT_BUFFER_32 = Struct("IB_BASE" / Int32ul, "IB_SIZE" / Int32ul)

#: CP_MEM_WRITE with a 32-bit address; data follow. The database describes the 64-bit one.
MEM_WRITE_32 = Struct("ADDR" / Int32ul)

#: CP_SET_CONSTANT (a2xx): constants, or registers, of TYPE from INDEX on; values follow.
SET_CONSTANT = Struct(
    "0" / Dword("ADD" / bits(1), Padding(11), "TYPE" / bits(4), "INDEX" / bits(16)),
)
#: CP_SET_CONSTANT with ADD: the register is set to ADDEND plus the register SOURCE.
SET_CONSTANT_SUM = Struct(
    "0" / Dword("ADD" / bits(1), Padding(11), "TYPE" / bits(4), "INDEX" / bits(16)),
    "SOURCE" / Int32ul,
    "ADDEND" / Int32ul,
)
#: CP_LOAD_CONSTANT_CONTEXT (a2xx): COUNT constants of TYPE from INDEX on, from memory at ADDR.
LOAD_CONSTANT_CONTEXT = Struct(
    "ADDR" / Int32ul,
    "1" / Dword(Padding(12), "TYPE" / bits(4), "INDEX" / bits(16)),
    "COUNT" / Int32ul,
)
#: CP_IM_LOAD_IMMEDIATE (a2xx): a program; its instructions follow. START and SIZE are in dwords.
IM_LOAD_IMMEDIATE = Struct(
    "SHADER_TYPE" / Int32ul, "1" / Dword("START" / bits(16), "SIZE" / bits(16))
)
#: CP_REG_WRITE (a6xx): the description has the tracker only.
REG_WRITE = Struct(
    "0" / Dword(Padding(28), "TRACKER" / bits(4)),
    "1" / Dword(Padding(14), "REG" / bits(18)),
    "VALUE" / Int32ul,
)
#: CP_WIDE_REG_WRITE (a4xx): values for the registers from REG on follow.
WIDE_REG_WRITE = Struct("0" / Dword(Padding(14), "REG" / bits(18)))

#: CP_SET_VISIBILITY_OVERRIDE (a5xx and later): with IGNORE, draws do not use visibility streams.
SET_VISIBILITY_OVERRIDE = Struct("0" / Dword(Padding(31), "IGNORE" / bits(1)))

#: Of a20x, which counts vertices in the draw initiator of CP_DRAW_INDX.
A20X_DRAW_INDX = Struct("VIZ_QUERY" / Int32ul, "1" / Dword("NUM_INDICES" / bits(16), Padding(16)))

#: CP_SET_BIN_DATA5 and CP_SET_BIN_DATA5_OFFSET of a7xx: VSC_MASK names slots from VSC_N on; with
#: ABS_MASK_ENABLE, ABS_MASK is inserted after the first dword and names slots from 0 on. As
#: adreno_pm4.xml of Mesa releases after 25.0.7 describes it.
SET_BIN_DATA5_MASK = Struct(
    "0"
    / Dword(
        Padding(3),
        "ABS_MASK_ENABLE" / bits(1),
        Padding(1),
        "VSC_N" / bits(5),
        Padding(6),
        "VSC_MASK" / bits(16),
    ),
    "ABS_MASK" / Int32ul,
)

#: CP_LOAD_STATE6 with STATE_SRC = SS6_BINDLESS, in place of the address: a descriptor of the set
#: BASE, OFFSET dwords from its start.
BINDLESS_SOURCE = Struct(
    "0" / Int32ul, "1" / Dword("BASE" / bits(4), Padding(4), "OFFSET" / bits(24))
)

#: CP_MEM_TO_MEM, after its first dword: the sum of up to three operands is stored at DST.
MEM_TO_MEM_ADDRESSES = Struct(
    "DST" / Int64ul, "SRC_A" / Int64ul, "SRC_B" / Int64ul, "SRC_C" / Int64ul
)

# -- structures in memory -------------------------------------------------------------------------

#: What CP_DRAW_INDIRECT reads.
DRAW_INDIRECT_PARAMETERS = Struct(
    "VERTICES" / Int32ul,
    "INSTANCES" / Int32ul,
    "FIRST_VERTEX" / Int32ul,
    "FIRST_INSTANCE" / Int32ul,
)
#: What CP_DRAW_INDX_INDIRECT reads. VERTEX_OFFSET is added to each index, as a signed number.
DRAW_INDX_INDIRECT_PARAMETERS = Struct(
    "VERTICES" / Int32ul,
    "INSTANCES" / Int32ul,
    "FIRST_INDEX" / Int32ul,
    "VERTEX_OFFSET" / Int32ul,
    "FIRST_INSTANCE" / Int32ul,
)
#: What CP_EXEC_CS_INDIRECT reads: work groups.
EXEC_CS_INDIRECT_PARAMETERS = Struct(
    "NGROUPS_X" / Int32ul, "NGROUPS_Y" / Int32ul, "NGROUPS_Z" / Int32ul
)

#: A uniform buffer's descriptor (a5xx), of which the database lacks SIZE, in vectors of four.
A5XX_UBO = Struct("BASE_LO" / Int32ul, "1" / Dword("SIZE" / bits(15), "BASE_HI" / bits(17)))

#: Structures by the name that readers ask for: of generations with 32-bit and 64-bit addresses.
_BOTH = {
    "CP_SET_CONSTANT": SET_CONSTANT,
    "CP_SET_CONSTANT:SUM": SET_CONSTANT_SUM,
    "CP_LOAD_CONSTANT_CONTEXT": LOAD_CONSTANT_CONTEXT,
    "CP_IM_LOAD_IMMEDIATE": IM_LOAD_IMMEDIATE,
    "CP_REG_WRITE": REG_WRITE,
    "CP_WIDE_REG_WRITE": WIDE_REG_WRITE,
    "CP_SET_VISIBILITY_OVERRIDE": SET_VISIBILITY_OVERRIDE,
    "CP_DRAW_INDX:A20X": A20X_DRAW_INDX,
    "CP_SET_BIN_DATA5:MASK": SET_BIN_DATA5_MASK,
    "CP_LOAD_STATE6:BINDLESS": BINDLESS_SOURCE,
    "CP_MEM_TO_MEM:ADDRESSES": MEM_TO_MEM_ADDRESSES,
    "A5XX_UBO:SIZED": A5XX_UBO,
    "DRAW_INDIRECT_PARAMETERS": DRAW_INDIRECT_PARAMETERS,
    "DRAW_INDX_INDIRECT_PARAMETERS": DRAW_INDX_INDIRECT_PARAMETERS,
    "EXEC_CS_INDIRECT_PARAMETERS": EXEC_CS_INDIRECT_PARAMETERS,
}


def undescribed(is_64bit: bool) -> dict[str, Any]:
    """The structures that the register database does not describe, by name.

    ``NAME:VARIANT`` is another form of the packet NAME.
    """
    indirect_buffer = INDIRECT_BUFFER if is_64bit else INDIRECT_BUFFER_32
    structs = dict.fromkeys(("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFD"), indirect_buffer)
    if not is_64bit:
        structs["CP_MEM_WRITE"] = MEM_WRITE_32
    return {**structs, **_BOTH}


def compile_headers() -> dict[str, Rows]:
    """The rows of each header, as the compiled form holds them."""
    return {name: rows_of(header) for name, header in HEADERS.items()}


#: Packets that the database describes under the name of another, and the name that CP_SET_AMBLE
#: has in older editions.
SAME_AS = {**PACKET_DOMAINS, "CP_SET_CTXSWITCH_IB": "CP_SET_AMBLE"}

_BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)

#: Dwords of a packet's fixed part, or of a structure in memory, at most; register spaces have
#: more.
LARGEST = 64


def packet_struct(name: str, chip: str, register_db: str | None = None, **variants: str) -> Struct:
    """The construct Struct of a packet's payload (without its header) or of a structure in memory.

    ``name``: of its domain in the register database, e.g. "CP_DRAW_INDX_OFFSET" or "A6XX_UBO".
    ``chip``: "A2XX" to "A7XX". ``register_db``: directory of another edition. ``variants``: the
    value of an enum that decides what the packet holds, e.g.
    ``a6xx_draw_indirect_opcode="INDIRECT_OP_INDEXED"``; without it the first that is declared is
    taken. Raises RegisterDbError for a name, a chip or a variant that the edition does not have.
    """
    database = Database.open(chip, register_db)
    positions = {}
    for varset, value in variants.items():
        position = database.variant(varset, value)
        if position is None:
            raise RegisterDbError(f"the enum '{varset}' has no value {value} on {chip}")
        positions[varset] = position
    structure = domain_struct(database, SAME_AS.get(name, name), positions)
    if structure is None:
        raise RegisterDbError(f"{chip} has no packet or structure {name}")
    return structure


def domain_struct(database: Database, domain: str, variants: dict[str, int]) -> Struct | None:
    """The Struct of a domain in these variants; None if absent or not a structure."""
    row = database.domain(domain)
    if row is None or domain in database.register_domains:
        return None
    elements = row[0]
    if len(elements) == 1 and elements[0][0] == ARRAY and elements[0][3] == 0:
        entry = _members(elements[0][7], variants)
        return None if entry is None else Struct("entries" / Entries(*entry))
    members = _members(elements, variants)
    return None if members is None else shortened(*members)


def payload_struct(database: Database, name: str, variants: dict[str, int]) -> Struct:
    """The Struct of a packet that is executed; one without members where nothing is described."""
    structure = undescribed(database.chip >= FIRST_64BIT).get(name)
    if structure is None:
        structure = domain_struct(database, SAME_AS.get(name, name), variants)
    return Struct() if structure is None else structure


def register_struct(registers: Sequence[tuple[str, int]]) -> Struct:
    """The Struct of the values that are written to registers: the name of each, and its dwords."""
    numbers = {1: Int32ul, 2: Int64ul}
    return shortened(*(name / Default(numbers[dwords], 0) for name, dwords in registers))


#: A field of an entry: ``[1].COUNT``.
_ENTRY = re.compile(r"\[([0-9]{1,9})\]\.(.+)")


def rebuild(structure: Struct, data: bytes, values: Mapping[str, int]) -> bytes:
    """``data`` with other values of some fields, built by construct.

    A field is named as in cffpy.pm4.reader, a field of an entry as in ``[1].COUNT``. What the
    structure does not describe stays. Raises UnknownName for a field that it does not have,
    StructError for a value that does not fit.
    """
    parsed = structure.parse(data)
    plain = structure.build(parsed)
    for name, value in values.items():
        _put(structure, parsed, name, value)
    try:
        built: bytes = structure.build(parsed)
    except ConstructError as problem:
        raise StructError(str(problem).strip().splitlines()[-1]) from None
    undescribed_bits = bytes(old ^ new for old, new in zip(data, plain, strict=False))
    kept = bytes(new ^ bits for new, bits in zip(built, undescribed_bits, strict=False))
    return kept + built[len(kept) :] + data[len(built) :]


def _put(structure: Struct, parsed: Container, name: str, value: int) -> None:
    entry, place = entry_of(structure), _ENTRY.fullmatch(name)
    if entry is not None and place is not None and int(place[1]) < len(parsed.entries):
        structure, parsed, name = entry, parsed.entries[int(place[1])], place[2]
    elif entry is not None:
        raise UnknownName(f"no field {name}: it has {len(parsed.entries)} entries")
    row = find_row(rows_of(structure), name)
    if row is None:
        raise UnknownName(f"no field {name}; there are {', '.join(map(_last, rows_of(structure)))}")
    if row[0] in parsed:
        parsed[row[0]] = value
        return
    dword, _, field = row[0].partition(".")
    if parsed[dword] is None:  # the packet ends before it
        parsed[dword] = Container()
    parsed[dword][field] = value


def _last(row: tuple[str, int, int, int]) -> str:
    return row[0].rpartition(".")[2]


def varsets(database: Database, domain: str) -> tuple[str, ...]:
    """The enums that decide what a domain holds, in the order in which they are met."""
    row = database.domain(domain)
    return () if row is None else tuple(dict.fromkeys(_conditions(row[0])))


def _conditions(elements: Iterable[ElementRow]) -> Iterator[str]:
    for element in elements:
        yield from (varset for varset, _ in element[2] or ())
        if element[0] != REGISTER:
            yield from _conditions(element[-1])
        elif element[7][0] in _BITSETS:
            for _, condition, _ in element[7][7]:
                yield from (varset for varset, _ in condition or ())


class _Part(NamedTuple):
    """A dword or pair of dwords of a structure."""

    offset: int
    dwords: int
    name: str
    type: TypeRow | None


def _members(elements: Iterable[ElementRow], variants: dict[str, int]) -> list[Any] | None:
    """The members of a structure, one for each dword or pair of dwords from its start on."""
    parts = [_without_bitset(part, variants) for part in _parts(elements, variants, 0)]
    if any(part.offset + part.dwords > LARGEST for part in parts):
        return None
    # a reg64 stands for the dwords that are described one by one, too
    chosen: dict[int, _Part] = {}
    for part in [*_wide(parts), *parts]:
        places = range(part.offset, part.offset + part.dwords)
        if not any(place in chosen for place in places):
            chosen.update(dict.fromkeys(places, part))
    members: dict[str, Any] = {}
    position = 0
    while position < max(chosen, default=-1) + 1:
        part = chosen.get(position) or _Part(position, 1, "", None)
        if part.name in members:  # of another variant
            part = part._replace(name=str(position))
        member = _member(part, variants)
        members[member.name] = member
        position += part.dwords
    return list(members.values())


def _parts(elements: Iterable[ElementRow], variants: dict[str, int], base: int) -> Iterator[_Part]:
    """The registers of a domain, in the order of their declaration."""
    for element in elements:
        if element[2] is not None and not holds(element[2], variants):
            continue
        if element[0] == REGISTER:
            yield _Part(base + element[3], element[6], element[1], element[7])
        elif element[0] != ARRAY and element[4] == 1:
            yield from _parts(element[6], variants, base + element[3])


def _without_bitset(part: _Part, variants: dict[str, int]) -> _Part:
    """A dword with one field over all its bits, as that field."""
    assert part.type is not None
    if part.type[0] in _BITSETS:
        fields = _fields(part, variants)
        if len(fields) == 1 and fields[0][2][2:4] == (0, part.dwords * 32 - 1):
            return part._replace(name=fields[0][0], type=None)
        return part
    low, high = part.type[2], part.type[3]
    is_whole = (low, high) == (0, part.dwords * 32 - 1)
    return part._replace(type=None) if is_whole else part


def _wide(parts: list[_Part]) -> Iterator[_Part]:
    """The 64-bit numbers: fields described as such, then pairs of dwords of one name."""
    yield from (part for part in parts if part.dwords == 2)
    for low in parts:
        for high in parts:
            if low.type is None and high.type is None and high.offset == low.offset + 1:
                base = low.name.removesuffix("LO").removesuffix("_")
                if high.name and high.name in (f"{base}_HI", f"{base}HI") and high.dwords == 1:
                    yield _Part(low.offset, 2, base or "ADDRESS", None)


def _fields(part: _Part, variants: dict[str, int]) -> list[FieldRow]:
    """The fields of a dword in these variants, without fields that overlap earlier fields."""
    assert part.type is not None
    taken = 0
    fields = []
    for field in part.type[7]:
        _, condition, (_, _, low, high, *_) = field
        mask = (2 << high) - (1 << low)
        if (condition is None or holds(condition, variants)) and not mask & taken:
            taken |= mask
            fields.append(field)
    return fields


def _member(part: _Part, variants: dict[str, int]) -> Any:  # noqa: ANN401  (construct has no types)
    if part.type is None:
        number = Int64ul if part.dwords == 2 else Int32ul
        return (part.name or str(part.offset)) / Default(number, 0)
    if part.type[0] in _BITSETS:
        fields = [(name, row[2], row[3]) for name, _, row in _fields(part, variants)]
    else:
        fields = [(part.name, part.type[2], part.type[3])]
    members: list[Any] = []
    above = 32
    for name, low, high in sorted(fields, key=lambda field: -field[1]):
        if above > high + 1:
            members.append(Padding(above - high - 1))
        members.append(name / bits(high - low + 1))
        above = low
    if above:
        members.append(Padding(above))
    name = part.name if part.type[0] in _BITSETS else str(part.offset)
    return name / Default(Dword(*members), Container())


def compile_chips(chips: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """The packets of each chip, lowest first.

    A packet that a generation's descriptions lack is taken from the next generation that has it:
    some packets are described from a later generation on than they are used.
    """
    packets: dict[str, dict[str, bytes]] = {}
    later: dict[str, bytes] = {}
    for chip in reversed(chips):
        own = {name: _packed(structure) for name, structure in structs_of(Database.open(chip))}
        later = packets[chip] = {**later, **own}
    return {chip: packets[chip] for chip in chips}


def compile_newer(chip: str, directory: str, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """The packets of a chip that only another edition describes.

    ``before``: packets of the last chip of the bundled edition, by whose names code asks for
    fields. A name that the edition has given up is read where it was.
    """
    packets = dict(before)
    for name, structure in structs_of(Database.open(chip, directory)):
        packed = _packed(structure)
        if name in before:
            rows, entry = marshal.loads(packed)
            names = {row[0] for row in rows}
            kept = [row for row in marshal.loads(before[name])[0] if row[0] not in names]
            packed = marshal.dumps(((*rows, *kept), entry))
        packets[name] = packed
    return packets


def structs_of(database: Database) -> Iterable[tuple[str, Any]]:
    """Each packet and structure of a generation: its name, or ``NAME:VARIANT``, and its Struct."""
    for domain in database.domain_names():
        for suffix, variants in _variants(database, domain):
            structure = domain_struct(database, domain, variants)
            if structure is not None:
                yield domain + suffix, structure
    for name, domain in SAME_AS.items():
        structure = domain_struct(database, domain, {})
        if structure is not None:
            yield name, structure
    yield from undescribed(database.chip >= FIRST_64BIT).items()


def _variants(database: Database, domain: str) -> Iterable[tuple[str, dict[str, int]]]:
    """No variant, then each variant of each enum that decides what the domain holds."""
    yield "", {}
    for varset in varsets(database, domain):
        for position, (name, *_) in enumerate(database.enum(varset)):
            yield f":{name}", {varset: position}


def _packed(structure: Any) -> bytes:  # noqa: ANN401  (construct has no types)
    rows = rows_of(structure)
    entry = 0 if entry_of(structure) is None else max(map(dwords_of, rows))
    return marshal.dumps((rows, entry))
