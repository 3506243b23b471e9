# SPDX-License-Identifier: MIT
"""What a report on a crash dump consists of: statements, each with its evidence, in sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cffpy.container.crash_dump import FileOffset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.crash.context import CrashContext
    from cffpy.analysis.crash.flight import Flight
    from cffpy.analysis.crash.position import CpPosition


@dataclass(slots=True, frozen=True)
class Evidence:
    """Where a statement comes from: a line of the dump (from 1), or an address in its memory.

    ``offset``: of a binary dump, where in the file; bytes.
    """

    line: int | None = None
    address: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        if self.offset is not None:
            return f"file {self.offset:#x}"
        return f"line {self.line}" if self.line is not None else f"at {self.address or 0:#x}"


def lines(*numbers: int | None) -> tuple[Evidence, ...]:
    """Evidence in lines of the dump, or at offsets in it; None and 0 are ignored."""
    return tuple(
        [
            Evidence(offset=number) if isinstance(number, FileOffset) else Evidence(line=number)
            for number in dict.fromkeys(numbers)
            if number
        ]
    )


def addresses(*places: int | None) -> tuple[Evidence, ...]:
    """Evidence in memory; None is ignored."""
    return tuple([Evidence(address=place) for place in dict.fromkeys(places) if place is not None])


@dataclass(slots=True)
class Statement:
    """A sentence and its evidence. ``is_unknown``: it says that something is not known."""

    text: str
    evidence: tuple[Evidence, ...] = ()
    is_unknown: bool = False


@dataclass(slots=True)
class Suspicion:
    """Something that may be why the GPU hangs. ``kind``: one of a few words, as in "wait"."""

    kind: str
    text: str
    reasons: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(slots=True)
class Section:
    """A part of a report. ``data``: the same as values, for programs. Addresses are hex strings."""

    name: str
    title: str
    statements: list[Statement] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def say(self, text: str, evidence: Iterable[Evidence] = ()) -> None:
        """Add a statement."""
        self.statements.append(Statement(text, tuple(evidence)))

    def unknown(self, text: str) -> None:
        """Say that something is not known."""
        self.statements.append(Statement(text, is_unknown=True))


@dataclass(slots=True)
class CrashReport:
    """All that is known of a crash."""

    name: str
    context: CrashContext
    cp: CpPosition
    flight: Flight | None
    sections: list[Section]
    suspicions: list[Suspicion]
    #: Damage of the file, and lines that were skipped.
    problems: list[str]
