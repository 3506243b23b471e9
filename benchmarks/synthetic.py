# SPDX-License-Identifier: MIT
"""Synthetic a630 captures with any number of tiles and draws, repeated or distinct.

A tile sets its window and calls the one IB of all draws, as drivers do; a draw names four groups of
draw state (target, modes, constants of two stages) and draws three indices. Draws share
``materials`` sets of groups; with as many materials as draws nothing is repeated.
"""

from __future__ import annotations

import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.pm4.reader import type4_header, type7_header
from cffpy.pm4.structs import packet_struct

COMMANDS = 0x1_0000_0000
DRAWS = 0x1_1000_0000
STATE = 0x1_2000_0000
INDICES = 0x1_3000_0000  # not captured
TARGET = 0x1_4000_0000  # not captured

CP_LOAD_STATE6_GEOM = 0x32
CP_LOAD_STATE6_FRAG = 0x34
CP_DRAW_INDX_OFFSET = 0x38
CP_INDIRECT_BUFFER = 0x3F
CP_SET_DRAW_STATE = 0x43
CP_SET_MARKER = 0x65

RM6_BIN_RENDER_START = 4

_DRAW_STATE = packet_struct("CP_SET_DRAW_STATE", "A6XX")

#: Materials of a capture whose draws repeat.
MATERIALS = 8

#: Groups of draw state that a draw names.
GROUPS = 4

#: What CP_LOAD_STATE6 loads: constants (ST6_CONSTANTS) of a stage, sixteen vec4 of them.
_VERTEX_CONSTANTS = 1 << 14 | 8 << 18 | 16 << 22
_FRAGMENT_CONSTANTS = 1 << 14 | 12 << 18 | 16 << 22


def type4(register: int, *values: int) -> list[int]:
    """A packet that writes registers from ``register`` on."""
    return [type4_header(register, len(values)), *values]


def type7(opcode: int, *values: int) -> list[int]:
    """A packet with an opcode."""
    return [type7_header(opcode, len(values)), *values]


def pair(address: int) -> tuple[int, int]:
    """A 64-bit address as two dwords, the low one first."""
    return address & 0xFFFFFFFF, address >> 32


def _float_bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def _groups(material: int) -> list[list[int]]:
    """The groups of draw state of a material; other materials have other values."""
    target = TARGET + material * 0x10000
    constants = [_float_bits(material + number / 4) for number in range(64)]
    return [
        # RB_MRT[0]: CONTROL to BASE_GMEM, then RB_BLEND_CNTL and SP_BLEND_CNTL
        type4(0x8820, 0xF << 7, 0, 0x30, 4 + material % 64, 256, *pair(target), 0)
        + type4(0x8865, material & 0xFF)
        + type4(0xA989, material & 0xFF),
        # RB_DEPTH_CNTL, GRAS_SU_CNTL, RB_STENCIL_CONTROL, depth of the viewport, SP_FS_CTRL_REG0
        type4(0x8871, 0b11 | (material & 7) << 2)
        + type4(0x8090, 1 << 1 | (material & 0xFF) << 3)
        + type4(0x8880, material)
        + type4(0x8070, 0, _float_bits(material / 16))
        + type4(0xA980, material << 1 & 0x7FF),
        type7(CP_LOAD_STATE6_GEOM, _VERTEX_CONSTANTS, 0, 0, *constants),
        type7(CP_LOAD_STATE6_FRAG, _FRAGMENT_CONSTANTS, 0, 0, *constants),
    ]


class _State:
    """The buffer of all groups."""

    def __init__(self) -> None:
        self.dwords: list[int] = []

    def add(self, material: int) -> list[int]:
        """Store a material's groups; the payload of a CP_SET_DRAW_STATE that names them."""
        named: list[int] = []
        for number, group in enumerate(_groups(material)):
            modes = {"BINNING": 1, "GMEM": 1, "SYSMEM": 1}
            word = {"COUNT": len(group), "GROUP_ID": number, **modes}
            entry = {"0": word, "ADDR": STATE + len(self.dwords) * 4}
            named += struct.unpack("<3I", _DRAW_STATE.build({"entries": [entry]}))
            self.dwords += group
        return named


def _draw_packets(draws: int, materials: int, state: _State) -> list[int]:
    named = [state.add(material) for material in range(min(draws, materials))]
    packets: list[int] = []
    for number in range(draws):
        packets += type7(CP_SET_DRAW_STATE, *named[number % materials])
        packets += type4(0xA00E, number % materials, 0)  # VFD_INDEX_OFFSET and the next one
        # triangles, indices by DMA, one instance, three indices
        packets += type7(CP_DRAW_INDX_OFFSET, 4 | 1 << 10, 1, 3, 0, *pair(INDICES), 3)
    return packets


def tiles_capture(tiles: int, draws: int, materials: int = MATERIALS) -> bytes:
    """A frame of ``tiles`` tiles; each calls the same IB of ``draws`` draws."""
    state = _State()
    called = _draw_packets(draws, materials, state)
    commands: list[int] = []
    for tile in range(tiles):
        left = tile * 32
        commands += type7(CP_SET_MARKER, RM6_BIN_RENDER_START)
        commands += type4(0x80F0, left, 31 << 16 | left + 31)  # GRAS_SC_WINDOW_SCISSOR_TL, _BR
        commands += type7(CP_INDIRECT_BUFFER, *pair(DRAWS), len(called))
    return _capture(commands, {DRAWS: called, STATE: state.dwords})


def draws_capture(draws: int, distinct: bool) -> bytes:
    """One IB of ``draws`` draws: all of different content, or of eight materials."""
    return tiles_capture(1, draws, draws if distinct else MATERIALS)


def calls_capture(calls: int, writes: int) -> bytes:
    """``calls`` calls of one IB, which only writes ``writes`` registers."""
    called: list[int] = []
    for number in range(writes):
        called += type4(0x8800 + number % 0x200, number)
    return _capture(type7(CP_INDIRECT_BUFFER, *pair(DRAWS), len(called)) * calls, {DRAWS: called})


def writes_capture(writes: int, values: int) -> bytes:
    """One stream of ``writes`` register writes, with ``values`` different values in turn."""
    commands: list[int] = []
    for number in range(writes):
        commands += type4(0x8820, number % values)  # RB_MRT[0].CONTROL
    return _capture(commands, {})


def _capture(commands: list[int], buffers: dict[int, list[int]]) -> bytes:
    sections = [gpu_id_section(630), command_section("synthetic/1: fence=1")]
    for address, dwords in {COMMANDS: commands, **buffers}.items():
        sections += buffer_sections(address, dwords_bytes(dwords))
    sections.append(command_stream_section(COMMANDS, len(commands)))
    return capture_bytes(sections)
