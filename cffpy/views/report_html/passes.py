# SPDX-License-Identifier: MIT
"""The passes of a report in the page: a table of all, a section for each, drawings; no script.

Drawings are SVG: the tiles of a pass, GMEM, the graph of passes. Their colours come from the page's
styles, by classes, so that they follow light and dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.views.page_kit.document import table
from cffpy.views.page_kit.markup import Budget, Markup, element, join, text_lines
from cffpy.views.pass_cost import DIRECT
from cffpy.views.passes import colour_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cffpy.views.page_kit.markup import Child

#: Pixels of a drawing of tiles at most, and of the bar of GMEM.
_WIDTH, _HEIGHT = 640, 420
_BAR_WIDTH, _BAR_HEIGHT = 640, 26

#: Tiles up to which each one has a label.
_MOST_LABELS = 400

#: Shades of the heat map.
_SHADES = 8


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of columns (``cffpy.frame.fact_columns``)."""
    lists = {
        name: column
        if isinstance(column, list)
        else [column["values"][number] for number in column["index"]]
        for name, column in columns.items()
    }
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def scales_of(tile: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The scales of a tile's views by a fragment density map."""
    views = tile["density.views"] or []
    return [view["scale"] for view in views if view["scale"] is not None]


def tile_grid(pass_: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Markup | None:
    """The tiles of a pass to scale: order of execution, pipes, visible draws."""
    tiles = [tile for tile in rows if tile["rectangle.width"]]
    if not tiles:
        return None
    right = max(tile["rectangle.right"] for tile in tiles)
    bottom = max(tile["rectangle.bottom"] for tile in tiles)
    scale = min(_WIDTH / right, _HEIGHT / bottom) if right and bottom else 1.0
    labelled = len(tiles) <= _MOST_LABELS
    parts = [
        part
        for tile, shade in zip(tiles, _heat(tiles), strict=True)
        for part in _tile(tile, scale, shade, labelled)
    ]
    parts += _pipes(pass_, scale, right, bottom)
    width, height = round(right * scale) + 2, round(bottom * scale) + 2
    return element(
        "svg",
        parts,
        viewBox=f"-1 -1 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"{len(tiles):,} tiles of pass {pass_['pass']}, in the order of execution",
        class_="tiles",
    )


def _tile(tile: Mapping[str, Any], scale: float, shade: int | None, labelled: bool) -> list[Markup]:
    """A tile, and its number where there is room."""
    x, y, width, height = (
        round(tile[f"rectangle.{name}"] * scale, 2) for name in ("left", "top", "width", "height")
    )
    class_ = f"tile heat-{shade}" if shade is not None else "tile"
    box = {"x": x, "y": y, "width": width, "height": height}
    parts = [element("rect", element("title", _hint(tile)), class_=class_, **box)]
    if labelled and width > 16:
        middle = {"x": round(x + width / 2, 1), "y": round(y + height / 2 + 4, 1)}
        strong = " strong" if shade is not None and shade >= _SHADES // 2 else ""
        label = str(tile["tile"])
        parts.append(element("text", label, class_=f"tile-label{strong}", **middle))
    return parts


def _pipes(pass_: Mapping[str, Any], scale: float, right: int, bottom: int) -> list[Markup]:
    """Outlines of the VSC pipes."""
    size = pass_["bin_size"]
    if size is None:
        return []
    parts = []
    for pipe in pass_["pipes"]:
        left, top = pipe["x"] * size["width"], pipe["y"] * size["height"]
        width, height = pipe["width"] * size["width"], pipe["height"] * size["height"]
        box = {
            "x": round(left * scale, 2),
            "y": round(top * scale, 2),
            "width": round(max(0, min(width, right - left)) * scale, 2),
            "height": round(max(0, min(height, bottom - top)) * scale, 2),
        }
        parts.append(
            element("rect", element("title", f"VSC pipe {pipe['pipe']}"), class_="pipe", **box)
        )
    return parts


def _heat(tiles: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """A shade for each tile: by visible primitives, else by visible draws."""
    for name in ("primitives", "visible"):
        values = [tile[name] for tile in tiles]
        known = [value for value in values if value is not None]
        if known and max(known) > min(known):
            low, span = min(known), max(known) - min(known)
            return [
                None if value is None else (value - low) * (_SHADES - 1) // span for value in values
            ]
    return [None] * len(tiles)


def _hint(tile: Mapping[str, Any]) -> Markup:
    """What is known of a tile, a line each."""
    x, y, width, height = (tile[f"rectangle.{name}"] for name in ("left", "top", "width", "height"))
    cell = f"column {tile['cell.column']}, row {tile['cell.row']}"
    lines = [f"tile {tile['tile']}: {x},{y}+{width}x{height}, {cell}"]
    if tile["pipe"] is not None:
        lines.append(f"VSC pipe {tile['pipe']}, slot {tile['slot']}")
    visible = tile["visible"]
    lines.append(f"{'?' if visible is None else visible} of {tile['emitted']} draws visible")
    if tile["primitives"] is not None:
        lines.append(f"{tile['primitives']:,} visible primitives")
    for view, scale in enumerate(scales_of(tile)):
        lines.append(f"view {view}: scale {scale['x']:g} x {scale['y']:g}")
    return text_lines(lines)


def gmem_map(pass_: Mapping[str, Any], gmem_size: int | None) -> Markup | None:
    """Where the attachments of a tile lie in GMEM, to scale. ``gmem_size``: of the GPU."""
    places = [
        (int(target["gmem"], 16), target)
        for target in pass_["attachments"]
        if target["gmem"] is not None
    ]
    ends = [gmem + (target["gmem_bytes"] or 0) for gmem, target in places]
    size = max([*ends, gmem_size or 0], default=0)
    if pass_["mode"] != "gmem" or not size or not places:
        return None
    scale = _BAR_WIDTH / size
    parts = [element("rect", width=_BAR_WIDTH, height=_BAR_HEIGHT, class_="gmem-free")]
    for number, (gmem, target) in enumerate(places):
        size_text = "size unknown"
        if target["gmem_bytes"] is not None:
            size_text = f"{target['gmem_bytes']:,} bytes"
        hint = element("title", f"{target['name']}: GMEM {target['gmem']}, {size_text}")
        x, width = gmem * scale, max(2.0, (target["gmem_bytes"] or 0) * scale)
        box: dict[str, Any] = {
            "x": round(x, 2),
            "width": round(width, 2),
            "height": _BAR_HEIGHT,
        }
        parts.append(element("rect", hint, class_=f"gmem-part part-{number % 6}", **box))
        if width > 8 * len(target["name"]):
            parts.append(
                element("text", target["name"], x=str(round(x + 6, 1)), y=17, class_="gmem-label")
            )
    return element(
        "svg",
        parts,
        viewBox=f"0 0 {_BAR_WIDTH} {_BAR_HEIGHT}",
        width=_BAR_WIDTH,
        height=_BAR_HEIGHT,
        role="img",
        aria_label=f"GMEM of a tile of pass {pass_['pass']}: {size:,} bytes",
        class_="gmem",
    )


def pass_graph(resources: Mapping[str, Any], titles: Mapping[int, str]) -> Markup | None:
    """The graph of passes: from the pass that writes a resource to those that read it."""
    boxes = {index: (x, y, width, height) for index, x, y, width, height in resources["nodes"]}
    if not boxes:
        return None
    width = max(x + w for x, _, w, _ in boxes.values()) + 2
    height = max(y + h for _, y, _, h in boxes.values()) + 2
    parts = []
    for writer, reader, numbers in resources["edges"]:
        if writer in boxes and reader in boxes:
            first, last = boxes[writer], boxes[reader]
            x, y = first[0] + first[2], first[1] + first[3] // 2
            to_x, to_y = last[0], last[1] + last[3] // 2
            bend = max(20, abs(to_x - x) // 2)
            names = [resources["resources"][number] for number in numbers[:8]]
            hint = [f"{name['gpuaddr']} {', '.join(name['kinds'])}" for name in names]
            path = f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
            title = element("title", text_lines([f"pass {writer} to pass {reader}", *hint]))
            parts.append(element("path", title, d=path, class_="edge"))
    for index, (x, y, box_width, box_height) in boxes.items():
        text = titles.get(index, "")
        label = [
            element("title", text),
            element("rect", x=x, y=y, width=box_width, height=box_height, rx=4),
            element("text", f"pass {index}", x=x + 8, y=y + 16),
            element("text", _short(text), x=x + 8, y=y + 31, class_="small"),
        ]
        parts.append(element("a", label, href=f"#pass={index}", class_="node"))
    return element(
        "svg",
        parts,
        viewBox=f"-1 -1 {width} {height}",
        width=width,
        height=height,
        class_="graph",
        role="group",
        aria_label="Passes; lines lead from the pass that writes memory to those that read it",
    )


def _short(title: str) -> str:
    text = title.partition(": ")[2]
    for words in (" with hardware binning", "framebuffer "):
        text = text.replace(words, "")
    return text if len(text) <= 24 else f"{text[:23]}…"


#: Characters of the table and of all sections.
_TABLE_CHARACTERS, _CHARACTERS = 1_500_000, 5_000_000

#: Tiles in the table of a pass.
_SCALED_TILES = 200

_HEADINGS = ("pass", "submit", "what", "framebuffer", "draws", "tiles", "does", "memory", "check")

_MARKS = (("load", "loads"), ("clear", "clears"), ("store", "stores"), ("resolve", "resolves"))


def pass_table(
    passes: Sequence[Mapping[str, Any]],
    costs: Mapping[int, Mapping[str, Any]],
    findings: Mapping[int, int],
) -> Markup:
    """A row for each pass. By the number of a pass: ``costs``; ``findings``, how many it has."""
    budget = Budget(_TABLE_CHARACTERS)
    rows: list[Sequence[Child]] = []
    for pass_ in passes:
        if budget.is_spent:
            break
        cells = _row(pass_, costs.get(pass_["pass"]), findings.get(pass_["pass"], 0))
        budget.take(join(cells))
        rows.append(cells)
    note = None
    if len(rows) < len(passes):
        note = element(
            "p", f"{len(passes) - len(rows):,} more passes are not listed.", class_="note"
        )
    return join((table(_HEADINGS, rows, "passes"), note))


def _row(pass_: Mapping[str, Any], cost: Mapping[str, Any] | None, findings: int) -> list[Child]:
    mode = f" {pass_['mode']}" if pass_["mode"] else ""
    binning = ", binning" if pass_["hardware_binning"] else ""
    if binning and pass_["concurrent"] != "no":
        binning += {None: "", "yes": ", concurrent"}.get(pass_["concurrent"], ", maybe concurrent")
    markers = (
        element("div", " › ".join(pass_["markers"]), class_="note") if pass_["markers"] else None
    )
    number = element("a", str(pass_["pass"]), href=f"#pass={pass_['pass']}")
    memory = "" if cost is None else _memory(pass_["mode"], cost["memory_bytes"])
    return [
        number,
        str(pass_["submit"]),
        join((f"{pass_['kind']}{mode}{binning}", markers)),
        pass_["framebuffer_text"] if pass_["kind"] == "render" else "",
        f"{pass_['rows'][1]:,}",
        f"{pass_['tile_count']:,}" if pass_["tile_count"] else "",
        _marks(pass_),
        memory,
        str(findings) if findings else "",
    ]


def _memory(mode: str | None, moved: int) -> Child:
    """The bytes of a pass. Draws of a sysmem pass use memory directly, which no formula has."""
    if mode == "gmem":
        return bytes_text(moved)
    draws = element("span", "by draws", title=f"Not counted: {DIRECT}.")
    return join((f"{bytes_text(moved)} and ", draws)) if moved else draws


def _marks(pass_: Mapping[str, Any]) -> str:
    """What is done to attachments: ``clears color 0, depth; stores color 0``."""
    parts = []
    for kind, verb in _MARKS:
        names = dict.fromkeys(
            operation["attachment"] or "?"
            for operation in pass_["operations"]
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
        for pass_ in passes:
            if self._budget.is_spent:
                text = f"The page is full: passes from {pass_['pass']} on are in the table only."
                parts.append(element("p", text, class_="note"))
                break
            parts.append(self._budget.take(self._section(pass_)))
        return join(parts)

    def _section(self, pass_: Mapping[str, Any]) -> Markup:
        index = pass_["pass"]
        findings, cost = self._findings.get(index, ()), self._costs.get(index)
        return element(
            "article",
            element("h2", pass_["title"][0].upper() + pass_["title"][1:]),
            _facts(pass_),
            _part("Attachments", _attachments(pass_)),
            _part("Operations", _operations(pass_)),
            _part("Tiles", self._tiles(pass_)),
            _part("GMEM of a tile", _gmem(pass_, cost)),
            _part("LRZ", _lrz(self._lrz.get(index))),
            _part("Bytes moved", _cost(cost)),
            _part(
                "Findings of check",
                element("ul", findings, class_="findings") if findings else None,
            ),
            id=f"pass={index}",
            class_="pass view",
            data_pass=str(index),
        )

    def _tiles(self, pass_: Mapping[str, Any]) -> Markup | None:
        tiles = rows_of(pass_["tiles"] or {})
        grid = tile_grid(pass_, tiles)
        if grid is None:
            return None
        shown, count = len(tiles), pass_["tile_count"]
        size = "" if pass_["bin_size"] is None else f" of {_size(pass_['bin_size'], ' x ')}"
        text = f"{count:,} tiles{size}, {len(pass_['pipes']):,} VSC pipes."
        if shown < count:
            text += f" The first {shown:,} are drawn."
        text += " Numbers are the order of execution."
        if "heat-" in grid:
            text += " The stronger the colour, the more is visible in the tile."
        return join((element("p", text, class_="note"), grid, self._scales(tiles)))

    def _scales(self, tiles: Sequence[Mapping[str, Any]]) -> Markup | None:
        """Scales of a fragment density map, the tiles of each together."""
        tiles_of: dict[str, list[str]] = {}
        for tile in tiles[:_SCALED_TILES]:
            scales = scales_of(tile)
            if scales:
                text = ", ".join(f"{one['x']:g} x {one['y']:g}" for one in scales)
                tiles_of.setdefault(text, []).append(str(tile["tile"]))
        if not tiles_of:
            return None
        rows = [(scale, ", ".join(tiles)) for scale, tiles in tiles_of.items()]
        return table(("density scale", "tiles"), rows)


def _part(heading: str, content: Markup | None) -> Markup | None:
    return None if content is None else element("section", element("h3", heading), content)


def _facts(pass_: Mapping[str, Any]) -> Markup:
    rows: list[tuple[str, Child]] = []
    if pass_["markers"]:
        rows.append(("markers", " › ".join(pass_["markers"])))
    if pass_["render_area"] is not None:
        area = pass_["render_area"]
        rows.append(("render area", f"{area['left']},{area['top']}+{_size(area, 'x')}"))
    if pass_["events_before"]:
        texts = [
            f"{name} ×{count:,}" if count > 1 else name
            for name, count in pass_["events_before"].items()
        ]
        rows.append(("before it", ", ".join(texts)))
    vertices = pass_["vertices"]
    if vertices["number"]:
        least = "at least " if vertices["unknown"] else ""
        rows.append(("vertices or indices", f"{least}{vertices['number']:,}"))
    elif vertices["unknown"]:
        rows.append(("vertices or indices", "unknown"))
    if pass_["visible_primitives"]:
        rows.append(("visible primitives", f"{pass_['visible_primitives']:,}"))
    ends = (("from", pass_["first"]), ("to", pass_["last"]))
    rows += [(name, element("code", place_text(place))) for name, place in ends]
    rows += [("unknown", text) for text in pass_["unknown"]]
    cells = [(element("dt", name), element("dd", value)) for name, value in rows]
    return element("dl", cells, class_="facts")


def _size(size: Mapping[str, Any], between: str) -> str:
    return f"{size['width']}{between}{size['height']}"


#: What places call streams that are not called by their kind.
_CALLED = {"group": "group {}"}


def place_text(place: Mapping[str, Any]) -> str:
    """A packet's place as commands print it."""
    calls = [
        f" > {_CALLED.get(part['kind'], part['kind']).format(part['group'])} {part['gpuaddr']}"
        for part in place["path"][1:]
    ]
    offset = "" if place["file_offset"] is None else f" +{place['file_offset']}"
    return f"stream {place['stream']}{''.join(calls)} > {place['gpuaddr']}{offset}"


def _attachments(pass_: Mapping[str, Any]) -> Markup | None:
    rows = []
    for target in pass_["attachments"]:
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


def _operations(pass_: Mapping[str, Any]) -> Markup | None:
    rows = []
    for operation in pass_["operations"]:
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


def _gmem(pass_: Mapping[str, Any], cost: Mapping[str, Any] | None) -> Markup | None:
    drawing = gmem_map(pass_, None if cost is None else cost["gmem_size"])
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
            operation["kind"],
            operation["attachment"],
            f"{operation['times']:,}",
            f"{operation['pixels']:,} pixels × {operation['bytes_a_pixel']} bytes"
            f" × {operation['samples']} samples",
            f"{operation['bytes']:,}",
        )
        for operation in cost["operations"]
    ]
    headings = ("operation", "attachment", "times", "formula", "bytes")
    note = "By formula: what draws read and write is not counted, nor what compression saves."
    return join((element("p", text), table(headings, rows), element("p", note, class_="note")))
