# SPDX-License-Identifier: MIT
"""Markdown as troff, for manual pages: headings, paragraphs, lists, tables, blocks of code."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token


def escaped(text: str) -> str:
    """Text without requests: backslashes, hyphens and a leading dot or quote are escaped.

    So is what is not ASCII, which troff reads by its name alone.
    """
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = "".join(one if one.isascii() else f"\\[u{ord(one):04X}]" for one in text)
    return f"\\&{text}" if text.startswith(".") else text


def troff(markdown: str) -> Iterator[str]:
    """The lines of a page below its title."""
    return _Page(MarkdownIt("commonmark").enable("table").parse(markdown)).lines()


class _Page:
    """A page of tokens, which is gone through once."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = iter(tokens)
        #: The markers of the lists around, innermost last: "" for a list without numbers.
        self._lists: list[str] = []
        self._is_first_of_item = False

    def lines(self) -> Iterator[str]:
        for token in self._tokens:
            match token.type:
                case "heading_open":
                    request = ".SH" if token.tag == "h2" else ".SS"
                    yield f"{request} {_inline(next(self._tokens), bold='')}"
                case "paragraph_open":
                    yield from self._paragraph(next(self._tokens))
                case "fence":
                    yield from (".PP", ".nf", *map(escaped, token.content.splitlines()), ".fi")
                case "bullet_list_open":
                    self._lists.append("")
                case "ordered_list_open":
                    self._lists.append("0")
                case "bullet_list_close" | "ordered_list_close":
                    self._lists.pop()
                case "list_item_open":
                    yield self._item()
                case "table_open":
                    yield from self._table()

    def _paragraph(self, token: Token) -> Iterator[str]:
        if not self._is_first_of_item:
            yield ".PP"
        self._is_first_of_item = False
        yield _inline(token)

    def _item(self) -> str:
        self._is_first_of_item = True
        if self._lists[-1]:
            self._lists[-1] = str(int(self._lists[-1]) + 1)
            return f".IP {self._lists[-1]}. 4"
        return ".IP \\(bu 2"

    # A row is a paragraph: the first cell in bold, the others indented below it.
    def _table(self) -> Iterator[str]:
        cells: list[str] = []
        is_head = False
        for token in self._tokens:
            match token.type:
                case "thead_open" | "thead_close":
                    is_head = token.type == "thead_open"
                case "inline":
                    cells.append(_inline(token, bold="" if not cells else "\\fB"))
                case "tr_close":
                    if not is_head:
                        yield from (".TP", f"\\fB{cells[0]}\\fR", " | ".join(cells[1:]))
                    cells = []
                case "table_close":
                    return


def _inline(token: Token, bold: str = "\\fB") -> str:
    """The text of a paragraph, heading or cell; code in bold, unless ``bold`` is empty."""
    parts: list[str] = []
    for part in token.children or ():
        match part.type:
            case "code_inline":
                text = _escaped_within(part.content)
                parts.append(f"{bold}{text}\\fR" if bold else text)
            case "softbreak" | "hardbreak":
                parts.append(" ")
            case "em_open" | "strong_open":
                parts.append("\\fI" if bold else "")
            case "em_close" | "strong_close":
                parts.append("\\fR" if bold else "")
            case _:
                parts.append(_escaped_within(part.content))
    text = "".join(parts)
    return f"\\&{text}" if text.startswith(".") else text


def _escaped_within(text: str) -> str:
    return escaped(text).removeprefix("\\&")
