# SPDX-License-Identifier: MIT
"""KeptStreams: the decoded streams of one capture, for a walk over another one like it.

Where both have the same commands at the same address, their steps (cffpy.cp.decoded) are taken over
instead of being decoded again: of a stream from draw to draw, of a draw what its groups write. All
that depends on other memory, or on where the file has the commands, is found anew.
"""

from __future__ import annotations

from cffpy.cp.payload import Payload
from cffpy.cp.steps import Draws, Runs, Stores
from cffpy.cp.stored import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.cp.register_runs import RegisterRuns
    from cffpy.cp.sink import Draw
    from cffpy.cp.stored import LoadedGroup

    #: The draw of a step that is taken over, whose packet is now this one.
    SameDraw = Callable[[Draws, Payload], Draw]

    #: What a group writes; None if its draw has to be decoded. ``bool``: its packets are passed on.
    OtherPart = Callable[[LoadedGroup, bool], dict[int, int] | None]

#: Dwords of all streams that are kept, at most.
MAX_KEPT = 1 << 19

#: Dwords behind packets that decoding may read: behind a packet that is too short, for example.
_BEHIND = 16


class KeptStream:
    """A decoded stream, whose dwords begin at ``index`` of ``data``, as they were then.

    ``marks``: dwords where a step begins that depends on nothing before it, each with the position
    of that step in ``steps``.
    """

    __slots__ = ("_data", "_index", "_marks", "_next", "_steps")

    def __init__(
        self, data: memoryview, index: int, steps: Sequence[Step], marks: array[int]
    ) -> None:
        self._data = data
        self._index = index
        self._steps = steps
        self._marks = marks
        #: Where the next part is expected in ``marks``.
        self._next = 0

    def begin(self) -> None:
        """Another stream begins, which may have the same parts."""
        self._next = 0

    def take(
        self,
        words: Words,
        first: int,
        start: int,
        runs: RegisterRuns,
        same_draw: SameDraw,
        steps: list[Step],
    ) -> int:
        """Add to ``steps`` those of all equal dwords from ``start`` on.

        The other stream begins at ``first`` of ``words``; ``runs`` reads its packets. Returns the
        index of the first dword that has no step.
        """
        moved = first - self._index
        at, marks, data, others = self._next, self._marks, self._data, words.data
        last = len(marks) - 2
        while at < last and marks[at] + moved < start:
            at += 2
        while at < last and marks[at] + moved == start:
            following = marks[at + 2] + moved
            behind = following + _BEHIND
            ours = data[start - moved : behind - moved].tobytes()
            if ours != others[start:behind].tobytes():
                break
            for step in self._steps[marks[at + 1] : marks[at + 3]]:
                steps.append(_moved(step, words, moved, runs, same_draw))
            start = following
            at += 2
        self._next = at
        return start


