# SPDX-License-Identifier: MIT
"""One visibility stream, given as bytes, as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from cffpy.vsc.bits import as_written, slots
from cffpy.vsc.primitive_stream import primitives_per_bin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.errors import VisibilityStreamError
    from cffpy.vsc.pipe import PipeVisibility
    from cffpy.vsc.primitive_stream import PrimitiveRun
    from cffpy.vsc.visibility import InstanceRun

SCHEMA = "cffpy.vsc-hex/1"


_Bit = Annotated[int, "its first bit in the stream"]


class _Bins(TypedDict):
    bins: Annotated[list[int], "slots of the bins that are covered"]
    bitfield: Annotated[str, "the same as the bits of the stream"]


class StreamRun(_Bins):
    """What runs of a stream have in common."""

    bit: _Bit


class PrimitivesRun(StreamRun):
    """Primitives in a row that cover the same bins."""

    primitives: Annotated[int, "how many there are"]


class StreamPlace(TypedDict):
    """A draw's part of the primitive stream."""

    offset: Annotated[int, "where it begins, in dwords"]
    size: Annotated[int, "its size in dwords"]


class DrawsRun(StreamRun):
    """Draws, or instances of a draw, in a row that cover the same bins."""

    entry: Annotated[int, "number of the first draw in the stream"]
    entries: Annotated[int, "how many draws there are"]
    instance: Annotated[int, "number of the first instance"]
    instances: Annotated[int | None, "how many instances there are"]
    ends_draw: Annotated[bool, "the last of them ends its draw"]
    primitive_stream: Annotated[StreamPlace | None, "its part of the primitive stream"]


class BinOfPrimitives(TypedDict):
    """A bin of a primitive stream."""

    slot: Annotated[int, "slot in the pipe"]
    primitives: Annotated[int, "primitives that cover it"]
    culled: Annotated[float | None, "share of the primitives that do not, from 0 to 1"]


class BinOfDraws(TypedDict):
    """A bin of a draw stream."""

    slot: Annotated[int, "slot in the pipe"]
    entries: Annotated[int, "draws of the stream that cover it"]
    culled: Annotated[float | None, "share of the draws that do not, from 0 to 1"]


class StreamError(TypedDict):
    """Something wrong in the stream."""

    message: Annotated[str, "what is wrong"]
    bit: _Bit


class PrimitiveStream(TypedDict):
    """A primitive stream."""

    stream: Annotated[Literal["primitives"], "the kind of the stream"]
    bin_count: Annotated[int, "bins of the pipe"]
    size: Annotated[int, "size of the stream in bytes"]
    runs: Annotated[list[PrimitivesRun], "what it says, in order"]
    primitives: Annotated[int, "primitives of all runs"]
    bins: Annotated[list[BinOfPrimitives], "the bins"]
    errors: Annotated[list[StreamError], "what is wrong"]


class DrawStream(TypedDict):
    """A draw stream."""

    stream: Annotated[Literal["draws"], "the kind of the stream"]
    bin_count: Annotated[int, "bins of the pipe"]
    size: Annotated[int, "size of the stream in bytes"]
    runs: Annotated[list[DrawsRun], "what it says, in order"]
    entries: Annotated[int, "draws of the stream"]
    end_packet: Annotated[bool, "it ends with the packet that ends a stream"]
    primitive_stream_dwords: Annotated[int, "size of the primitive stream in dwords"]
    bins: Annotated[list[BinOfDraws], "the bins"]
    errors: Annotated[list[StreamError], "what is wrong"]


def primitives_document(
    data: bytes,
    bin_count: int,
    runs: Sequence[PrimitiveRun],
    problem: VisibilityStreamError | None,
) -> PrimitiveStream:
    """A primitive stream of ``bin_count`` bins. ``problem``: the error that ended decoding."""
    total = sum([run.primitives for run in runs])
    counts = enumerate(primitives_per_bin(runs, bin_count))
    return {
        "stream": "primitives",
        "bin_count": bin_count,
        "size": len(data),
        "runs": [
            {"bit": run.offset, "primitives": run.primitives, **_bins(run.bins, bin_count)}
            for run in runs
        ],
        "primitives": total,
        "bins": [
            {"slot": slot, "primitives": count, "culled": _culled(count, total)}
            for slot, count in counts
        ],
        "errors": [] if problem is None else [_error(problem.reason, problem.bit_offset)],
    }


def draws_document(data: bytes, pipe: PipeVisibility, runs: Sequence[InstanceRun]) -> DrawStream:
    """A draw stream, decoded as ``pipe``, with its ``runs`` of instances."""
    return {
        "stream": "draws",
        "bin_count": pipe.bin_count,
        "size": len(data),
        "runs": [_draws_run(run, pipe.bin_count) for run in runs],
        "entries": pipe.draw_count,
        "end_packet": pipe.is_whole,
        "primitive_stream_dwords": pipe.primitive_stream_size // 4,
        "bins": [
            {"slot": slot, "entries": count, "culled": _culled(count, pipe.draw_count)}
            for slot, count in enumerate(pipe.draws_per_bin)
        ],
        "errors": [_error(item.message, item.bit_offset) for item in pipe.findings],
    }


def _draws_run(run: InstanceRun, bin_count: int) -> DrawsRun:
    place = run.place
    return {
        "bit": run.offset,
        "entry": run.draw,
        "entries": run.draws,
        "instance": run.first,
        "instances": run.instances,
        "ends_draw": run.ends_draw,
        **_bins(run.bins, bin_count),
        "primitive_stream": None if place is None else {"offset": place.offset, "size": place.size},
    }


def _bins(bins: int, bin_count: int) -> _Bins:
    return {"bins": list(slots(bins, bin_count)), "bitfield": as_written(bins, bin_count)}


def _culled(count: int, total: int) -> float | None:
    return 1 - count / total if total else None


def _error(message: str, bit_offset: int) -> StreamError:
    return {"message": message, "bit": bit_offset}
