# SPDX-License-Identifier: MIT
"""``cffpy tui``: captures in a browser for terminals."""

from __future__ import annotations

import sys

import click

from cffpy.cli.output import EXIT_OK, is_terminal
from cffpy.cli.parameters import command_limits
from cffpy.cli.question import FIRST_PLACE, Question, asks
from cffpy.errors import CffpyError, MissingLibrary

_EPILOG = """\b
Examples:
  cffpy tui capture.rd.gz
  cffpy tui --at p3:17 capture.rd.gz    begins at draw 17 of pass 3
  cffpy tui good.rd.gz bad.rd.gz        marks what differs; d goes to the next
  ssh board cat /tmp/x.rd > x.rd && cffpy tui x.rd

The key ? shows all keys.
"""


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@click.argument("other", required=False, metavar="[OTHER]")
@asks("", places=FIRST_PLACE, text=False)
def tui(question: Question, path: str, other: str | None) -> int:
    """Browse a capture in the terminal: passes, draws, registers, shaders, dump.

    Registers are shown with their changes, fields, and the packet that wrote them. With OTHER,
    draws that differ are marked, with the values of both captures. The library Textual is needed:
    pip install 'cffpy[tui]'.
    """
    paths = [path] if other is None else [path, other]
    if "-" in paths:
        raise click.UsageError("standard input is the keyboard: name a file instead of -")
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise CffpyError("tui needs a terminal; cffpy passes, draws and state print text")
    try:
        from cffpy.tui.app import Browser
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] != "textual":
            raise
        raise MissingLibrary.of("this needs", "textual", "tui") from None
    from cffpy.tui.reader import Decoding

    decoding = Decoding(question.gpu, question.register_db, command_limits())
    code = Browser(paths, decoding, question.place).run()
    if code is not None:
        raise code
    return EXIT_OK
