# SPDX-License-Identifier: MIT
"""Passes of a6xx and later: modes by CP_SET_MARKER, tiles by window offset and scissor.

Facts: turnip and freedreno of Mesa 25.0.7, and a frame of the vendor's driver on an a640. Mesa's
drivers write the window scissor where the marker stands; the vendor's driver does it in an IB
after the marker (``_is_set_up_in_ib``). No GPU or file name decides.

The vendor's driver sets the base registers of colour and depth buffers in a draw-state group that
is loaded in sysmem mode only. In a GMEM pass they are those of an older pass, so ``find_memory``
takes the memory of attachments from the stores and loads of the pass.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.attachments import attachments, bound_buffers
from cffpy.analysis.depth_state import LrzFollower, follow_lrz, read_depth_state
from cffpy.analysis.passes.a6xx_operations import (
    blit,
    count_layers,
    find_sysmem_area,
    finish_gmem,
    layers_held,
    name_attachments,
    rectangle,
    resolve,
    transfer_role,
)
from cffpy.analysis.passes.density_tracker import scales_bins
from cffpy.analysis.passes.streams import pipe_memory, stream_draw
from cffpy.analysis.passes.tracker import PipeNames, Tracker, merged, replace_targets
from cffpy.analysis.passes.transfers import (
    a6xx_blit,
    a6xx_event,
    complete_transfers,
    lrz_clear,
    rectangle_transfers,
)
from cffpy.analysis.registers import Remembered
from cffpy.cp.packets.mode import marker_mode
from cffpy.frame.action import RECTANGLES
from cffpy.frame.attachment import Attachment
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Pass, Tile, VisibilityStreams
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.analysis.pipes import Pipe
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action, ActionKind
    from cffpy.frame.attachment import Transfer
    from cffpy.frame.lrz import DepthState
    from cffpy.frame.passes import Concurrent, Operation, PassRun
    from cffpy.pm4.reader import Payload

#: Modes of CP_SET_MARKER; names differ between editions.
_DIRECT_RENDER, _BIN_VISIBILITY, _BIN_RENDER_START, _BIN_END_OF_DRAWS = 1, 2, 4, 5
_BIN_RESOLVE, _BIN_RENDER_END, _COMPUTE, _BLIT_2D = 6, 7, 8, 12

_VISIBILITY_OVERRIDE = Fields("CP_SET_VISIBILITY_OVERRIDE", "IGNORE")
_SET_BIN_DATA5 = Fields("CP_SET_BIN_DATA5", "VSC_SIZE", "VSC_N")
_BIN_ADDRESSES = Fields("CP_SET_BIN_DATA5", "BIN_DATA_ADDR", "BIN_SIZE_ADDRESS", "BIN_PRIM_STRM")
_SET_BIN_DATA5_OFFSET = Fields("CP_SET_BIN_DATA5_OFFSET", "VSC_SIZE", "VSC_N")
_BIN_OFFSETS = Fields(
    "CP_SET_BIN_DATA5_OFFSET", "BIN_DATA_OFFSET", "BIN_SIZE_OFFSET", "BIN_DATA2_OFFSET"
)
_PSEUDO_REGISTER = Fields("CP_SET_PSEUDO_REG", "PSEUDO_REG", "ADDRESS")

#: gallium's scissor of a batch without a framebuffer, and of one pixel.
_EMPTY_FRAMEBUFFER = Size(1, 1)

#: Drivers write it whenever they bind buffers, also without a depth buffer.
_DEPTH_INFO = "RB_DEPTH_BUFFER_INFO"
#: Drivers write it for each run.
_SCISSOR = "GRAS_SC_WINDOW_SCISSOR_BR"

#: Written where a driver binds a buffer in memory.
_BASES = ("RB_MRT[0].BASE", "RB_DEPTH_BUFFER_BASE")

_LAYER_CONTROLS = ("GRAS_VS_LAYER_CNTL", "GRAS_DS_LAYER_CNTL", "GRAS_GS_LAYER_CNTL")

_PIPES = 32

#: VSC_MASK: from slot VSC_N on; 0 means VSC_N alone. ABS_MASK: of all slots instead.
_SLOT_MASK = Fields(
    "CP_SET_BIN_DATA5", "VSC_N", "VSC_MASK", "ABS_MASK_ENABLE", "ABS_MASK", variant="MASK"
)
_SLOTS = 32

_PSEUDO_STREAMS = {
    "DRAW_STRM_ADDRESS": "draw",
    "DRAW_STRM_SIZE_ADDRESS": "sizes",
    "PRIM_STRM_ADDRESS": "primitive",
}


#: Whether BV bins while BR renders the pass before, by the pipe that executes the binning run.
_CONCURRENT: dict[Pipe | None, Concurrent] = {
    "BR": "no",
    "both": "no",
    "BV": "yes",
    "unknown": "decided by the GPU",
}


class A6xxTracker(Tracker):
    """Recognises passes, binning runs and tiles by markers."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        #: The current run's registers have been read.
        self._settled = True
        #: The tile's draws have ended: its stores follow, or the next tile.
        self._draws_ended = False
        #: After the last tile came commands that drivers run between passes.
        self._may_be_over = False
        self._called = False
        #: CP_SKIP_IB2_ENABLE_GLOBAL came in the current pass; a second one ended it.
        self._skip_set = self._skip_ends = False
        self._offsets: set[tuple[int, int]] = set()
        self._bin_data: tuple[int, int, int | None, int | None, int | None] | None = None
        self._merged: tuple[int, ...] = ()
        #: CP_SET_VISIBILITY_OVERRIDE; None: not known. A driver without it uses the streams.
        self._override: bool | None = None
        self._overrides = False
        #: Only the GPU knows whether the tile uses the visibility streams.
        self._streams_are_open = False
        self._stream_bases: dict[str, int] = {}
        self._lrz = LrzFollower(self.registers)
        generation = walk.generation
        #: What a draw renders to and how, of one list of registers: drivers change few of them.
        self._drawn = Remembered(walk.machine, lambda reader: _drawn(reader, generation))
        #: What the 2D engine, and BLIT events, move: drivers repeat them in each tile.
        self._blit = Remembered(walk.machine, a6xx_blit)
        self._event = Remembered(walk.machine, a6xx_event)
        #: The run and state of the last draw that counts, and its targets.
        self._last_run: PassRun | None = None
        self._last_drawn: _Drawn | None = None
        self._targets_drawn: tuple[Attachment, ...] = ()
        #: The buffers that registers name at the end of a pass.
        self._bound: tuple[Attachment, ...] = ()
        #: Nesting at which buffers were bound last, and whether that was in a tile's own commands.
        self._bound_level = -1
        self._tile_binds = False
        #: The window scissor was written in an IB after the marker of a run of the pass.
        self._is_set_up_in_ib = False
        #: The IB, or command stream, of the last marker.
        self._marker_stream: object = None
        #: The base of a buffer was written since the marker of the pass.
        self._binds_own = False
        self.watch(_DEPTH_INFO, _SCISSOR, *_BASES)

    @property
    def is_between(self) -> bool:
        """As ``Tracker``; also after the end of a pass, before the next one begins."""
        return self._may_be_over or super().is_between

    # -- events -------------------------------------------------------------------------------

    def stream_begins(self, submit: CommandStream, is_new_submit: bool) -> None:
        """Passes run on over streams, but not over submits; groups end with their stream."""
        in_group = self.current is not None and self.current.kind != "render"
        if is_new_submit or in_group or self._may_be_over:
            self.end()

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Markers, and what sets up visibility streams."""
        return {
            "CP_SET_MARKER": self._marker,
            "CP_SKIP_IB2_ENABLE_GLOBAL": self._skip_ib2_global,
            "CP_SET_VISIBILITY_OVERRIDE": self._visibility_override,
            "CP_SET_BIN_DATA5": self._bin_data5,
            "CP_SET_BIN_DATA5_OFFSET": self._bin_data5_offset,
            "CP_SET_PSEUDO_REG": self._pseudo_registers,
        }

    def event(self, name: str | None) -> None:
        """LRZ_FLUSH after a tile ends the passes of Mesa's drivers."""
        if name == "LRZ_FLUSH" and self._draws_ended and self.level <= self.base_level:
            self._may_be_over = True

    def written(self, name: str) -> None:
        """Buffers are bound, or the window scissor is set."""
        if name in _BASES:
            self._binds_own = True
        elif name == _DEPTH_INFO:
            self._bound_level = self.level
        elif not self._settled and self._is_in_another_ib():
            self._is_set_up_in_ib = True

    def pipe_changes(self) -> None:
        """Those of a binning run are those of the pipe that executes it."""
        if self.current is not None and self.run is self.current.binning:
            self._settle()

    def nested_begins(self) -> None:
        """An IB is called: what is bound by then is bound in the run's own commands."""
        self._note_binding()
        self._called = True

    def act(self, action: Action) -> None:
        """Assign an action to what is open."""
        if action.kind == "lrz clear":
            action.transfers = (lrz_clear(self.registers),)
            self._lrz.event(action, None if self._draws_ended else self.current)
            return
        if self._may_be_over and self.level <= self.base_level:
            self._may_be_over = False
            self.end()
        if action.execution.is_possible:
            self._settle()
        if action.kind == "dispatch":
            self._dispatch(action)
            return
        self._note_stream_draw(action)
        is_in_pass = self.current is not None and self.current.kind == "render"
        is_draw = action.kind == "draw" and action._packet_facts.primitive != RECTANGLES
        if is_in_pass and is_draw:
            self._draw(action)
            return
        transfer = self._transfer(action.kind)
        action.transfers = () if transfer is None else (transfer,)
        if is_in_pass:
            self._operate(action, transfer)
        else:
            self._between_passes(action)

    def _dispatch(self, action: Action) -> None:
        """A dispatch: of a render pass if it stands among its draws."""
        if self.current is None or self.current.kind != "render" or not self._in_draws():
            self.group("compute", action)
        else:
            self.add_draw(action)

    def _operate(self, action: Action, transfer: Transfer | None) -> None:
        """What loads, clears or stores within a pass."""
        if action.kind == "resolve":
            self.add_operation(resolve(self, action, transfer))
        elif transfer is not None:
            self.add_operation(blit(self, action, transfer))
        else:
            self.add_operation(rectangle(self, action, self._draws_ended))

    def _transfer(self, kind: ActionKind) -> Transfer | None:
        """What a blit or a BLIT event moves."""
        if kind == "blit":
            return self._blit()
        return self._event() if kind == "resolve" else None

    def _between_passes(self, action: Action) -> None:
        """A draw, blit or event that copies or fills memory."""
        self._lrz.between_passes(action)
        action.role = transfer_role(self, action)
        if action.kind == "draw" and action.execution.is_possible:
            action.targets, action.depth = self.targets(), self._depth_state()
            if action.role:
                moved = rectangle_transfers(self, action, action.role == "copy")
                action.transfers = tuple(transfer.on_attachment(None) for transfer in moved)
        self.group("transfer", action)

    def end(self) -> None:
        """Read the registers of a run in which nothing was drawn, then close the pass."""
        self.pipe_changes()
        if self.walk.pipes.registers != "BV":
            self._end()
            return
        with self.walk.pipes.read_br():  # BR has rendered the pass
            self._end()

    def _end(self) -> None:
        self._settle()
        current = self.current
        if current is not None and current.kind == "render":
            if self._is_marker_alone(current):
                self._discard(current)
                return
            self._lrz.bind(current)
            generation = self.walk.generation
            self._bound = bound_buffers(self.registers, generation) if self.has_operated else ()
        super().end()

    def _is_marker_alone(self, pass_: Pass) -> bool:
        """Whether a sysmem pass has no effect and no attachment, so that its marker begins none.

        gallium and turnip put each sysmem pass, an empty one, too, between two
        CP_SKIP_IB2_ENABLE_GLOBAL.
        """
        run = pass_.direct
        if pass_.mode != "sysmem" or run is None or not run.is_whole:
            return False
        binds_own = self._binds_own and any(map(self.registers.address, _BASES))
        if self._skip_ends or binds_own or self.is_full:
            return False
        return not any(action.execution.is_possible for action in pass_.actions)

    def _discard(self, pass_: Pass) -> None:
        """Take back the last pass; its LRZ is that of the next."""
        self.passes.pop()
        self.unkeep()
        self.current = self.run = None
        self._lrz.discard(pass_)
        for action in pass_.actions:
            action.pass_index, action.role = None, ""

    def finish(self, pass_: Pass) -> None:
        """Framebuffer, grid, LRZ, the attachments that operations are about."""
        if pass_.kind != "render":
            return
        name_attachments(pass_, self._bound)
        complete_transfers(pass_)
        if pass_.mode == "gmem":
            if self._is_set_up_in_ib:
                find_memory(pass_)
            # gallium binds buffers in a tile's own commands, and clips tiles to the framebuffer, as
            # the vendor's driver does; turnip binds them in commands that the tile calls, and does
            # not clip
            finish_gmem(pass_, self._tile_binds or self._is_set_up_in_ib)
        elif pass_.framebuffer == _EMPTY_FRAMEBUFFER and not pass_.attachments:
            pass_.framebuffer = None
            pass_.unknown.append("framebuffer size: the scissor is that of one pixel or of none")
        else:
            find_sysmem_area(pass_)
        if pass_.layers is None:
            pass_.layers = 1 if pass_.views else count_layers(pass_)
        else:
            pass_.layers = min(pass_.layers, layers_held(pass_))
        follow_lrz(pass_)
        if pass_.lrz is not None and pass_.lrz.clear is not None:
            pass_.lrz.clear.clears_lrz_of = pass_.index

    # -- markers ------------------------------------------------------------------------------

    def _is_in_another_ib(self) -> bool:
        """Whether commands are in an IB that the one with the marker calls, or beside it.

        Command streams that follow each other in a submit are one.
        """
        if self.level > self.base_level:
            return True
        return self.level > 0 and _indirect_buffer(self.walk.machine) is not self._marker_stream

    def _marker(self, payload: Payload) -> None:
        marker = marker_mode(self.walk.machine, payload)
        self._marker_stream = _indirect_buffer(self.walk.machine)
        if marker == _DIRECT_RENDER:
            self._begin_sysmem()
        elif marker == _BIN_VISIBILITY:
            self._begin_gmem(with_binning=True)
        elif marker == _BIN_RENDER_START:
            self._begin_tile()
        elif marker in (_BIN_END_OF_DRAWS, _BIN_RESOLVE, _BIN_RENDER_END):
            self._settle()
            self._draws_ended = True
            # the vendor's driver sends it after the last tile; Mesa's drivers send LRZ_FLUSH, too
            self._may_be_over |= marker == _BIN_RENDER_END and self._is_set_up_in_ib
        elif marker in (_COMPUTE, _BLIT_2D) and self.level <= self.base_level:
            in_tile = self.current is not None and self.current.mode == "gmem"
            # the vendor's driver clears by blits within a pass, under a condition
            is_within = in_tile or self.walk.condition is not None
            if not is_within or marker == _COMPUTE or self._may_be_over:
                self.end()

    def _begin_sysmem(self) -> None:
        place, begun = self.walk.packet_location, None
        pass_ = self.current
        if pass_ is not None and self._is_of_sysmem(pass_):
            begun, concurrent = pass_.first, pass_.concurrent
            self._discard(pass_)
        pass_ = self.begin("render", place, "sysmem")
        if begun is not None:
            pass_.first, pass_.concurrent = begun, concurrent
        self._is_set_up_in_ib = self._binds_own = False
        self._lrz.begin(pass_)
        self.begin_direct(pass_, place)
        self._unsettle()

    def _is_of_sysmem(self, pass_: Pass) -> bool:
        """Whether the marker of a binning run stands in front of a sysmem pass, and is part of it.

        turnip of 2025 on a7xx sets it in each pass, for what clears LRZ. A binning run calls the
        program's commands; this one calls nothing, and no tile follows.
        """
        run = pass_.binning
        if run is None or self._called or pass_.tiles:
            return False
        return run.is_whole and not run.draws and not run.operations

    def _begin_gmem(self, with_binning: bool) -> Pass:
        place = self.walk.packet_location
        pass_ = self.begin("render", place, "gmem")
        self._is_set_up_in_ib = False
        self._lrz.begin(pass_)
        self._offsets.clear()
        pass_.concurrent = _CONCURRENT.get(self.walk.pipe) if with_binning else None
        if with_binning:
            pass_.hardware_binning = True
            self.begin_direct(pass_, place)
            pass_.binning, pass_.direct = pass_.direct, None
        self._unsettle()
        return pass_

    def _begin_tile(self) -> None:
        self._settle()
        pass_ = self.current
        if pass_ is None or pass_.mode != "gmem" or self._is_over(pass_):
            pass_ = self._begin_gmem(with_binning=False)
        self.begin_tile(pass_, self.walk.packet_location)
        if self.tile_begins is not None:
            self.tile_begins()
        self._bin_data = None
        self._streams_are_open = False
        self._unsettle()

    def _is_over(self, pass_: Pass) -> bool:
        """Whether the next tile is another pass's.

        The vendor's driver renders all tiles after a binning run before it begins another pass.
        """
        is_binned = self._is_set_up_in_ib and pass_.hardware_binning
        return self._may_be_over and bool(pass_.tiles) and not is_binned

    def _unsettle(self) -> None:
        self._settled = self._draws_ended = self._may_be_over = False
        self._called = self._skip_set = self._skip_ends = False

    def _in_draws(self) -> bool:
        return self.level > self.base_level

    # -- registers of a run -------------------------------------------------------------------

    def _settle(self) -> None:
        """Read the registers that the driver has set for the run that begins."""
        pass_, run = self.current, self.run
        if self._settled or pass_ is None or run is None:
            return
        self._settled = True
        if isinstance(run, Tile):
            self._settle_tile(pass_, run)
        else:
            scissor = self._window_scissor()
            if scissor is not None:
                pass_.framebuffer = scissor.size
        if run is pass_.binning:
            self._settle_binning(pass_)

    def _note_binding(self) -> None:
        """At its first IB or action: whether a tile binds buffers in its own commands."""
        if not self._called and isinstance(self.run, Tile):
            self._tile_binds = self._bound_level == self.level

    def _window_scissor(self) -> Rectangle | None:
        return self.rectangle("GRAS_SC_WINDOW_SCISSOR_TL", "GRAS_SC_WINDOW_SCISSOR_BR")

    def _tile_rectangle(
        self, offset: tuple[int, int] | None, size: Size | None
    ) -> Rectangle | None:
        if offset is None or size is None or not scales_bins(self.registers):
            return self._window_scissor()
        # the window scissor, which the GPU applies to scaled bins, is open then
        return Rectangle(*offset, offset[0] + size.width, offset[1] + size.height)

    def _bin_size(self) -> Size | None:
        width = self.registers.field("RB_BIN_CONTROL", "BINW")
        height = self.registers.field("RB_BIN_CONTROL", "BINH")
        return Size(width, height) if width and height else None

    def _settle_binning(self, pass_: Pass) -> None:
        field, address = self.registers.field, self.registers.address
        pass_.bin_size = self._bin_size()
        columns, rows = field("VSC_BIN_COUNT", "NX"), field("VSC_BIN_COUNT", "NY")
        pass_.grid = Size(columns, rows) if columns and rows else None
        pass_.pipes = self.pipes(PipeNames("VSC_PIPE_CONFIG[{}].REG"), _PIPES)
        bases = self._stream_bases
        draw_pitch = field("VSC_DRAW_STRM_PITCH")
        primitive_pitch = field("VSC_PRIM_STRM_PITCH")
        pass_.visibility_streams = VisibilityStreams(
            bases.get("draw") or address("VSC_DRAW_STRM_ADDRESS"),
            draw_pitch,
            field("VSC_DRAW_STRM_LIMIT"),
            bases.get("primitive") or address("VSC_PRIM_STRM_ADDRESS"),
            primitive_pitch,
            field("VSC_PRIM_STRM_LIMIT"),
            bases.get("sizes") or address("VSC_DRAW_STRM_SIZE_ADDRESS"),
        )
        # buffers are dropped at the end of the submit
        image = self.walk.machine.image
        pass_._stream_memory = pipe_memory(image, pass_.visibility_streams, pass_.pipes)

    def _settle_tile(self, pass_: Pass, tile: Tile) -> None:
        offset, size = self.point("RB_WINDOW_OFFSET"), self._bin_size()
        if self._is_of_next_pass(pass_, offset, size):
            pass_.tiles.pop()
            self.run = None
            pass_ = self.begin("render", tile.place, "gmem")
            self._lrz.begin(pass_)
            self._offsets.clear()
            tile.number, tile.pass_index = 0, pass_.index
            pass_.tiles.append(tile)
            self.run = tile
        self._note_binding()
        pass_.bin_size = size or pass_.bin_size
        tile.window_offset = offset
        tile.window_scissor = self._tile_rectangle(offset, size)
        tile.visibility_override = self._override
        if offset is not None:
            self._offsets.add(offset)
        if offset is not None and size is not None:
            column, row = offset[0] // size.width, offset[1] // size.height
            tile.pipe = next((pipe.number for pipe in pass_.pipes if pipe.holds(column, row)), None)
        if self._bin_data is not None and pass_.hardware_binning:
            tile.pipe_tiles, tile.slot, *addresses = self._bin_data
            tile.merged_slots = self._merged
            tile.streams = addresses[0], addresses[1], addresses[2]
            if not self._overrides:
                tile.visibility_override = False

    def _is_of_next_pass(
        self, pass_: Pass, offset: tuple[int, int] | None, size: Size | None
    ) -> bool:
        """Whether a tile is not of the current pass, which visits each of its tiles once."""
        if offset is not None and offset in self._offsets:
            return True
        if pass_.binning is not None and len(pass_.tiles) == 1:
            return False  # a binning run is that of the tiles after it, also with other bins
        return bool(pass_.bin_size and size and size != pass_.bin_size)

    # -- other packets ------------------------------------------------------------------------

    def _skip_ib2_global(self, payload: Payload) -> None:
        """Turnip and gallium begin a sysmem pass with it, and end it so."""
        current = self.current
        if current is not None and current.mode == "sysmem" and self.level <= self.base_level:
            if self._called or self._skip_set:
                self._skip_ends = True
                self.end()
            self._skip_set = True

    def _visibility_override(self, payload: Payload) -> None:
        (override,) = payload.read(self.walk.machine.packets[_VISIBILITY_OVERRIDE])
        self._overrides = True
        # older gallium chooses by a predicate whether a tile uses the streams or ignores them
        self._override = None if self._streams_are_open else bool(override)
        if isinstance(self.run, Tile) and not self._draws_ended:
            self.run.visibility_override = self._override

    def _bin_data5(self, payload: Payload) -> None:
        machine = self.walk.machine
        size, slot = payload.read(machine.packets[_SET_BIN_DATA5])
        self._merged, payload = _merged_slots(machine, payload)
        draw, sizes, primitive = payload.read(machine.packets[_BIN_ADDRESSES])
        self._bin_data = size, slot, draw, sizes, primitive
        self.has_absolute_streams = True
        self._streams_are_open = self.walk.condition is not None

    def _bin_data5_offset(self, payload: Payload) -> None:
        current = self.current
        streams = None if current is None else current.visibility_streams
        bases = (
            (None, None, None)
            if streams is None
            else (streams.draw, streams.sizes, streams.primitive)
        )
        machine = self.walk.machine
        size, slot = payload.read(machine.packets[_SET_BIN_DATA5_OFFSET])
        self._merged, payload = _merged_slots(machine, payload)
        offsets = payload.read(machine.packets[_BIN_OFFSETS])
        draw, sizes, primitive = (
            None if base is None else base + offset
            for base, offset in zip(bases, offsets, strict=True)
        )
        self._bin_data = size, slot, draw, sizes, primitive

    def _pseudo_registers(self, payload: Payload) -> None:
        reader = self.walk.machine.packets[_PSEUDO_REGISTER]
        for position in range(0, payload.captured, reader.dwords):
            number, address = payload.read(reader, position)
            name = _PSEUDO_STREAMS.get(self.walk.machine.known_value("pseudo_reg", number) or "")
            if name is not None:
                self._stream_bases[name] = address

    # -- draws --------------------------------------------------------------------------------

    def _draw(self, action: Action) -> None:
        drawn, run = self._drawn(), self.run
        is_like_last = drawn is self._last_drawn and run is self._last_run
        if is_like_last and run is not None and action.execution.is_possible:
            assert self.current is not None
            self.place_in_run(action, self.current, run)
            action.targets, action.depth = self._targets_drawn, drawn.depth
            run.draws.append(action)
        else:
            self._draw_anew(action, drawn)

    def _draw_anew(self, action: Action, drawn: _Drawn) -> None:
        """A draw with another state than the one before, or in another run."""
        self._targets_drawn = self.shared_targets(drawn.targets)
        self.add_draw(action, self._targets_drawn, drawn.depth)
        current = self.current
        assert current is not None
        self._lrz.bind(current)
        if current.samples is None and action.targets:
            current.samples = action.targets[0].samples
        if drawn.has_views:
            current.views = drawn.views
        elif action.execution.is_possible and (drawn.writes_layer or not self._is_set_up_in_ib):
            last = drawn.last_layer
            # the vendor's driver sets GRAS_MAX_LAYER_INDEX to 1 where there is one layer, too
            current.layers = None if last is None else max(current.layers or 1, last + 1)
        is_known = action.execution.is_possible
        self._last_run, self._last_drawn = (self.run, drawn) if is_known else (None, None)

    def _note_stream_draw(self, action: Action) -> None:
        """Note the entries that a draw of a binning run has in the visibility streams."""
        current = self.current
        if current is not None and current.binning is not None and self.run is current.binning:
            has_views = self.registers.flag("PC_MULTIVIEW_CNTL", "ENABLE")
            draw = stream_draw(self.registers, action, has_views)
            if draw is not None:
                current._stream_draws.append(draw)


