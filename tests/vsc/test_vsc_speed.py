# SPDX-License-Identifier: MIT
"""The cost of decoding is linear: ratios within one process, no times."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from cffpy.errors import VisibilityStreamError
from cffpy.vsc import draw_stream, primitive_stream
from cffpy.vsc.draw_stream import DrawPacket
from cffpy.vsc.pipe import decode_pipe
from cffpy.vsc.primitive_stream import PrimitiveRun

pytestmark = pytest.mark.perf

MEGABYTE = 1 << 20
SIZE = 1 << 17  # bytes of the smaller of two streams


def cpu_time(action: Callable[[], object], times: int = 5) -> float:
    """The shortest of some runs, without the garbage collector: it visits other tests' objects."""
    taken = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            start = time.process_time()
            action()
            taken.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(taken)


def primitives(size: int) -> bytes:
    """A primitive stream of 32 bins of about ``size`` bytes."""
    choice = random.Random(1)
    runs = [PrimitiveRun(choice.getrandbits(32), 1 + choice.getrandbits(3)) for _ in range(5000)]
    piece = primitive_stream.encode(runs, 32)
    return primitive_stream.encode(runs * max(1, size // len(piece)), 32)


def draws(size: int) -> bytes:
    """A draw stream of 32 bins of about ``size`` bytes."""
    choice = random.Random(2)
    packets = [
        DrawPacket(choice.getrandbits(32), 0, 1 + choice.getrandbits(4)) for _ in range(5000)
    ]
    piece = draw_stream.encode(packets, 32)
    return draw_stream.encode(packets * max(1, size // len(piece)), 32)


@pytest.mark.parametrize(
    ("build", "decode"),
    [
        (primitives, lambda data: list(primitive_stream.decode(data, 32))),
        (draws, lambda data: list(draw_stream.decode(data, 32))),
        (draws, lambda data: decode_pipe(data, None, 32)),
    ],
    ids=["primitives", "draws", "pipe"],
)
def test_cost_is_linear_in_size(build, decode) -> None:
    small, large = build(SIZE), build(8 * SIZE)
    factor = len(large) / len(small)
    assert factor > 6
    assert cpu_time(lambda: decode(large)) <= 2 * factor * cpu_time(lambda: decode(small))


def test_encoding_is_linear_in_size() -> None:
    runs = [PrimitiveRun(number & 0xFFFFFFFF, 1 + (number & 7)) for number in range(160_000)]
    few = cpu_time(lambda: primitive_stream.encode(runs[:20_000], 32))
    assert cpu_time(lambda: primitive_stream.encode(runs, 32)) <= 2 * 8 * few


@pytest.mark.parametrize(
    "data",
    [
        bytes(MEGABYTE),
        b"\xff" * MEGABYTE,
        b"\x80" + bytes(MEGABYTE - 2) + b"\x01",
        random.Random(3).randbytes(MEGABYTE),
        b"\x66" * (MEGABYTE >> 3),  # 0 1 1 0 0 1 1 0: packets of three or of four bits
    ],
    ids=["zeros", "ones", "almost zeros", "noise", "short packets"],
)
def test_a_megabyte_of_anything_is_no_dearer_than_packets(data: bytes) -> None:
    """At most one packet for three bits, at no more cost for each than in a stream."""
    good = primitives(SIZE)
    packets = sum(1 for _ in primitive_stream.decode(good, 32))
    a_packet = cpu_time(lambda: list(primitive_stream.decode(good, 32))) / packets
    for decode in (primitive_stream.decode, draw_stream.decode):
        for bin_count in (1, 32):
            start = time.process_time()
            count = 0
            with suppress(VisibilityStreamError):
                for _ in decode(data, bin_count):
                    count += 1
            assert time.process_time() - start <= 4 * a_packet * (count + 1) + 0.05
            assert count <= 8 * len(data) / 3


def test_noise_behind_many_good_packets() -> None:
    """Many damaged primitive streams: one finding each, at the cost of one stream each."""

    def pipe(count: int) -> tuple[bytes, bytes]:
        stream = draw_stream.encode([DrawPacket(1, 0, 1)] * count, 4)
        return stream, random.Random(4).randbytes(4 * count)

    small, large = pipe(2_000), pipe(16_000)
    assert len(decode_pipe(*small, 4).findings) >= 2_000
    few = cpu_time(lambda: decode_pipe(*small, 4))
    assert cpu_time(lambda: decode_pipe(*large, 4)) <= 2 * 8 * few
