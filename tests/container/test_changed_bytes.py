# SPDX-License-Identifier: MIT
"""Changed bytes are those of a whole copy with the same changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.changed_bytes import ChangedBytes

SIZE = 10_000
DATA = bytes(range(250)) * (SIZE // 250)
CHANGES = st.lists(st.tuples(st.integers(0, SIZE + 10), st.binary(max_size=5000)), max_size=6)


@given(CHANGES, st.integers(0, SIZE), st.integers(0, 9000))
def test_changes_in_order(changes: list[tuple[int, bytes]], place: int, size: int) -> None:
    changed = ChangedBytes(memoryview(DATA))
    copy = bytearray(DATA)
    for offset, new in changes:
        changed.write(offset, new)
        if offset < SIZE:
            copy[offset : offset + len(new)] = new[: SIZE - offset]
    assert b"".join(changed.pieces()) == copy
    assert changed.read(place, size) == copy[place : place + size]


def test_unchanged_bytes_are_not_copied() -> None:
    data = memoryview(bytes(1 << 20))
    changed = ChangedBytes(data)
    changed.write(4094, b"abcd")
    copied = [piece for piece in changed.pieces() if isinstance(piece, bytearray)]
    assert list(map(len, copied)) == [4096, 4096]
