# SPDX-License-Identifier: MIT
"""Parameters that many commands share: integers, ``--limit NAME=N``, ``--edition NAME``.

Integers are of ASCII digits only, where click takes all that ``int`` does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.c_numbers import whole_number
from cffpy.cli.dump_options import EDITION_OPTIONS, edition_directory
from cffpy.editions.folders import VARIABLE
from cffpy.limits import HELP, Limits, chosen_limits, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.diff.model import Selection

    _Parameter = click.Parameter | None
    _Context = click.Context | None
    _IntegerType = click.ParamType[int]
else:
    _IntegerType = click.ParamType  # not generic before click 8.4

_Command = TypeVar("_Command", bound="Callable[..., Any]")

#: Where a command's context keeps the numbers of its options.
_OPTIONS = f"{__name__}.options"


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


def _keep(context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    try:
        context.meta[_OPTIONS] = parse_options(texts)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


def limit_option(command: _Command) -> _Command:
    """Give a command the option; ``command_limits`` returns what it and the environment set."""
    decorate = click.option(
        "--limit",
        metavar="NAME=N",
        multiple=True,
        callback=_keep,
        expose_value=False,
        help=HELP,
    )
    return decorate(command)


def command_limits() -> Limits:
    """The limits of the command that runs. Raises click.UsageError for a wrong variable."""
    options: dict[str, int] = click.get_current_context().meta.get(_OPTIONS, {})
    try:
        return chosen_limits(options, os.environ)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def edition_option(command: _Command) -> _Command:
    """Adds ``--edition NAME``: the command's ``register_db`` is a directory, or None."""
    return _edition_option(command, knows_auto=False)


def capture_edition_option(command: _Command) -> _Command:
    """The same; ``register_db`` may also be "auto": the edition that each capture needs."""
    return _edition_option(command, knows_auto=True)


def _edition_option(command: _Command, knows_auto: bool) -> _Command:
    long, other = EDITION_OPTIONS
    decorate = click.option(
        f"--{long.long}",
        f"--{other.long}",
        "register_db",
        metavar=long.metavar,
        callback=lambda _context, _parameter, name: edition_directory(name, knows_auto),
        help=f"{long.help} Analyses know 'auto': what the capture needs.  [env: {VARIABLE}]",
    )
    return decorate(command)


def path_and_part(text: str) -> tuple[str, Selection]:
    """A path, and the part of the capture that is written after it (``FILE:pass3/draw7``)."""
    from cffpy.analysis.diff.model import WHOLE, parse_selection

    return (text, WHOLE) if os.path.exists(text) else parse_selection(text)
