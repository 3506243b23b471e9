# SPDX-License-Identifier: MIT
"""The passes of both captures as HTML: aligned side by side, with gaps, draws and marks.

A mark is the label of an entry at a run of draws that the same entries touch.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.passes import mode_text
from cffpy.views.page_kit.markup import Budget, Markup, element, join
from cffpy.views.passes import colour_texts, has_modes, off_text, size_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from cffpy.analysis.diff.model import Entry, PassPair
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

#: Where the rest is.
REST = "--json has all"

#: Indices of a pair of passes in both captures.
PairKey = tuple[int | None, int | None]

#: Marks of one pair of passes that are kept.
_MAX_MARKS = 400


@dataclass(slots=True, frozen=True)
class Mark:
    """An entry at draws ``first`` to ``last``. ``label``: "2", or "2.5" of its fifth consequence.

    The numbers are the bad capture's where ``in_bad`` is set.
    """

    label: str
    first: int
    last: int
    in_bad: bool

    @property
    def is_consequence(self) -> bool:
        """Whether it follows from another entry."""
        return "." in self.label


@dataclass(slots=True)
class PairMarks:
    """What touches a pair of passes. ``whole``: labels of entries about the pass as a whole."""

    whole: list[str] = field(default_factory=list)
    draws: list[Mark] = field(default_factory=list)
    #: Marks that were left out.
    dropped: int = 0

    @property
    def labels(self) -> list[str]:
        """The labels of all entries that are marked."""
        return [*self.whole, *(mark.label for mark in self.draws)]


@dataclass(slots=True)
class DrawRun:
    """Draws side by side that the same entries touch; one list is empty where they are missing."""

    marks: list[Mark]
    good: list[Action] = field(default_factory=list)
    bad: list[Action] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Rows of draws."""
        return max(len(self.good), len(self.bad))


def child_label(label: str, number: int) -> str:
    """The label of the ``number``th consequence of an entry."""
    return f"{label}.{number}"


def anchor(label: str) -> str:
    """The id of an entry in the page."""
    return f"entry-{label.replace('.', '-')}"


def pair_marks(entries: Sequence[Entry]) -> dict[PairKey, PairMarks]:
    """The marks of every pair of passes that an entry or a consequence touches."""
    found: dict[PairKey, PairMarks] = {}
    for label, entry in _labelled(entries):
        for extent in entry.extents:
            marks = found.setdefault((extent.good_pass, extent.bad_pass), PairMarks())
            if len(marks.draws) + len(marks.whole) >= _MAX_MARKS:
                marks.dropped += 1
            elif extent.first is None or extent.last is None:
                marks.whole.append(label)
            else:
                marks.draws.append(Mark(label, extent.first, extent.last, extent.in_bad))
    return found


def _labelled(entries: Sequence[Entry]) -> Iterator[tuple[str, Entry]]:
    """Entries and, after all of them, what follows, so that causes are marked first."""
    level = [(str(number), entry) for number, entry in enumerate(entries, 1)]
    while level:
        yield from level
        level = [
            (child_label(label, number), consequence)
            for label, entry in level
            for number, consequence in enumerate(entry.consequences, 1)
        ]


def draw_runs(pair: PassPair, marks: PairMarks) -> Iterator[DrawRun]:
    """The draws of a pair, aligned, in order."""
    touching = _Touching(marks, in_bad=False), _Touching(marks, in_bad=True)
    run: DrawRun | None = None
    for good, bad in actions(pair):
        active: list[Mark] = []
        if good is not None:
            active = touching[0].at(good)
        elif bad is not None:
            active = touching[1].at(bad)
        if (
            run is None
            or run.marks != active
            or (good is None) == bool(run.good)
            or (bad is None) == bool(run.bad)
        ):
            if run is not None:
                yield run
            run = DrawRun(active)
        if good is not None:
            run.good.append(good)
        if bad is not None:
            run.bad.append(bad)
    if run is not None:
        yield run


def actions(pair: PassPair) -> Iterator[tuple[Action | None, Action | None]]:
    """The draws of a pair; those of a pass without a counterpart are all missing in the other."""
    if pair.good is not None and pair.bad is not None:
        for mine, theirs in pair.draws:
            yield (
                None if mine is None else mine.action,
                None if theirs is None else theirs.action,
            )
    elif pair.good is not None:
        for action in pair.good.draws:
            yield action, None
    elif pair.bad is not None:
        for action in pair.bad.draws:
            yield None, action


