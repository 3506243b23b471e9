# SPDX-License-Identifier: MIT
"""Which conditional commands are executed, as far as the stream tells.

CP_COND_REG_EXEC by render mode and by thread is decided by earlier packets. Predicates of
CP_REG_TEST are decided where the stream itself wrote the register and no binning run came since;
registers whose values only the GPU knows are forgotten, and leave the outcome open. Facts: Mesa's
adreno_pm4.xml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.cp.packets.mode import names_mode
from cffpy.pm4.layouts import COND_REG_EXEC, REG_TEST
from cffpy.value_object import ValueObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

#: Registers that the GPU writes in a binning run (a6xx and later).
_VISIBILITY_STATE = "VSC_STATE[0].REG"
_VISIBILITY_STATES = 32

_PREDICATE, _REGISTERS, _RENDER_MODE, _IMMEDIATE, _THREAD = range(1, 6)

#: PRED_UPDATE of CP_REG_TEST: many predicates at once, by a mask.
_UPDATES_BY_MASK = 1 << 31

#: Render modes by CP_SET_MARKER that are not GMEM, also as older editions name them.
_BINNING_MODES = ("RM6_BIN_VISIBILITY", "RM6_BINNING")
_SYSMEM_MODES = ("RM6_DIRECT_RENDER", "RM6_BYPASS")

#: CP_THREAD_CONTROL's threads: BV and BR bits.
_THREADS = {"CP_SET_THREAD_BR": 2, "CP_SET_THREAD_BV": 1, "CP_SET_THREAD_BOTH": 3}


class Condition(ValueObject):
    """Whether a block is executed (None: only the GPU knows), and why, in words."""

    __slots__ = ("executed", "reason")

    def __init__(self, executed: bool | None, reason: str) -> None:
        self.executed = executed
        self.reason = reason


def render_mode(mode: str | None) -> str | None:
    """The mode that a marker's name is of: binning, gmem or sysmem; None before the first."""
    if mode is None:
        return None
    if mode in _BINNING_MODES:
        return "binning"
    return "sysmem" if mode in _SYSMEM_MODES else "gmem"


class Conditions:
    """The predicates of a command processor, and what follows from them.

    ``forget`` makes registers unknown: the first, and how many.
    """

    def __init__(self, machine: Machine, forget: Callable[[int, int], None]) -> None:
        self._machine = machine
        self._forget = forget
        self._predicates: dict[int, bool | None] = {}
        self._draw_predicates: set[str] = set()
        self._visibility_states = machine.database.register_offset(_VISIBILITY_STATE)

    def marker(self, payload: Payload) -> None:
        """CP_SET_MARKER: in a binning run the GPU writes which bins see anything."""
        mode = self._machine.enum_name("a6xx_marker", payload[0] & 0xF)
        is_binning = names_mode(payload[0]) and render_mode(mode) == "binning"
        if is_binning and self._visibility_states:
            self._forget(self._visibility_states, _VISIBILITY_STATES)

    @property
    def predicates_draws(self) -> bool:
        """Whether draws are under a predicate of CP_DRAW_PRED_SET."""
        return bool(self._draw_predicates)

    def predicate_draws(self, scope: str, payload: Payload, perhaps: bool = False) -> None:
        """CP_DRAW_PRED_ENABLE_GLOBAL and _LOCAL; ``perhaps``: if the packet is executed."""
        if payload[0] & 1:
            self._draw_predicates.add(scope)
        elif not perhaps:
            self._draw_predicates.discard(scope)

    def register_test(self, payload: Payload, perhaps: bool = False) -> None:
        """CP_REG_TEST sets a predicate by a bit of a register; ``perhaps``: if it is executed."""
        if payload[0] & _UPDATES_BY_MASK:
            self._predicates.clear()
            return
        register, from_memory, bit, predicate = payload.read(REG_TEST)
        value = self._machine.state.registers.get(register)
        known = value is not None and not from_memory and not perhaps
        self._predicates[predicate] = bool((value or 0) >> bit & 1) if known else None

    def register_exec(self, payload: Payload) -> Condition:
        """CP_COND_REG_EXEC."""
        predicate, binning, gmem, sysmem, mode, *_ = payload.read(COND_REG_EXEC)
        if mode == _RENDER_MODE:
            modes = {"binning": binning, "gmem": gmem, "sysmem": sysmem}
            wanted = " or ".join(name for name, bit in modes.items() if bit) or "no mode"
            current = render_mode(self._machine.state.render_mode)
            executed = None if current is None else bool(modes[current])
            return Condition(executed, f"in {wanted} only; now {current or 'unknown'}")
        if mode == _THREAD:
            # the same bits: BV, BR, LPAC
            wanted = " or ".join(
                name for name, bit in (("BV", binning), ("BR", gmem), ("LPAC", sysmem)) if bit
            )
            now = _THREADS.get(self._machine.state.thread or "")
            asked = binning | gmem << 1
            if now is None:
                executed = None
            else:
                executed = True if now & asked == now else None if now & asked else False
            return Condition(executed, f"on {wanted or 'no thread'} only")
        if mode == _PREDICATE:
            executed = self._predicates.get(predicate)
            return Condition(executed, f"predicate {predicate} of CP_REG_TEST")
        if mode in (_REGISTERS, _IMMEDIATE):
            return Condition(None, "compares a register on the GPU")
        return Condition(None, f"condition of unknown mode {mode}")
