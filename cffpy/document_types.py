# SPDX-License-Identifier: MIT
"""Types of the members of JSON documents, as TypedDicts declare them.

What a command writes with --json is declared next to where it is made, so that the type checker
compares both, and ``cffpy schema`` renders it (``cffpy.frame.documents``)::

    class PassesDocument(TypedDict):
        '''Passes of a capture: cffpy passes --json.'''

        gpu: Annotated[str | None, "name of the GPU"]
        passes: Annotated[Iterable[Facts], "its passes", Of("cffpy.frame.passes:Pass")]

A text in ``Annotated`` is the meaning of the member.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypedDict

#: An object that consists of the facts of a model; ``Of`` names the model.
Facts = dict[str, Any]


class Of(NamedTuple):
    """The model of an object, as in "cffpy.frame.passes:Pass"."""

    path: str


class FactsOf(NamedTuple):
    """An object with the facts of a model and the members of a TypedDict, which this annotates.

    A member takes the place of a fact of its name. ``path``: as for ``Of``. ``without``: facts that
    are not there. ``large``: large facts that are. ``by_columns``: the object is of many objects
    of the model, a column for each fact (``cffpy.frame.fact_columns``). ``is_sparse``: facts that
    say nothing are left out.
    """

    path: str
    without: tuple[str, ...] = ()
    large: tuple[str, ...] = ()
    by_columns: bool = False
    is_sparse: bool = False


class InColumn(NamedTuple):
    """A list that is a column: the values, or each value once and the index of each row's."""


class AtLeast(NamedTuple):
    """An object that has the members of a TypedDict, and may have others."""

    members: type


class Pattern(NamedTuple):
    """A regular expression that a text matches."""

    text: str


#: A number in hexadecimal, as text.
Hex = Annotated[str, Pattern("^0x[0-9a-f]+$")]
#: A SHA-256 in hexadecimal, as text.
Digest = Annotated[str, Pattern("^[0-9a-f]{64}$")]


_Value = bool | int | float | str | None
#: Values by their names; of a name of several values a list.
Values = dict[str, _Value | list[_Value]]


class LimitReached(TypedDict):
    """Something that a limit left out."""

    limit: Annotated[str | None, "name of the limit, as --limit takes it"]
    where: Annotated[str, "what was left out, in words"]


class OneCapture(TypedDict):
    """The members that documents of one capture begin with."""

    gpu: Annotated[str | None, "name of the GPU; null where the capture does not tell it"]
    generation: Annotated[int | None, "generation of the GPU: 7 for a7xx, 125 for gen12.5 of Intel"]
