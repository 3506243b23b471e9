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
            for difference in check.comparison.differences:
                yield f"    {difference}"


def _line(check: LayoutCheck) -> str:
    at = "" if check.address is None else f" at {check.address:#x}"
    where = _where(check)
    where = f" ({where})" if where else ""
    text = f"{check.kind}{at}{where}: {visible(check.what)}: {check.answer}"
    return f"{text}: {visible(check.comparison.note)}" if check.comparison.note else text


def _where(check: LayoutCheck) -> str:
    """The first draw, or the pass."""
    if check.draw_name is not None:
        return f"draw {check.draw_name}"
    return "" if check.pass_ is None else f"pass {check.pass_.index}"


def document(checks: LayoutChecks) -> LayoutCheckDocument:
    """Addresses are hex strings. ``uses``: draws of a texture, passes of the others."""
    return {
        "gpu": checks.passes.gpu,
        "generation": checks.passes.generation or None,
        "part": checks.part,
        "counts": {
            kind: {answer: checks.count(kind, answer) for answer in ANSWERS} for kind in KINDS
        },
        "checks": [facts_document(check) for check in checks.checks],
    }
