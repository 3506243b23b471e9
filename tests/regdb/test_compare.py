# SPDX-License-Identifier: MIT
"""Differences of editions, and the aliases that are made of them."""

import os

import pytest

from cffpy.editions.folders import resolve_edition
from cffpy.errors import RegisterDbError
from cffpy.regdb import aliases
from cffpy.regdb.compare import EditionChange, compare_editions
from tests.editions.test_folders import make

COMMON = "enum chip { A2XX = 2 A3XX A4XX A5XX A6XX A7XX A8XX }\n"
OLD = (
    COMMON
    + """
enum mode { NONE = 0 FAST = 1 SLOW = 2 LAST = 4 }
domain A6XX {
    reg32 0x10 ALPHA_CONTROL { 0 ENABLE 1..2 MODE : mode 8..9 WIDE }
    reg32 0x11 KEPT
    reg32 0x12 SWAPPED
    reg32 0x13 SWAPPED_TOO
    reg32 0x14 GONE
    reg32 0x20 MOVED
    array 0x30 OLD_ARRAY[4] stride 2 { reg32 0 X }
    reg32 0x50 COUNT_LO
    reg32 0x51 COUNT_HI
    reg32 0x60 WEIGHT_0
    reg32 0x61 WEIGHT_1
}
domain MEMORY_OLD { reg32 0 A { 0..3 W } reg32 1 B }
domain CP_PACKET {
    reg32 0 "0" { 0 FLAG 4..7 SIZE 8 GONE : boolean }
    reg32 1 "1" { 0..31 POLL_LO }
    reg32 2 "2" { 0..31 POLL_HI }
    reg32 3 "3" { 0..31 DEST }
    reg32 4 "4" { 0..31 DEST_HI }
}
"""
)
NEW = (
    COMMON
    + """
enum mode { NONE = 0 QUICK = 1 SLOW = 2 NEWER = 3 LAST = 5 }
domain A6XX {
    reg32 0x10 ALPHA_CNTL { 0 ENABLED 1..2 MODE : mode 3 MORE 8..10 WIDE }
    reg32 0x11 KEPT
    reg32 0x12 OTHER
    reg32 0x13 SWAPPED
    reg32 0x21 MOVED
    reg32 0x40 ADDED
    array 0x30 NEW_ARRAY[4] stride 2 { reg32 0 X }
    reg64 0x50 VERTICES
    array 0x60 WEIGHT[2] stride 1 { reg32 0 REG }
}
domain MEMORY_NEW { reg32 0 A { 0..3 W } reg32 1 B }
domain CP_PACKET {
    reg32 0 "0" { 0 FLAG_NEW 3..7 SIZE }
    stripe when mode QUICK { reg64 1 ADDR : address }
    stripe when mode SLOW { reg32 1 OTHER }
    reg64 3 DEST : address
}
"""
)


@pytest.fixture
def changes(tmp_path, cache):
    old = make(tmp_path / "old", "old", {"a6xx.regs": OLD})
    new = make(tmp_path / "new", "new", {"a6xx.regs": NEW})
    return compare_editions(old, new)["A6XX"]


def test_changes(changes):
    assert set(changes) == {
        EditionChange("renamed", "domain", "", "MEMORY_OLD", "MEMORY_NEW", ""),
        EditionChange("renamed", "register", "A6XX", "ALPHA_CONTROL", "ALPHA_CNTL", "0x10"),
        EditionChange("renamed", "field", "ALPHA_CNTL", "ENABLE", "ENABLED", "0..0"),
        EditionChange("added", "field", "ALPHA_CNTL", "", "MORE", "3..3"),
        EditionChange("moved", "field", "ALPHA_CNTL", "WIDE", "WIDE", "8..9"),
        EditionChange("renamed", "register", "A6XX", "SWAPPED", "OTHER", "0x12"),
        EditionChange("renamed", "register", "A6XX", "SWAPPED_TOO", "SWAPPED", "0x13"),
        EditionChange("removed", "register", "A6XX", "GONE", "", "0x14"),
        EditionChange("moved", "register", "A6XX", "MOVED", "MOVED", "0x20"),
        EditionChange("added", "register", "A6XX", "", "ADDED", "0x40"),
        EditionChange("renamed", "register", "A6XX", "OLD_ARRAY[].X", "NEW_ARRAY[].X", "0x30"),
        EditionChange("renamed", "register", "A6XX", "COUNT_LO", "VERTICES", "0x50"),
        EditionChange("renamed", "high dword", "A6XX", "COUNT_HI", "VERTICES", "0x51"),
        EditionChange("renamed", "register", "A6XX", "WEIGHT_0", "WEIGHT[].REG", "0x60"),
        EditionChange("renamed", "register", "A6XX", "WEIGHT_1", "WEIGHT[1].REG", "0x61"),
        EditionChange("renamed", "value", "mode", "FAST", "QUICK", "1"),
        EditionChange("added", "value", "mode", "", "NEWER", "3"),
        EditionChange("moved", "value", "mode", "LAST", "LAST", "4"),
        EditionChange("renamed", "field", "CP_PACKET", "FLAG", "FLAG_NEW", "0..0"),
        EditionChange("moved", "field", "CP_PACKET", "SIZE", "SIZE", "4..7"),
        EditionChange("removed", "field", "CP_PACKET", "GONE", "", "8..8"),
        EditionChange("renamed", "low half", "CP_PACKET", "POLL_LO", "ADDR", "32..63"),
        EditionChange("renamed", "high half", "CP_PACKET", "POLL_HI", "ADDR", "64..95"),
        EditionChange("renamed", "high half", "CP_PACKET", "DEST_HI", "DEST", "128..159"),
        EditionChange("added", "field", "CP_PACKET", "", "OTHER", "32..63"),
    }


