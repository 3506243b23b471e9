# SPDX-License-Identifier: MIT
"""A capture as text: its sections in order, each as a statement that compiles to the same bytes.

A buffer's contents are labelled blocks where they are known, and data elsewhere.

A survey says what lies where in a capture's buffers: command streams, programs, descriptors; which
draws. It takes the sections of one set of buffers after the other, up to the RD_GPUADDR that drops
the set. Findings are by section, so that a buffer that was captured twice has two sets of findings.
"""

from __future__ import annotations

from array import array
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.edits import Owners
from cffpy.analysis.shaders import ShaderCollector
from cffpy.capture.gpu import Gpu, generation_of
from cffpy.capture.load import CommandStream, count_submits
from cffpy.container import rd
from cffpy.container.rd import PARAMETER, RESYNC_MARKER, SECTION_HEADER, Section
from cffpy.container.section_types import SectionType, section_name
from cffpy.container.writer import (
    NewSection,
    address_section,
    chip_id_section,
    command_stream_section,
    gpu_id_section,
)
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
from cffpy.errors import CaptureError
from cffpy.pm4.descriptions import Disassemblers, instruction_edition
from cffpy.pm4asm.contents import Programs, hex_rows, show_data
from cffpy.pm4asm.fields import Vocabulary
from cffpy.pm4asm.model import quoted
from cffpy.pm4asm.packets import Shower
from cffpy.pm4asm.sections import VERSION
from cffpy.pm4asm.values import Label, Labels
from cffpy.value_object import ValueObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.capture.memory import MemoryLocation, Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.sink import Draw, NestedStream
    from cffpy.cp.state import DrawStateGroup
    from cffpy.frame.shader import CapturedShader, Naming
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database
    from cffpy.row_readers import BytesLike

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
            size = len(shader._program.code) // 4
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


class Segment(ValueObject):
    """Bytes ``start`` to ``end`` of a buffer, as ``finding`` says; a finding begins at ``start``
    where ``is_start``, or an earlier one continues after one inside it.
    """

    __slots__ = ("end", "finding", "is_start", "start")

    def __init__(self, start: int, end: int, finding: Finding, is_start: bool) -> None:
        self.start = start
        self.end = end
        self.finding = finding
        self.is_start = is_start


def segments(findings: Iterable[Finding]) -> Iterator[Segment]:
    """The segments by rising address. Where findings overlap the stronger kind decides.

    Of the same kind, each start begins a segment; of those that start at one place, the longest
    says what it is.
    """
    import heapq

    # by start; the strongest and then the longest first
    ordered = sorted(findings, key=lambda finding: (finding.gpuaddr, finding.kind, -finding.dwords))
    open_ones: list[tuple[int, int, int, int, Finding]] = []
    edges = sorted({edge for item in ordered for edge in (item.gpuaddr, _end_of(item))})
    following = iter(ordered)
    upcoming = next(following, None)
    current: Segment | None = None
    number = 0
    for edge in edges:
        starts = False
        while upcoming is not None and upcoming.gpuaddr == edge:
            # kind first; then what began last, then the longest
            number += 1
            entry = (upcoming.kind, -upcoming.gpuaddr, -upcoming.dwords, number, upcoming)
            heapq.heappush(open_ones, entry)
            upcoming = next(following, None)
        while open_ones and _end_of(open_ones[0][4]) <= edge:
            heapq.heappop(open_ones)
        best = open_ones[0][4] if open_ones else None
        starts = best is not None and best.gpuaddr == edge
        if current is not None and best is current.finding and not starts:
            continue
        if current is not None:
            yield Segment(current.start, edge, current.finding, current.is_start)
        current = None if best is None else Segment(edge, edge, best, starts)


def _end_of(finding: Finding) -> int:
    return finding.gpuaddr + finding.dwords * 4


INDENT = "  "

_SHOWN_DRAWS = 8


