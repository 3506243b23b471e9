# SPDX-License-Identifier: MIT
"""Fragment density maps of a capture: what drivers patch for each tile, measured and checked.

turnip patches the commands of viewports and scissors: before the binning run unscaled, and in each
tile. Without a binning run, memory at the submit is unscaled, unless an earlier run has left it
patched for its last tile; the viewports then contradict the tiles' stores, from which the unscaled
ones follow.

From a7xx on the GPU itself can move the bins (GRAS_BIN_FOVEAT). The driver's viewports then have
the scale, and the GPU adds the offset. The bundled descriptions do not have the fields of a7xx;
they are in those of Mesa 25.3. On a8xx the control is at another place, and each view has registers
with its offset, which only the descriptions of 2026 have. turnip (tu6_emit_tile_select, October
2026) writes the same offset, in pixels, into four of them: GRAS_BIN_FOVEAT_XY,
GRAS_BIN_FOVEAT_XY_FDM, and those of RB (0x8950, 0x8960). A driver that follows the descriptions of
25.3 writes the registers of a7xx there, too.
"""

from __future__ import annotations

from collections import Counter
from math import floor, isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.frame.density import (
    LRZ_ALIGNMENT,
    PIXELS,
    Density,
    ScissorPatch,
    ViewDensity,
    Viewport,
    ViewportPatch,
    number_text,
    pair_text,
    point_text,
    scale_between,
)
from cffpy.frame.geometry import Point, Rectangle, Vector
from cffpy.frame.passes import Operation, Pass, Tile
from cffpy.pm4.reader import OPCODE, REGISTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.frame.action import Action
    from cffpy.frame.passes import PassRun
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

_VIEWPORTS = 16
_VIEWPORT_DWORDS, _SCISSOR_DWORDS = 6, 2

#: Places whose first contents are kept, of one submit; and patches of one tile.
_MAX_PLACES = 1 << 16
_MAX_PATCHES = 1 << 10
_MAX_DISTINCT = 64

#: Viewports are the same if they are at this resolution, in parts of a pixel.
_PARTS = 4

_Key = tuple[int, ...]

#: A viewport's first four registers.
_Raw = tuple[int, int, int, int]


class _Patch:
    """Commands that were written to one place: what they set that is scaled."""

    __slots__ = ("ndwords", "scissors", "viewports")

    def __init__(self, ndwords: int) -> None:
        self.ndwords = ndwords
        self.viewports: dict[int, _Raw] = {}
        self.scissors: dict[int, Rectangle] = {}


