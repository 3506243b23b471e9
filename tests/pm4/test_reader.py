# SPDX-License-Identifier: MIT
"""Packet headers: what a built header reads as, wrong parity, the order of the tests, resync.

Fields of packets that code reads: all are described, and deviations are in one file.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cffpy
from cffpy.pm4 import deviations
from cffpy.pm4.deviations import BY_NAME, DEVIATIONS, PREFIX
from cffpy.pm4.reader import (
    BAD,
    IDLE,
    OPCODE,
    REGISTERS,
    Fields,
    HeaderMemo,
    Packets,
    is_type4_or_type7,
    next_packet,
    read_header,
    type0_header,
    type3_header,
    type4_header,
    type7_header,
)
from cffpy.pm4.structs import structs_of
from cffpy.regdb.database import Database
from cffpy.row_readers import find_row
from cffpy.struct_rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DWORDS = st.integers(0, 0xFFFFFFFF)


@given(st.integers(0, 0x7FFF), st.integers(0, 0x3FFF))
def test_type0(register: int, count_minus_1: int) -> None:
    word = type0_header(register, count_minus_1 + 1)
    assert read_header(word) == (REGISTERS, register, count_minus_1 + 2)


@given(st.integers(0, 0x7F), st.integers(0, 0x3FFF), st.integers(0, 1))
def test_type3(opcode: int, count_minus_1: int, predicate: int) -> None:
    word = type3_header(opcode, count_minus_1 + 1) | predicate
    assert read_header(word) == (OPCODE, opcode, count_minus_1 + 2)


@given(st.integers(0, 0x7FFFF), st.integers(0, 0x7F))
def test_type4(register: int, count: int) -> None:
    word = type4_header(register, count)
    assert read_header(word) == (REGISTERS, register, count + 1)
    assert is_type4_or_type7(word)


@given(st.integers(0, 0x7F), st.integers(0, 0x3FFF))
def test_type7(opcode: int, count: int) -> None:
    word = type7_header(opcode, count)
    assert read_header(word) == (OPCODE, opcode, count + 1)
    assert is_type4_or_type7(word)


@pytest.mark.parametrize("parity_bit", [1 << 7, 1 << 27])
@given(st.integers(0, 0x7FFFF), st.integers(0, 0x7F))
def test_type4_with_wrong_parity(parity_bit: int, register: int, count: int) -> None:
    assert read_header(type4_header(register, count) ^ parity_bit) == (BAD, 0, 1)


@pytest.mark.parametrize("parity_bit", [1 << 15, 1 << 23])
@given(st.integers(0, 0x7F), st.integers(0, 0x3FFF))
def test_type7_with_wrong_parity(parity_bit: int, opcode: int, count: int) -> None:
    assert read_header(type7_header(opcode, count) ^ parity_bit) == (BAD, 0, 1)


@pytest.mark.parametrize("bit", range(24, 28))
def test_type7_needs_zeros_above_the_opcode(bit: int) -> None:
    assert read_header(type7_header(0x10, 3) | 1 << bit) == (BAD, 0, 1)


def test_type7_ignores_bit_14() -> None:
    assert read_header(type7_header(0x10, 3) | 1 << 14) == (OPCODE, 0x10, 4)


@pytest.mark.parametrize("bit", [*range(1, 8), 15])
def test_type3_needs_zeros(bit: int) -> None:
    assert read_header(0xC0011000 | 1 << bit) == (BAD, 0, 1)


@pytest.mark.parametrize(
    ("word", "header"),
    [
        (0x00000000, (REGISTERS, 0, 2)),  # type 0: any word whose top bits are 00
        (0x3FFF7FFF, (REGISTERS, 0x7FFF, 0x4001)),
        (0x00008000, (REGISTERS, 0, 2)),  # bit 15 says nothing
        (0x40887101, (BAD, 0, 1)),  # a type-4 header without its register's parity
        (0x48887101, (REGISTERS, 0x8871, 2)),
        (0x50000000, (BAD, 0, 1)),
        (0x60000000, (BAD, 0, 1)),
        (0x70108000, (OPCODE, 0x10, 1)),
        (0x80000000, (IDLE, 0, 1)),
        (0x80000001, (BAD, 0, 1)),
        (0xC0001000, (OPCODE, 0x10, 2)),
        (0xC0001001, (OPCODE, 0x10, 2)),
        (0xFFFFFFFF, (BAD, 0, 1)),
    ],
)
def test_words_written_out(word: int, header: tuple[int, int, int]) -> None:
    assert read_header(word) == header


@given(st.lists(DWORDS, min_size=1, max_size=50))
def test_memo_equals_reading(words: list[int]) -> None:
    memo = HeaderMemo()
    for word in words + words:
        assert memo[word] == read_header(word)


@pytest.mark.slow
def test_memo_is_bounded() -> None:
    memo = HeaderMemo()
    for word in range(0x70000):
        memo[word]
    assert len(memo) <= 1 << 16
    assert memo[0x48887101] == (REGISTERS, 0x8871, 2)


def naive_next(words: list[int], start: int, end: int) -> int:
    for index in range(start, end):
        if words[index] >> 28 in (4, 7) and read_header(words[index])[0] in (REGISTERS, OPCODE):
            return index
    return end


SOME_HEADERS = st.sampled_from([0x48887101, 0x70108000, 0xC0001000, 0x48887181, 0x70908000, 0])


@given(st.lists(st.one_of(DWORDS, SOME_HEADERS), max_size=30), st.data())
def test_next_packet(words: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    assert next_packet(words, start, end) == naive_next(words, start, end)


def test_next_packet_takes_no_type3_and_no_type0() -> None:
    words = [0xFFFFFFFF, 0xC0001000, 0, 0x70108000]
    assert next_packet(words, 0, 4) == 3
    assert next_packet(words, 0, 3) == 3
    assert next_packet(words, 3, 4) == 3


CHIPS = ("A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX", "A8XX")
READING = ("cp", "analysis", "views", "pm4asm")


def declared() -> Iterator[tuple[str, Fields]]:
    """Each Fields of the package, by the module that declares it."""
    for part in READING:
        package = importlib.import_module(f"cffpy.{part}")
        for module in pkgutil.walk_packages(package.__path__, f"cffpy.{part}."):
            for value in vars(importlib.import_module(module.name)).values():
                values = value.values() if isinstance(value, dict) else (value,)
                yield from ((module.name, one) for one in values if isinstance(one, Fields))


ALL = list(dict.fromkeys(declared()))
PACKETS = {chip: Packets(chip) for chip in CHIPS}


def test_fields_are_found() -> None:
    assert len({fields for _, fields in ALL}) > 50


@pytest.mark.parametrize(("module", "fields"), ALL, ids=lambda value: str(value)[:60])
def test_each_field_is_described(module: str, fields: Fields) -> None:
    """In some generation; and by one row only, where dwords have fields of one name."""
    for name in fields.names:
        if name.startswith(PREFIX):
            assert name in BY_NAME[fields.packet]
            continue
        found = [
            row
            for packets in PACKETS.values()
            if (row := find_row(packets.rows(fields.packet, fields.variant), name)) is not None
        ]
        assert found, (module, name)
        for packets in PACKETS.values():
            paths = [row[0] for row in packets.rows(fields.packet, fields.variant)]
            if ".." not in name and name not in paths:
                assert sum(path.endswith(f".{name}") for path in paths) <= 1, (module, name)


@pytest.mark.parametrize("chip", CHIPS)
def test_readers_read_what_is_described(chip: str) -> None:
    """A reader's bits are those of the Struct, made again from the descriptions."""
    structs = dict(structs_of(Database.open(chip)))
    # names that the edition of a8xx has given up are read where they were
    before = dict(structs_of(Database.open("A7XX"))) if chip == "A8XX" else {}
    ones = (0xFFFFFFFF,) * 80
    for _, fields in ALL:
        structure = structs.get(f"{fields.packet}:{fields.variant}".rstrip(":"))
        if structure is None:
            continue
        values = PACKETS[chip][fields].read(ones)
        for name, value in zip(fields.names, values, strict=True):
            row = BY_NAME.get(fields.packet, {}).get(name) or find_row(rows_of(structure), name)
            if row is None and fields.packet in before:
                row = find_row(rows_of(before[fields.packet]), name)
            assert value == (0 if row is None else (1 << row[3]) - 1), (fields.packet, name)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda row: f"{row[0]}.{row[1]}")
