# SPDX-License-Identifier: MIT
"""Imports resolved: all instructions, structs, registers and enums of one generation.

An imported file comes first, without the items that the import names; what the importing file
defines replaces an inherited item of the same kind and name as a whole. A field's enum is the one
known where the field is declared; a field's struct is looked up by name when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import model

_MAX_IMPORTS = 64


@dataclass(slots=True)
class Known:
    """A group, and the enums and structs that the types of its fields name."""

    group: model.Group
    enums: Mapping[str, model.Enum]
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
    enums: dict[str, model.Enum] = field(default_factory=dict)
    devices: list[model.Device] = field(default_factory=list)
    #: Register offset -> name of the register that a look-up finds.
    by_offset: dict[int, str] = field(default_factory=dict)
    preferred: list[model.Prefer] = field(default_factory=list)

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
            engines = set(first.group.engines or model.ENGINES)
            for second, other_mask, other_code in opcodes[index + 1 :]:
                both = mask & other_mask
                if code & both == other_code & both and engines & set(
                    second.group.engines or model.ENGINES
                ):
                    yield first, second


def opcode(group: model.Group) -> tuple[int, int]:
    """Mask and value of the first dword that identify an instruction.

    They come from fields with a default in bits 16 to 31, up to the first field that ends in
    another dword.
    """
    mask = code = 0
    for member in sorted_members(group.members):
        if isinstance(member, model.Repeat):
            continue
        if member.high > 31:
            break
        if member.default is not None and member.low >= 16:
            mask |= ((1 << (member.high - member.low + 1)) - 1) << member.low
            code |= member.default << member.low
    return mask & 0xFFFFFFFF, code & 0xFFFFFFFF


def sorted_members(members: tuple[model.Member, ...]) -> list[model.Member]:
    """Members by their first bit; of equal ones, the one declared last comes first."""
    last_first = list(reversed(members))
    last_first.sort(key=_first_bit)
    return last_first


def _first_bit(member: model.Member) -> int:
    return member.start if isinstance(member, model.Repeat) else member.low


def resolve(name: str, files: Mapping[str, model.Description], depth: int = 0) -> Resolved:
    """The generation that the file ``name`` describes. Raises RegisterDbError."""
    if depth > _MAX_IMPORTS:
        raise RegisterDbError("imports do not end", f"{name}.gen")
    resolved = Resolved()
    for declaration in files[name].declarations:
        match declaration:
            case model.Import():
                if declaration.name not in files:
                    message = f"no such file: {declaration.name}.gen"
                    raise RegisterDbError(message, f"{name}.gen", declaration.line)
                resolved = resolve(declaration.name, files, depth + 1)
                _exclude(resolved, declaration.without)
            case model.Enum():
                resolved.enums[declaration.name] = declaration
            case model.Group():
                _add(resolved, declaration)
            case model.Device():
                resolved.devices.append(declaration)
            case model.Prefer():
                resolved.preferred.append(declaration)
                if declaration.kind == "register" and declaration.name in resolved.registers:
                    offset = resolved.registers[declaration.name].group.offset
                    assert offset is not None  # the parser makes sure
                    resolved.by_offset[offset] = declaration.name
    for declaration in files[name].declarations:
        if isinstance(declaration, model.Generation):
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


def _add(resolved: Resolved, group: model.Group) -> None:
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


def _types(members: tuple[model.Member, ...]) -> Iterator[str]:
    for member in members:
        if isinstance(member, model.Repeat):
            yield from _types(member.members)
        else:
            yield member.type
