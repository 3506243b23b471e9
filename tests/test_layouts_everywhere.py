# SPDX-License-Identifier: MIT
"""Each declared layout is read alike by construct and by the fast reader made from it.

On random data, and on the headers and payloads of the packets of the reference captures (of the
samples where there are none): of small captures, or of all with CFFPY_EXHAUSTIVE=1.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.capture.load import CommandStream, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container import layouts as container_layouts
from cffpy.container.open import open_capture
from cffpy.container.rd import iter_sections
from cffpy.layout import Layout
from cffpy.pm4 import layouts as pm4_layouts
from cffpy.pm4.reader import BAD, IDLE, HeaderMemo, next_packet

ALL = [
    value
    for module in (container_layouts, pm4_layouts)
    for value in vars(module).values()
    if isinstance(value, Layout)
]

#: Opcode -> layouts that describe its payload in some generation.
STRUCTURED = {
    0x22: [pm4_layouts.DRAW_INDX],
    0x28: [pm4_layouts.DRAW_INDIRECT_64],
    0x29: [pm4_layouts.DRAW_INDX_INDIRECT_64, pm4_layouts.DRAW_INDX_INDIRECT_32],
    0x2D: [pm4_layouts.SET_CONSTANT, pm4_layouts.A2XX_TEXTURE_CONSTANT],
    0x2B: [pm4_layouts.IM_LOAD_IMMEDIATE],
    0x2A: [pm4_layouts.INDIRECT_MULTI, pm4_layouts.INDIRECT_MULTI_INDEXED_DRAWS],
    0x2F: [pm4_layouts.SET_BIN_DATA5],
    0x30: [pm4_layouts.LOAD_STATE_3XX, pm4_layouts.LOAD_STATE_4XX],
    0x32: [pm4_layouts.LOAD_STATE_6XX, pm4_layouts.BINDLESS_SOURCE],
    0x34: [pm4_layouts.LOAD_STATE_6XX, pm4_layouts.BINDLESS_SOURCE],
    0x36: [pm4_layouts.LOAD_STATE_6XX, pm4_layouts.BINDLESS_SOURCE],
    0x38: [pm4_layouts.DRAW_INDX_OFFSET],
    0x39: [pm4_layouts.REG_TEST],
    0x3E: [pm4_layouts.REG_TO_MEM],
    0x3F: [pm4_layouts.INDIRECT_BUFFER_64, pm4_layouts.INDIRECT_BUFFER_32],
    0x21: [pm4_layouts.REG_RMW],
    0x42: [pm4_layouts.REG_TO_MEM, pm4_layouts.MEM_TO_REG],
    0x43: [pm4_layouts.DRAW_STATE_GROUP_64, pm4_layouts.DRAW_STATE_GROUP_32],
    0x44: [pm4_layouts.COND_EXEC],
    0x47: [pm4_layouts.COND_REG_EXEC],
    0x4D: [pm4_layouts.SCRATCH_TO_REG],
    0x4C: [pm4_layouts.SET_BIN],
    0x50: [pm4_layouts.START_BIN],
    0x56: [pm4_layouts.PSEUDO_REGISTER],
    0x6C: [pm4_layouts.SET_RENDER_MODE],
    0x6D: [pm4_layouts.REG_WRITE],
    0x6E: [pm4_layouts.COMPUTE_CHECKPOINT],
    0x7F: [pm4_layouts.FIXED_STRIDE_DRAW_TABLE],
}
HEADERS = {
    0: pm4_layouts.TYPE0_HEADER,
    3: pm4_layouts.TYPE3_HEADER,
    4: pm4_layouts.TYPE4_HEADER,
    7: pm4_layouts.TYPE7_HEADER,
}
EXHAUSTIVE = bool(os.environ.get("CFFPY_EXHAUSTIVE"))
#: Of one sort, compared at most: construct is a hundred times slower.
COMPARED_HEADERS = (1 << 32) if EXHAUSTIVE else 1500
COMPARED_PAYLOADS = 40
LARGEST_CAPTURE = (1 << 40) if EXHAUSTIVE else 20_000


def dwords_of(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data)


@pytest.mark.parametrize("layout", ALL, ids=lambda layout: layout.name)
@given(data=st.data())
def test_both_readings_agree_on_random_data(layout: Layout, data: st.DataObject) -> None:
    size = data.draw(st.sampled_from(sorted({layout.size, layout.full_size})))
    code = data.draw(st.binary(min_size=size, max_size=size))
    parsed = tuple(layout.parse(code)[name] for name in layout.names)
    assert layout.read_bytes(code) == parsed
    padded = code + b"\xff" * (layout.full_size - size)
    assert layout.read_dwords(dwords_of(padded), 0, size // 4) == parsed
    assert layout.read_dwords((1, 2, *dwords_of(padded)), 2, size // 4) == parsed


def walk(image: MemoryImage, headers: dict[int, set[int]], payloads: dict[int, set[bytes]]) -> None:
    """Collect what looks like packets in each buffer, as a linear reader would find them."""
    read = HeaderMemo()
    for buffer in image.buffers:
        words = buffer.words(0)
        data, index = words.data, 0
        while index < words.count:
            kind, number, size = read[data[index]]
            if kind == BAD:
                following = next_packet(data, index + 1, words.count)
                if following - index > 64:  # no commands
                    break
                index = following
                continue
            sort = headers[data[index] >> 30]
            if kind != IDLE and len(sort) < COMPARED_HEADERS:
                sort.add(data[index])
            known = payloads.get(number)
            if known is not None and data[index] >> 30 in (1, 3) and len(known) < COMPARED_PAYLOADS:
                known.add(words.bytes(index + 1, size - 1))
            index += size


def capture_paths(folder: Path) -> list[Path]:
    found = sorted(folder.glob("captures/*.rd.gz"))
    return [path for path in found if path.stat().st_size < LARGEST_CAPTURE]


@pytest.mark.slow
def test_every_packet_of_every_capture(request: pytest.FixtureRequest, samples: Path) -> None:
    try:
        paths = capture_paths(request.getfixturevalue("shared"))
    except pytest.skip.Exception:
        paths = sorted(samples.glob("a*.rd*"))
    headers: dict[int, set[int]] = {top: set() for top in range(4)}
    payloads: dict[int, set[bytes]] = {opcode: set() for opcode in STRUCTURED}
    for path in paths:
        image = MemoryImage()
        for record in read_records(iter_sections(open_capture(str(path)).data), image):
            if isinstance(record, CommandStream):
                walk(image, headers, payloads)
    words = set().union(*headers.values())
    assert len(words) >= min(1000, 5 * len(paths))
    for word in words:
        layout = HEADERS[0 if word >> 30 == 0 else 3 if word >> 30 == 3 else word >> 28]
        code = word.to_bytes(4, "little")
        assert layout.read_dwords((word,)) == tuple(layout.parse(code)[n] for n in layout.names)
    for opcode, found in payloads.items():
        for payload in found:
            for layout in STRUCTURED[opcode]:
                if len(payload) >= layout.size:
                    parsed = layout.parse(payload)
                    expected = tuple(parsed[name] for name in layout.names)
                    assert layout.read_bytes(payload) == expected, (opcode, layout)