class DensityTracker(Observer):
    """Fills ``Tile.density`` of the passes of a PassFinder; complete at ``finished``."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        #: Offsets of registers; 0 where the generation has none.
        self._viewport = self._scissor = 0
        self._blit: set[int] = set()
        #: Place -> what it held before it was first written in this submit.
        self._before: dict[int, _Patch] = {}
        #: What was written since the last action; it is for the next run.
        self._pending: dict[int, _Patch] = {}
        self._pass: Pass | None = None
        self._run: PassRun | None = None
        self._unscaled: dict[int, _Patch] = {}
        self._current: set[_Raw] = set()

    def bound(self, gpu: Gpu, database: Database) -> None:
        offset = self._walk.registers.offset
        self._viewport = offset("GRAS_CL_VPORT[0].XOFFSET")
        self._scissor = offset("GRAS_SC_SCREEN_SCISSOR[0].TL")
        self._blit = {offset("GRAS_2D_DST_TL"), offset("GRAS_2D_SRC_TL_X")}
        self._before.clear()
        self._pending.clear()

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers of a submit are new."""
        if is_new_submit:
            self._before.clear()
            self._pending.clear()

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """CP_MEM_WRITE of ``payload`` over the bytes ``before``."""
        if not self._viewport:
            return
        patch = self._commands(payload.dwords())
        if patch is None:
            return
        if len(self._pending) < _MAX_PATCHES:
            self._pending[gpuaddr] = patch
        if gpuaddr not in self._before and len(self._before) < _MAX_PLACES:
            count = len(before) // 4
            first = self._commands(unpack(f"<{count}I", before[: 4 * count]))
            self._before[gpuaddr] = first or _Patch(0)

    def action(self, action: Action) -> None:
        """The first action of a run ends its patches; draws may use others than these."""
        run = self._passes.run
        if run is not self._run:
            self._begin(self._passes.current, run)
        if not self._current or not isinstance(run, Tile) or run.density is None:
            return
        if is_program_draw(action) and self._viewport_now() not in self._current:
            run.density.unpatched_draws += 1

    def finished(self) -> None:
        for pass_ in self._passes.found.passes:
            settle(pass_)

    # -- within -------------------------------------------------------------------------------

    def _begin(self, pass_: Pass | None, run: PassRun | None) -> None:
        self._run = run
        patches, self._pending = self._pending, {}
        self._current = set()
        if pass_ is not self._pass:
            self._pass = pass_
            self._unscaled = {}
        if pass_ is not None and run is pass_.binning:
            self._unscaled = patches
        elif isinstance(run, Tile) and patches:
            run.density = self._density(patches)
            self._current = {
                patch.viewports[0] for patch in patches.values() if 0 in patch.viewports
            }

    def _density(self, patches: dict[int, _Patch]) -> Density:
        density = Density(len(patches), sum(patch.ndwords for patch in patches.values()))
        density.moved = bin_offsets(self._walk.registers)
        density.gpu_scales = bin_scales(self._walk.registers)
        if any(place in self._unscaled for place in patches):
            density.unscaled_from = "binning run"
        else:
            density.unscaled_from = "memory at the submit"
        viewports: dict[ViewportPatch, None] = {}
        scissors: dict[ScissorPatch, None] = {}
        for place, patch in patches.items():
            base = self._unscaled.get(place) or self._before.get(place) or _Patch(0)
            for number, raw in patch.viewports.items():
                viewport = _viewport(raw)
                if viewport is None:
                    density.flag(f"viewport {number} is not finite")
                elif len(viewports) < _MAX_DISTINCT:
                    unscaled = _viewport(base.viewports.get(number))
                    viewports[ViewportPatch(number, viewport, unscaled)] = None
            for number, scissor in patch.scissors.items():
                if len(scissors) < _MAX_DISTINCT:
                    scissors[ScissorPatch(number, scissor, base.scissors.get(number))] = None
        density.viewports.extend(viewports)
        density.scissors.extend(scissors)
        return density

    def _commands(self, dwords: Sequence[int]) -> _Patch | None:
        """What commands set that is scaled; None where they are none, or of something else."""
        headers = self._walk.machine.headers
        patch = _Patch(len(dwords))
        is_about_tiles = False
        index = 0
        while index < len(dwords):
            kind, number, size = headers[dwords[index]]
            if kind == REGISTERS and dwords[index] >> 28 == 4:
                values = dwords[index + 1 : index + size]
                self._take(patch, number, values)
                is_about_tiles |= number in self._blit
            elif kind != OPCODE:
                break
            index += size
        return patch if is_about_tiles or patch.viewports or patch.scissors else None

    def _take(self, patch: _Patch, register: int, values: Sequence[int]) -> None:
        for number, at in _whole(register, len(values), self._viewport, _VIEWPORT_DWORDS):
            x_offset, x_scale, y_offset, y_scale = values[at : at + 4]
            patch.viewports[number] = x_offset, x_scale, y_offset, y_scale
        for number, at in _whole(register, len(values), self._scissor, _SCISSOR_DWORDS):
            top_left, bottom_right = values[at : at + 2]
            patch.scissors[number] = Rectangle(
                top_left & 0xFFFF,
                top_left >> 16,
                (bottom_right & 0xFFFF) + 1,
                (bottom_right >> 16) + 1,
            )

    def _viewport_now(self) -> _Raw:
        value = self._walk.machine.state.value
        first = self._viewport
        return value(first), value(first + 1), value(first + 2), value(first + 3)


def _whole(register: int, count: int, first: int, dwords: int) -> list[tuple[int, int]]:
    """Elements of a register array that are written in full: number, position in the values."""
    runs = []
    for number in range(_VIEWPORTS):
        at = first + number * dwords - register
        if at >= 0 and at + dwords <= count:
            runs.append((number, at))
    return runs


def _viewport(raw: _Raw | None) -> Viewport | None:
    """The registers as floats; None where they are not numbers."""
    if raw is None:
        return None
    numbers = unpack("<4f", pack("<4I", *raw))
    return Viewport(*numbers) if all(map(isfinite, numbers)) else None


# -- unscaled viewports ---------------------------------------------------------------------------


