# SPDX-License-Identifier: MIT
"""State in the dynamic state heap: viewports, blend, depth and stencil, scissors, hash tables."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command
    from cffpy.intel.views.aubinator.context import Handler, Printer


def dynamic_state(printer: Printer, struct: str, offset: int, count: int) -> None:
    """decode_dynamic_state: ``count`` structs at ``offset`` from the dynamic state base."""
    address = printer.dynamic_base + offset
    if not printer.span(address, 1):
        printer.out(f"  dynamic {struct} state unavailable\n")
        return
    if struct == "BLEND_STATE":
        printer.out(f"{struct}\n")
        address = _print_states(printer, struct, address)
        struct = "BLEND_STATE_ENTRY"
    for index in range(count):
        if printer.database.struct(struct) is None or not printer.span(address, 1):
            return
        printer.out(f"{struct} {index}\n")
        address = _print_states(printer, struct, address)


def _print_states(printer: Printer, struct: str, address: int) -> int:
    """Print one struct; the address after it."""
    state = printer.database.struct(struct)
    if state is None:
        return address
    size = 4 * state.dwords
    printer.print_group(state, address, printer.span(address, size) if size else b"")
    return address + size


def _pointers(struct: str, count: int) -> Handler:
    """A handler of an instruction with one pointer: its first field that is called so."""

    def handler(printer: Printer, command: Command) -> None:
        offset = 0
        length = command.group.length_of(command.dword(0))
        for field in command.group.fields(length, command.dword(0)):
            if field.name.endswith("Pointer") or field.name.startswith("Pointer"):
                offset = field.value(command.words) & 0xFFFFFFFF
                break
        dynamic_state(printer, struct, offset, count)

    return handler


cc_viewports = _pointers("CC_VIEWPORT", 4)
sf_clip_viewports = _pointers("SF_CLIP_VIEWPORT", 4)
blend_state = _pointers("BLEND_STATE", 8)
depth_stencil_state = _pointers("DEPTH_STENCIL_STATE", 1)
scissors = _pointers("SCISSOR_RECT", 1)
slice_table = _pointers("SLICE_HASH_TABLE", 1)
cps_state = _pointers("CPS_STATE", 1)
_colour_calc = _pointers("COLOR_CALC_STATE", 1)


def gen6_viewports(printer: Printer, command: Command) -> None:
    """3DSTATE_VIEWPORT_STATE_POINTERS of gen6: each kind only where its change bit is set."""
    names = {
        "Pointer to CLIP_VIEWPORT": ("CLIP Viewport State Change", "CLIP_VIEWPORT"),
        "Pointer to SF_VIEWPORT": ("SF Viewport State Change", "SF_VIEWPORT"),
        "Pointer to CC_VIEWPORT": ("CC Viewport State Change", "CC_VIEWPORT"),
    }
    _changed_states(printer, command, names)


def colour_calc_state(printer: Printer, command: Command) -> None:
    """3DSTATE_CC_STATE_POINTERS; on gen6 it has blend, depth and stencil state, too."""
    if printer.database.ver != 6:
        _colour_calc(printer, command)
        return
    names = {
        "Pointer to DEPTH_STENCIL_STATE": ("DEPTH_STENCIL_STATE Change", "DEPTH_STENCIL_STATE"),
        "Pointer to BLEND_STATE": ("BLEND_STATE Change", "BLEND_STATE"),
        "Color Calc State Pointer": ("Color Calc State Pointer Valid", "COLOR_CALC_STATE"),
    }
    _changed_states(printer, command, names)


def _changed_states(printer: Printer, command: Command, names: dict[str, tuple[str, str]]) -> None:
    """Print the state of each pointer whose change bit comes before it and is set."""
    changed: dict[str, int] = {}
    length = command.group.length_of(command.dword(0))
    for field in command.group.fields(length, command.dword(0)):
        value = field.value(command.words)
        changed[field.name] = value
        change, struct = names.get(field.name, ("", ""))
        if changed.get(change):
            dynamic_state(printer, struct, value & 0xFFFFFFFF, 1)
