# SPDX-License-Identifier: MIT
"""Which descriptors of bindless sets shaders use, by their listings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cffpy.analysis.diff.used_descriptors import DrawSlots, UsedDescriptors, is_of_set, slots_of


@pytest.mark.parametrize(
    ("line", "slots"),
    [
        ("sam.base1 (f32)(xyzw)r0.x, r1.z, s#5, t#4", {1: {4, 5}}),
        ("isam.v.base0 (u32)(xyz)r4.z, r6.y, s#0, t#0", {0: {0}}),
        ("ldc.4.k.imm.base4 c[a1.x], 4, 2", {4: {2}}),
        ("resinfo.b.untyped.1d.u32.1.imm.base0 r63.x, 7", {0: {7}}),
        ("stib.b.typed.2d.f32.4.imm.base3 r3.y, r2.w, 0", {3: {0}}),
        ("sam.s2en.nonuniform.base1 (f32)(xyzw)r2.y, r1.z, r2.x", {1: None}),
        ("atomic.b.add.untyped.1d.u32.1.uniform.base0 r2.x, r2.z, r1.x", {0: None}),
        ("ldc.4.k.uniform.base4 c[a1.x], 4, r0.x", {4: None}),
        ("sam.base1 (f32)(xyzw)r0.x, r1.z, s#5, a1.x", {1: None}),
        ("mad.f32 r1.x, c506.y, r0.z, c507.y", {}),
    ],
)
def test_one_instruction(line: str, slots: dict[int, set[int] | None]) -> None:
    assert slots_of(line) == slots


def test_an_index_in_a_register_leaves_its_whole_set_open() -> None:
    found = slots_of("sam.base1 r0.x, r1.z, s#1, t#0\nsam.s2en.base1 r0.x, r1.x, r2.x")
    assert found == {1: None}


def side(
    listings: dict[bytes, str], *shaders: bytes | None, early: tuple[tuple[int, int], ...] = ()
) -> Any:
    recording: Any = SimpleNamespace(listings=listings)
    record: Any = SimpleNamespace(shaders=shaders, prefetched=early)
    return SimpleNamespace(slots=lambda: UsedDescriptors(recording).of(record))


LISTINGS = {b"vs": "ldc.4.k.imm.base4 c[a1.x], 0, 0", b"fs": "sam.base1 r0.x, r1.z, s#1, t#0"}


def test_what_either_capture_uses_is_used() -> None:
    slots = DrawSlots([side(LISTINGS, b"vs"), side(LISTINGS, b"fs")])
    assert slots.holds(("uniform data", "set 4", 0))
    assert slots.holds(("sampler", "set 1", 1))
    assert not slots.holds(("texture", "set 1", 2))
    assert not slots.holds(("texture", "set 2", 0))
    assert list(slots.textures()) == [
        ("texture", "set 4", 0),
        ("texture", "set 1", 0),
        ("texture", "set 1", 1),
    ]


def test_a_shader_that_was_not_captured_may_use_anything() -> None:
    assert DrawSlots([side(LISTINGS, b"vs", None)]).holds(("texture", "set 3", 9))


def test_what_is_sampled_before_the_shader_starts() -> None:
    slots = DrawSlots([side(LISTINGS, b"vs", early=((2, 5),))])
    assert slots.holds(("texture", "set 2", 5))
    assert not slots.holds(("texture", "set 2", 4))


def test_keys() -> None:
    assert is_of_set(("texture", "set 1", 0))
    assert not is_of_set(("texture", "FS", 0))
    assert not is_of_set("RB_CNTL")
