# SPDX-License-Identifier: MIT
"""``cffpy diff``: what really differs between two captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.analysis.diff.noise import CLASSES
from cffpy.cli.analysis_options import (
    edition,
    parse_capture_gpu,
    print_problems,
    write_json,
    write_lines,
)
from cffpy.cli.limit_option import limit_option
from cffpy.cli.output import console, print_warning, use_colour
from cffpy.cli.output_file import write_output
from cffpy.cli.progress import progress
from cffpy.errors import ContainerError

if TYPE_CHECKING:
    from rich.tree import Tree

    from cffpy.analysis.diff.model import Comparison
    from cffpy.analysis.diff.noise import NoiseClass
    from cffpy.analysis.diff.record import Recording
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.views.diff import Node

#: As diff(1), where 2 is trouble: what is raised here makes the exit code so.
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
  cffpy diff --all good.rd.gz bad.rd.gz             nothing cut short
  cffpy diff --show addresses good.rd.gz bad.rd.gz
  cffpy diff --unified good.rd.gz bad.rd.gz | less
  cffpy diff --html page.html good.rd.gz bad.rd.gz  side by side, in a browser
  cffpy diff --json good.rd.gz bad.rd.gz | jq -r '.entries[].title'
"""


@click.command(epilog=_EPILOG)
@click.argument("good", metavar="GOOD")
@click.argument("bad", metavar="BAD")
@click.option("--all", "everything", is_flag=True, help="Show all fields, details, consequences.")
@click.option(
    "--show",
    "shown",
    multiple=True,
    type=click.Choice((*CLASSES, "all")),
    help=f"Do not hide this class of differences. {_CLASS_HELP}.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document (cffpy.diff/1).")
@click.option("--unified", is_flag=True, help="A text diff of the aligned draws' registers.")
@click.option("--html", metavar="OUT", help="One HTML page, written to a file or '-'.")
@click.option("--brief", "-q", is_flag=True, help="Print no differences: the exit code tells.")
@click.option("--gpu", metavar="GPU", callback=parse_capture_gpu, help="Decode both as this GPU.")
@click.option("--register-db", metavar="DIR", help="Another edition of the register database.")
@click.option("--color/--no-color", "colour", default=None, help="Colour, or none.")
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
    """Show what really differs between two captures, say a good and a bad frame.

    Passes and the program's draws are aligned by what they are, so that one that is missing shows
    as that. Of each pair of draws the state is compared: registers, shaders, descriptors,
    constants, and what was captured of vertex, index and uniform data. One cause is one entry,
    with the draws that it touches; what follows from it is folded under it. Differences that are
    none of the program's are counted, and shown with --show.

    GOOD or BAD may be '-' for standard input. Exit codes: 0 no difference, 1 differences, 2
    trouble. Damage is told on standard error and changes nothing in that.
    """
    from cffpy.analysis.diff.compare import compare
    from cffpy.container.open import open_capture

    if as_json + unified + (html is not None) > 1:
        raise click.UsageError("--json, --unified and --html exclude each other")
    if brief and (as_json or unified):
        raise click.UsageError("--brief prints nothing: it excludes --json and --unified")
    if good == bad == "-":
        raise click.UsageError("GOOD and BAD cannot both be standard input")
    hidden: frozenset[NoiseClass] = frozenset(
        name for name in CLASSES if name not in shown and "all" not in shown
    )
    directory = edition(register_db)
    contents = open_capture(good), open_capture(bad)
    first, second = (_record(content, gpu, directory) for content in contents)
    with progress("Comparing"):
        result = compare(first, second, hidden)
    if unified:
        from cffpy.views.diff_unified import unified as unified_lines

        write_lines(unified_lines(result, contents, directory, gpu))
    elif html is not None:
        from cffpy.views.diff_html.page import page

        write_output(html, [page(result)], [good, bad])
    elif not brief:
        _write(result, as_json, everything, colour)
    return _DIFFERENT if result.differs else _SAME


def _record(content: Content, gpu: Gpu | None, register_db: str | None) -> Recording:
    from cffpy.analysis.diff.record import record
    from cffpy.container.rd import is_something_else

    if is_something_else(content.data):  # two of these would be told to be the same
        raise ContainerError(f"{content.name}: no section that is known; not a capture?")
    with progress(f"Reading {content.name}", content):
        recording = record(content, print_warning, register_db, gpu)
    print_problems(content.name, recording.damage, print_warning)
    print_problems(content.name, recording.passes.left_out, print_warning)
    return recording


def _write(result: Comparison, as_json: bool, everything: bool, colour: bool | None) -> None:
    from cffpy.views import diff as view

    if as_json:
        write_json(view.SCHEMA, view.document(result))
        return
    nodes = view.tree(result, everything)
    if not use_colour(colour):
        write_lines(view.text_lines(nodes))
        return
    out = console(colour)
    for node in nodes:
        out.print(_rich_tree(node))


def _rich_tree(node: Node) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(node.text, _STYLES.get(node.style, "")), guide_style="dim")
    for child in node.children:
        tree.children.append(_rich_tree(child))
    return tree
