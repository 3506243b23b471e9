# SPDX-License-Identifier: MIT
"""Packets that write memory."""

from __future__ import annotations

from cffpy.cp.sink import NestedStream
from cffpy.pm4.fields import Fields
from cffpy.pm4.reader import is_type4_or_type7

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload

_MEM_WRITE = Fields("CP_MEM_WRITE", "ADDR")


def cp_mem_write(machine: Runner, payload: Payload, level: int) -> None:
    """CP_MEM_WRITE: data that looks like commands runs as commands.

    turnip patches commands this way: they are executed from that address later.
    """
    reader = machine.packets[_MEM_WRITE]
    (gpuaddr,) = payload.read(reader)
    data = payload.rest(reader.dwords)
    stream = NestedStream(gpuaddr, data.count)
    wanted = machine.sink.nested_stream("CP_MEM_WRITE", stream, data, level)
    if wanted and machine.is_64bit and is_type4_or_type7(data[0]):
        machine.run(data.words, data.index, data.count, level + 1)
