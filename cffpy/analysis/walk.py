# SPDX-License-Identifier: MIT
"""Walk: the sink under every analysis. Follows conditions, keeps track of places, tells of actions.

The reference decodes linearly; a walk has the machine run conditional blocks as the GPU would, so
that registers hold what is really in force. Blocks that are not executed run on a copy of the
state: their actions are told as not executed, and keep their numbers of the dump.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.actions import (
    INITIATOR_IS_SECOND,
    Action,
    Kind,
    Parameters,
    dispatch_groups,
    draw_parameters,
)
from cffpy.analysis.conditions import Condition, Conditions
from cffpy.analysis.copied_registers import CopiedRegisters
from cffpy.analysis.packet_location import PacketLocation, Stream
from cffpy.analysis.registers import RegisterReader
from cffpy.cp.markers import OpenMarkers
from cffpy.cp.programs import ADDRESS_MASK, enable_registers, program_registers
from cffpy.cp.sink import NOTHING, Draw, Payload, Sink
from cffpy.pm4.layouts import IM_LOAD_IMMEDIATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.cp.state import DrawStateGroup
    from cffpy.regdb.database import Database

_KINDS: dict[str, Kind] = {
    "CP_BLIT": "blit",
    "CP_EXEC_CS": "dispatch",
    "CP_EXEC_CS_INDIRECT": "dispatch",
    "CP_RUN_OPENCL": "dispatch",
    "EVENT:BLIT": "resolve",
    "EVENT:LRZ_CLEAR": "lrz clear",
}

_A2XX_STAGES = {0: "VS", 1: "FS"}

#: An entry of the machine's stack of streams; (stage, address) of each program of a draw.
_Entry = tuple["Words", int, int]
_Shaders = tuple[tuple[str, int], ...]


class Walk(Sink):
    """Follows whatever the machine runs. Set ``machine`` before it runs.

    A subclass overrides ``act`` and the callbacks of Sink that it needs, and calls those of Walk.
    """

    #: Whether CP_MEM_WRITE changes the memory image, so that commands that a driver patches run
    #: as patched. The capture has them as they were at the submit; the reference runs the data of
    #: the packet on the spot instead. Segments must not be kept then.
    applies_memory_writes = False

    every_marker_sets_mode = False

    def __init__(self) -> None:
        self.machine: Machine
        self.registers: RegisterReader
        self.generation = 0
        open_markers = OpenMarkers()
        #: Texts of the debug markers that are open, outermost first.
        self.markers = open_markers.texts
        self._nop = open_markers.nop
        self._copies: CopiedRegisters
        #: A register whose value will be unknown once the packet that runs is done.
        self._unknown_after: int | None = None
        self._conditions: Conditions
        self._blocks: list[Condition] = []
        self._submit: CommandStream
        self._path: list[tuple[_Entry, Stream]] = []
        #: Depth -> what the stream that begins there is: kind, group.
        self._kinds: dict[int, tuple[str, int | None]] = {}
        #: Of each stream of the path, the last packet with an opcode, else its first packet.
        self._packets: list[PacketLocation] = []
        self._programs: list[tuple[str, str, tuple[str, str] | None]] = []
        self._loaded_programs: dict[str, int] = {}
        self._is_alternative = False
        self._shader_lists: dict[_Shaders, _Shaders] = {}
        self._actions = -1
        self._deep_stream = -1
        self._handlers: list[Callable[[Payload], None] | None] = []

    # -- for subclasses ---------------------------------------------------------------------

    def act(self, action: Action) -> None:
        """A draw, dispatch or blit is executed, or would be under a condition that fails."""

    @property
    def executed(self) -> bool | None:
        """Whether what runs now is executed; None: only the GPU knows."""
        outcome: bool | None = True
        for condition in self._blocks:
            if condition.executed is False:
                return False
            if condition.executed is None:
                outcome = None
        return outcome

    @property
    def problems(self) -> list[str]:
        """What of the streams is damaged or left out, in words."""
        return self.machine.problems.lines

    @property
    def condition(self) -> str | None:
        """The innermost condition that what runs now is under, in words."""
        return self._blocks[-1].reason if self._blocks else None

    @property
    def current_submit(self) -> CommandStream:
        """The command stream that runs."""
        return self._submit

    @property
    def packet_place(self) -> PacketLocation:
        """The place of the packet with an opcode that runs now, or ran last in this stream."""
        self._stream()
        return self._packets[-1]

    def place(self, words: Words, index: int) -> PacketLocation:
        """The place of the packet whose header is at ``index``."""
        return PacketLocation(self._stream(), words, index)

    # -- Sink -------------------------------------------------------------------------------

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Look up what the generation calls things."""
        self.generation = gpu.generation
        reader = self.registers = RegisterReader(self.machine)
        self._copies = CopiedRegisters(self.machine, self.registers_unknown)
        self._conditions = Conditions(self.machine, self._copies.forget)
        enables = {
            stage: (name, "ENABLED")
            for stage, name in enable_registers(gpu.generation)
            if reader.offset(name)
        }
        self._programs = [
            (stage, name, enables.get(stage))
            for stage, name, _upper in program_registers(gpu.generation)
            if reader.offset(name)
        ]
        handlers: dict[str | None, Callable[[Payload], None]] = {
            "CP_NOP": self._nop,
            "CP_REG_TEST": self._register_test,
            "CP_REG_RMW": self._register_modified,
            "CP_SET_MARKER": self._conditions.marker,
            "CP_IM_LOAD_IMMEDIATE": self._load_program,
            "CP_DRAW_PRED_ENABLE_GLOBAL": partial(self._predicated_draws, "GLOBAL"),
            "CP_DRAW_PRED_ENABLE_LOCAL": partial(self._predicated_draws, "LOCAL"),
            "CP_DRAW_INDX_BIN": self._draw_with_visibility,
            **self._copies.handlers,
        }
        self._handlers = [handlers.get(name) for name in self.machine.packet_names]

    def submit(self, submit: CommandStream) -> None:
        """A command stream begins."""
        self._submit = submit
        self._path.clear()
        self._packets.clear()
        self._kinds.clear()
        self._blocks.clear()

    def write(self, register: int, values: list[int], words: Words, index: int, level: int) -> int:
        """Registers are stored by the machine; nobody needs to hear of each."""
        return NOTHING

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """Remember the packet; heed those that conditions and shaders depend on, if executed."""
        stream = self._stream()
        self._packets[-1] = PacketLocation(stream, payload.words, payload.index - 1)
        handler = self._handlers[opcode]
        if handler is not None and self.executed is not False:
            handler(payload)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        """What the machine has made of a register that is unknown goes again."""
        if self._unknown_after is not None:
            register, self._unknown_after = self._unknown_after, None
            self._copies.forget(register, 1)

    def event(self, name: str | None, level: int) -> None:
        """A BLIT event of a5xx moves pixels, though the dump does not number it."""
        if self.generation == 5 and name == "BLIT":
            self._act("resolve", "CP_EVENT_WRITE", f"EVENT:{name}", None, Parameters())

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        """Tell of the action."""
        kind = _KINDS.get(draw.label or "") or _KINDS.get(draw.name, "draw")
        label = draw.label
        parameters = Parameters()
        groups = None
        if kind == "draw":
            label = self._primitive(draw.name, payload) or label
            parameters = draw_parameters(self.machine, draw.name, payload)
        elif kind == "dispatch":
            parameters.indirect = draw.name == "CP_EXEC_CS_INDIRECT"
            groups = dispatch_groups(self.machine, draw.name, payload)
        number = self.machine.state.draw_count if draw.counted else None
        if self._is_alternative:
            number = None
        self._act(kind, draw.name, label, number, parameters, groups)

    def conditional_block(
        self, name: str, payload: Payload, ndwords: int, level: int
    ) -> bool | None:
        """Run it as the GPU would; where that is open, as if it were executed."""
        if len(self._blocks) >= _MAX_BLOCKS:
            self._too_deep()
            return None
        if name == "CP_COND_REG_EXEC":
            condition = self._conditions.register_exec(payload)
        else:
            condition = Condition(None, "compares memory on the GPU")
        self._blocks.append(condition)
        self._kinds[len(self.machine.streams)] = "block", None
        self.block_begins(condition)
        return condition.executed is not False

    def _too_deep(self) -> None:
        if self._deep_stream != self._submit.number:  # once a stream: the outermost of them
            self._deep_stream = self._submit.number
            place = f"{self.packet_place.gpuaddr:#x}"
            text = f"conditions at {place} are nested too deeply: inner ones are not followed"
            self.machine.problems.leave_out(text)

    def block_begins(self, condition: Condition) -> None:
        """A conditional block begins; for subclasses."""

    def conditional_block_done(self) -> None:
        """The block is over."""
        self._blocks.pop()

    def alternative_block(self, begins: bool) -> None:
        """What is executed in place of a block; the dump does not number its draws."""
        self._is_alternative = begins
        if begins:
            self._kinds[len(self.machine.streams)] = "block", None

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        """An IB begins."""
        self._kinds[len(self.machine.streams)] = "IB", None
        return True

    def nested_stream(self, name: str, payload: Payload, level: int) -> bool:
        """Commands that a packet carries; those that it only stores run where they are stored."""
        if name == "CP_MEM_WRITE" and self.applies_memory_writes:
            if self.executed is not False and self.machine.is_64bit:
                self._write_memory(payload)
            return False
        self._kinds[len(self.machine.streams)] = name, None
        return True

    def registers_unknown(self, register: int, count: int) -> None:
        """From now on only the GPU knows these registers' values; for subclasses."""

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """``payload`` was stored at ``gpuaddr``, over the bytes ``before``; for subclasses."""

    def numbered_stream(self, name: str, number: int, level: int) -> None:
        """A block of commands of a bin or of a draw."""
        self._kinds[len(self.machine.streams)] = f"{name} {number}", None

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        """A draw-state group is loaded, or not."""
        self._kinds[len(self.machine.streams)] = "group", group.group_id

    # -- within -----------------------------------------------------------------------------

    def _write_memory(self, payload: Payload) -> None:
        gpuaddr, data = payload[0] | payload[1] << 32, payload.rest(2)
        if data.count <= 0:
            return
        content = data.words.bytes(data.index, data.count)
        before = self.machine.image.write(gpuaddr, content)
        if before is None:
            self.machine.problems.leave_out(
                f"the buffer at {gpuaddr:#x} is too large to be changed by CP_MEM_WRITE"
            )
        else:
            self.memory_written(gpuaddr, data, before)

    def _stream(self) -> Stream:
        """The stream that runs now; Stream objects are made when they are first asked for."""
        active = self.machine.streams
        path = self._path
        while path and (len(path) > len(active) or path[-1][0] is not active[len(path) - 1]):
            _, left = path.pop()
            last = self._packets.pop()
            if left.kind == "block":  # its packets are packets of the stream around it, too
                self._packets[-1] = PacketLocation(path[-1][1], last.words, last.index)
        while len(path) < len(active):
            entry = active[len(path)]
            words, index, ndwords = entry
            kind, group_id = self._kinds.get(len(path), ("submit", None))
            caller = self._packets[-1] if path else None
            stream = Stream(
                kind, self._submit, words.address + 4 * index, ndwords, caller, group_id
            )
            path.append((entry, stream))
            if caller is not None and kind == "block":
                words, index = caller.words, caller.index
            self._packets.append(PacketLocation(stream, words, index))
        return path[-1][1]

    def _register_modified(self, payload: Payload) -> None:
        self._unknown_after = self._copies.modified(payload)

    def _register_test(self, payload: Payload) -> None:
        self._conditions.register_test(payload, perhaps=self.executed is None)

    def _predicated_draws(self, scope: str, payload: Payload) -> None:
        self._conditions.predicate_draws(scope, payload, self.executed is None)

    def _load_program(self, payload: Payload) -> None:
        kind, _, _ = payload.read(IM_LOAD_IMMEDIATE)
        stage = _A2XX_STAGES.get(kind)
        if stage is not None:
            self._loaded_programs[stage] = payload.words.address + 4 * (payload.index + 2)

    def _draw_with_visibility(self, payload: Payload) -> None:
        name = "CP_DRAW_INDX_BIN"
        parameters = draw_parameters(self.machine, name, payload)
        self._act("draw", name, self._primitive(name, payload), None, parameters)

    def _primitive(self, name: str, payload: Payload) -> str | None:
        """The reference looks at five of the six bits, and takes patches for something else."""
        initiator = payload[1 if name in INITIATOR_IS_SECOND else 0]
        return self.machine.enum_name("pc_di_primtype", initiator & 0x3F)

    def _act(
        self,
        kind: Kind,
        packet: str,
        label: str | None,
        number: int | None,
        parameters: Parameters,
        groups: tuple[int, int, int] | None = None,
    ) -> None:
        executed, condition = self.executed, self.condition
        if self._conditions.predicates_draws and kind == "draw" and executed:
            executed, condition = None, "CP_DRAW_PRED_*"
        self._actions += 1
        self.act(
            Action(
                kind,
                packet,
                label,
                number,
                self.packet_place,
                self._actions,
                self.machine.state.ib_level,
                executed,
                condition,
                parameters.vertices,
                parameters.instances,
                parameters.indexed,
                parameters.indirect,
                groups,
                self._shaders(kind),
            )
        )

    def _shaders(self, kind: Kind) -> _Shaders:
        if kind not in ("draw", "dispatch"):
            return ()
        found = []
        for stage, name, enable in self._programs:
            if (stage == "CS") != (kind == "dispatch"):
                continue
            if enable is not None and not self.registers.flag(*enable):
                continue
            address = self.registers.address(name)
            if address and address & ADDRESS_MASK:
                found.append((stage, address & ADDRESS_MASK))
        if self.generation == 2:
            found.extend(self._loaded_programs.items())
        shaders = tuple(found)
        return self._shader_lists.setdefault(shaders, shaders)


#: Conditions within one another, at most.
_MAX_BLOCKS = 16
