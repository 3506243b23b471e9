# SPDX-License-Identifier: MIT
"""Textures whose images other passes fill: an image with fewer levels is one cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.diff.addresses import ImageLinks
from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.recording import record
from cffpy.analysis.diff.rules import RULES
from cffpy.analysis.diff.state import CaptureState
from cffpy.container.open import open_bytes
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import NewSection, capture_bytes
from tests.golden.diff_edits import (
    EDITS,
    Subject,
    dword_offset,
    file_offset,
    go_on,
    subject,
)


def without_streams(data: bytes, gone: set[int]) -> bytes:
    """A capture without some of its command streams."""
    kept = []
    number = -1
    for section in iter_sections(open_bytes(data).data):
        if section.type == SectionType.CMDSTREAM_ADDR:
            number += 1
            if number in gone:
                continue
        kept.append(NewSection(section.type, bytes(section.payload)))
    return capture_bytes(kept)


def levels(where: Subject, image: int) -> list[int]:
    """Streams of the passes that write levels of an image, lowest first."""
    links = ImageLinks(Comparison(where.recording, where.recording))
    return [
        one.streams[0]
        for one in where.recording.passes.passes
        if len(one.draws) <= 2 and image in links.written_images(one, 0)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "pair-a330-gl-scene-good",
        "pair-a430-gl-scene-good",
        "a540-gl-scene150-720p",
        "a630-gl-scene150-gmem",
        "a740-gl-scene150-gmem",
    ],
)
def test_passes_that_fill_levels_follow_from_how_many_there_are(shared: Path, name: str) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    where = subject(path)
    edit = EDITS["texture mips"](where)
    alone = compare(
        where.recording, record(open_bytes(edit.data), lambda line: None), frozenset(RULES)
    )
    (image,) = {d.images[0] for d in alone.entries[0].differences}
    assert image is not None
    gone = levels(where, image)[3:]
    assert len(gone) >= 3
    bad = record(open_bytes(without_streams(edit.data, set(gone))), lambda line: None)
    (entry,) = compare(where.recording, bad, frozenset(RULES)).entries
    assert any(d.name.endswith(": MIPLVLS") for d in entry.differences)
    assert [one.title.split(" of good ")[1] for one in entry.consequences] == [
        f"are missing in bad ({len(gone)} draws)"
    ]


#: Registers of the 2D engine with a format: of its bits, the mask and the first.
FORMATS = {
    "RB_2D_DST_INFO": (0xFF, 0),
    "RB_2D_SRC_INFO": (0xFF, 0),
    "GRAS_2D_DST_INFO": (0xFF, 0),
    "GRAS_2D_SRC_INFO": (0xFF, 0),
    "SP_PS_2D_SRC_INFO": (0xFF, 0),
    "GRAS_2D_BLIT_CNTL": (0xFF00, 8),
    "RB_2D_BLIT_CNTL": (0xFF00, 8),
}

#: FMT of a texture's first dword: its first bit. R8G8B8A8 as UNORM and as SNORM, of all engines.
FMT, UNORM, SNORM = 22, 0x30, 0x32


def with_another_format(where: Subject, image: int) -> bytes:
    """The capture with another format of an image, in its textures and in copies into it."""
    links = ImageLinks(Comparison(where.recording, where.recording))
    state, data = CaptureState(where.recording), bytearray(where.content.data)
    places: set[tuple[int, int, int]] = set()
    for one in where.recording.passes.passes:
        written = links.written_images(one, 0)
        for item in where.recording.of(one):
            at = go_on(state, item)
            if item.action.kind == "draw":
                places |= {
                    (file_offset(where.content, fact.data), 0xFF << FMT, FMT)
                    for key, fact in at.facts.items()
                    if key[0] == "texture" and fact.data is not None
                    if fact.points_at is not None and links.image_of(fact.points_at, 0) == image
                }
            elif item.action.kind == "blit" and image in written:
                address = state.registers.address("RB_2D_DST")
                if address is not None and links.image_of(address, 0) == image:
                    places |= {
                        (dword_offset(at.writes[name], at.offsets[name]), *FORMATS[name])
                        for name in FORMATS.keys() & at.writes.keys()
                    }
    for offset, mask, shift in places:
        value = int.from_bytes(data[offset : offset + 4], "little")
        if value & mask == UNORM << shift:
            data[offset : offset + 4] = (value & ~mask | SNORM << shift).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("a690-vk-frame-720p", 0x100163000),
        pytest.param("a530-gl-scene-msaa4", 0xFFDF1000, marks=pytest.mark.slow),
        pytest.param("a660-gl-scene-msaa4-1080p", 0xFF383000, marks=pytest.mark.slow),
    ],
)
def test_the_format_of_an_upload_follows_from_that_of_the_texture(
    shared: Path, name: str, image: int
) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    where = subject(path)
    bad = record(open_bytes(with_another_format(where, image)), lambda line: None)
    (entry,) = compare(where.recording, bad, frozenset(RULES)).entries
    assert ": FMT: " in entry.title
    names = {d.name for one in entry.consequences for d in one.differences}
    assert any("2D" in name and name.endswith(".COLOR_FORMAT") for name in names)


@pytest.mark.slow
def test_another_format_of_an_upload_alone_is_a_cause(shared: Path) -> None:
    path = shared / "captures" / "a690-vk-frame-720p.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    where = subject(path)
    first = next(one for one in where.recording.records.values() if one.action.kind == "blit")
    at = go_on(CaptureState(where.recording), first)
    offset = dword_offset(at.writes["RB_2D_DST_INFO"], at.offsets["RB_2D_DST_INFO"])
    data = bytearray(where.content.data)
    data[offset] ^= UNORM ^ SNORM
    bad = record(open_bytes(bytes(data)), lambda line: None)
    (entry,) = compare(where.recording, bad, frozenset(RULES)).entries
    assert "RB_2D_DST_INFO.COLOR_FORMAT" in entry.title
