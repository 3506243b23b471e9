# SPDX-License-Identifier: MIT
"""Draws that draw nothing, or that do the work of a clear."""

from __future__ import annotations

import struct
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.program_facts import CapturedPrograms
from cffpy.check.draw_states import DrawStates, viewport_pair
from cffpy.check.model import FROM_A3XX, FROM_A5XX, Facts, at_draw, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.program_facts import ProgramFacts
    from cffpy.analysis.walk import Walk
    from cffpy.check.draw_states import Corners
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass


@lint("CFF007", "warning")
def empty_draw(capture: CheckedCapture) -> Iterator[Report]:
    """A draw has no vertices or no instances.

    Draws whose numbers are in the packet, or in captured memory.

    Why: The packet and the state before it cost time, and nothing is drawn.

    Advice: Leave the draw out, or find out why its count is 0.
    """
    for pass_, draw in capture.draws():
        for number, name in ((draw.vertices, "vertices"), (draw.instances, "instances")):
            if number == 0:
                what = "indices" if draw.indexed and name == "vertices" else name
                yield at_draw(pass_, draw, f"{draw.packet} with 0 {what}", (pass_.index, name))
                break


@lint("CFF030", "warning", needs=(DrawStates,))
def empty_scissor(capture: CheckedCapture) -> Iterator[Report]:
    """The scissors or the viewport leave no pixels.

    Draws with rasterisation whose rectangles do not meet.

    Why: Vertices are processed, and no pixel can be written.

    Advice: Check the viewport and scissor of the draw; leave it out if that is intended.
    """
    states = capture.facts(DrawStates)
    for pass_, draw in capture.draws():
        state = states.of(draw)
        if state is None or state.raster.discards or state.raster.feeds_back:
            continue
        corners, scale = state.raster.clipped, state.raster.scale
        if scale is not None and 0.0 in scale:
            text = f"the viewport is {2 * abs(scale[0]):g}x{2 * abs(scale[1]):g} pixels large"
            yield at_draw(pass_, draw, text, (pass_.index, "viewport"))
        elif corners is not None and (corners[0] > corners[2] or corners[1] > corners[3]):
            left, top, right, bottom = corners
            text = f"the scissors leave nothing: {left},{top} to {right},{bottom}"
            yield at_draw(pass_, draw, text, (pass_.index, "scissor"))


@lint("CFF031", "warning", FROM_A3XX, needs=(DrawStates,))
def nothing_written(capture: CheckedCapture) -> Iterator[Report]:
    """A draw writes nothing: no colour, depth or stencil.

    Draws without writes, query, transform feedback or programs that write memory.

    Why: Such a draw has no effect that can be seen.

    Advice: Check write masks and targets, or leave the draw out.
    """
    states = capture.facts(DrawStates)
    for pass_, draw in capture.draws():
        depth, state = draw.depth, states.of(draw)
        program = states.fragment_program(draw)
        if depth is None or state is None or program is None:
            continue
        writes = depth.writes_colour or depth.writes_depth or depth.writes_stencil
        raster = state.raster
        if writes or raster.feeds_back or raster.counts_samples or program.writes_memory:
            continue
        if any(stage not in ("VS", "FS") for stage, _ in draw.programs) or raster.discards:
            continue
        yield at_draw(pass_, draw, "no target is written", (pass_.index, draw.programs))


# -- draws that cover all of a target --------------------------------------------------------------
# Draws whose captured vertices cover a rectangle of pixels (a5xx and later). What a
# vertex program computes is not known. Only one that passes its attribute on does without: with a
# single attribute and no instruction but ``nop`` and ``end``, the attribute is the position.

#: Formats of positions -> floats; missing floats are 0, 0, 1.
_FORMATS = {"32_32_FLOAT": 2, "32_32_32_FLOAT": 3, "32_32_32_32_FLOAT": 4}
_DEFAULTS = (0.0, 0.0, 0.0, 1.0)

