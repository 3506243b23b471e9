# SPDX-License-Identifier: MIT
"""DrawValues: what a draw packet says. It imports nothing: ``cffpy dump`` reads draws, too."""

from __future__ import annotations

#: VIS_CULL (pc_di_vis_cull_mode): the draw uses the visibility stream.
_USE_VISIBILITY = 1
#: SOURCE_SELECT (pc_di_src_sel): indices come from memory, or from the packet.
_INDEX_SOURCES = (0, 1)


class DrawValues:
    """The values of a draw packet; None for a value that it does not have, 0 for ``index_bytes``.

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
    #: Whether their number is in memory, too.
    has_count = False
    #: The address of the parameters.
    indirect: int | None = None

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"DrawValues({values})"

    @property
    def uses_visibility(self) -> bool:
        """Whether it uses the visibility stream."""
        return self.visibility == _USE_VISIBILITY

    @property
    def is_indexed(self) -> bool:
        """Whether indices come from memory or from the packet."""
        return self.source in _INDEX_SOURCES
