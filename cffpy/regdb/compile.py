# SPDX-License-Identifier: MIT
"""Model -> the compiled rows of one generation (rows.py says what they are).

What a generation declares is its root file and the imports, merged by name: values of enums, fields
of bitsets and elements of domains append. What was declared first comes first, and wins in lookups.
"""

from __future__ import annotations

import dataclasses
import marshal
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cffpy.editions.folders import source_files
from cffpy.errors import RegisterDbError
from cffpy.regdb import rows
from cffpy.regdb.language import (
    LANGUAGE,
    NO_SUBJECT,
    Array,
    Bitfield,
    Bitset,
    Condition,
    Declaration,
    Description,
    Domain,
    Element,
    Enum,
    Import,
    Register,
    Stripe,
    Type,
    Value,
)
from cffpy.regdb.rows import COMMAND, POINTER, PORT, RESET

CHIP = "chip"
"""The varset whose variants are the generations."""

_ROOT = re.compile(r"a([0-9])xx")
_CHIP = re.compile(r"A([0-9])XX")


@dataclass(slots=True)
class Merged:
    """Declarations by name, each with its parts in the order of merging."""

    root: str
    enums: dict[str, list[Enum]] = dataclasses.field(default_factory=dict)
    bitsets: dict[str, list[Bitset]] = dataclasses.field(default_factory=dict)
    domains: dict[str, list[Domain]] = dataclasses.field(default_factory=dict)

    def values(self, enum: str) -> list[Value]:
        """All values of an enum, regardless of conditions; [] for no such enum."""
        return [value for part in self.enums.get(enum, ()) for value in part.values]


def merge(files: Mapping[str, Description], root: str) -> Merged:
    """Merge the file ``root`` and all that it imports, each file once, at its first import."""
    merged = Merged(root)
    for _file, declaration in located(files, root):
        match declaration:
            case Enum():
                merged.enums.setdefault(declaration.name, []).append(declaration)
            case Bitset():
                merged.bitsets.setdefault(declaration.name, []).append(declaration)
            case Domain():
                merged.domains.setdefault(declaration.name, []).append(declaration)
    return merged


def located(files: Mapping[str, Description], root: str) -> Iterator[tuple[str, Declaration]]:
    """The declarations of ``root`` and its imports with their file, in the order of merging.

    Depth first: an import's declarations replace the import.
    """
    seen = {root}
    stack = [(root, iter(files[root].declarations))]
    while stack:
        file, declarations = stack[-1]
        declaration = next(declarations, None)
        if declaration is None:
            stack.pop()
        elif not isinstance(declaration, Import):
            yield file, declaration
        elif declaration.name not in files:
            message = f"import of '{declaration.name}', which is not there"
            raise RegisterDbError(message, f"{file}.regs", declaration.line)
        elif declaration.name not in seen:
            seen.add(declaration.name)
            stack.append((declaration.name, iter(files[declaration.name].declarations)))


def generations(files: Mapping[str, Description]) -> dict[str, str]:
    """The root file of each chip: ``{"A2XX": "a2xx", ..., "A7XX": "a6xx"}``.

    Chips are the values of the enum ``chip``; the root of chip N is the file aKxx of the largest
    K that is not above N.
    """
    roots = {int(match[1]): name for name in files if (match := _ROOT.fullmatch(name))}
    chips: dict[str, str] = {}
    for root in sorted(roots.values()):
        for value in merge(files, root).values(CHIP):
            match = _CHIP.fullmatch(value.name)
            if match is None or value.name in chips:
                continue
            below = [number for number in roots if number <= int(match[1])]
            if below:
                chips[value.name] = roots[max(below)]
    return dict(sorted(chips.items()))


def covered(condition: Condition, names: list[str]) -> int:
    """Bitmask of the positions in ``names`` that the condition's ranges cover.

    Raises KeyError with a name that a range gives and ``names`` lacks.
    """
    mask = 0
    for variants in condition.ranges:
        first = 0 if variants.first is None else _position(names, variants.first)
        last = len(names) - 1 if variants.last is None else _position(names, variants.last)
        for position in range(first, last + 1):
            mask |= 1 << position
    return mask