def test_a_deviation_differs_from_the_description(
    deviation: tuple[str, str, int, int, int],
) -> None:
    packet, name, *bits = deviation
    described = [find_row(packets.rows(packet), name) for packets in PACKETS.values()]
    assert any(row is None or list(row[1:]) != bits for row in described)
    assert any(f"{PREFIX}{name}" in fields.names and fields.packet == packet for _, fields in ALL)


def test_each_deviation_names_the_function() -> None:
    lines = inspect.getsource(deviations).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("DEVIATIONS"))
    said = False
    for line in lines[first + 1 :]:
        if line == ")":
            break
        said = "# cffdump: " in line or (said and not line.strip().startswith("# cffdump"))
        assert said, line


#: Expressions that take bits of a packet's dword: ``payload[0] >> 3``, ``words.get(i) & 7``.
_OWN_BITS = re.compile(r"\b(payload|data)\[[^]:]*\]\s*(>>|&|\|)|words\.get\([^)]*\)\s*(>>|&)")

#: Files that show data of which a quirk of the reference is known, with the line's comment.
_QUIRKS = {
    "views/cffdump/details.py": 2,  # cp_draw_indirect_multi looks dwords up by name
}


def test_nobody_decodes_by_shifts() -> None:
    folder = Path(inspect.getfile(cffpy)).parent
    for part in ("cp", "analysis", "views"):
        for path in sorted((folder / part).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            found = [line for line in source.splitlines() if _OWN_BITS.search(line)]
            allowed = _QUIRKS.get(path.relative_to(folder).as_posix(), 0)
            assert len(found) <= allowed, (path, found)


def test_a_missing_field_is_zero() -> None:
    fields = Fields("CP_DRAW_INDX_OFFSET", "NUM_INDICES", "NOT_THERE")
    assert PACKETS["A6XX"][fields].read((1, 2, 3, 4)) == (3, 0)
    assert PACKETS["A6XX"][Fields("CP_NOT_THERE", "X")].read((7,)) == (0,)


def test_a_range_of_fields() -> None:
    fields = Fields("CP_SET_DRAW_STATE", "DIRTY..LOAD_IMMED", "ADDR")
    assert PACKETS["A6XX"][fields].read((0xF0000, 1, 2)) == (15, 2 << 32 | 1)
    assert PACKETS["A4XX"][fields].read((0x50000, 1)) == (5, 1)
