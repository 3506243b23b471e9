# SPDX-License-Identifier: MIT
"""One visibility stream, given as bytes, as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.vsc.bits import as_written, slots
from cffpy.vsc.primitive_stream import primitives_per_bin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.errors import VisibilityStreamError
    from cffpy.vsc.pipe import PipeVisibility
    from cffpy.vsc.primitive_stream import PrimitiveRun
    from cffpy.vsc.visibility import InstanceRun

SCHEMA = "cffpy.vsc-hex/1"


def primitives_document(
    data: bytes,
    bin_count: int,
    runs: Sequence[PrimitiveRun],
    problem: VisibilityStreamError | None,
) -> dict[str, Any]:
    """A primitive stream of ``bin_count`` bins. ``problem``: the error that ended decoding."""
    total = sum([run.primitives for run in runs])
    counts = primitives_per_bin(runs, bin_count)
    return {
        **_head("primitives", bin_count, data),
        "runs": [
            {"bit": run.offset, "primitives": run.primitives, **_bins(run.bins, bin_count)}
            for run in runs
        ],
        "primitives": total,
        "bins": _bin_documents("primitives", counts, total),
        "errors": [] if problem is None else [_error(problem.reason, problem.bit_offset)],
    }


def draws_document(
    data: bytes, pipe: PipeVisibility, runs: Sequence[InstanceRun]
) -> dict[str, Any]:
    """A draw stream, decoded as ``pipe``, with its ``runs`` of instances."""
    document = _head("draws", pipe.bin_count, data)
    document["runs"] = [
        {
            "bit": run.offset,
            "draw": run.draw,
            "draws": run.draws,
            "instance": run.first,
            "instances": run.instances,
            "ends_draw": run.ends_draw,
            **_bins(run.bins, pipe.bin_count),
            "primitive_stream": None if run.place is None else run.place._asdict(),
        }
        for run in runs
    ]
    document["draws"] = pipe.draw_count
    document["end_packet"] = pipe.is_whole
    document["primitive_stream_dwords"] = pipe.primitive_stream_size // 4
    document["bins"] = _bin_documents("draws", pipe.draws_per_bin, pipe.draw_count)
    document["errors"] = [_error(item.message, item.bit_offset) for item in pipe.findings]
    return document


def _head(kind: str, bin_count: int, data: bytes) -> dict[str, Any]:
    return {"stream": kind, "bin_count": bin_count, "size": len(data)}


def _bins(bins: int, bin_count: int) -> dict[str, Any]:
    return {"bins": list(slots(bins, bin_count)), "bitfield": as_written(bins, bin_count)}


def _bin_documents(what: str, counts: Sequence[int], total: int) -> list[dict[str, Any]]:
    return [
        {"bin": slot, what: count, "culled": 1 - count / total if total else None}
        for slot, count in enumerate(counts)
    ]


def _error(message: str, bit_offset: int) -> dict[str, Any]:
    return {"message": message, "bit": bit_offset}
