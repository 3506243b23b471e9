# SPDX-License-Identifier: MIT
"""Real command streams with streams put into their buffers.

The captures at hand were made without a GPU, so that their visibility streams, where captured, are
zeros. Here a copy in memory gets streams of a known visibility; all else is the drivers' own.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.analysis.visibility import VisibilityReader
from cffpy.capture.load import CommandStream, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.open import open_bytes, open_capture
from cffpy.container.rd import iter_sections
from tests.binned import streams


def file_offset(data: bytes, submit: int, gpuaddr: int) -> int:
    """The file offset of what a submit sees at an address."""
    image = MemoryImage()
    for record in read_records(iter_sections(memoryview(data), []), image):
        if isinstance(record, CommandStream) and record.submit == submit:
            buffer = image.find(gpuaddr)
            assert buffer is not None
            return buffer.file_offset + gpuaddr - buffer.gpuaddr
    raise AssertionError(f"no submit {submit}")


def all_passes(data: bytes):
    finder, _ = find_passes(open_bytes(data), lambda message: None)
    return finder.found


def some_visibility(choice: random.Random, one, bins: int) -> list:
    """Random bins and a valid number for each entry that the pass's draws may have."""
    visibility = []
    for noted in one.stream_draws:
        for _ in range(noted.most):
            instances = []
            for _ in range(noted.instances or 1):
                count = noted.primitives or choice.randint(1, 50)
                split = choice.randint(0, count)
                pieces = [split, count - split]
                some = [0, choice.getrandbits(bins), choice.getrandbits(bins)]
                instances.append([(choice.choice(some), piece) for piece in pieces if piece])
            visibility.append(instances)
    return visibility


def owners(one) -> list[int | None]:
    """The program's draw that each entry is of."""
    return [noted.action.number for noted in one.stream_draws for _ in range(noted.most)]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a630-gl-vtk-scene", marks=pytest.mark.slow),
        "a640-vk-scene100-noubwc-nolrz",
        "a660-vk-indirect-gmem",
        "a740-gl-cube-gmem",
        "a740-vk-bindless-gmem",
    ],
)
def test_streams_in_real_buffers(shared: Path, name: str) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.is_file():
        pytest.skip(f"no capture {path}")
    data = bytearray(open_capture(str(path)).data)
    one = next(one for one in all_passes(bytes(data)).passes if one.hardware_binning)
    before = VisibilityReader(all_passes(bytes(data))).read(one)
    assert {pipe.state for pipe in before.pipes} == {"not written"}
    choice = random.Random(name)
    visibility = {}
    for pipe in before.pipes:
        made = visibility[pipe.pipe.number] = some_visibility(choice, one, pipe.bin_count)
        draws, primitives = streams(made, pipe.bin_count)
        assert len(draws) < pipe.draw_stream.capacity
        assert len(primitives) <= pipe.primitive_stream.capacity
        for address, content in (
            (pipe.draw_stream.address, draws),
            (pipe.primitive_stream.address, primitives),
            (pipe.size_address, len(draws).to_bytes(4, "little")),
        ):
            at = file_offset(bytes(data), one.submit, address)
            data[at : at + len(content)] = content

    passes = all_passes(bytes(data))
    reader = VisibilityReader(passes)
    found = reader.read(passes.passes[one.index])
    assert found.findings == []
    for pipe in found.pipes:
        assert (pipe.state, pipe.fits, pipe.findings) == ("decoded", True, [])
        assert pipe.entries == len(visibility[pipe.pipe.number])
    assert set(found.by_tile) == {tile.number for tile in one.tiles}
    numbers = owners(found.pass_)
    for tile in found.pass_.tiles:
        wanted: dict[int, int] = {}
        for number, instances in zip(numbers, visibility[tile.pipe], strict=True):
            for bins, count in (run for runs in instances for run in runs):
                if number is not None and bins >> tile.slot & 1:
                    wanted[number] = wanted.get(number, 0) + count
        assert found.tiles[tile.number].primitives == wanted

    for other in found.shared_with:
        again = reader.read(passes.passes[other])
        assert {pipe.state for pipe in again.pipes} <= {"decoded", "not written"}


@pytest.mark.slow
def test_all_captures_agree_with_themselves(shared: Path) -> None:
    """Tiles and binning runs of both drivers: slots, pipes, addresses, draws that go by streams."""
    names = ["a618-vk-depth-lrz-gmem", "a650-vk-scene300-4k-gmem", "a740-vk-frame-msaa4-1080p"]
    names += ["a630-gl-blit-msaa", "shadow", "x1-85-wgpu-cubes-msaa"]
    for name in names:
        path = shared / "captures" / f"{name}.rd.gz"
        if not path.is_file():
            pytest.skip(f"no capture {path}")
        finder, _ = find_passes(open_capture(str(path)), lambda message: None)
        reader = VisibilityReader(finder.found)
        for one in finder.found.passes:
            if one.hardware_binning:
                found = reader.read(one)
                assert found.findings == []
                assert found.pipes
                assert {pipe.state for pipe in found.pipes} <= {"not captured", "not written"}
