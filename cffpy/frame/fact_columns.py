# SPDX-License-Identifier: MIT
"""Documents of many objects by columns: for each fact the values of all objects.

A column goes by the name of the fact. The parts of an object within are columns of their own,
``place.gpuaddr``, as filters name them; lists stay whole. A column is the list of its values or,
where few values repeat, an object: ``values`` has each value once, ``index`` the place there of the
value of each row.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from cffpy.frame.faces import (
    KnownParts,
    chosen_facts,
    converter,
    form_of,
    property_schema,
    reader_of_all,
    shown_name,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from cffpy.frame.facts import Fact, Model

    Make = Callable[[Any], Any]
    _Extend = Callable[[Sequence[Any]], None]


#: Objects whose values are added to columns at once.
_ROWS = 512


class ValueColumn:
    """A column of JSON values."""

    __slots__ = ("_index", "_known", "_rows", "_values")

    def __init__(self) -> None:
        #: What tells that two values are equal -> the index of the value.
        self._known: dict[Hashable, int] = {}
        #: The distinct values in the order in which they were first added; of each row its index.
        self._values: list[Any] = []
        self._index = array("I")
        #: The values of all rows, where too many are distinct.
        self._rows: list[Any] | None = None

    def append(self, value: Hashable) -> None:
        """Add a row with a number, a text or None."""
        number = self._known.get(value)
        if number is None:
            number = self._number(value, value, None)
        self._index.append(number)

    def append_made(self, key: Hashable, make: Callable[[], Any]) -> None:
        """Add a row whose value is made by the first one with this key; equal values are one."""
        number = self._known.get(key)
        if number is None:
            number = self._number(key, key, lambda _key: make())
        self._index.append(number)

    def extend(
        self,
        values: Sequence[Any],
        keys: Sequence[Hashable] | None = None,
        make: Make | None = None,
    ) -> None:
        """Add rows; after that, ``append`` is not used.

        ``keys``: by which values are known; without them, values are numbers and texts.

        ``make``: makes the JSON value of the first value with a key, and of None None.
        """
        keys = values if keys is None else keys
        if self._rows is not None:
            self._rows.extend(values if make is None else map(make, values))
            return
        numbers = [*map(self._known.get, keys)]
        if None in numbers:
            numbers = [
                self._number(key, value, make) for key, value in zip(keys, values, strict=True)
            ]
        self._index.extend(numbers)  # type: ignore[arg-type]
        if len(self._index) >= _ROWS and 2 * len(self._values) > len(self._index):
            self._rows = [self._values[number] for number in self._index]
            self._known.clear()

    def _number(self, key: Hashable, value: Any, make: Make | None) -> int:  # noqa: ANN401
        """The index of a value, which is added if it is new."""
        number = self._known.get(key)
        if number is not None:
            return number
        if make is not None:
            value = make(value)
            text = json.dumps(value)
            number = self._known.get(text)
        if number is None:
            number = len(self._values)
            self._values.append(value)
            if make is not None:
                self._known[text] = number
        self._known[key] = number
        return number

    def to_document(self) -> list[Any] | dict[str, Any]:
        """The values, or each once with the indices, as is shorter."""
        if self._rows is not None:
            return self._rows
        if 2 * len(self._values) > len(self._index):
            return [self._values[number] for number in self._index]
        return {"values": self._values, "index": self._index}


class FactColumns:
    """Collects the facts of objects of one model."""

    def __init__(
        self, model: Model, large: tuple[str, ...] = (), without: tuple[str, ...] = ()
    ) -> None:
        """``large``, ``without``: see ``facts_document``."""
        self._columns: dict[str, ValueColumn] = {}
        self._parts = KnownParts()
        #: Keeps what columns know by identity.
        self._kept: list[object] = []
        self._model = model
        facts = chosen_facts(model, large, without)
        self._read, self._extend, self._nothing = self._group(model, "", facts)
        #: The values of objects that were added last.
        self._waiting: list[tuple[Any, ...]] = []

    def add(self, one: object) -> None:
        """Add the row of an object; None is one without values."""
        self._waiting.append(self._nothing if one is None else self._read(one))
        if len(self._waiting) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        self._extend(self._waiting)
        self._waiting.clear()

    def _group(
        self, model: Model, before: str, facts: list[Fact]
    ) -> tuple[Callable[[Any], tuple[Any, ...]], _Extend, tuple[None, ...]]:
        """What reads the facts of an object, and adds them of several; the facts of None."""
        extends = [self._extend_of(one, f"{before}{shown_name(model, one)}") for one in facts]

        def extend(rows: Sequence[tuple[Any, ...]]) -> None:
            for add, values in zip(extends, zip(*rows, strict=True), strict=bool(rows)):
                add(values)

        return reader_of_all(facts), extend, (None,) * len(facts)

    def _extend_of(self, one: Fact, name: str) -> _Extend:
        """What adds the values of a fact."""
        form = form_of(one)
        if form.kind == "object" and not (form.is_list or form.is_mapping):
            read, extend, nothing = self._group(form.parts, f"{name}.", chosen_facts(form.parts))
            return lambda values: extend([nothing if one is None else read(one) for one in values])
        column = self._columns[name] = ValueColumn()
        convert = converter(one)
        if convert is None:
            return column.extend
        if not (form.is_list or form.is_mapping):
            return lambda values: column.extend(
                [None if value is None else convert(value, None) for value in values]
            )
        parts = self._parts
        if form.model is None:

            def make(value: Any) -> Any:  # noqa: ANN401
                return None if value is None else convert(value, parts)

            return lambda values: column.extend(values, [*map(_key, values)], make)

        def make_kept(value: Any) -> Any:  # noqa: ANN401
            self._kept.append(value)
            return None if value is None else convert(value, parts)

        return lambda values: column.extend(values, [*map(_identity, values)], make_kept)

    def to_document(self) -> dict[str, Any]:
        """The documents of the columns by their names."""
        self._flush()
        return {name: column.to_document() for name, column in self._columns.items()}


def _key(values: Any) -> Hashable:  # noqa: ANN401
    """What two lists of numbers or texts have in common if they are equal."""
    return None if values is None else tuple(values)


def _identity(values: Any) -> Hashable:  # noqa: ANN401
    """The same of lists of objects, and of mappings: these very objects."""
    if isinstance(values, dict):
        return tuple((name, id(one)) for name, one in values.items())
    return None if values is None else tuple(map(id, values))


# -- schemas --------------------------------------------------------------------------------------


def column_schema(values: dict[str, Any]) -> dict[str, Any]:
    """The schema of a column, of the schema of its values."""
    once = {"description": "Each value once.", "type": "array", "items": values}
    index = {
        "description": "Of each row the number of its value in values.",
        "type": "array",
        "items": {"type": "integer", "minimum": 0},
    }
    indexed = {
        "type": "object",
        "properties": {"values": once, "index": index},
        "required": ["values", "index"],
        "additionalProperties": False,
    }
    return {"oneOf": [{"type": "array", "items": values}, indexed]}


def columns_schema(
    model: Model, definitions: dict[str, Any], large: tuple[str, ...], without: tuple[str, ...]
) -> dict[str, Any]:
    """The schemas of the columns of a model by their names; models go to ``definitions``."""
    return dict(_columns_schema(model, "", False, definitions, large, without))


def _columns_schema(
    model: Model,
    before: str,
    is_optional: bool,
    definitions: dict[str, Any],
    large: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in chosen_facts(model, large, without):
        form, name = form_of(one), f"{before}{shown_name(model, one)}"
        if form.kind == "object" and not (form.is_list or form.is_mapping):
            optional = is_optional or form.is_optional
            yield from _columns_schema(form.parts, f"{name}.", optional, definitions)
            continue
        values = {**property_schema(one, definitions)}
        del values["description"]
        if is_optional and not form.is_optional:
            values = {"anyOf": [values, {"type": "null"}]}
        yield name, {"description": told(one), **column_schema(values)}
