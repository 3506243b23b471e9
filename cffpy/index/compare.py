# SPDX-License-Identifier: MIT
"""Compares two indexes, as of two nights: captures, register values, findings, programs.

Captures correspond by their paths below the inputs of the builds. Registers with many values, such
as addresses, are left out: their values are new each night.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cffpy.index.tables import FINDINGS, PROGRAMS, VALUES
from cffpy.index.values import connect

if TYPE_CHECKING:
    from cffpy.index.model import Entry
    from cffpy.index.reader import Index

#: A register with more values than this in either index is not compared.
MOST_VALUES = 64


@dataclass(slots=True)
class IndexComparison:
    """What differs between two indexes, from ``old`` to ``new``.

    ``added``, ``removed``: captures. ``status``: capture, old and new status. ``values``: values
    that only the new index has: generation, register, value, decoded, captures, first capture.
    ``findings``: findings of lints that are new in a capture that both have: capture, lint,
    severity, draw, text. ``lints``: lint -> old and new number of findings. ``programs``: programs
    that only one index has, and instructions, by stage: see ``to_dict``.
    """

    old: str
    new: str
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    status: list[tuple[str, str, str]] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    lints: dict[str, tuple[int, int]] = field(default_factory=dict)
    programs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_worse(self) -> bool:
        """Whether a capture fails that did not, or a finding of an error is new."""
        failing = any(now == "failed" for _, _, now in self.status)
        return failing or any(one["severity"] == "error" for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy index compare --json``."""
        return asdict(self)


def compare(old: Index, new: Index, with_new_captures: bool = False) -> IndexComparison:
    """What differs between two indexes. Findings are compared where both were built with lints.

    ``with_new_captures``: the findings of captures that the old index has not are new, too.
    """
    found = IndexComparison(old.path, new.path)
    names = {name: entry for entry in old.files for name in [path_below_root(entry)]}
    others = {name: entry for entry in new.files for name in [path_below_root(entry)]}
    found.added = sorted(set(others) - set(names))
    found.removed = sorted(set(names) - set(others))
    found.status = [
        (name, names[name].status, entry.status)
        for name, entry in sorted(others.items())
        if name in names and names[name].status != entry.status
    ]
    found.values = _new_values(old, new)
    found.programs = _programs(old, new)
    if old.has_findings and new.has_findings:
        _compare_findings(found, old, new, set() if with_new_captures else set(found.added))
    return found


def path_below_root(entry: Entry) -> str:
    """The path of a capture below the input by which it was found; its name for other inputs."""
    root = entry.root.rstrip("/")
    if entry.name.startswith((f"{root}/", f"{root}!")):
        return entry.name[len(root) + 1 :]
    return os.path.basename(entry.name)


def _new_values(old: Index, new: Index) -> list[dict[str, Any]]:
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
    columns = ("generation", "register", "value", "decoded", "captures", "draws", "first_capture")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _programs(old: Index, new: Index) -> list[dict[str, Any]]:
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
    columns = (
        "stage",
        "old_programs",
        "new_programs",
        "only_new",
        "only_old",
        "old_instructions",
        "new_instructions",
        "old_full",
        "new_full",
    )
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _compare_findings(
    found: IndexComparison, old: Index, new: Index, new_captures: set[str]
) -> None:
    before = _findings(old)
    now = _findings(new)
    totals: list[Counter[str]] = [Counter(), Counter()]
    for total, findings in zip(totals, (before, now), strict=True):
        for (_, lint, *_), (count, _severity) in findings.items():
            total[lint] += count
    found.lints = {
        lint: (totals[0][lint], totals[1][lint])
        for lint in sorted({*totals[0], *totals[1]})
        if totals[0][lint] != totals[1][lint]
    }
    names = {path_below_root(entry): entry.name for entry in new.files}
    for key, (count, severity) in now.items():
        capture, lint, pass_index, draw, text = key
        if capture in new_captures or count <= before.get(key, (0, ""))[0]:
            continue
        found.findings.append(
            {
                "capture": capture,
                "full_name": names.get(capture, capture),
                "lint": lint,
                "severity": severity,
                "pass": pass_index,
                "draw": draw,
                "text": text,
                "count": count,
            }
        )


def _findings(index: Index) -> dict[tuple[Any, ...], tuple[int, str]]:
    """Capture below its root, lint, pass, draw and text of each finding -> count, severity."""
    names = {entry.name: path_below_root(entry) for entry in index.files}
    with connect(1, index.path) as database:
        database.register("findings", index.dataset(FINDINGS))
        rows = database.execute(
            'SELECT capture, lint, "pass", draw, text, "count", severity FROM findings ORDER BY ALL'
        ).fetchall()
    return {(names.get(row[0], row[0]), *row[1:5]): (row[5], row[6]) for row in rows}
