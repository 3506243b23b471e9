# SPDX-License-Identifier: MIT
"""The report on a crash: a page of text, or a JSON document. Both say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from cffpy.document_types import AtLeast, Facts, Hex
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.crash.model import CrashReport, Evidence, Statement, Suspicion

SCHEMA = "cffpy.crash/1"


class CrashEvidence(TypedDict):
    """Where a statement comes from: one of these."""

    line: NotRequired[Annotated[int, "number of a line of the dump, from 1"]]
    offset: NotRequired[Annotated[Hex, "offset in the dump, in bytes"]]
    address: NotRequired[Annotated[Hex, "GPU address"]]


class CrashStatement(TypedDict):
    """A statement of the report."""

    text: Annotated[str, "the statement"]
    unknown: Annotated[bool, "it says that something is not known"]
    evidence: Annotated[list[CrashEvidence], "where it comes from"]


class CrashSuspicion(TypedDict):
    """Something that may be the cause."""

    kind: Annotated[str, "what is suspicious, in a word or two, the same in all reports"]
    text: Annotated[str, "what is suspicious of this dump"]
    reasons: Annotated[list[str], "why it may be the cause, in words"]
    evidence: Annotated[list[CrashEvidence], "where it comes from"]


class CrashSection(TypedDict):
    """A section of the report; its other members are what its statements say, as values."""

    statements: Annotated[list[CrashStatement], "the statements"]


_Section = Annotated[Facts, AtLeast(CrashSection)]
_Sections = TypedDict(
    "_Sections",
    {
        "hang": Annotated[_Section, "what hangs"],
        "dump": Annotated[_Section, "what the dump is of"],
        "fault": Annotated[_Section, "what the MMU says of a fault"],
        "rings": Annotated[_Section, "how far rings are executed"],
        "position": Annotated[_Section, "where the CP is in the commands"],
        "in_flight": Annotated[_Section, "draws and passes that may still be executed"],
        "pass": Annotated[_Section, "the pass that the CP is in"],
        "shaders": Annotated[_Section, "the programs of the draw, and where they are"],
        "status": Annotated[_Section, "what status registers say of the blocks of the GPU"],
        "gmu": Annotated[_Section, "what the GMU says"],
        "lacks": Annotated[_Section, "what the dump does not have"],
    },
)


class CrashDocument(_Sections):
    """A crash: cffpy crash --json."""

    file: Annotated[str, "the dump"]
    suspicious: Annotated[list[CrashSuspicion], "what may be the cause, the likeliest first"]


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
        statements = list(map(_statement_document, section.statements))
        found[section.name] = {**section.data, "statements": statements}
    return found


def _statement_document(statement: Statement) -> CrashStatement:
    return {
        "text": statement.text,
        "unknown": statement.is_unknown,
        "evidence": [_evidence_document(one) for one in statement.evidence],
    }


def _suspicion_document(suspicion: Suspicion) -> CrashSuspicion:
    return {
        "kind": suspicion.kind,
        "text": suspicion.text,
        "reasons": list(suspicion.reasons),
        "evidence": [_evidence_document(one) for one in suspicion.evidence],
    }


def _evidence_document(evidence: Evidence) -> CrashEvidence:
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
