# SPDX-License-Identifier: MIT
"""The machine as sinks and packet readers see it: GPU, memory, state, active streams.

``cffpy.cp.runner`` runs it. One machine decodes any number of submits and files; its CpState is
kept between them, as in the reference.
"""

from __future__ import annotations

from cffpy.capture.gpu import Gpu
from cffpy.capture.memory import MemoryImage, Words
from cffpy.cp.nesting import Nesting
from cffpy.cp.problems import Problems
from cffpy.cp.segment import Segments, SegmentSink
from cffpy.cp.state import GROUP_COUNT, CpState
from cffpy.limits import CaptureLimits, Limits
from cffpy.pm4.fields import Packets
from cffpy.pm4.reader import HeaderMemo
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.cp.payload import Payload

_OPCODES = 128

#: Registers of this range are banked: they may be written without waiting for the last draw.
BANKED = range(0x2000, 0x2400)

PACKET_ENUM = "adreno_pm4_type3_packets"


class Machine:
    """What a sink may read at any callback."""

    def __init__(
        self,
        image: MemoryImage,
        state: CpState,
        segment_sink: SegmentSink,
        report: Callable[[str], None],
    ) -> None:
        """``report``: as for ``Problems``."""
        self.image = image
        self.headers = HeaderMemo()
        self.state = state
        self.segments = Segments(image, segment_sink)
        #: The active streams and blocks, outermost first: words, first dword, dwords.
        self.streams: list[tuple[Words, int, int]] = []
        #: How many of these are blocks.
        self.blocks = 0
        self.limits = Limits().of_capture(0)
        self.nesting = Nesting(self.limits)
        self.problems = Problems(report)
        self._packets: dict[str, Packets] = {}
        #: See ``Sink.reads_as_reference``.
        self.reads_as_reference = True

    def set_limits(self, limits: CaptureLimits, bounds_capture: bool) -> None:
        """A capture of these limits begins.

        ``bounds_capture``: whether there is one limit for all its streams, as for analyses.
        """
        self.limits = limits
        self.nesting.set_limits(limits, bounds_capture)

    def bind(self, gpu: Gpu, database: Database, names: Database | None = None) -> None:
        """Decode for this GPU from now on.

        ``names``: what the code's own names are looked up in, if ``database`` is of another edition
        (cffpy.regdb.known_names).
        """
        self.gpu = gpu
        self.database = database
        self.names = names or database
        self.is_64bit = gpu.is_64bit
        variants = {}
        chip = database.variant("chip", database.chip)
        if chip is not None:
            variants["chip"] = chip
        #: The current variants, by which enums of this generation are looked up.
        self.variants = variants
        if gpu.chip not in self._packets:
            self._packets[gpu.chip] = Packets(gpu.chip)
        #: The readers of packets of this generation.
        self.packets = self._packets[gpu.chip]
        #: Of each opcode: the name that the code uses, and the edition's.
        self.packet_names = self.packet_labels = _packet_names(database, variants)
        if self.names is not database:
            self.packet_names = _packet_names(self.names, variants)

    def release(self) -> None:
        """Forget the sink, and what is only needed while streams run: none does any more.

        A sink refers to its machine, which stays in use: without a cycle, both are freed at once.
        """
        self.problems.stop_reporting()
        self.segments.release()

    def known_value(self, enum: str, number: int) -> str | None:
        """The name that the code uses for an enum's value, or None."""
        return self.names.enum_name(enum, number, self.variants)

    def enum_name(self, enum: str, number: int) -> str | None:
        """Name of an enum's value in this generation, or None."""
        return self.database.enum_name(enum, number, self.variants)

    def packet_writes(self, opcode: int, payload: Payload) -> Sequence[tuple[int, int]] | None:
        """(Register, value) of all that a packet does; None if it does anything else."""
        return None

    def wrote(self, register: int) -> int | None:
        """The value that the segment being recorded has given a register, or None."""
        recorder = self.segments.recorder
        return None if recorder is None else recorder.registers.get(register)

    def read_register(self, register: int) -> int:
        """A register's value for text: 0 if it was never written."""
        value = self.state.registers.get(register, 0)
        if self.segments.recorder is not None:
            self.segments.recorder.read(register, value)
        return value

    def write_register(self, register: int, value: int, level: int) -> None:
        """Write one register as a packet with an opcode does: the sink is called before."""
        raise NotImplementedError

    def load_groups(self, level: int) -> None:
        """Run all waiting draw-state groups in order of their ids, then forget them."""
        raise NotImplementedError

    def disable_groups(self) -> None:
        """Forget all draw-state groups."""
        self.state.groups[:] = [None] * GROUP_COUNT


def _packet_names(database: Database, variants: dict[str, int]) -> list[str | None]:
    return [database.enum_name(PACKET_ENUM, opcode, variants) for opcode in range(_OPCODES)]
