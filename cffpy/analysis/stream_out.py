# SPDX-License-Identifier: MIT
"""Which draws write vertices to buffers, and what: the program of the VPC, offsets, flushes.

From a5xx on the VPC writes. VPC_SO_PROG maps components of a vertex to buffers: the dwords of the
program are the components in the order of the VPC, two in each, 64 dwords for each stream. The
registers SP_xS_OUT and SP_xS_VPC_DST say which registers of the last stage are where in the VPC.
An event FLUSH_SO_n stores the offset that writing has come to; CP_MEM_TO_REG loads it again. Up to
a4xx the vertex program stores itself.

Facts: the notes on stream-out in Mesa's a5xx.xml, tu6_emit_vpc and tu_CmdEndTransformFeedbackEXT of
turnip, fd5 and fd6 emit_streamout of gallium (Mesa 25.0.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.computation import GpuStores
from cffpy.analysis.observer import Observer
from cffpy.frame.passes import Tile
from cffpy.frame.stream_out import StreamOut, StreamOutBuffer, StreamOutput
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.frame.action import Action
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.stream_out import StreamOutRun
    from cffpy.frame.submit import Memory
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

BUFFERS = 4
#: Dwords of the program of each stream.
_STREAM_DWORDS = 64
#: Streams that there may be.
_STREAMS = 4

#: VPC_SO_PROG: for each of two components the bits of its buffer, of its offset in dwords, and
#: whether it is written; the same in all generations.
_COMPONENTS = (0, 12)
_OFFSET_SHIFT, _OFFSET_MASK, _IS_WRITTEN = 2, 0x1FF, 1 << 11

#: Outputs of a stage, and the stages that may be the last one before the rasterizer.
_OUTPUTS = 32
_LAST_STAGES = ("GS", "DS", "VS")
#: A register of a program that is none.
_NO_REGISTER = 0xFC

_MEM_TO_REG = Fields("CP_MEM_TO_REG", "REG", "SRC")
_REG_TO_MEM = Fields("CP_REG_TO_MEM", "REG", "DEST")

#: Draws with stream-out that are kept, and events. Hostile streams have no end.
_MAX_KEPT = 1 << 14

#: Registers as editions name them.
_STREAM_CONTROL = ("VPC_SO_STREAM_CNTL", "VPC_SO_BUF_CNTL", "VPC_SO_CNTL")
_SWITCH = ("VPC_SO_DISABLE", "VPC_SO_OVERRIDE")
_SWITCH_FIELDS = ("DISABLE", "SO_DISABLE")


class _Flush(NamedTuple):
    """An event that stores the offset of a buffer. ``order``: of the action after it."""

    order: int
    submit: int
    place: PacketLocation
    address: int


class _Drawn:
    """A draw of the program with stream-out; ``runs``: those in which it writes."""

    __slots__ = ("draw", "order", "runs", "submit")

    def __init__(self, draw: StreamOut, order: int, submit: int) -> None:
        self.draw, self.order, self.submit = draw, order, submit
        self.runs: dict[StreamOutRun, None] = {}


class StreamOutFinder(Observer):
    """Finds the draws with stream-out; ``draws`` has them when the walk has ended."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self._submit = 0
        self._actions: list[tuple[Action, _Drawn]] = []
        #: Of each buffer, in order.
        self._flushes: list[list[_Flush]] = [[] for _ in range(BUFFERS)]
        self._loads: dict[int, tuple[PacketLocation, int]] = {}
        #: Where an offset was flushed to -> where packets have copied it to.
        self._copied: dict[int, int] = {}
        #: Register that a flushed offset was loaded to -> where it was flushed to.
        self._moving: dict[int, int] = {}
        self._offsets: dict[int, int] = {}
        self._stores: GpuStores
        self._is_full = False
        self._events: dict[str, int] = {}

    # -- events ---------------------------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        walk = self._walk
        registers = walk.registers
        self._offsets = {
            registers.offset(f"VPC_SO[{number}].BUFFER_OFFSET"): number for number in range(BUFFERS)
        }
        self._offsets.pop(0, None)
        memory = walk.computation.memory
        self._stores = GpuStores(walk.machine, registers, memory, walk.disassemblers(None))
        self._events = {f"FLUSH_SO_{number}": number for number in range(BUFFERS)}
        self._loads.clear()
        self._moving.clear()

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load offsets, and that copy flushed ones."""
        return {
            "CP_MEM_TO_REG": self._memory_to_registers,
            "CP_REG_TO_MEM": self._registers_to_memory,
        }

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Draws belong to submits; programs lie in the memory of one."""
        self._submit = stream.submit
        if is_new_submit:
            self._stores.new_submit()

    def event(self, name: str | None) -> None:
        """FLUSH_SO_n stores the offset of a buffer."""
        number = self._events.get(name or "")
        if number is None:
            return
        address = self._walk.registers.address(f"VPC_SO[{number}].FLUSH_BASE")
        if address and len(self._flushes[number]) < _MAX_KEPT:
            place, order = self._walk.packet_location, len(self._passes.actions)
            self._flushes[number].append(_Flush(order, self._submit, place, address))
            self._copied.pop(address, None)

    def _memory_to_registers(self, payload: Payload) -> None:
        register, address = payload.read(self._walk.machine.packets[_MEM_TO_REG])
        number = self._offsets.get(register)
        if number is not None:
            self._loads[number] = self._walk.packet_location, address
        elif any(flushes and flushes[-1].address == address for flushes in self._flushes):
            self._moving[register] = address
        else:
            self._moving.pop(register, None)

    def _registers_to_memory(self, payload: Payload) -> None:
        register, address = payload.read(self._walk.machine.packets[_REG_TO_MEM])
        flushed = self._moving.get(register)
        if flushed is not None and len(self._copied) < _MAX_KEPT:
            self._copied[flushed] = address

    def action(self, action: Action) -> None:
        """A draw that may be executed."""
        if action.kind != "draw" or not action.execution.is_possible:
            return
        if len(self._actions) >= _MAX_KEPT:
            self._note_full()
            return
        if self._walk.ports.ports:
            draw, is_on = self._of_vpc(action)
        else:  # up to a4xx
            draw, is_on = self._of_program(action), True
        if draw is None:
            return
        drawn = _Drawn(draw, action.order, self._submit)
        if is_on:
            run = self._passes.run
            is_tile = isinstance(run, Tile)
            is_binning = action.binning
            drawn.runs["binning run" if is_binning else "tiles" if is_tile else "sysmem"] = None
        self._actions.append((action, drawn))

    def _note_full(self) -> None:
        """Say once that draws are left out, if any has stream-out."""
        if not self._is_full:
            self._is_full = True
            text = f"stream-out: executions of draws after {_MAX_KEPT:,} with it are not shown"
            self._walk.machine.problems.truncate("", text)

    # -- what a draw writes ---------------------------------------------------------------------

    def _of_program(self, action: Action) -> StreamOut | None:
        """Up to a4xx: a vertex program that stores to memory."""
        for stage, address in action.programs:
            place = self._walk.machine.image.place(address) if stage == "VS" else None
            if place is not None and self._stores.program_stores(address):
                return StreamOut(action, "program")
        return None

    def _of_vpc(self, action: Action) -> tuple[StreamOut | None, bool]:
        """What the VPC writes of a draw, and whether that is on; None where no stream is."""
        registers = self._walk.registers
        control = registers.first(*_STREAM_CONTROL)
        if control is None or not registers.value(control):
            return None, False
        streams = _streams(registers, control)
        if not streams:
            return None, False
        stage = next((one for one in _LAST_STAGES if one in dict(action.programs)), "VS")
        outputs = list(self._outputs(stage))
        if not outputs:
            return None, False
        switch = registers.first(*_SWITCH)
        is_off = switch and any(registers.flag(switch, name) for name in _SWITCH_FIELDS)
        draw = StreamOut(action, "VPC", streams=streams, outputs=outputs)
        if not is_off:
            numbers = sorted({output.buffer for output in outputs})
            draw.buffers = [self._buffer(number, control) for number in numbers]
        return draw, not is_off

    def _outputs(self, stage: str) -> Iterator[StreamOutput]:
        """The components that the program of the VPC writes, those side by side as one."""
        places = _vpc_places(self._walk.registers, stage)
        last: StreamOutput | None = None
        for stream, location, buffer, offset in self._program():
            register = _register_name(places.get(location))
            if last is not None and (last.stream, last.buffer) == (stream, buffer):
                before = places.get(location - 1)
                is_next = before is not None and places.get(location) == before + 1
                is_next = is_next or (before is None and register is None)
                ends = last.location + last.components, last.buffer_offset + 4 * last.components
                if is_next and ends == (location, offset):
                    last = last._replace(components=last.components + 1)
                    continue
            if last is not None:
                yield last
            last = StreamOutput(location, 1, register, stage, stream, buffer, offset)
        if last is not None:
            yield last

    def _program(self) -> Iterator[tuple[int, int, int, int]]:
        """Stream, location, buffer, offset in bytes of each component that is written."""
        for port in self._walk.ports.ports.values():
            for index in range(_STREAMS * _STREAM_DWORDS):
                value = self._walk.registers.dword(port.element(index))
                stream, dword = divmod(index, _STREAM_DWORDS)
                for component, low in enumerate(_COMPONENTS) if value else ():
                    bits = (value or 0) >> low
                    if bits & _IS_WRITTEN:
                        offset = 4 * (bits >> _OFFSET_SHIFT & _OFFSET_MASK)
                        yield stream, 2 * dword + component, bits & 3, offset

    def _buffer(self, number: int, control: str) -> StreamOutBuffer:
        registers, name = self._walk.registers, f"VPC_SO[{number}]"
        stride = registers.field(f"{name}.BUFFER_STRIDE")
        if stride is None:
            components = registers.value(f"{name}.NCOMP")
            stride = None if components is None else 4 * components
        buffer = StreamOutBuffer(
            number,
            address=registers.address(f"{name}.BUFFER_BASE"),
            size=registers.field(f"{name}.BUFFER_SIZE"),
            stride=stride,
            stream=_stream_of(registers, control, number),
            buffer_offset=registers.field(f"{name}.BUFFER_OFFSET"),
        )
        if buffer.buffer_offset is None and number in self._loads:
            buffer.loaded_by, buffer.loaded_from = self._loads[number]
        return buffer

    # -- the end --------------------------------------------------------------------------------

    def draws(self, memories: Callable[[], list[Memory]], has_run: bool) -> list[StreamOut]:
        """The draws of the program with stream-out, each once, in order. After the walk.

        ``memories``: of each submit; called only if a draw has buffers. ``has_run``: they are from
        after the commands ran.
        """
        known: dict[tuple[int, int], _Drawn] = {}
        for action, drawn in self._actions:
            if action.pass_index is None or action.number is None:
                continue
            key = action.pass_index, action.number
            first = known.setdefault(key, drawn)
            if drawn.runs and not first.runs:  # what is off has no buffers
                first = known[key] = drawn
            first.runs |= drawn.runs
        passes = self._passes.found.passes
        draws = []
        for (index, number), drawn in sorted(known.items()):
            drawn.draw.action = passes[index].draws[number]
            drawn.draw.runs = tuple(drawn.runs)
            for buffer in drawn.draw.buffers:
                self._find_flush(buffer, drawn)
                _find_data(buffer, drawn.submit, memories(), has_run)
            draws.append(drawn.draw)
        return draws

    def _find_flush(self, buffer: StreamOutBuffer, drawn: _Drawn) -> None:
        """The first flush of a buffer after the draw, in its submit."""
        for flush in self._flushes[buffer.number]:
            if flush.order > drawn.order and flush.submit == drawn.submit:
                buffer.flushed_by, buffer.flushed_to = flush.place, flush.address
                buffer.copied_to = self._copied.get(flush.address)
                return