#: Primitive type and vertices -> the triangles, as numbers of vertices.
_TRIANGLES = {
    ("DI_PT_TRILIST", 3): ((0, 1, 2),),
    ("DI_PT_TRISTRIP", 3): ((0, 1, 2),),
    ("DI_PT_TRIFAN", 3): ((0, 1, 2),),
    ("DI_PT_TRILIST", 6): ((0, 1, 2), (3, 4, 5)),
    ("DI_PT_TRISTRIP", 4): ((0, 1, 2), (1, 2, 3)),
    ("DI_PT_TRIFAN", 4): ((0, 1, 2), (0, 2, 3)),
}

#: Draws that are kept, at most.
_MAX_KEPT = 1 << 16

_Point = tuple[float, float]


class _Positions(NamedTuple):
    """Where the positions of a draw are."""

    address: int
    size: int
    stride: int
    floats: int
    offset: int


class Coverage(Facts):
    """Reads the vertices of small draws while the submit's memory is available."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._programs = CapturedPrograms(walk)
        #: Order of a draw -> the corners of its triangles, in pixels.
        self._triangles: dict[int, tuple[tuple[_Point, ...], ...]] = {}

    def action(self, action: Action) -> None:
        """Take the triangles of one of the program's draws."""
        form = _TRIANGLES.get((action.primitive or "", action.vertices or 0))
        if form is None or action.indexed or action.indirect or action.instances != 1:
            return
        if not is_program_draw(action) or len(self._triangles) >= _MAX_KEPT:
            return
        points = list(self._points(action))
        if len(points) == action.vertices:
            self._triangles[action.order] = tuple(
                tuple(points[number] for number in triangle) for triangle in form
            )

    def covers(self, draw: Action, width: int, height: int) -> bool:
        """Whether all pixels from 0,0 on are covered; False where that is not known."""
        triangles = self._triangles.get(draw.order, ())
        target = ((0.0, 0.0), (width, 0.0), (0.0, height), (width, height))
        if len(triangles) == 1:
            return all(_contains(triangles[0], corner) for corner in target)
        return len(triangles) == len(_TRIANGLES["DI_PT_TRIFAN", 4]) and _is_rectangle(
            triangles, width, height
        )

    # -- vertices -------------------------------------------------------------------------------

    def _points(self, action: Action) -> Iterator[_Point]:
        """The vertices in pixels; fewer than there are where something is not known."""
        positions = self._positions()
        viewport = self._viewport()
        if positions is None or viewport is None or not self._passes_on(action):
            return
        (x_scale, y_scale), (x_offset, y_offset) = viewport
        image = self.walk.machine.image
        buffer = image.find(positions.address)
        if buffer is None:
            return
        start = positions.address - buffer.gpuaddr
        data = buffer.contents[start : start + positions.size]
        for number in range(action.vertices or 0):
            at = number * positions.stride + positions.offset
            if at + 4 * positions.floats > len(data):
                return
            read: list[float] = list(struct.unpack_from(f"<{positions.floats}f", data, at))
            x, y, z, w = [*read, *_DEFAULTS[positions.floats :]]
            if w != 1.0 or not 0.0 <= z <= 1.0 or not (isfinite(x) and isfinite(y)):
                return  # clipped, or in perspective
            yield x * x_scale + x_offset, y * y_scale + y_offset

    def _positions(self) -> _Positions | None:
        registers = self.walk.registers
        decodes = registers.field("VFD_CONTROL_0", "DECODE_CNT")
        if decodes is None:
            decodes = registers.field("VFD_CONTROL_0", "VTXCNT")
        decode = "VFD_DECODE[0].INSTR"
        form = (registers.enum(decode, "FORMAT") or "").partition("_")[2]
        if decodes != 1 or form not in _FORMATS or registers.flag(decode, "INSTANCED"):
            return None
        if registers.value("VFD_INDEX_OFFSET"):
            return None
        fetch = f"VFD_FETCH[{registers.field(decode, 'IDX') or 0}]"
        address, size = registers.address(f"{fetch}.BASE"), registers.value(f"{fetch}.SIZE")
        stride = registers.field(f"{fetch}.STRIDE")
        if not address or size is None or stride is None:
            return None
        offset = registers.field(decode, "OFFSET") or 0
        return _Positions(address, size, stride, _FORMATS[form], offset)

    def _viewport(self) -> tuple[_Point, _Point] | None:
        """Scale and offset of the first viewport; None where faces are culled."""
        registers = self.walk.registers
        if any(registers.flag("GRAS_SU_CNTL", face) for face in ("CULL_FRONT", "CULL_BACK")):
            return None
        scale, offset = viewport_pair(registers, "SCALE"), viewport_pair(registers, "OFFSET")
        return None if scale is None or offset is None else (scale, offset)

    def _passes_on(self, action: Action) -> bool:
        """Whether the draw has no stage but VS and FS, and its VS changes nothing."""
        if [stage for stage, _ in action.programs] != ["VS", "FS"]:
            return False
        program = self._programs.at(action.programs[0][1])
        return program is not None and program.is_idle


