# SPDX-License-Identifier: MIT
"""JSON Schemas of whole documents, made of their declarations (``cffpy.document_types``)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from cffpy.document_types import (
    AtLeast,
    Facts,
    FactsOf,
    InColumn,
    LimitReached,
    Of,
    Pattern,
)
from cffpy.frame.faces import schema, sentence
from cffpy.frame.fact_columns import column_schema, columns_schema
from cffpy.frame.facts import model_of

_REFERENCE = re.compile(r"'#/\$defs/(\w+)'")

_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


def document_schema(identity: str, *declared: type) -> dict[str, Any]:
    """The schema of a document, which is one of the declared classes: TypedDicts or models.

    ``Annotated[TypedDict, FactsOf(...)]`` is a TypedDict with the facts of a model.

    ``identity``: its name and version, the member ``schema``.
    """
    definitions: dict[str, Any] = {}
    options = [_with_head(identity, alternative, definitions) for alternative in declared]
    document = options[0] if len(options) == 1 else {"oneOf": options}
    return _whole(identity, declared[0], document, definitions)


def object_schema(identity: str, declared: type) -> dict[str, Any]:
    """The schema of a JSON line that is declared itself."""
    definitions: dict[str, Any] = {}
    return _whole(identity, declared, _object(declared, definitions), definitions)


def _with_head(identity: str, declared: type, definitions: dict[str, Any]) -> dict[str, Any]:
    head = _object(declared, definitions)
    first = {"schema": {"description": "Name and version of this schema.", "const": identity}}
    cuts = {
        "description": "What limits left out.",
        "type": "array",
        "items": _named(LimitReached, definitions),
    }
    head["properties"] = {**first, **head["properties"], "truncated": cuts}
    head["required"] = ["schema", *head["required"]]
    return head


def line_schema(identity: str, declared: type, member: str) -> dict[str, Any]:
    """The schema of a JSON line: an object of a document's list ``member``, with its file.

    ``member``: "passes", or "files.findings" for the lists of the objects of a list.
    """
    definitions: dict[str, Any] = {}
    item = _object(declared, definitions)
    name = ""
    for step in member.split("."):
        name = item["properties"][step]["items"]["$ref"].rpartition("/")[2]
        item = definitions[name]
    file = {"description": "The capture, as it was given.", "type": "string"}
    item = {
        **item,
        "properties": {"file": file, **item["properties"]},
        "required": ["file", *item["required"]],
    }
    return _whole(identity, declared, item, _used(item, definitions), f"A line of {member}: ")


def _used(part: object, definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a schema refers to, also within these."""
    used: dict[str, Any] = {}
    waiting = [part]
    while waiting:
        for name in _REFERENCE.findall(str(waiting.pop())):
            if name not in used:
                used[name] = definitions[name]
                waiting.append(definitions[name])
    return used


def _whole(
    identity: str,
    declared: type,
    body: dict[str, Any],
    definitions: dict[str, Any],
    before: str = "",
) -> dict[str, Any]:
    of = get_args(declared)[0] if get_origin(declared) is Annotated else declared
    title = " ".join((of.__doc__ or "").partition("\n\n")[0].split()).removesuffix(".")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identity,
        "title": f"{before}{title}",
    }
    body = {name: part for name, part in body.items() if name != "description"}
    return {**head, **body, "$defs": dict(sorted(definitions.items()))}


