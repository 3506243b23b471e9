# SPDX-License-Identifier: MIT
"""Tracker: the base of the trackers, one a family of generations.

A tracker receives packets, calls of IBs and actions from PassFinder, and opens and closes passes,
binning runs and tiles.

``RectangleCorners`` are the corners of the rectangles by which a driver copies and fills with draws
(a6xx and later). The vertices of these draws come from no buffer, and are not transformed: they are
constants 0 and 1 of the vertex shader, each with the position in the target, then the position in
the texture. A packet before the draw, in the same stream, has them. Facts: r3d_coords and
tu_clear_sysmem_attachments of turnip, Mesa 25.0.7.
"""

from __future__ import annotations

from functools import partial
from math import ceil, floor, isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.attachments import attachments
from cffpy.analysis.depth_state import read_depth_state
from cffpy.analysis.observer import StopWalk
from cffpy.analysis.registers import Remembered
from cffpy.cp.loadstate import CONSTANTS, loaded_state, state_place
from cffpy.frame.action import RECTANGLES
from cffpy.frame.geometry import Point, Rectangle
from cffpy.frame.passes import Operation, Pass, PassKind, PassRun, Pipe, Tile
from cffpy.frame.render_mode import Mode
from cffpy.pm4.reader import OPCODE, Payload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.lrz import DepthState
    from cffpy.frame.places import PacketLocation

#: Attachments of a pass: no render pass of an API has nearly as many.
_MAX_ATTACHMENTS = 256


class PipeNames(NamedTuple):
    """Names of the registers of VSC pipes, with a place for the number of the pipe.

    ``address``, ``length``: of the stream of each pipe, where each has its own.
    """

    config: str
    address: str = ""
    length: str = ""


class TooMany(StopWalk):
    """A capture has more passes, tiles and actions than the limit "draws" keeps."""

    limit = "draws"

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit:,} passes, tiles and draws: no more are shown")


