# SPDX-License-Identifier: MIT
"""What is in a capture, without decoding it: GPU, processes, submits, streams, buffers, damage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, Literal, Protocol

from cffpy.capture.gpu import guess, lookup_chip_id, lookup_gpu_id
from cffpy.capture.memory import MemoryImage
from cffpy.container import rd
from cffpy.container.damage import Damage, missing_commands
from cffpy.container.open import Content
from cffpy.container.rd import Section
from cffpy.container.section_types import SectionType, section_name
from cffpy.frame.device import DeviceReport
from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.submit import Buffer, Problem, Stream, Submit, problem_of_damage

#: What Mesa's replay tool writes out: a log of the shaders or of the CP, or memory to a file.
ReplayKind = Literal["shader log", "CP log", "write"]


@model("replay_buffer", frozen=True, is_value=False)
class ReplayBuffer:
    """A buffer that Mesa's replay tool writes out."""

    kind: ReplayKind = stored("a log of the shaders, a log of the CP, or memory for a file")
    gpuaddr: Address = stored("GPU address of its first byte")
    size: int = stored("its size", "bytes")
    name: str | None = stored("the file that it is written to; None for logs", default=None)

    @property
    def text(self) -> str:
        """Its name, place and size in words."""
        if self.kind == "write":
            return f"{self.name or 'no name'}: {self.size:,} bytes at {self.gpuaddr:#x}"
        return f"at {self.gpuaddr:#x}, {self.size:,} bytes"


@model("section", is_value=False)
class SectionCount:
    """The sections of a type."""

    type: int = stored("number of the type in the file")
    count: int = stored("how many sections there are", default=0)
    payload_bytes: int = stored("their payloads together", "bytes", default=0)
    #: Of sections of the file that the capture was made of, else "".
    origin_name: str = field(default="")

    @fact()
    def name(self) -> str:
        """The name of the type."""
        return self.origin_name or section_name(self.type)


class GpuModel(Protocol):
    """A GPU that a file names."""

    @property
    def name(self) -> str:
        """Its name, as in FD630."""

    @property
    def generation(self) -> int:
        """Its generation: 7 for a7xx; of Intel ten times the version, 125 for gen12.5."""

    @property
    def is_64bit(self) -> bool:
        """Whether its addresses take two dwords."""


