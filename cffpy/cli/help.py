# SPDX-License-Identifier: MIT
"""``cffpy help``: the guide and the reference in the terminal, the facts, the help of commands.

A page is the text of the documentation: of a checkout, or its copy in the wheel. Links to other
pages become the commands that show them, since a user has no files to follow a link to.
"""

from __future__ import annotations

import os
import re
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from cffpy._data import data_path
from cffpy.cli.completion import beginning, facts
from cffpy.cli.forms import given_text_options, text_options, write_lines, write_page
from cffpy.cli.output import EXIT_OK, is_terminal, use_colour

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from click.shell_completion import CompletionItem

#: Folder of a topic's page -> the topics, in the order of the list.
PAGES = {
    "guide": (
        "start",
        "look",
        "explain",
        "compare",
        "many-captures",
        "change",
        "crash-dumps",
        "intel",
        "questions",
    ),
    "reference": (
        "conventions",
        "filter",
        "lines",
        "sql",
        "lints",
        "layout",
        "pm4asm",
        "lua",
        "descriptions",
        "editions",
        "glossary",
    ),
}

#: Pages that are no topics, and what has their contents.
_OTHER = {"facts": "cffpy help facts", "schemas": "cffpy schema", "api": "pydoc cffpy"}

_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
#: What follows ``console`` is for the tests of examples.
_CONSOLE = re.compile(r"\A```console.*")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")


def topic_names() -> list[str]:
    """All topics that are pages."""
    return [name for names in PAGES.values() for name in names]


def page_path(name: str) -> Path:
    """The file of a topic."""
    folder = next(folder for folder, names in PAGES.items() if name in names)
    return Path(data_path("docs", folder, f"{name}.md"))


def command_pages() -> list[Path]:
    """The files of all commands' pages."""
    return sorted(Path(data_path("docs", "reference", "commands")).glob("*.md"))


def command_page_path(words: Iterable[str]) -> Path | None:
    """The page of a command, by its words, such as db and show; None for a group or no command."""
    path = Path(data_path("docs", "reference", "commands", f"{'-'.join(words)}.md"))
    return path if path in command_pages() else None


def title(name: str) -> str:
    """What a topic is about: the heading of its page."""
    with page_path(name).open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").rstrip("\n")


def page_text(path: Path) -> str:
    """A page as Markdown, with commands in place of links."""
    return without_files(path.read_text("utf-8"))


def without_files(text: str) -> str:
    """Markdown with commands in place of links to other pages, and without pictures."""
    parts = _FENCE.split(text)
    return "".join(
        _CONSOLE.sub("```text", part) if part.startswith("```") else _without_links(part)
        for part in parts
    )


def _without_links(text: str) -> str:
    text = _COMMENT.sub("", _PICTURE.sub("", text))
    return _LINK.sub(lambda match: _told(match[1], match[2]), text)


def _told(words: str, target: str) -> str:
    """A link as words: "filters (`cffpy help filter`)" for a link to the page of filters."""
    if "://" in target:
        return f"{words} ({target})"
    path, _, part = target.partition("#")
    command = _shown_by(path)
    if command == _OTHER["facts"] and part:
        command += f" {part}"
    return words if not command or f"`{command}`" in words else f"{words} (`{command}`)"


def _shown_by(path: str) -> str:
    """The command that shows a page; "" for a page that none shows, and for the same page."""
    from cffpy.cli.main import COMMANDS

    folder, name = os.path.split(path)
    stem = name.removesuffix(".md")
    if os.path.basename(folder) == "commands":
        words = stem if stem in COMMANDS else stem.replace("-", " ", 1)
        return f"cffpy {words} --help" if stem in topic_names() else f"cffpy help {words}"
    return f"cffpy help {stem}" if stem in topic_names() else _OTHER.get(stem, "")


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


def _topics(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Pages and commands; after ``facts`` names of facts."""
    if ctx.params.get("topic") == "facts":
        return beginning(incomplete, facts())
    commands = cast("click.Group", ctx.find_root().command).list_commands(ctx)
    return beginning(incomplete, ["facts", *topic_names(), *commands])


@click.command(name="help", epilog=_EPILOG)
@click.argument("topic", metavar="[TOPIC]", required=False, shell_complete=_topics)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_topics)
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
    write_page(text.encode("utf-8", "backslashreplace"))


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
    named = facts.named(name)
    if not named:
        words = {fact.word for fact in facts.models()}
        near = get_close_matches(name, sorted(words), n=3) or sorted(words)
        raise click.UsageError(f"there are no facts {name}; there are: {', '.join(near)}")
    is_object = name.lower() in {
        word for fact in named for word in (fact.word, fact.of.__name__.lower())
    }
    only = "" if is_object else name.lower().rpartition(".")[2]
    for fact in named:
        yield from facts.lines(fact, only)
