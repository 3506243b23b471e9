# SPDX-License-Identifier: MIT
"""``compare``: two recordings, passes and draws aligned, to the differences in state of each draw.

Both captures' states are followed at once. A difference is open from the draw at which it appears
to the one at which it is gone, so the cost goes with what changes, not with draws times state.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.align import Cells, align
from cffpy.analysis.diff.barriers import BEFORE_DRAW, BEHIND_ALL, barriers
from cffpy.analysis.diff.fact_text import NO_FIELD, differences, key_text, word_text
from cffpy.analysis.diff.image_links import ImageLinks
from cffpy.analysis.diff.images import Images
from cffpy.analysis.diff.missing import missing_draws, missing_passes
from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent, PassPair
from cffpy.analysis.diff.passes import (
    is_laid_out_alike,
    pass_key,
    pass_likeness,
    structure,
)
from cffpy.analysis.diff.report import group
from cffpy.analysis.diff.rules import (
    RegisterCase,
    is_address_field,
    noise_of,
    register_category,
)
from cffpy.analysis.diff.side import Side
from cffpy.analysis.diff.used_descriptors import DrawSlots, is_of_set

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from cffpy.analysis.diff.facts import FactKey
    from cffpy.analysis.diff.record import Record, Recording
    from cffpy.analysis.diff.rules import NoiseClass
    from cffpy.analysis.passes.model import Pass

#: A register by name, or a fact by key.
_Subject = str | tuple[str | int, ...]

#: Facts that name images.
_IMAGES = ("texture", "texture address")


def compare(good: Recording, bad: Recording, hidden: frozenset[NoiseClass]) -> Comparison:
    """Compare two recordings. ``hidden``: the noise classes that are counted only."""
    result = Comparison(good, bad)
    comparer = _Comparer(result, hidden)
    for mine, theirs in _align_passes(good, bad):
        comparer.compare_passes(mine, theirs)
    comparer.finish()
    result.hidden = {
        noise: Counter(dict(sorted(names.items()))) for noise, names in result.hidden.items()
    }
    links = ImageLinks(result)
    result.entries = group(comparer.found, comparer.structures, result.pairs, links)
    return result


def _align_passes(good: Recording, bad: Recording) -> list[tuple[Pass | None, Pass | None]]:
    mine, theirs = good.passes.passes, bad.passes.passes
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


class _Open:
    """A difference that holds from draw ``since`` on."""

    __slots__ = ("differences", "since")

    def __init__(self, differences: tuple[Difference, ...], since: int) -> None:
        self.differences = differences
        self.since = since


class _Comparer:
    """Goes through the pairs of passes in order."""

    def __init__(self, result: Comparison, hidden: frozenset[NoiseClass]) -> None:
        self.result = result
        self.hidden = hidden
        #: What differs -> where.
        self.found: dict[Difference, list[Extent]] = {}
        #: Entries of passes as wholes, and of draws that are missing.
        self.structures: list[Entry] = []
        self._sides = Side(result.good), Side(result.bad)
        self._open: dict[_Subject, _Open] = {}
        #: What is not the same on both sides, hidden or not.
        self._unequal: set[_Subject] = set()
        #: What is looked at where the next pair of draws begins.
        self._pending: set[_Subject] = set()
        self._images = Images()
        self._cells = Cells()
        #: Descriptors that the pair of draws can use, by what, and whether the pair before could
        #: use others.
        self._slots = DrawSlots(())
        self._uses: Hashable = None
        self._has_other_uses = False
        #: Keys of textures whose images are known.
        self._bound: set[FactKey] = set()
        #: The last pair of draws, and whether its passes are laid out alike.
        self._last: tuple[Extent, bool] | None = None

    # -- passes ---------------------------------------------------------------------------------

    def compare_passes(self, good: Pass | None, bad: Pass | None) -> None:
        """The next pair."""
        pair = PassPair(good, bad)
        self.result.pairs.append(pair)
        if good is None or bad is None:
            self._one_sided(pair)
            return
        extent = Extent(good.index, bad.index)
        found = list(structure(good, bad))
        shown = [d for d in found if not (d.category.name == "tiles" and self._hides("tiles"))]
        for difference in found:
            if difference not in shown:
                self.result.hide("tiles", difference.name)
        if shown:
            self.structures.append(Entry(f"pass {good.index}", (extent,), shown, rank=1))
        records = self.result.good.of(good), self.result.bad.of(bad)
        pairs = align(*records, (_state_key, _draw_key), _draw_likeness, self._cells)
        pair.draws = [
            (None if one is None else records[0][one], None if other is None else records[1][other])
            for one, other in pairs
        ]
        self._compare_draws(pair, good, bad)

    def _one_sided(self, pair: PassPair) -> None:
        if pair.good is not None:
            one, recording, side = pair.good, self.result.good, self._sides[0]
        else:
            assert pair.bad is not None
            one, recording, side = pair.bad, self.result.bad, self._sides[1]
        for record in recording.of(one):
            self._pending |= self._advance(side, record)

    # -- draws ----------------------------------------------------------------------------------

    def _compare_draws(self, pair: PassPair, good: Pass, bad: Pass) -> None:
        alike = is_laid_out_alike(good, bad)
        last = -1
        touched, self._pending = self._pending, set()
        events: tuple[list[str], list[str]] = ([], [])
        for mine, theirs in pair.draws:
            for side, record, heard in zip(self._sides, (mine, theirs), events, strict=True):
                if record is not None:
                    touched |= self._advance(side, record)
                    heard.extend(record.events)
            if mine is None or theirs is None:
                continue
            number = mine.action.program_number
            assert number is not None
            self._settle(touched, mine, number, alike, (good, bad), last)
            extent = Extent(good.index, bad.index, number, number)
            self._compare_events(BEFORE_DRAW, events, extent, alike)
            self._last = extent, alike
            self._note_images(mine, theirs, touched, extent, last)
            events[0].clear()
            events[1].clear()
            touched = set()
            last = number
        self._pending = touched | self._unequal
        for subject in list(self._open):
            self._close(subject, last, (good, bad))
        self._images.release(Extent(good.index, bad.index), last)
        self.structures.extend(missing_draws(pair))

    def _advance(self, side: Side, record: Record) -> set[_Subject]:
        names, keys = side.apply(record)
        return {*names, *keys}

    def _settle(
        self,
        touched: set[_Subject],
        record: Record,
        number: int,
        alike: bool,
        passes: tuple[Pass, Pass],
        last: int,
    ) -> None:
        """Open, keep or close the differences in what was touched."""
        one, other = self._sides
        uses = one.uses, other.uses
        self._has_other_uses = uses != self._uses
        if self._has_other_uses:
            self._uses, self._slots = uses, DrawSlots(self._sides)
            touched |= {key for key in self._unequal if is_of_set(key)}
        for subject in touched:
            found: tuple[Difference, ...] = ()
            if isinstance(subject, str):
                if one.registers.get(subject) == other.registers.get(subject):
                    self._unequal.discard(subject)
                else:
                    self._unequal.add(subject)
                    found = tuple(self._register(subject, record.action.kind, alike, passes))
            else:
                if one.facts.get(subject) == other.facts.get(subject):
                    self._unequal.discard(subject)
                else:
                    self._unequal.add(subject)
                    found = tuple(self._fact(subject, alike))
            known = self._open.get(subject)
            if known is not None:
                if known.differences == found:
                    continue
                self._close(subject, last, passes)
            if found:
                self._open[subject] = _Open(found, number)

    def _close(self, subject: _Subject, last: int, passes: tuple[Pass, Pass]) -> None:
        opened = self._open.pop(subject)
        if last < opened.since:
            return
        extent = Extent(passes[0].index, passes[1].index, opened.since, last)
        for difference in opened.differences:
            self.found.setdefault(difference, []).append(extent)

    # -- one register or fact -------------------------------------------------------------------

    def _register(
        self, name: str, kind: str, alike: bool, passes: tuple[Pass, Pass]
    ) -> Iterator[Difference]:
        one, other = self._sides
        good, bad = one.registers.get(name), other.registers.get(name)
        known = one if name in one.offsets else other
        subject = known.subject(name)
        is_in_both = good is not None and bad is not None
        noise = noise_of(
            RegisterCase(
                subject,
                kind,
                known.is_address_register(name),
                alike,
                is_in_both,
                is_in_both and self._is_left_over(name, passes),
            )
        )
        if noise is not None and self._hides(noise, name):
            return
        places = [side.writes[name].place if name in side.writes else None for side in self._sides]
        fields = [
            dict(side.text.fields(side.offsets[name], side.registers[name]))
            if name in side.registers
            else {"": "not written"}
            for side in self._sides
        ]
        for field in dict.fromkeys([*fields[0], *fields[1]]):
            left, right = (of.get(field, NO_FIELD) for of in fields)
            if left == right:
                continue
            title = f"{name}.{field}" if field else name
            is_partial = NO_FIELD in (left, right) and "" not in (*fields[0], *fields[1])
            if is_partial and self._hides("inherited", title):
                continue
            if is_address_field(subject, field) and self._hides("addresses", title):
                continue
            about = register_category(subject, field)
            if about.name == "push constants":
                left, right = (_pushed(side, name) for side in self._sides)
            yield Difference(title, left, right, about, places[0], places[1])

    def _is_left_over(self, name: str, passes: tuple[Pass, Pass]) -> bool:
        """Whether both values are of earlier passes: what differs there is told there."""
        return all(
            (write := side.writes[name]).pass_index is not None and write.pass_index < one.index
            for side, one in zip(self._sides, passes, strict=True)
        )

    def _fact(self, key: FactKey, alike: bool) -> Iterator[Difference]:
        good, bad = self._sides[0].facts.get(key), self._sides[1].facts.get(key)
        if not self._is_used(key) and self._hides("unused", key_text(key)):
            return
        if good is not None and bad is not None:
            if good.digest is None or bad.digest is None:
                if good.digest != bad.digest:
                    self._hides("uncaptured", key_text(key))
                return
            if good.digest == bad.digest:
                return
        elif good is bad:
            return
        elif not alike and self._hides("inherited", key_text(key)):
            return  # left over from a run that the other mode does not have
        shown = "addresses" not in self.hidden
        found = list(differences(key, good, bad, self._sides, with_addresses=shown))
        if not found and key[0] == "constants":
            self._hides("addresses", key_text(key))
        for difference in found:
            is_partial = NO_FIELD in (difference.good, difference.bad)
            if not is_partial or not self._hides("inherited", difference.name):
                yield difference

    def _compare_events(
        self, name: str, events: tuple[Sequence[str], Sequence[str]], extent: Extent, alike: bool
    ) -> None:
        difference = barriers(name, *events)
        if difference is None or (not alike and self._hides("barriers", "waits and cache events")):
            return
        self.found.setdefault(difference, []).append(extent)

    def _note_images(
        self, mine: Record, theirs: Record, touched: set[_Subject], extent: Extent, last: int
    ) -> None:
        """Targets, and textures that may have been bound anew."""
        others = {target.name: target.address for target in theirs.action.targets}
        for target in mine.action.targets:
            self._images.note(target.address, others.get(target.name), target.name, extent)
        one, other = self._sides
        looked_at = {key for key in touched if isinstance(key, tuple) and key[0] in _IMAGES}
        if self._has_other_uses:
            looked_at.update(self._slots.textures(), self._bound)
        for key in looked_at:
            good, bad = one.facts.get(key), other.facts.get(key)
            is_used = self._is_used(key)
            images = (
                None if good is None or not is_used else good.points_at,
                None if bad is None or not is_used else bad.points_at,
            )
            self._images.bind(key_text(key), images, extent, last)
            self._bound.add(key)

    def finish(self) -> None:
        """What can be told only of both captures as wholes."""
        if self._last is not None and self._ends_alike():
            events = self.result.good.last_events, self.result.bad.last_events
            self._compare_events(BEHIND_ALL, events, *self._last)
        self.structures.extend(missing_passes(self.result.pairs))
        for difference, extents in self._images.differences():
            self.found[difference] = extents
        for _ in range(self._images.consistent):
            self.result.hide("addresses", "images at other addresses")

    def _ends_alike(self) -> bool:
        """Whether the last draws of both captures are each other's counterparts."""
        draws = self.result.pairs[-1].draws
        return bool(draws) and None not in draws[-1]

    def _is_used(self, key: FactKey) -> bool:
        """Whether the draw can use it; of the descriptors of sets not all are its own."""
        return not is_of_set(key) or self._slots.holds(key)

    def _hides(self, noise: NoiseClass, name: str | None = None) -> bool:
        if noise not in self.hidden:
            return False
        if name is not None:
            self.result.hide(noise, name)
        return True


def _pushed(side: Side, name: str) -> str:
    value = side.registers.get(name)
    return "not written" if value is None else word_text(value)


def _state_key(record: Record) -> Hashable:
    return record.fingerprint, record.state


def _draw_key(record: Record) -> Hashable:
    return record.fingerprint


def _draw_likeness(one: Record, other: Record) -> float:
    if one.fingerprint == other.fingerprint:
        return 1.0
    mine, theirs = one.action, other.action
    if mine.kind != theirs.kind:
        return 0.0
    same = (
        (mine.packet == theirs.packet, 0.1),
        (mine.label == theirs.label, 0.15),
        (mine.vertices == theirs.vertices, 0.25),
        (mine.instances == theirs.instances, 0.1),
        (one.shaders == other.shaders, 0.3),
        ([t.format for t in mine.targets] == [t.format for t in theirs.targets], 0.1),
    )
    return sum(weight for holds, weight in same if holds)
