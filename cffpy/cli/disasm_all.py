# SPDX-License-Identifier: MIT
"""``cffpy disasm --all``: the shaders of a capture as a table, as listings, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cffpy.views.plain_text import Styled, headed_columns

if TYPE_CHECKING:
    from cffpy.api.shaders import CapturedShader

#: Ranges of draws shown for one shader in the text; JSON has all.
_SHOWN_RANGES = 24

_HEADINGS = ("shader", "stage", "address", "instructions", "bytes", "half", "full", "constlen")
_RIGHT = (0, 3, 4, 5, 6, 7, 8)


def run(
    path: str,
    generation: int | None,
    register_db: str | None,
    form: str,
    only_list: bool,
) -> int:
    """List the shaders of a capture; the exit code. ``generation``: decode for it.

    ``form``: "json", "jsonl", or "" for text.

    Raises CffpyError.
    """
    from cffpy.capture.gpu import guess
    from cffpy.cli.analysis_options import decode, open_for, write_json, write_json_lines
    from cffpy.cli.text_options import write_lines

    gpu = None if generation is None else guess(generation * 100)
    capture = open_for(path, gpu, register_db)
    shaders, code = decode(capture, lambda opened: opened.shaders)
    if form:
        from cffpy.views import shaders as view

        document = shaders.to_dict(listings=not only_list)
        if form == "json":
            write_json(view.SCHEMA, document, capture.truncated)
        else:
            write_json_lines(document["shaders"], path)
    else:
        write_lines(_lines(shaders, only_list), capture.truncated)
    return code


def _lines(shaders: Sequence[CapturedShader], only_list: bool) -> Iterator[str]:
    rows = [*map(_row, shaders)]
    if rows:
        yield from headed_columns([(*_HEADINGS, "uses", "where"), *rows], _RIGHT)
    if only_list:
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
        str(shader.number),
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
    used = "used " + (
        _count(shader.uses, "time") if shader.stage == "CS" else f"by {_count(shader.uses, 'draw')}"
    )
    where = _where(shader, _SHOWN_RANGES)
    return (
        f"shader {shader.number}: {shader.stage}, a{shader.generation}xx, at {shader.gpuaddr:#x}, "
        f"{_count(shader.instructions, 'instruction')}, {len(shader.code)} bytes, "
        f"{used}{f' ({where})' if where else ''}, "
        f"named by {shader.named_by.name} in the packet at {shader.named_by.packet:#x}"
    )


def _where(shader: CapturedShader, limit: int) -> str:
    """``submit 0: draws 0-5,7; submit 1: draw 8``, cut after ``limit`` ranges."""
    shown: list[str] = []
    cut = shader.model.is_cut
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
