# SPDX-License-Identifier: MIT
"""How structures are declared in construct here, and the compiled form of a declaration: its rows.

A structure is a ``Struct`` of ``Int32ul``, ``Int64ul`` and ``Dword(...)``, a little-endian dword of
bit fields; or a ``Dword`` alone. Members that a short structure lacks are ``Trailing``; a list of
equal structures is ``Entries``. Each has parts of its own that construct does not have to be taken
apart for: ``Dword.fields``, ``Trailing.member``, ``Entries.entry``. ``rows_of`` walks a declaration
and gives the rows of cffpy.row_readers: ``(name, dword, shift, width)``; the name of a bit field in
a named dword is ``dword.field``.

Of construct it uses ``Struct.subcons``, the ``subcon`` of a ``Subconstruct``, ``name`` and
``sizeof()``. construct's own ``compile()`` gives Python source that needs construct, and leaves bit
fields uncompiled. Importing this module imports construct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.row_readers import Row, Rows


def bits(width: int) -> Any:  # noqa: ANN401  (construct has no types)
    """An unsigned number of ``width`` bits within a ``Dword``; built as 0 where it is left out."""
    return construct.Default(construct.BitsInteger(width), 0)


class Dword(construct.Subconstruct):  # type: ignore[misc]
    """A little-endian dword of bit fields, declared from bit 31 down, as in a ``BitStruct``."""

    def __init__(self, *fields: Any) -> None:  # noqa: ANN401
        super().__init__(construct.ByteSwapped(construct.BitStruct(*fields)))
        #: The members as declared, paddings among them.
        self.fields = fields


class Trailing(construct.Subconstruct):  # type: ignore[misc]
    """A member that a short structure lacks: parsed as None where the data end before its end.

    It is built where it, or a member after it, is given.
    """

    def __init__(self, member: Any, names: Sequence[str]) -> None:  # noqa: ANN401
        """``names``: of the member, and of those after it."""
        super().__init__(construct.If(_is_present(names, member.sizeof()), member))
        self.member = member
        self.flagbuildnone = True  # a dict to build from may leave it out


class Entries(construct.Subconstruct):  # type: ignore[misc]
    """As many equal structures as the data have."""

    def __init__(self, *members: Any) -> None:  # noqa: ANN401
        entry = construct.Struct(*members)
        super().__init__(construct.GreedyRange(entry))
        self.entry = entry


def shortened(*members: Any, required: int = 0) -> Any:  # noqa: ANN401
    """A Struct of which all members but the first ``required`` may be missing."""
    names = [member.name for member in members]
    trailing = [
        member.name / Trailing(member.subcon, names[place:])
        for place, member in enumerate(members[required:], required)
    ]
    return construct.Struct(*members[:required], *trailing)


def _is_present(names: Sequence[str], size: int) -> Callable[[Any], bool]:
    def is_present(context: Any) -> bool:  # noqa: ANN401
        if context._parsing:
            stream = context._io
            start = stream.tell()
            end = stream.seek(0, 2)
            stream.seek(start)
            return bool(end - start >= size)
        return any(context.get(name) is not None for name in names)

    return is_present


def entry_of(structure: Any) -> Any | None:  # noqa: ANN401
    """What a Struct that is a list of equal entries repeats; None for any other Struct."""
    members = [] if isinstance(structure, Dword) else structure.subcons
    entries = _bare(members[0]) if len(members) == 1 else None
    return entries.entry if isinstance(entries, Entries) else None


def rows_of(structure: Any) -> Rows:  # noqa: ANN401
    """The rows of a structure, in the order of its members; of a list, those of one entry."""
    entry = entry_of(structure)
    return tuple(_rows(structure if entry is None else entry))


def _rows(structure: Any) -> Iterator[Row]:  # noqa: ANN401
    if isinstance(structure, Dword):
        yield from _bit_rows(structure, "", 0)
        return
    dword = 0
    for member in structure.subcons:
        bare = _bare(member)
        if isinstance(bare, Dword):
            yield from _bit_rows(bare, f"{member.name}.", dword)
        elif member.name is not None:
            yield member.name, dword, 0, bare.sizeof() * 8
        dword += bare.sizeof() // 4


def _bit_rows(word: Dword, prefix: str, dword: int) -> Iterator[Row]:
    """The named bit fields of a dword, the lowest first."""
    low = 0
    for field in reversed(word.fields):
        width = field.sizeof()
        if field.name is not None:
            yield f"{prefix}{field.name}", dword, low, width
        low += width


def _bare(member: Any) -> Any:  # noqa: ANN401
    """The number, dword or list in a member, without its name, its default or fixed value."""
    while isinstance(member, construct.Subconstruct) and not isinstance(member, Dword | Entries):
        member = member.member if isinstance(member, Trailing) else member.subcon
    return member
