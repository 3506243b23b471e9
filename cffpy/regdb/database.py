# SPDX-License-Identifier: MIT
"""Looks up registers, packet fields and enum values of one generation in its compiled form.

A look-up walks the description in declaration order and takes the first element that covers the
offset and whose conditions hold: what is declared first wins.
"""

from __future__ import annotations

import marshal

from cffpy.c_numbers import c_number
from cffpy.errors import RegisterDbError
from cffpy.regdb.rows import (
    ARRAY,
    BITSETS,
    MOST_ELEMENTS,
    REGISTER,
    STRIPE,
    Condition,
    DomainRow,
    ElementRow,
    Port,
    TypeRow,
    ValueRow,
    split_element,
)
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from cffpy.regdb.aliases import Aliases

    #: Current variant (its position in the varset's enum) of each varset that has one.
    Variants = Mapping[str, int]
    #: A part of a register's name: ("name", text), ("index", number, enum name or None), ("dot",),
    #: ("high",) for the upper half of an address, ("plus", dwords) for any other offset inside it.
    NamePart = tuple[Any, ...]


class Found(ValueObject):
    """What an offset means. ``type`` is None for a hole in an array; ``dwords`` is 1 or 2."""

    __slots__ = ("dwords", "parts", "type")

    def __init__(self, parts: tuple[NamePart, ...], type_row: TypeRow | None, dwords: int) -> None:
        self.parts = parts
        self.type = type_row
        self.dwords = dwords

    @property
    def name(self) -> str:
        """The plain name, e.g. ``RB_MRT[1].CONTROL``."""
        return "".join([_plain(part) for part in self.parts])

    @property
    def reference_name(self) -> str:
        """The plain name as programs of Mesa print it, e.g. ``RB_MRT[0x1].CONTROL``."""
        return "".join([_plain(part, "#x") for part in self.parts])


class NamedRegister(ValueObject):
    """What a user's name of a register means.

    ``name``: the name by which this edition knows it. ``offset`` is in dwords, ``bits`` 32 or 64.
    ``described``: offsets of the described registers that it stands for: of ``X_LO`` and ``X_HI``
    for their pair ``X``, of ``X`` for a dword of a 64-bit ``X``, else its own (``is_described``).
    """

    __slots__ = ("bits", "described", "is_described", "name", "offset")

    def __init__(
        self, name: str, offset: int, bits: int, described: tuple[int, ...], is_described: bool
    ) -> None:
        self.name = name
        self.offset = offset
        self.bits = bits
        self.described = described
        self.is_described = is_described


#: Dwords of a 64-bit register.
_WIDE = 2

#: Names of the domains of descriptors that other editions use, the nearest first.
_OTHER_NAMES = {
    "A6XX_TEX_CONST": ("A6XX_TEX_MEMOBJ", "A8XX_TEX_CONST", "A8XX_TEX_MEMOBJ"),
    "A6XX_TEX_SAMP": ("A8XX_TEX_SAMP",),
    "A6XX_UBO": ("A8XX_UBO",),
}


