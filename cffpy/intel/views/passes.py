# SPDX-License-Identifier: MIT
"""What only passes of Intel captures have, in lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.passes import Pass
    from cffpy.intel.analysis.survey import Survey


def details(one: Pass, found: Survey) -> Iterator[str]:
    """What only Intel captures have: hierarchical depth, calls that generate draws, flushes."""
    if one.kind == "render" and found.uses[one.draws[0].order].has_hiz:
        yield "  HiZ        hierarchical depth is on"
    for call in found.generations:
        predicted = [
            draw.generated.is_predicted
            for draw in one.draws
            if draw.generated is not None and draw.generated.call == call.number
        ]
        if predicted:
            note = f"; {sum(predicted)} predicted from the indirect data" if any(predicted) else ""
            yield f"  {call.describe()}{note}"
    for address, words in found.flushes[one.index]:
        yield f"  before     {address:#x}: {', '.join(words)}"
