# SPDX-License-Identifier: MIT
"""What a draw or dispatch uses, as lines and as a JSON document."""

from __future__ import annotations

from fnmatch import fnmatchcase

from cffpy.frame.faces import facts_document
from cffpy.frame.places import name_of
from cffpy.intel.decoder.text import field_texts
from cffpy.intel.views.draws import describe_counts, describe_predicate, describe_what

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cffpy.intel.analysis.anv import DescriptorSet
    from cffpy.intel.analysis.draw_state import DrawState
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.surfaces import Sampler
    from cffpy.intel.decoder.database import Database

SCHEMA = "cffpy.intel-state/1"
#: Of several actions.
STATES_SCHEMA = "cffpy.intel-states/1"

#: A line where no command has set the bases.
UNKNOWN_BASES = (
    "unknown: the bases of kernels, tables and states: no STATE_BASE_ADDRESS comes before;"
    " addresses are offsets"
)


def chosen_slots(found: DrawState, names: Sequence[str]) -> list[tuple[str, Instruction]]:
    """The slots of the state whose names match any pattern, all without patterns, by name."""
    return [
        (slot, command)
        for slot, command in sorted(found.state.slots.items())
        if not names or any(_matches(slot, name) for name in names)
    ]


def chosen_registers(
    found: DrawState, names: Sequence[str]
) -> list[tuple[int, str, int | None, Instruction]]:
    """Offset, name, value and writer of the registers that match; a name may be an offset."""
    rows = []
    for offset, (value, command) in sorted(found.state.registers.items()):
        register = found.state.database.register_at(offset)
        name = "" if register is None else register.name
        if not names or any(_matches(name, one) or one == f"{offset:#x}" for one in names):
            rows.append((offset, name, value, command))
    return rows


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.upper(), pattern.upper().replace("[", "[[]"))


def lines(found: DrawState, names: Sequence[str]) -> Iterator[str]:
    """The state in lines; with ``names`` only instructions and registers that match."""
    action = found.action
    name = name_of(action) if action.number is not None else None
    title = f"action {action.order}" + (f" ({name})" if name else "")
    place = f"{action.packet} at {action.place.gpuaddr:#x}, submission {action.submit}"
    yield f"{title}: {describe_what(action)}, {place}"
    if not names:
        counts = describe_counts(action, found.uses)
        if counts:
            yield f"  {counts}"
        predicate = describe_predicate(action)
        if predicate:
            yield f"  {predicate}"
        yield from (f"  {line}" for line in uses_lines(found))
    yield "state"
    for slot, command in chosen_slots(found, names):
        yield f"  {slot}  at {command.address:#x}, submission {command.submit}"
        for field, text in field_texts(found.state.database, command.group, command.words):
            yield f"    {field} = {text}"
    registers = chosen_registers(found, names)
    if registers:
        yield "registers"
    for offset, register, value, command in registers:
        shown = "unknown" if value is None else f"{value:#010x}"
        yield f"  {offset:#07x} {register} = {shown}  by {command.name} at {command.address:#x}"


def uses_lines(found: DrawState) -> Iterator[str]:
    """Kernels, tables, samplers and buffers."""
    uses = found.uses
    if not found.state.has_bases:
        yield UNKNOWN_BASES
    for kernel in found.kernels:
        size = "not in memory" if kernel.facts is None else f"{kernel.facts.size} bytes"
        stage = f"{kernel.stage} {kernel.width}".rstrip()
        yield f"{stage} kernel at {kernel.address:#x}, {size}"
    for table in uses.tables:
        yield table.describe()
        for entry in table.entries:
            yield f"  {entry.describe()}"
    for stage in uses.missing_tables:
        yield f"{stage} table is not in memory"
    yield from _set_lines(found)
    if uses.depth is not None:
        yield f"depth {uses.depth.describe()}{', with HiZ' if uses.has_hiz else ''}"
    if uses.stencil is not None:
        yield f"stencil at {uses.stencil.address:#x}"
    yield from _buffer_lines(found)


def _set_lines(found: DrawState) -> Iterator[str]:
    """Push constants and descriptor sets."""
    for block in found.pushed:
        yield from block.lines()
    for one in found.sets:
        yield one.describe()
        for descriptor in one.descriptors:
            yield f"  {descriptor.describe()}"
        for sampler in one.samplers:
            yield f"  sampler {sampler.number} at {sampler.address:#x}: {sampler.describe()}"


def _buffer_lines(found: DrawState) -> Iterator[str]:
    """Samplers, vertex buffers and constants."""
    for sampler in found.samplers:
        where = f"{sampler.stage} sampler {sampler.number} at {sampler.address:#x}"
        yield f"{where}: {sampler.describe()}"
    for buffer in found.vertex_buffers:
        yield (
            f"vertex buffer {buffer.number} at {buffer.address:#x}, {buffer.size} bytes,"
            f" pitch {buffer.pitch}"
        )
    for constants in found.constants:
        yield (
            f"{constants.stage} constants in slot {constants.slot} at {constants.address:#x},"
            f" {constants.size} bytes"
        )


def _set_document(database: Database, one: DescriptorSet) -> dict[str, Any]:
    """A descriptor set with its samplers: those of the set, and those that records name."""
    shown = one.document()
    for descriptor, member in zip(one.descriptors, shown["descriptors"], strict=True):
        known = descriptor.sampler_state
        member["sampler_fields"] = None if known is None else _sampler_fields(database, known)
    shown["samplers"] = [_sampler_document(database, sampler) for sampler in one.samplers]
    return shown


def _sampler_document(database: Database, one: Sampler) -> dict[str, Any]:
    fields = _sampler_fields(database, one)
    return {"number": one.number, "address": one.address, "fields": fields}


def _sampler_fields(database: Database, one: Sampler) -> dict[str, str]:
    return dict(field_texts(database, one.state.group, one.state.words))


def uses_document(found: DrawState) -> dict[str, Any]:
    """Kernels, tables, sets, samplers and buffers as members of a JSON document."""
    database = found.state.database
    return {
        "batch": found.uses.batch,
        "kernels": [
            {
                "stage": kernel.stage,
                "width": kernel.width,
                "address": kernel.address,
                "size": None if kernel.facts is None else kernel.facts.size,
            }
            for kernel in found.kernels
        ],
        "binding_tables": [table.document() for table in found.uses.tables],
        "missing_tables": found.uses.missing_tables,
        "descriptor_sets": [_set_document(database, one) for one in found.sets],
        "push_constants": [one.document() for one in found.pushed],
        "samplers": [
            {"stage": one.stage, **_sampler_document(database, one)} for one in found.samplers
        ],
        "vertex_buffers": [one._asdict() for one in found.vertex_buffers],
        "constants": [
            {
                "stage": one.stage,
                "slot": one.slot,
                "address": one.address,
                "size": one.size,
            }
            for one in found.constants
        ],
    }


def document(found: DrawState, names: Sequence[str]) -> dict[str, Any]:
    """The state as a JSON document."""
    database = found.state.database
    return {
        "action": facts_document(found.action),
        "has_bases": found.state.has_bases,
        **uses_document(found),
        "state": {
            slot: {
                "address": command.address,
                "submit": command.submit,
                "batch": command.batch,
                "fields": dict(field_texts(database, command.group, command.words)),
            }
            for slot, command in chosen_slots(found, names)
        },
        "registers": [
            {
                "offset": offset,
                "name": register,
                "value": value,
                "address": command.address,
                "submit": command.submit,
            }
            for offset, register, value, command in chosen_registers(found, names)
        ],
    }
