# SPDX-License-Identifier: MIT
"""Fields of registers, packets and structures, as the language shows and reads them.

An element is a register, or a dword of a packet or structure. A packet's fields may choose the
meaning of the fields after them (a *variant*). A variant applies until the end of the packet, so
each line can be read without the lines before it.

``Vocabulary`` has the names of one generation: packets, registers, structures, as the database has
them.

A row is consecutive dwords of a packet or structure as items. An address whose halves are two
fields is one item: ``ADDR=...`` sets ADDR_LO and ADDR_HI. An address that is a field of 64 bits may
be given as these two. So a text means the same in each edition.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.pm4.reader import Packets
from cffpy.pm4asm.model import Call, FieldList, Item, Name, Number, SourceProblem, Value, is_name
from cffpy.pm4asm.values import (
    NO_LABELS,
    DwordField,
    Labels,
    Resolve,
    decode,
    encode,
    make_field,
    nearest,
    plain_field,
)
from cffpy.regdb.catalog import field_names
from cffpy.regdb.database import Database, Found, holds
from cffpy.regdb.rows import (
    ARRAY,
    BITSET,
    ENUM,
    HEX,
    INLINE_BITSET,
    INLINE_ENUM,
    NAMED_INLINE_BITSET,
    REGISTER,
    ElementRow,
)
from cffpy.regdb.spelling import base_of_halves, names_of_halves

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.row_readers import Rows

_BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)
_ENUMS = (ENUM, INLINE_ENUM)

Variants = dict[str, int]


class Element(NamedTuple):
    """One or two dwords and their fields. ``is_bitset``: each field has a name."""

    fields: tuple[DwordField, ...]
    dwords: int
    is_bitset: bool

    def holding(self, word: int, variants: Variants, database: Database) -> list[DwordField]:
        """The fields that are there in these variants, which the word's fields may change."""
        for field in self.fields:
            if field.selects and _holds(field, variants):
                _select(field, field.extract(word), variants, database)
        return [field for field in self.fields if _holds(field, variants)]


def make_element(register: Found, name: str, database: Database, variants: Variants) -> Element:
    """The element of the database; ``name`` names an element with one field."""
    row = register.type
    assert row is not None
    if row[0] not in _BITSETS:
        field = make_field(name, row, None, database, variants)
        return Element((field,), register.dwords, False)
    fields = [
        make_field(inner, kind, condition, database, variants) for inner, condition, kind in row[7]
    ]
    return Element(tuple(fields), register.dwords, True)


