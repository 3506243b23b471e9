# SPDX-License-Identifier: MIT
"""CFF041: a multisampled attachment is stored with all its samples, and loaded later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A5XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.passes.model import Operation, Pass
    from cffpy.check.model import CheckedCapture, Report


class SamplesStored(Lint):
    """A multisampled attachment is stored with all its samples, and loaded later."""

    id = "CFF041"
    name = "samples-stored"
    severity = "warning"
    generations = FROM_A5XX
    summary = "a multisampled attachment is stored with all its samples, and loaded later"
    why = "All samples go to memory and back. Resolving in the pass moves one value a pixel."
    advice = "Resolve at the end of the pass, and do not store the samples."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Stores without resolve in passes with samples, whose memory a later pass loads."""
        loads = {
            (operation.address, found.index)
            for found in capture.render_passes()
            for run in found.runs
            for operation in run.operations
            if operation.kind == "load" and operation.address and _may_run(operation)
        }
        for found in capture.render_passes():
            if (found.samples or 1) > 1 and found.mode == "gmem" and found.tiles:
                yield from _stores(found, loads)


def _may_run(operation: Operation) -> bool:
    return operation.action.executed.is_possible


def _stores(found: Pass, loads: set[tuple[int, int]]) -> Iterator[Report]:
    """Stores of all samples in the first tile that a later pass loads."""
    for operation in found.tiles[0].operations:
        address = operation.address
        later = [index for at, index in loads if at == address and index > found.index]
        is_whole = operation.kind == "store" and not operation.resolves
        if is_whole and address and later and _may_run(operation):
            name = operation.attachment or "an attachment"
            text = f"{name} is stored with {found.samples} samples, and loaded by pass {min(later)}"
            yield at_pass(found, text, address)