def _indirect_buffer(machine: Machine) -> object:
    """What stands for the IB that is executed, or for the command stream.

    Conditional blocks, which are parts of it, have entries of their own.
    """
    stream = machine.streams[-1]
    for outer in reversed(machine.streams[:-1]):
        if outer[0] is not stream[0] or not outer[1] <= stream[1] < outer[1] + outer[2]:
            break
        stream = outer
    return stream


class _Drawn(NamedTuple):
    """What a draw renders to and how. ``writes_layer``: a stage does."""

    targets: tuple[Attachment, ...]
    depth: DepthState | None
    has_views: bool
    views: int | None
    last_layer: int | None
    writes_layer: bool


def _drawn(registers: RegisterReader, generation: int) -> _Drawn:
    return _Drawn(
        attachments(registers, generation),
        read_depth_state(registers),
        registers.flag("PC_MULTIVIEW_CNTL", "ENABLE"),
        registers.field("PC_MULTIVIEW_CNTL", "VIEWS"),
        registers.field("GRAS_MAX_LAYER_INDEX"),
        any(registers.flag(name, "WRITES_LAYER") for name in _LAYER_CONTROLS),
    )


def _merged_slots(machine: Machine, payload: Payload) -> tuple[tuple[int, ...], Payload]:
    """Merged bins of a7xx: one tile that takes the visibility streams of several bins.

    Returns the slots that are merged, () where it is one, and the packet without a dword of mask.
    CP_SET_BIN_DATA5 and CP_SET_BIN_DATA5_OFFSET name them by a mask. Fact: adreno_pm4.xml of Mesa
    releases after 25.0.7; turnip of 25.0.7 does not use it.

    The first dword of that packet has no meaning if the mask was a dword.
    """
    if not machine.gpu.facts.merges_bins:
        return (), payload
    slot, relative, is_absolute, absolute = payload.read(machine.packets[_SLOT_MASK])
    if is_absolute:
        mask, payload = absolute, payload.rest(1)
    else:
        mask = relative << slot
    slots = tuple(number for number in range(_SLOTS) if mask >> number & 1)
    return slots if len(slots) > 1 else (), payload


