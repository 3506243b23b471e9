# SPDX-License-Identifier: MIT
"""PassCost: the bytes that loads, stores, clears and resolves of a pass move, by formula.

pixels x bytes a pixel x samples, summed over the tiles. Pixels are those of the tile, cut to the
framebuffer and to the operation's scissor, which has the render area. What a draw reads and writes
is not known, nor what compression saves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.attachments import bytes_a_pixel
from cffpy.errors import UnsupportedGpu
from cffpy.formats import UnknownFormat, hardware_format, image_format
from cffpy.frame.facts import fact, model, stored
from cffpy.frame.geometry import Rectangle
from cffpy.frame.objects import ModelObject
from cffpy.frame.passes import FLAGS_FILL, Pass, Tile
from cffpy.frame.render_mode import Mode
from cffpy.image.devices import device

if TYPE_CHECKING:
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Operation, Passes, PassRun

#: "clear" of a GMEM pass fills GMEM and moves nothing to memory.
CostKind = Literal["load", "store", "resolve", "clear"]

_DEPTH_BYTES = {"16": 2, "24_8": 4, "32": 4}


@model("moved")
class MovedBytes:
    """All operations of one kind on one attachment of a pass."""

    kind: CostKind = stored(
        "what the operations do; a clear of a GMEM pass fills GMEM and moves nothing to memory"
    )
    attachment: str = stored("color 0, depth, stencil or depth+stencil")
    times: int = stored("how many operations there are")
    pixels: int = stored("pixels of all of them together")
    bytes_a_pixel: int = stored("size of a sample", "bytes")
    samples: int = stored("samples of a pixel that are moved")

    @fact()
    def bytes(self) -> int:
        """The product: pixels, bytes a pixel, samples."""
        return self.pixels * self.bytes_a_pixel * self.samples


@model("pass_cost")
class PassCost(ModelObject):
    """Bytes that a render pass moves, by formula. What draws read and write is not known."""

    pass_: Pass = stored("the pass")
    rank: int = stored("1 for the pass of the capture that moves most bytes", default=0)
    share: float = stored("part of the bytes that all passes of the capture move", default=0.0)

    @fact()
    def mode(self) -> Mode | None:
        """How it is rendered."""
        return self.pass_.mode

    @fact(unit="bytes")
    def memory_bytes(self) -> int:
        """What goes to and from memory: loads, stores, resolves; in sysmem mode clears, too."""
        kinds: tuple[CostKind, ...] = ("load", "store", "resolve")
        return self.total(*kinds, "clear") if self.mode != "gmem" else self.total(*kinds)

    @fact(unit="bytes")
    def loaded_bytes(self) -> int:
        """What its loads read."""
        return self.total("load")

    @fact(unit="bytes")
    def stored_bytes(self) -> int:
        """What its stores write, without resolves."""
        return self.total("store")

    @fact(unit="bytes")
    def resolved_bytes(self) -> int:
        """What its resolves write."""
        return self.total("resolve")

    @fact(unit="bytes")
    def cleared_bytes(self) -> int:
        """What its clears fill."""
        return self.total("clear")

    gmem_used: int | None = stored("size of the attachments of a bin", "bytes", default=None)
    gmem_size: int | None = stored("size of the GMEM of the GPU", "bytes", default=None)
    not_counted: int = stored("operations whose format or area is not known", default=0)
    operations: list[MovedBytes] = stored(
        "its operations, those of one kind on one attachment together", default_factory=list
    )

    def total(self, *kinds: CostKind) -> int:
        """Bytes of operations of these kinds."""
        return sum(operation.bytes for operation in self.operations if operation.kind in kinds)


def costs_of_passes(passes: Passes) -> list[PassCost]:
    """The cost of each render pass, in order."""
    costs = [_cost(pass_, passes.gpu) for pass_ in passes.passes if pass_.kind == "render"]
    whole = sum(cost.memory_bytes for cost in costs)
    for rank, cost in enumerate(ranked(costs), 1):
        cost.rank, cost.share = rank, cost.memory_bytes / whole if whole else 0.0
    return costs


def ranked(costs: Iterable[PassCost]) -> list[PassCost]:
    """The passes that move most bytes first."""
    return sorted(costs, key=lambda cost: (-cost.memory_bytes, cost.pass_.index))


def _cost(pass_: Pass, gpu: str | None) -> PassCost:
    cost = PassCost(pass_)
    rows: dict[tuple[CostKind, str], MovedBytes] = {}
    for run in pass_.runs:
        for operation in run.operations:
            if not operation.action.execution.is_possible or run is pass_.binning:
                continue
            row = _row(pass_, run, operation)
            if row is None:
                cost.not_counted += 1
                continue
            known = rows.setdefault((row.kind, row.attachment), row)
            if known is not row:
                known.times += 1
                known.pixels += row.pixels
    cost.operations = list(rows.values())
    if pass_.mode == "gmem":
        cost.gmem_used = _gmem(pass_)
        try:
            cost.gmem_size = device(gpu or "").gmem
        except UnsupportedGpu:
            cost.gmem_size = None
    return cost


def _row(pass_: Pass, run: PassRun, operation: Operation) -> MovedBytes | None:
    """What one operation moves; None where that is not known."""
    kind: CostKind
    if operation.kind == "store" or operation.kind == "copy":
        kind = "resolve" if operation.resolves else "store"
    elif operation.kind == "load" or operation.kind == "clear":
        kind = operation.kind
    else:
        return None
    name = operation.attachment
    size = _bytes_a_pixel(pass_, operation)
    pixels = _pixels(pass_, run, operation)
    if size is None or pixels is None or name is None:
        return None
    has_one_sample = kind == "resolve" or operation.how == FLAGS_FILL
    samples = 1 if has_one_sample else pass_.samples or 1
    return MovedBytes(kind, name, 1, pixels, size, samples)


def _bytes_a_pixel(pass_: Pass, operation: Operation) -> int | None:
    """Of the attachment's format, else of the operation's, which is that of a fill of flags."""
    name = operation.attachment
    target = next(
        (attachment for attachment in pass_.attachments if _is_of(name, attachment.name)), None
    )
    form = None if target is None or operation.how == FLAGS_FILL else target.format
    return bytes_of_format(form) or bytes_of_format(operation.format)


def _is_of(name: str | None, attachment: str) -> bool:
    return name is not None and attachment in name.split("+")


def _pixels(pass_: Pass, run: PassRun, operation: Operation) -> int | None:
    """Pixels of the tile, or of the whole framebuffer, within the operation's scissor."""
    size = pass_.framebuffer or pass_.framebuffer_limit
    rectangle = run.rectangle if isinstance(run, Tile) else None
    if rectangle is not None:
        whole = None if size is None else Rectangle(0, 0, size.width, size.height)
        for bound in (whole, operation.scissor, operation.limit):
            if bound is not None:
                rectangle = rectangle.common(bound)
        return rectangle.size.width * rectangle.size.height
    if operation.scissor is not None and pass_.mode != "gmem":
        scissor = operation.scissor.size
        return max(0, scissor.width) * max(0, scissor.height)
    area = size or pass_.bin_size
    return None if area is None else area.width * area.height


def _gmem(pass_: Pass) -> int | None:
    """Bytes of a bin: bin width x height x bytes a pixel x samples of all attachments in GMEM."""
    size = pass_.bin_size
    sizes = [_gmem_bytes(target) for target in pass_.attachments]
    if size is None or None in sizes:
        return None
    bin_bytes = sum(pixel_bytes or 0 for pixel_bytes in sizes) * size.width * size.height
    return bin_bytes * (pass_.samples or 1)


def _gmem_bytes(target: Attachment) -> int | None:
    return 0 if target.gmem is None else bytes_of_format(target.format)


def bytes_of_format(name: str | None) -> int | None:
    """Bytes a pixel of a hardware format; None where it is not known."""
    if name is None:
        return None
    prefix, _, short = name.partition("_")
    if prefix.startswith("DEPTH"):
        return _DEPTH_BYTES.get(short)
    if prefix == "COLORX":
        return bytes_a_pixel(name) or None
    for find, text in ((hardware_format, name), (image_format, short)):
        try:
            return find(text).block_bytes
        except UnknownFormat:
            continue
    return None
