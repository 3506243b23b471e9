# SPDX-License-Identifier: MIT
"""Schemas of the documents that consist of facts: schemas/passes.json and the like.

The other files of schemas/ are written by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.action import Action
from cffpy.frame.faces import schema
from cffpy.frame.facts import Model, model_of
from cffpy.frame.passes import Pass, Tile
from cffpy.views.draws import SCHEMA as DRAWS_SCHEMA
from cffpy.views.model_documents import PASSES_SCHEMA, TILES_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = Path(__file__).resolve().parent.parent / "schemas"

_TEXT_OR_NULL = {"type": ["string", "null"]}
_HEAD: Mapping[str, Any] = {
    "gpu": {"description": "Name of the GPU; null where the capture does not tell it."}
    | _TEXT_OR_NULL,
    "generation": {"description": "7 for a7xx.", "type": ["integer", "null"]},
}
_TRUNCATED: Mapping[str, Any] = {
    "description": "What limits left out.",
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"limit": _TEXT_OR_NULL, "where": {"type": "string"}},
        "required": ["limit", "where"],
        "additionalProperties": False,
    },
}
_PROBLEMS: Mapping[str, Any] = {
    "description": "Damage, and what limits left out, in words.",
    "type": "array",
    "items": {"type": "string"},
}


class Document(NamedTuple):
    """What a command writes. ``items``: name and model of its list; ``around``: other members."""

    name: str
    title: str
    items: tuple[str, Model]
    around: Mapping[str, Any]
    #: A member that is one object.
    whole: tuple[str, Model] | None = None


_DOCUMENTS = (
    Document(
        DRAWS_SCHEMA,
        "Draws, dispatches and other actions of a capture: cffpy draws --json",
        ("draws", model_of(Action)),
        {},
    ),
    Document(
        PASSES_SCHEMA,
        "Passes of a capture: cffpy passes --json",
        ("passes", model_of(Pass)),
        {**_HEAD, "problems": _PROBLEMS},
    ),
    Document(
        TILES_SCHEMA,
        "Tiles of a pass: cffpy tiles --json",
        ("tiles", model_of(Tile)),
        _HEAD,
        ("pass", model_of(Pass)),
    ),
)


def schemas() -> dict[Path, str]:
    """The generated files and what they hold."""
    found: dict[Path, str] = {}
    for one in _DOCUMENTS:
        stem, _, version = one.name.removeprefix("cffpy.").partition("/")
        found[_FOLDER / f"{stem}.json"] = _text(_document(one))
        found[_FOLDER / f"{stem}.line.json"] = _text(_line(one, f"cffpy.{stem}.line/{version}"))
    for stem, kinds in _EMBEDDED.items():
        found[_FOLDER / f"{stem}.json"] = _embedded(_FOLDER / f"{stem}.json", kinds)
    return found


#: Written by hand but for the definitions of these models.
_EMBEDDED: Mapping[str, tuple[type, ...]] = {
    "diff": (Pass,),
    "state": (Action,),
    "states": (Action,),
    "inherited": (Action,),
}


def _embedded(path: Path, kinds: tuple[type, ...]) -> str:
    known = json.loads(path.read_text("utf-8"))
    definitions: dict[str, Any] = {}
    for kind in kinds:
        _reference(model_of(kind), definitions)
    known["$defs"] = dict(sorted({**known["$defs"], **definitions}.items()))
    return _text(known)


def _document(one: Document) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    name, model = one.items
    members = {"schema": {"const": one.name}, **one.around}
    if one.whole is not None:
        members[one.whole[0]] = _reference(one.whole[1], definitions)
    members[name] = {"type": "array", "items": _reference(model, definitions)}
    properties = {**members, "truncated": _TRUNCATED}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": one.name,
        "title": one.title,
        "type": "object",
        "properties": properties,
        "required": list(members),
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _line(one: Document, identity: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    command = one.title.rpartition(": ")[2].removesuffix("json")
    found = schema(one.items[1], definitions)
    file = {"description": "The capture, as it was given.", "type": "string"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identity,
        "title": f"A {one.items[1].word}: {command}jsonl writes one such object a line",
        **found,
        "properties": {"file": file, **found["properties"]},
        "required": ["file", *found["required"]],
        "$defs": dict(sorted(definitions.items())),
    }


def _reference(model: Model, definitions: dict[str, Any]) -> dict[str, str]:
    name = model.of.__name__
    definitions[name] = {}
    definitions[name] = schema(model, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1) + "\n"


def main() -> None:
    """Write the files."""
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
