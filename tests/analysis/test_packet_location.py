# SPDX-License-Identifier: MIT
"""Places of packets: file offsets that lead to the packet's bytes, keys, paths."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.frame.places import PacketLocation
from cffpy.pm4.reader import Payload
from tests.analysis.passes.streams import Collector, Streams
from tests.builders import COMMANDS
from tests.selection import first_always


class Places(Collector):
    """Keeps the location of each packet, with its header word."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[tuple[PacketLocation, int]] = []

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        if ndwords > 1:  # a packet of type 0 or 4
            self.places.append((location, location._words.get(location._index)))

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        names = enumerate(self.walk.machine.packet_names)
        return {name or f"{opcode:#x}": self._packet for opcode, name in names}

    def _packet(self, payload: Payload) -> None:
        location = self.walk.packet_location
        self.places.append((location, payload.words.get(payload.index - 1)))


def places(content: Content) -> Places:
    found = Places()
    found.run(content)
    return found


def check_offsets(content: Content, found: Places) -> None:
    for place, header in found.places:
        at = place.file_offset
        assert int.from_bytes(content.data[at : at + 4], "little") == header, str(place)


def check_keys(found: Places) -> None:
    keys = [place.key for place, _ in found.places]
    assert len(set(keys)) == len(keys)


def stream() -> bytes:
    s = Streams(630)
    body = s.ib(s.raw("RB_WINDOW_OFFSET", 5), s.draw(), s.ib(s.draw()))
    parts = [
        s.marker("RM6_BIN_RENDER_START"),
        s.group(4, s.raw("RB_WINDOW_OFFSET2", 1, 2), s.packet("CP_NOP")),
        s.draw(),
        body,
        s.only("gmem", commands=[*body, *s.draw()]),
        s.only("sysmem", commands=body),
        body,
    ]
    return s.capture([parts, [body]], [[*parts, s.draw()]])


def test_offsets_and_keys() -> None:
    content = open_bytes(stream())
    found = places(content)
    assert len(found.places) == 2 * 23 + 5 + 1, "without the packets that are not executed"
    check_offsets(content, found)
    check_keys(found)


def test_text_and_path() -> None:
    s = Streams(630)
    inner = s.group(9, s.packet("CP_NOP", 7))
    group = int(inner[2])
    outer = s.ib(s.only("gmem", commands=inner + s.draw()))
    data = s.capture([[s.marker("RM6_BIN_RENDER_START"), outer]])
    found = places(open_bytes(data))
    (place,) = [place for place, header in found.places if place.stream.kind == "group"]
    ib = int(outer[1])
    assert str(place) == (
        f"stream 0 > IB {ib:#x} > group 9 {group:#x} > {group:#x} +{place.file_offset:#x}"
    )
    assert [(one.kind, one.gpuaddr, one.group) for one in place.stream.path] == [
        ("submit", COMMANDS, None),
        ("IB", ib, None),
        ("block", ib + 12, None),
        ("group", group, 9),
    ]
    callers = [one.caller.gpuaddr for one in place.stream.path if one.caller]
    assert callers == [COMMANDS + 8, ib, ib + 12], "the group was set by the packet at 12"
    assert place.stream.ndwords == 2


def test_a_buffer_that_a_later_section_replaces() -> None:
    """Of two sections for one address the second counts, and its place in the file."""
    commands = [dwords_bytes(Streams(630).draw(count)) for count in (5, 6)]
    sections = [gpu_id_section(630)]
    for code in commands:
        sections += buffer_sections(COMMANDS, code)
    data = capture_bytes([*sections, command_stream_section(COMMANDS, len(commands[0]) // 4)])
    found = places(open_bytes(data))
    (place,) = [place for place, _ in found.places]
    assert place.file_offset == data.index(commands[1])
    assert found.actions[0].vertices == 6


def test_odd_addresses() -> None:
    """Commands that begin in the middle of a dword of their buffer."""
    code = dwords_bytes(Streams(630).draw(5))
    sections = [gpu_id_section(630), *buffer_sections(COMMANDS, b"???" + code)]
    data = capture_bytes([*sections, command_stream_section(COMMANDS + 3, len(code) // 4)])
    found = places(open_bytes(data))
    assert [place.file_offset for place, _ in found.places] == [data.index(code)]
    assert [place.gpuaddr for place, _ in found.places] == [COMMANDS + 3]


@pytest.mark.slow
@pytest.mark.parametrize("share", first_always(range(4)))
def test_over_captures(shared: Path, share: int) -> None:
    """On shares of the captures, of each on a share of the packets."""
    paths = sorted((shared / "captures").glob("*.rd*"))
    chosen = random.Random(share).sample([p for p in paths if p.stat().st_size < 700_000], 5)
    for path in chosen:
        content = open_capture(str(path))
        found = places(content)
        assert found.places, path.name
        found.places = random.Random(path.name).sample(found.places, min(20_000, len(found.places)))
        check_offsets(content, found)
        check_keys(found)
