# SPDX-License-Identifier: MIT
"""The visibility of passes: captures with encoded streams, and recorded ones with streams put in.

The recorded captures were made without a GPU, so that their visibility streams, where captured, are
zeros. Here a copy in memory gets streams of a known visibility; all else is the drivers' own.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cffpy
from cffpy.analysis import visibility
from cffpy.analysis.queries import find_passes
from cffpy.analysis.visibility import VisibilityReader
from cffpy.capture.load import CommandStream, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.open import open_bytes, open_capture
from cffpy.container.rd import iter_sections
from cffpy.frame.visibility import PassVisibility
from tests import binned
from tests.analysis.reading import findings, passes_of, read
from tests.binned import Binned, draw, streams
from tests.builders import capture

CHECKOUT = Path(__file__).resolve().parents[2]

TWO_PIPES = ((0, 0, 2, 2), (2, 0, 1, 2))

#: Three draws of 10, 10 and 3 x 2 primitives in a grid of 3 x 2 tiles.
DRAWS = draw(30) + draw(12, binned.STRIP) + draw(6, instances=3)
VISIBILITY = [
    [[[(0b1111, 5), (0, 5)]], [[(0, 10)]], [[(1, 2)], [(0, 2)], [(2, 1), (3, 1)]]],
    [[[(0, 10)]], [[(2, 10)]], [[(0, 2)]] * 3],
]


def scene(**changes) -> Binned:
    wanted = {
        "columns": 3,
        "rows": 2,
        "pipes": TWO_PIPES,
        "draws": DRAWS,
        "visibility": VISIBILITY,
    }
    return Binned(**{**wanted, **changes})


def visible(found: PassVisibility) -> dict[int, dict[int, int | None]]:
    """Number of a tile -> the draws that are visible in it, with their primitives."""
    return {one.tile.number: one.primitives for one in found.tiles}


@pytest.mark.parametrize("gpu", [630, 660])
@pytest.mark.parametrize("offsets", [False, True])
def test_a_pass_whose_streams_are_captured(gpu: int, offsets: bool) -> None:
    found = read(scene(offsets=offsets), gpu)
    assert findings(found) == []
    assert found.reason is None
    assert (found.least_entries, found.most_entries, found.entries_known) == (3, 3, True)
    first, second = found.pipes
    assert (first.state, first.fits, first.entries, first.primitives) == ("decoded", True, 3, 26)
    assert first.primitives_whole
    assert first.entries_per_bin == (2, 2, 1, 1)
    assert first.primitives_per_bin == (5 + 2 + 1, 5 + 2, 5, 5)
    assert first.bins[0].culled_entries == 1 - 2 / 3
    assert first.bins[0].culled_primitives == 1 - 8 / 26
    assert second.entries_per_bin == (0, 1)
    assert [[tile.number for tile in first.tiles[slot]] for slot in range(4)] == [
        [0],
        [1],
        [3],
        [4],
    ]
    assert visible(found) == {
        0: {0: 5, 2: 3},
        1: {0: 5, 2: 2},
        2: {},
        3: {0: 5},
        4: {0: 5},
        5: {1: 10},
    }
    assert found.by_tile[0].draws == [(0, 5), (2, 3)]
    assert found.by_tile[0].total_primitives == 8
    assert not found.is_damaged


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_whatever_is_encoded_is_found(choice: random.Random) -> None:
    """Random grids, pipes, draws: each tile executes what was encoded for it."""
    pipes = ((0, 0, choice.randint(1, 3), choice.randint(1, 3)),)
    width, height = pipes[0][2:]
    pipes += ((width, 0, choice.randint(1, 3), height),)
    packets: list[int] = []
    visibility: list[list] = [[], []]
    for _ in range(choice.randint(1, 6)):
        primitives, instances = choice.randint(1, 40), choice.choice((1, 1, 1, 2, 5))
        packets += draw(primitives * 3, instances=instances)
        for of_pipe, pipe in zip(visibility, pipes, strict=True):
            bins = pipe[2] * pipe[3]
            of_draw = []
            for _ in range(instances):
                split = choice.randint(0, primitives)
                runs = [(choice.choice((0, choice.getrandbits(bins))), split), (0, primitives)]
                runs[1] = choice.choice((0, choice.getrandbits(bins))), primitives - split
                of_draw.append([run for run in runs if run[1]])
            of_pipe.append(of_draw)
    found = read(
        Binned(
            columns=width + pipes[1][2],
            rows=height,
            pipes=pipes,
            draws=packets,
            visibility=visibility,
        )
    )
    assert findings(found) == []
    for tile in found.pass_.tiles:
        wanted = {}
        for number, of_draw in enumerate(visibility[tile.pipe]):
            runs = [run for instance in of_draw for run in instance]
            covering = [count for bins, count in runs if bins >> tile.slot & 1]
            if covering:
                wanted[number] = sum(covering)
        assert found.by_tile[tile.number].primitives == wanted


def test_streams_that_are_not_captured() -> None:
    found = read(scene(missing=(binned.DRAW_STREAMS, binned.PRIMITIVE_STREAMS, binned.SIZES)))
    assert [pipe.state for pipe in found.pipes] == ["not captured"] * 2
    assert found.pipes[1].draw_stream.address == binned.DRAW_STREAMS + binned.DRAW_PITCH
    assert (findings(found), found.by_tile) == ([], {})


def test_without_primitive_streams_or_sizes() -> None:
    found = read(scene(missing=(binned.PRIMITIVE_STREAMS,)))
    assert [pipe.state for pipe in found.pipes] == ["decoded"] * 2
    assert found.pipes[0].primitives_per_bin is None
    assert found.by_tile[0].primitives == {0: None, 2: None}
    assert found.by_tile[0].total_primitives is None
    found = read(scene(missing=(binned.SIZES,)))
    assert findings(found) == []
    assert found.pipes[0].draw_stream.size is None
    assert [*found.by_tile[5].primitives] == [1]


def test_streams_that_were_never_written() -> None:
    found = read(scene(visibility=[None, VISIBILITY[1]]))
    assert [pipe.state for pipe in found.pipes] == ["not written", "decoded"]
    assert findings(found) == []
    assert set(found.by_tile) == {2, 5}
    found = read(scene(visibility=[], sizes={1: 64}))
    assert findings(found) == ["its size should be 64 bytes, but all are zero"]


@pytest.mark.parametrize("size", [binned.DRAW_PITCH - binned.PAD + 4, 0x1_0000, 0xFFFF_FFFF])
def test_draw_streams_that_overflowed(size: int) -> None:
    found = read(scene(sizes={0: size}))
    first, second = found.pipes
    assert first.state == "overflowed"
    assert first.reason == f"the draw stream has {size} bytes, its limit is 1024"
    assert second.state == "decoded"
    assert set(found.by_tile) == {2, 5}
    assert not found.is_damaged


def test_primitive_streams_that_overflowed() -> None:
    found = read(scene(primitive_limit=8))
    first, second = found.pipes
    assert (first.state, second.state) == ("overflowed", "decoded")
    assert first.reason == "the primitive streams have 12 bytes, their limit is 8"
    assert first.entries_per_bin == (2, 2, 1, 1)
    assert first.primitives_per_bin is None
    assert 0 not in found.by_tile


def test_a_stream_that_reaches_its_limit() -> None:
    found = read(scene(draw_limit=8))
    assert [pipe.state for pipe in found.pipes] == ["decoded"] * 2
    assert set(findings(found)) == {
        "it is as large as its limit: drivers take it to have overflowed"
    }


def test_a_limit_of_all_pipes_together() -> None:
    """As older gallium sets it: what a pipe may write is its pitch."""
    found = read(scene(draw_limit=0xA000, primitive_limit=0x28000))
    assert found.pipes[0].draw_stream.capacity == binned.DRAW_PITCH
    assert found.pipes[0].primitive_stream.capacity == binned.PRIMITIVE_PITCH
    assert findings(found) == []


def test_every_flipped_bit_of_a_draw_stream_is_noticed() -> None:
    # the limit is on what is written: damage that makes a stream seem larger is not an overflow
    data = scene(primitive_limit=12).capture()
    stream = scene().memory()[binned.DRAW_STREAMS]
    at = data.index(stream)
    for bit in range(0, 64, 3):
        damaged = bytearray(data)
        damaged[at + bit // 8] ^= 0x80 >> bit % 8
        (found,) = passes_of(bytes(damaged))
        assert found.pipes[0].state == "damaged"
        assert found.is_damaged
        assert found.pipes[0].findings[0].startswith("draw stream: ")
        assert set(found.by_tile) == {2, 5}


def test_every_flipped_bit_of_the_primitive_streams_is_noticed() -> None:
    data = scene().capture()
    at = data.index(scene().memory()[binned.PRIMITIVE_STREAMS])
    for bit in range(0, 96, 5):
        damaged = bytearray(data)
        damaged[at + bit // 8] ^= 0x80 >> bit % 8
        (found,) = passes_of(bytes(damaged))
        first = found.pipes[0]
        assert first.state == "damaged"
        assert first.entries_per_bin == (2, 2, 1, 1)
        assert first.findings
        assert 0 not in found.by_tile


def test_streams_of_other_draws() -> None:
    """Streams of an earlier pass are decoded, but not attributed to this one."""
    found = read(scene(draws=DRAWS + draw(3)))
    assert [pipe.fits for pipe in found.pipes] == [False, False]
    assert findings(found)[0] == (
        "it has 3 draws, but the binning run executed 4: it is not of this pass"
    )
    assert found.pipes[0].state == "decoded"
    assert found.pipes[0].entries_per_bin == (2, 2, 1, 1)
    assert (found.by_tile, found.is_damaged) == ({}, False)


def test_streams_of_draws_with_other_primitives() -> None:
    found = read(scene(draws=draw(33) + draw(12, binned.STRIP) + draw(6, instances=3)))
    assert findings(found) == [
        "draw 0, instance 0: 10 primitives in its stream, but the draw has 11"
    ]
    assert [pipe.fits for pipe in found.pipes] == [False, True]
    assert set(found.by_tile) == {2, 5}


def test_streams_of_draws_with_other_instances() -> None:
    found = read(scene(draws=draw(30) + draw(12, binned.STRIP) + draw(6, instances=2)))
    first = found.pipes[0]
    assert first.fits is False
    assert "so it is not of this pass's draws" in first.findings[0]
    assert first.entries_per_bin == (2, 2, 1, 1)


def test_tiles_that_ignore_the_streams_execute_all() -> None:
    found = read(scene(override=1))
    assert all(one.tile.visibility_override for one in found.tiles)
    assert [*found.by_tile[2].primitives] == [0, 1, 2]
    assert found.by_tile[2].total_primitives is None


def test_slots_that_contradict_each_other() -> None:
    found = read(scene(slot=lambda column, row, right: 0 if (column, row) == (1, 0) else right))
    assert findings(found) == [
        "tile 1: slot 0, but by its place it has slot 1",
        "pipe 0: tiles 0, 1 have one slot, 0",
    ]
    assert set(found.by_tile) == {2, 3, 4, 5}
    found = read(scene(slot=lambda column, row, right: right + 9 * (column == 2)))
    assert "tile 2: slot 9, but its pipe has 2 bins" in findings(found)
    assert set(found.by_tile) == {0, 1, 3, 4}


@pytest.mark.parametrize("count", [0, 1, 63])
def test_tiles_whose_pipe_has_another_number_of_bins(count: int) -> None:
    found = read(scene(tile_count=lambda right: count if right == 4 else right))
    assert findings(found)[0] == f"tile 0: its pipe should have {count} bins, but has 4"
    assert set(found.by_tile) == {2, 5}


def test_tiles_with_other_streams_than_were_written() -> None:
    found = read(scene(address=lambda right: right + 64))
    assert findings(found)[0] == (
        "tile 0: it has its draw stream at 0x300040, the VSC wrote it at 0x300000"
    )
    assert found.by_tile == {}


def test_a_tile_without_a_pipe() -> None:
    found = read(scene(pipes=((0, 0, 2, 2),), visibility=VISIBILITY[:1]))
    assert findings(found) == ["tile 2 lies in no VSC pipe", "tile 5 lies in no VSC pipe"]
    assert set(found.by_tile) == {0, 1, 3, 4}


def test_pipes_with_too_many_bins() -> None:
    found = read(Binned(pipes=((0, 0, 63, 63),), visibility=[None], sizes={0: 8}))
    assert found.pipes[0].state == "not written"
    data = bytearray(Binned(visibility=[[[[(1, 3)]]]]).capture())
    config = (2 << 20 | 2 << 26).to_bytes(4, "little")
    data[data.index(config) : data.index(config) + 4] = (63 << 20 | 63 << 26).to_bytes(4, "little")
    (found,) = passes_of(bytes(data))
    assert found.pipes[0].state == "not decoded"
    assert found.pipes[0].reason == "a pipe of 3969 bins; the format has 63"


def test_a_binning_run_that_is_not_whole() -> None:
    found = read(scene(missing=(binned.DRAWS_IB,)))
    assert not found.entries_known
    assert [pipe.state for pipe in found.pipes] == ["decoded"] * 2
    assert [pipe.fits for pipe in found.pipes] == [None, None]
    assert found.by_tile == {}


def test_passes_that_share_their_memory() -> None:
    first, second = passes_of(scene().capture(passes=2))
    assert (first.shared_with, second.shared_with) == ([1], [0])
    assert visible(first) == visible(second) != {}


def test_each_submit_has_memory_of_its_own() -> None:
    """The streams of a submit's last pass are still there when its buffers are dropped."""
    other = scene(visibility=[VISIBILITY[0], None])
    first, second = passes_of(scene().capture() + other.capture())
    assert first.pass_.submit != second.pass_.submit
    assert [pipe.state for pipe in first.pipes] == ["decoded", "decoded"]
    assert [pipe.state for pipe in second.pipes] == ["decoded", "not written"]
    assert (first.shared_with, second.shared_with) == ([], [])


