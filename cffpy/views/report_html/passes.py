# SPDX-License-Identifier: MIT
"""The passes of a report in the page: a table of all, and a section for each; without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.views.page_kit.markup import Budget, Markup, element, join
from cffpy.views.pass_cost import DIRECT
from cffpy.views.passes import colour_texts
from cffpy.views.report_html.drawings import gmem_map, rows_of, scales_of, tile_grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cffpy.views.page_kit.markup import Child

#: Characters of the table and of all sections.
_TABLE_CHARACTERS, _CHARACTERS = 1_500_000, 5_000_000

#: Tiles in the table of a pass.
_SCALED_TILES = 200

_HEADINGS = ("pass", "submit", "what", "framebuffer", "draws", "tiles", "does", "memory", "check")

_MARKS = (("load", "loads"), ("clear", "clears"), ("store", "stores"), ("resolve", "resolves"))


def table(headings: Sequence[str], rows: Iterable[Sequence[Child]], class_: str = "") -> Markup:
    """A table; the first cell of a row is its heading."""
    head = [element("th", text, scope="col") for text in headings]
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    inner = element(
        "table",
        element("thead", element("tr", head)),
        element("tbody", body),
        class_=class_ or None,
    )
    return element(
        "div", inner, class_="scroll", tabindex="0", role="group", aria_label=headings[0]
    )


def pass_table(
    passes: Sequence[Mapping[str, Any]],
    costs: Mapping[int, Mapping[str, Any]],
    findings: Mapping[int, int],
) -> Markup:
    """A row for each pass. By the number of a pass: ``costs``; ``findings``, how many it has."""
    budget = Budget(_TABLE_CHARACTERS)
    rows: list[Sequence[Child]] = []
    for one in passes:
        if budget.is_spent:
            break
        cells = _row(one, costs.get(one["pass"]), findings.get(one["pass"], 0))
        budget.take(join(cells))
        rows.append(cells)
    note = None
    if len(rows) < len(passes):
        note = element(
            "p", f"{len(passes) - len(rows):,} more passes are not listed.", class_="note"
        )
    return join((table(_HEADINGS, rows, "passes"), note))


def _row(one: Mapping[str, Any], cost: Mapping[str, Any] | None, findings: int) -> list[Child]:
    mode = f" {one['mode']}" if one["mode"] else ""
    binning = ", binning" if one["hardware_binning"] else ""
    if binning and one["concurrent"] != "no":
        binning += {None: "", "yes": ", concurrent"}.get(one["concurrent"], ", maybe concurrent")
    markers = element("div", " › ".join(one["markers"]), class_="note") if one["markers"] else None
    number = element("a", str(one["pass"]), href=f"#pass={one['pass']}")
    memory = "" if cost is None else _memory(one["mode"], cost["memory_bytes"])
    return [
        number,
        str(one["submit"]),
        join((f"{one['kind']}{mode}{binning}", markers)),
        one["framebuffer_text"] if one["kind"] == "render" else "",
        f"{one['rows'][1]:,}",
        f"{one['tile_count']:,}" if one["tile_count"] else "",
        _marks(one),
        memory,
        str(findings) if findings else "",
    ]


def _memory(mode: str | None, moved: int) -> Child:
    """The bytes of a pass. Draws of a sysmem pass use memory directly, which no formula has."""
    if mode == "gmem":
        return bytes_text(moved)
    draws = element("span", "by draws", title=f"Not counted: {DIRECT}.")
    return join((f"{bytes_text(moved)} and ", draws)) if moved else draws


def _marks(one: Mapping[str, Any]) -> str:
    """What is done to attachments: ``clears color 0, depth; stores color 0``."""
    parts = []
    for kind, verb in _MARKS:
        names = dict.fromkeys(
            operation["attachment"] or "?"
            for operation in one["operations"]
            if mark_of(operation) == kind
        )
        if names:
            parts.append(f"{verb} {', '.join(names)}")
    return "; ".join(parts)


def mark_of(operation: Mapping[str, Any]) -> str:
    """What an operation does, as marks tell it."""
    return "resolve" if operation["resolves"] else str(operation["kind"])


def bytes_text(number: int) -> str:
    """A number of bytes for people."""
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{number:,} B" if unit == "B" else f"{value:.1f} {unit}"


class PassSections:
    """Renders a section for each pass until the budget is spent."""

    def __init__(
        self,
        costs: Mapping[int, Mapping[str, Any]],
        lrz: Mapping[int, Mapping[str, Any]],
        findings: Mapping[int, Sequence[Markup]],
    ) -> None:
        """What there is of a pass, by its number."""
        self._costs = costs
        self._lrz = lrz
        self._findings = findings
        self._budget = Budget(_CHARACTERS)

    def render(self, passes: Sequence[Mapping[str, Any]]) -> Markup:
        """All sections."""
        parts = []
        for one in passes:
            if self._budget.is_spent:
                text = f"The page is full: passes from {one['pass']} on are in the table only."
                parts.append(element("p", text, class_="note"))
                break
            parts.append(self._budget.take(self._section(one)))
        return join(parts)

    def _section(self, one: Mapping[str, Any]) -> Markup:
        index = one["pass"]
        found, cost = self._findings.get(index, ()), self._costs.get(index)
        return element(
            "article",
            element("h2", one["title"][0].upper() + one["title"][1:]),
            _facts(one),
            _part("Attachments", _attachments(one)),
            _part("Operations", _operations(one)),
            _part("Tiles", self._tiles(one)),
            _part("GMEM of a tile", _gmem(one, cost)),
            _part("LRZ", _lrz(self._lrz.get(index))),
            _part("Bytes moved", _cost(cost)),
            _part("Findings of check", element("ul", found, class_="findings") if found else None),
            id=f"pass={index}",
            class_="pass view",
            data_pass=str(index),
        )

    def _tiles(self, one: Mapping[str, Any]) -> Markup | None:
        tiles = rows_of(one["tiles"] or {})
        grid = tile_grid(one, tiles)
        if grid is None:
            return None
        shown, count = len(tiles), one["tile_count"]
        size = "" if one["bin_size"] is None else f" of {_size(one['bin_size'], ' x ')}"
        text = f"{count:,} tiles{size}, {len(one['pipes']):,} VSC pipes."
        if shown < count:
            text += f" The first {shown:,} are drawn."
        text += " Numbers are the order of execution."
        if "heat-" in grid:
            text += " The stronger the colour, the more is visible in the tile."
        return join((element("p", text, class_="note"), grid, self._scales(tiles)))

    def _scales(self, tiles: Sequence[Mapping[str, Any]]) -> Markup | None:
        """Scales of a fragment density map, the tiles of each together."""
        found: dict[str, list[str]] = {}
        for tile in tiles[:_SCALED_TILES]:
            scales = scales_of(tile)
            if scales:
                text = ", ".join(f"{one['x']:g} x {one['y']:g}" for one in scales)
                found.setdefault(text, []).append(str(tile["tile"]))
        if not found:
            return None
        rows = [(scale, ", ".join(tiles)) for scale, tiles in found.items()]
        return table(("density scale", "tiles"), rows)


def _part(heading: str, content: Markup | None) -> Markup | None:
    return None if content is None else element("section", element("h3", heading), content)


def _facts(one: Mapping[str, Any]) -> Markup:
    rows: list[tuple[str, Child]] = []
    if one["markers"]:
        rows.append(("markers", " › ".join(one["markers"])))
    if one["render_area"] is not None:
        area = one["render_area"]
        rows.append(("render area", f"{area['left']},{area['top']}+{_size(area, 'x')}"))
    if one["events_before"]:
        texts = [
            f"{name} ×{count:,}" if count > 1 else name
            for name, count in one["events_before"].items()
        ]
        rows.append(("before it", ", ".join(texts)))
    vertices = one["vertices"]
    if vertices["number"]:
        least = "at least " if vertices["unknown"] else ""
        rows.append(("vertices or indices", f"{least}{vertices['number']:,}"))
    elif vertices["unknown"]:
        rows.append(("vertices or indices", "unknown"))
    if one["visible_primitives"]:
        rows.append(("visible primitives", f"{one['visible_primitives']:,}"))
    ends = (("from", one["first"]), ("to", one["last"]))
    rows += [(name, element("code", place_text(place))) for name, place in ends]
    rows += [("unknown", text) for text in one["unknown"]]
    cells = [(element("dt", name), element("dd", value)) for name, value in rows]
    return element("dl", cells, class_="facts")


def _size(one: Mapping[str, Any], between: str) -> str:
    return f"{one['width']}{between}{one['height']}"


#: What places call streams that are not called by their kind.
_CALLED = {"group": "group {}"}


def place_text(place: Mapping[str, Any]) -> str:
    """A packet's place as commands print it."""
    calls = [
        f" > {_CALLED.get(one['kind'], one['kind']).format(one['group'])} {one['gpuaddr']}"
        for one in place["path"][1:]
    ]
    offset = "" if place["file_offset"] is None else f" +{place['file_offset']}"
    return f"stream {place['stream']}{''.join(calls)} > {place['gpuaddr']}{offset}"


