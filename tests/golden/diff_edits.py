# SPDX-License-Identifier: MIT
"""Edits of captures: one change of the bytes, and the draws that it affects.

An edit locates something that a draw uses in the file (the packet that wrote a register, the words
of a descriptor) and changes it there. The affected draws are those that use the same bytes in the
original capture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from ctypes import addressof, c_char
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.registers import CaptureRegisters
from cffpy.analysis.diff.state import CaptureState
from cffpy.analysis.inputs.descriptor_sets import DrawSlots, is_of_set
from cffpy.analysis.inputs.facts import FactKey, InputFact, address_masks
from cffpy.analysis.inputs.recorder import DrawInputs
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.c_numbers import odd_parity
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.frame.passes import Pass
from cffpy.frame.places import PacketLocation
from cffpy.frame.register_write import RegisterWrite
from cffpy.regdb.database import Database
from cffpy.regdb.registers import RegisterText
from tests.analysis.register_store.replay import state_at

#: A pass's index and a draw's number in it.
Draw = tuple[int, int]

_NOP = 0x10

#: a2xx: CP_SET_CONSTANT, and its type that writes registers.
_SET_CONSTANT = 0x2D
_CONTEXT_REGISTERS = 4

#: Stands for a draw's number where a change is reported for the pass as a whole.
WHOLE = -1


def load(data: bytes | bytearray) -> Content:
    """A capture in memory whose views are writable, so that ctypes gives their offsets."""
    content = open_bytes(data)
    content.data = memoryview(bytearray(data))
    return content


@dataclass
class Subject:
    """A capture and the draw of it that is edited: one amid its largest pass."""

    content: Content
    recording: Recording
    database: Database
    pass_: Pass
    record: DrawInputs
    #: The state at each draw, in order.
    writes: dict[Draw, dict[str, RegisterWrite]]
    facts: dict[Draw, dict[FactKey, InputFact]]
    state: DrawState
    #: Those that are draws: copies and dispatches use other registers.
    drawn: set[Draw]

    @property
    def has_depth(self) -> bool:
        """Whether depth is one of the pass's attachments."""
        return any(target.name == "depth" for target in self.pass_.attachments)

    @property
    def draw(self) -> Draw:
        number = self.record.action.number
        assert number is not None
        return self.pass_.index, number


