# SPDX-License-Identifier: MIT
"""Actions of Intel captures as text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses


def describe_counts(action: Action, uses: Uses) -> str:
    """How much an action draws or computes, as text."""
    counts = uses.counts
    if counts.groups is not None:
        return f"{'x'.join(_number(part) for part in counts.groups)} thread groups"
    if action.kind != "draw" or not action.primitive:
        return ""
    what = "indices" if action.indexed else "vertices"
    text = f"{action.primitive}, {_number(counts.vertices)} {what} from {_number(counts.first)}"
    plural = "instance" if counts.instances == 1 else "instances"
    text += f", {_number(counts.instances)} {plural} from {_number(counts.first_instance)}"
    return f"{text}, base vertex {_number(counts.base)}" if action.indexed else text


def describe_predicate(action: Action) -> str:
    """Whether a predicated action is executed, as text; "" for an action without predicate."""
    if action.condition is None:
        return ""
    known = {True: ": it is executed", False: ": it is not executed", None: ""}
    return f"predicate {predicate_word(action)}{known[action.execution.value]}"


def describe_what(action: Action) -> str:
    """What an action is: "draw", "dispatch", what a driver does with it, or to depth."""
    if action.kind == "HiZ operation":
        return action.primitive or action.role
    return action.role or action.kind


def describe_role(action: Action) -> str:
    """What an action is, whether it is indirect, predicated or generated."""
    parts = [describe_what(action)]
    if action.indirect:
        parts.append("indirect")
    if action.condition is not None:
        parts.append(f"predicate {predicate_word(action)}")
    if action.generated is not None:
        parts.append(str(action.generated))
    return " ".join(parts)


def predicate_word(action: Action) -> str:
    """The predicate of a predicated action: true, false (it is not executed), unknown."""
    is_executed = action.execution.value
    return "unknown" if is_executed is None else str(is_executed).lower()


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)
