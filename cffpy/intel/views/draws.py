# SPDX-License-Identifier: MIT
"""Actions of Intel captures as rows of a table, and as members of JSON documents."""

from __future__ import annotations

from cffpy.frame.places import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses


def document(action: Action, uses: Uses) -> dict[str, Any]:
    """An action as members of a JSON document. What only the GPU knows is null."""
    counts = uses.counts
    name = name_of(action) if action.number is not None else None
    found: dict[str, Any] = {
        "action": action.order,
        "draw": None if name is None else str(name),
        "submit": action.submit,
        "address": action.place.gpuaddr,
        "batch": uses.batch,
        "instruction": action.packet,
        "role": describe_what(action),
        "pass": action.pass_index,
        "indirect": action.indirect,
        "predicated": action.condition is not None,
        "predicate": None if action.condition is None else action.execution.value,
    }
    if counts.groups is not None:
        found["groups"] = list(counts.groups)
    elif action.kind == "draw":
        found.update(
            topology=action.primitive or "",
            indexed=action.indexed,
            vertices=counts.vertices,
            instances=counts.instances,
            first=counts.first,
            first_instance=counts.first_instance,
            base=counts.base,
        )
    found["kernels"] = [
        {"stage": program.stage, "width": width, "address": address}
        for program in uses.programs
        for width, address in program.kernels
    ]
    found["missing_tables"] = uses.missing_tables
    found["targets"] = [target.document() for target in uses.targets]
    found["depth"] = None if uses.depth is None else uses.depth.document()
    if action.generated is not None:
        call, *others = action.generated._asdict().items()
        found["generated"] = {"generation": call[1], **dict(others)}
    return found


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
