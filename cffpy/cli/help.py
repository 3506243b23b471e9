# SPDX-License-Identifier: MIT
"""``cffpy help``: the guide and the reference in the terminal, the facts, the help of commands."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from cffpy.cli.output import EXIT_OK, PagedOutput, is_terminal, use_colour, write_all
from cffpy.cli.text_options import given_text_options, text_options, write_lines
from cffpy.cli.topics import (
    PAGES,
    command_page_path,
    page_path,
    page_text,
    title,
    topic_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_EPILOG = """\b
Examples:
  cffpy help                    all topics
  cffpy help start              the guide begins here
  cffpy help filter             the language of --where
  cffpy help facts
  cffpy help facts pass.bin_size
  cffpy help db show            what there is to know of a command
"""

_FACTS_TITLE = "Facts: the names in JSON, CSV, SQL, filters and Python"

#: A page is at most this wide: longer lines are hard to read.
_WIDEST = 110


@click.command(name="help", epilog=_EPILOG)
@click.argument("topic", metavar="[TOPIC]", required=False)
@click.argument("name", metavar="[NAME]", required=False)
@text_options
@click.help_option("-h", "--help")
def help_command(topic: str | None, name: str | None) -> int:
    """Show a page of the guide or of the reference; without TOPIC, list the topics.

    facts lists the facts of all objects of a capture, or those of the object or fact called NAME,
    such as tile or pass.bin_size. Facts have the same names in JSON, CSV, SQL, filters and in
    Python. With a command as TOPIC its page is shown, with examples and notes.
    """
    if topic is None:
        write_lines(_list_of_topics())
    elif topic == "facts":
        write_lines(_facts(name))
    elif topic in topic_names() and name is None:
        _show_page(page_text(page_path(topic)))
    else:
        _show_command([topic] if name is None else [topic, name])
    return EXIT_OK


def _list_of_topics() -> Iterator[str]:
    width = max(map(len, topic_names()))
    for folder, names in PAGES.items():
        yield f"{folder.capitalize()}:"
        titles = [(name, title(name)) for name in names]
        if folder == "reference":
            titles.append(("facts", _FACTS_TITLE))
        yield from (f"  {name:<{width}}  {text}" for name, text in titles)
        yield ""
    yield "'cffpy help TOPIC' shows a page, 'cffpy help COMMAND' that of a command."


def _show_page(text: str) -> None:
    """A page as rich lays it out for a terminal; elsewhere its Markdown."""
    if is_terminal(sys.stdout) or use_colour(given_text_options().color):
        text = _laid_out(text)
    with PagedOutput(given_text_options().pager is not False) as stream:
        write_all(stream, text.encode("utf-8", "backslashreplace"))


def _laid_out(text: str) -> str:
    from io import StringIO
    from shutil import get_terminal_size

    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(
        file=StringIO(),
        force_terminal=True,
        color_system="auto" if use_colour(given_text_options().color) else None,
        width=min(get_terminal_size().columns, _WIDEST),
    )
    with console.capture() as capture:
        console.print(Markdown(text, code_theme="ansi_dark"))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _show_command(words: list[str]) -> None:
    from cffpy.cli.main import COMMANDS, cli

    path = command_page_path(words)
    if path is not None:
        _show_page(page_text(path))
        return
    context = click.get_current_context().find_root()
    group = cli.get_command(context, words[0]) if words[0] in COMMANDS else None
    if group is None:
        topics = [*topic_names(), "facts"]
        near = get_close_matches(words[0], [*topics, *COMMANDS], n=3) or topics
        raise click.UsageError(f"there is no topic {words[0]}; there are: {', '.join(near)}")
    if len(words) > 1:
        raise click.UsageError(f"there is no command {' '.join(words)}")
    write_lines(
        group.get_help(click.Context(group, info_name=words[0], parent=context)).splitlines()
    )


def _facts(name: str | None) -> Iterator[str]:
    from cffpy.views import facts

    if name is None:
        yield from facts.table()
        return
    found = facts.named(name)
    if not found:
        words = {one.word for one in facts.models()}
        near = get_close_matches(name, sorted(words), n=3) or sorted(words)
        raise click.UsageError(f"there are no facts {name}; there are: {', '.join(near)}")
    is_object = name.lower() in {
        word for one in found for word in (one.word, one.of.__name__.lower())
    }
    only = "" if is_object else name.lower().rpartition(".")[2]
    for one in found:
        yield from facts.lines(one, only)