class Database:
    """The registers, domains and enums of one generation. Immutable but for its look-up memo."""

    def __init__(self, generation: Mapping[str, Any], directory: str | None = None) -> None:
        #: The edition's directory; None is the bundled one.
        self.directory = directory
        self.chip: str = generation["chip"]
        self.register_domains: tuple[str, ...] = generation["register_domains"]
        #: The registers that are written dword by dword, by name; few have any.
        self.ports: dict[str, Port] = {row[0]: Port(*row) for row in generation.get("ports", ())}
        #: Offsets of the registers whose writes are commands, each with an effect of its own.
        self.commands = frozenset(generation.get("commands", ()))
        self._packed_domains: Mapping[str, bytes] = generation["domains"]
        self._packed_enums: Mapping[str, bytes] = generation["enums"]
        self._domains: dict[str, DomainRow | None] = {}
        self._enums: dict[str, tuple[ValueRow, ...]] = {}
        #: Enum -> number -> its values.
        self._numbered: dict[str, dict[int | None, list[ValueRow]]] = {}
        self._registers: dict[int, Found | None] = {}
        self._offsets: dict[str, int] = {}
        self._by_name: dict[str, dict[str, list[ElementRow]]] = {}
        self._choosing: dict[str, tuple[int, ...]] = {}
        self._conditional = False
        self._aliases: Aliases | None = None

    @classmethod
    def open(cls, chip: str, directory: str | None = None) -> Database:
        """The database of ``chip`` ("A2XX" ... "A8XX"), bundled or of an edition's directory.

        What the bundled edition does not describe is taken from the first one that does. Raises
        RegisterDbError when the edition is unusable or does not know the chip.
        """
        from cffpy.regdb import store

        try:
            return cls(store.load(directory, chip), directory)
        except RegisterDbError:
            other = None if directory is not None else store.describing(chip)
            if other is None:
                raise
            return cls(store.load(other, chip), other)

    @classmethod
    def open_block(cls, file: str, domain: str, directory: str | None = None) -> Database | None:
        """The registers of ``domain`` in a file that no generation imports; None without it.

        E.g. the domain "A6XX" of "a6xx_gmu". Raises RegisterDbError as ``open``.
        """
        from cffpy.regdb import store

        row = store.load_block(directory, file)
        if row is None or domain not in row["domains"]:
            return None
        return cls({**row, "register_domains": (domain,)}, directory)

    def declared(self) -> Database:
        """What the root file and its imports declare for all generations, whatever the conditions.

        In the order of declaration, in which the reference looks names up.
        """
        from cffpy.regdb import store

        root = self.register_domains[0].lower()
        return Database(store.load_declared(self.directory, root), self.directory)

    # -- domains and enums ------------------------------------------------------------------

    def domain_names(self) -> Iterable[str]:
        """Names of all domains: register spaces, packets, memory structures."""
        return self._packed_domains.keys()

    def enum_names(self) -> Iterable[str]:
        """The names of the enums that the generation has, in the order of declaration."""
        return self._packed_enums.keys()

    def domain(self, name: str) -> DomainRow | None:
        """The domain's rows, or None where the generation has no such domain.

        ``name`` is the bundled edition's name; other editions may have another name.
        """
        if name not in self._domains:
            names = (name, *_OTHER_NAMES.get(name, ()))
            known = filter(None, map(self._packed_domains.get, names))
            packed = next(known, None)
            self._domains[name] = None if packed is None else marshal.loads(packed)
        return self._domains[name]

    def enum(self, name: str) -> tuple[ValueRow, ...]:
        """The enum's values in declaration order; empty where there is no such enum."""
        values = self._enums.get(name)
        if values is None:
            packed = self._packed_enums.get(name)
            values = self._enums[name] = () if packed is None else marshal.loads(packed)
        return values

    def variant(self, varset: str, name: str) -> int | None:
        """Position of a variant in its varset's enum, or None."""
        for position, value in enumerate(self.enum(varset)):
            if value[0] == name:
                return position
        return None

    def enum_value(self, enum: str, name: str) -> int | None:
        """The number of an enum's value by name, or None."""
        for value in self.enum(enum):
            if value[0] == name:
                return value[1]
        return None

    def enum_name(self, enum: str, number: int, variants: Variants) -> str | None:
        """The first value of the enum that has this number in the current variants, or None."""
        numbered = self._numbered.get(enum)
        if numbered is None:
            numbered = self._numbered[enum] = {}
            for row in self.enum(enum):
                numbered.setdefault(row[1], []).append(row)
        for name, _, condition in numbered.get(number, ()):
            if condition is None or holds(condition, variants):
                return name
        return None

    # -- by offset --------------------------------------------------------------------------

    def register(self, offset: int, variants: Variants) -> Found | None:
        """The register at a dword offset of the register space, or None where it is unknown.

        Also an element of a port, by its number (cffpy.regdb.rows).
        """
        try:
            return self._registers[offset]
        except KeyError:
            pass
        element = split_element(offset)
        if element is not None:
            return self._element(*element, variants)
        self._conditional = False
        match = None
        for name in self.register_domains:
            match = self.lookup(name, offset, variants)
            if match is not None:
                break
        if not self._conditional:
            self._registers[offset] = match
        return match

    def stored(self, offset: int) -> Iterable[int]:
        """What values are kept by of the register at an offset: of a port, its elements."""
        ports = (port for port in self.ports.values() if port.offset == offset)
        port = next(ports, None)
        return (offset,) if port is None else port.elements

    def _element(self, offset: int, index: int, variants: Variants) -> Found | None:
        port = self.register(offset, variants)
        if port is None:
            return None
        return Found((*port.parts, ("index", index, None)), port.type, port.dwords)

    def lookup(self, domain: str, offset: int, variants: Variants) -> Found | None:
        """The element of ``domain`` that covers the dword ``offset``, or None."""
        row = self.domain(domain)
        if row is None:
            return None
        elements, buckets = row
        if buckets is None:
            return self._match(elements, offset, variants, ())
        chosen = buckets.get(offset >> 4)
        if chosen is None:
            chosen = buckets.get(-1, ())
        return self._match([elements[index] for index in chosen], offset, variants, ())

    def depends_on_variants(self, domain: str, offset: int) -> bool:
        """True when the element at this offset may differ with varsets other than the chip."""
        self._conditional = False
        self.lookup(domain, offset, {})
        return self._conditional

    def choosing(self, domain: str) -> tuple[int, ...]:
        """The dwords of a domain with fields that choose a variant; of an array, its first entry's.

        Most domains have none.
        """
        known = self._choosing.get(domain)
        if known is None:
            row = self.domain(domain)
            offsets = () if row is None else _choosing(row[0], 0)
            known = self._choosing[domain] = tuple(sorted(set(offsets)))
        return known

    def _match(
        self,
        elements: Iterable[ElementRow],
        offset: int,
        variants: Variants,
        indices: tuple[NamePart, ...],
    ) -> Found | None:
        for element in elements:
            condition = element[2]
            if condition is not None:
                self._conditional = True
                if not holds(condition, variants):
                    continue
            kind = element[0]
            if kind == REGISTER:
                match = _match_register(element, offset, indices)
            elif kind == ARRAY:
                match = self._match_array(element, offset, variants, indices)
            else:
                match = self._match_stripe(element, offset, variants, indices)
            if match is not None:
                return match
        return None

    def _match_array(
        self, element: ElementRow, offset: int, variants: Variants, indices: tuple[NamePart, ...]
    ) -> Found | None:
        _, name, _, base, length, stride, index_enum, elements = element
        if isinstance(base, tuple):
            inside = [
                (index, offset - start)
                for index, start in enumerate(base)
                if start <= offset < start + stride
            ]
            if not inside:
                return None
            index, rest = inside[0]
        else:
            if offset < base:
                return None
            index, rest = divmod(offset - base, stride)
            if length and index >= length:
                return None
        parts: tuple[NamePart, ...] = (("name", name), *indices)
        if length != 1:
            parts = (*parts, ("index", index, index_enum))
        inner = self._match(elements, rest, variants, ())
        if inner is not None:
            return Found((*parts, ("dot",), *inner.parts), inner.type, inner.dwords)
        return Found((*parts, ("plus", rest)), None, 0)

    def _match_stripe(
        self, element: ElementRow, offset: int, variants: Variants, indices: tuple[NamePart, ...]
    ) -> Found | None:
        _, name, _, base, length, stride, elements = element
        index = 0
        while (index < length or not length) and offset >= base + stride * index:
            place: tuple[NamePart, ...] = () if length == 1 else (("index", index, None),)
            rest = offset - (base + stride * index)
            inherited = () if name else (*indices, *place)
            inner = self._match(elements, rest, variants, inherited)
            if inner is not None:
                if not name:
                    return inner
                parts = (("name", name), *indices, *place, ("dot",), *inner.parts)
                return Found(parts, inner.type, inner.dwords)
            if not stride:
                break
            index += 1
        return None

    # -- by name ----------------------------------------------------------------------------

    def register_offset(self, name: str) -> int:
        """The dword offset of a register by name, e.g. ``RB_MRT[1].CONTROL``; 0 if unknown.

        Registers depend on the chip only, so current variants are ignored.
        """
        offset = self._offsets.get(name)
        if offset is None:
            offset = 0
            for domain in self.register_domains:
                offset = offset or self.offset(domain, name, {})
            self._offsets[name] = offset
        return offset

    def find_register(self, name: str) -> int:
        """The offset of a register by a name that a user gives; see ``find_named``."""
        named = self.find_named(name)
        return 0 if named is None else named.offset

    def find_named(self, name: str) -> NamedRegister | None:
        """The register of a name that a user gives: of this edition, or of another.

        Case and the radix of indices do not matter. A name of this edition is preferred: some were
        given to other registers. The dwords of a 64-bit register ``X`` are known as ``X_LO`` and
        ``X_HI``; where the edition describes these two, ``X`` is both. ``PORT[3]`` is an element of
        a port (cffpy.regdb.rows); ``PORT`` is the register that is written.
        """
        from cffpy.regdb.spelling import folded

        name = folded(name)
        register = self._named(name)
        if register is None:
            others = map(self._named, self.other_names(name))
            register = next((other for other in others if other is not None), None)
        return register

    def other_names(self, name: str) -> tuple[str, ...]:
        """Names of a register in other installed editions."""
        others = self.aliases.registers(name)
        head, bracket, rest = name.partition("[")
        if bracket and not others:  # of a port, whose elements have no names of their own
            others = tuple(f"{other}[{rest}" for other in self.aliases.registers(head))
        return others

    def _named(self, name: str) -> NamedRegister | None:
        if self.ports and name.partition("[")[0] in self.ports:
            return self._named_element(name)
        offset = self.register_offset(name)
        if offset:
            return NamedRegister(name, offset, 32 * self._dwords(offset), (offset,), True)
        low, high = self.register_offset(f"{name}_LO"), self.register_offset(f"{name}_HI")
        if low and high == low + 1:
            return NamedRegister(name, low, 64, (low, high), False)
        base, _, half = name.rpartition("_")
        offset = self.register_offset(base) if half in ("LO", "HI") else 0
        if offset and self._dwords(offset) == _WIDE:
            return NamedRegister(name, offset + (half == "HI"), 32, (offset,), False)
        return None

    def _named_element(self, name: str) -> NamedRegister | None:
        """The element of a port; the port itself where the name has no index."""
        from cffpy.regdb.spelling import parse_index

        head, bracket, rest = name.partition("[")
        port = self.ports[head]
        if not bracket:
            return NamedRegister(name, port.offset, 32, (port.offset,), True)
        index = parse_index(rest.removesuffix("]")) if rest.endswith("]") else None
        if index is None or index >= MOST_ELEMENTS:
            return None
        element = port.element(index)
        return NamedRegister(name, element, 32, (element,), True)

    def _dwords(self, offset: int) -> int:
        """The size of the register that begins at an offset."""
        register = self.register(offset, {})
        if register is None or register.parts[-1][0] in ("high", "plus"):
            return 1
        return register.dwords

    @property
    def aliases(self) -> Aliases:
        """The names that other installed editions have for the same things."""
        if self._aliases is None:
            from cffpy.regdb.aliases import Aliases

            self._aliases = Aliases.installed()
        return self._aliases

    def other_fields(self, register: str, name: str) -> tuple[str, ...]:
        """Names of a register's field in other installed editions."""
        return self.aliases.fields(register, name)

    def other_values(self, name: str) -> tuple[str, ...]:
        """Names of an enum's value in other installed editions."""
        return self.aliases.values(name)

    def fields_called(self, register: str, field: str) -> tuple[str, ...]:
        """The names that this edition may have for a field, the first that it has counts."""
        return (field,)

    def offset(self, domain: str, name: str, variants: Variants) -> int:
        """The dword offset of a domain's element by name; 0 if there is none."""
        row = self.domain(domain)
        if row is None:
            return 0
        elements, buckets = row
        if buckets is not None:
            elements = self._elements_named(domain, name.partition("[")[0])
        offset = _find_name(elements, name, variants)
        return 0 if offset is None else offset

    def _elements_named(self, domain: str, head: str) -> tuple[ElementRow, ...]:
        """The elements of a large domain that a name may mean, in declaration order."""
        index = self._by_name.get(domain)
        if index is None:
            index = self._by_name[domain] = {}
            for element in (self.domain(domain) or ((), None))[0]:
                # the elements of a stripe are found through the stripe
                index.setdefault("" if element[0] == STRIPE else element[1], []).append(element)
        named, stripes = index.get(head, []), index.get("", [])
        if not stripes:
            return tuple(named)
        elements = (self.domain(domain) or ((), None))[0]
        wanted = {id(element) for element in (*named, *stripes)}
        return tuple(element for element in elements if id(element) in wanted)

    def register_names(self) -> Iterator[tuple[str, int]]:
        """Names and offsets of all plain registers (arrays by their first element's path)."""
        for domain in self.register_domains:
            row = self.domain(domain)
            if row is not None:
                yield from _names(row[0], "", 0)


