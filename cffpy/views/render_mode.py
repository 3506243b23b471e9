# SPDX-License-Identifier: MIT
"""Why passes are in sysmem or GMEM mode: lines of text, and a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document
from cffpy.views.passes import title
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.frame.passes import Pass
    from cffpy.frame.render_mode import ModeChoice

SCHEMA = "cffpy.passes.why/1"


def lines(passes: Iterable[Pass]) -> Iterator[str]:
    """Each render pass with the rule that decided, and what the driver computes."""
    for pass_ in passes:
        choice = pass_.mode_choice
        if choice is None:
            continue
        yield Styled(title(pass_))
        yield f"  {choice.mode}: {choice.reason}{_rule_text(choice)}"
        if choice.counts_samples:
            yield "  the autotuner counts its samples"
        if choice.without_history not in (None, choice.mode):
            yield f"  without options and earlier frames: {choice.without_history}"
        counted = ", ".join(_numbers(choice))
        if counted:
            yield f"  {counted}"
        if choice.sysmem_samples is not None:
            yield f"  {_threshold_text(choice.sysmem_samples)}"
        if choice.binning_reason is not None:
            run = "a binning run" if pass_.hardware_binning else "no binning run"
            yield f"  {run}: {choice.binning_reason}"


def _rule_text(choice: ModeChoice) -> str:
    parts = [choice.function, choice.certainty]
    known = [part for part in parts if part is not None]
    return f" ({', '.join(known)})" if known else ""


def _numbers(choice: ModeChoice) -> Iterator[str]:
    yield f"{choice.draws:,} draw{'' if choice.draws == 1 else 's'}"
    if choice.pixels is not None:
        yield f"{choice.pixels:,} pixels"
    if choice.sysmem_bytes is not None:
        gmem = "unknown" if choice.gmem_bytes is None else str(choice.gmem_bytes)
        yield f"bytes a pixel besides draws {choice.sysmem_bytes} in sysmem and {gmem} in GMEM mode"
    if choice.draw_cost is not None:
        unit = "bytes" if choice.driver == "turnip" else "reads and writes"
        yield f"{choice.draw_cost:.4g} {unit} for a sample of a draw"


def _threshold_text(most: int) -> str:
    if most < 0:
        return "by these numbers the autotuner never chooses sysmem"
    return f"the autotuner chooses sysmem if earlier frames had at most {most:,} samples"


class WhyDocument(TypedDict):
    """Why the render passes of a capture are in their mode: cffpy passes --why --json."""

    passes: Annotated[list[Facts], "the passes", Of("cffpy.frame.render_mode:ModeChoice")]


def document(passes: Iterable[Pass]) -> WhyDocument:
    """The render passes in order."""
    choices = (pass_.mode_choice for pass_ in passes)
    return {"passes": [facts_document(choice) for choice in choices if choice is not None]}
