# SPDX-License-Identifier: MIT
"""Passes and tiles as --json, --jsonl and --csv write them: the facts of the model, and a head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.frame.faces import columns, facts_document, row
from cffpy.frame.facts import model_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.frame.passes import Pass, Passes, Tile

PASSES_SCHEMA = "cffpy.passes/1"
TILES_SCHEMA = "cffpy.tiles/1"


def passes_document(found: Passes, passes: Iterable[Pass]) -> dict[str, Any]:
    """Some passes of a capture."""
    return {
        "gpu": found.gpu,
        "generation": found.generation or None,
        "problems": found.problems,
        "passes": map(facts_document, passes),
    }


def tiles_document(found: Passes, of: Pass, tiles: Iterable[Tile]) -> dict[str, Any]:
    """Some tiles of a pass, and the pass."""
    return {
        "gpu": found.gpu,
        "generation": found.generation or None,
        "pass": facts_document(of),
        "tiles": map(facts_document, tiles),
    }


def csv_columns(kind: type) -> list[str]:
    """The names of the columns of a model."""
    return [column.name for column in columns(model_of(kind))]


def csv_rows(objects: Iterable[object]) -> Iterator[list[object]]:
    """A row for each object: addresses in hexadecimal, flags as 1 and 0."""
    for one in objects:
        cells = zip(columns(model_of(type(one))), row(one), strict=True)
        yield [_cell(column.type, value) for column, value in cells]


def _cell(kind: str, value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return hex(value) if kind == "address" and isinstance(value, int) else value


def hexadecimal(number: int | None) -> str | None:
    """A number in hex, None as it is."""
    return None if number is None else hex(number)
