# SPDX-License-Identifier: MIT
"""Declarations -> the rows of all generations (rows.py says what they are).

First imports are resolved. An imported file comes first, without the items that the import names;
what the importing file defines replaces an inherited item of the same kind and name as a whole. A
field's enum is the one known where the field is declared; a field's struct is looked up by name
when it is shown.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import language, rows

_MAX_IMPORTS = 64


@dataclass(slots=True)
class Known:
    """A group, and the enums and structs that the types of its fields name."""

    group: language.Group
    enums: Mapping[str, language.Enum]
    structs: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name of the group."""
        return self.group.name


@dataclass(slots=True)
class Resolved:
    """One generation with all that it inherits, in the order of declaration."""

    name: str = ""
    verx10: int = 0
    instructions: dict[str, Known] = field(default_factory=dict)
    structs: dict[str, Known] = field(default_factory=dict)
    registers: dict[str, Known] = field(default_factory=dict)
    enums: dict[str, language.Enum] = field(default_factory=dict)
    devices: list[language.Device] = field(default_factory=list)
    #: Register offset -> name of the register that a look-up finds.
    by_offset: dict[int, str] = field(default_factory=dict)
    preferred: list[language.Prefer] = field(default_factory=list)

    def in_order(self) -> list[Known]:
        """The instructions in the order in which they are tried."""
        order = list(self.instructions)
        for prefer in self.preferred:
            if prefer.kind == "instruction" and {prefer.name, prefer.over} <= set(order):
                first, second = order.index(prefer.name), order.index(prefer.over)
                if first > second:
                    order[first], order[second] = order[second], order[first]
        return [self.instructions[name] for name in order]

    def ambiguous_instructions(self) -> Iterator[tuple[Known, Known]]:
        """Pairs that match the same dword on the same engine, in the order of look-up."""
        opcodes = [(known, *opcode(known.group)) for known in self.in_order()]
        for index, (first, mask, code) in enumerate(opcodes):
            engines = set(first.group.engines or language.ENGINES)
            for second, other_mask, other_code in opcodes[index + 1 :]:
                both = mask & other_mask
                if code & both == other_code & both and engines & set(
                    second.group.engines or language.ENGINES
                ):
                    yield first, second


def opcode(group: language.Group) -> tuple[int, int]:
    """Mask and value of the first dword that identify an instruction.

    They come from fields with a default in bits 16 to 31, up to the first field that ends in
    another dword.
    """
    mask = code = 0
    for member in sorted_members(group.members):
        if isinstance(member, language.Repeat):
            continue
        if member.high > 31:
            break
        if member.default is not None and member.low >= 16:
            mask |= ((1 << (member.high - member.low + 1)) - 1) << member.low
            code |= member.default << member.low
    return mask & 0xFFFFFFFF, code & 0xFFFFFFFF


def sorted_members(members: tuple[language.Member, ...]) -> list[language.Member]:
    """Members by their first bit; of equal ones, the one declared last comes first."""
    last_first = list(reversed(members))
    last_first.sort(key=_first_bit)
    return last_first


def _first_bit(member: language.Member) -> int:
    return member.start if isinstance(member, language.Repeat) else member.low


def resolve(name: str, files: Mapping[str, language.Description], depth: int = 0) -> Resolved:
    """The generation that the file ``name`` describes. Raises RegisterDbError."""
    if depth > _MAX_IMPORTS:
        raise RegisterDbError("imports do not end", f"{name}.gen")
    resolved = Resolved()
    for declaration in files[name].declarations:
        match declaration:
            case language.Import():
                if declaration.name not in files:
                    message = f"no such file: {declaration.name}.gen"
                    raise RegisterDbError(message, f"{name}.gen", declaration.line)
                resolved = resolve(declaration.name, files, depth + 1)
                _exclude(resolved, declaration.without)
            case language.Enum():
                resolved.enums[declaration.name] = declaration
            case language.Group():
                _add(resolved, declaration)
            case language.Device():
                resolved.devices.append(declaration)
            case language.Prefer():
                resolved.preferred.append(declaration)
                if declaration.kind == "register" and declaration.name in resolved.registers:
                    offset = resolved.registers[declaration.name].group.offset
                    assert offset is not None  # the parser makes sure
                    resolved.by_offset[offset] = declaration.name
    for declaration in files[name].declarations:
        if isinstance(declaration, language.Generation):
            resolved.name, resolved.verx10 = declaration.name, declaration.verx10
    return resolved


def _exclude(resolved: Resolved, names: tuple[str, ...]) -> None:
    for name in names:
        resolved.instructions.pop(name, None)
        resolved.structs.pop(name, None)
        resolved.enums.pop(name, None)
        register = resolved.registers.pop(name, None)
        if register is not None and register.group.offset is not None:
            resolved.by_offset.pop(register.group.offset, None)


def _add(resolved: Resolved, group: language.Group) -> None:
    types = set(_types(group.members))
    structs = frozenset(types & resolved.structs.keys())
    enums = {name: resolved.enums[name] for name in types - structs if name in resolved.enums}
    known = Known(group, enums, structs)
    if group.kind == "instruction":
        resolved.instructions.pop(group.name, None)
        resolved.instructions[group.name] = known
    elif group.kind == "struct":
        resolved.structs[group.name] = known
    else:
        resolved.registers[group.name] = known
        assert group.offset is not None  # the parser makes sure
        resolved.by_offset[group.offset] = group.name


def _types(members: tuple[language.Member, ...]) -> Iterator[str]:
    for member in members:
        if isinstance(member, language.Repeat):
            yield from _types(member.members)
        else:
            yield member.type


_FIXED = re.compile(r"([us])([0-9]{1,2})\.([0-9]{1,2})")
_LENGTH_FIELD = "DWord Length"


def compile_files(paths: list[str]) -> dict[str, bytes]:
    """The parts of the compiled form of these .gen files. Raises RegisterDbError."""
    return compile_descriptions(language.LANGUAGE.parse_files(paths))


def compile_descriptions(files: Mapping[str, language.Description]) -> dict[str, bytes]:
    """As ``compile_files``, of descriptions that are parsed already, by file name."""
    parts: dict[str, bytes] = {}
    generations: dict[str, int] = {}
    devices: dict[int, tuple[str, int]] = {}
    formats: dict[int, str] = {}
    for name in files:
        resolved = resolve(name, files)
        devices.update({device.pci_id: (device.name, device.verx10) for device in resolved.devices})
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
        if isinstance(member, language.Field) and member.name == _LENGTH_FIELD:
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
    members: tuple[language.Member, ...], known: Known, mask: int, file: str
) -> tuple[Any, ...]:
    built: list[tuple[Any, ...]] = []
    for member in sorted_members(members):
        if isinstance(member, language.Repeat):
            if not member.members:
                raise RegisterDbError(f"{known.name}: nothing repeats", file, member.line)
            inside = _members(member.members, known, 0, file)
            built.append((None, member.start, member.count, member.size, inside))
        else:
            built.append(_field(member, known, mask, file))
    return tuple(built)


def _field(field: language.Field, known: Known, mask: int, file: str) -> tuple[Any, ...]:
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


def _type(field: language.Field, known: Known, file: str) -> tuple[int, Any]:
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
