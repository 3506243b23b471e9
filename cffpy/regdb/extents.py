# SPDX-License-Identifier: MIT
"""Every single register of a domain's model, arrays unrolled, with the conditions around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from cffpy.regdb.model import Array, Condition, Element, Register, Stripe

MAX_LEAVES = 1 << 17
"""Registers of one domain that are unrolled at most; Mesa's largest domain has 2,600."""

_UNBOUNDED_REPEATS = 1


@dataclass(frozen=True, slots=True)
class Leaf:
    """One register at one place; ``offset`` in dwords from the start of the domain."""

    name: str
    offset: int
    register: Register
    conditions: tuple[Condition, ...]


def leaves(elements: Sequence[Element]) -> Iterator[Leaf]:
    """All registers; of an unbounded array the first repeat, and at most MAX_LEAVES in all."""
    return islice(_leaves(elements, "", 0, ()), MAX_LEAVES)


def _leaves(
    elements: Sequence[Element], prefix: str, base: int, around: tuple[Condition, ...]
) -> Iterator[Leaf]:
    for element in elements:
        if not _has_register(element):
            continue  # whose repeats would count without an end
        own = around if element.condition is None else (*around, element.condition)
        for index, offset in _places(element):
            match element:
                case Register():
                    yield Leaf(_name(prefix, element, index), base + offset, element, own)
                case Array():
                    inner = f"{_name(prefix, element, index)}."
                    yield from _leaves(element.elements, inner, base + offset, own)
                case Stripe():
                    yield from _leaves(element.elements, prefix, base + offset, own)


def _has_register(element: Element) -> bool:
    return isinstance(element, Register) or any(_has_register(inner) for inner in element.elements)


def _places(element: Element) -> Iterator[tuple[int, int]]:
    if isinstance(element, Array) and len(element.offsets) > 1:
        yield from enumerate(element.offsets)
        return
    start = element.offsets[0] if isinstance(element, Array) else element.offset
    for index in range(element.length or _UNBOUNDED_REPEATS):
        yield index, start + index * element.stride


def _name(prefix: str, element: Register | Array, index: int) -> str:
    repeated = isinstance(element, Array) or element.length != 1
    return f"{prefix}{element.name}[{index}]" if repeated else f"{prefix}{element.name}"