def tile_stores(tile: Tile, views: int) -> list[tuple[int, Operation]]:
    """The blits that store the tile from GMEM, each with the position of its view.

    They come attachment by attachment, view by view; [] where they are no such number.
    """
    stores = [operation for operation in tile.operations if _stores_scaled(operation)]
    if len(stores) % views:
        return []
    return [(position % views, operation) for position, operation in enumerate(stores)]


def _stores_scaled(operation: Operation) -> bool:
    return (
        operation.how == "CP_BLIT"
        and operation.gmem is not None
        and operation.source_rectangle is not None
        and operation.scissor is not None
        and operation.action.execution.is_possible
    )


def restore_unscaled(tiles: list[tuple[Tile, Density]], views: int) -> None:
    """Replace unscaled viewports out of memory where any contradicts a store.

    ``views``: of the pass.
    """
    patched = [
        measured for measured in tiles if measured[1].unscaled_from == "memory at the submit"
    ]
    if not any(_contradicts(tile, density, views) for tile, density in patched):
        return
    keys: Counter[tuple[int, _Key]] = Counter()
    for tile, density in patched:
        density.unscaled_from = "stores"
        density.viewports = [
            patch._replace(unscaled=_unscaled(tile, density, patch, views))
            for patch in density.viewports
        ]
        density.scissors = [patch._replace(unscaled=None) for patch in density.scissors]
        keys.update({_key(patch) for patch in density.viewports})
    for _, density in patched:
        for patch in density.viewports:
            if patch.unscaled is not None and keys[_key(patch)] * 2 < len(patched):
                density.flag(f"viewport {patch.number}: unscaled by the store, unlike other tiles'")


def _transform(
    tile: Tile, density: Density, number: int, views: int
) -> tuple[Vector, Vector] | None:
    """S and o of a viewport as a store has them."""
    for position, store in tile_stores(tile, views if density.is_per_view else 1):
        if density.is_per_view and position != number:
            continue
        source, destination = store.source_rectangle, store.scissor
        assert source is not None
        assert destination is not None
        x = scale_between(source.size.width, destination.size.width)
        y = scale_between(source.size.height, destination.size.height)
        if x is None or y is None:
            continue
        offset = Vector(source.left - x * destination.left, source.top - y * destination.top)
        return Vector(x, y), offset
    return None


def _contradicts(tile: Tile, density: Density, views: int) -> bool:
    for patch in density.viewports:
        transform = _transform(tile, density, patch.number, views)
        scale, offset = patch.scale, density.offset_of(patch)
        if transform is None or scale is None or offset is None:
            continue
        if scale != transform[0] or any(
            abs(component - other) > PIXELS
            for component, other in zip(offset, transform[1], strict=True)
        ):
            return True
    return False


def _unscaled(tile: Tile, density: Density, patch: ViewportPatch, views: int) -> Viewport | None:
    transform = _transform(tile, density, patch.number, views)
    if transform is None:
        return None
    (x, y), (x_moved, y_moved) = transform
    patched, by_gpu = patch.patched, density.moved_by(patch.number)
    return Viewport(
        (patched.x_offset + by_gpu[0] - x_moved) / x,
        patched.x_scale / x,
        (patched.y_offset + by_gpu[1] - y_moved) / y,
        patched.y_scale / y,
    )


def _key(patch: ViewportPatch) -> tuple[int, _Key]:
    viewport = patch.unscaled
    if viewport is None:
        return patch.number, ()
    numbers = viewport.x_offset, viewport.x_scale, viewport.y_offset, viewport.y_scale
    return patch.number, tuple(round(value * _PARTS) for value in numbers)


# -- all tiles of a pass --------------------------------------------------------------------------


def settle(pass_: Pass) -> None:
    """Measure the scales and offsets of a pass's tiles, and check them."""
    tiles = [(tile, tile.density) for tile in pass_.tiles if tile.density is not None]
    has_views = (pass_.views or 1) > 1
    views = range(pass_.views or 1) if has_views else range(pass_.layers or 1)
    for _, density in tiles:
        density.is_per_view = len(views) > 1 and _patched(density).issuperset(views)
        density.is_per_layer = density.is_per_view and not has_views
    restore_unscaled(tiles, len(views))
    by_view: dict[int, _Measured] = {}
    for tile, density in tiles:
        numbers = views if density.is_per_view else sorted(_patched(density) or {0})
        _measure(tile, density, numbers)
        for view in density.views:
            by_view.setdefault(view.number, []).append((tile, density, view))
    for number in sorted(by_view):
        _check_offsets(pass_, by_view[number])


