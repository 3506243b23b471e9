# SPDX-License-Identifier: MIT
"""What lies where in a capture's buffers: command streams, programs, descriptors; which draws.

A survey takes the sections of one set of buffers after the other: those up to the RD_GPUADDR that
drops the set. Findings are by section, so that a buffer that was captured twice is reported
apart from its other self.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cffpy.analysis.edits import Owners
from cffpy.analysis.shaders import ShaderCollector
from cffpy.capture.gpu import Gpu
from cffpy.capture.load import CommandStream
from cffpy.capture.memory import MemoryLocation, Words
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.container.rd import Section
from cffpy.cp.loadstate import (
    DIRECT,
    FROM_UBO,
    LOAD_STATE_PACKETS,
    SAMPLERS,
    TEXTURES,
    UBO,
    loaded_state,
    state_place,
)
from cffpy.cp.session import Session
from cffpy.cp.sink import Draw, NestedStream
from cffpy.cp.state import DrawStateGroup
from cffpy.frame.shader import CapturedShader, Naming
from cffpy.pm4.reader import Payload
from cffpy.regdb.database import Database
from cffpy.value_object import ValueObject

#: Kinds of what lies somewhere, the strongest first.
COMMANDS, PROGRAM, STRUCTURES = range(3)

_DESCRIPTORS = {SAMPLERS: "sampler", TEXTURES: "texture", UBO: "ubo"}
_NAMES = {SAMPLERS: "samplers", TEXTURES: "textures", UBO: "ubos"}

#: Packets that point at commands -> what these are.
_NESTED = {
    "CP_SET_RENDER_MODE": "save",
    "CP_COMPUTE_CHECKPOINT": "save",
}

#: Limits for hostile captures: findings in one set of buffers, draws listed for one packet.
_MAX_FINDINGS = 1 << 18
_MAX_DRAWS = 256


class Finding(ValueObject):
    """``dwords`` at ``gpuaddr`` are of a kind. ``name``: a word for it, such as ``ib`` or ``fs``.

    ``domain``: of STRUCTURES, the structures that lie there, one after another.
    """

    __slots__ = ("domain", "dwords", "gpuaddr", "kind", "name")

    def __init__(self, kind: int, gpuaddr: int, dwords: int, name: str, domain: str = "") -> None:
        self.kind = kind
        self.gpuaddr = gpuaddr
        self.dwords = dwords
        self.name = name
        self.domain = domain


class BufferSet:
    """The sections of one set of buffers in their order, and what is known of their contents."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        #: The GPU that it is decoded for, or None where no stream was run.
        self.gpu: Gpu | None = None
        self.database: Database | None = None
        #: File offset of a buffer's section -> what lies in it; ``gpuaddr`` is relative to it.
        self.findings: dict[int, list[Finding]] = {}
        #: (File offset of the section, dword) of a packet -> numbers of its draws, as in the dump.
        self.draws: dict[tuple[int, int], list[int]] = {}
        #: (File offset of the section, dword) of a packet -> dword of its payload from which on
        #: structures lie in it, their domain and number.
        self.inner: dict[tuple[int, int], tuple[int, str, int]] = {}
        #: Numbers of the streams, as in the dump.
        self.streams: list[int] = []


