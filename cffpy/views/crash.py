# SPDX-License-Identifier: MIT
"""The report on a crash: a page of text, or a JSON document. Both say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.crash.model import CrashReport, Evidence, Statement, Suspicion

SCHEMA = "cffpy.crash/1"

#: Evidence that is shown of a statement.
_SHOWN = 4


def lines(report: CrashReport) -> Iterator[str]:
    """The page. After each statement, in brackets, where it comes from."""
    yield Styled(visible(report.name))
    for number, section in enumerate(report.sections):
        yield Styled(section.title)
        for statement in section.statements:
            yield f"  {_statement(statement)}"
        if not number:
            yield from _suspicions(report.suspicions)


def _suspicions(suspicions: Iterable[Suspicion]) -> Iterator[str]:
    yield Styled("suspicious")
    is_empty = True
    for suspicion in suspicions:
        is_empty = False
        yield f"  {_line(suspicion.text, suspicion.evidence)}"
        for reason in suspicion.reasons:
            yield f"    {visible(reason)}"
    if is_empty:
        yield "  nothing was found"


def document(report: CrashReport) -> dict[str, Any]:
    """The report as a JSON document: each section's statements, and the same as values."""
    found: dict[str, Any] = {
        "file": report.name,
        "suspicious": [_suspicion_document(one) for one in report.suspicions],
    }
    for section in report.sections:
        found[section.name] = {
            **section.data,
            "statements": [
                {
                    "text": one.text,
                    "unknown": one.is_unknown,
                    "evidence": [_evidence_document(item) for item in one.evidence],
                }
                for one in section.statements
            ],
        }
    return found


def _suspicion_document(suspicion: Suspicion) -> dict[str, Any]:
    return {
        "kind": suspicion.kind,
        "text": suspicion.text,
        "reasons": list(suspicion.reasons),
        "evidence": [_evidence_document(one) for one in suspicion.evidence],
    }


def _evidence_document(evidence: Evidence) -> dict[str, Any]:
    if evidence.offset is not None:
        return {"offset": f"{evidence.offset:#x}"}
    if evidence.line is not None:
        return {"line": evidence.line}
    return {"address": f"{evidence.address or 0:#x}"}


def _statement(statement: Statement) -> str:
    prefix = "unknown: " if statement.is_unknown else ""
    return prefix + _line(statement.text, statement.evidence)


def _line(text: str, evidence: Iterable[Evidence]) -> str:
    shown = list(map(str, evidence))
    if not shown:
        return visible(text)
    more = ", ..." if len(shown) > _SHOWN else ""
    return f"{visible(text)}  [{', '.join(shown[:_SHOWN])}{more}]"
