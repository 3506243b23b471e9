# SPDX-License-Identifier: MIT
"""The register summary at draws, and queries (-q).

cffdump: dump_register_summary, do_query, do_query_compare, skip_query (mesa 25.0.7).

The draws of a frame come again in each tile, and so do most of their summaries: their texts are
kept by all that they depend on.
"""

from __future__ import annotations

from cffpy.c_numbers import c_number
from cffpy.cp.state import ALL_MODES, BINNING, GMEM, SYSMEM
from cffpy.views.cffdump.options import QUERY_ALL, QUERY_WRITTEN
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import LEVEL_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cffpy.views.cffdump.registers import RegisterTable
    from cffpy.views.cffdump.view import View

    #: What the view's texts depend on, the level, the registers, their values, values shown last.
    SummaryKey = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int | None, ...]]

#: After this many look-ups, more than a tile of most frames has, no more are made in this file if
#: fewer than a quarter succeeded.
TRIAL = 2048

#: Characters of all texts, at most; a text costs this many besides its own.
_MOST, _COST = 12 << 20, 2048


class SummaryTexts:
    """The texts of one file's summaries."""

    def __init__(self) -> None:
        #: How often a text was asked for, and how often it was known.
        self.asked = 0
        self.known = 0
        self.start_file()

    def start_file(self) -> None:
        """A file begins: forget all texts."""
        #: Whether it is worth asking.
        self.is_useful = True
        self._texts: dict[SummaryKey, str] = {}
        self._size = 0
        self._tried = self._found = 0

    def get(self, key: SummaryKey) -> str | None:
        """The text of a summary that was kept, or None."""
        text = self._texts.get(key)
        self.asked += 1
        self._tried += 1
        if text is not None:
            self.known += 1
            self._found += 1
        if self._tried == TRIAL:
            self.is_useful = self._found * 4 >= TRIAL
            self._tried = self._found = 0
            if not self.is_useful:
                self._texts.clear()
        return text

    def keep(self, key: SummaryKey, text: str) -> None:
        """Keep a text, unless there are too many."""
        self._size += len(text) + _COST
        if self._size <= _MOST:
            self._texts[key] = text


#: cffdump: regcnt: the summary ends below these registers (mesa 25.0.7)
_REGISTERS_64BIT, _REGISTERS_32BIT = 0x3FFFF, 0x7FFF

#: Marks by whether a register changed, and was rewritten.
_MARKS = (("  \t", " +\t"), ("! \t", "!+\t"))


