# SPDX-License-Identifier: MIT
"""Draws, dispatches and blits of a capture: a line each, with what they copy, fill or load."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.execution import Executed
from cffpy.frame.places import DrawName, FileOffset, name_of, tile_text

if TYPE_CHECKING:
    from cffpy.frame.action import Action


def ends_cells(action: Action) -> tuple[str, str]:
    """Sources and destinations of an action as text."""
    transfers = action.transfers
    sources = dict.fromkeys(transfer.source_text for transfer in transfers)
    return "; ".join(filter(None, sources)), "; ".join(
        transfer.destination_text for transfer in transfers
    )


SCHEMA = "cffpy.draws/1"


class DrawsDocument(TypedDict):
    """Draws, dispatches and other actions of a capture: cffpy draws --json."""

    draws: Annotated[Iterable[Facts], "the actions", Of("cffpy.frame.action:Action")]


HEADINGS = (
    "dump",
    "pass",
    "draw",
    "where",
    "what",
    "vertices",
    "instances",
    "notes",
    "shaders",
    "targets",
    "source",
    "destination",
    "packet",
    "file",
)
#: Columns of HEADINGS that are left out where no action has any.
_OPTIONAL = tuple(map(HEADINGS.index, ("source", "destination", "file")))
#: Columns of numbers.
RIGHT = (0, 1, 2, 5, 6)


def table(actions: Iterable[Action]) -> list[tuple[str, ...]]:
    """Headings and a row for each action; [] without actions.

    Sources, destinations and offsets in the file have columns if any action has them.
    """
    rows = list(map(cells, actions))
    if not rows:
        return []
    empty = {column for column in _OPTIONAL if not any(row[column] for row in rows)}
    kept = [column for column in range(len(HEADINGS)) if column not in empty]
    return [tuple([row[column] for column in kept]) for row in (HEADINGS, *rows)]


def cells(action: Action) -> tuple[str, ...]:
    """An action as cells under HEADINGS."""
    return (
        "" if action.dump_draw is None else str(DrawName(action.dump_draw)),
        _number(action.pass_index),
        "" if action.number is None else str(name_of(action)),
        _where(action),
        f"{action.role} {action.primitive or action.packet}".strip(),
        _size(action),
        _number(action.instances),
        _notes(action),
        " ".join(f"{stage}:{address:#x}" for stage, address in action.programs),
        " ".join(
            f"{target.name.replace('color ', 'c')}:{target.format}" for target in action.targets
        ),
        *ends_cells(action),
        f"{action.place.gpuaddr:#x}",
        _offset(action.place.file_offset),
    )


def _offset(offset: int | None) -> str:
    return "" if offset is None else str(FileOffset(offset))


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


def _where(action: Action) -> str:
    if action.binning:
        return "binning"
    return tile_text(action)


def _size(action: Action) -> str:
    if action.kind == "dispatch" and action.groups is not None:
        return "x".join(map(str, action.groups))
    if action.vertices is None:
        return "unknown" if action.kind in ("draw", "dispatch") else ""
    return str(action.vertices)


def _notes(action: Action) -> str:
    notes = []
    if action.indexed:
        notes.append("indexed")
    if action.indirect:
        notes.append("indirect")
    if action.execution is Executed.NO:
        notes.append(f"not executed ({action.condition})")
    elif action.execution is Executed.UNKNOWN:
        notes.append(f"conditional ({action.condition})")
    if action.generated is not None:
        notes.append(str(action.generated))
    if action.pipe in ("BV", "unknown"):
        notes.append(f"pipe {action.pipe}")
    return ", ".join(notes)
