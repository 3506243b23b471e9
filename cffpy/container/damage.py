# SPDX-License-Identifier: MIT
"""Recoverable damage of a capture file, with its location."""

from __future__ import annotations

from cffpy.limits import hint
from cffpy.value_object import ValueObject


class Damage(ValueObject):
    """One defect of a file.

    ``offset`` is a byte offset in the decompressed content; None: the damage is in the commands,
    and the message has the GPU address. ``reference_says_corrupt``: Mesa's cffdump prints
    ``corrupt file`` and stops reading here; it ignores other damage. ``decompression_error``: the
    compressed stream is damaged, not the sections. ``limit``: name of the limit that left out the
    rest of the file, else "".
    """

    __slots__ = ("decompression_error", "limit", "message", "offset", "reference_says_corrupt")

    def __init__(
        self,
        offset: int | None,
        message: str,
        reference_says_corrupt: bool = False,
        decompression_error: bool = False,
        limit: str = "",
    ) -> None:
        self.offset = offset
        self.message = message
        self.reference_says_corrupt = reference_says_corrupt
        self.decompression_error = decompression_error
        self.limit = limit

    def __str__(self) -> str:
        text = f"{self.message} {hint(self.limit)}" if self.limit else self.message
        return text if self.offset is None else f"{text} (at file offset {self.offset:#x})"


def missing_commands(gpuaddr: int, ndwords: int, captured: int | None) -> str:
    """The message for commands of which only ``there`` dwords were captured (None: no buffer)."""
    if captured is None:
        return f"the {ndwords} dwords at {gpuaddr:#x} were not captured"
    if ndwords >> 31:
        return f"the commands at {gpuaddr:#x} have the impossible length {ndwords:#x}: not run"
    return f"only {captured} of the {ndwords} dwords at {gpuaddr:#x} were captured"
