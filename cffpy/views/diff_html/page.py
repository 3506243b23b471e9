# SPDX-License-Identifier: MIT
"""The page: a summary, the entries, the passes side by side, what is counted by rules.

Everything is in the markup and can be read without scripts; page.js only filters, folds and moves.
An entry has its fields side by side, details, and what follows folded.
"""

from __future__ import annotations

import os
import re
from itertools import groupby, islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.report import where
from cffpy.views.diff import filter_text, folded_text, summary
from cffpy.views.diff_html.passes import (
    MAX_PAIRS,
    REST,
    PairList,
    anchor,
    child_label,
    head,
    pair_key,
    pair_marks,
    pair_name,
)
from cffpy.views.page_kit.document import (
    choice,
    document,
    files_of,
    footer,
    search_bar,
    search_field,
    section,
    table,
)
from cffpy.views.page_kit.markup import Budget, Markup, element, escape, join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cffpy.analysis.diff.model import Comparison, Difference, Entry
    from cffpy.analysis.diff.recording import Recording
    from cffpy.frame.places import PacketLocation
    from cffpy.views.diff_html.passes import PairKey
    from cffpy.views.page_kit.markup import Child

#: What is shown at most: entries, and of one entry its fields, consequences and places; of one
#: field its lines of details; levels of consequences.
_MAX_ENTRIES = 3000
_MAX_FIELDS = 300
_MAX_CONSEQUENCES = 300
_MAX_DETAILS = 600
_MAX_PLACES = 200
_MAX_DEPTH = 4

#: Characters of all entries with their fields, and of the titles after that.
_CHARACTERS = 6_000_000
_TITLE_CHARACTERS = 1_500_000

#: Lines of details that are open from the start.
_OPEN_DETAILS = 40

#: What an entry without fields is about, beside the names of categories.
MISSING = "missing"

#: A word of data among details: offset, good, bad.
_WORD = re.compile(r"\+(0x[0-9a-f]+): (.*) → (.*)", re.DOTALL)


def categories(entry: Entry) -> set[str]:
    """Names of what an entry and its consequences are about."""
    found: set[str] = {difference.category.name for difference in entry.differences} or {MISSING}
    return found.union(*map(categories, entry.consequences))


