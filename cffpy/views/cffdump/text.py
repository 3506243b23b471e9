# SPDX-License-Identifier: MIT
"""CffdumpSink: prints what the machine tells, as the reference does.

cffdump: dump_commands, printl, quiet and the print parts of the packet handlers (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.c_numbers import c_number, signed32
from cffpy.capture.memory import Words
from cffpy.container.rd import SectionType
from cffpy.cp.outcomes import EACH_REGISTER, NOTHING, WRITE_DONE, WriteOutcome
from cffpy.cp.sink import Draw, NestedStream, Payload, Sink
from cffpy.cp.state import ALL_MODES, CpState, DrawStateGroup
from cffpy.regdb.decode import Decoder
from cffpy.views.cffdump.a2xx import set_constant
from cffpy.views.cffdump.complaints import Complaints
from cffpy.views.cffdump.details import DETAILS, NESTED
from cffpy.views.cffdump.draws import show_draw
from cffpy.views.cffdump.dumped import DumpedPlaces
from cffpy.views.cffdump.fields import FieldTable
from cffpy.views.cffdump.followups import follow_ups
from cffpy.views.cffdump.hexdump import float_rows, hex_rows
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.output import Output, argument_text
from cffpy.views.cffdump.packets import PacketTable
from cffpy.views.cffdump.quirks import COLOURS, LEVELS, PLAIN, reference_fields, reference_half
from cffpy.views.cffdump.registers import RegisterEntry, RegisterTable
from cffpy.views.cffdump.segment_text import SegmentText
from cffpy.views.cffdump.shaders import ShaderText
from cffpy.views.cffdump.writes import WriteTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream, Identity, Text
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.registers import FollowUp


_RULE = "############################################################\n"


class CffdumpSink(Sink):
    """The text view. ``write`` takes bytes, ``complain`` a line for standard error."""

    uses_segments = True

    def __init__(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None = None,
    ) -> None:
        """``register_db``: directory of another edition, for its instruction sets."""
        self.options = options
        self.complain = Complaints(complain)
        self.output = Output(write)
        self.put = self.output.put
        self.put_large = self.output.put_large
        self.palette = COLOURS if options.color else PLAIN
        self.decoder: Decoder
        self.registers: RegisterTable
        self.shaders = ShaderText(self, register_db)
        self._fields: FieldTable
        self.generation = 0
        self.is_64bit = False
        self.wants_packet_start = options.draw is not None
        self.keeps_groups_after_draws = options.query_compare
        self.runs_streams_once = options.once or options.query_compare
        #: Registers that -q asks for.
        self.queried: list[int] = []
        #: Values at the last summary of this file.
        self.last_values: dict[int, int] = {}
        #: The a5xx address latch.
        self.gpuaddr_lo = 0
        self.marker_depth = 0
        self.in_summary = False
        self._sampled_draw = 0
        self._segment_keys: dict[tuple[object, ...], int] = {}
        #: What follows the register that was written last: function, value, level.
        self._follow_up: tuple[FollowUp, int, int] | None = None
        self._dumped = DumpedPlaces()
        self._group_hex: dict[tuple[Words, int, int, int], str] = {}
        self._group_drops = 0
        self._update_quiet()

    # -- files and GPUs ---------------------------------------------------------------------

    def start_file(self) -> None:
        """cffdump: cffdec_init: what a file's start and its first accepted GPU id reset."""
        self.last_values.clear()
        self.complain.start_file()

    def bind(self, gpu: Gpu, database: Database) -> None:
        """cffdump: init_rnn: a fresh database, so no current variants; query names are resolved."""
        self.generation = gpu.generation
        self.is_64bit = gpu.is_64bit
        self.decoder = Decoder(database, self.palette, reference_fields, reference_half)
        self.decoder.on_select = self._note_state
        self._fields = FieldTable(self.decoder)
        self.registers = RegisterTable(
            self.decoder,
            gpu.generation,
            self.machine.image,
            self.machine.read_register,
            follow_ups(self.decoder, gpu.generation),
            self.put,
        )
        names = self.machine.packet_names
        self._packets = PacketTable(names, self._fields, self.palette)
        self._details = [DETAILS.get(name or "") for name in names]
        self._writes = WriteTable(self.registers, self.machine.image)
        self.queried = []
        for query in self.options.query:
            register = c_number(query) & 0xFFFFFFFF or database.register_offset(query)
            self.queried.append(register)
            self.put(f"querystr: {argument_text(query)} -> 0x{register:x}\n")

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
            # cffdump: handle_file prints a counter of its own, which nothing counts (mesa 25.0.7)
            self.put(f"{_RULE}vertices: 0\n")

    def _is_wanted(self, record: CommandStream) -> bool:
        """Whether --start and --end include a stream."""
        return self.options.start <= record.number <= self.options.end

    def problem(self, line: str) -> None:
        self.complain(line)

    # -- output -----------------------------------------------------------------------------

    def _update_quiet(self) -> None:
        """cffdump: quiet: which levels are silent."""
        draw = self.options.draw
        hidden = draw is not None and draw != self._sampled_draw
        self.quiet1 = hidden
        self.quiet2 = hidden or bool(self.options.query)
        self.quiet3 = self.quiet2 or self.options.summary
        self._renew_segment_key()

    def show_all(self, shown: bool) -> None:
        """Show, within one packet, what --summary hides; or no longer."""
        self.quiet3 = self.quiet2 or (self.options.summary and not shown)

    def hex(self, words: Words, index: int, count: int, level: int) -> None:
        """cffdump: dump_hex. A count below 0 is unsigned there: all that follows in the buffer."""
        if not self.quiet2:
            self.put_large(hex_rows(words, index, count & 0xFFFFFFFF, level, self.is_64bit))

    def floats(self, words: Words, index: int, count: int, level: int) -> None:
        """cffdump: dump_float: at every level."""
        self.put_large(float_rows(words, index, count & 0xFFFFFFFF, level, self.is_64bit))

    def address_hex(self, gpuaddr: int, level: int, dwords: int, quiet: bool) -> None:
        """cffdump: dump_gpuaddr_size."""
        if quiet:
            return
        place = self.machine.image.place(gpuaddr)
        if place is not None:
            self.hex(*place, dwords, level + 1)

    def fields(self, domain: str, words: Words, index: int, count: int, level: int) -> None:
        """cffdump: dump_domain."""
        if not self.quiet2:
            left = min(count, words.count - index)
            self.put(self._fields.lines(domain, words.data, index, left, LEVELS[level])[0])

    # -- segments ---------------------------------------------------------------------------

    def _renew_segment_key(self) -> None:
        """What text depends on besides memory and registers has changed."""
        if self.options.dump_shaders or self.generation == 0:
            return  # each shader printed is a file of its own; or no file has begun
        state = (
            self.quiet2,
            self.gpuaddr_lo,
            self.decoder.variants_key,
            self.machine.image.epoch,
        )
        self.segment_key = self._segment_keys.setdefault(state, len(self._segment_keys))

    def segment_begin(self) -> int:
        return self.output.record((self.gpuaddr_lo, self.decoder.variants_key))

    def segment_mark(self) -> int:
        return self.output.mark()

    def segment_end(self, mark: int) -> tuple[object, int]:
        return self.output.recorded(mark)

    def segment_replay(self, payload: object) -> None:
        assert isinstance(payload, SegmentText)
        self.output.replay(payload, self.machine.state.registers)
        if payload.exit_state != (self.gpuaddr_lo, self.decoder.variants_key):
            self.gpuaddr_lo, variants_key = payload.exit_state
            self.decoder.restore(variants_key)
            self._renew_segment_key()

    def latch(self, value: int) -> None:
        """Set the a5xx address latch."""
        self.gpuaddr_lo = value
        self._note_state()

    def _note_state(self) -> None:
        """The address latch or the current variants have changed."""
        self.output.state_changed((self.gpuaddr_lo, self.decoder.variants_key))
        self._renew_segment_key()

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
            self.put(hex_rows(payload.words, header, count, level, self.is_64bit))

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
        self.output.flush_if_full()
        writes = self._writes
        run = writes.run(register, len(values))
        complains = self.machine.state.needs_wfi and not run.is_banked and not self.quiet2
        if self.quiet3:
            if complains and (run.is_silent or run.is_whole):
                self.put(writes.complaints(run))
            if run.is_silent:
                return NOTHING
        elif run.is_whole:
            text = writes.text(run, values, level, complains)
            if run.follow_up is None:
                row = hex_rows(words, index, len(values) + 1, level, self.is_64bit)
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
            self.put(hex_rows(words, index, ndwords, level, self.is_64bit))

    def begin_registers(self, always_shown: bool = False) -> None:
        self.registers.begin()
        if always_shown:
            self.show_all(True)

    def end_registers(self) -> None:
        self.show_all(False)

    def register(self, register: int, value: int, level: int) -> None:
        complete = self.registers.push(register, value)
        if complete is not None:
            self.show_register(*complete, level)

    def show_register(self, entry: RegisterEntry, value: int, level: int) -> None:
        """cffdump: dump_register: the line, then what follows this register."""
        if not self.quiet3:
            self.put(LEVELS[level] + self.registers.line(entry, value))
        if entry.follow_up is not None:
            entry.follow_up(self, value, level)

    def write_without_wfi(self, register: int) -> None:
        if not self.quiet2:
            self.put(self._writes.complaint(register))

    def register_sum(self, register: int, addend: int, source: int, level: int) -> None:
        names = self.registers
        value = self.machine.state.value(source)
        self.put(
            f"{LEVELS[level]}{names.entry(register).name} = {addend:08x} + "
            f"{names.entry(source).name} ({value:08x})\n"
        )

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        line = f"rmw ({self.registers.entry(register).name} & 0x{mask:08x}) | 0x{bits:08x})\n"
        if not self.quiet3:
            self.put(LEVELS[level] + line)
        if self.machine.state.needs_wfi and not self.quiet2:
            self.put("NEEDS WFI: " + line)

    def set_constant(self, kind: int, index: int, payload: Payload, level: int) -> None:
        set_constant(self, kind, index, payload, level)

    # -- draws ------------------------------------------------------------------------------

    def event(self, name: str | None, level: int) -> None:
        if not self.quiet2:
            self.put(f"{LEVELS[level]}event {name or '(null)'}\n")

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        show_draw(self, draw, payload, level)

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
        tabs = LEVELS[level]
        text = (
            f"{tabs}group_id: {group.group_id}\n{tabs}count: {group.ndwords}\n"
            f"{tabs}addr: {group.gpuaddr:016x}\n{tabs}flags: {group.flags:x}\n"
        )
        if self.machine.gpu.facts.groups_have_modes:
            text += f"{tabs}enable_mask: 0x{group.enable_mask:x}\n"
            if not loaded:
                text += f"{tabs}\tskipped!\n\n"
        self.put(text)

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
