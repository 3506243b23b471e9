# SPDX-License-Identifier: MIT
"""Fixtures for text of the views: packets put together, captures around them, their dump."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from cffpy.container.open import open_bytes
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
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions

RULE = b"#" * 60 + b"\n"
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


@pytest.fixture(scope="session")
def pm4() -> SimpleNamespace:
    """Builders of packets: ``pm4.type4(register, *values)``; each gives a list of dwords."""
    return SimpleNamespace(type0=type0, type3=type3, type4=type4, type7=type7)


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


def dump(*captures: bytes, **options: object) -> bytes:
    """What is printed for the captures, one after another, with --unit-test."""
    pieces: list[bytes] = []
    printer = Dump(DumpOptions(unit_test=True, **options), pieces.append, lambda line: None)
    for number, data in enumerate(captures):
        printer.begin(f"capture {number}")
        printer.file(open_bytes(data))
    return b"".join(pieces)


def body(text: bytes) -> bytes:
    """What one submit prints between its rules."""
    before, cmdstream, rest = text.partition(b"\ncmdstream[0]: ")
    assert cmdstream, before
    shown, rule, after = rest.partition(b" dwords\n")[2].partition(RULE)
    assert (rule, after) == (RULE, b"vertices: 0\n")
    return shown


@pytest.fixture(scope="session")
def make_capture() -> Callable[..., bytes]:
    """``make_capture(gpu, commands, {address: buffer})``: a capture file of one submit."""
    return capture


@pytest.fixture(scope="session")
def dump_captures() -> Callable[..., bytes]:
    """``dump_captures(file, ..., summary=True)``: everything that is printed."""
    return dump


@pytest.fixture(scope="session")
def shown() -> Callable[..., bytes]:
    """``shown(gpu, commands, {address: buffer}, summary=True)``: the text of the one submit."""

    def show(
        gpu: int,
        commands: list[int],
        buffers: dict[int, list[int] | bytes] | None = None,
        dwords: int | None = None,
        **options: object,
    ) -> bytes:
        return body(dump(capture(gpu, commands, buffers, dwords), **options))

    return show
