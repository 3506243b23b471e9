# SPDX-License-Identifier: MIT
"""Both streams of a pipe together: totals and findings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.vsc import draw_stream, primitive_stream
from cffpy.vsc.draw_stream import DrawPacket, pack
from cffpy.vsc.pipe import DRAW_STREAM, PRIMITIVE_STREAM, decode_pipe
from cffpy.vsc.primitive_stream import PrimitiveRun
from tests.vsc.streams import BIN_COUNTS, bitfields


def build(draws, bin_count: int) -> tuple[bytes, bytes]:
    """The streams of draws: lists of instances, each a list of (bins, primitives)."""
    primitives = b""
    packed = []
    for draw in draws:
        instances = []
        for runs in draw:
            bins = 0
            for covered, _ in runs:
                bins |= covered
            stream = b""
            if bins:
                stream = primitive_stream.encode([PrimitiveRun(*run) for run in runs], bin_count)
                primitives += stream
            instances.append((bins, len(stream) // 4))
        packed.append(instances)
    return draw_stream.encode(pack(packed), bin_count), primitives


# Of 10 primitives an instance each: visible; two instances, the second empty; empty; visible.
DRAWS = [
    [[(0b1111, 5), (0, 5)]],
    [[(0b0001, 10)], [(0, 10)]],
    [[(0, 10)]],
    [[(0b1000, 1), (0b0100, 2), (0, 7)]],
]
INSTANCES = [1, 2, 1, 1]
PRIMITIVES = [10, 10, 10, 10]
STREAMS = build(DRAWS, 4)


def test_all_of_a_pipe() -> None:
    draws, primitives = STREAMS
    pipe = decode_pipe(draws, primitives, 4, INSTANCES, PRIMITIVES, len(draws))
    assert pipe.findings == ()
    assert pipe.is_whole
    assert (pipe.draw_stream_size, pipe.primitive_stream_size) == (len(draws), len(primitives))
    assert (pipe.draw_count, pipe.primitive_count, pipe.skipped_primitives) == (4, 30, 20)
    assert pipe.draws_per_bin == (2, 1, 2, 2)
    assert pipe.primitives_per_bin == (15, 5, 7, 6)
    assert pipe.culled_draws(0) == 0.5
    assert pipe.culled_primitives(0) == 1 - 15 / 50
    assert [(draw.draw, draw.draws, draw.bins) for draw in pipe.draws] == [
        (0, 1, 0b1111),
        (1, 1, 0b0001),
        (2, 1, 0),
        (3, 1, 0b1100),
    ]
    first, second = pipe.draws[1].instances
    assert first.run.place == (1, 1)
    assert [run[:2] for run in first.runs] == [(0b0001, 10)]
    assert second.runs is None
    assert second.run.instances == 1


def test_without_counts() -> None:
    draws, primitives = STREAMS
    pipe = decode_pipe(draws + bytes.fromhex("ff" * 8), primitives + bytes(64), 4)
    assert pipe.findings == ()
    assert pipe.draw_stream_size == len(draws)
    assert pipe.skipped_primitives is None
    assert pipe.culled_primitives(0) == 1 - 15 / 30
    assert pipe.draws[1].instances[1].run.instances is None


def test_without_primitive_streams() -> None:
    pipe = decode_pipe(STREAMS[0], None, 4)
    assert pipe.findings == ()
    assert pipe.draws_per_bin == (2, 1, 2, 2)
    assert pipe.primitives_per_bin == (0, 0, 0, 0)
    assert pipe.culled_primitives(0) is None
    assert all(item.runs is None for draw in pipe.draws for item in draw.instances)


def test_an_empty_pass() -> None:
    pipe = decode_pipe(draw_stream.encode([], 4), b"", 4, [], [])
    assert (pipe.findings, pipe.draws, pipe.draw_count) == ((), (), 0)
    assert pipe.culled_draws(0) is None


def only_finding(*arguments):
    (finding,) = decode_pipe(*arguments).findings
    return finding


def test_streams_that_were_not_written() -> None:
    finding = only_finding(bytes(64), None, 4)
    assert str(finding) == (
        "draw stream: nothing but zeros: the stream was not written (at bit 0, byte 0x0)"
    )
    finding = only_finding(STREAMS[0], bytes(64), 4)
    assert finding.stream == PRIMITIVE_STREAM
    assert finding.message == "nothing but zeros: the streams were not written"


def test_damage_in_a_primitive_stream_stays_there() -> None:
    draws, primitives = STREAMS
    damaged = bytearray(primitives)
    damaged[0] ^= 0x40
    pipe = decode_pipe(draws, damaged, 4, INSTANCES, PRIMITIVES)
    (finding,) = pipe.findings
    assert str(finding) == (
        "primitive stream, draw 0, instance 0: wrong checksum of a packet (at bit 0, byte 0x0)"
    )
    assert pipe.is_whole
    assert pipe.draws[0].instances[0].runs == ()
    assert pipe.primitive_count == 20
    damaged = bytearray(primitives)
    damaged[-1] ^= 1
    finding = only_finding(draws, damaged, 4)
    assert (finding.draw, finding.instance) == (3, 0)
    assert finding.bit_offset >= 8 * (len(primitives) - 4)


def test_damage_in_the_draw_stream_ends_it() -> None:
    draws, primitives = STREAMS
    packets = list(draw_stream.decode(draws, 4))
    offset = packets[2].offset  # the empty instance of draw 1 and the empty draw
    damaged = bytearray(draws)
    damaged[offset + 1 >> 3] ^= 0x80 >> (offset + 1 & 7)
    pipe = decode_pipe(damaged, primitives, 4)
    (finding,) = pipe.findings
    assert (finding.stream, finding.bit_offset) == (DRAW_STREAM, offset)
    assert not pipe.is_whole
    assert pipe.draw_stream_size is None
    assert [draw.is_whole for draw in pipe.draws] == [True, False]
    assert pipe.primitives_per_bin == (15, 5, 5, 5)


def test_bins_that_do_not_agree() -> None:
    draws = draw_stream.encode([DrawPacket(0b0011, 0, 1)], 4)
    primitives = primitive_stream.encode([PrimitiveRun(0b0001, 3)], 4)
    finding = only_finding(draws, primitives, 4)
    assert finding.message == "its primitives cover bins 0001, but the draw stream says 0011"


def test_sizes_that_do_not_agree() -> None:
    primitives = primitive_stream.encode([PrimitiveRun(1, 3)], 4)
    draws = draw_stream.encode([DrawPacket(1, 0, 2)], 4)
    finding = only_finding(draws, primitives + bytes(4), 4)
    assert finding.message == "it ends after 1 dwords, but the draw stream says 2"
    finding = decode_pipe(draws, primitives, 4).findings[0]
    assert finding.message == "2 dwords from dword 0 on, but the buffer has only 1"
    draws = draw_stream.encode([DrawPacket(1, 0, 1)] * 2, 4)
    finding = only_finding(draws, primitives, 4)
    assert finding.message == "1 dwords from dword 1 on, but the buffer has only 1"
    assert finding.bit_offset == 32


def test_reported_sizes_that_do_not_agree() -> None:
    draws, primitives = STREAMS
    size = len(draws)
    finding = only_finding(draws + bytes(4), primitives, 4, None, None, size + 4)
    assert finding.message == f"it ends after {size} bytes, but its size should be {size + 4}"
    pipe = decode_pipe(draws, primitives, 4, draw_stream_size=1 << 31)
    assert (
        pipe.findings[0].message == f"its size should be {1 << 31} bytes, but {size} are captured"
    )
    assert pipe.draw_count == 4
    pipe = decode_pipe(draws, primitives, 4, draw_stream_size=size - 4)
    assert not pipe.is_whole


def test_primitive_counts_that_do_not_agree() -> None:
    draws, primitives = STREAMS
    finding = only_finding(draws, primitives, 4, INSTANCES, [10, 10, 10, 11])
    assert (finding.draw, finding.message) == (3, "the stream ends after 10 of 11 primitives")
    assert decode_pipe(draws, primitives, 4, INSTANCES, [None, 10]).findings == ()


def test_instance_counts_that_do_not_agree() -> None:
    finding = only_finding(*STREAMS, 4, [1, 1, 1, 1])
    assert finding.stream == DRAW_STREAM
    assert "more instances follow, but the draw has 1" in finding.message


def test_many_skipped_draws_cost_nothing() -> None:
    many = (1 << 32) - 1
    draws = draw_stream.encode([DrawPacket(0, 0, many)] * 3, 4)
    pipe = decode_pipe(draws, b"", 4, None, [7])
    assert pipe.draw_count == 3 * many
    assert pipe.skipped_primitives is None
    assert len(pipe.draws) == 6


@pytest.mark.slow
@given(
    BIN_COUNTS.flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.lists(
                st.lists(
                    st.lists(st.tuples(bitfields(count), st.integers(1, 99)), min_size=1),
                    min_size=1,
                    max_size=4,
                )
            ),
        )
    )
)
def test_random_pipes(stream) -> None:
    bin_count, draws = stream
    draw_bytes, primitive_bytes = build(draws, bin_count)
    pipe = decode_pipe(
        draw_bytes, primitive_bytes, bin_count, [len(draw) for draw in draws], None, len(draw_bytes)
    )
    unwritten = not any(bins for draw in draws for runs in draw for bins, _ in runs)
    assert pipe.findings == ()
    assert unwritten == (primitive_bytes == b"")
    assert pipe.draw_count == len(draws)
    for slot in range(bin_count):
        visible = [
            [sum(n for bins, n in runs if bins >> slot & 1) for runs in draw] for draw in draws
        ]
        assert pipe.draws_per_bin[slot] == sum(map(any, visible))
        assert pipe.primitives_per_bin[slot] == sum(map(sum, visible))


@given(st.binary(max_size=200), st.none() | st.binary(max_size=200), BIN_COUNTS)
def test_noise(draws: bytes, primitives: bytes | None, bin_count: int) -> None:
    pipe = decode_pipe(draws, primitives, bin_count)
    assert pipe.is_whole or pipe.findings
    assert all(str(finding) for finding in pipe.findings)


@pytest.mark.parametrize("bin_count", [0, 64])
def test_bin_count(bin_count: int) -> None:
    with pytest.raises(ValueError, match="bins"):
        decode_pipe(b"", None, bin_count)


def test_primitives_of_each_instance_also_without_runs() -> None:
    draws, primitives = STREAMS
    whole = decode_pipe(draws, primitives, 4, INSTANCES, PRIMITIVES)
    sums = decode_pipe(draws, primitives, 4, INSTANCES, PRIMITIVES, keep_runs=False)
    assert all(item.runs is None for draw in sums.draws for item in draw.instances)
    assert sums.primitives_per_bin == whole.primitives_per_bin
    assert sums.primitive_count == whole.primitive_count
    for draw, of_sums in zip(whole.draws, sums.draws, strict=True):
        for item, other in zip(draw.instances, of_sums.instances, strict=True):
            assert other[2:] == item[2:]
            if item.runs is None:
                assert item.primitives is None
                continue
            assert item.primitives == sum(run.primitives for run in item.runs)
            assert item.primitives_per_bin == tuple(
                sum(run.primitives for run in item.runs if run.bins >> slot & 1)
                for slot in range(4)
            )
