# SPDX-License-Identifier: MIT
"""``cffpy diff``: the differences between two captures, grouped by cause."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cffpy.analysis.diff.rules import CLASSES
from cffpy.cli.analysis_options import (
    edition,
    parse_capture_gpu,
    print_problems,
    write_json,
)
from cffpy.cli.limit_option import command_limits, limit_option
from cffpy.cli.output import EXIT_USAGE, print_warning
from cffpy.cli.output_file import write_output
from cffpy.cli.progress import progress
from cffpy.cli.text_options import text_options, write_lines
from cffpy.limits import Limits, Truncation
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.diff.model import Comparison, Recording, Selection
    from cffpy.analysis.diff.rules import NoiseClass
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content

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
  cffpy diff frames.rd.gz:submit1 frames.rd.gz:submit2
  cffpy diff frame.rd.gz:pass3/draw7 frame.rd.gz:pass3/draw8
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
@click.option("--brief", is_flag=True, help="Print nothing; only set the exit code.")
@click.option(
    "--gpu",
    metavar="GPU",
    callback=parse_capture_gpu,
    help="Decode both as this GPU (630) or generation (a6xx).",
)
@click.option("--register-db", metavar="DIR", help="Use another edition of the descriptions.")
@text_options
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
) -> int:
    """Show what differs between two captures, for example of a good and a bad frame.

    Passes and the program's draws are aligned first, so a missing draw is reported as missing.
    For each pair of draws the state is compared: registers, shaders, descriptors, constants, and
    captured vertex, index and uniform data. Each cause is one entry that lists the draws it
    affects; consequences are folded under it. Differences that do not come from the program, such
    as addresses, are only counted; --show lists them.

    GOOD and BAD may name a part: FILE:submitN, FILE:passN or FILE:passN/drawM, of one file or of
    two. What lies before it is executed, so the state is complete.

    GOOD or BAD may be '-' for standard input. Exit codes: 0 no differences, 1 differences, 2
    errors, or a limit that left out part of a capture. Damage is reported on standard error and
    does not affect the exit code; files with the same content are not decoded, so that damage of
    their commands is not reported.
    """
    _check_usage(as_json, unified, html, brief)
    (path, part), (other_path, other_part) = _part(good), _part(bad)
    if path == other_path == "-":
        raise click.UsageError("GOOD and BAD cannot both be standard input")
    contents = _open(path, other_path)
    is_one = contents[0].data == contents[1].data
    needs_decoding = as_json or html or contents[0].faults or contents[0].limits != Limits()
    if is_one and part == other_part and not needs_decoding:
        return _same(contents, brief or unified)
    directory = edition(register_db)
    recordings = _record_both(contents, is_one, gpu, directory)
    first, second = recordings[0].selected(part), recordings[1].selected(other_part)
    result, truncated = _compare(first, second, _hidden(shown))
    if unified:
        from cffpy.views.diff_unified import unified as unified_lines

        write_lines(unified_lines(result, contents, directory, gpu), truncated)
    elif html is not None:
        from cffpy.views.diff_html.page import page

        write_output(html, [page(result)], [path, other_path])
    elif not brief:
        _write(result, truncated, as_json, everything)
    if truncated:
        return EXIT_USAGE
    return _DIFFERENT if result.differs else _SAME


def _hidden(shown: tuple[str, ...]) -> frozenset[NoiseClass]:
    return frozenset(name for name in CLASSES if name not in shown and "all" not in shown)


def _check_usage(as_json: bool, unified: bool, html: str | None, brief: bool) -> None:
    if as_json + unified + (html is not None) > 1:
        raise click.UsageError("--json, --unified and --html cannot be used together")
    if brief and (as_json or unified):
        raise click.UsageError("--brief cannot be used together with --json or --unified")


def _open(path: str, other: str) -> tuple[Content, Content]:
    """Both captures, one file once. Raises CffpyError."""
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.container.open import open_capture

    limits = command_limits()
    first = check_capture(open_capture(path, limits))
    return first, first if path == other else check_capture(open_capture(other, limits))


def _record_both(
    contents: tuple[Content, Content], is_one: bool, gpu: Gpu | None, register_db: str | None
) -> tuple[Recording, Recording]:
    """``is_one``: both have the same bytes, so that one recording is enough."""
    first = _record(contents[0], gpu, register_db)
    if is_one:
        return first, replace(first, name=contents[1].name)
    return first, _record(contents[1], gpu, register_db)


def _compare(
    first: Recording, second: Recording, hidden: frozenset[NoiseClass]
) -> tuple[Comparison, list[Truncation]]:
    """The result, and what limits left out of either capture."""
    from cffpy.analysis.diff.compare import compare

    truncated = [
        Truncation(cut.limit, f"{one.name}: {cut.where}")
        for one in (first, second)
        for cut in one.passes.truncated
    ]
    with progress("Comparing"), _uncollected():
        result = compare(first, second, hidden)
    result.is_truncated = bool(truncated)
    return result, truncated


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cyclic garbage collector.

    A recording is millions of small objects without cycles: looking for cycles among them took a
    third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _part(text: str) -> tuple[str, Selection]:
    """A path, and the part of the capture that is written behind it."""
    from cffpy.analysis.diff.model import WHOLE, parse_selection

    return (text, WHOLE) if os.path.exists(text) else parse_selection(text)


def _same(contents: tuple[Content, Content], quiet: bool) -> int:
    """Two files with the same bytes: nothing to compare, so their commands are not decoded."""
    if not quiet:
        names = " → ".join(visible(content.name) for content in contents)
        write_lines([f"no difference: {names} (the same content)"])
    return EXIT_USAGE if any(content.truncated for content in contents) else _SAME


def _record(content: Content, gpu: Gpu | None, register_db: str | None) -> Recording:
    from cffpy.analysis.diff.record import record

    with progress(f"Reading {content.name}", content), _uncollected():
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
) -> None:
    from cffpy.views import diff as view

    if as_json:
        write_json(view.SCHEMA, view.document(result), truncated)
        return
    lines = view.text_lines(view.tree(result, everything))
    write_lines((Styled(line, _STYLES.get(line.style, "")) for line in lines), truncated)
