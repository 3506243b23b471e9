# SPDX-License-Identifier: MIT
"""Textures whose images other passes fill: an image with fewer levels is one cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.diff.addresses import ImageLinks
from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.record import record
from cffpy.analysis.diff.rules import CLASSES
from cffpy.container.open import open_bytes
from cffpy.container.rd import SectionType, iter_sections
from cffpy.container.writer import NewSection, capture_bytes
from tests.golden.diff_edits import EDITS, Subject, subject


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
        if len(one.program_draws) <= 2 and image in links.written_images(one, 0)
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
        where.recording, record(open_bytes(edit.data), lambda line: None), frozenset(CLASSES)
    )
    (image,) = {d.images[0] for d in alone.entries[0].differences}
    assert image is not None
    gone = levels(where, image)[3:]
    assert len(gone) >= 3
    bad = record(open_bytes(without_streams(edit.data, set(gone))), lambda line: None)
    (entry,) = compare(where.recording, bad, frozenset(CLASSES)).entries
    assert any(d.name.endswith(": MIPLVLS") for d in entry.differences)
    assert [one.title.split(" of good ")[1] for one in entry.consequences] == [
        f"are missing in bad ({len(gone)} draws)"
    ]
