# SPDX-License-Identifier: MIT
"""The facts of draws as dictionaries that draws share, and how those of two draws differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.facts import Fact, FactKey, KnownRegions

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

#: Facts that are known.
MAX_KNOWN = 1 << 12


class KnownFacts:
    """Facts that draws of other submits may have, too, or those of the capture compared with.

    ``regions``: the facts of memory among them.
    """

    def __init__(self) -> None:
        self.regions = KnownRegions()
        #: By the keys and ids of their facts.
        self._known: dict[tuple[tuple[FactKey, int], ...], Facts] = {}
        self._changes: dict[tuple[Facts, Facts], ChangedFacts] = {}

    def of(self, found: Mapping[FactKey, Fact]) -> Facts:
        """These facts; the same object where they are the same objects."""
        key = tuple([(key, id(fact)) for key, fact in found.items()])
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            known = self._known[key] = Facts(found)
        return known

    def changed(self, now: Facts, before: Facts) -> ChangedFacts:
        """As ``changed_facts``, the same object for the same ones."""
        known = self._changes.get((now, before))
        if known is None:
            if len(self._changes) >= MAX_KNOWN:
                self._changes.clear()
            known = self._changes[now, before] = changed_facts((now,), (before,))
        return known


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
