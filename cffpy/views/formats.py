# SPDX-License-Identifier: MIT
"""The formats of a GPU: what registers call them, and the names of Gallium and Vulkan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.errors import CffpyError
from cffpy.formats import UnknownFormat, gallium_formats, image_format
from cffpy.frame.attachment import COMPONENT_ORDERS, FORMATS, names_of_vulkan
from cffpy.frame.facts import model, stored
from cffpy.regdb.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCHEMA = "cffpy.layout.formats/1"

#: Enums that end as those of formats do, but name formats of arithmetic.
_NOT_FORMATS = ("ifmt",)
#: The depth formats of a2xx and a3xx, which all generations declare.
_OLD_DEPTH = "adreno_rb_depth_format"
#: Parts of the names of enums for what is no depth buffer.
_VERTICES = "vtx"
_NEVER_DEPTH = ("color", _VERTICES)
#: Whether an image is sRGB, and tiled; vertices are neither.
_KINDS = ((False, False), (True, False), (False, True), (True, True))


@model("hardware_format", frozen=True)
class HardwareFormat:
    """What a driver writes for a format of an API, and all formats for which it writes the same."""

    enum: str = stored("the enum of the field that has it: a6xx_format", enums=())
    name: str = stored("its name there", enums=FORMATS)
    swap: str | None = stored(
        "the order of the components; None for depth, which has none", enums=COMPONENT_ORDERS
    )
    srgb: bool = stored("with conversion to and from sRGB")
    tiled: bool = stored("of a tiled image: all orders of components have the usual swap")
    gallium_formats: tuple[str, ...] = stored("by Gallium's names, the usual one first")
    vulkan_formats: tuple[str, ...] = stored("by Vulkan's names, without those it does not have")


class FormatsDocument(TypedDict):
    """The formats of a GPU: cffpy layout formats --json."""

    gpu: Annotated[str, "name of the GPU, as in 650"]
    formats: Annotated[
        list[Facts], "what registers call them", Of("cffpy.views.formats:HardwareFormat")
    ]


def hardware_formats(database: Database, name: str | None = None) -> list[HardwareFormat]:
    """The formats of a generation; with ``name`` what may be that format.

    ``name``: of Vulkan, of Gallium, or of the hardware. Raises CffpyError for a name of no format,
    and where the generation has no such format.
    """
    rows = list(_all(database))
    if name is None:
        return [row for row in rows if not (row.srgb or row.tiled) and row.swap in (None, "WZYX")]
    hardware = [row for row in rows if row.name.lower() == name.lower()]
    if hardware:
        return hardware
    try:
        wanted = image_format(name).name
    except UnknownFormat as problem:
        raise CffpyError(str(problem)) from None
    known = [row for row in rows if wanted in row.gallium_formats]
    if not known:
        raise CffpyError(f"{database.chip.lower()} has no {wanted}")
    return known


def _all(database: Database) -> Iterator[HardwareFormat]:
    names = [*database.enum_names()]
    enums = [name for name in names if name.endswith(FORMATS) and not name.endswith(_NOT_FORMATS)]
    if sum("depth" in enum for enum in enums) > 1:
        enums.remove(_OLD_DEPTH)
    orders = [name for name in names if name.endswith(COMPONENT_ORDERS)]
    swaps = [value[0] for name in orders for value in database.enum(name)]
    for enum in enums:
        for value in database.enum(enum):
            for swap in (None,) if "depth" in enum else swaps:
                yield from _rows(enum, value[0], swap)


def _rows(enum: str, name: str, swap: str | None) -> Iterator[HardwareFormat]:
    """A format with a swap: as it is, in sRGB, and tiled, where these have formats of their own."""
    known: set[tuple[str, ...]] = set()
    is_colour = any(word in enum for word in _NEVER_DEPTH)
    for srgb, tiled in ((False, False),) if _VERTICES in enum else _KINDS:
        formats = gallium_formats(name, swap, srgb=srgb, tiled=tiled, is_colour=is_colour)
        if formats and formats not in known:
            known.add(formats)
            yield HardwareFormat(enum, name, swap, srgb, tiled, formats, names_of_vulkan(formats))


def table(formats: Sequence[HardwareFormat]) -> list[tuple[str, ...]]:
    """A row for each, below the headings."""
    headings = ("enum", "format", "swap", "", "Gallium", "Vulkan")
    return [headings, *map(_cells, formats)]


def _cells(row: HardwareFormat) -> tuple[str, ...]:
    words = (*(["sRGB"] if row.srgb else []), *(["tiled"] if row.tiled else []))
    vulkan = " ".join(name.removeprefix("VK_FORMAT_") for name in row.vulkan_formats)
    gallium = " ".join(row.gallium_formats)
    return row.enum, row.name, row.swap or "-", " ".join(words), gallium, vulkan or "-"
