# SPDX-License-Identifier: MIT
"""The images of a draw as lines of text, and as a document for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document
from cffpy.frame.facts import described, fact, model, stored
from cffpy.frame.pictures import ImageKind, ImageView, Picture
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCHEMA = "cffpy.image/1"


@described(
    "image",
    is_value=False,
    kind="what it is of the draw",
    number="number among those of the kind",
    label="stage, set and slot, name of an attachment, or format",
    view="how it lies in memory; None where that is not known",
)
class ShownImage(NamedTuple):
    """An image of a draw or copy, or memory. ``reason``: why there is no view, or no picture."""

    kind: ImageKind
    number: int
    label: str
    view: ImageView | None
    reason: str

    @fact()
    def problem(self) -> str | None:
        """Why it cannot be shown; None where it can."""
        return self.reason or None

    def __str__(self) -> str:
        name = self.kind if self.kind == "memory" else f"{self.kind} {self.number}"
        return f"{name} ({self.label})" if self.label else name


def lines(images: Iterable[ShownImage]) -> Iterator[str]:
    """A line for each."""
    empty = True
    for image in images:
        empty = False
        where = "" if image.view is None else f" at {image.view.address:#x}: {image.view}"
        yield visible(f"{image}{where}: {image.problem or 'can be shown'}")
    if empty:
        yield "the draw has no textures and no targets, and copies nothing"


@model("written_picture", frozen=True)
class WrittenPicture:
    """A picture that was written."""

    file: str = stored("the file")
    level: int = stored("mip level")
    layer: int = stored("layer of the array")
    picture: Picture = stored("the picture")


class ImageDocument(TypedDict):
    """Images of a draw, a picture that was written: cffpy image --json."""

    images: Annotated[list[Facts], "the images", Of("cffpy.views.image:ShownImage")]
    written: Annotated[
        Facts | None,
        "the picture; null where none was written",
        Of("cffpy.views.image:WrittenPicture"),
    ]


def document(images: Iterable[ShownImage], written: WrittenPicture | None = None) -> ImageDocument:
    """``written``: of the image, where one was written."""
    return {
        "images": [facts_document(image) for image in images],
        "written": None if written is None else facts_document(written),
    }
