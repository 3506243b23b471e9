# SPDX-License-Identifier: MIT
"""Text of registers, of the packets that write them, and of what certain registers show besides.

``RegisterTable`` has an entry for each register, which keeps its values' text. Two dwords are
joined to 64 bits. cffdump: regacc_push, dump_register_val, dump_register (mesa 25.0.7).

``WriteTable`` has the text of whole register-write packets: the line ``write NAME (offset)`` and
the registers' lines. Most writes of a capture are to the same few runs of registers. Facts about
each run are kept. A run in which a register before the last one shows more than its value is
printed register by register instead.

``follow_ups`` has what is shown after certain registers: scratch registers, memory, shaders,
descriptors. cffdump: the functions reg_* (mesa 25.0.7, 25.3). Which registers these are, the tables
reg_a2xx to reg_a8xx, is part of an edition's record (``cffpy.editions.record``). Names that an
edition of the register database does not have are ignored.
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.capture.gpu import PROGRAM_ADDRESS_MASK
from cffpy.cp.machine import BANKED
from cffpy.editions import record
from cffpy.views.cffdump.descriptors import dump_samplers, dump_textures
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.shaders import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cffpy.capture.memory import MemoryLocation
    from cffpy.editions.record import FollowUpRow
    from cffpy.regdb.database import Database
    from cffpy.regdb.decode import Decoder, ValueText
    from cffpy.views.cffdump.view import View

    #: Called with (view, value, level) after the register's line.
    FollowUp = Callable[["View", int, int], None]

    #: Shows a number of descriptors at a place, at a level.
    Show = Callable[[View, MemoryLocation, int, int], None]

    #: Makes a follow-up of a register: its name, its offset, as for ``follow_ups``.
    Maker = Callable[[str, int, Database, Database], FollowUp]

#: Last parts of the name of an upper half.
_UPPER = ("high", "plus")

#: Enough for any level.
LEVEL_BITS = 6

#: Values whose lines are kept at most, of all registers: a hostile stream may write any number.
_LINES_LIMIT = 1 << 17


class FixedFollowUp:
    """A follow-up whose text depends on the value, the level and memory only."""

    __slots__ = ("_show",)

    def __init__(self, show: FollowUp) -> None:
        self._show = show

    def __call__(self, view: View, value: int, level: int) -> None:
        """Print what follows a register of this value."""
        self._show(view, value, level)


class RegisterEntry:
    """One register of the current database, and its texts."""

    __slots__ = (
        "follow_up",
        "is_address",
        "is_fixed",
        "is_low",
        "name",
        "other_half",
        "plain",
        "register",
        "summaries",
        "text",
        "values",
        "wide",
    )

    def __init__(self, register: int, name: str, text: ValueText, wide: bool) -> None:
        self.register = register
        #: Coloured name.
        self.name = name
        #: Text of a value, without name.
        self.text = text
        #: True for either dword of a 64-bit register.
        self.wide = wide
        #: True for the lower dword of a 64-bit register.
        self.is_low = False
        self.is_address = False
        #: a5xx: +1 for a _LO register whose _HI follows, -1 for that _HI; else 0.
        self.other_half = 0
        self.follow_up: FollowUp | None = None
        #: What follows depends on the value and on memory only.
        self.is_fixed = False
        #: Its line up to the value, if the value is eight hex digits and nothing follows it; else
        #: "". Such values are mostly constants of shaders: few come again, so none is kept.
        self.plain = ""
        #: Value -> line after the tabs, with newline.
        self.values: dict[int, str] = {}
        #: Value and level (in the lowest LEVEL_BITS) -> line of a summary after its marks.
        self.summaries: dict[int, str] = {}

    def forget(self) -> None:
        """Drop the texts of all values."""
        self.values.clear()
        self.summaries.clear()


class RegisterTable:
    """The registers of the current database that were used, and the pending half of a pair."""

    def __init__(
        self, view: View, follow_ups: Mapping[int, FollowUp], decoder: Decoder | None = None
    ) -> None:
        """``follow_ups``: register offset -> what is shown after its line.

        ``decoder``: of registers that are not in the GPU's own space; none holds an address.
        """
        self._view = view
        self._decoder = decoder or view.decoder
        self._generation = 0 if decoder is not None else view.generation
        self._image = view.machine.image
        self._read = view.machine.read_register
        self._warn = view.put
        self._follow_ups = follow_ups
        #: Register offset -> entry, of all that were used.
        self.entries: dict[int, RegisterEntry] = {}
        self._kept = 0
        self._addresses: list[RegisterEntry] = []
        self._epoch = -1
        self._low_half: RegisterEntry | None = None
        self._low_value = 0

    def begin(self) -> None:
        """A run of registers begins: no half is pending."""
        self._low_half = None

    def push(self, register: int, value: int) -> tuple[RegisterEntry, int] | None:
        """Take a dword. Returns the register and its value when it is complete."""
        low = self._low_half
        if low is not None:
            self._low_half = None
            if register == low.register + 1:
                return low, self._low_value | value << 32
            self._warn(
                f"WARNING: 64b discontinuity ({register:x}, expected {low.register + 1:x})\n"
            )
            return low, self._low_value
        entry = self.entries.get(register) or self.entry(register)
        if entry.wide:
            if _ends_with(self._plain_name(register), "_HI"):
                self._warn(f"WARNING: 64b discontinuity (no _LO dword for {register:x})\n")
            else:
                self._low_half, self._low_value = entry, value
                return None
        return entry, value

    def entry(self, register: int) -> RegisterEntry:
        """The entry of a register, made when it is first asked for."""
        entry = self.entries.get(register)
        if entry is None:
            entry = self.entries[register] = self._make(register)
        return entry

    def type_name(self, register: int) -> str | None:
        """The name of the register's type; None for a register that is not known."""
        element = self._decoder.register(register)
        return None if element is None or element.type is None else str(element.type[1])

    def line(self, entry: RegisterEntry, value: int) -> str:
        """``NAME: VALUE``, the location of an address, and a newline."""
        if entry.is_address:
            self.refresh()
        elif entry.other_half:
            return self._half_line(entry, value)
        elif entry.plain:
            return f"{entry.plain}{value:08x}\n"
        line = entry.values.get(value)
        if line is None:
            line = f"{entry.name}: {entry.text(value)}"
            line += f"{self._location(value)}\n" if entry.is_address else "\n"
            self._keep(entry, value, line)
        return line

    def show(self, entry: RegisterEntry, value: int, level: int) -> None:
        """Print the line, then what follows this register. cffdump: dump_register"""
        view = self._view
        if not view.quiet3:
            view.put(LEVELS[level] + self.line(entry, value))
        if entry.follow_up is not None:
            entry.follow_up(view, value, level)

    def summary(self, entry: RegisterEntry, value: int, level: int) -> str:
        """A register's line in a summary, after its marks."""
        text = f"{value:08x}{LEVELS[level]}{self.line(entry, value)}"
        if not (entry.other_half or entry.plain):
            entry.summaries[value << LEVEL_BITS | level] = text
        return text

    def _keep(self, entry: RegisterEntry, value: int, line: str) -> None:
        self._kept += 1
        if self._kept > _LINES_LIMIT:
            self._kept = 1
            for known in self.entries.values():
                known.forget()
        entry.values[value] = line

    def refresh(self) -> None:
        """Forget the locations of addresses if memory has changed."""
        if self._epoch != self._image.epoch:
            self._epoch = self._image.epoch
            for known in self._addresses:
                known.forget()

    def _half_line(self, entry: RegisterEntry, value: int) -> str:
        """A half of an a5xx address: the other half is the register's last written value."""
        text = entry.values.get(value)
        if text is None:
            text = f"{entry.name}: {entry.text(value)}"
            self._keep(entry, value, text)
        other = self._read(entry.register + entry.other_half)
        gpuaddr = value | other << 32 if entry.other_half > 0 else value << 32 | other
        return f"{text}{self._location(gpuaddr & 0xFFFFFFFFFFFFFFFF)}\n"

    def _location(self, gpuaddr: int) -> str:
        buffer = self._image.find(gpuaddr)
        if buffer is None:
            return ""
        offset = gpuaddr - buffer.gpuaddr
        # cffdump: dump_register_val looks the base up once more, and address 0 is in no buffer
        # (mesa 25.0.7)
        size = buffer.size if buffer.gpuaddr else 0
        return f"\t\tbase={buffer.gpuaddr:x}, offset={offset}, size={size}"

    def _make(self, register: int) -> RegisterEntry:
        decoder = self._decoder
        element = decoder.register(register)
        name = decoder.register_name(register)
        if element is None or element.type is None:
            wide = element is not None and element.dwords == 2
            entry = RegisterEntry(register, name, "{:08x}".format, wide)
            if not wide and register not in self._follow_ups:
                entry.plain = f"{name}: "
        else:
            text = decoder.formatter(element.type).text
            entry = RegisterEntry(register, name, text, element.dwords == 2)
            if self._generation >= 6:
                entry.is_address = element.type[1] in ("address", "waddress")
                if entry.is_address:
                    self._addresses.append(entry)
            elif self._generation == 5:
                entry.other_half = self._other_half(register, element.name)
        entry.follow_up = self._follow_ups.get(register)
        entry.is_fixed = isinstance(entry.follow_up, FixedFollowUp)
        entry.is_low = (
            entry.wide
            and element is not None
            and element.parts[-1][0] not in _UPPER
            and not _ends_with(element.name, "_HI")
        )
        return entry

    def _other_half(self, register: int, name: str) -> int:
        if _ends_with(name, "_HI") and _ends_with(self._plain_name(register - 1), "_LO"):
            return -1
        if _ends_with(name, "_LO") and _ends_with(self._plain_name(register + 1), "_HI"):
            return 1
        return 0

    def _plain_name(self, register: int) -> str | None:
        element = self._decoder.register(register)
        return None if element is None else element.name


