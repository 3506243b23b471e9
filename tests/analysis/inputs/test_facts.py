# SPDX-License-Identifier: MIT
"""Facts: contents of memory and descriptors, comparable by digests."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.inputs.facts import (
    InputFact,
    address_masks,
    descriptor,
    largest_index,
    region,
)
from cffpy.regdb.database import Database

A6XX = Database.open("A6XX")
TEXTURE = "A6XX_TEX_CONST"


def view(*dwords: int) -> memoryview:
    return memoryview(struct.pack(f"<{len(dwords)}I", *dwords))


def test_a_region_reaches_no_further_than_its_size_or_what_was_captured() -> None:
    data = memoryview(b"abcdefgh")
    assert region(data, 0x10, 4) == region(memoryview(b"abcdXXXX"), 0x10, 4)
    assert region(data, 0x10, 4) != region(data, 0x10, 5)
    assert region(data, 0x10, 800).data == data
    assert region(None, 0x10, 4).digest is None
    assert region(data, 0x10, 0).digest is None


@given(st.lists(st.integers(0, 2**32 - 1), min_size=16, max_size=16), st.integers(0, 2**32 - 1))
def test_addresses_in_descriptors_are_apart_from_the_rest(words: list[int], other: int) -> None:
    masks = address_masks(A6XX, TEXTURE)
    words[7:9] = [0, 0]  # no UBWC flags
    one = descriptor(view(*words), TEXTURE, masks, None)
    position = next(n for n, mask in enumerate(masks) if mask)
    moved = list(words)
    moved[position] = words[position] & ~masks[position] | other & masks[position]
    again = descriptor(view(*moved), TEXTURE, masks, None)
    assert again.digest == one.digest
    assert (again.points_at == one.points_at) == (moved == words)
    moved[0] ^= 1 << 30
    assert descriptor(view(*moved), TEXTURE, masks, None).digest != one.digest


def test_the_distance_of_a_second_address_in_a_descriptor_counts() -> None:
    masks = address_masks(A6XX, TEXTURE)

    def digest(base: int, flags: int) -> object:
        words = [0, 0, 0, 0, base, 0, 0, flags, 0, *[0] * 7]
        return descriptor(view(*words), TEXTURE, masks, None).digest

    assert digest(0x2000, 0x1000) == digest(0x5000, 0x4000)
    assert digest(0x2000, 0x1000) != digest(0x2000, 0x4000)
    assert digest(0x2000, 0x1000) != digest(0x2000, 0)


@given(st.binary(max_size=70))
def test_descriptors_that_are_cut_off(data: bytes) -> None:
    masks = address_masks(A6XX, TEXTURE)
    assert descriptor(memoryview(data), TEXTURE, masks, None).digest is not None


def test_the_largest_index_is_none_of_restart() -> None:
    def largest(size: int, *values: int) -> int | None:
        data = b"".join(value.to_bytes(size, "little") for value in values)
        return largest_index(InputFact(b"", memoryview(data + b"\xff" * (size - 1))), size)

    assert largest(2, 3, 0xFFFF, 9) == 9
    assert largest(1, 200, 0xFF) == 200
    assert largest(4, 0xFFFF, 2) == 0xFFFF
    assert largest(2) is None
    assert largest_index(InputFact(None), 2) is None
