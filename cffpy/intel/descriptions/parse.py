# SPDX-License-Identifier: MIT
"""Text of a .gen file -> model. The only module of cffpy.intel that knows lark."""

from __future__ import annotations

from typing import Any

from lark import v_args
from lark.tree import Meta

from cffpy.descriptions.parse import Attribute, BlockBuilder, Language
from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import model

MAX_NESTING = 8
"""How deep braces may nest. Mesa's descriptions need 4."""


@v_args(meta=True)
class _Builder(BlockBuilder[model.Description]):
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
        given = self._collect([item for item in rest if isinstance(item, Attribute)])
        engines = given.get("engine", ())
        for engine in engines:
            if engine not in model.ENGINES:
                raise self._wrong(f"no such engine: {engine}", meta)
        if kind == "register" and "at" not in given:
            raise self._wrong(f"register {name} has no offset", meta)
        return model.Group(
            str(kind),
            name,
            tuple(item for item in rest if not isinstance(item, Attribute)),
            given.get("length"),
            given.get("bias"),
            engines,
            given.get("at"),
            meta.line,
        )

    def field(self, meta: Meta, items: list[Any]) -> model.Field:
        (low, high), name, kind, *rest = items
        given = self._collect([item for item in rest if isinstance(item, Attribute)])
        return model.Field(
            name,
            low,
            high,
            str(kind),
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


_LANGUAGE = Language("intel", _Builder, MAX_NESTING, RegisterDbError)
parse_text = _LANGUAGE.parse_text
parse_file = _LANGUAGE.parse_file
