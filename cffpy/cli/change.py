# SPDX-License-Identifier: MIT
"""Commands that change captures: ``edit``, ``repair``, and ``decompile``, ``compile`` as text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import print_problems
from cffpy.cli.forms import capture_file, write_output
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_note, print_warning
from cffpy.cli.parameters import (
    Address,
    IntegerRange,
    command_limits,
    edition_option,
    output_option,
)
from cffpy.cli.progress import progress
from cffpy.cli.question import DRAW, DRAWS, Places, Question, asks
from cffpy.errors import CaptureError, CffpyError, ContainerError
from cffpy.frame.places import DrawName, DrawRange, SubmitName

if TYPE_CHECKING:
    from collections.abc import Collection

    from cffpy.analysis.edits import Edit
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.frame.action import Action

_EDIT_EPILOG = """\b
Examples:
  cffpy edit capture.rd.gz --nop-draw p0:8 -o without-8-of-pass-0.rd.gz
  cffpy edit capture.rd.gz --nop-draw p0:5-58 -o less-of-pass-0.rd.gz
  cffpy edit capture.rd.gz --nop-draw '#12' -o without-12-of-the-dump.rd.gz
  cffpy edit capture.rd.gz --truncate-after-draw p2:30 -o first.rd.gz
  cffpy edit capture.rd.gz --set 'RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS' -o always.rd.gz
  cffpy edit capture.rd.gz --set 'GRAS_SU_CNTL.CULL_BACK=0' --at p0:7 -o uncull-7.rd.gz
  cffpy edit capture.rd.gz --drop-group 3 --drop-group 5 -o no-state.rd.gz
