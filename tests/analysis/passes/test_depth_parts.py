# SPDX-License-Identifier: MIT
"""Depth and stencil in one buffer or in two: what loads, clears and stores are about (a6xx on).

By the format alone: only 24_8 holds stencil. Masks of 0xf of other formats are whole, not parts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_capture
from tests.analysis.passes.marked import BOTH, DEPTH, GMEM_DEPTH, move, only, sysmem, targets, tile
from tests.analysis.passes.streams import Streams

GMEM_STENCIL, STENCIL = 0x60000, 0x1_00E0_0000


def buffers(s: Streams, form: str) -> list[int]:
    """Targets with depth of this format; of ``D32S8``, with stencil of its own."""
    code = targets(s)
    code += s.reg("RB_DEPTH_BUFFER_INFO", DEPTH_FORMAT=form.replace("D32S8", "DEPTH6_32"))
    code += s.reg("RB_STENCIL_INFO", SEPARATE_STENCIL=int(form == "D32S8"))
    code += s.address("RB_STENCIL_BUFFER_BASE", STENCIL)
    return code + s.reg("RB_STENCIL_BUFFER_BASE_GMEM", value=GMEM_STENCIL)


def cleared(s: Streams, mask: int, gmem: int, depth: int = 1) -> list[int]:
    """A clear by event; with ``depth``, of a depth or stencil buffer as such."""
    return [
        *s.reg("RB_BLIT_INFO", TYPE="BLIT_EVENT_CLEAR", CLEAR_MASK=mask, DEPTH=depth),
        *s.reg("RB_BLIT_BASE_GMEM", value=gmem),
        *s.event("BLIT"),
    ]


def names(s: Streams, form: str, *body: list[int], stores: list[int] | None = None) -> list[str]:
    code = s.ib(buffers(s, form), *body, s.draw())
    found = only(s.find(tile(s, 0, 0, 100, 90, code, stores or [])).found.passes)
    return [one.attachment or "?" for one in found.tiles[0].operations]


@BOTH
@pytest.mark.parametrize(
    ("form", "mask", "name"),
    [
        ("DEPTH6_16", 0xF, "depth"),
        ("DEPTH6_32", 0xF, "depth"),
        ("DEPTH6_16", 1, "depth"),
        ("DEPTH6_24_8", 0xF, "depth+stencil"),
        ("DEPTH6_24_8", 3, "depth+stencil"),
        ("DEPTH6_24_8", 1, "depth"),
        ("DEPTH6_24_8", 2, "stencil"),
        ("D32S8", 0xF, "depth"),
    ],
)
def test_clears_by_event(gpu: int, form: str, mask: int, name: str) -> None:
    s = Streams(gpu)
    assert names(s, form, cleared(s, mask, GMEM_DEPTH)) == [name]


@BOTH
def test_stencil_of_its_own(gpu: int) -> None:
    s = Streams(gpu)
    stores = [
        *move(s, "STORE", GMEM_DEPTH, DEPTH, depth=True),
        *move(s, "STORE", GMEM_STENCIL, STENCIL, depth=True),
    ]
    found = names(s, "D32S8", cleared(s, 0xF, GMEM_STENCIL), stores=stores)
    assert found == ["stencil", "depth", "stencil"]


@BOTH
@pytest.mark.parametrize(
    ("form", "name"), [("DEPTH6_16", "depth"), ("DEPTH6_24_8", "depth+stencil")]
)
def test_loads_and_stores(gpu: int, form: str, name: str) -> None:
    s = Streams(gpu)
    load, store = (move(s, kind, GMEM_DEPTH, DEPTH, depth=True) for kind in ("LOAD", "STORE"))
    assert names(s, form, load, stores=store) == [name, name]


@BOTH
@pytest.mark.parametrize(
    ("form", "mask", "name"),
    [
        ("DEPTH6_24_8", 0xF, "depth+stencil"),
        ("DEPTH6_24_8", 7, "depth"),
        ("DEPTH6_24_8", 8, "stencil"),
        ("DEPTH6_32", 0xF, "depth"),
    ],
)
def test_clears_in_sysmem(gpu: int, form: str, mask: int, name: str) -> None:
    """CP_BLIT clears as a colour, of which depth is three components."""
    s = Streams(gpu)
    fill = [
        *s.reg("RB_2D_BLIT_CNTL", SOLID_COLOR=1, MASK=mask),
        *s.address("RB_2D_DST", DEPTH),
        *s.packet("CP_BLIT", 3),
    ]
    found = only(s.find(sysmem(s, buffers(s, form), fill, s.draw())).found.passes)
    assert found.direct is not None
    assert [one.attachment for one in found.direct.operations] == [name]


@BOTH
def test_a_pass_without_draws(gpu: int) -> None:
    """The buffer is bound and cleared, and neither drawn to nor stored."""
    s = Streams(gpu)
    bound = [*buffers(s, "DEPTH6_24_8"), *s.reg("RB_FS_OUTPUT_CNTL1", MRT=0)]
    clears = s.ib(cleared(s, 3, GMEM_DEPTH), cleared(s, 1, GMEM_DEPTH))
    found = only(s.find(bound, tile(s, 0, 0, 100, 90, clears)).found.passes)
    operations = [one.attachment for one in found.tiles[0].operations]
    assert operations == ["depth+stencil", "depth"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "capture", ["a660-vk-passes-gmem", "a530-gl-blit-msaa", "a430-gl-passes-restore"]
)
def test_no_stencil_without_a_format_that_has_it(capture: str, shared: Path) -> None:
    finder: PassFinder
    finder, _ = find_passes(open_capture(str(shared / f"captures/{capture}.rd.gz")), print)
    seen = 0
    for one in finder.found.passes:
        by_name = {attachment.name: attachment for attachment in one.attachments}
        if "depth" not in by_name or by_name["depth"].format is None:
            continue
        has_stencil = by_name["depth"].packs_stencil
        for operation in one.rendered_operations:
            parts = (operation.attachment or "").split("+")
            if operation.kind in ("load", "store") and "depth" in parts:
                assert ("stencil" in parts) == has_stencil
                seen += 1
            if "stencil" in parts:
                assert has_stencil or "stencil" in by_name
    assert seen
