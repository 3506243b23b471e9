# SPDX-License-Identifier: MIT
"""LRZ of the passes of a capture, as lines of text and as a document for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from cffpy.document_types import Facts, Of, OneCapture
from cffpy.frame.faces import facts_document
from cffpy.views.passes import ranges_text, title
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.lrz import PassLrz
    from cffpy.frame.lrz import DrawLrz, Why
    from cffpy.frame.passes import Passes

SCHEMA = "cffpy.lrz/1"


def lines(passes: Iterable[PassLrz]) -> Iterator[str]:
    """Each pass with its draws, those in a row with the same answer together."""
    empty = True
    for pass_ in passes:
        empty = False
        yield Styled(title(pass_.pass_))
        if not pass_.tests_depth:
            yield "  no draw tests depth"
            continue
        yield f"  {buffer_text(pass_)}"
        yield f"  {summary_text(pass_)}"
        for _, draws in groupby(pass_.draws, _answer):
            yield _draws_line(list(draws))
        for note in pass_.notes:
            yield f"  note: {note}"
    if empty:
        yield "no render pass of a GPU with LRZ"


def buffer_text(of_pass: PassLrz) -> str:
    """The LRZ buffer, and how the pass begins with it."""
    lrz = of_pass.pass_.lrz
    if lrz is None or not lrz.address:
        return "no LRZ buffer"
    state = "cleared before the pass" if lrz.cleared else "not cleared before the pass"
    if lrz.clear_depth is not None:
        state += f" to {lrz.clear_depth:g} (fast clear)"
    if lrz.clear_pipe in ("BV", "unknown"):
        state += f" by pipe {lrz.clear_pipe}"
    if lrz.disabled:
        state = "marked as unusable for the pass"
    second = "" if lrz.second is None else f" and, in turn, {lrz.second:#x}"
    return f"LRZ buffer at {lrz.address:#x}{second}, {state}"


def summary_text(lrz: PassLrz) -> str:
    """How many draws use LRZ, and what lost it."""
    writes = sum(draw.use == "test and write" for draw in lrz.draws)
    count = len(lrz.draws)
    text = f"{count} draw{'s' * (count != 1)}: {lrz.tested} test LRZ, {writes} of them write it"
    if lrz.lost_by is not None and lrz.lost_why is not None:
        text += f"; lost by draw {lrz.lost_name}: {lrz.lost_why.text}"
        if lrz.paying:
            text += f"; {len(lrz.paying)} later draws would use it"
    return text


def _answer(draw: DrawLrz) -> tuple[str, str | None, tuple[Why, ...]]:
    return draw.use, draw.direction, draw.reasons


def _draws_line(draws: list[DrawLrz]) -> str:
    first = draws[0]
    numbers = ranges_text([draw.draw for draw in draws])
    parts: list[str] = [first.use if first.use != "test" else "test only"]
    if first.direction is not None and first.use != "off":
        parts.append(first.direction)
    text = f"    {'draw' if len(draws) == 1 else 'draws'} {numbers}: {', '.join(parts)}"
    if first.reasons:
        text += f": {'; '.join(why.text for why in first.reasons)}"
    return text


class LrzDocument(OneCapture):
    """LRZ of the passes of a capture: cffpy lrz --json."""

    passes: Annotated[Iterable[Facts], "the passes", Of("cffpy.analysis.lrz:PassLrz")]


def document(frame: Passes, passes: Iterable[PassLrz]) -> LrzDocument:
    """The passes with their draws."""
    return {
        "gpu": frame.gpu,
        "generation": frame.generation or None,
        "passes": map(facts_document, passes),
    }
