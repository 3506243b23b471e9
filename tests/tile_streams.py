# SPDX-License-Identifier: MIT
"""Captures of one GMEM pass in tiles, optionally with a fragment density map.

Built as by turnip: viewports, scissors and the rectangles of stores are patched in later commands
before the binning pass and in each tile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import pack, unpack
from typing import TYPE_CHECKING

from cffpy.frame.passes import TileVisibility
from tests.builders import capture, type4, type7

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cffpy.frame.passes import Pass, Tile

DRAWS, VIEWPORTS, SCISSORS, STORE = 0x200000, 0x300000, 0x310000, 0x400000

WINDOW_SCISSOR, WINDOW_OFFSET, BIN_CONTROL = 0x80F0, 0x8890, 0x8800
BIN_FOVEAT, BIN_SCALE_ENABLE = 0x8008, 1 << 6
VIEWPORT, SCISSOR = 0x8010, 0x80B0
MARKER, INDIRECT, MEM_WRITE, OVERRIDE, BIN_DATA = 0x65, 0x3F, 0x3D, 0x64, 0x2E
GMEM = 0x100000
#: VIS_CULL of a draw initiator.
USE_VISIBILITY = 1 << 8

Pair = tuple[float, float]


@dataclass
class View:
    """How a view of a tile is patched; without ``start``, it starts at the window offset."""

    scale: Pair = (1, 1)
    start: tuple[int, int] | None = None
    #: Added to the offset of the viewport, which then is wrong.
    mistake: Pair = (0, 0)


@dataclass
class NewTile:
    offset: tuple[int, int]
    views: list[View] = field(default_factory=lambda: [View()])
    bin_word: int = 1 << 16
    override: int = 0
    #: Of merged bins, in pixels.
    height: int | None = None


@dataclass
class Stream:
    tiles: list[NewTile]
    bins: tuple[int, int] = (256, 256)
    framebuffer: tuple[int, int] = (512, 512)
    views: int = 1
    #: The views are layers, without multiview.
    has_layers: bool = False
    has_binning: bool = True
    is_patched: bool = True
    #: Bins are shifted by this much to the left and up; the binning run's viewport is shifted back.
    shift: tuple[int, int] = (0, 0)
    #: Draws without the state group of viewports.
    bare_draws: int = 0
    #: The GPU adds the offsets (a7xx): viewports have scales only, and the window scissor is open.
    moved_by_gpu: bool = False
    #: An earlier run has left viewports and scissors as for this tile.
    ran_before: NewTile | None = None

    def build(self, gpu: int = 740) -> bytes:
        """The capture."""
        width, height = self.framebuffer
        commands: list[int] = []
        if self.has_layers:
            commands += type4(0x8004, self.views - 1)
        elif self.views > 1:
            commands += type4(0x9B07, 1 | self.views << 2)
        unscaled = [View(start=(0, 0)) for _ in range(self.views)]
        if self.has_binning:
            commands += self._patches((0, 0), unscaled, self.framebuffer, self.shift)
            commands += type4(WINDOW_SCISSOR, 0, point(width - 1, height - 1))
            commands += type7(MARKER, 2) + self._bin_control()
            columns, rows = -(-width // self.bins[0]), -(-height // self.bins[1])
            commands += type4(0x0C06, columns << 1 | rows << 11)
            commands += type4(0x0C10, columns << 20 | rows << 26)
            commands += type7(INDIRECT, DRAWS, 0, len(self._draws()))
        for tile in self.tiles:
            commands += self._tile(tile)
        viewports, scissors, store = self._unpatched()
        return capture(
            gpu,
            commands,
            {DRAWS: self._draws(), VIEWPORTS: viewports, SCISSORS: scissors, STORE: store},
        )

    def _bin_control(self) -> list[int]:
        return type4(BIN_CONTROL, self.bins[0] >> 5 | self.bins[1] >> 4 << 8)

    def _tile(self, tile: NewTile) -> list[int]:
        x, y = tile.offset
        commands = type7(MARKER, 4) + self._bin_control()
        last = point(x + self.bins[0] - 1, y + self.bins[1] - 1)
        if self.moved_by_gpu:
            commands += type4(WINDOW_SCISSOR, 0, point(4095, 4095))
            commands += type4(BIN_FOVEAT, *self._gpu_offsets(tile))
        else:
            commands += type4(WINDOW_SCISSOR, point(x, y), last)
        commands += type4(WINDOW_OFFSET, point(x, y))
        if self.has_binning:
            commands += type7(BIN_DATA, tile.bin_word, 0, 0, 0)
            commands += type7(OVERRIDE, tile.override)
        if self.is_patched:
            size = self.bins[0], tile.height or self.bins[1]
            commands += self._patches(tile.offset, tile.views, size, (0, 0))
        commands += type7(INDIRECT, DRAWS, 0, len(self._draws()))
        commands += type7(MARKER, 5)
        return commands + type7(INDIRECT, STORE, 0, len(self._unpatched()[2]))

    def _gpu_offsets(self, tile: NewTile) -> list[int]:
        """GRAS_BIN_FOVEAT and its offsets, of up to three views."""
        found = [BIN_SCALE_ENABLE, 0, 0, 0, 0]
        for number, view in enumerate(tile.views):
            start = tile.offset if view.start is None else view.start
            for axis in (0, 1):
                exponent = int(1 / view.scale[axis]).bit_length() - 1
                found[0] |= exponent << 8 + 4 * number + 2 * axis
                moved = int(tile.offset[axis] - view.scale[axis] * start[axis])
                found[1 + 2 * axis] |= moved // 4 << 10 * number
        return found

    def _draws(self) -> list[int]:
        """The program's draw, with viewports and scissors in groups of all modes."""
        entries: list[int] = []
        sizes = len(self._unpatched()[0]), len(self._unpatched()[1])
        for group, address, size in ((0, VIEWPORTS, sizes[0]), (1, SCISSORS, sizes[1])):
            entries += [size | 7 << 20 | group << 24, address, 0]
        draw = type7(0x38, 4 | USE_VISIBILITY, 1, 3)
        bare = type4(VIEWPORT, *([0] * 6)) + draw if self.bare_draws else []
        return type7(0x43, *entries) + draw + bare * self.bare_draws

    def _unpatched(self) -> tuple[list[int], list[int], list[int]]:
        """What the program set: nothing is scaled."""
        views = [View(start=(0, 0)) for _ in range(self.views)]
        offset, size = (0, 0), self.framebuffer
        if self.ran_before is not None:
            offset, views, size = self.ran_before.offset, self.ran_before.views, self.bins
        viewports = self._viewports(offset, views, (0, 0))
        scissors = self._scissors(offset, views, size)
        store = type7(MARKER, 6)
        for number in range(self.views):
            store += _blit_rectangles((0, 0, 16384, 16384), (0, 0, 16384, 16384))
            store += type4(0xB2C0, 0, 0, GMEM + 0x1000 * number, 0)
            store += type4(0x8C18, 0x500000 + 0x10000 * number, 0)
            store += type7(0x2C, 3)
        return viewports, scissors, store

    def _patches(
        self,
        offset: tuple[int, int],
        views: list[View],
        size: tuple[int, int],
        shift: tuple[int, int],
    ) -> list[int]:
        views = (views * self.views)[: self.views] if len(views) < self.views else views
        commands = type7(MEM_WRITE, VIEWPORTS, 0, *self._viewports(offset, views, shift))
        commands += type7(MEM_WRITE, SCISSORS, 0, *self._scissors(offset, views, size))
        address = STORE + 8
        step = (len(self._unpatched()[2]) - 2) // self.views * 4
        for number, view in enumerate(views):
            start = offset if view.start is None else view.start
            width, height = int(size[0] * view.scale[0]), int(size[1] * view.scale[1])
            rectangles = _blit_rectangles((*start, *size), (*offset, width, height))
            commands += type7(MEM_WRITE, address + step * number, 0, *rectangles)
        return commands

    def _viewports(
        self, offset: tuple[int, int], views: list[View], shift: tuple[int, int]
    ) -> list[int]:
        values: list[float] = []
        for view in views:
            for axis in (0, 1):
                half, scale = self.framebuffer[axis] / 2, view.scale[axis]
                start = offset if view.start is None else view.start
                moved = view.mistake[axis] + shift[axis]
                if not self.moved_by_gpu:
                    moved += offset[axis] - scale * start[axis]
                values += [scale * half + moved, scale * half]
            values += [0, 1]
        return type4(VIEWPORT, *map(bits, values))

    def _scissors(
        self, offset: tuple[int, int], views: list[View], size: tuple[int, int]
    ) -> list[int]:
        corners = []
        for view in views:
            start = offset if view.start is None else view.start
            first, last = [], []
            for axis in (0, 1):
                scale = view.scale[axis]
                moved = offset[axis] - scale * start[axis]
                end = min(self.framebuffer[axis] * scale + moved, offset[axis] + size[axis] * scale)
                by_gpu = moved if self.moved_by_gpu else 0
                first.append(int(offset[axis] - by_gpu))
                last.append(int(end - by_gpu) - 1)
            corners += [point(*first), point(*last)]
        return type4(SCISSOR, *corners)


def _blit_rectangles(to: tuple[int, ...], source: tuple[int, ...]) -> list[int]:
    x, y, width, height = to
    commands = type4(0x8405, point(x, y), point(x + width - 1, y + height - 1))
    x, y, width, height = source
    sides = [(number & 0x1FFFF) << 8 for number in (x, x + width - 1, y, y + height - 1)]
    return commands + type4(0x8401, *sides)


def point(x: int, y: int) -> int:
    return x | y << 16


def bits(number: float) -> int:
    """A float's bits."""
    return int(unpack("<I", pack("<f", number))[0])


class Says:
    """Answers for the objects of a frame: what visibility streams say, by the tile's number."""

    def __init__(self, by_tile: Mapping[int, TileVisibility]) -> None:
        self.by_tile = by_tile

    def visibility(self, of: Pass) -> Says:
        return self


def saying(found: Pass, primitives: Mapping[int, dict[int, int | None]]) -> list[Tile]:
    """The tiles of a pass whose visibility streams say this: of tiles the primitives by draw."""
    assert found._frame is not None
    tiles = {number: TileVisibility(found.tiles[number], of) for number, of in primitives.items()}
    found._frame.answers = Says(tiles)
    return found.tiles
