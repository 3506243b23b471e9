# SPDX-License-Identifier: MIT
"""The report on a crash as one HTML page: the statements of ``cffpy crash``, without a script."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import TYPE_CHECKING

from cffpy.views.diff_html.markup import Markup, element, join

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.crash.model import CrashReport, Evidence, Section, Statement, Suspicion

_STYLE = Markup(
    "body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em}"
    "h2{font-size:1.1em;margin:1.5em 0 .3em}ul{margin:0;padding-left:1.3em}"
    ".evidence{font:12px monospace;color:#666;margin-left:.8em}"
    ".unknown{color:#777;font-style:italic}"
    ".suspicion{font-weight:bold}.suspicion ul{font-weight:normal}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}}"
)


def page(report: CrashReport) -> str:
    """The page. Nothing in it loads or runs anything."""
    digest = base64.b64encode(sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    first, *others = report.sections
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width"),
        element("title", f"GPU crash: {report.name}"),
        element("style", _STYLE),
    )
    body = element(
        "body",
        element("h1", report.name),
        _section(first),
        element("h2", "suspicious"),
        element("ul", [_suspicion(one) for one in report.suspicions])
        if report.suspicions
        else element("p", "nothing was found"),
        [_section(one) for one in others],
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _section(section: Section) -> Markup:
    items = [_statement(one) for one in section.statements]
    return join([element("h2", section.title, id=section.name), element("ul", items)])


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
