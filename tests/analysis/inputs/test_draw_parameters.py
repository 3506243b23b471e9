# SPDX-License-Identifier: MIT
"""Parameters of draws are found by all that they depend on, and by no more than is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.inputs.draw_parameters import (
    OF_INDICES,
    OF_PACKET,
    OF_VALUES,
    DrawParameters,
    KnownParameters,
    Parameters,
)
from cffpy.frame.action import Action, PacketFacts
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText

#: What is derived of an action, where it is a property.
DERIVED = [
    one
    for one in (*DrawParameters._fields, *Parameters.__slots__)
    if isinstance(getattr(Action, one, None), property)
]


class Noting(SimpleNamespace):
    """Notes which of its members are read."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            super().__getattribute__("_read").add(name)
        return super().__getattribute__(name)


class NotingPacket(Noting):
    """Notes it of a packet, which derives some of its members of others."""

    derived = frozenset(
        name for name, one in vars(PacketFacts).items() if isinstance(one, property)
    )


for _name in NotingPacket.derived:
    setattr(NotingPacket, _name, vars(PacketFacts)[_name])


numbers = st.one_of(st.none(), st.integers(0, 3))
values_of_draws = dict.fromkeys((*OF_VALUES, "max_indices", "index_base", "draws"), numbers)
members_of_draws = {
    "indexed": st.booleans(),
    "indirect": st.booleans(),
    "packet": st.sampled_from(["CP_DRAW_INDX_OFFSET", "CP_DRAW_INDX", "CP_DRAW_INDIRECT"]),
    "vertices": numbers,
}


@given(st.fixed_dictionaries(members_of_draws), st.fixed_dictionaries(values_of_draws))
def test_nothing_else_is_read(members: dict[str, Any], numbers: dict[str, Any]) -> None:
    values = Noting(_read=set(), source=0, first_index=1, index_bytes=2, **numbers)
    others = {name: None for name in OF_PACKET if name not in members}
    packet = NotingPacket(_read=set(), values=values, **members, **others)
    action = SimpleNamespace(_packet_facts=packet, **members, _values=values)
    for name in DERIVED:
        getattr(Action, name).fget(action)
    assert packet._read - NotingPacket.derived <= {*OF_PACKET, "values"}
    assert values._read <= {*OF_VALUES, *(OF_INDICES if members["indexed"] else ())}


def test_the_same_object_for_equal_ones() -> None:
    def action(**changed: Any) -> Any:
        values = dict.fromkeys((*OF_VALUES, *OF_INDICES), 1) | {"initiator": 4}
        members = {"packet": "CP_DRAW_INDX_OFFSET", "primitive": "DI_PT_TRILIST", "dwords": ()}
        members |= {"vertices": 3, "instances": 1, "indexed": True, "indirect": False}
        members |= {"groups": None}
        for name, value in changed.items():
            (members if name in members else values)[name] = value
        packet = PacketFacts("draw", **members, values=SimpleNamespace(**values))  # type: ignore[arg-type]
        return Action(packet, order=0, dump_draw=0, execution=None, level=0, place=None)  # type: ignore[arg-type]

    known = KnownParameters(RegisterText(Database.open("A6XX")))
    first = known.of(action())
    assert known.of(action()) is first
    for change, differs in (
        ({"vertices": 4}, "vertices"),
        ({"instances": 2}, "instances"),
        ({"index_base": 2}, "index_region"),
        ({"index_bytes": 2}, "index_region"),
    ):
        other = known.of(action(**change))
        assert getattr(other, differs) != getattr(first, differs)
    assert known.of(action(index_base=2)).facts is first.facts, "where indices lie is no part of it"
    automatic = known.of(action(indexed=False))
    assert known.of(action(indexed=False, index_base=2)) is automatic
    assert automatic.index_region is None
    assert not automatic.has_indices
