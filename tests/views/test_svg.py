# SPDX-License-Identifier: MIT
"""Drawings: well-formed, bounded, escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.queries import find_passes
from cffpy.container.open import Content
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Pass, Pipe, Tile
from cffpy.views import tiles as tiles_view
from cffpy.views.model_documents import csv_columns, csv_rows, tiles_document
from cffpy.views.svg import ColourScale, Svg, number, pipe_colour
from cffpy.views.tiles import drawing, table
from tests.tile_streams import NewTile, Stream, View, saying

NAME = "{http://www.w3.org/2000/svg}"


def parsed(svg: Svg) -> ElementTree.Element:
    return ElementTree.fromstring("\n".join(svg.lines()))


@given(st.text(), st.text())
def test_any_text(title: str, content: str) -> None:
    svg = Svg(10, 10, title)
    svg.text(1, 2, content)
    svg.rectangle(0, 0, 1, 1, fill=content, hint=content)
    root = parsed(svg)
    (text,) = root.findall(f"{NAME}text")
    if content.isprintable():
        assert text.text or content == ""
        assert (text.text or "") == content


def test_control_characters_are_replaced() -> None:
    svg = Svg(1, 1, "a\x00b")
    assert parsed(svg)[0].text == "a\ufffdb"


def test_elements() -> None:
    svg = Svg(100, 50, "t")
    svg.rectangle(1, 2, 3, -4, stroke="#123456", dash="4 2")
    svg.line([(0, 0), (1.005, 2.5)])
    root = parsed(svg)
    assert root.attrib["viewBox"] == "0 0 100 50"
    rectangle = root.findall(f"{NAME}rect")[1]
    assert rectangle.attrib["height"] == "0"
    assert rectangle.attrib["stroke-dasharray"] == "4 2"
    (line,) = root.findall(f"{NAME}polyline")
    assert line.attrib["points"] in ("0,0 1,2.5", "0,0 1.01,2.5")


def test_numbers() -> None:
    assert [number(value) for value in (0, 10, 1.5, 1 / 3, 100.0)] == [
        "0",
        "10",
        "1.5",
        "0.33",
        "100",
    ]


def test_colours() -> None:
    scale = ColourScale(0, 10)
    assert len({scale.colour(value) for value in range(11)}) == 11
    assert scale.colour(-5) == scale.colour(0)
    assert scale.colour(50) == scale.colour(10)
    assert scale.ink(0) != scale.ink(10)
    assert ColourScale(3, 3).colour(3) == scale.colour(0)


def test_legend_shows_the_ends() -> None:
    svg = Svg(100, 100, "t")
    ColourScale(2, 40).legend(svg, 0, 0, 96, "draws")
    texts = [element.text for element in parsed(svg).findall(f"{NAME}text")]
    assert texts == ["draws", "2", "40"]


def test_pipes_have_colours_of_their_own() -> None:
    assert len({pipe_colour(position) for position in range(32)}) == 32


def test_scales_and_follows_a_dark_page() -> None:
    svg = Svg(100, 50, "t")
    svg.text(1, 2, "x")
    root = parsed(svg)
    assert root.attrib["viewBox"] == "0 0 100 50"
    assert root.attrib["style"] == "max-width:100%;height:auto"
    (style,) = root.findall(f"{NAME}style")
    ink = root.findall(f"{NAME}text")[0].attrib["fill"]
    paper = root.findall(f"{NAME}rect")[0].attrib["fill"]
    assert (style.text or "").startswith("@media (prefers-color-scheme:dark){")
    for colour in (ink, paper):
        assert f'[fill="{colour}"]{{fill:#' in (style.text or "")
        assert ColourScale(0, 1).ink(0) != colour, "on a tile, text stays as it is"


# -- tiles ----------------------------------------------------------------------------------------


TILES = [
    NewTile((0, 0), [View((1 / 2, 1 / 2))]),
    NewTile((256, 0)),
    NewTile((256, 256)),
    NewTile((0, 256)),
]


def a_pass() -> Pass:
    finder, _ = find_passes(Content("-", Stream(TILES).build(), "none", 0, None), pytest.fail)
    return finder.found.passes[0]


def hints(root: ElementTree.Element) -> list[str]:
    found = [element.find(f"{NAME}title") for element in root.findall(f"{NAME}rect")]
    return [element.text or "" for element in found if element is not None]


def fills(root: ElementTree.Element) -> list[str]:
    rectangles = root.findall(f"{NAME}rect")
    return [one.attrib["fill"] for one in rectangles if one.find(f"{NAME}title") is not None]


def test_a_grid() -> None:
    found = a_pass()
    root = parsed(drawing(found, found.tiles))
    shown = hints(root)
    assert len(shown) == 4
    assert shown[0].startswith("tile 0, column 0, row 0\n0,0+256x256")
    assert "scale 1/2 x 1/2" in shown[0]
    texts = [element.text for element in root.findall(f"{NAME}text")]
    assert texts.index("0") < texts.index("3")
    assert "VSC pipe 0: 2 x 2 tiles" in texts
    assert "visible draws: unknown" not in texts
    assert "pixels drawn a pixel" in texts
    first, *others = fills(root)
    assert first not in others
    (order,) = root.findall(f"{NAME}polyline")[:1]
    assert len(order.attrib["points"].split()) == 4
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for rectangle in root.findall(f"{NAME}rect")[1:]:
        assert 0 <= float(rectangle.attrib["x"]) <= width - float(rectangle.attrib["width"])
        assert 0 <= float(rectangle.attrib["y"]) <= height - float(rectangle.attrib["height"])


def test_shading_by_draws_and_by_primitives() -> None:
    found = a_pass()
    draws = {number: {0: None} if number else {1: None} for number in range(4)}
    root = parsed(drawing(found, saying(found, draws)))
    first, *others = fills(root)
    assert first not in others
    assert any(element.text == "visible draws" for element in root.findall(f"{NAME}text"))
    primitives = {number: {0: 10 * number} for number in range(4)}
    root = parsed(drawing(found, saying(found, primitives)))
    assert len(set(fills(root))) == 4
    assert any(element.text == "30 primitives" for element in root.findall(f"{NAME}text"))


def test_nothing_is_known() -> None:
    found = a_pass()
    found.bin_size = found.framebuffer = found.grid = None
    for tile in found.tiles:
        tile.window_scissor = tile.density = None
    root = parsed(drawing(found, found.tiles))
    texts = [element.text for element in root.findall(f"{NAME}text")]
    assert "framebuffer unknown" in texts
    assert "4 without a rectangle" in texts
    assert "visible draws: unknown" in texts


@pytest.mark.parametrize(
    "rectangle",
    [Rectangle(0, 0, 0, 0), Rectangle(65535, 65535, 1, 1), Rectangle(0, 0, 65536, 1)],
)
@pytest.mark.parametrize("bins", [Size(0, 0), Size(1, 65535), Size(-32, 16)])
def test_hostile_numbers(rectangle: Rectangle, bins: Size) -> None:
    found = a_pass()
    found.bin_size = bins
    found.framebuffer = Size(0, 0)
    found.pipes = [Pipe(number, 1023, 1023, 63, 63) for number in range(32)]
    for tile in found.tiles:
        tile.window_scissor = rectangle
    assert parsed(drawing(found, found.tiles)).tag.endswith("svg")


def test_many_tiles_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles_view, "MAX_TILES", 100)
    found = a_pass()
    place = found.tiles[0].place
    found.tiles = [
        Tile(place, number=number, owner=found, window_scissor=Rectangle(number, 0, number + 1, 1))
        for number in range(500)
    ]
    root = parsed(drawing(found, found.tiles))
    assert len(hints(root)) == 100
    assert any(e.text == "the first 100 are drawn" for e in root.findall(f"{NAME}text"))


def test_tiles_show_what_lies_in_the_framebuffer() -> None:
    tiles = [NewTile((x, y)) for x in (0, 256) for y in (0, 256)]
    data = Stream(tiles, framebuffer=(500, 300)).build()
    finder, _ = find_passes(Content("-", data, "none", 0, None), pytest.fail)
    found = finder.found.passes[0]
    assert found.framebuffer == Size(500, 300)
    for tile, x, y in zip(found.tiles, (0, 0, 256, 256), (0, 256, 0, 256), strict=True):
        tile.window_scissor = Rectangle(x, y, x + 256, y + 256)  # whole bins
    facts = found.tiles
    shown = ["0,0+256x256", "0,256+256x44", "256,0+244x256", "256,256+244x44"]
    assert [row[2] for row in table(facts)[1:]] == shown
    assert [hint.splitlines()[1] for hint in hints(parsed(drawing(found, facts)))] == shown
    cells = [dict(zip(csv_columns(Tile), row, strict=True)) for row in csv_rows(facts)]
    assert [(one["rectangle_width"], one["rectangle_height"]) for one in cells][-1] == (244, 44)
    last = [*tiles_document(finder.found, found, facts)["tiles"]][-1]
    assert last["rectangle"] == rectangle(256, 256, 244, 44)
    assert last["window_scissor"] == rectangle(256, 256, 256, 256)


def rectangle(left: int, top: int, width: int, height: int) -> dict[str, int]:
    edges = {"left": left, "top": top, "right": left + width, "bottom": top + height}
    return {**edges, "width": width, "height": height}