def _ends_with(name: str | None, suffix: str) -> bool:
    # cffdump: endswith looks only at the suffix's first occurrence (mesa 25.0.7)
    return name is not None and name.find(suffix) == len(name) - len(suffix)


#: Dwords that are shown at an address.
_SHOWN_DWORDS = 64


def follow_ups(
    rows: Sequence[FollowUpRow], names: Database, database: Database
) -> dict[int, FollowUp]:
    """Register offset -> what follows its line, for one generation.

    ``rows``: of the edition's record. ``names``: Machine.names, which has the names in the rows.
    ``database``: of the edition.
    """
    table: dict[int, FollowUp] = {}
    for name, what in rows:
        offset = names.register_offset(name)
        if offset and offset not in table:
            table[offset] = _MAKERS[what](name, offset, names, database)
    return table


def _scratch(_name: str, _offset: int, names: Database, _database: Database) -> FollowUp:
    """cffdump: reg_dump_scratch: scratch registers 4 to 7, whichever was written."""
    first = names.register_offset("CP_SCRATCH[0].REG")
    first = first or names.register_offset("CP_SCRATCH_REG0")
    four = a, b, c, d = range(first + 4, first + 8)

    def dump_scratch(view: View, value: int, level: int) -> None:
        if view.quiet3:
            return
        machine, output, tabs = view.machine, view.output, LEVELS[level]
        if output.recording is not None:
            output.add_hole(tabs, four, machine.wrote)
        get = machine.state.registers.get
        view.put(f"{tabs}:{get(a, 0)},{get(b, 0)},{get(c, 0)},{get(d, 0)}\n")

    return dump_scratch


