# SPDX-License-Identifier: MIT
"""Packets put together from their layouts, as lists of dwords, and captures around them."""

from __future__ import annotations

from cffpy.container.writer import (
    NewSection,
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.pm4.layouts import TYPE0_HEADER, TYPE3_HEADER, TYPE4_HEADER, TYPE7_HEADER
from cffpy.pm4.reader import odd_parity

#: Where the commands of a test lie.
COMMANDS = 0x100000


def _dword(header: bytes) -> int:
    return int.from_bytes(header, "little")


def type0(register: int, *values: int) -> list[int]:
    header = TYPE0_HEADER.build(register=register, count_minus_1=len(values) - 1, type=0)
    return [_dword(header), *values]


def type3(opcode: int, *values: int) -> list[int]:
    header = TYPE3_HEADER.build(
        opcode=opcode, count_minus_1=len(values) - 1, type=3, predicate=0, zero=0, zero_15=0
    )
    return [_dword(header), *values]


def type4(register: int, *values: int) -> list[int]:
    header = TYPE4_HEADER.build(
        count=len(values),
        count_parity=odd_parity(len(values)),
        register=register,
        register_parity=odd_parity(register),
        type=4,
    )
    return [_dword(header), *values]


def type7(opcode: int, *values: int) -> list[int]:
    header = TYPE7_HEADER.build(
        count=len(values),
        count_parity=odd_parity(len(values)),
        opcode=opcode,
        opcode_parity=odd_parity(opcode),
        zero=0,
        type=7,
    )
    return [_dword(header), *values]


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
