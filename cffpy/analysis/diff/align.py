# SPDX-License-Identifier: MIT
"""Alignment: which passes and draws of two captures are counterparts, which have none.

Equal items are matched first: from both ends, then around items that occur once on each side
(patience diff). What lies between is matched by similarity, so that a changed item is matched with
its counterpart and an inserted one has none. What passes and draws are recognised by is defined
here, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, TypeVar

from cffpy.analysis.diff.passes import by_attachment, ends_in_binning
from cffpy.analysis.inputs.uses import UsedDescriptors

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence, Set

    from cffpy.analysis.diff.draw_states import States
    from cffpy.analysis.diff.model import DrawRecord, Recording
    from cffpy.analysis.inputs.descriptor_sets import SetPlace, Sets
    from cffpy.analysis.inputs.uses import Slots
    from cffpy.frame.passes import Pass

_Item = TypeVar("_Item")

#: Positions on the two sides; None where an item has no counterpart.
Pair = tuple[int | None, int | None]

#: Pairs of items whose similarity is computed, at most; beyond that, items are matched in order.
_MAX_CELLS = 1_000_000

#: The same, for all gaps of a comparison together.
_ALL_CELLS = 2_000_000

#: Items that are less similar than this are not counterparts.
_LEAST_LIKENESS = 0.3


class Cells:
    """How many more similarities a comparison may compute. Without any left, order decides."""

    def __init__(self) -> None:
        self._left = _ALL_CELLS

    def take(self, count: int) -> bool:
        """Reserve ``count`` of them; False where that is too many."""
        if count > min(self._left, _MAX_CELLS):
            return False
        self._left -= count
        return True


def align(
    left: Sequence[_Item],
    right: Sequence[_Item],
    keys: Sequence[Callable[[_Item], Hashable]],
    likeness: Callable[[_Item, _Item], float],
    cells: Cells | None = None,
) -> list[Pair]:
    """Pairs of positions, in order.

    ``keys``: functions from an item to a key. Items with equal keys are equal. The first key
    distinguishes most; the next one is used for what the one before left without a counterpart.
    ``likeness``: the similarity of two items, from 0 (nothing in common) to 1.
    ``cells``: the budget that all alignments of a comparison share.
    """
    aligner = _Aligner(left, right, likeness, cells or Cells())
    return aligner.pairs((range(len(left)), range(len(right))), keys)


class _Aligner(Generic[_Item]):
    """Two sequences and the budget for their alignment."""

    def __init__(
        self,
        left: Sequence[_Item],
        right: Sequence[_Item],
        likeness: Callable[[_Item, _Item], float],
        cells: Cells,
    ) -> None:
        self._left = left
        self._right = right
        self._likeness = likeness
        self._cells = cells

    def pairs(
        self, gap: tuple[range, range], keys: Sequence[Callable[[_Item], Hashable]]
    ) -> list[Pair]:
        """Pairs within these ranges."""
        ones, others = gap
        if not ones or not others:
            return [*((one, None) for one in ones), *((None, other) for other in others)]
        if not keys:
            return self._by_likeness(ones, others)
        key, *coarser = keys
        found = [key(self._left[one]) for one in ones], [key(self._right[o]) for o in others]
        pairs: list[Pair] = []
        position = [0, 0]
        for first, second in [*_anchors(*found), (len(ones), len(others))]:
            inner = ones[position[0] : first], others[position[1] : second]
            pairs.extend(self.pairs(inner, coarser))
            if first < len(ones):
                pairs.append((ones[first], others[second]))
            position = [first + 1, second + 1]
        return pairs

    def _by_likeness(self, ones: range, others: range) -> list[Pair]:
        """Pairs of what lies between two anchors."""
        if len(ones) == len(others):
            both = zip(ones, others, strict=True)
            if all(self._alike_at(one, other) for one, other in both):
                return list(zip(ones, others, strict=True))
        if not self._cells.take(len(ones) * len(others)):
            shorter = min(len(ones), len(others))
            return [
                *zip(ones[:shorter], others[:shorter], strict=True),
                *((one, None) for one in ones[shorter:]),
                *((None, other) for other in others[shorter:]),
            ]
        return _best_pairs(ones, others, self._alike_at)

    def _alike_at(self, one: int, other: int) -> float:
        value = self._likeness(self._left[one], self._right[other])
        return value if value >= _LEAST_LIKENESS else 0.0


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of equal items, increasing on both sides."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    room = min(len(left), len(right)) - start
    while end < room and left[-1 - end] == right[-1 - end]:
        end += 1
    middle = _unique_anchors(left[start : len(left) - end], right[start : len(right) - end])
    return [
        *((position, position) for position in range(start)),
        *((start + one, start + other) for one, other in middle),
        *((len(left) - end + number, len(right) - end + number) for number in range(end)),
    ]


def _unique_anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Items that occur once on each side: the longest subsequence with increasing positions."""
    counts = Counter(left), Counter(right)
    places = {item: place for place, item in enumerate(right) if counts[1][item] == 1}
    found = [
        (place, places[item])
        for place, item in enumerate(left)
        if counts[0][item] == 1 and item in places
    ]
    return _longest_increasing(found)


