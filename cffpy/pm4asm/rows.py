# SPDX-License-Identifier: MIT
"""A row of fields: consecutive dwords of a packet or structure as items, and back.

An address whose halves are two fields is one item: ``ADDR=...`` sets ADDR_LO and ADDR_HI. One that
is a field of 64 bits may be given as these two. So a text means the same in each edition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cffpy.pm4asm.elements import Element, Taken, Variants, build, show
from cffpy.pm4asm.model import Call, Item, Name, Number, SourceProblem, Value
from cffpy.pm4asm.values import NO_LABELS, DwordField, Labels, Resolve, decode, encode, plain_field
from cffpy.pm4asm.vocabulary import Structure, Vocabulary
from cffpy.regdb.rows import HEX
from cffpy.regdb.structures import base_of_halves, names_of_halves

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
