# SPDX-License-Identifier: MIT
"""What the registers mean that were written before a draw, found in one pass over the changes.

Some count by being written: push constants (a7xx), and registers whose writes are commands, such as
those that invalidate caches. Others are what results depend on, which are asked for again only
after such a write.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from cffpy.analysis.inputs.facts import NO_FACTS, Fact, Facts
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.analysis.registers import values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from cffpy.analysis.command_writes import CommandWrite
    from cffpy.analysis.register_store.writes import Change, WriteSource
    from cffpy.regdb.register_text import RegisterText

#: What the names of registers that hold push constants (a7xx) begin with.
_PUSHED = "HLSQ_SHARED_CONSTS_IMM"

#: Registers in the lists of registers that are kept, at most.
_MAX_LISTED = 1 << 18

#: Changes of a draw with draw-state groups, at least and at most: one by one they take longer.
MANY, _MOST = 4, 64

#: Facts, and parts, that are kept.
_MAX_KNOWN = 4096

#: Registers, in order, and their values.
Written = tuple[tuple[int, ...], ...]

#: Registers whose writes are commands, and values, in the order of the writes.
Commands = tuple[tuple[int, int], ...]

#: What ``Writes.of`` returns where there is nothing.
NOTHING: tuple[Written, Facts] = ((), NO_FACTS)

_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)


class FunctionOfRegisters(Protocol[_Result_co]):
    """What has a result for the values that registers have now."""

    @property
    def registers(self) -> Set[int]:
        """All that it has read so far: the result is the same until one of them is written."""

    def __call__(self) -> _Result_co:
        """The result."""


class _RegistersRead:
    """How many registers functions have read so far; it grows."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Followed(Generic[_Result]):
    """A function of registers that is asked again only after one of them was written."""

    __slots__ = ("_function", "_is_followed", "_last", "_read", "_total", "is_stale", "times")

    def __init__(
        self, function: FunctionOfRegisters[_Result], is_followed: bool, total: _RegistersRead
    ) -> None:
        """``total`` notes where the function has read further registers."""
        self._function = function
        self._is_followed = is_followed
        self._total = total
        self._last: _Result
        #: How many registers the function had read last time.
        self._read = 0
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
            more = len(self._function.registers) - self._read
            if more:
                self._read += more
                self._total.count += more
        return self._last


class _Listed:
    """Registers of a list that are looked for, in order, and what reads their values."""

    __slots__ = ("read", "registers")

    def __init__(self, registers: tuple[int, ...]) -> None:
        self.registers = registers
        self.read = values_of(registers)


class _Meaning:
    """What the registers of a list are. ``pushed`` is None where the list has none of these."""

    __slots__ = ("counts", "followed", "has_commands", "pushed")

    def __init__(
        self, pushed: _Listed | None, has_commands: bool, followed: list[Followed[object]]
    ) -> None:
        self.pushed = pushed
        self.has_commands = has_commands
        #: Whether it counts that they were written.
        self.counts = pushed is not None or has_commands
        #: What depends on some of them.
        self.followed = followed


