# SPDX-License-Identifier: MIT
"""Compares two indexes, as of two nights: captures, register values, findings, programs.

Captures correspond by their paths below the inputs of the builds. Registers with many values, such
as addresses, are left out: their values are new each night. ``check_index`` has the findings of an
index, or those that another one has not.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.check.model import SEVERITIES, Finding
from cffpy.errors import CaptureIndexError
from cffpy.frame.faces import facts_document
from cffpy.frame.facts import Bits, described, model, stored
from cffpy.index.tables import FINDINGS, PROGRAMS, VALUES, IndexedShader, RegisterValueCount
from cffpy.index.values import connect
from cffpy.views.check import counts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from cffpy.check.model import Lint
    from cffpy.index.model import IndexedCapture
    from cffpy.index.reader import Index
    from cffpy.views.check import CheckedFile

#: A register with more values than this in either index is not compared.
MOST_VALUES = 64


@described(
    "status_change",
    is_value=False,
    capture="the capture below its input",
    old="what became of it in the old index",
    new="what became of it in the new index",
)
class StatusChange(NamedTuple):
    """A capture whose status is another."""

    capture: str
    old: str
    new: str


@described(
    "new_value",
    is_value=False,
    like=(RegisterValueCount,),
)
class NewValue(NamedTuple):
    """A value that only the new index has."""

    generation: int
    register: str
    value: Bits | None
    decoded: str
    captures: int
    draws: int
    first_capture: str


@described(
    "new_finding",
    is_value=False,
    like=(Finding,),
    capture="the capture below its input",
    full_name="the capture",
)
class NewFinding(NamedTuple):
    """A finding that is new in a capture that both indexes have."""

    capture: str
    full_name: str
    severity: str
    id: str
    pass_: int | None
    draw_name: str | None
    text: str
    count: int  # type: ignore[assignment] # a tuple's method, which nobody calls


@described(
    "lint_change",
    is_value=False,
    like=(Finding,),
    old="findings of the old index",
    new="findings of the new index",
)
class LintChange(NamedTuple):
    """A lint with another number of findings."""

    id: str
    old: int
    new: int


@described(
    "compared_programs",
    is_value=False,
    like=(IndexedShader,),
    old_programs="programs of the old index",
    new_programs="programs of the new index",
    only_new="programs that only the new index has",
    only_old="programs that only the old index has",
    old_instructions="instructions of all programs of the old index",
    new_instructions="instructions of all programs of the new index",
    old_full_registers="most full registers in the old index",
    new_full_registers="most full registers in the new index",
)
class ComparedPrograms(NamedTuple):
    """The programs of a stage in both indexes."""

    stage: str
    old_programs: int
    new_programs: int
    only_new: int
    only_old: int
    old_instructions: int
    new_instructions: int
    old_full_registers: int | None
    new_full_registers: int | None


@model("index_comparison")
class IndexComparison:
    """What is new in the second of two indexes: cffpy index compare --json."""

    old: str = stored("folder or URL of the old index")
    new: str = stored("folder or URL of the new index")
    added: list[str] = stored("captures that only the new index has", default_factory=list)
    removed: list[str] = stored("captures that only the old index has", default_factory=list)
    status: list[StatusChange] = stored("captures whose status changed", default_factory=list)
    values: list[NewValue] = stored(
        "values of registers that only the new index has", default_factory=list
    )
    findings: list[NewFinding] = stored("findings of lints that are new", default_factory=list)
    lints: list[LintChange] = stored("lints with another number of findings", default_factory=list)
    programs: list[ComparedPrograms] = stored("programs by stage", default_factory=list)

    @property
    def is_worse(self) -> bool:
        """Whether a capture fails that did not, or a finding of an error is new."""
        failing = any(change.new == "failed" for change in self.status)
        return failing or any(finding.severity == "error" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy index compare --json``."""
        return facts_document(self)


def compare(old: Index, new: Index, with_new_captures: bool = False) -> IndexComparison:
    """What differs between two indexes. Findings are compared where both were built with lints.

    ``with_new_captures``: the findings of captures that the old index has not are new, too.
    """
    comparison = IndexComparison(old.path, new.path)
    names = {name: entry for entry in old.files for name in [path_below_root(entry)]}
    others = {name: entry for entry in new.files for name in [path_below_root(entry)]}
    comparison.added = sorted(set(others) - set(names))
    comparison.removed = sorted(set(names) - set(others))
    comparison.status = [
        StatusChange(name, names[name].status, entry.status)
        for name, entry in sorted(others.items())
        if name in names and names[name].status != entry.status
    ]
    comparison.values = _new_values(old, new)
    comparison.programs = _programs(old, new)
    if old.has_findings and new.has_findings:
        _compare_findings(
            comparison, old, new, set() if with_new_captures else set(comparison.added)
        )
    return comparison


