# SPDX-License-Identifier: MIT
"""Finds the packets of a capture to be mutated, and creates packets of all kinds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from cffpy.container.rd import command_stream_address, gpu_address
from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    address_section,
    buffer_sections,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.pm4.reader import BAD, OPCODE, odd_parity, read_header
from tests.builders import type0, type3, type4, type7
from tests.fuzz.captures import Part

#: The most packets that are searched for in one capture.
_MAX_PACKETS = 20_000

#: Of all families: draws, state, conditions, IBs, tables, memory, markers, and some of no name.
OPCODES = (
    *(0x10, 0x17, 0x1D, 0x1E, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x2B),
    *(0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A),
    *(0x3B, 0x3C, 0x3D, 0x3E, 0x3F, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4A, 0x4C),
    *(0x4F, 0x50, 0x52, 0x54, 0x55, 0x56, 0x58, 0x5B, 0x5C, 0x5D, 0x5F, 0x63, 0x64, 0x65, 0x66),
    *(0x68, 0x6A, 0x6C, 0x6D, 0x6E, 0x70, 0x73, 0x74, 0x7F, 0x0F, 0x00),
)

#: Packets that name a stream: (opcode, dword of the address in the payload).
_STREAM_PACKETS = {0x3F: 0, 0x37: 0, 0x43: 1, 0x50: 1, 0x55: 0, 0x7F: 0, 0x6C: 3, 0x6E: 3}

#: Where registers of interest begin, of all generations.
_REGISTERS = (0x2000, 0x500, 0xE00, 0x8000, 0x8100, 0x8800, 0x8C00, 0xA800, 0xA980, 0xB000, 0xB800)

NUMBERS = (0, 1, 2, 3, 8, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


class Spot(NamedTuple):
    """A packet: its part, the dword of its header there, its dwords, kind, register or opcode."""

    part: int
    index: int
    size: int
    kind: int
    number: int


class Space:
    """The buffers of a capture by address, as far as its sections are valid."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        #: (address, size, number of the part with the contents)
        self.buffers: list[tuple[int, int, int]] = []
        #: (address, dwords, number of the part)
        self.streams: list[tuple[int, int, int]] = []
        address = size = 0
        for number, part in enumerate(parts):
            if part.type == SectionType.GPUADDR:
                address, size = gpu_address(part.payload)
            elif part.type == SectionType.BUFFER_CONTENTS:
                self.buffers.append((address, size, number))
            elif part.type == SectionType.CMDSTREAM_ADDR:
                self.streams.append((*command_stream_address(part.payload), number))

    def find(self, address: int) -> tuple[int, int] | None:
        """Part and dword of an address."""
        for start, size, number in self.buffers:
            if start <= address < start + size:
                return number, (address - start) // 4
        return None

    def word(self, part: int, index: int) -> int:
        return int.from_bytes(self.parts[part].payload[4 * index : 4 * index + 4], "little")

    def put(self, part: int, index: int, words: list[int]) -> None:
        """Overwrite dwords, up to the end of the part."""
        payload = self.parts[part].payload
        data = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in words)
        room = max(0, len(payload) - 4 * index)
        payload[4 * index : 4 * index + len(data)] = data[:room]

    def packets(self) -> list[Spot]:
        """The packets of the streams and of what they call."""
        found: list[Spot] = []
        waiting = [(address, dwords) for address, dwords, _ in self.streams]
        seen = set(waiting)
        while waiting and len(found) < _MAX_PACKETS:
            address, dwords = waiting.pop()
            for spot in self._run(address, dwords):
                found.append(spot)
                for called in self._called(spot):
                    if called not in seen:
                        seen.add(called)
                        waiting.append(called)
        return found

    def _run(self, address: int, dwords: int) -> Iterator[Spot]:
        place = self.find(address)
        if place is None:
            return
        part, index = place
        end = min(index + dwords, len(self.parts[part].payload) // 4)
        while index < end:
            kind, number, size = read_header(self.word(part, index))
            if kind != BAD:
                yield Spot(part, index, size, kind, number)
            index += size

    def _called(self, spot: Spot) -> Iterator[tuple[int, int]]:
        at = _STREAM_PACKETS.get(spot.number)
        if spot.kind != OPCODE or at is None:
            return
        is_64bit = self.word(spot.part, spot.index) >> 28 == 7
        step = 3 if is_64bit else 2
        for start in range(spot.index + 1 + at, spot.index + spot.size, step):
            low = self.word(spot.part, start)
            high = self.word(spot.part, start + 1) if is_64bit else 0
            if spot.number == 0x43:
                count = self.word(spot.part, start - 1) & 0xFFFF
            else:
                count = self.word(spot.part, start + step - 1) & 0xFFFFF
            yield low | high << 32, count
            if spot.number != 0x43:
                return

    def addresses(self, rng: Random) -> int:
        """An address of a buffer or a stream, or near one, or none at all."""
        there = [start for start, *_ in self.buffers] + [start for start, *_ in self.streams]
        if not there or rng.random() < 0.1:
            return rng.choice((0, 4, 0xFFFFFFFC, 0xFFFFFFFFFFFFFFFC, 1 << 48, 0xFFFFFFFFFFFFF000))
        return rng.choice(there) + rng.choice((0, 0, 0, 4, 8, 1, 0x40, -4, 0x1000))

    def value(self, rng: Random) -> int:
        """A dword with a value that packets interpret."""
        kind = rng.random()
        if kind < 0.35:
            return rng.choice(NUMBERS)
        if kind < 0.6:
            return self.addresses(rng) & 0xFFFFFFFF
        if kind < 0.7:
            return self.addresses(rng) >> 32 & 0xFFFFFFFF
        if kind < 0.85:
            return rng.randrange(64)
        return rng.getrandbits(32)


def with_size(word: int, size: int) -> int:
    """The header of a packet with another payload size and correct parity."""
    if word >> 28 == 7:
        size &= 0x3FFF
        return word & ~0xFFFF | size | odd_parity(size) << 15
    if word >> 28 == 4:
        size &= 0x7F
        return word & ~0xFF | size | odd_parity(size) << 7
    return word & ~(0x3FFF << 16) | ((size - 1) & 0x3FFF) << 16


def with_number(rng: Random, word: int) -> int:
    """The header with another opcode or register."""
    if word >> 28 == 7:
        opcode = rng.choice(OPCODES)
        return word & ~(0xFF << 16) | opcode << 16 | odd_parity(opcode) << 23
    if word >> 28 == 4:
        register = rng.choice(_REGISTERS) + rng.randrange(0x100)
        return word & ~(0x7FFFF << 8) | register << 8 | odd_parity(register) << 27
    if word >> 30 == 3:
        return word & ~(0x7F << 8) | rng.choice(OPCODES) << 8
    return word & ~0x7FFF | rng.choice(_REGISTERS) & 0x7FFF


def any_packet(rng: Random, space: Space, is_64bit: bool) -> list[int]:
    """A random packet; some have payloads with a meaning."""
    opcode_packet = type7 if is_64bit else type3
    kind = rng.random()
    if kind < 0.3:
        register = rng.choice(_REGISTERS) + rng.randrange(0x200)
        values = [space.value(rng) for _ in range(rng.randrange(1, 12))]
        return type4(register, *values) if is_64bit else type0(register & 0x7FFF, *values)
    if kind < 0.4:
        address = space.addresses(rng)
        high = [address >> 32 & 0xFFFFFFFF] if is_64bit else []
        count = rng.choice((1, 4, 64, 0x1000, 0xFFFFF))
        return opcode_packet(rng.choice((0x3F, 0x37)), address & 0xFFFFFFFF, *high, count)
    if kind < 0.45:
        address = space.addresses(rng)
        table = [space.value(rng), address & 0xFFFFFFFF, address >> 32 & 0xFFFFFFFF]
        return opcode_packet(rng.choice((0x50, 0x7F)), *table, rng.choice(NUMBERS), 1)
    if kind < 0.55:
        groups = []
        for _ in range(rng.randrange(1, 4)):
            address = space.addresses(rng)
            groups += [
                rng.randrange(0x40) | rng.getrandbits(16) << 16,
                address & 0xFFFFFFFF,
                *([address >> 32 & 0xFFFFFFFF] if is_64bit else []),
            ]
        return opcode_packet(0x43, *groups)
    if kind < 0.6:
        return opcode_packet(0x65, rng.choice((1, 2, 4, 5, 6, 7, 8, 12, 0x101)))
    if kind < 0.66:
        mode = rng.choice((1, 2, 3, 4, 5)) << 28 | rng.getrandbits(28)
        return opcode_packet(0x47, mode, rng.choice((0, 1, 5, 40, 0xFFFFFF)))
    if kind < 0.97:
        values = [space.value(rng) for _ in range(rng.randrange(12))]
        return opcode_packet(rng.choice(OPCODES), *(values or [0]))
    return [rng.getrandbits(32)]


_GPUS = {2: (201, 220), 3: (320, 330), 4: (420, 430), 5: (505, 540), 6: (630, 660), 7: (730, 740)}


def made_up(rng: Random, generation: int) -> list[Part]:
    """A capture of random packets only."""
    gpu = rng.choice(_GPUS[generation])
    parts = [Part(*gpu_id_section(gpu))]
    for _ in range(rng.randrange(1, 3)):
        addresses = (0x100000, 0x200000, 0x300000)
        space = Space([Part(*address_section(address, 0x1000)) for address in addresses])
        space.buffers = [(address, 0x1000, 0) for address in addresses]
        for address in addresses:
            words = [
                word
                for _ in range(rng.randrange(5, 40))
                for word in any_packet(rng, space, generation >= 5)
            ]
            data = dwords_bytes([word & 0xFFFFFFFF for word in words])
            size = rng.choice((len(data), len(data), 0x1000, rng.randrange(0x1000)))
            parts += [Part(*section) for section in buffer_sections(address, data, size=size)]
        for _ in range(rng.randrange(1, 3)):
            stream = rng.choice(addresses)
            parts.append(Part(*command_stream_section(stream, rng.choice((40, 200, 0x400)))))
    return parts
