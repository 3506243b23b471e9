# SPDX-License-Identifier: MIT
"""Alignment: which items, and which draws of two passes, are counterparts, which have none.

Equal items are matched first: from both ends, then around items that occur once on each side
(patience diff). What lies between is matched by similarity, so that a changed item is matched with
its counterpart and an inserted one has none. What draws are recognised by is defined
here, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cache, cached_property
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from cffpy.analysis.diff.rules import is_program_state
from cffpy.analysis.inputs.uses import UsedDescriptors
from cffpy.analysis.register_store.log import BR, RegisterCursor
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.analysis.registers import values_of
from cffpy.regdb.registers import RegisterText
from cffpy.regdb.subjects import Subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from cffpy.analysis.diff.model import AlignedDraws
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.inputs.descriptor_sets import SetPlace, Sets
    from cffpy.analysis.inputs.facts import Facts
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.inputs.uses import Slots
    from cffpy.analysis.register_store.log import Reader

_Item = TypeVar("_Item")

#: Positions on the two sides; None where an item has no counterpart.
Pair = tuple[int | None, int | None]

#: Pairs of items whose similarity is computed, at most; beyond that, items are matched in order.
_MAX_CELLS = 1_000_000

#: The same, for all gaps of a comparison together.
_ALL_CELLS = 2_000_000

#: What the names of registers that hold push constants (a7xx) begin with.
_PUSHED = "HLSQ_SHARED_CONSTS_IMM"

#: Registers in order, and what reads their values.
_Pushed = tuple[tuple[int, ...], "Callable[[dict[int, int]], tuple[int, ...]]"]

#: Lists of registers, and registers with values, that are kept.
_MAX_LISTS, _MAX_PARTS = 1 << 12, 1 << 16

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
            if all(self._alike_at(one, other) >= _LEAST_LIKENESS for one, other in both):
                return list(zip(ones, others, strict=True))
        if not self._cells.take(len(ones) * len(others)):
            shorter = min(len(ones), len(others))
            return [
                *zip(ones[:shorter], others[:shorter], strict=True),
                *((one, None) for one in ones[shorter:]),
                *((None, other) for other in others[shorter:]),
            ]
        return best_pairs(ones, others, self._alike_at)

    def _alike_at(self, one: int, other: int) -> float:
        return self._likeness(self._left[one], self._right[other])


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


def best_pairs(
    ones: range, others: range, likeness: Callable[[int, int], float], opening: float = 0.0
) -> list[Pair]:
    """The pairing of positions, in order, with the greatest sum of similarities.

    Items that are too little alike are not paired. ``opening`` is what each run of items without
    counterparts costs, so that of equally good pairings the one with fewest runs is taken; of
    these, the one whose missing items come first: right after the last equal items. The cost is
    that of all pairs.
    """

    def alike_at(one: int, other: int) -> float:
        value = likeness(one, other)
        return value if value >= _LEAST_LIKENESS else -inf

    rows, columns = len(ones), len(others)
    # the best sum of what is left, behind an item without a counterpart, and behind a pair
    behind_gap = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    behind_pair = [[-opening] * (columns + 1) for _ in range(rows + 1)]
    behind_pair[rows][columns] = 0.0
    for row in range(rows - 1, -1, -1):
        below, here = behind_gap[row + 1], behind_gap[row]
        for column in range(columns - 1, -1, -1):
            gap = max(below[column], here[column + 1])
            paired = behind_pair[row + 1][column + 1] + alike_at(ones[row], others[column])
            here[column] = max(gap, paired)
            behind_pair[row][column] = max(gap - opening, paired)
    pairs: list[Pair] = []
    row = column = 0
    best, cost = behind_pair, opening
    while row < rows and column < columns:
        left = best[row][column] + cost
        if left == behind_gap[row + 1][column]:
            pairs.append((ones[row], None))
            row, best, cost = row + 1, behind_gap, 0.0
        elif left == behind_gap[row][column + 1]:
            pairs.append((None, others[column]))
            column, best, cost = column + 1, behind_gap, 0.0
        else:
            pairs.append((ones[row], others[column]))
            row, column, best, cost = row + 1, column + 1, behind_pair, opening
    pairs.extend((one, None) for one in ones[row:])
    pairs.extend((None, other) for other in others[column:])
    return pairs


_NO_SLOTS: frozenset[int] = frozenset()


class DrawKeys:
    """What draws of a capture are recognised by.

    Most are known by what is their own: parameters, programs, data, descriptors. Draws of one mesh
    may differ in state alone: in a viewport, a base vertex, an address of uniform data that was not
    captured. So they have a second key, of
    all state.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @cached_property
    def own(self) -> dict[int, int]:
        """A key for each draw, by ``Action.order``; equal where all that is its own is equal."""
        pushed, sets = self._push_constants(), self._used_sets()
        return {
            order: hash((record.own, pushed.get(order), sets.get(order)))
            for order, record in self.recording.records.items()
        }

    @cached_property
    def state(self) -> dict[int, int]:
        """A key for each draw, by ``Action.order``; equal where all state is, noise left out."""
        return _DrawStates(self.recording).keys(self.written)

    @cached_property
    def written(self) -> dict[int, list[dict[int, int]]]:
        """What was written for each draw, by ``Action.order``; captures may share the objects."""
        log = self.recording.store.log
        cursors: dict[Reader, RegisterCursor] = {}
        found: dict[int, list[dict[int, int]]] = {}
        for order in self.recording.records:
            reader = log.reader_of(order) if log.switches else BR
            if reader not in cursors:
                cursors[reader] = RegisterCursor(log, reader)
            found[order] = cursors[reader].go_to(order)
        return found

    def _push_constants(self) -> dict[int, object]:
        """The push constants that are written to registers (a7xx) before each draw."""
        found: dict[int, object] = {}
        database = self.recording.database
        if database is None:
            return found
        name = RegisterText(database).name
        is_pushed = cache(lambda register: name(register).startswith(_PUSHED))
        #: Registers that are written together -> those of push constants, and what reads them.
        lists: dict[tuple[int, ...], _Pushed | None] = {}
        for order, written in self.written.items():
            of_draw: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
            for values in written:
                registers = tuple(values)
                if registers not in lists:
                    pushed = tuple(sorted(filter(is_pushed, registers)))
                    lists[registers] = (pushed, values_of(pushed)) if pushed else None
                known = lists[registers]
                if known is not None:
                    of_draw.append((known[0], known[1](values)))
            if len(of_draw) == 1 and UNKNOWN not in of_draw[0][1]:
                found[order] = of_draw[0]
            elif of_draw:
                last = {one: value for part in of_draw for one, value in zip(*part, strict=True)}
                known_values = sorted(one for one in last.items() if one[1] != UNKNOWN)
                found[order] = tuple(zip(*known_values, strict=True))
        return found

    def _used_sets(self) -> dict[int, tuple[object, ...]]:
        """What each draw uses of its descriptor sets."""
        recording = self.recording
        if recording.sets is None:
            return {}
        used = UsedDescriptors(recording.descriptors)
        digests = _SetDigests(recording.sets)
        found: dict[int, tuple[object, ...]] = {}
        #: Most draws have the sets, shaders and slots of the draw before.
        last: tuple[object, object, object] = (None, None, None)
        slots: Slots | None = None
        own: tuple[object, ...] = ()
        for order, record in recording.records.items():
            shaders, registers, sets = record.shaders, record.slots, record.sets
            if shaders is not last[0] or registers is not last[1]:
                slots = used.of(shaders, record.prefetched)
            if shaders is not last[0] or registers is not last[1] or sets is not last[2]:
                last = shaders, registers, sets
                own = digests.of(sets, slots)
            found[order] = own
        return found