class Survey(ShaderCollector):
    """A sink that notes where things lie. ``surveyed`` runs it over a capture."""

    def __init__(self, register_db: str | None = None) -> None:
        super().__init__(register_db)
        self._seen: dict[tuple[int, int, int], Finding] = {}
        self._draws: dict[int, list[int]] = {}
        self._inner: dict[int, tuple[int, str, int]] = {}
        self._load_states: frozenset[int] = frozenset()
        #: What the streams of this set were decoded for.
        self._decoded_for: tuple[Gpu | None, Database | None] = (None, None)

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        names = self.machine.packet_names
        self._load_states = frozenset(
            opcode for opcode, name in enumerate(names) if name in LOAD_STATE_PACKETS
        )

    # -- streams ----------------------------------------------------------------------------

    def submit(self, submit: CommandStream) -> None:
        super().submit(submit)
        self._decoded_for = self.machine.gpu, self.machine.database
        self._note(COMMANDS, submit.gpuaddr, submit.ndwords, "commands")

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        self._note(COMMANDS, gpuaddr, ndwords, "ib")
        return True

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        self._note(COMMANDS, group.gpuaddr, group.ndwords, "state")

    def group_stream(self, words: Words, index: int, ndwords: int, level: int) -> None:
        self._note(COMMANDS, words.address + index * 4, ndwords, "state")

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        if name in _NESTED and stream.gpuaddr is not None:
            self._note(COMMANDS, stream.gpuaddr, stream.ndwords, _NESTED[name])
        return True

    # -- programs and descriptors -----------------------------------------------------------

    def shader_at(
        self, stage: str, place: MemoryLocation, dwords: int, naming: Naming
    ) -> CapturedShader | None:
        shader = super().shader_at(stage, place, dwords, naming)
        if shader is not None and self.machine.gpu.facts.instruction_set == "ir3":
            words, index = place
            size = len(shader.program.code) // 4
            self._note(PROGRAM, words.address + index * 4, size, stage.lower())
        return shader

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        super().packet(opcode, payload, level)
        if opcode in self._load_states:
            self._descriptors(payload)

    def _descriptors(self, payload: Payload) -> None:
        loaded = loaded_state(self.machine, payload)
        if loaded.kind not in _DESCRIPTORS:
            return
        described = self.machine.gpu.facts.descriptors.get(_DESCRIPTORS[loaded.kind])
        place = state_place(self.machine, payload, loaded)
        if described is None or place is None:
            return
        domain, dwords = described
        words, index = place
        if loaded.source in (DIRECT, FROM_UBO):
            header = words.address + (payload.index - 1) * 4
            self._inner[header] = (index - payload.index, domain, loaded.units)
            return
        name = _NAMES[loaded.kind]
        self._note(STRUCTURES, words.address + index * 4, dwords * loaded.units, name, domain)

    def _note(self, kind: int, gpuaddr: int, dwords: int, name: str, domain: str = "") -> None:
        key = kind, gpuaddr, dwords
        if dwords > 0 and key not in self._seen and len(self._seen) < _MAX_FINDINGS:
            self._seen[key] = Finding(kind, gpuaddr, dwords, name, domain)

    # -- draws ------------------------------------------------------------------------------

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        super().draw(draw, payload, level)
        if draw.counted:
            header = payload.words.address + (payload.index - 1) * 4
            numbers = self._draws.setdefault(header, [])
            if len(numbers) < _MAX_DRAWS:
                numbers.append(self.machine.state.draw_count)

    # -- what was found ---------------------------------------------------------------------

    def deliver(self, buffers: BufferSet, owners: Owners) -> None:
        """Put what was found into ``buffers``, and begin the next set."""
        buffers.gpu, buffers.database = self._decoded_for
        self._decoded_for = None, None
        for finding in self._seen.values():
            owner = owners.find(finding.gpuaddr)
            if owner is None:
                continue
            buffer, section = owner
            offset = finding.gpuaddr - buffer.gpuaddr
            dwords = min(finding.dwords, (len(buffer.contents) - offset) // 4)
            if offset % 4 or dwords <= 0:
                continue
            kept = buffers.findings.setdefault(section.offset, [])
            kept.append(Finding(finding.kind, offset, dwords, finding.name, finding.domain))
        for header, numbers in self._draws.items():
            owner = owners.find(header)
            if owner is not None:
                buffers.draws[owner[1].offset, (header - owner[0].gpuaddr) // 4] = numbers
        for header, inner in self._inner.items():
            owner = owners.find(header)
            if owner is not None:
                buffers.inner[owner[1].offset, (header - owner[0].gpuaddr) // 4] = inner
        self._seen.clear()
        self._draws.clear()
        self._inner.clear()


def surveyed(
    content: Content,
    damage: list[Damage],
    complain: Callable[[str], None],
    register_db: str | None = None,
) -> Iterator[BufferSet]:
    """The sets of buffers of a capture, one at a time, with what lies in them.

    Submits of compositors are not run, as the dump does not. A set is no longer valid once the
    next is asked for. After the last one, ``damage`` is whole.
    """
    survey = Survey(register_db)
    session = Session(survey, warn=complain, register_db=register_db)
    session.set_limits(content)
    session.start_file()
    yield from _run(content.sections(damage), session, survey, complain)
    damage[:] = session.finish(content, damage)
    for cut in session.machine.problems.truncated:
        complain(f"{content.name}: {cut}")


def _run(
    sections: Iterable[Section],
    session: Session,
    survey: Survey,
    complain: Callable[[str], None],
) -> Iterator[BufferSet]:
    current = BufferSet()
    owners = Owners(session.image)
    done: list[BufferSet] = []

    def end_of_set() -> None:
        nonlocal current
        survey.deliver(current, owners)
        done.append(current)
        current = BufferSet()

    def noted() -> Iterator[Section]:
        for section in owners.watch(sections, end_of_set):
            current.sections.append(section)
            yield section

    for record in session.records(noted(), on_unknown_gpu=complain):
        if isinstance(record, CommandStream):
            current.streams.append(record.number)
        while done:
            yield done.pop(0)
    yield from done
