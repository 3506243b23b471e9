# SPDX-License-Identifier: MIT
"""Error states and devcoredumps: where the GPU was, what it drew, what faulted.

ACTHD is the address that the command streamer has reached. It runs ahead of the pipeline: the
action at it, or the last one before it, is in flight, and maybe earlier ones.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cffpy.frame.facts import Address, described
from cffpy.intel.analysis.capture import run_capture
from cffpy.intel.analysis.draw_state import DrawState
from cffpy.intel.analysis.survey import Survey, SurveyWalk
from cffpy.intel.container.error_state import text_lines
from cffpy.intel.decoder.batches import M48
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.batches import Kind
    from cffpy.intel.decoder.groups import Database, Group

#: Lines that describe the hang.
_REASONS = ("GPU HANG:", "Reason:")
_PROCESSES = ("Active process", "Process:")

_NUMBER = re.compile(r"\s*([A-Z][A-Z0-9_]*)(?:\[\d+\])*:\s*0x([0-9a-fA-F]+)(?:\s+([0-9a-fA-F]+))?")
_ENGINE = re.compile(r"(\w+)(?: command stream:| \(physical\))")
_FAULT_DATA = re.compile(r"\s*FAULT_TLB_DATA:\s*0x([0-9a-fA-F]{1,8})\s+0x([0-9a-fA-F]{1,8})")

#: Register in the text -> its description.
_DONE = {
    "INSTDONE": "INSTDONE_1",
    "RING_INSTDONE": "INSTDONE_1",
    "SC_INSTDONE": "SC_INSTDONE",
    "SAMPLER_INSTDONE": "SAMPLER_INSTDONE",
    "ROW_INSTDONE": "ROW_INSTDONE",
}
_MAX_LINES = 1 << 16
#: Bytes of a line that are read; lines of data are longer.
_LONGEST = 256
#: Actions before the one in flight that are reported.
_BEFORE = 3


class Value(NamedTuple):
    """The value of a register, and the line of the file that has it (from 1)."""

    value: int
    line: int


class Engine:
    """An engine of the GPU and its registers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.registers: dict[str, Value] = {}

    @property
    def acthd(self) -> Value | None:
        """The address that its command streamer has reached; None where it is not known."""
        whole = self.registers.get("ACTHD")
        low, high = self.registers.get("ACTHD_LDW"), self.registers.get("ACTHD_UDW")
        if whole is None and low is not None:
            whole = Value((high.value if high is not None else 0) << 32 | low.value, low.line)
        return whole


@described(
    "fault",
    address="the address that faulted",
    is_global="whether the address is of the GGTT",
    line="line of the dump",
    says="what the register says",
    uses="what the actions use there",
    is_captured="whether it lies in a buffer of the dump",
)
class Fault(NamedTuple):
    """A page fault."""

    address: Address
    is_global: bool
    line: int
    says: list[str]
    uses: list[str]
    is_captured: bool


@described(
    "position",
    name="name of the instruction",
    address="its GPU address",
    batch="GPU address of its batch",
    action="how many actions come before it",
)
class Position(NamedTuple):
    """The instruction at ACTHD."""

    name: str
    address: Address
    batch: Address
    action: int


