# SPDX-License-Identifier: MIT
"""Which conditional commands are executed, as far as the command stream shows.

Earlier packets decide CP_COND_REG_EXEC by render mode and by thread. A predicate of CP_REG_TEST is
known if the stream itself wrote the register and no binning run followed; registers and memory are
compared where ``Computation`` knows them. A value that only the GPU knows makes the outcome
unknown. Facts: Mesa's adreno_pm4.xml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.cp.packets.mode import marker_mode
from cffpy.frame.execution import Executed
from cffpy.pm4.reader import Fields
from cffpy.value_object import ValueObject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.analysis.computation import Computation, Known
    from cffpy.analysis.pipes import PipeRegisters, Pipes
    from cffpy.cp.machine import Machine
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.reader import Payload

#: Registers that the GPU writes in a binning run (a6xx and later).
_VISIBILITY_STATE = "VSC_STATE[0].REG"
_VISIBILITY_STATES = 32

_DRAW_PREDICATE = Fields("CP_DRAW_PRED_ENABLE_GLOBAL", "ENABLE")
#: PRED_UPDATE: many predicates at once, by a mask.
_REG_TEST = Fields(
    "CP_REG_TEST", "REG", "SOURCE", "BIT", "PRED_BIT", "PRED_UPDATE", "PRED_MASK", "PRED_VAL"
)
_COND_REG_EXEC = Fields("CP_COND_REG_EXEC", "MODE", "PRED_BIT")
_RENDER_MODES = Fields("CP_COND_REG_EXEC", "BINNING", "GMEM", "SYSMEM", variant="RENDER_MODE")
_THREAD_BITS = Fields("CP_COND_REG_EXEC", "BV", "BR", "LPAC", variant="THREAD_MODE")

_TWO_REGISTERS = Fields(
    "CP_COND_REG_EXEC", "REG0", "0.ONCHIP_MEM", "REG1", "1.ONCHIP_MEM", variant="REG_COMPARE"
)
#: REG0 is where it is in the other mode.
_REGISTER = Fields("CP_COND_REG_EXEC", "REG0", variant="REG_COMPARE")
_ONE_REGISTER = Fields("CP_COND_REG_EXEC", "ONCHIP_MEM", "IMM", variant="REG_COMPARE_IMM")
_COND_EXEC = Fields("CP_COND_EXEC", "ADDR0", "ADDR1", "REF")

_PREDICATE, _REGISTERS, _RENDER_MODE, _IMMEDIATE, _THREAD = range(1, 6)
_PREDICATES = 32

#: CP_SET_MARKER's modes (a6xx_marker) that decide CP_COND_REG_EXEC. None: what RM6_COMPUTE does to
#: it is not known. All others, among them RM6_BLIT2DSCALE, leave it as it was.
_RENDER_MODES_BY_MARKER: dict[int, str | None] = {
    1: "sysmem",  # RM6_DIRECT_RENDER
    2: "binning",  # RM6_BIN_VISIBILITY
    4: "gmem",  # RM6_BIN_RENDER_START
    5: "gmem",  # RM6_BIN_END_OF_DRAWS
    6: "gmem",  # RM6_BIN_RESOLVE
    7: "gmem",  # RM6_BIN_RENDER_END
    8: None,  # RM6_COMPUTE
}

#: The pipes that execute: BV and BR bits.
_THREADS: dict[str | None, int] = {"BR": 2, "BV": 1, "both": 3}
#: The same, the other way round.
_PIPES: dict[int, PipeRegisters] = {2: "BR", 1: "BV"}


class Condition(ValueObject):
    """Whether a block is executed, and the reason in words.

    ``pipe``: the one of both pipes that executes it; None: all that execute the packet before it.
    """

    __slots__ = ("executed", "pipe", "reason")

    def __init__(self, executed: Executed, reason: str, pipe: PipeRegisters | None = None) -> None:
        self.executed = executed
        self.reason = reason
        self.pipe = pipe


class ConditionalBlock(NamedTuple):
    """Commands that the packet at ``place`` makes conditional.

    They are the ``ndwords`` dwords after it, up to the address ``end``. ``outside``: whether the
    commands around them are executed.
    """

    place: PacketLocation
    ndwords: int
    end: int
    condition: Condition
    outside: Executed


class _Known:
    """What one pipe knows: predicates, and the render mode."""

    __slots__ = ("draw_predicates", "predicates", "render_mode")

    def __init__(self) -> None:
        self.predicates: dict[int, Executed] = {}
        self.draw_predicates: set[str] = set()
        #: binning, gmem or sysmem; None before the first marker.
        self.render_mode: str | None = None


class Conditions:
    """The predicates of a command processor, and the conditions that depend on them.

    ``computation`` knows the values of registers and memory, ``pipes`` which pipe executes. Each
    pipe has predicates and a render mode of its own.
    """

    def __init__(self, machine: Machine, computation: Computation, pipes: Pipes) -> None:
        self._machine = machine
        self._computation = computation
        self._pipes = pipes
        self._br, self._bv = _Known(), _Known()
        #: What is read now, and all that is written.
        self._known, self._all = self._br, (self._br, self._bv)
        self._visibility_states = machine.names.register_offset(_VISIBILITY_STATE)

    def select(self, pipe: PipeRegisters) -> None:
        """What follows is executed by this pipe, or by both."""
        self._known = self._bv if pipe == "BV" else self._br
        self._all = (self._br, self._bv) if pipe == "both" else (self._known, self._known)

    def marker(self, payload: Payload) -> None:
        """CP_SET_MARKER: the render mode. A binning run fills the registers of visible bins."""
        marker = marker_mode(self._machine, payload)
        if marker is None or marker not in _RENDER_MODES_BY_MARKER:
            return
        mode = _RENDER_MODES_BY_MARKER[marker]
        for conditions in self._all:
            conditions.render_mode = mode
        if mode == "binning" and self._visibility_states:
            self._computation.forget(self._visibility_states, _VISIBILITY_STATES)

    @property
    def predicates_draws(self) -> bool:
        """Whether draws are under a predicate of CP_DRAW_PRED_SET."""
        return bool(self._known.draw_predicates)

    def predicate_draws(self, scope: str, payload: Payload, executed: Executed) -> None:
        """Note CP_DRAW_PRED_ENABLE_GLOBAL or CP_DRAW_PRED_ENABLE_LOCAL."""
        is_on = any(payload.read(self._machine.packets[_DRAW_PREDICATE]))
        for conditions in self._all:
            if is_on:
                conditions.draw_predicates.add(scope)
            elif executed is Executed.YES:
                conditions.draw_predicates.discard(scope)

    def register_test(self, payload: Payload, executed: Executed) -> None:
        """CP_REG_TEST sets a predicate to the value of a bit of a register, or many at once."""
        values = payload.read(self._machine.packets[_REG_TEST])
        register, from_memory, bit, predicate, updates_by_mask, mask, bits = values
        if updates_by_mask:
            for number in range(_PREDICATES):
                if mask >> number & 1:
                    value = Executed(bool(bits >> number & 1))
                    self._set(number, value if executed is Executed.YES else Executed.UNKNOWN)
            return
        read = self._computation.scratch_memory if from_memory else self._computation.register
        known = read(register)
        if known is None or executed is not Executed.YES:
            self._set(predicate, Executed.UNKNOWN)
        else:
            self._set(predicate, Executed(bool(known.value >> bit & 1)))

    def _set(self, predicate: int, value: Executed) -> None:
        for conditions in self._all:
            conditions.predicates[predicate] = value

    def register_exec(self, payload: Payload) -> Condition:
        """The condition of the dwords after CP_COND_REG_EXEC."""
        packets = self._machine.packets
        mode, predicate = payload.read(packets[_COND_REG_EXEC])
        if mode == _RENDER_MODE:
            return self._of_each_pipe(self._by_render_mode, payload.read(packets[_RENDER_MODES]))
        if mode == _THREAD:
            return self._by_thread(*payload.read(packets[_THREAD_BITS]))
        if mode == _PREDICATE:
            return self._of_each_pipe(self._by_predicate, (predicate,))
        if mode in (_REGISTERS, _IMMEDIATE):
            return self._by_registers(payload, mode == _IMMEDIATE)
        return Condition(Executed.UNKNOWN, f"condition of unknown mode {mode}")

    def memory_exec(self, payload: Payload) -> Condition:
        """CP_COND_EXEC: by two dwords in memory."""
        holds = self._computation.condition_of_memory(
            *payload.read(self._machine.packets[_COND_EXEC])
        )
        return Condition(Executed(holds), "compares memory on the GPU")

    def _by_registers(self, payload: Payload, is_immediate: bool) -> Condition:
        """Two registers are equal, or a register and a number."""
        packets, computation = self._machine.packets, self._computation
        second: Known | int | None
        if is_immediate:
            on_chip, second = payload.read(packets[_ONE_REGISTER])
            (register,) = payload.read(packets[_REGISTER])
        else:
            register, first_on_chip, other, second_on_chip = payload.read(packets[_TWO_REGISTERS])
            on_chip = first_on_chip | second_on_chip
            second = computation.register(other)
        first = computation.register(register)
        if on_chip or first is None or second is None:
            return Condition(Executed.UNKNOWN, "compares a register on the GPU")
        wanted = second if isinstance(second, int) else second.value
        return Condition(Executed(first.value == wanted), f"compares register {register:#x}")

    def _of_each_pipe(self, evaluate: Callable[..., Condition], values: Sequence[int]) -> Condition:
        """A condition that depends on what each pipe knows by itself.

        Where both pipes execute, and one of them goes around the block, the other one executes it
        alone.
        """
        if not self._pipes.are_apart or self._all[0] is self._all[1]:
            return evaluate(self._known, *values)
        conditions = [evaluate(known, *values) for known in self._all]
        outcomes = {condition.executed: condition for condition in conditions}
        if len(outcomes) == 1:
            return conditions[0]
        alone = Executed.YES if Executed.YES in outcomes else Executed.UNKNOWN
        decided = outcomes[alone]
        if Executed.NO not in outcomes:  # one pipe executes it, and the other one may
            return Condition(Executed.UNKNOWN, outcomes[Executed.UNKNOWN].reason)
        return Condition(alone, decided.reason, "BV" if decided is conditions[1] else "BR")

    def _by_predicate(self, known: _Known, predicate: int) -> Condition:
        executed = known.predicates.get(predicate, Executed.UNKNOWN)
        return Condition(executed, f"predicate {predicate} of CP_REG_TEST")

    def _by_render_mode(self, known: _Known, binning: int, gmem: int, sysmem: int) -> Condition:
        modes = {"binning": binning, "gmem": gmem, "sysmem": sysmem}
        wanted = " or ".join(name for name, bit in modes.items() if bit) or "no mode"
        current = known.render_mode
        executed = Executed.UNKNOWN if current is None else Executed(bool(modes[current]))
        return Condition(executed, f"in {wanted} only; now {current or 'unknown'}")

    def _by_thread(self, bv: int, br: int, lpac: int) -> Condition:
        """By the threads that CP_THREAD_CONTROL has chosen."""
        names = (("BV", bv), ("BR", br), ("LPAC", lpac))
        wanted = " or ".join(name for name, bit in names if bit) or "no thread"
        running = _THREADS.get(self._pipes.pipe)
        chosen = bv | br << 1
        pipe = None
        if running is None:
            executed = Executed.UNKNOWN
        else:
            executed = Executed.YES if running & chosen else Executed.NO
            if running & chosen != running:
                pipe = _PIPES.get(running & chosen)
        return Condition(executed, f"on {wanted} only", pipe)
