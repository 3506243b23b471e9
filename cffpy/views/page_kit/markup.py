# SPDX-License-Identifier: MIT
"""HTML from Python values: what is not markup already is escaped, always."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, TypeAlias

from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: What an element may hold: text, markup, or several of them. None is nothing.
Child: TypeAlias = "str | Iterable[Child] | None"

#: Elements without an end tag.
_VOID = frozenset(("col", "input", "link", "meta"))

#: Characters of one piece of text that are shown: of a value, a name, a line.
LONGEST_TEXT = 600


class Markup(str):
    """HTML. Whatever is made of it by ``+`` or ``%`` is text again, and is escaped."""

    __slots__ = ()


def escape(text: str, longest: int = LONGEST_TEXT) -> Markup:
    """Text that may hold anything, as markup of itself; control characters become visible."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return Markup(html.escape(visible(text)))


def join(children: Iterable[Child]) -> Markup:
    """Children one after the other."""
    return Markup("".join(map(_markup, children)))


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """``<tag attributes>children</tag>``.

    ``class_`` stands for ``class``, other ``_`` for ``-``. True is an attribute without a value;
    one that is None or False is left out. ``tag`` and the names of attributes are the program's
    own, never a capture's.
    """
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        parts.append(f" {name}" if value is True else f' {name}="{escape(str(value), 1 << 20)}"')
    parts.append(">")
    if tag not in _VOID:
        parts.extend(map(_markup, children))
        parts.append(f"</{tag}>")
    return Markup("".join(parts))


def _markup(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return escape(child)
    return join(child)


def text_lines(lines: Sequence[str], most: int = 1 << 16) -> Markup:
    """Lines of text as markup, with line ends between them, for ``pre`` and ``title``.

    Of more than ``most`` characters the first lines are shown; the last line says how many are not.
    """
    shown: list[str] = []
    left = most
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            shown.append(f"… {len(lines) - len(shown):,} more lines")
            break
        shown.append(escape(line))
    return Markup("\n".join(shown))


class Budget:
    """Characters of markup that a part of the page may still have."""

    __slots__ = ("left",)

    def __init__(self, characters: int) -> None:
        self.left = characters

    @property
    def is_spent(self) -> bool:
        """Whether what comes next is to be left out."""
        return self.left <= 0

    def take(self, markup: Markup) -> Markup:
        """Count the markup, which may overdraw."""
        self.left -= len(markup)
        return markup
