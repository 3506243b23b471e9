# SPDX-License-Identifier: MIT
"""dump --annotate: registers of earlier submits, reported at the first draw that sees them."""

from __future__ import annotations

from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from tests.builders import type4, type7
from tests.views.test_annotate import check, set_register

FIRST, SECOND = 0x100000, 0x200000
DRAW, EVENT, LRZ_CLEAR = type7(0x38, 4, 1, 3), 0x46, 0x25


def two_submits(first: list[int], second: list[int]) -> bytes:
    sections = [gpu_id_section(630)]
    for address, commands in ((FIRST, first), (SECOND, second)):
        sections += buffer_sections(address, dwords_bytes(commands))
        sections.append(command_stream_section(address, len(commands)))
    return capture_bytes(sections)


def inherited(data: bytes) -> list[str]:
    return [note for note in check(data) if note.startswith("inherited")]


def test_registers_that_survive_into_a_submit() -> None:
    first = [*set_register("RB_DEPTH_CNTL", 1), *set_register("GRAS_SU_CNTL", 2), *DRAW]
    second = [*set_register("GRAS_SU_CNTL", 3), *type7(EVENT, LRZ_CLEAR), *DRAW, *DRAW]
    (note,) = inherited(two_submits(first, second))
    assert note.startswith(
        "inherited: 1 register of earlier submits in force: RB_DEPTH_CNTL (dump draw 2"
    )


def test_nothing_is_inherited_that_is_written_anew_or_never_drawn_with() -> None:
    write = set_register("RB_DEPTH_CNTL", 1)
    assert inherited(two_submits([*write, *DRAW], [*write, *DRAW])) == []
    assert inherited(two_submits([*write, *DRAW], type7(EVENT, LRZ_CLEAR))) == []


def test_many_names_are_cut() -> None:
    first = [*type4(0x8820, *range(40)), *DRAW]
    (note,) = inherited(two_submits(first, DRAW))
    assert " and " in note
    assert len(note) < 400
