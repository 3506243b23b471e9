# SPDX-License-Identifier: MIT
"""The document of ``cffpy report --json``: everything that the page shows.

The page unpacks its members one by one: ``passes`` and ``draws`` at once, ``registers``,
``bindings``, ``shaders`` and ``resources`` when they are needed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cffpy._version import __version__
from cffpy.reports.bindings import BindingColumns
from cffpy.reports.draws import DrawColumns, primitives_of
from cffpy.reports.passes import MAX_PASSES, TILE_COLUMNS, PassDocuments, pass_totals
from cffpy.reports.pictures import PictureList
from cffpy.reports.registers import register_columns
from cffpy.reports.resources import Resources
from cffpy.reports.words import Cuts
from cffpy.views.check import finding_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.api.capture import Capture
    from cffpy.api.comparison import Comparison
    from cffpy.api.passes import Pass

SCHEMA = "cffpy.report/1"

#: Findings, submits, and lines about damage that a report has.
_MAX_FINDINGS, _MAX_SUBMITS, _MAX_PROBLEMS = 2000, 5000, 200


def document(
    capture: Capture,
    comparison: Comparison | None = None,
    progress: Callable[[str], None] = lambda _step: None,
) -> dict[str, Any]:
    """The document, without its schema.

    ``comparison``: of this capture (``bad``) with another; its entries become part of the report.
    ``progress`` is called with the name of each step.
    """
    from cffpy.reports.differences import differences

    cuts = Cuts()
    progress("registers")
    capture.walk()
    passes = capture.passes[:MAX_PASSES]
    if len(capture.passes) > MAX_PASSES:
        cuts.note(f"passes behind the first {MAX_PASSES:,}")
    progress("LRZ")
    lrz = capture.lrz
    draws = DrawColumns(lrz, primitives_of(passes, cuts), cuts)
    progress("passes")
    costs = capture.costs
    pictures = PictureList(cuts)
    makes = PassDocuments(costs, lrz, pictures, cuts)
    pass_documents = [makes.of(one, draws.add(one.draws)) for one in passes]
    progress("checks")
    findings = _findings(capture, cuts)
    progress("bindings")
    bindings = BindingColumns(pictures, cuts)
    columns = draws.to_dict()
    _add_bindings(passes, draws, bindings)
    resources = Resources(capture, columns["pass"], cuts)
    resources.add_passes(pass_documents)
    resources.add_bindings(bindings)
    for one in pass_documents:
        one["totals"] = pass_totals(columns, *one["draws"])
    progress("texts")
    model = capture.model
    registers: dict[str, Any] = {"columns": [], "writes": None}
    if draws.orders:
        database = capture.registers.database
        registers = register_columns(capture.history, database, draws.orders, cuts)
    problems = [one.line for one in capture.problems_so_far]
    if len(problems) > _MAX_PROBLEMS:
        problems[_MAX_PROBLEMS:] = [f"and {len(problems) - _MAX_PROBLEMS:,} more"]
    return {
        "program": f"cffpy {__version__}",
        "file": os.path.basename(capture.name),
        "gpu": model.gpu,
        "generation": model.generation or None,
        "problems": problems,
        "submits": [
            {"submit": one.number, "process": one.process, "streams": len(one.streams)}
            for one in capture.submits[:_MAX_SUBMITS]
        ],
        "tile_columns": list(TILE_COLUMNS),
        "passes": pass_documents,
        "draws": columns,
        "findings": findings,
        "comparison": None if comparison is None else differences(comparison, draws.orders, cuts),
        "registers": registers,
        "shaders": draws.programs.to_list(),
        "bindings": bindings.to_dict(),
        "resources": resources.to_dict(),
        "pictures": pictures.to_list(),
        "cut": cuts.texts,
    }


def _add_bindings(passes: list[Pass], draws: DrawColumns, bindings: BindingColumns) -> None:
    for one in passes:
        for draw in one.draws:
            number = draws.orders.get(draw.order)
            if number is not None:
                bindings.add(number, draw)


def _findings(capture: Capture, cuts: Cuts) -> list[dict[str, Any]]:
    found = capture.check()
    if len(found) > _MAX_FINDINGS:
        cuts.note(f"findings of check behind the first {_MAX_FINDINGS:,}")
    shown = []
    for finding in found[:_MAX_FINDINGS]:
        row = finding_document(finding)
        first = finding.first
        place = None if first.place is None else str(first.place)
        index = None if first.found is None else first.found.index
        number = None if first.draw is None else first.draw.program_number
        shown.append({**row, "place": place, "pass": index, "draw": number})
    return shown
