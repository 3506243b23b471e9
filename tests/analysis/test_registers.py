# SPDX-License-Identifier: MIT
"""RegisterReader: values by the names of registers and fields; what is unknown reads as None."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis import registers as registers_module
from cffpy.analysis.queries import find_passes
from cffpy.analysis.registers import RegisterReader, Remembered, values_of
from cffpy.container.open import open_capture
from tests.analysis.passes.streams import Streams, walk
from tests.builders import capture, type0, type4


def reader(gpu: int, *parts: list[int]) -> RegisterReader:
    return walk(Streams(gpu).capture([parts])).walk.registers


def test_fields_are_shifted_as_the_database_says() -> None:
    s = Streams(630)
    found = reader(
        630,
        s.reg("RB_BIN_CONTROL", BINW=0x3F << 5, BINH=96, RENDER_MODE="BINNING_PASS"),
        s.reg("RB_BLIT_BASE_GMEM", value=0x123000),
        s.point("RB_WINDOW_OFFSET", 0x3FFF, 1),
    )
    assert found.field("RB_BIN_CONTROL", "BINW") == 2016
    assert found.field("RB_BIN_CONTROL", "BINH") == 96
    assert found.enum("RB_BIN_CONTROL", "RENDER_MODE") == "BINNING_PASS"
    assert found.field("RB_BLIT_BASE_GMEM") == 0x123000
    assert found.field("RB_WINDOW_OFFSET", "X") == 0x3FFF
    assert found.field("RB_WINDOW_OFFSET", "Y") == 1
    assert found.value("RB_WINDOW_OFFSET") == 0x3FFF | 1 << 16
    assert found.field_mask("RB_WINDOW_OFFSET", "X") == 0x3FFF
    assert found.field_mask("RB_BIN_CONTROL", "BINW") == 0x3F << 5


@pytest.mark.slow
def test_every_bit_of_every_field_is_read_back() -> None:
    """Each field of some registers, set to all ones alone."""
    for gpu, names in (
        (630, ("RB_BLIT_INFO", "RB_MRT[5].BUF_INFO", "GRAS_LRZ_CNTL", "VSC_PIPE_CONFIG[31].REG")),
        (740, ("RB_BLIT_DST_INFO", "RB_RENDER_CNTL", "RB_BIN_CONTROL")),
        (540, ("RB_CNTL", "RB_RENDER_CNTL")),
        (430, ("RB_MODE_CONTROL",)),
        (320, ("RB_MODE_CONTROL",)),
        (200, ("RB_COLOR_INFO",)),
    ):
        s = Streams(gpu)
        for name in names:
            offset = s.offset(name)
            found = s.database.register(offset, s.variants)
            assert found is not None
            for field, _, (_, _, low, high, shift, *_) in found.type[7]:
                ones = (1 << high + 1) - (1 << low)
                for value, wanted in ((ones, ones >> low << shift), (~ones & 0xFFFFFFFF, 0)):
                    write = type0 if gpu < 500 else type4
                    read = walk(capture(gpu, write(offset, value))).walk.registers
                    assert read.field(name, field) == wanted, (gpu, name, field)


def test_what_is_not_there() -> None:
    found = reader(630, Streams(630).raw("RB_BIN_CONTROL", 0))
    assert found.field("RB_WINDOW_OFFSET", "X") is None, "never written"
    assert found.value("RB_WINDOW_OFFSET") is None
    assert found.address("RB_MRT[0].BASE") is None
    assert not found.flag("RB_WINDOW_OFFSET", "X")
    assert found.field("RB_BIN_CONTROL", "NO_SUCH") is None
    assert found.field("NO_SUCH", "X") is None
    assert found.value("NO_SUCH") is None
    assert found.address("NO_SUCH") is None
    assert found.enum("NO_SUCH", "X") is None
    assert found.field_mask("NO_SUCH", "X") == -1
    assert found.field_mask("RB_BIN_CONTROL", "NO_SUCH") == -1
    assert found.offset("NO_SUCH") == 0
    assert found.first("NO_SUCH", "RB_BIN_CONTROL") == "RB_BIN_CONTROL"
    assert found.first("NO_SUCH") is None


def test_enum_values_without_a_name_are_numbers() -> None:
    found = reader(630, Streams(630).raw("RB_MRT[0].BUF_INFO", 0xFE))
    assert found.enum("RB_MRT[0].BUF_INFO", "COLOR_FORMAT") == "0xfe"


@pytest.mark.parametrize(
    ("gpu", "name", "write", "wanted"),
    [
        (630, "RB_MRT[2].BASE", (0x12345678, 0x9), 0x912345678),
        (740, "VSC_DRAW_STRM_SIZE_ADDRESS", (0x1000, 0x1), 0x100001000),
        (540, "RB_MRT[1].BASE", (0x12345678, 0x1), 0x112345678),
        (540, "RB_MRT[1].BASE", (0x12345678,), 0x12345678),
    ],
)
def test_addresses(gpu: int, name: str, write: tuple[int, ...], wanted: int) -> None:
    s = Streams(gpu)
    offset = s.database.register_offset(name) or s.offset(f"{name}_LO")
    assert reader(gpu, type4(offset, *write)).address(name) == wanted


def test_addresses_of_old_generations_are_one_register() -> None:
    s = Streams(430)
    offset = s.offset("RB_MRT[0].BASE")
    found = walk(capture(430, type0(offset, 0xFFC00000, 7))).walk.registers
    assert found.address("RB_MRT[0].BASE") == 0xFFC00000


# -- results that are remembered ------------------------------------------------------------------


def test_a_result_is_computed_once_for_the_same_values() -> None:
    calls = []

    def compute(reader: RegisterReader) -> tuple[int | None, ...]:
        calls.append(1)
        offset = reader.field("RB_WINDOW_OFFSET", "X")
        if offset == 2:  # then more is read
            return offset, reader.value("RB_WINDOW_OFFSET2"), reader.address("RB_MRT[0].BASE")
        return (offset,)

    found = walk(Streams(630).capture([[]]))
    machine, registers = found.walk.machine, found.walk.machine.state.registers
    remembered = Remembered(machine, compute)
    first, second = map(found.walk.registers.offset, ("RB_WINDOW_OFFSET", "RB_WINDOW_OFFSET2"))
    base = found.walk.registers.offset("RB_MRT[0].BASE")
    assert remembered() == (None,)
    registers[first] = 1
    assert remembered() == (1,)
    registers[second] = 7
    assert remembered() == (1,), "it was not read"
    assert len(calls) == 2
    registers[first] = 2
    assert remembered() == (2, 7, None)
    registers[second] = 8
    assert remembered() == (2, 8, None)
    registers.update({base: 9, base + 1: 1})
    assert remembered() == (2, 8, 1 << 32 | 9)
    registers[base + 1] = 2
    assert remembered() == (2, 8, 2 << 32 | 9)
    del registers[first]
    assert remembered() == (None,)
    assert len(calls) == 6


def test_values_are_read_in_the_order_of_the_registers() -> None:
    for registers in ((), (5,), (5, 3), (3, 5, 4)):
        found = values_of(registers)({3: 30, 4: 40, 5: 50})
        assert found == tuple(10 * register for register in registers)
        if registers:
            with pytest.raises(KeyError):
                values_of(registers)({3: 30})


def test_results_of_other_registers_are_remembered_by_turns() -> None:
    """Which registers are read depends on a register, as with a count."""
    found = walk(Streams(630).capture([[]]))
    calls: list[int] = []
    names = ("RB_WINDOW_OFFSET", "RB_WINDOW_OFFSET2")
    first, second = map(found.walk.registers.offset, names)

    def compute(reader: RegisterReader) -> tuple[int | None, ...]:
        calls.append(1)
        count = reader.value(names[0])
        return (count, reader.value(names[1])) if count else (count,)

    remembered = Remembered(found.walk.machine, compute)
    registers = found.walk.machine.state.registers
    for _ in range(3):
        for count in (0, 1):
            registers.update({first: count, second: 7})
            assert remembered() == ((1, 7) if count else (0,))
    assert len(calls) == 2


def test_the_last_values_are_compared_first() -> None:
    """Equal values one after another are not looked up."""

    class Counting(dict[tuple[int | None, ...], int | None]):
        def __contains__(self, values: object) -> bool:
            looked_up.append(values)
            return super().__contains__(values)

    looked_up: list[object] = []
    found = walk(Streams(630).capture([[]]))
    remembered = Remembered(found.walk.machine, lambda reader: reader.value("RB_WINDOW_OFFSET"))
    registers = found.walk.machine.state.registers
    offset = found.walk.registers.offset("RB_WINDOW_OFFSET")
    for value in (1, 2):
        registers[offset] = value
        assert remembered() == value
    (results,) = remembered._lists
    results.known = Counting(results.known)
    for value in (1, 1, 1, 2, 2, 1):
        registers[offset] = value
        assert remembered() == value
    assert looked_up == [(1,), (2,), (1,)]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers_module, "_MAX_RESULTS", 10)
    found = walk(Streams(630).capture([[]]))
    remembered = Remembered(found.walk.machine, lambda reader: reader.value("RB_WINDOW_OFFSET"))
    offset = found.walk.registers.offset("RB_WINDOW_OFFSET")
    for value in range(1000):
        found.walk.machine.state.registers[offset] = value
        assert remembered() == value
        assert sum(len(one.known) for one in remembered._lists) <= 10


@pytest.mark.parametrize(
    "name",
    [
        "a220-gl-passes",
        "a320-gl-scene150-720p",
        "a430-gl-cube-gmem",
        "a530-gl-blit-msaa",
        "a660-vk-query-gmem",
        pytest.param("a740-vk-frame-msaa4-1080p", marks=pytest.mark.slow),
    ],
)
def test_the_same_without_remembering(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Shaders and targets of all actions, and the passes' attachments."""

    def found() -> list[object]:
        finder, _ = find_passes(open_capture(str(shared / "captures" / f"{name}.rd.gz")), ignore)
        passes = [one.attachments for one in finder.found.passes]
        return [passes, [(action.programs, action.targets) for action in finder.actions]]

    with_memo = found()
    monkeypatch.setattr(Remembered, "__call__", lambda self: self._compute(self._reader))
    assert found() == with_memo


def ignore(line: str) -> None:
    """A warning is of no interest."""
