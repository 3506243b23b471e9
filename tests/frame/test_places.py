# SPDX-License-Identifier: MIT
"""Texts of places: what is written is read as the same; errors say what the capture has."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.errors import UsageError
from cffpy.frame.places import (
    BinningName,
    DrawName,
    DrawRange,
    FileOffset,
    PacketAddress,
    PacketPath,
    PassName,
    Place,
    ShaderName,
    StreamCall,
    SubmitName,
    TileName,
    draw_ranges,
    no_draw,
    no_pass,
    no_tile,
    parse_draw_name,
    parse_draws,
    parse_place,
    split_file,
)

NUMBERS = st.integers(0, 999_999_999)
ADDRESSES = st.integers(0, (1 << 64) - 1)
SOMETIMES = st.none() | NUMBERS
KINDS = st.sampled_from(["IB", "group 3", "CP_MEM_WRITE", "bin 12", "CP_SET_DRAW_STATE"])
CALLS = st.lists(st.builds(StreamCall, KINDS, ADDRESSES), max_size=6).map(tuple)

PLACES = st.one_of(
    st.builds(SubmitName, NUMBERS),
    st.builds(PassName, NUMBERS),
    st.builds(ShaderName, NUMBERS),
    st.builds(TileName, NUMBERS, NUMBERS),
    st.builds(BinningName, NUMBERS),
    st.builds(DrawName, NUMBERS, SOMETIMES),
    st.builds(
        lambda first, more, index: DrawRange(first, first + more, index),
        st.integers(0, 1000),
        st.integers(1, 1000),
        SOMETIMES,
    ),
    st.builds(PacketAddress, ADDRESSES, SOMETIMES),
    st.builds(FileOffset, ADDRESSES),
    st.builds(PacketPath, NUMBERS, CALLS, ADDRESSES, st.none() | ADDRESSES),
)


@given(PLACES)
def test_what_is_written_is_read(place: Place) -> None:
    read = parse_place(str(place))
    assert read == place
    assert type(read) is type(place)
    assert parse_place(f"  {place}\n") == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("s2", SubmitName(2)),
        ("p3", PassName(3)),
        ("p3:17", DrawName(17, 3)),
        ("p3:5-9", DrawRange(5, 9, 3)),
        ("p3:5-5", DrawName(5, 3)),
        ("p3:t5", TileName(5, 3)),
        ("p3:binning", BinningName(3)),
        ("#62", DrawName(62)),
        ("#5-9", DrawRange(5, 9)),
        ("sh4", ShaderName(4)),
        ("0x10002018", PacketAddress(0x10002018)),
        ("s1:0x10002018", PacketAddress(0x10002018, 1)),
        ("+0x1234", FileOffset(0x1234)),
        (
            "stream 0 > IB 0x10002000 > 0x10002018",
            PacketPath(0, (StreamCall("IB", 0x10002000),), 0x10002018),
        ),
        ("stream 2 > 0x40 +0x8", PacketPath(2, (), 0x40, 8)),
    ],
)
def test_spellings(text: str, place: Place) -> None:
    assert parse_place(text) == place
    assert type(parse_place(text)) is type(place)


@given(st.text(max_size=30) | st.text(alphabet="sp#:-t+x0123h >IB", max_size=30))
def test_any_text_is_a_place_or_an_error(text: str) -> None:
    try:
        place = parse_place(text)
    except UsageError:
        return
    assert parse_place(str(place)) == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("57", "draw 57 of the dump is #57, that of pass 3 p3:57"),
        ("", "is not a place"),
        ("p3:", "is not a place"),
        ("P3", "is not a place"),
        ("pass3", "is not a place"),
        ("p٣", "is not a place"),
        ("p1_0", "is not a place"),
        ("-1", "is not a place"),
        ("0x", "is not a place"),
        ("0x10000000000000000", "is not a place"),
        ("stream 0", "is not a place"),
        ("stream 0 > IB > 0x4", "is not a place"),
        ("p3:9-5", "the last draw is before the first"),
    ],
)
def test_texts_that_are_no_places(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_place(text)


def test_draws() -> None:
    assert parse_draws("p3:17") == DrawRange(17, 17, 3)
    assert parse_draws("#5-9").numbers == range(5, 10)
    assert parse_draw_name("#5") == DrawName(5)
    with pytest.raises(UsageError, match="'p3' is no draw"):
        parse_draws("p3")
    with pytest.raises(UsageError, match="'p3:1-2' is not one draw"):
        parse_draw_name("p3:1-2")


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a.rd", "a.rd", None),
        ("a.rd@p3:17", "a.rd", DrawName(17, 3)),
        ("-@s1", "-", SubmitName(1)),
        ("me@home/a.rd", "me@home/a.rd", None),
        ("me@home/a.rd@p3", "me@home/a.rd", PassName(3)),
        ("a@b.rd", "a@b.rd", None),
        ("@p3", "@p3", None),
    ],
)
def test_a_place_of_a_file(text: str, path: str, place: Place | None) -> None:
    assert split_file(text) == (path, place)


def test_a_wrong_place_of_a_file() -> None:
    with pytest.raises(UsageError, match="'pass3' is not a place"):
        split_file("a.rd@pass3")


def test_errors_say_what_there_is() -> None:
    assert str(no_draw(DrawName(99, 3), 62)) == (
        "no draw p3:99: pass 3 has 62 draws, p3:0 to p3:61"
    )
    assert str(no_draw(DrawName(9), 1)) == "no draw #9: the dump has 1 draw, #0"
    assert str(no_pass(9, 0)) == "no pass p9: the capture has no passes"
    assert str(no_pass(9, 4)) == "no pass p9: the capture has 4 passes, p0 to p3"
    assert str(no_tile(TileName(5, 1), 0, "; none")) == "no tile p1:t5: pass 1 has no tiles; none"


@given(st.sets(st.integers(0, 60)), SOMETIMES)
def test_ranges_cover_the_numbers(numbers: set[int], index: int | None) -> None:
    ranges = draw_ranges(sorted(numbers), index)
    assert [number for one in ranges for number in one.numbers] == sorted(numbers)
    assert all(after.first > one.last + 1 for one, after in pairwise(ranges))
    assert {one.pass_index for one in ranges} <= {index}
