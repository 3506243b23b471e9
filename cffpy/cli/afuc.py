# SPDX-License-Identifier: MIT
"""``cffpy afuc``: disassemble and assemble the microcode of the command processor."""

from __future__ import annotations

import click

from cffpy.cli.disasm import read_input
from cffpy.cli.forms import Result, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.output_file import write_output
from cffpy.cli.parameters import edition_option, output_option
from cffpy.cli.question import Forms, Question, asks
from cffpy.errors import CffpyError, IsaError, UsageError

_EPILOG = """\b
Examples:
  cffpy afuc disasm a630_sqe.fw > sqe.asm
  cffpy afuc asm sqe.asm -o a630_sqe.fw
"""
_DISASM_EPILOG = """\b
Examples:
  cffpy afuc disasm a630_sqe.fw > sqe.asm
  cffpy afuc disasm --gpu a7xx --json gen70900_sqe.fw | jq '.sections[].name'
  cffpy afuc disasm --raw --gpu a6xx words.bin
"""
_ASM_EPILOG = """\b
Examples:
  cffpy afuc asm sqe.asm -o a630_sqe.fw
  cffpy afuc asm --gpu 730 edited.asm -o gen70000_sqe.fw
"""

_raw = click.option(
    "--raw", "is_raw", is_flag=True, help="The file is dwords alone, without header and table."
)


@click.group(epilog=_EPILOG)
@click.help_option("-h", "--help")
def afuc() -> None:
    """Disassemble and assemble the microcode of the command processor (SQE, a5xx to a7xx).

    The text is that of Mesa's afuc tools.
    """


@afuc.command(epilog=_DISASM_EPILOG)
@click.argument("path", metavar="FILE")
@_raw
@asks("", forms=Forms(json="cffpy.microcode/1"), edition=edition_option)
def disasm(question: Question, path: str, is_raw: bool) -> int:
    """Disassemble a firmware file, such as a630_sqe.fw.

    Each processor of the firmware (SQE, BV, LPAC) is a section: its instructions, with the names of
    packets where their handlers begin, and its packet table. What is not an instruction is shown as
    data in brackets. 'cffpy afuc asm' makes the same file of the text.

    FILE may be '-' for standard input. Without --gpu, the generation is taken from the firmware's
    id, else from the file's name.
    """
    from cffpy.api.microcode import disassemble_microcode
    from cffpy.views import microcode as view

    try:
        data = read_input(path)
        found = disassemble_microcode(
            data, question.gpu, name=path, is_raw=is_raw, register_db=question.register_db
        )
    except UsageError as problem:
        raise click.UsageError(str(problem)) from None
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    return write_result(Result(view.SCHEMA, found.to_dict, found.lines), question.form)


@afuc.command(epilog=_ASM_EPILOG)
@click.argument("path", metavar="FILE")
@_raw
@output_option("OUT.fw", "Output file.", required=True)
@asks("", text=False, edition=edition_option)
def asm(question: Question, path: str, output: str, is_raw: bool) -> int:
    """Assemble microcode to a firmware file.

    FILE is a text as 'cffpy afuc disasm' prints it: one instruction a line, 'name:' for a label,
    ';' before a comment. A label with a packet's name, or with 'UNKN' and its number, is that
    packet's handler, and '.jumptbl' the packet table. Each instruction is disassembled again: a
    text that differs is an error.

    FILE may be '-' for standard input, OUT.fw '-' for standard output. Without --gpu, a first line
    like '; a6xx microcode' names the generation, else the firmware's id in the first dword does.
    """
    from cffpy.api.microcode import assemble_microcode

    try:
        text = read_input(path).decode("utf-8", "replace")
        data = assemble_microcode(
            text, question.gpu, name=path, is_raw=is_raw, register_db=question.register_db
        )
    except UsageError as problem:
        raise click.UsageError(str(problem)) from None
    except IsaError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    write_output(output, [data], [path])
    return EXIT_OK
