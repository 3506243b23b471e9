# SPDX-License-Identifier: MIT
"""A capture of large frames: one IB of draws, executed in a binning run and in every tile."""

from __future__ import annotations

from tests.analysis.passes.marked import bins, targets, tile
from tests.analysis.passes.streams import Streams

WIDTH, HEIGHT = 128, 96  # of a tile, in pixels
DRAWS = 0x4000_0000


def frames_capture(frames: int, draws: int, tiles: int, gpu: int = 630) -> bytes:
    """``frames`` submits with separate buffers, each a pass of ``draws`` in ``tiles`` tiles."""
    s = Streams(gpu)
    s.buffers[DRAWS] = [*targets(s), *s.draw(3) * draws]
    call = s.call(DRAWS, len(s.buffers[DRAWS]))
    frame = [
        *s.marker("RM6_BIN_VISIBILITY"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, WIDTH * tiles, HEIGHT),
        *bins(s, WIDTH, HEIGHT, "BINNING_PASS"),
        *call,
    ]
    for number in range(tiles):
        frame += tile(s, WIDTH * number, 0, WIDTH, HEIGHT, call)
    return s.capture(*[[[frame]]] * frames)