def test_a_pass_without_binning() -> None:
    (found,) = passes_of(scene().capture())
    found.pass_.hardware_binning = False
    (again,) = [VisibilityReader(_found([found.pass_])).read(found.pass_)]
    assert (again.reason, again.pipes, again.tiles) == ("no hardware binning", [], [])


@pytest.mark.parametrize("generation", [2, 3, 4, 5])
def test_earlier_generations_are_not_decoded(generation: int) -> None:
    (found,) = passes_of(scene().capture())
    older = _found([found.pass_], generation)
    again = VisibilityReader(older).read(found.pass_)
    assert again.reason == f"not decoded (a{generation}xx format)"
    assert {pipe.state for pipe in again.pipes} == {"not decoded"}
    assert again.tiles == []


def older_pass(path: Path) -> PassVisibility:
    finder, _ = find_passes(open_capture(str(path)), print)
    (one,) = finder.found.passes
    return VisibilityReader(finder.found).read(one)


def test_pipes_of_a5xx_have_a_stream_each(samples: Path) -> None:
    found = older_pass(samples / "a530-bins.rd")
    assert found.reason == "not decoded (a5xx format)"
    (pipe,) = found.pipes
    assert (pipe.pipe.stream, pipe.pipe.stream_limit) == (0x100002000, 0xFE0)
    part = pipe.draw_stream
    assert (part.address, part.capacity, part.captured, part.size) == (0x100002000, 0xFE0, 0xFE0, 8)
    assert (pipe.state, pipe.size_address) == ("not decoded", 0x100003000)
    assert {slot: [tile.number for tile in tiles] for slot, tiles in pipe.tiles.items()} == {
        0: [0],
        1: [1],
    }
    assert (found.findings, found.tiles) == ([], [])


