# SPDX-License-Identifier: MIT
"""Text of registers: one entry a register, its values' text kept; two dwords joined to 64 bits.

cffdump: regacc_push, dump_register_val, dump_register (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.regdb.decode import Decoder, ValueText
    from cffpy.views.cffdump.view import View

    #: Called with (view, value, level) after the register's line.
    FollowUp = Callable[["View", int, int], None]

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
        """Show it."""
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
        """Drop all texts."""
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
        """The register's entry."""
        entry = self.entries.get(register)
        if entry is None:
            entry = self.entries[register] = self._make(register)
        return entry

    def type_name(self, register: int) -> str | None:
        """The name of the register's type; None for a register that is not known."""
        found = self._decoder.register(register)
        return None if found is None or found.type is None else str(found.type[1])

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
        found = decoder.register(register)
        name = decoder.register_name(register)
        if found is None or found.type is None:
            wide = found is not None and found.dwords == 2
            entry = RegisterEntry(register, name, "{:08x}".format, wide)
            if not wide and register not in self._follow_ups:
                entry.plain = f"{name}: "
        else:
            text = decoder.formatter(found.type).text
            entry = RegisterEntry(register, name, text, found.dwords == 2)
            if self._generation >= 6:
                entry.is_address = found.type[1] in ("address", "waddress")
                if entry.is_address:
                    self._addresses.append(entry)
            elif self._generation == 5:
                entry.other_half = self._other_half(register, found.name)
        entry.follow_up = self._follow_ups.get(register)
        entry.is_fixed = isinstance(entry.follow_up, FixedFollowUp)
        entry.is_low = (
            entry.wide
            and found is not None
            and found.parts[-1][0] not in _UPPER
            and not _ends_with(found.name, "_HI")
        )
        return entry

    def _other_half(self, register: int, name: str) -> int:
        if _ends_with(name, "_HI") and _ends_with(self._plain_name(register - 1), "_LO"):
            return -1
        if _ends_with(name, "_LO") and _ends_with(self._plain_name(register + 1), "_HI"):
            return 1
        return 0

    def _plain_name(self, register: int) -> str | None:
        found = self._decoder.register(register)
        return None if found is None else found.name


def _ends_with(name: str | None, suffix: str) -> bool:
    # cffdump: endswith looks only at the suffix's first occurrence (mesa 25.0.7)
    return name is not None and name.find(suffix) == len(name) - len(suffix)
