# SPDX-License-Identifier: MIT
"""What a draw has bound: descriptors, buffers, constants, programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.inputs.bindings import Bindings
from cffpy.frame.binding import CLASSES
from tests.analysis.diff.frames import (
    DRAW,
    FROM_MEMORY,
    TRIANGLES,
    DrawCall,
    frame_bytes,
    write,
)
from tests.builders import type7


def test_textures_and_samplers(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-textures.rd")
    draw = capture.draws[0]
    first, second = draw.textures
    assert (first.stage, first.bindless_set, first.slot, first.address) == (
        "FS",
        None,
        0,
        0x100008000,
    )
    assert (first.FMT, first.WIDTH, second.WIDTH) == ("FMT6_8_8_8_8_UNORM", 64, 128)
    assert first.BASE_LO == 0x8000
    assert first.fields["HEIGHT"].low == 47
    assert first.place is not None
    assert first.to_dict()["fields"]["TYPE"]["decoded"] == "A6XX_TEX_2D"
    assert len(first.dwords) == 16
    assert [one.slot for one in draw.samplers][:2] == [0, 1]
    (uniforms,) = draw.uniform_buffers
    assert uniforms.address is not None
    assert uniforms.data == capture.memory.read(uniforms.address, 64)
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
        recording = cffpy.open(samples / name)._source.recording
        bindings = Bindings(recording)
        assert recording.records
        for order, record in recording.records.items():
            now = {key: fact for part in record.facts for key, fact in part.items()}
            found = dict(bindings.of_draw(order))
            assert found == {**found, **{key: now[key] for key in now if key in found}}
            assert {key for key in now if key[0] in CLASSES} <= {*found}


def test_vertices_from_the_first_one_on() -> None:
    """Buffer 0 has 8 bytes a vertex, buffer 1 an instance; the program has more of both."""
    state = (
        write("VFD_CONTROL_0", 2 | 2 << 8)
        + write("VFD_FETCH[0].BASE", 0x200000, 0, 256, 8)
        + write("VFD_FETCH[1].BASE", 0x200100, 0, 256, 8)
        + write("VFD_DECODE[0].INSTR", 0)
        + write("VFD_DECODE[1].INSTR", 1 | 1 << 17)
        + write("VFD_INDEX_OFFSET", 5, 7)
    )
    data = frame_bytes([DrawCall(3, packets=state, instances=2)], buffers={0x200000: bytes(512)})
    (draw,) = cffpy.open(data).draws
    assert [
        (one.slot, one.address, one.first_byte, len(one.data or b"")) for one in draw.vertex_buffers
    ] == [(0, 0x200000, 40, 24), (1, 0x200100, 56, 16)]
    assert repr(draw.vertex_buffers[0]).endswith("at 0x200000, 24 bytes from 0x28 on>")


def test_buffers_of_an_unknown_number_of_vertices() -> None:
    """Without the indices it is not known what is fetched; where the buffer lies is."""
    state = write("VFD_CONTROL_0", 1 | 1 << 8) + write("VFD_FETCH[0].BASE", 0x200000, 0, 256, 8)
    indexed = type7(DRAW, TRIANGLES | FROM_MEMORY | 1 << 10, 1, 3, 0, 0x900000, 0, 3)
    data = frame_bytes([DrawCall(3, packets=state + indexed)], buffers={0x200000: bytes(512)})
    draw, other = cffpy.open(data).draws
    assert [(one.address, one.data) for one in draw.vertex_buffers] == [(0x200000, None)]
    assert [len(one.data or b"") for one in other.vertex_buffers] == [24]


@pytest.mark.slow
def test_of_captures_of_all_generations(shared: Path) -> None:
    bindless = cffpy.open(shared / "captures/a740-vk-bindless-gmem.rd.gz").draws[0]
    assert {one.bindless_set for one in bindless.textures} == {1}
    assert bindless.textures[0].FMT == "FMT6_8_8_8_8_UNORM"
    assert [len(one.data or b"") for one in bindless.vertex_buffers] == [768]
    meshes = cffpy.open(shared / "captures/a740-vk-bindless-gmem.rd.gz").draws[:4]
    ends = [one.first_byte + len(one.data or b"") for draw in meshes for one in draw.vertex_buffers]
    starts = [one.first_byte for draw in meshes for one in draw.vertex_buffers]
    assert starts == [0, *ends[:-1]]  # they lie behind one another
    old = cffpy.open(shared / "captures/a330-gl-inst-mrt.rd.gz").draws[0]
    assert old.textures[0].address is not None
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
    assert [one.address for one in draw.textures] == [0x100E18000]
    assert [one.label for one in draw.samplers] == ["0 of FS"]
    assert [one.label for one in draw.constants] == ["0 of VS"]
