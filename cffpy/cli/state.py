# SPDX-License-Identifier: MIT
"""``cffpy state``: the registers at a draw and the packets that wrote them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import (
    capture_options,
    edition,
    find,
    not_there,
    the_pass,
    write_csv,
    write_json,
    write_lines,
)
from cffpy.cli.integer import Integer
from cffpy.cli.limit_option import command_limits
from cffpy.cli.output import print_warning

if TYPE_CHECKING:
    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.provenance import Origin, State
    from cffpy.capture.gpu import Gpu
    from cffpy.regdb.register_text import RegisterText

_EPILOG = """\b
Examples:
  cffpy state --draw 120 capture.rd.gz                     draw 120 of the dump
  cffpy state --pass 3 --draw 17 capture.rd.gz             draw 17 of pass 3
  cffpy state --draw 120 capture.rd.gz RB_DEPTH_CNTL 'RB_MRT*'
  cffpy state --draw 120 --origin 'earlier submit' capture.rd.gz
"""

_ORIGINS = ("this pass", "before the pass", "earlier submit")


@click.command(epilog=_EPILOG)
@click.option("--draw", "number", type=Integer(), required=True, metavar="N", help="The draw.")
@click.option(
    "--pass",
    "index",
    type=Integer(),
    metavar="P",
    help="N is the draw's number within this pass (default: its number in the dump).",
)
@click.option("--origin", type=click.Choice(_ORIGINS), help="Only values from there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.state/2).")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a row for each register.")
@capture_options
@click.argument("names", nargs=-1, metavar="[REG]...")
def state(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    names: tuple[str, ...],
    number: int,
    index: int | None,
    origin: Origin | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    """Show the register values at a draw, dispatch or blit, and the packet that wrote each of them.

    The packet is given by command stream, IBs, draw state group, GPU address and offset in the
    decompressed file, together with whether the value was written in this pass, before it, or in
    an earlier submit. Registers that the GPU loads from memory are unknown; their packet is shown.
    Blocks that a condition skips write nothing here, although the dump decodes them.

    REG selects registers: a name, a pattern like 'RB_MRT*', or an offset like 0x8820. FILE may be
    '-' for standard input. The exit code is 1 if the capture is damaged.
    """
    from cffpy.analysis.queries import state_at
    from cffpy.container.kinds import check_capture
    from cffpy.container.open import open_capture
    from cffpy.views import state as view

    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be used together")
    content = check_capture(open_capture(path, command_limits()))
    finder, code = find(path, gpu, register_db, content)
    action = _action(finder, number, index)
    found = state_at(content, action.order, lambda _line: None, edition(register_db), gpu)
    if found is None:
        raise not_there(finder, f"draw {number} is not executed")
    found.action = action  # from the whole pass: has its number among the program's draws
    registers = _registers(found, names, origin)
    if as_json:
        write_json(view.SCHEMA, view.document(found, registers), content.truncated)
    elif as_csv:
        write_csv(view.CSV_COLUMNS, view.rows(found, registers))
    else:
        write_lines(view.lines(found, registers), content.truncated)
    return code


def _action(finder: PassFinder, number: int, index: int | None) -> Action:
    """The draw. Raises ``not_there`` if there is none, or if it is not executed."""
    if index is not None:
        one = the_pass(finder, index)
        if not 0 <= number < len(one.program_draws):
            raise not_there(
                finder,
                f"pass {index} has no draw {number}; it has {len(one.program_draws)} draws",
            )
        return one.program_draws[number]
    action = next((action for action in finder.actions if action.number == number), None)
    if action is None:
        raise not_there(finder, f"there is no draw {number} in the dump")
    if not action.executed.is_possible:
        raise not_there(finder, f"draw {number} is not executed: {action.condition}")
    return action


def _registers(found: State, names: tuple[str, ...], origin: Origin | None) -> list[int]:
    from cffpy.regdb.register_text import RegisterText

    chosen = found.written
    if names:
        text = RegisterText(found.database)
        matches = {name: _matching(found, text, name) for name in names}
        for name, matching in matches.items():
            if not matching:
                print_warning(f"no register {name} was written before this draw")
        chosen = sorted({register for matching in matches.values() for register in matching})
    if origin is not None:
        chosen = [
            register
            for register in chosen
            if register in found.writes and found.writes[register].origin(found.action) == origin
        ]
    return chosen


def _matching(found: State, text: RegisterText, name: str) -> list[int]:
    offset = found.database.register_offset(name)
    if not offset and name.lower().startswith("0x"):
        try:
            offset = int(name, 16)
        except ValueError:
            offset = 0
    if offset:
        return [offset] if offset in found.registers or offset in found.writes else []
    pattern = name.upper().replace("[", "[[]")  # '[' is an array index, not a set
    return [
        register for register in found.written if fnmatchcase(text.name(register).upper(), pattern)
    ]
