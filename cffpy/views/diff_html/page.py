# SPDX-License-Identifier: MIT
"""The page: a summary, the entries, the passes side by side, what is hidden.

Everything is in the markup and can be read without scripts; page.js only filters, folds and moves.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cffpy.analysis.diff.rules import CLASSES
from cffpy.views.diff import filter_text, summary
from cffpy.views.diff_html.entries import REST, EntryList, categories
from cffpy.views.diff_html.marks import pair_marks
from cffpy.views.diff_html.passes import MAX_PAIRS, PairList, pair_key, pair_name
from cffpy.views.page_kit.document import document, files_of, footer, section
from cffpy.views.page_kit.markup import Markup, element

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from cffpy.analysis.diff.model import Comparison
    from cffpy.analysis.diff.recording import Recording

#: Names of one noise class, and lines about a damaged capture, that are shown.
_MAX_NAMES = 300
_MAX_DAMAGE = 20

#: Names of one noise class that are open from the start.
_OPEN_NAMES = 8

_KEYS = (("/", "filter"), ("j k", "move"), ("o Enter", "open"), ("Esc", "clear"))


def page(result: Comparison) -> bytes:
    """The page in UTF-8."""
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
            section("hidden", "Hidden as noise", _hidden(result)),
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
    head = element(
        "tr",
        element("td"),
        element("th", "good", scope="col", class_="good"),
        element("th", "bad", scope="col", class_="bad"),
    )
    return element(
        "table", element("thead", head), element("tbody", body), class_="captures properties"
    )


def _draw_count(recording: Recording) -> int:
    return sum(len(one.draws) for one in recording.passes.passes)


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
    return element(
        "form",
        element(
            "input",
            type="search",
            id="filter",
            placeholder="Filter: names, titles, values",
            aria_label="Filter entries by text",
            autocomplete="off",
            spellcheck="false",
        ),
        _choice("category", "Filter by category", "all categories", names, names),
        _choice("pass", "Filter by pass", "all passes", numbers, pairs),
        element("button", "Open all", type="button", id="open-all"),
        element("button", "Close all", type="button", id="close-all"),
        element("output", id="count", aria_live="polite"),
        element("span", keys, class_="keys"),
        class_="toolbar",
        role="search",
        hidden=True,
    )


def _choice(
    name: str, label: str, everything: str, values: Sequence[str], texts: Sequence[str]
) -> Markup:
    options = [element("option", everything, value="")]
    options += [
        element("option", text, value=value) for value, text in zip(values, texts, strict=True)
    ]
    return element("select", options, id=name, aria_label=label)


# -- the end --------------------------------------------------------------------------------------


def _hidden(result: Comparison) -> Markup:
    if not result.hidden:
        return element("p", "Nothing.")
    rows = []
    for noise, names in sorted(result.hidden.items()):
        rows.append(
            element(
                "tr",
                element("th", noise, scope="row"),
                element("td", f"{sum(names.values()):,}", class_="count"),
                element("td", element("p", CLASSES[noise]), _names(names)),
            )
        )
    head = [element("th", text, scope="col") for text in ("class", "count", "what")]
    note = element(
        "p", "Counted, and no entries. ", element("code", "--show CLASS"), " makes entries of them."
    )
    table = element("table", element("thead", element("tr", head)), element("tbody", rows))
    return Markup(note + table)


def _names(names: Counter[str]) -> Markup:
    items = [
        element("li", name, element("span", f" ×{count:,}", class_="count") if count > 1 else None)
        for name, count in names.most_common(_MAX_NAMES)
    ]
    if len(names) > _MAX_NAMES:
        items.append(element("li", f"and {len(names) - _MAX_NAMES:,} more ({REST})"))
    noun = "name" if len(names) == 1 else "names"
    heading = element("summary", f"{len(names):,} {noun}")
    return element("details", heading, element("ul", items), open=len(names) <= _OPEN_NAMES)
