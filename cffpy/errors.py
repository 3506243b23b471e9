# SPDX-License-Identifier: MIT
"""The exceptions of cffpy: one tree, one line of text for the user in each.

    CffpyError
    +-- ContainerError       the .rd file itself: unreadable, damaged, unknown compression
    +-- CaptureError         a capture that is readable but cannot be decoded
    |   +-- UnsupportedGpu   no known generation for the capture's GPU
    +-- VisibilityStreamError  a visibility stream, with the bit where it is wrong
    +-- DslError             a description in one of cffpy's languages, with file, line and column
        +-- RegisterDbError  register database
        +-- IsaError         instruction-set description
        +-- AssemblyError    a text of the packet assembly language

Damage *inside a command stream* is no exception: it is printed where it stands, as the reference
does, and decoding goes on.
"""

from __future__ import annotations


class CffpyError(Exception):
    """Root of all errors that a user of cffpy can see. ``str()`` is one clear line."""


class ContainerError(CffpyError):
    """The container could not be read.

    ``offset`` is the byte offset in the (decompressed) file where reading failed, or None.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        self.offset = offset
        super().__init__(message if offset is None else f"{message} (at file offset {offset:#x})")


class CaptureError(CffpyError):
    """The capture is readable, but something that decoding needs is not in it."""


class UnsupportedGpu(CaptureError):
    """The capture's GPU belongs to no generation that the register database describes."""


class VisibilityStreamError(CffpyError):
    """A visibility stream is damaged, or does not fit the draws that it should be of.

    ``reason``: what is wrong; ``bit_offset``: where, in bits from the begin of the stream.
    """

    def __init__(self, reason: str, bit_offset: int) -> None:
        self.reason = reason
        self.bit_offset = bit_offset
        super().__init__(f"{reason} (at bit {bit_offset}, byte {bit_offset // 8:#x})")


class DslError(CffpyError):
    """A description is wrong. ``line`` and ``column`` count from 1; 0 where there is none."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        self.file = file
        self.line = line
        self.column = column
        place = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__(f"{place}: {message}" if place else message)


class RegisterDbError(DslError):
    """A register description is wrong, or names something that is not there."""


class IsaError(DslError):
    """An instruction-set description is wrong."""


class AssemblyError(DslError):
    """A text of the packet assembly language is wrong."""
