# SPDX-License-Identifier: MIT
"""The option ``--limit NAME=N`` of the commands that decode captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.limits import HELP, Chosen

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., Any]")


def _choose(context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    try:
        context.call_on_close(Chosen(texts).undo)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


def limit_option(command: _Command) -> _Command:
    """Give a command the option; while it runs, its limits hold."""
    decorate = click.option(
        "--limit",
        metavar="NAME=N",
        multiple=True,
        callback=_choose,
        expose_value=False,
        is_eager=True,
        help=HELP,
    )
    return decorate(command)
