# SPDX-License-Identifier: MIT
"""The optimisations are effective: counters, and ratios of CPU time in one process.

No seconds are asserted. Captures are those of benchmarks/synthetic.py: four groups of draw state a
draw, eight materials unless it says otherwise.
"""

from __future__ import annotations

import gc
import hashlib
import sys
import time
from collections.abc import Callable

import pytest

import cffpy
from benchmarks.synthetic import (
    GROUPS,
    MATERIALS,
    calls_capture,
    draws_capture,
    tiles_capture,
    writes_capture,
)
from cffpy.container.open import open_bytes
from cffpy.cp.machine import Machine
from cffpy.intel.views.aubinator.aub import AubDump
from cffpy.intel.views.aubinator.context import DecodeOptions as AubOptions
from cffpy.views.cffdump import summary
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.registers import RegisterTable
from cffpy.views.cffdump.summary import SummaryTexts
from cffpy.views.cffdump.text import CffdumpSink
from tests.intel import aub_files, frames

Write = Callable[[bytes], object]


def decode(data: bytes, segments: bool = True, write: Write = len, **options: object) -> Machine:
    chosen = DumpOptions(unit_test=True, **options)
    dump = Dump(chosen, write, lambda line: None, segments=segments)
    machine = dump.machine
    dump.begin("synthetic")
    dump.file(open_bytes(data))
    return machine


def counters(data: bytes, **options: object) -> tuple[int, int]:
    machine = decode(data, **options)
    return machine.segments.recorded, machine.segments.replayed


def cpu_time(work: Callable[[], object]) -> float:
    """The best of three, in CPU time, without the garbage collector, as the command runs."""
    times = []
    enabled = gc.isenabled()
    try:
        for _ in range(3):
            gc.collect()
            gc.disable()
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
    finally:
        if enabled:
            gc.enable()
    return min(times)


# -- how often segments are replayed --------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 2, 3, 10])
def test_a_stream_that_is_called_again_is_replayed(calls: int) -> None:
    recorded, replayed = counters(calls_capture(calls, 20))
    # the IB is recorded once; each call is a separate packet where no segment can start
    assert recorded == 1 + calls
    assert replayed == calls - 1


@pytest.mark.parametrize("tiles", [2, 3, 10])
@pytest.mark.parametrize("draws", [1, 5])
def test_tiles_are_replayed(tiles: int, draws: int) -> None:
    """Every draw's segment and groups are decoded in the first tile only."""
    recorded, replayed = counters(tiles_capture(tiles, draws, materials=draws))
    assert replayed == (tiles - 1) * draws * (1 + GROUPS)
    packets_before_tile, packets_before_draw, draw_itself = tiles, draws, draws
    assert recorded == packets_before_tile + packets_before_draw + draws * GROUPS + draw_itself


def test_materials_are_replayed() -> None:
    """Within one tile, groups are decoded once for each material."""
    recorded, replayed = counters(tiles_capture(1, 5 * MATERIALS))
    groups = GROUPS * MATERIALS
    assert replayed == 4 * groups
    assert recorded == groups + 5 * MATERIALS + 1


def test_distinct_content_is_never_replayed() -> None:
    assert counters(draws_capture(50, distinct=True))[1] == 0


def test_with_once_only_groups_are_kept() -> None:
    assert counters(tiles_capture(5, MATERIALS), once=True) == (GROUPS * MATERIALS, 0)


def test_a_summary_replays_as_often() -> None:
    data = tiles_capture(6, 10)
    assert counters(data, summary=True) == counters(data)


# -- summaries ------------------------------------------------------------------------------------


@pytest.fixture
def summaries(monkeypatch: pytest.MonkeyPatch) -> list[SummaryTexts]:
    """The texts of summaries of all dumps that are made, one object each generation bound."""
    made: list[SummaryTexts] = []
    original = SummaryTexts.__init__

    def note(self: SummaryTexts) -> None:
        original(self)
        made.append(self)

    monkeypatch.setattr(SummaryTexts, "__init__", note)
    return made


def test_summaries_of_tiles_are_printed_again(summaries: list[SummaryTexts]) -> None:
    draws = 10
    known = []
    for tiles in (6, 8):
        summaries.clear()
        decode(tiles_capture(tiles, draws, materials=draws))
        assert sum(texts.asked for texts in summaries) == tiles * draws
        known.append(sum(texts.known for texts in summaries))
    # of each further tile, all but the first draw's: that shows the tile's scissor
    assert known[1] - known[0] == 2 * (draws - 1)


