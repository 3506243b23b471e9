# SPDX-License-Identifier: MIT
"""``cffpy disasm --all``: the shaders of a capture as a table, as listings, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from cffpy.views.plain_text import columns

if TYPE_CHECKING:
    from cffpy.analysis.shaders import Shader
    from cffpy.isa.statistics import Statistics

SCHEMA = "cffpy.disasm-all/1"

#: Ranges of draws shown for one shader in the text; JSON has all.
_SHOWN_RANGES = 24

_HEADINGS = ("shader", "stage", "address", "instructions", "bytes", "half", "full", "constlen")
_RIGHT = (0, 3, 4, 5, 6, 7, 8)


def run(
    path: str, generation: int | None, register_db: str | None, as_json: bool, only_list: bool
) -> int:
    """List the shaders of a capture; the exit code. ``generation``: decode for it.

    Raises CffpyError.
    """
    from cffpy.analysis.shaders import collect_shaders
    from cffpy.capture.gpu import guess
    from cffpy.cli.analysis_options import print_problems
    from cffpy.cli.limit_option import command_limits
    from cffpy.cli.output import (
        EXIT_FAILURE,
        EXIT_OK,
        PagedOutput,
        print_warning,
        write_all,
    )
    from cffpy.cli.progress import progress
    from cffpy.container.kinds import check_capture
    from cffpy.container.open import open_capture
    from cffpy.limits import Truncation

    gpu = None if generation is None else guess(generation * 100)
    content = check_capture(open_capture(path, command_limits()))
    with progress(f"Reading {path}", content):
        collector, damage = collect_shaders(content, print_warning, register_db, gpu)
    print_problems(content.name, damage)
    print_problems(content.name, content.truncated, print_warning)
    if collector.left_out:
        text = f"too many shaders: {collector.left_out} are not shown"
        content.note_truncated([Truncation("", text)])
        print_warning(f"{content.name}: too many shaders: {collector.left_out} are not shown")
    with PagedOutput(pager=False) as stream:
        if as_json:
            document = as_document(content.name, collector.shaders, not only_list)
            document["left_out"] = collector.left_out
            if content.truncated:
                document["truncated"] = [cut.document() for cut in content.truncated]
            write_all(stream, (json.dumps(document, indent=2) + "\n").encode())
        else:
            _write_text(stream, collector.shaders, only_list, write_all)
            for cut in content.truncated:
                write_all(stream, f"truncated: {cut}\n".encode())
    return EXIT_FAILURE if damage or content.truncated else EXIT_OK


def as_document(name: str, shaders: Sequence[Shader], with_listings: bool) -> dict[str, Any]:
    """The JSON form: addresses as hex strings, numbers as numbers."""
    return {
        "schema": SCHEMA,
        "file": name,
        "shaders": [
            _shader_document(number, shader, with_listings) for number, shader in enumerate(shaders)
        ],
    }


def _shader_document(number: int, shader: Shader, with_listing: bool) -> dict[str, Any]:
    program = shader.program
    document: dict[str, Any] = {
        "shader": number,
        "stage": shader.stage,
        "generation": shader.generation,
        "address": f"{shader.gpuaddr:#x}",
        "instructions": program.instructions,
        "size": len(program.code),
        "stats": None if program.statistics is None else _statistics_document(program.statistics),
        "named_by": {"name": shader.naming.name, "packet": f"{shader.naming.packet:#x}"},
        "uses": shader.uses,
        "where": [
            {"submit": submit, "draws": [list(pair) for pair in ranges]}
            for submit, ranges in shader.where
        ],
        "where_is_complete": not shader.is_cut,
    }
    if with_listing:
        document["listing"] = program.text
    return document


def _statistics_document(statistics: Statistics) -> dict[str, Any]:
    return {
        "instr": statistics.instr,
        "nops": statistics.nops,
        "non_nops": statistics.non_nops,
        "mov": statistics.mov,
        "cov": statistics.cov,
        "last_baryf": statistics.last_baryf,
        "half": statistics.half,
        "full": statistics.full,
        "constlen": statistics.constlen,
        "cat": list(statistics.categories),
        "sstall": statistics.sstall,
        "ss": statistics.ss,
        "sy": statistics.sy,
    }


def _write_text(
    stream: BinaryIO,
    shaders: Sequence[Shader],
    only_list: bool,
    write: Callable[[BinaryIO, bytes], None],
) -> None:
    lines = [(*_HEADINGS, "uses", "where"), *(_row(*pair) for pair in enumerate(shaders))]
    write(stream, "".join(f"{line}\n" for line in columns(lines, _RIGHT)).encode())
    if only_list:
        return
    for number, shader in enumerate(shaders):
        write(stream, f"\n{_header(number, shader)}\n{shader.program.text}".encode("latin-1"))


def _row(number: int, shader: Shader) -> tuple[str, ...]:
    program = shader.program
    statistics = program.statistics
    registers = ("-",) * 3
    if statistics is not None:
        registers = (str(statistics.half), str(statistics.full), str(statistics.constlen))
    return (
        str(number),
        shader.stage,
        f"{shader.gpuaddr:#x}",
        str(program.instructions),
        str(len(program.code)),
        *registers,
        str(shader.uses),
        _where(shader, 4),
    )


def _header(number: int, shader: Shader) -> str:
    program = shader.program
    used = f"used by {shader.uses} draws" if shader.stage != "CS" else f"used {shader.uses} times"
    where = _where(shader, _SHOWN_RANGES)
    return (
        f"shader {number}: {shader.stage}, a{shader.generation}xx, at {shader.gpuaddr:#x}, "
        f"{program.instructions} instructions, {len(program.code)} bytes, "
        f"{used}{f' ({where})' if where else ''}, "
        f"named by {shader.naming.name} in the packet at {shader.naming.packet:#x}"
    )


def _where(shader: Shader, limit: int) -> str:
    """``submit 0: draws 0-5,7; submit 1: draw 8``, cut after ``limit`` ranges."""
    shown: list[str] = []
    cut = shader.is_cut
    for submit, ranges in shader.where:
        if limit <= 0:
            cut = True
            break
        cut = cut or len(ranges) > limit
        shown.append(f"submit {submit}{_draws(ranges[:limit])}")
        limit -= max(1, len(ranges))
    return "; ".join(shown) + (" ..." if cut else "")


def _draws(ranges: Sequence[Sequence[int]]) -> str:
    if not ranges:
        return ""
    listed = ",".join(_range(*pair) for pair in ranges)
    return f": {'draw' if listed.isdigit() else 'draws'} {listed}"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
