# SPDX-License-Identifier: MIT
"""The compiled database: registers by offset and by name, holes, halves, conditions."""

from __future__ import annotations

import pytest

from cffpy.regdb.database import Database

OFFSETS = [
    ("A2XX", "TP0_CHICKEN", 0x0E1E),
    ("A2XX", "CP_SCRATCH_REG0", 0x0578),
    ("A3XX", "CP_SCRATCH_REG7", 0x057F),
    ("A4XX", "SP_VS_OBJ_START", 0x22E1),
    ("A5XX", "RB_MRT[0].BASE_LO", 0xE155),
    ("A6XX", "RB_DEPTH_CNTL", 0x8871),
    ("A6XX", "RB_MRT[0].CONTROL", 0x8820),
    ("A6XX", "RB_MRT[7].CONTROL", 0x8858),
    ("A6XX", "RB_MRT[0x7].CONTROL", 0x8858),
    ("A6XX", "SP_BINDLESS_BASE[0].DESCRIPTOR", 0xAB10),
    ("A7XX", "SP_BINDLESS_BASE[0].DESCRIPTOR", 0xAB0A),
    ("A6XX", "RB_MRT[8].CONTROL", 0),
    ("A6XX", "RB_MRT.CONTROL", 0),
    ("A6XX", "RB_MRT[0]", 0),
    ("A6XX", "rb_depth_cntl", 0),
    ("A6XX", "TP0_CHICKEN", 0),
    ("A6XX", "", 0),
]


@pytest.fixture(scope="module")
def databases() -> dict[str, Database]:
    return {chip: Database.open(chip) for chip in (f"A{number}XX" for number in range(2, 8))}


@pytest.mark.parametrize(("chip", "name", "offset"), OFFSETS)
def test_offsets_of_names(databases, chip: str, name: str, offset: int) -> None:
    assert databases[chip].register_offset(name) == offset


@pytest.mark.parametrize(
    ("chip", "offset", "name", "dwords"),
    [
        ("A6XX", 0x8871, "RB_DEPTH_CNTL", 1),
        ("A6XX", 0x8820, "RB_MRT[0].CONTROL", 1),
        ("A6XX", 0x8828, "RB_MRT[1].CONTROL", 1),
        ("A6XX", 0x8825, "RB_MRT[0].BASE", 2),
        ("A6XX", 0x8826, "RB_MRT[0].BASE_HI", 2),
        ("A5XX", 0xE156, "RB_MRT[0].BASE_HI", 1),
        ("A2XX", 0x057F, "CP_SCRATCH_REG7", 1),
    ],
)
def test_names_of_offsets(databases, chip: str, offset: int, name: str, dwords: int) -> None:
    found = databases[chip].register(offset, {})
    assert (found.name, found.dwords) == (name, dwords)
    assert databases[chip].register(offset, {}) is found, "looked up once"


def test_unknown_offsets(databases) -> None:
    for offset in (0x7FFE0, 0x3FFFF, 1 << 40):
        assert databases["A6XX"].register(offset, {}) is None


@pytest.mark.parametrize("chip", [f"A{number}XX" for number in range(2, 8)])
def test_every_plain_name_leads_to_its_offset_and_back(databases, chip: str) -> None:
    database = databases[chip]
    seen = 0
    for name, offset in database.register_names():
        found = database.register(offset, {"chip": database.variant("chip", chip)})
        assert found is not None, name
        if not offset or found.name != name:
            continue  # another one was declared first
        seen += 1
        assert database.register_offset(name) == offset
    assert seen > 250


def test_the_chip_decides(databases) -> None:
    opcodes = "adreno_pm4_type3_packets"
    for chip, name in (("A2XX", "CP_SET_BIN"), ("A3XX", None), ("A6XX", "CP_SCRATCH_WRITE")):
        database = databases[chip]
        variants = {"chip": database.variant("chip", chip)}
        assert database.enum_name(opcodes, 0x4C, variants) == name
    for chip, name in (("A6XX", "CP_EVENT_WRITE"), ("A7XX", "CP_EVENT_WRITE7")):
        database = databases[chip]
        variants = {"chip": database.variant("chip", chip)}
        assert database.enum_name(opcodes, 0x46, variants) == name


def test_the_first_declared_value_wins(databases) -> None:
    database = databases["A7XX"]
    variants = {"chip": database.variant("chip", "A7XX")}
    assert database.enum_name("vgt_event_type", 30, variants) == "BLIT"


def test_what_there_is_not(databases) -> None:
    database = databases["A6XX"]
    assert database.domain("NO_SUCH_DOMAIN") is None
    assert database.lookup("NO_SUCH_DOMAIN", 0, {}) is None
    assert database.enum("no_such_enum") == ()
    assert database.enum_name("no_such_enum", 0, {}) is None
    assert database.enum_value("a6xx_marker", "no such value") is None
    assert database.variant("chip", "A9XX") is None


def test_no_register_s_text_depends_on_what_was_decoded_before(databases) -> None:
    """Views keep the text of a register's values: packets may not change it."""
    from cffpy.regdb.decode import Decoder, Palette
    from cffpy.views.cffdump.quirks import reference_fields

    for chip, database in databases.items():
        decoder = Decoder(database, Palette(), reference_fields)
        for _, offset in database.register_names():
            found = decoder.register(offset)
            if found is not None and found.type is not None:
                assert decoder.formatter(found.type).fixed, (chip, found.name)


def test_fields_of_a_domain_that_depend_on_a_variant(databases) -> None:
    database = databases["A6XX"]
    domain = "CP_DRAW_INDIRECT_MULTI"
    opcodes = {
        name: database.variant("a6xx_draw_indirect_opcode", name)
        for name in ("INDIRECT_OP_NORMAL", "INDIRECT_OP_INDEXED", "INDIRECT_OP_INDIRECT_COUNT")
    }
    assert None not in opcodes.values()

    def offset(field: str, opcode: str | None) -> int:
        variants = {} if opcode is None else {"a6xx_draw_indirect_opcode": opcodes[opcode]}
        return database.offset(domain, field, variants)

    assert offset("INDIRECT", "INDIRECT_OP_NORMAL") == 3
    assert offset("STRIDE", "INDIRECT_OP_NORMAL") == 5
    assert offset("INDIRECT", "INDIRECT_OP_INDEXED") == 6
    assert offset("INDIRECT_COUNT", "INDIRECT_OP_NORMAL") == 0
    assert offset("INDIRECT_COUNT", "INDIRECT_OP_INDIRECT_COUNT") == 5
    assert offset("INDIRECT", None) == 3, "the first declared"
    assert offset("INDIRECT_COUNT", None) == 5
    assert database.depends_on_variants(domain, 6)
    assert not database.depends_on_variants(domain, 0)
