# SPDX-License-Identifier: MIT
"""BatchTracker: the base of the trackers of a2xx to a5xx, which go by registers.

gallium freedreno is the driver that their facts come from (Mesa 25.0.7): a batch has at most one
render pass, and begins with a command stream; a long one continues in the next. The driver's own
commands stand in the stream; it calls IBs with the program's draws, once for a binning run and once
for each tile.

Which draws are the program's: all but the driver's rectangles (RECTLIST, which no API offers) and
its workarounds. A rectangle among the program's draws clears; it is an operation, though gallium
counts those of its blitter as draws (a3xx to a5xx).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.action_reader import blit_role
from cffpy.analysis.attachments import bound_buffers, parts_of_depth
from cffpy.analysis.passes.tracker import Tracker, replace_targets
from cffpy.analysis.passes.transfers import a5xx_blit, complete_transfers
from cffpy.frame.action import RECTANGLES
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Operation, PassRun, Tile

if TYPE_CHECKING:
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment, Role
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.render_mode import Mode

#: Role of draws that only work around what hardware does wrong.
WORKAROUND: Role = "workaround"


class BatchTracker(Tracker):
    """Opens and closes passes and runs; the generations say when, and read their registers."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        #: What came before the first run of a pass.
        self._early: list[Action] = []
        #: The current run's registers have been read.
        self._settled = True
        #: IBs were called in the current run.
        self.called = False
        #: What the registers bind in the current pass, with GMEM offsets where it is in GMEM mode.
        self.buffers: tuple[Attachment, ...] = ()

    # -- for the generations ------------------------------------------------------------------

    def settle_run(self, pass_: Pass, run: PassRun) -> None:
        """Read what the driver has set for a run, before its first IB or action."""

    def run_begins(self, pass_: Pass) -> None:
        """An IB is about to begin in the pass, at the driver's level: begin a run if need be."""

    def rectangle_draw(self, action: Action) -> None:
        """A rectangle draw of the driver or the program."""

    def blit_event(self, action: Action) -> None:
        """A BLIT event of the driver."""

    def is_workaround(self, action: Action) -> bool:
        """Whether a draw, no rectangle, draws nothing."""
        return action._packet_facts.vertices == 0

    # -- events -------------------------------------------------------------------------------

    def stream_begins(self, submit: CommandStream, is_new_submit: bool) -> None:
        """The beginning of the next batch ends a pass; groups end with their stream."""
        if is_new_submit or self.render_pass is None:
            self.end()

    def nested_begins(self) -> None:
        """The driver calls an IB: by now it has set its registers."""
        pass_ = self.render_pass
        if pass_ is not None and self.is_drivers:
            self.run_begins(pass_)
            self.settle()
            self.called = True

    def act(self, action: Action) -> None:
        """Assign an action to what is open."""
        if action.kind == "dispatch":
            self._dispatch(action)
        elif action.kind == "resolve":
            self.blit_event(action)
        elif action.kind == "blit":
            self._blit(action)
        elif action._packet_facts.primitive == RECTANGLES:
            self.rectangle_draw(action)
        elif self.is_workaround(action):
            self.set_aside(action, WORKAROUND)
        else:
            self.draw(action)

    def end(self) -> None:
        """Close the pass. Actions before its first run become a group if no run began."""
        self.settle()
        early, self._early = self._early, []
        if early and self.render_pass is None:
            for action in early:
                self.group("transfer", action)
        elif early:
            self.ensure_run(early[0].place)
            self._absorb(early)
        super().end()

    def finish(self, pass_: Pass) -> None:
        """Compute what depends on the whole pass."""
        if pass_.kind == "render":
            summarise(pass_, self.buffers)

    # -- opening ------------------------------------------------------------------------------

    @property
    def render_pass(self) -> Pass | None:
        """The pass that is open, if it is not a group."""
        current = self.current
        return current if current is not None and current.kind == "render" else None

    @property
    def is_drivers(self) -> bool:
        """Whether commands of the driver itself run now, not those of an IB that it calls."""
        return self.level <= self.base_level

    def open_render(self, mode: Mode | None = None) -> Pass:
        """A render pass begins; actions before it in the stream belong to it."""
        early, self._early = self._early, []
        pass_ = self.begin("render", self.walk.packet_location, mode)
        self._early = early
        self.buffers = ()
        return pass_

    def open_binning(self, pass_: Pass, place: PacketLocation) -> None:
        """Begin the binning run of a pass."""
        pass_.mode = "gmem"
        pass_.hardware_binning = True
        self.run = pass_.binning = PassRun(place, self.walk.pipe, pass_index=pass_.index)
        self._run_opened()

    def open_direct(self, pass_: Pass, place: PacketLocation, mode: Mode | None) -> None:
        """All of the pass is one run."""
        pass_.mode = mode
        self.begin_direct(pass_, place)
        self._run_opened()

    def open_tile(self, pass_: Pass, place: PacketLocation) -> Tile:
        """Begin the next tile of a pass."""
        self.settle()
        pass_.mode = "gmem"
        tile = self.begin_tile(pass_, place)
        self._run_opened()
        return tile

    def ensure_run(self, place: PacketLocation) -> PassRun:
        """The current run. If none has begun, all of the pass is one run."""
        pass_ = self.render_pass
        if pass_ is None:
            pass_ = self.open_render()
        if self.run is None:
            pass_.unknown.append("mode: no tile and no other run begins in it")
            self.open_direct(pass_, place, None)
        assert self.run is not None
        return self.run

    def settle(self) -> None:
        """Read the registers of the current run once; its buffers once they are bound."""
        pass_, run = self.render_pass, self.run
        if pass_ is None or run is None:
            return
        if not self._settled:
            self._settled = True
            self.settle_run(pass_, run)
        if not self.buffers and run is not pass_.binning:
            self.buffers = self.bind_buffers()

    def bind_buffers(self) -> tuple[Attachment, ...]:
        """What the registers bind now."""
        return bound_buffers(self.registers, self.walk.generation)

    def _run_opened(self) -> None:
        self._settled = self.called = False
        early, self._early = self._early, []
        self._absorb(early)

    # -- actions ------------------------------------------------------------------------------

    def draw(self, action: Action) -> None:
        """A draw of the program."""
        self.ensure_run(action.place)
        self.settle()
        self.add_draw(action)
        current = self.current
        assert current is not None
        if current.samples is None and action.targets and self.run is not current.binning:
            current.samples = action.targets[0].samples

    def set_aside(self, action: Action, role: Role) -> None:
        """The driver's, but no load, clear or store of an attachment."""
        action.role = role
        current = self.current
        stream = action.place.number
        if self.run is None or current is None or current.streams[-1] != stream:
            # in a new stream it may be the next batch's
            self._early.append(action)
        else:
            self._absorb([action])

    def clear_by_rectangle(self, action: Action, operation: Operation) -> None:
        """A rectangle among the program's draws. In the binning run it clears nothing."""
        self.ensure_run(action.place)
        self.settle()
        current = self.current
        assert current is not None
        if self.run is current.binning:
            self.set_aside(action, "clear")
        else:
            if action.execution.is_possible:
                action.targets = self.targets()
            self.add_operation(operation)

    def _absorb(self, actions: list[Action]) -> None:
        pass_, run = self.current, self.run
        for action in actions:
            assert pass_ is not None
            assert run is not None
            self.place_in_run(action, pass_, run)
            run.draws.append(action)
            self.has_drawn = True

    def _dispatch(self, action: Action) -> None:
        pass_ = self.render_pass
        is_empty = pass_ is not None and not self.has_drawn and not self.has_operated
        if pass_ is not None and not is_empty and pass_.streams[-1] != action.place.number:
            self.end()
            pass_ = None
        if pass_ is not None and is_empty:
            # the driver prepares for rendering in batches of dispatches, too
            self.passes.pop()
            self.current = self.run = None
            self._settled = True
            pass_ = None
        if pass_ is None:
            self.group("compute", action)
        else:
            self.add_draw(action)

    def _blit(self, action: Action) -> None:
        """CP_BLIT. Within a pass its purpose is unknown."""
        transfer = a5xx_blit(self.registers, self.walk.machine.packets, action.dwords)
        action.transfers = (transfer,)
        if self.render_pass is None:
            action.role = blit_role(transfer)
            self.group("transfer", action)
            return
        is_fill = transfer.source is None
        operation = Operation("clear" if is_fill else "copy", None, "CP_BLIT", action)
        operation.clear_value = transfer.value
        if transfer.source is not None:
            operation.source = transfer.source.address
        if transfer.destination is not None:
            operation.address = transfer.destination.address
            operation.format = transfer.destination.format
            operation.tiling = transfer.destination.tiling
        self.ensure_run(action.place)
        self.settle()
        self.add_operation(operation)


