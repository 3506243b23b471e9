# SPDX-License-Identifier: MIT
"""The page: a summary, the entries, the passes side by side, what is hidden.

Everything is in the markup and can be read without scripts; page.js only filters, folds and moves.
The page may run and show nothing but its own script and styles: its policy names their digests.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cffpy._version import __version__
from cffpy.analysis.diff.rules import CLASSES
from cffpy.views.diff import summary
from cffpy.views.diff_html.entries import REST, EntryList, categories
from cffpy.views.diff_html.marks import pair_marks
from cffpy.views.diff_html.markup import Markup, element
from cffpy.views.diff_html.passes import MAX_PAIRS, PairList, pair_key, pair_name

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from cffpy.analysis.diff.model import Comparison, Recording

#: Names of one noise class, and lines about a damaged capture, that are shown.
_MAX_NAMES = 300
_MAX_DAMAGE = 20

#: Names of one noise class that are open from the start.
_OPEN_NAMES = 8

_KEYS = (("/", "filter"), ("j k", "move"), ("o Enter", "open"), ("Esc", "clear"))


def page(result: Comparison) -> bytes:
    """The page in UTF-8."""
    style, script = _file("page.css"), _file("page.js")
    title = " → ".join(os.path.basename(one.name) for one in (result.good, result.bad))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"cffpy {__version__}"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{title} – cffpy diff"),
        element("style", Markup(style)),
    )
    pairs = result.pairs[:MAX_PAIRS]
    entries = EntryList({pair_key(pair): number for number, pair in enumerate(pairs)})
    differences = entries.render(result.entries)
    pair_list = PairList(pair_marks(result.entries), entries.labels)
    body = element(
        "body",
        element("header", element("h1", summary(result)), _captures(result), class_="top"),
        _toolbar(result) if result.entries else None,
        element(
            "main",
            _section("differences", "Differences", differences) if result.entries else None,
            _section("passes", "Passes and draws", pair_list.render(result.pairs)),
            _section("hidden", "Hidden as noise", _hidden(result)),
        ),
        element("footer", element("p", f"cffpy {__version__}")),
        element("script", Markup(script)),
    )
    text = f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
    return text.encode("utf-8")


def _file(name: str) -> str:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none';"
        f" style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )


def _digest(text: str) -> str:
    import base64
    import hashlib

    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _section(name: str, heading: str, *content: Markup) -> Markup:
    title = element("h2", heading, id=f"{name}-heading")
    return element("section", title, content, id=name, aria_labelledby=f"{name}-heading")


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
    return sum(len(one.program_draws) for one in recording.passes.passes)


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
