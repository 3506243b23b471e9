# SPDX-License-Identifier: MIT
"""The findings of lints that an index has: those of ``cffpy check``, without the captures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cffpy.check.model import SEVERITIES
from cffpy.errors import CaptureIndexError
from cffpy.index.compare import compare
from cffpy.views.check import counts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from cffpy.check.model import Lint
    from cffpy.index.reader import Index
    from cffpy.views.check import CheckedFile


@dataclass(slots=True)
class IndexedCheck:
    """The findings of one capture: objects of ``cffpy check --json``.

    ``problems``: damage of the capture, or why it could not be decoded.
    """

    capture: str
    gpu: str | None
    generation: int | None
    problems: list[str]
    findings: list[dict[str, Any]] = field(default_factory=list)

    def count(self, severity: str) -> int:
        """How many findings have this severity."""
        return sum(one["severity"] == severity for one in self.findings)

    def to_dict(self) -> CheckedFile:
        """Its object in the document."""
        return {
            "file": self.capture,
            "gpu": self.gpu,
            "generation": self.generation,
            "problems": self.problems,
            "counts": counts_of(self.count),
            "findings": self.findings,
        }


def check_index(
    index: Index, lints: Sequence[Lint], baseline: Index | None = None
) -> list[IndexedCheck]:
    """The findings of these lints, for each capture by name.

    ``baseline``: another index, such as the one of the night before, whose findings are left out.
    Raises CaptureIndexError for an index that was built without lints.
    """
    chosen = {lint.id for lint in lints}
    found = {
        one.name: IndexedCheck(
            one.name,
            one.gpu,
            one.generation,
            list(one.problems) if one.error is None else [one.error],
        )
        for one in index.files
    }
    known = None if baseline is None else _new_in(baseline, index)
    for capture, text in index.findings():
        document = _document(text)
        if document is None or capture not in found:
            raise CaptureIndexError(
                f"{index.path}: a stored finding is damaged: build the index again"
            )
        if document["id"] in chosen and (known is None or (capture, _key(document)) in known):
            found[capture].findings.append(document)
    return list(found.values())


def _document(text: str | None) -> dict[str, Any] | None:
    """A stored finding; None for a damaged one."""
    try:
        document = json.loads(text or "")
    except ValueError:
        return None
    if not isinstance(document, dict) or not document.keys() >= _KEYS:
        return None
    is_sound = document["severity"] in SEVERITIES and isinstance(document["count"], int)
    return document if is_sound else None


_KEYS = {"id", "name", "severity", "text", "count", "pass", "draw_name"}


def _new_in(baseline: Index, index: Index) -> Collection[tuple[str, tuple[Any, ...]]]:
    """Capture and key of each finding that the baseline does not have, or has less often."""
    next(baseline.findings(), None)  # raises where it was built without lints
    return {
        (one.full_name, (one.id, one.pass_, one.draw_name, one.text))
        for one in compare(baseline, index, with_new_captures=True).findings
    }


def _key(document: dict[str, Any]) -> tuple[Any, ...]:
    return document["id"], document["pass"], document["draw_name"], document["text"]


def markdown(checks: Iterable[IndexedCheck], most: int = 50) -> list[str]:
    """A summary for pages such as GitHub's and GitLab's: counts by lint, then the captures."""
    checks = list(checks)
    counts = {one: sum(check.count(one) for check in checks) for one in reversed(SEVERITIES)}
    text = ", ".join(f"{count} {severity}" for severity, count in counts.items())
    lines = ["## cffpy check", "", f"{len(checks)} captures: {text}", *_lint_rows(checks)]
    bad = [check for check in checks if check.problems or check.count("error")]
    if bad:
        lines += ["", "| capture | errors | problem |", "| --- | ---: | --- |"]
    for check in bad[:most]:
        problem = cell(check.problems[0]) if check.problems else ""
        lines.append(f"| {cell(check.capture)} | {check.count('error')} | {problem} |")
    if len(bad) > most:
        lines.append(f"| and {len(bad) - most} more | | |")
    return lines


def _lint_rows(checks: Iterable[IndexedCheck]) -> list[str]:
    """A table with a row for each severity and lint."""
    places: Counter[tuple[str, str]] = Counter()
    captures: dict[tuple[str, str], set[str]] = {}
    for check in checks:
        for one in check.findings:
            key = one["severity"], f"{one['id']} {one['name']}"
            places[key] += one["count"]
            captures.setdefault(key, set()).add(check.capture)
    if not places:
        return []
    order: dict[str, int] = {one: n for n, one in enumerate(reversed(SEVERITIES))}
    found = sorted(places, key=lambda key: (order[key[0]], key[1]))
    return [
        "",
        "| severity | lint | places | captures |",
        "| --- | --- | ---: | ---: |",
        *(f"| {key[0]} | {key[1]} | {places[key]} | {len(captures[key])} |" for key in found),
    ]


def cell(text: str) -> str:
    """A text of a capture, escaped for a table of Markdown."""
    shown = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)
    return "".join(f"&#{ord(one)};" if one in _MARKS else one for one in shown)


_MARKS = frozenset("\\|<>*_`[]&#@~")
