# SPDX-License-Identifier: MIT
"""Passes of a3xx and a4xx: RB_FRAME_BUFFER_DIMENSION begins one, packet 0x4c a tile.

The driver's rectangle draws store where the colour pipe is off, else they load: the driver draws
textures, which are the buffers in memory, into GMEM. One rectangle loads all colour buffers, or
depth and stencil. Only packets say which textures a draw reads: CP_LOAD_STATE (a3xx: descriptors,
and a separate table of addresses) and CP_LOAD_STATE4 (a4xx). Facts: freedreno of Mesa 25.0.7,
a3xx.xml, a4xx.xml.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.attachments import written_components
from cffpy.analysis.passes.batch_tracker import WORKAROUND, BatchTracker
from cffpy.analysis.passes.streams import pipe_memory
from cffpy.analysis.passes.tracker import PipeNames
from cffpy.cp.loadstate import CONSTANTS, DIRECT, loaded_state
from cffpy.frame.attachment import Attachment
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Operation, Tile, VisibilityStreams
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.pm4.reader import Payload

#: CP_SET_BIN: the databases name it for a2xx only.
_SET_BIN = "0x4c"

_SET_BIN_FIELDS = Fields("CP_SET_BIN", "X1", "Y1", "X2", "Y2")
_SET_BIN_DATA = Fields("CP_SET_BIN_DATA", "BIN_DATA_ADDR", "BIN_SIZE_ADDRESS")

_PIPES = 8

_FRAMEBUFFER = "RB_FRAME_BUFFER_DIMENSION"
_DEPTH = "RB_DEPTH_INFO"


class A3xxA4xxTracker(BatchTracker):
    """What both generations have in common."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        self._bin_data: tuple[int, int] | None = None
        #: The register that begins a pass was written again after the tiles.
        self._may_be_over = False
        #: Of the pass's tiles.
        self._corners: set[tuple[int, int]] = set()
        #: The pass itself has set its depth buffer.
        self._depth_set = False
        self.watch(_FRAMEBUFFER, _DEPTH)
        #: The first constant of fragment shaders, as the program's IBs load it.
        self._colour: tuple[int, ...] | None = None
        self._loads = TextureLoads(self.walk.machine, self.registers, *self.colour_base)

    # -- for the two --------------------------------------------------------------------------

    #: Registers of a pipe, with its number to be filled in.
    pipe_names = PipeNames("")
    offset_name = ""

    #: Register and field of a colour buffer's place, with its number to be filled in.
    colour_base = ("", "")

    @property
    def is_binning(self) -> bool:
        """Whether what runs now writes visibility streams."""
        raise NotImplementedError

    @property
    def is_sysmem(self) -> bool:
        """Whether what runs now renders to memory."""
        raise NotImplementedError

    @property
    def stores(self) -> bool:
        """Whether a rectangle of the driver stores."""
        return self.registers.flag("RB_RENDER_CONTROL", "DISABLE_COLOR_PIPE")

    def bin_size(self) -> Size | None:
        """Of the tiles to come."""
        width = self.registers.field("VSC_BIN_SIZE", "WIDTH")
        height = self.registers.field("VSC_BIN_SIZE", "HEIGHT")
        return Size(width, height) if width and height else None

    # -- events -------------------------------------------------------------------------------

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Bins, and the textures and constants that loads and clears use."""
        return {
            _SET_BIN: self._set_bin,
            "CP_SET_BIN": self._set_bin,
            "CP_SET_BIN_DATA": self._set_bin_data,
            "CP_LOAD_STATE": partial(self._load_state, self._loads.load_state),
            "CP_LOAD_STATE4": partial(self._load_state, self._loads.load_state4),
        }

    def _load_state(self, load: Callable[[Payload], None], payload: Payload) -> None:
        """The driver's commands load textures.

        Of the program's, the first constant of a fragment shader is the colour of a clear.
        """
        if self.is_drivers:
            load(payload)
            return
        loaded = loaded_state(self.walk.machine, payload)
        state = loaded.kind, loaded.stage, loaded.source, loaded.first
        if state == (CONSTANTS, "FS", DIRECT, 0):
            dwords = payload.rest(loaded.packet_dwords).dwords()[:4]
            self._colour = tuple(dwords) if len(dwords) == 4 else None

    def written(self, name: str) -> None:
        """The driver prepares a pass: once for all of it, and once more for its binning run."""
        pass_ = self.render_pass
        if name == _DEPTH:
            self._depth_set = True
        elif pass_ is None:
            self._open()
        elif self.is_drivers and pass_.has_runs:
            if pass_.tiles and pass_.streams[-1] == self.walk.current_stream.number:
                self._may_be_over = True
            else:
                self._open()

    def _open(self) -> Pass:
        self._bin_data = None
        self._may_be_over = self._depth_set = False
        self._corners.clear()
        return self.open_render()

    def _same_or_next(self, pass_: Pass, corner: tuple[int, int] | None) -> Pass:
        """What is about to begin: another tile of the pass, or the next pass of the stream.

        Old drivers set the framebuffer's size for every tile. A pass visits each corner once.
        """
        if not self._may_be_over:
            return pass_
        self._may_be_over = False
        is_gmem = not self.is_binning and not self.is_sysmem
        if is_gmem and pass_.framebuffer == self._framebuffer() and corner not in self._corners:
            return pass_
        return self._open()

    def run_begins(self, pass_: Pass) -> None:
        """Registers show which run the IB belongs to; its tile may have begun before."""
        place = self.walk.packet_location
        pass_ = self._same_or_next(pass_, None)
        if self.is_binning:
            if pass_.binning is None and not pass_.tiles:
                self.open_binning(pass_, place)
        elif self.is_sysmem:
            if pass_.direct is None and not pass_.tiles:
                self.open_direct(pass_, place, "sysmem")
        elif not isinstance(self.run, Tile) and pass_.direct is None:
            self.open_tile(pass_, place)

    def end(self) -> None:
        """A pass without commands has a framebuffer, too."""
        pass_ = self.render_pass
        if pass_ is not None:
            if pass_.mode is None and not pass_.has_runs:
                pass_.mode = "sysmem" if self.is_sysmem else None
            pass_.framebuffer = pass_.framebuffer or self._framebuffer()
        super().end()

    # -- packets ------------------------------------------------------------------------------

    def _set_bin(self, payload: Payload) -> None:
        pass_ = self.render_pass
        if pass_ is None or not self.is_drivers:
            return
        left, top, right, bottom = payload.read(self.walk.machine.packets[_SET_BIN_FIELDS])
        pass_ = self._same_or_next(pass_, (left, top))
        if pass_.direct is not None:
            pass_ = self._open()
        self._corners.add((left, top))
        if not isinstance(self.run, Tile) or self.called or self.run.window_scissor is not None:
            self.open_tile(pass_, self.walk.packet_location)
        assert isinstance(self.run, Tile)
        self.run.window_scissor = Rectangle(left, top, right + 1, bottom + 1)

    def _set_bin_data(self, payload: Payload) -> None:
        stream, sizes = payload.read(self.walk.machine.packets[_SET_BIN_DATA])
        self._bin_data = stream, sizes

    # -- registers of a run -------------------------------------------------------------------

    def settle_run(self, pass_: Pass, run: PassRun) -> None:
        pass_.framebuffer = self._framebuffer()
        if pass_.mode != "gmem":
            return
        registers = self.registers
        if run is pass_.binning or not pass_.pipes:
            pass_.pipes = self.pipes(self.pipe_names, _PIPES)
            if pass_.hardware_binning:
                streams = pass_.visibility_streams = VisibilityStreams(
                    draw_limit=registers.value(self.pipe_names.length.format(0)),
                    sizes=registers.value("VSC_SIZE_ADDRESS"),
                )
                pass_._stream_memory = pipe_memory(self.walk.machine.image, streams, pass_.pipes)
        if isinstance(run, Tile):
            pass_.bin_size = self.bin_size()
            run.window_offset = self.point(self.offset_name)
            pipe_tiles = registers.field("PC_VSTREAM_CONTROL", "SIZE")
            if pipe_tiles and pass_.hardware_binning:
                run.pipe_tiles = pipe_tiles
                run.slot = registers.field("PC_VSTREAM_CONTROL", "N")
                if self._bin_data is not None:
                    run.streams = *self._bin_data, None

    def _framebuffer(self) -> Size | None:
        width = self.registers.field(_FRAMEBUFFER, "WIDTH")
        height = self.registers.field(_FRAMEBUFFER, "HEIGHT")
        return Size(width, height) if width and height else None

    def targets(self) -> tuple[Attachment, ...]:
        """In sysmem gallium names no depth buffer: registers may be those of an older pass."""
        targets = super().targets()
        if not self.is_sysmem or self._depth_set:
            return targets
        colours = tuple(target for target in targets if target.name.startswith("color"))
        depth, stencil = "RB_DEPTH_CONTROL", "RB_STENCIL_CONTROL"
        flag = self.registers.flag
        is_written = flag(depth, "Z_WRITE_ENABLE")
        if is_written or flag(depth, "Z_TEST_ENABLE") or flag(stencil, "STENCIL_ENABLE"):
            return *colours, Attachment("depth", None, None, write_mask=int(is_written))
        return colours

    def bind_buffers(self) -> tuple[Attachment, ...]:
        return self.targets() if self.is_sysmem else super().bind_buffers()

    # -- rectangles ---------------------------------------------------------------------------

    def rectangle_draw(self, action: Action) -> None:
        """The program's IBs clear with it; the driver's own commands load and store."""
        pass_ = self.render_pass
        if pass_ is not None and not self.is_drivers:
            self._clear(action)
        elif not self.stores:
            self._load(action)
        elif pass_ is not None and isinstance(self.run, Tile):
            self._store(action)
        else:
            # a320 needs such draws before a binning run
            self.set_aside(action, WORKAROUND)

    def _clear(self, action: Action) -> None:
        operation = Operation("clear", None, "rectangle draw", action)
        if action.execution.is_possible:
            depth = self.registers.flag("RB_DEPTH_CONTROL", "Z_WRITE_ENABLE")
            stencil = self.registers.flag("RB_STENCIL_CONTROL", "STENCIL_ENABLE")
            names = written_components(self.targets(), depth, stencil)
            operation.attachment = "+".join(names) or None
            if any(name.startswith("color") for name in names):
                operation.clear_value = self._colour
            if depth:  # the scale of the viewport: the rectangle is at 1
                operation.depth_value = self._first_value(
                    "GRAS_CL_VPORT_ZSCALE", "GRAS_CL_VPORT_ZSCALE_0"
                )
            if stencil:
                operation.stencil_value = self.registers.field("RB_STENCILREFMASK", "STENCILREF")
        self.clear_by_rectangle(action, operation)

    def _first_value(self, *names: str) -> int | None:
        return next((v for name in names if (v := self.registers.value(name)) is not None), None)

    def _load(self, action: Action) -> None:
        """By texture, into GMEM: before the tile's packet 0x4c."""
        pass_ = self.render_pass
        if pass_ is None or pass_.direct is not None:
            self.set_aside(action, "load")
            return
        pass_ = self._same_or_next(pass_, None)
        if not isinstance(self.run, Tile) or self.called:
            self.open_tile(pass_, action.place)
            # the tile's registers are set after its loads
        for operation in self._loads.operations(action):
            self.add_operation(operation)

    def _store(self, action: Action) -> None:
        registers = self.registers
        self.settle()
        operation = Operation("store", None, "rectangle draw", action)
        operation.gmem = registers.field("RB_COPY_CONTROL", "GMEM_BASE")
        operation.address = registers.field("RB_COPY_DEST_BASE", "BASE")
        operation.pitch = registers.field("RB_COPY_DEST_PITCH", "PITCH")
        operation.format = registers.enum("RB_COPY_DEST_INFO", "FORMAT")
        operation.tiling = registers.enum("RB_COPY_DEST_INFO", "TILE")
        operation.resolves = registers.flag("RB_COPY_CONTROL", "MSAA_RESOLVE")
        self.add_operation(operation)


