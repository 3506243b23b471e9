# SPDX-License-Identifier: MIT
"""The page as a whole: what is read without scripts, the places that the script fills, the data.

Passes, findings, differences and the graph of passes are markup. The script shows one of them at a
time, and adds the timeline, the list of draws, the search, and the state of a draw. Its data are
parts of the document: JSON, compressed by deflate (RFC 1950) and written in base64 into script
elements of a type that browsers do not run.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

from cffpy.views.page_kit.document import (
    files_of,
    footer,
    kit_files,
    pieces,
    problem_list,
    search_bar,
    search_field,
    section,
    table,
)
from cffpy.views.page_kit.markup import Budget, Markup, element, join, text_lines
from cffpy.views.report_html.passes import PassSections, pass_graph, pass_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cffpy.views.page_kit.markup import Child


#: Members that are unpacked when they are asked for; all others are the part "core". What does not
#: fit into the page is left out from the last one on.
PARTS = ("shaders", "resources", "bindings", "registers", "pictures", "dump")

#: Bytes of all data in the page, in base64. The page has 40 MB at most; its markup has a budget
#: of its own.
MAX_BYTES = 32_000_000

_TYPE = "application/octet-stream"

#: Of compression: the highest takes three times as long, and saves 2 %.
_LEVEL = 7

#: Compressed bytes that become base64 at once, in whole groups of 3.
_ENCODED = 3 << 14

#: Items of a list whose text is made at once.
_ITEMS = 64


class Packed:
    """A member of the document as the page has it."""

    __slots__ = ("text",)

    def __init__(self, part: object) -> None:
        #: Of the element, in pieces.
        self.text = _packed(part)


def data_blocks(
    document: Mapping[str, Any], most: int = MAX_BYTES
) -> tuple[list[list[bytes]], list[str]]:
    """The elements in UTF-8, each in pieces, and the names of the members that did not fit.

    Draws do not fit where "core" does not: then the page has its markup only.
    """
    names = [name for name in PARTS if name in document]
    core = {name: part for name, part in document.items() if name not in PARTS}
    blocks: list[list[bytes]] = []
    missing: list[str] = []
    for name, part in (("core", core), *((name, document[name]) for name in names)):
        text = part.text if isinstance(part, Packed) else _packed(part)
        length = sum(map(len, text))
        if length <= most:
            most -= length
            head, end, _ = element("script", type=_TYPE, id=f"data-{name}").partition("</script>")
            blocks.append([head.encode(), *text, end.encode()])
        elif name == "core":
            return [], ["draws", *names]
        else:
            missing.append(name)
    return blocks, missing


def _packed(part: object) -> list[bytes]:
    """The part in base64, in pieces, as they become part of the page."""
    compressor = zlib.compressobj(_LEVEL)
    packed = bytearray()
    text: list[bytes] = []
    for piece in _pieces(part):
        packed += compressor.compress(piece.encode("ascii"))
        if len(packed) >= _ENCODED:
            text.append(base64.b64encode(packed[:_ENCODED]))
            del packed[:_ENCODED]
    packed += compressor.flush()
    text.append(base64.b64encode(packed))
    return text


def _pieces(part: Any) -> Iterator[str]:  # noqa: ANN401
    """The JSON text of a part; its text as a whole is several times as large as the page."""
    if isinstance(part, dict):
        separator = "{"
        for key, value in part.items():
            yield f"{separator}{_json(str(key))}:"
            yield from _pieces(value)
            separator = ","
        yield "{}" if not part else "}"
    elif hasattr(part, "text"):  # a list as its JSON text
        yield part.text
    elif (isinstance(part, list) or hasattr(part, "tolist")) and len(part) > _ITEMS:
        separator = "["
        if isinstance(part, list) and _has_columns(part[0]):
            for item in part:
                yield separator
                yield from _pieces(item)
                separator = ","
            yield "]"
            return
        for start in range(0, len(part), _ITEMS):
            yield separator + _json(part[start : start + _ITEMS])[1:-1]
            separator = ","
        yield "]"
    else:
        yield _json(part)


def _has_columns(item: object) -> bool:
    return isinstance(item, dict) and any(hasattr(part, "tolist") for part in item.values())


def _json(part: object) -> str:
    return json.dumps(
        part, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=_listed
    )


def _listed(column: Any) -> Any:  # noqa: ANN401
    """A compact column as a list."""
    return column.tolist()


#: The modules of the script, in the order in which they need each other.
_SCRIPTS = (
    "report_data.js",
    "state.js",
    "filter.js",
    "filter_names.js",
    "timeline.js",
    "draw_list.js",
    "tables.js",
    "pictures.js",
    "dump_page.js",
    "draw_page.js",
    "shaders.js",
    "resources.js",
    "app.js",
)

#: Characters of findings and of differences.
_FINDING_CHARACTERS, _DIFFERENCE_CHARACTERS = 1_000_000, 2_000_000

_KEYS = (
    ("/", "search"),
    ("j k", "next, previous draw"),
    ("n p", "next, previous pass"),
    ("c b a", "changed, since the pass began, all registers"),
    ("o", "all passes"),
    ("Esc", "clear the search"),
)


#: What of the filter language the search has.
_SEARCH = (
    "Words leave the draws that have all of them.",
    "Expressions are those of cffpy draws --where: comparisons, in, ~, arithmetic, and, or, not,"
    " all, any, changed, written, unknown, marker, sampled; registers, fields, draw., pass.,"
    " target., source., destination., texture., sampler., storage., draw.shaders.FS.full_registers",
    "Not here: tile.",
)


def page(report: Mapping[str, Any], most: int = MAX_BYTES) -> bytes:
    """The page in UTF-8; as for ``page_pieces``."""
    return b"".join(page_pieces(report, most))


def page_pieces(
    report: Mapping[str, Any],
    most: int = MAX_BYTES,
    start: tuple[int, int | None] | None = None,
) -> list[bytes]:
    """The page in UTF-8, in pieces. ``report``: the document. ``most``: bytes of data in it.

    ``start``: the pass, and its draw, that the script shows first.
    """
    blocks, missing = data_blocks(report, most)
    passes = report["passes"]
    by_pass: dict[int, list[Markup]] = {}
    budget = Budget(_FINDING_CHARACTERS)
    for finding in report["findings"]:
        if finding["pass"] is not None and not budget.is_spent:
            item = budget.take(_finding(finding))
            by_pass.setdefault(finding["pass"], []).append(item)
    counts = {index: len(items) for index, items in by_pass.items()}
    costs = {row["pass"]: row for row in report["costs"]}
    lrz = {row["pass"]: row for row in report["lrz"]}
    sections = PassSections(costs, lrz, by_pass)
    body = (
        element("a", "Skip to the content", href="#content", class_="skip"),
        _header(report),
        _toolbar(),
        element("section", id="timeline", aria_label="Timeline", hidden=True),
        element(
            "div",
            element("nav", element("div", id="draws", hidden=True), aria_label="Passes and draws"),
            element(
                "main",
                _overview(report, missing, pass_table(passes, costs, counts)),
                _findings(report["findings"]),
                _differences(report["comparison"]),
                _resources(report),
                element("article", id="shaders", class_="view", hidden=True),
                sections.render(passes),
                element("article", id="draw", class_="view", hidden=True),
                element("article", id="packet", class_="view", hidden=True),
                id="content",
                tabindex="-1",
                data_start=_start_text(start),
            ),
            class_="columns",
        ),
        footer(),
    )
    return pieces(
        f"{report['file']} – cffpy report",
        body,
        [*kit_files("report.css"), *files_of(__file__, "report.css")],
        [*kit_files("dom.js", "virtual_list.js"), *files_of(__file__, *_SCRIPTS)],
        [piece for block in blocks for piece in block],
    )


def _start_text(start: tuple[int, int | None] | None) -> str | None:
    """The place as the fragment of the page's address has it."""
    if start is None:
        return None
    index, draw = start
    return f"pass={index}" if draw is None else f"pass={index}&draw={draw}"


