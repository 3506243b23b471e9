# SPDX-License-Identifier: MIT
"""``cffpy crash``: what a GPU crash dump means, on one page; the capture that it holds."""

from __future__ import annotations

import gc

import click

from cffpy.cli.captures import print_problems
from cffpy.cli.forms import write_json
from cffpy.cli.intel_dispatch import or_intel
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.output_file import capture_file, write_output
from cffpy.cli.parameters import command_limits, edition_option
from cffpy.cli.question import Question, asks
from cffpy.cli.text_options import write_lines

_EPILOG = """\b
Examples:
  cffpy crash crash.devcore.gz                           the page
  cffpy crash --json crash.devcore | jq .suspicious
  cffpy crash crash.devcore --extract hang.rd.gz         a capture of what hangs
  cffpy crash crash.devcore --html crash.html            the page for a browser
  cffpy diff good.rd.gz crash.devcore                    dumps are captures, too
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--extract",
    metavar="OUT.rd[.gz]",
    help="Write a capture instead: the memory of the dump, the IBs of the ring as submits.",
)
@click.option("--html", metavar="OUT.html", help="Write an HTML page instead.")
@asks(json="cffpy.crash/1", forms=("extract", "html"), edition=edition_option)
@or_intel("as_json")
def crash(question: Question, extract: str | None, html: str | None) -> int:
    """Report on a GPU crash dump: what hangs, and the likely causes.

    Dumps are devcoredumps of the msm driver, snapshots of the KGSL driver, and error states and
    devcoredumps of Intel's drivers i915 and Xe.

    The report has the position of the CP, the draw that it is at and those that were sent before,
    their pass, shaders and textures, the page fault and what of the draws uses the address, the
    state of the ring, the GMU and the SQE, and what is suspicious, with reasons. Each statement
    is followed by its source: a line of the dump, or an address in its memory. What is not known
    is shown as unknown.

    FILE may be '-' for standard input. The exit code is 1 if the dump is damaged or cannot be read.
    """
    from cffpy.api.crash import open_crash
    from cffpy.views import crash as view

    path = question.path
    gc.disable()  # what is found lives as long as the command
    found = open_crash(
        path, gpu=question.gpu, register_db=question.register_db, limits=command_limits()
    )
    print_problems(path, found.problems, print_error)
    if extract is not None:
        data = found.extract()
        write_output(extract, capture_file(extract, [data], len(data)), [path])
    elif html is not None:
        from cffpy.views.crash_html import page

        write_output(html, [page(found.model)], [path])
    elif question.form == "json":
        write_json(view.SCHEMA, found.to_dict())
    else:
        write_lines(view.lines(found.model))
    return EXIT_FAILURE if found.problems else EXIT_OK