def _attachments(one: Mapping[str, Any]) -> Markup | None:
    rows = []
    for target in one["attachments"]:
        flags = f", flags {target['flags']}" if target["flags"] else ""
        meant = colour_texts(target["swap"], target["srgb"])
        rows.append(
            (
                target["name"],
                ", ".join((target["format"] or "unknown", *meant)),
                " ".join(
                    part for part in (target["tiling"], "UBWC" if target["ubwc"] else "") if part
                ),
                element("code", (target["address"] or "unknown") + flags),
                "" if target["pitch"] is None else f"{target['pitch']:,}",
                "" if target["samples"] is None else str(target["samples"]),
                "" if target["gmem"] is None else element("code", target["gmem"]),
            )
        )
    headings = ("attachment", "format", "layout", "address", "pitch", "samples", "GMEM")
    return table(headings, rows) if rows else None


def _operations(one: Mapping[str, Any]) -> Markup | None:
    rows = []
    for operation in one["operations"]:
        times = f"{operation['times']:,}"
        if operation["in_binning"]:
            times += f" + {operation['in_binning']:,} in the binning run"
        rows.append(
            (
                element("span", mark_of(operation), class_=f"mark mark-{mark_of(operation)}"),
                operation["attachment"] or "unknown",
                operation["text"],
                times,
                element("code", place_text(operation["place"])),
            )
        )
    headings = ("operation", "attachment", "how", "times", "first packet")
    return table(headings, rows) if rows else None


