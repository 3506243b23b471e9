# SPDX-License-Identifier: MIT
"""Alignment of passes: which passes of two captures are counterparts, which have none, or moved.

Passes are recognised by content: what they draw, with which programs, to attachments of which size
and format, which pixels they copy. Addresses decide where contents leave a choice, as among copies
of the mip levels of several images.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from cffpy.analysis.diff.align import align, best_pairs
from cffpy.analysis.diff.model import PassPair
from cffpy.analysis.diff.passes import by_attachment, ends_in_binning
from cffpy.analysis.diff.selection import BINNING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence, Set

    from cffpy.analysis.diff.align import DrawKeys, Pair
    from cffpy.analysis.diff.recording import Recording
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import TransferEnd
    from cffpy.frame.passes import Pass

#: What equal addresses add to a likeness: less than any difference of contents.
_OF_ADDRESSES = 2**-10

#: What a run of passes without counterparts takes from a sum of likenesses: other draws in a pass
#: count more, addresses less.
_OF_RUNS = 2**-5

#: Likenesses are multiples of this, so that sums of them are exact, in whatever order.
_UNIT = 2**-20

#: Draws whose contents are compared for likenesses, at most, over all pairs of passes; beyond that,
#: kinds, sizes and addresses decide.
_MAX_DRAWS = 1 << 17

#: Pairs of passes of which the best alignment is looked for, at most; beyond that, passes whose
#: content occurs once in each capture divide the others.
_MAX_PAIRS = 1 << 18

#: What a pass of the same kind has in common -> its weight, of render passes and of groups of
#: dispatches or copies. The rest is that of the kind.
_OF_RENDER = {
    "calls": 0.2,
    "inputs": 0.1,
    "programs": 0.15,
    "number": 0.1,
    "size": 0.2,
    "attachments": 0.15,
}
_OF_GROUP = {"calls": 0.35, "inputs": 0.1, "programs": 0.15, "number": 0.3}


class PassContent:
    """What a pass is recognised by.

    ``is_last``: of its capture, which may end within it.
    """

    def __init__(self, keys: DrawKeys, of: Pass, is_last: bool) -> None:
        self.pass_ = of
        self.is_last = is_last
        self._keys = keys
        self._recording = keys.recording

    @cached_property
    def key(self) -> int:
        """Equal for passes with the same layout, and draws of the same content; addresses left
        out.
        """
        one = self.pass_
        layout = one.kind, one.mode, one.framebuffer, one.samples
        attachments = tuple((target.name, target.format) for target in one.attachments)
        return hash((layout, attachments, tuple(self.inputs), tuple(self.copied)))

    @cached_property
    def addresses(self) -> tuple[Hashable, ...]:
        """Where the attachments lie, or what is copied or written."""
        ends = [
            end and (end.address, end.gmem)
            for action in self.pass_.draws
            for moved in action.transfers
            for end in (moved.source, moved.destination)
        ]
        return (*(target.address for target in self.pass_.attachments), *ends)

    @cached_property
    def inputs(self) -> list[int]:
        """Of each draw, a key of parameters, programs and data."""
        own = self._keys.own
        return [own[record.action.order] for record in self._recording.of(self.pass_)]

    @property
    def states(self) -> list[int]:
        """Of each draw, a key of all its state."""
        state = self._keys.state
        return [state[record.action.order] for record in self._recording.of(self.pass_)]

    @cached_property
    def copied(self) -> list[Hashable]:
        """Of each copy, blit or fill the pixels and formats that it reads and writes."""
        return [
            (action.role, _moved_end(moved.source), _moved_end(moved.destination))
            for action in self.pass_.draws
            for moved in action.transfers
        ]

    @cached_property
    def calls(self) -> list[Hashable]:
        """Of each draw, dispatch or copy its numbers, which binning runs have, too."""
        if self.copied:
            return self.copied
        return [_call(action) for action in self.pass_.draws]

    @cached_property
    def programs(self) -> Set[Hashable]:
        """Digests of the programs of each draw, together."""
        return {record.shaders for record in self._recording.of(self.pass_)}

    @cached_property
    def attachments(self) -> Set[Hashable]:
        """Names of the attachments, also where only loads, clears and stores name them."""
        named = {target.name for target in self.pass_.attachments}
        return named or set(by_attachment(self.pass_))

    def likeness(self, other: PassContent) -> float:
        """How much two passes have in common, from 0 to 1; addresses left out."""
        mine, theirs = self.pass_, other.pass_
        if mine.kind != theirs.kind:
            return 0.0
        limits = self._compared_with(other), other._compared_with(self)
        counts = sorted((len(self.calls[: limits[0]]), len(other.calls[: limits[1]])))
        common = {
            "calls": _overlap(self.calls[: limits[0]], other.calls[: limits[1]]),
            "inputs": _overlap(self.inputs[: limits[0]], other.inputs[: limits[1]]),
            "programs": _overlap(self.programs, other.programs),
            "number": 1.0 if counts[0] == counts[1] else counts[0] / counts[1],
            "size": float(_have_one_size(mine, theirs)),
            "attachments": _overlap(self.attachments, other.attachments),
        }
        weights = _OF_RENDER if mine.kind == "render" else _OF_GROUP
        rest = 1 - sum(weights.values())
        return rest + sum(weight * common[name] for name, weight in weights.items())

    def _compared_with(self, other: PassContent) -> int:
        """How many draws are compared: as many as the other pass has, where a capture may end
        amid its draws.
        """
        count = len(other.pass_.draws)
        return count if other.is_last and count else max(count, len(self.pass_.draws))


def _moved_end(end: TransferEnd | None) -> Hashable:
    return end and (end.rectangle, end.format, end.samples, end.size, end.width, end.height)


def _call(action: Action) -> Hashable:
    return action.kind, action.primitive, action.vertices, action.instances, action.groups


def _have_one_size(one: Pass, other: Pass) -> bool:
    """Whether the framebuffers have one size; it may be unknown where a capture ends."""
    if one.framebuffer == other.framebuffer:
        return True
    is_cut = ends_in_binning(one) != ends_in_binning(other)
    return is_cut and None in (one.framebuffer, other.framebuffer)


def _overlap(
    mine: Sequence[Hashable] | Set[Hashable], theirs: Sequence[Hashable] | Set[Hashable]
) -> float:
    if not mine and not theirs:
        return 1.0
    common = Counter(mine) & Counter(theirs)
    return common.total() / max(len(mine), len(theirs))


class _Likenesses:
    """The likenesses of the passes of two captures, each pair of contents once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], float] = {}
        self._draws_left = _MAX_DRAWS

    def of(self, mine: PassContent, theirs: PassContent) -> float:
        """The likeness of two passes: that of their contents, and a little for addresses."""
        found = self._of_contents(mine, theirs)
        one, other = mine.pass_, theirs.pass_
        same = mine.addresses == theirs.addresses, one.first.gpuaddr == other.first.gpuaddr
        return found + _OF_ADDRESSES * sum(same) if found else 0.0

    def _of_contents(self, mine: PassContent, theirs: PassContent) -> float:
        if mine.key == theirs.key:
            return 1.0
        key = mine.key, theirs.key
        known = self._known.get(key)
        if known is None:
            one, other = mine.pass_, theirs.pass_
            self._draws_left -= 1 + len(one.draws) + len(other.draws)
            if self._draws_left < 0:
                return 0.5 * (one.kind == other.kind and one.framebuffer == other.framebuffer)
            known = self._known[key] = round(mine.likeness(theirs) / _UNIT) * _UNIT
        return known


