# SPDX-License-Identifier: MIT
"""Text of a .gen file -> model. The only module of cffpy.intel that knows lark."""

from __future__ import annotations

import functools
import re
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.tree import Meta

from cffpy import dsl
from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import model

MAX_NESTING = 8
"""How deep braces may nest. Mesa's descriptions need 4."""


@functools.cache
def _grammar() -> Lark:
    return dsl.load_grammar("intel")


def parse_text(text: str, file: str = "<text>") -> model.Description:
    """The declarations of ``text``; ``file`` is for messages.

    Raises RegisterDbError with file, line and column.
    """
    dsl.check_nesting(text, file, MAX_NESTING, RegisterDbError)
    return dsl.parse(_grammar(), _Builder(file), text, file, RegisterDbError)


def parse_file(path: str) -> model.Description:
    """The declarations of one ``.gen`` file."""
    return parse_text(dsl.read_text(path, RegisterDbError), path)


# An attribute between its rule and the declaration that carries it: (name, value, line, column).
_Attribute = tuple[str, Any, int, int]


@v_args(meta=True)
class _Builder(Transformer[Token, model.Description]):
    def __init__(self, file: str) -> None:
        super().__init__(visit_tokens=True)
        self._file = file

    def NAME(self, token: Token) -> str:  # noqa: N802 (lark calls it by the terminal's name)
        return str(token)

    def STRING(self, token: Token) -> str:  # noqa: N802
        text = str(token)[1:-1]
        return re.sub(r"\\(.)", r"\1", text) if "\\" in text else text

    def NUMBER(self, token: Token) -> int:  # noqa: N802
        number = int(token, 16 if token.startswith("0x") else 10)
        if number > model.MAX_NUMBER:
            message = "number of more than 64 bits"
            raise RegisterDbError(message, self._file, token.line or 0, token.column or 0)
        return number

    def start(self, meta: Meta, items: list[model.Declaration]) -> model.Description:
        return model.Description(tuple(items))

    def generation(self, meta: Meta, items: list[Any]) -> model.Generation:
        return model.Generation(items[0], items[1], meta.line)

    def import_file(self, meta: Meta, items: list[Any]) -> model.Import:
        return model.Import(items[0], items[1] or (), meta.line)

    def prefer(self, meta: Meta, items: list[Any]) -> model.Prefer:
        return model.Prefer(str(items[0]), items[1], items[2], meta.line)

    def enum(self, meta: Meta, items: list[Any]) -> model.Enum:
        name, prefix, *values = items
        return model.Enum(name, tuple(values), prefix, meta.line)

    def value(self, meta: Meta, items: list[Any]) -> model.Value:
        return model.Value(items[0], items[1], meta.line)

    def group(self, meta: Meta, items: list[Any]) -> model.Group:
        kind, name, *rest = items
        given = self._collect([item for item in rest if isinstance(item, tuple)])
        engines = given.get("engine", ())
        for engine in engines:
            if engine not in model.ENGINES:
                raise RegisterDbError(f"no such engine: {engine}", self._file, meta.line)
        if kind == "register" and "at" not in given:
            raise RegisterDbError(f"register {name} has no offset", self._file, meta.line)
        return model.Group(
            str(kind),
            name,
            tuple(item for item in rest if not isinstance(item, tuple)),
            given.get("length"),
            given.get("bias"),
            engines,
            given.get("at"),
            meta.line,
        )

    def field(self, meta: Meta, items: list[Any]) -> model.Field:
        low, high, name, kind, *rest = items
        given = self._collect([item for item in rest if isinstance(item, tuple)])
        high = low if high is None else high
        if high < low:
            raise RegisterDbError(f"bits {low}..{high} of {name!r}", self._file, meta.line)
        return model.Field(
            name,
            low,
            high,
            kind,
            given.get("default"),
            given.get("prefix"),
            "nonzero" in given,
            tuple(item for item in rest if isinstance(item, model.Value)),
            meta.line,
        )

    def repeat(self, meta: Meta, items: list[Any]) -> model.Repeat:
        count, start, size, *members = items
        return model.Repeat(count or 0, start, size, tuple(members), meta.line)

    def device(self, meta: Meta, items: list[Any]) -> model.Device:
        return model.Device(items[0], items[1], items[2], meta.line)

    def names(self, meta: Meta, items: list[str]) -> tuple[str, ...]:
        return tuple(items)

    def length(self, meta: Meta, items: list[int]) -> _Attribute:
        return ("length", items[0], meta.line, meta.column)

    def bias(self, meta: Meta, items: list[int]) -> _Attribute:
        return ("bias", items[0], meta.line, meta.column)

    def engine(self, meta: Meta, items: list[Any]) -> _Attribute:
        return ("engine", items[0], meta.line, meta.column)

    def at(self, meta: Meta, items: list[int]) -> _Attribute:
        return ("at", items[0], meta.line, meta.column)

    def default(self, meta: Meta, items: list[int]) -> _Attribute:
        return ("default", items[0], meta.line, meta.column)

    def prefix(self, meta: Meta, items: list[str]) -> _Attribute:
        return ("prefix", items[0], meta.line, meta.column)

    def nonzero(self, meta: Meta, items: list[Any]) -> _Attribute:
        return ("nonzero", True, getattr(meta, "line", 0), getattr(meta, "column", 0))

    def _collect(self, attributes: list[_Attribute]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, value, line, column in attributes:
            if name in given:
                raise RegisterDbError(f"'{name}' given twice", self._file, line, column)
            given[name] = value
        return given
