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
        ("indices" if action.indexed else "vertices", action.vertices),
        ("instances", action.instances),
        ("indexed", "TRUE" if action.indexed else "FALSE"),
        ("groups", None if action.groups is None else "x".join(map(str, action.groups))),
        ("first index", first_index(action)),
    ):
        if value is not None:
            yield ("draw", name), Fact(value, place=action.place)


def first_index(action: Action) -> int | None:
    """FIRST_INDX of CP_DRAW_INDX_OFFSET; None for draws without indices."""
    return None if action.values is None or not action.indexed else action.values.first_index


def index_region(action: Action) -> tuple[int, int, int] | None:
    """Address, number and bytes of the indices that a draw reads, where its packet tells them."""
    values = action.values
    if not action.indexed or action.vertices is None or values is None:
        return None
    if action.packet not in ("CP_DRAW_INDX_OFFSET", "CP_DRAW_INDX") or values.index_base is None:
        return None
    size = values.index_bytes
    return values.index_base + size * (values.first_index or 0), action.vertices, size
