# SPDX-License-Identifier: MIT
"""Lists and dicts that scripts get: short as text, and with errors that name what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cffpy.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable

_Value = TypeVar("_Value")

#: Items that the text of a list shows.
_SHOWN = 10

#: Names that an error lists, where none is spelt like the wrong one.
_NAMED = 12


class Shown(list[_Value]):
    """A list whose text has its first items, a line each, and how many more there are."""

    __slots__ = ()

    def __repr__(self) -> str:
        if len(self) <= 1:
            return list.__repr__(self)
        lines = [f" {one!r}," for one in self[:_SHOWN]]
        more = len(self) - _SHOWN
        return "\n".join(["[", *lines, *([f" ... and {more:,} more"] if more > 0 else []), "]"])

    def _repr_html_(self) -> str | None:
        from cffpy.frame.notebook import objects_table  # lazily: only notebooks ask

        return objects_table(self)


class Named(dict[str, _Value]):
    """A dict by name. A name that it does not have raises UnknownName, which is a KeyError."""

    #: What the names are of, for the error.
    what = "name"

    def __missing__(self, key: object) -> _Value:
        raise unknown_key(key, self, self.what)


class ByStage(Named[_Value]):
    """A dict by the name of a shader stage."""

    what = "stage that runs"


def unknown_key(key: object, known: Iterable[str], what: str) -> UnknownName:
    """The error for a key that is not ``known``; it has the names that are spelt like it."""
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(str(key), names, n=3) or names[:_NAMED]
    there = ", ".join(near) or "none"
    return UnknownName(f"there is no {what} {key}; there is: {there}")