class Writes:
    """Finds what is written before each draw."""

    def __init__(
        self,
        text: RegisterText,
        commands: Set[int],
        read_commands: Callable[[dict[int, int], WriteSource], Iterable[CommandWrite]],
        are_seen: bool = True,
    ) -> None:
        """``commands``: registers whose writes are commands; ``read_commands`` finds them.

        ``are_seen``: all that is written is passed to ``of``. If not, nothing is followed.
        """
        self._text = text
        self._commands = commands
        self._read_commands = read_commands
        #: Id of registers with values -> these, and the commands in them.
        self._sequences: dict[int, tuple[dict[int, int], Commands]] = {}
        self._are_seen = are_seen
        self._followed: list[Followed[object]] = []
        #: Counted by those, and how many the lists below are about.
        self._read = _RegistersRead()
        self._known_read = 0
        #: Registers that were written together -> what they are; None: nothing of it.
        self._lists: dict[tuple[int, ...], _Meaning | None] = {}
        #: Id of such registers with values -> these, and what they are.
        self._parts: dict[int, tuple[dict[int, int], _Meaning | None]] = {}
        #: The registers in these lists.
        self._listed = 0
        #: Whether registers hold push constants.
        self._pushed: dict[int, bool] = {}
        #: Facts of commands.
        self._facts: dict[Commands, Facts] = {}

    def follow(self, function: FunctionOfRegisters[_Result]) -> Followed[_Result]:
        """The function, asked only where what it depends on was written."""
        followed = Followed(function, self._are_seen, self._read)
        self._followed.append(followed)  # type: ignore[arg-type]
        return followed

    def forget_results(self) -> None:
        """Registers are others, without having been written."""
        for one in self._followed:
            one.is_stale = True

    def of(self, changes: Sequence[Change]) -> tuple[Written, Facts]:
        """Push constants among ``changes``, and the facts of writes that are commands.

        The last values of push constants, and all values of commands in order, without those that
        only the GPU knows; empty where there are none. The same facts for the same values.
        """
        if self._known_read != self._read.count:
            self._forget()
        found: list[tuple[Change, _Meaning]] = []
        if MANY <= len(changes) <= _MOST:
            found = self._in_parts(changes)
        else:
            for change in changes:
                values = change[0]
                try:
                    meaning = self._lists[tuple(values)]
                except KeyError:
                    meaning = self._find(tuple(values))
                if meaning is not None:
                    for one in meaning.followed:
                        one.is_stale = True
                    if meaning.counts:
                        found.append((change, meaning))
        if not found:
            return NOTHING
        pushed = [(change[0], of.pushed) for change, of in found if of.pushed is not None]
        commands = [self._commands_of(*change) for change, of in found if of.has_commands]
        return (
            _last_values(pushed) if pushed else (),
            self._facts_of(tuple(chain.from_iterable(commands))) if commands else NO_FACTS,
        )

    def _commands_of(self, values: dict[int, int], source: WriteSource) -> Commands:
        """The commands of a change, in order. Draws share the changes of draw-state groups."""
        known = self._sequences.get(id(values))
        if known is None:
            if len(self._sequences) >= _MAX_KNOWN:
                self._sequences.clear()
            found = self._read_commands(values, source)
            commands = tuple([(one.register, one.value) for one in found if one.value is not None])
            known = self._sequences[id(values)] = values, commands
        return known[1]

    def _in_parts(self, changes: Sequence[Change]) -> list[tuple[Change, _Meaning]]:
        """What counts of many changes: most are of draw-state groups, which draws share."""
        found: list[tuple[Change, _Meaning]] = []
        known = self._parts
        for change in changes:
            values = change[0]
            part = known.get(id(values))
            if part is None:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                registers = tuple(values)
                meaning = (
                    self._lists[registers] if registers in self._lists else self._find(registers)
                )
                part = known[id(values)] = values, meaning
            meaning = part[1]
            if meaning is not None:
                for one in meaning.followed:
                    one.is_stale = True
                if meaning.counts:
                    found.append((change, meaning))
        return found

    def _find(self, registers: tuple[int, ...]) -> _Meaning | None:
        self._listed += len(registers) + 1
        if self._listed > _MAX_LISTED:
            self._lists.clear()
            self._listed = len(registers) + 1
        holding = sorted(filter(self._is_pushed, registers))
        pushed = _Listed(tuple(holding)) if holding else None
        has_commands = not self._commands.isdisjoint(registers)
        followed = [one for one in self._followed if not one.registers.isdisjoint(registers)]
        meaning = None
        if pushed is not None or has_commands or followed:
            meaning = _Meaning(pushed, has_commands, followed)
        self._lists[registers] = meaning
        return meaning

    def _is_pushed(self, register: int) -> bool:
        known = self._pushed.get(register)
        if known is None:
            known = self._pushed[register] = self._text.name(register).startswith(_PUSHED)
        return known

    def _forget(self) -> None:
        """Results depend on more registers than was known."""
        self._known_read = self._read.count
        self._lists.clear()
        self._parts.clear()
        self._listed = 0

    def _facts_of(self, found: Commands) -> Facts:
        if not found:
            return NO_FACTS
        known = self._facts.get(found)
        if known is None:
            if len(self._facts) >= _MAX_KNOWN:
                self._facts.clear()
            texts: dict[int, list[str]] = {}
            for register, value in found:
                texts.setdefault(register, []).append(self._fields(register, value))
            known = Facts(
                {
                    ("write of", self._text.name(register)): Fact(", then ".join(texts[register]))
                    for register in sorted(texts)
                }
            )
            self._facts[found] = known
        return known

    def _fields(self, register: int, value: int) -> str:
        """``GFX_BINDLESS=0x1f``: the fields that are not 0."""
        fields = [one for one in self._text.fields(register, value) if one.name and one.bits]
        return " ".join(f"{one.name}={one.text}" for one in fields) or f"{value:#x}"


def _last_values(found: list[tuple[dict[int, int], _Listed]]) -> Written:
    """The registers in order, and their last values."""
    if len(found) == 1:
        values, listed = found[0]
        now = listed.read(values)
        if UNKNOWN not in now:
            return listed.registers, now
    last = {one: values[one] for values, listed in found for one in listed.registers}
    known = sorted(one for one, value in last.items() if value != UNKNOWN)
    return (tuple(known), tuple([last[one] for one in known])) if known else ()
