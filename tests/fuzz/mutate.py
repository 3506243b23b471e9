# SPDX-License-Identifier: MIT
"""Mutants of captures: changes to sections, buffers, command streams, GPU ids, and bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from random import Random

from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    address_section,
    chip_id_section,
    command_stream_section,
    gpu_id_section,
)
from cffpy.pm4.reader import REGISTERS
from tests.fuzz.captures import Part, file_bytes
from tests.fuzz.packets import NUMBERS, Space, any_packet, with_number, with_size

_GPU_IDS = (0, 1, 200, 220, 320, 330, 430, 540, 630, 660, 740, 830, 999, 0x7FFFFFFF, 0xFFFFFFFF)
_CHIP_IDS = (0, 0x06030001, 0x07030001, 0x43050A01, 0xFFFFFFFFFFFFFFFF, 0x02020000, 0x08010000)

Change = Callable[[Random, list[Part]], None]


def mutant(rng: Random, parts: list[Part]) -> bytes:
    """The parts, changed in one to many ways, as a file, sometimes a compressed one."""
    for _ in range(rng.choice((1, 1, 2, 3, 6, 15))):
        _pick(rng)(rng, parts)
    data = file_bytes(parts)
    kind = rng.random()
    if kind < 0.06:
        data = data[: rng.randrange(len(data) + 1)]
    elif kind < 0.12:
        data = flip(rng, data, rng.choice((1, 5, 50)))
    if rng.random() < 0.12:
        data = packed(rng, data)
    return data


def flip(rng: Random, data: bytes, spots: int) -> bytes:
    """The data with single bits changed."""
    changed = bytearray(data)
    for _ in range(spots if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def packed(rng: Random, data: bytes) -> bytes:
    """Compressed, and the compressed bytes damaged, more often than not."""
    pack = rng.choice((lambda raw: gzip.compress(raw, 1), bz2.compress, lzma.compress))
    stored = pack(data[:200_000])
    kind = rng.random()
    if kind < 0.3:
        return stored
    if kind < 0.6:
        return stored[: rng.randrange(len(stored))]
    if kind < 0.9:
        return flip(rng, stored, rng.choice((1, 3, 20)))
    return stored + rng.choice((b"\0" * 100, rng.randbytes(50), stored))


def _pick(rng: Random) -> Change:
    return rng.choices(
        (_section, _buffer, _stream, _gpu, _packets, _text), (3, 4, 2, 1, 14, 0.5), k=1
    )[0]


def _section(rng: Random, parts: list[Part]) -> None:
    if not parts:
        parts.append(Part(rng.randrange(20), rng.randbytes(rng.randrange(64))))
        return
    number = rng.randrange(len(parts))
    part = parts[number]
    kind = rng.randrange(8)
    if kind == 0:
        del parts[number]
    elif kind == 1:
        parts.insert(rng.randrange(len(parts) + 1), part.copy())
    elif kind == 2:
        other = rng.randrange(len(parts))
        parts[number], parts[other] = parts[other], part
    elif kind == 3:
        part.type = rng.choice((*range(18), 99, 0xFFFFFFFF, 0x80000000))
    elif kind == 4:
        del part.payload[rng.randrange(len(part.payload) + 1) :]
    elif kind == 5:
        part.payload += rng.randbytes(rng.choice((1, 3, 4, 100)))
    elif kind == 6:
        part.declared = rng.choice((*NUMBERS, len(part.payload) + 1, len(part.payload) + 4096))
    else:
        del parts[number:]


def _buffer(rng: Random, parts: list[Part]) -> None:
    space = Space(parts)
    named = [number for number, part in enumerate(parts) if part.type == SectionType.GPUADDR]
    if not named or rng.random() < 0.15:
        address, size = space.addresses(rng), rng.choice((*NUMBERS, 0x1000))
        contents = rng.randbytes(rng.choice((0, 1, 4, 100, 4096)))
        at = rng.randrange(len(parts) + 1)
        parts[at:at] = [
            Part(*address_section(address & (1 << 64) - 1, size & 0xFFFFFFFF)),
            Part(SectionType.BUFFER_CONTENTS, contents),
        ]
        return
    part = parts[rng.choice(named)]
    address = space.addresses(rng) if rng.random() < 0.6 else rng.getrandbits(64)
    size = rng.choice((*NUMBERS, 0x1000))
    old = bytes(part.payload).ljust(12, b"\0")
    words = [int.from_bytes(old[at : at + 4], "little") for at in (0, 4, 8)]
    if rng.random() < 0.6:
        words[0], words[2] = address & 0xFFFFFFFF, address >> 32 & 0xFFFFFFFF
    if rng.random() < 0.6:
        words[1] = size
    part.payload[:] = b"".join(word.to_bytes(4, "little") for word in words)


def _stream(rng: Random, parts: list[Part]) -> None:
    space = Space(parts)
    if not space.streams or rng.random() < 0.3:
        count = rng.choice((*NUMBERS, 64, 0x1000))
        new = command_stream_section(space.addresses(rng) & (1 << 64) - 1, count)
        parts.insert(rng.randrange(len(parts) + 1), Part(*new))
        return
    address, dwords, number = rng.choice(space.streams)
    if rng.random() < 0.5:
        dwords = rng.choice((*NUMBERS, dwords + 1, max(0, dwords - 1), dwords * 2))
    else:
        address = space.addresses(rng)
    parts[number] = Part(*command_stream_section(address & (1 << 64) - 1, dwords & 0xFFFFFFFF))


def _gpu(rng: Random, parts: list[Part]) -> None:
    ids = [
        number
        for number, part in enumerate(parts)
        if part.type in (SectionType.GPU_ID, SectionType.CHIP_ID)
    ]
    if ids and rng.random() < 0.4:
        del parts[rng.choice(ids)]
    if rng.random() < 0.7:
        if rng.random() < 0.6:
            new = gpu_id_section(rng.choice(_GPU_IDS))
        else:
            new = chip_id_section(rng.choice(_CHIP_IDS))
        where = rng.choice((0, rng.randrange(len(parts) + 1)))
        parts.insert(where, Part(*new))


def _text(rng: Random, parts: list[Part]) -> None:
    """Names of processes and shader texts with control characters, or without an end."""
    text = rng.choice(
        (
            b"\x1b]0;owned\x07\x1b[2J",
            b"<script>alert(1)</script>",
            b"\xff\xfe\x00tail",
            b"a" * 70_000,
            "\u202e\u0085\u009b31m\u2066\u061c\u2028".encode(),
            b"[bold red]x[/bold]\r\n\t",
        )
    )
    kind = rng.choice((SectionType.TEST, SectionType.CMD, SectionType.VERT_SHADER))
    parts.insert(rng.randrange(len(parts) + 1), Part(kind, text))


def _packets(rng: Random, parts: list[Part]) -> None:
    space = Space(parts)
    spots = space.packets()
    if not spots:
        _stream(rng, parts)
        return
    for _ in range(rng.choice((1, 1, 3, 8))):
        spot = rng.choice(spots)
        word = space.word(spot.part, spot.index)
        is_64bit = word >> 28 in (4, 7)
        kind = rng.random()
        if kind < 0.15:
            size = rng.choice((0, 1, spot.size - 2, spot.size, 0x7F, 0x3FFF, 2 * spot.size))
            space.put(spot.part, spot.index, [with_size(word, max(0, size))])
        elif kind < 0.3:
            space.put(spot.part, spot.index, [with_number(rng, word)])
        elif kind < 0.55 and spot.size > 1:
            at = spot.index + rng.randrange(1, spot.size)
            space.put(spot.part, at, [space.value(rng)])
        elif kind < 0.63:
            _swap(rng, space, spots)
        elif kind < 0.7:
            at = spot.index + rng.randrange(spot.size)
            space.put(spot.part, at, [space.word(spot.part, at) ^ 1 << rng.randrange(32)])
        elif kind < 0.75 and spot.kind == REGISTERS:
            values = [space.value(rng) for _ in range(spot.size - 1)]
            space.put(spot.part, spot.index + 1, values)
        elif kind < 0.93:
            space.put(spot.part, spot.index, any_packet(rng, space, is_64bit))
        else:
            _graft(rng, space, is_64bit)
            return  # the space does not know the new part


def _swap(rng: Random, space: Space, spots: list) -> None:
    number = rng.randrange(len(spots))
    if number + 1 >= len(spots):
        return
    first, second = spots[number], spots[number + 1]
    if first.part != second.part or first.index + first.size != second.index:
        return
    ends = (first.index, second.index, second.index + second.size)
    words = [space.word(first.part, index) for index in range(ends[0], ends[2])]
    space.put(first.part, first.index, words[first.size :] + words[: first.size])


def _graft(rng: Random, space: Space, is_64bit: bool) -> None:
    """New commands in a separate buffer, in place of the first stream's."""
    if not space.streams:
        return
    address = rng.choice((0x7F0000, 0x123450000 if is_64bit else 0x12340000))
    words: list[int] = []
    for _ in range(rng.randrange(2, 40)):
        words += any_packet(rng, space, is_64bit)
    if rng.random() < 0.5:  # calls itself, or the commands that were there before
        called = rng.choice((address, space.streams[0][0]))
        high = [called >> 32 & 0xFFFFFFFF] if is_64bit else []
        header = 0x70BF8003 if is_64bit else 0xC0013F00
        words += [header, called & 0xFFFFFFFF, *high, len(words)]
    contents = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in words)
    number = space.streams[0][2]
    space.parts[number : number + 1] = [
        Part(*address_section(address, len(contents))),
        Part(SectionType.BUFFER_CONTENTS, contents),
        Part(*command_stream_section(address, len(words))),
    ]
