# SPDX-License-Identifier: MIT
"""Command streams of a2xx to a5xx, put together by the names of registers, fields and packets."""

from __future__ import annotations

import itertools

from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import find_passes
from cffpy.capture.gpu import guess
from cffpy.container.open import open_bytes
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.frame.passes import Pass
from cffpy.regdb.database import Database
from tests.builders import type0, type3, type4, type7

#: Where streams and IBs lie: far enough from each other.
SPACE = 0x10000
_CONTEXT_REGISTERS = 0x2000
_SET_REGISTERS = 4 << 16

RECTANGLES, TRIANGLES = 8, 4
_AUTO_INDEX = 2 << 6


class Batch:
    """A command stream, or the commands of an IB, for ``call``."""

    _numbers = itertools.count()

    def __init__(self, gpu: int) -> None:
        named = guess(gpu)
        assert named is not None
        self.gpu = gpu
        self.number = next(self._numbers)
        self.generation = named.generation
        self.database = Database.open(named.chip)
        self.words: list[int] = []
        #: IBs by their address.
        self.buffers: dict[int, list[int]] = {}

    def set(self, name: str, value: int = 0, **fields: int | str) -> Batch:
        """Write a register, by its value or by its fields."""
        offset = self.database.register_offset(name)
        assert offset, name
        for field, content in fields.items():
            value |= self._encode(offset, field, content)
        if self.generation == 2 and offset >= _CONTEXT_REGISTERS:
            return self.packet(
                "CP_SET_CONSTANT", _SET_REGISTERS | offset - _CONTEXT_REGISTERS, value
            )
        self.words += (type4 if self.generation == 5 else type0)(offset, value)
        return self

    def packet(self, name: str | int, *payload: int) -> Batch:
        """A packet with an opcode."""
        opcode = name
        if isinstance(name, str):
            opcode = self.database.enum_value("adreno_pm4_type3_packets", name) or 0
        assert isinstance(opcode, int)
        assert opcode, name
        self.words += (type7 if self.generation == 5 else type3)(opcode, *(payload or (0,)))
        return self

    def call(self, commands: Batch) -> Batch:
        """An IB; the same commands are the same IB wherever they are called."""
        address = SPACE * (commands.number + 1)
        self.buffers[address] = commands.words
        high = (0,) if self.generation == 5 else ()
        return self.packet("CP_INDIRECT_BUFFER", address, *high, len(commands.words))

    def draw(self, primitive: int = TRIANGLES, vertices: int = 3) -> Batch:
        """A draw without indices from memory."""
        if self.generation >= 4:
            return self.packet("CP_DRAW_INDX_OFFSET", primitive | _AUTO_INDEX, 1, vertices)
        if self.generation == 2:
            return self.packet("CP_DRAW_INDX", 0, primitive | _AUTO_INDEX | vertices << 16)
        return self.packet("CP_DRAW_INDX", 0, primitive | _AUTO_INDEX, vertices)

    def ib(self) -> Batch:
        """An empty list of commands for the same GPU."""
        return Batch(self.gpu)

    def _encode(self, offset: int, field: str, content: int | str) -> int:
        found = self.database.register(offset, {})
        assert found is not None
        assert found.type is not None
        rows = {row[0]: row[2] for row in found.type[7]}
        _, _, low, _, shift, _, _, payload = rows[field]
        if isinstance(content, str):
            number = self.database.enum_value(str(payload), content)
            assert number is not None, content
            content = number
        return content >> shift << low


def capture(*batches: Batch) -> bytes:
    """A capture whose one submit has these streams, each after the GPU that it is for."""
    sections = []
    for number, batch in enumerate(batches):
        for address, words in batch.buffers.items():
            sections += buffer_sections(address, dwords_bytes(words))
        sections += buffer_sections(_place(number), dwords_bytes(batch.words))
    for number, batch in enumerate(batches):
        sections.append(gpu_id_section(batch.gpu))
        sections.append(command_stream_section(_place(number), len(batch.words)))
    return capture_bytes(sections)


def find(*batches: Batch) -> PassFinder:
    """The passes of a capture whose one submit has these streams."""
    finder, _damage = find_passes(open_bytes(capture(*batches)), lambda line: None)
    return finder


def passes(*batches: Batch) -> list[Pass]:
    """The same, passes only."""
    return find(*batches).found.passes


def operations(found: Pass) -> list[tuple[str, str | None]]:
    """Kind and attachment of what is done to attachments in the first run that counts."""
    run = found.tiles[0] if found.tiles else found.direct
    assert run is not None
    return [(operation.kind, operation.attachment) for operation in run.operations]


def _place(number: int) -> int:
    return 0x70000000 + number * SPACE
