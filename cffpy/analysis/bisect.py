# SPDX-License-Identifier: MIT
"""Bisection: which pass, draw, draw-state group and packet of a capture makes a problem appear.

The search asks for the smallest part of the capture with which the problem is there: first the
passes up to one of them, then the draws of that pass up to one of them, then the draw-state groups
of that draw, then the packets that set its state: those in the group, else those between the draw
before and this one. It is a function of the answers given so far, so a list of answers is all its
state.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.edits import (
    DropGroup,
    Edit,
    NopDraw,
    NopPackets,
    TruncateAfterDraw,
    edited,
    packet_bytes,
)
from cffpy.analysis.needed_edition import decoding_edition
from cffpy.analysis.queries import find_passes
from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.cp.session import Session
from cffpy.cp.sink import NOTHING, Draw, Sink
from cffpy.errors import CaptureError
from cffpy.pm4.reader import Payload

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import Words
    from cffpy.container.open import Content
    from cffpy.cp.sink import WriteOutcome
    from cffpy.cp.state import DrawStateGroup
    from cffpy.frame.passes import Pass

#: Answers to "is the problem there?"; None: it cannot be told.
Answer = bool | None


@dataclass(slots=True, frozen=True)
class Try:
    """A capture to try: what is left out of it. ``key`` tells it from all others of the search.

    Draws are numbers of the dump. ``last``: the last one that is executed; ``nops``: draws that
    become CP_NOPs; ``groups``: draw-state groups that are disabled; ``packets``: addresses of
    packets that become CP_NOPs, and ``contents`` all dwords of each.
    """

    key: str
    text: str
    reason: str
    last: int | None = None
    nops: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    packets: tuple[int, ...] = ()
    contents: tuple[bytes, ...] = ()

    def edits(self) -> list[Edit]:
        """The edits that make the capture."""
        edits: list[Edit] = [DropGroup(group) for group in self.groups]
        if self.packets:
            edits.append(NopPackets(dict(zip(self.packets, self.contents, strict=True))))
        if self.nops:
            edits.append(NopDraw(self.nops))
        if self.last is not None:
            edits.append(TruncateAfterDraw(self.last))
        return edits


@dataclass(slots=True, frozen=True)
class Verdict:
    """What is left. ``is_exact``: one draw or group; otherwise tries were skipped on the way.

    ``draw`` is a name as in p0:8; ``groups``: what is left of its draw-state groups, () where the
    problem is there without any of them. ``packets``: addresses of what is left of the packets
    that set its state, likewise.
    """

    text: str
    pass_index: int | None = None
    draw: str | None = None
    groups: tuple[int, ...] = ()
    is_exact: bool = True
    packets: tuple[int, ...] = ()


@dataclass(slots=True)
class BisectedPass:
    """A pass: its last number in the dump, and of each draw of the program all numbers."""

    index: int
    last: int
    draws: list[tuple[int, ...]] = field(default_factory=list)


Steps = Generator[Try, Answer, Verdict]


class Bisection:
    """The search over one capture."""

    def __init__(
        self, content: Content, register_db: str | None = None, gpu: Gpu | None = None
    ) -> None:
        """Find the passes. ``register_db``: a directory, None, or ``AUTO``.

        Raises CaptureError where the capture has no numbered draws.
        """
        self._content = content
        self._register_db = register_db = decoding_edition(register_db, content, gpu)
        self._gpu = gpu
        finder, _ = find_passes(content, _ignore, register_db, gpu)
        self.passes = [
            bisected for bisected in map(_bisected, finder.found.passes) if bisected is not None
        ]
        if not self.passes:
            raise CaptureError(f"{content.name}: there are no draws to bisect")

    def next(self, answers: Iterable[Answer]) -> Try | Verdict:
        """The next capture to try after these answers, or what was found. Raises CaptureError."""
        steps = self._steps()
        try:
            now = next(steps)
            for answer in answers:
                now = steps.send(answer)
        except StopIteration as end:
            verdict: Verdict = end.value
            return verdict
        return now

    def capture(self, wanted: Try) -> tuple[bytes, list[str]]:
        """The capture's bytes for a try, and what was changed. Raises CaptureError."""
        edits = wanted.edits()
        return edited(self._content, edits, _ignore, self._register_db)

    # -- the search -------------------------------------------------------------------------

    def _steps(self) -> Steps:
        last = len(self.passes) - 1
        position, is_exact = yield from self._first_bad(last, self._pass_try)
        pass_ = self.passes[position]
        if not is_exact:
            text = f"the problem comes with pass {pass_.index} or one close before it"
            return Verdict(text, pass_.index, is_exact=False)
        if not pass_.draws:
            return Verdict(f"the problem comes with pass {pass_.index}", pass_.index)

        def draw_try(count: int, left: int) -> Try:
            return self._draw_try(pass_, count, left)

        position, is_exact = yield from self._first_bad(len(pass_.draws), draw_try)
        if position == 0:
            text = f"the problem is there with pass {pass_.index} without its draws"
            return Verdict(text, pass_.index, is_exact=is_exact)
        name = f"p{pass_.index}:{position - 1}"
        if not is_exact:
            text = f"the problem comes with draw {name} or one close before it"
            return Verdict(text, pass_.index, name, is_exact=False)
        return (yield from self._group_steps(pass_, position))

    def _first_bad(
        self, last: int, make: Callable[[int, int], Try]
    ) -> Generator[Try, Answer, tuple[int, bool]]:
        """The first position from 0 on with the problem; ``last`` is known to have it.

        Returns the position, and whether the one before is known not to have it.
        """
        good, bad = -1, last
        skipped: set[int] = set()
        while bad - good > 1:
            middle = (good + bad) // 2
            open_positions = [place for place in range(good + 1, bad) if place not in skipped]
            if not open_positions:
                return bad, False
            position = min(open_positions, key=lambda place: (abs(place - middle), place))
            answer = yield make(position, bad - good)
            if answer is None:
                skipped.add(position)
            elif answer:
                bad = position
            else:
                good = position
        return bad, True

    def _pass_try(self, position: int, left: int) -> Try:
        pass_ = self.passes[position]
        text = f"the passes up to pass {pass_.index}"
        reason = f"{left} passes remain; searching for the first one with the problem"
        return Try(f"pass:{pass_.index}", text, reason, last=pass_.last)

    def _draw_try(self, pass_: BisectedPass, count: int, left: int) -> Try:
        """Of a pass only the first draws; what its tiles load, clear and store stays."""
        nops = tuple(sorted({number for draw in pass_.draws[count:] for number in draw}))
        last = f"p{pass_.index}:{count - 1}"
        shown = f"with draws p{pass_.index}:0 to {last} only" if count else "without its draws"
        text = f"pass {pass_.index} {shown}, and nothing after it"
        reason = f"{left} draws of the pass remain; searching for the first one with the problem"
        return Try(f"draw:{pass_.index}:{count}", text, reason, self._last(pass_), nops)

    def _last(self, pass_: BisectedPass) -> int | None:
        """Where the capture is to end; None where it ends with the pass anyway."""
        return None if pass_ is self.passes[-1] else pass_.last

    def _group_steps(self, pass_: BisectedPass, count: int) -> Steps:
        name = f"p{pass_.index}:{count - 1}"
        groups = self._groups_at(pass_.draws[count - 1])
        nops = tuple(sorted({number for draw in pass_.draws[count:] for number in draw}))
        last = self._last(pass_)
        text = f"the problem comes with draw {name}"

        def group_try(chosen: Sequence[int], left: int) -> Try:
            listed = ", ".join(map(str, chosen))
            return Try(
                f"groups:{name}:{listed}",
                f"the draws up to {name} without draw-state groups {listed}",
                f"{left} groups of draw {name} remain; searching for the one with the problem",
                last,
                nops,
                tuple(chosen),
            )

        if not groups:
            return (yield from self._packet_steps(pass_, count, Verdict(text, pass_.index, name)))
        answer = yield group_try(groups, len(groups))
        if answer is not False:
            more = (
                " without any draw-state group" if answer else "; its groups cannot be told apart"
            )
            verdict = Verdict(text + more, pass_.index, name, is_exact=answer is not None)
            return (yield from self._packet_steps(pass_, count, verdict)) if answer else verdict
        left = list(groups)
        while len(left) > 1:
            half = left[: len(left) // 2]
            answer = yield group_try(half, len(left))
            if answer is None:
                break
            left = left[len(half) :] if answer else half
        listed = ", ".join(map(str, left))
        groups_text = f"and draw-state group{'s' if len(left) > 1 else ''} {listed}"
        verdict = Verdict(f"{text} {groups_text}", pass_.index, name, tuple(left), len(left) == 1)
        return (yield from self._packet_steps(pass_, count, verdict)) if len(left) == 1 else verdict

    def _packet_steps(self, pass_: BisectedPass, count: int, before: Verdict) -> Steps:
        """The packets that set the state of the draw: of its group, if one was found."""
        group = before.groups[0] if before.groups else None
        packets = self._packets_at(pass_.draws[count - 1], group)
        nops = tuple(sorted({number for draw in pass_.draws[count:] for number in draw}))
        addresses = list(packets)

        def packet_try(chosen: range) -> Try:
            first, last = addresses[chosen[0]], addresses[chosen[-1]]
            return Try(
                f"packets:{before.draw}:{chosen[0]}-{chosen[-1]}",
                f"the draws up to {before.draw} without {len(chosen)} packets that set its state,"
                f" {first:#x} to {last:#x}",
                f"{len(addresses)} packets set state of draw {before.draw}; searching for the one"
                " with the problem",
                self._last(pass_),
                nops,
                (),
                tuple([addresses[number] for number in chosen]),
                tuple([packets[addresses[number]].content for number in chosen]),
            )

        left = range(len(addresses))
        if not left:
            return before
        if group is None:
            answer = yield packet_try(left)
            if answer is not False:
                return before
        while len(left) > 1:
            half = left[: len(left) // 2]
            answer = yield packet_try(half)
            if answer is None:
                break
            left = left[len(half) :] if answer else half
        packets_ = tuple([addresses[number] for number in left])
        shown = f"{len(packets_)} packets from {packets_[0]:#x} on"
        if len(packets_) == 1:
            shown = f"the packet at {packets_[0]:#x}, {packets[packets_[0]].text}"
        is_exact = before.is_exact and len(packets_) == 1
        text = f"{before.text} and {shown}"
        return Verdict(text, pass_.index, before.draw, before.groups, is_exact, packets_)

    def _packets_at(self, numbers: tuple[int, ...], group: int | None) -> dict[int, StatePacket]:
        finder = _StatePackets(set(numbers), group)
        session = Session(finder, warn=_ignore, register_db=self._register_db, gpu=self._gpu)
        session.run(self._content)
        return finder.found

    def _groups_at(self, numbers: tuple[int, ...]) -> list[int]:
        finder = _Groups(set(numbers))
        session = Session(finder, warn=_ignore, register_db=self._register_db, gpu=self._gpu)
        session.run(self._content)
        return sorted(finder.found)


class _Groups(Sink):
    """The draw-state groups that are in force at draws."""

    keeps_groups_after_draws = True

    def __init__(self, numbers: set[int]) -> None:
        self._numbers = numbers
        self._loaded: set[int] = set()
        self.found: set[int] = set()

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        if loaded:
            self._loaded.add(group.group_id)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if draw.counted and self.machine.state.draw_count in self._numbers:
            self.found |= self._loaded
        self._loaded = set()


class StatePacket(NamedTuple):
    """A packet that sets state: what it sets, and all of its dwords."""

    text: str
    content: bytes


class _StatePackets(Sink):
    """The packets that set state between draws and the action before each, with what they set.

    ``group``: only those in this draw-state group; None: only those in no group.
    """

    keeps_groups_after_draws = True

    def __init__(self, numbers: set[int], group: int | None) -> None:
        self._numbers = numbers
        self._group = group
        #: Number of each group that was loaded since the last action -> where it lies.
        self._ranges: dict[int, tuple[int, int]] = {}
        self._pending: dict[int, StatePacket] = {}
        #: By address.
        self.found: dict[int, StatePacket] = {}

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        if loaded:
            end = group.gpuaddr + 4 * group.ndwords
            self._ranges[group.group_id] = group.gpuaddr, end

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        gpuaddr = words.address + 4 * index
        if gpuaddr not in self._pending and self._is_wanted(gpuaddr):
            register_row = self.machine.database.register(register, self.machine.variants)
            name = f"register {register:#x}" if register_row is None else register_row.name
            count = len(values)
            text = f"{name} and {count - 1} more" if count > 1 else name
            content = packet_bytes(Payload(words, index + 1, count))
            self._pending[gpuaddr] = StatePacket(text, content)
        return NOTHING

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        name = self.machine.packet_names[opcode]
        gpuaddr = payload.words.address + 4 * (payload.index - 1)
        if name in LOAD_STATE_PACKETS and self._is_wanted(gpuaddr):
            text = str(self.machine.packet_labels[opcode])
            self._pending[gpuaddr] = StatePacket(text, packet_bytes(payload))

    def _is_wanted(self, gpuaddr: int) -> bool:
        ranges = self._ranges.items()
        inside = [number for number, (start, end) in ranges if start <= gpuaddr < end]
        return self._group in inside if self._group is not None else not inside

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if draw.counted and self.machine.state.draw_count in self._numbers:
            self.found.update(self._pending)
        self._pending.clear()
        self._ranges.clear()


def _bisected(pass_: Pass) -> BisectedPass | None:
    """A pass with its numbers; None where the dump numbers nothing in it."""
    numbers = [action.dump_draw for action in pass_.actions if action.dump_draw is not None]
    if not numbers:
        return None
    draws: dict[int, list[int]] = {
        draw.number: [] for draw in pass_.draws if draw.number is not None
    }
    for run in pass_.runs:
        for action in run.draws:
            if action.number in draws and action.dump_draw is not None:
                draws[action.number].append(action.dump_draw)
    return BisectedPass(pass_.index, max(numbers), [tuple(draws[key]) for key in sorted(draws)])


def _ignore(_line: str) -> None:
    """Warnings are those of any other command on the capture."""