class BufferLines:
    """The lines of the buffers of one set. ``labels`` are keyed by address."""

    def __init__(
        self,
        buffers: BufferSet,
        shower: Shower | None,
        programs: Programs | None,
        labels: dict[int, tuple[int, Label]],
    ) -> None:
        """``labels``: address -> the section whose block it is, and the label."""
        self._set = buffers
        self._shower = shower
        self._programs = programs
        self._labels = labels

    def lines(self, offset: int, address: int, view: memoryview) -> Iterator[str]:
        """The lines of the buffer of the section at a file offset, whose bytes are ``view``."""
        done = 0
        findings = self._set.findings.get(offset, ()) if self._shower is not None else ()
        for segment in segments(findings):
            if segment.start > done:
                yield from _data(view[done : segment.start], address + done)
            yield from self._segment(offset, address, view, segment)
            done = segment.end
        if done < len(view):
            yield from _data(view[done:], address + done)

    def _segment(
        self, offset: int, address: int, view: memoryview, segment: Segment
    ) -> Iterator[str]:
        finding = segment.finding
        place = address + segment.start
        owner, label = self._labels.get(place, (-1, None))
        if label is None or owner != offset or not segment.is_start:
            yield f"at {place:#x}"
            yield from self._content(offset, view, segment)
            return
        if finding.kind == PROGRAM:
            lines = self._program(view, segment)
            kind = "shader" if lines is not None else "data"
        else:
            lines = None
            kind = "commands" if finding.kind == COMMANDS else "data"
        yield f"{kind} {label.name} at {place:#x} {{"
        for line in self._content(offset, view, segment) if lines is None else lines:
            yield f"{INDENT}{line}"
        yield "}"

    def _content(self, offset: int, view: memoryview, segment: Segment) -> Iterator[str]:
        words = array("I")
        words.frombytes(view[segment.start : segment.end])
        if segment.finding.kind == COMMANDS:
            yield from self._commands(offset, segment.start // 4, words)
        elif segment.finding.domain and self._shower is not None:
            domain = segment.finding.domain
            yield from self._shower.show_structures(domain, len(words), words)
        else:
            yield from hex_rows(words)

    def _program(self, view: memoryview, segment: Segment) -> list[str] | None:
        """The lines of a whole program, None where it has to be shown as data."""
        size = segment.end - segment.start
        if self._programs is None or size != segment.finding.dwords * 4 or size % 8:
            return None
        code = bytes(view[segment.start : segment.end])
        lines = self._programs.show(code)
        return lines if self._programs.gives(lines, code) else None

    def _commands(self, offset: int, first: int, words: Sequence[int]) -> Iterator[str]:
        shower = self._shower
        assert shower is not None
        index, count = 0, len(words)
        loose: list[int] = []  # dwords that are no packet
        while index < count:
            size = shower.size(words, index)
            lines = None
            if index + size <= count:
                place = offset, first + index
                lines = shower.show(words[index : index + size], self._set.inner.get(place))
            if lines is None:
                loose.extend(words[index : index + size])
                index += size
                continue
            if loose:
                yield from hex_rows(loose)
                loose.clear()
            draws = self._set.draws.get((offset, first + index))
            if draws is not None:
                lines = [f"{lines[0]}  // {_drawn(draws)}", *lines[1:]]
            yield from lines
            index += size
        yield from hex_rows(loose)


def _data(view: memoryview, address: int) -> Iterator[str]:
    first = True
    for line in show_data(view, address):
        if first and not line.startswith("at "):
            yield f"at {address:#x}"
        first = False
        yield line


def _drawn(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN_DRAWS]))
    more = f" and {len(numbers) - _SHOWN_DRAWS} more" if len(numbers) > _SHOWN_DRAWS else ""
    return f"draw {shown}{more}" if len(numbers) == 1 else f"draws {shown}{more}"


#: Bytes of a text section that is shown as a string.
_LONGEST_TEXT = 1 << 15
#: Lines of a piece of a buffer's text.
_LINES = 1024
_TEXTS = {SectionType.CMD: "cmd", SectionType.TEST: "test"}
_SHORT = 8  # bytes of an address without its upper half


def decompile(
    content: Content,
    damage: list[Damage],
    complain: Callable[[str], None],
    register_db: str | None = None,
    submit: int | None = None,
) -> Iterator[str]:
    """The text in pieces. ``submit``: only the streams of this submit, and its buffers."""
    return _Decompiler(content, register_db, submit).run(damage, complain)


def _check_submit(content: Content, submit: int) -> None:
    """Raise CaptureError for a submit that the capture does not have."""
    count = count_submits(content.sections())
    if submit not in range(count):
        known = f"0 to {count - 1}" if count else "none"
        raise CaptureError(
            f"{content.name}: there is no submit {submit}; submits of this capture: {known}"
        )


