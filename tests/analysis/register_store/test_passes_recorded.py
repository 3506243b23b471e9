# SPDX-License-Identifier: MIT
"""A walk that records registers finds the same passes as one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_bytes, open_capture
from tests.analysis.passes.marked import move, targets, tile
from tests.analysis.passes.streams import Streams
from tests.analysis.register_store.replay import recorded, state_at
from tests.selection import first_always


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    first_always(
        [
            "a201-gl-scene60",
            "a320-gl-scene150-720p",
            "a430-gl-cube-gmem",
            "a530-gl-blit-msaa",
            "fd-clouds",
            "a740-vk-fdm",
        ]
    ),
)
def test_same_passes(shared: Path, name: str) -> None:
    content = open_capture(str(shared / "captures" / f"{name}.rd.gz"))
    plain, _ = find_passes(content, lambda line: None)
    keeping = recorded(content).finder
    shapes = [
        [
            (one.kind, one.mode, str(one.first), len(one.tiles), len(one.draws))
            for one in finder.found.passes
        ]
        for finder in (plain, keeping)
    ]
    assert shapes[0] == shapes[1]
    assert [a.dump_draw for a in plain.actions] == [a.dump_draw for a in keeping.actions]


def test_what_a_tile_sets_before_its_offset_is_of_its_own_pass() -> None:
    """The offset, after the first packets, shows that the tile belongs to another pass."""
    s = Streams(660)
    draws = s.ib(targets(s), s.draw())
    walk = tile(s, 0, 0, 128, 96, draws, move(s, "STORE", 0, 0x1_0010_0000))
    data = s.capture([[walk, walk]])
    finder, _ = find_passes(open_bytes(data), lambda line: None)
    assert [len(one.tiles) for one in finder.found.passes] == [1, 1]
    second = finder.found.passes[1].draws[0]
    found = state_at(open_bytes(data), second.order, lambda line: None)
    assert found is not None
    write = found.writes[s.offset("RB_WINDOW_OFFSET")]
    assert (write.pass_index, write.origin(found.action)) == (1, "this pass")
