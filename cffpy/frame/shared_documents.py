# SPDX-License-Identifier: MIT
"""Parts of documents that several documents share: they are made once, and written once.

A part must not be changed. What writes it keeps its text with it, by the indentation.
"""

from __future__ import annotations

from typing import Any

#: Values whose parts are kept.
_MOST = 4096


class SharedList(list[Any]):
    """A list of several documents."""

    __slots__ = ("texts",)

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.texts: dict[str, str] = {}


class SharedObject(dict[str, Any]):
    """An object of several documents."""

    __slots__ = ("texts",)

    def __init__(self, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.texts: dict[str, str] = {}


class KnownParts:
    """The parts of values, as long as the same values come again."""

    def __init__(self) -> None:
        #: Identity of a value -> the value, which keeps the identity, and its part.
        self._known: dict[int, tuple[object, Any]] = {}

    def get(self, value: object) -> Any:  # noqa: ANN401
        """The part of a value; None where it is not known."""
        known = self._known.get(id(value))
        return None if known is None else known[1]

    def add(self, value: object, part: Any) -> Any:  # noqa: ANN401
        """Keep the part of a value; the shared form of it."""
        if len(self._known) >= _MOST:
            self._known.clear()
        shared = SharedList(part) if isinstance(part, list) else SharedObject(part)
        self._known[id(value)] = value, shared
        return shared
