# SPDX-License-Identifier: MIT
"""Integers as values of options: of ASCII digits only, where click takes all that ``int`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cffpy.c_numbers import whole_number

if TYPE_CHECKING:
    _Parameter = click.Parameter | None
    _Context = click.Context | None
    _IntegerType = click.ParamType[int]
else:
    _IntegerType = click.ParamType  # not generic before click 8.4


class Integer(_IntegerType):
    """Any integer."""

    name = "integer"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> int:  # noqa: ANN401
        """The number; fails as click does."""
        if isinstance(value, int):
            return value
        try:
            return whole_number(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a valid integer.", param, ctx)


class IntegerRange(click.IntRange):
    """An integer within bounds, which are part of it."""

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> Any:  # noqa: ANN401
        """The number; fails as click does."""
        return super().convert(Integer().convert(value, param, ctx), param, ctx)


class Address(_IntegerType):
    """A number of at least 0, also as 0x...."""

    name = "number"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> int:  # noqa: ANN401
        """The number; fails as click does."""
        if isinstance(value, int):
            return value
        try:
            number = whole_number(str(value), prefixes=True)
        except ValueError:
            number = -1
        if number < 0:
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
