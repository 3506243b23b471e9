# SPDX-License-Identifier: MIT
"""Columns of a report in little memory, and what was left out of it.

A report has tens of thousands of draws. Its document has columns, not rows (see also
``cffpy.frame.fact_columns``).
"""

from __future__ import annotations

import json
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_Value = TypeVar("_Value", bound="Hashable")

#: The index where there is no value.
NONE = -1


class Interned(Generic[_Value]):
    """Distinct values in the order in which they were first added."""

    __slots__ = ("_known", "values")

    def __init__(self) -> None:
        self._known: dict[_Value, int] = {}
        self.values: list[_Value] = []

    def add(self, value: _Value) -> int:
        """The index of a value in ``values``."""
        index = self._known.get(value)
        if index is None:
            index = self._known[value] = len(self.values)
            self.values.append(value)
        return index

    def __len__(self) -> int:
        return len(self.values)


class HexColumn:
    """A column of addresses, which are texts (``0x1f``) in the document: eight bytes each."""

    __slots__ = ("_addresses",)

    def __init__(self, addresses: array[int] | list[int]) -> None:
        self._addresses = addresses
        if isinstance(addresses, list):
            with suppress(OverflowError):  # of a buffer that ends beyond 64 bits
                self._addresses = array("Q", addresses)

    def __len__(self) -> int:
        return len(self._addresses)

    def __getitem__(self, rows: slice) -> HexColumn:
        return HexColumn(self._addresses[rows])

    def tolist(self) -> list[str]:
        """The texts."""
        return [f"{address:#x}" for address in self._addresses]


def json_text(item: object) -> str:
    """JSON without spaces, in ASCII."""
    return json.dumps(item, separators=(",", ":"))


class JsonList:
    """A list as its JSON text, which takes a fifth of the memory. ``texts``: of its items."""

    __slots__ = ("_count", "text")

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        self.text = f"[{','.join(texts)}]"

    def __len__(self) -> int:
        return self._count

    def tolist(self) -> list[Any]:
        """The list."""
        items: list[Any] = json.loads(self.text)
        return items


def plain(part: Any) -> Any:  # noqa: ANN401
    """A part of the document with lists in place of compact columns."""
    if isinstance(part, array | HexColumn | JsonList):
        return part.tolist()
    if isinstance(part, dict):
        return {name: plain(inner) for name, inner in part.items()}
    if isinstance(part, list) and part and isinstance(part[0], dict):
        return [plain(inner) for inner in part]
    return part


class Cuts:
    """What was left out of a report, as text, each line once."""

    __slots__ = ("texts",)

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        """Note that something was left out."""
        if text not in self.texts:
            self.texts.append(text)
