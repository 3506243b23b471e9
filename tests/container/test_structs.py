# SPDX-License-Identifier: MIT
"""The Structs of sections: they parse what the readers of captures read, and build it again."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.open import open_capture
from cffpy.container.rd import command_stream_address, gpu_address, iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.structs import CAPTURE, SECTION
from cffpy.container.writer import capture_bytes


def test_every_section_of_every_sample(samples: Path) -> None:
    for path in sorted(samples.glob("a*.rd*")):
        data = bytes(open_capture(str(path)).data)
        parsed = CAPTURE.parse(data)
        assert CAPTURE.build(parsed) == data, path
        sections = list(iter_sections(data))
        assert [(one.type, one.data) for one in parsed] == [
            (section.type, bytes(section.payload)) for section in sections
        ]
        for one, section in zip(parsed, sections, strict=True):
            if section.type == SectionType.GPUADDR:
                address = one.payload.address_low | (one.payload.address_high or 0) << 32
                assert (address, one.payload.length) == gpu_address(section.payload)
            elif section.type == SectionType.CMDSTREAM_ADDR:
                address = one.payload.address_low | (one.payload.address_high or 0) << 32
                assert (address, one.payload.dwords) == command_stream_address(section.payload)


@given(st.integers(0, 20), st.binary(max_size=20), st.integers(0, 2))
def test_any_payload(section_type: int, payload: bytes, markers: int) -> None:
    """Also one that is too short for its structure."""
    data = capture_bytes([(section_type, payload)], markers=markers)
    section = SECTION.parse(data)
    assert (section.type, section.data, len(section.markers)) == (section_type, payload, markers)
    assert SECTION.build(section) == data
