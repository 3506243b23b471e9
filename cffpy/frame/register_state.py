# SPDX-License-Identifier: MIT
"""RegisterState: the registers at an action, and what wrote them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.action import Action
from cffpy.frame.driver import StateGroup
from cffpy.frame.facts import Address, Bits, Whole, described, fact
from cffpy.frame.field import FieldValue
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.places import name_of
from cffpy.frame.register import RegisterValue
from cffpy.frame.register_write import Origin, RegisterWrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cffpy.frame.register import Register


@described(
    "register",
    is_value=False,
    value="the value; None where only the GPU knows it, and of what has fields alone: instructions"
    " and structures in memory",
    order=(
        *("draw", "name", "register_offset", "bits", "value", "pair_value", "text", "fields"),
        *("origin", "group", "written_by"),
    ),
)
class StateValue(RegisterValue, ModelObject):
    """A register at an action: what it holds, and the packet that wrote it.

    The packet of a 64-bit register is that of its lower dword.
    """

    __slots__ = ("_state",)

    value: Bits | None

    def __init__(self, register: Register, value: int | None, state: RegisterState) -> None:
        self.register = register  # as RegisterValue does: scripts make many of these
        self.value = value
        self._fields = None
        self._state = state

    @fact()
    def draw(self) -> str | None:
        """The draw by the name that commands take."""
        name = name_of(self._state.action)
        return None if name is None else str(name)

    @fact(name="register")
    def name(self) -> str:
        """Name of the register; of an Intel GPU also of an instruction, or of a structure in
        memory.
        """
        return self.register.name

    @fact("dwords")
    def register_offset(self) -> Address | None:
        """Its offset, of an element of a port the port's; None for an instruction or structure."""
        return self.register.offset

    @fact()
    def bits(self) -> int:
        """32, or 64 for two dwords; of an instruction or structure those of all its dwords."""
        return self.register.bits

    @fact()
    def pair_value(self) -> Bits | None:
        """Of X_LO, the 64-bit value of X_LO and X_HI."""
        name = self.register.name
        if self.value is None or not name.endswith("_LO"):
            return None
        upper = self._state.at(self.register.number + 1)
        if upper.name != f"{name[:-3]}_HI" or upper.value is None:
            return None
        return self.value | upper.value << 32

    @fact(name="decoded")
    def text(self) -> str:
        """The value as text."""
        if self.value is None and not self.is_written:
            return "never written"
        if self.register.is_port:
            return "; ".join(f"{element.name}: {element.text}" for element in self.elements)
        return super().text

    @fact()
    def fields(self) -> dict[str, FieldValue]:
        """Its fields by name; none of an unknown value, and where the register has none."""
        return super().fields

    @fact()
    def origin(self) -> Origin | None:
        """Where the value was written."""
        write = self.written_by
        return None if write is None else write.origin(self._state.action)

    @fact(cost="walk")
    def group(self) -> StateGroup | None:
        """The draw-state group that wrote it, with the driver's name of it; None where no group
        did.
        """
        write = self.written_by
        return None if write is None else self._state.action.state_group_at(write.place)

    @fact()
    def written_by(self) -> RegisterWrite | None:
        """The packet that wrote it."""
        return self._state.write_of(self.register)

    @property
    def elements(self) -> list[StateValue]:
        """Of a port, such as VPC_SO_PROG: the dwords written through it, ``VPC_SO_PROG[0]`` first.

        Each has its value and its write; the port itself has no value. Empty for other registers.
        """
        return self._state.elements_of(self.register)

    @property
    def commands(self) -> list[CommandValue]:
        """Of a register whose writes are commands, such as HLSQ_INVALIDATE_CMD: all of them.

        Those since the draw, dispatch or copy before, in order, each with its packet: each has an
        effect. Empty for other registers.
        """
        return self._state.commands_of(self.register)

    @property
    def is_written(self) -> bool:
        """Whether any packet wrote it before the draw; otherwise ``value`` is None."""
        return self._state.is_written(self.register)

    @property
    def is_unknown(self) -> bool:
        """Whether it was written, with a value that only the GPU knows."""
        return self.value is None and self.is_written and not self.register.is_port

    @property
    def inherited(self) -> bool:
        """Whether it was written in an earlier submit."""
        return self.origin == "earlier submit"

    __repr__ = RegisterValue.__repr__
    _repr_html_ = RegisterValue._repr_html_


class CommandValue(StateValue):
    """One write of a register whose writes are commands."""

    __slots__ = ("_write",)

    def __init__(
        self, register: Register, value: int | None, state: RegisterState, write: RegisterWrite
    ) -> None:
        super().__init__(register, value, state)
        self._write = write

    @property
    def pair_value(self) -> None:
        """None: it is a write of this register alone."""

    @property
    def commands(self) -> list[CommandValue]:
        """Empty: it is a command itself."""
        return []

    @property
    def written_by(self) -> RegisterWrite:
        """The packet of this write."""
        return self._write


@described(
    "change",
    is_value=False,
    names={"name": "register"},
    name="name of the register",
    before="it at the program's draw before",
    now="it at this draw",
)
class Change(NamedTuple):
    """A register that differs from the draw before."""

    name: str
    before: StateValue
    now: StateValue


class ChosenValues(NamedTuple):
    """Values at an action. ``missing``: names of which nothing was written."""

    values: list[StateValue]
    missing: list[str]


