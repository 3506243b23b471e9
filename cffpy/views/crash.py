# SPDX-License-Identifier: MIT
"""The report on a crash as a page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.crash.context import Evidence
    from cffpy.analysis.crash.model import CrashReport, Statement, Suspicion

SCHEMA = "cffpy.crash/1"


#: Evidence that is shown of a statement.
_SHOWN = 4


def lines(report: CrashReport) -> Iterator[str]:
    """The page. After each statement, in brackets, where it comes from."""
    yield Styled(visible(report.file))
    for number, section in enumerate(report.parts):
        yield Styled(section.title)
        for statement in section.statements:
            yield f"  {_statement(statement)}"
        if not number:
            yield from _suspicions(report.suspicious)


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


def _statement(statement: Statement) -> str:
    prefix = "unknown: " if statement.is_unknown else ""
    return prefix + _line(statement.text, statement.evidence)


def _line(text: str, evidence: Iterable[Evidence]) -> str:
    shown = list(map(str, evidence))
    if not shown:
        return visible(text)
    more = ", ..." if len(shown) > _SHOWN else ""
    return f"{visible(text)}  [{', '.join(shown[:_SHOWN])}{more}]"
