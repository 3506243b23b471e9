# SPDX-License-Identifier: MIT
"""Answers of ``cffpy db`` as JSON documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from cffpy.document_types import AtLeast
from cffpy.findings import ERROR

if TYPE_CHECKING:
    from cffpy.findings import Finding
    from cffpy.regdb.compare import Change
    from cffpy.regdb.search import Hit

SHOW_SCHEMA = "cffpy.db-show/1"
SEARCH_SCHEMA = "cffpy.db-search/1"
CHECK_SCHEMA = "cffpy.db-check/1"
EDITIONS_SCHEMA = "cffpy.db-editions/1"
DIFF_SCHEMA = "cffpy.db-diff/1"


_Generations = Annotated[Sequence[str], "the generations of GPUs that have it, as in A6XX"]


class Meaning(TypedDict):
    """One of the things that a name or offset may be."""

    kind: Annotated[str, "register, field, enum, bitset, packet, ...; decides the other members"]
    generations: NotRequired[_Generations]


class ShowDocument(TypedDict):
    """What a name or offset is: cffpy db show --json."""

    asked: Annotated[str, "the name or offset"]
    found: Annotated[Sequence[Annotated[Mapping[str, Any], AtLeast(Meaning)]], "what it may be"]


class NameFound(TypedDict):
    """A name that contains the text."""

    kind: Annotated[str, "register, field, enum, bitset, packet, ..."]
    name: Annotated[str, "the name"]
    where: Annotated[str, "what the name is a part of; empty for a name of its own"]
    number: Annotated[int | None, "offset of a register, value of an enum, opcode of a packet"]
    generations: _Generations


class SearchDocument(TypedDict):
    """Names that contain a text: cffpy db search --json."""

    asked: Annotated[str, "the text"]
    found: Annotated[list[NameFound], "the names"]


class DescriptionFinding(TypedDict):
    """Something that is wrong in the descriptions."""

    file: Annotated[str, "name of the file, as in a6xx.regs"]
    line: Annotated[int, "number of the line, from 1"]
    severity: Annotated[str, "how bad it is: error or notice"]
    kind: Annotated[str, "a few words, the same for all findings of the kind"]
    message: Annotated[str, "what is wrong, in one line"]


class DbCheckDocument(TypedDict):
    """Findings in an edition: cffpy db check --json."""

    parts: Annotated[list[str], "the parts of the edition that were checked"]
    errors: Annotated[int, "how many findings are errors"]
    notices: Annotated[int, "how many are not, shown or not"]
    findings: Annotated[list[DescriptionFinding], "the findings"]


class Edition(TypedDict):
    """An edition of the descriptions."""

    name: Annotated[str, "its short name, as --edition takes it"]
    edition: Annotated[str, "its full name"]
    generations: Annotated[list[str], "the generations of GPUs that it describes, as in A6XX"]


class EditionsDocument(TypedDict):
    """Installed editions: cffpy db editions --json."""

    editions: Annotated[list[Edition], "the editions"]


class EditionChange(TypedDict):
    """A name that differs between two editions."""

    change: Annotated[str, "added, removed or changed"]
    kind: Annotated[str, "register, field, enum, bitset, packet, ..."]
    within: Annotated[str, "what the name is a part of; empty for a name of its own"]
    old: Annotated[str, "the old edition has this; empty for what was added"]
    new: Annotated[str, "the new edition has this; empty for what was removed"]
    place: Annotated[str, "offset, bits or number"]


class EditionDiffDocument(TypedDict):
    """What differs between two editions: cffpy db diff --json."""

    old: Annotated[str, "name of the old edition"]
    new: Annotated[str, "name of the new edition"]
    generations: Annotated[
        dict[str, list[EditionChange]], "the changes of each generation of GPUs, as in A6XX"
    ]


def show_document(name: str, found: Sequence[Mapping[str, Any]]) -> ShowDocument:
    """What ``name`` may be: ``found`` is the result of ``regdb.explain``."""
    return {"asked": name, "found": found}


def search_document(text: str, hits: Mapping[Hit, Sequence[str]]) -> SearchDocument:
    """The names that contain ``text``, with their generations."""
    found: list[NameFound] = [
        {
            "kind": hit.kind,
            "name": hit.name,
            "where": hit.where,
            "number": hit.number,
            "generations": chips,
        }
        for hit, chips in hits.items()
    ]
    return {"asked": text, "found": found}


def check_document(
    parts: Mapping[str, Sequence[Finding] | None], errors_only: bool
) -> DbCheckDocument:
    """The findings by part of an edition. The counts include findings that are not shown."""
    findings = [finding for found in parts.values() for finding in found or ()]
    errors = sum(finding.severity == ERROR for finding in findings)
    return {
        "parts": [part for part, found in parts.items() if found is not None],
        "errors": errors,
        "notices": len(findings) - errors,
        "findings": [
            {
                "file": finding.file,
                "line": finding.line,
                "severity": finding.severity,
                "kind": finding.kind,
                "message": finding.message,
            }
            for finding in findings
            if finding.severity == ERROR or not errors_only
        ],
    }


def editions_document(rows: Sequence[tuple[str, str, Sequence[str]]]) -> EditionsDocument:
    """The installed editions: short name, full name, generations that they describe."""
    return {
        "editions": [
            {"name": name, "edition": full, "generations": list(chips)}
            for name, full, chips in rows
        ]
    }


def edition_diff_document(
    old: str, new: str, changes: Mapping[str, Sequence[Change]]
) -> EditionDiffDocument:
    """The changes from one edition to another, by generation."""
    return {
        "old": old,
        "new": new,
        "generations": {
            chip: list(map(_change_document, found)) for chip, found in changes.items()
        },
    }


def _change_document(change: Change) -> EditionChange:
    return {
        "change": change.change,
        "kind": change.kind,
        "within": change.within,
        "old": change.old,
        "new": change.new,
        "place": change.place,
    }
