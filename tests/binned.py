# SPDX-License-Identifier: MIT
"""Captures of a6xx with a binned pass and given visibility streams.

Framebuffer, grid, pipes and packets are laid out as by both Mesa drivers; the draws are in an IB
that the binning pass and each tile call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cffpy.vsc import draw_stream, primitive_stream
from cffpy.vsc.primitive_stream import PrimitiveRun
from tests.builders import capture, type4, type7

MARKER, BIN_DATA5, OVERRIDE, DRAW, MULTI, IB = 0x65, 0x2F, 0x64, 0x38, 0x2A, 0x3F
BIN_DATA5_OFFSET, PSEUDO_REG, DRAW_PREDICATE = 0x2E, 0x56, 0x19
BIN_VISIBILITY, RENDER_START, END_OF_DRAWS, RESOLVE = 2, 4, 5, 6

POINTS, LINES, LINE_STRIP, TRIANGLES, FAN, STRIP, RECTANGLES = 9, 2, 3, 4, 5, 6, 8

#: Addresses of the buffers.
DRAWS_IB, DRAW_STREAMS, PRIMITIVE_STREAMS, SIZES = 0x200000, 0x300000, 0x400000, 0x500000
DRAW_PITCH, PRIMITIVE_PITCH, PAD = 0x440, 0x1040, 64

BIN = 64  # pixels, both ways

#: Visibility of an instance: runs of (bins, primitives). Of a draw: one for each instance.
Instance = list[tuple[int, int]]
Visibility = list[list[Instance]]


def draw(
    vertices: int,
    topology: int = TRIANGLES,
    instances: int = 1,
    visibility: int = 1,
    indexed: bool = False,
    flags: int = 0,
) -> list[int]:
    """CP_DRAW_INDX_OFFSET; ``visibility``: VIS_CULL, 1 is by the stream."""
    initiator = topology | (0 if indexed else 2) << 6 | visibility << 8 | flags
    if indexed:
        return type7(DRAW, initiator, instances, vertices, 0, 0x600000, 0, vertices)
    return type7(DRAW, initiator, instances, vertices)


def multi_draw(count: int, opcode: int = 2) -> list[int]:
    """CP_DRAW_INDIRECT_MULTI of triangles."""
    return type7(MULTI, TRIANGLES | 2 << 6 | 1 << 8, opcode, count, 0x700000, 0, 16)


def streams(visibility: Visibility, bins: int) -> tuple[bytes, bytes]:
    """A pipe's draw stream and its primitive streams."""
    draws, primitives = [], b""
    for one in visibility:
        instances = []
        for runs in one:
            covered = 0
            for bitfield, _ in runs:
                covered |= bitfield
            data = b""
            if covered:
                data = primitive_stream.encode([PrimitiveRun(*run) for run in runs], bins)
            instances.append((covered, len(data) // 4))
            primitives += data
        draws.append(instances)
    return draw_stream.encode(draw_stream.pack(draws), bins), primitives


@dataclass
class Binned:
    """A binned pass. ``visibility``: of each pipe, None where its streams were not written.

    ``slot``, ``tile_count``, ``address``: what a tile says, by its column, row and what is right.
    """

    columns: int = 2
    rows: int = 2
    pipes: Sequence[tuple[int, int, int, int]] = ((0, 0, 2, 2),)
    draws: list[int] = field(default_factory=lambda: draw(9))
    visibility: Sequence[Visibility | None] = ()
    sizes: dict[int, int] = field(default_factory=dict)
    missing: tuple[int, ...] = ()
    override: int = 0
    draw_limit: int = DRAW_PITCH - PAD
    primitive_limit: int = PRIMITIVE_PITCH - PAD
    state: list[int] = field(default_factory=list)
    slot: Callable[[int, int, int], int] = lambda column, row, right: right
    tile_count: Callable[[int], int] = lambda right: right
    address: Callable[[int], int] = lambda right: right
    offsets: bool = False

    def commands(self) -> list[int]:
        """The pass in the submit's own stream."""
        ib = type7(IB, DRAWS_IB, 0, len(self.draws))
        found = type4(0x9B00, 0) + self.state
        found += type4(0x8800, BIN >> 5 | (BIN >> 4) << 8)
        found += self._scissor(0, 0, self.columns * BIN, self.rows * BIN)
        found += type7(MARKER, BIN_VISIBILITY) + type7(OVERRIDE, 1)
        found += type4(0xC06, self.columns << 1 | self.rows << 11)
        config = [x | y << 10 | w << 20 | h << 26 for x, y, w, h in self.pipes]
        found += type4(0xC10, *config, *[0] * (32 - len(config)))
        found += type4(0xC30, PRIMITIVE_STREAMS, 0, PRIMITIVE_PITCH, self.primitive_limit)
        found += type4(0xC34, DRAW_STREAMS, 0, DRAW_PITCH, self.draw_limit)
        found += type4(0xC03, SIZES, 0)
        found += ib + type7(OVERRIDE, 0)
        for row in range(self.rows):
            for column in range(self.columns):
                found += self._tile(column, row) + ib + type7(MARKER, END_OF_DRAWS)
        return found

    def capture(self, gpu: int = 660, passes: int = 1) -> bytes:
        """``passes`` times the same pass in one submit."""
        buffers: dict[int, list[int] | bytes] = {DRAWS_IB: self.draws}
        buffers.update(self.memory())
        for address in self.missing:
            del buffers[address]
        return capture(gpu, self.commands() * passes, buffers)

    def memory(self) -> dict[int, bytes]:
        """The buffers of the streams."""
        draws = bytearray(DRAW_PITCH * len(self.pipes))
        primitives = bytearray(PRIMITIVE_PITCH * len(self.pipes))
        sizes = bytearray(4 * 32)
        for number, visibility in enumerate(self.visibility):
            if visibility is None:
                continue
            _, _, width, height = self.pipes[number]
            stream, of_primitives = streams(visibility, width * height)
            at = number * DRAW_PITCH
            draws[at : at + len(stream)] = stream
            at = number * PRIMITIVE_PITCH
            primitives[at : at + len(of_primitives)] = of_primitives
            sizes[4 * number : 4 * number + 4] = len(stream).to_bytes(4, "little")
        for number, size in self.sizes.items():
            sizes[4 * number : 4 * number + 4] = size.to_bytes(4, "little")
        assert len(draws) == DRAW_PITCH * len(self.pipes)
        assert len(primitives) == PRIMITIVE_PITCH * len(self.pipes)
        return {
            DRAW_STREAMS: bytes(draws),
            PRIMITIVE_STREAMS: bytes(primitives),
            SIZES: bytes(sizes),
        }

    def _scissor(self, left: int, top: int, right: int, bottom: int) -> list[int]:
        return type4(0x80F0, left | top << 16, right - 1 | (bottom - 1) << 16)

    def _tile(self, column: int, row: int) -> list[int]:
        x, y = column * BIN, row * BIN
        found = type7(MARKER, RENDER_START) + self._scissor(x, y, x + BIN, y + BIN)
        found += type4(0x8890, x | y << 16)
        for number, (left, top, width, height) in enumerate(self.pipes):
            if left <= column < left + width and top <= row < top + height:
                right = (row - top) * width + column - left
                slot = self.slot(column, row, right)
                head = self.tile_count(width * height) << 16 | slot << 22
                if self.offsets:
                    places = number * DRAW_PITCH, 4 * number, number * PRIMITIVE_PITCH
                    found += type7(BIN_DATA5_OFFSET, head, *places)
                else:
                    found += type7(
                        BIN_DATA5,
                        head,
                        self.address(DRAW_STREAMS + number * DRAW_PITCH),
                        0,
                        SIZES + 4 * number,
                        0,
                        PRIMITIVE_STREAMS + number * PRIMITIVE_PITCH,
                        0,
                    )
        return found + type7(OVERRIDE, self.override)


#: Two draws, of 10 primitives each, in four bins.
SCENE = Binned(
    draws=draw(30) + draw(12, STRIP),
    visibility=[[[[(0b0111, 6), (0, 4)]], [[(0b0010, 10)]]]],
)