class _Touching:
    """The marks at draws of one capture, which are asked for in order."""

    def __init__(self, marks: PairMarks, in_bad: bool) -> None:
        self._coming = sorted(
            (mark for mark in marks.draws if mark.in_bad == in_bad),
            key=lambda mark: mark.first,
            reverse=True,
        )
        self._active: list[Mark] = []

    def at(self, action: Action) -> list[Mark]:
        """The marks at a draw; the list is the same as before where nothing has changed."""
        number = action.number
        if number is None:
            return []
        active = self._active
        if any(mark.last < number for mark in active):
            active = [mark for mark in active if mark.last >= number]
        if self._coming and self._coming[-1].first <= number:
            active = list(active)
            while self._coming and self._coming[-1].first <= number:
                mark = self._coming.pop()
                if mark.last >= number:
                    active.append(mark)
        self._active = active
        return active


#: Pairs of passes, and of one pair the rows of draws and the parts of its strip.
MAX_PAIRS = 1000
_MAX_ROWS = 200
_MAX_PARTS = 1000

#: Characters of all pairs.
_CHARACTERS = 3_000_000

#: Labels of entries in one cell.
_MAX_LABELS = 12

#: Pairs that an entry itself touches which are open from the start.
_OPEN_PAIRS = 3

#: Properties that say where a pass is: that they differ means nothing.
_PLACES = ("submit", "from", "to")


class PairList:
    """Renders pairs of passes. ``labels``: of the entries that are in the page."""

    def __init__(self, marks: Mapping[PairKey, PairMarks], labels: Collection[str]) -> None:
        self._marks = marks
        self._labels = labels
        self._budget = Budget(_CHARACTERS)

    def render(self, pairs: Sequence[PassPair]) -> Markup:
        """All pairs in order; at the end a note if some are cut short."""
        parts: list[Markup] = []
        whole = opened = 0
        for number, pair in enumerate(pairs[:MAX_PAIRS]):
            marks = self._marks.get(pair_key(pair), PairMarks())
            if self._budget.is_spent:
                heading = element("div", self._heading(pair, marks), class_="pair-heading")
                parts.append(element("div", heading, **_keys(number)))
                continue
            is_open = opened < _OPEN_PAIRS and any("." not in label for label in marks.labels)
            opened += is_open
            whole += 1
            parts.append(self._budget.take(self._pair(pair, number, marks, is_open)))
        if whole < len(pairs):
            text = f"The page is full: {len(pairs) - whole:,} passes are not shown in full,"
            text += f" {len(pairs) - len(parts):,} of them not at all ({REST})."
            parts.append(element("p", text, class_="note"))
        return join(parts)

    def _pair(self, pair: PassPair, number: int, marks: PairMarks, is_open: bool) -> Markup:
        runs = list(islice(draw_runs(pair, marks), _MAX_PARTS))
        whole = []
        if marks.whole:
            whole.append(element("p", "The pass as a whole: ", self._links(marks.whole)))
        if marks.dropped:
            text = f"{marks.dropped:,} more places of entries are not marked ({REST})"
            whole.append(element("p", text, class_="note"))
        return element(
            "details",
            element("summary", self._heading(pair, marks), class_="pair-heading"),
            _facts(pair),
            whole,
            _strip(runs),
            self._draws(runs),
            open=is_open,
            **_keys(number),
        )

    def _heading(self, pair: PassPair, marks: PairMarks) -> list[Markup]:
        """Both passes, and the entries that touch them or from which follows what does."""
        causes = [label.partition(".")[0] for label in marks.labels]
        return [
            element("h3", pair_name(pair), class_="pair-name"),
            _side_title(pair.good, "good"),
            _side_title(pair.bad, "bad"),
            element("span", self._links(causes), class_="touched"),
        ]

    def _draws(self, runs: Sequence[DrawRun]) -> Markup | None:
        if not runs:
            return None
        rows = []
        for run in runs[:_MAX_ROWS]:
            cells = []
            for name, there in (("good", run.good), ("bad", run.bad)):
                if there:
                    cells.append(element("td", _draw_text(there)))
                else:
                    cells.append(element("td", f"missing in {name}", class_="gap"))
            cells.append(element("td", self._links([mark.label for mark in run.marks])))
            rows.append(element("tr", cells, class_=_touch(run.marks)))
        if len(runs) > _MAX_ROWS:
            text = f"and {len(runs) - _MAX_ROWS:,} more runs of draws or more ({REST})"
            rows.append(element("tr", element("td", text, colspan=3, class_="note")))
        heading = head("draws of good", "draws of bad", "touched by")
        return element("table", heading, element("tbody", rows), class_="draws")

    def _links(self, labels: Sequence[str]) -> Markup | None:
        """Entries, then what follows, each with a link to it where it is in the page."""
        if not labels:
            return None
        ordered = sorted(set(labels), key=_order)
        parts = []
        for label in ordered[:_MAX_LABELS]:
            class_ = "link follows-from" if "." in label else "link direct"
            if label in self._labels:
                parts.append(element("a", label, href=f"#{anchor(label)}", class_=class_))
            else:
                parts.append(element("span", label, class_=class_))
        if len(ordered) > _MAX_LABELS:
            parts.append(element("span", f"and {len(ordered) - _MAX_LABELS:,} more", class_="note"))
        return element("span", parts, class_="links")


