# SPDX-License-Identifier: MIT
"""Fixtures for the machine: packets, a machine over buffers, a sink that records callbacks."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from cffpy.capture.gpu import guess
from cffpy.capture.memory import MemoryImage, Words
from cffpy.container.writer import dwords_bytes
from cffpy.cp.packets import TABLE
from cffpy.cp.runner import Runner
from cffpy.cp.sink import EACH_REGISTER, Draw, NestedStream, Sink, WriteOutcome
from cffpy.cp.state import CpState, DrawStateGroup
from cffpy.pm4.reader import Payload
from cffpy.regdb.database import Database
from tests.builders import COMMANDS, type0, type3, type4, type7


@pytest.fixture(scope="session")
def packets() -> SimpleNamespace:
    """Builders of packets: ``packets.type4(register, *values)``; each gives a list of dwords."""
    return SimpleNamespace(type0=type0, type3=type3, type4=type4, type7=type7)


class RecordingSink(Sink):
    """Records callbacks as (name, arguments) in ``heard``. Descends unless ``vetoes``."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []
        self.vetoes = False

    def of(self, *names: str) -> list[tuple[object, ...]]:
        """The recorded calls of these callbacks, in order."""
        return [entry for entry in self.heard if entry[0] in names]

    def no_command_stream(self) -> None:
        self.heard.append(("no_command_stream",))

    def bad_header(self, word: int) -> None:
        self.heard.append(("bad_header", word))

    def overrun(self, dwords: int) -> None:
        self.heard.append(("overrun", dwords))

    def refused(self, gpuaddr: int, reason: str) -> None:
        self.heard.append(("refused", gpuaddr, reason))

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        self.heard.append(("write", register, values, level))
        return EACH_REGISTER

    def register(self, register: int, value: int, level: int) -> None:
        self.heard.append(("register", register, value, level))

    def write_without_wfi(self, register: int) -> None:
        self.heard.append(("write_without_wfi", register))

    def type2(self, level: int) -> None:
        self.heard.append(("type2", level))

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self.heard.append(("packet", opcode, payload.count, level))

    def event(self, name: str | None, level: int) -> None:
        self.heard.append(("event", name))

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        self.heard.append(("draw", draw.name, draw.label, draw.num_indices, draw.counted))

    def register_sum(self, register: int, addend: int, source: int, level: int) -> None:
        self.heard.append(("register_sum", register, addend, source))

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        self.heard.append(("read_modify_write", register, mask, bits))

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        self.heard.append(("indirect_buffer", gpuaddr, ndwords, level))
        return not self.vetoes

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        self.heard.append(("missing_stream", gpuaddr, ndwords))

    def numbered_stream(self, name: str, number: int, level: int) -> None:
        self.heard.append(("numbered_stream", name, number))

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        self.heard.append(("nested_stream", name))
        return not self.vetoes

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        self.heard.append(("group", group.group_id, loaded, level))

    def groups_within_groups(self) -> None:
        self.heard.append(("groups_within_groups",))


@pytest.fixture
def run() -> Callable[..., SimpleNamespace]:
    """``run(gpu, commands, {address: dwords}, state=..., vetoes=...)``: runs the commands.

    Returns the final ``state``, the ``sink`` and the ``machine``.
    """

    def run_commands(
        gpu_id: int,
        commands: list[int],
        buffers: dict[int, list[int]] | None = None,
        state: CpState | None = None,
        vetoes: bool = False,
        dwords: int | None = None,
    ) -> SimpleNamespace:
        image = MemoryImage()
        for address, content in {COMMANDS: commands, **(buffers or {})}.items():
            code = dwords_bytes(content)
            image.add(address, len(code), memoryview(code))
        sink = RecordingSink()
        sink.vetoes = vetoes
        machine = Runner(sink, image, TABLE, state)
        gpu = guess(gpu_id)
        assert gpu is not None
        machine.bind(gpu, Database.open(gpu.chip))
        machine.run_submit(COMMANDS, len(commands) if dwords is None else dwords)
        return SimpleNamespace(state=machine.state, sink=sink, machine=machine)

    return run_commands