class A3xxTracker(A3xxA4xxTracker):
    """Passes of a3xx, where RB_MODE_CONTROL sets the mode."""

    pipe_names = PipeNames(
        "VSC_PIPE[{}].CONFIG", "VSC_PIPE[{}].DATA_ADDRESS", "VSC_PIPE[{}].DATA_LENGTH"
    )
    offset_name = "RB_WINDOW_OFFSET"
    colour_base = ("RB_MRT[{}].BUF_BASE", "COLOR_BUF_BASE")

    @property
    def is_binning(self) -> bool:
        return self.registers.enum("RB_MODE_CONTROL", "RENDER_MODE") == "RB_TILING_PASS"

    @property
    def is_sysmem(self) -> bool:
        return self.registers.flag("RB_MODE_CONTROL", "GMEM_BYPASS")

    @property
    def stores(self) -> bool:
        return self.registers.enum("RB_MODE_CONTROL", "RENDER_MODE") == "RB_RESOLVE_PASS"


class A4xxTracker(A3xxA4xxTracker):
    """RB_MODE_CONTROL sets the mode, PC_BINNING_COMMAND begins the binning run."""

    pipe_names = PipeNames(
        "VSC_PIPE_CONFIG[{}].REG",
        "VSC_PIPE_DATA_ADDRESS[{}].REG",
        "VSC_PIPE_DATA_LENGTH[{}].REG",
    )
    offset_name = "RB_BIN_OFFSET"
    colour_base = ("RB_MRT[{}].BASE", "")

    @property
    def is_binning(self) -> bool:
        return self.registers.flag("PC_BINNING_COMMAND", "BINNING_ENABLE")

    @property
    def is_sysmem(self) -> bool:
        return not self.registers.flag("RB_MODE_CONTROL", "ENABLE_GMEM")

    def bin_size(self) -> Size | None:
        width = self.registers.field("RB_MODE_CONTROL", "WIDTH")
        height = self.registers.field("RB_MODE_CONTROL", "HEIGHT")
        return Size(width, height) if width and height else None