class EntryList:
    """Renders entries until its budgets are spent. ``pairs``: numbers of the pairs of passes."""

    def __init__(self, pairs: Mapping[PairKey, int]) -> None:
        self._pairs = pairs
        #: Labels of the entries that are in the page: what links may lead to.
        self.labels: set[str] = set()
        self._budget = Budget(_CHARACTERS)
        self._titles = Budget(_TITLE_CHARACTERS)

    def render(self, entries: Sequence[Entry]) -> Markup:
        """All of them; at the end a note if some are cut short."""
        parts: list[Markup] = []
        whole = shown = 0
        for number, entry in enumerate(entries[:_MAX_ENTRIES], 1):
            label = str(number)
            if not self._budget.is_spent:
                parts.append(self._entry(entry, label, 0))
                whole += 1
            elif not self._titles.is_spent:
                parts.append(self._titles.take(self._title_only(entry, label)))
            else:
                break
            shown += 1
        if whole < len(entries):
            text = f"The page is full: {len(entries) - whole:,} entries are not shown with their"
            text += f" fields, {len(entries) - shown:,} of them not at all ({REST})."
            parts.append(element("p", text, class_="note"))
        return join(parts)

    # -- one entry ------------------------------------------------------------------------------

    def _entry(self, entry: Entry, label: str, depth: int) -> Markup:
        parts = [self._budget.take(_heading(entry, label, depth))]
        parts.append(self._budget.take(self._places(entry)))
        parts.append(self._fields(entry))
        parts.append(self._consequences(entry, label, depth))
        return element(
            "details",
            parts,
            class_="entry",
            open=label == "1",
            **self._keys(entry, label),
        )

    def _title_only(self, entry: Entry, label: str) -> Markup:
        heading = element("div", _heading_parts(entry, label, 0), class_="heading")
        return element("div", heading, class_="entry", **self._keys(entry, label))

    def _keys(self, entry: Entry, label: str) -> dict[str, str]:
        """The id, and what the filters ask for."""
        self.labels.add(label)
        numbers = {
            self._pairs[key]
            for extent in entry.extents
            if (key := (extent.good_pass, extent.bad_pass)) in self._pairs
        }
        return {
            "id": anchor(label),
            "data_categories": "|".join(sorted(categories(entry))),
            "data_pairs": " ".join(map(str, sorted(numbers))),
        }

    def _places(self, entry: Entry) -> Markup:
        """Every place, with links to the passes; a title names some only."""
        pieces: list[Child] = []
        for extent in entry.extents[:_MAX_PLACES]:
            number = self._pairs.get((extent.good_pass, extent.bad_pass))
            text = where((extent,))
            link = None if number is None else element("a", text, href=f"#pair-{number}")
            pieces += ("; " if pieces else "at ", link or text)
        if len(entry.extents) > _MAX_PLACES:
            pieces.append(f"; and {len(entry.extents) - _MAX_PLACES:,} more ({REST})")
        return element("p", pieces, class_="places")

    def _fields(self, entry: Entry) -> Markup:
        if not entry.differences:
            return Markup()
        bodies: list[Markup] = []
        shown = 0
        candidates = entry.differences[:_MAX_FIELDS]
        for places, group in groupby(candidates, _written_by):
            rows: list[Markup] = []
            for difference in group:
                if self._budget.is_spent:
                    break
                rows.append(self._budget.take(_row(difference)))
                shown += 1
                if _has_more(difference):
                    rows.append(self._budget.take(_details_row(difference)))
            if rows:
                if places != (None, None):
                    rows.append(self._budget.take(_place_row(places)))
                bodies.append(element("tbody", rows))
        if shown < len(entry.differences):
            text = f"and {len(entry.differences) - shown:,} more fields ({REST})"
            cell = element("td", text, colspan=3, class_="note")
            bodies.append(element("tbody", element("tr", cell)))
        return _table(bodies)

    def _consequences(self, entry: Entry, label: str, depth: int) -> Markup:
        number = len(entry.consequences)
        if not number:
            return Markup()
        parts: list[Markup] = []
        if depth < _MAX_DEPTH:
            for index, consequence in enumerate(entry.consequences[:_MAX_CONSEQUENCES], 1):
                if self._budget.is_spent:
                    break
                parts.append(self._entry(consequence, child_label(label, index), depth + 1))
        if len(parts) < number:
            text = f"and {number - len(parts):,} more ({REST})"
            parts.append(element("p", text, class_="note"))
        heading = element("summary", f"{folded_text(entry).capitalize()}: {number:,}")
        return element("details", heading, parts, class_="follows")


# -- headings -------------------------------------------------------------------------------------


def _heading(entry: Entry, label: str, depth: int) -> Markup:
    return element("summary", _heading_parts(entry, label, depth), class_="heading")


def _heading_parts(entry: Entry, label: str, depth: int) -> list[Markup]:
    names: list[str] = [
        *dict.fromkeys(difference.category.name for difference in entry.differences)
    ]
    chips = [element("span", name, class_="chip") for name in names[:4] or [MISSING]]
    if len(names) > 4:
        chips.append(element("span", f"+{len(names) - 4}", class_="chip"))
    return [
        element("span", label, class_="number"),
        element(f"h{min(3 + depth, 6)}", _title(entry), class_="title"),
        element("span", chips, class_="chips"),
    ]


def _title(entry: Entry) -> Markup:
    """The title as it is, its parts marked where they are known."""
    title = entry.title
    place = f"{where(entry.extents)}: "
    if not title.startswith(place):
        return escape(title)
    rest = title[len(place) :]
    parts = [element("span", place, class_="where")]
    if entry.differences:
        first = entry.differences[0]
        name = f"{first.name}: "
        values = f"{first.good} → {first.bad}"
        if rest.startswith(name + values):
            return join(
                (
                    *parts,
                    element("span", name, class_="name"),
                    element("span", first.good, class_="good"),
                    " → ",
                    element("span", first.bad, class_="bad"),
                    rest[len(name + values) :],
                )
            )
    return join((*parts, rest))


