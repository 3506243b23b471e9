# SPDX-License-Identifier: MIT
"""Registers that count by being written: push constants (a7xx), and what invalidates caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.draw_facts import NO_FACTS, Facts
from cffpy.analysis.diff.facts import Fact
from cffpy.analysis.provenance import UNKNOWN
from cffpy.analysis.registers import values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.analysis.provenance import Change
    from cffpy.regdb.register_text import RegisterText

#: Registers that hold push constants (a7xx).
_PUSH_CONSTANTS = ("HLSQ_SHARED_CONSTS_IMM",)

#: Registers in order, and what reads them from register -> value.
_Listed = tuple[tuple[int, ...], "Callable[[dict[int, int]], tuple[int, ...]]"]

#: Registers in the lists of registers that are kept, at most.
_MAX_LISTED = 1 << 18

#: Changes of a draw with draw-state groups, at least and at most: one by one they take longer.
MANY, _MOST = 4, 64

#: Facts, and parts, that are kept.
_MAX_KNOWN = 4096


#: What the names of registers begin with that invalidate caches: each write of them does.
_INVALIDATE = (
    "HLSQ_INVALIDATE_CMD",
    "SP_UPDATE_CNTL",
    "HLSQ_UPDATE_C",
    "UCHE_CACHE_INVALIDATE",
    "UCHE_INVALIDATE",
    "TC_CNTL_STATUS",
)


class WrittenRegisters:
    """Finds certain registers among those that are written."""

    def __init__(self, text: RegisterText, names: tuple[str, ...]) -> None:
        """``names``: what the names of the registers begin with."""
        self._text = text
        self._names = names
        #: Registers that were written together -> those that are found; None: none are.
        self._lists: dict[tuple[int, ...], _Listed | None] = {}
        #: Id of such registers with values -> these, and what is found.
        self._parts: dict[int, tuple[dict[int, int], _Listed | None]] = {}
        #: The registers in these lists.
        self._listed = 0

    def written(self, changes: Sequence[Change]) -> tuple[tuple[int, ...], ...]:
        """The registers that are found among ``changes``, in order, and their last values.

        Without those whose value only the GPU knows; empty where there are none.
        """
        found: list[tuple[dict[int, int], _Listed]] = []
        if MANY <= len(changes) <= _MOST:
            found = self._in_parts(changes)
        else:
            for values, _ in changes:
                try:
                    listed = self._lists[tuple(values)]
                except KeyError:
                    listed = self._find(tuple(values))
                if listed is not None:
                    found.append((values, listed))
        if not found:
            return ()
        if len(found) == 1:
            values, (registers, read) = found[0]
            now = read(values)
            if UNKNOWN not in now:
                return registers, now
        last = {one: values[one] for values, (registers, _) in found for one in registers}
        known = sorted(one for one, value in last.items() if value != UNKNOWN)
        return (tuple(known), tuple([last[one] for one in known])) if known else ()

    def _in_parts(self, changes: Sequence[Change]) -> list[tuple[dict[int, int], _Listed]]:
        """The same of many changes: most are of draw-state groups, which draws share."""
        found: list[tuple[dict[int, int], _Listed]] = []
        known = self._parts
        for values, _ in changes:
            part = known.get(id(values))
            if part is None:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                registers = tuple(values)
                listed = (
                    self._lists[registers] if registers in self._lists else self._find(registers)
                )
                part = known[id(values)] = values, listed
            if part[1] is not None:
                found.append((values, part[1]))
        return found

    def _find(self, registers: tuple[int, ...]) -> _Listed | None:
        self._listed += len(registers) + 1
        if self._listed > _MAX_LISTED:
            self._lists.clear()
            self._listed = len(registers) + 1
        name = self._text.name
        found = tuple(sorted(r for r in registers if name(r).startswith(self._names)))
        listed = self._lists[registers] = (found, values_of(found)) if found else None
        return listed


def push_constants(text: RegisterText) -> WrittenRegisters:
    """Finds push constants that are written as registers."""
    return WrittenRegisters(text, _PUSH_CONSTANTS)


class Invalidations:
    """Writes that invalidate caches, also those of the value that the register has."""

    def __init__(self, text: RegisterText) -> None:
        self._text = text
        self._registers = WrittenRegisters(text, _INVALIDATE)
        self._known: dict[tuple[tuple[int, ...], ...], Facts] = {}

    def written(self, changes: Sequence[Change]) -> Facts:
        """Those among ``changes``; the same object for the same values."""
        found = self._registers.written(changes)
        if not found:
            return NO_FACTS
        known = self._known.get(found)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            registers, values = found
            known = Facts(
                {
                    ("write of", self._text.name(one)): Fact(self._fields(one, value))
                    for one, value in zip(registers, values, strict=True)
                }
            )
            self._known[found] = known
        return known

    def _fields(self, register: int, value: int) -> str:
        """``GFX_BINDLESS=0x1f``: the fields that are not 0."""
        fields = [one for one in self._text.fields(register, value) if one.name and one.bits]
        return " ".join(f"{one.name}={one.text}" for one in fields) or f"{value:#x}"
