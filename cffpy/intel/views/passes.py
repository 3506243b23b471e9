# SPDX-License-Identifier: MIT
"""Passes of Intel captures in lines."""

from __future__ import annotations

from cffpy.intel.views.draws import describe_what

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.action import Action
    from cffpy.frame.passes import Operation, Pass
    from cffpy.intel.analysis.survey import Survey


def before(one: Pass) -> list[Action]:
    """What the driver does to attachments before the last draw, in order, each once."""
    last = one.draws[-1].order
    return _actions(operation for operation in one.operations if operation.action.order < last)


def after(one: Pass) -> list[Action]:
    """What the driver does to attachments after the last draw."""
    last = one.draws[-1].order
    return _actions(operation for operation in one.operations if operation.action.order > last)


def _actions(operations: Iterator[Operation]) -> list[Action]:
    return list({one.action.order: one.action for one in operations}.values())


def lines(one: Pass, found: Survey) -> Iterator[str]:
    """A pass in detail: attachments, clears, what is flushed before it, generated draws."""
    yield f"pass {one.index}, {one.kind}, submission {one.submit}"
    yield from _attachments(one, found)
    for name, actions in (("clear", before(one)), ("resolve", after(one))):
        for action in actions:
            what = describe_what(action)
            yield f"  {name:10} {what} by {action.packet} at {action.place.gpuaddr:#x}"
    yield f"  draws      {_span(one.draws)}"
    yield from _predicated(one.draws)
    yield from details(one, found)


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


def _attachments(one: Pass, found: Survey) -> Iterator[str]:
    for text in one.unknown:
        yield f"  unknown    {text}"
    if one.kind != "render":
        return
    uses = found.uses[one.draws[0].order]
    for number, target in enumerate(uses.targets):
        yield f"  target {number}   {target.describe()}"
    if uses.depth is not None:
        hiz = ", with HiZ" if uses.has_hiz else ""
        yield f"  depth      {uses.depth.describe()}{hiz}"
    if uses.stencil is not None:
        yield f"  stencil    at {uses.stencil.address:#x}"


def _predicated(draws: list[Action]) -> Iterator[str]:
    """How many draws their predicate leaves out, or may leave out."""
    states = [action.execution.value for action in draws if action.condition is not None]
    if states:
        off, unknown = states.count(False), states.count(None)
        yield f"  predicate  on {len(states)} of them: false for {off}, unknown for {unknown}"


def _span(draws: list[Action]) -> str:
    first, last = draws[0], draws[-1]
    addresses = f"{first.place.gpuaddr:#x} to {last.place.gpuaddr:#x}"
    return f"{len(draws)}: actions {first.order} to {last.order}, {addresses}"
