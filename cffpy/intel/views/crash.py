# SPDX-License-Identifier: MIT
"""The report on an Intel error state or devcoredump: lines, and a JSON document."""

from __future__ import annotations

from cffpy.frame.faces import facts_document
from cffpy.frame.places import name_of
from cffpy.intel.views.draws import describe_counts, describe_what
from cffpy.intel.views.state import UNKNOWN_BASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.crash import CrashReport, Fault

SCHEMA = "cffpy.intel-crash/1"


def lines(report: CrashReport) -> Iterator[str]:
    """The report in lines. Evidence stands in brackets."""
    uses = report.found.uses
    run = report.found.run
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
    if state is not None and not state.state.has_bases:
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
    yield f"  {', '.join(fault.words)}"
    yield f"  the address is {'in' if fault.is_captured else 'in no'} buffer of the dump"
    for use in fault.uses:
        yield f"  {use}"
    if not fault.uses:
        yield "  nothing that the actions have bound lies there"


def document(report: CrashReport) -> dict[str, Any]:
    """The report as a JSON document."""
    run = report.found.run
    acthd = None if report.engine is None else report.engine.acthd
    return {
        "kind": run.kind,
        "gpu": None
        if run.device is None
        else {"pci_id": run.device.pci_id, "name": run.device.name, "verx10": run.device.verx10},
        "reason": report.reason,
        "process": report.process,
        "engine": None if report.engine is None else report.engine.name,
        "acthd": None if acthd is None else acthd.value,
        "position": None if report.position is None else report.position._asdict(),
        "before": [facts_document(one) for one in report.before],
        "in_flight": _document(report.in_flight),
        "next": _document(report.next),
        "fault": None if report.fault is None else report.fault._asdict(),
        "not_done": report.busy,
        "has_bases": None if report.state is None else report.state.state.has_bases,
        "binding_tables": []
        if report.in_flight is None
        else [table.document() for table in report.found.uses[report.in_flight.order].tables],
        "missing_tables": []
        if report.in_flight is None
        else report.found.uses[report.in_flight.order].missing_tables,
        "damage": [str(one) for one in run.damage],
    }


def _document(action: Action | None) -> dict[str, Any] | None:
    return None if action is None else facts_document(action)