def dump_address(view: View, value: int, level: int) -> None:
    """cffdump: reg_dump_gpuaddr, reg_dump_gpuaddr64: memory at the address."""
    view.address_hex(value, level, _SHOWN_DWORDS, view.quiet3)


def latch_low_half(view: View, value: int, level: int) -> None:
    """cffdump: reg_gpuaddr_lo: one latch for all a5xx addresses, never cleared."""
    view.latch(value)


def dump_address_5xx(view: View, value: int, level: int) -> None:
    """cffdump: reg_dump_gpuaddr_hi."""
    dump_address(view, view.gpuaddr_lo | value << 32, level)


def _shader(name: str, offset: int, database: Database) -> FollowUp:
    """cffdump: disasm_gpuaddr: the register's name decides about the file of --dump-shaders.

    Registers that later releases call SP_VS_BASE have none.
    """
    stage = name.removeprefix("SP_")[:2]
    is_object = "_OBJ" in name and database.register_offset(name) == offset
    extension = EXTENSIONS.get(stage) if is_object else None

    def dump_shader(view: View, value: int, level: int) -> None:
        if not view.quiet3:
            view.shaders.at_address(value & PROGRAM_ADDRESS_MASK, level, extension)

    return dump_shader


def _program(name: str, offset: int, _names: Database, database: Database) -> FollowUp:
    return FixedFollowUp(_shader(name, offset, database))


