# SPDX-License-Identifier: MIT
"""Both libraries give the same bytes, whole or damaged; without zlib-ng, zlib is used."""

from __future__ import annotations

import gzip
import random
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.open import open_bytes, zlib_module
from cffpy.container.writer import gzip_bytes

zlib_ng = pytest.importorskip("zlib_ng.zlib_ng", reason="zlib-ng is not installed")

_RANDOM = random.Random(1)
DATA = b"".join(_RANDOM.randbytes(8) * _RANDOM.randrange(7) for _ in range(20_000))


def test_zlib_where_nothing_else_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert zlib_module(1 << 20) is zlib_ng
    assert zlib_module(100) is zlib
    monkeypatch.setitem(sys.modules, "zlib_ng", None)
    assert zlib_module(1 << 20) is zlib
    packed = gzip_bytes(DATA)
    assert gzip.decompress(packed) == DATA
    assert open_bytes(packed).data == DATA


def test_packed_bytes_are_understood_by_zlib() -> None:
    assert gzip.decompress(gzip_bytes(DATA)) == DATA


PACKED = {
    "zlib": gzip.compress(DATA, 9),
    "fast": gzip.compress(DATA, 1),
    "zlib-ng": zlib_ng.compress(DATA, 6, 31),
}


@given(
    packed=st.sampled_from(sorted(PACKED)),
    position=st.integers(0, 200_000),
    bits=st.integers(1, 255),
    cut=st.booleans(),
)
def test_damage_is_the_same_for_both(packed: str, position: int, bits: int, cut: bool) -> None:
    data = bytearray(PACKED[packed])
    position %= len(data)
    data[position] ^= bits
    if cut:
        del data[position + 1 :]
    with_ng = open_bytes(bytes(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "zlib_ng", None)
        without = open_bytes(bytes(data))
    assert bytes(with_ng.data) == bytes(without.data)
    assert [str(fault) for fault in with_ng.faults] == [str(fault) for fault in without.faults]
