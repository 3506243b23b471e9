# SPDX-License-Identifier: MIT
"""Timestamps around passes and tiles, and the timeline that ui.perfetto.dev opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.errors import UsageError

CHECKOUT = Path(__file__).resolve().parents[3]

BEGINS = "    CP_SET_MARKER MODE=RM6_BIN_RENDER_START USES_GMEM\n"
ENDS = "    CP_SET_MARKER MODE=RM6_BIN_RENDER_END\n"

#: Where the timestamps of the four tiles are written, begin and end in turn.
TIMES = 0x100000100

#: What they hold: tile n takes (n + 1) * 12 ticks of 19.2 MHz, with 12 ticks between tiles.
TICKS = [1000, 1012, 1024, 1048, 1060, 1096, 1108, 1156]


def timestamp(number: int) -> str:
    address = TIMES + 8 * number
    return f"    CP_EVENT_WRITE EVENT=RB_DONE_TS TIMESTAMP ADDR_0={address:#x} [3]=0x0\n"


def text_with_timestamps(ticks: list[int] | None) -> str:
    """The sample of four tiles with timestamps around each, and a submit that has their values."""
    text = (CHECKOUT / "samples/a660-frame-gmem.pm4").read_text("utf-8")
    for tile in range(4):
        head, begin, rest = split(text, BEGINS, tile)
        text = head + timestamp(2 * tile) + begin + rest
        head, end, rest = split(text, ENDS, tile)
        text = head + end + timestamp(2 * tile + 1) + rest
    if ticks is None:
        return text
    words = " ".join(f"{tick:08x} 00000000" for tick in ticks)
    return f"""{text}
cmd "later/1"
buffer later 0x100000000 size 4096 {{
  data times at {TIMES:#x} {{
    {words}
  }}
}}
buffer later_cs 0x100001000 size 4096 {{
  commands later_main {{
    CP_WAIT_FOR_IDLE
  }}
}}
stream later_main
"""


def split(text: str, marker: str, number: int) -> tuple[str, str, str]:
    """The text before an occurrence of a marker, the marker, and the rest."""
    parts = text.split(marker)
    return marker.join(parts[: number + 1]), marker, marker.join(parts[number + 1 :])


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("timed") / "timed.rd"
    path.write_bytes(cffpy.compile(text_with_timestamps(TICKS)))
    return path


def test_tiles_and_the_pass_have_durations(timed: Path) -> None:
    with cffpy.open(timed) as capture:
        assert [one.ticks for one in capture.timestamps] == TICKS
        (one,) = capture.passes
        assert [tile.time.ticks for tile in one.tiles] == [12, 24, 36, 48]
        assert [tile.time.duration for tile in one.tiles] == [625.0, 1250.0, 1875.0, 2500.0]
        assert one.time.ticks == 156
        assert one.time.duration == 8125.0
        assert one.time.begin.packet == "CP_EVENT_WRITE"


def test_without_later_memory_no_value_is_known() -> None:
    with cffpy.open(cffpy.compile(text_with_timestamps(None))) as capture:
        assert [one.ticks for one in capture.timestamps] == [None] * 8
        (one,) = capture.passes
        assert one.time.begin.number == 0
        assert (one.time.ticks, one.time.duration, str(one.time)) == (None, None, "not captured")


def test_an_end_before_the_begin_is_no_duration() -> None:
    ticks = [5000, *TICKS[1:]]
    with cffpy.open(cffpy.compile(text_with_timestamps(ticks))) as capture:
        assert capture.passes[0].tiles[0].time.duration is None
        assert capture.passes[0].tiles[1].time.duration == 1250.0


def test_without_timestamps_there_are_no_spans(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        assert capture.timestamps == []
        assert capture.passes[0].time is None
        assert [tile.time for tile in capture.passes[0].tiles] == [None] * 4


def test_timestamps_of_a_program(shared: Path) -> None:
    """Five timestamps of the program, of which three are in the draws of each tile."""
    with cffpy.open(shared / "captures/a740-vk-query-gmem.rd.gz") as capture:
        assert len({one.gpuaddr for one in capture.timestamps}) == 5
        assert {one.packet for one in capture.timestamps} == {"CP_REG_TO_MEM"}


# -- the timeline ----------------------------------------------------------------------------------


def spans(document: dict[str, Any], process: int, row: str) -> list[dict[str, Any]]:
    return [
        event
        for event in document["traceEvents"]
        if event["ph"] == "X" and event["pid"] == process and event["cat"] == row
    ]


def check_format(document: dict[str, Any]) -> None:
    """What Chrome's JSON format asks of each event; spans of a row do not overlap."""
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    ends: dict[tuple[int, int], float] = {}
    for event in document["traceEvents"]:
        assert event["ph"] in ("M", "X")
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["name"], str)
        assert isinstance(event["args"], dict)
        if event["ph"] == "X":
            row = event["pid"], event["tid"]
            assert event["dur"] >= 0
            assert event["ts"] >= ends.get(row, 0)
            ends[row] = event["ts"] + event["dur"]


