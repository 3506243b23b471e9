# SPDX-License-Identifier: MIT
"""Limits for hostile files: their names, their defaults, and what exceeded one.

``Limits`` is what a user chose; ``CaptureLimits`` are the numbers that hold for one capture.
Defaults that bound memory or time grow with the capture, so that an ordinary one never meets them.
``cffpy help conventions`` says what each one limits.
"""

from __future__ import annotations

from cffpy.c_numbers import whole_number
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Name -> variable of the environment.
VARIABLES = {
    "bytes": "CFFPY_MAX_BYTES",
    "depth": "CFFPY_MAX_DEPTH",
    "commands": "CFFPY_MAX_COMMANDS",
    "draws": "CFFPY_MAX_DRAWS",
    "elements": "CFFPY_MAX_ELEMENTS",
}

#: Help text of the option ``--limit``.
HELP = f"A limit for hostile captures: {', '.join(VARIABLES)}."

#: ``bytes``: read of a pipe, and decompressed, in bytes. Of an uncompressed file, which is mapped,
#: there is no default: only a limit that was chosen holds.
MAX_BYTES = 1 << 30
#: Decompressed bytes that are always accepted, and beyond them, how many for each stored byte:
#: bzip2 makes a gigabyte of a hundred bytes, in half a minute.
ALWAYS_READ = 256 << 20
MAX_RATIO = 4096

#: ``depth``: streams within streams. The hardware has 3 levels (ring, IB1, IB2); the reference
#: crashes some levels later.
MAX_DEPTH = 8
#: No limit on depth may be larger: draws are counted for 16 levels.
MOST_DEPTH = 15

#: ``commands``: dwords of the nested streams of one submit, each counted as often as it runs.
MAX_NESTED_DWORDS = 1 << 28
#: The same limit for analyses, whose output need not grow with what runs: dwords of all streams of
#: a capture, the submits' own included; a base, and this many for each dword of the file.
#: Commands run once a tile, 200 times in large frames, but are only a part of a file: in sound
#: captures of 60 tiles, 10 dwords ran for each dword of the file.
MAX_ANALYSED_DWORDS = 1 << 22
ANALYSED_FACTOR = 256

#: ``draws``: passes, tiles and actions that are kept, each some 350 bytes (1.2 KB while it is
#: printed): a base, and this many for each dword of the file. A draw packet has at least 4 dwords
#: and is executed once a tile; in captures of real drivers, with state and data, at most 0.03
#: were kept for each dword of the file.
MAX_KEPT = 1 << 19
KEPT_FACTOR = 8
#: Draws that ``diff`` compares, each some kilobytes: a base, and one for each 4 dwords of the
#: file, since each of a program's draws is recorded once.
MAX_COMPARED = 1 << 16
DWORDS_COMPARED = 4

#: ``elements``: how many elements of one packet or list are printed.
MAX_ELEMENTS = 1 << 20


