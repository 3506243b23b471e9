# SPDX-License-Identifier: MIT
"""``cffpy shaders``: the shaders of a capture: what uses them, their statistics and their code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode
from cffpy.cli.forms import Forms, Result, Shown, write_shown
from cffpy.cli.parameters import edition_option
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.frame.places import DrawRange, ShaderName, SubmitName
from cffpy.views.model_documents import SHADERS_SCHEMA
from cffpy.views.plain_text import Styled, headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.shader import CapturedShader, Shaders

_EPILOG = """\b
Examples:
  cffpy shaders capture.rd.gz                 all shaders of a capture
  cffpy shaders --no-listings capture.rd.gz   only the table
  cffpy shaders --at p3:17 capture.rd.gz      the shaders of a draw
  cffpy shaders --at sh4 capture.rd.gz        shader 4 of the table
  cffpy shaders --json capture.rd.gz | jq '.shaders[] | [.stage, .full_registers]'
"""

_LINE_SCHEMA = "cffpy.shaders.line/1"

#: Ranges of draws shown for one shader in the text; JSON has all.
_SHOWN_RANGES = 24

_HEADINGS = ("shader", "stage", "address", "instructions", "bytes", "half", "full", "constlen")
_RIGHT = (3, 4, 5, 6, 7, 8)


@click.command(epilog=_EPILOG)
@click.option("--no-listings", is_flag=True, help="Only the table, without the code of shaders.")
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(item="shader", json=SHADERS_SCHEMA, jsonl=_LINE_SCHEMA),
    edition=edition_option,
)
def shaders(question: Question, no_listings: bool) -> int:
    """List the shaders of a capture, and disassemble them.

    Each distinct shader is listed once, with stage, address, size, statistics, and the draws and
    dispatches that use it; sh4 names shader 4 in all commands. Their listings follow.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    return write_shown(question, lambda path: _shown(question, path, not no_listings))


def _shown(question: Question, path: str, listings: bool) -> Shown:
    """The shaders of a capture that are asked for."""
    capture = question.open(path)
    all_shaders, code = decode(capture, lambda opened: opened.shaders)
    scope = question.scope_or_none(capture)
    chosen = all_shaders if scope is None else all_shaders.of(scope.uses)
    result = Result(
        SHADERS_SCHEMA,
        lambda: chosen.to_dict(listings=listings),
        lambda: _lines(chosen, listings),
        items=lambda: chosen.to_dict(listings=listings)["shaders"],
    )
    return Shown(capture, code, result)


def _lines(shaders: Shaders, listings: bool) -> Iterator[str]:
    rows = [*map(_row, shaders)]
    if rows:
        yield from headed_columns([(*_HEADINGS, "uses", "where"), *rows], _RIGHT)
    if not listings:
        return
    for shader in shaders:
        yield ""
        yield Styled(_header(shader))
        yield from shader.listing.removesuffix("\n").split("\n")


def _row(shader: CapturedShader) -> tuple[str, ...]:
    statistics = shader.statistics
    registers = ("-",) * 3
    if statistics is not None:
        registers = (str(statistics.half), str(statistics.full), str(statistics.constlen))
    return (
        str(ShaderName(shader.number)),
        shader.stage,
        f"{shader.gpuaddr:#x}",
        str(shader.instructions),
        str(len(shader.code)),
        *registers,
        str(shader.uses),
        _where(shader, 4),
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _header(shader: CapturedShader) -> str:
    from cffpy.capture.gpu import generation_name

    used = "used " + (
        _count(shader.uses, "time") if shader.stage == "CS" else f"by {_count(shader.uses, 'draw')}"
    )
    where = _where(shader, _SHOWN_RANGES)
    return (
        f"{ShaderName(shader.number)}: {shader.stage}, {generation_name(shader.generation)}, "
        f"at {shader.gpuaddr:#x}, "
        f"{_count(shader.instructions, 'instruction')}, {len(shader.code)} bytes, "
        f"{used}{f' ({where})' if where else ''}, "
        f"named by {shader.named_by.name} in the packet at {shader.named_by.packet:#x}"
    )


def _where(shader: CapturedShader, limit: int) -> str:
    """``s0: #0-5, #7; s1: #8``, cut after ``limit`` ranges of draws of the dump."""
    shown: list[str] = []
    cut = not shader.where_is_complete
    for submit, ranges in shader.where:
        if limit <= 0:
            cut = True
            break
        cut = cut or len(ranges) > limit
        draws = ", ".join(str(DrawRange(*pair)) for pair in ranges[:limit])
        shown.append(f"{SubmitName(submit)}{f': {draws}' if draws else ''}")
        limit -= max(1, len(ranges))
    return "; ".join(shown) + (" ..." if cut else "")
