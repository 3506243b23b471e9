# SPDX-License-Identifier: MIT
"""``cffpy diff``: the differences between two captures, grouped by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.analysis.diff.rules import CLASSES
from cffpy.cli.analysis_options import (
    edition,
    parse_capture_gpu,
    print_problems,
    write_json,
    write_lines,
)
from cffpy.cli.limit_option import command_limits, limit_option
from cffpy.cli.output import EXIT_USAGE, console, print_warning, use_colour
from cffpy.cli.output_file import write_output
from cffpy.cli.progress import progress
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.tree import Tree

    from cffpy.analysis.diff.model import Comparison, Recording
    from cffpy.analysis.diff.rules import NoiseClass
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.views.diff import Node

#: As diff(1). Errors raised here lead to exit code 2.
_SAME, _DIFFERENT = 0, 1

_STYLES = {
    "summary": "bold",
    "entry": "bold yellow",
    "consequence": "dim",
    "folded": "dim",
    "hidden": "dim",
    "place": "dim",
    "more": "dim italic",
}

_CLASS_HELP = "; ".join(f"{name}: {text}" for name, text in CLASSES.items())

_EPILOG = """\b
Examples:
  cffpy diff good.rd.gz bad.rd.gz
  cffpy diff --all good.rd.gz bad.rd.gz             show everything
  cffpy diff --show addresses good.rd.gz bad.rd.gz
  cffpy diff --unified good.rd.gz bad.rd.gz | less
  cffpy diff --html page.html good.rd.gz bad.rd.gz  an HTML page
  cffpy diff --json good.rd.gz bad.rd.gz | jq -r '.entries[].title'
"""


@click.command(epilog=_EPILOG)
@click.argument("good", metavar="GOOD")
@click.argument("bad", metavar="BAD")
@click.option(
    "--all", "everything", is_flag=True, help="Show all fields, details and consequences."
)
@click.option(
    "--show",
    "shown",
    multiple=True,
    type=click.Choice((*CLASSES, "all")),
    help=f"Show this class of differences. {_CLASS_HELP}.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.diff/1).")
@click.option(
    "--unified", is_flag=True, help="Print a text diff of the registers of aligned draws."
)
@click.option("--html", metavar="OUT", help="Write one HTML page to this file ('-': stdout).")
@click.option("--brief", "-q", is_flag=True, help="Print nothing; only set the exit code.")
@click.option(
    "--gpu",
    metavar="GPU",
    callback=parse_capture_gpu,
    help="Decode both as this GPU (630) or generation (a6xx).",
)
@click.option("--register-db", metavar="DIR", help="Use another edition of the descriptions.")
@click.option("--color/--no-color", "colour", default=None, help="Use colour, or not.")
@limit_option
@click.help_option("-h", "--help")
def diff(
    good: str,
    bad: str,
    everything: bool,
    shown: tuple[str, ...],
    as_json: bool,
    unified: bool,
    html: str | None,
    brief: bool,
    gpu: Gpu | None,
    register_db: str | None,
    colour: bool | None,
) -> int:
    """Show what differs between two captures, for example of a good and a bad frame.

    Passes and the program's draws are aligned first, so a missing draw is reported as missing.
    For each pair of draws the state is compared: registers, shaders, descriptors, constants, and
    captured vertex, index and uniform data. Each cause is one entry that lists the draws it
    affects; consequences are folded under it. Differences that do not come from the program, such
    as addresses, are only counted; --show lists them.

    GOOD or BAD may be '-' for standard input. Exit codes: 0 no differences, 1 differences, 2
    errors, or a limit that left out part of a capture. Damage is reported on standard error and
    does not affect the exit code.
    """
    from cffpy.analysis.diff.compare import compare
    from cffpy.container.kinds import check_capture
    from cffpy.container.open import open_capture

    if as_json + unified + (html is not None) > 1:
        raise click.UsageError("--json, --unified and --html cannot be used together")
    if brief and (as_json or unified):
        raise click.UsageError("--brief cannot be used together with --json or --unified")
    if good == bad == "-":
        raise click.UsageError("GOOD and BAD cannot both be standard input")
    hidden: frozenset[NoiseClass] = frozenset(
        name for name in CLASSES if name not in shown and "all" not in shown
    )
    directory = edition(register_db)
    limits = command_limits()
    contents = (
        check_capture(open_capture(good, limits)),
        check_capture(open_capture(bad, limits)),
    )
    first, second = (_record(content, gpu, directory) for content in contents)
    truncated = _truncated(first, second)
    with progress("Comparing"):
        result = compare(first, second, hidden)
    if unified:
        from cffpy.views.diff_unified import unified as unified_lines

        write_lines(unified_lines(result, contents, directory, gpu), truncated)
    elif html is not None:
        from cffpy.views.diff_html.page import page

        write_output(html, [page(result)], [good, bad])
    elif not brief:
        _write(result, truncated, as_json, everything, colour)
    differs = _DIFFERENT if result.differs else _SAME
    return EXIT_USAGE if truncated else differs


def _truncated(*recordings: Recording) -> list[Truncation]:
    """What limits left out of the captures, each with the file's name."""
    return [
        Truncation(cut.limit, f"{one.name}: {cut.where}")
        for one in recordings
        for cut in one.passes.truncated
    ]


def _record(content: Content, gpu: Gpu | None, register_db: str | None) -> Recording:
    from cffpy.analysis.diff.record import record

    with progress(f"Reading {content.name}", content):
        recording = record(content, print_warning, register_db, gpu)
    print_problems(content.name, recording.damage, print_warning)
    cut = [one for one in recording.passes.truncated if one.limit != "bytes"]  # reported as damage
    print_problems(content.name, cut, print_warning)
    return recording


def _write(
    result: Comparison,
    truncated: Sequence[Truncation],
    as_json: bool,
    everything: bool,
    colour: bool | None,
) -> None:
    from cffpy.views import diff as view

    if as_json:
        write_json(view.SCHEMA, view.document(result), truncated)
        return
    nodes = view.tree(result, everything)
    if not use_colour(colour):
        write_lines(view.text_lines(nodes), truncated)
        return
    out = console(colour)
    for node in nodes:
        out.print(_rich_tree(node))
    for cut in truncated:
        out.print(f"truncated: {cut}", markup=False, highlight=False)


def _rich_tree(node: Node) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(node.text, _STYLES.get(node.style, "")), guide_style="dim")
    for child in node.children:
        tree.children.append(_rich_tree(child))
    return tree
