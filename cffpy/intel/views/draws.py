# SPDX-License-Identifier: MIT
"""Actions of Intel captures as rows of a table, and as members of JSON documents."""

from __future__ import annotations

from cffpy.intel.analysis.actions import stage_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cffpy.intel.analysis.actions import Action
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


def cells(action: Action, name: str | None) -> tuple[str, ...]:
    """The row of an action; ``name`` is p0:3, None outside passes."""
    counts = action.counts
    if counts.groups is not None:
        vertices = "x".join(_number(part) for part in counts.groups)
    else:
        vertices = _number(counts.vertices) if action.topology else ""
    return (
        str(action.number),
        name or "",
        str(action.submit),
        f"{action.address:#x}",
        describe_role(action),
        action.topology,
        vertices,
        _number(counts.instances) if action.topology else "",
        stage_names(action),
        "unknown" if action.has_unknown_targets else ", ".join(map(_short, action.targets)),
        "" if action.depth is None else _short(action.depth),
    )


def row(action: Action, name: str | None) -> tuple[object, ...]:
    """The row of an action in CSV."""
    counts = action.counts
    return (
        action.number,
        name,
        action.submit,
        f"{action.address:#x}",
        f"{action.batch:#x}",
        action.role,
        action.name,
        action.topology,
        counts.vertices,
        counts.instances,
        counts.first,
        counts.first_instance,
        counts.base,
        None if counts.groups is None else "x".join(_number(part) for part in counts.groups),
        stage_names(action),
        "; ".join(_short(target) for target in action.targets),
        None if action.depth is None else _short(action.depth),
        action.generated is not None and action.generated.is_predicted,
        predicate_word(action) if action.is_predicated else None,
    )


def document(action: Action, name: str | None) -> dict[str, Any]:
    """An action as members of a JSON document. What only the GPU knows is null."""
    counts = action.counts
    found: dict[str, Any] = {
        "action": action.number,
        "draw": name,
        "submit": action.submit,
        "address": action.address,
        "batch": action.batch,
        "instruction": action.name,
        "role": action.role,
        "pass": action.pass_index,
        "indirect": action.is_indirect,
        "predicated": action.is_predicated,
        "predicate": action.predicate,
    }
    if counts.groups is not None:
        found["groups"] = list(counts.groups)
    elif action.topology:
        found.update(
            topology=action.topology,
            indexed=action.is_indexed,
            vertices=counts.vertices,
            instances=counts.instances,
            first=counts.first,
            first_instance=counts.first_instance,
            base=counts.base,
        )
    found["kernels"] = [
        {"stage": program.stage, "width": width, "address": address}
        for program in action.programs
        for width, address in program.kernels
    ]
    found["missing_tables"] = action.missing_tables
    found["targets"] = [target.document() for target in action.targets]
    found["depth"] = None if action.depth is None else action.depth.document()
    if action.generated is not None:
        found["generated"] = action.generated._asdict()
    return found


def describe_counts(action: Action) -> str:
    """How much an action draws or computes, as text."""
    counts = action.counts
    if counts.groups is not None:
        return f"{'x'.join(_number(part) for part in counts.groups)} thread groups"
    if not action.topology:
        return ""
    what = "indices" if action.is_indexed else "vertices"
    text = f"{action.topology}, {_number(counts.vertices)} {what} from {_number(counts.first)}"
    plural = "instance" if counts.instances == 1 else "instances"
    text += f", {_number(counts.instances)} {plural} from {_number(counts.first_instance)}"
    return f"{text}, base vertex {_number(counts.base)}" if action.is_indexed else text


def describe_predicate(action: Action) -> str:
    """Whether a predicated action is executed, as text; "" for an action without predicate."""
    if not action.is_predicated:
        return ""
    known = {True: ": it is executed", False: ": it is not executed", None: ""}
    return f"predicate {predicate_word(action)}{known[action.predicate]}"


def describe_role(action: Action) -> str:
    """What an action is: its role, whether it is indirect, predicated or generated."""
    parts = [action.role]
    if action.is_indirect:
        parts.append("indirect")
    if action.is_predicated:
        parts.append(f"predicate {predicate_word(action)}")
    if action.generated is not None:
        origin = action.generated
        state = "predicted" if origin.is_predicted else "generated"
        parts.append(f"{state} {origin.generation}:{origin.item}")
    return " ".join(parts)


def predicate_word(action: Action) -> str:
    """The predicate of a predicated action: true, false (it is not executed), unknown."""
    return "unknown" if action.predicate is None else str(action.predicate).lower()


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def _short(surface: Surface) -> str:
    return f"{surface.format} {surface.width}x{surface.height} {surface.address:#x}"


def names_of(actions: Sequence[Action]) -> dict[int, str]:
    """Number of an action -> its name in its pass (p0:3), for draws and dispatches in passes."""
    found: dict[int, str] = {}
    counts: dict[int, int] = {}
    for action in actions:
        if action.pass_index is not None and action.is_program:
            number = counts.get(action.pass_index, 0)
            counts[action.pass_index] = number + 1
            found[action.number] = f"p{action.pass_index}:{number}"
    return found
