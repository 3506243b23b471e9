# SPDX-License-Identifier: MIT
"""What the passes of a capture move to and from memory: lines of text, and a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.analysis.pass_cost import ranked
from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document
from cffpy.views.passes import title
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.pass_cost import MovedBytes, PassCost

SCHEMA = "cffpy.passes.cost/1"
#: Of a sysmem pass.
DIRECT = "what draws read and write in memory, which is not counted"


def lines(costs: Sequence[PassCost], whole: int) -> Iterator[str]:
    """The passes by the bytes that they move. ``whole``: bytes of all passes of the capture."""
    yield Styled(f"{whole:,} bytes loaded, stored and resolved by all render passes")
    for rank, cost in enumerate(ranked(costs), 1):
        yield Styled(f"{rank}. {title(cost.pass_)}: {_moved_text(cost, whole)}")
        for operation in cost.operations:
            yield f"     {_formula(operation)}"
        if cost.gmem_used is not None:
            size = cost.gmem_size
            of = "" if size is None else f" of {size:,}, {100 * cost.gmem_used / size:.0f} %"
            bins = cost.pass_.bin_size
            yield f"     GMEM: {cost.gmem_used:,} bytes for a bin of {bins}{of}"
        if cost.not_counted:
            yield f"     not counted: {cost.not_counted} operations of unknown format or area"


def _moved_text(cost: PassCost, whole: int) -> str:
    """The bytes of a pass. In sysmem mode draws move bytes that no formula has."""
    share = f"{100 * cost.memory_bytes / whole:.1f} %" if whole else "0 %"
    counted = f"{cost.memory_bytes:,} bytes, {share}"
    if cost.pass_.mode == "gmem":
        return counted
    return f"{counted}, and {DIRECT}" if cost.memory_bytes else DIRECT


def _formula(moved: MovedBytes) -> str:
    samples = f" x {moved.samples} samples" if moved.samples > 1 else ""
    times = f", {moved.times} times" if moved.times > 1 else ""
    product = (
        f"{moved.pixels:,} pixels x {moved.bytes_a_pixel} bytes{samples} = {moved.bytes:,} bytes"
    )
    return f"{moved.kind} {moved.attachment}: {product}{times}"


class CostDocument(TypedDict):
    """What the render passes of a capture move: cffpy passes --cost --json."""

    memory_bytes: Annotated[int, "bytes that all passes of the capture move"]
    passes: Annotated[list[Facts], "the passes", Of("cffpy.analysis.pass_cost:PassCost")]


def document(costs: Sequence[PassCost], whole: int) -> CostDocument:
    """The passes in order; ``rank`` 1 is the one that moves most."""
    return {"memory_bytes": whole, "passes": [facts_document(cost) for cost in costs]}
