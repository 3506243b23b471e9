# SPDX-License-Identifier: MIT
"""FetchedBuffers: the vertex buffers of draws on a2xx, whose programs fetch their vertices.

A program names a fetch constant, which has the address and the size of a buffer. Packets load the
constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.vertex_buffers import VertexBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cffpy.analysis.diff.draw_facts import Facts
    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.isa.a2xx import A2xxDisassembler, VertexFetch

#: CP_SET_CONSTANT: the type of fetch constants; constants of each type.
_FETCH_CONSTANTS, _CONSTANTS = 1, 1 << 16

#: Bits of a constant's dwords: of the address all but its kind, of the size in bytes all but flags.
_ADDRESS, _SIZE = 0xFFFFFFFC, 0x03FFFFFC

#: Programs whose fetches are kept.
_MAX_KNOWN = 4096


class FetchedBuffers:
    """Finds the buffers of a draw by the facts on its program and on what packets loaded."""

    def __init__(self, disassembler: Callable[[], A2xxDisassembler]) -> None:
        self._disassembler = disassembler
        #: By the digest of a program; draws repeat them.
        self._fetches: dict[object, Sequence[VertexFetch]] = {}

    def of(self, program: Fact | None, loads: Facts) -> tuple[VertexBuffer, ...]:
        """The buffers, each once. ``program``: of the vertex stage; None where none is known."""
        if program is None or program.data is None:
            return ()
        return tuple(_buffers(self._fetched(program), _fetch_constants(loads)).values())

    def _fetched(self, program: Fact) -> Sequence[VertexFetch]:
        found = self._fetches.get(program.digest)
        if found is None:
            if len(self._fetches) >= _MAX_KNOWN:
                self._fetches.clear()
            found = self._disassembler().vertex_fetches(program.data or b"")
            self._fetches[program.digest] = found
        return found


def _buffers(fetches: Sequence[VertexFetch], dwords: Mapping[int, int]) -> dict[int, VertexBuffer]:
    found: dict[int, VertexBuffer] = {}
    for one in fetches:
        address, size = dwords.get(2 * one.constant), dwords.get(2 * one.constant + 1)
        if address is not None and size is not None and one.constant not in found:
            stride = one.stride or None
            found[one.constant] = VertexBuffer(
                one.constant, address & _ADDRESS, size & _SIZE, stride, is_instanced=False
            )
    return found


def _fetch_constants(facts: Mapping[FactKey, Fact]) -> dict[int, int]:
    """The dwords of fetch constants that packets loaded, by their index."""
    found: dict[int, int] = {}
    for key, fact in facts.items():
        index = key[1] if key[0] == "constants" and len(key) == 2 else None
        if isinstance(index, int) and index // _CONSTANTS == _FETCH_CONSTANTS and fact.data:
            values = fact.data.cast("B").cast("I")
            found.update(zip(range(index % _CONSTANTS, _CONSTANTS), values, strict=False))
    return found