def holds(condition: Condition, variants: Variants) -> bool:
    """True when every varset of the condition that has a current variant accepts it."""
    for varset, mask in condition or ():
        position = variants.get(varset)
        if position is not None and not mask >> position & 1:
            return False
    return True


def _choosing(elements: Iterable[ElementRow], base: int) -> Iterator[int]:
    """Offsets of the dwords with fields that choose a variant."""
    for element in elements:
        start = base + (element[3] if isinstance(element[3], int) else element[3][0])
        if element[0] != REGISTER:
            yield from _choosing(element[-1], start)
        else:
            kind = element[7]
            types = [field[2] for field in kind[7]] if kind[0] in BITSETS else [kind]
            if any(row[6] for row in types):
                yield start


def _match_register(
    element: ElementRow, offset: int, indices: tuple[NamePart, ...]
) -> Found | None:
    _, name, _, base, length, stride, dwords, type_row, _usage = element
    if offset < base:
        return None
    index, rest = divmod(offset - base, stride) if stride else (0, offset - base)
    if rest >= dwords or (length and index >= length):
        return None
    parts: tuple[NamePart, ...] = (("name", name), *indices)
    if length != 1:
        parts = (*parts, ("index", index, None))
    if rest == 1 and type_row[1] in ("address", "waddress"):
        parts = (*parts, ("high",))
    elif rest:
        parts = (*parts, ("plus", rest))
    return Found(parts, type_row, dwords)