def align_passes(good: DrawKeys, bad: DrawKeys) -> list[PassPair]:
    """Pairs of passes of two captures, in order; None for a pass without a counterpart."""
    mine, theirs = _contents(good), _contents(bad)
    if all(one.recording.selection.index is not None for one in (good, bad)):
        return [PassPair(mine[0].pass_, theirs[0].pass_)]
    pairs = [
        (None if one is None else mine[one], None if other is None else theirs[other])
        for one, other in _aligned(mine, theirs)
    ]
    found = [_pair_of(one, other) for one, other in pairs]
    _note_moved(pairs, found)
    return found


def _pair_of(mine: PassContent | None, theirs: PassContent | None) -> PassPair:
    return PassPair(None if mine is None else mine.pass_, None if theirs is None else theirs.pass_)


def _note_moved(
    contents: Sequence[tuple[PassContent | None, PassContent | None]], pairs: Sequence[PassPair]
) -> None:
    """Passes without counterparts that have the same content are each other's, at another place."""
    gone: dict[Hashable, list[tuple[PassContent, PassPair]]] = {}
    for (mine, theirs), pair in zip(contents, pairs, strict=True):
        if mine is not None and theirs is None:
            gone.setdefault((mine.key, mine.addresses), []).append((mine, pair))
    for (mine, theirs), pair in zip(contents, pairs, strict=True):
        if mine is not None or theirs is None:
            continue
        same = gone.get((theirs.key, theirs.addresses))
        if not same:
            continue
        content, other = same.pop(0)
        pair.moved_from, other.moved_to = content.pass_, theirs.pass_
        pair.has_equal_state = other.has_equal_state = content.states == theirs.states


