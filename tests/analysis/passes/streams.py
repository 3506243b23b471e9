# SPDX-License-Identifier: MIT
"""Command streams of a5xx to a7xx built from the names of packets, registers and fields."""

from __future__ import annotations

from collections.abc import Sequence

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import find_passes
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import guess
from cffpy.container.damage import Damage
from cffpy.container.open import Content, open_bytes
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.cp.machine import PACKET_ENUM
from cffpy.frame.action import Action
from cffpy.regdb.database import Database
from cffpy.regdb.rows import BITSET, INLINE_BITSET, NAMED_INLINE_BITSET
from tests.builders import COMMANDS, type4, type7

#: Where IBs lie that ``Streams.ib`` places.
IBS = 0x10000000

Dwords = list[int]


class Streams:
    """Builds the commands of one GPU, and captures around them."""

    def __init__(self, gpu: int) -> None:
        self.gpu = gpu
        known = guess(gpu)
        assert known is not None
        self.database = Database.open(known.chip)
        chip = self.database.variant("chip", self.database.chip)
        self.variants = {} if chip is None else {"chip": chip}
        self.buffers: dict[int, list[int] | bytes] = {}

    def opcode(self, name: str) -> int:
        """The number of a packet."""
        for number in range(128):
            if self.database.enum_name(PACKET_ENUM, number, self.variants) == name:
                return number
        raise AssertionError(f"no packet {name}")

    def offset(self, name: str) -> int:
        """The offset of a register that must be there."""
        offset = self.database.register_offset(name)
        assert offset, f"no register {name}"
        return offset

    def value(self, name: str, **fields: int | str) -> int:
        """The fields of a register as a dword; values of enums may be names."""
        found = self.database.register(self.offset(name), self.variants)
        assert found is not None
        assert found.type is not None
        if "value" in fields:
            return self._shifted(found.type, fields.pop("value"))
        assert found.type[0] in (BITSET, INLINE_BITSET, NAMED_INLINE_BITSET), name
        rows = {row[0]: row[2] for row in found.type[7]}
        return sum(self._shifted(rows[field], number) for field, number in fields.items())

    def _shifted(self, row: tuple, number: int | str) -> int:
        low, high, shift = row[2:5]
        if isinstance(number, str):
            named = self.database.enum_value(row[7], number)
            assert named is not None, number
            number = named
        assert number % (1 << shift) == 0
        assert number >> shift < 1 << (high - low + 1), (row, number)
        return (number >> shift) << low

    def reg(self, name: str, **fields: int | str) -> Dwords:
        """A packet that writes a register: its fields, or ``value`` in the unit of the database."""
        return type4(self.offset(name), self.value(name, **fields))

    def raw(self, name: str, *values: int) -> Dwords:
        """A packet that writes dwords to the registers from this one on."""
        return type4(self.offset(name), *values)

    def address(self, name: str, address: int) -> Dwords:
        """A packet that writes a 64-bit address."""
        return self.raw(name, address & 0xFFFFFFFF, address >> 32)

    def packet(self, name: str, *payload: int) -> Dwords:
        """A packet with an opcode."""
        return type7(self.opcode(name), *payload)

    def marker(self, mode: str, bits: int = 0) -> Dwords:
        """CP_SET_MARKER."""
        number = self.database.enum_value("a6xx_marker", mode)
        assert number is not None
        return self.packet("CP_SET_MARKER", number | bits)

    def event(self, name: str) -> Dwords:
        """CP_EVENT_WRITE or CP_EVENT_WRITE7."""
        number = self.database.enum_value("vgt_event_type", name)
        assert number is not None
        return self.packet("CP_EVENT_WRITE7" if self.gpu >= 700 else "CP_EVENT_WRITE", number)

    def draw(self, count: int = 3, primitive: str = "DI_PT_TRILIST", instances: int = 1) -> Dwords:
        """A draw without index buffer."""
        number = self.database.enum_value("pc_di_primtype", primitive)
        assert number is not None
        return self.packet("CP_DRAW_INDX_OFFSET", number | 2 << 6, instances, count)

    def only(self, *modes: str, commands: Sequence[int]) -> Dwords:
        """Commands that are executed in these render modes only."""
        bits = sum(1 << 25 + ("binning", "gmem", "sysmem").index(mode) for mode in modes)
        return [*self.packet("CP_COND_REG_EXEC", 3 << 28 | bits, len(commands)), *commands]

    def when(self, predicate: int, commands: Sequence[int]) -> Dwords:
        """Commands that are executed under a predicate of CP_REG_TEST."""
        packet = self.packet("CP_COND_REG_EXEC", 1 << 28 | predicate << 18, len(commands))
        return [*packet, *commands]

    def test(self, register: str, bit: int, predicate: int = 0) -> Dwords:
        """CP_REG_TEST."""
        return self.packet("CP_REG_TEST", self.offset(register) | bit << 20 | predicate << 26)

    def ib(self, *commands: Sequence[int]) -> Dwords:
        """A call of these commands."""
        code = [dword for part in commands for dword in part]
        address = IBS + 0x10000 * len(self.buffers)
        self.buffers[address] = code
        return self.call(address, len(code))

    def call(self, address: int, ndwords: int) -> Dwords:
        """CP_INDIRECT_BUFFER."""
        return self.packet("CP_INDIRECT_BUFFER", address & 0xFFFFFFFF, address >> 32, ndwords)

    def group(self, number: int, *commands: Sequence[int], mask: int = 7, flags: int = 0) -> Dwords:
        """CP_SET_DRAW_STATE of one group. ``flags``: 8 for a group that is loaded at once."""
        *_, low, high, ndwords = self.ib(*commands)
        head = ndwords | flags << 16 | mask << 20 | number << 24
        return self.packet("CP_SET_DRAW_STATE", head, low, high)

    def point(self, name: str, x: int, y: int) -> Dwords:
        """A register with fields X and Y."""
        return self.reg(name, X=x, Y=y)

    def scissor(self, prefix: str, x: int, y: int, width: int, height: int) -> Dwords:
        """Registers PREFIX_TL and PREFIX_BR, the second inclusive."""
        return [
            *self.point(f"{prefix}_TL", x, y),
            *self.point(f"{prefix}_BR", x + width - 1, y + height - 1),
        ]

    def capture(self, *submits: Sequence[Sequence[Sequence[int]]]) -> bytes:
        """A capture of submits, each of command streams, each of parts that are joined."""
        sections = [gpu_id_section(self.gpu)]
        for streams in submits:
            for address, content in self.buffers.items():
                code = content if isinstance(content, bytes) else dwords_bytes(content)
                sections += buffer_sections(address, code)
            calls = []
            address = COMMANDS
            for parts in streams:
                code = [dword for part in parts for dword in part]
                sections += buffer_sections(address, dwords_bytes(code))
                calls.append(command_stream_section(address, len(code)))
                address += 0x100000
            sections += calls
        return capture_bytes(sections)

    def find(self, *parts: Sequence[int]) -> PassFinder:
        """The passes of one command stream."""
        return find(self.capture([parts]))


