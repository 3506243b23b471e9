# SPDX-License-Identifier: MIT
"""JSON text of a document, as ``json.dumps(document, indent=2)`` has it, in large pieces.

With an indentation the standard encoder is Python code that yields each bracket and comma. This one
joins the text of a whole row: a fifth of the time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import TYPE_CHECKING, Any

from cffpy.frame.faces import SharedList, SharedObject
from cffpy.regdb.decode import float_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: Characters of a piece, at least; all but the last.
_PIECE = 1 << 18

#: Containers nested so deep are yielded item by item; an item of theirs is one text.
_LEVELS = 2

_ESCAPE: Callable[[str], str] = encode_basestring_ascii

#: Types whose text does not depend on the position in the document. Not their subclasses.
_SCALARS: dict[type, Callable[[Any], str]] = {
    str: _ESCAPE,
    int: int.__repr__,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): {None: "null"}.__getitem__,
}


def json_pieces(document: Mapping[str, Any]) -> Iterator[str]:
    """The document's text. An iterator in it is an array; only on the two outermost levels.

    Raises TypeError for what has no form in JSON.
    """
    waiting: list[str] = []
    length = 0
    for text in _parts(document, "\n", 1):
        waiting.append(text)
        length += len(text)
        if length >= _PIECE:
            yield "".join(waiting)
            waiting.clear()
            length = 0
    yield "".join(waiting)


def json_text(value: object) -> str:
    """The text of a value in one line.

    JSON has no NaN and no infinity: these are texts, as the dump prints them: "nan", "-inf".
    Raises TypeError for what has no form.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:  # noqa: ANN401
    """The same value, with texts for floats that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return float_text(value)
    return value


def _parts(value: Any, newline: str, level: int) -> Iterator[str]:  # noqa: ANN401
    """The text of a value, a part for each item. ``newline``: with the value's indentation."""
    inner = newline + "  "
    if level > _LEVELS:
        yield _text(value, newline)
    elif isinstance(value, dict):
        opening = "{"
        for key, item in value.items():
            yield f"{opening}{inner}{_key(key)}: "
            yield from _parts(item, inner, level + 1)
            opening = ","
        yield "{}" if opening == "{" else newline + "}"
    elif isinstance(value, list | tuple | Iterator):
        yield from _items(value, newline, level)
    else:
        yield _text(value, newline)


def _items(items: Iterable[Any], newline: str, level: int) -> Iterator[str]:
    inner = newline + "  "
    opening = "["
    for item in items:
        yield opening + inner
        yield from _parts(item, inner, level + 1)
        opening = ","
    yield "[]" if opening == "[" else newline + "]"


def _text(value: Any, newline: str) -> str:  # noqa: ANN401
    """The text of a value and all within it."""
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        return scalar(value)
    if isinstance(value, SharedList | SharedObject):
        known = value.texts.get(newline)
        if known is None:
            known = value.texts[newline] = _text_of(value, newline)
        return known
    return _text_of(value, newline)


def _text_of(value: Any, newline: str) -> str:  # noqa: ANN401
    if isinstance(value, dict):
        if not value:
            return "{}"
        inner = newline + "  "
        members = []
        for key, item in value.items():
            scalar = _SCALARS.get(type(item))
            text = _text(item, inner) if scalar is None else scalar(item)
            members.append(f"{_key(key)}: {text}")
        return f"{{{inner}{f',{inner}'.join(members)}{newline}}}"
    if isinstance(value, list | tuple):
        if not value:
            return "[]"
        inner = newline + "  "
        return f"[{inner}{f',{inner}'.join([_text(item, inner) for item in value])}{newline}]"
    return json_text(value)


def _key(key: object) -> str:
    """A member's name; the standard encoder has numbers as names, too."""
    return _ESCAPE(key) if type(key) is str else json.dumps({key: 0})[1:-4]