class KeptStreams:
    """Streams by address and size, in the order in which they were decoded.

    Two walks share it, with the same observers and descriptions: the first one, up to ``end_walk``,
    adds its streams, and the second one finds them.
    """

    def __init__(self) -> None:
        #: Whether the first walk is over.
        self.is_complete = False
        #: What the groups of the first walk were read with, if their packets were passed on.
        self.runs: RegisterRuns | None = None
        self._gpu: Gpu | None = None
        self._streams: dict[tuple[int, int], list[KeptStream]] = {}
        #: How often a stream was asked for.
        self._asked: dict[tuple[int, int], int] = {}
        self._dwords = 0
        #: While packets of groups are passed on, and while they are not.
        self._groups: tuple[dict[LoadedGroup, _Group], ...] = {}, {}
        self._epoch = -1
        #: How many draws of the second walk had their groups taken over.
        self.draws_taken = 0

    def bind(self, gpu: Gpu, runs: RegisterRuns) -> None:
        """The walk decodes for this GPU from now on. ``runs``: as the member."""
        if not self.is_complete:
            self._gpu, self.runs = gpu, runs
        if not self.is_complete or gpu != self._gpu:
            self._streams.clear()

    def end_walk(self) -> None:
        """One of the two walks is over; after the second one, nothing is kept."""
        if self.is_complete:
            self._streams.clear()
            self._forget_groups()
        self.is_complete = True

    def add(
        self, words: Words, index: int, ndwords: int, steps: Sequence[Step], marks: array[int]
    ) -> None:
        """Keep a stream of the first walk, if there is room.

        Not one in memory that a packet has written to, and so may write to again.
        """
        self._dwords += ndwords
        if self._dwords <= MAX_KEPT and words.data.readonly:
            stream = KeptStream(words.data, index, steps, marks)
            self._streams.setdefault((words.address + 4 * index, ndwords), []).append(stream)

    def find(self, words: Words, index: int, ndwords: int) -> KeptStream | None:
        """The stream at the same address that the first walk decoded, of several in their order."""
        key = words.address + 4 * index, ndwords
        streams = self._streams.get(key)
        if streams is None:
            return None
        number = self._asked[key] = self._asked.get(key, -1) + 1
        stream = streams[min(number, len(streams) - 1)]
        stream.begin()
        return stream

    def groups(
        self, draw: Draws, image: MemoryImage, other_part: OtherPart
    ) -> tuple[list[LoadedGroup], Sequence[dict[int, int]] | None] | None:
        """The groups that an equal draw loads, and their registers: None where all are the same.

        ``draw``: of the first walk. None where the equal draw has to be collected itself.
        """
        if self._epoch != image.epoch:
            self._epoch = image.epoch
            self._forget_groups()
        known = self._groups[draw.runs is self.runs]
        loaded: list[LoadedGroup] = []
        parts: list[dict[int, int]] | None = None
        for position, group in enumerate(draw.loaded):
            now = known.get(group)
            if now is None:
                now = known[group] = _Group(group, image)
            if now.loaded is None:
                return None
            loaded.append(now.loaded)
            if now.is_equal:
                continue
            if now.registers is None:
                is_passed = bool(draw.passing and draw.passing[position])
                now.registers = other_part(now.loaded, is_passed)
                if now.registers is None:
                    return None
            if parts is None:
                parts = [*draw.collected]
            parts[position] = now.registers
        return loaded, parts

    def _forget_groups(self) -> None:
        for known in self._groups:
            known.clear()


class _Group:
    """A group of the first walk, and what is at its address now.

    ``loaded``: None where there is no memory. ``registers``: of another group, once asked for.
    """

    __slots__ = ("is_equal", "loaded", "registers")

    def __init__(self, group: LoadedGroup, image: MemoryImage) -> None:
        number, words, index, ndwords = group
        place = image.place(words.address + 4 * index)
        self.registers: dict[int, int] | None = None
        self.loaded: LoadedGroup | None = None
        self.is_equal = False
        if place is not None:
            others, at = place
            self.loaded = number, others, at, ndwords
            ours = words.data[index : index + ndwords].tobytes()
            is_equal = ours == others.data[at : at + ndwords].tobytes()
            self.is_equal = is_equal and words.data.readonly


def _moved(step: Step, words: Words, moved: int, runs: RegisterRuns, same_draw: SameDraw) -> Step:
    """The step of equal dwords, ``moved`` by so many dwords, of another buffer."""
    start, following = step.start + moved, step.following + moved
    if isinstance(step, Draws):
        payload = Payload(words, step.payload.index + moved, step.payload.count)
        draw = same_draw(step, payload)
        draws = Draws(start, following, step.written, step.groups, step.opcode, payload, draw)
        draws.taken_from = step
        return draws
    if isinstance(step, Stores):
        return Stores(step.registers, runs, (), words, start, following)
    if isinstance(step, Runs):
        payload = Payload(words, step.payload.index + moved, step.payload.count)
        return type(step)(start, following, step.opcode, payload)
    return Step(start, following)
