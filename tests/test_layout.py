# SPDX-License-Identifier: MIT
"""Layouts: the derived readers and construct read and build the same values."""

from __future__ import annotations

import struct
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.container import layouts as container_layouts
from cffpy.layout import Field, Layout, LayoutError, Place, bits, u32, u64, word


def _word(draw: st.DrawFn, name: str, optional: bool) -> Field:
    edges = draw(st.lists(st.integers(0, 32), min_size=2, max_size=12, unique=True).map(sorted))
    parts = [bits(f"{name}_{low}", low, high - 1) for low, high in pairwise(edges)]
    kept = draw(st.lists(st.sampled_from(parts), min_size=1, unique=True))
    return word(name, *kept, optional=optional)


@st.composite
def any_layout(draw: st.DrawFn) -> Layout:
    fields: list[Field] = []
    count = draw(st.integers(1, 6))
    required = draw(st.integers(0, count))
    for number in range(count):
        name, optional = f"f{number}", number >= required
        kind = draw(st.sampled_from(("u32", "u64", "word")))
        if kind == "word":
            fields.append(_word(draw, name, optional))
        else:
            fields.append((u32 if kind == "u32" else u64)(name, optional=optional))
    return Layout("any", *fields)


def values_for(draw: st.DrawFn, layout: Layout, present: int) -> dict[str, int]:
    values: dict[str, int] = {}
    for field in layout.fields[:present]:
        if field.parts:
            for part in field.parts:
                values[part.name] = draw(st.integers(0, part.mask))
        else:
            values[field.name] = draw(st.integers(0, (1 << field.size * 8) - 1))
    return values


@given(st.data())
def test_built_values_are_read_back(data: st.DataObject) -> None:
    layout = data.draw(any_layout())
    required = sum(not field.optional for field in layout.fields)
    present = data.draw(st.integers(required, len(layout.fields)))
    values = data.draw(st.composite(values_for)(layout, present))
    built = layout.build(**values)
    expected = tuple(values.get(name, 0) for name in layout.names)
    assert layout.read_bytes(built) == expected
    assert layout.read_bytes(b"xyz" + built, 3) == expected
    assert layout.parse(built) == dict(zip(layout.names, expected, strict=True))
    dwords = struct.unpack(f"<{len(built) // 4}I", built)
    padded = [7, *dwords, *([0xFFFFFFFF] * (layout.full_size // 4 - len(dwords)))]
    assert layout.read_dwords(padded, 1, len(dwords)) == expected


@given(any_layout(), st.binary(max_size=64))
def test_parse_equals_fast_read(layout: Layout, data: bytes) -> None:
    try:
        parsed = layout.parse(data)
    except LayoutError:
        with pytest.raises(LayoutError):
            layout.read_bytes(data)
        assert len(data) < layout.size
        return
    assert layout.read_bytes(data) == tuple(parsed[name] for name in layout.names)
    for name in layout.names:
        if layout.size == layout.full_size:
            place = layout.place(name)
            number = int.from_bytes(data[place.dword * 4 : place.dword * 4 + 8], "little")
            assert number >> place.low & (1 << place.width) - 1 == parsed[name]


@pytest.mark.parametrize(
    "layout",
    [value for value in vars(container_layouts).values() if isinstance(value, Layout)],
    ids=lambda layout: layout.name,
)
@given(data=st.binary(min_size=0, max_size=16))
def test_container_layouts_agree(layout: Layout, data: bytes) -> None:
    if len(data) < layout.size:
        with pytest.raises(LayoutError, match="bytes where"):
            layout.read_bytes(data)
        with pytest.raises(LayoutError, match="bytes where"):
            layout.parse(data)
    else:
        assert layout.read_bytes(data) == tuple(layout.parse(data).values())


HEADER = Layout(
    "header",
    word("header", bits("count", 0, 6), bits("parity", 7), bits("type", 28, 31, default=4)),
    u64("address"),
    u32("tail", optional=True),
)


def test_a_header_written_out() -> None:
    assert HEADER.names == ("count", "parity", "type", "address", "tail")
    assert (HEADER.size, HEADER.full_size, HEADER.dwords) == (12, 16, 3)
    built = HEADER.build(count=2, parity=1, address=0x1_0000_0002)
    assert built == bytes.fromhex("82000040 02000000 01000000")
    assert HEADER.read_dwords([0x40000082, 2, 1, 9], 0, 3) == (2, 1, 4, 0x1_0000_0002, 0)
    assert HEADER.read_dwords([0x40000082, 2, 1, 9], 0, 4) == (2, 1, 4, 0x1_0000_0002, 9)
    assert HEADER.place("type") == Place(0, 28, 4)
    assert HEADER.place("address") == Place(1, 0, 64)
    with pytest.raises(KeyError):
        HEADER.place("header")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": 200, "parity": 0, "address": 0}, "200"),
        ({"count": 1, "parity": 0}, "address"),
        ({"count": 1, "parity": 0, "address": -1}, "-1"),
        ({"count": 1, "parity": 0, "address": 0, "other": 1}, "no field other"),
    ],
)
def test_bad_values_are_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        HEADER.build(**values)


def test_bad_declarations_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        word("w", bits("a", 0, 4), bits("b", 4, 6))
    with pytest.raises(ValueError, match="overlap"):
        word("w", bits("a", 30, 32))
    with pytest.raises(ValueError, match="one name"):
        Layout("l", u32("a"), u32("a"))
    with pytest.raises(ValueError, match="optional"):
        Layout("l", u32("a", optional=True), u32("b"))
    with pytest.raises(LayoutError, match="follows an optional"):
        Layout("l", u32("a", optional=True), u32("b", optional=True)).build(b=1)


def test_reading_imports_no_construct() -> None:
    script = (
        "import sys; from cffpy.container.rd import iter_sections, gpu_address;"
        "list(iter_sections(bytes(8))); gpu_address(bytes(12));"
        "sys.exit('construct' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
