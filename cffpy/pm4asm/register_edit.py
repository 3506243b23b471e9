# SPDX-License-Identifier: MIT
"""``--set``: another value in a field of a register, wherever it is written or at one draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cffpy.analysis.edits import Edit, Patch
from cffpy.capture.gpu import Gpu
from cffpy.capture.memory import Words
from cffpy.container.writer import dwords_bytes
from cffpy.cp.packets.registers import SET_CONSTANT
from cffpy.cp.sink import NOTHING, Draw, WriteOutcome
from cffpy.errors import CaptureError
from cffpy.frame.places import DrawName, no_draw
from cffpy.pm4.reader import Fields, Packets, Payload
from cffpy.pm4asm.fields import Element, Vocabulary, build_value
from cffpy.pm4asm.model import Call, Name, SourceProblem, Value
from cffpy.pm4asm.packets import CONTEXT_REGISTERS, PAIRS, SET_REGISTERS
from cffpy.pm4asm.read import parse_line
from cffpy.pm4asm.values import encode, nearest
from cffpy.regdb.database import Database
from cffpy.regdb.rows import MOST_ELEMENTS, Port
from cffpy.regdb.spelling import parse_index

_REG_WRITE = Fields("CP_REG_WRITE", "REG")
_REG_RMW = Fields("CP_REG_RMW", "DST_REG")
_WIDE_REG_WRITE = Fields("CP_WIDE_REG_WRITE", "REG")

_DWORD = 0xFFFFFFFF
#: Draws that are remembered for one write.
_MAX_DRAWS = 1 << 16


class _Write:
    """One dword of a packet that writes a register."""

    __slots__ = ("draws", "half", "kept", "value")

    def __init__(self, half: int, value: int, kept: int | None) -> None:
        self.half = half
        self.value = value
        #: Of CP_REG_RMW: the bits of the old value that are kept.
        self.kept = kept
        #: The draws that it reached as the last write of its register.
        self.draws: list[int] = []


class SetRegister(Edit):
    """``REG=VALUE`` or ``REG.FIELD=VALUE``, the value in the language of texts.

    ``at_draw``: only the last write that reaches this draw; None: every write.
    """

    def __init__(self, text: str, at_draw: int | None = None) -> None:
        super().__init__()
        self.at_draw = at_draw
        self._text = text
        target, equals, value = text.partition("=")
        if not equals or not target.strip() or not value.strip():
            raise CaptureError(f"'{text}' is not REG.FIELD=VALUE")
        self._target, self._value = target.strip(), value.strip()
        self._register = self._dwords = -1
        #: The element of a port that is changed, and the element that is written next.
        self._port: Port | None = None
        self._element: int | None = None
        self._next = 0
        self._name = ""
        self._bits = self._mask = 0
        self._writes: dict[int, _Write] = {}
        #: Half of the register -> file offset of its last write.
        self._last: dict[int, int] = {}
        self._chosen: list[int] | None = None
        self._done: list[int] = []

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        vocabulary = Vocabulary(gpu, database)
        try:
            statement = parse_line(f"{self._target} = {self._value}", "--set")
            if statement.kind != "register":
                raise CaptureError(f"'{self._text}' is not REG.FIELD=VALUE")
            value: Value = statement.parts[1]  # type: ignore[assignment]
            self._resolve(vocabulary, value)
        except SourceProblem as problem:
            raise CaptureError(f"{self._text}: {problem}") from None

    def _resolve(self, vocabulary: Vocabulary, value: Value) -> None:
        target = self._without_element(vocabulary)
        try:
            offset, element = vocabulary.named_register(target)
            field = None
            self._name = target
        except SourceProblem:
            self._name, _, field = target.rpartition(".")
            if not self._name:
                raise
            offset, element = vocabulary.named_register(self._name)
        self._register, self._dwords = offset, element.dwords
        if field is None:
            self._mask = (1 << 32 * element.dwords) - 1
            database, variants = vocabulary.database, vocabulary.variants
            self._bits = build_value(element, value, self._name, database, variants, _no_label)
        else:
            others = vocabulary.database.other_fields(self._name, field)
            self._field(element, (field, *others), value)

    def _without_element(self, vocabulary: Vocabulary) -> str:
        """The target without the index of a port's element, such as ``VPC_SO_PROG[3].A_OFF``."""
        head, bracket, rest = self._target.partition("[")
        database = vocabulary.database
        named = database.find_named(head)
        ports = (port for port in database.ports.values() if named and port.offset == named.offset)
        self._port = next(ports, None)
        if self._port is None or not bracket:
            return self._target
        index, closing, field = rest.partition("]")
        self._element = parse_index(index)
        if not closing or self._element is None or self._element >= MOST_ELEMENTS:
            raise SourceProblem(f"{head} has the elements 0 to {MOST_ELEMENTS - 1}")
        return f"{head}{field}"

    def _field(self, element: Element, names: tuple[str, ...], value: Value) -> None:
        """``names``: of the field, then other editions' names of it."""
        known = [field for name in names for field in element.fields if field.name == name]
        if not element.is_bitset or not known:
            near = nearest(names[0], [field.name for field in element.fields])
            raise SourceProblem(f"{self._name} has no field {names[0]}{near}")
        field = known[0]
        self._mask = field.mask
        if field.width == 1 and isinstance(value, Name) and value.text in ("true", "false"):
            self._bits = int(value.text == "true") << field.low
        else:
            self._bits = encode(field, value, _no_label) << field.low

    # -- writes -----------------------------------------------------------------------------

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        if self._element is not None:
            for position, value in enumerate(values):
                if self._is_meant(register + position, value):
                    self._wrote(words, index + 1 + position, 0)
            return NOTHING
        for half in range(self._dwords):
            position = self._register + half - register
            if 0 <= position < len(values):
                self._wrote(words, index + 1 + position, half)
        return NOTHING

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        name = self.machine.packet_names[opcode] or ""
        for register, position in _written(self.machine.packets, name, payload):
            half = register - self._register
            if position >= payload.captured:
                continue
            if self._element is not None:
                if self._is_meant(register, payload[position]):
                    self._wrote(payload.words, payload.index + position, 0)
            elif 0 <= half < self._dwords:
                self._wrote(payload.words, payload.index + position, half, name == "CP_REG_RMW")

    def _is_meant(self, register: int, value: int) -> bool:
        """Whether this write of a register writes the element; its port counts writes."""
        port = self._port
        if port is None:
            return False
        if register == port.pointer:
            self._next = port.start(value)
        if register != port.offset:
            return False
        self._next += 1
        return self._next - 1 == self._element

    def _wrote(self, words: Words, index: int, half: int, is_rmw: bool = False) -> None:
        offset = self.owners.file_offset(words, index)
        if offset is None:
            raise CaptureError(
                f"the write at {words.address + index * 4:#x} lies in buffers that overlap"
            )
        if offset not in self._writes:
            kept = words.data[index - 1] if is_rmw else None
            self._writes[offset] = _Write(half, words.data[index], kept)
        self._last[half] = offset

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if not draw.counted:
            return
        number = self.machine.state.draw_count
        for offset in self._last.values():
            draws = self._writes[offset].draws
            if len(draws) < _MAX_DRAWS:
                draws.append(number)
        if number == self.at_draw:
            self._chosen = [
                offset for half, offset in self._last.items() if self._mask >> 32 * half & _DWORD
            ]

    # -- what to change ---------------------------------------------------------------------

    def patches(self) -> list[Patch]:
        if self.at_draw is not None and self._chosen is None:
            raise no_draw(DrawName(self.at_draw), self.machine.state.draw_count)
        offsets = self._chosen
        if offsets is None:
            offsets = [
                offset
                for offset, write in self._writes.items()
                if self._mask >> 32 * write.half & _DWORD
            ]
        if not offsets:
            until = "" if self.at_draw is None else f" before draw {DrawName(self.at_draw)}"
            name = self._name if self._element is None else f"{self._name}[{self._element}]"
            raise CaptureError(f"{name} is never written{until}")
        self._done = offsets
        return [patch for offset in offsets for patch in self._patch(offset)]

    def _patch(self, offset: int) -> Iterator[Patch]:
        write = self._writes[offset]
        mask = self._mask >> 32 * write.half & _DWORD
        bits = self._bits >> 32 * write.half & _DWORD
        yield Patch(offset, dwords_bytes([bits]), mask)
        if write.kept is not None:  # SRC0 before it
            yield Patch(offset - 4, dwords_bytes([0]), mask)

    def _changes(self, offset: int) -> bool:
        """Whether the dword has another value."""
        write = self._writes[offset]
        mask = self._mask >> 32 * write.half & _DWORD
        bits = self._bits >> 32 * write.half & _DWORD
        return write.value & mask != bits or bool(write.kept is not None and write.kept & mask)

    def _registers(self, offsets: Iterable[int]) -> set[int]:
        """A number for each place that writes the register: both halves have the same."""
        return {offset // 4 - self._writes[offset].half for offset in offsets}

    def messages(self) -> list[str]:
        changed = self._registers(offset for offset in self._done if self._changes(offset))
        unchanged = len(self._registers(self._done) - changed)
        line = f"{self._text}: set in {_places(len(changed))}"
        if not changed:
            return [f"{self._text}: it has this value already, in {_places(unchanged)}"]
        if unchanged:
            line += f"; {_places(unchanged)} had this value already"
        if self.at_draw is not None:
            draws = sorted({n for offset in self._done for n in self._writes[offset].draws})
            others = [number for number in draws if number != self.at_draw]
            if others:
                shown = ", ".join(str(DrawName(other)) for other in others[:12])
                shown += ", ..." if len(others) > 12 else ""
                line += f"; this also reaches {len(others)} other draws ({shown})"
        return [line]


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"


def _no_label(call: Call) -> int:
    raise SourceProblem(f"{call.name} is not a value of this field", call.column)


def _written(packets: Packets, name: str, payload: Payload) -> Iterator[tuple[int, int]]:
    """(Register, dword of the payload) for each register that a packet with an opcode writes."""
    if name == "CP_SET_CONSTANT":
        index, kind, add = payload.read(packets[SET_CONSTANT])
        if kind == SET_REGISTERS and not add:
            for position in range(1, payload.captured):
                yield CONTEXT_REGISTERS + index + position - 1, position
    elif name == "CP_REG_WRITE":
        yield payload.read(packets[_REG_WRITE])[0], 2
    elif name == "CP_REG_RMW":
        yield payload.read(packets[_REG_RMW])[0], 2
    elif name == "CP_WIDE_REG_WRITE":
        (register,) = payload.read(packets[_WIDE_REG_WRITE])
        for position in range(1, payload.captured):
            yield register + position - 1, position
    elif name in PAIRS:
        for position in range(PAIRS[name], payload.captured - 1, 2):
            yield payload[position], position + 1