class _DrawStates:
    """The state of programs at each draw, as a number that follows what is written."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        database = recording.database
        self._subjects = None if database is None else Subjects.open(database)
        self._known: dict[tuple[str, int], bool] = {}
        #: Kind of command and registers that are written together -> those that are state.
        self._lists: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
        #: Kind and id of registers with values -> these, and those that are state.
        self._parts: dict[tuple[str, int], tuple[object, dict[int, int]]] = {}
        #: Id of facts -> a hash of them.
        self._facts: dict[int, int] = {}

    def keys(self, written_before: Mapping[int, list[dict[int, int]]]) -> dict[int, int]:
        """See ``DrawKeys.state`` and ``DrawKeys.written``."""
        recording, log = self._recording, self._recording.store.log
        values: dict[Reader, dict[int, int]] = {}
        totals: dict[Reader, int] = {}
        found: dict[int, int] = {}
        for order, written in written_before.items():
            record, reader = recording.records[order], log.reader_of(order)
            kind, total = record.action.kind, totals.get(reader, 0)
            known = values.setdefault(reader, {})
            for part in written:
                total ^= _change(known, self._part(kind, part))
            totals[reader] = total
            facts = tuple(map(self._hash_of, record.facts[1:]))
            found[order] = hash((total, facts, tuple(record.bases.items())))
        return found

    def _part(self, kind: str, values: dict[int, int]) -> dict[int, int]:
        key = kind, id(values)
        known = self._parts.get(key)
        if known is None:
            if len(self._parts) >= _MAX_PARTS:
                self._parts.clear()
            state = {one: values[one] for one in self._state_among(kind, tuple(values))}
            known = self._parts[key] = values, state
        return known[1]

    def _state_among(self, kind: str, registers: tuple[int, ...]) -> tuple[int, ...]:
        key = kind, registers
        known = self._lists.get(key)
        if known is None:
            if len(self._lists) >= _MAX_LISTS:
                self._lists.clear()
            known = self._lists[key] = tuple(
                [one for one in registers if self._is_state(kind, one)]
            )
        return known

    def _is_state(self, kind: str, register: int) -> bool:
        key = kind, register
        known = self._known.get(key)
        if known is None:
            assert self._subjects is not None
            known = is_program_state(self._subjects.register(register), kind)
            self._known[key] = known
        return known

    def _hash_of(self, facts: Facts) -> int:
        known = self._facts.get(id(facts))
        if known is None:
            known = hash(tuple([(key, one.digest, one.address) for key, one in facts.items()]))
            self._facts[id(facts)] = known  # which the recording keeps
        return known


def _change(values: dict[int, int], written: dict[int, int]) -> int:
    """Go on to what was written. Returns what changes a hash of all values, in whatever order."""
    change = 0
    for register, value in written.items():
        before = values.get(register)
        if before != value:
            change ^= hash((register, before)) ^ hash((register, value))
            values[register] = value
    return change


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


def align_draws(
    good: Sequence[DrawInputs],
    bad: Sequence[DrawInputs],
    keys: tuple[DrawKeys, DrawKeys],
    cells: Cells,
) -> AlignedDraws:
    """Pairs of draws of two passes, in order; None for a draw without a counterpart.

    All state of draws is asked only where they are not recognised without.
    """
    own = _keys_of("own", (good, bad), keys)
    are_apart = all(len(set(of)) == len(of) for of in own)
    if own[0] == own[1] and (are_apart or _have_same_writes(good, bad, keys)):
        return list(zip(good, bad, strict=True))
    by: list[Callable[[_Place], Hashable]] = [lambda item: own[item[0]][item[1]]]
    if not (are_apart and _have_one_order(*own)):
        state = _keys_of("state", (good, bad), keys)
        by.insert(0, lambda item: (own[item[0]][item[1]], state[item[0]][item[1]]))

    def likeness(one: _Place, other: _Place) -> float:
        if own[0][one[1]] == own[1][other[1]]:
            return 1.0
        return _draw_likeness(good[one[1]], bad[other[1]])

    left, right = ([(side, at) for at in range(len(of))] for side, of in enumerate(own))
    return [
        (None if one is None else good[one], None if other is None else bad[other])
        for one, other in align(left, right, by, likeness, cells)
    ]


#: A draw: the capture that it is of, 0 or 1, and its position.
_Place = tuple[int, int]


def _keys_of(
    name: Literal["own", "state"],
    draws: tuple[Sequence[DrawInputs], Sequence[DrawInputs]],
    keys: tuple[DrawKeys, DrawKeys],
) -> list[list[int]]:
    """The keys of draws of both captures."""
    found = []
    for of, records in zip(keys, draws, strict=True):
        known: dict[int, int] = getattr(of, name)
        found.append([known[one.action.order] for one in records])
    return found


def _have_same_writes(
    good: Sequence[DrawInputs], bad: Sequence[DrawInputs], keys: tuple[DrawKeys, DrawKeys]
) -> bool:
    """Whether the same is written for draws at the same position. Then they are counterparts."""
    mine, theirs = keys[0].written, keys[1].written
    return all(
        mine[one.action.order] == theirs[other.action.order] and one.bases == other.bases
        for one, other in zip(good, bad, strict=True)
    )


def _have_one_order(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether the keys that both have, each of them once, are in the same order.

    If so, all draws with equal keys are counterparts, whatever their state is.
    """
    places = {key: place for place, key in enumerate(right)}
    found = [places[key] for key in left if key in places]
    return all(one < other for one, other in pairwise(found))


def _draw_likeness(one: DrawInputs, other: DrawInputs) -> float:
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
