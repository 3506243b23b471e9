# SPDX-License-Identifier: MIT
"""What the driver has each command stream for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import cffpy
from cffpy.frame.driver import CalledStream
from tests.selection import first_always

#: Roles of streams that have draws of the program.
WITH_DRAWS = {"draws", "secondary command buffer", "binning"}

OF_DRIVERS = [
    "a740-vk-query-gmem",
    "a660-vk-passes-gmem",
    "a740-vk-cube-sysmem",
    "a740-vk-fdm",
    "a690-vk-compute-full",
    "a740-vk-xfer",
    "a740-gl-passes",
    "a630-gl-xfb-queries",
    "a530-gl-scene-msaa4",
    "a430-gl-passes-restore",
    "a330-gl-scene150-720p",
    "a220-gl-passes",
    "a430-gl-compute",
]


def streams_of(capture: cffpy.Capture) -> list[CalledStream]:
    return [stream for submit in capture.submits for stream in submit.called_streams]


@pytest.mark.parametrize("name", first_always(OF_DRIVERS))
def test_all_streams_of_known_drivers_have_roles(shared: Path, name: str) -> None:
    driver = "freedreno" if "-gl-" in name else "turnip"
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        assert capture.driver.name == driver
        streams = streams_of(capture)
        assert [stream for stream in streams if stream.role is None] == []
        assert all(stream.rule and stream.certainty for stream in streams)
        for one in capture.passes:
            for draw in one.draws:
                if draw.kind == "draw" and not draw.role:
                    assert draw.stream.role in WITH_DRAWS
            for tile in one.tiles:
                stores = [
                    each.action.stream.role for each in tile.operations if each.kind == "store"
                ]
                if driver == "turnip":
                    assert set(stores) <= {"tile store"}


def test_static_state_in_one_packet(shared: Path) -> None:
    """freedreno of 2025 writes it as pairs of register and value."""
    with cffpy.open(shared / "m26/captures/m26-a740-gl-passes.rd.gz") as capture:
        streams = streams_of(capture)
        assert [stream for stream in streams if stream.role is None] == []
        roles = Counter(stream.role for stream in streams)
        assert roles["static state"] == roles["command buffer"]


def test_secondary_command_buffers(shared: Path) -> None:
    """Two passes of a primary, which has no draws of its own: four secondaries draw in each."""
    with cffpy.open(shared / "captures/a740-vk-dyn-secondary-gmem.rd.gz") as capture:
        roles = Counter((stream.role, stream.name) for stream in streams_of(capture))
        assert roles["secondary command buffer", "draw_cs"] == 4
        assert roles["tile store", "tile_store_cs"] == 2
        for one in capture.passes:
            assert {draw.stream.role for draw in one.draws} == {"secondary command buffer"}
            assert len({draw.stream.gpuaddr for draw in one.draws}) == 4


def test_epilogue_and_fence(shared: Path) -> None:
    with cffpy.open(shared / "captures/a740-vk-query-gmem.rd.gz") as capture:
        (epilogue,) = [one for one in streams_of(capture) if one.role == "draw epilogue"]
        assert (epilogue.name, epilogue.calls, epilogue.passes) == ("draw_epilogue_cs", 1, (0,))
    with cffpy.open(shared / "captures/a740-vk-frame-msaa4-1080p.rd.gz") as capture:
        fences = [one for one in streams_of(capture) if one.role == "fence"]
        assert [(one.level, one.dwords) for one in fences] == [(0, 5), (0, 5)]


def test_streams_that_the_kernel_runs_for_switches(samples: Path) -> None:
    with cffpy.open(samples / "a740-ambles.rd") as capture:
        roles = [stream.role for stream in streams_of(capture)]
        assert roles == ["command buffer", "preamble", "bin preamble", "postamble", "draws"]


def test_an_unknown_driver_has_no_names(samples: Path) -> None:
    with cffpy.open(samples / "a640-vendor-frame.rd") as capture:
        assert str(capture.driver) == "unknown"
        streams = streams_of(capture)
        assert {stream.name for stream in streams} == {None}
        assert {"tile store", "draws"} <= {stream.role for stream in streams}
        assert "secondary command buffer" not in {stream.role for stream in streams}


def test_streams_of_a_pass(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        (one,) = capture.passes
        assert [str(stream) for stream in one.called_streams] == [
            "command buffer (cs) 0x100001000, 218 dwords",
            "draws (draw_cs) 0x100002000, 133 dwords",
            "tile store (tile_store_cs) 0x100003000, 18 dwords",
        ]


def test_a_stream_between_two_parts_of_another_is_a_secondary() -> None:
    from cffpy.analysis.driver.streams import _find_secondaries, _Stream

    def stream(gpuaddr: int, dwords: int, *actions: str) -> _Stream:
        return _Stream(0, 0, gpuaddr, dwords, 1, actions=set(actions))

    first, other, second = stream(0x1000, 4), stream(0x8000, 4, "draw"), stream(0x1010, 4)
    _find_secondaries([first, other, second])
    assert [one.role for one in (first, other, second)] == [None, "secondary command buffer", None]
    grown = [stream(0x1000, 4, "draw"), stream(0x8000, 4, "draw"), stream(0x8010, 4, "draw")]
    _find_secondaries(grown)
    assert [one.role for one in grown] == [None, None, None]
