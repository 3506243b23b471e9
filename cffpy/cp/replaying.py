# SPDX-License-Identifier: MIT
"""ReplayingRunner: the runner of analyses, which store many registers at once.

For sinks that take writes at once (``Sink.takes_writes_at_once``). Of a draw-state group that only
writes registers, these are stored without running it (cffpy.cp.stored); packets of it that
the sink could skip are passed on where it does not skip them. A stream that runs again is not
decoded again (cffpy.cp.decoded).
"""

from __future__ import annotations

from functools import partial

from cffpy.cp.decoded import DecodedStreams, Draws, KeptStreams, Passes, Runs, Stores
from cffpy.cp.runner import Runner
from cffpy.cp.state import GROUP_COUNT, CpState, DrawStateGroup
from cffpy.cp.stored import RegisterRuns, Step, StoredGroup, StoredParts
from cffpy.pm4.reader import REGISTERS, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.cp.runner import PacketWrites, Row
    from cffpy.cp.sink import Draw, Sink
    from cffpy.cp.stored import StoredRegisters
    from cffpy.pm4.reader import Packets
    from cffpy.regdb.database import Database

    #: What is written before a packet, its opcode, and the packet.
    _Passed = tuple[dict[int, int], int, Payload]

#: Draws of one opcode that are kept by their dwords.
MAX_DRAWS = 1 << 12

#: The shortest draw packet that the reference reads nothing behind.
_DRAW_DWORDS = 3


def _no_writes(_packets: Packets, _payload: Payload) -> Sequence[tuple[int, int]]:
    """Of a packet without a handler."""
    return ()


def _not_bound(_opcode: int, _payload: Payload) -> None:
    """Of a machine that has run nothing."""


def _read_writes(
    readers: Sequence[PacketWrites | None], packets: Packets, opcode: int, payload: Payload
) -> Sequence[tuple[int, int]] | None:
    writes = readers[opcode]
    return None if writes is None else writes(packets, payload)


