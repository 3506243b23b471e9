# SPDX-License-Identifier: MIT
"""Captures designed to take time or memory: one for each item of docs/internals/robustness.md.

``python -m tests.fuzz.measure`` runs the commands on them and prints time and memory. They are
functions ``bomb(scale)``: doubling the scale shows whether the cost is linear.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable
from random import Random

from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    NewSection,
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from tests.builders import type0, type3, type4, type7

BASE = 0x100000
MOST = 0xFFFFFFFF

#: Opcodes.
NOP, IB, DRAW, GROUPS, MARKER, CONDITION = 0x10, 0x3F, 0x38, 0x43, 0x65, 0x47
LOAD_STATE, MEM_WRITE, INDIRECT_MULTI, START_BIN, TABLE = 0x36, 0x3D, 0x2A, 0x50, 0x7F

#: A draw of one vertex that the dump counts.
_DRAW = type7(DRAW, 0x84, 1, 1)


def capture(
    words: list[int],
    *more: NewSection,
    buffers: dict[int, list[int]] | None = None,
    gpu: int = 630,
    streams: int = 1,
) -> bytes:
    """A capture with these commands, run ``streams`` times."""
    sections = [gpu_id_section(gpu), *more, *buffer_sections(BASE, dwords_bytes(words))]
    for address, content in (buffers or {}).items():
        sections += buffer_sections(address, dwords_bytes(content))
    sections += [command_stream_section(BASE, len(words))] * streams
    return capture_bytes(sections)


def call(address: int, dwords: int) -> list[int]:
    """An IB."""
    return type7(IB, address & MOST, address >> 32, dwords)


# -- the file -----------------------------------------------------------------------------------


def sizes(scale: int) -> bytes:
    """A section that extends past the end of the file, after valid ones."""
    data = capture(type7(NOP, 1) * scale)
    return data + (12).to_bytes(4, "little") + (0x7FFFFFF0).to_bytes(4, "little")


def negative_size(scale: int) -> bytes:
    data = capture(type7(NOP, 1) * scale)
    return data + (12).to_bytes(4, "little") + MOST.to_bytes(4, "little") + data


def sections(scale: int) -> bytes:
    """Empty sections."""
    return capture(_DRAW) + bytes(8) * scale * 10


def gzip_bomb(scale: int) -> bytes:
    return gzip.compress(capture(_DRAW) + bytes(scale * 10_000), 9)


def bzip2_bomb(scale: int) -> bytes:
    return bz2.compress(capture(_DRAW) + bytes(scale * 10_000))


def xz_bomb(scale: int) -> bytes:
    return lzma.compress(capture(_DRAW) + bytes(scale * 10_000))


def zstd_bomb(scale: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression.zstd import compress
    else:
        from backports.zstd import compress
    return compress(capture(_DRAW) + bytes(scale * 10_000))


def layers(scale: int) -> bytes:
    """A few hundred bytes, each layer of which makes a thousand times as much."""
    return gzip.compress(gzip.compress(gzip_bomb(scale), 9), 9)


def empty_members(scale: int) -> bytes:
    """A sequence of empty gzip members."""
    return zlib_member(capture(_DRAW)) + zlib_member(b"") * scale


def zlib_member(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def texts(scale: int) -> bytes:
    """Names of processes without a NUL, all different."""
    names = [NewSection(SectionType.CMD, b"p%d" % number + b"x" * 100) for number in range(scale)]
    return capture(_DRAW, *names, NewSection(SectionType.TEST, b"t" * 100 * scale))


def gpus(scale: int) -> bytes:
    """The GPU changes all the time."""
    changes: list[NewSection] = []
    for number in range(scale):
        changes.append(gpu_id_section((630, 540, 740, 0, 999)[number % 5]))
        changes.append(chip_id_section(number))
    return capture(_DRAW, *changes)


# -- buffers ------------------------------------------------------------------------------------


def many_buffers(scale: int) -> bytes:
    """Buffers in falling order."""
    parts: list[NewSection] = []
    for number in range(scale):
        parts += buffer_sections(0x100000000 - number * 0x1000, b"1234")
    return capture(_DRAW, *parts)


def overlapping(scale: int) -> bytes:
    """Each buffer reaches over all others; every third is empty, every fourth comes twice."""
    parts: list[NewSection] = []
    for number in range(scale):
        address = 0x100000000 - number * 0x10
        size = 0 if number % 3 == 0 else 0xFFFFFFF0
        parts += buffer_sections(address, b"1234", size=size)
        if number % 4 == 0:
            parts += buffer_sections(address, b"12345678", size=8)
    return capture(call(0xFFFFFF00, 8) * scale, *parts)


def wrapping(scale: int) -> bytes:
    """Buffers and streams at the end of the addresses."""
    top = (1 << 64) - 16
    parts = buffer_sections(top, dwords_bytes(_DRAW + call(top, 64)), size=0x1000)
    return capture((call(top, 64) + call(top + 12, MOST) + call(0, 4)) * scale, *parts)


# -- streams ------------------------------------------------------------------------------------


def over_the_end(scale: int) -> bytes:
    """Streams and packets whose sizes reach past all buffers."""
    words = (call(0x200000, MOST >> 1) + call(0xDEAD0000, 100)) * scale
    data = capture([*words, type7(NOP, *[0] * 100)[0]], buffers={0x200000: type4(0x8800, 1)})
    return data + capture_bytes([command_stream_section(BASE, MOST)])


def self_call(scale: int) -> bytes:
    """A stream that calls itself, and two that call each other."""
    words = (call(BASE, 40) + call(0x200000, 8)) * scale
    other = call(0x300000, 8) + call(BASE, 8)
    return capture(words, buffers={0x200000: other, 0x300000: call(0x200000, 8) * 2})


def many_calls(scale: int) -> bytes:
    """The largest number of IBs that fits."""
    return capture(call(0x40000000, 4) * scale, buffers={0x40000000: _DRAW})


def fan(scale: int) -> bytes:
    """Each level calls the next many times: exponential without limits."""
    buffers = {
        0x200000 * level: call(0x200000 * (level + 1), 4 * scale) * scale for level in range(1, 7)
    }
    return capture(call(0x200000, 4 * scale), buffers={**buffers, 0x200000 * 7: _DRAW * scale})


def deep(scale: int) -> bytes:
    """Streams that each call the next, and draw."""
    buffers = {
        0x200000 + 64 * number: call(0x200040 + 64 * number, 8) + _DRAW for number in range(scale)
    }
    return capture(call(0x200000, 8), buffers=buffers)


def self_groups(scale: int) -> bytes:
    """Draw-state groups that set themselves, each at every draw."""
    group: list[int] = []
    for number in range(32):
        group += [0x700000 | number << 24 | 0x60, 0x200000, 0]
    setting = type7(GROUPS, *group)
    return capture((setting + _DRAW) * scale, buffers={0x200000: setting + _DRAW})


def tables(scale: int) -> bytes:
    """CP_START_BIN and draw tables of 2^32-1 blocks of one dword, within one another."""
    block = type7(START_BIN, MOST, 0x200000, 0, 1) + type7(TABLE, 0x200000, 0, 0, 1, MOST)
    return capture(block * scale, buffers={0x200000: block * scale})


def repeated_streams(scale: int) -> bytes:
    """The same long stream, submitted again and again."""
    return capture(_DRAW * scale, streams=scale)


# -- packets ------------------------------------------------------------------------------------


def indirect_counts(scale: int) -> bytes:
    words = type7(INDIRECT_MULTI, 4, 6, MOST, 0x200000, 0, 0x200000, 0, MOST)
    return capture(words * scale, buffers={0x200000: [MOST] * 64})


def load_state(scale: int) -> bytes:
    """Loads of most units of everything, from the last dword of a buffer."""
    words: list[int] = []
    for number in range(scale):
        kind = number % 3 << 14 | (number & 0xF) << 18 | 0x3FF << 22
        words += type7(LOAD_STATE, kind | 2 << 16, 0x2000F0, 0)
    return capture(words, buffers={0x200000: [MOST] * 64})


def index_buffer(scale: int) -> bytes:
    """Draws with 2^32-1 indices, each a step further into one buffer."""
    words: list[int] = []
    for number in range(scale):
        words += type7(DRAW, 0x804, 1, MOST, 0, 0x200000 + 4 * number, 0, MOST)
    buffers = {0x200000: [number & 0xFF for number in range(scale * 10)]}
    return capture(words, buffers=buffers)


def strings(scale: int) -> bytes:
    """Debug markers without a NUL and without an end, each deeper than the last."""
    begin = type7(NOP, 0x4245474E, *[0x41414141] * 500)
    words = begin * 64 + (type7(MARKER, 1) + _DRAW) * scale
    return capture(words)


def unknown(scale: int) -> bytes:
    """Random dwords."""
    rng = Random(7)
    return capture([rng.getrandbits(32) for _ in range(scale * 8)])


def unknown_old(scale: int) -> bytes:
    rng = Random(8)
    words: list[int] = []
    for _ in range(scale):
        words += type3(rng.randrange(0x80), *(rng.getrandbits(32) for _ in range(3)))
        words += type0(rng.randrange(0x8000), rng.getrandbits(32))
    return capture(words, gpu=330)


# -- what analyses might not bear ---------------------------------------------------------------


def _registers(count: int) -> list[int]:
    words: list[int] = []
    for first in range(0x400, 0x400 + count, 64):
        words += type4(first, *range(64))
    return words


def skipped_blocks(scale: int) -> bytes:
    """Blocks that are not executed, within one another, with very many registers in force."""
    block = type7(CONDITION, 3 << 28, 40) + type7(CONDITION, 3 << 28, 30) + _DRAW
    return capture(_registers(0x8000) + type7(MARKER, 1) + block * scale)


def many_passes(scale: int) -> bytes:
    return capture((type7(MARKER, 1) + _DRAW) * scale)


def many_tiles(scale: int) -> bytes:
    """A pass with many tiles, and clears of LRZ between them."""
    words = type7(MARKER, 2)
    for number in range(scale):
        words += type7(MARKER, 4) + type4(0x8890, number) + type7(0x46, 37)
    return capture(words + _DRAW)


def many_operations(scale: int) -> bytes:
    """Blits in one pass between distinct buffers, and draws to as many."""
    words = type7(MARKER, 1) + type4(0x8865, 0xF) + type4(0x8C17, 0x30)
    for number in range(scale):
        words += type4(0x8C18, number * 64, 1) + type7(0x2C, 3)
        words += type4(0x8825, number * 64, 2) + type4(0x8827, number) + _DRAW
    return capture(words)


def patched(scale: int) -> bytes:
    """Commands written into memory before each of many draws, with many buffers around."""
    words: list[int] = type4(0xA81C, 0x400000, 0)
    for number in range(scale):
        words += type7(MEM_WRITE, 0x300000, 0, *type4(0x8890, number)) + _DRAW
    parts: list[NewSection] = []
    for number in range(scale):
        parts += buffer_sections(0x10000000 + 0x1000 * number, b"1234")
    buffers = {0x300000: [0] * 64, 0x400000: [0, 0x00000200] * 4000}
    return capture(words, *parts, buffers=buffers)


def many_programs(scale: int) -> bytes:
    """Programs that begin at every instruction of one long buffer."""
    words: list[int] = []
    for number in range(scale):
        words += type4(0xA81C, 0x400000 + 8 * number, 0) + _DRAW
    return capture(words, buffers={0x400000: [0, 0x00000200] * scale * 4})


def vertex_data(scale: int) -> bytes:
    """Draws of vertex buffers that overlap nearly all of a long buffer."""
    words = type4(0xA000, 0x2000)
    for number in range(scale):
        words += type4(0xA010, 0x400000 + 4 * number, 0, MOST, MOST) + type7(DRAW, 0x84, 1, MOST)
    return capture(words, buffers={0x400000: [0x3F800000] * scale * 20})


def many_submits(scale: int) -> bytes:
    """Submits of one draw each, in which all registers of the first are still in force."""
    first = _registers(0x2000) + _DRAW
    parts = [gpu_id_section(630), *buffer_sections(BASE, dwords_bytes(first))]
    parts.append(command_stream_section(BASE, len(first)))
    for _ in range(scale):
        parts += buffer_sections(BASE, dwords_bytes(_DRAW))
        parts.append(command_stream_section(BASE, len(_DRAW)))
    return capture_bytes(parts)


def distinct_draws(scale: int, seed: int = 1) -> bytes:
    """Draws that differ from one another, and in every capture."""
    rng = Random(seed)
    words = type7(MARKER, 1)
    for number in range(scale):
        words += type4(0x8800 + rng.randrange(64), rng.getrandbits(32))
        count = rng.randrange(1, 1 << 16) if number % 500 else 12345 + number
        words += type7(DRAW, 0x84, 1, count)
    return capture(words)


#: Name -> the bomb, and the scale at which it is measured.
BOMBS: dict[str, tuple[Callable[[int], bytes], int]] = {
    "section past the end": (sizes, 20_000),
    "section of negative size": (negative_size, 20_000),
    "empty sections": (sections, 100_000),
    "gzip bomb": (gzip_bomb, 100_000),
    "bzip2 bomb": (bzip2_bomb, 100_000),
    "xz bomb": (xz_bomb, 100_000),
    "zstd bomb": (zstd_bomb, 100_000),
    "gzip in gzip in gzip bomb": (layers, 100_000),
    "empty gzip members": (empty_members, 100_000),
    "texts without NUL": (texts, 50_000),
    "the GPU changes": (gpus, 20_000),
    "buffers in falling order": (many_buffers, 200_000),
    "overlapping and empty buffers": (overlapping, 50_000),
    "addresses that wrap": (wrapping, 5_000),
    "streams and packets past the end": (over_the_end, 20_000),
    "IBs that call themselves": (self_call, 2_000),
    "10^6 IBs": (many_calls, 1_000_000),
    "IBs that fan out": (fan, 64),
    "IBs within IBs, 10,000 deep": (deep, 10_000),
    "groups that set themselves": (self_groups, 100),
    "CP_START_BIN, draw tables of 2^32-1": (tables, 100),
    "one stream submitted again and again": (repeated_streams, 400),
    "indirect counts of 2^32-1": (indirect_counts, 1),
    "load state past the buffer": (load_state, 10_000),
    "index buffer of 4 GB": (index_buffer, 2_000),
    "strings without NUL": (strings, 5_000),
    "any dwords (a6xx)": (unknown, 20_000),
    "any packets (a3xx)": (unknown_old, 20_000),
    "skipped blocks, 32768 registers": (skipped_blocks, 5_000),
    "passes": (many_passes, 20_000),
    "tiles and clears of LRZ": (many_tiles, 20_000),
    "blits and targets of one pass": (many_operations, 10_000),
    "memory written before each draw": (patched, 5_000),
    "overlapping programs": (many_programs, 2_000),
    "overlapping vertex buffers": (vertex_data, 2_000),
    "submits that inherit": (many_submits, 500),
    "distinct draws": (distinct_draws, 10_000),
}