def subject(path: Path) -> Subject:
    data = bytes(open_capture(str(path)).data)
    content = load(data)
    recording = record(content, lambda line: None)
    database = recording.database
    assert database is not None
    largest = max(
        recording.passes.passes,
        key=lambda one: sum(draw.kind == "draw" for draw in one.draws),
    )
    draws = [r for r in recording.of(largest) if r.action.kind == "draw"]
    chosen = draws[len(draws) // 2]
    writes: dict[Draw, dict[str, RegisterWrite]] = {}
    facts: dict[Draw, dict[FactKey, InputFact]] = {}
    state = CaptureState(recording)
    found = None
    drawn: set[Draw] = set()
    for one in recording.passes.passes:
        for item in recording.of(one):
            at = go_on(state, item)
            number = item.action.number
            assert number is not None
            writes[one.index, number] = at.writes
            facts[one.index, number] = at.facts
            if item.action.kind == "draw":
                drawn.add((one.index, number))
            if item is chosen:
                found = at
    assert found is not None
    return Subject(content, recording, database, largest, chosen, writes, facts, found, drawn)


@dataclass
class DrawState:
    """The registers of a draw by name, with what wrote them, and the facts that it uses."""

    registers: dict[str, int]
    writes: dict[str, RegisterWrite]
    facts: dict[FactKey, InputFact]
    #: Of the capture.
    about: CaptureRegisters

    @property
    def offsets(self) -> dict[str, int]:
        return self.about.offsets


def go_on(state: CaptureState, record: DrawInputs) -> DrawState:
    """Go on to the next draw."""
    registers = state.registers
    registers.write(*registers.go_to(record.action.order))
    state.record = record
    names = [registers.names.names[key] for key in registers.values]
    writes = {name: write for name in names if (write := registers.write_of(name)) is not None}
    return DrawState(
        {name: registers[name] for name in names}, writes, used_facts(state), registers
    )


def used_facts(state: CaptureState) -> dict[FactKey, InputFact]:
    """What a draw depends on: without the descriptors of sets that its shaders do not name."""
    slots, record = DrawSlots([state.slots()]), state.record
    assert record is not None
    sets = [state.facts_of_set(number, place) for number, place in record.sets.items()]
    return {
        key: fact
        for part in (*record.facts, *sets)
        for key, fact in part.items()
        if not is_of_set(key) or slots.holds(key)
    }


class NotHere(Exception):
    """The draw has no such state."""


@dataclass
class Edit:
    """Changed bytes, the draws that see the change, and what its first entry's name must match."""

    data: bytes
    name: str
    draws: set[Draw]


def file_offset(content: Content, view: memoryview) -> int:
    """Where the bytes of a view of ``load``'s content begin in the file."""
    if view.nbytes == 0 or view.readonly:
        raise NotHere
    start = addressof(c_char.from_buffer(content.data))
    found = addressof(c_char.from_buffer(view.cast("B"))) - start
    if not 0 <= found < len(content.data):
        raise NotHere
    return found


#: Takes a subject to the edit of one kind. Raises NotHere.
Maker = Callable[[Subject], Edit]


def _changed(where: Subject, changes: Iterable[tuple[int, int]]) -> bytes:
    """The capture with some dwords replaced: file offset, value."""
    data = bytearray(where.content.data)
    for offset, value in changes:
        data[offset : offset + 4] = value.to_bytes(4, "little")
    return bytes(data)


def _word(where: Subject, offset: int) -> int:
    return int.from_bytes(where.content.data[offset : offset + 4], "little")


def _field_mask(rows: Iterable[tuple[object, ...]] | None, field: str) -> int:
    for row in rows or ():
        if row[0] == field:
            kind = row[2]
            low, high = kind[2], kind[3]  # type: ignore[index]
            return (1 << high + 1) - (1 << low)
    raise NotHere


# -- registers ------------------------------------------------------------------------------------


def register_offset(where: Subject, name: str) -> int:
    """Where the value lies in the file that a register has at the draw."""
    write = where.state.writes.get(name)
    if write is None:
        raise NotHere
    return dword_offset(write, where.state.offsets[name])


def dword_offset(write: RegisterWrite, register: int) -> int:
    """Where the value of a register lies in the file."""
    words, start = write.place._words, write.place._index
    header = words.get(start)
    if header >> 28 == 4:
        first, count = header >> 8 & 0x3FFFF, header & 0x7F
    elif header >> 30 == 0:
        first, count = header & 0x7FFF, (header >> 16 & 0x3FFF) + 1
    elif header >> 30 == 3 and header >> 8 & 0x7F == _SET_CONSTANT:
        start += 1
        index = words.get(start)
        if index >> 16 != _CONTEXT_REGISTERS:
            raise NotHere
        first, count = 0x2000 + (index & 0xFFFF), header >> 16 & 0x3FFF
    else:
        raise NotHere
    if not first <= register < first + count:
        raise NotHere
    return words.file_offset + 4 * (start + 1 + register - first)


def register(
    names: tuple[str, ...], field: str | None, flip: int = 1, structure: str | None = None
) -> Maker:
    """Change a field of the first of these registers that the draw has; None: all of it.

    ``structure``: the change is reported for the pass, under this name.
    """

    def make(where: Subject) -> Edit:
        name = next((name for name in names if name in where.state.registers), None)
        if name is None:
            raise NotHere
        offset = register_offset(where, name)
        if field is None:
            mask, shown = 0xFFFFFFFF, name
        else:
            found = where.database.register(where.state.offsets[name], {})
            assert found is not None
            assert found.type is not None
            mask, shown = _field_mask(found.type[7], field), f"{name}.{field}"
        value = _word(where, offset) ^ (flip * (mask & -mask) & mask)
        place = where.state.writes[name].place.file_offset
        draws = {
            draw
            for draw, writes in where.writes.items()
            if draw in where.drawn
            and name in writes
            and writes[name].place.file_offset == place
            and writes[name].pass_index in (None, draw[0])  # else it is left over
        }
        old = _word(where, offset)
        is_none = where.recording.generation > 3 and not (old & mask and value & mask)
        if structure == "depth format" and is_none:
            raise NotHere  # no depth at all
        if structure is not None and (structure != "depth format" or where.has_depth):
            shown, draws = structure, {(index, WHOLE) for index, _ in draws}
        return Edit(_changed(where, [(offset, value)]), re.escape(shown) + "$", draws)

    return make


# -- facts ----------------------------------------------------------------------------------------


def _fact(where: Subject, kind: str) -> tuple[FactKey, InputFact]:
    """The draw's first fact of this kind whose bytes were captured."""
    for key in sorted(where.state.facts, key=str):
        fact = where.state.facts[key]
        if key[0] == kind and fact.data is not None and any(fact.data):
            return key, fact
    raise NotHere


def _users(where: Subject, touched: range) -> set[Draw]:
    """Draws that depend on any of these bytes of the file."""
    found = set()
    for draw, facts in where.facts.items():
        for fact in facts.values():
            if fact.data is None or fact.data.nbytes == 0 or fact.data.readonly:
                continue
            start = file_offset(where.content, fact.data)
            if start < touched.stop and touched.start < start + fact.data.nbytes:
                found.add(draw)
    return found


def descriptor(kind: str, fields: tuple[str, ...], flip: int = 1) -> Maker:
    """Change a field of a texture's or sampler's descriptor: the first of these that there is."""

    def make(where: Subject) -> Edit:
        _, fact = _fact(where, kind)
        assert fact.domain is not None
        assert fact.data is not None
        row = where.database.domain(fact.domain)
        assert row is not None
        for element in row[0]:
            kind_row = element[7]
            rows = kind_row[7] if isinstance(kind_row[7], tuple) else ()
            for field in fields:
                try:
                    mask = _field_mask(rows, field)
                except NotHere:
                    continue
                offset = file_offset(where.content, fact.data) + 4 * element[3]
                value = _word(where, offset) ^ (flip * (mask & -mask) & mask)
                draws = _users(where, range(offset, offset + 4))
                name = rf"{kind} .*: {field}$"
                return Edit(_changed(where, [(offset, value)]), name, draws)
        raise NotHere

    return make


def contents(kind: str) -> Maker:
    """Change a word in the middle of some captured data."""

    def make(where: Subject) -> Edit:
        _, fact = _fact(where, kind)
        assert fact.data is not None
        middle = fact.data.nbytes // 8 * 4
        offset = file_offset(where.content, fact.data) + middle
        draws = _users(where, range(offset, offset + 4))
        return Edit(_changed(where, [(offset, _word(where, offset) ^ 1)]), kind, draws)

    return make


def shader(where: Subject) -> Edit:
    """Change a register number in the middle of the fragment shader, wherever it was captured."""
    fact = where.state.facts.get(("shader", "FS"))
    if fact is None or fact.data is None:
        raise NotHere
    code = bytes(fact.data)
    at = code.index(next(code[n : n + 8] for n in range(0, len(code), 8) if any(code[n : n + 8])))
    edited = bytearray(code)
    edited[at] ^= 4
    data = bytes(where.content.data).replace(code, bytes(edited))
    draws = {
        draw
        for draw, facts in where.facts.items()
        if facts.get(("shader", "FS")) is not None and facts[("shader", "FS")].digest == fact.digest
    }
    return Edit(data, "shader FS$", draws)


# -- packets --------------------------------------------------------------------------------------


def nop_header(header: int) -> int:
    """The header of a CP_NOP with the size of the given packet."""
    if header >> 28 == 7:
        return header & 0xFF00FFFF & ~(1 << 23) | _NOP << 16 | odd_parity(_NOP) << 23
    if header >> 30 == 3:
        return header & ~0xFF00 | _NOP << 8
    raise NotHere


def _executions(where: Subject) -> list[PacketLocation]:
    """Every execution of the draw: in the binning run and in each tile."""
    return [
        action.place
        for run in where.pass_.runs
        for action in run.draws
        if action.number == where.draw[1]
    ]


def _binned_apart(where: Subject) -> list[PacketLocation]:
    """Its execution in a binning pass with separate commands."""
    run = where.pass_.binning
    if run is None or any(draw.number is not None for draw in run.draws):
        return []
    draws = [draw for draw in run.draws if is_program_draw(draw)]
    if len(draws) != len(where.pass_.draws):
        return []
    return [draws[where.draw[1]].place]


def missing_draw(where: Subject) -> Edit:
    """The draw is not issued."""
    places = {place.file_offset for place in (*_executions(where), *_binned_apart(where))}
    data = _changed(where, [(at, nop_header(_word(where, at))) for at in places])
    return Edit(data, rf"draw p\d+:{where.draw[1]} of good is missing in bad", {where.draw})


def count(position: dict[str, int], name: str) -> Maker:
    """Change a dword of the draw packet. ``position``: packet -> which dword of its payload."""

    def make(where: Subject) -> Edit:
        at = position.get(where.record.action.packet)
        if at is None:
            raise NotHere
        places = {place.file_offset for place in (*_executions(where), *_binned_apart(where))}
        offsets = [place + 4 * (1 + at) for place in places]
        old = _word(where, offsets[0])
        return Edit(
            _changed(where, [(o, old - 1 if old > 1 else old + 1) for o in offsets]),
            name,
            {where.draw},
        )

    return make


# -- the pass -------------------------------------------------------------------------------------


def without_operation(kind: str) -> Maker:
    """All loads, clears or stores of one attachment are left out."""

    def make(where: Subject) -> Edit:
        found = [
            (operation.action.place.file_offset, operation.attachment)
            for run in where.pass_.runs
            for operation in run.operations
            if operation.kind == kind
        ]
        if not found:
            raise NotHere
        first = found[0][1]
        data = _changed(
            where, [(at, nop_header(_word(where, at))) for at, name in found if name == first]
        )
        first = (first or "an unknown attachment").split("+")[0]
        when = "at the end" if kind == "store" else "at the start"
        return Edit(data, rf"{first} {when}", {(where.pass_.index, WHOLE)})

    return make


def clear_value(where: Subject) -> Edit:
    """A clear has another value: its first dword, in every execution."""
    for run in where.pass_.runs:
        for operation in run.operations:
            action = operation.action
            if operation.clear_value is None or not action.execution.is_possible:
                continue
            state = state_at(where.content, action.order, lambda line: None)
            assert state is not None, action
            text = RegisterText(where.database)
            for register, write in state.writes.items():
                if text.name(register) in _CLEAR_VALUES:
                    offset = dword_offset(write, register)
                    data = _changed(where, [(offset, _word(where, offset) ^ 0x11)])
                    return Edit(data, "clear value of", {(where.pass_.index, WHOLE)})
    raise NotHere


#: Registers of clear values.
_CLEAR_VALUES = ("RB_BLIT_CLEAR_COLOR_DW0", "RB_CLEAR_COLOR_DW0")


def binding(where: Subject) -> Edit:
    """A texture is bound whose image lies elsewhere."""
    if where.recording.generation == 3:  # its addresses are loaded apart
        _, fact = _fact(where, "texture address")
        assert fact.data is not None
        offset = file_offset(where.content, fact.data)
        value = _word(where, offset) ^ 0x00100000
        draws = _users(where, range(offset, offset + 4))
        return Edit(_changed(where, [(offset, value)]), r"texture address .*: image$", draws)
    _, fact = _fact(where, "texture")
    assert fact.domain is not None
    assert fact.data is not None
    masks = address_masks(where.database, fact.domain)
    for position, mask in enumerate(masks[: fact.data.nbytes // 4]):
        if mask:
            offset = file_offset(where.content, fact.data) + 4 * position
            value = _word(where, offset) ^ 0x00100000 & mask
            draws = _users(where, range(offset, offset + 4))
            return Edit(_changed(where, [(offset, value)]), r"texture .*: image$", draws)
    raise NotHere


def wait(where: Subject) -> Edit:
    """A wait that stands alone among the draws' commands is left out."""
    records = where.recording.of(where.pass_)
    for before, after in pairwise(records):
        between = where.recording.events.get(after.action.order, ())
        if "CP_WAIT_FOR_IDLE" not in [one.text for one in between]:
            continue
        words, end = after.action.place._words, after.action.place._index
        if before.action.place._words is not words:
            continue
        for index in range(end - 1, before.action.place._index, -1):
            if words.get(index) in _WAITS:
                at = words.file_offset + 4 * index
                data = _changed(where, [(at, nop_header(words.get(index)))])
                number = after.action.number
                assert number is not None
                return Edit(data, "waits and cache events", {(where.pass_.index, number)})
    raise NotHere


#: CP_WAIT_FOR_IDLE as type 7, and with a dword as type 3.
_WAITS = (0x70268000, 0xC0002600)


#: Kind -> edit.
EDITS: dict[str, Maker] = {
    "depth compare": register(("RB_DEPTH_CONTROL", "RB_DEPTH_CNTL"), "ZFUNC"),
    "depth write": register(("RB_DEPTH_CONTROL", "RB_DEPTH_CNTL"), "Z_WRITE_ENABLE"),
    "stencil": register(("RB_STENCIL_CONTROL",), "FUNC"),
    "cull mode": register(("GRAS_SU_MODE_CONTROL", "GRAS_SU_CNTL"), "CULL_BACK"),
    "front face": register(("GRAS_SU_MODE_CONTROL", "GRAS_SU_CNTL"), "FRONT_CW"),
    "blend": register(("RB_MRT[0].BLEND_CONTROL",), "RGB_DEST_FACTOR"),
    "blend enable": register(("RB_MRT[0].CONTROL",), "BLEND"),
    "colour mask": register(("RB_MRT[0].CONTROL",), "COMPONENT_ENABLE"),
    "viewport": register(
        ("GRAS_CL_VPORT_XOFFSET", "GRAS_CL_VPORT_XOFFSET_0", "GRAS_CL_VPORT[0].XOFFSET"),
        None,
        0x00100000,
    ),
    "scissor": register(
        (
            "GRAS_SC_VIEWPORT_SCISSOR_BR_0",
            "GRAS_SC_VIEWPORT_SCISSOR[0].BR",
            "GRAS_SC_WINDOW_SCISSOR_BR",
        ),
        "X",
    ),
    "push constant": register(("HLSQ_SHARED_CONSTS_IMM[3]+0",), None),
    "push constant, a6xx": contents("push constants"),
    "target format": register(("RB_MRT[0].BUF_INFO",), "COLOR_FORMAT", structure="color 0 format"),
    # 24 bits and stencil or 32 bits: 2 or 4 from a5xx on, 1 or 2 on a3xx, 2 or 3 on a4xx
    "depth format": register(
        ("RB_DEPTH_BUFFER_INFO",), "DEPTH_FORMAT", 6, structure="depth format"
    ),
    "depth format, a3xx": register(("RB_DEPTH_INFO",), "DEPTH_FORMAT", 3, structure="depth format"),
    "depth format, a4xx": register(("RB_DEPTH_INFO",), "DEPTH_FORMAT", 1, structure="depth format"),
    "base vertex": register(("VFD_INDEX_OFFSET",), None),
    "vertex format": register(("VFD_DECODE[0].INSTR",), "FORMAT"),
    "texture format": descriptor("texture", ("FMT",)),
    "texture swizzle": descriptor("texture", ("SWIZ_X",)),
    "texture mips": descriptor("texture", ("MIPLVLS",)),
    "texture size": descriptor("texture", ("WIDTH",)),
    "texture filter": descriptor("sampler", ("XY_MAG",)),
    "texture wrap": descriptor("sampler", ("WRAP_S", "CLAMP_S")),
    "uniform data": contents("uniform data"),
    "constants": contents("constants"),
    "vertex data": contents("vertex buffer"),
    "index data": contents("index buffer"),
    "shader": shader,
    "missing draw": missing_draw,
    "index count": count({"CP_DRAW_INDX_OFFSET": 2, "CP_DRAW_INDX": 2}, "(vertices|indices)$"),
    "instance count": count({"CP_DRAW_INDX_OFFSET": 1}, "instances$"),
    "texture binding": binding,
    "wait": wait,
    "clear value": clear_value,
    "no store": without_operation("store"),
    "no load": without_operation("load"),
    "no clear": without_operation("clear"),
}
