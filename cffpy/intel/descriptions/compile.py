# SPDX-License-Identifier: MIT
"""Model -> the rows of all generations (rows.py says what they are)."""

from __future__ import annotations

import marshal
import os
import re
from collections.abc import Mapping
from typing import Any

from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import model, rows
from cffpy.intel.descriptions.parse import parse_file
from cffpy.intel.descriptions.resolve import Known, Resolved, opcode, resolve, sorted_members

_FIXED = re.compile(r"([us])([0-9]{1,2})\.([0-9]{1,2})")
_LENGTH_FIELD = "DWord Length"


def compile_files(paths: list[str]) -> dict[str, bytes]:
    """The parts of the compiled form of these .gen files. Raises RegisterDbError."""
    files = {os.path.basename(path)[: -len(".gen")]: parse_file(path) for path in paths}
    return compile_descriptions(files)


def compile_descriptions(files: Mapping[str, model.Description]) -> dict[str, bytes]:
    """As ``compile_files``, of descriptions that are parsed already, by file name."""
    parts: dict[str, bytes] = {}
    generations: dict[str, int] = {}
    devices: dict[int, tuple[str, int]] = {}
    formats: dict[int, str] = {}
    for name in files:
        resolved = resolve(name, files)
        devices.update({one.pci_id: (one.name, one.verx10) for one in resolved.devices})
        listed = resolved.enums.get("ISL_FORMAT")
        if listed is not None and not resolved.verx10:
            formats.update({value.number: value.name for value in listed.values})
        if resolved.verx10:
            generations[resolved.name] = resolved.verx10
            parts[str(resolved.verx10)] = marshal.dumps(_generation(resolved, f"{name}.gen"))
    parts[rows.OVERVIEW] = marshal.dumps({"generations": generations})
    parts[rows.DEVICES] = marshal.dumps(devices)
    parts[rows.FORMATS] = marshal.dumps(formats)
    return parts


def _generation(resolved: Resolved, file: str) -> dict[str, Any]:
    return {
        "name": resolved.name,
        "verx10": resolved.verx10,
        "instructions": [_group(known, file) for known in resolved.in_order()],
        "structs": {name: _group(known, file) for name, known in resolved.structs.items()},
        "registers": {name: _group(known, file) for name, known in resolved.registers.items()},
        "by_offset": resolved.by_offset,
    }


def _group(known: Known, file: str) -> tuple[Any, ...]:
    group = known.group
    mask, code = opcode(group) if group.kind == "instruction" else (0, 0)
    length_bits = None
    for member in group.members:
        if isinstance(member, model.Field) and member.name == _LENGTH_FIELD:
            length_bits = (member.low, member.high)
    engines = rows.ALL_ENGINES
    if group.engines:
        engines = sum(rows.ENGINE_BITS[name] for name in set(group.engines))
    members = _members(group.members, known, mask, file)
    bias = 1 if group.bias is None else group.bias
    return (
        group.name,
        group.length,
        bias,
        engines,
        length_bits,
        mask,
        code,
        group.offset,
        marshal.dumps(members),
    )


def _members(
    members: tuple[model.Member, ...], known: Known, mask: int, file: str
) -> tuple[Any, ...]:
    built: list[tuple[Any, ...]] = []
    for member in sorted_members(members):
        if isinstance(member, model.Repeat):
            if not member.members:
                raise RegisterDbError(f"{known.name}: nothing repeats", file, member.line)
            inside = _members(member.members, known, 0, file)
            built.append((None, member.start, member.count, member.size, inside))
        else:
            built.append(_field(member, known, mask, file))
    return tuple(built)


def _field(field: model.Field, known: Known, mask: int, file: str) -> tuple[Any, ...]:
    kind, argument = _type(field, known, file)
    named = field.values
    if kind == rows.ENUM:
        named = known.enums[field.type].values
        argument = None
    values = tuple((value.number, value.name) for value in named)
    bits = 0
    if field.high < 32:
        bits = ((1 << (field.high - field.low + 1)) - 1) << field.low
    return (field.name, field.low, field.high, kind, argument, values, bool(bits & mask))


def _type(field: model.Field, known: Known, file: str) -> tuple[int, Any]:
    """Kind and argument of a type, in the order in which the reference tries them."""
    builtin = rows.BUILTIN.get(field.type)
    if builtin is not None and builtin not in (rows.MBO, rows.MBZ):
        return builtin, None
    fixed = _FIXED.fullmatch(field.type)
    if fixed is not None:
        kind = rows.UFIXED if fixed[1] == "u" else rows.SFIXED
        return kind, (int(fixed[2]), int(fixed[3]))
    if field.type in known.structs:
        return rows.STRUCT, field.type
    if field.type in known.enums:
        return rows.ENUM, None
    if builtin is not None:
        return builtin, None
    raise RegisterDbError(f"{known.name}: no such type: {field.type!r}", file, field.line)
