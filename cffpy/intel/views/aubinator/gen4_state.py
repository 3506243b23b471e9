# SPDX-License-Identifier: MIT
"""The state of gen4 and gen5, which 3DSTATE_PIPELINED_POINTERS names unit by unit."""

from __future__ import annotations

from struct import unpack

from cffpy.intel.views.aubinator.kernels import kernel, print_fragment_kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command
    from cffpy.intel.views.aubinator.context import Printer

_KERNELS = {
    "VS_STATE": ("VS", "vertex shader"),
    "GS_STATE": ("GS", "geometry shader"),
    "CLIP_STATE": ("CL", "clip shader"),
    "SF_STATE": ("SF", "strips and fans shader"),
}


def pipelined_pointers(printer: Printer, command: Command) -> None:
    """decode_pipelined_pointers: the state of each unit, its kernel and its viewport."""
    printer.out("VS State Table:\n")
    _unit(printer, "VS_STATE", "vs", command.dword(1))
    if command.dword(2) & 1:
        printer.out("GS State Table:\n")
        _unit(printer, "GS_STATE", "gs", command.dword(2) & ~1)
    printer.out("Clip State Table:\n")
    words = _unit(printer, "CLIP_STATE", "clip", command.dword(3) & ~1)
    _viewport(printer, "CLIP_VIEWPORT", "clip", words, 6)
    printer.out("SF State Table:\n")
    words = _unit(printer, "SF_STATE", "sf", command.dword(4))
    _viewport(printer, "SF_VIEWPORT", "sf", words, 5)
    printer.out("WM State Table:\n")
    words = _unit(printer, "WM_STATE", "wm", command.dword(5))
    state = printer.database.struct("WM_STATE")
    if words and state is not None:
        print_fragment_kernels(printer, state, words[: state.dwords])
    printer.out("CC State Table:\n")
    words = _unit(printer, "COLOR_CALC_STATE", "cc", command.dword(6))
    _viewport(printer, "CC_VIEWPORT", "cc", words, 4)


def _unit(printer: Printer, struct: str, name: str, address: int) -> tuple[int, ...]:
    """Print a unit's state and its kernel; the state's dwords, none where it is missing."""
    state = printer.database.struct(struct)
    if state is None:
        printer.out(f"did not find {struct} info\n")
        return ()
    data = printer.span(address, max(4 * state.dwords, 32))
    if not data:
        printer.out(f" {name} state unavailable\n")
        return ()
    printer.print_group(state, address, data)
    words = unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    if struct in _KERNELS:
        pointer, enabled = state.values(words, ("Kernel Start Pointer", "Enable"), state.dwords)
        if enabled != 0:
            kernel(printer, pointer or 0, *_KERNELS[struct])
            printer.out("\n")
    return words


def _viewport(
    printer: Printer, struct: str, name: str, words: tuple[int, ...], number: int
) -> None:
    """Print the viewport that dword ``number`` of a unit's state points to."""
    if len(words) <= number:
        return
    state = printer.database.struct(struct)
    if state is None:
        printer.out(f"did not find {struct} info\n")
        return
    address = words[number] & ~3
    data = printer.span(address, 4 * state.dwords)
    if not data:
        printer.out(f" {name} vp state unavailable\n")
        return
    printer.print_group(state, address, data)
