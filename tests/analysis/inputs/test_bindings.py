# SPDX-License-Identifier: MIT
"""Textures of a2xx: fetch constants that packets load and that instructions name."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.inputs.bindings import FetchedTextures
from cffpy.analysis.inputs.facts import FactKey, InputFact
from cffpy.analysis.inputs.uses import ALL_STAGES, DrawUses, SlotRegisters
from cffpy.isa.operands import TEXTURE, Descriptor
from tests.selection import first_always

SAMPLES = Path(__file__).resolve().parents[3] / "samples"

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: CP_SET_CONSTANT: fetch constants.
FETCH = 1 << 16

#: Pitch; format and address 0x5000; 64 x 32 texels.
TEXTURE_DWORDS = (2 << 22, 0x5006, 63 | 31 << 13, 0, 0, 0)
#: A vertex buffer: its kind is in the lowest bits.
BUFFER_DWORDS = (0x6003, 0x100)


def loaded(index: int, dwords: Sequence[int]) -> dict[FactKey, InputFact | None]:
    data = memoryview(struct.pack(f"<{len(dwords)}I", *dwords))
    return {("constants", FETCH | index): InputFact(bytes(data), data)}


def textures() -> FetchedTextures:
    return FetchedTextures(("A2XX_SQ_TEX", 6))


def test_a_texture_that_a_packet_loads() -> None:
    ((key, fact),) = textures().changed(loaded(12, TEXTURE_DWORDS)).items()
    assert key == ("texture", ALL_STAGES, 2)
    assert fact is not None
    assert (fact.points_at, fact.domain) == (0x5000, "A2XX_SQ_TEX")
    assert struct.unpack("<6I", fact.data or b"") == TEXTURE_DWORDS


def test_several_textures_of_one_packet_and_one_of_several_packets() -> None:
    found = textures().changed(loaded(0, (*TEXTURE_DWORDS, *TEXTURE_DWORDS)))
    assert [key[2] for key in found] == [0, 1]
    followed = textures()
    assert followed.changed(loaded(6, TEXTURE_DWORDS[:4])) == {}
    assert [key[2] for key in followed.changed(loaded(10, TEXTURE_DWORDS[4:]))] == [1]


def test_what_is_no_texture() -> None:
    for dwords in (BUFFER_DWORDS * 3, (0,) * 6, TEXTURE_DWORDS[:5], ()):
        assert textures().changed(loaded(0, dwords)) == {}
    assert textures().changed({("constants", 2 << 16): InputFact(b"", memoryview(bytes(24)))}) == {}
    assert textures().changed({("constants", "FS", 0): InputFact(b"", memoryview(bytes(24)))}) == {}
    assert textures().changed(loaded(6 * 32, TEXTURE_DWORDS)) == {}, "there are 32 constants"


def test_a_texture_goes_where_its_constant_is_written_or_no_more_known() -> None:
    key = ("texture", ALL_STAGES, 0)
    followed = textures()
    first = loaded(0, TEXTURE_DWORDS)
    assert key in followed.changed(first)
    assert followed.changed(first) == {}, "the same again"
    assert followed.changed(loaded(2, BUFFER_DWORDS)) != {}, "other contents"
    assert followed.changed({("constants", FETCH): None}) == {key: None}


def test_all_stages_share_the_constants() -> None:
    registers = SlotRegisters(shared=frozenset((TEXTURE,)))
    named = frozenset((Descriptor(TEXTURE, False, None, 3),))
    uses = DrawUses((("VS", named), ("FS", frozenset())), registers, names_uniform=True)
    use = uses.of(TEXTURE, ALL_STAGES, 3)
    assert use is not None
    assert (use.stages, use.reads, use.is_sure) == (("VS",), True, True)
    assert uses.of(TEXTURE, ALL_STAGES, 2) is None
    unknown = DrawUses((("VS", named), ("FS", None)), registers, names_uniform=True)
    other = unknown.of(TEXTURE, ALL_STAGES, 2)
    assert other is not None
    assert (other.stages, other.reads, other.is_sure) == (("FS",), True, False)


@pytest.mark.parametrize(
    ("name", "with_texture"),
    first_always([("a220-gl-passes", 64), ("a220-gl-cube-full", 1), ("a200-gl-tri", 0)], names=2),
)
def test_draws_of_real_captures(shared: Path, run_cffpy: Run, name: str, with_texture: int) -> None:
    """Each draw whose program has a SAMPLE has its texture; and no other."""
    path = shared / "captures" / f"{name}.rd.gz"
    with cffpy.open(path) as capture:
        draws = [draw for draw in capture.draws if draw.textures]
        assert len(draws) == with_texture
        for draw in capture.draws:
            listings = "".join(shader.listing for shader in draw.shaders.values())
            named = re.findall(r"SAMPLE.*CONST\((\d+)\)", listings)
            assert {texture.slot for texture in draw.textures} == set(map(int, named))
        for draw in draws:
            for texture in draw.textures:
                assert (texture.stage, texture.used, texture.sure) == (None, True, True)
                assert draw in list(capture.draws.where(f"sampled({texture.address:#x})"))
                assert texture.FORMAT in ("FMT_8_8_8_8", "FMT_5_6_5", "FMT_24_8")
    query = "SELECT width, height, format FROM descriptors WHERE kind = 'texture'"
    rows = json.loads(run_cffpy("sql", path, query, "--json").stdout)["rows"]
    assert bool(rows) == bool(with_texture)
    assert all(width and height and text for width, height, text in rows)


@pytest.mark.parametrize("captured", [True, False])
def test_constants_that_lie_in_memory(captured: bool) -> None:
    """CP_LOAD_CONSTANT_CONTEXT: the program was not captured, so each texture may be used."""
    sample = (SAMPLES / "a220-triangle.pm4").read_text()
    draw = "    CP_DRAW_INDX PRIM_TYPE"
    before, line, behind = sample.partition(draw)
    dwords = " ".join(f"{dword:08x}" for dword in TEXTURE_DWORDS)
    # of TYPE 1, constant 2 from index 12 on
    load = "    CP_LOAD_CONSTANT_CONTEXT [0]=0x10002000 [1]=0x1000c [2]=0x6\n"
    memory = f"buffer constants 0x10002000 short {{\n  data values {{\n    {dwords}\n  }}\n}}\n"
    text = f"{before}{load}{line}{behind}"
    if captured:
        text = text.replace("\nstream main", f"\n{memory}\nstream main")
    with cffpy.open(cffpy.compile(text)) as capture:
        (drawn,) = capture.draws
        bound = [(one.slot, one.address) for one in drawn.descriptors if one.kind == "texture"]
    assert bound == ([(2, 0x5000)] if captured else [])
