# SPDX-License-Identifier: MIT
"""The exceptions of cffpy; the message of each is one line for the user.

Errors of syntax (DslError) add the line of the source, and a caret below the column.

    CffpyError
    +-- ContainerError       the .rd file itself: unreadable, damaged, unknown compression
    |   +-- IntelFileError   a capture of an Intel GPU, where one of an Adreno is expected
    +-- CaptureError         a capture that is readable, but lacks what was asked for
    |   +-- UnsupportedGpu   no known generation for the capture's GPU
    |   +-- UnknownValue     a value that only the GPU knows, or that was never written
    +-- CaptureIndexError    an index of captures: not there, of another version, in use
    +-- UnknownName          a name that the descriptions do not have; also a KeyError
    +-- MissingLibrary       a library of an extra is not installed
    +-- UsageError           the Python interface is used in a way that makes no sense
    +-- StructError          values that do not fit a binary structure
    +-- ScriptError          a Lua script, or lupa, which runs it
    +-- VisibilityStreamError  a damaged visibility stream, with the bit offset
    +-- DslError             a description in one of cffpy's languages, with file, line and column
        +-- RegisterDbError  register database
        +-- IsaError         instruction-set description
        +-- AssemblyError    a text of the packet assembly language
        +-- FilterError      an expression of --where, or one of its names

Damage *inside a command stream* does not raise: it is printed in place, as in the reference, and
decoding continues.
"""

from __future__ import annotations


class CffpyError(Exception):
    """Base of all errors that are reported to the user.

    ``str()`` is one line, to which errors of syntax add the source and a caret.
    """


class ContainerError(CffpyError):
    """The container could not be read.

    ``offset`` is the byte offset in the (decompressed) file where reading failed, or None.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        self.offset = offset
        super().__init__(message if offset is None else f"{message} (at file offset {offset:#x})")


class IntelFileError(ContainerError):
    """A file with commands of an Intel GPU. ``content``: the file, opened (container.open)."""

    def __init__(self, message: str, content: object) -> None:
        self.content = content
        super().__init__(message)


class CaptureError(CffpyError):
    """The capture is readable, but lacks what was asked for: a draw, a pass, a GPU, a packet."""

    @classmethod
    def absent(
        cls, noun: str, name: str, owner: str, numbers: tuple[str, str], count: int, more: str = ""
    ) -> CaptureError:
        """What ``owner`` lacks: ``no draw p3:99: pass 3 has 62 draws, p3:0 to p3:61``.

        ``numbers``: the names of the first and of the last that it has, if ``count`` is not 0.
        """
        plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
        first, last = numbers
        known = f"{count} {plural}, {first} to {last}" if count else f"no {plural}"
        if count == 1:
            known = f"1 {noun}, {first}"
        return cls(f"no {noun} {name}: {owner} has {known}{more}")


class UnsupportedGpu(CaptureError):
    """The generation of the capture's GPU is unknown, or not in the register database."""


class UnknownValue(CaptureError):
    """The number of a register whose value only the GPU knows, or that was never written."""


class CaptureIndexError(CffpyError):
    """An index of captures cannot be used: not there, of another version, in use, disk full."""


class UnknownName(CffpyError, KeyError, AttributeError):
    """No register, field, stage or option has this name; the message has the nearest ones.

    Also a KeyError and an AttributeError, for names are used as keys and as attributes.
    """

    def __str__(self) -> str:
        """The message, which KeyError would put in quotes."""
        return str(self.args[0]) if self.args else ""


class UsageError(CffpyError):
    """An argument of the Python interface that cannot be used, or a capture that is closed."""


class MissingLibrary(CffpyError):
    """A library that only some commands need is not installed; the message says how to."""

    @classmethod
    def of(cls, needing: str, library: str, extra: str) -> MissingLibrary:
        """``needing``: as in "this needs"; ``extra``: the extra of cffpy that installs it."""
        return cls(f"{needing} {library}, which is not installed: pip install 'cffpy[{extra}]'")


class StructError(CffpyError):
    """Values that do not fit a binary structure."""


class ScriptError(CffpyError):
    """A script failed. The message is Lua's own, with the file and the line of the script."""


class VisibilityStreamError(CffpyError):
    """A visibility stream is damaged, or does not match its draws.

    ``reason``: the error; ``bit_offset``: its location, in bits from the start of the stream.
    """

    def __init__(self, reason: str, bit_offset: int) -> None:
        self.reason = reason
        self.bit_offset = bit_offset
        super().__init__(f"{reason} (at bit {bit_offset}, byte {bit_offset // 8:#x})")


class DslError(CffpyError):
    """An error in a description. ``line`` and ``column`` count from 1; 0 if unknown.

    ``message``: without the place.
    """

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        place = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__(f"{place}: {message}" if place else message)


class RegisterDbError(DslError):
    """An error in a register description, or an unknown name."""


class IsaError(DslError):
    """An error in an instruction-set description."""


class AssemblyError(DslError):
    """An error in a text of the packet assembly language."""


class FilterError(DslError):
    """An expression of a filter, or one of its names, that cannot be used. ``column`` from 1."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, f"filter, column {column}" if column else "filter")
        self.file, self.line, self.column = file, line, column
