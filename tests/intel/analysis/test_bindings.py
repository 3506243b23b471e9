# SPDX-License-Identifier: MIT
"""Bindings of draws: which surfaces, samplers and buffers, and what kernels do with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.errors import CaptureError
from cffpy.frame.action import Action
from cffpy.image.texels import PictureError
from cffpy.intel.decoder.kernels import (
    CONSTANT,
    DATA,
    SAMPLED,
    Message,
    SurfaceAccess,
    sampler_index,
    surface_access,
    uses_addresses,
)
from tests.intel import frames


def send(sfid: int, descriptor: int) -> bytes:
    """A message of gen9 whose descriptor is an immediate."""
    return frames.words(0x31 | sfid << 24, 0, 3 << 25, descriptor)


def computed(sfid: int) -> bytes:
    """A message of gen9 whose descriptor is in a register."""
    return frames.words(0x31 | sfid << 24, 0, 0, 0)


def with_kernel(code: bytes) -> bytes:
    """The frame, with a fragment kernel that sends these messages first."""
    memory = frames.batches()
    kernel = (code + frames.kernel()).ljust(0x400, b"\0")
    memory[frames.KERNELS] = bytes(0x400) + kernel + frames.kernel()
    return frames.frame(memory)


def shown(draw: Action) -> list[tuple[object, ...]]:
    return [
        (one.kind, one.stage, one.slot, one.address, one.used, one.sure, one.reads, one.writes)
        for one in draw.bindings
    ]


LSC_LOAD, LSC_STORE, LSC_ATOMIC, LSC_FENCE = 0, 4, 12, 31


@pytest.mark.parametrize(
    ("message", "verx10", "expected"),
    [
        (Message(2, 3 | 1 << 8), 90, SurfaceAccess(3, False, SAMPLED, True, False)),
        (Message(9, 4), 90, SurfaceAccess(4, False, CONSTANT, True, False)),
        (Message(12, 5 | 1 << 14), 90, SurfaceAccess(5, False, DATA, True, False)),
        (Message(12, 5 | 9 << 14), 90, SurfaceAccess(5, False, DATA, False, True)),
        (Message(12, 5 | 2 << 14), 90, SurfaceAccess(5, False, DATA, True, True)),
        (Message(10, 5 | 13 << 14), 70, SurfaceAccess(5, False, DATA, False, True)),
        (Message(10, 5 | 5 << 14), 70, SurfaceAccess(5, False, DATA, True, False)),
        (Message(10, 7 << 14), 90, None),
        (Message(12, 252 | 1 << 14), 90, SurfaceAccess(None, True, DATA, True, False)),
        (Message(12, 255 | 0x19 << 14), 90, None),
        (Message(2, None), 90, SurfaceAccess(None, False, SAMPLED, True, False)),
        (Message(10, None), 90, SurfaceAccess(None, False, DATA, True, True)),
        (Message(5, 0), 90, None),
        (Message(6, 3), 90, None),
        (Message(15, LSC_LOAD | 3 << 29, 7 << 24), 125, SurfaceAccess(7, False, DATA, True, False)),
        (
            Message(13, LSC_STORE | 3 << 29, 7 << 24),
            200,
            SurfaceAccess(7, False, DATA, False, True),
        ),
        (Message(15, LSC_ATOMIC | 1 << 29), 125, SurfaceAccess(None, True, DATA, True, True)),
        (Message(15, LSC_LOAD | 3 << 29), 125, SurfaceAccess(None, False, DATA, True, False)),
        (Message(15, LSC_FENCE | 3 << 29, 7 << 24), 125, None),
        (Message(15, LSC_LOAD), 125, None),
        (Message(15, LSC_LOAD | 3 << 29, 7 << 24), 120, None),
    ],
)
def test_what_messages_do(message: Message, verx10: int, expected: SurfaceAccess | None) -> None:
    assert surface_access(message, verx10) == expected


def test_messages_with_addresses() -> None:
    assert uses_addresses(Message(12, 255 | 0x19 << 14), 90)
    assert uses_addresses(Message(15, LSC_LOAD), 125)
    assert not uses_addresses(Message(12, 254 | 1 << 14), 90), "shared local memory"
    assert not uses_addresses(Message(15, LSC_FENCE), 125)
    assert not uses_addresses(Message(2, None), 90)


def test_samplers_of_messages() -> None:
    assert sampler_index(Message(2, 3 | 5 << 8), 9) == 5
    assert sampler_index(Message(2, 3 | 5 << 8 | 7 << 12), 9) is None, "ld takes no sampler"
    assert sampler_index(Message(2, 252 | 5 << 8), 9) is None
    assert sampler_index(Message(9, 3 | 5 << 8), 9) is None


def test_what_a_kernel_names_is_used() -> None:
    code = send(2, 2) + send(12, 3 | 9 << 14)
    with cffpy.open(with_kernel(code)) as capture:
        draw = capture.draw("p0:0")
        assert shown(draw) == [
            ("texture", "PS", 2, frames.TEXTURE, True, True, True, False),
            ("storage", None, 0, frames.UNIFORMS, False, False, False, False),
            ("storage", None, 2, frames.TEXTURE, False, False, False, False),
            ("storage", "PS", 3, frames.UNIFORMS, True, True, False, True),
            ("uniform buffer", "PS", 1, frames.SET, False, False, False, False),
        ]
        (texture,) = draw.textures
        assert (texture.format, texture.width, texture.height) == ("R8G8B8A8_UNORM", 16, 16)
        assert (texture.enabled, texture.bound, texture.place) == (True, True, None)
        assert texture.fields["Surface Type"].text == "1 (SURFTYPE_2D)"
        assert len(texture.dwords) == 16
        assert draw.storage[0].slot == 3
        with pytest.raises(PictureError):
            _ = texture.image


def test_what_a_kernel_computes_may_be_used() -> None:
    with cffpy.open(with_kernel(computed(2))) as capture:
        draw = capture.draw("p0:0")
        used = [(one.kind, one.slot, one.sure) for one in draw.bindings if one.used]
        assert used == [
            ("texture", 2, False),
            ("uniform buffer", 1, False),
            ("uniform buffer", 3, False),
            ("uniform data", 1, False),
            ("uniform data", 3, False),
        ]
        assert [one.size for one in draw.uniform_buffers] == [64, 256]


def test_a_kernel_that_was_not_captured_may_use_all() -> None:
    memory = frames.batches()
    del memory[frames.KERNELS]
    with cffpy.open(frames.frame(memory)) as capture:
        bindings = capture.draw("p0:0").descriptors
        assert {(one.used, one.sure) for one in bindings} == {(True, False)}
        assert {one.kind for one in bindings} == {"texture", "storage", "uniform buffer"}


def test_a_table_that_was_not_captured_is_not_known() -> None:
    memory = frames.batches()
    del memory[frames.TABLES]
    with cffpy.open(frames.frame(memory)) as capture:
        assert capture.draw("p0:0").textures == []
        assert len(capture.draws.where("unknown(texture.address)")) == len(capture.draws)


def test_only_draws_of_the_program_are_recorded() -> None:
    with cffpy.open(frames.frame()) as capture:
        clear = capture.actions[0]
        with pytest.raises(CaptureError, match=r"is not recorded: ask the draw in Pass\.draws"):
            _ = clear.bindings


def test_filters() -> None:
    with cffpy.open(with_kernel(send(2, 2))) as capture:
        count = len(capture.draws)
        texture = f"{frames.TEXTURE:#x}"
        for holds in (
            f"texture.address == {texture}",
            f"sampled({texture})",
            "texture.format == R8G8B8A8_UNORM and texture.width == 16",
            "texture.Surface_Type == SURFTYPE_2D",
            "bound_uniform_buffer.used == false",
        ):
            assert len(capture.draws.where(holds)) == count, holds
        assert not capture.draws.where("texture.Surface_Type == SURFTYPE_3D")


def test_tables(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    path = tmp_path / "a.aub"
    path.write_bytes(with_kernel(send(2, 2)))
    query = "SELECT kind, slot, used, first_draw, last_draw FROM descriptors"
    assert ("texture", 2, True, 0, 7) in [*cffpy.sql([path], query)]
    query = "SELECT decoded FROM descriptor_fields WHERE field = 'Surface Type'"
    assert ("1 (SURFTYPE_2D)",) in [*cffpy.sql([path], query)]
    query = "SELECT DISTINCT kind, stage, slot, size FROM data_buffers"
    data = [("constants", "PS", 3, 128), ("push constants", "PS", 0, 256)]
    assert sorted(cffpy.sql([path], query)) == data


def test_bindings_of_a_driver(shared: Path) -> None:
    """One texture and one sampler are used; uniform buffers are pushed: no message reads them."""
    for name in ("skl-vk-cube", "lnl-vk-cube"):
        with cffpy.open(shared / "intel" / "captures" / f"{name}.aub.gz") as capture:
            draw = capture.draw("p0:0")
            assert [(one.stage, one.slot, one.sure) for one in draw.textures] == [("PS", 3, True)]
            assert [(one.stage, one.slot, one.sure) for one in draw.samplers] == [("PS", 0, True)]
            assert draw.storage == draw.uniform_buffers == []
            vertices, indices = draw.vertex_buffers[0], draw._bound.buffers("index buffer")[0]
            assert (vertices.slot, vertices.size) == (0, 8736)
            assert (indices.size, max(indices.data.cast("H"))) == (2 * 72, 23)
            assert {one.stage for one in draw.constants} == {"VS", "PS"}


def test_samplers_that_the_driver_does_not_count(shared: Path) -> None:
    """On gen11 the number of samplers is left out: those that the kernel names."""
    with cffpy.open(shared / "intel" / "captures" / "icl-vk-passes.aub.gz") as capture:
        draw = capture.passes[-1].draws[0]
        assert [(one.stage, one.slot) for one in draw.samplers] == [("PS", 0)]


def test_storage_of_dispatches(shared: Path) -> None:
    """What a dispatch writes is storage, from gen7 to Xe3."""
    for name in ("hsw-gl-compute", "skl-vk-compute", "dg2-vk-compute", "ptl-vk-compute"):
        with cffpy.open(shared / "intel" / "captures" / f"{name}.aub.gz") as capture:
            written = [one for draw in capture.draws for one in draw.storage if one.writes]
            assert written, name
            assert all(one.sure for one in written), name