# -- geometry ------------------------------------------------------------------------------------


def _contains(triangle: tuple[_Point, ...], point: _Point) -> bool:
    """Whether a point is inside of a triangle or on its edge."""
    a, b, c = triangle
    signs = [_turn(a, b, point), _turn(b, c, point), _turn(c, a, point)]
    return _turn(a, b, c) != 0 and (min(signs) >= 0 or max(signs) <= 0)


def _turn(start: _Point, end: _Point, point: _Point) -> float:
    """On which side of a line a point lies: its sign; 0 on the line."""
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])


def _is_rectangle(triangles: tuple[tuple[_Point, ...], ...], width: int, height: int) -> bool:
    """Whether two triangles are the halves of a rectangle with all these pixels."""
    points = set(chain.from_iterable(triangles))
    columns, rows = sorted({x for x, _ in points}), sorted({y for _, y in points})
    if (len(columns), len(rows), len(points)) != (2, 2, 4):
        return False
    if columns[0] > 0 or rows[0] > 0 or columns[1] < width or rows[1] < height:
        return False
    missing = [points - set(triangle) for triangle in triangles]
    if [len(corners) for corners in missing] != [1, 1]:
        return False
    (first,), (second,) = missing
    return first[0] != second[0] and first[1] != second[1]  # the corners of a diagonal


#: A single draw of a pass is a driver's blit.
_LEAST_DRAWS = 2


@lint("CFF008", "info", FROM_A5XX, needs=(DrawStates, Coverage))
def draw_as_clear(capture: CheckedCapture) -> Iterator[Report]:
    """A draw that covers the whole target looks like a clear.

    The first draw of a pass, if it writes constant values to every pixel: its vertices were
    captured, and its vertex program passes the only attribute on. Scissors alone do not say what a
    draw covers.

    Why: A clear by the load operation, or by a clear command, is faster than a draw and keeps
    LRZ and compression.

    Advice: Clear the target instead of drawing over it.
    """
    states, coverage = capture.facts(DrawStates), capture.facts(Coverage)
    for pass_ in capture.render_passes():
        draws, size = pass_.draws, pass_.framebuffer
        if len(draws) < _LEAST_DRAWS or size is None:
            continue
        first = draws[0]
        state = states.of(first)
        if state is None or not _leaves_whole(pass_, state.raster.clipped):
            continue
        if not _is_constant(first, states.fragment_program(first)):
            continue
        if coverage.covers(first, size.width, size.height):
            text = f"the first draw has {first.vertices} vertices and covers {pass_.framebuffer}"
            yield at_draw(pass_, first, text, pass_.index)


def _is_constant(draw: Action, program: ProgramFacts | None) -> bool:
    """Whether a draw writes the same to all its pixels, regardless of their contents."""
    depth = draw.depth
    if depth is None or program is None or depth.destination_read or depth.tests_stencil:
        return False
    if depth.tests_depth and depth.depth_func != "FUNC_ALWAYS":
        return False
    return not program.fetches and not program.has_inputs and not program.kills


def _leaves_whole(pass_: Pass, corners: Corners | None) -> bool:
    """Whether scissors leave the whole framebuffer."""
    size = pass_.framebuffer
    return size is not None and corners == (0, 0, size.width - 1, size.height - 1)
