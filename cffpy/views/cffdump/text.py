# SPDX-License-Identifier: MIT
"""CffdumpSink: prints a capture as the reference does.

cffdump: dump_commands and the print parts of the packet handlers (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.capture.memory import MemoryImage, Words
from cffpy.container.section_types import SectionType
from cffpy.cp.sink import EACH_REGISTER, NOTHING, WRITE_DONE, Draw, NestedStream, WriteOutcome
from cffpy.cp.state import ALL_MODES, CpState, DrawStateGroup
from cffpy.editions.record import edition_record
from cffpy.pm4.reader import Payload
from cffpy.views.cffdump.details import DETAILS, NESTED, cp_nop, set_constant, show_draw
from cffpy.views.cffdump.hexdump import hex_rows
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.output import CHUNKS, Output, argument_text
from cffpy.views.cffdump.packets import PacketTable
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import RegisterTable, WriteTable, follow_ups, is_always_called
from cffpy.views.cffdump.summary import Summary
from cffpy.views.cffdump.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream, Identity, Text
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.registers import FollowUp


#: Groups whose text is kept, at most.
_HEADS_LIMIT = 1 << 13

_RULE = "############################################################\n"


class DumpedPlaces:
    """The indirect buffers that were shown, with the modes in which each was.

    cffdump: has_dumped (mesa 25.0.7), for ``--once`` and the comparing query.
    """

    def __init__(self) -> None:
        self._modes: dict[tuple[int, int], int] = {}
        self._drops = 0

    @property
    def places(self) -> list[tuple[tuple[int, int], int]]:
        """Buffer and address of each, with the modes."""
        return sorted(self._modes.items())

    def add(self, image: MemoryImage, gpuaddr: int, modes: int) -> bool:
        """Record that an IB is shown in ``modes`` (bits); whether it was in all before.

        Records are dropped with the memory. An address that was not captured is never recorded.
        """
        if self._drops != image.drops:
            self._drops = image.drops
            self._modes.clear()
        buffer = image.find(gpuaddr)
        if buffer is None:
            return False
        key = (buffer.gpuaddr, gpuaddr)
        before = self._modes.get(key, 0)
        self._modes[key] = before | modes
        return before & modes == modes


class CffdumpSink(View):
    """The text view: prints what the machine reports."""

    def __init__(
        self,
        options: DumpOptions,
        output: Output,
        complain: Callable[[str], None],
        register_db: str | None = None,
    ) -> None:
        """As for ``View``."""
        super().__init__(options, output, complain, register_db)
        self.wants_packet_start = options.draw is not None
        self.keeps_groups_after_draws = options.query_compare
        self.runs_streams_once = options.once or options.query_compare
        #: Whether a SkippingSink may stand for it: all its registers are silent where not shown.
        self.can_skip = False
        self._registers: RegisterTable
        self._summary: Summary | None = None
        #: The follow-up of the register that was written last: function, value, level.
        self._follow_up: tuple[FollowUp, int, int] | None = None
        self._dumped = DumpedPlaces()
        self._group_hex: dict[tuple[Words, int, int, int], str] = {}
        self._group_drops = 0
        #: What is shown of a group besides its commands, by all that it says.
        self._group_heads: dict[tuple[int, ...], str] = {}

    # -- files and GPUs ---------------------------------------------------------------------

    def start_file(self) -> None:
        """cffdump: cffdec_init: what a file's start and its first accepted GPU id reset."""
        if self._summary is not None:
            self._summary.start_file()
        self.complain.start_file()

    def bind(self, gpu: Gpu, database: Database) -> None:
        """cffdump: init_rnn: query names are resolved."""
        super().bind(gpu, database)
        self._group_heads.clear()
        rows = self.edition.follow_ups.get(gpu.generation, ())
        shown = follow_ups(rows, self.machine.names, database)
        self._registers = RegisterTable(self, shown)
        self.can_skip = not any(is_always_called(follow_up) for follow_up in shown.values())
        names = self.machine.packet_labels
        self._packets = PacketTable(names, self._fields, self.palette)
        self._details = [DETAILS.get(name or "") for name in self.machine.packet_names]
        self._writes = WriteTable(self._registers)
        self._summary = Summary(self, self._registers)
        for query, register in zip(self.options.query, self._summary.queried, strict=True):
            self.put(f"querystr: {argument_text(query)} -> 0x{register:x}\n")

    @property
    def unknown_queries(self) -> list[str]:
        """The queried names that no register of the current generation has."""
        if self._summary is None:
            return []
        queries = zip(self.options.query, self._summary.queried, strict=True)
        unknown = (name for name, register in queries if not register and not name[:1].isdigit())
        return list(dict.fromkeys(unknown))

    def last_values(self) -> Mapping[int, int]:
        """Register -> its value at the last summary of this file; 0 for registers not in it."""
        return {} if self._summary is None else self._summary.last_values

    def text(self, record: Text) -> None:
        if record.type == SectionType.TEST:
            if not self.quiet1:
                self.put(f"test: {record.text}\n")
        elif self.quiet2:
            return
        elif record.type == SectionType.CMD:
            self.put(f"cmd: {record.text}\n")
        else:
            stage = "vertex" if record.type == SectionType.VERT_SHADER else "fragment"
            self.put(f"{stage} shader:\n{record.text}\n")

    def identity(self, record: Identity) -> None:
        if not self.quiet2:
            if record.chip_id is not None:
                self.put(f"chip_id: 0x{record.chip_id:x}\n")
            elif record.gpu_id:
                self.put(f"gpu_id: {signed32(record.gpu_id)}\n")

    def command_stream(self, record: CommandStream, skipped: bool) -> bool:
        if not self._is_wanted(record):
            return False
        if not self.quiet2:
            dwords = signed32(record.ndwords)
            self.put(f"{_RULE}cmdstream[{record.number}]: {dwords} dwords\n")
        return not skipped

    def submit(self, submit: CommandStream) -> None:
        self._renew_segment_key()

    def command_stream_done(self, record: CommandStream) -> None:
        if self._is_wanted(record) and not self.quiet2:
            # cffdump: handle_file prints a counter that is always 0 (mesa 25.0.7)
            self.put(f"{_RULE}vertices: 0\n")

    def _is_wanted(self, record: CommandStream) -> bool:
        """Whether --start and --end include a stream."""
        return self.options.start <= record.number <= self.options.end

    def problem(self, line: str) -> None:
        self.complain(line)

    def follows_ambles(self, database: Database) -> bool:
        """As the edition's cffdump does."""
        return "CP_SET_AMBLE" in edition_record(database.directory).followed

    # -- packets ----------------------------------------------------------------------------

    def packet_start(self, state: CpState) -> None:
        self.output.flush_if_full()
        if state.draw_count != self._sampled_draw:
            self._sampled_draw = state.draw_count
            self._update_quiet()

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self.output.flush_if_full()
        if not self.quiet2:
            text = self._packets.text(opcode, payload.words, payload.index, payload.count, level)
            self.put(text)
        detail = self._details[opcode]
        if detail is not None:
            detail(self, payload, level + 1)

    def packet_done(self, opcode: int, payload: Payload, level: int) -> None:
        if not self.quiet2:
            header, count = payload.index - 1, payload.count + 1
            self.put(self.rows(payload.words, header, count, level, self.is_64bit))

    def type2(self, level: int) -> None:
        if not self.quiet3:
            self.put(f"{LEVELS[level]}nop\n")

    def no_command_stream(self) -> None:
        self.put("NULL cmd buffer!\n")

    def bad_header(self, word: int) -> None:
        self.put(f"bad type! {word:08x}\n")

    def overrun(self, dwords: int) -> None:
        self.put(f"**** this ain't right!! dwords_left=-{dwords}\n")

    def refused(self, gpuaddr: int, reason: str) -> None:
        self.complain(f"commands at {gpuaddr:016x} {reason}: not decoded")

    # -- registers --------------------------------------------------------------------------

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        if self.output.mark() > CHUNKS:
            self.output.flush_if_full()
        writes = self._writes
        count = len(values)
        run = writes.ranges.get((register, count)) or writes.run(register, count)
        complains = self.machine.state.needs_wfi and not run.is_banked and not self.quiet2
        if self.quiet3:
            if complains and (run.is_silent or run.is_whole):
                self.put(writes.complaints(run))
            if run.is_silent:
                return NOTHING
        elif run.is_whole:
            text = writes.text(run, values, level, complains)
            if run.follow_up is None:
                row = self.rows(words, index, count + 1, level, self.is_64bit)
                self.put(text + row)
                return NOTHING
            self.put(text)
        else:
            self.put(writes.head(register, level))
        if not run.is_whole:
            return EACH_REGISTER
        if run.follow_up is not None:
            self._follow_up = run.follow_up, run.last_value(values), level + 1
        return WRITE_DONE

    def write_done(self, words: Words, index: int, ndwords: int, level: int) -> None:
        if self._follow_up is not None:  # waited for the registers to be stored
            follow_up, value, register_level = self._follow_up
            self._follow_up = None
            follow_up(self, value, register_level)
        if not self.quiet3:
            self.put(self.rows(words, index, ndwords, level, self.is_64bit))

    def begin_registers(self, always_shown: bool = False) -> None:
        self._registers.begin()
        if always_shown:
            self.show_all(True)

    def end_registers(self) -> None:
        self.show_all(False)

    def register(self, register: int, value: int, level: int) -> None:
        complete = self._registers.push(register, value)
        if complete is not None:
            self._registers.show(*complete, level)

    def write_without_wfi(self, register: int) -> None:
        if not self.quiet2:
            self.put(self._writes.complaint(register))

    def register_sum(self, register: int, addend: int, source: int, level: int) -> None:
        names = self._registers
        value = self.machine.state.value(source)
        self.put(
            f"{LEVELS[level]}{names.entry(register).name} = {addend:08x} + "
            f"{names.entry(source).name} ({value:08x})\n"
        )

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        line = f"rmw ({self._registers.entry(register).name} & 0x{mask:08x}) | 0x{bits:08x})\n"
        if not self.quiet3:
            self.put(LEVELS[level] + line)
        if self.machine.state.needs_wfi and not self.quiet2:
            self.put("NEEDS WFI: " + line)

    def set_constant(self, kind: int, index: int, payload: Payload, level: int) -> None:
        set_constant(self, kind, index, payload, level)

    # -- what a SkippingSink needs ------------------------------------------------------------

    def skips_write(self, register: int, count: int) -> bool:
        """Whether nothing but text follows from a write of registers."""
        run = self._writes.ranges.get((register, count)) or self._writes.run(register, count)
        return run.is_silent

    def skip_packet(self, opcode: int, payload: Payload, level: int) -> None:
        """Change what printing a packet would change."""
        self._packets.select(opcode, payload.words, payload.index, payload.count)
        if self._details[opcode] is cp_nop:  # counts markers
            cp_nop(self, payload, level + 1)

    def skip_draw(self) -> None:
        """Keep the values that a draw's summary would show."""
        assert self._summary is not None
        self._summary.skip_registers()

    def state(self) -> tuple[object, ...]:
        """What the text of the following commands depends on, besides the machine's state."""
        return (
            sorted((register, value) for register, value in self.last_values().items() if value),
            self.gpuaddr_lo,
            self.decoder.variants_key,
            self.marker_depth,
            self.complain.lines,
            self._dumped.places,
        )

    # -- draws ------------------------------------------------------------------------------

    def event(self, name: str | None, level: int) -> None:
        if not self.quiet2:
            self.put(f"{LEVELS[level]}event {name or '(null)'}\n")

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        assert self._summary is not None
        show_draw(self, self._summary, draw, payload, level)

    # -- nested streams ---------------------------------------------------------------------

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        if not self.quiet3:
            tabs = LEVELS[level]
            digits = 16 if self.is_64bit else 8
            self.put(f"{tabs}ibaddr:{gpuaddr:0{digits}x}\n{tabs}ibsize:{ndwords:08x}\n")
        machine, seen = self.machine, self._dumped.add
        if self.options.once and seen(machine.image, gpuaddr, machine.state.enable_mask):
            return False
        return not (self.options.query_compare and seen(machine.image, gpuaddr, ALL_MODES))

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        self.complain(f"could not find: {gpuaddr:016x} ({signed32(ndwords)})")

    def numbered_stream(self, name: str, number: int, level: int) -> None:
        if not self.quiet3:
            self.put(f"{LEVELS[level]}{name} {number}\n")

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        return NESTED[name](self, stream, payload, level)

    def nested_stream_done(
        self, name: str, words: Words, index: int, ndwords: int, level: int
    ) -> None:
        self.hex(words, index, ndwords, level)

    # -- draw-state groups ------------------------------------------------------------------

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        if self.quiet2:
            return
        key = (
            group.gpuaddr,
            group.ndwords,
            group.group_id,
            group.enable_mask,
            group.flags,
            loaded,
            level,
        )
        text = self._group_heads.get(key)
        if text is None:
            if len(self._group_heads) >= _HEADS_LIMIT:
                self._group_heads.clear()
            text = self._group_heads[key] = self._group_head(group, loaded, LEVELS[level])
        self.put(text)

    def _group_head(self, group: DrawStateGroup, loaded: bool, tabs: str) -> str:
        text = (
            f"{tabs}group_id: {group.group_id}\n{tabs}count: {group.ndwords}\n"
            f"{tabs}addr: {group.gpuaddr:016x}\n{tabs}flags: {group.flags:x}\n"
        )
        if self.machine.gpu.facts.groups_have_modes:
            text += f"{tabs}enable_mask: 0x{group.enable_mask:x}\n"
            if not loaded:
                text += f"{tabs}\tskipped!\n\n"
        return text

    def group_stream(self, words: Words, index: int, ndwords: int, level: int) -> None:
        if self.quiet2:
            return
        if self._group_drops != self.machine.image.drops:
            self._group_drops = self.machine.image.drops
            self._group_hex.clear()
        key = (words, index, ndwords, level)
        text = self._group_hex.get(key)
        if text is None:
            text = self._group_hex[key] = hex_rows(words, index, ndwords, level, self.is_64bit)
        self.put(text)

    def groups_within_groups(self) -> None:
        self.put("ERROR: nothing in draw state should trigger recursively loading groups!\n")
