# SPDX-License-Identifier: MIT
"""The capture that a crash dump holds: its buffers and rings as memory, IBs of the ring as streams.

``opened`` is what commands see of a dump: the IBs that the ring has called since the last retired
fence, up to the one that the CP is in. That one ends after the current packet of IB1; an IB2 or
group that this packet calls is complete. In ``extracted`` all IBs are complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.crash.context import CrashContext, read_dump
from cffpy.analysis.crash.position import find_position
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.container.rd import CHIP_ID, COMMAND_STREAM_ADDRESS, GPU_ADDRESS, GPU_ID, SECTION_HEADER
from cffpy.container.section_types import SectionType
from cffpy.cp.session import is_compositor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.crash.position import CpPosition, Level

#: Added to what ``Content.compression`` says of a dump.
KIND = "crash dump"

#: A section of a capture cannot have this size or more.
_MAX_SECTION = 1 << 31


def opened(content: Content) -> Content:
    """A crash dump as a capture of what the GPU was given up to the crash."""
    context = CrashContext(read_dump(content.data))
    return opened_with(content, context, find_position(context))[0]


def opened_with(
    content: Content, context: CrashContext, cp: CpPosition
) -> tuple[Content, list[tuple[int, int]]]:
    """As ``opened``, for a dump that was read before; also returns its streams: address, dwords."""
    streams = _streams(context, cp)
    data = b"".join(_sections(context, streams))
    packed = "" if content.compression == "none" else f"{content.compression}+"
    damage = _damage(content, context)
    limits = content.limits
    capture = Content(content.name, data, packed + KIND, content.file_size, damage, limits)
    capture.origin = tuple(context.dump.binary_sections)
    return capture, streams


def extracted(context: CrashContext) -> bytes:
    """A capture (.rd) of the dump's memory, with the IBs that the ring has called as submits."""
    streams = [(call.gpuaddr, call.dwords) for call in context.pending_calls()]
    return b"".join(_sections(context, streams))


def _streams(context: CrashContext, cp: CpPosition) -> list[tuple[int, int]]:
    """Address and dwords of each stream up to the crash."""
    streams = []
    for call in context.pending_calls():
        if cp.ring_end is not None and call.index >= cp.ring_end:
            break  # the ring does not come to it
        if call.index != cp.ring_index:
            streams.append((call.gpuaddr, call.dwords))
            continue
        streams.append((call.gpuaddr, min(_executed(cp.levels[0]), call.dwords)))
        break
    if cp.inferred:  # the ring does not call it
        streams.append((cp.levels[0].gpuaddr, _executed(cp.levels[0])))
    return streams


def _executed(outer: Level) -> int:
    """Dwords of an IB1 up to the end of the packet that the CP has come to."""
    packet = outer.packet or outer.reached
    if packet is None:
        return outer.dwords or 0
    return (packet.gpuaddr - outer.gpuaddr) // 4 + packet.dwords


def _sections(context: CrashContext, streams: list[tuple[int, int]]) -> Iterator[bytes]:
    dump = context.dump
    name = dump.header.get("comm", ("", 0))[0]
    if name:
        # the streams of a compositor's RD_CMD are skipped by default
        kind = SectionType.TEST if is_compositor(name) else SectionType.CMD
        yield from _section(kind, name.encode("ascii", "replace") + b"\0")
    number = 0 if dump.revision is None else dump.revision[0]
    if number:
        yield from _section(SectionType.GPU_ID, GPU_ID.pack(number))
    if dump.chip_id:
        yield from _section(SectionType.CHIP_ID, CHIP_ID.pack(dump.chip_id))
    for address, size, contents in context.memory:
        named = GPU_ADDRESS.pack(address & 0xFFFFFFFF, size & 0xFFFFFFFF, address >> 32)
        yield from _section(SectionType.GPUADDR, named)
        yield from _section(SectionType.BUFFER_CONTENTS, contents[: _MAX_SECTION - 1])
    for address, ndwords in streams:
        stream = COMMAND_STREAM_ADDRESS.pack(address & 0xFFFFFFFF, ndwords, address >> 32)
        yield from _section(SectionType.CMDSTREAM_ADDR, stream)


def _section(kind: int, payload: bytes) -> tuple[bytes, bytes]:
    return SECTION_HEADER.pack(kind, len(payload)), payload


def _damage(content: Content, context: CrashContext) -> Damage | None:
    """What is wrong with the dump: with its compression, else the lines that were skipped."""
    if content.damage is not None:
        return Damage(None, content.damage.message, limit=content.damage.limit)
    dump = context.dump
    if not dump.skipped:
        return None
    more = f", and {dump.skipped - 1} more" if dump.skipped > 1 else ""
    return Damage(None, f"{dump.problems[0]}: skipped{more}")