def test_distinct_summaries_are_soon_given_up(
    summaries: list[SummaryTexts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "TRIAL", 16)
    decode(draws_capture(50, distinct=True))
    assert sum(texts.asked for texts in summaries) == 16
    assert not any(texts.known for texts in summaries)


def test_without_segments_all_summaries_are_made(summaries: list[SummaryTexts]) -> None:
    decode(tiles_capture(4, 10), segments=False)
    assert not any(texts.asked for texts in summaries)


# -- what is decoded ------------------------------------------------------------------------------


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], int]:
    """``decoded(data)``: how many packets were decoded, not replayed."""
    count = 0

    def counting(name: str) -> None:
        original = getattr(CffdumpSink, name)

        def count_and_call(self: CffdumpSink, *arguments: object) -> object:
            nonlocal count
            count += 1
            return original(self, *arguments)

        monkeypatch.setattr(CffdumpSink, name, count_and_call)

    counting("packet")
    counting("write")

    def decode_and_count(data: bytes) -> int:
        nonlocal count
        count = 0
        decode(data)
        return count

    return decode_and_count


def test_a_further_tile_decodes_only_its_draws(decoded: Callable[[bytes], int]) -> None:
    draws = 20
    few, more, many = (decoded(tiles_capture(tiles, draws)) for tiles in (2, 8, 64))
    of_a_tile = 3 + draws  # its marker, its window, its call; and the packets that draw
    assert more - few == 6 * of_a_tile
    assert many - more == 56 * of_a_tile


def test_distinct_draws_are_decoded_once_each(decoded: Callable[[bytes], int]) -> None:
    one, ten, hundred = (decoded(draws_capture(draws, True)) for draws in (1, 10, 100))
    assert hundred - ten == 10 * (ten - one)


def test_a_value_is_formatted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = 0
    original = RegisterTable.line

    def count_and_call(self: RegisterTable, *arguments: object) -> str:
        nonlocal lines
        lines += 1
        return original(self, *arguments)

    monkeypatch.setattr(RegisterTable, "line", count_and_call)
    decode(writes_capture(5000, values=7), segments=False)
    assert lines == 7


# -- ratios ---------------------------------------------------------------------------------------


@pytest.mark.perf
def test_segments_pay() -> None:
    data = tiles_capture(32, 50)
    outputs = [hashlib.sha256(), hashlib.sha256()]
    for output, segments in zip(outputs, (True, False), strict=True):
        decode(data, segments, output.update)
    assert outputs[0].digest() == outputs[1].digest()
    slow = cpu_time(lambda: decode(data, segments=False))
    assert slow >= 2.5 * cpu_time(lambda: decode(data))


@pytest.mark.perf
def test_segments_cost_little_where_nothing_repeats() -> None:
    data = draws_capture(400, distinct=True)
    plain = cpu_time(lambda: decode(data, segments=False))
    assert cpu_time(lambda: decode(data)) <= 1.6 * plain


@pytest.mark.perf
def test_known_values_are_cheaper_than_new_ones() -> None:
    many = 20_000
    known, new = writes_capture(many, values=50), writes_capture(many, values=many)
    slow = cpu_time(lambda: decode(new, segments=False))
    assert slow >= 1.3 * cpu_time(lambda: decode(known, segments=False))


@pytest.mark.perf
def test_repeated_draws_are_cheaper_than_distinct_ones() -> None:
    repeated, distinct = draws_capture(400, False), draws_capture(400, True)
    assert cpu_time(lambda: decode(distinct)) >= 2 * cpu_time(lambda: decode(repeated))


@pytest.mark.perf
@pytest.mark.parametrize("distinct", [False, True])
def test_cost_is_linear_in_draws(distinct: bool) -> None:
    few, many = draws_capture(250, distinct), draws_capture(1000, distinct)
    assert cpu_time(lambda: decode(many)) <= 4 * 1.5 * cpu_time(lambda: decode(few))


@pytest.mark.perf
def test_cost_is_linear_in_tiles() -> None:
    few, many = tiles_capture(8, 50), tiles_capture(64, 50)
    assert cpu_time(lambda: decode(many)) <= 8 * 1.3 * cpu_time(lambda: decode(few))


@pytest.mark.perf
def test_submissions_of_an_aub_file_that_repeat_are_cheap() -> None:
    """Ten are expected to take 3 times as long as one."""
    one = frames.frame()
    many = one + one[len(aub_files.header()) :] * 9

    def printed(data: bytes) -> None:
        AubDump(AubOptions(), len).file(open_bytes(data), "frame.aub")

    assert cpu_time(lambda: printed(many)) < 7 * cpu_time(lambda: printed(one))


@pytest.mark.perf
@pytest.mark.parametrize("distinct", [False, True])
def test_registers_of_all_draws_cost_little_more_than_the_draws(distinct: bool) -> None:
    data = draws_capture(1000, distinct)
    names = "RB_DEPTH_CNTL", "RB_BLEND_CNTL", "SP_FS_CTRL_REG0"

    def listed() -> None:
        capture = cffpy.open(data)
        capture.walk(registers=False)
        assert all(draw.to_dict() for draw in capture.draws)

    def read() -> None:
        states = [draw.state[name] for draw in cffpy.open(data).draws for name in names]
        assert len(states) == 3000

    assert cpu_time(read) <= 1.8 * cpu_time(listed)  # 1.45 and 1.35 on 2026-11-23
    assert calls_of(read) <= 1.5 * calls_of(listed)


def calls_of(work: Callable[[], object]) -> int:
    """How many functions of Python are called."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    work()  # imports
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
