# SPDX-License-Identifier: MIT
"""Loads of a3xx and a4xx: the driver draws textures, which are the buffers in memory, into GMEM.

One rectangle loads all colour buffers, or depth and stencil. Which textures a draw reads stands in
packets only: CP_LOAD_STATE (a3xx: descriptors, and a separate table of addresses) and
CP_LOAD_STATE4 (a4xx). Facts: freedreno of Mesa 25.0.7, a3xx.xml, a4xx.xml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.passes import Operation
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from cffpy.analysis.registers import RegisterReader
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action

_COLOURS = 8

#: State blocks, state type and source of textures in the packet; dwords of a descriptor.
_A3XX_TEXTURES, _A3XX_ADDRESSES, _A4XX_TEXTURES = 2, 3, 4
_CONSTANTS, _DIRECT = 1, 0
_A3XX_DESCRIPTOR, _A4XX_DESCRIPTOR = 4, 8
_HEAD = 2

_STATE = ("STATE_SRC", "STATE_BLOCK", "NUM_UNIT", "STATE_TYPE")
_LOAD_STATE = Fields("CP_LOAD_STATE", *_STATE)
_LOAD_STATE4 = Fields("CP_LOAD_STATE4", *_STATE)
#: Where the table has the texture's addresses.
_A3XX_INDEX = Fields("A3XX_TEX_CONST", "INDX")
#: The address, in units of 32 bytes.
_A4XX_BASE, _A4XX_BASE_SHIFT = Fields("A4XX_TEX_CONST", "BASE"), 5


class TextureLoads:
    """Finds the textures of the driver's draws, which are what a draw loads."""

    def __init__(
        self, machine: Machine, registers: RegisterReader, colour_base: str, base_field: str
    ) -> None:
        self._machine = machine
        self._registers = registers
        self._colour_base = colour_base
        self._base_field = base_field
        self._indices: list[int] = []
        self._table: list[int] = []
        #: Addresses, by the number of the texture.
        self._textures: list[int] = []

    def load_state(self, payload: Payload) -> None:
        """CP_LOAD_STATE of a3xx."""
        packets = self._machine.packets
        source, block, units, kind = payload.read(packets[_LOAD_STATE])
        if source != _DIRECT or kind != _CONSTANTS:
            return
        if block == _A3XX_TEXTURES:
            end = min(_HEAD + units * _A3XX_DESCRIPTOR, payload.captured)
            first = range(_HEAD, end, _A3XX_DESCRIPTOR)
            self._indices = [payload.read(packets[_A3XX_INDEX], at)[0] for at in first]
        elif block == _A3XX_ADDRESSES:
            self._table = payload.dwords()[_HEAD : _HEAD + units]
        table = self._table
        self._textures = [table[at] if at < len(table) else 0 for at in self._indices]

    def load_state4(self, payload: Payload) -> None:
        """CP_LOAD_STATE4 of a4xx."""
        packets = self._machine.packets
        source, block, units, kind = payload.read(packets[_LOAD_STATE4])
        if (source, kind, block) == (_DIRECT, _CONSTANTS, _A4XX_TEXTURES):
            end = min(_HEAD + units * _A4XX_DESCRIPTOR, payload.captured)
            first = range(_HEAD, end, _A4XX_DESCRIPTOR)
            self._textures = [
                payload.read(packets[_A4XX_BASE], at)[0] << _A4XX_BASE_SHIFT for at in first
            ]

    def operations(self, action: Action) -> list[Operation]:
        """What the draw loads, a buffer each, by their offsets in GMEM."""
        colours = self._colours()
        if not self._registers.flag("RB_DEPTH_CONTROL", "Z_WRITE_ENABLE"):
            colours = colours or [(0, None)]
            return [self._operation(action, base, number) for number, base in colours]
        depth = self._registers.field("RB_DEPTH_INFO", "DEPTH_BASE")
        # depth as float is written as depth; stencil, if it has a buffer, as colour
        stencil = [base for _, base in colours if base != depth]
        found = [self._operation(action, base, number) for number, base in enumerate(stencil)]
        return [*found, self._operation(action, depth, len(stencil))]

    def _colours(self) -> list[tuple[int, int | None]]:
        """Number and offset of the colour buffers that are bound."""
        field = self._registers.field
        return [
            (number, field(self._colour_base.format(number), self._base_field))
            for number in range(_COLOURS)
            if field(f"RB_MRT[{number}].BUF_INFO", "COLOR_BUF_PITCH")
        ]

    def _operation(self, action: Action, gmem: int | None, texture: int) -> Operation:
        operation = Operation("load", None, "rectangle draw", action, gmem=gmem)
        if texture < len(self._textures):
            operation.address = self._textures[texture] or None
        return operation
