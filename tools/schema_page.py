# SPDX-License-Identifier: MIT
"""docs/reference/schemas.md: names, versions and members of all JSON documents.

Objects whose facts docs/reference/facts.md lists are linked; all others are listed here, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cffpy.cli.reference import schema_names, schema_of
from cffpy.views import facts

Schema = dict[str, Any]

#: More words are left out of a cell: formats, for example.
_MANY = 12

#: Objects that documents share, by the documents that have an object of this name of their own.
_OWN_OBJECTS = ("intel-",)


def page() -> Iterator[str]:
    """The lines of the generated part."""
    known = {model.of.__name__: model.word for model in facts.models()}
    shared: dict[str, Schema] = {}
    yield from ("| document | |", "| --- | --- |")
    schemas = {name: schema_of(name) for name in schema_names() if not name.endswith(".line")}
    for schema in schemas.values():
        yield f"| [`{schema['$id']}`](#{_anchor(schema['$id'])}) | {schema['title']} |"
    for name, schema in schemas.items():
        yield from _document(name, schema, known)
        if not name.startswith(_OWN_OBJECTS):
            shared |= schema.get("$defs", {})
    yield from ("", "## Objects")
    for word in sorted(set(shared) - set(known)):
        yield from _object(f"### {word}", shared[word], known)


def _document(name: str, schema: Schema, known: dict[str, str]) -> Iterator[str]:
    yield from ("", f"## {schema['$id']}", "", f"{schema['title']}.")
    line = f"{name}.line"
    if line in schema_names():
        yield from ("", _line_text(schema_of(line)))
    own = name.startswith(_OWN_OBJECTS)
    for one in schema.get("oneOf", [schema]):
        yield from _members(one, {} if own else known, f"{name}: " if own else "")
    if own:
        for word, part in sorted(schema.get("$defs", {}).items()):
            yield from _object(f"### {name}: {word}", part, {}, f"{name}: ")


def _line_text(schema: Schema) -> str:
    return f"With `--jsonl` each line is `{schema['$id']}`: {schema['title'].partition(':')[0]}."


def _object(head: str, part: Schema, known: dict[str, str], prefix: str = "") -> Iterator[str]:
    yield from ("", head)
    if part.get("description"):
        yield from ("", _cell(part["description"]))
    for one in part.get("oneOf", [part]):
        yield from _members(one, known, prefix)


def _members(part: Schema, known: dict[str, str], prefix: str) -> Iterator[str]:
    if not part.get("properties"):
        return
    yield from ("", "| member | type | |", "| --- | --- | --- |")
    for name, member in part["properties"].items():
        if name != "schema":
            meaning = _cell(member.get("description", ""))
            yield f"| `{name}` | {_type(member, known, prefix)} | {meaning} |"


def _type(part: Schema, known: dict[str, str], prefix: str) -> str:
    if "$ref" in part:
        return _link(part["$ref"].rpartition("/")[2], known, prefix)
    if "enum" in part:
        words = [f"`{word}`" if word else "empty" for word in part["enum"][:_MANY]]
        return " ".join([*words, *(["..."] if len(part["enum"]) > _MANY else [])])
    if "const" in part:
        return f"`{part['const']}`"
    if _is_column(part):
        return f"column: {_type(part['oneOf'][0]['items'], known, prefix)}"
    for key in ("anyOf", "oneOf"):
        if key in part:
            return " or ".join(dict.fromkeys(_type(one, known, prefix) for one in part[key]))
    kinds = part.get("type", "any")
    return " or ".join(
        _kind(kind, part, known, prefix) for kind in ([kinds] if isinstance(kinds, str) else kinds)
    )


def _is_column(part: Schema) -> bool:
    """Whether it is a list of values, or each value once with indices: see the report."""
    return "oneOf" in part and {*part["oneOf"][-1].get("properties", {})} == {"values", "index"}


def _kind(kind: str, part: Schema, known: dict[str, str], prefix: str) -> str:
    if kind == "array":
        return f"list of {_type(part.get('items', {}), known, prefix)}"
    if kind == "string" and "pattern" in part:
        return "hexadecimal"
    if kind == "object" and part.get("properties"):
        return f"object: {', '.join(f'`{name}`' for name in part['properties'])}"
    return kind


def _link(word: str, known: dict[str, str], prefix: str) -> str:
    if word in known:
        return f"[{known[word]}](facts.md#{known[word]})"
    return f"[{word}](#{_anchor(prefix + word)})"


def _anchor(heading: str) -> str:
    """The anchor of a heading, as sites and Git hosts make it."""
    kept = "".join(one for one in heading.lower() if one.isalnum() or one in " -_")
    return kept.replace(" ", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