class Limits(ValueObject):
    """The limits that a user chose, None where the default holds. Cannot be changed."""

    __slots__ = ("bytes", "commands", "depth", "draws", "elements")

    bytes: int | None
    commands: int | None
    depth: int | None
    draws: int | None
    elements: int | None

    def __init__(self, **chosen: int | None) -> None:
        """``bytes``, ``depth``, ``commands``, ``draws``, ``elements``: numbers from 1 on.

        Raises ValueError for other names and numbers.
        """
        for name in VARIABLES:
            number = chosen.pop(name, None)
            if number is not None and not _is_allowed(name, number):
                raise ValueError(f"{name} is {_range(name)}, not {number}")
            object.__setattr__(self, name, number)
        if chosen:
            raise ValueError(f"no such limit: {', '.join(chosen)}")

    def __reduce__(self) -> tuple[object, ...]:
        """Copied and pickled by its numbers, which cannot be set afterwards."""
        return _limits, (self._values(),)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"limits cannot be changed: {name}")

    @property
    def stored_bytes(self) -> int:
        """Bytes that are read of a pipe, whose length is not known beforehand."""
        return self.bytes or MAX_BYTES

    def decompressed_bytes(self, stored: int) -> int:
        """Bytes that a file of ``stored`` bytes may have when decompressed."""
        return self.bytes or min(MAX_BYTES, max(ALWAYS_READ, stored * MAX_RATIO))

    def mapped_bytes(self, stored: int) -> int:
        """Bytes of an uncompressed file of ``stored`` bytes that are used: by default all."""
        return min(stored, self.bytes or stored)

    def of_capture(self, size: int) -> CaptureLimits:
        """The limits of a capture of ``size`` bytes when decompressed."""
        return CaptureLimits(self, size // 4)


def _limits(numbers: tuple[int | None, ...]) -> Limits:
    """The limits with these numbers, in the order of ``__slots__``."""
    return Limits(**dict(zip(Limits.__slots__, numbers, strict=True)))


class CaptureLimits(ValueObject):
    """The numbers that hold for one capture."""

    __slots__ = ("analysed_dwords", "compared", "depth", "elements", "kept", "nested_dwords")

    def __init__(self, chosen: Limits, dwords: int) -> None:
        """``dwords``: of the decompressed file."""
        #: Streams within streams.
        self.depth = chosen.depth or MAX_DEPTH
        #: Dwords of the nested streams of one submit; of all streams, for analyses.
        self.nested_dwords = chosen.commands or MAX_NESTED_DWORDS
        self.analysed_dwords = chosen.commands or MAX_ANALYSED_DWORDS + ANALYSED_FACTOR * dwords
        #: Passes, tiles and actions that analyses keep; draws of the program that are compared.
        self.kept = chosen.draws or MAX_KEPT + KEPT_FACTOR * dwords
        self.compared = chosen.draws or MAX_COMPARED + dwords // DWORDS_COMPARED
        #: What is printed of one packet or list.
        self.elements = chosen.elements or MAX_ELEMENTS


class Truncation(ValueObject):
    """What a limit left out. ``limit`` is its name, "" for a fixed one; ``where`` is a sentence."""

    __slots__ = ("limit", "where")

    def __init__(self, limit: str, where: str) -> None:
        self.limit = limit
        self.where = where

    def document(self) -> dict[str, str | None]:
        """The form in JSON documents."""
        return {"limit": self.limit or None, "where": self.where}

    def __str__(self) -> str:
        """The sentence, and how to set the limit."""
        return f"{self.where} {hint(self.limit)}" if self.limit else self.where


def hint(name: str) -> str:
    """How to set a limit, for the message that it was met."""
    return f"(--limit {name}=N or {VARIABLES[name]} sets the limit)"


def parse_options(texts: Sequence[str]) -> dict[str, int]:
    """The numbers of ``NAME=N`` each, N also as 0x...; the last of a name counts.

    Raises ValueError, with a message for the user.
    """
    numbers = {}
    for text in texts:
        name, _, written = text.partition("=")
        if name not in VARIABLES:
            names = ", ".join(VARIABLES)
            raise ValueError(f"{text!r} is not a limit: NAME=N, where NAME is {names}")
        number = _parse(name, written)
        if number is None:
            raise ValueError(f"{text!r} needs {_range(name)}")
        numbers[name] = number
    return numbers


def chosen_limits(options: Mapping[str, int], environment: Mapping[str, str]) -> Limits:
    """The limits of a command: from its options, else from environment variables.

    Raises ValueError for an invalid variable, with a message for the user; an empty one is ignored.
    """
    numbers = dict(options)
    for name, variable in VARIABLES.items():
        written = environment.get(variable, "")
        if name in numbers or not written:
            continue
        number = _parse(name, written)
        if number is None:
            raise ValueError(f"{variable} is not {_range(name)}: {written!r}")
        numbers[name] = number
    return Limits(**numbers)


def _parse(name: str, written: str) -> int | None:
    try:
        number = whole_number(written, prefixes=True)
    except ValueError:
        return None
    return number if _is_allowed(name, number) else None


def _is_allowed(name: str, number: int) -> bool:
    return isinstance(number, int) and number >= 1 and (name != "depth" or number <= MOST_DEPTH)


def _range(name: str) -> str:
    return f"a number from 1 to {MOST_DEPTH}" if name == "depth" else "a number of at least 1"
