# SPDX-License-Identifier: MIT
"""Small captures of an a6xx: passes of draws with the state that a test gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.rules import RULES, RuleName
from cffpy.container.open import open_bytes
from cffpy.container.writer import buffer_sections
from cffpy.regdb.database import Database
from tests.builders import capture, type4, type7

DATABASE = Database.open("A6XX")

DRAW, MARKER, IB, WAIT, LOAD_FRAG = 0x38, 0x65, 0x3F, 0x26, 0x34
NOP, EVENT, MEM_WRITE, COND_EXEC, THREAD_CONTROL = 0x10, 0x46, 0x3D, 0x44, 0x17
MEM_WRITES, ME = 0x12, 0x13  # CP_WAIT_MEM_WRITES, CP_WAIT_FOR_ME
DIRECT_RENDER = 1
TRIANGLES, FROM_MEMORY, AUTO_INDEX = 4, 0 << 6, 2 << 6

#: State that every draw has from the start.
INITIAL = {"RB_DEPTH_CNTL": 0x1, "GRAS_SU_CNTL": 0, "GRAS_SC_WINDOW_SCISSOR_BR": 0x00FF00FF}


@dataclass
class DrawCall:
    """A draw, the registers that are written before it, and other packets."""

    vertices: int = 3
    registers: Mapping[str, int] = field(default_factory=dict)
    packets: Sequence[int] = ()
    instances: int = 1


def commands(draws: Iterable[DrawCall]) -> list[int]:
    words = type7(MARKER, DIRECT_RENDER)
    for name, value in INITIAL.items():
        words += write(name, value)
    for draw in draws:
        for name, value in draw.registers.items():
            words += write(name, value)
        words += draw.packets
        words += type7(DRAW, TRIANGLES | AUTO_INDEX, draw.instances, draw.vertices)
    return words


def write(name: str, *values: int) -> list[int]:
    offset = DATABASE.register_offset(name)
    assert offset, name
    return type4(offset, *values)


def frame_bytes(
    *passes: Iterable[DrawCall],
    buffers: Mapping[int, list[int] | bytes] | None = None,
    behind: Sequence[int] = (),
) -> bytes:
    """A capture file. ``behind``: packets after the last draw."""
    words = [word for draws in passes for word in commands(draws)]
    return capture(630, [*words, *behind], dict(buffers or {}))


def vertices_bytes(data: bytes | None, packets: Sequence[int] = ()) -> bytes:
    """A draw of three vertices at 0x200000; of what lies there this is captured, None: nothing.

    The buffer of 64 bytes that has them begins 16 bytes before; without one, there is no buffer.
    """
    state = (
        write("VFD_CONTROL_0", 1)
        + write("VFD_FETCH[0].BASE", 0x200000, 0)
        + write("VFD_FETCH[0].SIZE", 48)
        + write("VFD_FETCH[0].STRIDE", 4)
    )
    contents = [] if data is None else buffer_sections(0x1FFFF0, bytes(16) + data, size=64)
    words = commands([DrawCall(3, packets=[*state, *packets])])
    return capture(630, words, before=contents)


def frame(
    *passes: Iterable[DrawCall], buffers: Mapping[int, list[int] | bytes] | None = None
) -> Recording:
    return record(open_bytes(frame_bytes(*passes, buffers=buffers)), lambda line: None)


def compared(good: Recording, bad: Recording, shown: Iterable[RuleName] = ()) -> Comparison:
    return compare(good, bad, frozenset(RULES) - set(shown))


def titles(good: Recording, bad: Recording, *shown: RuleName) -> list[str]:
    return [entry.title for entry in compared(good, bad, shown).entries]
