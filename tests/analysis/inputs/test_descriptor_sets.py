# SPDX-License-Identifier: MIT
"""Descriptor sets: where they end, what lies in them, which descriptors draws use."""

from __future__ import annotations

import gc
import struct
from typing import Any

import pytest

from cffpy.analysis.inputs.descriptor_sets import (
    DrawSlots,
    Memory,
    Sets,
    SetSlot,
    is_of_set,
)
from cffpy.analysis.inputs.uses import UsedDescriptors, slots_of
from cffpy.analysis.shaders import collect_shaders
from cffpy.capture.memory import MemoryImage
from cffpy.container.open import open_capture
from cffpy.container.writer import dwords_bytes
from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.isa.operands import SAMPLER, TEXTURE, UBO, Descriptor
from cffpy.pm4.reader import Packets
from cffpy.regdb.database import Database
from tests.selection import first_always

BASE = 0x100000000
UNIFORMS = 0x100002000


@pytest.fixture
def sets() -> Sets:
    return Sets(Database.open("A6XX"), Packets("A6XX"), 6)


def slot(*dwords: int) -> list[int]:
    return [*dwords, *([0] * (16 - len(dwords)))]


TEXTURE_SLOT = slot(0x1234, 0x00400040, 0, 0, 0x5000, 1, 0, 7)
SAMPLER_SLOT = slot(0x12, 0x34, 1)


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
    assert kinds(sets, memory(TEXTURE_SLOT, SAMPLER_SLOT, slot(), ubo(UNIFORMS, 4))) == [
        ("texture", 0),
        ("sampler", 1),
        ("uniform buffer", 3),
        ("uniform data", 3),
    ]


def test_a_set_ends_where_another_begins(sets: Sets) -> None:
    found = memory(TEXTURE_SLOT, SAMPLER_SLOT, TEXTURE_SLOT)
    for offset in (128, 0, 128):
        found.add_bound(BASE + offset)
    assert found.bounds == [BASE, BASE + 128]
    assert kinds(sets, found) == [("texture", 0), ("sampler", 1)]
    assert kinds(sets, found, BASE + 128) == [("texture", 0)]


def test_the_digest_tells_uniform_data_but_no_addresses(sets: Sets) -> None:
    def digest(**changes: list[int]) -> bytes:
        return sets.read((memory(TEXTURE_SLOT, ubo(UNIFORMS, 4), **changes), BASE))[0]

    moved = [*TEXTURE_SLOT]
    moved[4] += 0x1000
    assert digest() == digest()
    assert digest(uniforms=[1, 2, 3, 5] * 4) != digest()
    assert sets.read((memory(moved, ubo(UNIFORMS, 4)), BASE))[0] == digest()


def test_a_later_submit_at_the_place_of_a_freed_one(sets: Sets) -> None:
    """A memo by id() answered with the set of memory that was gone."""
    found = set()
    for number in range(20):
        found.add(sets.read((memory([*TEXTURE_SLOT[:3], number, *TEXTURE_SLOT[4:]]), BASE))[0])
        gc.collect()
    assert len(found) == 20


def test_sets_that_are_cut_off_or_not_there(sets: Sets) -> None:
    found = memory(TEXTURE_SLOT, SAMPLER_SLOT[:9])
    assert kinds(sets, found) == [("texture", 0)]
    assert kinds(sets, found, BASE + 0x100000) == []
    assert kinds(sets, found, BASE + 64 + 36) == []


#: Words, and the slots that their text names.
SAM = 0xA0C89F04A4A00005  # sam.s2en.uniform.base1 (f32)(xyzw)r1.x, r0.z, r9.y
SAM_IMMEDIATE = 0xA0C89F04C4600005  # sam.base1 (f32)(xyzw)r1.x, r0.z, s#3, t#2
SAM_A1 = 0xA0C81F00E0200005  # sam.base0 (f32)(xyzw)r0.x, r0.z, s#1, a1.x
SAM_UNBOUND = 0xA0C01F040CC00005  # sam (f32)(xyzw)r1.x, r0.z, s#6, t#6
LDC = 0xC026020100C78080  # ldc.offset0.1.nonuniform r0.y, 0, r0.y
LDC_K = 0xC036000300C78100  # ldc.4.k.imm.base0 c[a1.x], 0, 0
STIB = 0xC026020003676100  # stib.b.untyped.1d.u32.3.imm.base0 r0.x, r0.w, 1
ATOMIC = 0xD0360C0402640B80  # (sy)atomic.b.add.typed.2d.u32.1.nonuniform.base0 r1.x, r0.z, r1.z