def _keys(number: int) -> dict[str, str]:
    """Class and id of a pair, and what the filter asks for."""
    return {"class_": "pair", "id": f"pair-{number}", "data_pair": str(number)}


def pair_key(pair: PassPair) -> PairKey:
    """The indices of both passes."""
    return (
        None if pair.good is None else pair.good.index,
        None if pair.bad is None else pair.bad.index,
    )


def pair_name(pair: PassPair) -> str:
    """``pass 1``, or ``pass 1 of good, 2 of bad``."""
    good, bad = pair_key(pair)
    if good is None:
        return f"pass {bad} of bad"
    if bad is None:
        return f"pass {good} of good"
    return f"pass {good}" if good == bad else f"pass {good} of good, {bad} of bad"


def _side_title(pass_: Pass | None, name: str) -> Markup:
    if pass_ is None:
        return element("span", f"missing in {name}", class_="gap")
    parts: list[str] = [pass_.kind]
    if pass_.kind == "render":
        parts += [mode_text(pass_)] if has_modes(pass_) else []
        parts.append(size_text(pass_))
    count = len(pass_.draws)
    noun = {"compute": "dispatch", "transfer": "copy"}.get(pass_.kind, "draw")
    plural = {"dispatch": "dispatches", "copy": "copies"}.get(noun, f"{noun}s")
    parts.append(f"{count:,} {noun if count == 1 else plural}")
    return element("span", ", ".join(parts), class_=f"side side-{name}")


def head(*headings: str) -> Markup:
    """The head of a table of two captures: headings of columns, coloured by their capture."""
    captures = ("good", "bad")
    cells = [
        element(
            "th",
            heading,
            scope="col",
            class_=next((name for name in captures if heading.endswith(name)), None),
        )
        for heading in headings
    ]
    return element("thead", element("tr", cells))


# -- what a pass is -------------------------------------------------------------------------------


def _facts(pair: PassPair) -> Markup:
    """Properties of both passes; those that differ stand out."""
    sides = [{} if one is None else _properties(one) for one in (pair.good, pair.bad)]
    rows = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        good, bad = (side.get(name, "") for side in sides)
        both = pair.good is not None and pair.bad is not None
        differs = both and good != bad and name not in _PLACES
        cells = [
            element("td", class_="gap")
            if one is None
            else element("td", text or "–", class_=side if differs else None)
            for side, one, text in (("good", pair.good, good), ("bad", pair.bad, bad))
        ]
        heading = element("th", name, scope="row")
        rows.append(element("tr", heading, cells, class_="differs" if differs else None))
    heading = head("property", "good", "bad")
    return element("table", heading, element("tbody", rows), class_="properties")


def _properties(pass_: Pass) -> dict[str, str]:
    found: dict[str, str] = {}
    if pass_.kind == "render":
        found.update(_sizes(pass_))
        found.update(_attachments(pass_))
        if pass_.lrz is not None:
            off = off_text(pass_.lrz)
            found["LRZ"] = ("used" if pass_.lrz.used else "not used") + (off and f", {off}")
    if pass_.markers:
        found["markers"] = " › ".join(pass_.markers)
    found["submit"] = str(pass_.submit)
    found["from"], found["to"] = str(pass_.first), str(pass_.last)
    return found


