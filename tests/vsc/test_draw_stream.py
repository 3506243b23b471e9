# SPDX-License-Identifier: MIT
"""Draw streams: packets, end packet, padding, and how draws become packets."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.draw_stream import DrawPacket, decode, encode, pack
from tests.vsc.streams import BIN_COUNTS, DRAW_STREAMS, drain


def plain(packets):
    """Packets without their positions."""
    return [packet[:3] for packet in packets]


@given(DRAW_STREAMS)
def test_encoded_is_decoded(stream) -> None:
    bin_count, packets = stream
    data = encode(packets, bin_count)
    again = list(decode(data, bin_count))
    assert plain(again) == plain(packets)
    assert encode(again, bin_count) == data
    assert len(data) % 4 == 0


@pytest.mark.parametrize("bin_count", [1, 4, 13, 14, 32])
def test_the_end_packet_is_as_long_as_the_document_says(bin_count: int) -> None:
    data = encode([], bin_count)
    bits = "".join(f"{byte:08b}" for byte in data)
    assert bits.rstrip("0") == "1" + "0" * (bin_count + 17) + "1"
    assert len(data) == (bin_count + 19 + 31) // 32 * 4


@given(DRAW_STREAMS, st.data())
def test_any_wrong_bit_is_noticed(stream, choice) -> None:
    bin_count, packets = stream
    data = bytearray(encode(packets, bin_count))
    bit = choice.draw(st.integers(0, 8 * len(data) - 1))
    data[bit >> 3] ^= 0x80 >> (bit & 7)
    with pytest.raises(VisibilityStreamError):
        list(decode(data, bin_count))


def test_any_wrong_bit_of_one_stream_is_noticed() -> None:
    packets = [DrawPacket(3, 1, 2), DrawPacket(0, 0, 2), DrawPacket(8, 0, 30), DrawPacket(0, 0, 9)]
    good = encode(packets, 4)
    for bit in range(8 * len(good)):
        data = bytearray(good)
        data[bit >> 3] ^= 0x80 >> (bit & 7)
        with pytest.raises(VisibilityStreamError):
            list(decode(data, 4))


def test_what_is_before_the_damage_is_given() -> None:
    packets = [DrawPacket(1, 0, 5), DrawPacket(0, 0, 5), DrawPacket(2, 0, 7), DrawPacket(3, 0, 1)]
    data = bytearray(encode(packets, 4))
    stream = decode(data, 4)
    offset = list(decode(data, 4))[2].offset
    data[(offset + 1) >> 3] ^= 0x80 >> (offset + 1 & 7)
    stream = decode(data, 4)
    assert plain([next(stream), next(stream)]) == plain(packets[:2])
    with pytest.raises(VisibilityStreamError, match="checksum") as caught:
        next(stream)
    assert caught.value.bit_offset == offset


def test_what_is_behind_the_end_packet() -> None:
    packets = [DrawPacket(1, 0, 5)]
    data = encode(packets, 4)
    stale = bytes.fromhex("deadbeef") * 4
    assert plain(decode(data + bytes(64), 4)) == plain(packets)
    assert plain(decode(data + stale, 4, whole=False)) == plain(packets)
    for wrong, whole in ((data + stale, True), (data[:-1] + b"\1", False)):
        with pytest.raises(VisibilityStreamError, match="set bits after the end packet"):
            list(decode(wrong, 4, whole))


@pytest.mark.parametrize("data", [b"", bytes(4), bytes(1 << 16)])
def test_a_stream_that_was_not_written(data: bytes) -> None:
    with pytest.raises(VisibilityStreamError, match="nothing but zeros"):
        list(decode(data, 4))


def test_a_stream_without_end_packet() -> None:
    data = bytes.fromhex("f55f55f5")  # 1 1110 1 0101, and what follows is cut
    with pytest.raises(VisibilityStreamError):
        list(decode(data, 4))
    packet = DrawPacket(0b1111, 1, 2)  # 10 bits
    whole = encode([packet] * 16, 4)
    with pytest.raises(VisibilityStreamError, match="ends without an end packet") as caught:
        list(decode(whole[:20], 4))
    assert caught.value.bit_offset == 160


@given(st.binary(max_size=300), BIN_COUNTS, st.booleans())
def test_noise(data: bytes, bin_count: int, whole: bool) -> None:
    packets, problem = drain(decode(data, bin_count, whole))
    assert problem is None or 0 <= problem.bit_offset <= 8 * len(data)
    again = "".join(f"{byte:08b}" for byte in encode(packets, bin_count))
    bits = "".join(f"{byte:08b}" for byte in data)
    if packets:
        assert bits.startswith(again[: packets[-1].offset + 1])


# -- draws to packets -----------------------------------------------------------------------------


def test_the_instanced_draw_of_the_document() -> None:
    """Ten instances of which the last 9 are empty, then an empty draw of one instance."""
    draws = [[(0b11, 2)] + [(0, 0)] * 9, [(0, 0)]]
    assert list(pack(draws)) == [DrawPacket(0b11, 1, 2), DrawPacket(0, 0, 2)]


def test_empty_draws_are_joined_up_to_an_instanced_one() -> None:
    empty, instanced, visible = [(0, 0)], [(0, 0)] * 3, [(1, 1)]
    assert list(pack([empty] * 4)) == [DrawPacket(0, 0, 4)]
    assert list(pack([empty, empty, instanced, empty, visible])) == [
        DrawPacket(0, 0, 2),
        DrawPacket(0, 0, 2),
        DrawPacket(1, 0, 1),
    ]
    assert list(pack([instanced, instanced])) == [DrawPacket(0, 0, 1)] * 2


def test_empty_instances_before_one_that_is_not() -> None:
    draws = [[(0, 0), (0, 0), (1, 4), (0, 0), (2, 5)]]
    assert list(pack(draws)) == [
        DrawPacket(0, 1, 2),
        DrawPacket(1, 1, 4),
        DrawPacket(0, 1, 1),
        DrawPacket(2, 0, 5),
    ]


def test_draws_without_instances_cannot_be_packed() -> None:
    with pytest.raises(ValueError, match="without instances"):
        list(pack(chain([[(1, 1)]], [[]])))
