# SPDX-License-Identifier: MIT
"""Labels: the values of names, and of functions of them, once their blocks have addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cffpy.pm4asm.model import Call, SourceProblem


class Label(NamedTuple):
    """A labelled block: its name, and its size."""

    name: str
    dwords: int


class Labels:
    """Labelled blocks by address, and their addresses by name."""

    __slots__ = ("_by_address", "_places")

    def __init__(self, by_address: Mapping[int, Label] | None = None) -> None:
        self._by_address = by_address or {}
        self._places = {label.name: address for address, label in self._by_address.items()}

    def __contains__(self, address: int) -> bool:
        return address in self._by_address

    def name(self, address: int) -> str:
        """The label of the block at this address; there must be one."""
        return self._by_address[address].name

    def size(self, name: str) -> int | None:
        """The size of a labelled block in dwords, or None."""
        address = self._places.get(name)
        return None if address is None else self._by_address[address].dwords

    def value(self, call: Call) -> int:
        """The value of a call. Raises SourceProblem if there is no such label."""
        address = self._places.get(call.name)
        if address is None:
            raise SourceProblem(f"no label {call.name}", call.column)
        return label_value(call, address, self._by_address[address].dwords)


NO_LABELS = Labels()


def label_value(call: Call, address: int, dwords: int) -> int:
    """The value of a call for a label at ``address``, whose block has ``dwords`` dwords."""
    if call.function == "sizeof":
        return dwords + call.addend
    whole = (address + call.addend) & 0xFFFFFFFFFFFFFFFF
    if call.function == "lo":
        return whole & 0xFFFFFFFF
    return whole >> 32 if call.function == "hi" else whole