# -- memory of the attachments of a GMEM pass ------------------------------------------------------

_COLOURS, _DEPTH, _STENCIL = 8, 8, 9

#: An attachment's name and GMEM offset.
_Place = tuple[str | None, int | None]


def find_memory(pass_: Pass) -> None:
    """Replace the memory of a pass's attachments by where its stores and loads have them.

    That of others is unknown. Buffers that only operations name become attachments, too.
    """
    operations = [
        operation
        for run in pass_.runs
        for operation in run.operations
        if operation.how == "BLIT event" and operation.action.execution.is_possible
    ]
    for operation in operations:
        operation.attachment = operation.attachment or _buffer_name(operation)
    moved = _moved(operations)
    names = Counter(name for name, _ in moved)
    changed: dict[Attachment, Attachment] = {}

    def in_memory(attachment: Attachment) -> Attachment:
        if attachment not in changed:
            operation = moved.get((attachment.name, attachment.gmem))
            if operation is None and names[attachment.name] == 1:
                operation = next(o for (name, _), o in moved.items() if name == attachment.name)
            changed[attachment] = _with_memory(attachment, operation)
        return changed[attachment]

    others = _unbound(pass_, operations)
    pass_.attachments = merged(map(in_memory, [*pass_.attachments, *others]))
    replace_targets(pass_.actions, in_memory)