def _members(declared: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a TypedDict: its members, in their order."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    hints = get_type_hints(declared, vars(sys.modules[declared.__module__]), include_extras=True)
    for name, hint in hints.items():
        is_required = get_origin(hint) is not NotRequired
        properties[name] = _value(hint if is_required else get_args(hint)[0], definitions)
        if is_required and name in declared.__required_keys__:  # type: ignore[attr-defined]
            required.append(name)
    return {
        "type": "object",
        "description": sentence((declared.__doc__ or "").partition("\n\n")[0]),
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _named(declared: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """A reference to the definition of a TypedDict or of a model."""
    name = declared.__name__.removesuffix("Document")
    if name not in definitions:
        definitions[name] = {}  # it may refer to itself
        definitions[name] = _object(declared, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _object(declared: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """The schema of a TypedDict, of a model, or of a TypedDict with the facts of a model."""
    if get_origin(declared) is Annotated:
        members, facts = get_args(declared)
        return _members_and_facts(members, facts, definitions)
    made = _members if is_typeddict(declared) else _facts
    return made(declared, definitions)


def _facts(declared: type, definitions: dict[str, Any]) -> dict[str, Any]:
    return schema(model_of(declared), definitions)


def _value(hint: Any, definitions: dict[str, Any], of: type | None = None) -> dict[str, Any]:  # noqa: ANN401
    """The schema of a type. ``of``: the model of the objects in it."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(parts[0], hint.__metadata__, definitions, of)
    if hint is Any:
        return {}
    if origin in (Union, UnionType):
        return _union([_value(part, definitions, of) for part in parts])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (list, tuple, Iterable, Sequence):
        return {"type": "array", "items": _value(parts[0], definitions, of)}
    if hint == Facts:
        return {"type": "object"} if of is None else _named(of, definitions)
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _value(parts[1], definitions, of)}
    if is_typeddict(hint):
        return _named(hint, definitions)
    if hint is NoneType:
        return {"type": "null"}
    return {"type": _TYPES[hint]}


def _annotated(
    hint: Any,  # noqa: ANN401
    told: tuple[object, ...],
    definitions: dict[str, Any],
    of: type | None,
) -> dict[str, Any]:
    for note in told:
        if isinstance(note, Of):
            of = class_at(note.path)
    facts = next((note for note in told if isinstance(note, FactsOf)), None)
    if facts is not None:
        described = _with_facts(hint, facts, definitions)
    else:
        described = _value(hint, definitions, of)
    for note in told:
        if isinstance(note, AtLeast):
            described = {**_members(note.members, definitions)}
            del described["additionalProperties"]
        elif isinstance(note, InColumn):
            described = column_schema(described["items"])
    for note in told:
        if isinstance(note, Pattern):
            described = {**described, "pattern": note.text}
        elif isinstance(note, str):
            described = {"description": sentence(note), **described}
    return described


def _with_facts(declared: type, facts: FactsOf, definitions: dict[str, Any]) -> dict[str, Any]:
    """A reference to the definition of a TypedDict that has facts of a model, too."""
    name = declared.__name__.removesuffix("Document")
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = _members_and_facts(declared, facts, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _members_and_facts(
    declared: type, facts: FactsOf, definitions: dict[str, Any]
) -> dict[str, Any]:
    """The schema of a TypedDict that has facts of a model, too."""
    own = _members(declared, definitions)
    model = model_of(class_at(facts.path))
    if facts.by_columns:
        properties = columns_schema(model, definitions, facts.large, facts.without)
        required = list(properties)
    else:
        whole = schema(model, definitions, facts.without)
        properties, required = whole["properties"], [*whole["required"], *facts.large]
    if facts.is_sparse:
        required = []
    own["properties"] = {**properties, **own["properties"]}
    own["required"] = [*dict.fromkeys([*required, *own["required"]])]
    return own


def _union(options: list[dict[str, Any]]) -> dict[str, Any]:
    null = {"type": "null"}
    if len(options) == 2 and null in options:
        (other,) = [option for option in options if option != null]
        if "enum" in other:
            return {"enum": [*other["enum"], None]}
        if {*other} <= {"type", "items"} and isinstance(other["type"], str):
            return {**other, "type": [other["type"], "null"]}
    if all({*option} == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def class_at(path: str) -> type:
    """A class by its path, as in "cffpy.frame.passes:Pass"."""
    module, _, name = path.partition(":")
    class_: type = getattr(import_module(module), name)
    return class_