def _program_5xx(name: str, offset: int, _names: Database, database: Database) -> FollowUp:
    dump_shader = _shader(name, offset, database)
    return lambda view, value, level: dump_shader(view, view.gpuaddr_lo | value << 32, level)


def _descriptors_5xx(show: Show) -> Maker:
    """cffdump: reg_dump_tex_const_hi, reg_dump_tex_samp_hi: in summaries only."""

    def make(name: str, _offset: int, names: Database, _database: Database) -> FollowUp:
        count_register = names.register_offset(f"{name.rpartition('_TEX_')[0]}_TEX_COUNT")

        def dump(view: View, value: int, level: int) -> None:
            if view.in_summary:
                count = signed32(view.machine.state.value(count_register))
                place = view.machine.image.place(view.gpuaddr_lo | value << 32)
                if place is not None:
                    show(view, place, count, level + 1)

        return dump

    return make


class CountedFollowUp:
    """A follow-up that shows descriptors, as many as a register says, even without its line."""

    __slots__ = ("_count_register", "_show")

    def __init__(self, count_register: int, show: Show) -> None:
        self._count_register = count_register
        self._show = show

    def __call__(self, view: View, value: int, level: int) -> None:
        """Show them, if ``value`` is the address of captured memory."""
        count = signed32(view.machine.read_register(self._count_register))
        place = view.machine.image.place(value)
        if place is not None:
            self._show(view, place, count, level + 1)


def _descriptors(show: Show, counter: str) -> Maker:
    """cffdump: reg_dump_texmemobj64, reg_dump_sampler64, reg_dump_uav64 (mesa 25.3).

    The name of the register that counts is made of five letters, so that of SP_GFX_UAV_BASE does
    not exist, and stands for register 0.
    """

    def make(name: str, _offset: int, names: Database, _database: Database) -> FollowUp:
        return CountedFollowUp(names.register_offset(f"{name[:5]}_{counter}"), show)

    return make


def is_always_called(follow_up: FollowUp | None) -> bool:
    """Whether a follow-up has an effect even where registers are not shown."""
    return follow_up is latch_low_half or isinstance(follow_up, CountedFollowUp)


_MAKERS: dict[str, Maker] = {
    record.SCRATCH: _scratch,
    record.MEMORY: lambda *_: FixedFollowUp(dump_address),
    record.PROGRAM: _program,
    record.LOW_HALF: lambda *_: latch_low_half,
    record.MEMORY_5XX: lambda *_: dump_address_5xx,
    record.PROGRAM_5XX: _program_5xx,
    record.TEXTURES_5XX: _descriptors_5xx(dump_textures),
    record.SAMPLERS_5XX: _descriptors_5xx(dump_samplers),
    record.TEXTURES: _descriptors(dump_textures, "TSIZE"),
    record.SAMPLERS: _descriptors(dump_samplers, "TSIZE"),
    record.STORAGE: _descriptors(dump_textures, "USIZE"),
}

#: Registers of runs, kept at most.
_REGISTERS_LIMIT = 1 << 18


class RegisterRange:
    """``count`` registers from ``register`` on, as a packet writes them."""

    __slots__ = (
        "complaints",
        "count",
        "follow_up",
        "formats",
        "is_banked",
        "is_silent",
        "is_whole",
        "only",
        "openings",
        "parts",
        "plain",
        "register",
    )

    def __init__(self, register: int, count: int, registers: RegisterTable) -> None:
        self.register = register
        self.count = count
        self.is_banked = register >= BANKED.start and register + count <= BANKED.stop
        #: The registers, and how many dwords each takes.
        self.parts: list[tuple[RegisterEntry, int]] = []
        #: No register needs more than its value: a follow-up (of any but the last one), another
        #: register's value, or, of an upper half, the lower one. Others are printed one by one.
        self.is_whole = count > 0
        #: Nothing happens where registers are not shown: no latch, no single halves.
        self.is_silent = count > 0
        position = 0
        while position < count:
            entry = registers.entry(register + position)
            is_upper = entry.wide and not entry.is_low
            dwords = 2 if entry.wide else 1
            position += dwords
            self.parts.append((entry, dwords))
            if is_upper or entry.other_half or (entry.follow_up and position != count):
                self.is_whole = False
            if is_upper or is_always_called(entry.follow_up):
                self.is_silent = False
        last = self.parts[-1][0] if self.parts else None
        #: What follows the last register.
        self.follow_up: FollowUp | None = None if last is None else last.follow_up
        #: The only register, if all is one line. A lone lower half has none.
        self.only = last if len(self.parts) == 1 and position == count else None
        #: The text before its value, by level and whether there are complaints.
        self.openings: dict[tuple[int, bool], str] = {}
        #: All its registers are ``RegisterEntry.plain``. Its text as a format of the values, by
        #: the same.
        self.plain = _are_plain(self.parts)
        self.formats: dict[tuple[int, bool], str] = {}
        self.complaints: str | None = None

    def last_value(self, values: list[int]) -> int:
        """The value of the run's last register, of one dword or two."""
        is_wide = self.parts[-1][1] == 2
        return values[-2] | values[-1] << 32 if is_wide else values[-1]


