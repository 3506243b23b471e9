# SPDX-License-Identifier: MIT
"""Ports: registers that are written dword by dword, and the memory that they fill.

The descriptions say which registers these are (roles ``port``, ``pointer`` and ``reset``;
``cffpy help descriptions``). A dword behind a port is an element of it, such as
``VPC_SO_PROG[3]``. Each element has a number beyond all offsets, by which analyses keep its value
like that of a register.
"""

from __future__ import annotations

from cffpy.value_object import ValueObject

#: Roles in the descriptions.
PORT, POINTER, RESET = "port", "pointer", "reset"

#: The role of a register whose writes are commands: each has an effect of its own.
COMMAND = "command"

#: Elements of a port at most: a pointer has no more bits than 8.
MOST_ELEMENTS = 256

#: The number of the first element of a port at offset 0. Offsets have 18 bits.
_ELEMENTS = 1 << 28
#: Numbers up to this one are offsets.
LAST_OFFSET = _ELEMENTS - 1


class Port(ValueObject):
    """A port: its name, its offset, and the offset of the register with its pointer.

    ``low`` and ``high``: the bits of the pointer in that register, which a write to the port counts
    up; None: each write of the register begins at element 0. ``reset``: a mask of bits that clear
    all elements.
    """

    __slots__ = ("high", "low", "name", "offset", "pointer", "reset")

    def __init__(
        self, name: str, offset: int, pointer: int, low: int | None, high: int | None, reset: int
    ) -> None:
        self.name = name
        self.offset = offset
        self.pointer = pointer
        self.low = low
        self.high = high
        self.reset = reset

    def start(self, value: int) -> int:
        """The element that is written next after a write of ``value`` to the pointer's register."""
        if self.low is None or self.high is None:
            return 0
        return (value >> self.low & (1 << self.high - self.low + 1) - 1) % MOST_ELEMENTS

    def element(self, index: int) -> int:
        """The number of an element, which stands for an offset."""
        return _ELEMENTS | self.offset << 8 | index

    @property
    def elements(self) -> range:
        """The numbers of all elements."""
        return range(self.element(0), self.element(0) + MOST_ELEMENTS)


def split_element(number: int) -> tuple[int, int] | None:
    """The offset of a port and the index of its element; None for any other register."""
    if number < _ELEMENTS:
        return None
    return number >> 8 & (1 << 20) - 1, number & MOST_ELEMENTS - 1


def offset_of(number: int) -> int:
    """The offset of a register, of an element the port's."""
    return number if number < _ELEMENTS else number >> 8 & (1 << 20) - 1
