# SPDX-License-Identifier: MIT
"""Documents of facts: info, passes, tiles and shaders as --json, --jsonl and --csv write them.

What makes these forms is imported when one is written: text does without.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

from cffpy.document_types import Facts, Of, OneCapture
from cffpy.frame.facts import model_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.frame.facts import Model
    from cffpy.frame.passes import Pass, Passes, Tile

    _Object = TypeVar("_Object")

PASSES_SCHEMA = "cffpy.passes/1"
TILES_SCHEMA = "cffpy.tiles/1"


class PassesDocument(OneCapture):
    """Passes of a capture: cffpy passes --json."""

    problems: Annotated[list[str], "damage, and what limits left out, in words"]
    passes: Annotated[Iterable[Facts], "the passes", Of("cffpy.frame.passes:Pass")]


_WithPass = TypedDict(
    "_WithPass", {"pass": Annotated[Facts, "the pass", Of("cffpy.frame.passes:Pass")]}
)


class TilesDocument(OneCapture, _WithPass):
    """Tiles of a pass: cffpy tiles --json."""

    tiles: Annotated[Iterable[Facts], "its tiles", Of("cffpy.frame.passes:Tile")]


def passes_document(frame: Passes, passes: Iterable[Pass]) -> PassesDocument:
    """Some passes of a capture."""
    return {
        "gpu": frame.gpu,
        "generation": frame.generation or None,
        "problems": frame.problems,
        "passes": documents(passes),
    }


def tiles_document(passes: Passes, of: Pass, tiles: Iterable[Tile]) -> TilesDocument:
    """Some tiles of a pass, and the pass."""
    from cffpy.frame.faces import facts_document

    return {
        "gpu": passes.gpu,
        "generation": passes.generation or None,
        "pass": facts_document(of),
        "tiles": documents(tiles),
    }


def documents(
    objects: Iterable[_Object], large: Callable[[_Object], tuple[str, ...]] | None = None
) -> Iterator[dict[str, Any]]:
    """The documents of objects, which share parts: see ``facts_documents``."""
    from cffpy.frame.faces import facts_documents

    return facts_documents(objects, large)


def csv_columns(kind: type) -> list[str]:
    """The names of the columns of a model."""
    from cffpy.frame.faces import columns

    return [column.name for column in columns(model_of(kind))]


def csv_rows(objects: Iterable[object]) -> Iterator[list[object]]:
    """A row for each object: addresses in hexadecimal, flags as 1 and 0."""
    from cffpy.frame.faces import columns, row

    shown: dict[Model, list[tuple[int, Callable[[Any], object]]]] = {}
    for owner in objects:
        model = model_of(type(owner))
        converted = shown.get(model)
        if converted is None:
            kinds = enumerate(column.type for column in columns(model))
            converted = shown[model] = [(n, _SHOWN[kind]) for n, kind in kinds if kind in _SHOWN]
        cells = [*row(owner)]
        for number, convert in converted:
            value = cells[number]
            if value is not None:
                cells[number] = convert(value)
        yield cells


#: What makes cells of values, by the types of columns.
_SHOWN: Mapping[str, Callable[[Any], object]] = {"address": hex, "flag": int}


def hexadecimal(number: int | None) -> str | None:
    """A number in hex, None as it is."""
    return None if number is None else hex(number)


INFO_SCHEMA = "cffpy.info/1"


class UnreadFile(TypedDict):
    """A file that could not be read."""

    file: Annotated[str, "the file, as it was given"]
    error: Annotated[str, "why it could not be read"]


class InfoDocument(TypedDict):
    """What is in captures: cffpy info --json."""

    files: Annotated[
        list[Annotated[Facts, Of("cffpy.analysis.summary:CaptureSummary")] | UnreadFile],
        "an object for each file",
    ]


def unread_file(path: str, message: str) -> UnreadFile:
    """A file that could not be read."""
    return {"file": path, "error": message}


SHADERS_SCHEMA = "cffpy.shaders/1"


class ShadersDocument(TypedDict):
    """Shaders of a capture: cffpy shaders --json."""

    file: Annotated[str, "the capture"]
    shaders: Annotated[
        list[Facts], "the distinct programs by first use", Of("cffpy.frame.shader:CapturedShader")
    ]
    left_out: Annotated[int, "programs that are not listed, because there were too many"]
