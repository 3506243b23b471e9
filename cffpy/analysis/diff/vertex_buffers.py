# SPDX-License-Identifier: MIT
"""The buffers that draws fetch vertices from, by registers (a3xx and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.rules import COUNTS

if TYPE_CHECKING:
    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import MemoryImage

_VERTEX_BUFFERS = 32

#: Inputs that are kept.
_MAX_KNOWN = 4096


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
