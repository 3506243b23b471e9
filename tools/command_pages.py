# SPDX-License-Identifier: MIT
"""Pages of docs/reference/commands: the reference of a command, generated from its help.

A page is the generated part, up to the line END, and a hand-written part below it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.command_help import CommandHelp, commands

END = "<!-- Written by ./dev docs up to here. -->"

_NAME = re.compile(r"(?<![\w`-])(--?[a-z][a-z-]*)(?![\w`-])")


def page_name(command: CommandHelp) -> str:
    """``db-show.md`` for ``db show``."""
    return command.name.replace(" ", "-") + ".md"


def page(command: CommandHelp, old: str) -> str:
    """The page, with the hand-written part of its ``old`` text."""
    _, found, below = old.partition(END)
    return _reference(command) + END + (below if found else "\n")


def pages(folder: Path) -> dict[str, str]:
    """All pages by file name; hand-written parts are taken from ``folder``."""
    made = {}
    for command in commands():
        path = folder / page_name(command)
        old = path.read_text("utf-8") if path.exists() else ""
        made[path.name] = page(command, old)
    return made


def index_lines() -> list[str]:
    """A table of all commands, linked from docs/README.md."""
    rows = [
        f"| [`cffpy {one.name}`](reference/commands/{page_name(one)}) | {_markdown(one.summary)} |"
        for one in commands()
    ]
    return ["| command | |", "| --- | --- |", *rows]


def _reference(command: CommandHelp) -> str:
    lines = [f"# cffpy {command.name}", "", "```text", command.usage, "```", ""]
    for paragraph in command.description:
        lines += [_markdown(paragraph), ""]
    lines += ["| option | |", "| --- | --- |"]
    for names, text in command.options:
        lines.append(f"| `{_cell(names)}` | {_cell(_markdown(text))} |")
    lines += ["", "```sh", *command.examples, "```", ""]
    return "\n".join(lines)


def _markdown(text: str) -> str:
    """Plain help text as Markdown: names of options as code, no accidental markup."""
    escaped = re.sub(r"(?<!\w)([*_])|([<>])", r"\\\1\2", text)
    return _NAME.sub(r"`\1`", escaped)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
