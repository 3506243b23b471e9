# SPDX-License-Identifier: MIT
"""What the search of a report's page has to know of names: what their values are compared as.

The page evaluates expressions itself; which words a name may be, and how a register's bits are a
number, are those of filters (cffpy.query).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cffpy.capture.gpu import STAGES
from cffpy.errors import FilterError
from cffpy.frame.faces import sentence
from cffpy.query.names import NameTable, conversion
from cffpy.query.properties import BINDING_FACTS, OWNERS, PROGRAM_NUMBERS, PROPERTIES
from cffpy.query.syntax import Path
from cffpy.regdb import rows
from cffpy.reports.columns import NONE, Interned
from cffpy.reports.documents import OF_DRAWS_LARGE, OF_PASS_ELSEWHERE

if TYPE_CHECKING:
    from cffpy.query.properties import Property
    from cffpy.regdb.database import Database


#: What names begin with -> where the objects are: in a row of draws, or in the row's pass.
_PLACES = {
    "draw": "draw",
    "pass": "pass",
    "target": "draw.targets[]",
    "source": "draw.transfers[].source[]",  # [] also leaves out null
    "destination": "draw.transfers[].destination[]",
}

#: What the report has in another form than the model.
_ELSEWHERE = ("pass.operations.", *(f"pass.{name}" for name in OF_PASS_ELSEWHERE))


def filter_document(database: Database | None) -> dict[str, Any]:
    """See SearchNames. ``database``: None where the capture has no commands."""
    bindings = {
        name: {"kind": one.kind, "many": one.is_many, "hexadecimal": one.is_hexadecimal}
        for name, one in BINDING_FACTS.items()
        if not name.startswith("place.")  # the page has its text
    }
    properties = {} if database is None else PROPERTIES
    return {
        "properties": {name: _property(name, one, database) for name, one in properties.items()},
        "stages": list(STAGES),
        "numbers": {name: sentence(one.meaning) for name, one in PROGRAM_NUMBERS.items()},
        "owners": {name: {"kind": kind, "used": used} for name, (kind, used) in OWNERS.items()},
        "bindings": bindings,
    }


def _property(name: str, one: Property, database: Database | None) -> dict[str, Any]:
    owner = name.partition(".")[0]
    fact = one.fact
    assert fact is not None
    is_there = owner in _PLACES and not name.startswith(_ELSEWHERE)
    if fact.is_large:
        is_there = name in [f"draw.{large}" for large in (*OF_DRAWS_LARGE, "visible_primitives")]
    return {
        "kind": one.kind,
        "many": one.is_many,
        "hexadecimal": fact.is_hexadecimal,
        "meaning": sentence(fact.meaning),
        "words": one.values(database),
        "path": f"{_PLACES[owner]}.{fact.path}" if is_there else None,
    }


class ValueTypes:
    """The distinct types of registers and fields, by their numbers in the document."""

    def __init__(self, database: Database) -> None:
        self._table = NameTable(database)
        self._types: Interned[str] = Interned()

    def add(self, name: str) -> int:
        """The number of the type of a register or field; -1 for one plain number."""
        try:
            type_row = self._table.find(Path(name, 1)).type_row
        except FilterError:
            return NONE  # a name that no expression can have
        if type_row is None:
            return NONE
        kind, low, high, shift, radix = conversion(type_row)
        document: dict[str, Any] = {"kind": kind, "low": low, "high": high}
        if shift:
            document["shift"] = shift
        if radix:
            document["radix"] = radix
        words = self._table.words(name, type_row)
        if type_row[0] == rows.REGID:
            document["ids"] = True
        elif words is not None and kind != "bool":
            document["words"] = dict(words.values)
        return self._types.add(json.dumps(document))

    def to_list(self) -> list[Any]:
        """The types."""
        return [json.loads(one) for one in self._types.values]
