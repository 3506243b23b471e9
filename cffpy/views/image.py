# SPDX-License-Identifier: MIT
"""The images of a draw as lines of text, and as a document for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypedDict

from cffpy.document_types import Hex
from cffpy.views.model_documents import hexadecimal
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.image_views import ImageView
    from cffpy.image.picture import Picture

SCHEMA = "cffpy.image/1"


#: What an image is of a draw; a draw copies from a source to a destination.
ImageKind = Literal["texture", "target", "source", "destination", "memory"]


class View(TypedDict):
    """How an image lies in memory."""

    format: Annotated[str, "format of the pixels"]
    kind: Annotated[str, "1D, 2D, 3D, cube, buffer"]
    width: Annotated[int, "width in pixels"]
    height: Annotated[int, "height in pixels"]
    depth: Annotated[int, "depth in pixels"]
    layers: Annotated[int, "layers of the array"]
    levels: Annotated[int, "mip levels"]
    samples: Annotated[int, "samples of a pixel"]
    tile_mode: Annotated[int | None, "number of the tile mode: 0 linear, 3 TILE6_3"]
    pitch: Annotated[int, "size of a row in bytes"]
    layer_pitch: Annotated[int | None, "bytes from one layer to the next"]
    ubwc: Annotated[bool, "it is compressed"]


class ImageOfDraw(TypedDict):
    """An image of a draw or copy, or memory."""

    kind: Annotated[ImageKind, "what it is of the draw"]
    number: Annotated[int, "number among those of the kind"]
    label: Annotated[str, "stage, set and slot, name of an attachment, or format"]
    problem: Annotated[str | None, "why it cannot be shown; null where it can"]
    address: Annotated[Hex | None, "GPU address of its first byte"]
    view: Annotated[View | None, "how it lies in memory; null where that is not known"]


class WrittenPicture(TypedDict):
    """A picture that was written."""

    file: Annotated[str, "the file"]
    level: Annotated[int, "mip level"]
    layer: Annotated[int, "layer of the array"]
    width: Annotated[int, "width in pixels"]
    height: Annotated[int, "height in pixels"]
    mode: Annotated[Literal["L", "RGB", "RGBA"], "channels of the picture: L is grey"]
    low: Annotated[float, "the value that is black"]
    high: Annotated[float, "the value that is white"]
    notes: Annotated[list[str], "what the picture does not show as it is, in words"]


class ImageDocument(TypedDict):
    """Images of a draw, a picture that was written: cffpy image --json."""

    images: Annotated[list[ImageOfDraw], "the images"]
    picture: Annotated[WrittenPicture | None, "the picture; null where none was written"]


class ShownImage(NamedTuple):
    """An image of a draw or copy, or memory. ``view``: None where it is not known.

    ``number``: among those of the kind. ``label``: stage, set and slot, the name of an attachment,
    or a format. ``problem``: why there is no view, or no picture.
    """

    kind: ImageKind
    number: int
    label: str
    view: ImageView | None
    problem: str

    def __str__(self) -> str:
        name = self.kind if self.kind == "memory" else f"{self.kind} {self.number}"
        return f"{name} ({self.label})" if self.label else name


def lines(images: Iterable[ShownImage]) -> Iterator[str]:
    """A line for each."""
    empty = True
    for one in images:
        empty = False
        where = "" if one.view is None else f" at {one.view.address:#x}: {one.view}"
        yield visible(f"{one}{where}: {one.problem or 'can be shown'}")
    if empty:
        yield "the draw has no textures and no targets, and copies nothing"


def document(images: Iterable[ShownImage], picture: WrittenPicture | None = None) -> ImageDocument:
    """Addresses are hex strings. ``picture``: of the image, where one was written."""
    return {"images": [_image(one) for one in images], "picture": picture}


def _image(one: ShownImage) -> ImageOfDraw:
    found = one.view
    return {
        "kind": one.kind,
        "number": one.number,
        "label": one.label,
        "problem": one.problem or None,
        "address": None if found is None else hexadecimal(found.address),
        "view": None if found is None else _view(found),
    }


def _view(found: ImageView) -> View:
    return {
        "format": found.format,
        "kind": found.kind,
        "width": found.width,
        "height": found.height,
        "depth": found.depth,
        "layers": found.layers,
        "levels": found.levels,
        "samples": found.samples,
        "tile_mode": found.tile_mode,
        "pitch": found.pitch,
        "layer_pitch": found.layer_pitch,
        "ubwc": found.ubwc,
    }


def picture_document(picture: Picture, level: int, layer: int, output: str) -> WrittenPicture:
    """A picture that was written. ``low``, ``high``: the values that are black and white."""
    return {
        "file": output,
        "level": level,
        "layer": layer,
        "width": picture.width,
        "height": picture.height,
        "mode": picture.mode,
        "low": picture.low,
        "high": picture.high,
        "notes": list(picture.notes),
    }