def _buffer_name(operation: Operation) -> str | None:
    """The attachment that the event itself names: BUFFER_ID."""
    number = operation.buffer_id
    if number is None:
        return None
    if number < _COLOURS:
        return f"color {number}"
    return {_DEPTH: "depth", _STENCIL: "stencil"}.get(number)


def _moved(operations: list[Operation]) -> dict[_Place, Operation]:
    """The operation that shows an attachment's memory: its last store, else its last load."""
    moved: dict[_Place, Operation] = {}
    for kind in ("load", "store"):
        for operation in operations:
            if operation.kind == kind and operation.address is not None:
                moved[_buffer_of(operation), operation.gmem] = operation
    return moved


def _buffer_of(operation: Operation) -> str | None:
    """The attachment of an event: the depth buffer where stencil is packed with it."""
    name = operation.attachment
    return None if name is None else name.partition("+")[0]


def _with_memory(attachment: Attachment, operation: Operation | None) -> Attachment:
    if operation is None:
        return replace(
            attachment, address=None, tiling=None, pitch=None, flags=None, layer_pitch=None
        )
    return replace(
        attachment,
        address=operation.address,
        tiling=operation.tiling if attachment.name.startswith("color") else None,
        pitch=operation.pitch,
        ubwc=operation.flags is not None,
        flags=operation.flags,
        layer_pitch=operation.layer_pitch,
    )


def _unbound(pass_: Pass, operations: Iterable[Operation]) -> list[Attachment]:
    """Buffers that operations name and no draw of the pass has."""
    known = {attachment.name for attachment in pass_.attachments}
    buffers: dict[str, Attachment] = {}
    for operation in operations:
        name = _buffer_of(operation)
        if name is not None and name not in known:
            buffers.setdefault(
                name,
                Attachment(
                    name, None, operation.format, gmem=operation.gmem, samples=pass_.samples
                ),
            )
    return list(buffers.values())
