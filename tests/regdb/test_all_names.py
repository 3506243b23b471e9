# SPDX-License-Identifier: MIT
"""Each name of one edition means the same in the other, or is listed here with the reason.

The same: a register at the same offset, a field of the same bits, a value of the same number. What
the other edition does not describe at all (no register at that offset, no field over those bits, no
value of that number) needs no reason if it is new in 25.3. The names are looked up as those that
users write: with the aliases, and by the dwords of 64-bit registers and addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product

import pytest

from cffpy.editions.folders import resolve_edition
from cffpy.regdb import rows
from cffpy.regdb.aliases import Aliases
from cffpy.regdb.catalog import Catalog, RegisterPattern, catalogs, structure_fields
from cffpy.regdb.database import Database
from cffpy.regdb.spelling import names_of_halves

pytestmark = pytest.mark.slow

GENERATIONS = ("A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX")

#: Elements of an array that are looked at.
_ELEMENTS = 16

_MOVED = "the name belongs to another register in the other edition"
_WIDTH = "the same field with another width"
_SPLIT = "one field in one edition, several in the other"
_ANOTHER = "the number has another meaning in the other edition"
_PLAIN = "the register is one value without fields in 25.3"
_HOLE = "25.3 has an array without registers at this offset: its elements have no names"
_TWICE = "25.0 describes it for a7xx, too, which has another register at this offset"
_A6XX_ONLY = "25.3 describes it for a6xx only"
_ADDRESS = "addresses have 32 bits on a2xx to a4xx"

#: Registers, fields and values whose place is described in both editions, but by no alias.
DIFFERENT = {
    **dict.fromkeys(
        ("VPC_SO_CNTL", "PC_DRAW_INITIATOR", "VFD_MODE_CNTL", "SP_CS_CNTL_0", "SP_CS_CNTL_1"),
        _MOVED,
    ),
    "SP_CONTEXT_SWITCH_GFX_PREEMPTION_SAFE_MODE": _MOVED,
    "RBBM_CLOCK_HYST_TEX_FCHE": _TWICE,
    "SP_CS_IBO": _TWICE,
    "SP_CS_UAV_BASE": _TWICE,
    **dict.fromkeys(("VSC_UNKNOWN_0CD8", "GRAS_UNKNOWN_8120", "GRAS_UNKNOWN_8121"), _HOLE),
    "DBGC_CFG_DBGBUS_SEL_D.PING_BLK_SEL": "the field has other bits in the other edition",
    **dict.fromkeys(
        (
            "CP_SET_DRAW_STATE.GROUP_ID",
            "GRAS_2D_BLIT_CNTL.IFMT",
            "GRAS_A2D_BLT_CNTL.IFMT",
            "RB_2D_BLIT_CNTL.IFMT",
            "RB_A2D_BLT_CNTL.IFMT",
            "RB_DEPTH_BUFFER_INFO.UNK3",
            "RB_BLIT_FLAG_DST_PITCH.ARRAY_PITCH",
            "RB_RESOLVE_SYSTEM_FLAG_BUFFER_PITCH.ARRAY_PITCH",
            "RB_UNK_FLAG_BUFFER_PITCH.ARRAY_PITCH",
            "SP_READ_SEL.LOCATION",
        ),
        _WIDTH,
    ),
    **dict.fromkeys(
        (
            "GRAS_A2D_BLT_CNTL.UNK27",
            "GRAS_A2D_BLT_CNTL.UNK28",
            "RB_A2D_BLT_CNTL.UNK27",
            "RB_A2D_BLT_CNTL.UNK28",
            "SP_2D_DST_FORMAT.SINT",
            "SP_2D_DST_FORMAT.UINT",
            "SP_A2D_OUTPUT_INFO.IFMT_TYPE",
            "SP_TP_MODE_CNTL.UNK3",
            "TPL1_MODE_CNTL.TEXCOORDROUNDMODE",
            "TPL1_MODE_CNTL.NEARESTMIPSNAP",
            "TPL1_MODE_CNTL.DESTDATATYPEOVERRIDE",
            "HLSQ_UNKNOWN_A9AE.UNK9",
            "SP_PS_CNTL_1.EVICT_BUF_MODE",
        ),
        _SPLIT,
    ),
    **dict.fromkeys(
        (
            "VPC_ATTR_BUF_SIZE_GMEM.SIZE_GMEM",
            "VPC_ATTR_BUF_BASE_GMEM.BASE_GMEM",
            "PC_ATTR_BUF_SIZE_GMEM.SIZE_GMEM",
        ),
        _PLAIN,
    ),
    **dict.fromkeys(
        ("CP_SET_BIN_DATA5.ABS_MASK", "CP_SET_BIN_DATA5_OFFSET.ABS_MASK"),
        "a form of the packet that 25.0 does not describe",
    ),
    **dict.fromkeys(
        (
            "CP_MEM_WRITE.ADDR_HI",
            "CP_SET_DRAW_STATE.ADDR",
            "CP_REG_TO_MEM_OFFSET_REG.DEST",
            "CP_REG_TO_MEM_OFFSET_MEM.DEST",
        ),
        _ADDRESS,
    ),
    **dict.fromkeys(
        (
            "a6xx_format.FMT6_RGTC1_UNORM",
            "a6xx_format.FMT6_RGTC1_UNORM_FAST",
            "a6xx_format.FMT6_RGTC2_UNORM",
            "a6xx_format.FMT6_RGTC2_UNORM_FAST",
            "a6xx_2d_ifmt.R2D_UNORM8",
            "a6xx_2d_ifmt.R2D_RAW",
        ),
        _ANOTHER,
    ),
}

#: What 25.3 does not describe for any generation.
GONE = {"CP_LPAC_PROG_FIFO_SIZE": "25.3 has no register at this offset"}


class Name:
    """A name without a counterpart. ``there``: whether the other edition describes its place."""

    def __init__(self, name: str, there: bool) -> None:
        self.name = name
        self.there = there


@cache
def catalog(edition: str | None, chip: str) -> Catalog:
    return {one.chip: one for one in catalogs(edition)}[chip]


def registers(one: Catalog) -> Iterator[tuple[RegisterPattern, str, int]]:
    """All registers: pattern, name with indices, offset."""
    for domain in one.register_domains:
        for pattern in one.patterns(domain):
            if pattern.row[0] != rows.REGISTER:
                continue
            counts = [
                range(len(level.start) if isinstance(level.start, tuple) else level.length or 1)
                for level in pattern.levels
                if level.repeated
            ]
            for indices in product(*(count[:_ELEMENTS] for count in counts)):
                offset = pattern.offset_at(indices)
                if offset:
                    yield pattern, pattern.name_at(indices), offset


def unmatched_registers(old: str | None, new: str | None, chip: str) -> Iterator[Name]:
    database = Database.open(chip, new)
    for _pattern, name, offset in registers(catalog(old, chip)):
        found = database.find_named(name)
        if found is None or found.offset != offset:
            is_taken = found is not None or database.register(offset, {}) is not None
            yield Name(name, is_taken)


Bits = dict[str, set[tuple[int, int]]]


def bits_of(kind: rows.TypeRow) -> Bits:
    found: Bits = defaultdict(set)
    for name, _condition, row in kind[7] if kind[0] in rows.BITSETS else ():
        found[name].add((row[2], row[3]))
    return found


def structure_bits(one: Catalog, domain: str, has_halves: bool) -> Bits:
    """``has_halves``: also halves of addresses, and addresses of two halves, by their names."""
    found: Bits = defaultdict(set)
    for field in structure_fields(one.domain(domain) or ()):
        found[field.name].add(field.bits)
    for name in list(found) if has_halves else ():
        for low, high in list(found[name]):
            if high == low + 63:
                lower, upper = names_of_halves(name)
                found[lower].add((low, low + 31))
                found[upper].add((low + 32, high))
                found[name].add((low, low + 31))
            base = name.removesuffix("_HI")
            if base != name:
                found[base].add((low - 32, high))
    return found


def unmatched_bits(within: str, own: Bits, other: Bits) -> Iterator[Name]:
    for field, bits in own.items():
        names = (field, *Aliases.installed().fields(within, field))
        if any(other.get(name, set()) & bits for name in names):
            continue
        known = [place for places in other.values() for place in places]
        overlaps = any(low <= last and first <= high for low, high in bits for first, last in known)
        yield Name(f"{within}.{field}", overlaps or any(name in other for name in names))


def unmatched_fields(old: str | None, new: str | None, chip: str) -> Iterator[Name]:
    one, other = catalog(old, chip), catalog(new, chip)
    at: dict[int, Bits] = {}
    for pattern, _name, offset in registers(other):
        here = at.setdefault(offset, defaultdict(set))
        for field, bits in bits_of(pattern.row[7]).items():
            here[field] |= bits
    seen = set()
    for pattern, _name, offset in registers(one):
        if offset in at and pattern.name not in seen:
            seen.add(pattern.name)
            yield from unmatched_bits(pattern.name, bits_of(pattern.row[7]), at[offset])
    for domain in one.domain_names:
        if domain not in one.register_domains:
            known = (domain, *Aliases.installed().domains(domain))
            found = [name for name in known if other.domain(name) is not None]
            if found:
                theirs = structure_bits(other, found[0], True)
                yield from unmatched_bits(domain, structure_bits(one, domain, False), theirs)


def unmatched_words(old: str | None, new: str | None, chip: str) -> Iterator[Name]:
    """Packets are values of an enum; enums and domains themselves, too."""
    names, one, other = Aliases.installed(), catalog(old, chip), catalog(new, chip)
    for enum in one.enum_names:
        known = [name for name in (enum, *names.enums(enum)) if other.enum(name) is not None]
        if not known:
            yield Name(enum, False)
            continue
        numbers = {(name, number) for name, number, _ in other.enum(known[0]) or ()}
        for value, number, _condition in one.enum(enum) or ():
            words = (value, *names.values(value))
            if not {(name, number) for name in words} & numbers:
                taken = any(
                    name in words or other_number == number for name, other_number in numbers
                )
                yield Name(f"{enum}.{value}", taken)
    for domain in one.domain_names:
        if not any(other.domain(name) is not None for name in (domain, *names.domains(domain))):
            yield Name(domain, False)


def unmatched(old: str | None, new: str | None, chip: str) -> list[Name]:
    found = (unmatched_registers, unmatched_fields, unmatched_words)
    return [name for each in found for name in each(old, new, chip)]


@pytest.fixture(scope="module")
def names() -> Mapping[str, Sequence[Name]]:
    """Names of 25.0 that 25.3 does not know, and the other way round, of each generation."""
    newer = resolve_edition("mesa-25.3")
    ways = ((None, newer, "gone"), (newer, None, "new"))
    return {
        f"{chip} {way}": unmatched(old, new, chip) for chip in GENERATIONS for old, new, way in ways
    }


def test_what_both_describe_has_an_alias_or_a_reason(
    names: Mapping[str, Sequence[Name]],
) -> None:
    found = {one.name for some in names.values() for one in some if one.there}
    assert found - DIFFERENT.keys() == set()
    assert DIFFERENT.keys() - {one.name for some in names.values() for one in some} == set()


def test_what_25_3_does_not_describe_is_of_a6xx_or_has_a_reason(
    names: Mapping[str, Sequence[Name]],
) -> None:
    described = Database.open("A6XX", resolve_edition("mesa-25.3"))
    gone = {
        one.name
        for key, some in names.items()
        for one in some
        if key.endswith("gone") and not one.there and one.name not in DIFFERENT
    }
    without = {name for name in gone if not described.find_register(name)}
    assert without == GONE.keys(), _A6XX_ONLY
