# SPDX-License-Identifier: MIT
"""Corners of the rectangles by which a driver copies and fills with draws (a6xx and later).

Vertices of these draws come from no buffer, and are not transformed: they are constants 0 and 1 of
the vertex shader, each with the position in the target, then the position in the texture. A packet
before the draw, in the same stream, has them. Facts: r3d_coords and tu_clear_sysmem_attachments of
turnip, Mesa 25.0.7.
"""

from __future__ import annotations

from math import ceil, floor, isfinite
from struct import pack, unpack
from typing import TYPE_CHECKING, NamedTuple

from cffpy.cp.loadstate import CONSTANTS, loaded_state, state_place
from cffpy.cp.payload import Payload
from cffpy.frame.geometry import Rectangle
from cffpy.pm4.reader import OPCODE

if TYPE_CHECKING:
    from cffpy.analysis.registers import RegisterReader
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.frame.places import PacketLocation

_LOAD = "CP_LOAD_STATE6_GEOM"

#: Streams of which it is kept how far they were read.
_MOST_STREAMS = 256

#: Vertices of a rectangle, constants that they are, and dwords of both.
_VERTICES, _UNITS, _DWORDS = 2, 2, 8

#: No image is larger.
_LARGEST = 1 << 17


class Corners(NamedTuple):
    """What a draw covers of its target, and of its texture if it has one."""

    target: Rectangle
    texture: Rectangle | None


class RectangleCorners:
    """Finds the corners of draws. It reads each stream with such draws once, up to the last one."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        #: Words and first dword of a stream -> the dword up to which it was read, and the one at
        #: which the last packet with constants begins that are the first ones; None: none yet.
        self._read: dict[tuple[Words, int], tuple[int, int | None]] = {}
        self._epoch = -1

    def of(self, registers: RegisterReader, action: Action, has_texture: bool) -> Corners | None:
        """None where no packet of the stream has them, or where the draw is another one."""
        is_untransformed = registers.flag("GRAS_CL_CNTL", "VP_XFORM_DISABLE")
        reads_buffers = registers.field("VFD_CONTROL_0", "FETCH_CNT") != 0
        if action.vertices != _VERTICES or not is_untransformed or reads_buffers:
            return None
        values = self._constants(action.place)
        if values is None:
            return None
        left, top, source_left, source_top, right, bottom, source_right, source_bottom = values
        texture = None
        if has_texture:
            texture = _rectangle(source_left, source_top, source_right, source_bottom)
        target = _rectangle(left, top, right, bottom)
        return None if target is None else Corners(target, texture)

    def _constants(self, place: PacketLocation) -> tuple[float, ...] | None:
        """The first constants of the vertex shader at a draw."""
        at = self._packet(place)
        if at is None:
            return None
        machine = self._machine
        payload = _payload(machine, place.words, at)
        loaded = loaded_state(machine, payload)
        state = state_place(machine, payload, loaded)
        if loaded.units < _UNITS or state is None or state[1] + _DWORDS > state[0].count:
            return None
        dwords = state[0].data[state[1] : state[1] + _DWORDS].tolist()
        return unpack(f"<{_DWORDS}f", pack(f"<{_DWORDS}I", *dwords))

    def _packet(self, place: PacketLocation) -> int | None:
        """The last packet before a draw, in its stream, that loads these constants."""
        machine, words, end = self._machine, place.words, place.index
        if machine.image.epoch != self._epoch or len(self._read) >= _MOST_STREAMS:
            self._epoch = machine.image.epoch
            self._read.clear()
        first = (place.stream.gpuaddr - words.address) // 4
        at, found = self._read.get((words, first), (first, None))
        if at > end:  # the stream runs once more
            at, found = first, None
        if not 0 <= at <= end <= words.count:
            return None
        headers, data = machine.headers, words.data
        while at < end:
            kind, number, size = headers[data[at]]
            if kind == OPCODE and machine.packet_names[number] == _LOAD:
                loaded = loaded_state(machine, _payload(machine, words, at))
                if (loaded.kind, loaded.stage, loaded.first) == (CONSTANTS, "VS", 0):
                    found = at
            at += size
        self._read[words, first] = at, found
        return found


def _payload(machine: Machine, words: Words, index: int) -> Payload:
    """The packet at a dword, without its header."""
    return Payload(words, index + 1, machine.headers[words.data[index]][2] - 1)


def _rectangle(left: float, top: float, right: float, bottom: float) -> Rectangle | None:
    """The pixels that it touches; a copy that mirrors has its sides exchanged."""
    if not all(isfinite(one) and -_LARGEST < one < _LARGEST for one in (left, top, right, bottom)):
        return None
    return Rectangle(
        floor(min(left, right)),
        floor(min(top, bottom)),
        ceil(max(left, right)),
        ceil(max(top, bottom)),
    )