class ReplayingRunner(Runner):
    """Runs command streams for a sink that takes writes at once; without segments."""

    def __init__(
        self,
        sink: Sink,
        image: MemoryImage,
        table: Mapping[str, Row],
        state: CpState | None = None,
    ) -> None:
        """The parameters are ``Runner``'s."""
        super().__init__(sink, image, table, state, segments=False)
        #: Registers of groups that need not run.
        self.register_runs = RegisterRuns(self.headers, self._writes_of)
        #: The same while the sink skips packets.
        self.short_runs = RegisterRuns(self.headers, self._writes_of_skipped)
        kept = sink.kept_streams
        self._kept_streams = kept if isinstance(kept, KeptStreams) else None
        #: Streams that run again.
        self.decoded = DecodedStreams(
            self,
            sink,
            self.register_runs,
            self.short_runs,
            self._writes_of,
            self._draw_of,
            self._kept_streams,
        )
        self._observes_stored = False
        #: Of each opcode, what reads the writes of a packet that does nothing else.
        self._writes: list[PacketWrites | None] = []
        #: Of each opcode whose packets with equal dwords are the same draw: dwords -> that draw.
        self._equal_draws: list[dict[bytes, Draw] | None] = []
        #: How many draws were decoded because none before was equal.
        self.draws_decoded = 0

    def bind(self, gpu: Gpu, database: Database, names: Database | None = None) -> None:
        """Decode for this GPU from now on; see ``Machine``."""
        super().bind(gpu, database, names)
        self.register_runs.forget()
        self.short_runs.forget()
        self._decodes_once = self.sink.decodes_streams_once
        self._observes_stored = self.sink.observes_stored_registers
        self._writes = [
            _no_writes if handler is None else None if once is None else once.writes
            for (handler, *_), once in zip(self._handlers, self._once, strict=True)
        ]
        self.decoded.bind(self._once)
        self._equal_draws = [
            {} if once is not None and once.equal_draws else None for once in self._once
        ]

    def release(self) -> None:
        """Forget the sink. What wrote registers can still be asked."""
        sink = self.sink
        self.register_runs.release(self._reader_of_writes(sink.ignores_packet))
        self.short_runs.release(self._reader_of_writes(sink.may_skip_packet))
        self.decoded.release()
        self._equal_draws.clear()
        if self._kept_streams is not None:
            self._kept_streams.end_walk()
        super().release()

    def _run_steps(self, words: Words, index: int, ndwords: int, level: int) -> int:
        """Run the steps of a stream that ran before, as far as they go.

        Returns the index of the first packet that has not run.
        """
        state, image = self.state, self.image
        registers, epoch = state.registers, image.epoch
        reached = index
        observed = self._observes_stored
        log, is_asked = None, False
        for step in self.decoded.steps(words, index, ndwords):
            if observed and not is_asked and not isinstance(step, Runs):
                log, is_asked = self.sink.stored_log(), True
            if isinstance(step, Stores):
                registers.update(step.registers)
                if log is not None:
                    log.append(step)
                elif observed:
                    self.sink.registers_stored(step)
            elif not isinstance(step, Draws) or not self._run_draw(words, step, level, log):
                log, is_asked = None, False
                reached = self._run_step(words, step, level)
                registers = state.registers  # a sink may have put others there
                if reached != step.following or image.epoch != epoch:
                    break
            reached = step.following
        return reached

    def _run_step(self, words: Words, step: Step, level: int) -> int:
        """Run the packets of a step as ever. Returns the index of the packet after them."""
        if isinstance(step, Passes):
            self.sink.packet_stored(step.opcode, step.payload, level)
            return step.following
        if isinstance(step, Runs):
            payload = step.payload
            nested = self._run_opcode(step.opcode, payload, level)
            return payload.index + payload.count + nested
        ndwords = step.following - step.start
        return step.following - self._run_packets(words, step.start, ndwords, level)

    def _run_draw(
        self, words: Words, step: Draws, level: int, log: list[StoredRegisters] | None
    ) -> bool:
        """Run a draw with the groups that are set for it; False if it has to be decoded.

        ``log``: the sink's log, which takes what is stored.
        """
        state = self.state
        runs = self._runs_now()
        if step.runs is not runs:
            step.use(runs)
        if step.is_decoded or state.loading_groups or state.pipes_differ:
            return False
        if state.groups.count(None) != GROUP_COUNT:
            return False
        if step.enable_mask != state.enable_mask and not self._collect(step):
            return False
        if step.loaded and not self.nesting.take(
            len(self.streams) - self.blocks, len(step.loaded), step.group_dwords
        ):
            return False
        sink, payload = self.sink, step.payload
        if log is None or step.passing:
            self._store(words, step, level)
            sink.packet(step.opcode, payload, level)
            sink.draw(step.draw, payload, level + 1)
        else:
            state.registers.update(step.registers)
            log.append(step.stored or self.decoded.stored(words, step))
            sink.packet(step.opcode, payload, level)
            sink.draw_logged(step.draw, payload, level + 1)
        if step.draw.counted:
            state.finish_draw()
        sink.packet_done(step.opcode, payload, level + 1)
        return True

    def _collect(self, step: Draws) -> bool:
        """Have the registers of the groups that a draw loads in this mode; False if they do more.

        They are joined if the sink observes them.
        """
        if not self.decoded.collect(step, self.state.enable_mask, self._groups_have_modes):
            return False
        if step.parts and not step.passing and self._observes_stored:
            self.decoded.merge(step)
        return True

    def _store(self, words: Words, step: Draws, level: int) -> None:
        """Store the registers of a draw and of its groups."""
        if step.passing:
            self._store_apart(words, step, level)
            return
        registers = self.state.registers
        registers.update(step.registers)
        for part in step.parts:
            registers.update(part)
        if self._observes_stored:
            self.sink.registers_stored(step.stored or self.decoded.stored(words, step))

    def _store_apart(self, words: Words, step: Draws, level: int) -> None:
        """The same where packets of groups are passed on, one group after the other."""
        sink, runs, registers = self.sink, self.register_runs, self.state.registers
        parts, end = [step.written, *step.parts], step.payload.index - 1
        stored = StoredParts(parts, runs, step.loaded, words, step.start, end)
        registers.update(step.written)
        _, last = stored.last_opcode()  # which has set a group: they are loaded after it
        _, opcode, size = self.headers[words.data[last]]
        sink.packet_stored(opcode, Payload(words, last + 1, size - 1), level)
        for part, loaded, group in zip(step.parts, step.loaded, step.passing, strict=True):
            if group is not None:
                sink.group(group, True, level + 1)
                self._pass_packets(*loaded[1:])
            registers.update(part)
        if self._observes_stored:
            sink.registers_stored(stored)

    def _run_opcode(self, opcode: int, payload: Payload, level: int) -> int:
        """Run a packet with an opcode; of draws with equal packets only the first is decoded."""
        known = self._equal_draws[opcode]
        if known is None:
            return super()._run_opcode(opcode, payload, level)
        sink = self.sink
        self.load_groups(level + 1)
        sink.packet(opcode, payload, level)
        draw = self._draw_of(opcode, payload)
        sink.draw(draw, payload, level + 1)
        if draw.counted:
            self.state.finish_draw()
        sink.packet_done(opcode, payload, level + 1)
        return 0

    def _draw_of(self, opcode: int, payload: Payload) -> Draw:
        """The draw of a packet that ``DecodesOnce.draw`` decodes."""
        known, words = self._equal_draws[opcode], payload.words
        key = None
        # of a shorter packet, what follows it is read, too
        end = payload.index + payload.count
        if known is not None and payload.count >= _DRAW_DWORDS and end <= words.count:
            key = words.data[payload.index : end].tobytes()
            if key in known:
                return known[key]
        once = self._once[opcode]
        assert once is not None
        assert once.draw is not None
        draw = once.draw(self, payload)
        self.draws_decoded += 1
        if known is not None and key is not None:
            if len(known) >= MAX_DRAWS:
                known.clear()
            known[key] = draw
        return draw

    def _runs_now(self) -> RegisterRuns:
        """The registers of groups, with or without packets that the sink skips."""
        return self.short_runs if self.sink.skips_packets() else self.register_runs

    def _writes_of(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]] | None:
        """(Register, value) of all that a packet does.

        None if it does anything else, or the sink has to see it.
        """
        return self._stored_writes(opcode, payload) if self.sink.ignores_packet(opcode) else None

    def packet_writes(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]] | None:
        """(Register, value) of all that a packet does; None if it does anything else."""
        return self._stored_writes(opcode, payload)

    def _writes_of_skipped(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]] | None:
        """The same while the sink skips packets."""
        return self._stored_writes(opcode, payload) if self.sink.may_skip_packet(opcode) else None

    def _stored_writes(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]] | None:
        writes = self._writes[opcode]
        return None if writes is None else writes(self.packets, payload)

    def _reader_of_writes(
        self, is_ignored: Callable[[int], bool]
    ) -> Callable[[int, Payload], Sequence[tuple[int, int]] | None]:
        """What reads the writes of packets that are ignored, when this machine has gone."""
        if not self._writes:  # it was never bound, so that nothing ran
            return _not_bound
        readers = [
            writes if is_ignored(opcode) else None for opcode, writes in enumerate(self._writes)
        ]
        return partial(_read_writes, readers, self.packets)

    def _write_group(self, words: Words, index: int, group: DrawStateGroup) -> bool:
        """Write the registers of a group without running it; False for one that has to run."""
        ndwords = group.ndwords
        runs = self._runs_now()
        registers = runs.of_group(words, index, ndwords)
        is_seen = registers is None and runs is not self.short_runs
        if is_seen:  # all but packets that the sink may skip, but does not now
            registers = self.short_runs.of_group(words, index, ndwords)
        if registers is None or not self.sink.group_writes(registers):
            return False
        refusal = self.nesting.refusal(self.streams, self.blocks, (words, index, ndwords), ndwords)
        if refusal is not None:
            self.refuse(words.address + index * 4, refusal)
            return True
        if is_seen:
            self._pass_packets(words, index, ndwords)
        self.state.registers.update(registers)
        if self._observes_stored:
            number = group.group_id
            self.sink.registers_stored(StoredGroup(registers, runs, number, words, index, ndwords))
        return True

    def _pass_packets(self, words: Words, index: int, ndwords: int) -> None:
        """Pass the packets of a group that the sink has handlers for; write the registers before.

        Handlers may read registers. All are stored after that, for all packets at once.
        """
        sink, registers = self.sink, self.state.registers
        level = self.state.ib_level = self.state.ib_level + 1
        self.streams.append((words, index, ndwords))
        for written, opcode, payload in list(self._read_passed(words, index, ndwords)):
            registers.update(written)
            sink.packet_stored(opcode, payload, level)
        self.streams.pop()
        self.state.ib_level -= 1

    def _read_passed(self, words: Words, index: int, ndwords: int) -> Iterator[_Passed]:
        """The packets of a group that are passed on, each with what is written before it."""
        runs = self.short_runs
        written: dict[int, int] = {}
        for at, size, kind, number in runs.packets(words, index, index + ndwords):
            if kind == REGISTERS:
                values = words.data[at + 1 : at + size].tolist()
                written.update(enumerate(values, number))
                continue
            payload = Payload(words, at + 1, size - 1)
            if not self.sink.ignores_packet(number):
                yield written, number, payload
                written = {}
            written.update(runs.writes(number, payload))
