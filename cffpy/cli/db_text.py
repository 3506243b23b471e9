# SPDX-License-Identifier: MIT
"""The plain text of ``cffpy db show`` and ``cffpy db search``, from their documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cffpy.regdb.compare import Change
from cffpy.regdb.search import Hit
from cffpy.views.plain_text import Styled, columns

_MAX_VALUES = 16  # longer enums are only named inside a register
_WIDE_FORMS = ("enum", "bitset")


def documents_lines(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The documents of explain.py, with an empty line between them."""
    for number, document in enumerate(documents):
        if number:
            yield ""
        first, *rest = _document_lines(document)
        yield Styled(first)
        yield from rest


def _document_lines(document: Mapping[str, Any]) -> list[str]:
    """One document, with its contents indented under its first line."""
    chips = " ".join(document["generations"])
    match document["kind"]:
        case "domain":
            lines = [f"{document['name']}  domain  in {chips}"]
            for register in document["registers"]:
                lines.extend(f"  {line}" for line in _register_lines(register, ""))
        case "enum":
            lines = [f"{document['name']}  enum  in {chips}"]
            lines.extend(_value_lines(document["values"]))
        case "bitset":
            lines = [f"{document['name']}  bitset  in {chips}"]
            lines.extend(_field_lines(document["fields"]))
        case _:
            lines = _register_lines(document, chips)
    return lines


def hit_lines(hits: Mapping[Hit, Sequence[str]]) -> list[str]:
    """A table of hits: kind, name, number, what it belongs to, generations."""
    table = [
        (hit.kind, hit.name, "" if hit.number is None else _number(hit), hit.where, " ".join(chips))
        for hit, chips in hits.items()
    ]
    return columns(table)


def edition_lines(rows: Sequence[tuple[str, str, Sequence[str]]]) -> list[str]:
    """A table of editions: short name, full name, generations."""
    return columns([(name, full, " ".join(chips)) for name, full, chips in rows])


def change_lines(changes: Mapping[str, Sequence[Change]]) -> Iterator[str]:
    """A table of changes for each generation that has any."""
    for chip, found in changes.items():
        if found:
            yield Styled(f"{chip}: {_counts(found)}")
            yield from columns(
                [
                    (f"  {one.change}", one.kind, one.place, one.within, one.old, one.new)
                    for one in found
                ]
            )


def _counts(changes: Sequence[Change]) -> str:
    counted = Counter(one.change for one in changes)
    return ", ".join(f"{count} {change}" for change, count in counted.items())


def _number(hit: Hit) -> str:
    return f"bit {hit.number}" if hit.kind == "field" else f"{hit.number:#x}"


def _register_lines(document: Mapping[str, Any], chips: str) -> list[str]:
    width = f"{document['width']} bits" if "width" in document else "array"
    head = [document["name"], f"{document['offset']:#06x}", width]
    if chips:
        head.append(f"domain {document['domain']}  in {chips}")
    lines = ["  ".join(head)]
    for array in document.get("arrays", ()):
        length = array["length"] or ""
        start = array["start"]
        starts = start if isinstance(start, (tuple, list)) else [start]
        listed = ", ".join(f"{each:#x}" for each in starts)
        lines.append(f"  array {array['name']}[{length}] at {listed}, stride {array['stride']}")
    lines.extend(_condition_lines(document.get("condition")))
    if document.get("usage"):
        lines.append(f"  usage {', '.join(document['usage'])}")
    lines.extend(_port_lines(document))
    kind = document.get("type")
    if isinstance(kind, str):
        lines[0] += f"  {kind}"
    elif kind is not None:
        lines.extend(_type_lines(kind, document["condition"]))
    for register in document.get("registers", ()):
        lines.extend(f"  {line}" for line in _register_lines(register, ""))
    return lines


def _port_lines(document: Mapping[str, Any]) -> Iterator[str]:
    port = document.get("port")
    if port is not None:
        last = f"{document['name']}[{port['elements'] - 1}]"
        yield f"  port: each write is the next of {document['name']}[0] to {last}"
        yield f"  {port['pointer']} says which"
    if "pointer_of" in document:
        yield f"  says which element {document['pointer_of']} writes next"


def _type_lines(kind: Mapping[str, Any], around: Mapping[str, Any] | None) -> list[str]:
    lines = []
    if kind["name"] != "bitfield":
        bits = f"bits {kind['low']}..{kind['high']}"
        lines.append(f"  type {_type_text(kind)}, {bits}")
    lines.extend(_field_lines(kind.get("fields", ()), around))
    lines.extend(_value_lines(kind.get("values", ())))
    return lines


# ``around``: the condition that is shown already, which every field inside has too.
def _field_lines(
    fields: Sequence[Mapping[str, Any]], around: Mapping[str, Any] | None = None
) -> list[str]:
    table = []
    for field in fields:
        kind = field["type"]
        low, high = kind["low"], kind["high"]
        bits = f"{low}" if low == high else f"{low}..{high}"
        own = None if field["condition"] == around else field["condition"]
        condition = " ".join(line.strip() for line in _condition_lines(own))
        table.append((bits, field["name"], _type_text(kind), condition))
    lines = []
    for field, line in zip(fields, columns(table), strict=True):
        lines.append(f"  {line}")
        values = field["type"].get("values", ())
        if len(values) <= _MAX_VALUES:
            lines.extend(f"      {value}" for value in _value_lines(values))
        lines.extend(f"      {line}" for line in _field_lines(field["type"].get("fields", ())))
    return lines


def _type_text(kind: Mapping[str, Any]) -> str:
    parts = [kind["name"]]
    if kind["form"] in _WIDE_FORMS and kind["name"] not in ("enum", "bitfield"):
        parts.append(f"({kind['form']})")
    parts.extend(f"{name} {kind[name]}" for name in ("shr", "radix") if name in kind)
    if kind.get("selects_variant"):
        parts.append("selects the variant")
    return " ".join(parts)


def _value_lines(values: Sequence[Mapping[str, Any]]) -> list[str]:
    table = [
        (
            "-" if value["number"] is None else f"{value['number']:#x}",
            value["name"],
            " ".join(line.strip() for line in _condition_lines(value.get("condition"))),
        )
        for value in values
    ]
    return [f"  {line}" for line in columns(table)]


def _condition_lines(condition: Mapping[str, Sequence[str]] | None) -> list[str]:
    return [f"  when {varset} {', '.join(names)}" for varset, names in (condition or {}).items()]