@model("summary")
class CaptureSummary:
    """What is in a capture file, without decoding its commands."""

    file: str = stored("path of the file, or its name if it has none")
    kind: str | None = stored(
        "what the file is, where its commands are of an Intel GPU; None for others",
        default=None,
        words=("AUB file", "i915 error state", "Xe devcoredump"),
        kw_only=True,
    )
    compression: str = stored("how the file is packed: none, gzip or another")
    file_size: int = stored("size of the file as it is stored", "bytes")
    size: int = stored("size of the file when it is decompressed", "bytes")
    gpu_model: GpuModel | None = field(default=None)

    @fact()
    def gpu(self) -> str | None:
        """Name of the GPU; None where the file does not tell it."""
        return None if self.gpu_model is None else self.gpu_model.name

    @fact()
    def generation(self) -> int | None:
        """Generation of the GPU: 7 for a7xx; of Intel ten times the version, 125 for gen12.5."""
        return None if self.gpu_model is None else self.gpu_model.generation

    @fact()
    def is_64bit(self) -> bool | None:
        """Whether addresses of the GPU take two dwords."""
        return None if self.gpu_model is None else self.gpu_model.is_64bit

    gpu_known: bool = stored(
        "the very GPU is known to cffdump, not only its generation", default=False
    )
    gpu_id: int | None = stored("the first GPU id of the file", default=None)
    chip_id: Address | None = stored("the first chip id of the file", default=None)
    pci_id: Address | None = stored("the PCI id of an Intel GPU; None for others", default=None)
    other_gpus: list[str] = stored(
        "names of known GPUs of other generations that the file names, too", default_factory=list
    )
    sections_by_type: dict[int, SectionCount] = field(default_factory=dict)
    processes: list[str] = stored("names of the processes", default_factory=list)

    @fact()
    def sections(self) -> list[SectionCount]:
        """The sections of the file, by rising type."""
        return sorted(self.sections_by_type.values(), key=lambda count: count.type)

    submits: list[Submit] = stored("what the driver submitted", default_factory=list)
    replay_buffers: list[ReplayBuffer] = stored(
        "what Mesa's replay tool writes out", default_factory=list
    )
    damage: list[Damage] = field(default_factory=list)
    #: Where it was asked for.
    device_report: DeviceReport | None = field(default=None)

    @fact(cost="large")
    def device(self) -> DeviceReport | None:
        """What the commands show of the GPU: a walk over them."""
        return self.device_report

    @fact()
    def problems(self) -> list[Problem]:
        """Damage of the file, and what limits left out of it."""
        return [problem_of_damage(damage) for damage in self.damage]

    @property
    def streams(self) -> list[Stream]:
        """All command streams in the order of the file."""
        return [stream for submit in self.submits for stream in submit.streams]

    def to_dict(self, buffers: bool = False) -> dict[str, Any]:
        """Its object in the document of ``cffpy info --json``. ``buffers``: with all buffers."""
        from cffpy.frame.faces import facts_document

        document = facts_document(self, () if self.device_report is None else ("device",))
        if buffers:
            document["submits"] = [submit.to_dict(buffers=True) for submit in self.submits]
        return document


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
        self.submit: Submit | None = None
        self.latest: dict[int, Buffer] = {}
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
        counts = self.summary.sections_by_type
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

    def _current(self) -> Submit:
        if self.submit is None:
            self.submit = Submit(len(self.summary.submits), self.process)
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
        submit, place = self._current(), section.payload_offset
        buffer = Buffer(submit.number, self.address, self.size, place, contents.toreadonly())
        around = self.image.find(self.address)
        before = self.latest.get(self.address)
        if before is not None:
            before.state = "replaced"
        elif around is not None:
            buffer.state = "dropped"
        if buffer.state == "kept":
            self.latest[self.address] = buffer
        self.image.add(self.address, self.size, section.payload)
        submit.section_buffers.append(buffer)

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
            Stream(self.stream_count, submit.number, address, dwords, captured, self.process)
        )
        self.stream_count += 1

    def _gpu_id(self, section: Section) -> None:
        gpu_id = rd.gpu_id(section.payload)
        summary = self.summary
        summary.gpu_id = summary.gpu_id or gpu_id or None
        self._known_gpu(lookup_gpu_id(gpu_id))

    def _chip_id(self, section: Section) -> None:
        chip_id = rd.chip_id(section.payload)
        summary = self.summary
        summary.chip_id = summary.chip_id or chip_id or None
        self._known_gpu(lookup_chip_id(chip_id))

    def _known_gpu(self, known: GpuModel | None) -> None:
        summary = self.summary
        if known is None:
            return
        if summary.gpu_model is None:
            summary.gpu_model, summary.gpu_known = known, True
        elif (
            known.generation != summary.gpu_model.generation
            and known.name not in summary.other_gpus
        ):
            summary.other_gpus.append(known.name)

    def _log(self, kind: ReplayKind, section: Section) -> None:
        address, size = rd.gpu_address(section.payload)
        self.summary.replay_buffers.append(ReplayBuffer(kind, address, size))

    def _write_buffer(self, section: Section) -> None:
        address, size, name = rd.write_buffer(section.payload)
        self.summary.replay_buffers.append(ReplayBuffer("write", address, size, name or None))

    def _settle_gpu(self) -> None:
        summary = self.summary
        if summary.gpu_model is None:
            summary.gpu_model = guess(summary.gpu_id or 0, summary.chip_id or 0)
