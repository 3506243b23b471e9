# SPDX-License-Identifier: MIT
"""``cffpy state``: the registers at a draw and the packets that wrote them."""

from __future__ import annotations

import os
from itertools import chain, takewhile
from typing import TYPE_CHECKING, NamedTuple

import click

from cffpy.cli.analysis_options import (
    DRAW_NAME,
    capture_options,
    decode,
    draw_not_there,
    jsonl_option,
    open_for,
    report,
)
from cffpy.cli.intel_dispatch import or_intel
from cffpy.cli.many_files import Forms, Shown, write_shown
from cffpy.cli.output import print_warning
from cffpy.cli.parameters import Integer
from cffpy.cli.progress import progress
from cffpy.cli.text_options import text_options
from cffpy.errors import CaptureError
from cffpy.frame.draw_names import DrawName, name_of
from cffpy.query.filters import Filter
from cffpy.views import state as view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.provenance import Origin, State
    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.regdb.register_text import RegisterText

_EPILOG = """\b
Examples:
  cffpy state --draw 120 capture.rd.gz                     draw 120 of the dump
  cffpy state --draw p3:17 capture.rd.gz                   draw 17 of pass 3
  cffpy state --draw 120 capture.rd.gz RB_DEPTH_CNTL 'RB_MRT*'
  cffpy state --draw 120 --origin 'earlier submit' capture.rd.gz
  cffpy state --where 'draw.vertices > 9000' capture.rd.gz RB_DEPTH_CNTL
"""

_ORIGINS = ("this pass", "before the pass", "earlier submit")


@click.command(epilog=_EPILOG)
@click.option(
    "--draw",
    "name",
    type=DRAW_NAME,
    metavar="DRAW",
    help="N: the draw's number in the dump; pP:N: its number in pass P.",
)
@click.option(
    "--pass",
    "index",
    type=Integer(),
    metavar="P",
    help="The same as --draw pP:N.",
)
@click.option(
    "--where", metavar="EXPR", help="At each draw for which this holds, as in 'cffpy find --help'."
)
@click.option("--origin", type=click.Choice(_ORIGINS), help="Only values from there.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document (cffpy.state/1, with --where cffpy.states/1).",
)
@jsonl_option("register", "cffpy.state.line/3")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a row for each register.")
@text_options
@capture_options
@click.argument("names", nargs=-1, metavar="[FILE]... [REG]...")
@or_intel("path", "names", "name", "index", "as_json")
def state(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    names: tuple[str, ...],
    name: DrawName | None,
    index: int | None,
    where: str | None,
    origin: Origin | None,
    as_json: bool,
    as_jsonl: bool,
    as_csv: bool,
) -> int:
    """Show the register values at a draw, dispatch or blit, and the packet that wrote each of them.

    The packet is given by command stream, IBs, draw state group, GPU address and offset in the
    decompressed file, together with whether the value was written in this pass, before it, or in
    an earlier submit. Registers that the GPU loads from memory are unknown; their packet is shown.
    Blocks that a condition skips write nothing here, although the dump decodes them.

    REG selects registers: a name, a pattern like 'RB_MRT*', or an offset like 0x8820. FILE may be
    '-' for standard input, or a folder: all captures in it and below. Arguments after the first
    one are files as long as they exist. With --draw, commands that follow the draw's pass are not
    decoded. The exit code is 1 if a file, or the commands before, are damaged, or one of several
    files cannot be read or has no such draw.
    """
    forms = Forms(as_json, as_jsonl, as_csv)
    forms.check()
    files = (path, *takewhile(os.path.exists, names))
    chosen = _Chosen(names[len(files) - 1 :], origin, register_db)
    if where is not None:
        if name is not None or index is not None:
            raise click.UsageError("--where cannot be used with --draw or --pass")
        query = Filter(where)

        def show(path: str) -> Shown:
            return _shown_where(open_for(path, gpu, register_db), query, chosen)
    else:
        draw = _draw_name(name, index)

        def show(path: str) -> Shown:
            return _shown(open_for(path, gpu, register_db), draw, chosen)

    return write_shown(files, show, forms)


def _draw_name(name: DrawName | None, index: int | None) -> DrawName:
    """The draw of --draw and --pass."""
    if name is None:
        raise click.UsageError("Missing option '--draw' or '--where'.")
    if index is None:
        return name
    if name.pass_index is not None:
        raise click.UsageError("--pass cannot be used with --draw pP:N")
    return DrawName(name.number, index)