def _contents(keys: DrawKeys) -> list[PassContent]:
    passes = keys.recording.selected_passes()
    last = keys.recording.passes.passes[-1] if keys.recording.passes.passes else None
    return [PassContent(keys, one, one is last) for one in passes]


def _aligned(mine: Sequence[PassContent], theirs: Sequence[PassContent]) -> list[Pair]:
    """Pairs of positions. Passes with equal contents at equal positions are counterparts."""
    if [one.key for one in mine] == [other.key for other in theirs]:
        return [(at, at) for at in range(len(mine))]
    start, end = _equal_ends(mine, theirs)
    ones, others = range(start, len(mine) - end), range(start, len(theirs) - end)
    likeness = _Likenesses().of
    if len(ones) * len(others) > _MAX_PAIRS:
        inner = [mine[one] for one in ones], [theirs[other] for other in others]
        pairs = align(*inner, (lambda of: (of.key, of.addresses), lambda of: of.key), likeness)
        pairs = [
            (None if one is None else ones[one], None if other is None else others[other])
            for one, other in pairs
        ]
    else:
        pairs = best_pairs(
            ones, others, lambda one, other: likeness(mine[one], theirs[other]), _OF_RUNS
        )
    return [
        *((at, at) for at in range(start)),
        *pairs,
        *((len(mine) - at, len(theirs) - at) for at in range(end, 0, -1)),
    ]


def _equal_ends(mine: Sequence[PassContent], theirs: Sequence[PassContent]) -> tuple[int, int]:
    """How many passes are equal at the beginning and at the end, addresses included."""

    def are_equal(one: PassContent, other: PassContent) -> bool:
        return one.key == other.key and one.addresses == other.addresses

    room = min(len(mine), len(theirs))
    start = next((at for at in range(room) if not are_equal(mine[at], theirs[at])), room)
    room -= start
    end = next((at for at in range(room) if not are_equal(mine[-1 - at], theirs[-1 - at])), room)
    return start, end


def in_same_runs(
    good: Recording, bad: Recording, keys: tuple[DrawKeys, DrawKeys]
) -> tuple[Recording, Recording]:
    """Both recordings, their draws taken in the same runs of each pair of passes.

    Where a capture ends within the binning run of a pass, its draws are known from that run alone.
    Shaders and state of the binning run are not those of tiles, so the other capture's draws are
    those of its binning run, too. Where the tile that has most draws lies elsewhere, the other
    capture's draws are those of its tile at the same place. ``keys``: those of both recordings.
    """
    passes = (*good.passes.passes, *bad.passes.passes)
    if any(one.selection.run is not None for one in (good, bad)):
        return good, bad
    if not any(ends_in_binning(one) or tile_of_draws(one) for one in passes):
        return good, bad
    again: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for pair in align_passes(*keys):
        both = pair.good, pair.bad
        for one, other, runs in zip(both, both[::-1], again, strict=True):
            run = None if one is None or other is None else _run_of(one, other)
            if one is not None and run is not None:
                runs[one.index] = run
    return good.in_runs(again[0]), bad.in_runs(again[1])


def tile_of_draws(one: Pass) -> int:
    """The number of the tile whose draws stand for those of the pass; 0 without tiles."""
    return next((draw.tile_number or 0 for draw in one.draws), 0)


def _run_of(one: Pass, other: Pass) -> int | None:
    """The run whose draws are to be compared with those of another pass; None: as it is."""
    if ends_in_binning(other) and not ends_in_binning(one):
        return None if one.binning is None else BINNING
    number = tile_of_draws(other)
    if not number or number <= tile_of_draws(one) or number >= len(other.tiles):
        return None
    area = other.tiles[number].area_in(other)
    same = [tile.number for tile in one.tiles if tile.area_in(one) == area]
    return same[0] if same and same[0] != tile_of_draws(one) else None
