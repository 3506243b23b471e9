# SPDX-License-Identifier: MIT
"""Random packets through the dump, with options that only the dump has. All else: tests/fuzz."""

from __future__ import annotations

from random import Random

import pytest

from cffpy.container.open import open_bytes
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.errors import CffpyError
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from tests.fuzz.captures import GENERATIONS, file_bytes
from tests.fuzz.mutate import mutant
from tests.fuzz.packets import made_up

SEED = 20250107
ENOUGH = 1_000_000  # bytes of output after which a file may be given up

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
    """Enough was printed; the rest of the file is skipped."""


def dump(data: bytes, options: dict[str, object], segments: bool) -> bytes:
    pieces: list[bytes] = []

    def write(piece: bytes) -> None:
        pieces.append(piece)
        if sum(map(len, pieces)) > ENOUGH:
            raise Enough

    chosen = DumpOptions(unit_test=True, **options)
    printer = Dump(chosen, write, lambda line: None, segments=segments)
    try:
        printer.begin("fuzz")
        printer.file(open_bytes(data))
    except (CffpyError, Enough):
        pass
    return b"".join(pieces)[:ENOUGH]


@pytest.mark.fuzz
@pytest.mark.parametrize("number", range(8))
def test_replayed_segments_print_what_decoding_prints(number: int) -> None:
    rng = Random(2 * SEED + number)
    for _ in range(20):
        parts = made_up(rng, rng.choice(GENERATIONS))
        data = file_bytes(parts) if rng.random() < 0.5 else mutant(rng, parts)
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


def test_what_is_missing_is_said_once_each_and_not_endlessly(pm4) -> None:
    calls = [word for number in range(500) for word in pm4.type7(0x3F, number % 5 * 16 + 4, 0, 1)]
    many = [word for number in range(500) for word in pm4.type7(0x3F, number * 16 + 4, 0, 1)]
    for words, lines in ((calls, 5), (many, 51)):
        sections = [
            gpu_id_section(630),
            *buffer_sections(0x100000, dwords_bytes(words)),
            command_stream_section(0x100000, len(words)),
        ]
        said: list[str] = []
        printer = Dump(DumpOptions(unit_test=True), lambda piece: None, said.append)
        for _ in range(2):  # another file is reported again
            said.clear()
            printer.begin("missing")
            printer.file(open_bytes(capture_bytes(sections)))
            assert len(said) == lines
            assert said[0] == "could not find: 0000000000000004 (1)"
