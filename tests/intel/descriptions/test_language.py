# SPDX-License-Identifier: MIT
"""The .gen language: what it declares, round trips, errors; the bundled files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cffpy._data import data_path
from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import language
from cffpy.intel.descriptions.compile import resolve
from cffpy.intel.descriptions.edition import import_folder
from cffpy.intel.descriptions.language import parse_file, parse_text, print_description

CHECKOUT = Path(__file__).resolve().parents[3]
GENXML = Path(os.environ.get("CFFPY_SHARED", CHECKOUT.parent / "shared")) / "genxml"
BUNDLED = Path(data_path("register_db", "intel"))

TEXT = """generation TEST verx10 90

import "gen80" without
    "OLD THING",
    GPGPU_WALKER

prefer instruction "3DPRIMITIVE" over "3DPRIMITIVE_EXTENDED"

enum Colour prefix C {
    RED       = 0
    "a \\"b\\"" = 1
}

instruction "3DTHING" length 3 bias 2 engine render, compute {
    0..7 "DWord Length" : uint default 1
    16..31 Opcode : uint default 30720 {
        Some = 30720
    }
    32     "register" : bool nonzero
    34..41 Scale      : u4.4
    repeat [] at 64 size 32 {
        0..31 Entry : Colour prefix E
    }
}

register REG at 0x2088 length 1 {
    0..31 "" : mbo
}

device 0x1912 "A \\\\ device" verx10 90
"""


def test_text() -> None:
    description = parse_text(TEXT)
    assert print_description(description) == TEXT
    thing = description.declarations[4]
    assert isinstance(thing, language.Group)
    assert thing.engines == ("render", "compute")
    assert [type(member).__name__ for member in thing.members] == ["Field"] * 4 + ["Repeat"]
    assert description.declarations[1] == language.Import("gen80", ("OLD THING", "GPGPU_WALKER"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("register A length 1 { }", "no offset"),
        ("struct A length 1 length 2 { }", "given twice"),
        ("struct A { 7..0 B : uint }", "bits 7..0"),
        ("instruction A engine warp { }", "no such engine"),
    ],
)
def test_errors(text: str, place: str) -> None:
    with pytest.raises(RegisterDbError, match=place):
        parse_text(text)


@pytest.mark.slow
def test_generations_inherit() -> None:
    files = {path.stem: parse_file(str(path)) for path in BUNDLED.glob("*.gen")}
    gfx125 = resolve("gen125", files)
    assert (gfx125.name, gfx125.verx10) == ("GFX125", 125)
    assert "3DSTATE_CONSTANT_ALL" in gfx125.instructions  # of gen120
    assert "GPGPU_WALKER" not in gfx125.instructions  # left out by the import
    assert "GPGPU_WALKER" in resolve("gen120", files).instructions
    order = [known.name for known in gfx125.in_order()]
    assert order.index("3DPRIMITIVE_EXTENDED") < order.index("3DPRIMITIVE")


@pytest.mark.slow
@pytest.mark.skipif(not GENXML.exists(), reason=f"no genxml at {GENXML} (CFFPY_SHARED)")
def test_bundled_files_are_the_import() -> None:
    lookup = json.loads((GENXML / "lookup.json").read_text())
    imported = import_folder(str(GENXML))
    for name, description in imported.items():
        assert description == parse_file(str(BUNDLED / f"{name}.gen"))
        if name.startswith("gen"):
            resolved = resolve(name, imported)
            registers = lookup[str(resolved.verx10)]["registers"]
            assert resolved.by_offset == {int(key, 0): one for key, one in registers.items()}
            ranks = {
                one["name"]: rank
                for rank, one in enumerate(lookup[str(resolved.verx10)]["instructions"])
            }
            for first, second in resolved.ambiguous_instructions():
                assert ranks[first.name] < ranks[second.name]