def _patched(density: Density) -> set[int]:
    """Numbers of the viewports that are patched."""
    return {patch.number for patch in density.viewports}


# -- one tile -------------------------------------------------------------------------------------


def _measure(tile: Tile, density: Density, numbers: Iterable[int]) -> None:
    if density.unpatched_draws:
        density.flag(f"{density.unpatched_draws} draws use a viewport that is not patched")
    for number in numbers:
        view = ViewDensity(number)
        density.views.append(view)
        _measure_viewport(density, view)
        scissors = [patch.patched for patch in density.scissors if patch.number == number]
        view.scissor = scissors[0] if scissors else None
    count = len(density.views) if density.is_per_view else 1
    for position, operation in tile_stores(tile, count):
        for view in density.views:
            if not density.is_per_view or view.number == position:
                _measure_store(tile, density, view, operation)


def _measure_viewport(density: Density, view: ViewDensity) -> None:
    for patch in density.viewports:
        if patch.number != view.number:
            continue
        if view.viewport is None:
            view.viewport = patch.patched
        scale, offset = patch.scale, density.offset_of(patch)
        if scale is None or offset is None:
            continue
        if view.scale is None:
            view.scale, view.offset, view.scale_from = scale, offset, "viewport"
        elif scale != view.scale or not _near(offset, view.offset):
            density.flag(f"{_name(density, view)}: viewports are not patched alike")
    if view.scale is None:
        return
    for axis, factor in zip("xy", view.scale, strict=True):
        if factor > 1 or factor != 1 / round(1 / factor):
            density.flag(f"{_name(density, view)}: {axis} scale {number_text(factor)} is no 1/n")


def _measure_store(tile: Tile, density: Density, view: ViewDensity, store: Operation) -> None:
    """A blit from GMEM copies the scaled tile to the start of the tile in the framebuffer."""
    source, destination = store.source_rectangle, store.scissor
    assert source is not None
    assert destination is not None
    name = f"{_name(density, view)}: store of {store.attachment or 'an attachment'}"
    start = Point(destination.left, destination.top)
    if _is_empty(destination):
        density.flag(f"{name} to an empty rectangle")
        return
    if view.bin_start is None:
        view.bin_start, view.is_start_stored = start, True
    elif view.bin_start != start:
        density.flag(f"{name} to {point_text(start)}, others to {point_text(view.bin_start)}")
    if tile.window_offset is not None and (source.left, source.top) != tile.window_offset:
        density.flag(
            f"{name} from {source.left},{source.top}, "
            f"not from the window offset {point_text(tile.window_offset)}"
        )
    if view.scale is None:
        x = scale_between(source.size.width, destination.size.width)
        y = scale_between(source.size.height, destination.size.height)
        if x is not None and y is not None:
            view.scale, view.scale_from = Vector(x, y), "store"
        return
    scaled = (
        floor(destination.size.width * view.scale[0] + PIXELS),
        floor(destination.size.height * view.scale[1] + PIXELS),
    )
    if scaled != (source.size.width, source.size.height):
        density.flag(
            f"{name} reads {source.size} for {destination.size}, "
            f"{view.scale_from} scale {pair_text(view.scale)}"
        )


# -- all tiles of a view --------------------------------------------------------------------------

_Measured = list[tuple[Tile, Density, ViewDensity]]


def _check_offsets(pass_: Pass, measured: _Measured) -> None:
    """Compare offsets with b_cs - s * b_s.

    Where bins are shifted by b_o = b_cs - b_s (all but the first column or row), the binning run's
    viewport may be shifted by it as well; then o is relative to that.
    """
    for tile, _, view in measured:
        if view.bin_start is None:
            view.bin_start = tile.window_offset
    shift = _shift(measured)
    if shift != (0, 0):
        plain = sum(_fits(tile, view, (0, 0)) for tile, _, view in measured)
        if sum(_fits(tile, view, shift) for tile, _, view in measured) < plain:
            shift = (0, 0)
    for tile, density, view in measured:
        if view.offset is not None and view.scale is not None:
            view.offset = Vector(
                view.offset[0] + view.scale[0] * shift[0],
                view.offset[1] + view.scale[1] * shift[1],
            )
        expected = view.expected_offset = _expected(tile, view)
        if expected is not None and view.offset is not None:
            view.fits = _check_offset(density, view, view.offset, expected)
        _measure_lrz(tile, density, view, Point(*shift))
        if shift == (0, 0):
            _check_scissors(tile.area_in(pass_), tile.window_offset, density, view)