"""


@click.command(epilog=_EDIT_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "--nop-draw",
    "nops",
    type=DRAWS,
    multiple=True,
    metavar="PLACE",
    help="Replace a draw, or the draws of a range, by CP_NOPs.",
)
@click.option(
    "--truncate-after-draw",
    "last",
    type=DRAW,
    metavar="PLACE",
    help="Execute nothing after this draw, in this submit and later ones.",
)
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="REG.FIELD=VALUE",
    help="Change a field wherever the register is written, or, with --at, in the write that is in"
    " effect at this draw; VALUE as in pm4asm.",
)
@click.option(
    "--drop-group",
    "groups",
    type=IntegerRange(0, 63),
    multiple=True,
    metavar="G",
    help="Disable draw state group G wherever it is set.",
)
@output_option("OUT.rd[.gz]", "Output file; compressed if its name ends in .gz.", required=True)
@asks("", places=Places((DrawName,)), text=False, gpu=None, edition=edition_option)
def edit(
    question: Question,
    path: str,
    nops: tuple[DrawName | DrawRange, ...],
    last: DrawName | None,
    values: tuple[str, ...],
    groups: tuple[int, ...],
    output: str,
) -> int:
    """Change a capture in place: draws, register values, draw state groups.

    All sizes stay the same: a removed packet becomes a CP_NOP of its size. PLACE is a
    draw: p3:17, draw 17 of pass 3, or '#62', draw 62 of the dump (draw[62]); all numbers are those
    of FILE as it is read. If a packet is in commands that run several times, all executions are
    affected; standard error reports this and every change, and where a value was there already.
    FILE may be '-' for standard input, OUT.rd '-' for standard output. The exit code is 1 if
    nothing was written, or if FILE is damaged; OUT.rd then has the same damage.
    """
    if not (nops or last is not None or values or groups):
        raise click.UsageError(
            "no edit given: use --nop-draw, --truncate-after-draw, --set or --drop-group"
        )
    at_draw, register_db = question.place, question.register_db
    assert at_draw is None or isinstance(at_draw, DrawName)
    if at_draw is not None and not values:
        raise click.UsageError("--at needs --set")
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.analysis.edits import changed_by
    from cffpy.container.open import open_capture

    damage: list[Damage] = []
    try:
        content = check_capture(open_capture(path, command_limits()))
        edits = _edits(_Numbers(content, register_db), nops, last, values, at_draw, groups)
        with progress(f"Reading {path}", content):
            changed, lines = changed_by(content, edits, print_warning, register_db, damage)
    except CffpyError as problem:
        print_problems(path, damage)
        # ContainerError names the file itself
        print_error(str(problem) if isinstance(problem, ContainerError) else f"{path}: {problem}")
        return EXIT_FAILURE
    size = len(content.data)  # edits change no size
    write_output(output, capture_file(output, changed.pieces(), size), [path])
    for line in lines:
        print_note(line)
    print_problems(path, damage)
    return EXIT_FAILURE if damage or content.truncated else EXIT_OK


def _edits(
    number: _Numbers,
    nops: tuple[DrawName | DrawRange, ...],
    last: DrawName | None,
    values: tuple[str, ...],
    at_draw: DrawName | None,
    groups: tuple[int, ...],
) -> list[Edit]:
    """The edits that the options ask for. Raises CffpyError for a wrong register or draw."""
    from cffpy.analysis.edits import DropGroup, NopDraw, TruncateAfterDraw
    from cffpy.pm4asm.register_edit import SetRegister

    at_number = None if at_draw is None else number(at_draw)
    edits: list[Edit] = [SetRegister(text, at_number) for text in values]
    edits += [DropGroup(group) for group in groups]
    edits += [NopDraw(number.all_of(draw)) for draw in nops]
    if last is not None:
        edits.append(TruncateAfterDraw(number(last)))
    return edits


class _Numbers:
    """Converts names of draws to numbers of the dump. Finds the passes when a name needs them."""

    def __init__(self, content: Content, register_db: str | None) -> None:
        self._content = content
        self._register_db = register_db
        self._passes: PassFinder | None = None

    def __call__(self, name: DrawName) -> int:
        """The number. Raises CaptureError if there is no such draw."""
        if name.pass_index is None:
            return name.number
        number = self._found(name).dump_draw
        if number is None:
            raise CaptureError(f"draw {name} has no number in the dump")
        return number

    def all_of(self, draws: DrawName | DrawRange) -> Collection[int]:
        """The numbers of draws. Raises CaptureError if one of them is not there."""
        if isinstance(draws, DrawName):
            return [self(draws)]
        if draws.pass_index is None:
            return draws.numbers
        self._found(DrawName(draws.last, draws.pass_index))
        return [self(DrawName(number, draws.pass_index)) for number in draws.numbers]

    def _found(self, name: DrawName) -> Action:
        from cffpy.analysis.passes.finder import find_draw

        return find_draw(self._found_passes(), name)

    def _found_passes(self) -> PassFinder:
        if self._passes is None:
            from cffpy.analysis.queries import find_passes

            self._passes, _ = find_passes(self._content, lambda _line: None, self._register_db)
        return self._passes


_REPAIR_EPILOG = """\b
Examples:
  cffpy repair cut.rd.gz -o whole.rd.gz
  cffpy repair cut.rd.gz --address 0x1000a000 --dwords 412 -o whole.rd.gz
"""


@click.command(epilog=_REPAIR_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "--address", type=Address(), metavar="A", help="Address of the missing command stream."
)
@click.option("--dwords", type=Address(), metavar="N", help="Its size in dwords.")
@output_option("OUT.rd[.gz]", "Output file; compressed if its name ends in .gz.", required=True)
@asks("", text=False, gpu=None, edition=None)
def repair(
    _question: Question, path: str, output: str, address: int | None, dwords: int | None
) -> int:
    """Remove damage from the sections of a capture; commands in them are not changed.

    A section that is cut off by the end of the file is dropped, and so are bytes between sections:
    the search for the next section continues byte by byte. (All other commands stop there, as
    cffdump does.) If no RD_CMDSTREAM_ADDR follows the last buffers, it is added: with --address, or
    as in the last earlier submit whose streams begin in these buffers. If there is none, --address
    is required: buffers do not show which of them was submitted. Without --dwords, the stream ends
    with the last packet. Standard error reports every change. FILE may be '-' for standard input,
    OUT.rd '-' for standard output.
    """
    if (address or 0) >> 64 or (dwords or 0) >> 32:
        raise click.UsageError("--address is limited to 64 bits, --dwords to 32")
    if dwords is not None and address is None:
        raise click.UsageError("--dwords needs --address")
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.analysis.repair import repair as repair_capture
    from cffpy.container.open import open_capture

    try:
        content = check_capture(open_capture(path, command_limits()))
        repaired = repair_capture(content, address, dwords)
    except CffpyError as problem:
        # ContainerError names the file itself
        print_error(str(problem) if isinstance(problem, ContainerError) else f"{path}: {problem}")
        return EXIT_FAILURE
    write_output(output, capture_file(output, repaired.pieces, repaired.size), [path])
    for line in repaired.messages or ["nothing to repair"]:
        print_note(line)
    return EXIT_OK


_DECOMPILE_EPILOG = """\b
Examples:
  cffpy decompile capture.rd.gz -o capture.pm4
  cffpy decompile --submit 3 capture.rd.gz | less
  cffpy decompile capture.rd | sed 's/CULL_BACK, //' | cffpy compile - -o changed.rd
