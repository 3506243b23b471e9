# SPDX-License-Identifier: MIT
"""Events; those that resolve or clear count as draws on some generations."""

from __future__ import annotations

from cffpy.cp.sink import Draw
from cffpy.pm4.fields import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload

_EVENT = Fields("CP_EVENT_WRITE", "EVENT")
_RESOLVES = ("BLIT", "LRZ_CLEAR")


def is_resolve(machine: Runner, payload: Payload) -> bool:
    """Whether an event counts as a draw."""
    return machine.gpu.facts.resolves_are_draws and _event_name(machine, payload) in _RESOLVES


def cp_event_write(machine: Runner, payload: Payload, level: int) -> None:
    """CP_EVENT_WRITE and CP_EVENT_WRITE7."""
    name = _event_name(machine, payload)
    machine.sink.event(name, level)
    if machine.gpu.facts.resolves_are_draws and name in _RESOLVES:
        machine.sink.draw(Draw("CP_EVENT_WRITE", f"EVENT:{name}", 0, True), payload, level)
        machine.state.finish_draw()


def _event_name(machine: Runner, payload: Payload) -> str | None:
    (event,) = payload.read(machine.packets[_EVENT])
    return machine.enum_name("vgt_event_type", event)
