# SPDX-License-Identifier: MIT
"""The table of generations, and that what it names is there."""

from __future__ import annotations

import pytest

from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.walk import Walk
from cffpy.capture.generations import GENERATIONS, generation_of
from cffpy.capture.gpu import guess, parse_gpu
from cffpy.errors import UnsupportedGpu
from cffpy.pm4.instruction_sets import Disassemblers
from cffpy.regdb.database import Database

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