def find(data: bytes) -> PassFinder:
    """The passes of a file without damage outside of its commands."""
    finder, damage = find_passes(open_bytes(data), lambda line: None)
    assert not of_file(damage)
    return finder


def of_file(damage: list[Damage]) -> list[Damage]:
    """The damage that is not in the commands."""
    return [one for one in damage if one.offset is not None]


class Collector(Observer):
    """Keeps the actions of a walk, and the debug markers that were open at each."""

    def __init__(self, applies_memory_writes: bool = False) -> None:
        self.walk = Walk(applies_memory_writes)
        self.walk.observe(self)
        self.actions: list[Action] = []
        self.open_at: list[tuple[str, ...]] = []

    def action(self, action: Action) -> None:
        self.actions.append(action)
        self.open_at.append(tuple(self.walk.markers))

    def run(self, content: Content) -> list[Damage]:
        return self.walk.run(content, lambda line: None)


def walk(data: bytes) -> Collector:
    """The events of a plain walk over a file without damage outside of its commands."""
    collector = Collector()
    assert not of_file(collector.run(open_bytes(data)))
    return collector


def executed(collector: Collector) -> list[tuple[int | None, bool | None]]:
    """The number in the dump and the execution of each action."""
    return [(action.dump_draw, action.execution.value) for action in collector.actions]
