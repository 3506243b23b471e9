# SPDX-License-Identifier: MIT
"""What a binning run leaves for its tiles: draws with entries (a6xx and later), stream memory.

Nothing is decoded here: this is noted while the run is executed, because registers change and
buffers are dropped afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.execution import Executed
from cffpy.frame.passes import PipeMemory, StreamDraw

if TYPE_CHECKING:
    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import MemoryImage
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pipe, VisibilityStreams

#: PRIM_TYPE (pc_di_primtype) -> vertices for each further primitive, and how many more the first
#: one takes.
_TOPOLOGIES = {
    1: (1, 0),  # points, with sizes
    2: (2, 0),  # lines
    3: (1, 1),  # line strip
    4: (3, 0),  # triangles
    5: (1, 2),  # triangle fan
    6: (1, 2),  # triangle strip
    9: (1, 0),  # points
}

#: A size in the VSC's array of sizes, in bytes.
_SIZE_BYTES = 4


def stream_draw(registers: RegisterReader, action: Action, has_views: bool) -> StreamDraw | None:
    """A draw of a binning run, as the registers are while it runs; None if it has no entries.

    Unknown: whether a draw without primitives or instances has an entry; what only the GPU
    decides (predicates) or reads (indirect parameters); what tessellation, geometry shaders,
    primitive restart and several views make of a draw.
    """
    if not action.execution.is_possible or not action.uses_visibility:
        return None
    least, most = _entries(action)
    primitives = None if has_views else _primitives(registers, action)
    instances = action.instances
    if action.indirect or has_views or not instances:
        instances = None
    if primitives == 0 or not action.instances or action.execution is Executed.UNKNOWN:
        least = 0
    return StreamDraw(action, least, most, instances, primitives or None)


def _entries(action: Action) -> tuple[int, int | None]:
    """How many draws a packet is."""
    if not action.indirect or action.packet == "CP_DRAW_AUTO":
        return (0 if action.indirect else 1), 1
    if action.packet == "CP_DRAW_INDIRECT_MULTI":
        return 0, None if action._values is None else action._values.draws
    return 0, (1 if action.packet in ("CP_DRAW_INDIRECT", "CP_DRAW_INDX_INDIRECT") else None)


def _primitives(registers: RegisterReader, action: Action) -> int | None:
    """Primitives of an instance, by its topology."""
    values = action._values
    topology = None if values is None else _TOPOLOGIES.get(values.primitive)
    if (
        values is None
        or topology is None
        or action.indirect
        or action.vertices is None
        or values.has_stages
        or (action.indexed and registers.field("PC_PRIMITIVE_CNTL_0", "PRIMITIVE_RESTART") != 0)
    ):
        return None
    each, first = topology
    return max(0, action.vertices // each - first)


def capacity(pitch: int | None, limit: int | None) -> int | None:
    """Bytes of a stream that a pipe may write: up to the limit, and not into the next pipe's part.

    Older gallium sets the limit to the size of all parts.
    """
    known = [number for number in (pitch, limit) if number is not None]
    return min(known, default=None)


def pipe_memory(
    image: MemoryImage, streams: VisibilityStreams, pipes: list[Pipe]
) -> dict[int, PipeMemory]:
    """What the image has of each pipe's streams. Nothing is copied: these are views of the file."""
    memory = {}
    for pipe in pipes:
        number = pipe.number
        if pipe.stream is None:
            draw = _part(image, streams.draw, streams.draw_pitch, streams.draw_limit, number)
        else:
            draw = _view(image, pipe.stream, pipe.stream_limit)
        primitive = _part(
            image, streams.primitive, streams.primitive_pitch, streams.primitive_limit, number
        )
        size = _part(image, streams.sizes, _SIZE_BYTES, None, number)
        whole = size is not None and len(size) == _SIZE_BYTES
        memory[number] = PipeMemory(
            draw, primitive, int.from_bytes(size or b"", "little") if whole else None
        )
    return memory


def _part(
    image: MemoryImage, base: int | None, pitch: int | None, limit: int | None, pipe: int
) -> memoryview | None:
    size = capacity(pitch, limit)
    if base is None or pitch is None:
        return None
    return _view(image, base + pipe * pitch, size)


def _view(image: MemoryImage, address: int, size: int | None) -> memoryview | None:
    buffer = image.find(address) if size else None
    if buffer is None:
        return None
    offset = address - buffer.gpuaddr
    return buffer.contents[offset : offset + (size or 0)] or None
