# SPDX-License-Identifier: MIT
"""The base of objects with facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.frame.facts import model_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.facts import Model


class ModelObject:
    """Base of objects with facts: their document, their short text, and how notebooks show them."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Its facts, as commands write them with ``--json``."""
        from cffpy.frame.faces import facts_document  # lazily: text does without

        return facts_document(self)

    def __repr__(self) -> str:
        shown = model_of(type(self))
        key = shown.key
        number = "" if key is None else f" {key.get(self)}"
        text = ", ".join(_short_facts(shown, self))
        return f"<{type(self).__name__}{number}{': ' if text else ''}{text}>"

    def _repr_html_(self) -> str:
        from cffpy.frame.notebook import facts_table

        return facts_table(self)


#: Facts in the short text of an object, and the characters of each.
_SHOWN_FACTS, _SHOWN_CHARACTERS = 6, 60


def _short_facts(shown: Model, owner: object) -> Iterator[str]:
    """The first facts that an object has, of those that are numbers, flags or short texts."""
    left = _SHOWN_FACTS
    for one in shown.facts:
        value = None if one.is_key or one.cost != "own" else one.get(owner)
        if not left or value is None or not isinstance(value, (bool, int, float, str)):
            continue
        text = str(value)
        if isinstance(value, int) and one.annotation.startswith("Address"):
            text = hex(value)
        if len(text) <= _SHOWN_CHARACTERS:
            left -= 1
            yield f"{one.name} {text}"