def _sizes(pass_: Pass) -> dict[str, str]:
    """Mode, sizes, counts above 1, tiles."""
    found = dict.fromkeys(("mode",) if has_modes(pass_) else (), mode_text(pass_))
    found["framebuffer"] = size_text(pass_)
    if pass_.render_area is not None:
        found["render area"] = str(pass_.render_area)
    for name, number in (
        ("samples", pass_.samples),
        ("layers", pass_.layers),
        ("views", pass_.views),
    ):
        if number is not None and number > 1:
            found[name] = str(number)
    if pass_.mode == "gmem":
        bins = f" of {pass_.bin_size}" if pass_.bin_size else ""
        binning = "hardware" if pass_.hardware_binning else "no"
        found["tiles"] = f"{len(pass_.tiles):,}{bins}, {binning} binning"
    return found


def _attachments(pass_: Pass) -> dict[str, str]:
    """Each attachment's format and layout, and what is done to it."""
    found = {}
    operations = _operations(pass_)
    for target in pass_.attachments:
        parts = [
            target.format or "format unknown",
            *colour_texts(target.swap, target.srgb),
            target.tiling,
            "UBWC" if target.ubwc else "",
        ]
        parts += operations.pop(target.name, ())
        found[target.name] = ", ".join(part for part in parts if part)
    for name, done in operations.items():
        found[name] = ", ".join(done)
    return found


def _operations(pass_: Pass) -> dict[str, list[str]]:
    """Attachment -> what is done to it, each once. Without addresses, which differ for nothing."""
    found: dict[str, dict[str, None]] = {}
    for run in pass_.runs:
        for operation in run.operations:
            if not operation.action.execution.is_possible:
                continue
            text: str = "resolve" if operation.resolves else operation.kind
            if operation.clear_value is not None:
                text += f" {_clear_text(operation.clear_value)}"
            found.setdefault(operation.attachment or "attachment unknown", {})[text] = None
    return {name: list(texts) for name, texts in found.items()}


def _clear_text(words: Sequence[int]) -> str:
    """The dwords of a clear value, without trailing zeros."""
    last = max((number for number, word in enumerate(words) if word), default=0)
    return " ".join(f"{word:08x}" for word in words[: last + 1])


# -- draws ----------------------------------------------------------------------------------------


def _strip(runs: Sequence[DrawRun]) -> Markup | None:
    """A picture of the draws: good above, bad below; the table says the same in words."""
    total = sum(run.length for run in runs)
    if total < 2:
        return None
    parts = []
    at = 0
    for run in runs:
        touched = _touch(run.marks)
        for y, there in ((0, run.good), (5, run.bad)):
            class_ = "absent" if not there else touched if run.good and run.bad else "alone"
            parts.append(
                element("rect", x=at, y=y, width=run.length, height=4, class_=f"part {class_}")
            )
        at += run.length
    return element(
        "svg",
        parts,
        class_="strip",
        viewBox=f"0 0 {total} 9",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _touch(marks: Iterable[Mark]) -> str:
    kinds = {mark.is_consequence for mark in marks}
    return "direct" if False in kinds else "follows-from" if kinds else "same"


def _draw_text(draws: Sequence[Action]) -> Markup:
    """Numbers, kinds, sizes of draws."""
    numbers = [draw.number for draw in draws if draw.number is not None]
    parts = [
        name if count == 1 else f"{count:,} {name}"
        for name, count in Counter(draw.primitive or draw.packet for draw in draws).most_common(4)
    ]
    parts += _counts(draws)
    dump = sorted(draw.dump_draw for draw in draws if draw.dump_draw is not None)
    if dump:
        parts.append(f"#{_range(dump)}")
    text = element("span", f" {', '.join(parts)}", class_="what")
    return join((element("b", _range(numbers) if numbers else "?"), text))


def _counts(draws: Sequence[Action]) -> Iterator[str]:
    """Indices, vertices and instances, where there are any."""
    plain = [draw for draw in draws if draw.kind == "draw" and not draw.indexed]
    for nouns, values in (
        ("indices", {draw.vertices for draw in draws if draw.indexed}),
        ("vertices", {draw.vertices for draw in plain}),
        ("instances", {draw.instances for draw in draws} - {1}),
    ):
        known = sorted(value for value in values if value is not None)
        if known:
            yield f"{_range(known)} {nouns}"


def _range(numbers: Sequence[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return str(first) if first == last else f"{first}-{last}"


def _order(label: str) -> tuple[int, list[int]]:
    numbers = [int(number) for number in label.split(".")]
    return len(numbers), numbers
