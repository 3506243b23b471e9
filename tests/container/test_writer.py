# SPDX-License-Identifier: MIT
"""The writer: reproducible bytes."""

from __future__ import annotations

import gzip

from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.writer import capture_bytes, dwords_bytes, gzip_bytes, gzip_pieces


@given(st.binary(max_size=2000))
def test_gzip_is_plain_gzip_without_a_time(data: bytes) -> None:
    packed = gzip_bytes(data)
    assert gzip.decompress(packed) == data
    assert packed[4:8] == bytes(4)
    assert packed == gzip_bytes(data)


def test_pieces_are_packed_as_a_whole_is() -> None:
    data = bytes(range(256)) * 9000
    pieces = [data[:100], b"", memoryview(data)[100:5000], data[5000:]]
    assert b"".join(gzip_pieces(pieces, len(data))) == gzip_bytes(data)


def test_bytes_of_a_capture() -> None:
    data = capture_bytes([(13, b"\x76\2\0\0")], markers=2)
    assert data.hex(" ", 4) == "ffffffff ffffffff ffffffff ffffffff 0d000000 04000000 76020000"
    assert dwords_bytes([1, 0xFFFFFFFE]) == bytes.fromhex("01000000feffffff")