def named_processes(document: dict[str, Any]) -> Iterator[str]:
    for event in document["traceEvents"]:
        if event["name"] == "process_name":
            yield event["args"]["name"].rpartition("/")[2]


def test_the_timeline_in_order(samples: Path, tmp_path: Path) -> None:
    output = tmp_path / "order.perfetto.json"
    written = cffpy.export([samples / "a660-frame-binning.rd"], output)
    document = json.loads(output.read_bytes())
    check_format(document)
    assert list(named_processes(document)) == ["a660-frame-binning.rd: order"]
    assert "which is no time" in document["otherData"]["note"]
    assert len(spans(document, 1, "submits")) == 1
    (one,) = spans(document, 1, "passes")
    tiles = spans(document, 1, "tiles")
    assert [tile["name"] for tile in tiles] == ["p0 binning", *(f"p0:t{n}" for n in range(8))]
    for tile in tiles:
        assert one["ts"] <= tile["ts"]
        assert tile["ts"] + tile["dur"] <= one["ts"] + one["dur"]
    actions = spans(document, 1, "actions")
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        executed = [action.order for action in capture.actions if action.execution.is_possible]
    assert [action["ts"] for action in actions] == executed
    assert written == {"spans": 1 + 1 + len(tiles) + len(actions)}


def test_the_timeline_in_time(timed: Path, tmp_path: Path) -> None:
    output = tmp_path / "time.perfetto.json"
    cffpy.export([timed], output)
    document = json.loads(output.read_bytes())
    check_format(document)
    assert list(named_processes(document)) == ["timed.rd: order", "timed.rd: time"]
    (one,) = spans(document, 2, "passes")
    assert (one["ts"], one["dur"], one["args"]["nanoseconds"]) == (0, 8.125, 8125.0)
    assert [(tile["ts"], tile["dur"]) for tile in spans(document, 2, "tiles")] == [
        (0, 0.625),
        (1.25, 1.25),
        (3.125, 1.875),
        (5.625, 2.5),
    ]


def test_several_captures_are_processes_of_one_timeline(samples: Path, tmp_path: Path) -> None:
    output = tmp_path / "both.perfetto.json"
    names = ["a220-triangle.rd", "a530-two-submits.rd", "a640-vendor-frame.rd", "a690-compute.rd"]
    cffpy.export([samples / name for name in names], output)
    document = json.loads(output.read_bytes())
    check_format(document)
    assert list(named_processes(document)) == [f"{name}: order" for name in names]
    assert len(spans(document, 3, "submits")) == 2


def test_the_command(samples: Path, tmp_path: Path, run_cffpy) -> None:
    output, capture = tmp_path / "frame.perfetto.json", samples / "a660-frame-gmem.rd"
    assert run_cffpy("export", capture, "-o", output).returncode == 0
    check_format(json.loads(output.read_bytes()))
    again = run_cffpy("export", capture, "-o", output)
    assert again.returncode == 1
    assert b"exists already" in again.stderr
    refused = run_cffpy("export", capture, "--all", "-o", tmp_path / "x.perfetto.json")
    assert refused.returncode == 2
    assert b"--table and --all cannot be used with *.perfetto.json" in refused.stderr


def test_a_file_that_cannot_be_read_leaves_no_timeline(tmp_path: Path) -> None:
    output = tmp_path / "none.perfetto.json"
    with pytest.raises(cffpy.CffpyError):
        cffpy.export([tmp_path / "missing.rd"], output)
    assert not output.exists()
    output.write_bytes(b"")
    with pytest.raises(UsageError, match="exists already"):
        cffpy.export([tmp_path / "missing.rd"], output)
