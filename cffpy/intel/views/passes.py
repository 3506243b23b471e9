# SPDX-License-Identifier: MIT
"""Passes of Intel captures: a table, details in lines, JSON documents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.intel.analysis.actions import Action
    from cffpy.intel.analysis.generated import Generation
    from cffpy.intel.analysis.passes import Pass

SCHEMA = "cffpy.intel-passes/1"

HEADINGS = ("pass", "submit", "kind", "size", "draws", "clears", "flushes", "targets", "depth")
RIGHT = (0, 1, 4, 6)


def cells(one: Pass) -> tuple[str, ...]:
    """The row of a pass."""
    width, height = one.size
    unknown = "unknown" if one.has_unknown_targets else ""
    return (
        str(one.index),
        str(one.submit),
        one.kind,
        f"{width}x{height}" if width else unknown,
        str(len(_program(one))),
        ", ".join(action.role for action in one.clears),
        str(len(one.flushes)),
        ", ".join(f"{target.format} {target.address:#x}" for target in one.targets) or unknown,
        _depth(one),
    )


def _program(one: Pass) -> list[Action]:
    return [action for action in one.actions if action.is_program]


def _depth(one: Pass) -> str:
    if one.depth is None:
        return ""
    parts = [f"{one.depth.format} {one.depth.address:#x}"]
    if one.has_hiz:
        parts.append("HiZ")
    if one.stencil is not None:
        parts.append(f"stencil {one.stencil.address:#x}")
    return " ".join(parts)


def lines(one: Pass, generations: list[Generation]) -> Iterator[str]:
    """A pass in detail: attachments, clears, what is flushed before it, generated draws."""
    draws = _program(one)
    yield f"pass {one.index}, {one.kind}, submission {one.submit}"
    yield from _attachments(one)
    for name, actions in (("clear", one.clears), ("resolve", one.resolves)):
        for action in actions:
            yield f"  {name:10} {action.role} by {action.name} at {action.address:#x}"
    if draws:
        yield f"  draws      {_span(draws)}"
        yield from _predicated(draws)
    for call in generations:
        predicted = [
            action.generated.is_predicted
            for action in draws
            if action.generated is not None and action.generated.generation == call.number
        ]
        if predicted:
            note = f"; {sum(predicted)} predicted from the indirect data" if any(predicted) else ""
            yield f"  {call.describe()}{note}"
    for address, words in one.flushes:
        yield f"  before     {address:#x}: {', '.join(words)}"


def _attachments(one: Pass) -> Iterator[str]:
    if one.has_unknown_targets:
        yield "  targets    unknown: their binding tables were not captured"
    for number, target in enumerate(one.targets):
        yield f"  target {number}   {target.describe()}"
    if one.depth is not None:
        hiz = ", with HiZ" if one.has_hiz else ""
        yield f"  depth      {one.depth.describe()}{hiz}"
    if one.stencil is not None:
        yield f"  stencil    at {one.stencil.address:#x}"


def _predicated(draws: list[Action]) -> Iterator[str]:
    """How many draws their predicate leaves out, or may leave out."""
    states = [action.predicate for action in draws if action.is_predicated]
    if states:
        off, unknown = states.count(False), states.count(None)
        yield f"  predicate  on {len(states)} of them: false for {off}, unknown for {unknown}"


def _span(draws: list[Action]) -> str:
    first, last = draws[0], draws[-1]
    addresses = f"{first.address:#x} to {last.address:#x}"
    return f"{len(draws)}: actions {first.number} to {last.number}, {addresses}"


def document(one: Pass) -> dict[str, Any]:
    """A pass as members of a JSON document."""
    width, height = one.size
    return {
        "pass": one.index,
        "submit": one.submit,
        "kind": one.kind,
        "width": width,
        "height": height,
        "targets": [target.document() for target in one.targets],
        "depth": None if one.depth is None else one.depth.document(),
        "stencil": None if one.stencil is None else one.stencil.address,
        "hiz": one.has_hiz,
        "draws": [action.number for action in one.actions if action.is_program],
        "clears": [_driver(action) for action in one.clears],
        "resolves": [_driver(action) for action in one.resolves],
        "flushes": [{"address": address, "does": words} for address, words in one.flushes],
    }


def _driver(action: Action) -> dict[str, Any]:
    return {
        "action": action.number,
        "role": action.role,
        "instruction": action.name,
        "address": action.address,
    }