def _header(report: Mapping[str, Any]) -> Markup:
    draws = sum(pass_["rows"][1] for pass_ in report["passes"])
    counts = [
        _count(len(report["submits"]), "submit", "submits"),
        _count(len(report["passes"]), "pass", "passes"),
        _count(draws, "draw", "draws"),
    ]
    links = [("overview", "Passes"), ("findings", "Findings")]
    if report["comparison"] is not None:
        links.append(("differences", "Differences"))
    links.append(("resources", "Resources"))
    tabs = [element("a", text, href=f"#{name}") for name, text in links]
    tabs.append(element("a", "Shaders", href="#shaders", hidden=True, class_="scripted"))
    return element(
        "header",
        element("h1", report["file"]),
        element("p", f"{report['gpu'] or 'unknown GPU'} · {', '.join(counts)}", class_="note"),
        element("nav", tabs, class_="tabs", aria_label="Views"),
        class_="top",
    )


def _count(number: int, noun: str, more: str) -> str:
    return f"{number:,} {noun if number == 1 else more}"


def _paragraph(text: str) -> Markup:
    return element("p", text)


def _toolbar() -> Markup:
    """What needs the script; it shows this once it runs."""
    keys = [
        element("div", element("dt", element("kbd", key)), element("dd", does))
        for key, does in _KEYS
    ]
    return search_bar(
        search_field(
            "search",
            "words, or RB_DEPTH_CNTL.ZFUNC == FUNC_LESS and draw.vertices > 3",
            "Search draws: words, or an expression as for --where",
            "search-problem",
        ),
        element("output", id="count", aria_live="polite"),
        element(
            "details",
            element("summary", "Search, keys"),
            element("div", map(_paragraph, _SEARCH), element("dl", keys), class_="help"),
            class_="keys",
        ),
        element("p", id="search-problem", role="alert", class_="bad"),
    )


