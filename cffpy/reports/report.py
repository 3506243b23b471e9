# SPDX-License-Identifier: MIT
"""``cffpy.report``: the document of ``report --json``, with what differs from another capture.

The page unpacks the members of the document (``documents.py``) one by one: ``passes`` and ``draws``
at once, ``registers``, ``dump``, ``bindings``, ``shaders`` and ``resources`` when they are needed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy._version import __version__
from cffpy.api.arguments import expect_callable, expect_path
from cffpy.api.capture import expect_capture
from cffpy.api.comparison import diff
from cffpy.check.registry import chosen_lints
from cffpy.errors import CffpyError
from cffpy.frame.faces import facts_document
from cffpy.output_files import written_file
from cffpy.reports.bindings import BindingColumns
from cffpy.reports.columns import Cuts, plain
from cffpy.reports.differences import differences
from cffpy.reports.documents import filter_document
from cffpy.reports.draws import (
    MAX_PASSES,
    AttributeSets,
    DrawColumns,
    KnownAttributes,
    PassDocuments,
    lrz_document,
)
from cffpy.reports.pictures import PictureList
from cffpy.reports.registers import register_columns
from cffpy.reports.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.check.model import Finding
    from cffpy.frame.passes import Pass
    from cffpy.reports.documents import ReportedComparison
    from cffpy.reports.draws import Programs
    from cffpy.reports.intel import IntelReport
    from cffpy.reports.registers import RegisterPart

SCHEMA = "cffpy.report/1"

#: Findings, submits and problems that a report has.
_MAX_FINDINGS, _MAX_SUBMITS, _MAX_PROBLEMS = 2000, 5000, 200


class _OfPasses(NamedTuple):
    """What the document has of passes and draws. Nothing of it refers to the walk."""

    passes: list[dict[str, Any]]
    lrz: list[dict[str, Any]]
    costs: list[dict[str, Any]]
    draws: dict[str, Any]
    #: ``Action.order`` of a draw -> its row.
    orders: dict[int, int]
    programs: Programs
    findings: list[dict[str, Any]]
    comparison: ReportedComparison | None
    bindings: dict[str, Any]
    resources: Resources
    pictures: PictureList


def document(
    capture: Capture,
    compare: Capture | None = None,
    progress: Callable[[str], None] = lambda _step: None,
    releases: bool = False,
    part: RegisterPart | None = None,
) -> dict[str, Any]:
    """The document, without its schema; large columns are arrays or texts, not lists.

    ``compare``: another capture; what differs from it becomes part of the report.
    ``progress`` is called with the name of each step. ``releases``: nothing else uses the capture,
    of which only what the next step needs is kept. ``part``: what was made of the registers already
    (see ``registers.register_part``): no walk records them.
    """
    cuts = Cuts()
    if releases:
        capture._source.content.move_to_file()
    passes = _of_passes(capture, compare, progress, cuts, part)
    capture._source.forget("recording", "bindings")  # the texts take as much memory
    progress("texts")
    names = filter_document(capture.registers.database if passes.orders else None)
    model = capture._source.model
    gpu, generation = model.gpu, model.generation
    del model
    registers: Any = {"types": [], "columns": [], "writes": None}
    dump: Any = None
    if part is not None:
        registers, dump = part.registers, part.dump
        for text in part.cuts:
            cuts.note(text)
    elif passes.orders:
        registers, dump = register_columns(capture, passes.orders, cuts, releases)
    problems = capture._source.problems
    if len(problems) > _MAX_PROBLEMS:
        cuts.note(f"problems after the first {_MAX_PROBLEMS:,} of {len(problems):,}")
    return {
        "program": f"cffpy {__version__}",
        "file": os.path.basename(capture.name),
        "gpu": gpu,
        "generation": generation or None,
        "problems": list(map(facts_document, problems[:_MAX_PROBLEMS])),
        "submits": list(map(facts_document, capture.submits[:_MAX_SUBMITS])),
        "passes": passes.passes,
        "lrz": passes.lrz,
        "costs": passes.costs,
        "draws": passes.draws,
        "filter": names,
        "findings": passes.findings,
        "comparison": passes.comparison,
        "registers": registers,
        "dump": dump,
        "shaders": passes.programs.to_list(),
        "bindings": passes.bindings,
        "resources": passes.resources.to_dict(),
        "pictures": passes.pictures.to_list(),
        "cut": cuts.texts,
    }


def _of_passes(
    capture: Capture,
    compare: Capture | None,
    progress: Callable[[str], None],
    cuts: Cuts,
    part: RegisterPart | None,
) -> _OfPasses:
    progress("commands")
    has_comparison, has_part = compare is not None, part is not None
    checked = capture._source.walk_whole(
        chosen_lints((), ()), with_recording=has_comparison, with_registers=not has_part
    )
    passes = capture.passes[:MAX_PASSES]
    if len(capture.passes) > MAX_PASSES:
        cuts.note(f"passes after the first {MAX_PASSES:,}")
    attributes = AttributeSets(capture) if part is None else KnownAttributes(part.attributes)
    draws = DrawColumns(attributes, cuts)
    progress("passes")
    pictures = PictureList(cuts)
    makes = PassDocuments(pictures, cuts)
    pass_documents = [makes.of(pass_, *draws.add(pass_)) for pass_ in passes]
    costs = [facts_document(cost) for cost in capture.costs if cost.pass_.index < MAX_PASSES]
    lrz = [
        lrz_document(lrz_of_pass)
        for lrz_of_pass in capture.lrz
        if lrz_of_pass.pass_.index < MAX_PASSES
    ]
    findings = _findings(checked.findings, cuts)
    progress("bindings")
    bindings = BindingColumns(pictures, cuts)
    columns = draws.to_document()
    _add_bindings(capture, passes, draws, bindings)
    resources = Resources(capture, draws.passes, cuts)
    resources.add_passes(pass_documents)
    resources.add_bindings(bindings)
    compared = None
    if compare is not None:
        progress("comparison")
        compared = differences(diff(compare, capture), draws.orders, cuts)
    return _OfPasses(
        pass_documents,
        lrz,
        costs,
        columns,
        draws.orders,
        draws.programs,
        findings,
        compared,
        bindings.to_dict(),
        resources,
        pictures,
    )


def _add_bindings(
    capture: Capture, passes: list[Pass], draws: DrawColumns, bindings: BindingColumns
) -> None:
    for pass_ in passes:
        capture._source.content.release_pages()
        for draw in pass_.draws:
            number = draws.orders.get(draw.order)
            if number is not None:
                bindings.add(number, draw)


def _findings(findings: Sequence[Finding], cuts: Cuts) -> list[dict[str, Any]]:
    if len(findings) > _MAX_FINDINGS:
        cuts.note(f"findings of check after the first {_MAX_FINDINGS:,}")
    return list(map(facts_document, findings[:_MAX_FINDINGS]))


class Report:
    """What the page of a capture shows."""

    #: Name and version of its document.
    schema = SCHEMA

    def __init__(self, found: dict[str, Any], start: tuple[int, int | None] | None = None) -> None:
        """``found``: the document of ``cffpy.reports.report``.

        ``start``: the pass, and its draw, that the page shows first.
        """
        self._document = found
        self._start = start

    def page(self) -> bytes:
        """The page of ``cffpy report``, in UTF-8: one HTML file that needs nothing else."""
        return b"".join(self.pieces())

    def pieces(self) -> list[bytes]:
        """The page in pieces."""
        from cffpy.views.report_html.page import page_pieces

        return page_pieces(self._document, start=self._start)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy report --json``, without its schema."""
        return {name: plain(part) for name, part in self._document.items()}

    @property
    def cut(self) -> list[str]:
        """What was left out, as text."""
        cut: list[str] = self._document["cut"]
        return cut

    def __repr__(self) -> str:
        passes, draws = (
            len(self._document["passes"]),
            sum(row["rows"][1] for row in self._document["passes"]),
        )
        return f"<Report: {passes} passes, {draws} draws>"


def report(
    capture: Capture,
    path: str | os.PathLike[str] | None = None,
    *,
    compare: Capture | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report | IntelReport:
    """Make the report of a capture, and write its page to ``path`` if one is given.

    ``compare``: another capture; the report shows what differs from it. ``progress`` is called with
    the name of each step. Raises CaptureError where the capture has no commands, CffpyError if the
    file cannot be written.
    """
    expect_capture("capture", capture)
    if compare is not None:
        expect_capture("compare", compare)
    if path is not None:
        expect_path("path", path)
    if progress is not None:
        expect_callable("progress", progress)
    made: Report | IntelReport
    if capture.intel is not None:
        from cffpy.reports.intel import report_of_intel

        made = report_of_intel(capture, compare)
    else:
        made = Report(document(capture, compare, progress or (lambda _step: None)))
    if path is not None:
        try:
            with written_file(os.fspath(path)) as file:
                file.writelines(made.pieces())
        except OSError as problem:
            raise CffpyError(f"{os.fspath(path)}: {problem.strerror or problem}") from None
    return made
