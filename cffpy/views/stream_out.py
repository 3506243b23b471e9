# SPDX-License-Identifier: MIT
"""Stream-out of draws: lines of text, and a JSON document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_documents
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.stream_out import StreamOut, StreamOutBuffer

SCHEMA = "cffpy.draws.stream-out/1"

#: Outputs of a draw that text shows; JSON has all.
_SHOWN = 32


class StreamOutDocument(TypedDict):
    """Draws with stream-out: cffpy draws --stream-out --json."""

    draws: Annotated[Iterable[Facts], "the draws", Of("cffpy.frame.stream_out:StreamOut")]


def document(draws: Iterable[StreamOut]) -> StreamOutDocument:
    """The draws in order."""
    return {"draws": facts_documents(draws)}


def lines(draws: Iterable[StreamOut]) -> Iterator[str]:
    """The draws: what they write where, and what becomes of the offsets."""
    is_empty = True
    for draw in draws:
        is_empty = False
        yield from _draw_lines(draw)
    if is_empty:
        yield "no draw with stream-out"


def _draw_lines(draw: StreamOut) -> Iterator[str]:
    where = ", ".join(draw.runs)
    written = f"writes in {where}" if draw.writes else "switched off in all runs of the pass"
    yield Styled(f"draw {draw.action.name}: {written}")
    if draw.unit == "program":
        yield "  by stores of its vertex program: outputs and buffers unknown"
        return
    for output in draw.outputs[:_SHOWN]:
        stream = f"stream {output.stream}: " if draw.streams != (0,) else ""
        yield f"  {stream}location {output}"
    if len(draw.outputs) > _SHOWN:
        yield f"  ... and {len(draw.outputs) - _SHOWN} more"
    for buffer in draw.buffers:
        yield from _buffer_lines(buffer)


def _buffer_lines(buffer: StreamOutBuffer) -> Iterator[str]:
    address = "unknown" if buffer.address is None else f"{buffer.address:#x}"
    sizes = f"{_number(buffer.size)} bytes, stride {_number(buffer.stride)}"
    stream = "no stream" if buffer.stream is None else f"stream {buffer.stream}"
    captured = "not captured"
    if buffer.captured_with is not None:
        captured = f"{buffer.captured:,} bytes captured with submit {buffer.captured_with}"
    yield f"  buffer {buffer.number} at {address}: {sizes}, {stream}; {captured}"
    if buffer.loaded_by is not None:
        yield f"    offset loaded from {_hex(buffer.loaded_from)}: {buffer.loaded_by}"
    else:
        yield f"    offset {_number(buffer.buffer_offset)}"
    if buffer.flushed_by is not None:
        copied = "" if buffer.copied_to is None else f", copied to {buffer.copied_to:#x}"
        yield f"    offset flushed to {_hex(buffer.flushed_to)}{copied}: {buffer.flushed_by}"


def _number(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _hex(address: int | None) -> str:
    return "unknown" if address is None else f"{address:#x}"