def path_below_root(entry: IndexedCapture) -> str:
    """The path of a capture below the input by which it was found; its name for other inputs."""
    root = entry.root.rstrip("/")
    if entry.name.startswith((f"{root}/", f"{root}!")):
        return entry.name[len(root) + 1 :]
    return os.path.basename(entry.name)


def _new_values(old: Index, new: Index) -> list[NewValue]:
    with connect(1, f"{old.path}, {new.path}") as database:
        database.register("old_values", old.corpus(VALUES))
        database.register("new_values", new.corpus(VALUES))
        rows = database.execute(f"""
            WITH few AS (
                SELECT generation, register FROM (
                    SELECT 0 AS side, * FROM old_values UNION ALL SELECT 1, * FROM new_values)
                GROUP BY generation, register
                HAVING max(side) = 1
                    AND count(*) FILTER (side = 0) <= {MOST_VALUES}
                    AND count(*) FILTER (side = 1) <= {MOST_VALUES})
            SELECT generation, register, value, decoded, captures, draws, first_capture
            FROM new_values n SEMI JOIN few USING (generation, register)
            WHERE NOT EXISTS (SELECT 1 FROM old_values o WHERE o.generation = n.generation
                AND o.register = n.register AND o.value IS NOT DISTINCT FROM n.value)
            ORDER BY generation, register, captures DESC, value
        """).fetchall()
    return [*map(NewValue._make, rows)]


def _programs(old: Index, new: Index) -> list[ComparedPrograms]:
    with connect(1, f"{old.path}, {new.path}") as database:
        database.register("old_programs", old.corpus(PROGRAMS))
        database.register("new_programs", new.corpus(PROGRAMS))
        rows = database.execute("""
            SELECT stage,
                count(*) FILTER (side = 0), count(*) FILTER (side = 1),
                count(*) FILTER (side = 1 AND NOT is_in_both),
                count(*) FILTER (side = 0 AND NOT is_in_both),
                coalesce(sum(instructions) FILTER (side = 0), 0)::BIGINT,
                coalesce(sum(instructions) FILTER (side = 1), 0)::BIGINT,
                max(full_registers) FILTER (side = 0), max(full_registers) FILTER (side = 1)
            FROM (SELECT *, count(*) OVER (PARTITION BY digest, stage) = 2 AS is_in_both FROM (
                SELECT 0 AS side, * FROM old_programs UNION ALL SELECT 1, * FROM new_programs))
            GROUP BY stage ORDER BY stage
        """).fetchall()
    return [*map(ComparedPrograms._make, rows)]


def _compare_findings(
    comparison: IndexComparison, old: Index, new: Index, new_captures: set[str]
) -> None:
    before = _findings(old)
    now = _findings(new)
    totals: list[Counter[str]] = [Counter(), Counter()]
    for total, findings in zip(totals, (before, now), strict=True):
        for (_, lint, *_), (count, _severity) in findings.items():
            total[lint] += count
    comparison.lints = [
        LintChange(lint, totals[0][lint], totals[1][lint])
        for lint in sorted({*totals[0], *totals[1]})
        if totals[0][lint] != totals[1][lint]
    ]
    names = {path_below_root(entry): entry.name for entry in new.files}
    for key, (count, severity) in now.items():
        capture, lint, pass_index, draw, text = key
        if capture in new_captures or count <= before.get(key, (0, ""))[0]:
            continue
        full = names.get(capture, capture)
        comparison.findings.append(
            NewFinding(capture, full, severity, lint, pass_index, draw, text, count)
        )


def _findings(index: Index) -> dict[tuple[Any, ...], tuple[int, str]]:
    """Capture below its root, lint, pass, draw and text of each finding -> count, severity."""
    names = {entry.name: path_below_root(entry) for entry in index.files}
    with connect(1, index.path) as database:
        database.register("findings", index.dataset(FINDINGS))
        rows = database.execute(
            'SELECT capture, id, "pass", draw_name, text, "count", severity FROM findings'
            " ORDER BY ALL"
        ).fetchall()
    return {(names.get(row[0], row[0]), *row[1:5]): (row[5], row[6]) for row in rows}


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
        return sum(finding["severity"] == severity for finding in self.findings)

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
        file.name: IndexedCheck(
            file.name,
            file.gpu,
            file.generation,
            list(file.problems) if file.error is None else [file.error],
        )
        for file in index.files
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
        (finding.full_name, (finding.id, finding.pass_, finding.draw_name, finding.text))
        for finding in compare(baseline, index, with_new_captures=True).findings
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
        for finding in check.findings:
            key = finding["severity"], f"{finding['id']} {finding['name']}"
            places[key] += finding["count"]
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
    shown = "".join(
        character if character.isprintable() else f"\\x{ord(character):02x}" for character in text
    )
    return "".join(
        f"&#{ord(character)};" if character in _MARKS else character for character in shown
    )


_MARKS = frozenset("\\|<>*_`[]&#@~")