@pytest.mark.parametrize(
    ("before", "after", "finding"),
    [
        ("VSC_N=1", "VSC_N=0", "tile 1: slot 0, but by its place it has slot 1"),
        (
            "BIN_DATA_ADDR=stream BIN_SIZE_ADDRESS=sizes",
            "BIN_DATA_ADDR=sizes BIN_SIZE_ADDRESS=sizes",
            "tile 0: it has its draw stream at 0x100003000, the VSC wrote it at 0x100002000",
        ),
    ],
)
def test_tiles_of_a5xx_are_compared_with_the_pipes(
    before: str, after: str, finding: str, tmp_path: Path
) -> None:
    text = (CHECKOUT / "samples/a530-bins.pm4").read_text()
    path = tmp_path / "bins.rd"
    path.write_bytes(cffpy.compile(text.replace(before, after, 1).encode()))
    assert finding in older_pass(path).findings


def test_an_empty_stream_of_a5xx_is_not_written(tmp_path: Path) -> None:
    text = (CHECKOUT / "samples/a530-bins.pm4").read_text()
    path = tmp_path / "bins.rd"
    path.write_bytes(cffpy.compile(text.replace("00010003 80000000", "00000000").encode()))
    (pipe,) = older_pass(path).pipes
    assert (pipe.state, pipe.reason) == ("not written", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit", "pipes"),
    [
        ("a330-gl-scene150-720p", 262112, 8),
        ("a430-gl-scene150-720p", 262112, 6),
        ("a540-gl-scene150-720p", 131040, 8),
    ],
)
def test_shared_captures_of_older_generations(
    name: str, limit: int, pipes: int, shared: Path
) -> None:
    """Tiles name the streams and sizes that the registers of the pipes name."""
    finder, _ = find_passes(open_capture(str(shared / f"captures/{name}.rd.gz")), print)
    reader = VisibilityReader(finder.found)
    found = [reader.read(one) for one in finder.found.passes if one.hardware_binning]
    assert [len(one.pipes) for one in found] == [pipes]
    assert [one.findings for one in found] == [[]]
    assert {pipe.pipe.stream_limit for pipe in found[0].pipes} == {limit}
    assert len({pipe.draw_stream.address for pipe in found[0].pipes}) == pipes