def _problem(problem: Mapping[str, Any]) -> str:
    """The text and the offset, as commands print them."""
    offset = problem["file_offset"]
    return str(problem["text"]) + ("" if offset is None else f" (at file offset {offset})")


def _overview(report: Mapping[str, Any], missing: Sequence[str], passes: Markup) -> Markup:
    text = f"Left out, because the page would be too large: {', '.join(missing)}."
    notes = (text,) if missing else ()
    return element(
        "article",
        element("h2", "Passes"),
        problem_list(map(_problem, report["problems"]), report["cut"], *notes),
        element(
            "noscript",
            element("p", "Draws, their state and the timeline need JavaScript.", class_="note"),
        ),
        passes,
        id="overview",
        class_="view",
    )


# -- findings, differences, resources -------------------------------------------------------------


def _finding(finding: Mapping[str, Any]) -> Markup:
    """An item of a list."""
    times = f" ({finding['count']:,} times)" if finding["count"] > 1 else ""
    where = None
    if finding["pass"] is not None:
        draw = "" if finding["draw"] is None else f"&draw={finding['draw']}"
        name = f"pass {finding['pass']}" if not draw else f"p{finding['pass']}:{finding['draw']}"
        where = join((element("a", name, href=f"#pass={finding['pass']}{draw}"), ": "))
    return element(
        "li",
        element("span", finding["severity"], class_=f"severity {finding['severity']}"),
        " ",
        element("b", f"{finding['id']} {finding['name']}"),
        " ",
        where,
        finding["text"] + times,
        element("p", finding["why"], " ", finding["advice"], class_="note"),
    )


def _findings(findings: Sequence[Mapping[str, Any]]) -> Markup:
    budget = Budget(_FINDING_CHARACTERS)
    items: list[Markup] = []
    for finding in findings:
        if budget.is_spent:
            text = f"{len(findings) - len(items):,} more findings are not shown."
            items.append(element("li", text, class_="note"))
            break
        items.append(budget.take(_finding(finding)))
    content = element("ul", items, class_="findings") if items else element("p", "None.")
    return element(
        "article", section("findings-of-check", "Findings of check", content), **_view("findings")
    )


def _view(name: str) -> dict[str, str]:
    return {"id": name, "class_": "view"}


def _differences(comparison: Mapping[str, Any] | None) -> Markup | None:
    if comparison is None:
        return None
    budget = Budget(_DIFFERENCE_CHARACTERS)
    items = []
    for entry in comparison["entries"]:
        if budget.is_spent:
            items.append(element("p", "The page is full: more differences are not shown."))
            break
        items.append(budget.take(_entry(entry)))
    return element(
        "article",
        element("h2", f"Differences from {comparison['other']}"),
        element("p", comparison["summary"]),
        [element("p", text, class_="bad") for text in comparison["missing"]],
        items,
        **_view("differences"),
    )


def _entry(entry: Mapping[str, Any]) -> Markup:
    rows: list[tuple[Child, ...]] = [
        (name, element("span", other, class_="good"), element("span", here, class_="bad"))
        for name, other, here, _ in entry["fields"]
    ]
    details = [line for field in entry["fields"] for line in field[3]]
    fields = table(("field", "other", "this capture"), rows) if rows else None
    return element(
        "details",
        element("summary", entry["title"]),
        element("p", "At ", join(_extents(entry)), class_="note") if entry["extents"] else None,
        fields,
        element("p", f"{entry['more']:,} more fields.", class_="note") if entry["more"] else None,
        element("pre", text_lines(details, 20_000), class_="listing") if details else None,
        map(_entry, entry["consequences"]),
        class_="entry",
    )


def _extents(entry: Mapping[str, Any]) -> list[Markup]:
    links = []
    for index, first, last in entry["extents"]:
        if index < 0:
            links.append(element("span", "a pass that this capture lacks "))
        elif first < 0:
            links.append(element("a", f"pass {index}", href=f"#pass={index}"))
        else:
            text = f"draw {first}" if first == last else f"draws {first} to {last}"
            links.append(element("a", f"{text} of the capture", href=f"#row={first}"))
        links.append(Markup(" "))
    return links


def _resources(report: Mapping[str, Any]) -> Markup:
    resources = report["resources"]
    titles = {pass_["pass"]: pass_["title"] for pass_ in report["passes"]}
    graph = pass_graph(resources, titles)
    note = "No pass reads what another writes."
    if graph is not None:
        note = "Lines lead from the pass that writes memory to the passes that read it."
    return element(
        "article",
        element("h2", "Resources"),
        element("p", note, class_="note")
        if graph
        else element("p", "No pass reads what another writes."),
        element("div", graph, class_="scroll", tabindex="0") if graph else None,
        element("div", id="resource-table"),
        **_view("resources"),
    )
