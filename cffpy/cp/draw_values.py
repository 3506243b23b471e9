# SPDX-License-Identifier: MIT
"""The values of draw packets: decoded once, for sinks and analyses alike."""

from __future__ import annotations

from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.payload import Payload

#: SOURCE_SELECT (pc_di_src_sel): indices come from memory, or from the packet.
_INDEX_SOURCES = (0, 1)

#: VIS_CULL (pc_di_vis_cull_mode): the draw uses the visibility stream.
_USE_VISIBILITY = 1

#: Older draw packets: they have a dword before the draw initiator.
INITIATOR_IS_SECOND = ("CP_DRAW_INDX", "CP_DRAW_INDX_2", "CP_DRAW_INDX_BIN")

#: Bytes of an index by SMALL_INDEX and INDEX_SIZE of the older draw initiator. Both bits at once
#: are no size.
_OLD_INDEX_BYTES = (2, 4, 1, 0)

_OLD_INITIATOR = (
    "PRIM_TYPE",
    "SOURCE_SELECT",
    "VIS_CULL",
    "INDEX_SIZE",
    "SMALL_INDEX",
    "NUM_INSTANCES",
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
)
_DRAWS = {
    "CP_DRAW_INDX_OFFSET": Fields(
        "CP_DRAW_INDX_OFFSET",
        *_INITIATOR,
        "NUM_INSTANCES",
        "NUM_INDICES",
        "FIRST_INDX",
        "INDX_BASE",
        "INDX_SIZE",
        "MAX_INDICES",
    ),
    "CP_DRAW_INDIRECT": Fields("CP_DRAW_INDIRECT", *_INITIATOR, "INDIRECT"),
    "CP_DRAW_INDX_INDIRECT": Fields("CP_DRAW_INDX_INDIRECT", *_INITIATOR, "INDX_BASE", "INDIRECT"),
    "CP_DRAW_INDIRECT_MULTI": Fields("CP_DRAW_INDIRECT_MULTI", *_INITIATOR, "DRAW_COUNT"),
    "CP_DRAW_AUTO": Fields("CP_DRAW_AUTO", *_INITIATOR, "NUM_INSTANCES"),
}


class DrawValues:
    """The values of a draw packet; None for those that it does not have, 0 for ``index_bytes``.

    A class with defaults, not a ``ValueObject``: there is one for each draw, and most values are
    the defaults.
    """

    #: The draw initiator: the dword with the next four, and others.
    initiator: int
    #: VIZ_QUERY, the dword before it in older draw packets.
    viz_query: int | None = None
    #: PRIM_TYPE (pc_di_primtype).
    primitive: int
    #: SOURCE_SELECT (pc_di_src_sel).
    source: int
    #: VIS_CULL (pc_di_vis_cull_mode).
    visibility: int
    #: Whether it has a geometry shader or tessellation.
    has_stages = False
    #: The size of an index.
    index_bytes = 0
    #: Vertices or indices; NUM_INDICES, which a20x does not use.
    vertices: int | None = None
    num_indices = 0
    instances: int | None = None
    #: The first index that is used; the address of the indices; how many bytes of them there are.
    first_index: int | None = None
    index_base: int | None = None
    index_buffer_bytes: int | None = None
    #: How many indices there are from that address on. Beyond them, the GPU reads none.
    max_indices: int | None = None
    #: How many draws the packet is, at most.
    draws = 1
    #: The address of the parameters.
    indirect: int | None = None

    @property
    def uses_visibility(self) -> bool:
        """Whether it uses the visibility stream."""
        return self.visibility == _USE_VISIBILITY

    @property
    def is_indexed(self) -> bool:
        """Whether indices come from memory or from the packet."""
        return self.source in _INDEX_SOURCES


def draw_values(machine: Machine, name: str, payload: Payload) -> DrawValues:
    """The values of the draw packet ``name``."""
    if name in INITIATOR_IS_SECOND:
        return _old_draw(machine, name, payload)
    reader = machine.packets[_DRAWS[name]]
    if payload.count < reader.dwords:  # a draw without indices ends before their address
        values = reader.read([*payload.dwords(), *[0] * reader.dwords])
    else:
        values = payload.read(reader)
    primitive, source, visibility, index_size, geometry, tessellation, *rest = values
    draw = DrawValues()
    draw.initiator = payload[0]
    draw.primitive, draw.source, draw.visibility = primitive, source, visibility
    draw.index_bytes = (1, 2, 4, 0)[index_size]
    if geometry or tessellation:
        draw.has_stages = True
    if name == "CP_DRAW_INDX_OFFSET":
        draw.instances, draw.vertices, draw.first_index, draw.index_base, size, most = rest
        draw.num_indices = rest[1]
        is_in_bytes = machine.gpu.facts.number < 5
        draw.max_indices = size // (draw.index_bytes or 1) if is_in_bytes else most
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
    """CP_DRAW_INDX, _2 and _BIN, of a2xx to a4xx; the last begins as the first does."""
    fields = _OLD_DRAW_2 if name == "CP_DRAW_INDX_2" else _OLD_DRAW
    values = payload.read(machine.packets[fields])
    primitive, source, visibility, size, small, instances, vertices, *indices = values
    draw = DrawValues()
    draw.viz_query, draw.initiator = payload[0], payload[1]
    draw.primitive, draw.source, draw.visibility = primitive, source, visibility
    draw.index_bytes = _OLD_INDEX_BYTES[small << 1 | size]
    draw.vertices = draw.num_indices = vertices
    if indices:
        draw.index_base, draw.index_buffer_bytes = indices
        draw.max_indices = indices[1] // (draw.index_bytes or 1)
    draw.instances = instances or 1
    if machine.gpu.facts.has_a20x_draws:
        draw.instances = 1
        (counted,) = payload.read(machine.packets[_A20X_DRAW])
        draw.vertices = counted or vertices
    return draw
