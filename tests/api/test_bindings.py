# SPDX-License-Identifier: MIT
"""What a draw has bound: descriptors, buffers, constants, programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.bindings import Bindings


def test_textures_and_samplers(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-textures.rd")
    draw = capture.draws[0]
    first, second = draw.textures
    assert (first.stage, first.set, first.slot, first.gpuaddr) == ("FS", None, 0, 0x100008000)
    assert (first.FMT, first.WIDTH, second.WIDTH) == ("FMT6_8_8_8_8_UNORM", 64, 128)
    assert first.BASE_LO == 0x8000
    assert first.fields["HEIGHT"].low == 47
    assert first.place is not None
    assert first.to_dict()["fields"]["TYPE"] == "A6XX_TEX_2D"
    assert len(first.dwords) == 16
    assert [one.slot for one in draw.samplers][:2] == [0, 1]
    (uniforms,) = draw.uniform_buffers
    assert uniforms.gpuaddr is not None
    assert uniforms.data == capture.memory.read(uniforms.gpuaddr, 64)
    assert len(uniforms.floats) == len(uniforms.dwords) == 16
    assert repr(first).startswith("<texture 0 of FS at 0x100008000, FMT FMT6")
    with pytest.raises(cffpy.UnknownName, match="has no field NOPE"):
        _ = first.NOPE


def test_an_action_without_bindings_has_none(samples: Path) -> None:
    draw = cffpy.open(samples / "a430-depth-good.rd").draws[0]
    assert draw.textures == draw.samplers == draw.uniform_buffers == draw.constants == []
    assert draw.vertex_buffers == draw.storage == []


def test_bindings_are_those_of_the_records(samples: Path) -> None:
    """Followed from draw to draw, the facts are the same as by binary search."""
    for name in ("a660-textures.rd", "a740-state-groups.rd", "a660-frame-gmem.rd"):
        recording = cffpy.open(samples / name).recording
        bindings = Bindings(recording)
        now: dict[object, object] = {}
        assert recording.records
        for order in sorted(recording.records):
            for key, fact in recording.records[order].facts.items():
                if fact is None:
                    now.pop(key, None)
                else:
                    now[key] = fact
            found = dict(bindings.of_draw(order))
            assert {key: found[key] for key in now if key in found} == now


@pytest.mark.slow
def test_of_captures_of_all_generations(shared: Path) -> None:
    bindless = cffpy.open(shared / "captures/a740-vk-bindless-gmem.rd.gz").draws[0]
    assert {one.set for one in bindless.textures} == {1}
    assert bindless.textures[0].FMT == "FMT6_8_8_8_8_UNORM"
    assert [len(one.data or b"") for one in bindless.vertex_buffers] == [768]
    old = cffpy.open(shared / "captures/a330-gl-inst-mrt.rd.gz").draws[0]
    assert old.textures[0].gpuaddr is not None
    assert set(old.shaders) == {"VS", "FS"}
    oldest = cffpy.open(shared / "captures/a220-gl-passes.rd.gz").draws[0]
    assert oldest.constants


@pytest.mark.slow
def test_shaders_of_draws_are_those_of_the_list(shared: Path) -> None:
    for name in ("a740-vk-bindless-gmem", "a330-gl-inst-mrt", "a220-gl-passes"):
        capture = cffpy.open(shared / f"captures/{name}.rd.gz")
        listed = set(capture.shaders)
        used = {shader for draw in capture.draws for shader in draw.shaders.values()}
        assert used
        assert used <= listed
        document = capture.shaders.to_dict()
        assert [one["listing"] for one in document["shaders"]] == [
            one.listing for one in capture.shaders
        ]


@pytest.mark.slow
def test_a_copy_that_begins_its_pass_has_what_was_loaded_before(shared: Path) -> None:
    """The loads come before the draw that opens the pass; its program samples slot 0."""
    draw = cffpy.open(shared / "captures/a660-vk-xfer.rd.gz").draw("p1:0")
    assert isinstance(draw, cffpy.Draw)
    assert "s#0, t#0" in draw.shaders["FS"].listing
    assert [one.gpuaddr for one in draw.textures] == [0x100E18000]
    assert [one.label for one in draw.samplers] == ["0 of FS"]
    assert [one.label for one in draw.constants] == ["0 of VS"]
