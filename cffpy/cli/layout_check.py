# SPDX-License-Identifier: MIT
"""``cffpy layout check``: what a capture has, against what is calculated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import capture_options, decode, open_for, write_json
from cffpy.cli.output import EXIT_FAILURE
from cffpy.cli.text_options import text_options, write_lines

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy layout check capture.rd.gz
  cffpy layout check --all capture.rd.gz       what agrees, too
  cffpy layout check --json capture.rd.gz | jq '.checks[] | select(.answer == "differs")'
"""


@click.command(epilog=_EPILOG)
@click.option("--all", "show_all", is_flag=True, help="Also list what agrees.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.layout-check/1)."
)
@text_options
@capture_options
def check(
    path: str, gpu: Gpu | None, register_db: str | None, show_all: bool, as_json: bool
) -> int:
    """Compare the images, LRZ buffers and tiles of a capture with the calculated layouts.

    The layout of each texture, attachment, LRZ buffer and grid of tiles that commands name is
    calculated from its format and size. It agrees, differs by a stated amount, or cannot be
    compared, with the reason. Images and LRZ buffers are known for a5xx to a7xx, tiles for a2xx to
    a7xx.

    FILE may be '-' for standard input. The exit code is 1 if something differs, or if the capture
    is damaged.
    """
    from cffpy.views import layout_check as view

    capture = open_for(path, gpu, register_db)
    found, code = decode(capture, lambda opened: opened.layout_checks)
    if as_json:
        write_json(view.SCHEMA, view.document(found), capture.truncated)
    else:
        write_lines(view.lines(found, show_all), capture.truncated)
    differs = any(one.answer == "differs" for one in found.checks)
    return EXIT_FAILURE if differs else code