def _find_name(elements: Iterable[ElementRow], name: str, variants: Variants) -> int | None:
    """Resolve ``NAME`` or ``NAME[index].REST``; an index after a plain register is ignored."""
    head, bracket, rest = name.partition("[")
    for element in elements:
        if element[2] is not None and not holds(element[2], variants):
            continue
        kind, offset = element[0], None
        if kind == REGISTER:
            if element[1] == head:
                return int(element[3])
        elif kind == ARRAY:
            if element[1] == head and bracket:
                offset = _find_in_array(element, rest, variants)
        elif not element[1]:
            offset = _find_name(element[6], name, variants)
        if offset is not None:
            return None if offset == _NO_SUCH_INDEX else offset
    return None


_NO_SUCH_INDEX = -1


def _find_in_array(element: ElementRow, rest: str, variants: Variants) -> int | None:
    """Resolve ``index].REST`` in an array; ``_NO_SUCH_INDEX`` if it has fewer elements."""
    index_text, _, tail = rest.partition("]")
    inner = _find_name(element[7], tail[1:], variants)
    if inner is None:
        return None
    index = c_number(index_text)
    if index < 0 or (element[4] and index >= element[4]):
        return _NO_SUCH_INDEX
    base = element[3]
    start = base[index] if isinstance(base, tuple) else base + index * element[5]
    return inner + int(start)


def _names(elements: Iterable[ElementRow], prefix: str, base: int) -> Iterator[tuple[str, int]]:
    for element in elements:
        if element[0] == REGISTER:
            yield prefix + element[1], base + element[3]
        elif element[0] == ARRAY:
            start = element[3][0] if isinstance(element[3], tuple) else element[3]
            yield from _names(element[7], f"{prefix}{element[1]}[0].", base + start)
        else:
            yield from _names(element[6], prefix, base + element[3])


def _plain(part: NamePart, form: str = "d") -> str:
    kind = part[0]
    if kind == "name":
        return str(part[1])
    if kind == "index":
        return f"[{part[1]:{form}}]" if part[1] else "[0]"
    if kind == "dot":
        return "."
    if kind == "high":
        return "_HI"
    return f"+{part[1]:#x}" if part[1] else "+0"
