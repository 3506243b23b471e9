# SPDX-License-Identifier: MIT
"""The passes of a capture as a document for JSON and as rows for CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.geometry import Size
    from cffpy.analysis.passes.model import Operation, Pass, Passes, SubmitPasses
    from cffpy.analysis.pipe_waits import PipeWait

SCHEMA = "cffpy.passes/3"

CSV_COLUMNS = (
    "pass",
    "submit",
    "kind",
    "mode",
    "hardware_binning",
    "concurrent",
    "width",
    "height",
    "samples",
    "tiles",
    "bin_width",
    "bin_height",
    "columns",
    "rows",
    "pipes",
    "draws",
    "first_dump_draw",
    "last_dump_draw",
    "stream",
    "gpuaddr",
    "file_offset",
)


def document(found: Passes, submits: Iterable[SubmitPasses]) -> dict[str, Any]:
    """Addresses are hex strings, sizes pixels; what is not in the stream is null."""
    return {
        "gpu": found.gpu,
        "generation": found.generation or None,
        "problems": found.problems,
        "submits": [
            {"submit": submit.number, "passes": [pass_document(one) for one in submit.passes]}
            for submit in submits
        ],
    }


def pass_document(one: Pass) -> dict[str, Any]:
    """One pass."""
    area, lrz = one.render_area, one.lrz
    return {
        "pass": one.index,
        "kind": one.kind,
        "submit": one.submit,
        "streams": one.streams,
        "mode": one.mode,
        "hardware_binning": one.hardware_binning,
        "concurrent": one.concurrent,
        "framebuffer": size_document(one.framebuffer),
        "framebuffer_limit": size_document(one.framebuffer_limit),
        "render_area": None
        if area is None
        else {
            "x": area.left,
            "y": area.top,
            "width": area.size.width,
            "height": area.size.height,
            "rounded": one.render_area_rounded,
        },
        "layers": one.layers,
        "views": one.views,
        "samples": one.samples,
        "attachments": [_attachment(attachment) for attachment in one.attachments],
        "operations": [_operation(operation) for run in one.runs for operation in run.operations],
        "bin_size": size_document(one.bin_size),
        "grid": size_document(one.grid),
        "tiles": len(one.tiles),
        "pipes": [
            {"pipe": pipe.number, "x": pipe.x, "y": pipe.y, "w": pipe.width, "h": pipe.height}
            for pipe in one.pipes
        ],
        "draws": [draw.number for draw in one.program_draws],
        "program_draws": len(one.program_draws),
        "lrz": None
        if lrz is None
        else {
            "address": hexadecimal(lrz.address),
            "cleared": lrz.cleared,
            "disabled": lrz.disabled,
            "used": lrz.used,
            "off_draws": [[one.first, one.last] for one in lrz.off_draws],
        },
        "waits": [*map(wait_document, one.waits)],
        "markers": list(one.markers),
        "first": place_document(one.first),
        "last": place_document(one.last),
        "unknown": one.unknown,
    }


def rows(submits: Iterable[SubmitPasses]) -> Iterator[tuple[object, ...]]:
    """A row for each pass, as CSV_COLUMNS has it."""
    for submit in submits:
        for one in submit.passes:
            size, bins, grid = one.framebuffer, one.bin_size, one.grid
            numbers = [d.number for d in one.program_draws if d.number is not None]
            yield (
                one.index,
                one.submit,
                one.kind,
                one.mode,
                int(one.hardware_binning),
                one.concurrent,
                size and size.width,
                size and size.height,
                one.samples,
                len(one.tiles),
                bins and bins.width,
                bins and bins.height,
                grid and grid.width,
                grid and grid.height,
                len(one.pipes),
                len(one.program_draws),
                numbers[0] if numbers else None,
                numbers[-1] if numbers else None,
                one.first.submit.number,
                hexadecimal(one.first.gpuaddr),
                hexadecimal(one.first.file_offset),
            )


def hexadecimal(number: int | None) -> str | None:
    """A number in hex, None as it is."""
    return None if number is None else f"{number:#x}"


def wait_document(one: PipeWait) -> dict[str, Any]:
    """What a pipe waits for, and the packet of the other one that signals it."""
    signal = one.signal
    return {
        "pipe": one.pipe,
        "kind": one.kind,
        "address": hexadecimal(one.address),
        "wanted": one.wanted,
        "state": one.state,
        "place": place_document(one.place),
        "signal": None
        if signal is None
        else {"pipe": signal.pipe, "place": place_document(signal.place)},
    }


def place_document(place: PacketLocation) -> dict[str, Any]:
    """Where a packet is: the streams from the submit's own inwards, its address and offset."""
    return {
        "stream": place.submit.number,
        "path": [
            {"kind": stream.kind, "gpuaddr": hexadecimal(stream.gpuaddr), "group": stream.group_id}
            for stream in place.stream.path
            if stream.kind != "block"
        ],
        "gpuaddr": hexadecimal(place.gpuaddr),
        "file_offset": hexadecimal(place.file_offset),
    }


def size_document(size: Size | None) -> dict[str, int] | None:
    """Width and height in pixels, or in tiles; None as it is."""
    return None if size is None else {"width": size.width, "height": size.height}


def _attachment(attachment: Attachment) -> dict[str, Any]:
    return {
        "name": attachment.name,
        "address": hexadecimal(attachment.address),
        "format": attachment.format,
        "swap": attachment.swap,
        "srgb": attachment.srgb,
        "tiling": attachment.tiling,
        "pitch": attachment.pitch,
        "gmem": hexadecimal(attachment.gmem),
        "ubwc": attachment.ubwc,
        "flags": hexadecimal(attachment.flags),
        "samples": attachment.samples,
        "write_mask": attachment.write_mask,
    }


def _operation(operation: Operation) -> dict[str, Any]:
    scissor = operation.scissor
    return {
        "kind": operation.kind,
        "attachment": operation.attachment,
        "how": operation.how,
        "resolves": operation.resolves,
        "address": hexadecimal(operation.address),
        "source": hexadecimal(operation.source),
        "gmem": hexadecimal(operation.gmem),
        "format": operation.format,
        "clear_value": None
        if operation.clear_value is None
        else [hexadecimal(word) for word in operation.clear_value],
        "scissor": None if scissor is None else str(scissor),
        "tile": operation.action.tile,
        "binning": operation.action.is_binning,
        "pipe": operation.action.pipe,
        "executed": operation.action.executed.value,
        "condition": operation.action.condition,
        "dump_draw": operation.action.number,
        "place": place_document(operation.action.place),
    }
