# SPDX-License-Identifier: MIT
"""Structs of headers and packets: what is built is parsed again, and read alike by fast readers.

On random data, and on every packet of the samples and (marked slow) of the captures: of all but the
largest, or of all with CFFPY_EXHAUSTIVE=1.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import construct
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cffpy
from cffpy.c_numbers import odd_parity
from cffpy.errors import RegisterDbError, StructError, UnknownName
from cffpy.pm4.reader import BAD, IDLE, Fields, Packets, load_headers, read_header
from cffpy.pm4.structs import HEADERS, header_struct, packet_struct, rebuild, structs_of
from cffpy.regdb.database import Database
from cffpy.row_readers import DwordReader, dwords_of
from cffpy.struct_rows import entry_of, rows_of
from tests.selection import first_always

CHIPS = ("A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX")
EXHAUSTIVE = bool(os.environ.get("CFFPY_EXHAUSTIVE"))

STRUCTS = {chip: dict(structs_of(Database.open(chip))) for chip in CHIPS}
DWORD = st.integers(0, 0xFFFFFFFF)


def parsed_value(parsed: Any, path: str) -> int:
    """The value of a row in what construct has parsed; 0 for what was not there."""
    first, dot, last = path.partition(".")
    value = parsed[first] if first in parsed else parsed[path]
    if dot and value is not None:
        value = value[last]
    return 0 if value is None else int(value)


def check_agree(structure: Any, data: bytes) -> None:
    """Both readings of ``data`` give the same values."""
    entry = entry_of(structure)
    parsed = (structure if entry is None else entry).parse(data)
    rows = rows_of(structure)
    reader = DwordReader(rows)
    padded = data.ljust(reader.dwords * 4, b"\0")
    dwords = struct.unpack(f"<{len(padded) // 4}I", padded)
    expected = tuple(parsed_value(parsed, row[0]) for row in rows)
    assert reader.read(dwords) == expected
    assert reader.read((1, 2, *dwords), 2) == expected


@pytest.mark.parametrize("chip", first_always(CHIPS))
@settings(max_examples=15, deadline=None)
@given(data=st.binary(min_size=256, max_size=256))
def test_readers_agree_with_construct(chip: str, data: bytes) -> None:
    for structure in STRUCTS[chip].values():
        check_agree(structure, data)


@pytest.mark.parametrize("chip", first_always(CHIPS))
@settings(max_examples=15, deadline=None)
@given(data=st.binary(min_size=256, max_size=256))
def test_what_is_built_is_parsed(chip: str, data: bytes) -> None:
    for name, structure in STRUCTS[chip].items():
        size = max((dwords_of(row) for row in rows_of(structure)), default=0) * 4
        parsed = structure.parse(data[:size])
        assert structure.parse(structure.build(parsed)) == parsed, name


@pytest.mark.parametrize("chip", CHIPS)
def test_compiled_rows_are_those_of_the_structs(chip: str) -> None:
    packets = Packets(chip)
    for name, structure in STRUCTS[chip].items():
        packet, _, variant = name.partition(":")
        assert packets.rows(packet, variant) == rows_of(structure), name
    assert set(STRUCTS[chip]) <= set(packets.names())


@pytest.mark.parametrize("kind", ["TYPE0", "TYPE3", "TYPE4", "TYPE7"])
@given(data=st.data())
def test_headers(kind: str, data: st.DataObject) -> None:
    header, rows = HEADERS[kind], load_headers()[kind]
    assert rows == rows_of(header)
    values = {
        name: data.draw(st.integers(0, (1 << width) - 1))
        for name, _, _, width in rows
        if name in ("register", "count", "count_minus_1", "opcode")
    }
    built = header.build(values)
    parsed = header.parse(built)
    assert {name: parsed[name] for name in values} == values
    word = int.from_bytes(built, "little")
    assert DwordReader(rows).read((word,)) == tuple(parsed[row[0]] for row in rows)
    found, number, size = read_header(word)
    assert found != BAD
    assert number == values.get("register", values.get("opcode"))
    assert size == values["count"] + 1 if "count" in values else values["count_minus_1"] + 2


def test_headers_have_parity_and_type() -> None:
    assert HEADERS["TYPE2"].build({}) == bytes.fromhex("00000080")
    assert read_header(0x80000000)[0] == IDLE
    header = HEADERS["TYPE7"].parse(HEADERS["TYPE7"].build({"opcode": 0x26, "count": 3}))
    assert (header.opcode_parity, header.count_parity) == (odd_parity(0x26), odd_parity(3))
    with pytest.raises(construct.ConstructError):
        HEADERS["TYPE7"].parse(HEADERS["TYPE4"].build({"register": 1, "count": 1}))
    with pytest.raises(construct.ConstructError):
        HEADERS["TYPE4"].build({"register": 1 << 19, "count": 1})


def test_a_packet_written_out() -> None:
    draw = packet_struct("CP_DRAW_INDX_OFFSET", "A6XX")
    word = {"PRIM_TYPE": 4, "SOURCE_SELECT": 2, "INDEX_SIZE": 2}
    built = draw.build({"0": word, "NUM_INSTANCES": 1, "NUM_INDICES": 3})
    assert built == bytes.fromhex("84080000 01000000 03000000")
    assert draw.parse(built).INDX_BASE is None
    built = draw.build({"0": word, "INDX_BASE": 0x5_0000_1000})
    assert built == bytes.fromhex("84080000 00000000 00000000 00000000 00100000 05000000")
    assert draw.parse(built).INDX_BASE == 0x5_0000_1000
    assert packet_struct("CP_DRAW_INDX_OFFSET", "A4XX").parse(built).INDX_BASE == 0x1000


def test_a_list_of_entries() -> None:
    groups = packet_struct("CP_SET_DRAW_STATE", "A6XX")
    entries = [{"0": {"COUNT": 2, "GMEM": 1, "GROUP_ID": 7}, "ADDR": 1 << 32}, {"ADDR": 3}]
    built = groups.build({"entries": entries})
    assert built.hex(" ", 4) == "02002007 00000000 01000000 00000000 03000000 00000000"
    parsed = groups.parse(built)
    assert [entry["0"].GROUP_ID for entry in parsed.entries] == [7, 0]
    assert Packets("A4XX").entry_dwords("CP_SET_DRAW_STATE") == 2
    assert Packets("A6XX").entry_dwords("CP_SET_DRAW_STATE") == 3


def test_variants() -> None:
    name = "CP_DRAW_INDIRECT_MULTI"
    normal = packet_struct(name, "A6XX", a6xx_draw_indirect_opcode="INDIRECT_OP_NORMAL")
    indexed = packet_struct(name, "A6XX", a6xx_draw_indirect_opcode="INDIRECT_OP_INDEXED")
    data = struct.pack("<9I", 0, 4, 1, 1, 0, 2, 3, 0, 20)
    assert (normal.parse(data).INDIRECT, normal.parse(data).STRIDE) == (1, 2)
    assert (indexed.parse(data).INDIRECT, indexed.parse(data).STRIDE) == (3, 20)


@pytest.mark.parametrize(
    ("arguments", "variants", "message"),
    [
        (("CP_NOT_THERE", "A6XX"), {}, "CP_NOT_THERE"),
        (("A6XX", "A6XX"), {}, "A6XX"),
        (("CP_DRAW_INDX", "A1XX"), {}, "A1XX"),
        (("CP_REG_TEST", "A6XX"), {"source_type": "NO"}, "NO"),
    ],
)
def test_unknown_names(arguments: tuple[str, str], variants: dict[str, str], message: str) -> None:
    with pytest.raises(RegisterDbError, match=message):
        packet_struct(*arguments, **variants)


def test_a_chip_that_is_not_described_is_read_as_the_last_one() -> None:
    fields = Fields("CP_EVENT_WRITE7", "EVENT", "IRQ")
    assert Packets("A9XX")[fields].read((0x80000012,)) == (0x12, 1)


def check_packet(packet: cffpy.Packet, readers: Packets) -> None:
    """construct and the compiled rows read a packet alike, and construct builds it again."""
    word, dwords = packet.header, packet.dwords
    assert packet.build() == struct.pack(f"<{1 + len(dwords)}I", word, *dwords)
    check_agree(header_struct(word), word.to_bytes(4, "little"))
    if packet.opcode is None:
        parsed = packet.parse()
        for value in packet.registers:  # None: the capture ends within it
            assert parsed[value.name] in (int(value), None)
        return
    rows = rows_of(packet.struct)
    forms = [form.partition(":")[::2] for form in readers.names()]
    compiled = [readers.rows(name, form) for name, form in forms if name == packet.name]
    assert rows in compiled or not rows + sum(compiled, ()), packet
    # a short packet is read by the rows of what it has
    if len(dwords) >= max(map(dwords_of, rows), default=0):
        check_agree(packet.struct, struct.pack(f"<{len(dwords)}I", *dwords))


#: Captures with more bytes than this are compared by CFFPY_EXHAUSTIVE=1 only.
LARGEST_CAPTURE = (1 << 40) if EXHAUSTIVE else 150_000


def check_packets(paths: Iterable[Path]) -> int:
    """Check each packet of each capture; the number of different packets."""
    checked = set()
    for path in paths:
        capture = cffpy.open(path)
        chip = "" if capture.gpu is None else f"A{capture.gpu.generation}XX"
        if chip not in CHIPS:  # no packets, or they are read as those of the last chip
            continue
        readers = Packets(chip)
        for packet in capture.packets():
            key = (chip, packet.header, packet.dwords)
            if key not in checked:
                checked.add(key)
                check_packet(packet, readers)
    return len(checked)


def test_every_packet_of_every_sample(samples: Path) -> None:
    assert check_packets(sorted(samples.glob("a*.rd*"))) > 500


@pytest.mark.slow
def test_every_packet_of_every_capture(shared: Path) -> None:
    paths = sorted(shared.glob("captures/*.rd.gz"))
    assert check_packets(path for path in paths if path.stat().st_size < LARGEST_CAPTURE)


def test_build_with_other_values(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-frame-gmem.rd")
    packets = {packet.name: packet for packet in reversed(list(capture.packets()))}
    draw, groups = packets["CP_DRAW_INDX_OFFSET"], packets["CP_SET_DRAW_STATE"]
    write = packets["register write"]
    changed = draw.build({"NUM_INDICES": 6, "PRIM_TYPE": 5})
    parsed = draw.struct.parse(changed[4:])
    assert (parsed.NUM_INDICES, parsed["0"].PRIM_TYPE) == (6, 5)
    assert changed[:4] == draw.build()[:4]
    assert changed[12:] == draw.build()[12:16].replace(b"\x24", b"\x06") + draw.build()[16:]
    entry = groups.struct.parse(groups.build({"[0].GROUP_ID": 9})[4:]).entries[0]
    assert (entry["0"].GROUP_ID, entry.ADDR) == (9, groups.parse().entries[0].ADDR)
    register = write.registers[0].name
    assert write.build({register: 0x1234})[4:8] == bytes.fromhex("34120000")
    with pytest.raises(UnknownName, match=r"no field NO_FIELD; there are .*NUM_INDICES"):
        draw.build({"NO_FIELD": 1})
    with pytest.raises(UnknownName, match="entries"):
        groups.build({"[99].GROUP_ID": 1})
    with pytest.raises(StructError):
        draw.build({"PRIM_TYPE": 64})


def test_a_short_packet_becomes_longer_where_a_field_after_its_end_is_given() -> None:
    draw = packet_struct("CP_DRAW_INDX_OFFSET", "A6XX")
    longer = rebuild(draw, bytes.fromhex("84080000 01000000 03000000"), {"FIRST_INDX": 5})
    assert longer == bytes.fromhex("84080000 01000000 03000000 05000000")


def test_bits_that_are_not_described_stay() -> None:
    draw = packet_struct("CP_DRAW_INDX_OFFSET", "A6XX")
    data = bytes.fromhex("84080080 01000000 03000000")
    assert draw.parse(data) == draw.parse(bytes.fromhex("84080000 01000000 03000000"))
    assert rebuild(draw, data, {"PRIM_TYPE": 5}) == bytes.fromhex("85080080 01000000 03000000")
    assert rebuild(construct.Struct(), data, {}) == data


def test_values_that_continue_in_the_next_dword_and_values_that_are_not_there() -> None:
    rows = (("WIDE", 0, 28, 8), None, ("ALL", 1, 0, 64), ("TOP", 2, 31, 1))
    reader = DwordReader(rows)
    assert reader.dwords == 3
    dwords = (0xA000_0000, 0x1234_567B, 0x8000_0001)
    assert reader.read(dwords) == (0xBA, 0, 0x8000_0001_1234_567B, 1)
    assert reader.read((7, *dwords), 1) == reader.read(dwords)
    assert DwordReader((("ONE", 1, 4, 4),)).read(dwords) == (7,)


@given(
    st.lists(
        st.none()
        | st.integers(1, 64).flatmap(
            lambda width: st.tuples(
                st.just(""), st.integers(0, 3), st.integers(0, min(31, 64 - width)), st.just(width)
            )
        ),
        max_size=14,
    ),
    st.lists(DWORD, min_size=8, max_size=8),
    st.integers(0, 3),
)
def test_a_reader_reads_what_its_rows_say(
    rows: list[tuple[str, int, int, int] | None], dwords: list[int], start: int
) -> None:
    """However many there are, and whichever of them continue in the next dword."""
    number = sum(value << 32 * place for place, value in enumerate(dwords[start:]))
    expected = tuple(
        0 if row is None else number >> row[1] * 32 + row[2] & (1 << row[3]) - 1 for row in rows
    )
    assert DwordReader(rows).read(dwords, start) == expected
