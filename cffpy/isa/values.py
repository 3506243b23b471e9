# SPDX-License-Identifier: MIT
"""Value nodes of a plan (cffpy/isa/plan.py) as functions of the word; built on first use."""

from __future__ import annotations

from cffpy.isa.expression import binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    _Choice = TypeVar("_Choice")

Value: TypeAlias = "Callable[[int], int]"


class Unusual(Exception):
    """This word is one for the interpreter."""


class Values:
    """The functions of one plan's value nodes."""

    def __init__(self, nodes: tuple[tuple[Any, ...], ...]) -> None:
        self._nodes = nodes
        self._values: dict[int, Value] = {}

    def value(self, number: int) -> Value:
        """The function of a node."""
        value = self._values.get(number)
        if value is None:
            value = self._values[number] = self._make(self._nodes[number])
        return value

    def _make(self, node: tuple[Any, ...]) -> Value:
        kind = node[0]
        if kind == "int":
            constant: int = node[1]
            return lambda word: constant
        if kind == "bits":
            low, mask = node[1], node[2]
            return lambda word: word >> low & mask
        if kind == "choose":
            choices = [
                (self.value(when) if when >= 0 else None, self.value(value))
                for when, value in node[1]
            ]
            return lambda word: first(choices, word)(word)
        left = self.value(node[1])
        if kind == "!":
            return lambda word: int(not left(word))
        right = self.value(node[2])
        if kind == "&&":
            return lambda word: int(bool(left(word) and right(word)))
        if kind == "||":
            return lambda word: int(bool(left(word) or right(word)))
        function = binary(kind)
        return lambda word: function(left(word), right(word))


def first(choices: list[tuple[Value | None, _Choice]], word: int) -> _Choice:
    """The first choice whose condition holds; the last one has none."""
    for when, choice in choices:
        if when is None or when(word):
            return choice
    raise Unusual
