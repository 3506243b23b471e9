# SPDX-License-Identifier: MIT
"""The facts of draws as dictionaries that draws share, and how those of two draws differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.facts import Fact, FactKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Facts by key, None for one that is gone.
ChangedFacts = dict[FactKey, Fact | None]

#: Facts that belong to one draw alone, by which draws are recognised.
_OWN = (
    "draw",
    "shader",
    "push constants",
    "constants",
    "uniform data",
    "vertex buffer",
    "index buffer",
)


class Facts(dict[FactKey, Fact]):
    """Facts by key. They are shared, never change, and are compared by identity.

    ``own``: a hash of those by which draws are recognised.
    """

    __slots__ = ("own",)
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, facts: Mapping[FactKey, Fact]) -> None:
        super().__init__(facts)
        self.own = hash(tuple([(key, one.digest) for key, one in facts.items() if key[0] in _OWN]))

    def __eq__(self, other: object) -> bool:
        return self is other


NO_FACTS = Facts({})


def changed_facts(now: Sequence[Facts], before: Sequence[Facts]) -> ChangedFacts:
    """The facts that are not those of the record before; None for one that is gone."""
    found: ChangedFacts = {}
    gone: dict[FactKey, None] = {}
    for position in range(max(len(now), len(before))):
        mine = now[position] if position < len(now) else NO_FACTS
        theirs = before[position] if position < len(before) else NO_FACTS
        if mine is theirs:
            continue
        for key, fact in mine.items():
            known = theirs.get(key)
            # another value, or the same one from another packet
            if known is not fact and (known != fact or known.place is not fact.place):
                found[key] = fact
        gone.update((key, None) for key in theirs if key not in mine)
    found.update(gone)
    return found
