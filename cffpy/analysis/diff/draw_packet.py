# SPDX-License-Identifier: MIT
"""What a draw's own packet says: how many vertices and instances, which indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.facts import Fact, FactKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.actions import Action


def parameters(action: Action) -> Iterator[tuple[FactKey, Fact]]:
    """The parameters of a draw or dispatch that are known, as facts."""
    for name, value in (
        ("packet", action.packet),
        ("primitive", action.label),
        ("vertices", action.vertices),
        ("instances", action.instances),
        ("indexed", int(action.indexed)),
        ("groups", None if action.groups is None else "x".join(map(str, action.groups))),
        ("first index", first_index(action)),
    ):
        if value is not None:
            yield ("draw", name), Fact(value, place=action.place)


def first_index(action: Action) -> int | None:
    """FIRST_INDX of CP_DRAW_INDX_OFFSET; None for draws without indices."""
    if action.packet != "CP_DRAW_INDX_OFFSET" or not action.indexed:
        return None
    return action.place.words.get(action.place.index + 4)


def index_region(action: Action, generation: int) -> tuple[int, int, int] | None:
    """Address, number and bytes of the indices that a draw reads, where its packet tells them."""
    if not action.indexed or action.vertices is None:
        return None
    words, start = action.place.words, action.place.index + 1
    if action.packet == "CP_DRAW_INDX_OFFSET":
        size = 1 << (words.get(start) >> 10 & 3)
        address = words.get(start + 4)
        if generation >= 5:
            address |= words.get(start + 5) << 32
        return address + size * words.get(start + 3), action.vertices, size
    if action.packet == "CP_DRAW_INDX":
        initiator = words.get(start + 1)
        size = 1 if initiator & 0x2000 else 4 if initiator & 0x800 else 2
        return words.get(start + 3), action.vertices, size
    return None
