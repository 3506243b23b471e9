# SPDX-License-Identifier: MIT
"""Packets that switch modes (render mode, thread, IB2 skipping, current bin), and debug markers.

A debug marker is a CP_NOP packet in which a driver leaves text (turnip, freedreno).
"""

from __future__ import annotations

from cffpy.cp.state import BINNING, GMEM, SYSMEM
from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.pm4.reader import Packets, Payload

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
    """Registers that CP_WAIT_FOR_IDLE writes: none."""
    return ()


def cp_wait_for_idle(machine: Runner, payload: Payload, level: int) -> None:
    """CP_WAIT_FOR_IDLE: registers may be written again."""
    machine.state.needs_wfi = False


#: First dword of such a packet ("MESG", "BEGN", "END").
MESSAGE, BEGIN, END = 0x4D455347, 0x4245474E, 0x454E4400


def is_marker(_machine: Machine, payload: Payload) -> bool:
    """Whether a CP_NOP is a debug marker."""
    return payload[0] in (MESSAGE, BEGIN, END)


def marker_text(payload: Payload, limit: int | None = None) -> str:
    """The ASCII characters after the first dword, up to a NUL; at most ``limit`` bytes."""
    content = payload.words.bytes(payload.index + 1, payload.count - 1)
    text = content.split(b"\0", 1)[0][:limit]
    return bytes(byte for byte in text if byte < 0x80).decode("ascii")


#: Markers that are nested, and the bytes of one's text, at most.
_MAX_OPEN = 64
_MAX_BYTES = 256


class OpenMarkers:
    """Tracks debug markers; ``texts``: the texts of open markers, outermost first."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._open = 0

    def nop(self, payload: Payload) -> None:
        """A CP_NOP, which may begin or end one."""
        kind = payload[0]
        if kind == BEGIN:
            self._open += 1
            if self._open <= _MAX_OPEN:
                self.texts.append(marker_text(payload, _MAX_BYTES))
        elif kind == END and self._open:
            self._open -= 1
            del self.texts[self._open :]
