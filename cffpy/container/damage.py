# SPDX-License-Identifier: MIT
"""Damage of a capture file that reading survived: what, and where."""

from __future__ import annotations

from cffpy.value_object import ValueObject


class Damage(ValueObject):
    """One place where a file is not what it should be.

    ``offset`` is a byte offset in the decompressed content; None: the damage is in the commands,
    and the message has the GPU address. ``reference_says_corrupt``: Mesa's
    cffdump prints ``corrupt file`` and stops reading here; other damage it passes over in silence.
    ``decompression_error``: the compressed stream is at fault, not the sections.
    """

    __slots__ = ("decompression_error", "message", "offset", "reference_says_corrupt")

    def __init__(
        self,
        offset: int | None,
        message: str,
        reference_says_corrupt: bool = False,
        decompression_error: bool = False,
    ) -> None:
        self.offset = offset
        self.message = message
        self.reference_says_corrupt = reference_says_corrupt
        self.decompression_error = decompression_error

    def __str__(self) -> str:
        if self.offset is None:
            return self.message
        return f"{self.message} (at file offset {self.offset:#x})"


def missing_commands(gpuaddr: int, ndwords: int, there: int | None) -> str:
    """Commands of which only ``there`` dwords were captured, in words; None: no buffer has them."""
    if there is None:
        return f"the {ndwords} dwords at {gpuaddr:#x} were not captured"
    if ndwords >> 31:
        return f"the commands at {gpuaddr:#x} have the impossible length {ndwords:#x}: not run"
    return f"only {there} of the {ndwords} dwords at {gpuaddr:#x} were captured"
