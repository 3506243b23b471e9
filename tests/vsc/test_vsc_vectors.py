# SPDX-License-Identifier: MIT
"""Streams that were spelled bit by bit: what they say, and that encoding gives the same bytes.

A line is: number of bins | the fields of the packets | bytes. A bitfield is ``0`` or ``1`` and the
bits of the bins; a draw packet has an instance bit after it. The last packet of a draw stream is
its end packet.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.vsc import draw_stream, primitive_stream

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "vsc"


def rows(name: str) -> list[tuple[int, list[list[str]], bytes]]:
    taken = []
    for line in (VECTORS / f"{name}.txt").read_text().splitlines():
        bin_count, packets, data = line.split(" | ")
        fields = [packet.split() for packet in packets.split(", ")]
        taken.append((int(bin_count), fields, bytes.fromhex(data)))
    return taken


def values(fields: list[str]) -> tuple[int, ...]:
    """The fields of a packet as numbers, without the checksum."""
    bins = 0
    if fields.pop(0) == "1":
        bins = int(fields.pop(0), 2)
    return (bins, *[int(field, 2) for field in fields[:-1]])


@pytest.mark.parametrize("row", rows("primitive"), ids=lambda row: row[2].hex()[:32])
def test_primitive_streams(row) -> None:
    bin_count, packets, data = row
    wanted = [values(fields) for fields in packets]
    runs = list(primitive_stream.decode(data, bin_count))
    assert [run[:2] for run in runs] == wanted
    assert primitive_stream.encode(runs, bin_count) == data


@pytest.mark.parametrize("row", rows("draw"), ids=lambda row: row[2].hex()[:32])
def test_draw_streams(row) -> None:
    bin_count, packets, data = row
    assert packets.pop() == ["1", "0" * (bin_count + 17), "1"]
    wanted = [values(fields) for fields in packets]
    stream = list(draw_stream.decode(data, bin_count))
    assert [packet[:3] for packet in stream] == wanted
    assert draw_stream.encode(stream, bin_count) == data
