# SPDX-License-Identifier: MIT
"""Actions, passes and generated draws of Intel captures."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cffpy.errors import CaptureError, ContainerError, UsageError
from cffpy.intel.analysis.survey import UNKNOWN_TARGETS
from cffpy.limits import Limits
from tests.conftest import CHECKOUT
from tests.intel import aub_files, frames
from tests.intel.opening import OpenedIntel, open_intel
from tests.selection import first_always


@pytest.fixture(scope="module")
def frame() -> OpenedIntel:
    return open_intel(frames.frame())


def test_the_sample_is_the_frame() -> None:
    stored = (CHECKOUT / "samples" / "skl-frame.aub.gz").read_bytes()
    assert gzip.decompress(stored) == frames.frame()
    stored = (CHECKOUT / "samples" / "skl-hang.i915.gz").read_bytes()
    assert gzip.decompress(stored) == frames.hang()


def test_actions_in_the_order_of_execution(frame: OpenedIntel) -> None:
    found = [(action.role or action.kind, action.vertices) for action in frame.actions]
    assert found == [
        ("clear", None),
        ("draw", 36),
        ("draw", 6),
        ("draw", 9),
        ("generation", 3),
        ("draw", 3),
        ("draw", 4),
        ("generation", 3),
        ("draw", 3),
        ("draw", 4),
        ("draw", 24),
    ]
    assert not frame.problems


def test_a_secondary_returns_to_its_caller(frame: OpenedIntel) -> None:
    before, inside = frame.actions[2], frame.actions[3]
    batches = frame.uses(before).batch, frame.uses(inside).batch
    assert batches == (frames.BATCH, frames.SECONDARY)
    assert inside.place.gpuaddr == frames.SECONDARY
    assert [one.kind for one in inside.place.path] == ["submit", "batch"]
    assert inside.place.path[1].gpuaddr == frames.SECONDARY


def test_one_pass(frame: OpenedIntel) -> None:
    (one,) = frame.passes
    colour, depth = one.attachments
    assert (colour.name, colour.address) == ("color 0", frames.TARGET)
    assert (depth.name, depth.format, depth.address) == ("depth", "D24_UNORM_X8_UINT", frames.DEPTH)
    assert (str(one.framebuffer), one.samples, one.mode, one.tiles) == ("64x32", 1, None, [])
    assert frame.uses(one.draws[0]).has_hiz
    (clear,) = one.operations
    assert (clear.kind, clear.attachment, clear.how) == ("clear", "depth", "3DSTATE_WM_HZ_OP")
    assert (clear.action.kind, clear.action.primitive) == ("HiZ operation", "depth clear")
    assert (one.first, one.last) == (one.draws[0].place, one.draws[-1].place)
    assert [flush.does for flush in frame.model.flushes[0]] == [
        ("flush the render target cache", "stall the command streamer")
    ]


def test_numbers_and_places(frame: OpenedIntel) -> None:
    """Numbers in the pass and in the capture; the path leads from the ring to the batch."""
    first = frame.passes[0].draws[1]
    assert (first.name, first.pass_index, first.number, first.dump_draw) == ("p0:1", 0, 1, 2)
    assert first.place.file_offset == 0x1C4
    place = f"{first.place.gpuaddr:#x} +0x1c4"
    assert str(first.place) == f"stream 0 > batch {frames.BATCH:#x} > {place}"
    ring = first.place.path[1].caller
    assert ring is not None
    assert ring.gpuaddr == first.place.path[0].gpuaddr


def test_generated_draws(frame: OpenedIntel) -> None:
    inline, ring = frame.generations
    assert (inline.is_ring, ring.is_ring, ring.ring_count) == (False, True, 2)
    found = [
        (one.call, one.item, one.is_predicted)
        for one in (action.generated for action in frame.actions)
        if one is not None
    ]
    assert found == [(0, 0, False), (0, 1, True), (1, 0, True), (1, 1, True)]
    predicted = frame.actions[6]
    assert predicted.place.gpuaddr == inline.commands + frames.DRAW_SIZE
    counts = (predicted.vertices, predicted.instances, predicted.first, predicted.first_instance)
    assert counts == (4, 2, 7, 1)


def test_predicted_draws_of_a_predicated_call() -> None:
    """Only the empty slot is made by cffpy; the written one has no predicate."""
    memory = frames.batches()
    pushed = bytearray(memory[frames.PARAMETERS])
    pushed[28] |= 2
    memory[frames.PARAMETERS] = bytes(pushed)
    capture = open_intel(frames.frame(memory))
    found = {
        one.generated[:2]: one.condition is not None
        for one in capture.actions
        if one.generated is not None
    }
    assert found == {(0, 0): False, (0, 1): True, (1, 0): False, (1, 1): False}


def test_a_table_of_true_length(frame: OpenedIntel) -> None:
    (table,) = frame.uses(frame.find("p0:0")).tables
    assert (table.stage, table.source, table.in_first_gigabyte) == ("PS", "driver", True)
    assert [entry.role for entry in table.entries] == ["render target", "", "", ""]
    surfaces = [entry.surface for entry in table.entries]
    addresses = [surface.address for surface in surfaces if surface is not None]
    assert addresses == [frames.TARGET, frames.SET, frames.TEXTURE, frames.UNIFORMS]
    assert [entry.heap for entry in table.entries][:3] == [
        "internal surface states",
        "internal surface states",
        "bindless surface states",
    ]
    assert [surface.size for surface in surfaces if surface is not None] == [0, 64, 0, 256]


def test_what_is_not_there(frame: OpenedIntel) -> None:
    for name in (11, "#11", "p0:8", "p1:0"):
        with pytest.raises(CaptureError):
            frame.find(name)
    with pytest.raises(UsageError):
        frame.find("x")
    with pytest.raises(ContainerError, match="not a capture, but text"):
        open_intel(b"hello\n")


def _passes(capture: OpenedIntel) -> list[tuple[str, int]]:
    return [(one.kind, len(one.draws)) for one in capture.passes]


#: What the program of each capture did: kinds of passes and their draws or dispatches.
TRUTH = {
    "skl-vk-tri.aub": [("render", 3)],
    "skl-vk-cube.aub": [("render", 1), ("render", 1)],
    "icl-vk-passes.aub": [("render", count) for count in (12, 20, 15, 10, 5, 8, 4, 9, 1)],
    "skl-vk-dyn.aub": [("render", 20), ("render", 30)],
    "tgl-vk-dyn.aub": [("render", 20), ("render", 30)],
    "dg2-vk-subpass.aub": [("render", 25), ("render", 1), ("render", 4)],
    "dg2-vk-compute.aub": [("compute", 6)],
    "skl-vk-compute.aub": [("compute", 6)],
    "tgl-vk-tess.aub": [("render", 9)],
    "bdw-vk-query.aub": [("render", 21)],
    "lnl-vk-bindless.aub": [("render", 20)],
    "icl-vk-gendraws.aub": [("render", 277)],
    "bdw-vk-gendraws.aub": [("render", 290)],
    "skl-vk-gendraws-executed.aub": [("render", 157)],
    "dg2-vk-gendraws-executed.aub": [("render", 157)],
    "ptl-vk-gendraws-executed.aub": [("render", 157)],
    "icl-vk-passes-error.i915": [("render", count) for count in (12, 20, 15, 10, 5, 8, 4, 9, 1)],
    "lnl-vk-tri-xe-devcoredump.xe": [("render", 3)],
    "ivb-gl-xfbq.aub": [("render", 4)],
}


@pytest.mark.parametrize("name", first_always(TRUTH, 2))
def test_captures_of_drivers(name: str, shared: Path) -> None:
    capture = open_intel(str(shared / "intel" / "captures" / f"{name}.gz"))
    assert _passes(capture) == TRUTH[name]


@pytest.mark.slow
def test_draws_that_a_shader_would_write(shared: Path) -> None:
    folder = shared / "intel" / "captures"
    executed = open_intel(str(folder / "tgl-vk-gendraws-executed.aub.gz"))
    generated = [one for one in executed.draws if one.generated is not None]
    origins = [one.generated for one in generated]
    assert [call.draws for call in executed.generations] == [6, 6, 5, 6, 130]
    assert len(origins) == 153
    assert not any(one.is_predicted for one in origins if one is not None)
    stale = open_intel(str(folder / "icl-vk-gendraws.aub.gz"))
    assert [call.draws for call in stale.generations] == [6, 6, 5, 6, 130, 120]
    predicted = [one for one in stale.draws if one.generated is not None]
    assert all(one.generated is not None and one.generated.is_predicted for one in predicted)
    # both programs draw the same
    for one, other in zip(predicted, generated, strict=False):
        assert stale.uses(one).counts == executed.uses(other).counts


def test_tables_of_a_cube(shared: Path) -> None:
    capture = open_intel(str(shared / "intel" / "captures" / "skl-vk-cube.aub.gz"))
    table = capture.uses(capture.find("p1:0")).table("PS")
    assert table is not None
    offsets = [entry.offset for entry in table.entries]
    assert offsets == [0x40002040, 0x40000000, 0x40000080, 0x80000080, 0x40002180]
    addresses = [entry.surface.address for entry in table.entries if entry.surface is not None]
    assert addresses[1:3] == [0x2BFFFFFC0, 0x2BFFFFF80]


def test_the_length_of_a_table_from_the_kernel(shared: Path) -> None:
    """On gen11 the driver leaves it out."""
    capture = open_intel(str(shared / "intel" / "captures" / "icl-vk-passes.aub.gz"))
    table = capture.uses(capture.find("p5:0")).table("PS")
    assert table is not None
    assert [entry.role for entry in table.entries][:4] == ["render target"] * 3 + [""]


def test_a_batch_without_an_end() -> None:
    """Its memory ends before it: the rest is not in the file, and is reported as missing."""
    batch = frames.draw(3).ljust(4096, b"\0")
    capture = open_intel(aub_files.file({frames.BATCH: batch}, frames.BATCH))
    end = frames.BATCH + 4096
    assert capture.problems == [f"a batch has no MI_BATCH_BUFFER_END: its memory ends at {end:#x}"]
    assert len(capture.actions) == 1


def test_what_a_capture_lacks_is_said(shared: Path) -> None:
    """The batch ends after 42 of 50 draws (workloads.json), and tables were not captured."""
    capture = open_intel(str(shared / "intel" / "captures" / "hsw-vk-dyn.aub.gz"))
    assert len(capture.draws) == 42
    end = "a batch has no MI_BATCH_BUFFER_END: its memory ends at 0x9e4008"
    assert capture.problems == [end]
    missing = "missing    binding tables of 42 actions"
    assert sum(missing in line for line in capture.info_lines()) == 1
    assert [one.unknown for one in capture.passes] == [[UNKNOWN_TARGETS]]
    assert all(capture.uses(one).has_unknown_targets for one in capture.draws)


@pytest.mark.parametrize(
    ("name", "draws", "indices", "target"),
    [
        ("brw-gl-cube", 4, 36, "R8G8B8A8_UNORM 256x192"),
        ("g4x-gl-tri", 1, 3, "R8G8B8A8_UNORM 256x256"),
        ("ilk-gl-scissor", 30, None, "R8G8B8A8_UNORM 800x480"),
    ],
)
def test_gen4_and_gen5(
    name: str, draws: int, indices: int | None, target: str, shared: Path
) -> None:
    """Commands of the command streamer are not described there, but batches are followed.

    Kernels, tables and samplers are those of the units' state in memory (workloads.json).
    """
    capture = open_intel(str(shared / "intel" / "captures" / f"{name}.aub.gz"))
    assert capture.problems == []
    assert len(capture.draws) == draws
    last = capture.draws[-1]
    assert indices in (None, last.vertices)
    assert (last.instances, capture.uses(last).counts.first_instance) == (1, 0)
    stages = [program.stage for program in capture.uses(last).programs]
    assert stages == ["VS", "CLIP", "SF", "PS"]
    for uses in map(capture.uses, capture.draws):
        assert uses.missing_tables == []
        (surface,) = uses.targets
        assert f"{surface.format} {surface.width}x{surface.height}" == target


@pytest.mark.slow
def test_commands_grow_with_the_file() -> None:
    """529 bytes may name a large area: an analysis took a minute for 256 MiB of zeros."""
    data = frames.xe_hang({frames.BATCH: b""}).rpartition(b"\n[")[0]
    data = data.replace(b"length: 0x0", b"length: 0x10000000")
    problems = list(map(str, open_intel(data, limits=Limits(bytes=1 << 25)).problems))
    assert any("too many commands" in one for one in problems), problems
