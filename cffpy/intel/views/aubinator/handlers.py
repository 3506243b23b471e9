# SPDX-License-Identifier: MIT
"""Handlers that print what follows an instruction, by its name: a table at the end.

Here are those of instructions that say where state lies, of state in the dynamic state heap
(viewports, blend, depth and stencil, scissors), of the units of gen4 and gen5, and of vertex, index
and constant buffers: rows of dwords, as floats where they look so.
"""

from __future__ import annotations

from struct import pack, unpack

from cffpy.intel.views.aubinator import kernels
from cffpy.intel.views.aubinator.context import FLOATS, VB_DATA
from cffpy.intel.views.aubinator.kernels import kernel, print_fragment_kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.intel.decoder.groups import Command, Field, Group
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

_COLUMNS = 8
_MAX_INDICES = 10
#: Bytes of one buffer that are printed; 32-bit sizes of hostile files go beyond any memory.
_MAX_BYTES = 64 << 20


def looks_like_float(word: int) -> bool:
    """Whether a dword is taken for a float: of usual size, zero, or with a short mantissa."""
    exponent = (word >> 23 & 0xFF) - 127
    return -30 <= exponent <= 30 or not word & 0xFFFF


def dword_rows(data: bytes, pitch: int, max_lines: int, floats: bool) -> str:
    """Rows of at most 8 dwords; a new one begins every ``pitch`` bytes, too.

    With pitch 0 there is an empty line first, which counts as a line; where ``max_lines`` (-1: no
    limit) cuts, an empty line follows.
    """
    size = len(data) // 4 * 4
    rows: list[str] = []
    remembered: dict[bytes, str] = {}
    most = size if max_lines < 0 else max_lines + (pitch != 0)
    for start, end in _row_bounds(size, pitch):
        if len(rows) == most:
            return "\n" * (not pitch) + "".join([f"{row}\n" for row in rows]) + "\n"
        chunk = data[start:end]
        row = remembered.get(chunk)
        if row is None:
            row = remembered[chunk] = _row(chunk, floats)
        rows.append(row)
    return ("\n" if rows and not pitch else "") + "\n".join(rows) + "\n"


def _row_bounds(size: int, pitch: int) -> Iterator[tuple[int, int]]:
    """Where rows begin and end, in bytes."""
    step = size if not pitch or pitch % 4 else pitch
    for outer in range(0, size, step or 1):
        for start in range(outer, min(outer + step, size), 4 * _COLUMNS):
            yield start, min(start + 4 * _COLUMNS, outer + step, size)


def _row(chunk: bytes, floats: bool) -> str:
    words = unpack(f"<{len(chunk) // 4}I", chunk)
    numbers = unpack(f"<{len(chunk) // 4}f", chunk)
    return " " + "".join(
        [
            f"   {_float_column(word, number)}"
            if floats and looks_like_float(word)
            else f"   0x{word:08x}"
            for word, number in zip(words, numbers, strict=True)
        ]
    )


def _float_column(word: int, number: float) -> str:
    if number != number:
        return f"{'-nan' if word >> 31 else 'nan':>8}"
    return f"{number:8.2f}"


def print_buffer(
    printer: Printer, address: int, size: int, pitch: int = 0, max_lines: int = -1
) -> None:
    """Print up to ``size`` bytes from ``address`` on."""
    data = printer.span(address, min(size & 0xFFFFFFFF, _MAX_BYTES))
    printer.out(dword_rows(data, pitch, max_lines, bool(printer.flags & FLOATS)))


def vertex_buffers(printer: Printer, command: Command) -> None:
    """handle_3dstate_vertex_buffers: each buffer's index and size, and its data where asked for."""
    state = printer.database.struct("VERTEX_BUFFER_STATE")
    if state is None:
        return
    walk = _VertexBuffer(printer)
    length = command.group.length_of(command.dword(0))
    for field in command.group.fields(length, command.dword(0)):
        if field.argument == "VERTEX_BUFFER_STATE" and not field.is_opcode:
            words = command.words[field.dword : field.dword + state.dwords]
            for inner in state.fields(state.dwords):
                walk.take(inner, inner.value(words))


class _VertexBuffer:
    """A vertex buffer while its fields are read, one after the other.

    What is printed depends on their order: where nothing is printed of a buffer, it stays ready
    while the following fields are read, and its line is printed again (mesa 25.0.7).
    """

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._address = 0
        self._is_mapped = False
        self._size = 0
        self._index = -1
        self._pitch = -1
        self._is_ready = False

    def take(self, field: Field, value: int) -> None:
        """Read a field, and print the buffer if it is complete."""
        match field.name:
            case "Vertex Buffer Index":
                self._index = value
            case "Buffer Pitch":
                self._pitch = value
            case "Buffer Starting Address":
                self._address = value & ((1 << 48) - 1)
                self._is_mapped = bool(self._printer.span(value, 1))
            case "Buffer Size":
                self._size = value
                self._is_ready = True
            case "End Address":
                self._size = value + 1 - self._address if self._covers(value) else 0
                self._is_ready = True
        if self._is_ready:
            self._print()

    def _covers(self, end: int) -> bool:
        return self._is_mapped and end >= self._address

    def _print(self) -> None:
        printer = self._printer
        printer.out(f"vertex buffer {self._index}, size {_signed(self._size)}\n")
        if not self._is_mapped:
            printer.out("  buffer contents unavailable\n")
            return
        if not self._size & 0xFFFFFFFF:
            return
        if printer.flags & VB_DATA:
            lines = printer.options.max_vertex_lines
            print_buffer(printer, self._address, self._size, self._pitch & 0xFFFFFFFF, lines)
        self._is_mapped = False
        self._size = 0
        self._index = -1
        self._pitch = -1
        self._is_ready = False


