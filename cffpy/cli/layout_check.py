# SPDX-License-Identifier: MIT
"""``cffpy layout check``: what a capture has, against what is calculated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode
from cffpy.cli.forms import Result, write_result
from cffpy.cli.output import EXIT_FAILURE
from cffpy.cli.question import EVERY_PLACE, Forms, Question, asks

if TYPE_CHECKING:
    from cffpy.analysis.layout_check.checks import LayoutChecks
    from cffpy.api.capture import Capture

_EPILOG = """\b
Examples:
  cffpy layout check capture.rd.gz
  cffpy layout check --all capture.rd.gz       what agrees, too
  cffpy layout check --at p3 capture.rd.gz     what pass 3 uses
  cffpy layout check --json capture.rd.gz | jq '.checks[] | select(.answer == "differs")'
"""


@click.command(epilog=_EPILOG)
@click.option("--all", "show_all", is_flag=True, help="Also list what agrees.")
@asks(places=EVERY_PLACE, where=True, forms=Forms(json="cffpy.layout-check/1"))
def check(question: Question, show_all: bool) -> int:
    """Compare the images, LRZ buffers and tiles of a capture with the calculated layouts.

    The layout of each texture, attachment, LRZ buffer and grid of tiles that commands name is
    calculated from its format and size. It agrees, differs by a stated amount, or cannot be
    compared, with the reason. Images and LRZ buffers are known for a5xx to a7xx, tiles for a2xx to
    a7xx.

    FILE may be '-' for standard input. The exit code is 1 if something differs, or if the capture
    is damaged.
    """
    from cffpy.views import layout_check as view

    capture = question.open()

    def analysis(opened: Capture) -> LayoutChecks:
        scope = question.scope_or_none(opened)
        return opened.layout_checks if scope is None else opened.layout_checks_of(scope)

    found, code = decode(capture, analysis)
    result = Result(
        view.SCHEMA,
        lambda: view.document(found),
        lambda: view.lines(found, show_all),
        truncated=lambda: capture.truncated,
    )
    write_result(result, question.form)
    differs = any(one.answer == "differs" for one in found.checks)
    return EXIT_FAILURE if differs else code
