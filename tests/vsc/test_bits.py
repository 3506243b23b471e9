# SPDX-License-Identifier: MIT
"""The bits of packets: numbers, bitfields, checksums, padding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.errors import CffpyError, VisibilityStreamError
from cffpy.vsc.bits import (
    MAX_BINS,
    NUMBER_BITS,
    PacketReader,
    PacketWriter,
    as_written,
    count_per_slot,
    dwords,
    slots,
)


def to_bytes(bits: str) -> bytes:
    """Bits as text, with space anywhere, as a stream."""
    bits = bits.replace(" ", "")
    bits += "0" * (-len(bits) % 32)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def written(bin_count: int, *packet: int | None) -> str:
    """The bits of one packet."""
    writer = PacketWriter(bin_count)
    writer.packet(*packet)
    bits = "".join(f"{byte:08b}" for byte in writer.finish())
    reader = PacketReader(writer.finish(), bin_count, has_instances=len(packet) == 3)
    reader.packet()
    assert "1" not in bits[reader.position :]
    return bits[: reader.position]


@pytest.mark.parametrize(
    ("number", "bits"),
    [(1, "1"), (2, "010"), (3, "011"), (4, "00100"), (5, "00101"), (6, "00110"), (7, "00111")],
)
def test_numbers_of_the_document(number: int, bits: str) -> None:
    assert written(3, 0, number) == f"0{bits}{bits.count('1') % 2}"


def test_instance_bit_is_behind_the_bitfield() -> None:
    assert written(3, 0b110, 2, 1) == "1110" + "1" + "010" + "1"
    assert written(3, 0b110, 2, 0) == "1110" + "0" + "010" + "0"
    assert written(3, 0, 2, 1) == "0" + "1" + "010" + "0"


@given(
    st.integers(1, MAX_BINS).flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.lists(
                st.tuples(
                    st.integers(0, (1 << count) - 1) | st.just(0),
                    st.integers(1, (1 << NUMBER_BITS) - 1) | st.integers(1, 9),
                    st.integers(0, 1),
                )
            ),
        )
    ),
    st.booleans(),
)
def test_what_is_written_is_read(stream, with_instances: bool) -> None:
    bin_count, packets = stream
    writer = PacketWriter(bin_count)
    for bins, number, instance in packets:
        writer.packet(bins, number, instance if with_instances else None)
    data = writer.finish()
    assert len(data) % 4 == 0
    reader = PacketReader(memoryview(data), bin_count, with_instances)
    for bins, number, instance in packets:
        assert not reader.only_zeros_follow()
        assert reader.packet() == (bins, instance if with_instances else 0, number)
    assert reader.only_zeros_follow()
    assert reader.only_zeros_to_dword()
    assert 4 * dwords(reader.position) == len(data)


@pytest.mark.parametrize("number", [0, -1, 1 << NUMBER_BITS])
def test_numbers_that_cannot_be_written(number: int) -> None:
    with pytest.raises(ValueError, match="no number"):
        PacketWriter(4).packet(1, number)


def test_bins_that_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="do not fit 4 bins"):
        PacketWriter(4).packet(16, 1)
    with pytest.raises(ValueError, match="do not fit 4 bins"):
        PacketWriter(4).packet(-1, 1)


@pytest.mark.parametrize("bin_count", [0, -1, MAX_BINS + 1])
def test_bin_counts(bin_count: int) -> None:
    with pytest.raises(ValueError, match="1 to 63 bins"):
        PacketReader(b"", bin_count, has_instances=True)
    with pytest.raises(ValueError, match="1 to 63 bins"):
        PacketWriter(bin_count)


def problem_of(bits: str, instances: bool = False, at: int = 0) -> VisibilityStreamError:
    """The error that a reader for 4 bins reports; the first ``at`` bits are valid packets."""
    reader = PacketReader(to_bytes(bits), 4, instances)
    while reader.position < at:
        assert reader.packet() is not None
    with pytest.raises(VisibilityStreamError) as caught:
        reader.packet()
    assert reader.position == at == caught.value.bit_offset
    return caught.value


def test_errors_say_what_and_where() -> None:
    problem = problem_of("1 1111 00101 1  0 00101 1", at=11)
    assert str(problem) == "wrong checksum of a packet (at bit 11, byte 0x1)"
    assert isinstance(problem, CffpyError)
    zeros = problem_of("0" + "0" * 32 + "1" * 33)
    assert zeros.reason == "a number with more than 31 leading zeros"
    assert problem_of("1 0000 1 1").reason == "an end packet in a primitive stream"
    wrong = problem_of("1 0000 0000 0000 0010 0000 01", True)
    assert wrong.reason == "an end packet that is not a 1, 21 zeros and a 1"


@pytest.mark.parametrize(
    "bits",
    [
        "1 1111 00101 1" * 2 + "1 1111 00001",  # in the number
        "1 1111 00101 1" * 2 + "0 000000000",  # before the number
        "1 1111 00101 1" * 2 + "0 000010001",  # without the checksum
        "1 1111 00101 1" * 2 + "0 1 1" + "0 1 1" + "1 111",  # in the bitfield
    ],
)
def test_packets_that_are_cut(bits: str) -> None:
    data = to_bytes(bits)
    assert len(data) == 4
    at = 28 if bits.endswith("1 111") else 22
    assert problem_of(bits, at=at).reason == "the stream ends inside a packet"


@pytest.mark.parametrize("before", range(3, 8))
def test_end_packets_that_are_cut(before: int) -> None:
    bits = "0110" * before + "1" + "0" * 21 + "1"
    problem = problem_of(bits[:32], True, at=4 * before)
    assert problem.reason == "the stream ends inside a packet"


def test_a_written_zero_is_no_padding() -> None:
    reader = PacketReader(to_bytes("0 1 1  0 1 1"), 4, has_instances=False)
    assert not reader.only_zeros_follow()
    reader.packet()
    assert not reader.only_zeros_follow()
    reader.packet()
    assert reader.only_zeros_follow()


@given(st.binary(max_size=12), st.integers(0, 96))
def test_zeros(data: bytes, position: int) -> None:
    reader = PacketReader(data, 4, has_instances=False)
    reader.position = position
    bits = "".join(f"{byte:08b}" for byte in data)
    assert reader.only_zeros_follow() == ("1" not in bits[position:])
    assert reader.only_zeros_to_dword() == ("1" not in bits[position : (position + 31) // 32 * 32])


@pytest.mark.parametrize(("bits", "size"), [(0, 0), (1, 1), (32, 1), (33, 2), (64, 2)])
def test_sizes_in_dwords(bits: int, size: int) -> None:
    assert dwords(bits) == size


def test_slots() -> None:
    """Slot n is bit n of the number that a bitfield spells: the last bit is slot 0."""
    (bins, _, _) = PacketReader(to_bytes("1 0011 1 0"), 4, has_instances=False).packet()
    assert as_written(bins, 4) == "0011"
    assert slots(bins, 4) == (0, 1)
    assert slots(0, 4) == ()
    assert slots((1 << 32) - 1, 32) == tuple(range(32))
    assert count_per_slot([(0b0011, 5), (0b0010, 2), (0, 9), (0b0010, 3)], 4) == [5, 10, 0, 0]