def _position(names: list[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise KeyError(name) from None


ELSEWHERE = -1
"""The bucket of elements that can be anywhere, for offsets without a bucket."""

_SMALL = 32
_UNBOUNDED_SPAN = 1 << 32

# An element over more buckets than this (0x40000 dwords are 16,384 of them) counts as unbounded.
_MAX_BUCKETS = 16384


def bucketed(elements: Sequence[rows.ElementRow]) -> rows.DomainRow:
    """The domain row: with buckets of 16 dwords if it has more than 32 elements."""
    if len(elements) <= _SMALL:
        return tuple(elements), None
    anywhere: list[int] = []
    buckets: dict[int, list[int]] = {}
    for index, element in enumerate(elements):
        numbers = _bucket_numbers(element)
        if numbers is None:
            anywhere.append(index)
            continue
        for number in numbers:
            buckets.setdefault(number, []).append(index)
    if anywhere:
        buckets.setdefault(ELSEWHERE, [])
    return tuple(elements), {
        number: tuple(sorted([*indices, *anywhere])) for number, indices in sorted(buckets.items())
    }


def span(elements: Sequence[rows.ElementRow]) -> int:
    """Dwords from offset 0 to the end of the elements, at least 1."""
    end = 1
    for element in elements:
        if element[0] == rows.STRIPE and element[4] == 1:
            end = max(end, element[3] + span(element[6]))
            continue
        extents = _extents(element)
        if extents is None:
            return _UNBOUNDED_SPAN
        end = max(end, *(last + 1 for _first, last in extents))
    return end


# First and last dword of each stretch that the element can cover, or None: it can be anywhere.
def _extents(element: rows.ElementRow) -> list[tuple[int, int]] | None:
    kind, _name, _condition, offset, length, stride = element[:6]
    if length == 0 or kind == rows.STRIPE:
        return None
    if kind == rows.REGISTER:
        return [(offset, offset + (length - 1) * stride + element[6] - 1)]
    if isinstance(offset, tuple):
        return [(first, first + stride - 1) for first in offset]
    return [(offset, offset + length * stride - 1)]


def _bucket_numbers(element: rows.ElementRow) -> Sequence[int] | None:
    extents = _extents(element)
    if extents is None:
        return None
    if sum((last >> 4) - (first >> 4) + 1 for first, last in extents) > _MAX_BUCKETS:
        return None
    return sorted(set(_numbers(extents)))


def _numbers(extents: Sequence[tuple[int, int]]) -> Iterator[int]:
    for first, last in extents:
        yield from range(first >> 4, (last >> 4) + 1)


BUILTIN_TYPES: Mapping[str, int] = {
    "hex": rows.HEX,
    "float": rows.FLOAT,
    "uint": rows.UINT,
    "int": rows.INT,
    "boolean": rows.BOOLEAN,
    "bitfield": rows.INLINE_BITSET,
    "enum": rows.INLINE_ENUM,
    "fixed": rows.FIXED,
    "ufixed": rows.UFIXED,
    "a3xx_regid": rows.REGID,
    "address": rows.HEX,
    "waddress": rows.HEX,
}

_MAX_TYPE_DEPTH = 16

# Chips that have some of their registers in a domain shared by generations.
_WITH_COMMON_DOMAIN = ("A2XX", "A3XX")
_COMMON_DOMAIN = "AXXX"

#: The file with the types that all files use.
_COMMON_FILE = "adreno_common"

_Context = tuple[tuple[str, int], ...]


def compile_directory(directory: str, edition: str) -> dict[str, bytes]:
    """The parts of an edition's compiled form, as store.py keeps them."""
    files = read_directory(directory)
    chips = generations(files)
    compiled = {
        chip: marshal.dumps(compile_generation(files, chip, root)) for chip, root in chips.items()
    }
    if not compiled:
        raise RegisterDbError("no generation: no file aNxx.regs with an enum 'chip'", directory)
    overview = {"edition": edition, "chips": tuple(compiled)}
    subjects = {
        rows.subjects_part(chip): marshal.dumps(compile_subjects(files, chip, root))
        for chip, root in chips.items()
    }
    blocks = {
        rows.block_part(name): marshal.dumps(compile_block(files, name, max(chips)))
        for name in _blocks(files, chips)
    }
    declared = {
        rows.declared_part(root): marshal.dumps(_Declared(merge(files, root), chip).compiled())
        for chip, root in chips.items()
    }
    overview_part = {rows.OVERVIEW: marshal.dumps(overview)}
    return {**overview_part, **declared, **compiled, **subjects, **blocks}


def read_directory(directory: str) -> dict[str, Description]:
    """The model of each file of an edition, by its name without extension."""
    return LANGUAGE.parse_files(
        [path for path in source_files(directory) if path.endswith(".regs")]
    )


def compile_generation(files: Mapping[str, Description], chip: str, root: str) -> dict[str, Any]:
    """The generation dict of ``chip``, from the file ``root`` and its imports."""
    return _Generation(merge(files, root), chip).compiled()


def compile_block(files: Mapping[str, Description], name: str, chip: str) -> dict[str, Any]:
    """The file ``name``, which no generation imports (a6xx_gmu), as a generation dict.

    ``chip`` decides what is in force. The file needs the common types, which it does not import.
    """
    imports = tuple(Import(file, 0) for file in (_COMMON_FILE, name) if file in files)
    return _Generation(merge({**files, "": Description(imports)}, ""), chip).compiled()


def _blocks(files: Mapping[str, Description], chips: Mapping[str, str]) -> list[str]:
    """The files that no generation imports and that declare domains."""
    imported = {file for root in chips.values() for file, _ in located(files, root)}
    return [
        name
        for name, description in files.items()
        if name not in imported
        and any(isinstance(declaration, Domain) for declaration in description.declarations)
    ]


def compile_subjects(
    files: Mapping[str, Description], chip: str, root: str
) -> dict[str, dict[str, rows.SubjectRow]]:
    """What the registers of ``chip`` are for: domain -> path -> row."""
    return _Generation(merge(files, root), chip).subjects()


# In the methods below a context is the conditions of everything around an item, already resolved;
# None in place of a context means that the item is dead on this chip.
class _Generation:
    def __init__(self, merged: Merged, chip: str) -> None:
        self._merged = merged
        self._chip = chip
        self._chips = [value.name for value in merged.values(CHIP)]
        if chip not in self._chips:
            raise RegisterDbError(f"the enum 'chip' has no value {chip}", f"{merged.root}.regs")
        self._positions: dict[str, tuple[list[str], list[int]]] = {}
        self._bitset_rows: dict[tuple[str, _Context], tuple[rows.FieldRow, ...]] = {}
        self._open_bitsets: list[str] = []

    def compiled(self) -> dict[str, Any]:
        root = self._merged.root.upper()
        common = self._chip in _WITH_COMMON_DOMAIN
        return {
            "chip": self._chip,
            "root": self._merged.root,
            "register_domains": (root, _COMMON_DOMAIN) if common else (root,),
            "ports": tuple(self._ports(root)),
            "commands": tuple(
                register.offset
                for register in self._registers_of(root)
                if COMMAND in register.subject.roles
            ),
            "enums": {
                name: marshal.dumps(self._enum(name))
                for name in self._merged.enums
                if self._has_enum(name)
            },
            "domains": {
                name: marshal.dumps(domain)
                for name in self._merged.domains
                if (domain := self._domain(name)) is not None
            },
        }

    def _registers_of(self, domain: str) -> list[Register]:
        return [
            element
            for part in self._merged.domains.get(domain, ())
            for element in part.elements
            if isinstance(element, Register)
            and self._within((), element.condition, element.line) is not None
        ]

    # The port of a pointer is the register behind it.
    def _ports(self, domain: str) -> Iterator[tuple[Any, ...]]:
        elements = self._registers_of(domain)
        pointers = {
            register.offset: register for register in elements if POINTER in register.subject.roles
        }
        for port in elements:
            pointer = pointers.get(port.offset - 1)
            if PORT not in port.subject.roles or pointer is None:
                continue
            fields = [*self._fields_of(pointer.type)]
            bits = [
                (bitfield.low, bitfield.high)
                for bitfield in fields
                if POINTER in bitfield.subject.roles
            ]
            low, high = bits[0] if bits else (None, None)
            reset = sum(1 << bitfield.low for bitfield in fields if RESET in bitfield.subject.roles)
            yield port.name, port.offset, pointer.offset, low, high, reset

    def subjects(self) -> dict[str, dict[str, rows.SubjectRow]]:
        subjects: dict[str, dict[str, rows.SubjectRow]] = {}
        for name, parts in self._merged.domains.items():
            table: dict[str, rows.SubjectRow] = {}
            for part in parts:
                if self._within((), part.condition, part.line) is not None:
                    self._add_subjects(part.elements, "", table)
            if table:
                subjects[name] = table
        return subjects

    # The first register of a name counts, as in look-ups.
    def _add_subjects(
        self, elements: Sequence[Element], prefix: str, table: dict[str, rows.SubjectRow]
    ) -> None:
        for element in elements:
            if self._within((), element.condition, element.line) is None:
                continue
            path = f"{prefix}{element.name or ''}"
            if not isinstance(element, Stripe):
                self._add_subject(element, path, table)
            if not isinstance(element, Register):
                has_name = isinstance(element, Array) or bool(element.name)
                self._add_subjects(element.elements, f"{path}." if has_name else prefix, table)

    def _add_subject(
        self, element: Register | Array, path: str, table: dict[str, rows.SubjectRow]
    ) -> None:
        about = element.subject
        fields: dict[str, rows.FieldSubject] = {}
        for field in self._fields_of(element.type) if isinstance(element, Register) else ():
            if field.subject != NO_SUBJECT:
                subject = field.subject
                fields.setdefault(field.name, (subject.topic, subject.derived, subject.roles))
        if fields or about != NO_SUBJECT:
            table.setdefault(path, (about.topic, about.derived, about.roles, about.engine, fields))

    def _fields_of(self, kind: Type) -> Iterable[Bitfield]:
        parts = self._merged.bitsets.get(kind.name or "", ())
        for field in (*kind.fields, *(field for part in parts for field in part.fields)):
            if self._within((), field.condition, field.line) is not None:
                yield field

    # ---- conditions

    def _within(self, context: _Context, condition: Condition | None, line: int) -> _Context | None:
        if condition is None:
            return context
        varset = condition.varset
        if varset == CHIP:
            mask = self._mask(condition, self._chips, line)
            return context if mask >> self._chips.index(self._chip) & 1 else None
        mask = self._mask(condition, self._variants(varset, line)[0], line)
        masks = dict(context)
        masks[varset] = masks.get(varset, mask) & mask
        return tuple(masks.items()) if masks[varset] else None

    # A context as rows have it: by the positions that are left on this chip. Where none of the
    # variants is, the item is still there: it is in force as long as its varset has no current
    # variant (Mesa: rnndec_varmatch).
    def _condition(self, context: _Context) -> rows.Condition:
        masks = []
        for varset, everything in context:
            kept = enumerate(self._positions[varset][1])
            mask = sum(1 << place for place, position in kept if everything >> position & 1)
            masks.append((varset, mask))
        return tuple(masks) or None

    def _mask(self, condition: Condition, names: list[str], line: int) -> int:
        try:
            return covered(condition, names)
        except KeyError as missing:
            message = f"the enum '{condition.varset}' has no value {missing.args[0]}"
            raise self._error(message, line) from None

    # All names of a varset's enum, and the positions of the names that are left on this chip.
    def _variants(self, varset: str, line: int) -> tuple[list[str], list[int]]:
        known = self._positions.get(varset)
        if known is None:
            values = self._merged.values(varset)
            if not values:
                raise self._error(f"condition on '{varset}', which is not an enum here", line)
            kept = [place for place, value in enumerate(values) if self._on_chip(value)]
            known = ([value.name for value in values], kept)
            self._positions[varset] = known
        return known

    def _on_chip(self, value: Value) -> bool:
        condition = value.condition
        if condition is None or condition.varset != CHIP:
            return True
        return self._within((), condition, value.line) is not None

    def _error(self, message: str, line: int) -> RegisterDbError:
        return RegisterDbError(f"{message} (of {self._merged.root} and its imports, line {line})")

    # ---- enums and types

    def _has_enum(self, name: str) -> bool:
        parts = self._merged.enums.get(name, ())
        return any(self._within((), part.condition, part.line) is not None for part in parts)

    def _enum(self, name: str, context: _Context = ()) -> tuple[rows.ValueRow, ...]:
        values: list[rows.ValueRow] = []
        for part in self._merged.enums[name]:
            within = self._within(context, part.condition, part.line)
            if within is not None:
                values.extend(self._values(part.values, within))
        return tuple(values)

    def _values(self, values: Iterable[Value], context: _Context) -> Iterable[rows.ValueRow]:
        for value in values:
            if not self._on_chip(value):
                continue
            within = self._within(context, value.condition, value.line)
            # A value that no variant has left keeps its position, which masks count by.
            never = ((value.condition.varset, 0),) if value.condition is not None else None
            condition = never if within is None else self._condition(within)
            yield (value.name, value.number, condition)

    def _fields(self, fields: Iterable[Bitfield], context: _Context) -> Iterable[rows.FieldRow]:
        for field in fields:
            within = self._within(context, field.condition, field.line)
            if within is not None:
                kind = self._type(field.type, field.low, field.high, within)
                yield (field.name, self._condition(within), kind)

    def _type(self, kind: Type, low: int, high: int, context: _Context) -> rows.TypeRow:
        number, name, payload = self._resolved(kind, low, high, context)
        return (number, name, low, high, kind.shr, kind.radix, kind.addvariant, payload)

    def _resolved(self, kind: Type, low: int, high: int, context: _Context) -> tuple[int, str, Any]:
        name = kind.name
        if name is None:
            if kind.fields:
                name = "bitfield"
            elif kind.values:
                name = "enum"
            elif low == high == 0:
                name = "boolean"
            else:
                name = "hex"
        elif self._has_enum(name):
            if not self._merged.enums[name][0].inline:
                return rows.ENUM, name, name
            own_values = tuple(self._values(kind.values, context))
            return rows.INLINE_ENUM, name, own_values + self._enum(name, context)
        elif name in self._merged.bitsets:
            if not self._merged.bitsets[name][0].inline:
                return rows.BITSET, name, self._bitset(name, ())
            own_fields = tuple(self._fields(kind.fields, context))
            return rows.NAMED_INLINE_BITSET, name, own_fields + self._bitset(name, context)
        number = BUILTIN_TYPES.get(name, rows.HEX)
        if number == rows.INLINE_BITSET:
            return number, name, tuple(self._fields(kind.fields, context))
        if number == rows.INLINE_ENUM:
            return number, name, tuple(self._values(kind.values, context))
        return number, name, None

    def _bitset(self, name: str, context: _Context) -> tuple[rows.FieldRow, ...]:
        key = (name, context)
        known = self._bitset_rows.get(key)
        if known is not None:
            return known
        parts = self._merged.bitsets[name]
        if name in self._open_bitsets or len(self._open_bitsets) >= _MAX_TYPE_DEPTH:
            chain = " -> ".join([*self._open_bitsets, name])
            raise self._error(f"bitsets in themselves or too deep: {chain}", parts[0].line)
        self._open_bitsets.append(name)
        fields: list[rows.FieldRow] = []
        for part in parts:
            within = self._within(context, part.condition, part.line)
            if within is not None:
                fields.extend(self._fields(part.fields, within))
        self._open_bitsets.pop()
        self._bitset_rows[key] = tuple(fields)
        return self._bitset_rows[key]

    # ---- domains

    def _domain(self, name: str) -> rows.DomainRow | None:
        elements: list[rows.ElementRow] = []
        alive = False
        for part in self._merged.domains[name]:
            within = self._within((), part.condition, part.line)
            if within is not None:
                alive = True
                elements.extend(self._elements(part.elements, within))
        return bucketed(elements) if alive else None

    def _elements(self, elements: Sequence[Element], context: _Context) -> list[rows.ElementRow]:
        built = []
        for element in elements:
            within = self._within(context, element.condition, element.line)
            if within is None:
                continue
            match element:
                case Register():
                    built.append(self._register(element, within))
                case Array():
                    built.append(self._array(element, within))
                case Stripe():
                    inside = tuple(self._elements(element.elements, within))
                    stride = self._stride(element, inside)
                    place = (element.offset, element.length, stride)
                    condition = self._condition(within)
                    built.append((rows.STRIPE, element.name, condition, *place, inside))
        return built

    def _register(self, register: Register, context: _Context) -> rows.ElementRow:
        dwords = register.width // 32
        low, high = (0, register.width - 1) if register.bits is None else register.bits
        return (
            rows.REGISTER,
            register.name,
            self._condition(context),
            register.offset,
            register.length,
            register.stride or dwords,
            dwords,
            self._type(register.type, low, high, context),
            register.usage,
        )

    def _array(self, array: Array, context: _Context) -> rows.ElementRow:
        inside = tuple(self._elements(array.elements, context))
        return (
            rows.ARRAY,
            array.name,
            self._condition(context),
            array.offsets if len(array.offsets) > 1 else array.offsets[0],
            array.length,
            self._stride(array, inside),
            array.index,
            inside,
        )

    # Without a stride, one repeat is as wide as its elements.
    def _stride(self, repeated: Array | Stripe, inside: Sequence[rows.ElementRow]) -> int:
        if repeated.stride:
            return repeated.stride
        if repeated.length != 1 and not (isinstance(repeated, Array) and len(repeated.offsets) > 1):
            raise self._error(f"'{repeated.name}' is repeated, but has no stride", repeated.line)
        return span(inside)


class _Declared(_Generation):
    """A generation without its conditions: everything is in force."""

    def _within(self, context: _Context, condition: Condition | None, line: int) -> _Context:
        return context

    def _on_chip(self, value: Value) -> bool:
        return True