def _found(passes, generation: int = 6):
    from cffpy.frame.passes import Passes, SubmitPasses

    return Passes(generation, None, [SubmitPasses(0, passes)])


@given(st.binary(max_size=200), st.binary(max_size=200), st.integers(0, 1 << 32))
def test_any_bytes_are_survived(draws: bytes, primitives: bytes, size: int) -> None:
    data = bytearray(scene(sizes={0: size & 0xFFFFFFFF}).capture())
    memory = scene().memory()
    for address, content in ((binned.DRAW_STREAMS, draws), (binned.PRIMITIVE_STREAMS, primitives)):
        at = bytes(data).index(memory[address])
        data[at : at + len(content)] = content
    (found,) = passes_of(bytes(data))
    assert len(found.pipes) == 2


def test_limits_of_what_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visibility, "MAX_PIPE_BYTES", 7)
    found = read(scene())
    assert {(pipe.state, pipe.reason) for pipe in found.pipes} == {
        ("not decoded", "a draw stream of 8 bytes; more than 7 are too many")
    }
    monkeypatch.undo()
    monkeypatch.setattr(visibility, "MAX_PASS_BYTES", 15)
    found = read(scene())
    assert [pipe.state for pipe in found.pipes] == ["decoded", "not decoded"]
    assert found.pipes[1].reason == "there is too much before it"
    monkeypatch.undo()
    found = read(scene(), budget=8 * 16 + 11)
    assert found.pipes[0].primitives_per_bin is None
    assert findings(found)[0] == "primitive streams of 12 bytes: there is too much before them"


def test_a_huge_draw_stream_of_unknown_size_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visibility, "MAX_PIPE_BYTES", 1 << 10)
    memory = scene(missing=(binned.SIZES,))
    size = 1 << 16
    limit = binned.DRAW_PITCH - binned.PAD
    commands = [size if word in (binned.DRAW_PITCH, limit) else word for word in memory.commands()]
    packets = b"\x33" * size  # 0011: an empty draw each
    data = capture(660, commands, {binned.DRAWS_IB: DRAWS, binned.DRAW_STREAMS: packets})
    (found,) = passes_of(data)
    assert found.pipes[0].state == "damaged"
    assert found.pipes[0].entries == 2 << 10
    assert found.by_tile == {}


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
    for noted in one._stream_draws:
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
    return [noted.action.number for noted in one._stream_draws for _ in range(noted.most)]


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
