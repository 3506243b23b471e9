# SPDX-License-Identifier: MIT
"""Kernels that instructions name: their headings, and what is shown in place of a disassembly."""

from __future__ import annotations

from cffpy.intel.decoder.stages import fragment_pointers
from cffpy.intel.views.aubinator.tables import binding_table, samplers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command, Field, Group
    from cffpy.intel.views.aubinator.context import Printer

_NAMES = {
    "VS_STATE": ("VS", "vertex shader"),
    "GS_STATE": ("GS", "geometry shader"),
    "SF_STATE": ("SF", "strips and fans shader"),
    "CLIP_STATE": ("CL", "clip shader"),
    "3DSTATE_DS": ("DS", "tessellation evaluation shader"),
    "3DSTATE_HS": ("HS", "tessellation control shader"),
    "3DSTATE_VS": ("VS", "vertex shader"),
    "3DSTATE_GS": ("GS", "geometry shader"),
    "3DSTATE_MESH_SHADER": ("MS", "mesh shader"),
    "3DSTATE_TASK_SHADER": ("TS", "task shader"),
}
#: What C prints of a name that is missing.
_NO_NAME = ("", "(null)")
#: Stages whose heading says how wide the kernel is.
_WITH_WIDTH = ("3DSTATE_VS", "3DSTATE_GS")

_FRAGMENT = {"SIMD8": "FS8", "SIMD16": "FS16", "SIMD32": "FS32"}
_M32 = 0xFFFFFFFF


def kernel(printer: Printer, pointer: int, short_name: str, name: str) -> None:
    """The heading of a kernel at ``pointer`` from the instruction base; nothing if unmapped."""
    address = printer.instruction_base + (pointer & _M32)
    if not printer.span(address, 1):
        return
    printer.out(f"\nReferenced {name}:\n")
    if printer.kernel is not None:
        printer.out(printer.kernel(printer, short_name, address))


def single_kernel(printer: Printer, command: Command) -> None:
    """decode_single_ksp: vertex, geometry and tessellation stages."""
    pointer, enabled = command.values("Kernel Start Pointer", "Enable")
    if enabled == 0:
        return
    short_name, name = _NAMES.get(command.group.name, _NO_NAME)
    if command.group.name in _WITH_WIDTH:
        name = f"{'SIMD8' if _is_simd8(printer, command) else 'vec4'} {name}"
    kernel(printer, pointer or 0, short_name, name)
    printer.out("\n")


def _is_simd8(printer: Printer, command: Command) -> bool:
    is_simd8 = printer.database.ver >= 11
    length = command.group.length_of(command.dword(0))
    for field in command.group.fields(length, command.dword(0)):
        if field.name == "SIMD8 Dispatch Enable":
            is_simd8 = bool(field.value(command.words))
        elif field.name in ("Dispatch Mode", "Dispatch Enable"):
            # the reference compares the printed value, a number with the name after it
            is_simd8 = _value_text(field, field.value(command.words)) == "SIMD8"
    return is_simd8


def _value_text(field: Field, value: int) -> str:
    for number, name in field.values:
        if number == value:
            return f"{value} ({name})"
    return str(value)


def mesh_or_task_kernel(printer: Printer, command: Command) -> None:
    """decode_mesh_task_ksp: where there are threads and a local size."""
    pointer, maximum, threads = command.values(
        "Kernel Start Pointer", "Local X Maximum", "Number of Threads in GPGPU Thread Group"
    )
    if threads and maximum:
        kernel(printer, pointer or 0, *_NAMES.get(command.group.name, _NO_NAME))
        printer.out("\n")


def fragment_kernels(printer: Printer, command: Command) -> None:
    """3DSTATE_PS, before gen7 3DSTATE_WM: the kernels of the enabled widths."""
    print_fragment_kernels(printer, command.group, command.words)


def print_fragment_kernels(printer: Printer, group: Group, words: tuple[int, ...]) -> None:
    """decode_ps_kern: up to three kernels, by width instead of by their place in hardware."""
    found = fragment_pointers(group, words, printer.database.ver)
    for width, pointer in found:
        short_name = "FS" if printer.database.ver >= 20 else _FRAGMENT[width]
        kernel(printer, pointer, short_name, f"{width} fragment shader")
    if found:
        printer.out("\n")


def interface_descriptor(printer: Printer, group: Group, words: tuple[int, ...]) -> None:
    """handle_interface_descriptor_data: kernel, samplers and binding table of a compute shader."""
    pointer, sampler, samplers_, table, entries = group.values(
        words,
        (
            "Kernel Start Pointer",
            "Sampler State Pointer",
            "Sampler Count",
            "Binding Table Pointer",
            "Binding Table Entry Count",
        ),
        group.dwords,
    )
    kernel(printer, pointer or 0, "CS", "compute shader")
    printer.out("\n")
    if samplers_:
        samplers(printer, (sampler or 0) & _M32, samplers_)
    if entries:
        binding_table(printer, (table or 0) & _M32, entries)


def interface_descriptor_load(printer: Printer, command: Command) -> None:
    """MEDIA_INTERFACE_DESCRIPTOR_LOAD: each descriptor and what it refers to."""
    descriptor = printer.database.struct("INTERFACE_DESCRIPTOR_DATA")
    if descriptor is None or not descriptor.dwords:
        return
    offset, length = command.values(
        "Interface Descriptor Data Start Address", "Interface Descriptor Total Length"
    )
    # handle_media_interface_descriptor_load reads the printed decimal as hexadecimal (mesa 25.0.7)
    size = 4 * descriptor.dwords
    count = int(str(length or 0), 16) // size
    offset = (offset or 0) & _M32
    start = address = printer.dynamic_base + offset
    if not printer.span(address, 1):
        printer.out("  interface descriptors unavailable\n")
        return
    for index in range(count):
        # handle_media_interface_descriptor_load advances the data by dwords counted as bytes, the
        # address that it prints by their size (mesa 25.0.7)
        data = printer.span(start + index * descriptor.dwords, size)
        if len(data) < size:
            return
        printer.out(f"descriptor {index}: {offset:08x}\n")
        printer.print_group(descriptor, address, data)
        words = tuple(int.from_bytes(data[at : at + 4], "little") for at in range(0, size, 4))
        interface_descriptor(printer, descriptor, words)
        address += size


def compute_walker(printer: Printer, command: Command) -> None:
    """COMPUTE_WALKER, EXECUTE_INDIRECT_DISPATCH: the interface descriptor inside the body."""
    length = command.group.length_of(command.dword(0))
    _walk_body(printer, command.group, command.words, length, 0)


def _walk_body(
    printer: Printer, group: Group, words: tuple[int, ...], length: int, depth: int
) -> None:
    for field in group.fields(length, words[0] if words else 0):
        if field.name not in ("body", "Interface Descriptor") or field.argument is None:
            continue
        inner = printer.database.struct(field.argument)
        if inner is None:
            continue
        inside = words[field.dword : field.dword + inner.dwords]
        if field.name == "Interface Descriptor":
            interface_descriptor(printer, inner, inside)
        elif depth == 0:
            # dwords after the body are not read
            _walk_body(printer, inner, inside, inner.dwords, 1)
            return