def _check_offset(density: Density, view: ViewDensity, offset: Vector, expected: Vector) -> bool:
    fits = True
    for axis, patched, wanted in zip("xy", offset, expected, strict=True):
        name = f"{_name(density, view)}: {axis} offset {number_text(patched)}"
        if abs(patched - wanted) > PIXELS:
            density.flag(f"{name}, but b_cs - s * b_s = {number_text(wanted)}")
        elif abs(patched - round(patched)) > PIXELS:
            density.flag(f"{name} is not an integer")
        else:
            continue
        fits = False
    return fits


def _measure_lrz(tile: Tile, density: Density, view: ViewDensity, shift: Point) -> None:
    """What the GPU itself does with a tile, and whether LRZ can follow it."""
    corner, start, scale = tile.window_offset, view.bin_start, view.scale
    if corner is None or start is None or scale is None:
        return
    view.shift = shift
    index = view.number if density.is_per_view else 0
    wanted = view.expected_lrz_offset = Vector(
        corner[0] - (start.x + shift.x) * scale.x, corner[1] - (start.y + shift.y) * scale.y
    )
    if index >= len(density.gpu_scales):
        view.lrz_usable = scale == (1, 1) and wanted == (0, 0)
        return
    view.lrz_usable = all(part >= 0 and part % LRZ_ALIGNMENT == 0 for part in wanted)
    view.gpu_scale, view.lrz_offset = density.gpu_scales[index], density.moved_by(view.number)
    view.lrz_fits = view.gpu_scale == scale and (
        _near(wanted, Vector(*view.lrz_offset)) or not view.lrz_usable
    )
    if view.gpu_scale != scale:
        density.flag(
            f"{_name(density, view)}: the GPU scales by {pair_text(view.gpu_scale)}, "
            f"not by {pair_text(scale)}"
        )


def _shift(measured: _Measured) -> tuple[int, int]:
    shifts = [
        (tile.window_offset[0] - view.bin_start[0], tile.window_offset[1] - view.bin_start[1])
        for tile, _, view in measured
        if tile.window_offset is not None and view.bin_start is not None
    ]
    if not shifts:
        return 0, 0
    return max(x for x, _ in shifts), max(y for _, y in shifts)


def _expected(tile: Tile, view: ViewDensity) -> Vector | None:
    if tile.window_offset is None or view.bin_start is None or view.scale is None:
        return None
    return Vector(
        tile.window_offset[0] - view.scale[0] * view.bin_start[0],
        tile.window_offset[1] - view.scale[1] * view.bin_start[1],
    )


def _fits(tile: Tile, view: ViewDensity, shift: tuple[int, int]) -> bool:
    expected, scale, offset = _expected(tile, view), view.scale, view.offset
    if expected is None or scale is None or offset is None:
        return False
    shifted = Vector(offset.x + scale.x * shift[0], offset.y + scale.y * shift[1])
    return _near(expected, shifted)


def _check_scissors(
    area: Rectangle | None,
    corner: tuple[int, int] | None,
    density: Density,
    view: ViewDensity,
) -> None:
    """A patched scissor is the program's, scaled, cut to the tile as scaled.

    ``area``: of the tile in the framebuffer. ``corner``: the window offset.
    """
    scale, offset = view.scale, view.offset
    if scale is None or offset is None or corner is None or area is None:
        return
    left, top = corner
    right, bottom = floor(area.size.width * scale[0]), floor(area.size.height * scale[1])
    tile_scaled = Rectangle(left, top, left + right, top + bottom)
    for patch in density.scissors:
        if patch.number != view.number or patch.unscaled is None:
            continue
        wanted = _intersection(_transformed(patch.unscaled, scale, offset), tile_scaled)
        # where nothing is scaled, the window scissor does the cutting
        moved = _transformed(patch.patched, Vector(1, 1), Vector(*density.moved_by(view.number)))
        effective = _intersection(moved, area)
        is_empty, should_be_empty = _is_empty(effective), _is_empty(wanted)
        if (effective != wanted or is_empty) and not (is_empty and should_be_empty):
            density.flag(
                f"{_name(density, view)}: scissor {patch.patched}, "
                f"expected {'none' if should_be_empty else wanted}"
            )


