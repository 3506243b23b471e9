# SPDX-License-Identifier: MIT
"""Binding tables and samplers, with as many entries as the reference guesses."""

from __future__ import annotations

from struct import unpack

from cffpy.intel.views.aubinator.options import SAMPLERS, SURFACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command, Group
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