class Summary:
    """Prints the registers that were written, at draws. It keeps the values shown last."""

    def __init__(self, view: View, registers: RegisterTable) -> None:
        self._view = view
        self._registers = registers
        database = view.decoder.database
        # cffdump: init_rnn finds no register by the name of another version (mesa 25.0.7)
        is_strict = not view.options.query_renamed
        find = database.register_offset if is_strict else database.find_register
        #: The registers of -q, 0 for an unknown name.
        self.queried = [c_number(query) & 0xFFFFFFFF or find(query) for query in view.options.query]
        #: Values at the last summary of this file.
        self._last_values: dict[int, int] = {}
        #: Texts of earlier summaries.
        self.texts = SummaryTexts()
        #: Whether the last summary's text depends on nothing but its key.
        self._is_fixed = True

    @property
    def last_values(self) -> Mapping[int, int]:
        """Register -> its value at the last summary of this file; 0 for registers not in it."""
        return self._last_values

    def start_file(self) -> None:
        """A file begins: no value was shown."""
        self._last_values.clear()
        self.texts.start_file()

    def print_registers(self, level: int) -> None:
        """One line a register that was written since the last summary, in order of offset."""
        view = self._view
        state = view.machine.state
        view.show_all(True)
        view.in_summary = True
        chosen = state.rewritten
        if view.options.allregs:
            chosen = chosen | state.written_before
        limit = self._limit
        registers = sorted(chosen)
        while registers and registers[-1] >= limit:
            registers.pop()
        if view.quiet2:
            for register in registers:
                self._last_values[register] = state.registers[register]
        else:
            view.put(f"{LEVELS[level]}draw[{state.draw_count}] register values\n")
            if not (self.texts.is_useful and self._print_again(registers, level)):
                self._print(registers, level)
        view.in_summary = False
        view.show_all(False)

    def skip_registers(self) -> None:
        """Keep the values that ``print_registers`` would show, and print nothing."""
        state = self._view.machine.state
        limit = self._limit
        registers = state.registers
        self._last_values.update(
            [(register, registers[register]) for register in state.rewritten if register < limit]
        )

    @property
    def _limit(self) -> int:
        return _REGISTERS_64BIT if self._view.is_64bit else _REGISTERS_32BIT

    def _print_again(self, registers: list[int], level: int) -> bool:
        """Print the text of an earlier summary, or this one and keep it; False if none is kept."""
        view = self._view
        state_key = view.segment_key
        # with --allregs the marks also depend on which registers were rewritten
        if state_key is None or view.options.allregs or not view.machine.segments.are_used:
            return False
        shown, last = view.machine.state.registers, self._last_values
        values = tuple([shown[register] for register in registers])
        key = (state_key, level, tuple(registers), values, tuple(map(last.get, registers)))
        text = self.texts.get(key)
        if text is not None:
            view.put_large(text)
            last.update(zip(registers, values, strict=True))
            return True
        mark = view.output.mark()
        self._print(registers, level)
        if self._is_fixed:
            self.texts.keep(key, view.output.text_from(mark))
        return True

    def _print(self, registers: list[int], level: int) -> None:
        self._is_fixed = True
        done = self._print_whole(registers, level)
        if done < len(registers):
            self._is_fixed = False
            self._print_halves(registers[done:], level)

    def _print_whole(self, registers: list[int], level: int) -> int:
        """Print registers up to the first half of a 64-bit register that lacks the other half.

        Returns how many of ``registers`` were taken.
        """
        view = self._view
        values, rewritten, last = (
            view.machine.state.registers,
            view.machine.state.rewritten,
            self._last_values,
        )
        table, put = self._registers, view.put
        table.refresh()
        get_entry, make_entry, get_last = table.entries.get, table.entry, last.get
        count = len(registers)
        tabs = LEVELS[level]
        upper = -1
        for position, register in enumerate(registers):
            if register == upper:  # shown with its lower half
                continue
            entry = get_entry(register) or make_entry(register)
            value = values[register]
            changed = get_last(register, 0) != value
            written = register in rewritten
            if entry.wide:
                upper = register + 1
                if position + 1 == count or registers[position + 1] != upper or not entry.is_low:
                    return position
                high = values[upper]
                if get_last(upper, 0) != high:
                    changed = True
                    last[upper] = high
                written = written or upper in rewritten
                last[register] = value
                value |= high << 32
            elif changed:
                last[register] = value
            if entry.plain:
                mark = _MARKS[changed][written]
                put(f"{mark}{value:08x}{tabs}{entry.plain}{value:08x}\n")
                continue
            line = entry.summaries.get(value << LEVEL_BITS | level)
            if line is None:
                line = table.summary(entry, value, level)
            put(_MARKS[changed][written] + line)
            if entry.follow_up is not None:
                entry.follow_up(view, value, level)
                self._is_fixed = self._is_fixed and entry.is_fixed
        return count

    def _print_halves(self, registers: list[int], level: int) -> None:
        """Print a register dword by dword, with the reference's complaints about single halves.

        The marks of a half that has no line are printed in the next line.
        """
        view = self._view
        state, last, table = view.machine.state, self._last_values, self._registers
        table.begin()
        changed = written = False
        for register in registers:
            value = state.registers[register]
            if last.get(register, 0) != value:
                changed = True
                last[register] = value
            written = written or register in state.rewritten
            complete = table.push(register, value)
            if complete is not None:
                entry, shown = complete
                view.put(f"{_MARKS[changed][written]}{shown:08x}")
                table.show(entry, shown, level)
                changed = written = False

    def print_query(self, label: str | None, num_indices: int) -> None:
        """What -q prints at a draw. ``label`` is its primitive type or kind."""
        view = self._view
        if view.options.query_compare:
            self._query_compare(label, num_indices)
        elif not self._skip_query():
            self._print_query(label, num_indices)

    def _skip_query(self) -> bool:
        view = self._view
        mode = view.options.query_mode
        if mode == QUERY_ALL:
            return False
        state = view.machine.state
        for register in self.queried:
            if not state.was_written(register):
                continue
            if mode == QUERY_WRITTEN:
                if register in state.rewritten:
                    return False
            elif state.value(register) != self._last_values.get(register, 0):
                return False
        return True

    def _print_query(self, label: str | None, num_indices: int) -> None:
        view = self._view
        state = view.machine.state
        # cffdump: do_query knows no bins of a7xx (mesa 25.0.7)
        if view.generation in (5, 6):
            self._bin_from_scissor()
        has_modes = view.machine.gpu.facts.has_render_modes
        left, top, right, bottom = state.bin_rectangle
        printed = 0
        table = self._registers
        for register in self.queried:
            if not state.was_written(register):
                continue
            table.begin()
            complete = table.push(register, state.value(register))
            if complete is None:
                complete = table.push(register + 1, state.value(register + 1))
            assert complete is not None
            entry, value = complete
            mode = f"{state.render_mode or '(null)'}:" if has_modes else ""
            thread = f"{state.thread}:" if state.thread else ""
            changed = "!" if value != self._last_values.get(register, 0) else " "
            written = "+" if register in state.rewritten else " "
            view.put(
                f"{state.draw_count:4d}: {label or '(null)'}({left},{top}-{right},{bottom})"
                f":{num_indices}:{mode}{thread}\t{value:08x}{changed}{written}"
                f"{LEVELS[0]}{table.line(entry, value)}"
            )
            printed += 1
        if printed > 1:
            view.put("\n")

    def _bin_from_scissor(self) -> None:
        view = self._view
        state = view.machine.state
        corners = []
        for corner in ("TL", "BR"):
            name = f"GRAS_SC_WINDOW_SCISSOR_{corner}"
            register = view.machine.names.register_offset(name)
            value = state.value(register)
            corners += [value & 0xFFFF, value >> 16]
        state.bin_rectangle = (corners[0], corners[1], corners[2], corners[3])

    def _query_compare(self, label: str | None, num_indices: int) -> None:
        view = self._view
        machine = view.machine
        state = machine.state
        saved = state.enable_mask, state.render_mode
        state.enable_mask = ALL_MODES
        state.clear_rewritten()
        machine.load_groups(0)
        if not self._skip_query():
            for modes, name in ((BINNING, "BINNING"), (GMEM | SYSMEM, "DRAW")):
                state.enable_mask, state.render_mode = modes, name
                state.clear_rewritten()
                machine.load_groups(0)
                self._print_query(label, num_indices)
            view.put("\n")
        state.enable_mask, state.render_mode = saved
        machine.disable_groups()
