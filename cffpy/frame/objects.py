# SPDX-License-Identifier: MIT
"""Bases of what scripts get: objects with facts, lists, dicts and selections.

Each has a short text, a table in notebooks, and errors that name what there is. ``Selection`` is a
list of draws, actions, passes or tiles from which a filter chooses.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from cffpy.errors import UnknownName, UsageError
from cffpy.frame.facts import model_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.frame.facts import Model
    from cffpy.frame.passes import Answers, Passes

_Value = TypeVar("_Value")


class ModelObject:
    """Base of objects with facts: their document, their short text, and how notebooks show them."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Its facts, as commands write them with ``--json``."""
        from cffpy.frame.faces import facts_document  # lazily: text does without

        return facts_document(self)

    def __repr__(self) -> str:
        shown = model_of(type(self))
        key = shown.key
        number = "" if key is None else f" {key.get(self)}"
        text = ", ".join(_short_facts(shown, self))
        return f"<{type(self).__name__}{number}{': ' if text else ''}{text}>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import facts_table

        return facts_table(self)


#: Facts in the short text of an object, and the characters of each.
_SHOWN_FACTS, _SHOWN_CHARACTERS = 6, 60


def _short_facts(shown: Model, owner: object) -> Iterator[str]:
    """The first facts that an object has, if they are numbers, flags or short texts."""
    left = _SHOWN_FACTS
    for fact in shown.facts:
        value = None if fact.is_key or fact.cost != "own" else fact.get(owner)
        if not left or value is None or not isinstance(value, (bool, int, float, str)):
            continue
        text = str(value)
        if isinstance(value, int) and fact.annotation.startswith("Address"):
            text = hex(value)
        if len(text) <= _SHOWN_CHARACTERS:
            left -= 1
            yield f"{fact.name} {text}"


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
        lines = [f" {item!r}," for item in self[:_SHOWN]]
        more = len(self) - _SHOWN
        return "\n".join(["[", *lines, *([f" ... and {more:,} more"] if more > 0 else []), "]"])

    def _repr_html_(self) -> str | None:
        from cffpy.frame.faces import objects_table  # lazily: only notebooks ask

        return objects_table(self)


class ByName(dict[str, _Value]):
    """A dict by name. A name that it does not have raises UnknownName, which is a KeyError."""

    #: What the names are of, for the error.
    what = "name"

    def __missing__(self, key: object) -> _Value:
        raise unknown_key(key, self, self.what)

    def __repr__(self) -> str:
        if len(self) <= _SHOWN:
            return dict.__repr__(self)
        lines = [f" {name!r}: {value!r}," for name, value in islice(self.items(), _SHOWN)]
        return "\n".join(["{", *lines, f" ... and {len(self) - _SHOWN:,} more", "}"])


class ByField(ByName[_Value]):
    """A dict by the name of a field of a packet or descriptor."""

    what = "field"


class ByStage(ByName[_Value]):
    """A dict by the name of a shader stage."""

    what = "stage that runs"


def unknown_key(key: object, known: Iterable[str], what: str) -> UnknownName:
    """The error for a key that is not ``known``; it has the names that are spelt like it."""
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(str(key), names, n=3) or names[:_NAMED]
    there = ", ".join(near) or "none"
    return UnknownName(f"there is no {what} {key}; there is: {there}")


#: What the items are. "draws": the program's draws, each once.
SelectionKind = Literal["draws", "actions", "passes", "tiles"]

_Item = TypeVar("_Item")


class Named(NamedTuple):
    """A name of a filter and its value: a bool, a number, a text, None, or a list."""

    name: str
    value: Any
    is_hex: bool = False

    @property
    def text(self) -> str:
        """The value for people: several are separated by spaces, an unknown one is "unknown"."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return " ".join(map(self._text, values))

    def _text(self, value: object) -> str:
        if value is None:
            return "unknown"
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"{value:#x}" if self.is_hex and isinstance(value, int) else str(value)


class Found(Protocol):
    """An item for which a filter holds."""

    @property
    def values(self) -> list[Named]:
        """The names of the filter and the columns, with their values."""

    @property
    def columns(self) -> list[Named]:
        """The columns only."""


class Selection(Shown[_Item]):
    """A list whose items a filter can choose from.

    ``frame``: the passes that the items belong to, which ``Passes.bind`` sets.
    """

    __slots__ = ("__weakref__", "_frame", "kind")

    def __init__(
        self, kind: SelectionKind, items: Iterable[_Item] = (), frame: Passes | None = None
    ) -> None:
        super().__init__(items)
        self.kind = kind
        self._frame = frame

    @property
    def _answers(self) -> Answers:
        answers = None if self._frame is None else self._frame.answers
        if answers is None:
            raise UsageError("the capture is closed")
        return answers

    def where(self, expression: str) -> Selection[_Item]:
        """The items for which an expression holds; ``cffpy help filter`` describes them.

        Raises FilterError, with the column, if it is wrong or has names that the GPU lacks.
        """
        chosen = self._choose(self._answers.filter(expression))
        return Selection(self.kind, (item for item, _ in chosen), self._frame)

    def _choose(
        self,
        query: Any,  # noqa: ANN401 - a Filter, which is of a layer above
        items: Iterable[_Item] | None = None,
    ) -> list[tuple[_Item, Found]]:
        """As commands use it: selects from ``items``, by default from all.

        ``query``: a ``cffpy.query.filters.Filter``.
        """
        return self._answers.choose(self.kind, self if items is None else items, query)

    def select(self, *names: str, where: str | None = None) -> list[tuple[_Item, list[Named]]]:
        """Items with the values of names, as in ``select("pass.mode", "RB_DEPTH_CNTL.ZFUNC")``.

        A text may have several names with commas. ``where``: only items for which this holds.
        Raises FilterError for names that the GPU lacks, with names that are spelt like them.
        """
        chosen = self._choose(self._answers.filter(where, ",".join(names)))
        return Shown((item, found.columns) for item, found in chosen)
