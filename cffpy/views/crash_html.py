# SPDX-License-Identifier: MIT
"""The report on a crash as one HTML page: the statements of ``cffpy crash``, without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.views.page_kit.document import document, files_of, footer, section
from cffpy.views.page_kit.markup import Markup, element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.crash.context import Evidence
    from cffpy.analysis.crash.model import CrashReport, Section, Statement, Suspicion


def page(report: CrashReport) -> bytes:
    """The page in UTF-8. It has no script."""
    first, *others = report.parts
    suspicions = [_suspicion(one) for one in report.suspicious]
    body = (
        element("header", element("h1", report.file)),
        element(
            "main",
            _section(first),
            section(
                "suspicious",
                "suspicious",
                element("ul", suspicions) if suspicions else element("p", "nothing was found"),
            ),
            [_section(one) for one in others],
        ),
        footer(),
    )
    return document(f"GPU crash: {report.file}", body, files_of(__file__, "crash.css"))


def _section(part: Section) -> Markup:
    return section(part.name, part.title, element("ul", map(_statement, part.statements)))


def _statement(statement: Statement) -> Markup:
    prefix = "unknown: " if statement.is_unknown else ""
    kind = "unknown" if statement.is_unknown else None
    return element("li", prefix + statement.text, _evidence(statement.evidence), class_=kind)


def _suspicion(suspicion: Suspicion) -> Markup:
    reasons = element("ul", [element("li", reason) for reason in suspicion.reasons])
    evidence = _evidence(suspicion.evidence)
    return element("li", suspicion.text, evidence, reasons, class_="suspicion")


def _evidence(evidence: Iterable[Evidence]) -> Markup:
    shown = ", ".join(map(str, evidence))
    return element("span", shown, class_="evidence") if shown else Markup("")
