# SPDX-License-Identifier: MIT
"""Functions of registers whose results are asked for at each draw, and change rarely.

A function is asked again only after a register that it has read was written. What is written comes
as objects that draws share, so that most of them are known already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from cffpy.analysis.register_store.log import Entry

#: Registers in the lists of registers that are kept, at most.
_MAX_LISTED = 1 << 18

#: Parts that are kept.
_MAX_KNOWN = 4096

_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)


class FunctionOfRegisters(Protocol[_Result_co]):
    """What has a result for the values that registers have now."""

    @property
    def registers(self) -> Set[int]:
        """All that it has read so far: the result is the same until one of them is written."""

    def __call__(self) -> _Result_co:
        """The result."""


class FollowedFunction(Generic[_Result]):
    """A function of registers with its last result."""

    __slots__ = ("_function", "_is_followed", "_last", "count", "is_stale", "times")

    def __init__(self, function: FunctionOfRegisters[_Result], is_followed: bool) -> None:
        self._function = function
        self._is_followed = is_followed
        self._last: _Result
        #: How many registers the function has read so far; it grows.
        self.count = 0
        #: Whether to ask again.
        self.is_stale = True
        #: How often the function was asked.
        self.times = 0

    @property
    def registers(self) -> Set[int]:
        """What the result depends on, and maybe more."""
        return self._function.registers

    def now(self) -> _Result:
        """The result for the values that registers have now."""
        if self.is_stale:
            self._last = self._function()
            self.times += 1
            self.is_stale = not self._is_followed
            self.count = len(self._function.registers)
        return self._last


_Followed = tuple[FollowedFunction[object], ...]


class RegisterFunctions:
    """Follows functions of registers by what is written."""

    def __init__(self, are_seen: bool) -> None:
        """``are_seen``: all writes are passed to ``note``. If not, functions are always asked."""
        self._are_seen = are_seen
        self._followed: list[FollowedFunction[object]] = []
        #: How many registers they had read when the lists below were made.
        self._known_count = 0
        #: Registers that were written together -> the functions that have read some of them.
        self._lists: dict[tuple[int, ...], _Followed] = {}
        #: Id of such registers with values -> these, and the functions.
        self._parts: dict[int, tuple[object, _Followed]] = {}
        #: The registers in the lists.
        self._listed = 0

    def follow(self, function: FunctionOfRegisters[_Result]) -> FollowedFunction[_Result]:
        """The function, asked only where what it depends on was written."""
        followed = FollowedFunction(function, self._are_seen)
        self._followed.append(followed)  # type: ignore[arg-type]
        return followed

    def forget_results(self) -> None:
        """Registers are others, without having been written."""
        for one in self._followed:
            one.is_stale = True

    def note(self, entries: Iterable[Entry]) -> None:
        """These were written since the last call."""
        count = sum([one.count for one in self._followed])
        if count != self._known_count:
            self._known_count = count
            self._forget_lists()
        known = self._parts
        for entry in entries:
            values = entry.registers
            part = known.get(id(values))
            if part is None:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                part = known[id(values)] = values, self._readers_of(tuple(values))
            for one in part[1]:
                one.is_stale = True

    def _readers_of(self, registers: tuple[int, ...]) -> _Followed:
        found = self._lists.get(registers)
        if found is None:
            self._listed += len(registers) + 1
            if self._listed > _MAX_LISTED:
                self._forget_lists()
                self._listed = len(registers) + 1
            found = self._lists[registers] = tuple(
                [one for one in self._followed if not one.registers.isdisjoint(registers)]
            )
        return found

    def _forget_lists(self) -> None:
        self._lists.clear()
        self._parts.clear()
        self._listed = 0