class Tracker:
    """Builds the list ``passes`` from the events of a walk."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.registers = walk.registers
        self.passes: list[Pass] = []
        #: The pass that is open, and the run of it that actions belong to now.
        self.current: Pass | None = None
        self.run: PassRun | None = None
        #: Called where a packet begins a tile: what is loaded before is not of the tile. Elsewhere
        #: a tile begins with its first action, after what is loaded for that.
        self.tile_begins: Callable[[], None] | None = None
        #: Nesting at which the driver's own commands of the current pass stand.
        self.base_level = 0
        #: Whether the current pass has draws; whether it has loads, clears or stores.
        self.has_drawn = self.has_operated = False
        #: Of a6xx and later: where rectangles of the driver lie.
        self.corners = RectangleCorners(walk.machine)
        #: Of a6xx and later: tiles have addresses of visibility streams, not offsets to bases.
        self.has_absolute_streams = False
        self._kept = 0
        self._max_kept = walk.machine.limits.kept
        self._targets: dict[tuple[Attachment, ...], tuple[Attachment, ...]] = {}
        #: What ``targets`` found last, and the object that it returned for it.
        self._last_found: tuple[Attachment, ...] | None = None
        self._last_targets: tuple[Attachment, ...] = ()
        generation = walk.generation
        self._attachments = Remembered(walk.machine, lambda reader: attachments(reader, generation))
        self._depth_state = Remembered(walk.machine, read_depth_state)

    def watch(self, *names: str) -> None:
        """Have ``written`` called for these registers."""
        for name in names:
            self.walk.watch(self.registers.offset(name), partial(self.written, name))

    @property
    def is_between(self) -> bool:
        """Whether what is executed now belongs to the next render pass."""
        return self.current is None or self.current.kind != "render"

    def keep(self) -> None:
        """Count one more thing that is kept. Raises TooMany."""
        self._kept += 1
        if self._kept > self._max_kept:
            raise TooMany(self._max_kept)

    def unkeep(self) -> None:
        """Uncount one thing that was kept, and is discarded."""
        self._kept -= 1

    @property
    def is_full(self) -> bool:
        """Whether ``keep`` has raised TooMany: the rest of the capture is left out."""
        return self._kept > self._max_kept

    # -- events, for the generations ----------------------------------------------------------

    def stream_begins(self, submit: CommandStream, is_new_submit: bool) -> None:
        """A command stream begins. ``is_new_submit``: its submit has new buffers."""

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Handlers of the packets that it uses, as ``Observer.packet_handlers``."""
        return {}

    def written(self, name: str) -> None:
        """A watched register is about to be written."""

    def event(self, name: str | None) -> None:
        """An event that is executed, or may be."""

    def pipe_changes(self) -> None:
        """Registers are about to be those of another pipe."""

    def nested_begins(self) -> None:
        """An IB is about to begin, at the nesting of the packet that calls it."""

    def act(self, action: Action) -> None:
        """An action, executed or not."""

    def finish(self, pass_: Pass) -> None:
        """A pass is complete: compute what depends on the whole of it."""

    # -- opening and closing ------------------------------------------------------------------

    @property
    def level(self) -> int:
        """How deep IBs are nested now."""
        return self.walk.level

    def begin(self, kind: PassKind, place: PacketLocation, mode: Mode | None = None) -> Pass:
        """Close what is open and open a pass."""
        self.end()
        self.keep()
        number, streams = len(self.passes), [place.number]
        pass_ = Pass(number, kind, place.submit, streams, place, place, mode)
        pass_.markers = tuple(self.walk.markers)
        self.passes.append(pass_)
        self.current = pass_
        self.has_drawn = self.has_operated = False
        self.base_level = self.level
        return pass_

    def end(self) -> None:
        """Close the pass that is open."""
        pass_, self.current, self.run = self.current, None, None
        if pass_ is None:
            return
        number_draws(pass_)
        if pass_.kind == "render":
            pass_.attachments = merged(target for draw in pass_.draws for target in draw.targets)
            if len(pass_.attachments) > _MAX_ATTACHMENTS:
                pass_.unknown.append(
                    f"attachments: {len(pass_.attachments)}, of which {_MAX_ATTACHMENTS} are shown"
                )
                del pass_.attachments[_MAX_ATTACHMENTS:]
        self.finish(pass_)

    def begin_direct(self, pass_: Pass, place: PacketLocation) -> None:
        """All of the pass is one run."""
        pipe = self.walk.pipe
        self.run = pass_.direct = PassRun(place, pipe, pass_index=pass_.index)

    def begin_tile(self, pass_: Pass, place: PacketLocation) -> Tile:
        """The next tile of the pass."""
        self.keep()
        number = len(pass_.tiles)
        tile = Tile(place, self.walk.pipe, number=number, pass_index=pass_.index)
        pass_.tiles.append(tile)
        self.run = tile
        return tile

    def group(self, kind: PassKind, action: Action) -> None:
        """An action between render passes: into the open group of its kind, or a new one."""
        pass_ = self.current
        if pass_ is None or pass_.kind != kind:
            pass_ = self.begin(kind, action.place)
            self.begin_direct(pass_, action.place)
        assert pass_.direct is not None
        self.touch(action)
        pass_.direct.draws.append(action)
        action.pass_index = pass_.index

    def touch(self, action: Action) -> None:
        """The action is the current pass's last so far."""
        current = self.current
        if current is None:
            return
        current.last = action.place
        number = action.place.number
        if current.streams[-1] != number:
            current.streams.append(number)

    def add_draw(
        self,
        action: Action,
        targets: tuple[Attachment, ...] | None = None,
        depth: DepthState | None = None,
    ) -> None:
        """A draw in the current run. ``targets``, ``depth``: its state, where it is known."""
        pass_, run = self.current, self.run
        assert pass_ is not None
        if run is None:
            self.begin_direct(pass_, action.place)
            run = self.run
        assert run is not None
        self.place_in_run(action, pass_, run)
        if action.execution.is_possible:
            if targets is None:
                targets, depth = self.targets(), self._depth_state()
            action.targets, action.depth = targets, depth
        run.draws.append(action)
        self.has_drawn = True

    def add_operation(self, operation: Operation) -> None:
        """A load, clear or store in the current run."""
        pass_, run = self.current, self.run
        assert pass_ is not None
        if run is None:
            self.begin_direct(pass_, operation.action.place)
            run = self.run
        assert run is not None
        self.place_in_run(operation.action, pass_, run)
        operation.action.role = operation.kind
        run.operations.append(operation)
        self.has_operated = True

    def targets(self) -> tuple[Attachment, ...]:
        """What a draw renders to now; the same object where it is the same."""
        bound = self._attachments()
        if bound is not self._last_found:  # hashing attachments takes long
            self._last_found = bound
            self._last_targets = self.shared_targets(bound)
        return self._last_targets

    def shared_targets(self, targets: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
        """The first of equal tuples of attachments."""
        return self._targets.setdefault(targets, targets)

    def place_in_run(self, action: Action, pass_: Pass, run: PassRun) -> None:
        """Note which pass and run an action belongs to."""
        self.touch(action)
        action.pass_index = pass_.index
        if isinstance(run, Tile):
            action.tile_number = run.number
        elif run is pass_.binning:
            action.binning = True

    # -- reading ------------------------------------------------------------------------------

    def rectangle(self, top_left: str, bottom_right: str) -> Rectangle | None:
        """A scissor of two registers with fields X and Y, the second inclusive."""
        field = self.registers.field
        left, top = field(top_left, "X"), field(top_left, "Y")
        right, bottom = field(bottom_right, "X"), field(bottom_right, "Y")
        if left is None or top is None or right is None or bottom is None:
            return None
        return Rectangle(left, top, right + 1, bottom + 1)

    def point(self, name: str) -> Point | None:
        """A register's fields X and Y."""
        x, y = self.registers.field(name, "X"), self.registers.field(name, "Y")
        return None if x is None or y is None else Point(x, y)

    def pipes(self, names: PipeNames, count: int) -> list[Pipe]:
        """The VSC pipes in use, of ``count``."""
        field = self.registers.field
        pipes = []
        for number in range(count):
            register = names.config.format(number)
            width, height = field(register, "W"), field(register, "H")
            if width and height:
                x, y = field(register, "X") or 0, field(register, "Y") or 0
                pipe = Pipe(number, x, y, width, height)
                if names.address:
                    pipe.stream = self.registers.address(names.address.format(number))
                    pipe.stream_limit = self.registers.value(names.length.format(number))
                pipes.append(pipe)
        return pipes


def replace_targets(
    actions: Iterable[Action], replaced: Callable[[Attachment], Attachment]
) -> None:
    """Put ``replaced(target)`` in the place of each target; actions go on sharing their tuples."""
    before: tuple[Attachment, ...] | None = None
    now: tuple[Attachment, ...] = ()
    for action in actions:
        if action.targets is not before:
            before = action.targets
            now = tuple(map(replaced, before))
        action.targets = now


def is_program_draw(action: Action) -> bool:
    """Whether a draw may be the program's: a driver's own rectangles are not."""
    is_drivers = action._packet_facts.primitive == RECTANGLES or bool(action.role)
    return action.kind == "draw" and action.execution.is_possible and not is_drivers


def number_draws(pass_: Pass) -> None:
    """Find the program's draws, each once, and number all their executions.

    In sysmem they are those of the stream; in GMEM those of one tile. An execution in another run
    is the same draw when its packet is: the k-th time that a packet is executed there. Where the
    binning run has separate commands (up to a4xx), the order decides.
    """
    is_render = pass_.kind == "render"
    draws_of = [(run, _program_draws(run) if is_render else run.draws) for run in pass_.runs]
    counted: list[Action] = []
    if is_render:
        counted = _draws_to_number(pass_, draws_of)
    elif pass_.direct is not None:
        counted = [a for a in pass_.direct.draws if a.execution.is_possible]
    pass_.draws[:] = counted
    numbers: dict[int, list[int]] = {}
    for run, draws in draws_of:
        if draws is counted:
            for number, draw in enumerate(draws):
                draw.number = number
            continue
        if not numbers:
            for number, draw in enumerate(counted):
                numbers.setdefault(draw.place.gpuaddr, []).append(number)
        if run is not pass_.binning or not _number_in_order(pass_, draws, numbers):
            _number_by_packet(draws, numbers)


def _draws_to_number(pass_: Pass, draws_of: list[tuple[PassRun, list[Action]]]) -> list[Action]:
    """Those of the direct run, else of the tile with most draws, else of the binning run."""
    of_tiles = [draws for run, draws in draws_of if run is not pass_.binning]
    if pass_.direct is None and of_tiles:
        return max(of_tiles, key=len)
    return draws_of[-1][1] if draws_of else []


def _program_draws(run: PassRun) -> list[Action]:
    return [  # is_program_draw, without calls for each draw
        action
        for action in run.draws
        if action.kind == "draw"
        and action._packet_facts.primitive != RECTANGLES
        and not action.role
        and action.execution.is_possible
    ]


def _number_by_packet(draws: list[Action], numbers: dict[int, list[int]]) -> None:
    seen: dict[int, int] = {}
    for draw in draws:
        address = draw.place.gpuaddr
        times = seen.get(address, 0)
        seen[address] = times + 1
        of_packet = numbers.get(address, ())
        if times < len(of_packet):
            draw.number = of_packet[times]


def _number_in_order(pass_: Pass, draws: list[Action], numbers: dict[int, list[int]]) -> bool:
    has_own = not any(draw.place.gpuaddr in numbers for draw in draws)
    if not has_own or len(draws) != len(pass_.draws):
        return False
    for number, draw in enumerate(draws):
        draw.number = number
    return True


def merged(targets: Iterable[Attachment]) -> list[Attachment]:
    """Attachments without repeats: one a name and place, with all components that are written."""
    by_place: dict[tuple[str, int | None, int | None], Attachment] = {}
    for attachment in targets:
        key = (attachment.name, attachment.address, attachment.gmem)
        known = by_place.get(key)
        if known is None or (attachment.write_mask or 0) & ~(known.write_mask or 0):
            by_place[key] = attachment
    return sorted(by_place.values(), key=_attachment_order)


def _attachment_order(attachment: Attachment) -> tuple[bool, str]:
    return not attachment.name.startswith("color"), attachment.name


# -- corners of the driver's rectangle draws -------------------------------------------------------

_LOAD = "CP_LOAD_STATE6_GEOM"

#: Streams of which it is kept how far they were read.
_MOST_STREAMS = 256

#: Vertices of a rectangle, constants that they are, and dwords of both.
_VERTICES, _UNITS, _DWORDS = 2, 2, 8

#: No image is larger.
_LARGEST = 1 << 17


class Corners(NamedTuple):
    """What a draw covers of its target, and of its texture if it has one."""

    target: Rectangle
    texture: Rectangle | None


class RectangleCorners:
    """Finds the corners of draws. It reads each stream with such draws once, up to the last one."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        #: Words and first dword of a stream -> the dword up to which it was read, and the one at
        #: which the last packet with constants begins that are the first ones; None: none yet.
        self._read: dict[tuple[Words, int], tuple[int, int | None]] = {}
        self._epoch = -1

    def of(self, registers: RegisterReader, action: Action, has_texture: bool) -> Corners | None:
        """None where no packet of the stream has them, or where the draw is another one."""
        is_untransformed = registers.flag("GRAS_CL_CNTL", "VP_XFORM_DISABLE")
        reads_buffers = registers.field("VFD_CONTROL_0", "FETCH_CNT") != 0
        if action.vertices != _VERTICES or not is_untransformed or reads_buffers:
            return None
        values = self._constants(action.place)
        if values is None:
            return None
        left, top, source_left, source_top, right, bottom, source_right, source_bottom = values
        texture = None
        if has_texture:
            texture = _rectangle(source_left, source_top, source_right, source_bottom)
        target = _rectangle(left, top, right, bottom)
        return None if target is None else Corners(target, texture)

    def _constants(self, place: PacketLocation) -> tuple[float, ...] | None:
        """The first constants of the vertex shader at a draw."""
        at = self._packet(place)
        if at is None:
            return None
        machine = self._machine
        payload = _payload(machine, place._words, at)
        loaded = loaded_state(machine, payload)
        state = state_place(machine, payload, loaded)
        if loaded.units < _UNITS or state is None or state[1] + _DWORDS > state[0].count:
            return None
        dwords = state[0].data[state[1] : state[1] + _DWORDS].tolist()
        return unpack(f"<{_DWORDS}f", pack(f"<{_DWORDS}I", *dwords))

    def _packet(self, place: PacketLocation) -> int | None:
        """The last packet before a draw, in its stream, that loads these constants."""
        machine, words, end = self._machine, place._words, place._index
        if machine.image.epoch != self._epoch or len(self._read) >= _MOST_STREAMS:
            self._epoch = machine.image.epoch
            self._read.clear()
        first = (place.stream.gpuaddr - words.address) // 4
        at, packet = self._read.get((words, first), (first, None))
        if at > end:  # the stream runs once more
            at, packet = first, None
        if not 0 <= at <= end <= words.count:
            return None
        headers, data = machine.headers, words.data
        while at < end:
            kind, number, size = headers[data[at]]
            if kind == OPCODE and machine.packet_names[number] == _LOAD:
                loaded = loaded_state(machine, _payload(machine, words, at))
                if (loaded.kind, loaded.stage, loaded.first) == (CONSTANTS, "VS", 0):
                    packet = at
            at += size
        self._read[words, first] = at, packet
        return packet


def _payload(machine: Machine, words: Words, index: int) -> Payload:
    """The packet at a dword, without its header."""
    return Payload(words, index + 1, machine.headers[words.data[index]][2] - 1)


def _rectangle(left: float, top: float, right: float, bottom: float) -> Rectangle | None:
    """The pixels that it touches; a copy that mirrors has its sides exchanged."""
    if not all(
        isfinite(edge) and -_LARGEST < edge < _LARGEST for edge in (left, top, right, bottom)
    ):
        return None
    return Rectangle(
        floor(min(left, right)),
        floor(min(top, bottom)),
        ceil(max(left, right)),
        ceil(max(top, bottom)),
    )
