# SPDX-License-Identifier: MIT
"""All actions and passes of a capture; the action of a place.

The command streams have no marks for passes. A pass is a run of draws of the program to the same
attachments; drivers clear, resolve and copy by rectangles and by operations on the depth buffer,
which differ from draws by their topology.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from cffpy.errors import CaptureError
from cffpy.frame.facts import Address, described
from cffpy.frame.geometry import Size
from cffpy.frame.passes import Operation, Pass, PassRun
from cffpy.frame.places import FileOffset, PacketPath
from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.capture import run_capture
from cffpy.intel.analysis.state import InstructionPlace
from cffpy.intel.analysis.walk import Walk, flush_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Role
    from cffpy.frame.passes import OperationKind, PassKind
    from cffpy.frame.places import PacketName
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.capture import IntelRun
    from cffpy.intel.analysis.generated import Generation
    from cffpy.intel.analysis.state import Instruction, Submission
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.batches import Kind
    from cffpy.intel.decoder.groups import Database

    #: Called at an action while its memory is available.
    AtAction = Callable[["SurveyWalk", Action, Instruction], bool]

#: What a pass does not know where its binding tables are not in memory.
UNKNOWN_TARGETS = "render targets: their binding tables were not captured"

_MAX_FLUSHES = 1 << 10

_OPERATIONS: dict[Role, OperationKind] = {
    "clear": "clear",
    "fast clear": "clear",
    "copy": "copy",
    "resolve": "resolve",
}


@described("flush", address="GPU address of the instruction", does="what it does, in words")
class Flush(NamedTuple):
    """Caches that are flushed, or what is waited for."""

    address: Address
    does: tuple[str, ...]


def pass_of(passes: Sequence[Pass], command: Instruction) -> Pass | None:
    """The pass that an instruction is in: between its first draw and its last one."""
    index = bisect_left(passes, command.after, key=lambda one: one.draws[-1].order)
    if index < len(passes) and passes[index].draws[0].order < command.after:
        return passes[index]
    return None


class _Open(NamedTuple):
    """The pass that actions join, its run, and what its first draw uses."""

    pass_: Pass
    run: PassRun
    uses: Uses

    @property
    def surfaces(self) -> set[int]:
        """Addresses of its targets, depth and stencil buffers."""
        if self.pass_.kind != "render":
            return set()
        buffers = (self.uses.depth, self.uses.stencil)
        addresses = {target.address for target in self.uses.targets}
        return addresses | {buffer.address for buffer in buffers if buffer is not None}


class PassFinder:
    """Puts actions into passes, one after the other. ``flushes``: before each pass."""

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self.flushes: list[list[Flush]] = []
        self._open: _Open | None = None
        self._states: tuple[int, ...] = ()
        self._depth_command: Instruction | None = None
        #: Batch of the last action of the pass that is open.
        self._batch = 0
        #: Actions of the driver since the last one of the program.
        self._waiting: list[tuple[Action, Uses]] = []
        self._flushes: list[Flush] = []

    def flush(self, address: int, words: list[str]) -> None:
        """Caches are flushed, or something is waited for."""
        if len(self._flushes) < _MAX_FLUSHES:
            self._flushes.append(Flush(address, tuple(words)))

    def begin_submission(self) -> None:
        """Another submission: open passes end."""
        self._close()

    def finish(self) -> None:
        """End the open pass with the capture."""
        self._close()

    def take(self, action: Action, uses: Uses) -> None:
        """Add an action to the open pass, or to a new one."""
        if is_program(action):
            if action.kind == "dispatch":
                self._dispatch(action, uses)
            else:
                self._draw(action, uses)
        elif action.role == "generation":
            if self._open is not None and self._open.pass_.kind == "render":
                self._join(self._open, action, uses)
        else:
            self._waiting.append((action, uses))

    def _dispatch(self, action: Action, uses: Uses) -> None:
        opened = self._open
        if opened is None or opened.pass_.kind != "compute":
            self._close()
            opened = self._begin("compute", action, uses)
        self._join(opened, action, uses)
        self._waiting.clear()

    def _draw(self, action: Action, uses: Uses) -> None:
        targets = uses.targets
        states = tuple(target.state_address for target in targets)
        opened = self._open
        if opened is None or not self._goes_on(opened, uses, targets, states):
            self._close()
            opened = self._begin("render", action, uses)
        self._states = states
        for waiting in self._waiting:
            _add_operations(opened, *waiting)
        self._waiting.clear()
        self._depth_command = uses.depth_command
        self._join(opened, action, uses)

    def _goes_on(
        self, one: _Open, uses: Uses, targets: list[Surface], states: tuple[int, ...]
    ) -> bool:
        """Whether a draw belongs to the pass that is open."""
        if one.pass_.kind != "render":
            return False
        if _address(uses.depth) != _address(one.uses.depth):
            return False
        if not any(program.stage == "PS" for program in uses.programs):
            return True  # it draws to no target, whichever are bound
        if {target.address for target in targets} != {
            target.address for target in one.uses.targets
        }:
            return False
        # When a pass begins, a driver makes new surface states and sets the depth buffer. It does
        # both also for each secondary buffer, but then nothing is cleared.
        if states == self._states or uses.depth_command is self._depth_command:
            return True
        cleared = any(_written(*waiting) & one.surfaces for waiting in self._waiting)
        return uses.batch != self._batch and not cleared

    def _begin(self, kind: PassKind, action: Action, uses: Uses) -> _Open:
        place = action.place
        number, streams = len(self.passes), [place.number]
        pass_ = Pass(number, kind, place.submit, streams, place, place)
        pass_.direct = PassRun(place, pass_index=pass_.index)
        if kind == "render":
            _add_attachments(pass_, action, uses)
        self.passes.append(pass_)
        self.flushes.append(self._flushes)
        self._flushes = []
        self._open = _Open(pass_, pass_.direct, uses)
        return self._open

    def _join(self, opened: _Open, action: Action, uses: Uses) -> None:
        pass_ = opened.pass_
        action.pass_index = pass_.index
        opened.run.draws.append(action)
        pass_.last = action.place
        if is_program(action):
            action.number = len(pass_.draws)
            pass_.draws.append(action)
            if not opened.uses.targets and uses.has_unknown_targets and not pass_.unknown:
                pass_.unknown.append(UNKNOWN_TARGETS)
        self._batch = uses.batch
        self._flushes = []

    def _close(self) -> None:
        opened = self._open
        if opened is not None:
            for action, uses in self._waiting:
                if action.role == "resolve" and action.kind == "draw":
                    _add_operations(opened, action, uses)
            self._waiting = [each for each in self._waiting if each[0].pass_index is None]
        self._open = None


def _add_attachments(pass_: Pass, action: Action, uses: Uses) -> None:
    """The attachments of a render pass are those of its first draw."""
    pass_.attachments = list(action.targets)
    of = [*uses.targets, *([uses.depth] if uses.depth is not None else [])]
    if of:
        pass_.framebuffer = Size(min(one.width for one in of), min(target.height for target in of))
        pass_.samples = max(target.samples for target in of)


def _add_operations(opened: _Open, action: Action, uses: Uses) -> None:
    """Add what the driver does to attachments of a pass."""
    written = _written(action, uses)
    pass_ = opened.pass_
    names = [target.name for target in pass_.attachments if target.address in written]
    if not names:
        return
    action.pass_index = pass_.index
    if "depth" in names and "stencil" in names:
        names = [*(name for name in names if name not in ("depth", "stencil")), "depth+stencil"]
    kind = _OPERATIONS.get(action.role, "unknown")
    how = action.packet if action.kind == "HiZ operation" else "rectangle draw"
    if action.role == "fast clear":
        how = action.role
    for name in names:
        target = next(
            attachment
            for attachment in pass_.attachments
            if attachment.name == name.partition("+")[0]
        )
        opened.run.operations.append(
            Operation(kind, name, how, action, target.address, format=target.format)
        )


def _address(surface: Surface | None) -> int:
    return 0 if surface is None else surface.address


def _written(action: Action, uses: Uses) -> set[int]:
    """Addresses of what an action of the driver writes."""
    addresses = {target.address for target in uses.targets}
    if action.role != "copy":
        addresses |= {buffer.address for buffer in (uses.depth, uses.stencil) if buffer is not None}
    return addresses


#: Actions that are listed.
_MAX_ACTIONS = 1 << 20


class SurveyWalk(Walk):
    """Collects actions and passes. ``at_action`` may stop the walk by returning True."""

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        budget: int,
        at_action: AtAction | None = None,
    ) -> None:
        super().__init__(database, memory, budget)
        self.actions: list[Action] = []
        #: What each action uses, by its ``order``.
        self.uses: list[Uses] = []
        self.finder = PassFinder()
        self._at_action = at_action

    def begin_submission(self, submission: Submission) -> None:
        """Passes end with their submission."""
        super().begin_submission(submission)
        self.finder.begin_submission()

    def acted(self, action: Action, uses: Uses, command: Instruction) -> None:
        """Keep the action, and put it into a pass."""
        if len(self.actions) >= _MAX_ACTIONS:
            self.is_exhausted = True
            return
        self.actions.append(action)
        self.uses.append(uses)
        self.finder.take(action, uses)
        if self._at_action is not None and self._at_action(self, action, command):
            self.stop()

    def flushed(self, command: Instruction) -> None:
        """Keep what a flush does for the next pass."""
        words = flush_words(command)
        if words:
            self.finder.flush(command.address, words)


class Survey:
    """What a capture does. ``run`` has the file's kind, device, submissions and damage.

    ``uses``: what each action uses, by its ``order``. ``flushes``: before each pass, by its index.
    """

    def __init__(self, run: IntelRun) -> None:
        self.run = run
        walk = run.walk
        self.actions: list[Action] = []
        self.uses: list[Uses] = []
        self.passes: list[Pass] = []
        self.flushes: list[list[Flush]] = []
        self.generations: list[Generation] = []
        if isinstance(walk, SurveyWalk):
            walk.finder.finish()
            self.actions, self.uses = walk.actions, walk.uses
            self.passes, self.flushes = walk.finder.passes, walk.finder.flushes
            self.generations = walk.generations


def survey(
    content: Content, directory: str | None = None, at_action: AtAction | None = None
) -> Survey:
    """Run a capture and collect its actions and passes; ``at_action`` sees each while it runs.

    Raises UnsupportedGpu for an unknown device.
    """
    return Survey(
        run_capture(
            content,
            lambda database, memory, budget: SurveyWalk(database, memory, budget, at_action),
            directory,
        )
    )


class _FindWalk(SurveyWalk):
    """Notes how many actions come before the first instruction that covers a place."""

    def __init__(
        self, database: Database, memory: AddressSpace, budget: int, place: PacketName
    ) -> None:
        super().__init__(database, memory, budget)
        self._place = place
        self.before: int | None = None
        #: Distance and place of the nearest other instruction.
        self.nearest: tuple[int, int] | None = None

    def instruction(self, kind: Kind, data: bytes, address: int, pointer: int | None) -> None:
        """Compare where the instruction lies; the walk ends with the action after the place."""
        if self.before is None:
            self._compare(4 * kind.length, address, self.file_offset(address))
        super().instruction(kind, data, address, pointer)
        if self.before is not None and len(self.actions) > self.before:
            self.stop()

    def acted(self, action: Action, uses: Uses, command: Instruction) -> None:
        """Compare the place of a draw that a shader wrote; others have been compared."""
        if self.before is None:
            self._compare(4 * len(command.words), command.address, command.file_offset)
        super().acted(action, uses, command)

    def _compare(self, size: int, address: int, offset: int | None) -> None:
        place = self._place
        wanted = place.offset if isinstance(place, FileOffset) else place.gpuaddr
        here = offset if isinstance(place, FileOffset) else address
        if here is None:
            return
        if here <= wanted < here + size and self._is_in_stream(address, offset):
            self.before = len(self.actions)
        elif self.nearest is None or abs(here - wanted) < self.nearest[0]:
            self.nearest = abs(here - wanted), here

    def _is_in_stream(self, address: int, offset: int | None) -> bool:
        place = self._place
        if isinstance(place, FileOffset):
            return True
        if isinstance(place, PacketPath):
            path = InstructionPlace(self.stream, address, offset).name
            return (path.stream, path.calls) == (place.stream, place.calls)
        return place.submit in (None, self.stream._submitted.submit)


def order_at(content: Content, place: PacketName, directory: str | None = None) -> int:
    """The order of the action at a place, or of the first that is executed after it.

    Raises CaptureError where no instruction is there, or no action follows.
    """
    walks: list[_FindWalk] = []

    def make(database: Database, memory: AddressSpace, budget: int) -> _FindWalk:
        walks.append(_FindWalk(database, memory, budget, place))
        return walks[0]

    run_capture(content, make, directory)
    walk = walks[0] if walks else None
    if walk is None or walk.before is None:
        nearest = None if walk is None else walk.nearest
        plus = "+" if isinstance(place, FileOffset) else ""
        known = "" if nearest is None else f"; the nearest one is at {plus}{nearest[1]:#x}"
        raise CaptureError(f"no packet is executed at {place}{known}")
    if walk.before >= len(walk.actions):
        raise CaptureError(f"no draw follows the packet {place}")
    return walk.before
