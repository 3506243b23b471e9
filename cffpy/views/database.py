# SPDX-License-Identifier: MIT
"""Answers of ``cffpy db`` as JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.findings import ERROR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cffpy.findings import Finding
    from cffpy.regdb.compare import Change
    from cffpy.regdb.search import Hit

SHOW_SCHEMA = "cffpy.db-show/1"
SEARCH_SCHEMA = "cffpy.db-search/1"
CHECK_SCHEMA = "cffpy.db-check/1"
EDITIONS_SCHEMA = "cffpy.db-editions/1"
DIFF_SCHEMA = "cffpy.db-diff/1"


def show_document(name: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What ``name`` may be: ``found`` is the result of ``regdb.explain``."""
    return {"asked": name, "found": found}


def search_document(text: str, hits: Mapping[Hit, Sequence[str]]) -> dict[str, Any]:
    """The names that contain ``text``, with their generations."""
    found = [{**hit._asdict(), "generations": chips} for hit, chips in hits.items()]
    return {"asked": text, "found": found}


def check_document(
    parts: Mapping[str, Sequence[Finding] | None], errors_only: bool
) -> dict[str, Any]:
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


def editions_document(rows: Sequence[tuple[str, str, Sequence[str]]]) -> dict[str, Any]:
    """The installed editions: short name, full name, generations that they describe."""
    return {
        "editions": [
            {"name": name, "edition": full, "generations": list(chips)}
            for name, full, chips in rows
        ]
    }


def edition_diff_document(
    old: str, new: str, changes: Mapping[str, Sequence[Change]]
) -> dict[str, Any]:
    """The changes from one edition to another, by generation."""
    return {
        "old": old,
        "new": new,
        "generations": {
            chip: [change._asdict() for change in found] for chip, found in changes.items()
        },
    }
