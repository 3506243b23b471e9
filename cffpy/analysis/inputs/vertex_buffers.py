# SPDX-License-Identifier: MIT
"""The buffers that draws fetch vertices from.

Registers name them (a3xx and later). On a2xx, programs fetch their vertices: a program names a
fetch constant, which has the address and the size of a buffer, and packets load the constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cffpy.analysis.inputs.facts import FactKey, Facts, InputFact
    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import MemoryImage
    from cffpy.isa.a2xx import A2xxDisassembler, VertexFetch

_VERTEX_BUFFERS = 32

#: Inputs, and programs whose fetches are known, that are kept.
_MAX_KNOWN = 4096

#: Array of registers -> the fields that count the elements in use, of which a generation has one.
COUNTS: dict[str, tuple[tuple[str, str], ...]] = {
    "VFD_FETCH": (
        ("VFD_CONTROL_0", "FETCH_CNT"),
        ("VFD_CONTROL_0", "VTXCNT"),
        ("VFD_CONTROL_0", "STRMFETCHINSTRCNT"),
    ),
    "VFD_DECODE": (
        ("VFD_CONTROL_0", "DECODE_CNT"),
        ("VFD_CONTROL_0", "VTXCNT"),
        ("VFD_CONTROL_0", "STRMDECINSTRCNT"),
    ),
    "VFD_DEST_CNTL": (("VFD_CONTROL_0", "DECODE_CNT"), ("VFD_CONTROL_0", "VTXCNT")),
}

#: CP_SET_CONSTANT (a2xx): the type of fetch constants; constants of each type.
_FETCH_CONSTANTS, _CONSTANTS = 1, 1 << 16

#: Bits of a constant's dwords: of the address all but its kind, of the size in bytes all but flags.
_ADDRESS, _SIZE = 0xFFFFFFFC, 0x03FFFFFC


class VertexBuffer(NamedTuple):
    """A buffer that draws fetch from. ``size`` and ``stride``: bytes; None where not known.

    ``is_instanced``: it has an element for each instance, not for each vertex.
    """

    number: int
    address: int
    size: int | None
    stride: int | None
    is_instanced: bool

    def extent(self, vertices: range, instances: range) -> tuple[int, int]:
        """Offset and bytes of what is fetched for these vertices and instances, at most."""
        if not self.stride:
            return 0, self.size or 0
        elements = instances if self.is_instanced else vertices
        start, end = (self.stride * max(0, one) for one in (elements.start, elements.stop))
        return start, (end if self.size is None else min(self.size, end)) - start


class BoundBuffers:
    """Buffers that draws fetch from together. Equal ones are the same object."""

    __slots__ = ("buffers", "epoch", "is_captured")

    def __init__(self, buffers: tuple[VertexBuffer, ...]) -> None:
        self.buffers = buffers
        #: Whether the file has the contents of any of them, in this epoch of memory.
        self.is_captured = False
        self.epoch = -1

    def are_captured(self, image: MemoryImage) -> bool:
        """Whether the file has the contents of any of them now."""
        if self.epoch != image.epoch:
            self.epoch = image.epoch
            self.is_captured = any(image.find(one.address) is not None for one in self.buffers)
        return self.is_captured


class VertexInputs:
    """What draws fetch from, and where they begin. Equal ones are the same object.

    ``first_vertex``, ``first_instance``: see ``first_elements``.
    """

    __slots__ = ("bound", "first_instance", "first_vertex")

    def __init__(self, bound: BoundBuffers, firsts: tuple[int, int]) -> None:
        self.bound = bound
        self.first_vertex, self.first_instance = firsts


#: Buffers, and their inputs by what ``first_elements`` has.
_Inputs = tuple[BoundBuffers, dict[tuple[int, int], VertexInputs]]


class KnownInputs:
    """The inputs of the draws of a capture, so that they are compared and hashed by identity."""

    def __init__(self) -> None:
        self._known: dict[tuple[VertexBuffer, ...], _Inputs] = {}
        self._last = BoundBuffers(())
        #: Those of the last buffers.
        self._inputs: dict[tuple[int, int], VertexInputs] = {}
        self._count = 0

    def of(self, buffers: tuple[VertexBuffer, ...], firsts: tuple[int, int]) -> VertexInputs:
        """These inputs; mostly the same object for the same ones."""
        if self._last.buffers is not buffers:
            self._bind(buffers)
        known = self._inputs.get(firsts)
        if known is None:
            if self._count >= _MAX_KNOWN:
                self._known.clear()
                self._count = 0
                self._bind(buffers)
            self._count += 1
            known = self._inputs[firsts] = VertexInputs(self._last, firsts)
        return known

    def _bind(self, buffers: tuple[VertexBuffer, ...]) -> None:
        known = self._known.get(buffers)
        if known is None:
            known = self._known[buffers] = BoundBuffers(buffers), {}
        self._last, self._inputs = known


def first_elements(reader: RegisterReader) -> tuple[int, int]:
    """What is added to the numbers of vertices, which may be negative, and of instances."""
    vertex = reader.value("VFD_INDEX_OFFSET") or reader.value("VGT_INDX_OFFSET") or 0
    names = "VFD_INSTANCE_START_OFFSET", "VFD_INSTANCEID_OFFSET"
    instance = next((one for name in names if (one := reader.value(name)) is not None), 0)
    return vertex - (1 << 32) if vertex >> 31 else vertex, instance


def vertex_buffers(reader: RegisterReader) -> tuple[VertexBuffer, ...]:
    """The buffers that draws fetch from (a3xx and later)."""
    counts = (reader.field(*one) for one in COUNTS["VFD_FETCH"])
    count = next((one for one in counts if one is not None), 0)
    instanced = _instanced(reader)
    found = []
    for index in range(min(count, _VERTEX_BUFFERS)):
        name = f"VFD_FETCH[{index}]"
        address, size = reader.address(f"{name}.BASE"), reader.value(f"{name}.SIZE")
        stride = reader.value(f"{name}.STRIDE")
        if address is None:  # a3xx, a4xx
            address, size = reader.value(f"{name}.INSTR_1"), reader.field(f"{name}.INSTR_2", "SIZE")
            stride = reader.field(f"{name}.INSTR_0", "BUFSTRIDE")
            if reader.flag(f"{name}.INSTR_0", "INSTANCED"):
                instanced.add(index)
        if address and (size or (size is None and stride)):
            found.append(VertexBuffer(index, address, size, stride, index in instanced))
    return tuple(found)


def _instanced(reader: RegisterReader) -> set[int]:
    """The buffers of which all attributes are fetched for each instance (a5xx and later)."""
    counts = (reader.field(*one) for one in COUNTS["VFD_DECODE"])
    count = next((one for one in counts if one is not None), 0)
    found: dict[bool, set[int]] = {False: set(), True: set()}
    for index in range(min(count, _VERTEX_BUFFERS)):
        name = f"VFD_DECODE[{index}].INSTR"
        buffer = reader.field(name, "IDX")
        if buffer is not None:
            found[reader.flag(name, "INSTANCED")].add(buffer)
    return found[True] - found[False]


class FetchedBuffers:
    """Finds the buffers of a draw by the facts on its program and on what packets loaded."""

    def __init__(self, disassembler: Callable[[], A2xxDisassembler]) -> None:
        self._disassembler = disassembler
        #: By the digest of a program; draws repeat them.
        self._fetches: dict[object, Sequence[VertexFetch]] = {}

    def of(self, program: InputFact | None, loads: Facts) -> tuple[VertexBuffer, ...]:
        """The buffers, each once. ``program``: of the vertex stage; None where none is known."""
        if program is None or program.data is None:
            return ()
        return tuple(_buffers(self._fetched(program), _fetch_constants(loads)).values())

    def _fetched(self, program: InputFact) -> Sequence[VertexFetch]:
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


def _fetch_constants(facts: Mapping[FactKey, InputFact]) -> dict[int, int]:
    """The dwords of fetch constants that packets loaded, by their index."""
    found: dict[int, int] = {}
    for key, fact in facts.items():
        index = key[1] if key[0] == "constants" and len(key) == 2 else None
        if isinstance(index, int) and index // _CONSTANTS == _FETCH_CONSTANTS and fact.data:
            values = fact.data.cast("B").cast("I")
            found.update(zip(range(index % _CONSTANTS, _CONSTANTS), values, strict=False))
    return found
