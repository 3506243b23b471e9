# SPDX-License-Identifier: MIT
"""Images, LRZ buffers and tiles compared with layouts: lines of text, a document for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.checks import KINDS, LayoutCheck
from cffpy.analysis.layout_check.comparison import ANSWERS
from cffpy.frame.facts import model, stored
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.layout_check.checks import LayoutChecks

SCHEMA = "cffpy.layout-check/1"


@model("layout_counts", frozen=True)
class LayoutCounts:
    """How many have each answer."""

    agrees: int = stored("those that are as calculated")
    differs: int = stored("those that are not as calculated")
    undecidable: int = stored("those of which too little is known", name="not decidable")


@model("layout_kinds", frozen=True)
class LayoutKinds:
    """The answers of each kind."""

    texture: LayoutCounts = stored("textures")
    attachment: LayoutCounts = stored("attachments")
    lrz_buffer: LayoutCounts = stored("LRZ buffers", name="LRZ buffer")
    tiles: LayoutCounts = stored("grids of tiles")


@model("layout_check_answer", is_value=False)
class LayoutCheckDocument:
    """Layouts compared: cffpy layout check --json."""

    gpu: str | None = stored("name of the GPU; null where the capture does not tell it")
    generation: int | None = stored("generation of the GPU: 7 for a7xx")
    part: str | None = stored("the GPU whose layouts are calculated; null for none")
    counts: LayoutKinds = stored("how many there are")
    checks: list[LayoutCheck] = stored("what was compared")


_STYLES = {"differs": "red", "not decidable": "yellow", "agrees": ""}


def lines(checks: LayoutChecks, show_all: bool) -> Iterator[str]:
    """A table of counts, then each check. ``show_all``: also those that agree."""
    kinds = [kind for kind in KINDS if any(check.kind == kind for check in checks.checks)]
    if not kinds:
        yield "nothing to compare: no texture, attachment, LRZ buffer or tile"
        return
    rows = [[kind, *(str(checks.count(kind, answer)) for answer in ANSWERS)] for kind in kinds]
    yield from headed_columns([["", *ANSWERS], *rows], right=(1, 2, 3))
    for check in checks.checks:
        if show_all or check.answer != "agrees":
            yield Styled(_line(check), _STYLES[check.answer])
            for difference in check._comparison.differences:
                yield f"    {difference}"


def _line(check: LayoutCheck) -> str:
    at = "" if check.address is None else f" at {check.address:#x}"
    where = _where(check)
    where = f" ({where})" if where else ""
    text = f"{check.kind}{at}{where}: {visible(check.what)}: {check.answer}"
    return f"{text}: {visible(check._comparison.note)}" if check._comparison.note else text


def _where(check: LayoutCheck) -> str:
    """The first draw, or the pass."""
    if check.draw_name is not None:
        return f"draw {check.draw_name}"
    return "" if check.pass_ is None else f"pass {check.pass_.index}"


def document(checks: LayoutChecks) -> LayoutCheckDocument:
    """The answers, with counts."""
    counts = [LayoutCounts(*(checks.count(kind, answer) for answer in ANSWERS)) for kind in KINDS]
    passes = checks._passes
    return LayoutCheckDocument(
        passes.gpu, passes.generation or None, checks.part, LayoutKinds(*counts), checks.checks
    )
