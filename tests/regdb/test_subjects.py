# SPDX-License-Identifier: MIT
"""Subjects of registers: look-ups, the check of their words, and imports that keep them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.editions.folders import resolve_edition
from cffpy.regdb.check import check_files
from cffpy.regdb.compile import read_directory
from cffpy.regdb.database import Database
from cffpy.regdb.import_xml import carry_subjects
from cffpy.regdb.language import (
    Description,
    Domain,
    Register,
    Subject,
    parse_text,
    print_description,
)
from cffpy.regdb.subjects import UNKNOWN, Subjects
from tests.selection import first_always

CHECKOUT = Path(__file__).resolve().parent.parent.parent

OLD = """
enum chip { A6XX = 6 }
domain A6XX {
    reg32 0x10 SAME about blend {
        0 ENABLE about blend derived
        1..4 FUNC
    }
    reg32 0x11 FORMER : uint about scissor engine dispatch
    array 0x20 MRT[2] stride 4 { reg32 1 BASE about targets role address, gmem }
}
"""

NEW = """
enum chip { A6XX = 6 }
bitset moved inline {
    0 ENABLED
    1..4 FUNC
}
domain A6XX {
    reg32 0x30 SAME : moved
    reg32 0x11 LATER : uint
    reg32 0x12 FRESH
    reg64 0x14 CP_NEW_BASE
    array 0x28 MRT[2] stride 4 { reg32 1 BASE }
}
domain PACKET { reg32 0 "0" }
"""


def registers(description: Description) -> dict[str, Register]:
    (domain,) = (
        one for one in description.declarations if isinstance(one, Domain) and one.name == "A6XX"
    )
    return {one.name: one for one in domain.elements if isinstance(one, Register)}


def test_subjects_survive_printing() -> None:
    old = parse_text(OLD)
    assert parse_text(print_description(old)) == old


def test_registers_are_found_again_by_name_then_by_offset_and_fields_by_bits() -> None:
    carried = carry_subjects({"a6xx": parse_text(NEW)}, {"a6xx": parse_text(OLD)})
    found = registers(carried.files["a6xx"])
    assert found["SAME"].subject == Subject("blend")
    assert found["LATER"].subject == Subject("scissor", engine="dispatch")
    assert carried.unknown == ("A6XX.FRESH",)
    assert found["CP_NEW_BASE"].subject == Subject(roles=("scratch", "address"))
    text = print_description(carried.files["a6xx"])
    assert "ENABLED about blend derived" in text
    assert "BASE about targets role address, gmem" in text
    again = carry_subjects({"a6xx": parse_text(NEW)}, carried.files)
    assert again.files == carried.files


def test_the_check_knows_the_words() -> None:
    text = OLD.replace("about scissor", "about scissors").replace("engine dispatch", "engine 'x'")
    findings = check_files({"a6xx": parse_text(text.replace("'x'", "X"))})
    kinds = [finding.message for finding in findings if finding.kind == "subject"]
    assert len(kinds) == 2
    assert "about 'scissors' is not one of" in kinds[1] + kinds[0]


@pytest.mark.parametrize(
    ("edition", "chip"),
    first_always(
        [
            *(("mesa-25.0", chip) for chip in ("A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX")),
            *(("mesa-25.3", chip) for chip in ("A6XX", "A7XX", "A8XX")),
        ],
        names=2,
    ),
)
def test_every_register_of_an_edition_has_a_topic_or_a_role(edition: str, chip: str) -> None:
    database = Database.open(chip, resolve_edition(edition))
    subjects = Subjects.open(database)
    described = 0
    for offset in range(0x10000):
        found = database.register(offset, {})
        if found is not None and found.type is not None:
            described += 1
            about = subjects.register(offset)
            assert about.topic is not None or about.roles, found.name
    assert described > 300


def test_fields_and_descriptors_have_their_own() -> None:
    database = Database.open("A6XX")
    subjects = Subjects.open(database)
    control = subjects.register(database.register_offset("RB_MRT[1].CONTROL"))
    assert (control.topic, control.derived) == ("colour_mask", False)
    assert control.fields["BLEND"][0] == "blend"
    assert subjects.descriptor("A6XX_TEX_CONST", "3").fields["FLAG"][0] == "ubwc"
    assert subjects.register(0xFFFF) is UNKNOWN


def test_a_renamed_register_of_another_generation_is_found_by_its_new_name() -> None:
    """a8xx has LATER, which was FORMER, at another offset."""
    both = NEW.replace(
        "reg32 0x11 LATER : uint",
        "reg32 0x11 LATER : uint when chip A6XX\n    reg32 0x99 LATER : uint when chip A8XX",
    ).replace("A6XX = 6 }", "A6XX = 6 A8XX = 8 }")
    carried = carry_subjects({"a6xx": parse_text(both)}, {"a6xx": parse_text(OLD)})
    text = print_description(carried.files["a6xx"])
    assert text.count("about scissor engine dispatch") == 2
    assert carried.unknown == ("A6XX.FRESH",)


def test_a_name_that_was_given_to_another_register() -> None:
    """LATER is now at 0x11, where FORMER was, and FORMER is what FRESH was called."""
    old = OLD.replace("array 0x20", "reg32 0x12 LATER about samples\n    array 0x20")
    new = NEW.replace("FRESH", "FORMER")
    found = registers(carry_subjects({"a": parse_text(new)}, {"a": parse_text(old)}).files["a"])
    assert found["LATER"].subject == Subject("scissor", engine="dispatch")
    assert found["FORMER"].subject == Subject("samples")


def test_registers_of_a8xx_that_a7xx_has_are_for_the_same() -> None:
    """Names that both have, at any offset: diff, lints and groups need it."""
    newer = resolve_edition("mesa-25.3")
    old, new = Database.open("A7XX", newer), Database.open("A8XX", newer)
    subjects = Subjects.open(old), Subjects.open(new)
    numbers = dict(old.register_names())
    compared = 0
    for name, offset in new.register_names():
        if name in numbers:
            compared += 1
            before = subjects[0].register(numbers[name])
            assert subjects[1].register(offset)[:4] == before[:4], name
    assert compared > 700
    for name, topic in (
        ("GRAS_CL_VIEWPORT[0].XSCALE", "viewport"),
        ("GRAS_SU_CNTL", "rasterizer"),
        ("RB_DEPTH_CNTL", "depth_stencil"),
        ("GRAS_CL_INTERP_CNTL", "instructions"),
    ):
        assert subjects[1].register(new.register_offset(name)).topic == topic, name


@pytest.mark.slow
def test_an_import_without_an_older_edition_knows_nothing() -> None:
    files = read_directory(str(CHECKOUT / "register_db"))
    plain = {"a6xx": parse_text(NEW)}
    assert carry_subjects(plain, {}).unknown == ()
    assert carry_subjects(files, files).files == files
