# SPDX-License-Identifier: MIT
"""What the packets of draws, dispatches and blits say: the facts of it, once for equal packets."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.inputs.facts import Facts, InputFact
from cffpy.cp.packets.draw import INITIATOR_IS_SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.action import Action, PacketFacts
    from cffpy.regdb.registers import RegisterText

#: Parameters that are kept.
_MAX_KNOWN = 4096

#: The members of an action that its parameters depend on, and those of its ``DrawValues``: of any
#: draw, and those that count for draws with indices only.
OF_PACKET = (
    "packet",
    "primitive",
    "vertices",
    "instances",
    "indexed",
    "indirect",
    "groups",
    "dwords",
)
OF_VALUES = ("initiator", "viz_query", "indirect")
OF_INDICES = ("source", "first_index", "index_base", "index_bytes", "max_indices", "draws")

_of_packet = attrgetter(*OF_PACKET)
_of_values = attrgetter(*OF_VALUES)
_of_indexed = attrgetter(*OF_VALUES, *OF_INDICES)


class DrawParameters(NamedTuple):
    """What the packet of a draw, dispatch or blit says: members of ``Action`` of these names."""

    packet: str
    primitive: str | None
    vertices: int | None
    instances: int | None
    indexed: bool
    groups: tuple[int, int, int] | None
    first_index: int | None
    indices_within: int | None
    initiator: int | None
    viz_query: int | None
    dwords: tuple[int, ...]


_parameters_of = attrgetter(*DrawParameters._fields)


class Parameters:
    """What the packet of an action says. Compared by identity.

    ``facts``: those that are compared; the others are members of ``Action`` of these names.
    """

    __slots__ = (
        "facts",
        "has_indices",
        "index_region",
        "indexed",
        "indirect_indices",
        "instances",
        "unknown_parameters",
        "vertices",
    )

    def __init__(self, action: Action, facts: Facts) -> None:
        self.facts = facts
        self.vertices = action.vertices
        self.instances = action.instances
        self.indexed = action.indexed
        self.index_region = action.index_region
        self.indirect_indices = action.indirect_indices
        self.unknown_parameters = action.unknown_parameters
        #: Whether it is known where indices lie.
        self.has_indices = self.index_region is not None or self.indirect_indices is not None


def parameters_key(packet: PacketFacts) -> tuple[object, ...]:
    """What parameters depend on."""
    values = packet.values
    if values is None:
        return _of_packet(packet)
    if packet.indexed:
        return _of_packet(packet), _of_indexed(values)
    return _of_packet(packet), _of_values(values)


class KnownParameters:
    """The parameters of the actions of a capture: most have those of another one."""

    def __init__(self, text: RegisterText) -> None:
        self._text = text
        self._known: dict[tuple[object, ...], Parameters] = {}
        #: By ``DrawParameters``: where indices lie is no part of them.
        self._facts: dict[tuple[object, ...], Facts] = {}

    def of(self, action: Action) -> Parameters:
        """The parameters of an action; mostly the same object for equal ones."""
        key = parameters_key(action._packet_facts)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[key] = Parameters(action, self._facts_of(action))
        return known

    def _facts_of(self, action: Action) -> Facts:
        key = _parameters_of(action)
        known = self._facts.get(key)
        if known is None:
            if len(self._facts) >= _MAX_KNOWN:
                self._facts.clear()
            given = DrawParameters(*key)
            named = [*named_parameters(given), *packet_fields(self._text, given)]
            known = Facts({("draw", name): InputFact(value) for name, value in named})
            self._facts[key] = known
        return known


def named_parameters(given: DrawParameters) -> Iterator[tuple[str, str | int]]:
    """The parameters that there are, by the names that a comparison shows."""
    for name, value in (
        ("packet", given.packet),
        ("primitive", given.primitive),
        ("indices" if given.indexed else "vertices", given.vertices),
        ("instances", given.instances),
        ("indexed", "TRUE" if given.indexed else "FALSE"),
        ("groups", None if given.groups is None else "x".join(map(str, given.groups))),
        ("first index", given.first_index),
        ("indices in the buffer", given.indices_within),
    ):
        if value is not None:
            yield name, value


#: Fields of the draw initiator that the parameters above have.
_IN_PARAMETERS = ("PRIM_TYPE", "NUM_INSTANCES")
#: Those of draws with indices only.
_INDEX_FIELDS = ("SOURCE_SELECT", "INDEX_SIZE", "SMALL_INDEX")


def packet_fields(text: RegisterText, given: DrawParameters) -> Iterator[tuple[str, str]]:
    """Names and texts of what else the packet says: a draw's initiator, a blit's rectangles."""
    for field in text.descriptor_fields(given.packet, given.dwords):
        if given.initiator is not None and field.dword == "0":
            continue  # the initiator: see below
        yield f"dword {field.name}" if field.name.isdigit() else field.name, field.text
    if given.initiator is None:
        return
    is_second = given.packet in INITIATOR_IS_SECOND  # these have the same two dwords
    domain = INITIATOR_IS_SECOND[0] if is_second else given.packet
    dwords = [given.viz_query or 0, given.initiator] if is_second else [given.initiator]
    for field in text.descriptor_fields(domain, dwords):
        if field.name not in _IN_PARAMETERS and (given.indexed or field.name not in _INDEX_FIELDS):
            yield field.name, field.text
