# SPDX-License-Identifier: MIT
"""What a capture has the GPU do, in order: the plain model that comparisons are checked with.

It knows nothing of the comparison. Two captures with equal effects execute the same: the same
actions with the same registers and the same loaded state, and the same other packets with the same
dwords. Equal effects prove that a change has no effect; different effects prove nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import Gpu
from cffpy.capture.load import CommandStream
from cffpy.capture.memory import Words
from cffpy.container.open import open_bytes
from cffpy.cp.loadstate import BINDLESS, INDIRECT, LOAD_STATE_PACKETS, loaded_state, state_place
from cffpy.cp.sink import WriteOutcome
from cffpy.errors import CffpyError
from cffpy.frame.action import PacketFacts
from cffpy.frame.execution import Executed
from cffpy.pm4.reader import Payload
from cffpy.regdb.database import Database

#: Packets whose effects are seen in what follows: registers that they write, commands that they
#: call. A CP_NOP does nothing, whatever it holds.
_SEEN_ELSEWHERE = frozenset(
    (
        "CP_NOP",
        "CP_INDIRECT_BUFFER",
        "CP_INDIRECT_BUFFER_CHAIN",
        "CP_INDIRECT_BUFFER_PFD",
        "CP_INDIRECT_BUFFER_PFE",
        "CP_SET_DRAW_STATE",
        "CP_CONTEXT_REG_BUNCH",
        "CP_CONTEXT_REG_BUNCH2",
        "CP_NON_CONTEXT_REG_BUNCH",
    )
)

#: THREAD of CP_THREAD_CONTROL: each effect has its pipe.
_THREAD = 0x3

#: TYPE of CP_SET_CONSTANT, in the upper half of its first dword: registers.
_SET_CONSTANT, _REGISTERS = "CP_SET_CONSTANT", 4

#: An effect: what it is, and all that decides what it does.
Effect = tuple[object, ...]


class Effects(NamedTuple):
    """``effects``: in order. ``problems``: damage of the commands, which has effects of its own."""

    effects: list[Effect]
    problems: list[str]


class EffectWalk(Walk):
    """A walk that notes what has an effect. Nothing is stored at once and nothing is replayed."""

    def __init__(self) -> None:
        super().__init__(whole_groups=False, replays_streams=False)
        self.effects: list[Effect] = []
        #: Block, type and unit -> what was loaded there, of the pipe that executes.
        self._loaded: dict[tuple[int, ...], bytes] = {}
        self._commands: frozenset[int] = frozenset()

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Which writes of registers are commands."""
        super().bind(gpu, database)
        self._commands = database.commands
        self._note("gpu", str(gpu))

    def submit(self, submit: CommandStream) -> None:
        """A submit begins."""
        super().submit(submit)
        self._note("submit")

    def _note(self, *effect: object) -> None:
        self.effects.append((*effect, self.executed, self.condition is None, self.pipe))

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        """Registers are written: what they hold counts at actions, but commands count at once."""
        if self.executed is not Executed.NO:
            for number, value in enumerate(values, register):
                self._note_command(number, value)
        return super().write(register, values, words, index, level)

    def register(self, register: int, value: int, level: int) -> None:
        """A packet with an opcode writes a register."""
        if self.executed is not Executed.NO:
            self._note_command(register, value)
        super().register(register, value, level)

    def _note_command(self, register: int, value: int) -> None:
        if register in self._commands or register in self.ports.offsets:
            self._note("command", register, value)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode."""
        super().packet(opcode, payload, level)
        if self.executed is Executed.NO:
            return
        name = self.machine.packet_names[opcode] or hex(opcode)
        if name in _SEEN_ELSEWHERE:
            return
        dwords = tuple(payload.words.data[payload.index : payload.index + payload.captured])
        if name == _SET_CONSTANT and dwords and dwords[0] >> 16 == _REGISTERS:
            return
        if name == "CP_THREAD_CONTROL" and dwords and not dwords[0] & ~_THREAD:
            return
        if name in LOAD_STATE_PACKETS and payload.count:
            self._load(payload, dwords)
            return
        self._note(name, dwords, *self._state(name))

    def _state(self, name: str) -> Effect:
        """What a packet may use: events use registers, and which ones depends on the event."""
        return self.state() if "EVENT" in name else ()

    def state(self) -> Effect:
        """Registers and loaded state, as hashes."""
        registers = self.machine.state.registers
        return hash(frozenset(registers.items())), hash(frozenset(self._loaded.items()))

    def _load(self, payload: Payload, dwords: tuple[int, ...]) -> None:
        """State is loaded: units hold it until they are loaded again."""
        loaded = loaded_state(self.machine, payload)
        head = dwords[: loaded.packet_dwords]
        place = state_place(self.machine, payload, loaded)
        if loaded.source == BINDLESS or place is None or not loaded.units:
            self._note("load", dwords)
            return
        words, index = place
        state = bytes(words.data[index : words.count].cast("B"))
        kind = loaded.block, head[0] >> 14 & 3, loaded.kind
        if loaded.source == INDIRECT:
            self._loaded[*kind, loaded.first, loaded.units] = state[: loaded.units * _UNIT_BYTES]
            return
        size = -(-4 * (payload.captured - loaded.packet_dwords) // loaded.units)
        for unit in range(loaded.units):
            part = state[unit * size : (unit + 1) * size]
            self._loaded[*kind, loaded.first + unit] = part + repr(head[1:]).encode()

    def _act(
        self, facts: PacketFacts, is_counted: bool, callbacks: tuple[Callable[..., None], ...]
    ) -> None:
        super()._act(facts, is_counted, callbacks)
        if self.executed is not Executed.NO:
            memory = facts.vertices, facts.instances, facts.groups  # of indirect draws
            self._note("action", facts.kind, *memory, *self.state(), self.level)


#: Bytes of a unit of state in memory, at most: those of the largest descriptor.
_UNIT_BYTES = 64


def effects_of(data: bytes) -> Effects:
    """The effects of a capture."""
    walk = EffectWalk()
    problems: list[str] = []
    damage = []
    with contextlib.suppress(CffpyError):
        damage = walk.run(open_bytes(data), problems.append)
    return Effects(walk.effects, [*problems, *map(str, damage)])
