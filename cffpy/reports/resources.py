# SPDX-License-Identifier: MIT
"""Resources of a report: the memory that passes write and read, and the graph of passes.

A resource is an address of a submit: an attachment, a texture, a buffer. Passes that write it come
before those that read it, so an edge leads from the last writer before a pass to that pass. An
address of GMEM, as of an input attachment, is no memory that could have been captured. grandalf,
part of the extra ``report``, places the passes; without it the page lists the edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.analysis.passes.transfers import GMEM_END
from cffpy.capture.gpu import generation_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cffpy.api.capture import Capture
    from cffpy.reports.bindings import BindingColumns
    from cffpy.reports.columns import Cuts

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
        Link(vertices[box], vertices[other])
        for box, other, *_ in edges
        if box in vertices and other in vertices
    ]
    boxes_of_all: list[list[int]] = []
    top = 0.0
    for part in Graph(list(vertices.values()), links).C:
        boxes, height = _placed(part, top)
        boxes_of_all += boxes
        top += height + _GAP
    return sorted(boxes_of_all)


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


#: Resources, uses of one resource, and edges of the graph that a report has.
_MAX_RESOURCES, _MAX_USES, _MAX_EDGES = 20_000, 400, 2000

#: Operations -> how they use their ``address`` and ``source``.
_ADDRESS_USES = {"load": "read", "store": "write", "resolve": "write", "copy": "write"}

#: Facts of bindings that the text of a resource has.
_FACTS = ("format", "width", "height")


class _Resource:
    """``uses``: (pass, how) -> first draw (-1: none), how often."""

    def __init__(self, submit: int, address: str) -> None:
        self.submit = submit
        self.address = address
        self.kinds: dict[str, None] = {}
        self.text = ""
        self.uses: dict[tuple[int, str], list[int]] = {}


class Resources:
    """Collects the uses of memory. ``pass_of``: the row of a draw -> its pass."""

    def __init__(self, capture: Capture, pass_of: Sequence[int], cuts: Cuts) -> None:
        self._capture = capture
        self._pass_of = pass_of
        self._cuts = cuts
        self._submits = [pass_.submit for pass_ in capture.passes]
        self._found: dict[tuple[int, str], _Resource] = {}
        generation = capture._source.model.generation
        self._maps_gmem = bool(generation) and generation_of(generation).tracker == "a6xx"

    def add_passes(self, passes: Iterable[Mapping[str, Any]]) -> None:
        """The attachments and operations of passes, as the report has them."""
        for pass_ in passes:
            for target in pass_["attachments"]:
                if target["address"] is not None and pass_["mode"] != "gmem":
                    text = target["format"] or ""
                    self._use(pass_["pass"], target["address"], target["name"], "write", -1, text)
            for operation in pass_["operations"]:
                name = operation["attachment"] or "copy"
                how = _ADDRESS_USES.get(operation["kind"], "write")
                if operation["address"] is not None:
                    self._use(pass_["pass"], operation["address"], name, how)
                if operation["source"] is not None:
                    self._use(pass_["pass"], operation["source"], name, "read")

    def add_bindings(self, bindings: BindingColumns) -> None:
        """What draws use of what they have bound."""
        for place, draw, value in bindings.addresses():
            # the data of a uniform buffer is a binding of its own
            if place["kind"] in ("uniform buffer", "sampler") or not value["used"]:
                continue
            kind = "storage" if place["kind"].startswith("storage") else place["kind"]
            depth = [text for name, _, _, text in value.get("fields", ()) if name == "DEPTH"]
            text = " ".join([*(str(value[name]) for name in _FACTS if name in value), *depth])
            if "elements" in value:
                text = f"{value['format']} {value['elements']}"
            for how, is_so in (("read", "reads"), ("write", "writes")):
                if value[is_so]:
                    self._use(self._pass_of[draw], value["address"], kind, how, draw, text)

    def _use(
        self, index: int, address: str, kind: str, how: str, draw: int = -1, text: str = ""
    ) -> None:
        if index < 0:
            return
        key = self._submits[index], address
        resource = self._found.get(key)
        if resource is None:
            if len(self._found) >= _MAX_RESOURCES:
                self._cuts.note(f"resources but for {_MAX_RESOURCES:,}")
                return
            resource = self._found[key] = _Resource(*key)
        resource.kinds[kind] = None
        resource.text = resource.text or text
        use = resource.uses.get((index, how))
        if use is not None:
            use[1] += 1
        elif len(resource.uses) < _MAX_USES:
            resource.uses[index, how] = [draw, 1]

    def to_dict(self) -> dict[str, Any]:
        """The resources by address, and the graph."""
        values = sorted(
            self._found.values(), key=lambda resource: (resource.submit, int(resource.address, 16))
        )
        edges = self._edges(values)
        return {
            "resources": [self._document(resource) for resource in values],
            "edges": edges,
            "nodes": layout(edges, self._cuts),
        }

    def _document(self, resource: _Resource) -> dict[str, Any]:
        address = int(resource.address, 16)
        buffer = self._capture.submits[resource.submit].memory.buffer(address)
        return {
            "submit": resource.submit,
            "gpuaddr": resource.address,
            "kinds": list(resource.kinds),
            "text": resource.text,
            "buffer": None
            if buffer is None
            else {"gpuaddr": f"{buffer.gpuaddr:#x}", "size": buffer.size},
            "gmem": buffer is None and self._maps_gmem and address < GMEM_END,
            "uses": [
                {"pass": index, "how": how, "row": row, "times": times}
                for (index, how), (row, times) in sorted(resource.uses.items())
            ],
        }

    def _edges(self, resources: Sequence[_Resource]) -> list[list[Any]]:
        """Producer, consumer, numbers of the resources."""
        edges: dict[tuple[int, int], list[int]] = {}
        for number, resource in enumerate(resources):
            writer: int | None = None
            for index in sorted({index for index, _ in resource.uses}):
                if (index, "read") in resource.uses and writer is not None:
                    edges.setdefault((writer, index), []).append(number)
                if (index, "write") in resource.uses:
                    writer = index
        if len(edges) > _MAX_EDGES:
            self._cuts.note(f"edges of the graph of passes but for {_MAX_EDGES:,}")
        return [[*pair, numbers] for pair, numbers in sorted(edges.items())[:_MAX_EDGES]]
