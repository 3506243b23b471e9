# SPDX-License-Identifier: MIT
"""Anything at all through the dump: no exception but the project's own, and an end to it."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cffpy.container.open import open_bytes, open_capture
from cffpy.container.rd import iter_sections
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.errors import CffpyError
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions

SEED = 20250107
SECONDS = 10  # for one file; usual is a hundredth
ENOUGH = 1_000_000  # bytes of output after which a file may be given up

GPUS = (201, 220, 320, 330, 430, 505, 540, 630, 660, 740)
OPCODES = (
    *(0x10, 0x17, 0x1D, 0x21, 0x22, 0x23, 0x24, 0x26, 0x28, 0x29, 0x2A, 0x2B, 0x2C, 0x2D),
    *(0x30, 0x31, 0x32, 0x33, 0x34, 0x36, 0x37, 0x38, 0x3D, 0x3E, 0x3F, 0x41, 0x42, 0x43),
    *(0x46, 0x4C, 0x50, 0x55, 0x5C, 0x5D, 0x65, 0x6C, 0x6D, 0x6E, 0x74, 0x7F),
)
ADDRESSES = (0x100000, 0x200000, 0x200004, 0x200801, 0x300000, 0, 0x2FF, 0x200FFC, 0x500000)
OPTIONS: tuple[dict[str, object], ...] = (
    {},
    {"summary": True},
    {"allregs": True, "color": True},
    {"query": ("0x2000", "RB_MRT[0].CONTROL", "GRAS_CNTL"), "query_mode": 2},
    {"query": ("0x8820",), "query_compare": True},
    {"bindless": True, "textures": True},
    {"once": True, "summary": True},
    {"draw": 1},
)


class Enough(Exception):
    """So much was printed that the file is given up."""


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {SECONDS} seconds")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def dump(data: bytes, options: dict[str, object], segments: bool = True) -> bytes:
    pieces: list[bytes] = []

    def write(piece: bytes) -> None:
        pieces.append(piece)
        if sum(map(len, pieces)) > ENOUGH:
            raise Enough

    printer = Dump(DumpOptions(unit_test=True, **options), write, lambda line: None)
    printer._machine.keeps_segments = segments
    with time_limit():
        try:
            printer.begin("fuzz")
            printer.file(open_bytes(data))
        except (CffpyError, Enough):
            pass
    return b"".join(pieces)[:ENOUGH]


def random_value(rng: random.Random) -> int:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(ADDRESSES)
    if kind < 0.5:
        return rng.randrange(64)
    if kind < 0.6:
        return 0
    return 0xFFFFFFFF if kind < 0.65 else rng.getrandbits(32)


def random_commands(rng: random.Random, pm4, gpu: int) -> list[int]:
    """Packets of all sorts, also with wrong lengths; a few of the dwords are no headers."""
    is_64bit = gpu >= 500
    commands: list[int] = []
    for _ in range(rng.randrange(5, 60)):
        kind = rng.random()
        values = [random_value(rng) for _ in range(rng.randrange(12))]
        if kind < 0.35:
            bases = (0x2000, 0x500, 0xE00, 0x8000, 0x8800, 0xA800, 0xB000, 0xE100, 0xE700)
            register = rng.choice(bases) + rng.randrange(0x200)
            if is_64bit:
                commands += pm4.type4(register, *values)
            else:
                commands += pm4.type0(register & 0x7FFF, *(values or [1]))
        elif kind < 0.97:
            opcode = rng.choice(OPCODES)
            if opcode in (0x3F, 0x37):
                high = [0] if is_64bit else []
                values = [rng.choice(ADDRESSES), *high, rng.randrange(64)]
            elif opcode == 0x50:
                values = [rng.randrange(10), rng.choice(ADDRESSES), 0, rng.randrange(9)]
            elif opcode == 0x2A:  # draws without a count in memory are printed one and all
                values = [4, rng.choice((2, 4, 6, 7)), rng.randrange(9), *values]
            build = pm4.type7 if is_64bit else pm4.type3
            commands += build(opcode, *(values or [0]))
        else:
            commands.append(rng.getrandbits(32))
    return commands


def random_capture(rng: random.Random, pm4) -> bytes:
    gpu = rng.choice(GPUS)
    sections = [gpu_id_section(gpu)]
    for _ in range(rng.randrange(1, 3)):
        commands = random_commands(rng, pm4, gpu)
        sections += buffer_sections(0x100000, dwords_bytes(commands))
        for address in (0x200000, 0x300000):
            code = dwords_bytes(random_commands(rng, pm4, gpu))
            size = rng.choice((len(code), 0x1000, rng.randrange(0x1000)))
            sections += buffer_sections(address, code, size=size)
        for _ in range(rng.randrange(1, 3)):
            sections.append(command_stream_section(0x100000, len(commands)))
    return capture_bytes(sections)


def mutated(rng: random.Random, data: bytes, spots: int) -> bytes:
    changed = bytearray(data)
    for _ in range(spots):
        where = rng.randrange(len(changed))
        changed[where] ^= 1 << rng.randrange(8)
    return bytes(changed)


@pytest.fixture(scope="module")
def small_captures(request: pytest.FixtureRequest, samples: Path) -> list[bytes]:
    paths = sorted(samples.glob("a*.rd*"))
    try:
        shared = request.getfixturevalue("shared")
    except pytest.skip.Exception:
        pass
    else:
        found = sorted(shared.glob("captures/*.rd.gz"))
        paths += [path for path in found if 500 < path.stat().st_size < 15_000][::4]
    return [bytes(open_capture(str(path)).data) for path in paths]


Case = Callable[[random.Random], bytes]


@pytest.mark.parametrize("number", range(8))
def test_random_packets(pm4, number: int) -> None:
    rng = random.Random(SEED + number)
    for _ in range(25):
        dump(random_capture(rng, pm4), OPTIONS[number])


@pytest.mark.parametrize("number", range(4))
def test_random_dwords(number: int) -> None:
    rng = random.Random(SEED + number)
    for _ in range(40):
        words = [rng.getrandbits(32) for _ in range(rng.randrange(1, 300))]
        sections = [
            gpu_id_section(rng.choice(GPUS)),
            *buffer_sections(0x100000, dwords_bytes(words)),
            command_stream_section(0x100000, len(words)),
        ]
        dump(capture_bytes(sections), OPTIONS[number])


def test_random_bytes() -> None:
    rng = random.Random(SEED)
    for _ in range(200):
        data = rng.randbytes(rng.randrange(400))
        if rng.random() < 0.5:
            data = capture_bytes([chip_id_section(rng.getrandbits(48))]) + data
        dump(data, rng.choice(OPTIONS))


def test_random_sections() -> None:
    rng = random.Random(SEED)
    for _ in range(150):
        sections = []
        for _ in range(rng.randrange(12)):
            payload = rng.randbytes(rng.choice((0, 1, 3, 4, 7, 8, 11, 12, 16, 60)))
            sections.append((rng.choice((*range(18), 99)), payload))
        dump(capture_bytes([gpu_id_section(630), *sections]), rng.choice(OPTIONS))


def test_mutated_captures(small_captures: list[bytes]) -> None:
    rng = random.Random(SEED)
    for number, data in enumerate(small_captures):
        for spots in (1, 30, 400):
            dump(mutated(rng, data, spots), OPTIONS[(number + spots) % len(OPTIONS)])


def test_cut_captures(small_captures: list[bytes]) -> None:
    rng = random.Random(SEED)
    for data in small_captures[:4]:
        for _ in range(4):
            dump(data[: rng.randrange(len(data))], {"summary": True})


def test_wild_addresses_and_sizes(samples: Path) -> None:
    rng = random.Random(SEED)
    for path in sorted(samples.glob("a*.rd*")):
        original = list(iter_sections(open_capture(str(path)).data))
        for _ in range(30):
            sections = []
            for section in original:
                payload = bytearray(section.payload)
                if section.type in (3, 6) and rng.random() < 0.5:
                    where = rng.randrange(len(payload) // 4) * 4
                    wild = rng.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100001))
                    payload[where : where + 4] = wild.to_bytes(4, "little")
                sections.append((section.type, bytes(payload)))
            dump(capture_bytes(sections), rng.choice(OPTIONS))


@pytest.mark.parametrize("number", range(8))
def test_replayed_segments_print_what_decoding_prints(pm4, number: int) -> None:
    rng = random.Random(2 * SEED + number)
    for _ in range(20):
        data = random_capture(rng, pm4)
        options = OPTIONS[number]
        assert dump(data, options, segments=True) == dump(data, options, segments=False)


def test_many_indirect_draws_are_written_in_pieces(pm4) -> None:
    packet = pm4.type7(0x2A, 4, 2, 200_000, 0x500000, 0, 16)
    sections = [
        gpu_id_section(630),
        *buffer_sections(0x100000, dwords_bytes(packet)),
        command_stream_section(0x100000, len(packet)),
    ]
    sizes: list[int] = []
    options = DumpOptions(unit_test=True)
    printer = Dump(options, lambda piece: sizes.append(len(piece)), lambda line: None)
    printer.begin("draws")
    printer.file(open_bytes(capture_bytes(sections)))
    assert sum(sizes) > 2_000_000
    assert max(sizes) < 1_000_000
