# SPDX-License-Identifier: MIT
"""``cffpy vsc FILE``: the visibility streams of a capture's passes, as text, JSON or a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import find, not_there, the_pass, write_json
from cffpy.cli.output import EXIT_FAILURE
from cffpy.cli.output_file import write_lines_to
from cffpy.cli.text_options import write_lines
from cffpy.views.plain_text import Styled, headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.visibility_model import PassVisibility
    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.passes import Pass

#: Passes listed in an error message.
_LISTED = 20


def show(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    as_json: bool,
    svg: str | None,
    plot: bool,
) -> int:
    """Show the passes with hardware binning, or one; the exit code."""
    from cffpy.views import visibility as view

    capture, code = find(path, gpu, register_db)
    binned = [one for one in capture.passes if one.hardware_binning]
    shown = binned if index is None else [the_pass(capture, index)]
    if svg is not None:
        shown = [_the_drawn(capture, shown)]
    damaged = [False]

    def read() -> Iterator[PassVisibility]:
        # one by one: each may be large
        for one in shown:
            found = one.visibility
            damaged[0] = damaged[0] or found.is_damaged
            yield found

    if as_json:
        document = view.document(capture.model, read(), with_entries=index is not None)
        write_json(view.SCHEMA, document, capture.truncated)
    elif svg is not None:
        _draw(path, svg, next(read()))
    elif plot and shown:
        write_lines(_plots(read()), capture.truncated)
    else:
        lines = _lines(read()) if shown else [view.nothing_text(capture.model)]
        write_lines(lines, capture.truncated)
    return EXIT_FAILURE if damaged[0] else code


def _the_drawn(capture: Capture, shown: list[Pass]) -> Pass:
    """The only pass to draw. Raises ``not_there``."""
    if len(shown) == 1 and shown[0].tiles:
        return shown[0]
    if len(shown) == 1:
        raise not_there(capture, f"pass {shown[0].index} has no tiles to draw")
    if not shown:
        raise not_there(capture, "no pass of this capture has hardware binning")
    numbers = ", ".join(str(one.index) for one in shown[:_LISTED])
    more = " ..." if len(shown) > _LISTED else ""
    raise click.UsageError(f"--svg draws one pass, choose it with --pass: {numbers}{more}")


def _lines(passes: Iterable[PassVisibility]) -> Iterator[str]:
    from cffpy.views import visibility as view

    for found in passes:
        yield from view.head_lines(found)
        yield from view.finding_lines(found.findings)
        for pipe in found.pipes:
            yield from view.pipe_lines(pipe)
            for line in headed_columns(view.bin_table(found.one, pipe), view.RIGHT):
                text = f"    {line}"
                yield Styled(text) if isinstance(line, Styled) else text


def _plots(passes: Iterable[PassVisibility]) -> Iterator[str]:
    from cffpy.views.plots import visibility_lines
    from cffpy.views.visibility_svg import heat_of

    for found in passes:
        heat = heat_of(found)
        yield from visibility_lines(found, heat.values, heat.label)
        if found.reason:
            yield f"  {found.reason}"


def _draw(path: str, output: str, found: PassVisibility) -> None:
    from cffpy.views.visibility_svg import drawing

    write_lines_to(output, drawing(found).lines(), [path])