@pytest.mark.slow
def test_an_edition_does_not_differ_from_itself(cache):
    assert not any(compare_editions(None, resolve_edition(None)).values())


def test_aliases_of_changes(changes):
    names = aliases.Aliases(aliases.renames({"A6XX": changes}))
    assert names.registers("ALPHA_CONTROL") == ("ALPHA_CNTL",)
    assert names.registers("NEW_ARRAY[0x2].X") == ("OLD_ARRAY[0x2].X",)
    assert names.registers("KEPT") == ()
    assert names.fields("ALPHA_CONTROL", "ENABLE") == ("ENABLED",)
    assert names.fields("ALPHA_CNTL", "ENABLED") == ("ENABLE",)
    assert names.fields("KEPT", "ENABLE") == ()
    assert names.values("QUICK") == ("FAST",)
    assert names.domains("MEMORY_NEW") == ("MEMORY_OLD",)
    assert names.new_registers("SWAPPED") == ("OTHER",)
    assert names.fields("CP_PACKET", "FLAG") == ("FLAG_NEW",)
    for part in ("", "_LO", "_HI"):
        assert names.fields("CP_PACKET", f"POLL{part}") == (f"ADDR{part}",)
        assert names.fields("CP_PACKET", f"ADDR{part}") == (f"POLL{part}",)
    assert names.fields("CP_PACKET", "DEST_HI") == ()
    # the whole first: the lower register alone is the half of it
    assert names.registers("VERTICES") == ("COUNT", "COUNT_LO")
    assert names.registers("COUNT") == ("VERTICES",)
    assert names.registers("COUNT_LO") == ("VERTICES_LO", "VERTICES")
    assert names.registers("VERTICES_HI") == ("COUNT_HI",)
    assert names.registers("WEIGHT[0x1].REG") == names.registers("WEIGHT[1].REG") == ("WEIGHT_1",)
    assert names.registers("WEIGHT_1") == ("WEIGHT[1].REG",)


def test_a_register_that_became_an_array():
    """The single register is the first element; other elements have no alias."""
    row = aliases.Alias("register", "A6XX", "TABLE_0", "TABLE[].REG", ("A6XX",))
    names = aliases.Aliases([row])
    assert names.registers("TABLE_0") == ("TABLE[0].REG",)
    assert names.registers("TABLE[0].REG") == names.registers("TABLE[0x0].REG") == ("TABLE_0",)
    assert names.registers("TABLE[1].REG") == ()


def test_a_table_is_read_as_it_was_written(changes, tmp_path):
    rows = aliases.renames({"A6XX": changes, "A7XX": changes})
    path = tmp_path / aliases.TABLE
    path.write_text(aliases.table_text(rows))
    assert aliases.read_table(str(path)) == rows
    assert {row.chips for row in rows} == {("A6XX", "A7XX")}


@pytest.mark.parametrize("line", ["register\tA6XX\tX\tY", "thing\t\tX\tY\tA6XX"])
def test_a_wrong_line_is_named(tmp_path, line):
    path = tmp_path / aliases.TABLE
    path.write_text(f"{aliases.HEADER}\n{line}\n")
    with pytest.raises(RegisterDbError, match=r"aliases.tsv:3"):
        aliases.read_table(str(path))


@pytest.mark.slow
def test_the_committed_table_is_what_the_importer_computes(cache):
    newer = resolve_edition("mesa-25.3")
    computed = aliases.renames(compare_editions(None, newer))
    assert aliases.read_table(os.path.join(newer, aliases.TABLE)) == computed


def test_renames_computed_by_others_are_known(shared):
    """renames.tsv takes the first declaration at an offset, whatever its generation: two rows."""
    names = aliases.Aliases.installed()
    unknown = []
    with open(os.path.join(shared, "rnndb-newer", "renames.tsv")) as file:
        for line in file:
            _offset, old, new, _generations = line.rstrip("\n").split("\t")
            known = {*names.registers(old)} & {new, new.replace("[0]", "[]")}
            if not line.startswith("#") and not known:
                unknown.append(old)
    assert unknown == [
        "RBBM_CLOCK_HYST_TEX_FCHE",  # of a6xx only: the name is unchanged
        "SP_CONTEXT_SWITCH_GFX_PREEMPTION_SAFE_MODE",  # second at its offset, and moved
    ]
