# SPDX-License-Identifier: MIT
"""``cffpy diff``: the differences between two captures, grouped by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.analysis.diff.rules import RULES
from cffpy.api.comparison import check_makers, record, share
from cffpy.api.comparison import diff as compare_captures
from cffpy.cli.captures import (
    decode,
    open_for,
)
from cffpy.cli.forms import Forms, Result, write_result
from cffpy.cli.output import EXIT_USAGE, print_warning
from cffpy.cli.parameters import command_limits, paths_and_places
from cffpy.cli.progress import progress
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.cli.reading_ahead import read_ahead
from cffpy.errors import ContainerError
from cffpy.limits import Limits
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.api.capture import Capture
    from cffpy.api.comparison import Comparison
    from cffpy.container.open import Content

#: As diff(1). Errors raised here lead to exit code 2.
_SAME, _DIFFERENT = 0, 1

_STYLES = {
    "summary": "bold",
    "entry": "bold yellow",
    "consequence": "dim",
    "folded": "dim",
    "rule": "dim",
    "undecided": "bold yellow",
    "place": "dim",
    "more": "dim italic",
}

_RULE_HELP = "; ".join(f"{name}: {rule.meaning}" for name, rule in RULES.items())

_EPILOG = """\b
Examples:
  cffpy diff good.rd.gz bad.rd.gz
  cffpy diff --all good.rd.gz bad.rd.gz             show everything
  cffpy diff --show addresses good.rd.gz bad.rd.gz
  cffpy diff --strict good.rd.gz bad.rd.gz          nothing is of no effect
  cffpy diff --unified good.rd.gz bad.rd.gz | less
  cffpy diff --html page.html good.rd.gz bad.rd.gz  an HTML page
  cffpy diff frames.rd.gz@s1 frames.rd.gz@s2
  cffpy diff frame.rd.gz@p3:7 frame.rd.gz@p3:8
  cffpy diff frame.rd.gz@p3:t0 frame.rd.gz@p3:t5    two tiles of a pass
  cffpy diff capture.rd.gz@p3:binning capture.rd.gz@p5:binning
  cffpy diff --at p3 good.rd.gz bad.rd.gz           pass 3 of both
  cffpy diff --where 'draw.instances > 1' good.rd.gz bad.rd.gz
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
    type=click.Choice(tuple(RULES)),
    help=f"Show the differences that this rule counts. {_RULE_HELP}.",
)
@click.option(
    "--strict", is_flag=True, help="Show the differences of all rules: of no effect is nothing."
)
@click.option(
    "--unified", is_flag=True, help="Print a text diff of the registers of aligned draws."
)
@click.option("--brief", is_flag=True, help="Print nothing; only set the exit code.")
@asks(
    "",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(json="cffpy.diff/1", html=True, others=("unified",)),
)
def diff(
    question: Question,
    good: str,
    bad: str,
    everything: bool,
    shown: tuple[str, ...],
    strict: bool,
    brief: bool,
) -> int:
    """Show what differs between two captures, for example of a good and a bad frame.

    Passes and the program's draws are aligned first, so a missing draw is reported as missing.
    For each pair of draws the state is compared: registers, shaders, descriptors, constants, and
    captured vertex, index and uniform data. Each cause is one entry that lists the draws it
    affects; consequences are folded under it. Differences of no effect, such as addresses that
    moved together, are counted by named rules, and the last line says how many there are; --show
    lists those of a rule, --strict all. What the captures do not decide, such as contents that only
    one of them holds, is listed as undecided. Draws of binning runs, and clears, loads and
    stores, are compared by themselves: what differs only there comes last, as does what differs in
    some tiles only.

    GOOD and BAD may name a place, of one file or of two: FILE@s1 a submit, FILE@p3 a pass,
    FILE@p3:7 a draw, FILE@p3:5-9 several, FILE@p3:t5 a tile, FILE@p3:binning the binning run, or
    another spelling of --at, which names the same place of both. What lies before it is executed,
    so the state is complete.

    --where compares a pair of draws if the expression holds for either of them; passes as wholes
    are compared only if it is about passes alone. No match at all is an error.

    GOOD or BAD may be '-' for standard input. Exit codes: 0 no difference and nothing undecided, 1
    differences or something undecided, 2 errors, or a limit that left out part of a capture. Damage
    is reported on standard error and does not affect the exit code, unless only one capture
    executes damaged commands. Files with the same content are not decoded, so that damage of their
    commands is not reported.
    """
    if brief and question.form in ("json", "unified"):
        raise click.UsageError("--brief cannot be used together with --json or --unified")
    (path, place), (other_path, other_place) = paths_and_places(good, bad, question.place)
    where = None if question.query is None else question.query.where
    captures = _open(path, other_path, question)
    contents = captures[0]._source.content, captures[1]._source.content
    is_one = contents[0].data == contents[1].data
    is_cut = contents[0].faults or contents[0].limits != Limits()
    needs_decoding = question.form in ("json", "html") or where is not None or is_cut
    if is_one and place == other_place and not needs_decoding:
        return _same(question, contents, brief or question.form == "unified")
    _record(captures[:1] if is_one else captures, where)
    first, second = captures
    with progress("Comparing"):
        result = compare_captures(
            first, second, good_at=place, bad_at=other_place, show=shown, strict=strict, where=where
        )
    if not brief or question.form == "html":
        _write(question.of_files(path, other_path), result, everything)
    return _exit_code(result)


def _record(captures: tuple[Capture, ...], where: str | None) -> None:
    """Decode the captures, and report their problems."""
    if len(captures) == 2 and where is None:
        share(*captures)
    for capture in captures:
        capture._source.content.move_to_file()  # two large captures are not in memory whole
        decode(capture, lambda opened: record(opened, where), print_warning)


def _exit_code(result: Comparison) -> int:
    if result.truncated:
        return EXIT_USAGE
    return _SAME if result.is_equal else _DIFFERENT


def _open(path: str, other: str, question: Question) -> tuple[Capture, Capture]:
    """Both captures, one file once. Raises CffpyError, also for a file without content."""
    if path == other == "-":
        raise click.UsageError("GOOD and BAD cannot both be standard input")
    # while the first one is read
    reading = None if path == other else read_ahead(other, command_limits())
    how = question.gpu, question.register_db
    first = open_for(path, *how)
    second = (
        first if path == other else open_for(other, *how, None if reading is None else reading.take)
    )
    for content in (first._source.content, second._source.content):
        if not len(content.data):
            raise ContainerError(f"{content.name}: the file is empty")
    check_makers(first, second)
    return first, second


def _same(question: Question, contents: tuple[Content, Content], quiet: bool) -> int:
    """Two files with the same bytes: nothing to compare, so their commands are not decoded."""
    if not quiet:
        names = " → ".join(visible(content.name) for content in contents)
        line = f"no difference: {names} (the same content)"
        write_result(Result(lines=lambda: [line]), question)
    return EXIT_USAGE if any(content.truncated for content in contents) else _SAME


def _write(question: Question, result: Comparison, everything: bool) -> None:
    from cffpy.views import diff as view

    def lines() -> Iterator[str]:
        for line in view.text_lines(view.tree(result.model, everything)):
            yield Styled(line, _STYLES.get(line.style, ""))

    forms = Result(
        view.SCHEMA,
        result.to_dict,
        lines,
        truncated=lambda: result.truncated,
        texts={"unified": result.unified},
        files={"html": lambda _path: [result.page()]},
    )
    write_result(forms, question)
