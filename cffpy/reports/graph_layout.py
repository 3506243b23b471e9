# SPDX-License-Identifier: MIT
"""Places the passes of the resource graph in layers, producers left of consumers, by grandalf.

grandalf is part of the extra ``report``. Without it the page lists the edges and draws no graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.reports.words import Cuts

#: Passes that are drawn, at most: a picture with more cannot be read.
_MAX_NODES = 150

#: Size of a box, and the space between boxes, in pixels of the drawing.
_WIDTH, _HEIGHT, _GAP = 150, 38, 26


class _Box:
    """What grandalf asks of a node: its size; it sets the centre. Here x and y change places."""

    def __init__(self) -> None:
        self.w, self.h = _HEIGHT, _WIDTH
        self.xy = (0.0, 0.0)


def layout(edges: Sequence[Sequence[Any]], cuts: Cuts) -> list[list[int]]:
    """Pass, x, y, width and height of each box; empty without grandalf or without edges.

    ``edges``: producer, consumer and more. The first passes are drawn where there are too many.
    """
    passes = sorted({index for edge in edges for index in edge[:2]})
    if not passes:
        return []
    try:
        from grandalf.graphs import Edge, Graph, Vertex
    except ImportError:
        cuts.note("the drawing of the graph of passes, which needs cffpy[report]")
        return []
    if len(passes) > _MAX_NODES:
        cuts.note(f"passes of the drawn graph after pass {passes[_MAX_NODES - 1]}")
    vertices = {index: Vertex(index) for index in passes[:_MAX_NODES]}
    for vertex in vertices.values():
        vertex.view = _Box()

    class Link(Edge):  # type: ignore[misc]
        """An edge whose place in grandalf's sets does not depend on its address in memory."""

        def __hash__(self) -> int:
            return hash((self.v[0].data, self.v[1].data))

    links = [
        Link(vertices[one], vertices[other])
        for one, other, *_ in edges
        if one in vertices and other in vertices
    ]
    found: list[list[int]] = []
    top = 0.0
    for part in Graph(list(vertices.values()), links).C:
        boxes, height = _placed(part, top)
        found += boxes
        top += height + _GAP
    return sorted(found)


def _placed(part: Any, top: float) -> tuple[list[list[int]], float]:  # noqa: ANN401
    """The boxes of connected passes, from ``top`` on, and their height together."""
    from grandalf.layouts import SugiyamaLayout

    sugiyama = SugiyamaLayout(part)
    sugiyama.xspace, sugiyama.yspace = _GAP, 2 * _GAP
    sugiyama.init_all()
    sugiyama.draw(3)
    boxes = [(vertex.data, vertex.view.xy) for vertex in part.sV]
    left = min(y for _, (_, y) in boxes)
    up = min(x for _, (x, _) in boxes)
    found = [
        [index, round(y - left), round(x - up + top), _WIDTH, _HEIGHT] for index, (x, y) in boxes
    ]
    return found, max(x for _, (x, _) in boxes) - up + _HEIGHT