def _streams(registers: RegisterReader, control: str) -> tuple[int, ...]:
    """The streams that are on; a5xx has one."""
    mask = registers.field(control, "STREAM_ENABLE")
    if mask is None:
        return (0,) if registers.flag(control, "ENABLE") else ()
    return tuple(number for number in range(_STREAMS) if mask >> number & 1)


def _stream_of(registers: RegisterReader, control: str, number: int) -> int | None:
    """The stream that is bound to a buffer."""
    bound = registers.field(control, f"BUF{number}_STREAM")
    if bound is None:
        return 0 if registers.flag(control, f"BUF{number}") else None
    return bound - 1 if bound else None


def _vpc_places(registers: RegisterReader, stage: str) -> dict[int, int]:
    """Location in the VPC -> the register that a stage has there, as a number of a component."""
    destination = registers.first(f"SP_{stage}_VPC_DST[0].REG", f"SP_{stage}_VPC_DEST[0].REG")
    source = registers.first(f"SP_{stage}_OUT[0].REG", f"SP_{stage}_OUTPUT[0].REG")
    places: dict[int, int] = {}
    if destination is None or source is None:
        return places
    for index in range(_OUTPUTS):
        name = source.replace("[0]", f"[{index // 2}]")
        half = "AB"[index % 2]
        first = registers.field(name, f"{half}_REGID")
        mask = registers.field(name, f"{half}_COMPMASK")
        where = destination.replace("[0]", f"[{index // 4}]")
        location = registers.field(where, f"OUTLOC{index % 4}")
        if first is None or not mask or location is None or first >= _NO_REGISTER:
            continue
        for component in range(4):
            if mask >> component & 1:
                places.setdefault(location + component, first + component)
    return places


def _register_name(number: int | None) -> str | None:
    return None if number is None else f"r{number >> 2}.{'xyzw'[number & 3]}"


def _find_data(buffer: StreamOutBuffer, submit: int, memories: list[Memory], has_run: bool) -> None:
    """What the capture has of a buffer: from after the draw if it can be."""
    if buffer.address is None or not buffer.size:
        return
    after = range(submit if has_run else submit + 1, len(memories))
    for number in (*after, submit):
        if number >= len(memories):
            continue
        captured = memories[number].captured(buffer.address, buffer.size)
        if captured:
            buffer.captured, buffer.captured_with = captured, number
            buffer.memory = memories[number]
            return
