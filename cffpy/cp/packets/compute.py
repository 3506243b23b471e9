# SPDX-License-Identifier: MIT
"""Dispatches."""

from __future__ import annotations

from cffpy.cp.sink import Draw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload


def cp_exec_cs(machine: Runner, payload: Payload, level: int) -> None:
    """CP_EXEC_CS: dispatch with the group counts of the packet."""
    machine.sink.draw(Draw("CP_EXEC_CS", "compute", 0, True), payload, level)
    machine.state.finish_draw()


def cp_exec_cs_indirect(machine: Runner, payload: Payload, level: int) -> None:
    """CP_EXEC_CS_INDIRECT: dispatch with group counts from memory."""
    machine.sink.draw(Draw("CP_EXEC_CS_INDIRECT", "compute", 0, True), payload, level)
    machine.state.finish_draw()


def cp_run_opencl(machine: Runner, payload: Payload, level: int) -> None:
    """CP_RUN_OPENCL: dispatch on a3xx."""
    machine.sink.draw(Draw("CP_RUN_OPENCL", "COMPUTE", 1, True), payload, level)
    machine.state.finish_draw()
