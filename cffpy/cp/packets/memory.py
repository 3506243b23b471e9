# SPDX-License-Identifier: MIT
"""Packets that write memory."""

from __future__ import annotations

from cffpy.pm4.reader import is_type4_or_type7

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload


def cp_mem_write(machine: Machine, payload: Payload, level: int) -> None:
    """CP_MEM_WRITE: data that looks like commands runs as commands.

    turnip patches commands so: what it writes is about to be executed from there.
    """
    wanted = machine.sink.nested_stream("CP_MEM_WRITE", payload, level)
    if wanted and machine.is_64bit and is_type4_or_type7(payload[2]):
        machine.run(payload.words, payload.index + 2, payload.count - 2, level + 1)
