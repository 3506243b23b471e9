# SPDX-License-Identifier: MIT
"""Editions by name, with shared files."""

import os

import pytest

from cffpy.editions import folders as edition
from cffpy.errors import RegisterDbError
from cffpy.regdb.database import Database

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

NEWER = os.path.join(ROOT, "register_db", "editions", "mesa-25.3")


def make(directory, name, files, based_on=None):
    (directory / "adreno").mkdir(parents=True)
    (directory / "EDITION").write_text(edition.edition_text(name, based_on))
    for file, text in files.items():
        (directory / "adreno" / file).write_text(text)
    return str(directory)


@pytest.mark.parametrize("name", [None, "mesa-25.0", "mesa-25.0.7", "mesa 25.0.7"])
def test_the_bundled_edition_has_names(name):
    assert edition.resolve_edition(name) == os.path.join(ROOT, "register_db")


def test_other_editions_are_found_by_name_or_directory():
    assert edition.resolve_edition("mesa-25.3") == NEWER
    assert edition.resolve_edition(NEWER) == NEWER
    assert list(edition.editions()) == ["mesa-25.0", "mesa-25.3"]


def test_an_unknown_name_lists_those_that_are_known():
    with pytest.raises(RegisterDbError, match=r"nosuch: no edition .*known: mesa-25.0, mesa-25.3"):
        edition.resolve_edition("nosuch")


def test_the_option_counts_before_the_environment():
    assert edition.chosen_edition(None, {}) is None
    assert edition.chosen_edition(None, {"CFFPY_EDITION": ""}) is None
    assert edition.chosen_edition(None, {"CFFPY_EDITION": "mesa-25.3"}) == NEWER
    assert edition.chosen_edition("mesa-25.0", {"CFFPY_EDITION": "mesa-25.3"}) is None


def test_an_edition_shares_the_files_that_it_lacks(tmp_path):
    own = make(tmp_path / "one", "one", {"a6xx.regs": ""}, "mesa-25.0")
    files = edition.source_files(own)
    assert os.path.join(own, "adreno", "a6xx.regs") in files
    assert os.path.join(ROOT, "register_db", "adreno", "a5xx.regs") in files
    assert os.path.join(ROOT, "register_db", "adreno", "a6xx.regs") not in files
    assert [os.path.basename(path) for path in files][-1] == "EDITION"


def test_an_edition_is_not_based_on_one_that_is_based_on_another(tmp_path):
    first = make(tmp_path / "one", "one", {"a6xx.regs": ""}, "mesa-25.0")
    second = make(tmp_path / "two", "two", {"a6xx.regs": ""}, first)
    with pytest.raises(RegisterDbError, match="based on an edition that is based on another"):
        edition.source_files(second)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("mesa 25.0.7", (25, 0)),
        ("mesa-25.3", (25, 3)),
        ("mesa", None),
        ("mesa 25", None),
        ("mesa ²5.0", None),
        ("mine 25.3", None),
    ],
)
def test_release(name, found):
    assert edition.release(name) == found


def test_no_file_of_the_newer_edition_is_equal_to_a_shared_one():
    for name in os.listdir(os.path.join(NEWER, "adreno")):
        shared = os.path.join(ROOT, "register_db", "adreno", name)
        if os.path.exists(shared):
            with open(shared) as one, open(os.path.join(NEWER, "adreno", name)) as other:
                assert one.read() != other.read(), name


def test_registers_are_found_by_the_names_of_either_edition():
    bundled, newer = Database.open("A6XX"), Database.open("A6XX", NEWER)
    offset = bundled.register_offset("RB_BIN_CONTROL")
    assert newer.register_offset("RB_BIN_CONTROL") == 0
    assert newer.find_register("RB_BIN_CONTROL") == newer.find_register("RB_CNTL") == offset
    assert bundled.find_register("RB_CNTL") == offset
    array = bundled.find_register("RB_COLOR_FLAG_BUFFER[3].ADDR")
    assert array == bundled.register_offset("RB_MRT_FLAG_BUFFER[3].ADDR") != 0


def test_an_own_name_is_preferred_to_another_editions():
    # 25.3 gave the name VPC_SO_CNTL to another register
    bundled, newer = Database.open("A6XX"), Database.open("A6XX", NEWER)
    assert bundled.find_register("VPC_SO_CNTL") == 0x9216
    assert newer.find_register("VPC_SO_CNTL") == 0x9305