def _gmem(one: Mapping[str, Any], cost: Mapping[str, Any] | None) -> Markup | None:
    drawing = gmem_map(one, None if cost is None else cost["gmem_size"])
    if drawing is None or cost is None:
        return drawing
    used, size = cost["gmem_used"], cost["gmem_size"]
    if used is None:
        return drawing
    of = "" if not size else f" of {size:,}, {100 * used / size:.0f} %"
    return join((element("p", f"{used:,} bytes{of}", class_="note"), drawing))


def _lrz(lrz: Mapping[str, Any] | None) -> Markup | None:
    if lrz is None or not lrz["tests_depth"]:
        return None
    lost = None
    if lrz["lost_by"] is not None:
        link = element(
            "a", f"draw {lrz['lost_by']}", href=f"#pass={lrz['pass']}&draw={lrz['lost_by']}"
        )
        lost = element(
            "p", "Lost by ", link, f": {lrz['lost_why']['text'] if lrz['lost_why'] else 'unknown'}"
        )
    notes = [element("p", note, class_="note") for note in lrz["notes"]]
    return join((element("p", lrz["buffer"]), element("p", lrz["summary"]), lost, notes))


def _cost(cost: Mapping[str, Any] | None) -> Markup | None:
    if cost is None or not cost["operations"]:
        return None
    text = f"{cost['memory_bytes']:,} bytes to and from memory, {100 * cost['share']:.1f} % of all"
    rows = [
        (
            one["kind"],
            one["attachment"],
            f"{one['times']:,}",
            f"{one['pixels']:,} pixels × {one['bytes_a_pixel']} bytes × {one['samples']} samples",
            f"{one['bytes']:,}",
        )
        for one in cost["operations"]
    ]
    headings = ("operation", "attachment", "times", "formula", "bytes")
    note = "By formula: what draws read and write is not counted, nor what compression saves."
    return join((element("p", text), table(headings, rows), element("p", note, class_="note")))