# -- the pass as a whole --------------------------------------------------------------------------
#
# In GMEM mode an attachment's registers hold its offset in GMEM. Its address in memory is where its
# tiles are stored to, or loaded from; without either, the stream does not hold it.


def summarise(pass_: Pass, buffers: tuple[Attachment, ...]) -> None:
    """Fill in what needs the whole pass. ``buffers``: what the registers bound."""
    if not pass_.attachments:
        pass_.attachments = list(buffers)
    operations = [operation for run in pass_.runs for operation in run.operations]
    _name(operations, (*buffers, *pass_.attachments))
    if pass_.mode == "gmem":
        _find_memory(pass_, operations)
        _lay_out_tiles(pass_)
    _describe(operations, {attachment.name: attachment for attachment in pass_.attachments})
    if pass_.samples is None and pass_.attachments:
        pass_.samples = pass_.attachments[0].samples
    complete_transfers(pass_)


def _name(operations: list[Operation], buffers: tuple[Attachment, ...]) -> None:
    """Name what operations are about by GMEM offset, where that is one buffer's alone.

    Registers may still place a buffer there that is not used: then it is the one that draws write.
    """
    written = {buffer.name for buffer in buffers if buffer.write_mask}
    names: dict[int, set[str]] = {}
    for buffer in buffers:
        if buffer.gmem is not None:
            names.setdefault(buffer.gmem, set()).add(buffer.name)
    for operation in operations:
        if operation.attachment is None and operation.gmem is not None:
            possible = names.get(operation.gmem, set())
            if len(possible) > 1:
                possible &= written
            if len(possible) == 1:
                operation.attachment = next(iter(possible))


