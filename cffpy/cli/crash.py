# SPDX-License-Identifier: MIT
"""``cffpy crash``: what a GPU crash dump means, on one page; the capture that it holds."""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import capture_options, print_problems, write_json
from cffpy.cli.intel_dispatch import or_intel
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.output_file import capture_file, write_output
from cffpy.cli.parameters import command_limits, edition_option
from cffpy.cli.text_options import text_options, write_lines

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy crash crash.devcore.gz                           the page
  cffpy crash --json crash.devcore | jq .suspicious
  cffpy crash crash.devcore --extract hang.rd.gz         a capture of what hangs
  cffpy crash crash.devcore --html crash.html            the page for a browser
  cffpy diff good.rd.gz crash.devcore                    dumps are captures, too
"""


@click.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.crash/1).")
@click.option(
    "--extract",
    "output",
    metavar="OUT.rd[.gz]",
    help="Write a capture instead: the memory of the dump, the IBs of the ring as submits.",
)
@click.option("--html", "page", metavar="OUT.html", help="Write an HTML page instead.")
@text_options
@partial(capture_options, edition=edition_option)
@or_intel("path", "as_json")
def crash(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    as_json: bool,
    output: str | None,
    page: str | None,
) -> int:
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

    if as_json + (output is not None) + (page is not None) > 1:
        raise click.UsageError("--json, --extract and --html cannot be used together")
    gc.disable()  # what is found lives as long as the command
    found = open_crash(path, gpu=gpu, register_db=register_db, limits=command_limits())
    print_problems(path, found.problems, print_error)
    if output is not None:
        data = found.extract()
        write_output(output, capture_file(output, [data], len(data)), [path])
    elif page is not None:
        from cffpy.views.crash_html import page as html_page

        write_output(page, [html_page(found.model)], [path])
    elif as_json:
        write_json(view.SCHEMA, found.to_dict())
    else:
        write_lines(view.lines(found.model))
    return EXIT_FAILURE if found.problems else EXIT_OK