# -- arithmetic ------------------------------------------------------------------------------------


def _is_empty(rectangle: Rectangle) -> bool:
    return not rectangle.size.width or not rectangle.size.height


def _transformed(rectangle: Rectangle, scale: Vector, offset: Vector) -> Rectangle:
    return Rectangle(
        floor(rectangle.left * scale[0] + PIXELS) + round(offset[0]),
        floor(rectangle.top * scale[1] + PIXELS) + round(offset[1]),
        floor(rectangle.right * scale[0] + PIXELS) + round(offset[0]),
        floor(rectangle.bottom * scale[1] + PIXELS) + round(offset[1]),
    )


def _intersection(rectangle: Rectangle, other: Rectangle) -> Rectangle:
    return Rectangle(
        max(rectangle.left, other.left),
        max(rectangle.top, other.top),
        min(rectangle.right, other.right),
        min(rectangle.bottom, other.bottom),
    )


def _near(vector: Vector, other: Vector | None) -> bool:
    return other is not None and all(
        abs(a - b) <= PIXELS for a, b in zip(vector, other, strict=True)
    )


def _name(density: Density, view: ViewDensity) -> str:
    if density.is_per_layer:
        return f"layer {view.number}"
    return f"{'view' if density.is_per_view else 'viewport'} {view.number}"


# -- bins that the GPU moves (GRAS_BIN_FOVEAT) -----------------------------------------------------

#: GRAS_BIN_FOVEAT and its offsets, by the names of the bundled descriptions.
_CONTROL = "GRAS_UNKNOWN_8008"
_X_OFFSETS = ("GRAS_UNKNOWN_8009", "GRAS_UNKNOWN_800A")
_Y_OFFSETS = ("GRAS_UNKNOWN_800B", "GRAS_UNKNOWN_800C")

_BIN_SCALE_ENABLE, _SCALES = 1 << 6, 8
_VIEWS_OF_REGISTER, _BITS = 3, 10
#: Offsets are in units of this many pixels.
_UNIT = 4

#: GRAS_BIN_FOVEAT and GRAS_BIN_FOVEAT_XY of a8xx: six registers (a8xx_bin_foveat_xy); x, and y from
#: this bit on.
_CONTROL_OF_A8XX, _FIRST_OF_VIEWS, _VIEWS = 0x8206, 0x8220, 6
_Y_SHIFT, _OFFSET_MASK = 16, (1 << 14) - 1


def scales_bins(registers: RegisterReader) -> bool:
    """Whether the GPU scales the bins of the current tile."""
    return bool((registers.value(_CONTROL) or 0) & _BIN_SCALE_ENABLE)


def bin_scales(registers: RegisterReader) -> tuple[Vector, ...]:
    """The scale that the GPU applies to the bins of each of six views; () for none.

    Two bits for x and two for y of each view: n for 1/2^n.
    """
    value = registers.value(_CONTROL) or 0
    if not value & _BIN_SCALE_ENABLE:
        return ()
    views = [value >> _SCALES + 4 * view for view in range(_VIEWS)]
    return tuple([Vector(1 / (1 << (bits & 3)), 1 / (1 << (bits >> 2 & 3))) for bits in views])


def bin_offsets(registers: RegisterReader) -> tuple[Point, ...]:
    """What the GPU adds to coordinates, x and y of each of six views, in pixels; () for nothing."""
    if not scales_bins(registers):
        return ()
    if registers.offset(_CONTROL) == _CONTROL_OF_A8XX:
        views = [registers.dword(_FIRST_OF_VIEWS + view) for view in range(_VIEWS)]
        if any(value is not None for value in views):
            return tuple(_of_views(views))
    columns, rows = _offsets(registers, _X_OFFSETS), _offsets(registers, _Y_OFFSETS)
    return tuple([Point(x, y) for x, y in zip(columns, rows, strict=True)])


def _of_views(views: list[int | None]) -> Iterator[Point]:
    for value in views:
        bits = value or 0
        yield Point(bits & _OFFSET_MASK, bits >> _Y_SHIFT & _OFFSET_MASK)


def _offsets(registers: RegisterReader, names: tuple[str, ...]) -> list[int]:
    return [
        ((registers.value(name) or 0) >> _BITS * view & (1 << _BITS) - 1) * _UNIT
        for name in names
        for view in range(_VIEWS_OF_REGISTER)
    ]
