# SPDX-License-Identifier: MIT
"""``cffpy disasm --all``: the shaders of a capture as a table, as listings, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cffpy.views.plain_text import Styled, headed_columns

if TYPE_CHECKING:
    from cffpy.analysis.shaders import Shader

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
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.analysis.shaders import collect_shaders
    from cffpy.capture.gpu import guess
    from cffpy.cli.analysis_options import print_problems, write_json
    from cffpy.cli.limit_option import command_limits
    from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_warning
    from cffpy.cli.progress import progress
    from cffpy.cli.text_options import write_lines
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
    if as_json:
        from cffpy.views import shaders as view

        document = view.document(
            content.name, collector.shaders, collector.left_out, with_listings=not only_list
        )
        write_json(view.SCHEMA, document, content.truncated)
    else:
        write_lines(_lines(collector.shaders, only_list), content.truncated)
    return EXIT_FAILURE if damage or content.truncated else EXIT_OK


def _lines(shaders: Sequence[Shader], only_list: bool) -> Iterator[str]:
    rows = [(*_HEADINGS, "uses", "where"), *(_row(*pair) for pair in enumerate(shaders))]
    yield from headed_columns(rows, _RIGHT)
    if only_list:
        return
    for number, shader in enumerate(shaders):
        yield ""
        yield Styled(_header(number, shader))
        yield from shader.program.text.removesuffix("\n").split("\n")


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
