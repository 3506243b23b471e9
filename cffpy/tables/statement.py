# SPDX-License-Identifier: MIT
"""What a text of SQL names: tables, and their columns. Nothing else of a capture is made for it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from cffpy.tables.schema import TABLES, VIEW_TABLES, VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.tables.schema import Table

#: Statements and functions of DuckDB that list tables.
_LISTS = re.compile(
    r"\bshow\s+(all\s+)?tables\b|\binformation_schema\b|\bduckdb_(tables|views|columns)\b|\bpg_tables\b"
)

#: What DuckDB's parser makes of expressions, of queries and of what they select from, where these
#: read only columns that they name. A star, a number of a column, PIVOT, DESCRIBE do not.
_EXPRESSIONS = frozenset(
    (
        "BETWEEN",
        "CASE",
        "CAST",
        "COLLATE",
        "COLUMN_REF",
        "COMPARISON",
        "CONJUNCTION",
        "CONSTANT",
        "FUNCTION",
        "LAMBDA",
        "OPERATOR",
        "SUBQUERY",
        "TYPE",
        "WINDOW",
    )
)
_NODES = frozenset(
    (
        "ASCENDING",
        "BASE_TABLE",
        "CTE_NODE",
        "DESCENDING",
        "DISTINCT_MODIFIER",
        "EMPTY",
        "EXPRESSION_LIST",
        "JOIN",
        "LIMIT_MODIFIER",
        "LIMIT_PERCENT_MODIFIER",
        "ORDER_DEFAULT",
        "ORDER_MODIFIER",
        "RECURSIVE_CTE_NODE",
        "SELECT_NODE",
        "SET_OPERATION_NODE",
        "SUBQUERY",
    )
)
_JOINS = frozenset(("REGULAR", "CROSS", "ASOF"))


def lists_tables(text: str) -> bool:
    """Whether a text of SQL asks which tables there are."""
    return _LISTS.search(text.lower()) is not None


def tables_named(text: str, connection: Any = None) -> list[Table]:  # noqa: ANN401
    """The tables that a text of SQL may name, also by views.

    ``connection``: of DuckDB, which parses the text; the tables have only the columns that are
    named then. Where it cannot be told which these are, they have all.
    """
    words = _words(text)
    names = {name for name in TABLES if name in words}
    for view, needed in VIEW_TABLES.items():
        if view in words:
            names.update(needed)
    tables = [table for name, table in TABLES.items() if name in names]
    columns = None if connection is None else columns_named(text, connection)
    return tables if columns is None else [table.with_columns(columns) for table in tables]


def columns_named(text: str, connection: Any) -> frozenset[str] | None:  # noqa: ANN401
    """The names that a text of SQL has, of columns and of all else, in small letters.

    None where it may read columns that it does not name. Columns of views count as named.
    """
    parsed = _parsed(text, connection)
    if parsed is None:
        return None
    names: set[str] = set()
    sources: set[str] = set()
    last_names: set[str] = set()
    for node in _nodes(parsed):
        if not _is_understood(node):
            return None
        names.update(_texts(node))
        if node.get("type") == "BASE_TABLE":
            sources.update(str(node.get(key, "")).lower() for key in ("alias", "table_name"))
        if node.get("class") == "COLUMN_REF":
            last_names.add(str(node["column_names"][-1]).lower())
    if not sources.isdisjoint(last_names):
        return None  # a row of a table as a value, or a column of the name of a table
    for view, select in VIEWS.items():
        if view in names:
            names |= _words(select)
    return frozenset(names)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _parsed(text: str, connection: Any) -> Any:  # noqa: ANN401
    """What DuckDB's parser makes of statements that select; None where it does not say it."""
    question = "SELECT json_serialize_sql(?, skip_null := true, skip_empty := true)"
    try:
        ((answer,),) = connection.execute(question, [text]).fetchall()
        parsed = json.loads(answer)
    except Exception:  # DuckDB's errors, of versions without the function, too
        return None
    return None if parsed.get("error") is not False else parsed.get("statements")


def _nodes(parsed: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """All objects of a document."""
    waiting = [parsed]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += [part for name, part in node.items() if name != "modifiers"]
            waiting += [
                modifier for modifier in node.get("modifiers", ()) if not _is_order_by_all(modifier)
            ]
        elif isinstance(node, list):
            waiting += node


#: What the parser has of the ALL of ORDER BY ALL, where nothing else is with it.
_OF_ALL = frozenset(("class", "type", "columns", "query_location", "query_location_length"))


def _is_order_by_all(modifier: dict[str, Any]) -> bool:
    """Whether a modifier of a query is ORDER BY ALL: by what the query selects."""
    orders = modifier.get("orders") if modifier.get("type") == "ORDER_MODIFIER" else None
    if not isinstance(orders, list) or len(orders) != 1:
        return False
    expression = orders[0].get("expression")
    is_star = isinstance(expression, dict) and expression.get("class") == "STAR"
    return is_star and expression.keys() <= _OF_ALL


def _texts(node: dict[str, Any]) -> Iterator[str]:
    for value in node.values():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                yield text.lower()


def _is_understood(node: dict[str, Any]) -> bool:
    """Whether an object of the parser reads no columns but those that it names."""
    if "class" in node:
        return node["class"] in _EXPRESSIONS
    kind = node.get("type")
    if isinstance(kind, str) and kind not in _NODES and not kind.endswith("_TYPE_INFO"):
        return False
    if node.get("column_name_alias"):
        return False  # AS name(column, ...) names columns by their position
    return node.get("ref_type", "REGULAR") in _JOINS