# -- fields ---------------------------------------------------------------------------------------


def _table(bodies: Sequence[Markup]) -> Markup:
    return element("table", _columns(), head("field", "good", "bad"), bodies, class_="fields")


def _columns() -> Markup:
    names = ("field", "good", "bad")
    return element("colgroup", [element("col", class_=f"column-{name}") for name in names])


def _row(difference: Difference) -> Markup:
    return element(
        "tr",
        element("th", difference.name, scope="row"),
        element("td", difference.good, class_="good"),
        element("td", difference.bad, class_="bad"),
        class_="field",
    )


def _written_by(difference: Difference) -> tuple[PacketLocation | None, PacketLocation | None]:
    return difference.good_place, difference.bad_place


def _place_row(places: tuple[PacketLocation | None, PacketLocation | None]) -> Markup:
    cells = [element("td", "" if place is None else str(place)) for place in places]
    return element("tr", element("th", "written by", scope="row"), cells, class_="written")


def _has_more(difference: Difference) -> bool:
    """Whether the details say more than the row: not where they are the one word of it."""
    if len(difference.details) != 1:
        return bool(difference.details)
    match = _WORD.fullmatch(difference.details[0])
    return match is None or match.groups()[1:] != (difference.good, difference.bad)


def _details_row(difference: Difference) -> Markup:
    return element("tr", element("td", _details(difference.details), colspan=3), class_="more")


def _details(lines: Sequence[str]) -> Markup:
    """Lines of a listing's difference, or words of data; folded if there are many."""
    shown = lines[:_MAX_DETAILS]
    if lines[0].startswith("--- "):
        removed = sum(line.startswith("-") for line in lines[2:])
        added = sum(line.startswith("+") for line in lines[2:])
        text = f"{removed:,} lines only in good, {added:,} only in bad"
        content = element("pre", _listing(shown), class_="listing", tabindex=0)
    else:
        text = f"{len(lines):,} lines"
        content = _words(shown)
    parts = [element("summary", text), content]
    if len(shown) < len(lines):
        note = f"and {len(lines) - len(shown):,} more lines ({REST})"
        parts.append(element("p", note, class_="note"))
    return element("details", parts, class_="details", open=len(lines) <= _OPEN_DETAILS)


def _listing(lines: Sequence[str]) -> Iterator[Markup]:
    classes = {"-": "removed", "+": "added", "@": "hunk"}
    for number, line in enumerate(lines):
        class_ = "hunk" if number < 2 else classes.get(line[:1])
        # the end of a line stands within it: an empty one keeps its height
        content = join((line.expandtabs(4), Markup("\n")))
        yield element("span", content, class_=class_)


def _words(lines: Sequence[str]) -> Markup:
    rows = []
    for line in lines:
        match = _WORD.fullmatch(line)
        if match is None:
            rows.append(element("tr", element("td", line, colspan=3)))
            continue
        offset, good, bad = match.groups()
        rows.append(
            element(
                "tr",
                element("th", f"+{offset}", scope="row"),
                element("td", good, class_="good"),
                element("td", bad, class_="bad"),
            )
        )
    return element("table", _columns(), element("tbody", rows), class_="words")


#: Names of one rule, and lines about a damaged capture, that are shown.
_MAX_NAMES = 300
_MAX_DAMAGE = 20

#: Names of one rule that are open from the start.
_OPEN_NAMES = 8

_KEYS = (("/", "filter"), ("j k", "move"), ("o Enter", "open"), ("Esc", "clear"))


def page(result: Comparison) -> bytes:
    """The page of a comparison in UTF-8, with its style and script."""
    title = " → ".join(os.path.basename(one.name) for one in (result.good, result.bad))
    pairs = result.pairs[:MAX_PAIRS]
    entries = EntryList({pair_key(pair): number for number, pair in enumerate(pairs)})
    differences = entries.render(result.entries)
    pair_list = PairList(pair_marks(result.entries), entries.labels)
    chosen = filter_text(result)
    body = (
        element(
            "header",
            element("h1", summary(result)),
            None if chosen is None else element("p", chosen),
            _captures(result),
            class_="top",
        ),
        _toolbar(result) if result.entries else None,
        element(
            "main",
            section("differences", "Differences", differences) if result.entries else None,
            section("passes", "Passes and draws", pair_list.render(result.pairs)),
            section("rules", "Undecided, and of no effect", _rules(result)),
        ),
        footer(),
    )
    return document(
        f"{title} – cffpy diff",
        body,
        files_of(__file__, "page.css"),
        files_of(__file__, "page.js"),
    )


