# SPDX-License-Identifier: MIT
"""Images, LRZ buffers and tiles compared with layouts: lines of text, a document for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.analysis.layout_check.checks import KINDS
from cffpy.analysis.layout_check.comparison import ANSWERS
from cffpy.document_types import Facts, Of, OneCapture
from cffpy.frame.faces import facts_document
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.layout_check.checks import LayoutCheck, LayoutChecks

SCHEMA = "cffpy.layout-check/1"

_Answers = TypedDict(
    "_Answers",
    {
        "agrees": Annotated[int, "those that are as calculated"],
        "differs": Annotated[int, "those that are not as calculated"],
        "not decidable": Annotated[int, "those of which too little is known"],
    },
)


class LayoutCounts(_Answers):
    """How many have each answer."""


_Kinds = TypedDict(
    "_Kinds",
    {
        "texture": Annotated[LayoutCounts, "textures"],
        "attachment": Annotated[LayoutCounts, "attachments"],
        "LRZ buffer": Annotated[LayoutCounts, "LRZ buffers"],
        "tiles": Annotated[LayoutCounts, "grids of tiles"],
    },
)


class LayoutKinds(_Kinds):
    """The answers of each kind."""


class LayoutCheckDocument(OneCapture):
    """Layouts compared: cffpy layout check --json."""

    part: Annotated[str | None, "the GPU whose layouts are calculated; null for none"]
    counts: Annotated[Facts, "how many there are", Of("cffpy.views.layout_check:LayoutKinds")]
    checks: Annotated[
        list[Facts],
        "what was compared",
        Of("cffpy.analysis.layout_check.checks:LayoutCheck"),
    ]


_STYLES = {"differs": "red", "not decidable": "yellow", "agrees": ""}


def lines(found: LayoutChecks, show_all: bool) -> Iterator[str]:
    """A table of counts, then each check. ``show_all``: also those that agree."""
    kinds = [kind for kind in KINDS if any(one.kind == kind for one in found.checks)]
    if not kinds:
        yield "nothing to compare: no texture, attachment, LRZ buffer or tile"
        return
    rows = [[kind, *(str(found.count(kind, answer)) for answer in ANSWERS)] for kind in kinds]
    yield from headed_columns([["", *ANSWERS], *rows], right=(1, 2, 3))
    for one in found.checks:
        if show_all or one.answer != "agrees":
            yield Styled(_line(one), _STYLES[one.answer])
            for difference in one.comparison.differences:
                yield f"    {difference}"


def _line(one: LayoutCheck) -> str:
    at = "" if one.address is None else f" at {one.address:#x}"
    where = _where(one)
    where = f" ({where})" if where else ""
    text = f"{one.kind}{at}{where}: {visible(one.what)}: {one.answer}"
    return f"{text}: {visible(one.comparison.note)}" if one.comparison.note else text


def _where(one: LayoutCheck) -> str:
    """The first draw, or the pass."""
    if one.draw_name is not None:
        return f"draw {one.draw_name}"
    return "" if one.pass_ is None else f"pass {one.pass_.index}"


def document(found: LayoutChecks) -> LayoutCheckDocument:
    """Addresses are hex strings. ``uses``: draws of a texture, passes of the others."""
    return {
        "gpu": found.passes.gpu,
        "generation": found.passes.generation or None,
        "part": found.part,
        "counts": {
            kind: {answer: found.count(kind, answer) for answer in ANSWERS} for kind in KINDS
        },
        "checks": [facts_document(one) for one in found.checks],
    }
