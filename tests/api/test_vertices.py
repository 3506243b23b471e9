# SPDX-License-Identifier: MIT
"""Vertex attributes of all generations, and the buffers of a2xx."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.api.vertices import attributes_of_program
from cffpy.frame.binding import VertexAttribute
from cffpy.isa.a2xx import A2xxDisassembler


def test_no_program() -> None:
    fetch = (0x13480000, 0x40262688, 0x00001020)  # no control flow leads to it
    data = b"".join(word.to_bytes(4, "little") for word in fetch)
    assert A2xxDisassembler().vertex_fetches(data) == []
    assert attributes_of_program(A2xxDisassembler().vertex_fetches(b"")) == []


def test_attributes_of_a_sample(samples: Path) -> None:
    with cffpy.open(samples / "a660-textures.rd") as capture:
        for draw in capture.draws:
            for one in draw.attributes:
                assert one.format.startswith("FMT6_")
                assert one.stride is None or one.stride >= 0


def test_attributes_that_share_a_buffer(samples: Path) -> None:
    """A position and a colour in turns: the colour begins 12 bytes after the position."""
    form = "FMT6_32_32_32_FLOAT"
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        assert capture.draws[0].attributes == [
            VertexAttribute(0, form, 0, 0, 24, swap="WZYX"),
            VertexAttribute(1, form, 0, 12, 24, swap="WZYX"),
        ]


@pytest.mark.slow
def test_vertices_of_a2xx(shared: Path) -> None:
    with cffpy.open(shared / "captures/a220-gl-cube-full.rd.gz") as capture:
        draw = next(one for one in capture.draws if len(one.vertex_buffers) == 3)
        first = draw.vertex_buffers[0]
        assert first.floats[:3] == (-1.0, -1.0, -1.0)
        assert [one.slot for one in draw.vertex_buffers] == [60, 61, 62]
        assert [one.stride for one in draw.attributes] == [32, 32, 32]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draw", "attributes"),
    [
        (
            "a220-gl-cube",
            "p13:0",
            [
                VertexAttribute(0, "FMT_32_32_32_32_FLOAT", 60, 0, 32),
                VertexAttribute(1, "FMT_32_32_32_32_FLOAT", 61, 16, 32),
            ],
        ),
        (
            "a306-gl-cube-gmem",
            "p13:0",
            [
                VertexAttribute(0, "VFMT_32_32_32_32_FLOAT", 0, 0, 32, swap="WZYX"),
                VertexAttribute(1, "VFMT_32_32_32_32_FLOAT", 1, 0, 32, swap="WZYX"),
            ],
        ),
        (
            "a430-gl-cube-gmem",
            "p13:0",
            [
                VertexAttribute(0, "VFMT4_32_32_32_32_FLOAT", 0, 0, 32, swap="WZYX"),
                VertexAttribute(1, "VFMT4_32_32_32_32_FLOAT", 1, 0, 32, swap="WZYX"),
            ],
        ),
        (
            "a530-gl-tri",
            "p0:0",
            [VertexAttribute(0, "VFMT5_32_32_32_FLOAT", 0, 0, 12, swap="WZYX")],
        ),
    ],
)
def test_attributes(name: str, draw: str, attributes: list[VertexAttribute], shared: Path) -> None:
    with cffpy.open(shared / f"captures/{name}.rd.gz") as capture:
        found = capture.draw(draw)
        assert isinstance(found, cffpy.Draw)
        assert found.attributes == attributes
        slots = {one.slot for one in found.vertex_buffers}
        assert slots == {one.buffer for one in attributes}
