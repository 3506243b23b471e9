# SPDX-License-Identifier: MIT
"""Small changes of a capture: one bit of a register that is written, a packet less, an IB less.

Changes are of the decompressed file, of the same size, and the same each time: which bit, and which
of many places, depends on the place alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from zlib import crc32

from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import Gpu
from cffpy.capture.memory import Words
from cffpy.container.open import open_bytes
from cffpy.cp.loadstate import (
    BINDLESS,
    CONSTANTS,
    DIRECT,
    INDIRECT,
    LOAD_STATE_PACKETS,
    SHADER,
    TEXTURES,
    loaded_state,
    state_place,
)
from cffpy.cp.sink import WriteOutcome
from cffpy.frame.execution import Executed
from cffpy.pm4.reader import TYPE2_HEADER, Payload, type3_header, type7_header
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText

#: What is changed: a bit of a register, of a dword that a packet loads, of a dword in memory that
#: is loaded or drawn with; a packet that is no CP_NOP; a call of an IB.
Kind = Literal["register", "loaded", "memory", "packet", "IB"]
KINDS: tuple[Kind, ...] = ("register", "loaded", "memory", "packet", "IB")

_CALLS = ("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFD", "CP_INDIRECT_BUFFER_CHAIN")

#: Dwords of a unit of state that is changed: no more than the smallest of any generation has.
_UNIT_DWORDS = {CONSTANTS: 4, TEXTURES: 4}

#: Dwords of one piece of memory that are changed, at most.
_MAX_DWORDS = 64


class Mutation(NamedTuple):
    """``data`` at an offset of the decompressed file; ``about``: what is there."""

    kind: Kind
    about: str
    offset: int
    data: bytes

    def apply(self, capture: bytes) -> bytes:
        """The capture with the change."""
        changed = bytearray(capture)
        changed[self.offset : self.offset + len(self.data)] = self.data
        return bytes(changed)


class _Places(Walk):
    """A walk that finds what can be changed in commands that are executed. By file offset."""

    def __init__(self, capture: bytes) -> None:
        super().__init__(whole_groups=False, replays_streams=False)
        self._capture = capture
        self.found: dict[tuple[Kind, int], Mutation] = {}
        self._text: RegisterText

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Registers have the names of this GPU."""
        super().bind(gpu, database)
        self._text = RegisterText(database)

    def _offset(self, words: Words, index: int, ndwords: int) -> int | None:
        """Where dwords are in the file; None where it is not known."""
        if words.file_offset is None or index + ndwords > words.count:
            return None
        offset = words.file_offset + 4 * index
        there = self._capture[offset : offset + 4 * ndwords]
        return offset if there == bytes(words.bytes(index, ndwords)) else None

    def _add(self, kind: Kind, about: str, offset: int, data: bytes) -> None:
        self.found.setdefault((kind, offset), Mutation(kind, about, offset, data))

    def _flip(self, kind: Kind, about: str, words: Words, index: int) -> None:
        offset = self._offset(words, index, 1)
        if offset is not None:
            bit = crc32(offset.to_bytes(8, "little")) % 32
            changed = words.data[index] ^ 1 << bit
            self._add(kind, about, offset, changed.to_bytes(4, "little"))

    def _drop(self, kind: Kind, about: str, words: Words, index: int, ndwords: int) -> None:
        offset = self._offset(words, index, ndwords)
        if offset is not None:
            dwords = self._nop_dwords(ndwords)
            self._add(kind, about, offset, b"".join(one.to_bytes(4, "little") for one in dwords))

    def _nop_dwords(self, ndwords: int) -> list[int]:
        machine = self.machine
        if ndwords == 1 and not machine.is_64bit:
            return [TYPE2_HEADER]
        nop = machine.packet_names.index("CP_NOP")
        header = type7_header if machine.is_64bit else type3_header
        return [header(nop, ndwords - 1), *[0] * (ndwords - 1)]

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        """A packet of type 0 or 4."""
        if values and self.executed is not Executed.NO:
            names = [self._name(one) for one in range(register, register + len(values))]
            for position, name in enumerate(names):
                self._flip("register", name, words, index + 1 + position)
            self._drop("packet", f"write of {names[0]}", words, index, len(values) + 1)
        return super().write(register, values, words, index, level)

    def _name(self, register: int) -> str:
        return self._text.name(register)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode."""
        super().packet(opcode, payload, level)
        name = self.machine.packet_names[opcode] or hex(opcode)
        if self.executed is Executed.NO or name == "CP_NOP":
            return
        words, first = payload.words, payload.index
        kind: Kind = "IB" if name in _CALLS else "packet"
        self._drop(kind, name, words, first - 1, payload.captured + 1)
        if name in LOAD_STATE_PACKETS and payload.count:
            self._load(name, payload)
        elif name in ("CP_SET_CONSTANT", "CP_CONTEXT_REG_BUNCH"):
            for position in range(1, payload.captured):
                self._flip("loaded", name, words, first + position)

    def _load(self, name: str, payload: Payload) -> None:
        loaded = loaded_state(self.machine, payload)
        place = state_place(self.machine, payload, loaded)
        if place is None or loaded.source == BINDLESS:
            return
        words, index = place
        about = f"{name} {'program' if loaded.kind == SHADER else f'{loaded.block:#x}'}"
        if loaded.source == DIRECT:
            for position in range(loaded.packet_dwords, payload.captured):
                self._flip("loaded", about, payload.words, payload.index + position)
        elif loaded.source == INDIRECT and loaded.kind != SHADER:
            dwords = min(loaded.units * _UNIT_DWORDS.get(loaded.kind, 2), _MAX_DWORDS)
            for position in range(index, index + dwords):
                if position < words.count:
                    self._flip("memory", about, words, position)


def mutations(capture: bytes) -> list[Mutation]:
    """All changes of a capture, by what they are and where they are."""
    places = _Places(capture)
    places.run(open_bytes(capture), lambda _line: None)
    return sorted(places.found.values(), key=lambda one: (KINDS.index(one.kind), one.offset))


def sample(found: Sequence[Mutation], most: int) -> Iterator[Mutation]:
    """At most this many of each kind: of each thing first, then by chance, the same each time."""
    for kind in KINDS:
        of_kind = [one for one in found if one.kind == kind]
        of_kind.sort(key=lambda one: crc32(one.offset.to_bytes(8, "big")))
        firsts: dict[str, Mutation] = {}
        for one in of_kind:
            firsts.setdefault(one.about, one)
        others = [one for one in of_kind if firsts[one.about] is not one]
        yield from [*firsts.values(), *others][:most]
