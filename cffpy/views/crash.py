# SPDX-License-Identifier: MIT
"""The report on a crash as a page of text, and as an HTML page without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.views.page_kit.document import document, files_of, footer, section
from cffpy.views.page_kit.markup import Markup, element
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.crash.context import Evidence
    from cffpy.analysis.crash.model import CrashReport, Section, Statement, Suspicion

SCHEMA = "cffpy.crash/1"


#: Evidence that is shown of a statement.
_SHOWN = 4


def lines(report: CrashReport) -> Iterator[str]:
    """The page. After each statement, in brackets, where it comes from."""
    yield Styled(visible(report.file))
    for number, part in enumerate(report.parts):
        yield Styled(part.title)
        for statement in part.statements:
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


def page(report: CrashReport) -> bytes:
    """The page in UTF-8. It has no script."""
    first, *others = report.parts
    suspicions = list(map(_suspicion_item, report.suspicious))
    body = (
        element("header", element("h1", report.file)),
        element(
            "main",
            _section_of(first),
            section(
                "suspicious",
                "suspicious",
                element("ul", suspicions) if suspicions else element("p", "nothing was found"),
            ),
            map(_section_of, others),
        ),
        footer(),
    )
    return document(f"GPU crash: {report.file}", body, files_of(__file__, "crash.css"))


def _section_of(part: Section) -> Markup:
    return section(part.name, part.title, element("ul", map(_statement_item, part.statements)))


def _statement_item(statement: Statement) -> Markup:
    prefix = "unknown: " if statement.is_unknown else ""
    kind = "unknown" if statement.is_unknown else None
    return element("li", prefix + statement.text, _evidence_span(statement.evidence), class_=kind)


def _suspicion_item(suspicion: Suspicion) -> Markup:
    reasons = element("ul", [element("li", reason) for reason in suspicion.reasons])
    evidence = _evidence_span(suspicion.evidence)
    return element("li", suspicion.text, evidence, reasons, class_="suspicion")


def _evidence_span(evidence: Iterable[Evidence]) -> Markup:
    shown = ", ".join(map(str, evidence))
    return element("span", shown, class_="evidence") if shown else Markup("")