def _are_plain(parts: list[tuple[RegisterEntry, int]]) -> bool:
    return all(entry.plain for entry, _ in parts)


class WriteTable:
    """Texts of register-write packets, in the current database."""

    def __init__(self, registers: RegisterTable) -> None:
        self._registers = registers
        #: First register and number of registers -> the range, for ranges that were used.
        self.ranges: dict[tuple[int, int], RegisterRange] = {}
        self._kept = 0

    def run(self, register: int, count: int) -> RegisterRange:
        """The facts about a run of registers."""
        run = self.ranges.get((register, count))
        if run is None:
            self._kept += count
            if self._kept > _REGISTERS_LIMIT:
                self.ranges.clear()
                self._kept = count
            run = self.ranges[register, count] = RegisterRange(register, count, self._registers)
        return run

    def head(self, register: int, level: int) -> str:
        """The line ``write NAME (offset)``."""
        return f"{LEVELS[level]}write {self._registers.entry(register).name} ({register:04x})\n"

    def complaint(self, register: int) -> str:
        """The complaint about a register that is written without a wait for idle."""
        return f"NEEDS WFI: {self._registers.entry(register).name} ({register:x})\n"

    def complaints(self, run: RegisterRange) -> str:
        """The complaints about a run that is written without a wait for idle."""
        if run.complaints is None:
            run.complaints = self._complaints(run.register, run.count)
        return run.complaints

    def text(self, run: RegisterRange, values: list[int], level: int, complains: bool) -> str:
        """The whole text of a run that ``is_whole``, but for what follows the last register.

        ``complains``: registers lack a wait for idle now.
        """
        if run.plain:
            return (run.formats.get((level, complains)) or self._format(run, level, complains)) % (
                *values,
            )
        entry = run.only
        if entry is not None:
            opening = run.openings.get((level, complains)) or self._opening(run, level, complains)
            value = values[0] | values[1] << 32 if entry.wide else values[0]
            line = entry.values.get(value)
            if line is None or entry.is_address:
                line = self._registers.line(entry, value)
            return opening + line
        return "".join(self._lines(run, values, level, complains))

    def _complaints(self, register: int, count: int) -> str:
        written = range(register, register + count)
        return "".join([self.complaint(number) for number in written if number not in BANKED])

    def _opening(self, run: RegisterRange, level: int, complains: bool) -> str:
        complaints = self.complaints(run) if complains else ""
        opening = f"{self.head(run.register, level)}{complaints}{LEVELS[level + 1]}"
        run.openings[level, complains] = opening
        return opening

    def _format(self, run: RegisterRange, level: int, complains: bool) -> str:
        """The text of a plain run, with ``%08x`` in place of each value."""
        zeros = "".join(self._lines(run, [0] * run.count, level, complains)).replace("%", "%%")
        text = run.formats[level, complains] = zeros.replace(": 00000000\n", ": %08x\n")
        return text

    def _lines(
        self, run: RegisterRange, values: list[int], level: int, complains: bool
    ) -> Iterator[str]:
        tabs = LEVELS[level + 1]
        yield self.head(run.register, level)
        position = 0
        for entry, dwords in run.parts:
            left = run.count - position
            if complains:
                yield self._complaints(run.register + position, min(dwords, left))
            if dwords > left:
                return  # a lone lower half at a packet's end prints nothing
            value = values[position]
            if dwords == 2:
                value |= values[position + 1] << 32
            yield tabs + self._registers.line(entry, value)
            position += dwords