class _Chosen(NamedTuple):
    """Which registers are shown: the arguments REG, and the option --origin."""

    names: tuple[str, ...]
    origin: Origin | None
    directory: str | None

    def registers(self, state: State) -> list[int]:
        """Their offsets."""
        return _registers(state, self.names, self.origin, self.directory)


def _shown(capture: Capture, name: DrawName, chosen: _Chosen) -> Shown:
    """The registers at one draw."""
    try:
        with progress(f"Reading {capture.name}", capture.content):
            found = capture.state(str(name)).snapshot()
    except CaptureError as problem:
        raise draw_not_there(capture, problem) from None
    code = report(capture)
    registers = chosen.registers(found)
    return Shown(
        capture,
        code,
        view.SCHEMA,
        lambda: view.document(found, registers),
        lambda: view.lines(found, registers),
        view.CSV_COLUMNS,
        lambda: view.rows(found, registers),
        lambda: view.items(found, registers),
    )


def _shown_where(capture: Capture, query: Filter, chosen: _Chosen) -> Shown:
    """The registers at each draw for which a filter holds."""
    code = decode(capture, lambda opened: opened.walk())[1]
    draws = [draw for draw, _ in capture.draws.choose(query)]

    def states() -> Iterator[tuple[State, list[int]]]:
        for draw in draws:
            found = draw.state.snapshot()
            yield found, chosen.registers(found)

    def lines() -> Iterator[str]:
        for number, one in enumerate(states()):
            yield from ("",) if number else ()
            yield from view.lines(*one)

    def rows() -> Iterator[tuple[object, ...]]:
        for one in states():
            name = name_of(one[0].action)
            yield from ((name, *row) for row in view.rows(*one))

    return Shown(
        capture,
        code,
        view.STATES_SCHEMA,
        lambda: {"states": (view.document(*one) for one in states())},
        lines,
        ("draw", *view.CSV_COLUMNS),
        rows,
        lambda: chain.from_iterable(view.items(*one) for one in states()),
    )


def _registers(
    found: State, names: tuple[str, ...], origin: Origin | None, directory: str | None
) -> list[int]:
    """The registers that are asked for. Raises UsageError for a name that none has."""
    from cffpy.regdb.register_text import RegisterText

    chosen = found.written
    if names:
        text = RegisterText(found.database)
        matches = {name: _matching(found, text, name) for name in names}
        for name, matching in matches.items():
            if not matching:
                _check_name(found, name, directory)
                print_warning(f"no register {name} was written before this draw")
        chosen = sorted({register for matching in matches.values() for register in matching})
    if origin is not None:
        chosen = [
            register
            for register in chosen
            if register in found.writes and found.writes[register].origin(found.action) == origin
        ]
    return chosen


def _check_name(found: State, name: str, directory: str | None) -> None:
    """Raise UsageError if no register of the generation has this name or offset."""
    from cffpy.regdb import store
    from cffpy.regdb.catalog import Catalog
    from cffpy.regdb.search import has_register, has_renamed, no_such_register

    chip = found.database.chip
    catalog = Catalog(store.load(directory, chip))
    offset = _offset(name)
    if offset is None:
        is_known = found.database.find_register(name) or has_register(catalog, name)
        if not is_known and not has_renamed(catalog, name):
            raise click.UsageError(no_such_register(catalog, name))
    elif not any(catalog.at(domain, offset) for domain in catalog.register_domains):
        raise click.UsageError(f"{chip.lower()} has no register at offset {name}")


def _offset(name: str) -> int | None:
    """The number of an offset like 0x8820; None for anything else."""
    if not name.lower().startswith("0x"):
        return None
    try:
        return int(name, 16)
    except ValueError:
        return None


def _matching(found: State, text: RegisterText, name: str) -> list[int]:
    from cffpy.regdb.search import matching_names

    named, offset = found.database.find_named(name), _offset(name)
    offsets = named.described if named is not None else (offset,) if offset else ()
    if offsets:
        stored = chain.from_iterable(map(found.database.stored, offsets))
        return [one for one in stored if one in found.registers or one in found.writes]
    names = {register: text.name(register) for register in found.written}
    matching = matching_names(found.database, names.values(), name)
    return [register for register, known in names.items() if known in matching]