# -- the top --------------------------------------------------------------------------------------


def _captures(result: Comparison) -> Markup:
    sides = (result.good, result.bad)
    rows = [
        ("file", [recording.name for recording in sides]),
        ("GPU", [recording.passes.gpu or "unknown" for recording in sides]),
        ("passes", [f"{len(recording.passes.passes):,}" for recording in sides]),
        ("draws", [f"{_draw_count(recording):,}" for recording in sides]),
    ]
    body = [
        element("tr", element("th", name, scope="row"), [element("td", text) for text in texts])
        for name, texts in rows
    ]
    damage = [_damage(recording) for recording in sides]
    if any(damage):
        cells = [element("td", element("ul", items) if items else None) for items in damage]
        row = element("tr", element("th", "damage", scope="row"), cells, class_="damage")
        body.append(row)
    return element(
        "table", head("", "good", "bad"), element("tbody", body), class_="captures properties"
    )


def _draw_count(recording: Recording) -> int:
    return sum(len(pass_.draws) for pass_ in recording.passes.passes)


def _damage(recording: Recording) -> list[Markup]:
    lines = [*map(str, recording.damage), *map(str, recording.passes.truncated)]
    items = [element("li", line) for line in lines[:_MAX_DAMAGE]]
    if len(lines) > _MAX_DAMAGE:
        items.append(element("li", f"and {len(lines) - _MAX_DAMAGE:,} more ({REST})"))
    return items


def _toolbar(result: Comparison) -> Markup:
    """What needs the script; it shows this once it runs."""
    names = sorted(set().union(*map(categories, result.entries)))
    pairs = [pair_name(pair) for pair in result.pairs[:MAX_PAIRS]]
    numbers = [str(number) for number in range(len(pairs))]
    keys = [element("span", element("kbd", key), f" {does}") for key, does in _KEYS]
    return search_bar(
        search_field("filter", "Filter: names, titles, values", "Filter entries by text"),
        choice("category", "Filter by category", "all categories", names, names),
        choice("pass", "Filter by pass", "all passes", numbers, pairs),
        element("button", "Open all", type="button", id="open-all"),
        element("button", "Close all", type="button", id="close-all"),
        element("output", id="count", aria_live="polite"),
        element("span", keys, class_="keys"),
    )


# -- the end --------------------------------------------------------------------------------------


def _rules(result: Comparison) -> Markup:
    """What is undecided, and what is of no effect."""
    if not result.rules:
        return element("p", "Nothing.")
    rows: list[tuple[Child, ...]] = [
        (
            rule.rule,
            "no effect" if rule.decided else "undecided",
            f"{rule.count:,}",
            (element("p", rule.meaning), _names(rule.differences)),
        )
        for rule in sorted(result.rules, key=lambda rule: rule.decided)
    ]
    note = element(
        "p",
        "Counted, and no entries. ",
        element("code", "--show RULE"),
        " makes entries of them, ",
        element("code", "--strict"),
        " of all.",
    )
    return Markup(note + table(("rule", "they are", "count", "what"), rows))


def _names(names: Mapping[str, int]) -> Markup:
    items = [
        element("li", name, element("span", f" ×{count:,}", class_="count") if count > 1 else None)
        for name, count in islice(names.items(), _MAX_NAMES)
    ]
    if len(names) > _MAX_NAMES:
        items.append(element("li", f"and {len(names) - _MAX_NAMES:,} more ({REST})"))
    noun = "name" if len(names) == 1 else "names"
    heading = element("summary", f"{len(names):,} {noun}")
    return element("details", heading, element("ul", items), open=len(names) <= _OPEN_NAMES)