# -- textures that the driver's rectangle draws load -----------------------------------------------

_COLOURS = 8

#: State blocks, state type and source of textures in the packet; dwords of a descriptor.
_A3XX_TEXTURES, _A3XX_ADDRESSES, _A4XX_TEXTURES = 2, 3, 4
_CONSTANTS, _DIRECT = 1, 0
_A3XX_DESCRIPTOR, _A4XX_DESCRIPTOR = 4, 8
_HEAD = 2

_STATE = ("STATE_SRC", "STATE_BLOCK", "NUM_UNIT", "STATE_TYPE")
_LOAD_STATE = Fields("CP_LOAD_STATE", *_STATE)
_LOAD_STATE4 = Fields("CP_LOAD_STATE4", *_STATE)
#: Where the table has the texture's addresses.
_A3XX_INDEX = Fields("A3XX_TEX_CONST", "INDX")
#: The address, in units of 32 bytes.
_A4XX_BASE, _A4XX_BASE_SHIFT = Fields("A4XX_TEX_CONST", "BASE"), 5


class TextureLoads:
    """Finds the textures of the driver's draws, which are what a draw loads."""

    def __init__(
        self, machine: Machine, registers: RegisterReader, colour_base: str, base_field: str
    ) -> None:
        self._machine = machine
        self._registers = registers
        self._colour_base = colour_base
        self._base_field = base_field
        self._indices: list[int] = []
        self._table: list[int] = []
        #: Addresses, by the number of the texture.
        self._textures: list[int] = []

    def load_state(self, payload: Payload) -> None:
        """Note the descriptors and addresses of textures of CP_LOAD_STATE."""
        packets = self._machine.packets
        source, block, units, kind = payload.read(packets[_LOAD_STATE])
        if source != _DIRECT or kind != _CONSTANTS:
            return
        if block == _A3XX_TEXTURES:
            end = min(_HEAD + units * _A3XX_DESCRIPTOR, payload.captured)
            first = range(_HEAD, end, _A3XX_DESCRIPTOR)
            self._indices = [payload.read(packets[_A3XX_INDEX], at)[0] for at in first]
        elif block == _A3XX_ADDRESSES:
            self._table = payload.dwords()[_HEAD : _HEAD + units]
        table = self._table
        self._textures = [table[at] if at < len(table) else 0 for at in self._indices]

    def load_state4(self, payload: Payload) -> None:
        """Note the descriptors of textures of CP_LOAD_STATE4."""
        packets = self._machine.packets
        source, block, units, kind = payload.read(packets[_LOAD_STATE4])
        if (source, kind, block) == (_DIRECT, _CONSTANTS, _A4XX_TEXTURES):
            end = min(_HEAD + units * _A4XX_DESCRIPTOR, payload.captured)
            first = range(_HEAD, end, _A4XX_DESCRIPTOR)
            self._textures = [
                payload.read(packets[_A4XX_BASE], at)[0] << _A4XX_BASE_SHIFT for at in first
            ]

    def operations(self, action: Action) -> list[Operation]:
        """What the draw loads, a buffer each, by their offsets in GMEM."""
        colours = self._colours()
        if not self._registers.flag("RB_DEPTH_CONTROL", "Z_WRITE_ENABLE"):
            colours = colours or [(0, None)]
            return [self._operation(action, base, number) for number, base in colours]
        depth = self._registers.field("RB_DEPTH_INFO", "DEPTH_BASE")
        # depth as float is written as depth; stencil, if it has a buffer, as colour
        stencil = [base for _, base in colours if base != depth]
        operations = [self._operation(action, base, number) for number, base in enumerate(stencil)]
        return [*operations, self._operation(action, depth, len(stencil))]

    def _colours(self) -> list[tuple[int, int | None]]:
        """Number and offset of the colour buffers that are bound."""
        field = self._registers.field
        return [
            (number, field(self._colour_base.format(number), self._base_field))
            for number in range(_COLOURS)
            if field(f"RB_MRT[{number}].BUF_INFO", "COLOR_BUF_PITCH")
        ]

    def _operation(self, action: Action, gmem: int | None, texture: int) -> Operation:
        operation = Operation("load", None, "rectangle draw", action, gmem=gmem)
        if texture < len(self._textures):
            operation.address = self._textures[texture] or None
        return operation
