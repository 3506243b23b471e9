# SPDX-License-Identifier: MIT
"""Splits a text of microcode into statements: labels, directives, data, instructions.

The words are those of Mesa's assembler (src/freedreno/afuc: lexer.l, parser.y). As there, the end
of a line ends only a comment: a statement may take several lines, and a line may have several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cffpy.errors import IsaError
from cffpy.value_object import ValueObject

_WORD = re.compile(
    r"(?P<space>[ \t\r\f\v]+|;[^\n]*)|(?P<line>\n)"
    r"|(?P<data>\[[ \t]*(?:0[xX])?[0-9a-fA-F]+[ \t]*\])"
    r"|(?P<prefix>\([A-Za-z]\w*\))|(?P<directive>\.[A-Za-z]\w*)"
    r"|(?P<bit>b[0-9]+(?![A-Za-z_]))|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operand>\$\w+|[@%#][A-Za-z_]\w*|#-?[0-9]+|0[xX][0-9a-fA-F]*|[0-9]+|<<|[,\[\]+!:])"
)

#: Words that begin a statement, unless they continue one.
_BEGINS = ("data", "prefix", "directive", "name", "bit")


class Statement(ValueObject):
    """One statement. ``line``: of its first word, from 1.

    ``kind``: ``label``, ``directive``, or ``code`` (an instruction or data). ``text``: a label's
    name; else the words, with a space after the directive or the instruction's name alone.
    """

    __slots__ = ("kind", "line", "text")

    def __init__(self, kind: str, text: str, line: int) -> None:
        self.kind = kind
        self.text = text
        self.line = line


def statements(text: str) -> Iterator[Statement]:
    """The statements of ``text``. Raises IsaError, with its line, for a word that there is none."""
    words: list[tuple[str, str]] = []
    first = line = 1
    place = 0
    while place < len(text):
        found = _WORD.match(text, place)
        if found is None:
            raise IsaError(f"unknown character {text[place]!r}", "", line)
        place = found.end()
        kind, word = found.lastgroup or "", found[0]
        if kind == "line":
            line += 1
        elif kind != "space":
            if words and _is_over(words, kind, word):
                yield _statement(words, first)
                words = []
            if not words:
                first = line
            words.append((kind, word))
    if words:
        yield _statement(words, first)


def _is_over(words: list[tuple[str, str]], kind: str, word: str) -> bool:
    """Whether the statement of ``words`` ends before this word."""
    last_kind, last = words[-1]
    if words[0][0] == "name" and last == ":":
        return True
    if kind not in _BEGINS and word != "[":
        return False
    if kind == "name" and last in (".section", ".align"):
        return False
    if last_kind == "prefix":
        return kind not in ("name", "prefix")
    return last not in (",", "+", "[", "<<")


def _statement(words: list[tuple[str, str]], line: int) -> Statement:
    texts = [word for _, word in words]
    if len(words) > 1 and words[0][0] == "name" and texts[1] == ":":
        return Statement("label", texts[0], line)
    if words[0][0] == "directive":
        return Statement("directive", " ".join(texts), line)
    is_name = [kind != "prefix" for kind, _ in words]
    head = is_name.index(True) + 1 if True in is_name else len(words)
    return Statement("code", f"{''.join(texts[:head])} {''.join(texts[head:])}".rstrip(), line)
