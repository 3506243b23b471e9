# SPDX-License-Identifier: MIT
"""Passes of a5xx: CP_SET_RENDER_MODE sets the mode, the window scissor is each tile's.

Facts: freedreno of Mesa 25.0.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.attachments import samples, written_components
from cffpy.analysis.depth_state import follow_lrz
from cffpy.analysis.passes.batch_tracker import BatchTracker
from cffpy.analysis.passes.streams import pipe_memory
from cffpy.analysis.passes.tracker import PipeNames
from cffpy.analysis.passes.transfers import a5xx_event
from cffpy.frame.geometry import Size
from cffpy.frame.passes import Lrz, Operation, Tile, VisibilityStreams
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeGuard

    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.pm4.reader import Payload

#: CP_SET_RENDER_MODE (enum render_mode_cmd).
_BYPASS, _BINNING, _GMEM = 1, 2, 3
_RENDER_MODE = Fields("CP_SET_RENDER_MODE", "MODE")
_VISIBILITY_OVERRIDE = Fields("CP_SET_VISIBILITY_OVERRIDE", "IGNORE")
_SET_BIN_DATA5 = Fields(
    "CP_SET_BIN_DATA5", "VSC_SIZE", "VSC_N", "BIN_DATA_ADDR", "BIN_SIZE_ADDRESS"
)

#: RB_BLIT_CNTL.BUF.
_BLIT_DEPTH_STENCIL, _BLIT_STENCIL = 8, 9

#: RB_CLEAR_CNTL.MASK of depth and stencil in one buffer.
_CLEARS_DEPTH, _CLEARS_STENCIL = 1, 2

#: No framebuffer is larger, in pixels.
_LARGEST = 16384

_WINDOW_SCISSOR = "GRAS_SC_WINDOW_SCISSOR"
_PIPES = 16
_PIPE_NAMES = PipeNames(
    "VSC_PIPE_CONFIG[{}].REG", "VSC_PIPE_DATA_ADDRESS[{}].LO", "VSC_PIPE_DATA_LENGTH[{}].REG"
)


class A5xxTracker(BatchTracker):
    """Recognises passes by the render mode and the window scissor."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        self._mode = 0
        self._bin_data: tuple[int, int, int, int] | None = None
        self._override: bool | None = None
        #: Where an LRZ clear before the pass went to.
        self._cleared_lrz: int | None = None
        #: How far viewports of the pass's draws reach, to the right and downwards.
        self._drawn_to = (0, 0)
        self.watch(f"{_WINDOW_SCISSOR}_TL")

    # -- events -------------------------------------------------------------------------------

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Render modes, and how tiles use visibility streams."""
        return {
            "CP_SET_RENDER_MODE": self._render_mode,
            "CP_SET_VISIBILITY_OVERRIDE": self._visibility_override,
            "CP_SET_BIN_DATA5": self._set_bin_data5,
        }

    def written(self, name: str) -> None:
        """The window scissor: a tile in GMEM mode; before that, the driver prepares for sysmem."""
        pass_ = self.render_pass
        if pass_ is not None and not self.is_drivers:
            return
        if self._mode == _BYPASS and pass_ is None:
            pass_ = self.open_render("sysmem")
            self.open_direct(pass_, self.walk.packet_location, "sysmem")
        elif self._mode == _GMEM and pass_ is not None:
            self._bin_data = self._override = None
            self.open_tile(pass_, self.walk.packet_location)

    def finish(self, pass_: Pass) -> None:
        """Also where LRZ was switched off, and whether the tiles cover the framebuffer."""
        super().finish(pass_)
        follow_lrz(pass_)
        if pass_.mode == "gmem":
            self._doubt_framebuffer(pass_)
        self._drawn_to = 0, 0

    def _doubt_framebuffer(self, pass_: Pass) -> None:
        """No register holds its size; tiles cover what the program's scissors let it draw to.

        A clear covers all of it. Without a clear, a viewport that is larger than the tiles shows
        that these do not cover it.
        """
        size, area = pass_.framebuffer, pass_.render_area
        if size is None or area is None:
            return
        operations = [operation for run in pass_.runs for operation in run.operations]
        if any(operation.kind == "clear" for operation in operations):
            return
        if self._drawn_to[0] > area.right or self._drawn_to[1] > area.bottom:
            pass_.framebuffer = None
            pass_.unknown.append("framebuffer size: viewports reach beyond the tiles")

    # -- packets ------------------------------------------------------------------------------

    def _render_mode(self, payload: Payload) -> None:
        pass_ = self.render_pass
        if pass_ is not None and not self.is_drivers:
            return
        (mode,) = payload.read(self.walk.machine.packets[_RENDER_MODE])
        if mode == _BYPASS:
            self.end()
            self._cleared_lrz = None
        elif mode == _BINNING:
            self.open_binning(self.open_render("gmem"), self.walk.packet_location)
        elif mode == _GMEM and (pass_ is None or pass_.tiles or pass_.direct):
            self.open_render("gmem")
        if mode in (_BYPASS, _BINNING, _GMEM):
            self._mode = mode

    def _visibility_override(self, payload: Payload) -> None:
        (override,) = payload.read(self.walk.machine.packets[_VISIBILITY_OVERRIDE])
        self._override = bool(override)

    def _set_bin_data5(self, payload: Payload) -> None:
        values = payload.read(self.walk.machine.packets[_SET_BIN_DATA5])
        pipe_tiles, slot, stream, sizes = values
        self._bin_data = pipe_tiles, slot, stream, sizes

    # -- registers of a run -------------------------------------------------------------------

    def settle_run(self, pass_: Pass, run: PassRun) -> None:
        """Sizes; the tile; the VSC pipes."""
        scissor = self.rectangle(f"{_WINDOW_SCISSOR}_TL", f"{_WINDOW_SCISSOR}_BR")
        self._find_lrz(pass_)
        if pass_.mode == "gmem":
            width = self.registers.field("RB_CNTL", "WIDTH")
            height = self.registers.field("RB_CNTL", "HEIGHT")
            pass_.bin_size = Size(width, height) if width and height else pass_.bin_size
        elif pass_.mode == "sysmem" and _is_framebuffer(scissor):
            pass_.framebuffer = scissor.size
        if run is not pass_.binning:
            pass_.samples = samples(self.registers)
        else:
            pass_.pipes = self.pipes(_PIPE_NAMES, _PIPES)
            pass_.visibility_streams = VisibilityStreams(
                draw_limit=self.registers.value("VSC_PIPE_DATA_LENGTH[0].REG"),
                sizes=self.registers.address("VSC_SIZE_ADDRESS"),
            )
            image = self.walk.machine.image
            pass_._stream_memory = pipe_memory(image, pass_.visibility_streams, pass_.pipes)
        if isinstance(run, Tile):
            run.window_scissor = scissor
            run.window_offset = self.point("RB_WINDOW_OFFSET")
            run.visibility_override = self._override
            if self._bin_data is not None and pass_.hardware_binning:
                run.pipe_tiles, run.slot, stream, sizes = self._bin_data
                run.streams = stream, sizes, None

    def bind_buffers(self) -> tuple[Attachment, ...]:
        """While a tile is loaded, registers name buffers in memory: nothing is bound yet."""
        pass_ = self.render_pass
        is_gmem = pass_ is not None and pass_.mode == "gmem"
        if is_gmem and self.registers.flag("RB_CNTL", "BYPASS"):
            return ()
        return super().bind_buffers()

    def _find_lrz(self, pass_: Pass) -> None:
        address = self.registers.address("GRAS_LRZ_BUFFER_BASE")
        if pass_.lrz is None and address:
            pass_.lrz = Lrz(address, cleared=address == self._cleared_lrz)

    # -- actions ------------------------------------------------------------------------------

    def draw(self, action: Action) -> None:
        super().draw(action)
        right, bottom = self._drawn_to
        self._drawn_to = max(right, self._reach("X")), max(bottom, self._reach("Y"))

    def _reach(self, axis: str) -> int:
        """End of the viewport, in pixels; 0 if it is unknown, or larger than any framebuffer."""
        offset = self.registers.number(f"GRAS_CL_VPORT_{axis}OFFSET_0")
        scale = self.registers.number(f"GRAS_CL_VPORT_{axis}SCALE_0")
        if offset is None or scale is None or not abs(offset) + abs(scale) <= _LARGEST:
            return 0
        return round(offset + abs(scale))

    def rectangle_draw(self, action: Action) -> None:
        """The driver's blitter clears with it."""
        operation = Operation("clear", None, "rectangle draw", action)
        if action.execution.is_possible:
            depth = self.registers.flag("RB_DEPTH_CNTL", "Z_WRITE_ENABLE")
            stencil = self.registers.flag("RB_STENCIL_CONTROL", "STENCIL_ENABLE")
            names = written_components(self.targets(), depth, stencil)
            operation.attachment = "+".join(names) or None
        self.clear_by_rectangle(action, operation)

    def blit_event(self, action: Action) -> None:
        """A BLIT event clears by RB_CLEAR_CNTL, loads in bypass mode, else stores."""
        registers = self.registers
        transfer = a5xx_event(registers)
        action.transfers = (transfer,)
        is_clear = transfer.source is None
        if self.run is None:
            if is_clear:
                # before the pass: of the LRZ buffer, which is bound as if it were a colour buffer
                self._cleared_lrz = registers.address("RB_MRT[0].BASE")
            self.set_aside(action, "clear" if is_clear else "copy")
            return
        self.settle()
        operation = Operation("store", None, "BLIT event", action)
        buffer = registers.field("RB_BLIT_CNTL", "BUF")
        operation.scissor = self.rectangle("RB_RESOLVE_CNTL_1", "RB_RESOLVE_CNTL_2")
        if is_clear:
            operation.kind = "clear"
            operation.attachment = _buffer_name(buffer, registers.field("RB_CLEAR_CNTL", "MASK"))
            operation.clear_value = transfer.value
            self.add_operation(operation)
            return
        memory = transfer.destination
        if registers.flag("RB_CNTL", "BYPASS"):
            operation.kind = "load"
            operation.gmem = None if memory is None else memory.gmem
            memory = transfer.source
        else:
            operation.attachment = _buffer_name(buffer, None)
            operation.resolves = transfer.resolves
        if memory is not None:
            operation.address, operation.tiling = memory.address, memory.tiling
            operation.pitch = memory.pitch
        self.add_operation(operation)


def _is_framebuffer(scissor: Rectangle | None) -> TypeGuard[Rectangle]:
    """A batch without a framebuffer has a scissor of size 0, less 1."""
    return scissor is not None and max(scissor.right, scissor.bottom) <= _LARGEST


def _buffer_name(buffer: int | None, mask: int | None) -> str | None:
    """Name of a buffer of a BLIT event. ``mask``: components that a clear writes."""
    if buffer is None or buffer > _BLIT_STENCIL:
        return None
    if buffer == _BLIT_STENCIL:
        return "stencil"
    if buffer < _BLIT_DEPTH_STENCIL:
        return f"color {buffer}"
    bits = ((_CLEARS_DEPTH, "depth"), (_CLEARS_STENCIL, "stencil"))
    return "+".join(name for bit, name in bits if mask and mask & bit) or "depth"