def slots_of_words(*words: int) -> Any:
    return slots_of(Ir3Disassembler(6).descriptors(struct.pack(f"<{len(words)}Q", *words)))


@pytest.mark.parametrize(
    ("word", "slots"),
    [
        (SAM_IMMEDIATE, {1: {3, 2}}),
        (SAM, {1: None}),
        (SAM_A1, None),  # a1.x holds the number of the sampler's set
        (SAM_UNBOUND, {}),
        (LDC, {}),
        (LDC_K, {0: {0}}),
        (STIB, {0: {1}}),
        (ATOMIC, {0: None}),
        (0, {}),
    ],
)
def test_one_instruction(word: int, slots: object) -> None:
    assert slots_of_words(word) == slots


def test_an_index_in_a_register_leaves_its_whole_set_open() -> None:
    assert slots_of_words(SAM_IMMEDIATE, SAM, STIB) == {0: {1}, 1: None}


def test_an_error_in_an_instruction_hides_none_of_its_descriptors() -> None:
    # ldib.b.typed.1d.f32.4.imm.base0 r0.x, r0.w, 1; bit 0 is set by Qualcomm's compiler, and the
    # listing reports it as an error
    assert slots_of_words(0xC02202000361B901) == {0: {1}}


#: Capture: slots of each set that its shaders name, as read off their listings.
CAPTURES = {
    "a618-vk-cube-gmem-forcebin": {4: {0}},
    "a690-vk-compute-full": {0: None, 1: {0, 1}, 3: {0}},
    "a690-vk-frame-720p": {0: {0}, 1: {0, 1, 2, 3, 4, 5}, 4: {0}},
    "a650-vk-scene300-4k-gmem": {0: {0, 1}, 1: {2, 3, 4, 5}, 4: {0}},
    "a660-vk-query-gmem": {1: {2, 3, 4, 5}, 4: {0}},
    "a740-vk-bindless-gmem": {1: None, 7: {0}},
    "a740-vk-frame-msaa4-1080p": {0: {0}, 1: {0, 1, 2, 3, 4, 5}, 7: {0}},
    "a740-vk-tess": {7: {0}},
    "a740-vkcube-5frames": {0: {0, 1, 2}},
    "x1-85-wgpu-cubes-msaa": {0: {0, 1, 2, 3}},
    "x1-85-vk-cube-gmem-full": {1: {0, 1}, 7: {0}},
}


@pytest.mark.parametrize("name", first_always(CAPTURES))
def test_slots_of_all_shaders_of_a_capture(name: str, shared: Any) -> None:
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    shaders = collect_shaders(content, lambda _line: None)[0].shaders
    disassembler = Ir3Disassembler(shaders[0].generation)
    used = [disassembler.descriptors(shader._program.code) for shader in shaders]
    assert slots_of(frozenset().union(*used)) == CAPTURES[name]


def slots_of_draw(
    *shaders: bytes | None, prefetches: tuple[tuple[int, int], ...] = ()
) -> dict[int, set[int] | None] | None:
    return UsedDescriptors(USED).of(shaders, prefetches)


USED = {
    b"vs": frozenset([Descriptor(UBO, True, 4, 0)]),
    b"fs": frozenset([Descriptor(SAMPLER, True, 1, 1), Descriptor(TEXTURE, True, 1, 0)]),
}


def test_what_either_capture_uses_is_used() -> None:
    slots = DrawSlots([slots_of_draw(b"vs"), slots_of_draw(b"fs")])
    assert slots.holds(("uniform data", SetSlot(4, 0)))
    assert slots.holds(("sampler", SetSlot(1, 1)))
    assert not slots.holds(("texture", SetSlot(1, 2)))
    assert not slots.holds(("texture", SetSlot(2, 0)))
    assert list(slots.textures()) == [
        ("texture", SetSlot(4, 0)),
        ("texture", SetSlot(1, 0)),
        ("texture", SetSlot(1, 1)),
    ]


def test_a_shader_that_was_not_captured_may_use_anything() -> None:
    assert DrawSlots([slots_of_draw(b"vs", None)]).holds(("texture", SetSlot(3, 9)))


def test_what_is_sampled_before_the_shader_starts() -> None:
    slots = DrawSlots([slots_of_draw(b"vs", prefetches=((2, 5),))])
    assert slots.holds(("texture", SetSlot(2, 5)))
    assert not slots.holds(("texture", SetSlot(2, 4)))


def test_keys() -> None:
    assert is_of_set(("texture", SetSlot(1, 0)))
    assert not is_of_set(("texture", "FS", 0))
    assert not is_of_set("RB_CNTL")
