# SPDX-License-Identifier: MIT
"""CFF009: an attachment is loaded, then cleared before anything reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A3XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.passes import Operation

#: Red, green, blue, alpha.
_ALL_COMPONENTS = 0xF


class NeedlessLoad(Lint):
    """An attachment is loaded, then cleared before anything reads it."""

    id = "CFF009"
    name = "needless-load"
    severity = "warning"
    generations = FROM_A3XX
    summary = "an attachment is loaded, then cleared before anything reads it"
    why = "The load reads the attachment from memory for each tile; the clear discards it."
    advice = "Use the load operation CLEAR or DONT_CARE, or move the clear before the pass."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Clears of the whole render area that follow a load in the same run, before any draw."""
        for found in capture.render_passes():
            for run in found.runs:
                first_draw = min((draw.order for draw in run.draws), default=None)
                loaded: dict[str, Operation] = {}
                for operation in run.operations:
                    name, order = operation.attachment, operation.action.order
                    if name is None or not operation.action.execution.is_possible:
                        continue
                    if operation.kind == "load":
                        loaded[name.removesuffix("+stencil")] = operation
                        continue
                    is_first = first_draw is None or order < first_draw
                    before = loaded.get(name.removesuffix("+stencil"))
                    if operation.kind != "clear" or before is None or not is_first:
                        continue
                    if _covers(before, operation):
                        text = f"{name} is loaded by {before.how}, then cleared"
                        yield at_pass(found, text, name)


def _covers(load: Operation, clear: Operation) -> bool:
    """Whether the clear replaces all that was loaded: stencil may lie in the depth buffer."""
    loaded, cleared = ((one.attachment or "").split("+") for one in (load, clear))
    if not set(loaded) <= set(cleared):
        return False
    return not cleared[0].startswith("color") or clear.components in (None, _ALL_COMPONENTS)
