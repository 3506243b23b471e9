# SPDX-License-Identifier: MIT
"""A row of fields: consecutive dwords of a packet or structure as items, and back.

An address whose halves are two fields is one item: ``ADDR=...`` stands for ADDR_LO and ADDR_HI.
"""

from __future__ import annotations

from collections.abc import Sequence

from cffpy.pm4asm.elements import Element, Taken, Variants, build, show
from cffpy.pm4asm.labels import NO_LABELS, Labels
from cffpy.pm4asm.model import Call, Item, Name, Number, Value
from cffpy.pm4asm.values import DwordField, Resolve, decode, encode, plain_field
from cffpy.pm4asm.vocabulary import Structure, Vocabulary
from cffpy.regdb.rows import HEX

#: Dwords of a row at most.
_LONGEST = 256

#: Fields that hold the size, in dwords, of what their row's address points at.
_SIZES = ("IB_SIZE", "COUNT", "DWORDS", "PREFIX_DWORDS", "ADDR_1_LEN")
#: Fields that hold the offset of a register.
_REGISTERS = ("REG", "REG0", "REG1", "DST_REG")
#: The same, by number of the dword.
_REGISTER_PLACES = {("CP_REG_WRITE", 1)}


def _pair(
    structure: Structure, position: int, low: DwordField, variants: Variants
) -> DwordField | None:
    """The field of the next dword that is the upper half of ``low``, or None."""
    if low.high != 31 or not low.name:
        return None
    above = structure.element(position + 1, variants)
    if above is None or above.dwords != 1:
        return None
    wanted = _base(low) + "_HI"
    for field in above.fields:
        if field.name == wanted and not field.low:
            return field
    return None


def _base(low: DwordField) -> str:
    return low.name.removesuffix("_LO")


def _is_alone(element: Element, field: DwordField) -> bool:
    """Whether nothing but this field is in its dword."""
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
    """Items of one dword, or of two that hold an address: then 1 is added to the position."""
    word = words[position]
    fields = element.holding(word, variants, structure.database)
    if not element.is_bitset and not element.fields[0].name:
        return ([_place(position, words)] if word else []), 0
    if position + 1 < len(words):
        for low in fields:
            high = _pair(structure, position, low, variants)
            if high is None:
                continue
            above = structure.element(position + 1, variants)
            assert above is not None
            whole = (low.extract(word) << low.low) | high.extract(words[position + 1]) << 32
            fits = not words[position + 1] & ~high.mask and not word & ~low.mask
            if fits and _is_alone(element, low) and _is_alone(above, high):
                return [Item(_base(low), _address(whole, labels))], 1
            if whole in labels and _is_alone(above, high) and not words[position + 1] & ~high.mask:
                items, rest = show(fields, word, NO_LABELS)
                if rest:
                    break
                name = labels.name(whole)
                items = [
                    Item(item.name, Call("lo", name)) if item.name == low.name else item
                    for item in items
                ]
                return [*items, Item(high.name, Call("hi", name))], 1
    items, rest = show(fields, word, labels)
    return ([_place(position, words)] if rest else items), 0


def _address(value: int, labels: Labels) -> Value:
    return Name(labels.name(value)) if value in labels else Number(f"{value:#x}")


def _place(position: int, words: Sequence[int]) -> Item:
    return Item(position, Number(f"{words[position]:#x}"))


def _zero(element: Element, position: int) -> Item:
    """An item that says nothing but that its dword is there."""
    field = element.fields[0] if element.fields else None
    if field is None or not field.name or field.selects or field.condition is not None:
        return Item(position, Number("0x0"))
    return Item(field.name, decode(field, 0, NO_LABELS))


def _refined(
    structure: Structure, items: list[Item], labels: Labels, vocabulary: Vocabulary
) -> list[Item]:
    """Sizes of labelled blocks and offsets of registers, told as such."""
    named = {item.value.text for item in items if isinstance(item.value, Name)}
    sizes = [(name, size) for name in named if (size := labels.size(name)) is not None]
    refined = []
    for item in items:
        value = item.value
        if isinstance(value, Number) and not value.text.startswith("-") and "." not in value.text:
            place = (structure.name, item.name)
            if len(sizes) == 1 and item.name in _SIZES and sizes[0][1] == value.integer:
                item = Item(item.name, Call("sizeof", sizes[0][0]))
            elif item.name in _REGISTERS or place in _REGISTER_PLACES:
                known = vocabulary.register(value.integer)
                if known is not None and value.integer:
                    item = Item(item.name, Call("reg", known[0]))
        refined.append(item)
    return refined


# -- items -> dwords -------------------------------------------------------------------------------


def build_row(structure: Structure, items: Sequence[Item], resolve: Resolve) -> list[int]:
    """The dwords that the items say: up to the last that an item names, or an entry's size.

    Raises SourceProblem for an item that is no field, or whose value does not fit.
    """
    taken = Taken(items)
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
        pair = _build_pair(structure, position, element, taken, variants, resolve)
        if pair is not None:
            words += pair
            continue
        word, _ = build(element, taken, variants, structure.database, resolve)
        words.append(word & 0xFFFFFFFF)
        if element.dwords == 2 and position + 1 not in taken:
            words.append(word >> 32)
    if taken:
        raise taken.unknown(structure.name)
    words += [0] * (structure.entry - len(words))
    return words


def _build_pair(
    structure: Structure,
    position: int,
    element: Element,
    taken: Taken,
    variants: Variants,
    resolve: Resolve,
) -> list[int] | None:
    """The two dwords of an address that is told by one item."""
    if element.dwords != 1 or len(element.fields) != 1:
        return None
    low = element.fields[0]
    base = _base(low)
    if base not in taken or f"{base}_HI" in taken:
        return None
    high = _pair(structure, position, low, variants)
    above = structure.element(position + 1, variants)
    if high is None or above is None or not _is_alone(above, high):
        return None
    item = taken.take(base)
    assert item is not None
    whole = DwordField(base, low.low, 32 + high.high, low.low, HEX, 0, {}, {}, "", None, True)
    value = encode(whole, item.value, resolve, item.column) << low.low
    return [value & 0xFFFFFFFF, value >> 32]
