# SPDX-License-Identifier: MIT
"""Description text -> model. The only module of the register database that knows lark.

Slow (about 0.5 MB/s): only the compiler and the tools call it.
"""

from __future__ import annotations

import re
from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from cffpy.descriptions.parse import BlockBuilder, Language, unquoted
from cffpy.errors import RegisterDbError
from cffpy.regdb import model

MAX_NESTING = 12
"""How deep braces may nest. Mesa's descriptions need 4."""


@v_args(meta=True)
class _Builder(BlockBuilder[model.Description]):
    def RANGE(self, token: Token) -> model.Range:  # noqa: N802
        name = r'([A-Za-z_][A-Za-z0-9_]*|"(?:\\["\\]|[^"\\])*")?'
        match = re.fullmatch(f"{name}-{name}", token)
        assert match is not None  # the terminal is made of the same two patterns
        first, last = (None if part is None else unquoted(part) for part in match.groups())
        return model.Range(first, last)

    # Rules, in the order of the grammar.

    def start(self, meta: Meta, items: list[model.Declaration]) -> model.Description:
        return model.Description(tuple(items))

    def import_file(self, meta: Meta, items: list[str]) -> model.Import:
        return model.Import(items[0], meta.line)

    def enum(self, meta: Meta, items: list[Any]) -> model.Enum:
        name, inline, condition, *values = items
        return model.Enum(name, tuple(values), inline is not None, condition, meta.line)

    def value(self, meta: Meta, items: list[Any]) -> model.Value:
        name, number, condition = items
        return model.Value(name, number, condition, meta.line)

    def bitset(self, meta: Meta, items: list[Any]) -> model.Bitset:
        name, inline, condition, *fields = items
        return model.Bitset(name, tuple(fields), inline is not None, condition, meta.line)

    def field(self, meta: Meta, items: list[Any]) -> model.Bitfield:
        (low, high), name, *attributes, condition, body = items
        given = self._collect(attributes)
        kind, subject = self._type(given, body), _subject(given)
        return model.Bitfield(name, low, high, kind, condition, meta.line, subject)

    def type_body(self, meta: Meta, items: list[Any]) -> list[Any]:
        return items

    def domain(self, meta: Meta, items: list[Any]) -> model.Domain:
        name, width, condition, elements = items
        width = 32 if width is None else width
        return model.Domain(name, elements, width, condition, meta.line)

    def element_body(self, meta: Meta, items: list[model.Element]) -> tuple[model.Element, ...]:
        return tuple(items)

    def register(self, meta: Meta, items: list[Any]) -> model.Register:
        kind, offset, name, repeat, *attributes, condition, body = items
        given = self._collect(attributes)
        return model.Register(
            name,
            offset,
            64 if kind == "reg64" else 32,
            given.get("used_bits"),
            self._type(given, body),
            1 if repeat is None else repeat,
            given.get("stride", 0),
            given.get("usage", ()),
            given.get("access"),
            condition,
            meta.line,
            _subject(given),
        )

    def array(self, meta: Meta, items: list[Any]) -> model.Array:
        offsets, name, length, *attributes, condition, elements = items
        given = self._collect(attributes)
        return model.Array(
            name,
            offsets,
            length,
            given.get("stride", 0),
            given.get("index"),
            given.get("usage", ()),
            condition,
            elements,
            meta.line,
            _subject(given),
        )

    def stripe(self, meta: Meta, items: list[Any]) -> model.Stripe:
        offset, name, length, *attributes, condition, elements = items
        given = self._collect(attributes)
        length = 1 if length is None else length
        stride = given.get("stride", 0)
        return model.Stripe(name, offset or 0, length, stride, condition, elements, meta.line)

    def offsets(self, meta: Meta, items: list[int]) -> tuple[int, ...]:
        return tuple(items)

    def repeat(self, meta: Meta, items: list[int | None]) -> int:
        return items[0] or 0

    def when(self, meta: Meta, items: list[Any]) -> model.Condition:
        varset, *parts = items
        ranges = (
            part if isinstance(part, model.Range) else model.Range(part, part) for part in parts
        )
        return model.Condition(varset, tuple(ranges))

    def _type(self, given: dict[str, Any], body: list[Any] | None) -> model.Type:
        if body is None and not given.keys() & _OF_TYPE:
            return _PLAIN
        inside = body or []
        return model.Type(
            given.get("type"),
            given.get("shr", 0),
            given.get("radix", 0),
            given.get("align", 0),
            given.get("addvariant", False),
            tuple(item for item in inside if isinstance(item, model.Bitfield)),
            tuple(item for item in inside if isinstance(item, model.Value)),
        )


_PLAIN = model.Type()
_OF_TYPE = frozenset(("type", "shr", "radix", "align", "addvariant"))


def _subject(given: dict[str, Any]) -> model.Subject:
    topic, derived = given.get("about", (None, None))
    roles, engine = given.get("role", ()), given.get("engine")
    subject = model.Subject(topic, derived is not None, roles, engine)
    return model.NO_SUBJECT if subject == model.NO_SUBJECT else subject


_LANGUAGE = Language("register", _Builder, MAX_NESTING, RegisterDbError)
parse_text = _LANGUAGE.parse_text
parse_file = _LANGUAGE.parse_file
