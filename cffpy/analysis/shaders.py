# SPDX-License-Identifier: MIT
"""Which shader programs a capture holds, and which draws and dispatches run them.

Programs are named by registers that hold their addresses, by CP_LOAD_STATE, 4 and 6, and on a2xx
by CP_IM_LOAD_IMMEDIATE. Two are the same if stage and bytes are, up to where the listing stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.gpu import PROGRAM_ADDRESS_MASK, STAGES, generation_of
from cffpy.cp.loadstate import (
    LOAD_STATE_PACKETS,
    SHADER,
    loaded_state,
    program_dwords,
    state_place,
)
from cffpy.cp.session import Session
from cffpy.cp.sink import NOTHING, WRITE_DONE, Draw, Sink, WriteOutcome
from cffpy.frame.shader import CapturedShader, Naming, Program
from cffpy.pm4.descriptions import Disassemblers
from cffpy.pm4.reader import OPCODE, REGISTERS, Fields, Payload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import MemoryLocation, Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.cp.stored import StoredRegisters
    from cffpy.isa.a2xx import VertexFetch
    from cffpy.pm4.descriptions import Descriptions
    from cffpy.regdb.database import Database

#: Limits for hostile captures: bytes of distinct programs and their listings; bytes in which they
#: were looked for, from their begins to the ends of buffers; ranges of draws over all programs;
#: addresses remembered; bytes of packets remembered that name none.
_MAX_BYTES = 256 << 20
_MAX_LOOKED = 2 << 30
_MAX_RANGES = 1 << 19
_MAX_PLACES = 1 << 16
_MAX_NAMELESS = 1 << 20

_WITHOUT_PROGRAMS = ("CP_BLIT", "CP_EVENT_WRITE")
#: Draws that the reference neither counts nor summarises.
_UNCOUNTED = "CP_DRAW_INDX_BIN"
_COMPUTE_STAGES, _DRAW_STAGES = ("CS",), STAGES[:5]

_IM_LOAD_IMMEDIATE = Fields("CP_IM_LOAD_IMMEDIATE", "SHADER_TYPE")
_A2XX_STAGES = {0: "VS", 1: "FS"}
#: The stage of a CP_IM_LOAD_IMMEDIATE that names neither; its program is listed as a vertex one.
UNKNOWN_STAGE = "unknown"


class ProgramReader:
    """Reads programs of all generations."""

    def __init__(self, disassemblers: Disassemblers) -> None:
        self._disassemblers = disassemblers

    def program(self, generation: int, stage: str, data: bytes | memoryview) -> Program | None:
        """The program at the start of ``data``; None where not one instruction is."""
        if generation_of(generation).instruction_set == "a2xx":
            old = self._disassemblers.a2xx().listing(data, 0, stage == "FS")
            if not old.instructions:
                return None
            return Program(bytes(data[: old.size]), old.instructions, old.text, None)
        new = self._disassemblers.ir3(generation).listing(data, 0)
        if not new.instructions:
            return None
        code = bytes(data[: new.instructions * 8])
        return Program(code, new.instructions, new.text, new.statistics)

    def vertex_fetches(self, code: bytes) -> list[VertexFetch]:
        """The fetches of vertices in an a2xx program."""
        return self._disassemblers.a2xx().vertex_fetches(code)


class _StoredNaming(NamedTuple):
    """A packet that names programs, of those that are stored at once.

    It is at ``packet`` and writes ``values``, to ``registers`` that name programs; or it has an
    ``opcode``, and is looked at again each time.
    """

    packet: int
    registers: list[int]
    values: dict[int, int]
    opcode: int = -1
    payload: Payload | None = None


class ShaderCollector(Sink):
    """Collects the distinct shaders of everything that the machine runs. Set ``machine`` before."""

    takes_writes_at_once = True
    observes_stored_registers = True

    def __init__(
        self, register_db: str | None = None, disassemblers: Disassemblers | None = None
    ) -> None:
        """``register_db``: directory of another edition, whose instruction sets are used.

        ``disassemblers``: of that edition, which others use, too.
        """
        self.machine: Machine
        #: In order of their first naming.
        self.shaders: list[CapturedShader] = []
        #: Programs that are not among them because there were too many.
        self.left_out = 0
        self._programs = ProgramReader(disassemblers or Disassemblers(register_db))
        self._distinct: dict[tuple[str, int, bytes], CapturedShader] = {}
        self._bytes = 0
        self._looked = 0
        self._ranges = 0
        #: Stage -> what draws run: one shader, or two where a packet loads only a beginning of the
        #: program that lies at the address that a register holds.
        self._bound: dict[str, tuple[CapturedShader, ...]] = {}
        self._places: dict[tuple[str, int, int], CapturedShader | None] = {}
        self._epoch = -1
        self._drops = -1
        self._submit = 0
        self._generation = 0
        #: The register whose write names a program -> stage, name, (upper half,) lower or whole.
        self._naming: dict[int, tuple[str, str, tuple[int, ...]]] = {}
        self._enables: dict[str, tuple[int, int]] = {}
        self._loads: frozenset[int] = frozenset()
        self._immediate = self._uncounted = -1
        #: Registers of ``_naming`` that the current packet writes.
        self._written: list[int] = []
        #: What packets that are stored at once name, by where they are, as long as memory stays.
        self._stored: dict[tuple[Words, int, int], list[_StoredNaming]] = {}
        self._stored_epoch = -1
        #: The contents of those that name nothing, and their bytes.
        self._nameless: set[bytes] = set()
        self._nameless_bytes = 0

    # -- files, GPUs, submits ---------------------------------------------------------------

    def bind(self, gpu: Gpu, database: Database) -> None:
        self._stored.clear()
        self._nameless.clear()
        self._nameless_bytes = 0
        self._generation = gpu.generation
        database = self.machine.names
        self._naming = {}
        for stage, register, upper in gpu.facts.program_registers:
            low = database.register_offset(register)
            if not low:
                continue
            row = database.register(low, self.machine.variants)
            if upper:
                high = database.register_offset(upper)
                self._naming[high] = (stage, register, (high, low))
            elif row is not None and row.dwords == 2:
                self._naming[low + 1] = (stage, register, (low + 1, low))
            else:
                self._naming[low] = (stage, register, (low,))
        self._enables = {}
        for stage, register in gpu.facts.enable_registers:
            offset = database.register_offset(register)
            bit = _bit_of(database, offset, "ENABLED") if offset else None
            if bit is not None:
                self._enables[stage] = (offset, bit)
        names = self.machine.packet_names
        self._loads = frozenset(
            opcode for opcode, name in enumerate(names) if name in LOAD_STATE_PACKETS
        )
        self._immediate = self._uncounted = -1
        if not gpu.facts.program_registers and "CP_IM_LOAD_IMMEDIATE" in names:
            self._immediate = names.index("CP_IM_LOAD_IMMEDIATE")
        if _UNCOUNTED in names:
            self._uncounted = names.index(_UNCOUNTED)

    def submit(self, submit: CommandStream) -> None:
        self._submit = submit.submit
        if self._drops != self.machine.image.drops:  # what lies where is another matter now
            self._drops = self.machine.image.drops
            self._bound.clear()

    # -- naming -----------------------------------------------------------------------------

    @property
    def registers(self) -> range:
        """A range that has all registers that name programs: no other writes matter."""
        return range(min(self._naming, default=0), max(self._naming, default=-1) + 1)

    @property
    def packets(self) -> frozenset[int]:
        """The opcodes that ``packet`` looks at."""
        return self._loads | {self._immediate, self._uncounted}

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        end = register + len(values)
        for naming in self._naming:
            if register <= naming < end:
                self._written.append(naming)
        return WRITE_DONE if self._written else NOTHING

    def write_done(self, words: Words, index: int, ndwords: int, level: int) -> None:
        if self._written:
            self._take_written(words.address + index * 4)

    def register(self, register: int, value: int, level: int) -> None:
        if register in self._naming:
            self._written.append(register)

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        self.register(register, bits, level)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        if opcode in self._loads:
            loaded = loaded_state(self.machine, payload)
            if loaded.kind == SHADER:
                place = state_place(self.machine, payload, loaded)
                dwords = program_dwords(self._generation, loaded.units)
                self._name(loaded.stage, place, dwords, self._packet(opcode, payload))
        else:
            self._other_packet(opcode, payload)

    def _other_packet(self, opcode: int, payload: Payload) -> None:
        if opcode == self._immediate:
            (kind,) = payload.read(self.machine.packets[_IM_LOAD_IMMEDIATE])
            code = payload.rest(2)
            stage = _A2XX_STAGES.get(kind, UNKNOWN_STAGE)
            place = code.words, code.index
            self._name(stage, place, code.captured, self._packet(opcode, payload))
        elif opcode == self._uncounted:
            self._use(_DRAW_STAGES, None)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        if self._written:
            self._take_written(_packet_address(payload))

    def _take_written(self, packet: int, values: Mapping[int, int] | None = None) -> None:
        """The packet at this address is done: the registers hold what it wrote.

        ``values``: what it wrote, where later packets have written, too.
        """
        value = self.machine.state.value
        for register in self._written:
            stage, name, halves = self._naming[register]
            gpuaddr = 0
            for half in halves:
                written = None if values is None else values.get(half)
                gpuaddr = gpuaddr << 32 | (value(half) if written is None else written)
            place = self.machine.image.place(gpuaddr & PROGRAM_ADDRESS_MASK)
            dwords = 0 if place is None else place[0].count
            self._name(stage, place, dwords, Naming(name, packet))
        self._written.clear()

    # -- packets that are stored at once ----------------------------------------------------

    @property
    def decodes_streams_once(self) -> bool:  # type: ignore[override]
        """Not before a5xx: drivers draw by packets that are decoded in any case."""
        return self.machine.is_64bit

    def group_writes(self, registers: Mapping[int, int]) -> bool:
        return True

    def ignores_packet(self, opcode: int) -> bool:
        return opcode != self._uncounted

    def ignores_writes(self, registers: Iterable[int]) -> bool:
        return True

    def packet_stored(self, opcode: int, payload: Payload, level: int) -> None:
        """``registers_stored`` has looked at it."""

    def registers_stored(self, stored: StoredRegisters) -> None:
        if stored.words is not None:
            self._take_stored(stored, stored.words, stored.start, stored.following)
        for _, words, index, ndwords in stored.groups:
            self._take_stored(stored, words, index, index + ndwords)

    def _take_stored(self, stored: StoredRegisters, words: Words, start: int, end: int) -> None:
        """Do for packets that were stored what ``packet`` and ``write`` do for others."""
        if self._stored_epoch != self.machine.image.epoch or len(self._stored) >= _MAX_PLACES:
            self._stored_epoch = self.machine.image.epoch
            self._stored.clear()
        key = words, start, end
        namings = self._stored.get(key)
        if namings is None:
            contents = words.data[start:end].tobytes()
            if contents in self._nameless:
                return
            namings = list(self._namings(stored, words, start, end))
            if namings:
                self._stored[key] = namings
            elif len(contents) < _MAX_NAMELESS - self._nameless_bytes:
                self._nameless.add(contents)
                self._nameless_bytes += len(contents)
        for naming in namings:
            if naming.payload is None:
                self._written += naming.registers
                self._take_written(naming.packet, naming.values)
            else:
                self.packet(naming.opcode, naming.payload, 0)

    def _namings(
        self, stored: StoredRegisters, words: Words, start: int, end: int
    ) -> Iterator[_StoredNaming]:
        """The packets of ``words[start:end]`` that name programs."""
        runs, data, names = stored.runs, words.data, self._naming
        first, last = min(names, default=0), max(names, default=-1)
        for index, size, kind, number in runs.packets(words, start, end):
            if kind == REGISTERS:
                behind = number + size - 1
                if number <= last and behind > first:
                    named = [name for name in names if number <= name < behind]
                    if named:
                        values = dict(enumerate(data[index + 1 : index + size].tolist(), number))
                        yield _StoredNaming(words.address + 4 * index, named, values)
            elif kind == OPCODE:
                payload = Payload(words, index + 1, size - 1)
                if number == self._immediate or self._loads_program(number, payload):
                    yield _StoredNaming(0, [], {}, number, payload)
                else:
                    values = dict(runs.writes(number, payload))
                    named = [value for value in values if value in names]
                    if named:
                        yield _StoredNaming(_packet_address(payload), named, values)

    def _loads_program(self, opcode: int, payload: Payload) -> bool:
        return opcode in self._loads and loaded_state(self.machine, payload).kind == SHADER

    def _packet(self, opcode: int, payload: Payload) -> Naming:
        return Naming(self.machine.packet_names[opcode] or "", _packet_address(payload))

    def _name(self, stage: str, place: MemoryLocation | None, dwords: int, naming: Naming) -> None:
        """``naming`` names up to ``dwords`` at ``place`` as the program of a stage."""
        shader = None
        if place is not None:
            shader = self.shader_at(stage, place, dwords, naming)
        if shader is None:
            self._bound.pop(stage, None)
            return
        before = self._bound.get(stage, ())[-1:]
        if before and before[0] is not shader and _is_same_start(before[0], shader):
            self._bound[stage] = (*before, shader)
        else:
            self._bound[stage] = (shader,)

    # -- programs ---------------------------------------------------------------------------

    def shader_at(
        self, stage: str, place: MemoryLocation, dwords: int, naming: Naming
    ) -> CapturedShader | None:
        """The shader of up to ``dwords`` at a place, named for the first time or again."""
        words, index = place
        if self._epoch != self.machine.image.epoch or len(self._places) >= _MAX_PLACES:
            self._epoch = self.machine.image.epoch
            self._places.clear()
        gpuaddr = words.address + index * 4
        known = (stage, gpuaddr, min(dwords, words.count - index))
        if known in self._places:
            return self._places[known]
        self._looked += 4 * known[2]
        if self._looked > _MAX_LOOKED:
            self.left_out += 1
            return None
        program = self._programs.program(self._generation, stage, words.bytes(index, dwords))
        shader = self._places[known] = (
            None if program is None else self._add(stage, program, gpuaddr, naming)
        )
        return shader

    def _add(
        self, stage: str, program: Program, gpuaddr: int, naming: Naming
    ) -> CapturedShader | None:
        code = program.code
        if program.statistics is not None:
            # a packet may load fewer of the nops behind a program than lie at its address
            code = code.rstrip(b"\0")
        key = (stage, self._generation, code)
        shader = self._distinct.get(key)
        if shader is not None and len(program.code) <= len(shader._program.code):
            return shader
        size = len(program.code) + len(program.text)
        if self._bytes + size > _MAX_BYTES:
            self.left_out += shader is None
            return shader
        self._bytes += size
        if shader is None:
            number = len(self.shaders)
            shader = CapturedShader(
                stage, self._generation, gpuaddr, program, number=number, named_by=naming
            )
            self._distinct[key] = shader
            self.shaders.append(shader)
        else:
            shader._program = program
        return shader

    # -- uses -------------------------------------------------------------------------------

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if not draw.counted or draw.name in _WITHOUT_PROGRAMS:
            return
        stages = _COMPUTE_STAGES if draw.is_compute else _DRAW_STAGES
        self._use(stages, self.machine.state.draw_count)

    def _use(self, stages: tuple[str, ...], draw: int | None) -> None:
        values = self.machine.state.registers
        for stage in stages:
            enable = self._enables.get(stage)
            if enable is not None and not values.get(enable[0], -1) >> enable[1] & 1:
                continue  # what is bound is left over from an earlier draw
            for shader in self._bound.get(stage, ()):
                may_grow = self._ranges < _MAX_RANGES
                self._ranges += shader.use(self._submit, draw, may_grow)


def _packet_address(payload: Payload) -> int:
    """Where the packet's header lies."""
    return payload.words.address + payload.index * 4 - 4


def _is_same_start(shader: CapturedShader, other: CapturedShader) -> bool:
    """Whether one program is the other's beginning."""
    shorter, longer = sorted((shader._program.code, other._program.code), key=len)
    return longer.startswith(shorter)


def _bit_of(database: Database, register: int, field: str) -> int | None:
    """The lowest bit of a register's field by name, or None."""
    row = database.register(register, {})
    fields = None if row is None or row.type is None else row.type[7]
    if not isinstance(fields, tuple):
        return None
    for name, _condition, kind in fields:
        if name == field:
            low: int = kind[2]
            return low
    return None


def collect_shaders(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    descriptions: Descriptions | None = None,
) -> tuple[ShaderCollector, list[Damage]]:
    """The shaders of a capture, and its damage. ``gpu``: decode for it, regardless of the file.

    ``descriptions``: of the edition ``register_db``, which other walks use, too.
    """
    collector = ShaderCollector(
        register_db, None if descriptions is None else descriptions.disassemblers
    )
    session = Session(
        collector, warn=complain, register_db=register_db, gpu=gpu, descriptions=descriptions
    )
    try:
        return collector, session.run(content)
    finally:
        session.machine.release()
