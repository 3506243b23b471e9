# SPDX-License-Identifier: MIT
"""construct Structs of dwords: how they are declared here, and the rows that readers are made of.

A structure is a ``Struct`` of ``Int32ul``, ``Int64ul`` and ``dword(...)``, a little-endian dword
of bit fields; or one ``dword(...)`` alone. ``rows_of`` walks it and gives the rows of
cffpy.row_readers: ``(name, dword, shift, width)``. The name of a bit field in a named dword is
``dword.field``. Importing this module imports construct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.row_readers import Row, Rows


def dword(*fields: Any) -> Any:  # noqa: ANN401  (construct has no types)
    """A little-endian dword of bit fields, declared from bit 31 down, as in a ``BitStruct``."""
    return construct.ByteSwapped(construct.BitStruct(*fields))


def bits(width: int) -> Any:  # noqa: ANN401
    """An unsigned number of ``width`` bits within a ``dword``; built as 0 where it is left out."""
    return construct.Default(construct.BitsInteger(width), 0)


def entry_of(structure: Any) -> Any | None:  # noqa: ANN401
    """What a Struct that is a list of equal entries repeats; None for any other Struct."""
    members = getattr(structure, "subcons", [])
    if len(members) == 1 and isinstance(_inner(members[0]), construct.GreedyRange):
        return _inner(members[0]).subcon
    return None


def rows_of(structure: Any) -> Rows:  # noqa: ANN401
    """The rows of a structure, in the order of its members; of a list, those of one entry."""
    entry = entry_of(structure)
    return tuple(_rows(structure if entry is None else entry))


def _rows(structure: Any) -> Iterator[Row]:  # noqa: ANN401
    if isinstance(structure, construct.Transformed):
        yield from _bit_rows(structure, "", 0)
        return
    position = 0
    for member in structure.subcons:
        inner = _inner(member)
        if isinstance(inner, construct.Transformed):
            yield from _bit_rows(inner, f"{member.name}.", position)
        elif member.name is not None:
            yield member.name, position, 0, inner.sizeof() * 8
        position += inner.sizeof() // 4


def _bit_rows(word: Any, prefix: str, position: int) -> Iterator[Row]:  # noqa: ANN401
    """The named bit fields of a ``dword``, the lowest first."""
    found = []
    above = 32
    for member in word.subcon.subcon.subcons:
        width = member.sizeof()
        above -= width
        if member.name is not None:
            found.append((f"{prefix}{member.name}", position, above, width))
    yield from reversed(found)


#: Wrappers that add a name, a default, a fixed or computed value to what they hold.
_WRAPPERS = (construct.Renamed, construct.Default, construct.Rebuild, construct.Const)


def _inner(member: Any) -> Any:  # noqa: ANN401
    """The number or bit struct in a member, without wrappers; of an optional one, when present."""
    while True:
        if isinstance(member, construct.IfThenElse):
            member = member.thensubcon
        elif isinstance(member, construct.Select):
            member = member.subcons[0]
        elif isinstance(member, _WRAPPERS):
            member = member.subcon
        else:
            return member
