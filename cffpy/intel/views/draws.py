# SPDX-License-Identifier: MIT
"""Actions of Intel captures as rows of a table, and as members of JSON documents."""

from __future__ import annotations

from cffpy.frame.places import name_of
from cffpy.intel.analysis.actions import stage_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.surfaces import Surface

SCHEMA = "cffpy.intel-draws/2"

HEADINGS = (
    "action",
    "draw",
    "submit",
    "address",
    "what",
    "topology",
    "vertices",
    "instances",
    "stages",
    "targets",
    "depth",
)
RIGHT = (0, 2, 6, 7)

CSV_COLUMNS = (
    "action",
    "draw",
    "submit",
    "address",
    "batch",
    "role",
    "instruction",
    "topology",
    "vertices",
    "instances",
    "first",
    "first_instance",
    "base",
    "groups",
    "stages",
    "targets",
    "depth",
    "predicted",
    "predicate",
)


def cells(action: Action, uses: Uses) -> tuple[str, ...]:
    """The row of an action."""
    counts = uses.counts
    if counts.groups is not None:
        vertices = "x".join(_number(part) for part in counts.groups)
    else:
        vertices = _number(counts.vertices) if action.primitive else ""
    is_draw = action.kind == "draw"
    return (
        str(action.order),
        str(name_of(action) or ""),
        str(action.submit),
        f"{action.place.gpuaddr:#x}",
        describe_role(action, uses),
        action.primitive or "" if is_draw else "",
        vertices if is_draw or counts.groups is not None else "",
        _number(counts.instances) if is_draw else "",
        stage_names(uses),
        "unknown" if uses.has_unknown_targets else ", ".join(map(_short, uses.targets)),
        "" if uses.depth is None else _short(uses.depth),
    )


def row(action: Action, uses: Uses) -> tuple[object, ...]:
    """The row of an action in CSV."""
    counts = uses.counts
    return (
        action.order,
        name_of(action),
        action.submit,
        f"{action.place.gpuaddr:#x}",
        f"{uses.batch:#x}",
        describe_what(action),
        action.packet,
        action.primitive or "" if action.kind == "draw" else "",
        counts.vertices,
        counts.instances,
        counts.first,
        counts.first_instance,
        counts.base,
        None if counts.groups is None else "x".join(_number(part) for part in counts.groups),
        stage_names(uses),
        "; ".join(_short(target) for target in uses.targets),
        None if uses.depth is None else _short(uses.depth),
        uses.generated is not None and uses.generated.is_predicted,
        predicate_word(action) if action.condition is not None else None,
    )


def document(action: Action, uses: Uses) -> dict[str, Any]:
    """An action as members of a JSON document. What only the GPU knows is null."""
    counts = uses.counts
    name = name_of(action)
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
    if uses.generated is not None:
        found["generated"] = uses.generated._asdict()
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


def describe_role(action: Action, uses: Uses) -> str:
    """What an action is, whether it is indirect, predicated or generated."""
    parts = [describe_what(action)]
    if action.indirect:
        parts.append("indirect")
    if action.condition is not None:
        parts.append(f"predicate {predicate_word(action)}")
    if uses.generated is not None:
        origin = uses.generated
        state = "predicted" if origin.is_predicted else "generated"
        parts.append(f"{state} {origin.generation}:{origin.item}")
    return " ".join(parts)


def predicate_word(action: Action) -> str:
    """The predicate of a predicated action: true, false (it is not executed), unknown."""
    is_executed = action.execution.value
    return "unknown" if is_executed is None else str(is_executed).lower()


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _short(surface: Surface) -> str:
    return f"{surface.format} {surface.width}x{surface.height} {surface.address:#x}"
