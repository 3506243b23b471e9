# SPDX-License-Identifier: MIT
"""The machine as sinks and packet readers see it: GPU, memory, state, active streams.

``cffpy.cp.runner`` runs it. One machine decodes any number of submits and files; its CpState is
kept between them, as in the reference.

Problems: damage and truncations, each reported once. Damage: commands that are missing, that call
themselves, or that are not packets. What a limit leaves out is a truncation, not damage. Nesting:
how deep streams may nest and how much may run. Undamaged captures stay below these limits
(cffpy.limits). The reference has none: it crashes or does not end.
"""

from __future__ import annotations

from cffpy.capture.gpu import Gpu
from cffpy.capture.memory import MemoryImage, Words
from cffpy.container.damage import Damage
from cffpy.cp.segment import Segments, SegmentSink
from cffpy.cp.state import GROUP_COUNT, CpState
from cffpy.limits import CaptureLimits, Limits, Truncation
from cffpy.pm4.reader import HeaderMemo, Packets
from cffpy.regdb.database import Database
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.pm4.reader import Payload

#: Problems that are kept, of damage and of truncations each.
_MOST = 100


def _ignore(_line: str) -> None:
    """What ``report`` is where nobody listens."""


class Problems:
    """Collects them. ``stream``: the number of the command stream that runs, as in the dump."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """``report`` is called at once with each line that no other callback reports."""
        self.stream = 0
        self._report = report
        self.clear()

    def stop_reporting(self) -> None:
        """Only collect from now on: nothing runs any more."""
        self._report = _ignore

    def clear(self) -> None:
        """Another file begins: its damage is reported anew."""
        self.damage: list[Damage] = []
        self.truncated: list[Truncation] = []
        self._lines: dict[str, None] = {}

    @property
    def lines(self) -> list[str]:
        """Messages for damage and truncations, in order."""
        return list(self._lines)

    def damaged(self, text: str, reported: bool = False) -> None:
        """Note damage. ``text`` has the GPU address. ``reported``: another callback reports it."""
        line = f"stream {self.stream}: {text}"
        if len(self.damage) < _MOST and self._is_new(line, reported):
            self.damage.append(Damage(None, line))

    def truncate(self, limit: str, text: str, reported: bool = False) -> None:
        """Note what a limit leaves out. ``limit``: its name, "" for a fixed one."""
        cut = Truncation(limit, f"stream {self.stream}: {text}")
        if len(self.truncated) < _MOST and self._is_new(str(cut), reported):
            self.truncated.append(cut)

    def _is_new(self, line: str, reported: bool) -> bool:
        if line in self._lines:
            return False
        self._lines[line] = None
        if not reported:
            self._report(line)
        return True


#: A stream costs as much as this many dwords, however short it is.
STREAM_COST = 64


class Refusal(ValueObject):
    """Why a stream is not run, in words. ``limit``: the name of the limit, "" for damage."""

    __slots__ = ("limit", "reason")

    def __init__(self, limit: str, reason: str) -> None:
        self.limit = limit
        self.reason = reason


CALLS_ITSELF = Refusal("", "call themselves")
UNDER_TOO_MANY_CONDITIONS = Refusal("", "are under too many conditions")
_TOO_DEEP = Refusal("depth", "are nested too deeply")
_TOO_MANY = Refusal("commands", "come after too many others")
_TOO_MANY_OF_SUBMIT = Refusal("commands", "come after too many others of this submit")


class Nesting:
    """Decides for each stream whether it is run."""

    def __init__(self, limits: CaptureLimits) -> None:
        self.set_limits(limits, bounds_capture=False)

    def set_limits(self, limits: CaptureLimits, bounds_capture: bool) -> None:
        """A capture begins. ``bounds_capture``: bound all its streams together as well."""
        self._limits = limits
        self._nested_left = 0
        self._left = limits.analysed_dwords if bounds_capture else None

    def refusal(
        self,
        streams: list[tuple[Words, int, int]],
        blocks: int,
        stream: tuple[Words, int, int] | None,
        dwords: int,
    ) -> Refusal | None:
        """Why a stream is not run within the active ``streams``; None where it is.

        ``blocks``: how many of these are blocks, which do not count for the depth. ``stream``: its
        words, first dword, dwords; None for one that may be active already. ``dwords``: how many
        of it were captured.
        """
        if self._left is not None:
            self._left -= dwords + STREAM_COST
            if self._left < 0:
                return _TOO_MANY
        if not streams:
            self._nested_left = self._limits.nested_dwords
            return None
        if stream in streams:
            return CALLS_ITSELF
        if len(streams) - blocks >= self._limits.depth:
            return _TOO_DEEP
        self._nested_left -= dwords
        return _TOO_MANY_OF_SUBMIT if self._nested_left < 0 else None

    def take(self, depth: int, streams: int, dwords: int) -> bool:
        """Count ``streams`` streams of ``dwords`` in all, if none of them would be refused.

        They run within ``depth`` others, blocks not counted.
        """
        cost = dwords + streams * STREAM_COST
        if depth >= self._limits.depth or self._nested_left < dwords:
            return False
        if self._left is not None:
            if self._left < cost:
                return False
            self._left -= cost
        self._nested_left -= dwords
        return True

    def is_exhausted(self, depth: int) -> bool:
        """Whether no more streams are run within ``depth`` others, blocks not counted."""
        spent = self._nested_left < 0 or (self._left is not None and self._left < 0)
        return spent or depth >= self._limits.depth


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
        """``report`` gets each problem in a line, once."""
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
        (cffpy.regdb.aliases).
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
        """No draw-state group is in force any more."""
        self.state.groups[:] = [None] * GROUP_COUNT


def _packet_names(database: Database, variants: dict[str, int]) -> list[str | None]:
    return [database.enum_name(PACKET_ENUM, opcode, variants) for opcode in range(_OPCODES)]
