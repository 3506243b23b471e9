# SPDX-License-Identifier: MIT
"""What draws read from registers, which is only looked up once such registers were written.

Most draws write a few registers, again and again the same ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cffpy.analysis.diff.descriptors import BoundSets, prefetched
from cffpy.analysis.diff.draw_facts import NO_FACTS
from cffpy.analysis.diff.facts import vertex_buffers
from cffpy.analysis.diff.written import Invalidations, push_constants
from cffpy.analysis.registers import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.analysis.diff.draw_facts import Facts
    from cffpy.analysis.diff.facts import VertexBuffer
    from cffpy.analysis.provenance import Change
    from cffpy.cp.machine import Machine
    from cffpy.regdb.register_text import RegisterText

_Result = TypeVar("_Result")

#: Registers in the lists of registers that are kept, at most.
_MAX_LISTED = 1 << 18

#: Sets of registers, as ``Writes`` has them: push constants, what invalidates caches, and what
#: vertex buffers, prefetched descriptors and the bases of sets depend on.
_PUSHED, _INVALIDATES, _VERTICES, _PREFETCHED, _BASES, _COMPUTE_BASES = (1 << n for n in range(6))
_ALL = (1 << 6) - 1


class Writes:
    """Which of several sets of registers are written. Draws write the same lists again and again.

    Each set is a function that says whether any of some registers is in it.
    """

    def __init__(self, *sets: Callable[[tuple[int, ...]], bool]) -> None:
        self._sets = sets
        #: Registers that were written together -> the sets that they are in, as bits.
        self._lists: dict[tuple[int, ...], int] = {}
        self._listed = 0

    def of(self, changes: Iterable[Change]) -> int:
        """The sets that any of the changes writes to: bit 0 for the first one."""
        found, lists = 0, self._lists
        for values, _ in changes:
            registers = tuple(values)
            bits = lists.get(registers)
            found |= self._find(registers) if bits is None else bits
        return found

    def forget(self) -> None:
        """A set has become larger."""
        self._lists.clear()
        self._listed = 0

    def _find(self, registers: tuple[int, ...]) -> int:
        self._listed += len(registers) + 1
        if self._listed > _MAX_LISTED:
            self.forget()
        bits = sum(1 << number for number, one in enumerate(self._sets) if one(registers))
        self._lists[registers] = bits
        return bits


class DrawInputs:
    """What the present draw reads. ``looked_up`` counts results that were not the ones before."""

    def __init__(self, machine: Machine, text: RegisterText) -> None:
        """``machine``: bound to the GPU that ``text`` is of."""
        self._push_constants = push_constants(text)
        self._all_invalidations = Invalidations(text)
        self._all_vertices = Remembered(machine, vertex_buffers)
        self._all_prefetched = Remembered(machine, prefetched)
        self._all_bases = (
            BoundSets(machine, is_compute=False),
            BoundSets(machine, is_compute=True),
        )
        self._writes = Writes(
            self._push_constants.finds,
            self._all_invalidations.finds,
            lambda registers: not self._all_vertices.read.isdisjoint(registers),
            lambda registers: not self._all_prefetched.read.isdisjoint(registers),
            self._all_bases[0].finds,
            self._all_bases[1].finds,
        )
        #: The sets of registers that were written since the results below were found.
        self._written = _ALL
        self._vertices: tuple[VertexBuffer, ...] = ()
        self._prefetched: tuple[tuple[int, int], ...] = ()
        self._bases: list[Mapping[int, int]] = [{}, {}]
        #: Registers that were written and hold push constants, in order, and their values.
        self.pushed: tuple[tuple[int, ...], ...] = ()
        #: Writes that invalidate caches.
        self.invalidations: Facts = NO_FACTS
        self.looked_up = 0

    def go_on(self, changes: list[Change] | None) -> None:
        """Go on to a draw. ``changes``: all since the draw before; None: they are not known."""
        written = _ALL if changes is None else self._writes.of(changes)
        self._written |= written
        self.pushed, self.invalidations = (), NO_FACTS
        if written & _PUSHED:
            self.pushed = self._push_constants.written(changes or ())
        if written & _INVALIDATES:
            self.invalidations = self._all_invalidations.written(changes or ())

    @property
    def vertices(self) -> tuple[VertexBuffer, ...]:
        """The buffers that draws fetch from."""
        if self._written & _VERTICES:
            self._vertices = self._result(self._all_vertices, _VERTICES)
        return self._vertices

    @property
    def prefetched(self) -> tuple[tuple[int, int], ...]:
        """Set and slot of what is sampled before the fragment shader starts."""
        if self._written & _PREFETCHED:
            self._prefetched = self._result(self._all_prefetched, _PREFETCHED)
        return self._prefetched

    def bases(self, is_compute: bool) -> Mapping[int, int]:
        """Number and base of each bindless set that is bound."""
        of = _COMPUTE_BASES if is_compute else _BASES
        if self._written & of:
            self._bases[is_compute] = self._all_bases[is_compute]()
            self._written &= ~of
            self.looked_up += 1
        return self._bases[is_compute]

    def _result(self, remembered: Remembered[_Result], of: int) -> _Result:
        read = len(remembered.read)
        result = remembered()
        if len(remembered.read) > read:
            self._writes.forget()
        self._written &= ~of
        self.looked_up += 1
        return result