class _Decompiler:
    def __init__(self, content: Content, register_db: str | None, submit: int | None) -> None:
        self._content = content
        self._register_db = register_db
        self._submit = submit
        self._gpu: Gpu | None = None
        self._showers: dict[str, Shower] = {}
        self._programs: dict[int, Programs] = {}
        self._disassemblers = Disassemblers(register_db)
        #: Names given so far, by their first word.
        self._names: dict[str, int] = {}
        self._end = 0
        #: The number of the set of buffers that is written: streams that see it are one submit.
        self._number = 0

    def run(self, damage: list[Damage], complain: Callable[[str], None]) -> Iterator[str]:
        if self._submit is not None:
            _check_submit(self._content, self._submit)
        yield f"pm4 {VERSION}\n"
        sets = surveyed(self._content, damage, complain, self._register_db)
        for self._number, buffers in enumerate(sets):
            if self._submit is None or self._submit == self._number:
                yield from self._set(buffers)
            else:
                yield from self._identities(buffers)
        if self._submit is None:
            data = self._content.data
            yield from self._markers(len(data))
            if self._end < len(data):
                yield "trailing {\n"
                yield from _body(data[self._end :], 0, is_sized=False)
                yield "}\n"

    # -- sets of buffers --------------------------------------------------------------------

    def _identities(self, buffers: BufferSet) -> Iterator[str]:
        """Of a set that is left out, what names the GPU and the process."""
        for section in buffers.sections:
            if section.type in (SectionType.GPU_ID, SectionType.CHIP_ID, SectionType.CMD):
                yield from self._simple(section)

    def _set(self, buffers: BufferSet) -> Iterator[str]:
        shower = programs = None
        labels: dict[int, tuple[int, Label]] = {}
        if buffers.gpu is not None and buffers.database is not None:
            if self._gpu is None or self._gpu.chip != buffers.gpu.chip:
                self._gpu = buffers.gpu
                yield f"gpu a{buffers.gpu.generation}xx  // {buffers.gpu.name}\n"
            shower = self._shower(buffers)
            programs = self._programs_of(buffers.gpu.generation)
            labels = self._labels(buffers)
            shower.label(Labels({address: label for address, (_, label) in labels.items()}))
        yield from self._sections(buffers, BufferLines(buffers, shower, programs, labels), labels)

    def _sections(
        self,
        buffers: BufferSet,
        view: BufferLines,
        labels: dict[int, tuple[int, Label]],
    ) -> Iterator[str]:
        """The sections of a set: an address with the contents after it is one statement."""
        address: Section | None = None
        for section in buffers.sections:
            markers: list[str] = []
            if self._submit is None:
                markers += self._markers(section.offset)
            is_contents = section.type == SectionType.BUFFER_CONTENTS and not markers
            if address is not None and is_contents:
                yield from self._buffer(address, section, view)
                address = None
            else:
                if address is not None:
                    yield from self._simple(address)
                yield from markers
                address = section if _address_of(section) is not None else None
                if address is None:
                    yield from self._simple(section, labels)
            self._end = _end(section)
        if address is not None:
            yield from self._simple(address)

    def _shower(self, buffers: BufferSet) -> Shower:
        assert buffers.gpu is not None
        assert buffers.database is not None
        shower = self._showers.get(buffers.gpu.chip)
        if shower is None:
            vocabulary = Vocabulary(buffers.gpu, buffers.database)
            listing = self._listing if buffers.gpu.facts.instruction_set == "a2xx" else None
            shower = self._showers[buffers.gpu.chip] = Shower(vocabulary, listing)
        return shower

    def _listing(self, code: bytes, is_fragment: bool) -> str:
        """An a2xx program as a comment: there is no assembler for it."""
        return self._disassemblers.a2xx().listing(code, 0, is_fragment).text

    def _programs_of(self, generation: int) -> Programs | None:
        if generation_of(generation).instruction_set != "ir3":
            return None
        programs = self._programs.get(generation)
        if programs is None:
            directory = instruction_edition(self._register_db, generation)
            programs = self._programs[generation] = Programs(generation, directory)
        return programs

    def _labels(self, buffers: BufferSet) -> dict[int, tuple[int, Label]]:
        """Address of a block -> offset of the section that contains it, and its label."""
        labels = {}
        for section, address in _buffers(buffers):
            for segment in segments(buffers.findings.get(section.offset, ())):
                if not segment.is_start:
                    continue
                word = segment.finding.name
                number = self._names[word] = self._names.get(word, -1) + 1
                size = (segment.end - segment.start) // 4
                label = Label(f"{word}{number}", size)
                labels[address + segment.start] = (section.offset, label)
        return labels

    # -- sections ---------------------------------------------------------------------------

    def _markers(self, offset: int) -> Iterator[str]:
        """The resync markers up to a section's header."""
        size = len(RESYNC_MARKER)
        count = (offset - self._end) // size
        markers = 0
        while markers < count and self._content.data[self._end : self._end + size] == RESYNC_MARKER:
            self._end += size
            markers += 1
        if markers:
            yield "marker\n" if markers == 1 else f"marker * {markers}\n"

    def _simple(
        self, section: Section, labels: dict[int, tuple[int, Label]] | None = None
    ) -> Iterator[str]:
        line = self._statement(section, labels or {})
        if line is not None:
            yield line
        else:
            yield from self._generic(section)

    def _statement(self, section: Section, labels: dict[int, tuple[int, Label]]) -> str | None:
        """The statement that compiles to the same section, or None if none does."""
        payload = bytes(section.payload[: _LONGEST_TEXT + 1])
        if self._declared(section) != len(section.payload) or len(payload) > _LONGEST_TEXT:
            return None
        if section.type == SectionType.CMDSTREAM_ADDR:
            return self._stream_line(payload, labels)
        if section.type in _TEXTS:
            return f"{_TEXTS[section.type]} {quoted(payload)}\n"
        statement = _STATEMENTS.get(section.type)
        return None if statement is None else statement(payload)

    def _stream_line(self, payload: bytes, labels: dict[int, tuple[int, Label]]) -> str | None:
        address, dwords = rd.command_stream_address(payload)
        short = len(payload) == _SHORT
        if command_stream_section(address, dwords, short=short).payload != payload:
            return None
        _, label = labels.get(address, (0, None))
        shown = f"{address:#x}" if label is None else label.name
        size = f" dwords {dwords}" if label is None or label.dwords != dwords else ""
        return f"stream {shown}{size}{' short' if short else ''}  // submit {self._number}\n"

    def _declared(self, section: Section) -> int:
        header = self._content.data[section.offset : section.offset + SECTION_HEADER.size]
        size: int = SECTION_HEADER.unpack(header)[1]
        return size

    def _generic(self, section: Section) -> Iterator[str]:
        name = section_name(section.type)
        shown = str(section.type) if name.startswith("type ") else name
        size = len(section.payload)
        declared = self._declared(section)
        cut = f" declared {declared}" if declared != size else ""
        yield f"section {shown} size {size}{cut} {{\n"
        yield from _body(section.payload, 0, is_sized=True)
        yield "}\n"

    def _buffer(self, named: Section, section: Section, view: BufferLines) -> Iterator[str]:
        address, size = rd.gpu_address(named.payload)
        short = len(named.payload) == _SHORT
        contents = len(section.payload)
        declared = self._declared(section)
        number = self._names["b"] = self._names.get("b", -1) + 1
        head = f"buffer b{number} {address:#x} size {size}"
        if contents != size:
            head += f" contents {contents}"
        if declared != contents:
            head += f" declared {declared}"
        yield f"{head}{' short' if short else ''} {{\n"
        lines = view.lines(section.offset, address, section.payload)
        while piece := "".join([f"{INDENT}{line}\n" for line in islice(lines, _LINES)]):
            yield piece
        yield "}\n"