def _signed(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def index_buffer(printer: Printer, command: Command) -> None:
    """handle_3dstate_index_buffer: the first ten indices."""
    kind, address, size = command.values("Index Format", "Buffer Starting Address", "Buffer Size")
    if address is None or not printer.span(address, 1):
        printer.out("  buffer contents unavailable\n")
        return
    width = {0: 1, 1: 2, 2: 4}.get(kind or 0, 0)
    data = printer.span(address, min((size or 0) & 0xFFFFFFFF, 4 * _MAX_INDICES + 1))
    there = len(data)
    count = min(_MAX_INDICES, -(-there // width)) if width else 0
    data = data.ljust(4 * _MAX_INDICES, b"\0")
    text = ""
    if count:
        numbers = unpack(f"<{count}{'?BH?i'[width]}", data[: count * width])
        text = "".join(f"{number:3d} " for number in numbers)
    if count * width < there:
        text += "..."
    printer.out(f"{text}\n")


def constants(printer: Printer, command: Command) -> None:
    """decode_3dstate_constant: up to four buffers of the instruction's body."""
    body = printer.database.struct("3DSTATE_CONSTANT_BODY")
    for words in _bodies(command, body):
        assert body is not None
        for index in range(4):
            names = (f"Read Length[{index}]", f"Buffer[{index}]")
            length, address = body.values(words, names, body.dwords)
            if not length:
                continue
            if not printer.span(address or 0, 1):
                printer.out(f"constant buffer {index} unavailable\n")
                continue
            printer.out(f"constant buffer {index}, size {length * 32}\n")
            print_buffer(printer, address or 0, length * 32)


def all_constants(printer: Printer, command: Command) -> None:
    """decode_3dstate_constant_all: the buffers of all stages; those without memory are left out."""
    body = printer.database.struct("3DSTATE_CONSTANT_ALL_DATA")
    names = ("Constant Buffer Read Length", "Pointer To Constant Buffer")
    for index, words in enumerate(_bodies(command, body)[:4]):
        assert body is not None
        length, address = body.values(words, names, body.dwords)
        if length and printer.span(address or 0, 1):
            printer.out(f"constant buffer {index}, size {length * 32}\n")
            print_buffer(printer, address or 0, length * 32)


def _bodies(command: Command, body: Group | None) -> list[tuple[int, ...]]:
    """The dwords of the fields of an instruction whose type is the struct ``body``."""
    if body is None:
        return []
    fields = command.group.fields(command.group.length_of(command.dword(0)), command.dword(0))
    return [
        command.words[field.dword : field.dword + body.dwords]
        for field in fields
        if field.argument == body.name
    ]


def curbe_load(printer: Printer, command: Command) -> None:
    """handle_media_curbe_load: the constants of media kernels."""
    offset, length = command.values("CURBE Data Start Address", "CURBE Total Data Length")
    if length:
        address = printer.dynamic_base + (offset or 0)
        if printer.span(address, 1):
            print_buffer(printer, address, length)


def gen4_constants(printer: Printer, command: Command) -> None:
    """decode_gfx4_constant_buffer: CONSTANT_BUFFER of gen4 and gen5."""
    length, valid, address = command.values("Buffer Length", "Valid", "Buffer Starting Address")
    if not valid:
        return
    if not printer.span(address or 0, 1):
        printer.out("constant buffer unavailable\n")
        return
    size = ((length or 0) + 1) * 64
    printer.out(f"constant buffer size {size & 0xFFFFFFFF}\n")
    print_buffer(printer, address or 0, size)


STATE_HANDLERS: dict[str, Handler] = {
    "STATE_BASE_ADDRESS": state_base_address,
    "3DSTATE_BINDING_TABLE_POOL_ALLOC": binding_table_pool,
    "MEDIA_INTERFACE_DESCRIPTOR_LOAD": kernels.interface_descriptor_load,
}

HANDLERS: dict[str, Handler] = {
    "COMPUTE_WALKER": kernels.compute_walker,
    "EXECUTE_INDIRECT_DISPATCH": kernels.compute_walker,
    "MEDIA_CURBE_LOAD": curbe_load,
    "3DSTATE_VERTEX_BUFFERS": vertex_buffers,
    "3DSTATE_INDEX_BUFFER": index_buffer,
    "3DSTATE_VS": kernels.single_kernel,
    "3DSTATE_GS": kernels.single_kernel,
    "3DSTATE_DS": kernels.single_kernel,
    "3DSTATE_HS": kernels.single_kernel,
    "3DSTATE_PS": kernels.fragment_kernels,
    "3DSTATE_WM": kernels.fragment_kernels,
    "3DSTATE_MESH_SHADER": kernels.mesh_or_task_kernel,
    "3DSTATE_TASK_SHADER": kernels.mesh_or_task_kernel,
    "3DSTATE_CONSTANT_VS": constants,
    "3DSTATE_CONSTANT_GS": constants,
    "3DSTATE_CONSTANT_PS": constants,
    "3DSTATE_CONSTANT_HS": constants,
    "3DSTATE_CONSTANT_DS": constants,
    "3DSTATE_CONSTANT_ALL": all_constants,
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
    "CONSTANT_BUFFER": gen4_constants,
}