@described("state", is_value=False)
class RegisterState(ModelObject, ABC):
    """What registers hold at an action: ``state["RB_DEPTH_CNTL"]``, ``state[0x8871]``.

    Of an Intel GPU also what instructions and structures in memory hold: ``state["3DSTATE_PS"]``,
    ``state["BLEND_STATE"]``. Iterating gives the names of what was written before the action:
    registers by offset, before them instructions and structures by name.
    """

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action = action

    @abstractmethod
    def __getitem__(self, key: str | int) -> StateValue:
        """The value of a register by name, as in ``RB_MRT[0].CONTROL``, or by offset in dwords.

        Case and the radix of indices do not matter. Raises UnknownName, which is a KeyError. A
        register that was not written has no value. One without a description has the name that it
        is listed by, as in ``0x210b``, if it was written. A port, VPC_SO_PROG, has ``elements``,
        which are also found by name: ``VPC_SO_PROG[3]``.
        """

    @abstractmethod
    def __contains__(self, key: object) -> bool:
        """Whether a register was written before the action. False for an unknown name."""

    @abstractmethod
    def values(self) -> Iterator[StateValue]:
        """The values of all that was written, in the order of iterating."""

    @abstractmethod
    def at(self, offset: int) -> StateValue:
        """The value of the register at an offset, which need not be described."""

    @abstractmethod
    def same(self, value: StateValue) -> StateValue:
        """The value here of what a value of another state is of."""

    @abstractmethod
    def matching(self, pattern: str) -> list[StateValue]:
        """Those whose names match, with ``*`` and ``?`` as in file names: ``RB_MRT[*].CONTROL``.

        If none does, the names of other installed editions are tried.
        """

    @abstractmethod
    def _chosen(
        self,
        names: Sequence[str] = (),
        origin: Origin | None = None,
        directory: str | None = None,
    ) -> ChosenValues:
        """What the arguments of ``cffpy state`` name, all without: names, patterns, offsets.

        ``origin``: only what was written there. ``directory``: the edition. Raises UnknownName
        where the GPU has nothing of a name.
        """

    @fact()
    def draw(self) -> Whole[Action]:
        """The draw, dispatch or copy; where it is asked for another action, this."""
        return self.action

    @fact()
    def registers(self) -> list[StateValue]:
        """What was written before it: registers by offset, of a register whose writes are commands
        the value of each write; of an Intel GPU, before them instructions and structures by name.
        """
        return Shown(with_commands(self.values()))

    @fact(cost="large")
    @abstractmethod
    def written(self) -> list[StateValue]:
        """What was written since the draw before, in the order of iterating, changed or not.

        Empty for an action that is not one of the program's draws.
        """

    @fact(cost="large")
    @abstractmethod
    def changed(self) -> list[Change]:
        """What differs from the program's draw before, in the order of iterating.

        Of the capture's first draw, all that was written. Empty for an action that is not one of
        the program's draws.
        """

    @property
    @abstractmethod
    def dwords(self) -> Mapping[int, int | None] | Mapping[str, tuple[int, ...] | None]:
        """All dwords that were written: number -> value, None where only the GPU knows it.

        Of an Intel GPU name -> dwords. One object for all actions of a capture that see the same:
        compare by ``is``, or keep by it what was found out for an action, to do it once for all of
        them.
        """

    @abstractmethod
    def write_of(self, register: Register) -> RegisterWrite | None:
        """What wrote a register, of a 64-bit register the lower dword, of a port the last one."""

    @abstractmethod
    def is_written(self, register: Register) -> bool:
        """Whether a packet wrote a register, of a 64-bit register the lower dword."""

    @abstractmethod
    def elements_of(self, register: Register) -> list[StateValue]:
        """The values of the elements of a port that were written, by index; none of others."""

    @abstractmethod
    def commands_of(self, register: Register) -> list[CommandValue]:
        """The writes of a register whose writes are commands since the action before, in order."""

    @property
    def reads(self) -> list[StateValue]:
        """What the action reads of it, as far as it is known; of an Intel GPU empty.

        The table is that of ``cffpy check`` (``cffpy.analysis.event_reads``). A register that it
        lacks may be read, too. A register that was never written has no value.
        """
        return Shown()

    @property
    def stale(self) -> list[StateValue]:
        """Those of ``reads`` that another pass has set, an earlier submit, or nobody."""
        return Shown()

    def uses_lines(self) -> list[str]:
        """What no register says, as ``cffpy state`` prints it: of an Intel GPU kernels, binding
        tables, descriptor sets, buffers.
        """
        return []

    def __iter__(self) -> Iterator[str]:
        return (value.name for value in self.values())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list[str]:
        """The names of what was written, in the order of iterating."""
        return list(self)

    def items(self) -> Iterator[tuple[str, StateValue]]:
        """The names and values of all that was written, in the order of iterating."""
        return ((value.name, value) for value in self.values())

    def get(self, key: str | int, default: StateValue | None = None) -> StateValue | None:
        """The value of a register by name or offset; ``default`` where it was not written."""
        return self[key] if key in self else default  # noqa: SIM401 - this is get

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def document(self, values: Iterable[StateValue]) -> dict[str, Any]:
        """As ``to_dict``, the document of ``cffpy state --json``, with some values only."""
        from cffpy.frame.faces import facts_document, facts_documents  # lazily: text does without

        shown = list(facts_documents(with_commands(values)))
        return {**facts_document(self, without=("registers",)), "registers": shown}

    def __repr__(self) -> str:
        return f"<RegisterState: {len(self)} registers>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = [
            (value.name, "unknown" if value.value is None else f"{value.value:#x}", value.text)
            for value in self.values()
        ]
        return html_table(("register", "value", "decoded"), rows)


def with_commands(values: Iterable[StateValue]) -> Iterator[StateValue]:
    """The values; of a register whose writes are commands the value of each write."""
    for value in values:
        yield from value.commands[:-1]
        yield value
