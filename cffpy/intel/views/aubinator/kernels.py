# SPDX-License-Identifier: MIT
"""Kernels, binding tables and samplers that instructions name.

In place of a disassembly stands a line with size and digest; kernels can be written to files.
Tables have as many entries as the reference guesses.
"""

from __future__ import annotations

import os
from struct import unpack

from cffpy.intel.decoder.kernels import fragment_pointers
from cffpy.intel.views.aubinator.context import SAMPLERS, SURFACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command, Field, Group
    from cffpy.intel.views.aubinator.context import Printer

_GUESSED = 32  # entries of a table whose length is unknown
_MAX_ENTRIES = 1 << 12
_NOT_VALID = " <not valid>"
#: Tables of one submission whose text is remembered.
_MAX_REMEMBERED = 1 << 12


def binding_table(printer: Printer, offset: int, count: int = _GUESSED) -> None:
    """dump_binding_table: ``count`` entries of the table at ``offset`` from the pool's base."""
    database = printer.database
    state = database.struct("RENDER_SURFACE_STATE")
    if state is None:
        printer.out("did not find RENDER_SURFACE_STATE info\n")
        return
    alignment, bits = 32, 16
    if database.verx10 >= 125:
        bits = 21
    elif printer.uses_256_byte_tables:
        offset = offset << 3 & 0xFFFFFFFF
        alignment, bits = 256, 19
    base = printer.pool_base or printer.surface_base
    if offset % alignment or offset >= 1 << bits:
        printer.out("  invalid binding table pointer\n")
        return
    data = printer.span(base + offset, 4 * min(count, _MAX_ENTRIES))
    if not data:
        printer.out("  binding table unavailable\n")
    elif printer.flags & SURFACES:
        _entries(printer, state, data)
    else:
        known = printer.tables
        key = (printer.surface_base, data)
        text = known.get(key)
        if text is None:
            text = _lines(printer, 4 * state.dwords, data)
            if len(known) < _MAX_REMEMBERED:
                known[key] = text
        printer.out(text)


def _entries(printer: Printer, state: Group, data: bytes) -> None:
    """Print the entries of a table, each with its surface state."""
    size = 4 * state.dwords
    for index, pointer in enumerate(_pointers(data)):
        surface = _surface(printer, pointer, size)
        printer.out(f"pointer {index}: 0x{pointer:08x}{'' if surface else _NOT_VALID}\n")
        if surface:
            printer.print_group(state, printer.surface_base + pointer, surface)


def _lines(printer: Printer, size: int, data: bytes) -> str:
    """The entries of a table whose surface states have ``size`` bytes."""
    pointers = _pointers(data)
    tails = {
        pointer: "" if _surface(printer, pointer, size) else _NOT_VALID for pointer in set(pointers)
    }
    return "".join(
        [
            f"pointer {index}: 0x{pointer:08x}{tails[pointer]}\n"
            for index, pointer in enumerate(pointers)
        ]
    )


def _pointers(data: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])


def _surface(printer: Printer, pointer: int, size: int) -> bytes:
    """The surface state of an entry; nothing where it is not valid."""
    address = printer.surface_base + pointer
    # above 48 bits an address is never inside a buffer, whose address has none
    if pointer % 32 or address >> (48 if printer.database.ver >= 8 else 64):
        return b""
    surface = printer.span(address, size)
    return b"" if len(surface) < size else surface


def samplers(printer: Printer, offset: int, count: int = 1) -> None:
    """dump_samplers: ``count`` sampler states at ``offset`` from the dynamic state base."""
    state = printer.database.struct("SAMPLER_STATE")
    if state is None or count <= 0:
        return
    address = printer.dynamic_base + offset
    size = 4 * state.dwords
    data = printer.span(address, min(count, _MAX_ENTRIES) * size + 1)
    if not data:
        printer.out("  samplers unavailable\n")
    elif offset % 32:
        printer.out("  invalid sampler state pointer\n")
    elif len(data) <= count * size:
        printer.out("  sampler state ends after bo ends\n")
    else:
        for index in range(count):
            printer.out(f"sampler state {index}\n")
            if printer.flags & SAMPLERS:
                at = index * size
                printer.print_group(state, address + at, data[at : at + size])


def table_pointers(printer: Printer, command: Command) -> None:
    """3DSTATE_BINDING_TABLE_POINTERS_*: of one stage."""
    binding_table(printer, command.dword(1))


def gen4_table_pointers(printer: Printer, command: Command) -> None:
    """3DSTATE_BINDING_TABLE_POINTERS: of all stages, up to gen6."""
    stages = ("VS", "GS", "CLIP", "SF", "PS") if printer.database.ver < 6 else ("VS", "GS", "PS")
    for number, stage in enumerate(stages, 1):
        printer.out(f"{stage} Binding Table:\n")
        binding_table(printer, command.dword(number))


def sampler_pointers(printer: Printer, command: Command) -> None:
    """3DSTATE_SAMPLER_STATE_POINTERS_*: of one stage."""
    samplers(printer, command.dword(1))


def gen6_sampler_pointers(printer: Printer, command: Command) -> None:
    """3DSTATE_SAMPLER_STATE_POINTERS: of three stages, on gen6."""
    for number in (1, 2, 3):
        samplers(printer, command.dword(number))


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
    pointers = fragment_pointers(group, words, printer.database.ver)
    for width, pointer in pointers:
        short_name = "FS" if printer.database.ver >= 20 else _FRAGMENT[width]
        kernel(printer, pointer, short_name, f"{width} fragment shader")
    if pointers:
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


#: Characters of the digest in names of files.
_DIGITS = 12


class KernelText:
    """Prints or writes each kernel that an instruction names.

    ``prints_names``: a line with address, size and SHA-256 stands in place of the disassembly.
    ``directory``: kernels are written there, once each; None writes none. ``plain_names``: files
    are called as the reference calls them, by address only, so that a later kernel replaces one.
    """

    def __init__(
        self,
        prints_names: bool = False,
        directory: str | None = None,
        plain_names: bool = False,
    ) -> None:
        self._prints_names = prints_names
        self._directory = directory
        self._plain_names = plain_names
        self._written: set[str] = set()

    def text(self, printer: Printer, short_name: str, address: int) -> str:
        """The line of a kernel, or nothing. Raises OSError where its file cannot be written."""
        if not self._prints_names and self._directory is None:
            return ""
        # lazy: only where kernels are asked for
        from hashlib import sha256

        from cffpy.intel.decoder.kernels import kernel_size

        data = printer.span(address, kernel_size(printer, address))
        digest = sha256(data).hexdigest()
        if self._directory is not None:
            self._write(self._directory, short_name, address, data, digest)
        if not self._prints_names:
            return ""
        return f"kernel {short_name} at 0x{address:08x}: {len(data)} bytes, sha256 {digest}\n"

    def _write(
        self, directory: str, short_name: str, address: int, data: bytes, digest: str
    ) -> None:
        name = f"{short_name}_0x{address:016x}"
        if not self._plain_names:
            name = f"{name}_{len(data)}_{digest[:_DIGITS]}"
        if name in self._written and not self._plain_names:
            return
        self._written.add(name)
        from cffpy.output_files import written_file

        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, f"{name}.bin")
        with written_file(path, has_guessed_name=True) as file:
            file.write(data)
