# SPDX-License-Identifier: MIT
"""Packets that switch modes: render mode, thread, IB2 skipping, the current bin."""

from __future__ import annotations

from cffpy.cp.state import BINNING, GMEM, SYSMEM
from cffpy.pm4.layouts import SET_BIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

_ENABLE_MASKS = {
    "RM6_BIN_VISIBILITY": BINNING,
    "RM6_BIN_RENDER_START": GMEM,
    "RM6_DIRECT_RENDER": SYSMEM,
    # the same modes as editions before Mesa 25.0 name them
    "RM6_BINNING": BINNING,
    "RM6_GMEM": GMEM,
    "RM6_BYPASS": SYSMEM,
}


#: With this bit a marker is not about the render mode (adreno_pm4.xml: SET_IFPC_MODE).
_OTHER_MARKER = 0x100


def names_mode(marker: int) -> bool:
    """Whether the first dword of a CP_SET_MARKER sets the render mode."""
    return bool(marker & 0xF) and not marker & _OTHER_MARKER


def cp_set_marker(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SET_MARKER: the render mode, and with it which draw-state groups are loaded.

    For the reference the mode is bits 3:0 even where bit 8 says that they mean something else
    (cp_set_marker), or where they are 0 and other bits are what the packet is about.
    """
    marker = payload[0] & 0xF
    if not machine.every_marker_sets_mode and not names_mode(payload[0]):
        return
    mode = machine.enum_name("a6xx_marker", marker)
    state = machine.state
    state.render_mode = f"0x{marker:x}" if mode is None else mode
    state.enable_mask = _ENABLE_MASKS.get(state.render_mode, state.enable_mask)


def cp_thread_control(machine: Machine, payload: Payload, level: int) -> None:
    """CP_THREAD_CONTROL: which of the command processor's threads the packets are for (a7xx)."""
    machine.state.thread = machine.enum_name("cp_thread", payload[0] & 3)


def cp_skip_ib2_enable_global(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SKIP_IB2_ENABLE_GLOBAL."""
    machine.state.skip_ib2_global = payload[0] != 0


def cp_skip_ib2_enable_local(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SKIP_IB2_ENABLE_LOCAL."""
    machine.state.skip_ib2_local = payload[0] != 0


def cp_set_bin(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SET_BIN: the current bin's rectangle (a2xx)."""
    _, left, top, right, bottom = payload.read(SET_BIN)
    machine.state.bin_rectangle = (left, top, right, bottom)


def cp_wait_for_idle(machine: Machine, payload: Payload, level: int) -> None:
    """CP_WAIT_FOR_IDLE: registers may be written again."""
    machine.state.needs_wfi = False