def _describe(operations: list[Operation], attachments: dict[str, Attachment]) -> None:
    """The parts of packed depth and stencil; the format of the attachment where none is known."""
    depth = None if "stencil" in attachments else attachments.get("depth")
    formats = {name: attachment.format for name, attachment in attachments.items()}
    for operation in operations:
        if depth is not None:
            _name_parts(operation, depth)
        if operation.format is None and operation.attachment is not None:
            known = {formats.get(name) for name in operation.attachment.split("+")} - {None}
            operation.format = known.pop() if len(known) == 1 else None


def _name_parts(operation: Operation, depth: Attachment) -> None:
    """Stencil is loaded and stored with depth where both are packed, and cleared only there.

    The bits of an event that clears name stencil whether the buffer has any or not.
    """
    if operation.kind != "clear":
        if operation.attachment == "depth":
            operation.attachment = parts_of_depth(depth, depth=True, stencil=True)
    elif operation.how == "BLIT event" and operation.attachment == "depth+stencil":
        operation.attachment = parts_of_depth(depth, depth=True, stencil=True)


def _find_memory(pass_: Pass, operations: list[Operation]) -> None:
    in_memory: dict[str, Operation] = {}
    for kind in ("load", "store"):
        for operation in operations:
            if operation.kind == kind and operation.address is not None and operation.attachment:
                in_memory[operation.attachment] = operation
    changed: dict[Attachment, Attachment] = {}

    def with_memory(attachment: Attachment) -> Attachment:
        if attachment not in changed:
            operation = in_memory.get(attachment.name)
            changed[attachment] = attachment
            if operation is not None and attachment.address is None:
                changed[attachment] = replace(
                    attachment,
                    address=operation.address,
                    tiling=operation.tiling,
                    pitch=operation.pitch,
                )
        return changed[attachment]

    pass_.attachments = list(map(with_memory, pass_.attachments))
    replace_targets(pass_.actions, with_memory)


def _lay_out_tiles(pass_: Pass) -> None:
    """The grid, each tile's pipe, and the area that tiles cover."""
    if pass_.bin_size is not None:
        _find_grid(pass_, pass_.bin_size)
    rectangles = [tile.window_scissor for tile in pass_.tiles if tile.window_scissor is not None]
    if not rectangles:
        return
    area = pass_.render_area = Rectangle.around(rectangles)
    if pass_.framebuffer is not None:
        return
    if area.left or area.top:
        pass_.unknown.append("framebuffer size: tiles cover only a part of it")
    else:
        pass_.framebuffer = area.size


def _find_grid(pass_: Pass, size: Size) -> None:
    """Columns and rows of tiles, and the pipe of each tile.

    Drivers may render only the part of the framebuffer that is drawn to: the grid begins there.
    """
    offsets = [tile.window_offset for tile in pass_.tiles if tile.window_offset is not None]
    if not offsets:
        return
    left, top = min(x for x, _ in offsets), min(y for _, y in offsets)
    columns = (max(x for x, _ in offsets) - left) // size.width + 1
    rows = (max(y for _, y in offsets) - top) // size.height + 1
    pass_.grid = Size(columns, rows)
    if not pass_.hardware_binning:
        return
    for tile in pass_.tiles:
        if tile.window_offset is not None and tile.pipe is None:
            x, y = tile.window_offset
            column, row = (x - left) // size.width, (y - top) // size.height
            holders = (pipe.number for pipe in pass_.pipes if pipe.holds(column, row))
            tile.pipe = next(holders, None)
