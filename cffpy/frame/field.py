# SPDX-License-Identifier: MIT
"""Fields of registers, descriptors and packets."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.frame.facts import Address, described, fact

#: Texts of floats that are no number in SQL and JSON.
_NOT_FINITE = ("nan", "-nan", "inf", "-inf")


@described(
    "field",
    is_value=False,
    key="name",
    names={"text": "decoded"},
    name="name of the field",
    low="its lowest bit",
    high="its highest bit",
    text="the value as text; an enum by name",
    raw="the bits of the field, from its lowest one on",
)
class FieldValue(NamedTuple):
    """A field of a register, of a descriptor or of a packet.

    ``low`` and ``high``: of a structure of several dwords counted from its first one. ``value``: a
    bool, an int or a float, by the type; a field without a type, an address and an
    enum's number without a name are ints. Of an enum's value the name, of a shader's register
    ``r1.x``; of a float that is not finite the text.
    """

    name: str
    low: int
    high: int
    text: str
    value: bool | int | float | str
    raw: Address

    @fact()
    def number(self) -> float | None:
        """The value as a number: of a flag 1 or 0, of an enum its number; None for nan and inf."""
        if isinstance(self.value, str):
            return None if self.value in _NOT_FINITE else self.raw
        return self.value if isinstance(self.value, float) else int(self.value)
