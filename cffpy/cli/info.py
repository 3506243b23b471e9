# SPDX-License-Identifier: MIT
"""``cffpy info``: a summary of captures, as tables or one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cffpy.capture.summary import CaptureSummary, StreamSummary, SubmitSummary, summarise
from cffpy.cli.analysis_options import SHOWN_PROBLEMS, write_json
from cffpy.cli.limit_option import command_limits, limit_option
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, console, print_error
from cffpy.cli.progress import progress
from cffpy.container.kinds import check_capture
from cffpy.container.open import open_capture
from cffpy.container.rd import section_name
from cffpy.errors import CffpyError
from cffpy.views import info as view
from cffpy.views.plain_text import columns, visible

if TYPE_CHECKING:
    from rich.console import Console

    from cffpy.limits import Truncation

_EPILOG = """\b
Examples:
  cffpy info capture.rd.gz
  cffpy info --buffers capture.rd.gz
  cffpy info --json *.rd.gz | jq '.files[].gpu.name'
"""


@click.command(epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help=f"Print one JSON document ({view.SCHEMA}).")
@click.option("--buffers", is_flag=True, help="Also list the buffers of each submit.")
@click.option("--color/--no-color", "colour", default=None, help="Use colour, or not.")
@limit_option
@click.help_option("-h", "--help")
def info(files: tuple[str, ...], as_json: bool, buffers: bool, colour: bool | None) -> int:
    """Summarise captures: GPU, processes, submits, buffers, damage.

    FILE may be '-' for standard input. Damage is listed with its offset in the decompressed file.
    The exit code is 1 if a file is damaged or cannot be read.
    """
    code = EXIT_OK
    documents: list[dict[str, Any]] = []
    out = None if as_json else console(colour)
    for number, path in enumerate(files):
        try:
            summary, truncated = _summarise(path)
        except CffpyError as problem:
            code = EXIT_FAILURE
            print_error(str(problem))
            documents.append(view.error_document(path, str(problem)))
            continue
        if summary.damage:
            code = EXIT_FAILURE
        if out is None:
            document = view.file_document(summary, buffers)
            if truncated:
                document["truncated"] = [cut.document() for cut in truncated]
            documents.append(document)
            continue
        if number:
            out.print()
        _print(out, summary, buffers)
    if out is None:
        write_json(view.SCHEMA, view.document(documents))
    return code


def _summarise(path: str) -> tuple[CaptureSummary, list[Truncation]]:
    """What is in a file, and what limits left out; the file is closed again. Raises CffpyError."""
    content = check_capture(open_capture(path, command_limits()))
    with progress(f"Reading {path}", content):
        return summarise(content), content.truncated


def _print(out: Console, summary: CaptureSummary, buffers: bool) -> None:
    from rich.markup import escape

    out.print(f"[bold]{escape(visible(summary.name))}[/bold]")
    packed = "" if summary.compression == "none" else f", {summary.compression}"
    out.print(f"  size       {summary.size:,} bytes ({summary.file_size:,} in the file{packed})")
    out.print(f"  GPU        {escape(_gpu_text(summary))}")
    for process in summary.processes[:10]:
        out.print(f"  process    {escape(visible(process))}")
    if len(summary.processes) > 10:
        out.print(f"  process    ... and {len(summary.processes) - 10} more")
    for damage in summary.damage[:SHOWN_PROBLEMS]:
        out.print(f"  [red]damage[/red]     {escape(visible(str(damage)))}")
        if damage.reference_says_corrupt:
            out.print("             (cffdump reports: corrupt file)")
    if len(summary.damage) > SHOWN_PROBLEMS:
        out.print("             more damage is not shown (--json lists all)")
    _print_sections(out, summary)
    if summary.submits:
        _print_submits(out, summary)
    if buffers:
        for submit in summary.submits:
            _print_buffers(out, submit)


def _gpu_text(summary: CaptureSummary) -> str:
    ids = []
    if summary.gpu_id:
        ids.append(f"gpu id {summary.gpu_id}")
    if summary.chip_id:
        ids.append(f"chip id {summary.chip_id:#x}")
    listed = ", ".join(ids)
    gpu = summary.gpu
    if gpu is None:
        return f"unknown ({listed or 'no id in the file'})"
    text = f"{gpu.name} (a{gpu.generation}xx, {64 if gpu.is_64bit else 32}-bit), {listed}"
    return text if summary.gpu_known else f"{text}: unknown to cffdump, decoded by generation"


def _print_sections(out: Console, summary: CaptureSummary) -> None:
    rows: list[_Row] = [
        (section_name(count.type), f"{count.count:,}", f"{count.payload_bytes:,}")
        for count in sorted(summary.sections.values(), key=lambda count: count.type)
    ]
    if rows:
        out.print()
        _print_table(out, ("section", "count", "bytes"), rows, (1, 2))


def _print_submits(out: Console, summary: CaptureSummary) -> None:
    rows: list[_Row] = []
    styles: dict[int, str] = {}
    for submit in summary.submits:
        shared = f"{len(submit.kept_buffers):,}", f"{submit.buffer_bytes:,}"
        process = visible(submit.process or "")
        if not submit.streams:
            rows.append((str(submit.index), "-", "-", "-", *shared, "", process))
        for position, stream in enumerate(submit.streams):
            if _is_missing(stream):
                styles[len(rows)] = "red" if stream.captured_dwords is None else "yellow"
            rows.append(
                (
                    "" if position else str(submit.index),
                    str(stream.index),
                    f"{stream.address:#x}",
                    f"{stream.dwords:,}",
                    *(("", "") if position else shared),
                    _captured_text(stream),
                    "" if position else process,
                )
            )
    out.print()
    headings = "submit", "stream", "address", "dwords", "buffers", "bytes", "captured", "process"
    _print_table(out, headings, rows, (0, 1, 3, 4, 5), styles)


def _is_missing(stream: StreamSummary) -> bool:
    return stream.captured_dwords is None or stream.captured_dwords < stream.dwords


def _captured_text(stream: StreamSummary) -> str:
    if stream.captured_dwords is None:
        return "no"
    return f"{stream.captured_dwords:,} dwords" if _is_missing(stream) else "yes"


def _print_buffers(out: Console, submit: SubmitSummary) -> None:
    rows: list[_Row] = [
        (
            f"{buffer.address:#x}",
            f"{buffer.size:,}",
            f"{buffer.contents:,}",
            f"{buffer.offset:#x}",
            "" if buffer.state == "kept" else buffer.state,
        )
        for buffer in sorted(submit.buffers, key=lambda buffer: (buffer.address, buffer.offset))
    ]
    out.print(f"\nbuffers of submit {submit.index}")
    _print_table(out, ("address", "size", "contents", "file offset", ""), rows, (1, 2, 3))


_Row = tuple[str, ...]


def _print_table(
    out: Console,
    headings: _Row,
    rows: list[_Row],
    right: tuple[int, ...],
    styles: dict[int, str] | None = None,
) -> None:
    """Print a table; ``styles``: row number -> style. rich's own tables are 50 times slower."""
    lines = columns([headings, *rows], right)
    out.print(lines[0], style="bold", markup=False, soft_wrap=True)
    for number, line in enumerate(lines[1:]):
        if styles and number in styles and not out.no_color:
            out.print(line, style=styles[number], markup=False, soft_wrap=True)
        else:
            out.file.write(f"{line}\n")
