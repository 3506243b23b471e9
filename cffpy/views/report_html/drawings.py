# SPDX-License-Identifier: MIT
"""Drawings of a report as SVG in the page: the tiles of a pass, GMEM, the graph of passes.

Colours come from the page's styles, by classes, so that they follow light and dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.views.page_kit.markup import Markup, element, text_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def tile_grid(one: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Markup | None:
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
    parts += _pipes(one, scale, right, bottom)
    width, height = round(right * scale) + 2, round(bottom * scale) + 2
    return element(
        "svg",
        parts,
        viewBox=f"-1 -1 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"{len(tiles):,} tiles of pass {one['pass']}, in the order of execution",
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


def _pipes(one: Mapping[str, Any], scale: float, right: int, bottom: int) -> list[Markup]:
    """Outlines of the VSC pipes."""
    size = one["bin_size"]
    if size is None:
        return []
    parts = []
    for pipe in one["pipes"]:
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


def gmem_map(one: Mapping[str, Any], gmem_size: int | None) -> Markup | None:
    """Where the attachments of a tile lie in GMEM, to scale. ``gmem_size``: of the GPU."""
    places = [
        (int(target["gmem"], 16), target)
        for target in one["attachments"]
        if target["gmem"] is not None
    ]
    ends = [gmem + (target["gmem_bytes"] or 0) for gmem, target in places]
    size = max([*ends, gmem_size or 0], default=0)
    if one["mode"] != "gmem" or not size or not places:
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
        aria_label=f"GMEM of a tile of pass {one['pass']}: {size:,} bytes",
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
    for one, other, numbers in resources["edges"]:
        if one in boxes and other in boxes:
            first, last = boxes[one], boxes[other]
            x, y = first[0] + first[2], first[1] + first[3] // 2
            to_x, to_y = last[0], last[1] + last[3] // 2
            bend = max(20, abs(to_x - x) // 2)
            names = [resources["resources"][number] for number in numbers[:8]]
            hint = [f"{name['gpuaddr']} {', '.join(name['kinds'])}" for name in names]
            path = f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
            title = element("title", text_lines([f"pass {one} to pass {other}", *hint]))
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
