# SPDX-License-Identifier: MIT
"""``cffpy info``: a summary of captures, as tables or one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cffpy.api.capture import open as open_
from cffpy.cli.captures import SHOWN_PROBLEMS
from cffpy.cli.forms import Forms, Result, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import command_limits
from cffpy.cli.progress import progress
from cffpy.cli.question import Question, asks
from cffpy.container.kinds import captures_in
from cffpy.errors import CffpyError
from cffpy.views import model_documents as view
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.summary import CaptureSummary
    from cffpy.api.capture import Capture
    from cffpy.api.intel import Intel
    from cffpy.frame.device import DeviceFact, DeviceReport
    from cffpy.frame.submit import Stream, Submit

_SHOWN_PROCESSES = 10

_EPILOG = """\b
Examples:
  cffpy info capture.rd.gz
  cffpy info --buffers capture.rd.gz
  cffpy info --device capture.rd.gz           is the GPU programmed as its table says?
  cffpy info --json *.rd.gz | jq '.files[].gpu'
"""


@click.command(epilog=_EPILOG)
@click.option("--buffers", is_flag=True, help="Also list the buffers of each submit.")
@click.option(
    "--device",
    "with_device",
    is_flag=True,
    help="Also show what the commands tell of the GPU, and what does not fit its table.",
)
@asks("FILE...", forms=Forms(json=view.INFO_SCHEMA), gpu=None, edition=None)
def info(question: Question, buffers: bool, with_device: bool) -> int:
    """Summarise captures: GPU, processes, submits, buffers, damage.

    FILE may be '-' for standard input, or a folder: the captures in it, in the order of the numbers
    in their names. Damage is listed with its offset in the decompressed file.
    The exit code is 1 if a file is damaged or cannot be read.

    --device decodes the commands: sizes (GMEM, CCU, tiles, VSC pipes) and magic registers as the
    driver programs them, with the packets that show it, compared with Mesa's table of devices
    (cffpy db device). Of a GPU that no table has, these are what a new entry needs.
    """
    read = _Files(captures_in(question.files), with_device)
    result = Result(
        view.INFO_SCHEMA,
        lambda: {"files": [_document(summary, buffers) for summary in read]},
        lambda: (line for summary in read for line in _file_lines(summary, buffers)),
    )
    write_result(result, question)
    return read.code


class _File(NamedTuple):
    """A file of the command line; without a capture if it could not be read."""

    number: int
    path: str
    capture: Capture | None
    problem: str = ""


class _Files:
    """Reads one file at a time; ``code`` is the exit code for those that were read."""

    def __init__(self, paths: Sequence[str], with_device: bool) -> None:
        self._paths = paths
        self._with_device = with_device
        self.code = EXIT_OK

    def __iter__(self) -> Iterator[_File]:
        for number, path in enumerate(self._paths):
            try:
                capture = _summarise(path, self._with_device)
            except CffpyError as problem:
                yield self._failed(number, path, problem)
                continue
            if capture.summary.damage:
                self.code = EXIT_FAILURE
            yield _File(number, path, capture)
            capture.close()

    def _failed(self, number: int, path: str, problem: CffpyError) -> _File:
        print_error(str(problem))
        self.code = EXIT_FAILURE
        return _File(number, path, None, str(problem))


def _document(file: _File, buffers: bool) -> dict[str, Any] | view.UnreadFile:
    if file.capture is None:
        return view.unread_file(file.path, file.problem)
    return file.capture.to_dict(buffers)


def _file_lines(file: _File, buffers: bool) -> Iterator[str]:
    capture = file.capture
    if capture is None:
        return
    if file.number:
        yield ""
    if capture.intel is None:
        yield from _lines(capture.summary, buffers)
    else:
        yield from _lines_of_intel(capture, capture.intel)


def _lines_of_intel(capture: Capture, intel: Intel) -> Iterator[str]:
    yield Styled(visible(capture.name))
    yield from intel._info_lines()
    yield from _damage_lines(capture.summary)
    yield ""
    yield from headed_columns(intel._submission_rows(), (0, 3))


def _summarise(path: str, with_device: bool) -> Capture:
    """A capture whose sections were read; for the device, its commands, too.

    Raises CffpyError.
    """
    capture = open_(path, limits=command_limits())
    with progress(f"Reading {path}", capture._source.content):
        assert capture.summary
        if with_device and capture.intel is None:
            capture.summary.device_report = capture.device
    return capture


def _lines(summary: CaptureSummary, buffers: bool) -> Iterator[str]:
    yield Styled(visible(summary.file))
    packed = "" if summary.compression == "none" else f", {summary.compression}"
    yield f"  size       {summary.size:,} bytes ({summary.file_size:,} in the file{packed})"
    yield f"  GPU        {_gpu_text(summary)}"
    for process in summary.processes[:_SHOWN_PROCESSES]:
        yield f"  process    {visible(process)}"
    if len(summary.processes) > _SHOWN_PROCESSES:
        yield f"  process    ... and {len(summary.processes) - _SHOWN_PROCESSES} more"
    for buffer in summary.replay_buffers[:_SHOWN_PROCESSES]:
        yield f"  {buffer.kind:<10} {visible(buffer.text)}"
    if len(summary.replay_buffers) > _SHOWN_PROCESSES:
        yield f"  write      ... and {len(summary.replay_buffers) - _SHOWN_PROCESSES} more"
    yield from _damage_lines(summary)
    yield from _section_lines(summary)
    if summary.submits:
        yield from _submit_lines(summary)
    if summary.device_report is not None:
        yield ""
        yield from _device_lines(summary.device_report)
    if buffers:
        for submit in summary.submits:
            yield from _buffer_lines(submit)


def _damage_lines(summary: CaptureSummary) -> Iterator[str]:
    for damage in summary.damage[:SHOWN_PROBLEMS]:
        yield Styled(f"  damage     {visible(str(damage))}", "red")
        if damage.reference_says_corrupt:
            yield "             (cffdump reports: corrupt file)"
    if len(summary.damage) > SHOWN_PROBLEMS:
        yield "             more damage is not shown (--json lists all)"


def _gpu_text(summary: CaptureSummary) -> str:
    ids = []
    if summary.gpu_id:
        ids.append(f"gpu id {summary.gpu_id}")
    if summary.chip_id:
        ids.append(f"chip id {summary.chip_id:#x}")
    listed = ", ".join(ids)
    gpu = summary.gpu_model
    if gpu is None:
        return f"unknown ({listed or 'no id in the file'})"
    text = f"{gpu.name} (a{gpu.generation}xx, {64 if gpu.is_64bit else 32}-bit), {listed}"
    if not summary.gpu_known:
        text += ": unknown to cffdump, decoded by generation"
    if summary.other_gpus:
        text += f"; also names {', '.join(summary.other_gpus)}: decoded as {gpu.name}, too"
    return text


def _section_lines(summary: CaptureSummary) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        (count.name, f"{count.count:,}", f"{count.payload_bytes:,}") for count in summary.sections
    ]
    if rows:
        yield ""
        yield from headed_columns([("section", "count", "bytes"), *rows], (1, 2))


def _submit_lines(summary: CaptureSummary) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    styles: dict[int, str] = {}
    for submit in summary.submits:
        shared = f"{len(submit.kept_buffers):,}", f"{submit.buffer_bytes:,}"
        process = visible(submit.process or "")
        if not submit.streams:
            rows.append((str(submit.number), "-", "-", "-", *shared, "", process))
        for position, stream in enumerate(submit.streams):
            if stream.is_missing:
                styles[len(rows)] = "red" if stream.captured_dwords is None else "yellow"
            rows.append(
                (
                    "" if position else str(submit.number),
                    str(stream.number),
                    f"{stream.gpuaddr:#x}",
                    f"{stream.dwords:,}",
                    *(("", "") if position else shared),
                    _captured_text(stream),
                    "" if position else process,
                )
            )
    yield ""
    headings = "submit", "stream", "address", "dwords", "buffers", "bytes", "captured", "process"
    heading, *lines = headed_columns([headings, *rows], (0, 1, 3, 4, 5))
    yield heading
    for number, line in enumerate(lines):
        yield Styled(line, styles[number]) if number in styles else line


def _captured_text(stream: Stream) -> str:
    if stream.captured_dwords is None:
        return "no"
    return f"{stream.captured_dwords:,} dwords" if stream.is_missing else "yes"


def _buffer_lines(submit: Submit) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        (
            f"{buffer.gpuaddr:#x}",
            f"{buffer.size:,}",
            f"{buffer.captured:,}",
            f"{buffer.file_offset:#x}",
            "" if buffer.state == "kept" else buffer.state,
        )
        for buffer in sorted(
            submit.buffers, key=lambda buffer: (buffer.gpuaddr, buffer.file_offset)
        )
    ]
    yield ""
    yield f"buffers of submit {submit.number}"
    yield from headed_columns(
        [("address", "size", "captured", "file offset", ""), *rows], (1, 2, 3)
    )


def _device_lines(device: DeviceReport) -> Iterator[str]:
    """The facts of a GPU; of a known one only those magic registers that do not fit."""
    fitting = ", ".join(device.fitting) or "none"
    is_known = device.device is not None
    if is_known:
        yield Styled(f"device {device.device} of {device.edition}; GPUs that fit: {fitting}")
    else:
        yield Styled(f"device unknown; known GPUs that fit: {fitting}")
    shown = [
        each for each in device.facts if each.kind != "magic" or each.fits is False or not is_known
    ]
    table = ("table", "") if is_known else ()
    rows = [
        ("property", "commands", *table, "rule", "packet"),
        *(_device_row(each, is_known) for each in shown),
    ]
    heading, *lines = headed_columns(rows, (1, 2) if is_known else (1,))
    yield heading
    for each, line in zip(shown, lines, strict=True):
        yield Styled(line, "red") if each.fits is False else line
    fit = sum(each.kind == "magic" and bool(each.fits) for each in device.facts)
    if fit:
        yield f"{fit} magic registers fit"


def _device_row(known: DeviceFact, is_known: bool) -> tuple[str, ...]:
    compared = (_value_text(known.expected), _fits_text(known.fits)) if is_known else ()
    packet = f"{known.packets[0].gpuaddr:#x}" if known.packets else ""
    return known.name, _value_text(known.value), *compared, known.rule or "", packet


def _value_text(value: int | str | None) -> str:
    if value is None:
        return "?"
    return f"{value:,}" if isinstance(value, int) else value


def _fits_text(fits: bool | None) -> str:
    if fits is None:
        return ""
    return "fits" if fits else "differs"
