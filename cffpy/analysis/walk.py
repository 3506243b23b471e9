# SPDX-License-Identifier: MIT
"""Walk: runs a capture once and publishes typed events to observers.

The reference decodes linearly; a walk has the machine run conditional blocks as the GPU would, so
that registers hold what is in force. A block that is not executed runs on a copy of the state,
which is then discarded: its actions are published as not executed, and keep the numbers that the
dump gives them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.action_reader import facts_of, facts_of_draw, with_memory
from cffpy.analysis.computation import Computation, GpuStores
from cffpy.analysis.conditions import ConditionalBlock, Conditions
from cffpy.analysis.observer import Observer, StopWalk
from cffpy.analysis.pipes import Pipes, thread_of
from cffpy.analysis.registers import BoundPrograms, PortWrites, RegisterReader
from cffpy.cp.packets.mode import OpenMarkers
from cffpy.cp.session import Session, is_compositor
from cffpy.cp.sink import (
    DISCARDED,
    INLINE,
    LIVE,
    NOTHING,
    BlockOutcome,
    Draw,
    NestedStream,
    Sink,
    WriteOutcome,
)
from cffpy.frame.action import CLASSES, PacketFacts
from cffpy.frame.execution import Executed
from cffpy.frame.places import ExecutedStream, Frame, PacketLocation
from cffpy.pm4.descriptions import Descriptions
from cffpy.pm4.reader import Payload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.analysis.pipes import Pipe, PipeRegisters
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.state import DrawStateGroup
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.places import StreamEntry
    from cffpy.pm4.descriptions import Disassemblers
    from cffpy.regdb.database import Database

#: Nesting of conditional blocks, at most.
_MAX_BLOCKS = 16

_Callbacks = tuple["Callable[..., None]", ...]


class Walk(Sink):
    """The only sink of analyses. Attach the observers, then ``run``.

    Its public attributes may be read by observers at any event.
    """

    reads_as_reference = False
    decodes_first_runs = True

    def __init__(
        self,
        applies_memory_writes: bool = True,
        whole_groups: bool = True,
        replays_streams: bool = True,
        descriptions: Descriptions | None = None,
    ) -> None:
        """``whole_groups``: draw-state groups that only write registers write them at once.

        ``replays_streams``, with ``whole_groups``: streams that run again are not decoded again
        (cffpy.cp.decoded). Both apply only where no observer asks for each register write. Events
        are the same either way, except that writes are published as ``registers_stored``.

        ``applies_memory_writes``: CP_MEM_WRITE changes the memory image. ``descriptions``: those
        that other walks use, too.

        The capture has commands as they were at the submit; those that a driver patches then run
        as patched. Otherwise the data of such a packet is run in place, as the reference does.
        """
        self._applies_memory_writes = applies_memory_writes
        self.takes_writes_at_once = whole_groups
        self._replays_streams = replays_streams
        #: Reads registers by name; replaced at each ``bound``.
        self.registers: RegisterReader
        self.generation = 0  # 2 for a2xx, ...; before the first ``bound``, 0
        self.executed = Executed.YES  # whether what runs now is
        #: The command stream that runs.
        self.current_stream: CommandStream
        open_markers = OpenMarkers()
        #: Texts of the debug markers that are open, outermost first.
        self.markers, self._nop = open_markers.texts, open_markers.nop
        #: What the command processor computes: values in registers and memory.
        self.computation: Computation
        self._afterwards: Callable[[], None] | None = None  # what to do after the current packet
        #: Registers that are written dword by dword; made at each ``bound``.
        self.ports: PortWrites
        self._conditions: Conditions
        self.condition: str | None = None  # the innermost in force now, as text
        #: Which pipe executes what runs now; None: the stream does not say it, or there is one.
        self.pipe: Pipe | None = None
        #: The registers of the pipes; made at each ``bound``.
        self.pipes: Pipes
        #: Of the blocks that run, ``executed`` and ``condition`` outside of each, and, where one of
        #: both pipes executes it alone, ``pipe`` and whose registers the machine had.
        self._blocks: list[tuple[Executed, str | None, Pipe | None, PipeRegisters | None]] = []
        self._frames: list[Frame] = []
        self._entry: StreamEntry | None = None  # of the innermost of them
        #: Depth -> what the stream that begins there is: kind, group.
        self._kinds: dict[int, tuple[str, int | None]] = {}
        self._stores: GpuStores
        self._programs: BoundPrograms
        self._is_alternative = False
        self._actions = self._last_submit = self._deep_stream = -1
        self._handlers: list[tuple[Callable[[Payload], None], ...]] = []
        #: Opcodes with handlers; by opcode, whether none is needed while ``skips_packets`` is True.
        self._handled, self._skippable = frozenset[int](), [False] * 128
        self._skips: Callable[[], bool] | None = None
        self._watched: dict[int, Callable[[], None]] = {}
        self._watched_range = 0, 0  # from the first of them to the one after the last
        self._descriptions = descriptions or Descriptions()
        self._observers: tuple[Observer, ...] = ()
        self.observe()

    # -- observers --------------------------------------------------------------------------

    def observe(self, *observers: Observer) -> None:
        """Publish to these observers from now on, and to no others. Between captures only."""
        self._observers = tuple(sorted(observers, key=lambda observer: not observer.is_tracker))
        self._on_bound = self._heard_by("bound")
        self._on_stream = self._heard_by("stream_begins")
        self._on_finished = self._heard_by("finished")
        self._on_write = self._heard_by("registers_written")
        self._on_stored = self._heard_by("registers_stored")
        self._on_unknown = self._heard_by("registers_unknown")
        self._on_memory = self._heard_by("memory_written")
        self._on_event = self._heard_by("event")
        self._on_action = self._heard_by("action")
        self._on_indirect_buffer = self._heard_by("indirect_buffer")
        self._on_missing = self._heard_by("commands_missing")
        self._on_group_missing = self._heard_by("draw_state_group_missing")
        self._on_damaged = self._heard_by("commands_damaged")
        self._on_block = self._heard_by("conditional_block")
        self._on_pipe = self._heard_by("pipe_changes")
        self._on_group = self._heard_by("draw_state_group")
        self._log = self._only_log()
        self._logged_listeners = self._heard_by("action", but=self._log)  # of draws of the log
        #: Whether some observer takes no ``registers_stored`` in place of ``registers_written``.
        self._needs_each_write = len(self._on_stored) < len(self._on_write)
        self.decodes_streams_once = self._replays_streams and not self._needs_each_write
        self.observes_stored_registers = bool(self._on_stored or self._on_group)
        self._last_submit = -1

    def _heard_by(self, event: str, but: Observer | None = None) -> _Callbacks:
        """The methods of observers, other than ``but``, that override an event."""
        ignored = getattr(Observer, event)
        return tuple(
            getattr(observer, event)
            for observer in self._observers
            if getattr(type(observer), event) is not ignored and observer is not but
        )

    def _only_log(self) -> Observer | None:
        """The observer whose ``stored_log`` is used: the only one of registers that are stored."""
        logs = [
            observer
            for observer in self._observers
            if type(observer).stored_log is not Observer.stored_log
        ]
        others = self._on_group or [
            observer for observer in self._observers if observer.skippable_packets()
        ]
        return logs[0] if len(logs) == len(self._on_stored) == 1 and not others else None

    def watch(self, register: int, callback: Callable[[], None]) -> None:
        """Call ``callback`` when a packet that is executed writes the register.

        Until the next ``bound``; one callback a register. The value is not stored yet. A packet of
        type 0 or 4 calls it after ``registers_written``; a packet with an opcode, after its
        handlers and before ``registers_written``.
        """
        self._watched[register] = callback
        first, behind = self._watched_range
        self._watched_range = min(first or register, register), max(behind, register + 1)

    # -- running ----------------------------------------------------------------------------

    def run(
        self,
        content: Content,
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
    ) -> list[Damage]:
        """Run a capture; its damage. ``gpu``: decode for this GPU, instead of that of the file.

        Raises UnsupportedGpu where the generation is unknown.
        """
        session = self.open_session(complain, register_db, gpu)
        try:
            return self.run_session(session, content)
        finally:
            self.end_session(session)

    def open_session(
        self,
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
    ) -> Session:
        """A session for ``run_session``: for captures that run one after another."""
        shared = self._descriptions.of(register_db)
        return Session(self, warn=complain, gpu=gpu, descriptions=shared)

    def run_session(
        self,
        session: Session,
        content: Content,
        skips: Callable[[str], bool] = is_compositor,
    ) -> list[Damage]:
        """Run a capture on a session of ``open_session``; its damage.

        ``skips``: as for ``Session.run``.
        """
        try:
            damage = session.run(content, skips)
        except StopWalk as stop:
            session.machine.problems.truncate(stop.limit, str(stop))
            damage = session.finish(content, [])
        for finished in self._on_finished:
            finished()
        content.note_truncated(session.machine.problems.truncated)  # by them, too
        return damage

    def end_session(self, session: Session) -> None:
        """No capture runs on it any more: without cycles of objects, all is freed at once."""
        self.observe()
        self._watched.clear()
        self._handlers, self._skips = [], None
        for name in (
            "computation",
            "_conditions",
            "_stores",
            "ports",
            "pipes",
        ):  # they refer to this walk
            self.__dict__.pop(name, None)
        session.machine.release()

    def disassemblers(self, register_db: str | None) -> Disassemblers:
        """Those of an edition, which all observers share."""
        return self._descriptions.of(register_db).disassemblers

    # -- state for observers ----------------------------------------------------------------

    @property
    def problems(self) -> list[str]:
        """Damaged or omitted parts of the streams, as text."""
        return self.machine.problems.lines

    @property
    def level(self) -> int:
        """Nesting of IBs and draw-state groups: 0 in a command stream itself."""
        return self.machine.state.ib_level

    @property
    def runs_packets(self) -> bool:
        """Whether a stream runs: False where a submit's own commands are missing."""
        return bool(self.machine.streams)

    @property
    def packet_location(self) -> PacketLocation:
        """Location of the packet with an opcode that runs now, or ran last in this stream."""
        return self._frame().packet()

    def location(self, words: Words, index: int) -> PacketLocation:
        """Location of the packet whose header is at ``index``, in the stream that runs."""
        return PacketLocation(self._frame().stream, words, index)

    # -- Sink: captures ---------------------------------------------------------------------

    def bind(self, gpu: Gpu, database: Database) -> None:
        """Look up the generation's names, and collect the handlers of packets."""
        self.generation = gpu.generation
        reader = self.registers = RegisterReader(self.machine)
        self.computation = Computation(
            self.machine,
            self._registers_unknown,
            lambda: self.packet_location,
            lambda: self._actions + 1,
            lambda order: self._stores.since(order),
            self._applies_memory_writes,
        )
        memory, disassemblers = self.computation.memory, self.disassemblers(None)
        self._stores = GpuStores(self.machine, reader, memory, disassemblers)
        self._renew_pipes()
        self._conditions = Conditions(self.machine, self.computation, self.pipes)
        self._programs = BoundPrograms(self.machine, reader)
        self.ports = PortWrites(self.machine)
        self._watched, self._watched_range = self.ports.watched(), self.ports.span
        for bound in self._on_bound:
            bound(gpu, database)
        tables = [
            self._own_handlers(),
            *(observer.packet_handlers() for observer in self._observers),
        ]
        names = [name or f"{opcode:#x}" for opcode, name in enumerate(self.machine.packet_names)]
        self._handlers = [tuple(table[name] for table in tables if name in table) for name in names]
        self._handled = frozenset(
            opcode for opcode, handler in enumerate(self._handlers) if handler
        )
        kept = [
            table.keys() - observer.skippable_packets()
            for observer, table in zip(self._observers, tables[1:], strict=True)
        ]
        needed = set(tables[0]).union(*kept)
        self._skippable = [name not in needed for name in names]
        skipping = [
            observer.skips_packets for observer in self._observers if observer.skippable_packets()
        ]
        self._skips = skipping[0] if len(skipping) == 1 else None

    def _renew_pipes(self) -> None:
        if "pipes" in self.__dict__:
            self.pipes.select("BR")
        self.pipes, self.pipe = Pipes(self.machine), None

    def _own_handlers(self) -> dict[str, Callable[[Payload], None]]:
        return {
            "CP_NOP": self._nop,
            "CP_REG_TEST": self._register_test,
            "CP_REG_RMW": self._register_modified,
            "CP_SET_MARKER": self._marker,
            "CP_THREAD_CONTROL": self._thread_control,
            "CP_IM_LOAD_IMMEDIATE": self._programs.load,
            "CP_DRAW_PRED_ENABLE_GLOBAL": partial(self._predicated_draws, "GLOBAL"),
            "CP_DRAW_PRED_ENABLE_LOCAL": partial(self._predicated_draws, "LOCAL"),
            "CP_DRAW_INDX_BIN": self._draw_with_visibility,
            **self.computation.handlers(),
        }

    def submit(self, submit: CommandStream) -> None:
        self.current_stream = submit
        self._frames.clear()
        self._entry = None
        self._kinds.clear()
        self._blocks.clear()
        self.executed, self.condition = Executed.YES, None
        is_new, self._last_submit = submit.submit != self._last_submit, submit.submit
        self.computation.is_uncertain = False
        self.computation.end_uncertain()
        if is_new:
            self.computation.new_submit()
            self._stores.new_submit()
        for stream_begins in self._on_stream:
            stream_begins(submit, is_new)

    # -- Sink: packets ----------------------------------------------------------------------

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        """A packet writes registers, which the machine then stores."""
        end = register + len(values)
        first, behind = self._watched_range
        is_watched = register < behind and end > first
        if (is_watched or self._on_write) and self.executed is not Executed.NO:
            location, ndwords = self.location(words, index), len(values) + 1
            if is_watched and not self.ports.offsets.isdisjoint(range(register, end)):
                self.ports.publish(register, values, location, ndwords, self._on_write)
            else:
                for written in self._on_write:
                    written(range(register, end), location, ndwords)
            for watched, callback in self._watched.items():
                if register <= watched < end:
                    callback()
        return NOTHING

    def register(self, register: int, value: int, level: int) -> None:
        """A packet with an opcode writes a register."""
        if self.executed is Executed.NO:
            return
        callback = self._watched.get(register)
        if callback is not None:
            callback()
        if register in self.ports.offsets:
            self.ports.publish(register, [value], self.packet_location, 1, self._on_write)
            return
        for written in self._on_write:
            written(range(register, register + 1), self.packet_location, 1)

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        """CP_REG_RMW is a write, too."""
        self.register(register, bits, level)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode: remember where it is, and call its handlers."""
        frame = self._frames[-1] if self.machine.streams[-1] is self._entry else self._frame()
        frame.words = payload.words
        frame.index = payload.index - 1
        frame.location = None
        if self.executed is not Executed.NO:
            for handler in self._handlers[opcode]:
                handler(payload)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        """Correct what the machine has computed in a simpler way."""
        if self._afterwards is not None:
            afterwards, self._afterwards = self._afterwards, None
            afterwards()

    def event(self, name: str | None, level: int) -> None:
        """An event. On a5xx BLIT moves pixels, though the dump does not number it."""
        if self.executed is not Executed.NO:
            self.computation.forget_event(name, self.registers.address)
            for event in self._on_event:
                event(name)
        if name == "BLIT" and self.machine.gpu.facts.has_uncounted_blits:
            facts = PacketFacts("resolve", "CP_EVENT_WRITE", f"EVENT:{name}")
            self._act(facts, False, self._on_action)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        """A draw, dispatch, blit or resolve."""
        facts = draw.kept
        if not isinstance(facts, PacketFacts):
            facts = draw.kept = facts_of(self.machine, draw, payload)
        if facts.indirect:
            facts = self._now(facts, payload)
        self._act(facts, draw.counted, self._on_action)

    def draw_logged(self, draw: Draw, payload: Payload, level: int) -> None:
        """The same, with its registers in the log."""
        facts = draw.kept
        if not isinstance(facts, PacketFacts):
            facts = draw.kept = facts_of(self.machine, draw, payload)
        if facts.indirect:
            facts = self._now(facts, payload)
        self._act(facts, draw.counted, self._logged_listeners)

    def _now(self, facts: PacketFacts, payload: Payload) -> PacketFacts:
        """The facts of an indirect draw or dispatch, with what packets have stored since."""
        if not self.computation.memory:
            return facts
        return with_memory(facts, self.machine, self.computation, payload)

    # -- Sink: streams ----------------------------------------------------------------------

    def conditional_block(
        self, name: str, payload: Payload, ndwords: int, level: int
    ) -> BlockOutcome:
        """Run the block as the GPU would; where that is unknown, as if it were executed."""
        if len(self._blocks) >= _MAX_BLOCKS:
            self._too_deep()
            return INLINE
        if name == "CP_COND_REG_EXEC":
            condition = self._conditions.register_exec(payload)
        else:
            condition = self._conditions.memory_exec(payload)
        if self._on_block:
            end = payload.words.address + 4 * (payload.index + payload.count + ndwords)
            block = ConditionalBlock(self.packet_location, ndwords, end, condition, self.executed)
            for begins in self._on_block:
                begins(block)
        outside = None if condition.pipe is None else self.pipes.registers
        self._blocks.append((self.executed, self.condition, self.pipe, outside))
        if condition.pipe is not None:
            self._select(condition.pipe, condition.pipe)
        self.executed = condition.executed.within(self.executed)
        self.condition = condition.reason
        self._follow_certainty()
        self._kinds[len(self.machine.streams)] = "block", None
        return DISCARDED if condition.executed is Executed.NO else LIVE

    def _too_deep(self) -> None:
        if self._deep_stream != self.current_stream.number:  # once a stream: the outermost of them
            self._deep_stream, at = self.current_stream.number, self.packet_location.gpuaddr
            text = f"conditions at {at:#x} are nested too deeply: inner ones are not followed"
            self.machine.problems.truncate("", text)

    def conditional_block_done(self) -> None:
        self.executed, self.condition, pipe, registers = self._blocks.pop()
        self._follow_certainty()
        if registers is not None:
            self._select(pipe, registers)

    def _follow_certainty(self) -> None:
        """Have ``computation`` know whether what runs is sure to be executed."""
        is_uncertain = self.computation.is_uncertain = self.executed is Executed.UNKNOWN
        if is_uncertain:
            self.computation.begin_uncertain()
        elif self.executed is Executed.YES:  # what is not executed runs on a copy
            self.computation.end_uncertain()

    def alternative_block(self, begins: bool) -> None:
        """What is executed instead of a block; the dump does not number its draws."""
        self._is_alternative = begins
        if begins:
            self._kinds[len(self.machine.streams)] = "block", None

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        for called in self._on_indirect_buffer:
            called(gpuaddr, self.executed)
        self._kinds[len(self.machine.streams)] = "IB", None
        return True

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        self._publish(self._on_missing, gpuaddr)

    def no_command_stream(self) -> None:
        """The commands of a submit were not captured."""
        if self.generation:  # else observers have not heard of the submit: no GPU was known
            self._publish(self._on_missing, self.current_stream.gpuaddr)

    def missing_group(self, gpuaddr: int) -> None:
        """The commands of a draw-state group were not captured."""
        self._publish(self._on_group_missing, gpuaddr)

    def refused(self, gpuaddr: int, reason: str) -> None:
        """Commands are not run, because of a limit."""
        self._publish(self._on_missing, gpuaddr)

    def overrun(self, dwords: int) -> None:
        """The last packet of a stream goes beyond its end."""
        self._publish(self._on_damaged, f"a packet goes {dwords} dwords past its stream's end")

    def bad_header(self, word: int) -> None:
        """A dword where a packet should begin is no header."""
        self._publish(self._on_damaged, f"no packet header: {word:08x}")

    def _publish(self, callbacks: _Callbacks, of_event: int | str) -> None:
        """Publish what happens to commands, if they are executed."""
        if self.executed is not Executed.NO:
            for callback in callbacks:
                callback(of_event)

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        """Commands within a packet. Those that are written to memory run there."""
        if name == "CP_MEM_WRITE":
            if self.executed is not Executed.NO:
                self._write_memory(stream, payload)
            if self._applies_memory_writes:
                return False
        self._kinds[len(self.machine.streams)] = name, None
        return True

    def numbered_stream(self, name: str, number: int, level: int) -> None:
        """A block of commands of a bin or of a draw."""
        self._kinds[len(self.machine.streams)] = f"{name} {number}", None

    def each_pipe(self, load: Callable[[], None]) -> None:
        """Both pipes load groups, and each has others, or is in another render mode."""
        if self.executed is Executed.NO:
            load()
            return
        both = self.pipe
        each: tuple[PipeRegisters, PipeRegisters] = "BR", "BV"
        for pipe in each:
            self._select("unknown" if both == "unknown" else pipe, pipe)
            load()
        self._select(both, "both")

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        """A draw-state group is loaded, or skipped."""
        self._kinds[len(self.machine.streams)] = "group", group.group_id

    def group_stream(self, words: Words, index: int, ndwords: int, level: int) -> None:
        """The commands of a draw-state group begin."""
        for begins in self._on_group:
            begins(words.address + 4 * index)

    def ignores_packet(self, opcode: int) -> bool:
        """Whether no observer has a handler for it."""
        return opcode not in self._handled

    def may_skip_packet(self, opcode: int) -> bool:
        """Whether all handlers that there are for it may be left out."""
        return self._skippable[opcode]

    def skips_packets(self) -> bool:
        """Whether the observer with handlers that may be left out does without them now."""
        return self._skips is not None and self._skips()

    def ignores_writes(self, registers: Iterable[int]) -> bool:
        """Whether no observer asks for each write of these registers."""
        return not self._needs_each_write and self._watched.keys().isdisjoint(registers)

    def group_writes(self, registers: Mapping[int, int]) -> bool:
        """A draw-state group only writes registers: at once, unless an observer asks for them."""
        return self.executed is Executed.NO or self.ignores_group_writes(registers)

    def ignores_group_writes(self, registers: Mapping[int, int]) -> bool:
        """Whether no observer asks for each write of them, and they load no port."""
        if self._needs_each_write:
            return False
        watched = self._watched.keys()
        if watched.isdisjoint(registers):  # of most groups
            return True
        return self.ports.may_store(watched & registers.keys(), registers)

    def registers_stored(self, stored: StoredRegisters) -> None:
        """Registers were stored at once."""
        if self._on_group and stored.words is not None:
            for begins in self._on_group:
                for _, words, index, _ in stored.groups:
                    begins(words.address + 4 * index)
        if self._on_stored and self.executed is not Executed.NO:
            frame = self._frames[-1] if self.machine.streams[-1] is self._entry else self._frame()
            caller = frame.packet() if stored.words is None else None
            for written in self._on_stored:
                written(stored, frame.stream, caller)

    def stored_log(self) -> list[StoredRegisters] | None:
        """That of the observer, for steps that are executed."""
        if self._log is None or self.executed is Executed.NO:
            return None
        frame = self._frames[-1] if self.machine.streams[-1] is self._entry else self._frame()
        return self._log.stored_log(frame.stream)

    def _write_memory(self, stream: NestedStream, data: Payload) -> None:
        gpuaddr = stream.gpuaddr
        if data.count <= 0 or gpuaddr is None:
            return
        if self._applies_memory_writes and self.machine.is_64bit:
            before = self.machine.image.write(gpuaddr, data.words.bytes(data.index, data.count))
            if before is None:
                text = f"the buffer at {gpuaddr:#x} is too large to be changed by CP_MEM_WRITE"
                self.machine.problems.truncate("", text)
            else:
                for written in self._on_memory:
                    written(gpuaddr, data, before)
        self.computation.stored(gpuaddr, data)

    def _registers_unknown(self, register: int, count: int) -> None:
        if self._on_unknown and self.executed is not Executed.NO:
            for unknown in self._on_unknown:
                unknown(range(register, register + count), self.packet_location)

    def _frame(self) -> Frame:
        """The stream that runs now, after entering and leaving streams as the machine has."""
        active, frames = self.machine.streams, self._frames
        if active[-1] is self._entry:
            return frames[-1]
        while frames and (
            len(frames) > len(active) or frames[-1].entry is not active[len(frames) - 1]
        ):
            left = frames.pop()
            if left.stream.kind == "block":  # its packets belong to the stream around it, too
                outer = frames[-1]
                outer.words, outer.index, outer.location = left.words, left.index, None
        while len(frames) < len(active):
            self._enter(active[len(frames)])
        self._entry = frames[-1].entry
        return frames[-1]

    def _enter(self, entry: StreamEntry) -> None:
        words, index, ndwords = entry
        depth = len(self._frames)
        kind, group_id = self._kinds.get(depth, ("submit", None))
        caller = self._frames[-1].packet() if depth else None
        gpuaddr = words.address + 4 * index
        stream = ExecutedStream(kind, self.current_stream, gpuaddr, ndwords, caller, group_id)
        if caller is not None and kind == "block":
            words, index = caller._words, caller._index
        self._frames.append(Frame(entry, stream, words, index))

    def _marker(self, payload: Payload) -> None:
        self._conditions.marker(payload)
        self.pipes.marker(payload)

    def _thread_control(self, payload: Payload) -> None:
        registers = thread_of(self.machine, payload)
        if registers is None:
            return
        is_sure = self.executed is Executed.YES
        if not is_sure and self.pipe == registers:
            return
        self._select(registers if is_sure else "unknown", registers)

    def _select(self, pipe: Pipe | None, registers: PipeRegisters) -> None:
        """What follows is executed by this pipe, and reads and writes these registers."""
        if registers != self.pipes.registers or pipe != self.pipe:
            for changes in self._on_pipe:
                changes(registers)
            self.computation.end_uncertain()
            self.pipes.select(registers)
            self._conditions.select(registers)
            if self.computation.is_uncertain:
                self.computation.begin_uncertain()
        self.pipe = self.pipes.pipe = pipe

    def _register_modified(self, payload: Payload) -> None:
        self._afterwards = self.computation.modified(payload)

    def _register_test(self, payload: Payload) -> None:
        self._conditions.register_test(payload, self.executed)

    def _predicated_draws(self, scope: str, payload: Payload) -> None:
        self._conditions.predicate_draws(scope, payload, self.executed)

    def _draw_with_visibility(self, payload: Payload) -> None:
        self._act(facts_of_draw(self.machine, "CP_DRAW_INDX_BIN", payload), False, self._on_action)

    def _act(self, facts: PacketFacts, is_counted: bool, callbacks: _Callbacks) -> None:
        """Publish an action. ``is_counted``: the dump numbers it, unless it is an alternative."""
        kind, executed, condition = facts.kind, self.executed, self.condition
        if self._conditions.predicates_draws and kind == "draw" and executed is Executed.YES:
            executed, condition = Executed.UNKNOWN, "CP_DRAW_PRED_*"
        self._actions += 1
        state = self.machine.state
        frame = self._frames[-1] if self.machine.streams[-1] is self._entry else self._frame()
        programs = self._programs.of(kind)
        if self.computation.memory and executed.is_possible:
            self._stores.action(kind, programs, self._actions)
        action = CLASSES[kind](
            facts,
            order=self._actions,
            dump_draw=state.draw_count if is_counted and not self._is_alternative else None,
            execution=executed,
            condition=condition,
            pipe=self.pipe,
            level=state.ib_level,
            programs=programs,
            place=frame.packet(),
        )
        for act in callbacks:
            act(action)
