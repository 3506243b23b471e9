# SPDX-License-Identifier: MIT
"""Handlers that print what follows an instruction, by its name: a table at the end.

Here are those of instructions that say where state lies, of state in the dynamic state heap
(viewports, blend, depth and stencil, scissors), and of the units of gen4 and gen5.
"""

from __future__ import annotations

from struct import pack, unpack

from cffpy.intel.views.aubinator import buffers, kernels
from cffpy.intel.views.aubinator.kernels import kernel, print_fragment_kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command
    from cffpy.intel.views.aubinator.context import Handler, Printer

_BASES = ("Surface State", "Dynamic State", "Instruction")


def state_base_address(printer: Printer, command: Command) -> None:
    """STATE_BASE_ADDRESS: each base whose Modify Enable is set."""
    bases = command.values(*(f"{name} Base Address" for name in _BASES))
    modified = command.values(*(f"{name} Base Address Modify Enable" for name in _BASES))
    if modified[0]:
        printer.surface_base = bases[0] or 0
    if modified[1]:
        printer.dynamic_base = bases[1] or 0
    if modified[2]:
        printer.instruction_base = bases[2] or 0


def binding_table_pool(printer: Printer, command: Command) -> None:
    """3DSTATE_BINDING_TABLE_POOL_ALLOC: the pool's base while it is enabled."""
    base, enabled = command.values("Binding Table Pool Base Address", "Binding Table Pool Enable")
    in_use = enabled or printer.database.verx10 >= 125
    printer.pool_base = (base or 0) if in_use else 0


def load_registers(printer: Printer, command: Command) -> None:
    """MI_LOAD_REGISTER_IMM: each known register.

    decode_load_register_imm shows the value of the first pair for all of them (mesa 25.0.7).
    """
    count = (command.group.length_of(command.dword(0)) - 1) // 2
    value, next_dword = command.dword(2), command.dword(3)
    for number in range(count):
        register = printer.database.register_at(command.dword(2 * number + 1))
        if register is None:
            continue
        offset = register.offset or 0
        printer.out(f"register {register.name} (0x{offset:x}): 0x{value:x}\n")
        printer.print_group(register, offset, pack("<2I", value, next_dword))
        if register.name == "GT_MODE":
            _gt_mode(printer, command.dword(1), value)


def _gt_mode(printer: Printer, offset: int, value: int) -> None:
    register = printer.database.register_at(offset)
    if register is None:
        return
    alignment, mask = register.values(
        (value,), ("Binding Table Alignment", "Binding Table Alignment Mask"), register.dwords
    )
    if mask:
        printer.uses_256_byte_tables = bool(alignment)


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


#: These act also where the instruction itself is not printed.
STATE_HANDLERS: dict[str, Handler] = {
    "STATE_BASE_ADDRESS": state_base_address,
    "3DSTATE_BINDING_TABLE_POOL_ALLOC": binding_table_pool,
    "MEDIA_INTERFACE_DESCRIPTOR_LOAD": kernels.interface_descriptor_load,
}

HANDLERS: dict[str, Handler] = {
    "COMPUTE_WALKER": kernels.compute_walker,
    "EXECUTE_INDIRECT_DISPATCH": kernels.compute_walker,
    "MEDIA_CURBE_LOAD": buffers.curbe_load,
    "3DSTATE_VERTEX_BUFFERS": buffers.vertex_buffers,
    "3DSTATE_INDEX_BUFFER": buffers.index_buffer,
    "3DSTATE_VS": kernels.single_kernel,
    "3DSTATE_GS": kernels.single_kernel,
    "3DSTATE_DS": kernels.single_kernel,
    "3DSTATE_HS": kernels.single_kernel,
    "3DSTATE_PS": kernels.fragment_kernels,
    "3DSTATE_WM": kernels.fragment_kernels,
    "3DSTATE_MESH_SHADER": kernels.mesh_or_task_kernel,
    "3DSTATE_TASK_SHADER": kernels.mesh_or_task_kernel,
    "3DSTATE_CONSTANT_VS": buffers.constants,
    "3DSTATE_CONSTANT_GS": buffers.constants,
    "3DSTATE_CONSTANT_PS": buffers.constants,
    "3DSTATE_CONSTANT_HS": buffers.constants,
    "3DSTATE_CONSTANT_DS": buffers.constants,
    "3DSTATE_CONSTANT_ALL": buffers.all_constants,
    "3DSTATE_BINDING_TABLE_POINTERS": kernels.gen4_table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_VS": kernels.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_HS": kernels.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_DS": kernels.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_GS": kernels.table_pointers,
    "3DSTATE_BINDING_TABLE_POINTERS_PS": kernels.table_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_VS": kernels.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_HS": kernels.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_DS": kernels.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_GS": kernels.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS_PS": kernels.sampler_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS": kernels.gen6_sampler_pointers,
    "3DSTATE_VIEWPORT_STATE_POINTERS": gen6_viewports,
    "3DSTATE_VIEWPORT_STATE_POINTERS_CC": cc_viewports,
    "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP": sf_clip_viewports,
    "3DSTATE_BLEND_STATE_POINTERS": blend_state,
    "3DSTATE_CC_STATE_POINTERS": colour_calc_state,
    "3DSTATE_DEPTH_STENCIL_STATE_POINTERS": depth_stencil_state,
    "3DSTATE_SCISSOR_STATE_POINTERS": scissors,
    "3DSTATE_SLICE_TABLE_STATE_POINTERS": slice_table,
    "MI_LOAD_REGISTER_IMM": load_registers,
    "3DSTATE_PIPELINED_POINTERS": pipelined_pointers,
    "3DSTATE_CPS_POINTERS": cps_state,
    "CONSTANT_BUFFER": buffers.gen4_constants,
}
