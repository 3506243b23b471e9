# SPDX-License-Identifier: MIT
"""A walk that keeps provenance finds the same passes as one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.passes.finder import find_passes, run
from cffpy.analysis.provenance import InheritanceFinder
from cffpy.container.open import open_capture


@pytest.mark.parametrize(
    "name",
    [
        "a201-gl-scene60",
        "a320-gl-scene150-720p",
        "a430-gl-cube-gmem",
        "a530-gl-blit-msaa",
        "fd-clouds",
        "a740-vk-fdm",
    ],
)
def test_same_passes(shared: Path, name: str) -> None:
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    plain, _ = find_passes(content, lambda line: None)
    keeping = InheritanceFinder()
    run(keeping, content, lambda line: None)
    shapes = [
        [
            (one.kind, one.mode, str(one.first), len(one.tiles), len(one.program_draws))
            for one in finder.found.passes
        ]
        for finder in (plain, keeping)
    ]
    assert shapes[0] == shapes[1]
    assert [a.number for a in plain.actions] == [a.number for a in keeping.actions]
