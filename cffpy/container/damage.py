# SPDX-License-Identifier: MIT
"""Damage of a capture file that reading survived: what, and where."""

from __future__ import annotations

from typing import NamedTuple


class Damage(NamedTuple):
    """One place where a file is not what it should be.

    ``offset`` is a byte offset in the decompressed content. ``reference_says_corrupt``: Mesa's
    cffdump prints ``corrupt file`` and stops reading here; other damage it passes over in silence.
    ``decompression_error``: the compressed stream is at fault, not the sections.
    """

    offset: int
    message: str
    reference_says_corrupt: bool = False
    decompression_error: bool = False

    def __str__(self) -> str:
        return f"{self.message} (at file offset {self.offset:#x})"
