# SPDX-License-Identifier: MIT
"""``cffpy db show`` and ``cffpy db search`` in the descriptions of Intel GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cffpy.capture.gpu import parse_gpu
from cffpy.cli.forms import Result, write_result
from cffpy.cli.question import Question
from cffpy.errors import UnsupportedGpu
from cffpy.intel.decoder import lookup
from cffpy.views.plain_text import Styled, columns

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOW_SCHEMA = "cffpy.intel-db-show/1"
_SEARCH_SCHEMA = "cffpy.intel-db-search/1"

_PREFIX = "intel "


def parse_any_chip(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> str | None:
    """The generation of a GPU of either vendor: ``A6XX``, or ``intel 90`` for skl, gfx9, gen9."""
    if text is None:
        return None
    try:
        return parse_gpu(text).chip
    except UnsupportedGpu as problem:
        from cffpy.intel.descriptions.store import parse_gpu as parse_intel

        try:
            return f"{_PREFIX}{parse_intel(text)}"
        except UnsupportedGpu:
            raise click.BadParameter(f"{problem}; Intel: skl, gfx9, gfx125, ...") from None


def intel_generation(chip: str | None) -> int | None:
    """The generation that ``parse_any_chip`` has found, 125 for 12.5; None for Adreno's."""
    return int(chip.removeprefix(_PREFIX)) if chip and chip.startswith(_PREFIX) else None


def has_intel(name: str, register_db: str | None) -> bool:
    """Whether any of Intel's generations has an instruction, struct or register of this name."""
    return bool(lookup.explain(lookup.databases(None, register_db), name))


def show(question: Question, name: str, verx10: int | None) -> bool:
    """Write what an instruction, struct or register is; whether there is any of this name."""
    documents = lookup.explain(lookup.databases(verx10, question.register_db), name)
    result = Result(
        _SHOW_SCHEMA,
        lambda: {"name": name, "found": documents},
        lambda: _documents_lines(documents),
    )
    write_result(result, question.form)
    return bool(documents)


def search(question: Question, text: str, verx10: int | None) -> bool:
    """Write the names that contain a text; whether there are any."""
    hits = lookup.search(lookup.databases(verx10, question.register_db), text)
    found = [{**hit._asdict(), "generations": names} for hit, names in hits.items()]
    table = [(hit.kind, hit.name, hit.where, " ".join(names)) for hit, names in hits.items()]
    result = Result(_SEARCH_SCHEMA, lambda: {"text": text, "found": found}, lambda: columns(table))
    write_result(result, question.form)
    return bool(hits)


def _documents_lines(documents: list[dict[str, Any]]) -> Iterator[str]:
    for number, document in enumerate(documents):
        if number:
            yield ""
        parts = [document["name"], document["kind"]]
        if document["length"] is not None:
            parts.append(f"{document['length']} dwords")
        if "opcode" in document:
            parts.append(f"opcode {document['opcode']}")
            parts.append(" ".join(document["engines"]))
        if document.get("offset") is not None:
            parts.append(f"at {document['offset']:#06x}")
        yield Styled(f"{'  '.join(parts)}  in {' '.join(document['generations'])}")
        yield from _field_lines(document["fields"])


def _field_lines(fields: list[dict[str, Any]]) -> Iterator[str]:
    table = [(_bits(field), field["name"], field["type"]) for field in fields]
    for field, line in zip(fields, columns(table), strict=True):
        yield f"  {line}"
        for value in field["values"]:
            yield f"      {value['number']:#x} {value['name']}"


def _bits(field: dict[str, Any]) -> str:
    low, high = field["low"], field["high"]
    return f"{low}" if low == high else f"{low}..{high}"
