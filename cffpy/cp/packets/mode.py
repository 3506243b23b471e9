# SPDX-License-Identifier: MIT
"""Packets that switch modes: render mode, thread, IB2 skipping, the current bin."""

from __future__ import annotations

from cffpy.cp.state import BINNING, GMEM, SYSMEM
from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload
    from cffpy.pm4.reader import Packets

_MARKER = Fields("CP_SET_MARKER", "MARKER_MODE", "MODE")
_REFERENCE_MARKER = Fields("CP_SET_MARKER", "cffdump:MODE")
_THREAD = Fields("CP_THREAD_CONTROL", "THREAD")
_SET_BIN = Fields("CP_SET_BIN", "X1", "Y1", "X2", "Y2")

_ENABLE_MASKS = {
    "RM6_BIN_VISIBILITY": BINNING,
    "RM6_BIN_RENDER_START": GMEM,
    "RM6_DIRECT_RENDER": SYSMEM,
    # the same modes as editions before Mesa 25.0 name them
    "RM6_BINNING": BINNING,
    "RM6_GMEM": GMEM,
    "RM6_BYPASS": SYSMEM,
}


#: MARKER_MODE of CP_SET_MARKER (set_marker_mode): MODE is the render mode.
_SET_RENDER_MODE = 0


def marker_mode(machine: Machine, payload: Payload) -> int | None:
    """The render mode (a6xx_marker) that a CP_SET_MARKER sets; None if it sets something else.

    Packets with a MODE of 0 set other bits only.
    """
    kind, mode = payload.read(machine.packets[_MARKER])
    return mode if mode and kind == _SET_RENDER_MODE else None


def chooses_groups(machine: Machine, marker: int) -> bool:
    """Whether a render mode says which draw-state groups are loaded; others leave that as it is."""
    return machine.enum_name("a6xx_marker", marker) in _ENABLE_MASKS


def cp_set_marker(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_MARKER: the render mode, and with it which draw-state groups are loaded.

    cffdump: cp_set_marker takes the bits of MODE for the mode even where MARKER_MODE says that they
    mean something else, or where they are 0 and the packet sets other bits (mesa
    25.0.7).
    """
    if machine.reads_as_reference:
        (marker,) = payload.read(machine.packets[_REFERENCE_MARKER])
    else:
        named = marker_mode(machine, payload)
        if named is None:
            return
        marker = named
    mode = machine.enum_name("a6xx_marker", marker)
    state = machine.state
    state.render_mode = f"0x{marker:x}" if mode is None else mode
    state.enable_mask = _ENABLE_MASKS.get(state.render_mode, state.enable_mask)


def cp_thread_control(machine: Runner, payload: Payload, level: int) -> None:
    """CP_THREAD_CONTROL: which of the command processor's threads the packets are for (a7xx)."""
    machine.state.thread = machine.enum_name("cp_thread", payload.read(machine.packets[_THREAD])[0])


def cp_skip_ib2_enable_global(machine: Runner, payload: Payload, level: int) -> None:
    """Set whether IB2s are skipped: the global switch."""
    machine.state.skip_ib2_global = payload[0] != 0


def cp_skip_ib2_enable_local(machine: Runner, payload: Payload, level: int) -> None:
    """Set whether IB2s are skipped: the local switch."""
    machine.state.skip_ib2_local = payload[0] != 0


def cp_set_bin(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_BIN: the current bin's rectangle (a2xx)."""
    left, top, right, bottom = payload.read(machine.packets[_SET_BIN])
    machine.state.bin_rectangle = (left, top, right, bottom)


def wait_for_idle(_packets: Packets, _payload: Payload) -> Sequence[tuple[int, int]]:
    """CP_WAIT_FOR_IDLE writes no registers."""
    return ()


def cp_wait_for_idle(machine: Runner, payload: Payload, level: int) -> None:
    """CP_WAIT_FOR_IDLE: registers may be written again."""
    machine.state.needs_wfi = False
