# SPDX-License-Identifier: MIT
"""The pages of ``cffpy help``, as Markdown: the guide, the reference, a page for each command.

A page is the text of the documentation: of a checkout, or its copy in the wheel. Links to other
pages become the commands that show them, since a user has no files to follow a link to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from cffpy._data import data_path

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
