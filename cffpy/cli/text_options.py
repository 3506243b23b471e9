# SPDX-License-Identifier: MIT
"""The options of commands that print text: colour, pager, lines wider than the terminal.

The options mean the same in every command. ``write_lines`` and ``rendered`` read them from the
click context, so commands need not pass them on.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from cffpy.cli.output import PagedOutput, is_terminal, use_colour, write_all
from cffpy.views.plain_text import Painted, Styled, folded, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.limits import Truncation

_Command = TypeVar("_Command", bound="Callable[..., Any]")

#: Where a command's context keeps what was given.
_GIVEN = f"{__name__}.given"

_LINES_AT_ONCE = 4096

#: SGR parameters of the styles of lines.
_STYLES = {
    "bold": "1",
    "bold yellow": "1;33",
    "dim": "2",
    "dim italic": "2;3",
    "red": "31",
    "yellow": "33",
}


class TextOptions(NamedTuple):
    """What the user asked for; None where it depends on whether the output is a terminal."""

    color: bool | None = None
    pager: bool | None = None
    wide: bool = False


def _keep(context: click.Context, parameter: click.Parameter, value: bool | None) -> None:
    given = context.meta.get(_GIVEN, TextOptions())
    if value is not None:
        context.meta[_GIVEN] = given._replace(**{str(parameter.name): value})


def text_options(command: _Command) -> _Command:
    """Give a command ``--color``, ``--pager`` and ``--wide``."""
    for names, text in (
        (("--wide",), "Do not fold lines to the width of the terminal."),
        (("--pager/--no-pager",), "Use a pager, or not (default: on a terminal)."),
        (("--color/--no-color",), "Use colour, or not (default: on a terminal)."),
    ):
        decorate = click.option(
            *names,
            is_flag=True,
            default=None,
            callback=_keep,
            expose_value=False,
            help=text,
        )
        command = decorate(command)
    return command


def given_text_options() -> TextOptions:
    """The options of the command that runs."""
    context = click.get_current_context(silent=True)
    given: TextOptions = (
        TextOptions() if context is None else context.meta.get(_GIVEN, TextOptions())
    )
    return given


def _terminal_columns() -> int:
    from shutil import get_terminal_size  # lazy: for terminals only

    return get_terminal_size().columns


def rendered(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they are shown: folded to the terminal's width, with colour if it is used."""
    given = given_text_options()
    colour = use_colour(given.color)
    fits = given.wide or not is_terminal(sys.stdout)
    width = 0 if fits else _terminal_columns()
    for line in lines:
        if colour and isinstance(line, Painted) and not 0 < width < len(line):
            yield painted(line)
            continue
        style = _STYLES.get(line.style) if colour and isinstance(line, Styled) else None
        for part in folded(line, width) if width else (line,):
            yield part if style is None else f"\x1b[{style}m{part}\x1b[0m"


def painted(line: Painted) -> str:
    """The line with the colours of its parts, as far as the terminal has them."""
    from cffpy.cli.paint import paint  # lazily: rich takes 20 ms

    return paint(line)


def write_lines(lines: Iterable[str], truncated: Iterable[Truncation] = ()) -> None:
    """Write lines of text to standard output, through a pager on a terminal.

    ``truncated``: what limits left out, written as a line each at the end.
    """
    with PagedOutput(given_text_options().pager is not False) as stream:
        chunk: list[str] = []
        for line in rendered(chain(lines, truncation_lines(truncated))):
            chunk.append(line)
            if len(chunk) >= _LINES_AT_ONCE:
                write_all(stream, _encoded(chunk))
                chunk.clear()
        write_all(stream, _encoded(chunk))


def truncation_lines(truncated: Iterable[Truncation]) -> Iterator[str]:
    """A line for each thing that a limit left out."""
    return (f"truncated: {visible(str(cut))}" for cut in truncated)


def _encoded(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