def row_elements(rows: Rows) -> dict[int, Element]:
    """Dword -> element, for a packet of which only rows are known."""
    elements: dict[int, Element] = {}
    for path, dword, low, width in rows:
        _, dot, name = path.rpartition(".")
        field = plain_field(name, low, low + width - 1)
        before = elements[dword].fields if dword in elements else ()
        elements[dword] = Element((*before, field), (low + width + 31) // 32, bool(dot))
    return elements


def _holds(field: DwordField, variants: Variants) -> bool:
    return field.condition is None or holds(field.condition, variants)


def _select(field: DwordField, bits: int, variants: Variants, database: Database) -> None:
    name = database.enum_name(field.selects, bits, variants)
    position = None if name is None else database.variant(field.selects, name)
    if position is not None:
        variants[field.selects] = position


def show(fields: Sequence[DwordField], word: int, labels: Labels) -> tuple[list[Item], int]:
    """The items of the fields of ``word``, and the bits that no field covers.

    Numbers that are 0 are left out, as what is not said is 0.
    """
    items = []
    covered = 0
    for field in fields:
        mask = field.mask
        if not mask & ~covered or not field.name:
            continue
        bits = (word & mask) >> field.low
        if bits or (field.kind in _ENUMS and 0 in field.names):
            items.append(Item(field.name, decode(field, bits, labels)))
            covered |= mask
    return items, word & ~covered


class Taken:
    """Items of a line that are still to be encoded, by name."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items: dict[str | int, Item] = {}
        self._seen: list[str] = []
        for item in items:
            if item.name in self._items:
                raise SourceProblem(f"{item.name} is given twice", item.column)
            self._items[item.name] = item

    def __bool__(self) -> bool:
        return bool(self._items)

    def __contains__(self, name: str | int) -> bool:
        return name in self._items

    def take(self, name: str | int) -> Item | None:
        """Remove and return the item of this name, or None."""
        if isinstance(name, str):
            self._seen.append(name)
        return self._items.pop(name, None)

    def rename(self, known: Collection[str], others: Callable[[str], Iterable[str]]) -> None:
        """Give each item whose name is not ``known`` the known one among its ``others``."""
        for name in [item for item in self._items if isinstance(item, str) and item not in known]:
            for other in others(name):
                if other in known and other not in self._items:
                    self._items[other] = self._items.pop(name)
                    break

    def places(self) -> Iterator[int]:
        """Dwords that are named by number."""
        return (name for name in self._items if isinstance(name, int))

    def unknown(self, where: str) -> SourceProblem:
        """The error for the items that are left."""
        item = next(iter(self._items.values()))
        near = nearest(item.name, self._seen) if isinstance(item.name, str) else ""
        name = f"[{item.name}]" if isinstance(item.name, int) else item.name
        return SourceProblem(f"{where} has no field {name}{near}", item.column)


def build(
    element: Element, taken: Taken, variants: Variants, database: Database, resolve: Resolve
) -> tuple[int, bool]:
    """The element's dwords from the items that are its fields; and whether there were any."""
    word = given = 0
    is_present = False
    ordered = [field for field in element.fields if field.selects]
    ordered += [field for field in element.fields if not field.selects]
    for field in ordered:
        if not field.name or not _holds(field, variants):
            continue
        item = taken.take(field.name)
        bits = 0
        if item is not None:
            is_present = True
            bits = encode(field, item.value, resolve, item.column)
            mask = field.mask
            if given & mask and (word ^ bits << field.low) & given & mask:
                message = f"{field.name} contradicts another field of the same bits"
                raise SourceProblem(message, item.column)
            word |= bits << field.low
            given |= mask
        if field.selects:
            _select(field, bits, variants, database)
    return word, is_present


def show_value(element: Element, word: int, labels: Labels) -> Value:
    """A register's value; what its fields cannot say, as a number."""
    if not element.is_bitset:
        field = element.fields[0]
        shown = decode(field, field.extract(word), labels)
        return Number("1") if shown is None else shown
    items, rest = show(element.fields, word, labels)
    return FieldList((*items, Number(f"{rest:#x}")) if rest else tuple(items))


def build_value(
    element: Element,
    value: Value,
    name: str,
    database: Database,
    variants: Variants,
    resolve: Resolve,
) -> int:
    """The dwords of a register from its value."""
    if not element.is_bitset:
        field = element.fields[0]
        return encode(field, value, resolve) << field.low
    whole = plain_field(name, 0, element.dwords * 32 - 1)
    if not isinstance(value, FieldList):
        return encode(whole, value, resolve)
    taken = Taken([item for item in value.items if isinstance(item, Item)])
    names = {field.name for field in element.fields}
    taken.rename(names, partial(database.other_fields, name))
    word, _ = build(element, taken, dict(variants), database, resolve)
    if taken:
        raise taken.unknown(name)
    for item in value.items:
        if isinstance(item, Number):
            word |= encode(whole, item, resolve)
    return word


PACKET_ENUM = "adreno_pm4_type3_packets"
_OPCODES = 128
#: Dwords of a structure in memory at most.
_LARGEST_STRUCTURE = 64

#: Packets that the database may not describe, but cffpy.pm4.structs does.
_UNDESCRIBED = (
    "CP_INDIRECT_BUFFER",
    "CP_INDIRECT_BUFFER_PFD",
    "CP_SET_CTXSWITCH_IB",
    "CP_SET_CONSTANT",
    "CP_WIDE_REG_WRITE",
    "CP_IM_LOAD_IMMEDIATE",
)


class Structure:
    """A packet's payload or a structure in memory, dword by dword.

    ``entry``: the dwords of each entry where it is a list of equal entries, else 0.
    """

    def __init__(
        self,
        name: str,
        domain: str,
        database: Database,
        variants: Variants,
        entry: int,
        fixed: dict[int, Element] | None,
    ) -> None:
        """``fixed``: all that is known of it, where the database does not describe ``domain``."""
        self.name = name
        self._domain = domain
        self.entry = entry
        self.database = database
        self._variants = variants
        self._fixed = fixed
        self._elements: dict[tuple[int, tuple[tuple[str, int], ...]], Element | None] = {}

    def start(self) -> Variants:
        """The variants at its beginning."""
        return dict(self._variants)

    @property
    def is_known(self) -> bool:
        """Whether anything of it is described."""
        return self._fixed is None or bool(self._fixed)

    def element(self, position: int, variants: Variants) -> Element | None:
        """The element that begins at a dword, or None if none is described."""
        if self._fixed is not None:
            return self._fixed.get(position)
        key = position, tuple(variants.items())
        if key not in self._elements:
            self._elements[key] = self._make(position, variants)
        return self._elements[key]

    def _make(self, position: int, variants: Variants) -> Element | None:
        register = self.database.lookup(self._domain, position, variants)
        if register is None or register.type is None or not _is_start(register):
            return None
        name = str(register.parts[-1][1]) if register.parts[-1][0] == "name" else ""
        return make_element(register, "" if name.isdigit() else name, self.database, variants)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its fields, and names by which the halves of an address are known."""
        row = self.database.domain(self._domain)
        return frozenset() if row is None else field_names(row[0])

    def other_fields(self, name: str) -> tuple[str, ...]:
        """The names of a field in other installed editions."""
        return () if self._fixed is not None else self.database.other_fields(self._domain, name)

    @property
    def dwords(self) -> int:
        """The size of a structure in memory."""
        row = self.database.domain(self._domain)
        return 0 if row is None else min(_extent(row[0]), _LARGEST_STRUCTURE)


class Vocabulary:
    """All names of a generation. Look-ups by name raise SourceProblem with the nearest name."""

    def __init__(self, gpu: Gpu, database: Database) -> None:
        self.gpu = gpu
        self.database = database
        self.packets = Packets(gpu.chip)
        chip = database.variant("chip", database.chip)
        self.variants: Variants = {} if chip is None else {"chip": chip}
        self._packets = [
            database.enum_name(PACKET_ENUM, opcode, self.variants) for opcode in range(_OPCODES)
        ]
        self._opcodes: dict[str, int] = {}
        for opcode, name in enumerate(self._packets):
            if name is not None and is_name(name):
                self._opcodes.setdefault(name, opcode)
        self._structures: dict[str, Structure | None] = {}
        self._registers: dict[int, tuple[str, Element] | None] = {}
        self._offsets: dict[str, int] = {}

    # -- packets ----------------------------------------------------------------------------

    def packet_name(self, opcode: int) -> str | None:
        """The packet's name, if that name means this opcode alone."""
        name = self._packets[opcode]
        return name if name is not None and self._opcodes.get(name) == opcode else None

    def opcode(self, name: str) -> int | None:
        """The opcode of a packet, by its name in this edition or in another; or None."""
        opcode = self._opcodes.get(name)
        for other in self.database.other_values(name) if opcode is None else ():
            opcode = self._opcodes.get(other) if opcode is None else opcode
        return opcode

    def structure(self, name: str) -> Structure | None:
        """The contents of a packet or of a structure in memory; None if they are not described.

        ``name``: in this edition or in another.
        """
        if name not in self._structures:
            structure = self._make_structure(name)
            if structure is None and name not in self._opcodes:
                aliases = self.database.aliases
                others = map(self._make_structure, (*aliases.values(name), *aliases.domains(name)))
                structure = next((other for other in others if other is not None), None)
            self._structures[name] = structure
        return self._structures[name]

    def _make_structure(self, name: str) -> Structure | None:
        database, variants = self.database, self.variants
        domain = PACKET_DOMAINS.get(name, name)
        row = database.domain(domain)
        if row is None:
            if name not in self._opcodes:
                return None
            fixed = row_elements(self.packets.rows(name)) if name in _UNDESCRIBED else {}
            return Structure(name, domain, database, variants, 0, fixed)
        if name in database.register_domains:
            return None
        entry = 0
        if name == "CP_SET_DRAW_STATE":  # described with 64-bit addresses for all generations
            entry = self.packets.entry_dwords(name)
        elif len(row[0]) == 1 and row[0][0][0] == ARRAY and row[0][0][3] == 0:
            entry = int(row[0][0][5])
        return Structure(name, domain, database, variants, entry, None)

    def unknown(self, name: str) -> str:
        """``, did you mean X?`` among packets, registers and structures."""
        names = [*self._opcodes, *(name for name, _ in self.database.register_names())]
        names += self.database.domain_names()
        return nearest(name, names)

    # -- registers --------------------------------------------------------------------------

    def register(self, offset: int) -> tuple[str, Element] | None:
        """Name and element of the register that begins at an offset; its name means it alone."""
        try:
            return self._registers[offset]
        except KeyError:
            pass
        described = self.database.register(offset, self.variants)
        known = None
        if described is not None and described.type is not None and _is_start(described):
            name = "".join(_plain(part) for part in described.parts)
            words = [str(part[1]) for part in described.parts if part[0] == "name"]
            if self._offset(name) == offset and all(map(is_name, words)):
                known = name, make_element(described, name, self.database, self.variants)
        self._registers[offset] = known
        return known

    def _offset(self, name: str) -> int:
        offset = self._offsets.get(name)
        if offset is None:
            offset = self._offsets[name] = self.database.register_offset(name)
        return offset

    def named_register(self, name: str, column: int = 0) -> tuple[int, Element]:
        """Offset and element of the register of this name."""
        offset = self._offset(name)
        named = None if offset else self.database.find_named(name)
        if named is not None:
            offset = named.offset
            if not named.is_described:
                field = plain_field(named.name, 0, named.bits - 1)
                return offset, Element((field,), named.bits // 32, False)
        known = self.register(offset)
        if known is None or (not offset and known[0] != name):
            near = nearest(name, (known for known, _ in self.database.register_names()))
            raise SourceProblem(f"no register is called {name}{near}", column)
        return offset, known[1]

    def target(self, register: Name | Number) -> tuple[int, Element | None, str]:
        """Offset, element and name of the register that a line writes, by name or offset."""
        if isinstance(register, Name):
            offset, element = self.named_register(register.text, register.column)
            return offset, element, register.text
        return register.integer, None, register.text

    def register_of(self, call: Call) -> int:
        """The offset that ``reg(NAME)`` stands for."""
        return self.named_register(call.name, call.column)[0] + call.addend


def _is_start(register: Found) -> bool:
    """Whether the element begins at the dword that was looked up."""
    return register.parts[-1][0] not in ("high", "plus")


def _plain(part: tuple[object, ...]) -> str:
    kind = part[0]
    if kind == "name":
        return str(part[1])
    return "." if kind == "dot" else f"[{part[1]}]"


def _extent(elements: tuple[ElementRow, ...]) -> int:
    """Dwords up to the end of the last element; of a repeated one, one repeat."""
    end = 0
    for element in elements:
        start = element[3] if isinstance(element[3], int) else max(element[3])
        if element[0] == REGISTER:
            end = max(end, start + element[6])
        else:
            end = max(end, start + _extent(element[-1]))
    return end


#: Dwords of a row at most.
_LONGEST = 256

#: Fields that hold the size, in dwords, of what their row's address points at.
_SIZES = ("IB_SIZE", "COUNT", "DWORDS", "PREFIX_DWORDS", "ADDR_1_LEN")
#: Fields that hold the offset of a register.
_REGISTERS = ("REG", "REG0", "REG1", "DST_REG")
#: The same, by number of the dword.
_REGISTER_POSITIONS = {("CP_REG_WRITE", 1)}


class _Halves(NamedTuple):
    """The fields of consecutive dwords that hold the halves of an address."""

    low: DwordField
    high: DwordField
    #: Whether the field is the only one of its dword.
    is_low_alone: bool
    is_high_alone: bool


def _find_halves(
    structure: Structure, position: int, element: Element, low: DwordField, variants: Variants
) -> _Halves | None:
    """The halves if ``low``, a field of the dword at ``position``, is the lower one, else None."""
    if low.high != 31 or not low.name:
        return None
    above = structure.element(position + 1, variants)
    if above is None or above.dwords != 1:
        return None
    _, wanted = names_of_halves(base_of_halves(low.name))
    for field in above.fields:
        if field.name == wanted and not field.low:
            return _Halves(low, field, _is_alone(element, low), _is_alone(above, field))
    return None


def _is_alone(element: Element, field: DwordField) -> bool:
    """Whether this field is the only one in its dword."""
    return len(element.fields) == 1 and element.fields[0] is field


# -- dwords -> items -------------------------------------------------------------------------------


def show_row(
    structure: Structure, words: Sequence[int], labels: Labels, vocabulary: Vocabulary
) -> tuple[list[Item], int]:
    """The items that say ``words``, and how many of these they say; the rest is not described."""
    variants = structure.start()
    items: list[Item] = []
    position, count = 0, len(words)
    unsaid: Element | None = None
    while position < count:
        element = structure.element(position, variants)
        if element is None or position + element.dwords > count:
            break
        if element.dwords == 2:
            shown = _show_wide(element, words[position] | words[position + 1] << 32, labels)
            if not shown:
                shown = [_place(position, words), _place(position + 1, words)]
        else:
            shown, pair = _show_dword(structure, position, element, words, labels, variants)
            position += pair
        position += element.dwords
        unsaid = None if shown else element
        items += shown
    if unsaid is not None:  # else the row would end before it
        items.append(_zero(unsaid, position - 1))
    return _refined(structure, items, labels, vocabulary), position


def _show_wide(element: Element, word: int, labels: Labels) -> list[Item]:
    if element.is_bitset or not element.fields[0].name:
        return []
    field = element.fields[0]
    if word & ~field.mask:
        return []
    return [Item(field.name, decode(field, field.extract(word), labels))]


def _show_dword(
    structure: Structure,
    position: int,
    element: Element,
    words: Sequence[int],
    labels: Labels,
    variants: Variants,
) -> tuple[list[Item], int]:
    """The items of a dword, and how many further dwords they cover: 1 for an address, else 0."""
    word = words[position]
    fields = element.holding(word, variants, structure.database)
    if not element.is_bitset and not element.fields[0].name:
        return ([_place(position, words)] if word else []), 0
    if position + 1 < len(words):
        for low in fields:
            halves = _find_halves(structure, position, element, low, variants)
            if halves is not None:
                items = _show_halves(halves, fields, word, words[position + 1], labels)
                if items is not None:
                    return items, 1
    items, rest = show(fields, word, labels)
    return ([_place(position, words)] if rest else items), 0


def _show_halves(
    halves: _Halves, fields: Sequence[DwordField], first: int, second: int, labels: Labels
) -> list[Item] | None:
    """The items of two dwords that hold an address, or None if each is shown for itself.

    An address alone in its dwords is one item. One whose lower dword has other fields, too, is
    shown as ``lo(label)`` and ``hi(label)`` if it has a label.
    """
    low, high = halves.low, halves.high
    if second & ~high.mask or not halves.is_high_alone:
        return None
    address = (low.extract(first) << low.low) | high.extract(second) << 32
    if halves.is_low_alone and not first & ~low.mask:
        return [Item(base_of_halves(low.name), _address(address, labels))]
    if address not in labels:
        return None
    items, rest = show(fields, first, NO_LABELS)
    if rest:
        return None
    label = labels.name(address)
    shown = [Item(low.name, Call("lo", label)) if item.name == low.name else item for item in items]
    return [*shown, Item(high.name, Call("hi", label))]


def _address(value: int, labels: Labels) -> Value:
    return Name(labels.name(value)) if value in labels else Number(f"{value:#x}")


def _place(position: int, words: Sequence[int]) -> Item:
    return Item(position, Number(f"{words[position]:#x}"))


def _zero(element: Element, position: int) -> Item:
    """An item with the value zero: it shows only that the dword exists."""
    field = element.fields[0] if element.fields else None
    if field is None or not field.name or field.selects or field.condition is not None:
        return Item(position, Number("0x0"))
    return Item(field.name, decode(field, 0, NO_LABELS))


def _refined(
    structure: Structure, items: list[Item], labels: Labels, vocabulary: Vocabulary
) -> list[Item]:
    """The items with numbers replaced by what they are: a block's size, a register's name."""
    named = {item.value.text for item in items if isinstance(item.value, Name)}
    sizes = [(name, size) for name in named if (size := labels.size(name)) is not None]
    block = sizes[0] if len(sizes) == 1 else None
    return [
        Item(item.name, _refined_value(structure, item.name, item.value, block, vocabulary))
        if isinstance(item.value, Number)
        else item
        for item in items
    ]


def _refined_value(
    structure: Structure,
    name: str | int,
    number: Number,
    block: tuple[str, int] | None,
    vocabulary: Vocabulary,
) -> Value:
    """The value of a field. ``block``: label and dwords of the only block that its row names."""
    if number.text.startswith("-") or "." in number.text:
        return number
    if block is not None and name in _SIZES and block[1] == number.integer:
        return Call("sizeof", block[0])
    if (name in _REGISTERS or (structure.name, name) in _REGISTER_POSITIONS) and number.integer:
        register = vocabulary.register(number.integer)
        if register is not None:
            return Call("reg", register[0])
    return number


# -- items -> dwords -------------------------------------------------------------------------------


def build_row(structure: Structure, items: Sequence[Item], resolve: Resolve) -> list[int]:
    """The dwords that the items say: up to the last that an item names, or an entry's size.

    Raises SourceProblem for an item that is not a field, or whose value does not fit.
    """
    taken = Taken(items)
    taken.rename(structure.names, structure.other_fields)
    variants = structure.start()
    limit = structure.entry or _LONGEST
    words: list[int] = []
    while taken and len(words) < limit:
        position = len(words)
        given = taken.take(position)
        element = structure.element(position, variants)
        if given is not None and given.value is not None:
            word = encode(plain_field(f"[{position}]", 0, 31), given.value, resolve, given.column)
            words.append(word)
            if element is not None and element.dwords == 1:
                element.holding(word, variants, structure.database)
            continue
        if element is None:
            if not any(place > position for place in taken.places()):
                break
            words.append(0)
            continue
        address = _build_address(structure, position, element, taken, variants, resolve)
        if address is not None:
            words += address
            continue
        word, _ = build(element, taken, variants, structure.database, resolve)
        words.append(word & 0xFFFFFFFF)
        if element.dwords == 2 and position + 1 not in taken:
            words.append(word >> 32)
    if taken:
        raise taken.unknown(structure.name)
    words += [0] * (structure.entry - len(words))
    return words


def _build_address(
    structure: Structure,
    position: int,
    element: Element,
    taken: Taken,
    variants: Variants,
    resolve: Resolve,
) -> list[int] | None:
    """The dwords of an address that is written in the other form than it is described."""
    if element.dwords == 2:
        return _build_halves(element, taken, resolve)
    return _build_pair(structure, position, element, taken, variants, resolve)


def _build_pair(
    structure: Structure,
    position: int,
    element: Element,
    taken: Taken,
    variants: Variants,
    resolve: Resolve,
) -> list[int] | None:
    """The two dwords of an address that is written as one item."""
    if element.dwords != 1 or len(element.fields) != 1:
        return None
    low = element.fields[0]
    base = base_of_halves(low.name)
    if base not in taken or names_of_halves(base)[1] in taken:
        return None
    halves = _find_halves(structure, position, element, low, variants)
    if halves is None or not halves.is_high_alone:
        return None
    high = halves.high
    item = taken.take(base)
    assert item is not None
    whole = DwordField(base, low.low, 32 + high.high, low.low, HEX, 0, {}, {}, "", None, True)
    value = encode(whole, item.value, resolve, item.column) << low.low
    return [value & 0xFFFFFFFF, value >> 32]


def _build_halves(element: Element, taken: Taken, resolve: Resolve) -> list[int] | None:
    """The two dwords of a field of 64 bits that is written as two items; one if the row ends."""
    name = "" if element.is_bitset else element.fields[0].name
    halves = names_of_halves(name)
    if not name or (halves[0] not in taken and halves[1] not in taken):
        return None
    low, high = taken.take(halves[0]), taken.take(halves[1])
    whole = taken.take(name)  # the lower half of an address may have its name
    if low is not None and whole is not None:
        raise SourceProblem(f"{name} and {halves[0]} are the same bits", whole.column)
    words = [
        0 if half is None else encode(plain_field(part, 0, 31), half.value, resolve, half.column)
        for part, half in zip(halves, (low or whole, high), strict=True)
    ]
    return words if high is not None or taken else words[:1]
