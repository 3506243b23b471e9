# SPDX-License-Identifier: MIT
"""The images of a draw as lines of text, and as a document for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.views.model_documents import hexadecimal
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.image_views import ImageView
    from cffpy.image.picture import Picture

SCHEMA = "cffpy.image/1"


class ShownImage(NamedTuple):
    """An image of a draw or copy, or memory. ``view``: None where it is not known.

    ``kind``: "texture", "target", "source", "destination", "memory"; ``number``: among those of the
    kind. ``label``: stage, set and slot, the name of an attachment, or a format. ``problem``: why
    there is no view, or no picture.
    """

    kind: str
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


def document(images: Iterable[ShownImage], picture: dict[str, Any] | None = None) -> dict[str, Any]:
    """Addresses are hex strings. ``picture``: of the image, where one was written."""
    return {"images": [_image(one) for one in images], "picture": picture}


def _image(one: ShownImage) -> dict[str, Any]:
    found = one.view
    return {
        "kind": one.kind,
        "number": one.number,
        "label": one.label,
        "problem": one.problem or None,
        "address": None if found is None else hexadecimal(found.address),
        "view": None if found is None else _view(found),
    }


def _view(found: ImageView) -> dict[str, Any]:
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


def picture_document(picture: Picture, level: int, layer: int, output: str) -> dict[str, Any]:
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
