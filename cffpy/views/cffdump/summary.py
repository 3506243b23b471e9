# SPDX-License-Identifier: MIT
"""The register summary at draws, and queries (-q).

cffdump: dump_register_summary, do_query, do_query_compare, skip_query (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.cp.state import ALL_MODES, BINNING, GMEM, SYSMEM
from cffpy.views.cffdump.options import QUERY_ALL, QUERY_WRITTEN
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import LEVEL_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.views.cffdump.text import CffdumpSink

#: cffdump: regcnt: the summary ends below these registers (mesa 25.0.7)
_REGISTERS_64BIT, _REGISTERS_32BIT = 0x3FFFF, 0x7FFF

#: Marks by whether a register changed, and was rewritten.
_MARKS = (("  \t", " +\t"), ("! \t", "!+\t"))


def dump_register_summary(view: CffdumpSink, level: int) -> None:
    """One line a register that was written since the last summary, in order of offset."""
    state = view.machine.state
    view.show_all(True)
    view.in_summary = True
    chosen = state.rewritten
    if view.options.allregs:
        chosen = chosen | state.written_before
    limit = _REGISTERS_64BIT if view.is_64bit else _REGISTERS_32BIT
    registers = sorted(chosen)
    while registers and registers[-1] >= limit:
        registers.pop()
    if view.quiet2:
        for register in registers:
            view.last_values[register] = state.registers[register]
    else:
        view.put(f"{LEVELS[level]}draw[{state.draw_count}] register values\n")
        done = _print_whole(view, registers, level)
        if done < len(registers):
            _print_halves(view, registers[done:], level)
    view.in_summary = False
    view.show_all(False)


def _print_whole(view: CffdumpSink, registers: list[int], level: int) -> int:
    """Print registers up to the first half of a 64-bit register that lacks the other half.

    Returns how many of ``registers`` were taken.
    """
    values, rewritten, last = (
        view.machine.state.registers,
        view.machine.state.rewritten,
        view.last_values,
    )
    table, put = view.registers, view.put
    table.refresh()
    get_entry, make_entry, get_last = table.entries.get, table.entry, last.get
    count = len(registers)
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
        line = entry.summaries.get(value << LEVEL_BITS | level)
        if line is None:
            line = table.summary(entry, value, level)
        put(_MARKS[changed][written] + line)
        if entry.follow_up is not None:
            entry.follow_up(view, value, level)
    return count


def _print_halves(view: CffdumpSink, registers: list[int], level: int) -> None:
    """As ``_print_whole``, dword by dword, with the reference's complaints about lone halves.

    The marks of a half without a line of its own go to the next line.
    """
    state, last, table = view.machine.state, view.last_values, view.registers
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
            view.show_register(entry, shown, level)
            changed = written = False


def query(view: CffdumpSink, label: str | None, num_indices: int) -> None:
    """What -q prints at a draw. ``label`` is its primitive type or kind."""
    if view.options.query_compare:
        _query_compare(view, label, num_indices)
    elif not _skip_query(view):
        _print_query(view, label, num_indices)


def _skip_query(view: CffdumpSink) -> bool:
    mode = view.options.query_mode
    if mode == QUERY_ALL:
        return False
    state = view.machine.state
    for register in view.queried:
        if not state.was_written(register):
            continue
        if mode == QUERY_WRITTEN:
            if register in state.rewritten:
                return False
        elif state.value(register) != view.last_values.get(register, 0):
            return False
    return True


def _print_query(view: CffdumpSink, label: str | None, num_indices: int) -> None:
    state = view.machine.state
    if view.generation in (5, 6):
        _bin_from_scissor(view)
    left, top, right, bottom = state.bin_rectangle
    printed = 0
    table = view.registers
    for register in view.queried:
        if not state.was_written(register):
            continue
        table.begin()
        complete = table.push(register, state.value(register))
        if complete is None:
            complete = table.push(register + 1, state.value(register + 1))
        assert complete is not None
        entry, value = complete
        mode = f"{state.render_mode or '(null)'}:" if view.generation >= 5 else ""
        thread = f"{state.thread}:" if state.thread else ""
        changed = "!" if value != view.last_values.get(register, 0) else " "
        written = "+" if register in state.rewritten else " "
        view.put(
            f"{state.draw_count:4d}: {label or '(null)'}({left},{top}-{right},{bottom})"
            f":{num_indices}:{mode}{thread}\t{value:08x}{changed}{written}"
            f"{LEVELS[0]}{table.line(entry, value)}"
        )
        printed += 1
    if printed > 1:
        view.put("\n")


def _bin_from_scissor(view: CffdumpSink) -> None:
    state, decoder = view.machine.state, view.decoder
    corners = []
    for corner in ("TL", "BR"):
        name = f"GRAS_SC_WINDOW_SCISSOR_{corner}"
        register = decoder.database.register_offset(name)
        value = state.value(register)
        corners += [value & 0xFFFF, value >> 16]
    state.bin_rectangle = (corners[0], corners[1], corners[2], corners[3])


def _query_compare(view: CffdumpSink, label: str | None, num_indices: int) -> None:
    machine = view.machine
    state = machine.state
    saved = state.enable_mask, state.render_mode
    state.enable_mask = ALL_MODES
    state.clear_rewritten()
    machine.load_groups(0)
    if not _skip_query(view):
        for modes, name in ((BINNING, "BINNING"), (GMEM | SYSMEM, "DRAW")):
            state.enable_mask, state.render_mode = modes, name
            state.clear_rewritten()
            machine.load_groups(0)
            _print_query(view, label, num_indices)
        view.put("\n")
    state.enable_mask, state.render_mode = saved
    machine.disable_groups()
