# SPDX-License-Identifier: MIT
"""Summaries of captures as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.capture.summary import CaptureSummary, SubmitSummary

SCHEMA = "cffpy.info/2"


def document(files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of several files, each a ``file_document`` or an ``error_document``."""
    return {"files": list(files)}


def error_document(path: str, message: str) -> dict[str, Any]:
    """A file that could not be read."""
    return {"file": path, "error": message}


def file_document(summary: CaptureSummary, buffers: bool = False) -> dict[str, Any]:
    """The JSON form of a summary: addresses and chip ids as hex strings, sizes as numbers."""
    gpu = summary.gpu
    return {
        "file": summary.name,
        "compression": summary.compression,
        "file_size": summary.file_size,
        "size": summary.size,
        "gpu_id": summary.gpu_id or None,
        "chip_id": f"{summary.chip_id:#x}" if summary.chip_id else None,
        "gpu": None
        if gpu is None
        else {
            "name": gpu.name,
            "generation": gpu.generation,
            "is_64bit": gpu.is_64bit,
            "known": summary.gpu_known,
        },
        "sections": [
            {
                "type": count.type,
                "name": count.name,
                "count": count.count,
                "bytes": count.payload_bytes,
            }
            for count in sorted(summary.sections.values(), key=lambda count: count.type)
        ],
        "processes": summary.processes,
        "replay_buffers": [
            {
                "kind": buffer.kind,
                "name": buffer.name or None,
                "address": f"{buffer.address:#x}",
                "size": buffer.size,
            }
            for buffer in summary.replay_buffers
        ],
        "submits": [_submit_document(submit, buffers) for submit in summary.submits],
        "damage": [
            {
                "offset": damage.offset,
                "message": damage.message,
                "reference_says_corrupt": damage.reference_says_corrupt,
            }
            for damage in summary.damage
        ],
    }


def _submit_document(submit: SubmitSummary, buffers: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "index": submit.index,
        "process": submit.process,
        "buffer_count": len(submit.kept_buffers),
        "buffer_bytes": submit.buffer_bytes,
        "streams": [
            {
                "index": stream.index,
                "address": f"{stream.address:#x}",
                "dwords": stream.dwords,
                "captured_dwords": stream.captured_dwords,
                "process": stream.process,
            }
            for stream in submit.streams
        ],
    }
    if buffers:
        document["buffers"] = [
            {
                "address": f"{buffer.address:#x}",
                "size": buffer.size,
                "contents": buffer.contents,
                "state": buffer.state,
                "offset": buffer.offset,
            }
            for buffer in submit.buffers
        ]
    return document
