# SPDX-License-Identifier: MIT
"""Builds packets as lists of dwords, and captures of them."""

from __future__ import annotations

import random

from cffpy.container.writer import (
    NewSection,
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.pm4.reader import type0_header, type3_header, type4_header, type7_header

#: Where the commands of a test lie.
COMMANDS = 0x100000


def type0(register: int, *values: int) -> list[int]:
    return [type0_header(register, len(values)), *values]


def type3(opcode: int, *values: int) -> list[int]:
    return [type3_header(opcode, len(values)), *values]


def type4(register: int, *values: int) -> list[int]:
    return [type4_header(register, len(values)), *values]


def type7(opcode: int, *values: int) -> list[int]:
    return [type7_header(opcode, len(values)), *values]


def capture(
    gpu: int,
    commands: list[int],
    buffers: dict[int, list[int] | bytes] | None = None,
    dwords: int | None = None,
    before: list[NewSection] | None = None,
) -> bytes:
    """One submit of ``commands`` at 0x100000, with other buffers by address."""
    sections = [gpu_id_section(gpu), *(before or [])]
    sections += buffer_sections(COMMANDS, dwords_bytes(commands))
    for address, content in (buffers or {}).items():
        code = content if isinstance(content, bytes) else dwords_bytes(content)
        sections += buffer_sections(address, code)
    sections.append(command_stream_section(COMMANDS, len(commands) if dwords is None else dwords))
    return capture_bytes(sections)


def damaged(data: bytes, seed: int) -> bytes:
    """A capture with 1, 10 or 200 dwords changed: a bit flipped, or copied from another place."""
    changed = bytearray(data)
    chance = random.Random(seed)
    for _ in range(chance.choice((1, 10, 200))):
        place = chance.randrange(len(changed) // 4) * 4
        if chance.random() < 0.5:
            changed[place] ^= 1 << chance.randrange(8)
        else:
            other = chance.randrange(len(changed) // 4) * 4
            changed[place : place + 4] = changed[other : other + 4]
    return bytes(changed)