def _longest_increasing(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(found):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else None)
        if length == len(tails):
            tails.append(place)
            ends.append(number)
        else:
            tails[length] = place
            ends[length] = number
    chain: list[tuple[int, int]] = []
    number_or_none: int | None = ends[-1] if ends else None
    while number_or_none is not None:
        chain.append(found[number_or_none])
        number_or_none = before[number_or_none]
    return chain[::-1]


def _best_pairs(ones: range, others: range, alike_at: Callable[[int, int], float]) -> list[Pair]:
    """The pairing, in order, with the greatest sum of similarities."""
    width = len(others) + 1
    best = [[0.0] * width for _ in range(len(ones) + 1)]
    alike = [[alike_at(one, other) for other in others] for one in ones]
    for row in range(len(ones) - 1, -1, -1):
        for column in range(len(others) - 1, -1, -1):
            best[row][column] = max(
                best[row + 1][column],
                best[row][column + 1],
                best[row + 1][column + 1] + alike[row][column],
            )
    pairs: list[Pair] = []
    row = column = 0
    while row < len(ones) and column < len(others):
        here = best[row][column]
        # of equally good pairings, the one whose missing items come first: right after the last
        # equal items
        if here == best[row + 1][column]:
            pairs.append((ones[row], None))
            row += 1
        elif here == best[row][column + 1]:
            pairs.append((None, others[column]))
            column += 1
        else:
            pairs.append((ones[row], others[column]))
            row, column = row + 1, column + 1
    pairs.extend((one, None) for one in ones[row:])
    pairs.extend((None, other) for other in others[column:])
    return pairs


_NO_SLOTS: frozenset[int] = frozenset()


def note_sets(recording: Recording) -> None:
    """Add to ``fingerprint`` of each record what its draw uses of its descriptor sets."""
    if recording.sets is None:
        return
    used = UsedDescriptors(recording.descriptors)
    digests = _SetDigests(recording.sets)
    #: Most draws have the sets, shaders and slots of the draw before.
    sets: object = None
    shaders: object = None
    registers: object = None
    slots: Slots | None = None
    own: tuple[object, ...] = ()
    for record in recording.records.values():
        is_as_before = record.shaders is shaders and record.slots is registers
        if not is_as_before:
            shaders, registers = record.shaders, record.slots
            slots = used.of(record.shaders, record.prefetched)
        if not is_as_before or record.sets is not sets:
            sets = record.sets
            own = digests.of(record.sets, slots)
        record.fingerprint = hash((record.fingerprint, own))


class _SetDigests:
    """What draws use of their sets, as digests. ``used`` keeps the slots that it is asked for."""

    def __init__(self, sets: Sets) -> None:
        self._sets = sets
        #: By the ids of the contents of a set and of the slots.
        self._known: dict[tuple[int, int], object] = {}

    def of(self, sets: Mapping[int, SetPlace], slots: Slots | None) -> tuple[object, ...]:
        """One for each set."""
        found: list[object] = []
        for number, place in sets.items():
            contents = self._sets.read(place)
            limit = None if slots is None else slots.get(number, _NO_SLOTS)
            key = id(contents), id(limit)
            if key not in self._known:
                whole, parts = contents
                own = tuple(fact.digest for (_, slot), fact in parts if limit and slot in limit)
                self._known[key] = whole if limit is None else own
            found.append(self._known[key])
        return tuple(found)


def pass_key(recording: Recording, one: Pass) -> Hashable:
    """Equal for passes that have the same layout and draws."""
    return (
        one.kind,
        one.mode,
        one.framebuffer,
        one.samples,
        tuple((target.name, target.format) for target in one.attachments),
        tuple(record.fingerprint for record in recording.of(one)),
    )


def pass_likeness(good: Recording, bad: Recording, one: Pass, other: Pass) -> float:
    """The similarity of two passes: 0 (nothing in common) to 1."""
    if one.kind != other.kind:
        return 0.0
    if ends_in_binning(one) != ends_in_binning(other):
        # nothing is known of the one's tiles, and shaders of binning runs are others
        is_of_size = None in (one.framebuffer, other.framebuffer) or (
            one.framebuffer == other.framebuffer
        )
        is_in_place = one.first.gpuaddr == other.first.gpuaddr
        return 0.35 + 0.3 * is_of_size + 0.3 * is_in_place
    mine, theirs = good.of(one), bad.of(other)
    counts = sorted((len(mine), len(theirs)))
    draws = 1.0 if counts[0] == counts[1] else counts[0] / counts[1]
    shaders = _overlap({r.shaders for r in mine}, {r.shaders for r in theirs})
    size = 1.0 if one.framebuffer == other.framebuffer else 0.0
    targets = _overlap(_target_names(one), _target_names(other))
    return 0.1 + 0.15 * draws + 0.3 * shaders + 0.25 * size + 0.2 * targets