def _end(section: Section) -> int:
    """File offset after a section."""
    return section.offset + SECTION_HEADER.size + len(section.payload)


def _address_of(section: Section) -> int | None:
    """The address of an RD_GPUADDR that ``buffer`` can say, else None."""
    return _exact_address(section.payload) if section.type == SectionType.GPUADDR else None


def _exact_address(payload: BytesLike) -> int | None:
    """The address in this payload, or None if a statement would compile to another payload."""
    address, size = rd.gpu_address(payload)
    made: NewSection = address_section(address, size, short=len(payload) == _SHORT)
    return address if made.payload == payload else None


def _address_statement(payload: bytes) -> str | None:
    address = _exact_address(payload)
    if address is None:
        return None
    size = rd.gpu_address(payload)[1]
    return f"address {address:#x} size {size}{' short' if len(payload) == _SHORT else ''}\n"


def _gpu_id_statement(payload: bytes) -> str | None:
    number = rd.gpu_id(payload)
    return f"gpu_id {number}\n" if gpu_id_section(number).payload == payload else None


def _chip_id_statement(payload: bytes) -> str | None:
    number = rd.chip_id(payload)
    return f"chip_id {number:#x}\n" if chip_id_section(number).payload == payload else None


def _parameter_statement(payload: bytes) -> str | None:
    if len(payload) != PARAMETER.size:
        return None
    return "param {} {:#x} {}\n".format(*PARAMETER.unpack(payload))


#: Type of a section -> the statement for its payload, or None.
_STATEMENTS: dict[int, Callable[[bytes], str | None]] = {
    SectionType.GPU_ID: _gpu_id_statement,
    SectionType.CHIP_ID: _chip_id_statement,
    SectionType.PARAM: _parameter_statement,
    SectionType.GPUADDR: _address_statement,
}


def _buffers(buffers: BufferSet) -> Iterator[tuple[Section, int]]:
    """The sections of contents that are shown as buffers, with their addresses."""
    address: int | None = None
    end = 0  # the two sections must be adjacent, without a marker between them
    for section in buffers.sections:
        is_next = section.type == SectionType.BUFFER_CONTENTS and section.offset == end
        if is_next and address is not None:
            yield section, address
        address = _address_of(section)
        end = _end(section)


def _body(view: memoryview, address: int, is_sized: bool) -> Iterator[str]:
    whole = memoryview(view)
    for line in show_data(whole, address):
        yield f"{INDENT}{line}\n"
    if not is_sized and len(whole) % 4 == 0:
        yield f"{INDENT}at {len(whole):#x}\n"
