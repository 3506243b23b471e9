# SPDX-License-Identifier: MIT
"""What is in a capture, without decoding it: GPU, processes, submits, streams, buffers, damage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from cffpy.capture.gpu import Gpu, guess, lookup_chip_id, lookup_gpu_id
from cffpy.capture.memory import MemoryImage
from cffpy.container import rd
from cffpy.container.damage import Damage, missing_commands
from cffpy.container.open import Content
from cffpy.container.rd import Section
from cffpy.container.section_types import SectionType, section_name

#: What became of a buffer: ``kept``; ``replaced`` by a later one at its address; ``dropped``,
#: because it starts inside another.
BufferState = Literal["kept", "replaced", "dropped"]


@dataclass(slots=True)
class BufferSummary:
    """One RD_BUFFER_CONTENTS. ``size`` is the declared length, ``contents`` what is there (bytes).

    ``offset`` is the section's, in the decompressed file.
    """

    address: int
    size: int
    contents: int
    offset: int
    state: BufferState = "kept"


@dataclass(slots=True)
class StreamSummary:
    """One RD_CMDSTREAM_ADDR; ``index`` counts them over the file, as the dump's numbers do.

    ``captured_dwords``: how many of its ``dwords`` are in the buffer that holds it, when there is
    one; None where its address is in no buffer.
    """

    index: int
    address: int
    dwords: int
    captured_dwords: int | None
    process: str | None


@dataclass(slots=True)
class SubmitSummary:
    """Streams that share one set of buffers: all up to the RD_GPUADDR that drops the set."""

    index: int
    process: str | None = None
    streams: list[StreamSummary] = field(default_factory=list)
    buffers: list[BufferSummary] = field(default_factory=list)

    @property
    def kept_buffers(self) -> list[BufferSummary]:
        """The buffers that the streams can see."""
        return [buffer for buffer in self.buffers if buffer.state == "kept"]

    @property
    def buffer_bytes(self) -> int:
        """Bytes declared by the buffers that the streams can see."""
        return sum(buffer.size for buffer in self.kept_buffers)


class ReplayBuffer(NamedTuple):
    """A buffer that Mesa's replay tool writes out: "shader log", "CP log" or "write".

    ``size`` is in bytes. ``name``: of the file that it is written to, "" for logs.
    """

    kind: str
    address: int
    size: int
    name: str = ""

    @property
    def text(self) -> str:
        """Its name, place and size in words."""
        if self.kind == "write":
            return f"{self.name or 'no name'}: {self.size:,} bytes at {self.address:#x}"
        return f"at {self.address:#x}, {self.size:,} bytes"


@dataclass(slots=True)
class SectionCount:
    """How many sections of a type there are, and the bytes of their payloads.

    ``origin_name``: of sections of the file that the capture was made of, else "".
    """

    type: int
    count: int = 0
    payload_bytes: int = 0
    origin_name: str = ""

    @property
    def name(self) -> str:
        """The name of the type."""
        return self.origin_name or section_name(self.type)


@dataclass(slots=True)
class CaptureSummary:
    """What is in one capture file. ``gpu_known``: by the reference, not only by its generation."""

    name: str
    compression: str
    file_size: int
    size: int
    gpu: Gpu | None = None
    gpu_known: bool = False
    gpu_id: int = 0
    chip_id: int = 0
    #: Names of known GPUs of other generations that the file names, too.
    other_gpus: list[str] = field(default_factory=list)
    sections: dict[int, SectionCount] = field(default_factory=dict)
    processes: list[str] = field(default_factory=list)
    submits: list[SubmitSummary] = field(default_factory=list)
    #: Of the sections that only Mesa's replay tool uses.
    replay_buffers: list[ReplayBuffer] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    @property
    def streams(self) -> list[StreamSummary]:
        """All command streams in the order of the file."""
        return [stream for submit in self.submits for stream in submit.streams]


def summarise(content: Content) -> CaptureSummary:
    """Summarise all sections of a file."""
    summary = CaptureSummary(
        content.name, content.compression, content.file_size, len(content.data)
    )
    _Collector(summary).run(content)
    summary.damage.extend(content.faults)
    return summary


class _Collector:
    """Collects the summary section by section."""

    def __init__(self, summary: CaptureSummary) -> None:
        self.summary = summary
        self.image = MemoryImage()
        self.address = 0
        self.size = 0
        self.process: str | None = None
        self._processes: set[str] = set()
        self.submit: SubmitSummary | None = None
        self.latest: dict[int, BufferSummary] = {}
        self.stream_count = 0

    def run(self, content: Content) -> None:
        by_number: dict[int, Callable[[Section], None]] = {
            SectionType.CMD: self._command,
            SectionType.GPUADDR: self._gpu_address,
            SectionType.BUFFER_CONTENTS: self._contents,
            SectionType.CMDSTREAM_ADDR: self._stream,
            SectionType.GPU_ID: self._gpu_id,
            SectionType.CHIP_ID: self._chip_id,
            SectionType.SHADER_LOG_BUFFER: partial(self._log, "shader log"),
            SectionType.CP_LOG_BUFFER: partial(self._log, "CP log"),
            SectionType.WRBUFFER: self._write_buffer,
        }
        counts = self.summary.sections
        for section in content.sections(self.summary.damage):
            count = counts.get(section.type)
            if count is None:
                count = counts[section.type] = SectionCount(section.type)
            count.count += section.count
            count.payload_bytes += len(section.payload)
            handler = by_number.get(section.type)
            if handler is not None:
                handler(section)
        for origin in content.origin:
            name = f"snapshot: {origin.name}"
            count = counts.setdefault(origin.type, SectionCount(origin.type, origin_name=name))
            count.count += 1
            count.payload_bytes += origin.size
        self._settle_gpu()

    def _current(self) -> SubmitSummary:
        if self.submit is None:
            self.submit = SubmitSummary(len(self.summary.submits), self.process)
            self.summary.submits.append(self.submit)
        return self.submit

    def _command(self, section: Section) -> None:
        self.process = rd.text(section.payload)
        if self.process not in self._processes:
            self._processes.add(self.process)
            self.summary.processes.append(self.process)

    def _gpu_address(self, section: Section) -> None:
        self.address, self.size = rd.gpu_address(section.payload)
        if self.submit is not None and self.submit.streams:
            self.submit = None
            self.image.clear()
            self.latest.clear()

    def _contents(self, section: Section) -> None:
        contents = section.payload[: self.size]
        buffer = BufferSummary(self.address, self.size, len(contents), section.offset)
        around = self.image.find(self.address)
        before = self.latest.get(self.address)
        if before is not None:
            before.state = "replaced"
        elif around is not None:
            buffer.state = "dropped"
        if buffer.state == "kept":
            self.latest[self.address] = buffer
        self.image.add(self.address, self.size, section.payload)
        self._current().buffers.append(buffer)

    def _stream(self, section: Section) -> None:
        address, dwords = rd.command_stream_address(section.payload)
        captured: int | None = None
        buffer = self.image.find(address)
        if buffer is not None:
            there = len(buffer.contents) - (address - buffer.gpuaddr)
            captured = min(dwords, max(0, there) // 4)
        if dwords and (captured is None or captured < dwords):
            text = missing_commands(address, dwords, captured)
            self.summary.damage.append(Damage(None, f"stream {self.stream_count}: {text}"))
        submit = self._current()
        if not submit.streams:
            submit.process = self.process
        submit.streams.append(
            StreamSummary(self.stream_count, address, dwords, captured, self.process)
        )
        self.stream_count += 1

    def _gpu_id(self, section: Section) -> None:
        gpu_id = rd.gpu_id(section.payload)
        summary = self.summary
        summary.gpu_id = summary.gpu_id or gpu_id
        self._known_gpu(lookup_gpu_id(gpu_id))

    def _chip_id(self, section: Section) -> None:
        chip_id = rd.chip_id(section.payload)
        summary = self.summary
        summary.chip_id = summary.chip_id or chip_id
        self._known_gpu(lookup_chip_id(chip_id))

    def _known_gpu(self, known: Gpu | None) -> None:
        summary = self.summary
        if known is None:
            return
        if summary.gpu is None:
            summary.gpu, summary.gpu_known = known, True
        elif known.generation != summary.gpu.generation and known.name not in summary.other_gpus:
            summary.other_gpus.append(known.name)

    def _log(self, kind: str, section: Section) -> None:
        address, size = rd.gpu_address(section.payload)
        self.summary.replay_buffers.append(ReplayBuffer(kind, address, size))

    def _write_buffer(self, section: Section) -> None:
        address, size, name = rd.write_buffer(section.payload)
        self.summary.replay_buffers.append(ReplayBuffer("write", address, size, name))

    def _settle_gpu(self) -> None:
        summary = self.summary
        if summary.gpu is None:
            summary.gpu = guess(summary.gpu_id, summary.chip_id)
