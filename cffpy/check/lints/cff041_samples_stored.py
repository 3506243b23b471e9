# SPDX-License-Identifier: MIT
"""CFF041: a multisampled attachment is stored with all its samples, and loaded later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A5XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.passes import Pass

#: Actions whose destination passes do not keep.
_COPIES = ("blit", "resolve")

#: Fewer are one value a pixel.
_LEAST_SAMPLES = 2


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
        """Stores without resolve in passes with samples, whose memory a later pass loads.

        Not where something else is written there in between, or where blits may have written it.
        """
        stored: dict[int, tuple[Pass, str]] = {}
        for found in capture.own_passes():
            if found.kind != "render":
                if any(action.kind in _COPIES for action in found.draws):
                    stored.clear()
                continue
            for address in _addresses(found, "load"):
                if address in stored and (found.samples or 1) > 1:
                    before, name = stored.pop(address)
                    text = f"{name} is stored with {before.samples} samples, and loaded by pass"
                    yield at_pass(before, f"{text} {found.index}", address)
            for target in found.attachments:
                if found.mode != "gmem" and target.address:
                    stored.pop(target.address, None)
            for kind in ("store", "clear"):
                for address in _addresses(found, kind):
                    stored.pop(address, None)
            stored.update(_whole_stores(found))


def _addresses(found: Pass, kind: str) -> set[int]:
    """The memory of the operations of a kind that may be executed, of all tiles."""
    return {
        operation.address
        for run in found.runs
        for operation in run.operations
        if operation.kind == kind and operation.address and operation.action.execution.is_possible
    }


def _whole_stores(found: Pass) -> Iterator[tuple[int, tuple[Pass, str]]]:
    """What the first tile of a pass with samples stores with all of them."""
    if (found.samples or 1) < _LEAST_SAMPLES or found.mode != "gmem" or not found.tiles:
        return
    for operation in found.tiles[0].operations:
        is_whole = operation.kind == "store" and not operation.resolves
        if is_whole and operation.address and operation.action.execution.is_possible:
            yield operation.address, (found, operation.attachment or "an attachment")
