# SPDX-License-Identifier: MIT
"""Bindless descriptor sets: how far they reach, what their descriptors are."""

from __future__ import annotations

import pytest

from cffpy.analysis.diff.bindless import Memory, Sets
from cffpy.capture.memory import MemoryImage
from cffpy.container.writer import dwords_bytes
from cffpy.pm4.fields import Packets
from cffpy.regdb.database import Database

BASE = 0x100000000
UNIFORMS = 0x100002000


@pytest.fixture
def sets() -> Sets:
    return Sets(Database.open("A6XX"), Packets("A6XX"), 6)


def slot(*dwords: int) -> list[int]:
    return [*dwords, *([0] * (16 - len(dwords)))]


TEXTURE = slot(0x1234, 0x00400040, 0, 0, 0x5000, 1, 0, 7)
SAMPLER = slot(0x12, 0x34, 1)


def memory(*slots: list[int], uniforms: list[int] | None = None) -> Memory:
    image = MemoryImage()
    for address, words in (
        (UNIFORMS, uniforms or [1, 2, 3, 4] * 4),
        (BASE, [word for one in slots for word in one]),
    ):
        data = dwords_bytes(words)
        image.add(address, len(data), memoryview(data))
    return Memory(image)


def ubo(address: int, vectors: int) -> list[int]:
    return slot(address & 0xFFFFFFFF, address >> 32 | vectors << 17)


def kinds(sets: Sets, found: Memory, base: int = BASE) -> list[tuple[object, ...]]:
    return [key for key, _ in sets.read((found, base))[1]]


def test_what_descriptors_are(sets: Sets) -> None:
    assert kinds(sets, memory(TEXTURE, SAMPLER, slot(), ubo(UNIFORMS, 4))) == [
        ("texture", 0),
        ("sampler", 1),
        ("uniform buffer", 3),
        ("uniform data", 3),
    ]


def test_a_set_ends_where_another_begins(sets: Sets) -> None:
    found = memory(TEXTURE, SAMPLER, TEXTURE)
    found.add_bound(BASE + 128)
    found.add_bound(BASE)
    assert kinds(sets, found) == [("texture", 0), ("sampler", 1)]
    assert kinds(sets, found, BASE + 128) == [("texture", 0)]


def test_the_digest_tells_uniform_data_but_no_addresses(sets: Sets) -> None:
    def digest(**changes: list[int]) -> bytes:
        return sets.read((memory(TEXTURE, ubo(UNIFORMS, 4), **changes), BASE))[0]

    moved = [*TEXTURE]
    moved[4] += 0x1000
    assert digest() == digest()
    assert digest(uniforms=[1, 2, 3, 5] * 4) != digest()
    assert sets.read((memory(moved, ubo(UNIFORMS, 4)), BASE))[0] == digest()


def test_sets_that_are_cut_off_or_not_there(sets: Sets) -> None:
    found = memory(TEXTURE, SAMPLER[:9])
    assert kinds(sets, found) == [("texture", 0)]
    assert kinds(sets, found, BASE + 0x100000) == []
    assert kinds(sets, found, BASE + 64 + 36) == []
