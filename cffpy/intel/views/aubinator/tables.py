# SPDX-License-Identifier: MIT
"""Binding tables and samplers, with as many entries as the reference guesses."""

from __future__ import annotations

from struct import unpack

from cffpy.intel.views.aubinator.options import SAMPLERS, SURFACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command
    from cffpy.intel.views.aubinator.context import Printer

_GUESSED = 32  # entries of a table whose length is unknown
_MAX_ENTRIES = 1 << 12


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
        return
    size = 4 * state.dwords
    shows_surfaces = printer.flags & SURFACES
    # above 48 bits an address is never inside a buffer, whose address has none
    top = 48 if database.ver >= 8 else 64
    for index, pointer in enumerate(unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])):
        address = printer.surface_base + pointer
        surface = b"" if pointer % 32 or address >> top else printer.span(address, size)
        if len(surface) < size or not surface:
            printer.out(f"pointer {index}: 0x{pointer:08x} <not valid>\n")
            continue
        printer.out(f"pointer {index}: 0x{pointer:08x}\n")
        if shows_surfaces:
            printer.print_group(state, address, surface)


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
