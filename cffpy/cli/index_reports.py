# SPDX-License-Identifier: MIT
"""``cffpy index stats``, ``cffpy index compare`` and ``cffpy check --index``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cffpy.cli.analysis_options import write_json, write_json_lines
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK
from cffpy.cli.text_options import text_options, write_lines
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.check.model import Lint
    from cffpy.index.checked import IndexedCheck
    from cffpy.index.compare import IndexComparison
    from cffpy.index.stats import IndexStats

STATS_SCHEMA = "cffpy.index-stats/2"
COMPARE_SCHEMA = "cffpy.index-compare/1"

_STATS_EPILOG = """\b
Examples:
  cffpy index stats night.index
  cffpy index stats night.index --json | jq .rare_values
"""
_COMPARE_EPILOG = """\b
Examples:
  cffpy index compare last.index night.index
  cffpy index compare last.index night.index --markdown >> "$GITHUB_STEP_SUMMARY"
"""


@click.command(short_help="Show statistics of an index.", epilog=_STATS_EPILOG)
@click.argument("path", metavar="INDEX")
@click.option("--json", "as_json", is_flag=True, help=f"Print one JSON document ({STATS_SCHEMA}).")
@text_options
@click.help_option("-h", "--help")
def stats(path: str, as_json: bool) -> int:
    """Show statistics of an index: captures, GPUs, drivers, processes, programs by stage, the
    largest programs and passes, findings by lint, and rare values: those that one capture has, of
    registers with few values.
    """
    from cffpy.index.reader import open_index
    from cffpy.index.stats import statistics

    found = statistics(open_index(path))
    if as_json:
        write_json(STATS_SCHEMA, found.to_dict())
    else:
        write_lines(_stats_lines(found))
    return EXIT_OK


def _stats_lines(found: IndexStats) -> Iterator[str]:
    yield Styled(f"{visible(found.index)}: snapshot {found.snapshot} of {found.time}")
    yield (
        f"captures: {found.captures} ({_counts(found.status)}); bytes: {found.bytes}; "
        f"draws: {found.draws}; partitions: {found.partitions}"
    )
    yield f"GPUs: {_counts(found.gpus)}"
    yield f"drivers: {_counts(found.drivers)}"
    yield f"{found.registers} registers, {found.register_values} values"
    for title, rows in (
        ("Processes", found.processes),
        ("Programs by stage", found.programs),
        ("Largest programs", found.largest_programs),
        ("Largest passes", found.largest_passes),
        ("Rare values", found.rare_values),
        ("Findings", found.lints),
    ):
        if rows:
            yield ""
            yield Styled(title)
            yield from _table(rows)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {visible(name)}" for name, count in counts.items()) or "none"


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    heading = list(rows[0])
    cells = [[_cell(name, row[name]) for name in heading] for row in rows]
    right = {n for n, name in enumerate(heading) if isinstance(rows[0][name], int)}
    return headed_columns([heading, *cells], right)


def _cell(name: str, value: object) -> str:
    if value is None:
        return "unknown" if name == "value" else ""
    return f"{value:#x}" if name == "value" and isinstance(value, int) else visible(str(value))


@click.command(short_help="Compare two indexes.", epilog=_COMPARE_EPILOG)
@click.argument("old", metavar="INDEX")
@click.argument("new", metavar="INDEX")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a summary in Markdown.")
@click.option("--json", "as_json", is_flag=True, help=f"Print one document ({COMPARE_SCHEMA}).")
@text_options
@click.help_option("-h", "--help")
def compare(old: str, new: str, as_markdown: bool, as_json: bool) -> int:
    """Compare two indexes, as of two nights: captures, values of registers that are new, findings
    of lints that are new, programs.

    Captures correspond by their paths below the inputs of the builds. Registers with more than 64
    values, such as addresses, are left out. The exit code is 1 if a capture fails that did not, or
    if an error is found that was not.
    """
    from cffpy.index.compare import compare as compare_indexes
    from cffpy.index.reader import open_index

    if as_markdown and as_json:
        raise click.UsageError("--markdown and --json cannot be used together")
    found = compare_indexes(open_index(old), open_index(new))
    if as_json:
        write_json(COMPARE_SCHEMA, found.to_dict())
    elif as_markdown:
        write_lines(_compare_markdown(found))
    else:
        write_lines(_compare_lines(found))
    return EXIT_FAILURE if found.is_worse else EXIT_OK


def _sections(found: IndexComparison) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for title, names in (("New captures", found.added), ("Removed captures", found.removed)):
        yield title, [{"capture": name} for name in names]
    status = [{"capture": name, "old": old, "new": new} for name, old, new in found.status]
    yield "Status", status
    findings = [
        {name: row[name] for name in ("capture", "severity", "lint", "draw", "count", "text")}
        for row in found.findings
    ]
    yield "New findings", findings
    lints = [{"lint": lint, "old": old, "new": new} for lint, (old, new) in found.lints.items()]
    yield "Findings by lint", lints
    yield "New values", found.values
    changed = [row for row in found.programs if row["only_new"] or row["only_old"]]
    yield "Programs by stage", changed


def _compare_lines(found: IndexComparison) -> Iterator[str]:
    is_first = True
    for title, rows in _sections(found):
        if rows:
            if not is_first:
                yield ""
            is_first = False
            yield Styled(title)
            yield from _table(rows)
    if is_first:
        yield "no differences"


#: Rows of a table of Markdown.
_MOST_ROWS = 50


def _compare_markdown(found: IndexComparison) -> Iterator[str]:
    from cffpy.index.checked import cell

    yield "## cffpy index compare"
    for title, rows in _sections(found):
        if not rows:
            continue
        heading = list(rows[0])
        yield ""
        yield f"### {title}: {len(rows)}"
        yield ""
        yield f"| {' | '.join(heading)} |"
        yield f"| {' | '.join('---' for _ in heading)} |"
        for row in rows[:_MOST_ROWS]:
            yield f"| {' | '.join(cell(_cell(name, row[name])) for name in heading)} |"
        if len(rows) > _MOST_ROWS:
            yield f"| and {len(rows) - _MOST_ROWS} more |{' |' * (len(heading) - 1)}"


# -- check --index --------------------------------------------------------------------------------


def check_index(
    index: str, baseline: str | None, lints: Sequence[Lint], forms: tuple[bool, bool, bool]
) -> list[IndexedCheck]:
    """Write the findings of an index and return them. ``baseline``: of the index before.

    ``forms``: the options --json, --jsonl and --markdown.
    """
    from cffpy.index.checked import check_index as findings_of
    from cffpy.index.checked import markdown
    from cffpy.index.reader import open_index
    from cffpy.views.check import SCHEMA, items

    as_json, as_jsonl, as_markdown = forms
    before = None if baseline is None else open_index(baseline)
    checks = findings_of(open_index(index), lints, before)
    if as_json:
        write_json(SCHEMA, {"files": [one.to_dict() for one in checks]})
    elif as_jsonl:
        write_json_lines(items(one.to_dict() for one in checks))
    elif as_markdown:
        write_lines(markdown(checks))
    else:
        write_lines(_check_lines(checks))
    return checks


def _check_lines(checks: Sequence[IndexedCheck]) -> Iterator[str]:
    for check in checks:
        for problem in check.problems:
            yield f"{visible(check.capture)}: problem: {visible(problem)}"
        for one in check.findings:
            where = f"draw {one['draw']}: " if one["draw"] else ""
            if not where and one["pass"] is not None:
                where = f"pass {one['pass']}: "
            times = f" ({one['count']} times)" if one["count"] > 1 else ""
            head = f"{visible(check.capture)}: {one['severity']} {one['id']} {one['name']}"
            yield f"{head}: {where}{visible(one['text'])}{times}"
    counts = (f"{sum(one.count(name) for one in checks)} {name}" for name in _SEVERITIES)
    yield f"{len(checks)} captures: {', '.join(counts)}"


_SEVERITIES = ("error", "warning", "info")
