# SPDX-License-Identifier: MIT
"""The report on an Intel error state or devcoredump: lines, and a JSON document."""

from __future__ import annotations

from typing import Annotated, TypedDict

from cffpy.document_types import Facts, Hex, Of
from cffpy.frame.faces import facts_document
from cffpy.frame.places import name_of
from cffpy.intel.views.texts import UNKNOWN_BASES, describe_counts, describe_what

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.crash import CrashReport, Fault

SCHEMA = "cffpy.intel-crash/1"

_ACTION = Of("cffpy.frame.action:Action")


def lines(report: CrashReport) -> Iterator[str]:
    """The report in lines. Evidence stands in brackets."""
    uses = report.survey.uses
    run = report.survey.run
    yield "what hangs"
    if report.reason:
        yield f"  {report.reason}"
    if report.process:
        yield f"  {report.process}"
    if run.device is not None:
        yield f"  {run.kind}, {run.device.name}, PCI id {run.device.pci_id:#x}"
    yield "where it is"
    yield from _position(report)
    yield "in flight"
    for action in report.before:
        yield f"  before   {_action(action, uses[action.order])}"
    if report.in_flight is None:
        yield "  no action is known to be at or before ACTHD"
    else:
        yield f"  last     {_action(report.in_flight, uses[report.in_flight.order])}"
        yield from _uses(report, uses[report.in_flight.order])
    if report.next is not None:
        yield f"  next     {_action(report.next, uses[report.next.order])}"
    yield "what faulted"
    yield from _fault(report.fault)
    if report.busy:
        yield "units that are not done"
        for name, units in report.busy.items():
            yield f"  {name}: {', '.join(units)}"


def _position(report: CrashReport) -> Iterator[str]:
    engine = report.engine
    if engine is None or engine.acthd is None:
        yield "  ACTHD is not known"
        return
    acthd = engine.acthd
    yield f"  {engine.name} ACTHD {acthd.value:#x}  [line {acthd.line}]"
    position = report.position
    if position is None:
        yield "  no instruction that is executed lies there"
        return
    yield (
        f"  at {position.name} {position.address:#x} in the batch at {position.batch:#x},"
        f" {position.address - position.batch:#x} bytes from its start"
    )


def _action(action: Action, uses: Uses) -> str:
    name = name_of(action) if action.number is not None else None
    title = f"action {action.order}" + (f" ({name})" if name else "")
    counts = describe_counts(action, uses)
    text = f"{title}: {describe_what(action)}, {action.packet} at {action.place.gpuaddr:#x}"
    return f"{text}, {counts}" if counts else text


def _uses(report: CrashReport, uses: Uses) -> Iterator[str]:
    """What the draw in flight has bound."""
    state = report.state
    if state is not None and not state.has_bases:
        yield f"    {UNKNOWN_BASES}"
    for kernel in () if state is None else state.kernels:
        size = "not captured" if kernel.facts is None else f"{kernel.facts.size} bytes"
        stage = f"{kernel.stage} {kernel.width}".rstrip()
        yield f"    {stage} kernel at {kernel.address:#x}, {size}"
    for table in uses.tables:
        yield f"    {table.describe()}"
        for entry in table.entries:
            yield f"      {entry.describe()}"
    if uses.depth is not None:
        yield f"    depth {uses.depth.describe()}"
    for buffer in () if state is None else state.vertex_buffers:
        yield f"    vertex buffer {buffer.number} at {buffer.address:#x}, {buffer.size} bytes"


def _fault(fault: Fault | None) -> Iterator[str]:
    if fault is None:
        yield "  no valid page fault is recorded"
        return
    space = "GGTT" if fault.is_global else "PPGTT"
    yield f"  {fault.address:#x} ({space})  [line {fault.line}]"
    yield f"  {', '.join(fault.says)}"
    yield f"  the address is {'in' if fault.is_captured else 'in no'} buffer of the dump"
    for use in fault.uses:
        yield f"  {use}"
    if not fault.uses:
        yield "  nothing that the actions have bound lies there"


class CrashDocument(TypedDict):
    """The report on an error state or devcoredump of an Intel GPU: cffpy crash --json."""

    kind: Annotated[str, "what the file is"]
    gpu: Annotated[
        Facts | None,
        "the GPU; null where no line names it",
        Of("cffpy.intel.analysis.capture:IntelDevice"),
    ]
    reason: Annotated[str, "the line that says why"]
    process: Annotated[str, "the line that names the process"]
    engine: Annotated[str | None, "the engine that hangs"]
    acthd: Annotated[Hex | None, "the address that its command streamer has reached"]
    position: Annotated[
        Facts | None, "the instruction there", Of("cffpy.intel.analysis.crash:Position")
    ]
    before: Annotated[list[Facts], "the actions before the action in flight", _ACTION]
    in_flight: Annotated[Facts | None, "the action in flight", _ACTION]
    uses: Annotated[
        Facts | None,
        "what the action in flight uses; null where none is known",
        Of("cffpy.intel.analysis.draw_state:DrawState"),
    ]
    next: Annotated[Facts | None, "the action after it", _ACTION]
    fault: Annotated[Facts | None, "the page fault", Of("cffpy.intel.analysis.crash:Fault")]
    not_done: Annotated[dict[str, list[str]], "units that are not done, by register"]
    damage: Annotated[list[str], "damage and what limits left out, in words"]


def document(report: CrashReport) -> CrashDocument:
    """The report as a JSON document."""
    run, engine = report.survey.run, report.engine
    acthd = None if engine is None else engine.acthd
    return {
        "kind": run.kind,
        "gpu": _facts(run.device),
        "reason": report.reason,
        "process": report.process,
        "engine": None if engine is None else engine.name,
        "acthd": None if acthd is None else f"{acthd.value:#x}",
        "position": _facts(report.position),
        "before": [facts_document(action) for action in report.before],
        "in_flight": _facts(report.in_flight),
        "uses": _facts(report.state),
        "next": _facts(report.next),
        "fault": _facts(report.fault),
        "not_done": report.busy,
        "damage": [str(damage) for damage in run.damage],
    }


def _facts(section: object) -> Facts | None:
    return None if section is None else facts_document(section)
