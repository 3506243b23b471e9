# SPDX-License-Identifier: MIT
"""Barriers and the hazards that they guard: the sample, and captures whose program is known."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.barriers import uses_pointers
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "a660-barriers.pm4"


def test_hazards_of_the_sample(samples: Path) -> None:
    """A fill is sampled, what was drawn is copied; depth is cleaned for nobody."""
    with cffpy.open(samples / "a660-barriers.rd") as capture:
        begin, upload, copy, useless, end = capture.barriers
        assert [one.guards for one in (begin, useless, end)] == ["outside", "nothing", "outside"]
        (sampled,), (copied,) = upload.hazards, copy.hazards
        assert sampled.kind == "read after write"
        assert (sampled.address, sampled.size) == (0x100008000, 64 * 64 * 4)
        assert sampled.parts == copied.parts == ("clean", "invalidate", "wait")
        assert (sampled.first.action, sampled.second.action) == ("p0:0", "p1:0")
        assert upload.cleans == ("color",)
        assert upload.invalidates == ("texture",)
        assert upload.waits == ("idle",)
        assert upload.source_stages == ("TRANSFER",)
        assert upload.source_accesses == ("TRANSFER_WRITE",)
        assert upload.destination_stages == ("FRAGMENT_SHADER",)
        assert upload.destination_accesses == ("SHADER_SAMPLED_READ",)
        assert copy.source_accesses == ("COLOR_ATTACHMENT_WRITE",)
        assert copy.destination_accesses == ("TRANSFER_READ",)
        assert useless.source_accesses == ("DEPTH_STENCIL_ATTACHMENT_WRITE",)
        assert [one.number for one in capture.passes[0].barriers] == [1]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("CP_EVENT_WRITE EVENT=CACHE_INVALIDATE", ("clean", "wait")),
        ("CP_WAIT_FOR_IDLE", ("clean", "invalidate")),
        ("CP_EVENT_WRITE EVENT=PC_CCU_FLUSH_COLOR_TS ADDR_0=dummy [3]=0x0", ("invalidate", "wait")),
    ],
)
def test_a_barrier_contributes_what_it_has(line: str, parts: tuple[str, ...]) -> None:
    """The barrier before the draw without one of its packets."""
    head, mark, tail = SAMPLE.read_text().partition("    // tu6_sysmem_render_begin")
    before, found, after = head.rpartition(line)
    assert found
    text = f"{before}{after}{mark}{tail}"
    with cffpy.open(cffpy.compile(text.encode())) as capture:
        (hazard,) = capture.barriers[1].hazards
        assert hazard.parts == parts


def test_text_and_document(samples: Path, run_cffpy: Run) -> None:
    path = samples / "a660-barriers.rd"
    done = run_cffpy("passes", "--barriers", path)
    assert (done.returncode, done.stderr) == (0, b"")
    first, *lines = done.stdout.decode().splitlines()
    assert first == "5 barriers: 2 for hazards, 2 for what is outside of the submit, 1 for nothing"
    assert "  TRANSFER (TRANSFER_WRITE) -> FRAGMENT_SHADER (SHADER_SAMPLED_READ)" in lines
    document = json.loads(run_cffpy("passes", "--barriers", "--json", path).stdout)
    guards = ["outside", "hazards", "hazards", "nothing", "outside"]
    assert [one["guards"] for one in document["barriers"]] == guards
    at = run_cffpy("passes", "--barriers", "--at", "p0", path).stdout.decode().splitlines()
    assert at[0] == "1 barrier: 1 for hazards"
    assert run_cffpy("passes", "--barriers", "--csv", path).returncode == 2


#: Captures, and accesses of Vulkan that a program is known to have put a barrier between.
KNOWN = (
    ("a690-vk-compute-full", "TRANSFER_WRITE", "TRANSFER_READ"),
    ("a740-vk-events-cond", "COLOR_ATTACHMENT_WRITE", "SHADER_SAMPLED_READ"),
    ("a330-gl-inst-mrt", "COLOR_ATTACHMENT_WRITE", "SHADER_SAMPLED_READ"),
    ("a220-gl-passes", "COLOR_ATTACHMENT_WRITE", "SHADER_SAMPLED_READ"),
    ("a430-gl-passes-restore", "COLOR_ATTACHMENT_WRITE", "SHADER_SAMPLED_READ"),
    ("a540-gl-indirect", "COLOR_ATTACHMENT_WRITE", "SHADER_SAMPLED_READ"),
    ("a660-vk-xfer", "TRANSFER_WRITE", "TRANSFER_READ"),
    ("a740-vk-xfer", "TRANSFER_WRITE", "SHADER_SAMPLED_READ"),
    ("a610-vk-frame-720p", "COLOR_ATTACHMENT_WRITE", "SHADER_SAMPLED_READ"),
    ("a740-gl-passes", "TRANSFER_WRITE", "TRANSFER_READ"),
)


@pytest.mark.parametrize(("name", "source", "destination"), first_always(KNOWN, 2, 3))
def test_barriers_of_known_programs(name: str, source: str, destination: str, shared: Path) -> None:
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        barriers = capture.barriers
        pairs = Counter(
            (hazard.first.access, hazard.second.access)
            for barrier in barriers
            for hazard in barrier.hazards
        )
        assert pairs[source, destination]
        for barrier in barriers:
            assert (barrier.guards == "hazards") == bool(barrier.hazards)
            assert (barrier.unknown is not None) == (barrier.guards == "unknown")
            for hazard in barrier.hazards:
                assert hazard.parts
                assert ("clean" in hazard.parts) <= bool(barrier.cleans)
                assert ("invalidate" in hazard.parts) <= bool(barrier.invalidates)
                assert ("wait" in hazard.parts) <= ("idle" in barrier.waits)


@pytest.mark.slow
def test_flushes_of_each_draw_guard_little(shared: Path) -> None:
    """TU_DEBUG=flushall,syncdraw: draws of a pass do not need what it adds."""
    name = "a630-vk-scene200-1080p-sysmem-flushall-syncdraw"
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        counts = Counter(barrier.guards for barrier in capture.barriers)
        assert counts["hazards"] < sum(counts.values()) / 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ldg.f32 r0.x, g[r1.x], 1", True), ("stg.a.u32 g[r0.x], r1.x", True), ("ldgb.f32", False)],
)
def test_pointers(text: str, expected: bool) -> None:
    assert uses_pointers(text) is expected


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_damaged_captures(cut: float, samples: Path) -> None:
    data = bytearray((samples / "a660-barriers.rd").read_bytes())
    whole = len(data)
    data[whole // 3 :: 997] = bytes(0xFF ^ byte for byte in data[whole // 3 :: 997])
    for damaged in (bytes(data), bytes(data[: int(whole * cut)])):
        with cffpy.open(damaged) as capture:
            assert all(barrier.guards for barrier in capture.barriers)
            assert all(one.mode_choice or one.kind != "render" for one in capture.passes)
