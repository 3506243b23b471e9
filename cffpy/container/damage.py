# SPDX-License-Identifier: MIT
"""Damage of a capture file that reading survived: what, and where."""

from __future__ import annotations

from cffpy.record import Record


class Damage(Record):
    """One place where a file is not what it should be.

    ``offset`` is a byte offset in the decompressed content. ``reference_says_corrupt``: Mesa's
    cffdump prints ``corrupt file`` and stops reading here; other damage it passes over in silence.
    ``decompression_error``: the compressed stream is at fault, not the sections.
    """

    __slots__ = ("decompression_error", "message", "offset", "reference_says_corrupt")

    def __init__(
        self,
        offset: int,
        message: str,
        reference_says_corrupt: bool = False,
        decompression_error: bool = False,
    ) -> None:
        self.offset = offset
        self.message = message
        self.reference_says_corrupt = reference_says_corrupt
        self.decompression_error = decompression_error

    def __str__(self) -> str:
        return f"{self.message} (at file offset {self.offset:#x})"
