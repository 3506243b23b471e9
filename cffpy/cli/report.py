# SPDX-License-Identifier: MIT
"""``cffpy report``: a capture as one HTML page to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode, print_problems, refuse_for_intel
from cffpy.cli.forms import Forms, Result, write_result
from cffpy.cli.output import print_warning
from cffpy.cli.parameters import output_option
from cffpy.cli.progress import progress
from cffpy.cli.question import FIRST_PLACE, Question, asks

if TYPE_CHECKING:
    from cffpy.api.capture import Capture
    from cffpy.reports.intel import IntelReport
    from cffpy.reports.registers import RegisterPart
    from cffpy.reports.report import Report

_EPILOG = """\b
Examples:
  cffpy report capture.rd.gz -o report.html
  cffpy report capture.rd.gz --at p3:17 -o draw.html  opens at draw 17 of pass 3
  cffpy report bad.rd.gz --compare good.rd.gz -o report.html
  cffpy report --json capture.rd.gz | jq '.passes[].title'
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--compare", "other", metavar="OTHER", help="Another capture; the page shows what differs."
)
@output_option("OUT.html", "The page ('-': standard output).")
@asks(
    places=FIRST_PLACE,
    forms=Forms(json="cffpy.report/1", others=("output",)),
    text=False,
)
def report(question: Question, other: str | None) -> int:
    """Write one HTML page that shows a capture: passes, draws, their state, shaders and memory.

    The page needs no network and no other file. It has a timeline, for each pass its attachments,
    tiles, GMEM and bytes moved, for each draw the registers with the packets that wrote them, its
    shaders, descriptors and data, and the passes that write and read each resource. Passes can be
    read without scripts. The page names what was left out to keep it below 40 MB.

    FILE may be '-' for standard input. The exit code is 1 if the capture is damaged.
    """
    path = question.path
    if question.form == "json" and question.place is not None:
        raise click.UsageError("--json and --at cannot be used together")
    if question.form == "text":
        raise click.UsageError("give -o OUT.html for the page, or --json")
    capture = question.open()
    compare = None if other is None else _opened_to_compare(question, other, capture)
    found, code = _report(question, capture, compare)
    if compare is not None:
        print_problems(compare.name, [one.line for one in compare._source.problems], print_warning)
    for text in found.cut:
        print_warning(f"{path}: left out: {text}")
    read = [path] if other is None else [path, other]
    result = Result(
        found.schema,
        found.to_dict,
        truncated=lambda: capture.truncated,
        files={"output": lambda _path: found.pieces()},
    )
    write_result(result, question.of_files(*read))
    return code


def _report(
    question: Question, capture: Capture, compare: Capture | None
) -> tuple[Report | IntelReport, int]:
    """The report, and the exit code."""
    if capture.intel is not None:
        from cffpy.reports.intel import report_of_intel

        refuse_for_intel(capture, ("--at", question.place))
        return decode(capture, lambda opened: report_of_intel(opened, compare))
    from cffpy.api.export import is_large
    from cffpy.reports.report import Report, document

    part = None
    if compare is None and question.form != "json" and is_large(capture._source.content):
        part = _register_part(capture)

    def analysis(opened: Capture) -> Report:
        start = None if question.place is None else question.scope(opened).start
        return Report(document(opened, compare, releases=True, part=part), start)

    return decode(capture, analysis)


def _opened_to_compare(question: Question, path: str, capture: Capture) -> Capture:
    from cffpy.api.comparison import check_makers  # lazily: few compare

    compare = question.open(path)
    check_makers(capture, compare)
    return compare


def _register_part(capture: Capture) -> RegisterPart:
    """What a report has of the registers of a large capture, by a child process."""
    from cffpy.reports.registers import register_part
    from cffpy.tables.child_process import run_in_child
    from cffpy.views.report_html.page import Packed

    def made() -> RegisterPart:
        with progress(f"Reading {capture.name}", capture._source.content):
            return register_part(capture, Packed)

    capture._source.content.move_to_file()  # the child has it mapped, too
    part = run_in_child(made)
    part.report_problems(capture)
    return part