class CrashReport:
    """The report on an error state or a devcoredump."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.reason = ""
        self.process = ""
        self.engines: list[Engine] = []
        self.engine: Engine | None = None
        self.position: Position | None = None
        self.in_flight: Action | None = None
        self.before: list[Action] = []
        self.next: Action | None = None
        self.state: DrawState | None = None
        self.fault: Fault | None = None
        #: Register -> units that are not done.
        self.busy: dict[str, list[str]] = {}


class _CrashWalk(SurveyWalk):
    """Notes the instruction at ACTHD, and the state of the action before it."""

    acthd = 0
    position: Position | None = None
    taken: DrawState | None = None

    def instruction(self, kind: Kind, data: bytes, address: int, pointer: int | None) -> None:
        """Note the instruction at ACTHD; the last one, if it is executed several times."""
        if address <= self.acthd < address + 4 * kind.length:
            name = kind.group.name
            self.position = Position(name, address, self._batch_address, len(self.actions))
        super().instruction(kind, data, address, pointer)


def analyse(content: Content, directory: str | None = None) -> CrashReport:
    """Report on an error state or a devcoredump. Raises UnsupportedGpu for an unknown device."""
    text = _Text(content)
    engine = _hung(text.engines)
    acthd = None if engine is None else engine.acthd
    states: dict[int, DrawState] = {}

    def keep(walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        """Keep the state of the last actions."""
        states[action.order] = DrawState(walk, action, command)
        states.pop(action.order - _BEFORE, None)
        assert isinstance(walk, _CrashWalk)
        return walk.position is not None and action.order > walk.position.action

    def make(database: Database, memory: AddressSpace, budget: int) -> _CrashWalk:
        walk = _CrashWalk(database, memory, budget, keep)
        walk.acthd = 0 if acthd is None else acthd.value & M48
        return walk

    report = CrashReport(Survey(run_capture(content, make, directory)))
    report.reason, report.process = text.reason, text.process
    report.engines, report.engine = text.engines, engine
    walk = report.survey.run.walk
    if isinstance(walk, _CrashWalk):
        _place(report, walk.position)
        if report.in_flight is not None:
            report.state = states.get(report.in_flight.order)
        _registers(report, text, walk)
    return report


def _hung(engines: list[Engine]) -> Engine | None:
    """The engine that the dump is about: the first one with an address."""
    known = [engine for engine in engines if engine.acthd is not None]
    return next(
        (engine for engine in known if engine.acthd is not None and engine.acthd.value), None
    )


class _Text:
    """The lines of a dump that describe the hang."""

    def __init__(self, content: Content) -> None:
        self.reason = ""
        self.process = ""
        self.engines: list[Engine] = []
        self.fault_data: tuple[int, int, int] | None = None
        for number, (_, line) in enumerate(text_lines(content.data), 1):
            if number > _MAX_LINES:
                break
            self._take(number, line[:_LONGEST].decode("utf-8", "replace").strip("\n"))

    def _take(self, number: int, line: str) -> None:
        if line.startswith(_REASONS) and not self.reason:
            self.reason = line
        elif line.startswith(_PROCESSES) and not self.process:
            self.process = line
        engine = _ENGINE.match(line)
        if engine is not None:
            self.engines.append(Engine(engine[1]))
        data = _FAULT_DATA.match(line)
        if data is not None:
            self.fault_data = int(data[1], 16), int(data[2], 16), number
            return
        match = _NUMBER.match(line)
        if match is None:
            return
        value = int(match[2][:16], 16)
        if match[1] == "ACTHD" and match[3]:
            value = value << 32 | int(match[3][:8], 16)
        if not self.engines:
            self.engines.append(Engine(""))
        self.engines[-1].registers.setdefault(match[1], Value(value, number))


def _place(report: CrashReport, position: Position | None) -> None:
    """Which actions are in flight."""
    report.position = position
    if position is None:
        return
    actions = report.survey.actions
    there = actions[position.action : position.action + 1]
    is_at_action = bool(there) and there[0].place.gpuaddr == position.address
    done = actions[: position.action + is_at_action]
    report.before = done[-1 - _BEFORE : -1]
    report.in_flight = done[-1] if done else None
    report.next = next(iter(actions[len(done) :]), None)


def _registers(report: CrashReport, text: _Text, walk: _CrashWalk) -> None:
    engine = report.engine
    if engine is not None:
        for name, description in _DONE.items():
            register = walk.database.register(description)
            value = engine.registers.get(name)
            if register is not None and value is not None:
                units = _not_done(register, value.value)
                if units:
                    report.busy[name] = units
    fault = next(
        (
            engine.registers["FAULT_REG"]
            for engine in report.engines
            if "FAULT_REG" in engine.registers
        ),
        None,
    )
    if fault is None or not fault.value & 1 or text.fault_data is None:
        return
    high, low, line = text.fault_data
    address = low << 12 | (high & 0xF) << 44
    report.fault = Fault(
        address,
        bool(high & 16),
        line,
        _fault_words(walk.database, fault.value),
        _uses(report, address),
        bool(walk.span(address, 1)),
    )


def _not_done(register: Group, value: int) -> list[str]:
    """The units whose bit says that they are not done."""
    return [
        field.name.removesuffix(" Done")
        for field in register.fields(register.dwords)
        if field.kind == rows.BOOL and field.name.endswith("Done") and not field.value((value,))
    ]


def _fault_words(database: Database, value: int) -> list[str]:
    from cffpy.intel.decoder.text import field_texts

    register = database.register("RCS_FAULT_REG") or database.register("FAULT_REG")
    if register is None:
        return [f"FAULT_REG {value:#010x}"]
    return [f"{name} {text}" for name, text in field_texts(database, register, (value,))]


def _uses(report: CrashReport, address: int) -> list[str]:
    """What the actions up to the crash use at an address, or before it."""
    texts: dict[tuple[int, str], None] = {}
    last = len(report.survey.actions) if report.position is None else report.position.action
    for action in report.survey.actions[: last + 1]:
        for start, size, what in _memory_of(report.survey.uses[action.order]):
            if start <= address < start + max(size, 1):
                texts[start, f"{what} of action {action.order}, from {start:#x} on"] = None
    state = report.state
    if state is not None:
        for buffer in state.vertex_buffers:
            if buffer.address <= address < buffer.address + buffer.size:
                text = f"vertex buffer {buffer.number} of action {state.action.order}"
                texts[buffer.address, f"{text}, from {buffer.address:#x} on"] = None
    return [text for _, text in texts]


def _memory_of(uses: Uses) -> list[tuple[int, int, str]]:
    """Start, bytes and name of what an action has bound."""
    ranges = [
        (entry.surface.address, _bytes(entry.surface), f"{table.stage} table entry {entry.number}")
        for table in uses.tables
        for entry in table.entries
        if entry.surface is not None and not entry.surface.is_null
    ]
    for name, surface in (("depth buffer", uses.depth), ("stencil buffer", uses.stencil)):
        if surface is not None:
            ranges.append((surface.address, _bytes(surface), name))
    return ranges


def _bytes(surface: Surface) -> int:
    """Bytes of a buffer; of an image those of its first level, without padding."""
    return surface.size or surface.pitch * surface.height * surface.depth
