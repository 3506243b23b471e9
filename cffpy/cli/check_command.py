# SPDX-License-Identifier: MIT
"""``cffpy check``: lints for captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy._version import __version__
from cffpy.cli.captures import decode
from cffpy.cli.forms import Forms, Result, is_one_file, named_error, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.container.kinds import captures_in
from cffpy.container.open import one_by_one
from cffpy.errors import CffpyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.api.capture import Capture
    from cffpy.check.model import Lint
    from cffpy.check.runner import Checked
    from cffpy.index.compare import IndexedCheck

_EPILOG = """\b
Examples:
  cffpy check capture.rd.gz
  cffpy check --at p3 capture.rd.gz             only what is found in pass 3
  cffpy check --ignore 'CFF02*' --fail-on warning *.rd.gz
  cffpy check --explain CFF013
  cffpy check --baseline good.rd.gz bad.rd.gz   only what is new in bad.rd.gz
  cffpy check --sarif capture.rd.gz > capture.sarif
  cffpy check --index night.index --baseline last.index --markdown
"""

_LEVELS = ("error", "warning", "info", "never")


def _words(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    """Ids and names, which may be separated by commas."""
    return [word for text in given for word in text.split(",") if word.strip()]


@click.command(epilog=_EPILOG)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--select", multiple=True, callback=_words, metavar="LINT", help="Only these lints.")
@click.option("--ignore", multiple=True, callback=_words, metavar="LINT", help="Not these lints.")
@click.option(
    "--fail-on",
    type=click.Choice(_LEVELS),
    default="error",
    show_default=True,
    help="The least severity with which the exit code is 1.",
)
@click.option("--baseline", metavar="GOOD", help="Only findings that GOOD does not have.")
@click.option("--index", metavar="INDEX", help="The findings of an index; GOOD is one, too.")
@click.option("--markdown", is_flag=True, help="Print a summary in Markdown.")
@click.option("--explain", metavar="LINT", help="Say what a lint finds, why, and what to do.")
@click.option("--list", "as_list", is_flag=True, help="List the lints.")
@click.option("--sarif", is_flag=True, help="Print a SARIF 2.1.0 log.")
@asks(
    "",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(
        item="finding",
        json="cffpy.check/1",
        jsonl="cffpy.check.line/1",
        others=("sarif", "markdown"),
    ),
)
def check(
    question: Question,
    select: list[str],
    ignore: list[str],
    fail_on: str,
    baseline: str | None,
    index: str | None,
    explain: str | None,
    as_list: bool,
) -> int:
    """Check captures for errors, waste and suspicious state, as a linter does for source code.

    Each finding has the id of a lint, a severity, the draw or pass, and the packet's location;
    findings of the same cause are one, with a count. LINT is an id (CFF013), a name (lrz-lost) or
    a pattern of either. A lint knows the state at each draw as it is executed; what only the GPU
    can decide is not reported. FILE may be a folder: all captures in it and below.

    The exit code is 1 if an error is found (see --fail-on), or if a capture is damaged or cannot
    be read.
    """
    from cffpy.check.registry import chosen_lints
    from cffpy.check.runner import new_findings

    if explain is not None or as_list:
        return _describe(question, explain, select, ignore)
    lints = chosen_lints(select, ignore)
    levels = _LEVELS[: _LEVELS.index(fail_on) + 1] if fail_on != "never" else ()
    _check_inputs(question, index)
    if index is not None:
        from cffpy.cli.index import check_index

        checks = check_index(question, index, baseline, lints)
        return EXIT_FAILURE if any(_has(check, levels) for check in checks) else EXIT_OK
    known, of_good = _check_all(question.of_files(*([] if baseline is None else [baseline])), lints)
    results, code = _check_all(question, lints)
    code = max(code, of_good)
    for _, before in known:
        for _, checked in results:
            checked.findings = new_findings(before, checked)
    _write(question, results, lints)
    failed = any(_has(checked, levels) for _, checked in results)
    return EXIT_FAILURE if failed else code


def _check_inputs(question: Question, index: str | None) -> None:
    """Raises click.UsageError where it is not either files or an index that are given."""
    if index is not None and (question.files or question.form == "sarif"):
        raise click.UsageError("--index cannot be used with FILE or --sarif")
    if index is not None and (question.place or question.query) is not None:
        raise click.UsageError("--index cannot be used with --at or --where: they need the capture")
    if index is None and question.form == "markdown":
        raise click.UsageError("--markdown needs --index")
    if index is None and not question.files:
        raise click.UsageError("no FILE is given")


def _has(checked: Checked | IndexedCheck, levels: Sequence[str]) -> bool:
    """Whether there is a finding of one of these severities."""
    return any(map(checked.count, levels))


def _describe(question: Question, explain: str | None, select: list[str], ignore: list[str]) -> int:
    """Explain a lint, or list the lints that are chosen."""
    from cffpy.check.registry import chosen_lints, find_lint
    from cffpy.views import check as view

    if explain is not None:
        lint = find_lint(explain)
        return write_result(Result(lines=lambda: view.explanation(lint)), question)
    lints = chosen_lints(select, ignore)
    return write_result(Result(lines=lambda: view.table(lints)), question)


def _write(question: Question, results: list[tuple[str, Checked]], lints: Sequence[Lint]) -> None:
    from cffpy.views import check as view

    result = Result(
        view.SCHEMA,
        lambda: view.document(results),
        lambda: view.lines(results),
        items=lambda: view.items(view.document(results)["files"]),
        sarif=lambda: view.sarif(results, lints, __version__),
    )
    write_result(result, question)


def _check_all(question: Question, lints: Sequence[Lint]) -> tuple[list[tuple[str, Checked]], int]:
    """The result of each file, and the exit code for damage.

    Of several files, errors of one are reported, and the next one follows.
    """
    results, code = [], EXIT_OK
    for path in one_by_one(captures_in(question.files)):
        try:
            with question.open(path) as capture:
                checked, of_file = decode(capture, lambda opened: _checked(opened, lints, question))
            results.append((path, checked))
            code = max(code, of_file)
        except CffpyError as problem:
            if is_one_file(question.files):
                raise
            print_error(named_error(path, str(problem)))
            code = EXIT_FAILURE
    return results, code


def _checked(capture: Capture, lints: Sequence[Lint], question: Question) -> Checked:
    scope = question.scope_or_none(capture)
    return capture._source.check(lints, None if scope is None else scope.has_report)
