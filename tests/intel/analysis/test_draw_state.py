# SPDX-License-Identifier: MIT
"""What a draw uses: descriptor sets, push constants, samplers, buffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cffpy
from cffpy.intel.analysis.anv import DescriptorSet
from cffpy.intel.analysis.draw_state import DrawState
from tests.intel import frames
from tests.intel.opening import open_intel


def used_by(source: Any, draw: str) -> DrawState:
    """What a draw of a capture uses."""
    intel = open_intel(source)
    return intel.used_by(intel.find(draw))


def _kinds(one: DescriptorSet) -> list[tuple[int, str]]:
    return [(descriptor.offset, descriptor.kind) for descriptor in one.descriptors]


def test_a_set_of_records() -> None:
    (one,) = used_by(frames.frame(), "p0:0").sets
    assert (one.address, one.size, one.source) == (frames.SET, 64, "PS table entry 1")
    buffer, image = one.descriptors
    assert (buffer.kind, buffer.address, buffer.size) == ("buffer", frames.UNIFORMS, 0x100)
    assert (image.offset, image.kind, image.address) == (16, "image", frames.TEXTURE)


def test_indirect_descriptors_of_a_driver(shared: Path) -> None:
    capture = shared / "intel" / "captures" / "skl-vk-cube.aub.gz"
    images, buffers = used_by(str(capture), "p1:0").sets
    assert (images.address, buffers.address) == (0x2BFFFFF80, 0x2BFFFFFC0)
    assert _kinds(images) == [(offset, "sampled image") for offset in (0, 8, 16)]
    samplers = [one.sampler for one in images.descriptors]
    states = [one.sampler_state for one in images.descriptors]
    assert [one and one.describe().partition("/")[0] for one in states] == [
        "ANISOTROPIC",
        "NEAREST",
        "LINEAR",
    ]
    assert samplers == [0x3C0040100, 0x3C0040140, 0x3C0040180]
    assert [(one.address, one.size) for one in buffers.descriptors] == [
        (0xEFFEFFFE8000, 0x100),
        (0xEFFEFFFC0000, 0x20000),
    ]


def test_direct_descriptors_of_a_driver(shared: Path) -> None:
    capture = shared / "intel" / "captures" / "dg2-vk-cube.aub.gz"
    state = used_by(str(capture), "p1:0")
    block = state.pushed[-1]
    assert (block.stage, block.address) == ("PS", 0x2C006C280)
    assert block.set_offsets[:2] == (0xBFFFBF80, 0xBFFFBEC0)
    assert block.sampler_offsets[:2] == (0x40000000, 0xBFFFFFA0)
    assert block.dynamic_offsets[0] == 0x100
    first, second = state.sets
    assert [(one.number, one.address) for one in state.sets] == [
        (0, 0x1BFFFBF80),
        (1, 0x1BFFFBEC0),
    ]
    assert (first.size, second.size) == (128, 192)
    kinds = [one.surface.kind for one in second.descriptors if one.surface is not None]
    assert kinds == ["2D", "2D", "cube"]
    assert first.samplers == ()
    assert [(one.number, one.address) for one in second.samplers] == [
        (0, 0x37FFFFFA0),
        (1, 0x37FFFFFC0),
        (2, 0x37FFFFFE0),
    ]
    assert second.samplers[0].describe() == "ANISOTROPIC/ANISOTROPIC, WRAP/WRAP/WRAP"
    with cffpy.open(capture) as opened:
        bindings = opened.draw("p1:0").bindings
        samplers = [one for one in bindings if (one.kind, one.bindless_set) == ("sampler", 1)]
        assert samplers[2].fields["Mag Mode Filter"].text == "1 (LINEAR)"


def test_sets_of_a_dispatch_without_a_table(shared: Path) -> None:
    capture = shared / "intel" / "captures" / "dg2-vk-compute.aub.gz"
    state = used_by(str(capture), "p0:0")
    assert not state.uses.tables
    assert [one.number for one in state.sets] == [0, 1, 3]


def test_registers_that_are_loaded(shared: Path) -> None:
    """An indirect draw has the counts that MI_LOAD_REGISTER_MEM finds in memory."""
    capture = open_intel(str(shared / "intel" / "captures" / "dg2-vk-gendraws-executed.aub.gz"))
    action = capture.draws[0]
    assert action.indirect
    assert (action.vertices, action.instances) == (36, 1)
