# SPDX-License-Identifier: MIT
"""What draw packets say: decoded once, for sinks and analyses alike."""

from __future__ import annotations

from cffpy.pm4.fields import Fields
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.payload import Payload

#: SOURCE_SELECT (pc_di_src_sel): indices come from memory, or from the packet.
_INDEX_SOURCES = (0, 1)

#: VIS_CULL (pc_di_vis_cull_mode): the draw goes by the visibility stream.
_USE_VISIBILITY = 1

#: Draws of the older kind: a dword stands before the draw initiator.
INITIATOR_IS_SECOND = ("CP_DRAW_INDX", "CP_DRAW_INDX_2", "CP_DRAW_INDX_BIN")

#: Bytes of an index by SMALL_INDEX and INDEX_SIZE of the older draw initiator. Both bits at once
#: are no size.
_OLD_INDEX_BYTES = {(0, 0): 2, (0, 1): 4, (1, 0): 1, (1, 1): 0}

_OLD_INITIATOR = (
    "PRIM_TYPE",
    "SOURCE_SELECT",
    "VIS_CULL",
    "INDEX_SIZE",
    "SMALL_INDEX",
    "NUM_INSTANCES",
    "cffdump:PRIM_TYPE",
    "NUM_INDICES",
)
_OLD_DRAW = Fields("CP_DRAW_INDX", *_OLD_INITIATOR, "INDX_BASE", "INDX_SIZE")
_OLD_DRAW_2 = Fields("CP_DRAW_INDX_2", *_OLD_INITIATOR)
_A20X_DRAW = Fields("CP_DRAW_INDX", "NUM_INDICES", variant="A20X")

_INITIATOR = (
    "PRIM_TYPE",
    "SOURCE_SELECT",
    "VIS_CULL",
    "INDEX_SIZE",
    "GS_ENABLE",
    "TESS_ENABLE",
    "cffdump:PRIM_TYPE",
)
_DRAWS = {
    "CP_DRAW_INDX_OFFSET": Fields(
        "CP_DRAW_INDX_OFFSET",
        *_INITIATOR,
        "NUM_INSTANCES",
        "NUM_INDICES",
        "FIRST_INDX",
        "INDX_BASE",
    ),
    "CP_DRAW_INDIRECT": Fields("CP_DRAW_INDIRECT", *_INITIATOR, "INDIRECT"),
    "CP_DRAW_INDX_INDIRECT": Fields("CP_DRAW_INDX_INDIRECT", *_INITIATOR, "INDX_BASE", "INDIRECT"),
    "CP_DRAW_INDIRECT_MULTI": Fields("CP_DRAW_INDIRECT_MULTI", *_INITIATOR, "DRAW_COUNT"),
    "CP_DRAW_AUTO": Fields("CP_DRAW_AUTO", *_INITIATOR, "NUM_INSTANCES"),
}


class DrawValues(ValueObject):
    """What a draw packet says. What it does not say is None; ``index_bytes`` is then 0.

    ``primitive``: PRIM_TYPE (pc_di_primtype). ``cffdump_primitive``: as the reference reads it.
    ``source``: SOURCE_SELECT (pc_di_src_sel). ``uses_visibility``: whether it goes by the
    visibility stream. ``has_stages``: whether it has a geometry shader or tessellation.
    ``index_bytes``: the size of an index. ``vertices``: vertices or indices;
    ``num_indices``: NUM_INDICES, which a20x does not count by. ``index_base``: the
    address of the indices, ``index_buffer_bytes`` of them. ``first_index``: the first that is used.
    ``draws``: how many draws the packet is, at most. ``indirect``: the address of the parameters.
    """

    __slots__ = (
        "cffdump_primitive",
        "draws",
        "first_index",
        "has_stages",
        "index_base",
        "index_buffer_bytes",
        "index_bytes",
        "indirect",
        "instances",
        "num_indices",
        "primitive",
        "source",
        "uses_visibility",
        "vertices",
    )

    def __init__(
        self, primitive: int, source: int, visibility: int, cffdump_primitive: int
    ) -> None:
        self.primitive = primitive
        self.source = source
        self.uses_visibility = visibility == _USE_VISIBILITY
        self.cffdump_primitive = cffdump_primitive
        self.has_stages = False
        self.index_bytes = 0
        self.vertices: int | None = None
        self.num_indices = 0
        self.instances: int | None = None
        self.first_index: int | None = None
        self.index_base: int | None = None
        self.index_buffer_bytes: int | None = None
        self.draws: int | None = 1
        self.indirect: int | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether indices come from memory or from the packet."""
        return self.source in _INDEX_SOURCES


def draw_values(machine: Machine, name: str, payload: Payload) -> DrawValues:
    """What the draw packet ``name`` says."""
    if name in INITIATOR_IS_SECOND:
        return _old_draw(machine, name, payload)
    values = payload.read(machine.packets[_DRAWS[name]])
    primitive, source, visibility, index_size, geometry, tessellation, shown, *rest = values
    draw = DrawValues(primitive, source, visibility, shown)
    draw.index_bytes = (1, 2, 4, 0)[index_size]
    draw.has_stages = bool(geometry or tessellation)
    if name == "CP_DRAW_INDX_OFFSET":
        draw.instances, draw.vertices, draw.first_index, draw.index_base = rest
        draw.num_indices = rest[1]
    elif name == "CP_DRAW_INDIRECT":
        (draw.indirect,) = rest
    elif name == "CP_DRAW_INDX_INDIRECT":
        draw.index_base, draw.indirect = rest
    elif name == "CP_DRAW_INDIRECT_MULTI":
        (draw.draws,) = rest
    else:
        (draw.instances,) = rest
    return draw


def _old_draw(machine: Machine, name: str, payload: Payload) -> DrawValues:
    """CP_DRAW_INDX and its kin, of a2xx to a4xx. CP_DRAW_INDX_BIN begins as CP_DRAW_INDX does."""
    fields = _OLD_DRAW_2 if name == "CP_DRAW_INDX_2" else _OLD_DRAW
    values = payload.read(machine.packets[fields])
    primitive, source, visibility, size, small, instances, shown, vertices, *indices = values
    draw = DrawValues(primitive, source, visibility, shown)
    draw.index_bytes = _OLD_INDEX_BYTES[small, size]
    draw.vertices = draw.num_indices = vertices
    if indices:
        draw.index_base, draw.index_buffer_bytes = indices
    draw.instances = instances or 1
    if machine.gpu.generation == 2:
        draw.instances = 1
        (counted,) = payload.read(machine.packets[_A20X_DRAW])
        draw.vertices = counted or vertices
    return draw
