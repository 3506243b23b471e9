# SPDX-License-Identifier: MIT
"""Sections -> records: buffers go into the memory image, all others are yielded in order.

Contents accumulate; the first RD_GPUADDR after an RD_CMDSTREAM_ADDR drops every buffer (Mesa:
handle_file in src/freedreno/decode/cffdump.c).
"""

from __future__ import annotations

from cffpy.capture.memory import MemoryImage
from cffpy.container.rd import Section, chip_id, command_stream_address, gpu_address, gpu_id
from cffpy.container.section_types import SectionType
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Identity(ValueObject):
    """A section that names the GPU: by ``gpu_id`` or by ``chip_id``, the other is None."""

    __slots__ = ("chip_id", "gpu_id")

    def __init__(self, gpu_id: int | None = None, chip_id: int | None = None) -> None:
        self.gpu_id = gpu_id
        self.chip_id = chip_id


class CommandStream(ValueObject):
    """One command stream to execute: ``ndwords`` at ``gpuaddr``. ``number`` counts from 0.

    ``submit`` counts the sets of buffers: streams that see the same buffers are one submit.
    ``identity``: the last section before it that names a GPU, None for none. Of captures that were
    joined it may be another GPU than the GPU that the stream is decoded for.
    """

    __slots__ = ("gpuaddr", "identity", "ndwords", "number", "submit")

    def __init__(
        self,
        number: int,
        gpuaddr: int,
        ndwords: int,
        submit: int = 0,
        identity: Identity | None = None,
    ) -> None:
        self.number = number
        self.gpuaddr = gpuaddr
        self.ndwords = ndwords
        self.submit = submit
        self.identity = identity


class Text(ValueObject):
    """A section of text, up to its NUL: ``type`` is TEST, CMD, VERT_SHADER or FRAG_SHADER."""

    __slots__ = ("text", "type")

    def __init__(self, section_type: int, text: str) -> None:
        self.type = section_type
        self.text = text


CaptureRecord = CommandStream | Text | Identity

_TEXTS = (
    SectionType.TEST,
    SectionType.CMD,
    SectionType.VERT_SHADER,
    SectionType.FRAG_SHADER,
)


def read_records(sections: Iterable[Section], image: MemoryImage) -> Iterator[CaptureRecord]:
    """The records of a file in order. ``image`` has the buffers that are valid at each.

    Text is decoded as latin-1, so that every byte survives.
    """
    streams = submits = 0
    starts_anew = False
    gpuaddr = size = 0
    identity: Identity | None = None
    for section in sections:
        kind, payload = section.type, section.payload
        if kind == SectionType.GPUADDR:
            if starts_anew:
                image.clear()
                starts_anew = False
                submits += 1
            gpuaddr, size = gpu_address(payload)
        elif kind == SectionType.BUFFER_CONTENTS:
            image.add(gpuaddr, size, payload, section.payload_offset)
        elif kind == SectionType.CMDSTREAM_ADDR:
            address, ndwords = command_stream_address(payload)
            yield CommandStream(streams, address, ndwords, submits, identity)
            starts_anew = True
            streams += 1
        elif kind == SectionType.GPU_ID:
            yield (identity := Identity(gpu_id=gpu_id(payload)))
        elif kind == SectionType.CHIP_ID:
            yield (identity := Identity(chip_id=chip_id(payload)))
        elif kind in _TEXTS:
            yield Text(kind, bytes(payload).split(b"\0", 1)[0].decode("latin-1"))
    image.clear()


def count_submits(sections: Iterable[Section]) -> int:
    """How many submits a file has: sets of buffers, with the streams that see them."""
    count = 0
    is_begun = has_streams = False
    for section in sections:
        if section.type == SectionType.GPUADDR and has_streams:
            is_begun = has_streams = False
        elif section.type in (SectionType.BUFFER_CONTENTS, SectionType.CMDSTREAM_ADDR):
            count += not is_begun
            is_begun = True
            has_streams = has_streams or section.type == SectionType.CMDSTREAM_ADDR
    return count
