# SPDX-License-Identifier: MIT
"""What ``dump --annotate`` says of a draw-state group: what it holds, why it is loaded or not.

The stream has numbers of groups only; what they mean to a driver can be told by what they hold.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.cp.loadstate import (
    CONSTANTS,
    LOAD_STATE_PACKETS,
    SAMPLERS,
    SHADER,
    SSBO_0,
    SSBO_1,
    SSBO_2,
    TEXTURES,
    UBO,
    loaded_state,
)
from cffpy.cp.sink import Payload
from cffpy.cp.state import ALL_MODES, BINNING, GMEM, SYSMEM
from cffpy.pm4.reader import OPCODE, REGISTERS

if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.state import DrawStateGroup

_MODES = {BINNING: "binning", GMEM: "gmem", SYSMEM: "sysmem"}

#: State whose packets tell the stage that it is for.
_OF_STAGES = {
    SHADER: "program",
    CONSTANTS: "constants",
    SAMPLERS: "samplers",
    TEXTURES: "textures",
}
_OF_ANY = {UBO: "UBOs", SSBO_0: "SSBOs", SSBO_1: "SSBOs", SSBO_2: "SSBOs"}


class GroupLines:
    """Lines about groups of one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._contents: dict[tuple[int, int], str] = {}
        self._epoch = -1

    def line(self, group: DrawStateGroup, loaded: bool) -> str:
        """A group that is loaded now, or not."""
        machine = self._machine
        name = f"draw-state group {group.group_id} ({self._find_contents(group)})"
        if not machine.gpu.facts.groups_have_modes:
            return f"{name} is loaded: groups have no modes on this GPU"
        now = machine.state.enable_mask
        wanted = _mode_names(group.enable_mask)
        current = "no mode is set yet" if now == ALL_MODES else f"now {_mode_names(now)}"
        return f"{name} is {'' if loaded else 'not '}loaded: enabled in {wanted}; {current}"

    def _find_contents(self, group: DrawStateGroup) -> str:
        if self._epoch != self._machine.image.epoch:
            self._epoch = self._machine.image.epoch
            self._contents.clear()
        key = group.gpuaddr, group.ndwords
        if key not in self._contents:
            self._contents[key] = _contents(self._machine, group)
        return self._contents[key]


def _contents(machine: Machine, group: DrawStateGroup) -> str:
    place = machine.image.place(group.gpuaddr)
    if place is None:
        return "not captured"
    words, index = place
    end = min(index + group.ndwords, words.count)
    registers = 0
    others: Counter[str] = Counter()
    while index < end:
        kind, number, size = machine.headers[words.data[index]]
        if kind == REGISTERS:
            registers += size - 1
        elif kind == OPCODE:
            payload = Payload(words, index + 1, size - 1)
            others[_packet_text(machine, machine.packet_names[number], payload)] += 1
        index += size
    parts = [f"{registers} register{'' if registers == 1 else 's'}"] if registers else []
    parts.extend(text if count == 1 else f"{count} x {text}" for text, count in others.items())
    return ", ".join(parts) or "nothing"


def _packet_text(machine: Machine, name: str | None, payload: Payload) -> str:
    if name not in LOAD_STATE_PACKETS:
        return name or "unknown packet"
    loaded = loaded_state(machine, payload)
    if loaded.kind in _OF_STAGES:
        return f"{loaded.stage} {_OF_STAGES[loaded.kind]}"
    return _OF_ANY.get(loaded.kind, "other state")


def _mode_names(modes: int) -> str:
    return ", ".join(name for bit, name in _MODES.items() if modes & bit) or "no mode"