def _target_names(one: Pass) -> set[Hashable]:
    """Names of the attachments, those of a pass without draws included."""
    if one.attachments:
        return {target.name for target in one.attachments}
    return set(by_attachment(one))


def _overlap(one: Set[Hashable], other: Set[Hashable]) -> float:
    if not one and not other:
        return 1.0
    return len(one & other) / max(len(one), len(other))


def align_passes(good: Recording, bad: Recording) -> list[tuple[Pass | None, Pass | None]]:
    """Pairs of passes of two captures, in order; None for a pass without a counterpart."""
    mine, theirs = good.selected_passes(), bad.selected_passes()
    if good.selection.index is not None and bad.selection.index is not None:
        return [(mine[0], theirs[0])]
    keys = [pass_key(good, one) for one in mine], [pass_key(bad, one) for one in theirs]
    left, right = range(len(mine)), range(len(theirs))

    def likeness(one: tuple[int, int], other: tuple[int, int]) -> float:
        return pass_likeness(good, bad, mine[one[1]], theirs[other[1]])

    pairs = align(
        [(0, number) for number in left],
        [(1, number) for number in right],
        (lambda item: keys[item[0]][item[1]],),
        likeness,
    )
    return [
        (None if one is None else mine[one], None if other is None else theirs[other])
        for one, other in pairs
    ]


def in_same_runs(good: Recording, bad: Recording) -> tuple[Recording, Recording]:
    """Both recordings, their draws taken in the same runs of each pair of passes.

    Where a capture ends within the binning run of a pass, its draws are known from that run alone.
    Shaders and state of the binning run are not those of tiles, so the other capture's draws are
    those of its binning run, too.
    """
    passes = (*good.passes.passes, *bad.passes.passes)
    if not any(ends_in_binning(one) for one in passes):
        return good, bad
    again: tuple[set[int], set[int]] = (set(), set())
    for pair in align_passes(good, bad):
        for one, other, indices in zip(pair, pair[::-1], again, strict=True):
            if one is None or other is None or one.binning is None:
                continue
            if ends_in_binning(other) and not ends_in_binning(one):
                indices.add(one.index)
    mine, theirs = (frozenset(indices) for indices in again)
    return good.in_binning_runs(mine), bad.in_binning_runs(theirs)


def align_draws(
    good: Sequence[DrawRecord],
    bad: Sequence[DrawRecord],
    cells: Cells,
    states: States,
) -> list[tuple[DrawRecord | None, DrawRecord | None]]:
    """Pairs of draws of two passes, in order; None for a draw without a counterpart.

    ``states`` are asked only where draws are not recognised without: that is costly.
    """
    keys = [record.fingerprint for record in good], [record.fingerprint for record in bad]
    are_apart = all(len(set(of)) == len(of) for of in keys)
    if keys[0] == keys[1] and (are_apart or states.keep_order(good, bad)):
        return list(zip(good, bad, strict=True))
    by: list[Callable[[DrawRecord], Hashable]] = [_draw_key]
    if not (are_apart and _have_one_order(*keys)):
        states.note(good, bad)
        by.insert(0, _state_key)
    return [
        (None if one is None else good[one], None if other is None else bad[other])
        for one, other in align(good, bad, by, _draw_likeness, cells)
    ]


def _have_one_order(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether the keys that both have, each of them once, are in the same order.

    If so, all draws with equal keys are counterparts, whatever their state is.
    """
    places = {key: place for place, key in enumerate(right)}
    found = [places[key] for key in left if key in places]
    return all(one < other for one, other in pairwise(found))


def _state_key(record: DrawRecord) -> Hashable:
    return record.fingerprint, record.state


def _draw_key(record: DrawRecord) -> Hashable:
    return record.fingerprint


def _draw_likeness(one: DrawRecord, other: DrawRecord) -> float:
    if one.fingerprint == other.fingerprint:
        return 1.0
    mine, theirs = one.action, other.action
    if mine.kind != theirs.kind:
        return 0.0
    same = (
        (mine.packet == theirs.packet, 0.1),
        (mine.primitive == theirs.primitive, 0.15),
        (mine.vertices == theirs.vertices, 0.25),
        (mine.instances == theirs.instances, 0.1),
        (one.shaders == other.shaders, 0.3),
        ([t.format for t in mine.targets] == [t.format for t in theirs.targets], 0.1),
    )
    return sum(weight for holds, weight in same if holds)
