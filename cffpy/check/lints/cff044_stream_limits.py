# SPDX-License-Identifier: MIT
"""CFF044: the visibility streams do not fit into their buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.captured_memory import StreamBuffers
from cffpy.check.model import FROM_A6XX, Lint, at_pass
from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report

#: VSC pipes of parts that are not known.
_PIPES = 32


class StreamLimits(Lint):
    """The visibility streams do not fit into their buffer."""

    id = "CFF044"
    name = "stream-limits"
    severity = "error"
    generations = FROM_A6XX
    needs = (StreamBuffers,)
    summary = "the visibility streams do not fit into their buffer"
    why = "The binning run writes behind the buffer, or the overflow is noticed too late."
    advice = "Make the buffer as large as pipes x pitch, and the limit smaller than the pitch."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Limits above the pitch; buffers that end before the last pipe's part."""
        buffers = capture.facts(StreamBuffers)
        all_pipes = _pipes_of(capture.found.gpu)
        for found in capture.render_passes():
            streams = found.visibility_streams
            if streams is None or not found.pipes:
                continue
            pipes = max(pipe.number for pipe in found.pipes) + 1
            for name, base, pitch, limit in (
                ("draw", streams.draw, streams.draw_pitch, streams.draw_limit),
                ("primitive", streams.primitive, streams.primitive_pitch, streams.primitive_limit),
            ):
                if not base or not pitch:
                    continue
                there = buffers.remaining(found, base)
                if limit is not None and not _is_limit(limit, pitch, all_pipes, there):
                    text = f"the limit of {name} streams is {limit}, their pitch {pitch}"
                    yield at_pass(found, text, (name, "limit"))
                if there and pipes * pitch > there:
                    text = f"{pipes} {name} streams with pitch {pitch} need more than {there} bytes"
                    yield at_pass(found, text, (name, "size"))


def _pipes_of(gpu: str | None) -> int:
    try:
        return device(gpu or "").vsc_pipes
    except UnsupportedGpu:
        return _PIPES


def _is_limit(limit: int, pitch: int, pipes: int, there: int) -> bool:
    """Whether a limit is that of a stream, or the size of the whole buffer, as of older drivers.

    ``there``: bytes of the buffer, 0 where these are not known.
    """
    return limit <= pitch or pipes * pitch <= limit <= (there or limit)
