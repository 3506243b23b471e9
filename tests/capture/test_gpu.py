# SPDX-License-Identifier: MIT
"""GPU ids: exactly the reference's set, and guesses for the rest.

The table of generations, and that what it names is there.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import (
    GENERATIONS,
    Gpu,
    generation_of,
    guess,
    lookup_chip_id,
    lookup_gpu_id,
    parse_gpu,
)
from cffpy.errors import UnsupportedGpu
from cffpy.pm4.descriptions import Disassemblers
from cffpy.regdb.database import Database

KNOWN = {
    *(200, 201, 205, 220, 305, 307, 320, 330, 405, 420, 430),
    *(505, 506, 508, 509, 510, 512, 530, 540, 605, 608, 610, 612, 615, 616, 618, 619, 620),
    *(630, 640, 650, 660, 680, 690, 740),
}


def test_gpu_ids() -> None:
    assert {gpu_id for gpu_id in range(1000) if lookup_gpu_id(gpu_id)} == KNOWN
    gpu = lookup_gpu_id(630)
    assert gpu == Gpu(630, 0, 6, "FD630")
    assert gpu is not None
    assert (gpu.is_64bit, gpu.chip) == (True, "A6XX")
    gpu = lookup_gpu_id(430)
    assert gpu is not None
    assert (gpu.is_64bit, gpu.chip) == (False, "A4XX")


def test_classic_chip_ids_with_any_patch() -> None:
    found = set()
    for core in range(256):
        for major in range(16):
            for minor in range(16):
                gpu = lookup_chip_id(core << 24 | major << 16 | minor << 8 | 0xFF)
                if gpu is not None:
                    found.add(gpu.gpu_id)
                    assert gpu.generation == core
    assert found == KNOWN - {740}


@pytest.mark.parametrize(
    ("chip_id", "generation", "name"),
    [
        (0x02000000, 2, "FD200"),
        (0x02000001, 2, "FD200"),
        (0x03000512, 3, "FD305B"),
        (0x03000620, 3, "FD306A"),
        (0x03020002, 3, "FD320"),
        (0x05000600, 5, "FD506"),
        (0x060108FF, 6, "FD618"),
        (0x7506030500, 6, "Adreno 7c+ Gen 3"),
        (0xFFFF06090000, 6, "FD690"),
        (0x06060201, 6, "FD644"),
        (0xFFFF07030002, 7, "FD725"),
        (0x07030001, 7, "FD730"),
        (0x43030B00, 7, "FD735"),
        (0x43050A01, 7, "FD740"),
        (0x43050A00, 7, "FDA32"),
        (0x43050B00, 7, "FD740v3"),
        (0xFFFF43050C01, 7, "FDX1-85"),
        (0x43051401, 7, "FD750"),
    ],
)
def test_chip_ids(chip_id: int, generation: int, name: str) -> None:
    gpu = lookup_chip_id(chip_id)
    assert gpu is not None
    assert (gpu.chip_id, gpu.generation, gpu.name) == (chip_id, generation, name)
    assert guess(chip_id=chip_id) == gpu


@pytest.mark.parametrize("chip_id", [0x03000620, 0x06060201, 0x43030B00])
def test_these_match_without_fuses_only(chip_id: int) -> None:
    assert lookup_chip_id(chip_id) is not None
    fused = 0x1_00000000 | chip_id
    assert lookup_chip_id(fused) is None
    gpu = guess(chip_id=fused)
    assert gpu is not None
    assert gpu.generation == (7 if chip_id >> 24 == 0x43 else chip_id >> 24)


@pytest.mark.parametrize("chip_id", [0, 0x01000000, 0x07030003, 0x06060400, 0x43050A02, 0x060A0000])
def test_unknown_chip_ids(chip_id: int) -> None:
    assert lookup_chip_id(chip_id) is None


def test_guesses() -> None:
    assert guess() is None
    assert guess(gpu_id=100) is None
    assert guess(gpu_id=900) is None
    assert guess(chip_id=0x08010000) is None
    assert guess(gpu_id=702) == Gpu(702, 0, 6, "FD702")
    assert guess(chip_id=0xB207002000) == Gpu(0, 0xB207002000, 6, "FD702")
    assert guess(gpu_id=735) == Gpu(735, 0, 7, "FD735")
    assert guess(gpu_id=225) == Gpu(225, 0, 2, "FD225")
    assert guess(chip_id=0x06060400) == Gpu(664, 0x06060400, 6, "FD664")
    assert guess(chip_id=0x07010000) == Gpu(0, 0x07010000, 7, "chip 0x07010000")
    assert guess(chip_id=0x43990000) == Gpu(0, 0x43990000, 7, "chip 0x43990000")
    assert guess(chip_id=0x060A0000) == Gpu(0, 0x060A0000, 6, "chip 0x060a0000")


@pytest.mark.parametrize("text", ["630", "a630", "A630"])
def test_what_users_call_a_gpu(text: str) -> None:
    assert parse_gpu(text) == lookup_gpu_id(630)


@pytest.mark.parametrize("text", ["a6xx", "A6XX", "6xx", "6", "a6"])
def test_what_users_call_a_generation(text: str) -> None:
    assert parse_gpu(text) == Gpu(0, 0, 6, "a6xx")


def test_users_may_name_gpus_that_are_not_known() -> None:
    assert parse_gpu("702") == Gpu(702, 0, 6, "FD702")
    assert parse_gpu("a8xx").generation == parse_gpu("830").generation == 8


@pytest.mark.parametrize(
    "text",
    ["", "a", "0", "1", "9", "130", "930", "63", "6300", "6x", "aa6xx", "b6xx", "6²0", "+30"],
)
def test_what_is_no_gpu(text: str) -> None:
    with pytest.raises(UnsupportedGpu, match="neither a GPU"):
        parse_gpu(text)


@given(st.integers(0, 0xFFFFFFFF), st.integers(0, 2**64 - 1))
def test_any_ids(gpu_id: int, chip_id: int) -> None:
    gpu = guess(gpu_id, chip_id)
    assert gpu is None or 2 <= gpu.generation <= 8
    if (known := lookup_chip_id(chip_id)) is not None:
        assert guess(chip_id=chip_id) == known


DECODED = list(GENERATIONS.values())


@pytest.mark.parametrize("number", GENERATIONS)
def test_names_lead_to_the_record(number: int) -> None:
    record = generation_of(number)
    assert (record.number, record.name, record.chip) == (number, f"a{number}xx", f"A{number}XX")
    assert parse_gpu(record.name).facts is record
    gpu = guess(number * 100 + 99)
    assert gpu is not None
    assert (gpu.facts, gpu.is_64bit) == (record, number >= 5)


@pytest.mark.parametrize("number", [0, 1, 9, 10])
def test_an_unknown_generation_is_an_error(number: int) -> None:
    with pytest.raises(UnsupportedGpu, match=f"a{number}xx"):
        generation_of(number)
    with pytest.raises(UnsupportedGpu):
        parse_gpu(f"a{number}xx")


@pytest.mark.parametrize("record", DECODED, ids=lambda one: one.name)
def test_descriptions_trackers_and_disassemblers_are_there(record) -> None:
    database = Database.open(record.chip)
    registers = [name for _, name, _ in record.program_registers]
    assert bool(registers) == any(map(database.register_offset, registers))
    enables = [name for _, name in record.enable_registers]
    assert bool(enables) == any(map(database.register_offset, enables))
    disassemblers = Disassemblers(None)
    if record.instruction_set == "ir3":
        assert disassemblers.ir3(record.number) is not None
    else:
        assert disassemblers.a2xx() is not None
    walk = Walk()
    finder = PassFinder(walk)
    walk.observe(finder)
    session = walk.open_session(pytest.fail, gpu=parse_gpu(record.name))
    session.start_file()  # binds the GPU, and with it the tracker
    assert finder.found.generation == record.number
