# SPDX-License-Identifier: MIT
"""The option ``--limit NAME=N`` of the commands that decode captures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.limits import HELP, Limits, chosen_limits, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., Any]")

#: Where a command's context keeps the numbers of its options.
_OPTIONS = f"{__name__}.options"


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
    """The limits of the command that runs. Raises CffpyError for a wrong variable."""
    options: dict[str, int] = click.get_current_context().meta.get(_OPTIONS, {})
    return chosen_limits(options, os.environ)
