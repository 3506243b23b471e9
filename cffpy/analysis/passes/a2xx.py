# SPDX-License-Identifier: MIT
"""Passes of a2xx: RB_SURFACE_INFO begins one, the screen scissor and the copy offset a tile.

GMEM and memory share RB_COLOR_INFO.BASE: a pass without tiles renders to memory. Facts: freedreno
of Mesa 25.0.7.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.attachments import bytes_a_pixel, parts_of_depth, written_components
from cffpy.analysis.passes.batch_tracker import BatchTracker
from cffpy.frame.attachment import Attachment
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Operation, Pipe, Tile
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.pm4.reader import Payload

_SURFACE, _SCISSOR, _COPY_OFFSET = (
    "RB_SURFACE_INFO",
    "PA_SC_SCREEN_SCISSOR_TL",
    "RB_COPY_DEST_OFFSET",
)

#: TYPE and INDEX of CP_SET_CONSTANT: fetch constant 0 of fragment shaders, the texture that a load
#: reads; the constant of fragment shaders that has the colour of a clear (a20x). ADD is not set.
_FIRST_TEXTURE = 1, 0, 0
_CLEAR_COLOUR = 0, 0x480, 0
_SET_CONSTANT = Fields("CP_SET_CONSTANT", "TYPE", "INDEX", "ADD")
#: The address, in units of 4096 bytes.
_TEXTURE_BASE, _TEXTURE_BASE_SHIFT = Fields("A2XX_SQ_TEX", "BASE_ADDRESS"), 12

#: No bin is larger, in pixels.
_LARGEST = 16384

#: a20x: pitch of the surface, in pixels, that a fast clear makes of a buffer.
_FAST_CLEAR_PITCH = 32


class A2xxTracker(BatchTracker):
    """Recognises passes by the registers that the driver sets for them."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        #: The screen scissor is set, for a tile or all of the pass, and no IB was called since.
        self._scissor_set = False
        #: The copy offset is set: the scissor was a tile's.
        self._tile_set = False
        self._surface_width: int | None = None
        self._stream_address = 0
        self._texture: int | None = None
        #: a20x: the colour of a clear.
        self._colour: tuple[int, ...] | None = None
        self._last_packet = ""
        #: Tile -> column and row in its pipe, and the pipe's stream.
        self._pipe_places: dict[int, tuple[int, int, int]] = {}
        self.watch(_SURFACE, _SCISSOR, _COPY_OFFSET)

    # -- events -------------------------------------------------------------------------------

    def written(self, name: str) -> None:
        """A register that the driver sets up passes and tiles with."""
        pass_ = self.render_pass
        if pass_ is None:
            if name == _SURFACE:
                self._open()
        elif not self.is_drivers:
            return
        elif name == _SURFACE and pass_.has_runs:
            self._open()
        elif name == _SCISSOR:
            self._scissor_set, self._tile_set = True, False
        elif name == _COPY_OFFSET:
            self._tile_set = True

    def _open(self) -> None:
        self.open_render()
        self._scissor_set = self._tile_set = False
        self._surface_width = None
        self._stream_address = 0
        self._pipe_places.clear()

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """All packets: the one before a draw shows which draws are workarounds."""
        names = (name or f"{code:#x}" for code, name in enumerate(self.walk.machine.packet_names))
        return {name: partial(self._packet, name) for name in names}

    def _packet(self, name: str, payload: Payload) -> None:
        self._last_packet = name
        if name == "CP_SET_DRAW_INIT_FLAGS":
            self._stream_address = payload[0]
        elif name == "CP_SET_SHADER_BASES" and self.is_drivers and self.run is not None:
            # a batch begins with it, also one that sets no surface
            self.end()
        elif name == "CP_SET_CONSTANT":
            self._constant(payload)

    def _constant(self, payload: Payload) -> None:
        packets = self.walk.machine.packets
        constant = payload.read(packets[_SET_CONSTANT])
        if constant == _FIRST_TEXTURE and payload.captured > 2:
            (base,) = payload.read(packets[_TEXTURE_BASE], 1)
            self._texture = base << _TEXTURE_BASE_SHIFT
        elif constant == _CLEAR_COLOUR and payload.captured > 4:
            self._colour = tuple(payload.dwords()[1:5])

    def run_begins(self, pass_: Pass) -> None:
        """Before the first tile comes the binning run; without tiles all is one run."""
        place = self.walk.packet_location
        if self._tile_set and pass_.direct is None:
            if not self._is_loading:
                self.open_tile(pass_, place)
            self._scissor_set = self._tile_set = False
        elif self._scissor_set and not pass_.tiles:
            self._scissor_set = False
            if pass_.direct is None:
                self.open_direct(pass_, place, "sysmem")
        elif not pass_.tiles and pass_.direct is None and pass_.binning is None:
            self.open_binning(pass_, place)

    @property
    def _is_loading(self) -> bool:
        return isinstance(self.run, Tile) and not self.called

    def end(self) -> None:
        """A run without a tile after it is not a binning run."""
        pass_ = self.render_pass
        if pass_ is not None:
            self.settle()
            if pass_.mode is None and not pass_.has_runs and self._scissor_set:
                pass_.mode = "gmem" if self._tile_set else "sysmem"
            binning = pass_.binning
            if binning is not None and not (pass_.tiles and any(binning.draws)):
                pass_.hardware_binning = False
                if not pass_.tiles:
                    pass_.direct, pass_.binning, pass_.mode = binning, None, None
                    pass_.unknown.append("mode: neither a tile nor a scissor is set")
        super().end()

    # -- registers of a run -------------------------------------------------------------------

    def settle_run(self, pass_: Pass, run: PassRun) -> None:
        """Size of bins; the tile's rectangle and offset."""
        field = self.registers.field
        self._surface_width = self._surface_width or field(_SURFACE, "SURFACE_PITCH")
        width = field("PA_SC_SCREEN_SCISSOR_BR", "X")
        height = field("PA_SC_SCREEN_SCISSOR_BR", "Y")
        if width is None or height is None:
            return
        if run is pass_.direct and pass_.mode == "sysmem":
            pass_.framebuffer = Size(width, height) if width and height else None
        if isinstance(run, Tile):
            offset = self.point(_COPY_OFFSET)
            run.window_offset = offset
            if offset is not None:
                x, y = offset
                run.window_scissor = Rectangle(x, y, x + width, y + height)
            column = field("VGT_CURRENT_BIN_ID_MIN", "COLUMN")
            row = field("VGT_CURRENT_BIN_ID_MIN", "ROW")
            if self._stream_address and column and row:
                run.streams = self._stream_address, None, None
                self._pipe_places[run.number] = column - 1, row - 1, self._stream_address

    def targets(self) -> tuple[Attachment, ...]:
        """The mode decides whether addresses in registers are in GMEM or in memory."""
        return self._in_memory(super().targets())

    def bind_buffers(self) -> tuple[Attachment, ...]:
        return self._in_memory(super().bind_buffers())

    def _in_memory(self, buffers: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
        pass_ = self.render_pass
        if pass_ is None or pass_.mode is None:
            return tuple(replace(buffer, gmem=None) for buffer in buffers)
        if pass_.mode == "gmem":
            return tuple(replace(buffer, tiling=None, pitch=None) for buffer in buffers)
        # in sysmem gallium names a colour buffer only: depth's registers may be an older pass's
        colours = tuple(
            replace(buffer, address=buffer.gmem, gmem=None)
            for buffer in buffers
            if buffer.name != "depth"
        )
        control = "RB_DEPTHCONTROL"
        flag = self.registers.flag
        is_written = flag(control, "Z_ENABLE") and flag(control, "Z_WRITE_ENABLE")
        if flag(control, "Z_ENABLE") or flag(control, "STENCIL_ENABLE"):
            return *colours, Attachment("depth", None, None, write_mask=int(is_written))
        return colours

    # -- actions ------------------------------------------------------------------------------

    def is_workaround(self, action: Action) -> bool:
        """On a20x a triangle comes before each draw, after a register shows that DMA is idle."""
        is_triangle = action.packet == "CP_DRAW_INDX_BIN" and action.vertices == 3
        if is_triangle and self._last_packet == "CP_WAIT_REG_EQ":
            return True
        return super().is_workaround(action)

    def rectangle_draw(self, action: Action) -> None:
        """The driver's own commands load; IBs of theirs store, IBs of the program's clear."""
        pass_ = self.render_pass
        is_copy = self.registers.enum("RB_MODECONTROL", "EDRAM_MODE") == "EDRAM_COPY"
        if pass_ is None:
            self.set_aside(action, "copy" if is_copy else "clear")
        elif is_copy:
            self._store(action, pass_)
        elif self.is_drivers and pass_.direct is not None:
            self.set_aside(action, "load")
        elif self.is_drivers:
            self._load(action, pass_)
        else:
            self._clear(action)

    def _load(self, action: Action, pass_: Pass) -> None:
        if not self._is_loading:
            # the tile's copy offset is set after its loads
            self.open_tile(pass_, action.place)
        operation = Operation("load", None, "rectangle draw", action, self._texture)
        operation.gmem = self.registers.field("RB_COLOR_INFO", "BASE")
        self.add_operation(operation)

    def _store(self, action: Action, pass_: Pass) -> None:
        registers = self.registers
        self.ensure_run(action.place)
        self.settle()
        operation = Operation("store", None, "rectangle draw", action)
        operation.gmem = registers.field("RB_COLOR_INFO", "BASE")
        operation.address = registers.value("RB_COPY_DEST_BASE")
        operation.format = registers.enum("RB_COPY_DEST_INFO", "FORMAT")
        pixels = registers.field("RB_COPY_DEST_PITCH")
        if pixels is not None and operation.format is not None:
            operation.pitch = pixels * bytes_a_pixel(operation.format)
        is_linear = registers.flag("RB_COPY_DEST_INFO", "LINEAR")
        operation.tiling = "linear" if is_linear else "tiled"
        self.add_operation(operation)
        width = registers.field("PA_SC_WINDOW_SCISSOR_BR", "X")
        height = registers.field("PA_SC_WINDOW_SCISSOR_BR", "Y")
        pass_.framebuffer = Size(width, height) if width and height else None
        half = registers.number("PA_CL_VPORT_YOFFSET")
        is_sound = half is not None and 0 < half < _LARGEST
        if pass_.bin_size is None and self._surface_width and half is not None and is_sound:
            pass_.bin_size = Size(self._surface_width, round(2 * half))

    def _clear(self, action: Action) -> None:
        registers = self.registers
        samples = registers.field(_SURFACE, "MSAA_SAMPLES")
        is_fast = bool(samples) and registers.field(_SURFACE, "SURFACE_PITCH") == _FAST_CLEAR_PITCH
        operation = Operation("clear", None, "fast clear" if is_fast else "rectangle draw", action)
        if is_fast:
            operation.attachment = self._fast_cleared()
            if operation.attachment is not None and "color 0" in operation.attachment:
                operation.clear_value = self._colour
        elif action.execution.is_possible:
            depth = registers.flag("RB_DEPTHCONTROL", "Z_ENABLE")
            depth = depth and registers.flag("RB_DEPTHCONTROL", "Z_WRITE_ENABLE")
            stencil = registers.flag("RB_DEPTHCONTROL", "STENCIL_ENABLE")
            names = written_components(self.targets(), depth, stencil)
            operation.attachment = "+".join(names) or None
            value = registers.value("CLEAR_COLOR" if "color 0" in names else "RB_DEPTH_CLEAR")
            if value is not None:
                operation.clear_value = (value,)
            elif "color 0" in names:
                operation.clear_value = self._colour
        self.clear_by_rectangle(action, operation)

    def _fast_cleared(self) -> str | None:
        """A fast clear writes as colour and as depth; only the bases show what it clears.

        To clear colour alone, half of it is written as depth; to clear depth alone, half as colour.
        """
        as_colour = self.registers.field("RB_COLOR_INFO", "BASE")
        as_depth = self.registers.field("RB_DEPTH_INFO", "DEPTH_BASE")
        names = []
        for buffer in self.buffers:
            if buffer.gmem is None:
                continue
            if buffer.name != "depth":
                names.extend([buffer.name] if buffer.gmem == as_colour else [])
            elif buffer.gmem in (as_colour, as_depth):
                names.append(parts_of_depth(buffer, depth=True, stencil=True))
        return "+".join(names) or None

    # -- the pass as a whole ------------------------------------------------------------------

    def finish(self, pass_: Pass) -> None:
        """Also the pipes: each tile names its stream and its place in the pipe."""
        if pass_.kind == "render":
            self._find_pipes(pass_)
        super().finish(pass_)

    def _find_pipes(self, pass_: Pass) -> None:
        size = pass_.bin_size
        if size is None or not pass_.hardware_binning:
            return
        corners: dict[int, tuple[int, int]] = {}
        sizes: dict[int, tuple[int, int]] = {}
        tiles = {tile.number: tile for tile in pass_.tiles}
        for number, (column, row, stream) in self._pipe_places.items():
            tile = tiles.get(number)
            if tile is None or tile.window_offset is None:
                continue
            x, y = tile.window_offset
            corners[stream] = y // size.height - row, x // size.width - column
            width, height = sizes.get(stream, (0, 0))
            sizes[stream] = max(width, column + 1), max(height, row + 1)
        numbers = {stream: n for n, stream in enumerate(sorted(corners, key=corners.__getitem__))}
        for stream, pipe in numbers.items():
            y, x = corners[stream]
            pass_.pipes.append(Pipe(pipe, x, y, *sizes[stream]))
        for number, (column, row, stream) in self._pipe_places.items():
            tile = tiles.get(number)
            if tile is not None and stream in corners:
                width, height = sizes[stream]
                tile.pipe, tile.pipe_tiles = numbers[stream], width * height
                tile.slot = row * width + column