"""
_COMPILE_EPILOG = """\b
Examples:
  cffpy compile triangle.pm4 -o triangle.rd
  cffpy compile edited.pm4 -o edited.rd.gz && cffpy dump edited.rd.gz
  cffpy compile --check edited.pm4
"""


@click.command(name="decompile", epilog=_DECOMPILE_EPILOG)
@click.argument("path", metavar="FILE")
@output_option("OUT.pm4", "Output file. Default: standard output.", default="-")
@asks("", places=Places((SubmitName,)), text=False, gpu=None, edition=edition_option)
def decompile_command(question: Question, path: str, output: str) -> int:
    """Write a capture as text: packets, registers and programs by name, everything else as data.

    'cffpy compile' turns the text back into the same decompressed bytes. FILE may be '-' for
    standard input, OUT.pm4 '-' for standard output. The
    exit code is 1 if the capture is damaged; the text then contains what could be read.
    """
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.container.open import open_capture
    from cffpy.pm4asm.decompile import decompile

    place = question.place
    number = place.number if isinstance(place, SubmitName) else None
    damage: list[Damage] = []
    try:
        content = check_capture(open_capture(path, command_limits()))
        pieces = decompile(content, damage, print_warning, question.register_db, number)
        with progress(f"Reading {path}", content):
            write_output(output, (piece.encode() for piece in pieces), [path])
    except CffpyError as problem:
        print_problems(path, damage)
        print_error(str(problem))
        return EXIT_FAILURE
    print_problems(path, damage)
    return EXIT_FAILURE if damage or content.truncated else EXIT_OK


@click.command(name="compile", epilog=_COMPILE_EPILOG)
@click.argument("path", metavar="IN.pm4")
@click.option("--check", is_flag=True, help="Check the text without writing anything.")
@output_option("OUT.rd[.gz]", "Output file; compressed if its name ends in .gz.")
@asks("", text=False, gpu=None, edition=edition_option)
def compile_command(question: Question, path: str, output: str | None, check: bool) -> int:
    """Build a capture from text of the packet assembly language.

    IN.pm4 may be '-' for standard input, OUT.rd '-' for standard output. Nothing is written if the
    text has errors. The language is that of 'cffpy decompile'.
    """
    if (output is None) != check:
        raise click.UsageError("give either -o OUT.rd or --check")
    from cffpy.pm4asm.assemble import assemble

    try:
        if path == "-" and sys.stdin is None:
            raise CffpyError("standard input is closed")
        most = command_limits().stored_bytes
        if path == "-":
            with progress("Compiling standard input"):
                data = assemble(sys.stdin.buffer, "standard input", question.register_db, most)
        else:
            with open(path, "rb") as stream, progress(f"Compiling {path}"):
                data = assemble(stream, path, question.register_db, most)
    except CffpyError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    except OSError as problem:
        print_error(f"{path}: {problem.strerror or problem}")
        return EXIT_FAILURE
    if output is not None:
        write_output(output, capture_file(output, [data], len(data)), [path])
    return EXIT_OK
