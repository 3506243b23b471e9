# SPDX-License-Identifier: MIT
"""The reference part of docs/reference/api.md: the public names of cffpy with their docstrings.

The page is a hand-written part, up to the line START, and the generated part below it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from functools import cache

import cffpy
from cffpy.frame.faces import shown_name, told
from cffpy.frame.facts import Model
from cffpy.views import facts

START = "<!-- Written by ./dev docs from here on. -->"

#: In this order; everything else of ``cffpy.__all__`` follows by name.
_FIRST = ("open", "Capture", "Submit", "Pass", "Tile", "Action", "Draw", "RegisterState")


def page(old: str) -> str:
    """The page, with the hand-written part of its ``old`` text."""
    above, _, _ = old.partition(START)
    names = [name for name in cffpy.__all__ if not name.startswith("_")]
    names.sort(key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    parts = [f"{above}{START}\n\n## Reference\n"]
    parts += ["\n".join(_entry(name, getattr(cffpy, name))) for name in names]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _entry(name: str, found: object) -> Iterator[str]:
    if inspect.isfunction(found):
        yield f"### cffpy.{name}\n\n```text\ncffpy.{name}{_signature(found)}\n```\n"
        yield _markdown(inspect.getdoc(found) or "")
        return
    assert isinstance(found, type)
    base = found.__bases__[0]
    of = f" ({base.__name__})" if base.__name__ in cffpy.__all__ else ""
    yield f"### cffpy.{name}{of}\n\n{_markdown(inspect.getdoc(found) or '')}"
    declared: Model | None = getattr(found, "__model__", None)
    listed: set[str] = set()
    if declared is not None and declared.of.__name__ in _listed():
        listed = {fact.attribute for fact in declared.facts}
        if declared.of is found:
            yield f"\n{_facts_text(declared)}"
    rows = list(_members(found, listed))
    if rows:
        yield "\n| member | |\n| --- | --- |"
        yield from rows


@cache
def _listed() -> frozenset[str]:
    """The classes whose facts the page of facts lists."""
    return frozenset(model.of.__name__ for model in facts.models())


def _facts_text(declared: Model) -> str:
    """Where the facts of a class are, and which attributes have other names than these."""
    word = declared.word
    other = [
        f"`{one.attribute}` for `{shown_name(declared, one)}`"
        for one in declared.facts
        if one.attribute != shown_name(declared, one) and not one.attribute.startswith("_")
    ]
    but = f", but {', '.join(other)}" if other else ""
    return f"Its [facts](facts.md#{word}) are attributes of the same names{but}."


def _members(found: type, listed: Collection[str]) -> Iterator[str]:
    """Rows of members, without facts that are ``listed`` on the page of facts."""
    declared = getattr(found, "__model__", None)
    for one in declared.facts if declared is not None and not listed else ():
        if not isinstance(inspect.getattr_static(found, one.attribute, None), property):
            yield f"| `{one.attribute}` | {_cell(_markdown(told(one)))} |"
    # those of a base that has no entry of its own come first
    hidden = [base for base in found.__bases__ if _is_hidden(base)]
    for name, member in (pair for one in (*hidden, found) for pair in vars(one).items()):
        is_shown = not name.startswith("_") or name in ("__getitem__", "__iter__", "__contains__")
        inner = getattr(member, "func", None)  # of a cached property
        text = inspect.getdoc(inner if inner is not None else member)
        described = isinstance(member, property) or inner is not None or inspect.isfunction(member)
        if not is_shown or not described or not text or name in listed:
            continue
        shown = f"{name}{_signature(member)}" if inspect.isfunction(member) else name
        yield f"| `{_cell(shown)}` | {_cell(_markdown(' '.join(text.split())))} |"


def _is_hidden(base: type) -> bool:
    return base.__module__.startswith("cffpy.") and base.__name__ not in cffpy.__all__


def _signature(function: object) -> str:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    parameters = [one for name, one in signature.parameters.items() if name != "self"]
    return str(signature.replace(parameters=parameters)).replace("'", "")


def _markdown(text: str) -> str:
    return re.sub(r"``([^`]*)``", r"`\1`", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
