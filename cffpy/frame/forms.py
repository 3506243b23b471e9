# SPDX-License-Identifier: MIT
"""The form of a fact on each face, as its type decides it. There is no other rule.

| type | JSON | tables, CSV | filters |
| --- | --- | --- | --- |
| int, float, bool, str | the value | the value | the value |
| Address | text in hexadecimal | unsigned 64 bits; CSV in hexadecimal | a number |
| Bits | the value | unsigned 64 bits; CSV in hexadecimal | a number |
| int or str | the value | text | text |
| Literal | the word | the word | a word; others are errors |
| a model without a key, such as Size | an object | a column for each part | ``owner.fact.part`` |
| a model with a key, such as Tile | its number | its number | its number |
| a list of values | a list | text, separated by spaces, texts by `; ` | any of them |
| a list of models | a list of objects | a table of their own | any of them |
| a mapping of models | an object by their keys | a table of their own | |

None is null, NULL, an empty cell, and unknown in a filter.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from cffpy.frame.facts import Fact, Model

if TYPE_CHECKING:
    from collections.abc import Callable

#: "scalar": a number or a text. "object": a model that is shown as a whole; "reference": a model
#: that is shown by its number.
Kind = Literal[
    "integer",
    "number",
    "flag",
    "text",
    "scalar",
    "word",
    "address",
    "bits",
    "object",
    "reference",
]

_PLAIN: dict[str, Kind] = {
    "int": "integer",
    "float": "number",
    "bool": "flag",
    "str": "text",
    "int | str": "scalar",
    "Address": "address",
    "Bits": "bits",
}

_LIST = re.compile(r"(?:list|Sequence|tuple)\[(.+?)(?:, \.\.\.)?\]")
_MAPPING = re.compile(r"(?:dict|Mapping)\[str, (.+?)\]")


class Form(NamedTuple):
    """How values of a fact are shown.

    ``is_optional``: None is one of them. ``is_list``: there are several; ``has_gaps``: None is one
    of these. ``is_mapping``: there are several, by their keys. ``words``: all values of a word, or
    those that a text is known to have. ``model``: of an object or a reference.
    """

    kind: Kind
    is_optional: bool = False
    is_list: bool = False
    has_gaps: bool = False
    words: tuple[str, ...] = ()
    model: Model | None = None
    is_mapping: bool = False

    @property
    def parts(self) -> Model:
        """The model of an object or a reference."""
        assert self.model is not None
        return self.model

    @property
    def key(self) -> Callable[[Any], Any]:
        """Reads the number by which a reference is shown."""
        key = self.parts.key
        assert key is not None
        return key.get


def form_of(fact: Fact) -> Form:
    """The form of a fact. Raises TypeError for a type that no face can show."""
    form = _form(fact.annotation, fact.module)
    return form._replace(words=fact.words) if fact.words else form


@cache
def _form(annotation: str, module: str) -> Form:
    text, is_optional, has_gaps = annotation, False, False
    if text.endswith(" | None"):
        text, is_optional = text.removesuffix(" | None"), True
    several = _LIST.fullmatch(text)
    if several is not None:
        text = several[1]
        has_gaps = text.endswith(" | None")
        text = text.removesuffix(" | None")
    is_list = several is not None
    by_key = _MAPPING.fullmatch(text)
    if by_key is not None:
        text = by_key[1]
    plain = _PLAIN.get(text)
    if plain is not None and by_key is None:
        return Form(plain, is_optional, is_list, has_gaps)
    named = _named(text, module)
    words = get_args(named)
    if words and by_key is None and all(isinstance(word, str) for word in words):
        return Form("word", is_optional, is_list, has_gaps, words)
    declared = getattr(named, "__model__", None)
    if not isinstance(declared, Model):
        raise TypeError(f"{annotation} of {module} is no type of a fact")
    is_whole = is_list or by_key is not None or declared.key is None
    kind: Kind = "object" if is_whole else "reference"
    return Form(kind, is_optional, is_list, has_gaps, (), declared, by_key is not None)


def _named(name: str, module: str) -> Any:  # noqa: ANN401
    """What a name stands for in a module, which imports what its annotations name."""
    return getattr(sys.modules[module], name, None)
