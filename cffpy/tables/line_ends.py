# SPDX-License-Identifier: MIT
"""LineEnds: what lines of registers and packets have from the packet's name on.

It is equal wherever a register gets the same value, so it is made once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cffpy.cp.loadstate import CONSTANTS, DIRECT, LOAD_STATE_PACKETS, loaded_state
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.regdb.decode import Decoder, Palette, float32_text
from cffpy.regdb.register_text import RegisterText
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.cp.machine import Machine
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.decode import VariantsKey

    #: A dword of a packet: its name, the function that decodes it, whether it has 64 bits.
    _Dword = tuple[str, Callable[[int], str], bool]

    #: The ends of the lines of a packet, after an empty string: ``lead.join`` makes the lines.
    Ends = tuple[str, ...]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

#: The column ``packet`` of registers that a packet of type 0 or 4 writes.
REGISTER_WRITE = "register write"

#: At most: entries of a memo, values of all runs, dwords of packets that are kept.
_MAX_KEPT, _MAX_RUN_VALUES, _MAX_FIELDS = 1 << 14, 1 << 16, 1 << 18
#: Dwords of a packet whose ends are kept, and of one that get a line each, at most.
_KEPT_DWORDS, _MAX_DWORDS = 12, 256

#: Behind the name of a constant of which the first components are left out.
_COMPONENTS = ("", ".yzw", ".zw", ".w")


class _Layout:
    """What the descriptions say of a packet, where its fields choose certain variants.

    ``dwords``: of each of the first dwords. ``ends``: of lines, by dword and value.
    """

    __slots__ = ("dwords", "ends", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.dwords: list[_Dword | None] = []
        self.ends: dict[tuple[int, int], str] = {}


class LineEnds:
    """Ends of the lines of one GPU."""

    #: Whether ends of lines are kept; False in a test.
    keeps = True

    def __init__(self, machine: Machine) -> None:
        """``machine``: bound to the GPU."""
        database, packet_names = machine.database, machine.packet_labels
        self._machine = machine
        self._database = database
        self._text = RegisterText(database)
        self._decoder = Decoder(database, Palette())
        self._names = tuple(packet_names)
        names = map(self.packet_name, range(len(packet_names)))
        self._domains = [PACKET_DOMAINS.get(name, name) for name in names]
        self._registers: dict[tuple[int, int], str] = {}
        #: Ends of a run of registers, by the first one and the values; of a packet.
        self._runs: dict[tuple[int, ...], Ends] = {}
        self._run_values = 0
        self._packets: dict[tuple[int, bytes], Ends] = {}
        #: By the opcode and the variants that the packet's fields choose.
        self._layouts: dict[tuple[int, VariantsKey], _Layout] = {}
        #: Ends of lines in all layouts.
        self._field_count = 0
        self._wide: dict[int, bool] = {}
        self._described_registers: dict[int, tuple[str, Callable[[int], str]]] = {}
        #: How many ends of single values were made.
        self.made = 0

    def packet_name(self, opcode: int) -> str:
        """The name of a packet, its opcode in hexadecimal where it has none."""
        return self._names[opcode] or f"{opcode:#x}"

    # -- registers --------------------------------------------------------------------------

    def run(self, register: int, values: list[int]) -> Ends:
        """The ends of a run of registers: of each value, or of two that are one register."""
        key = register, *values
        known = self._runs.get(key)
        if known is None:
            if len(values) == 1:  # which are kept here
                end = self.written(REGISTER_WRITE, register, values[0], False)
                known = "", end
            else:
                known = "", *(end for _, end in self.run_ends(register, values))
            self._run_values += len(values)
            if self._run_values > _MAX_RUN_VALUES:
                self._runs.clear()
                self._run_values = len(values)
            self._keep(self._runs, key, known)
        return known

    def run_ends(self, register: int, values: list[int]) -> Iterator[tuple[range, str]]:
        """The registers of each line of a run, and the line's end: two dwords are one line."""
        position = 0
        while position < len(values):
            offset, value = register + position, values[position]
            position += 1
            if position < len(values) and self._is_wide(offset):
                value |= values[position] << 32
                position += 1
                end = self.written(REGISTER_WRITE, offset, value, True)
                yield range(offset, offset + 2), end
            else:
                yield range(offset, offset + 1), self._register(offset, value)

    def _is_wide(self, register: int) -> bool:
        known = self._wide.get(register)
        if known is None:
            known = self._wide[register] = self._text.is_wide(register)
        return known

    def _register(self, register: int, value: int) -> str:
        key = register, value
        known = self._registers.get(key)
        if known is None:
            known = self.written(REGISTER_WRITE, register, value, False)
            self._keep(self._registers, key, known)
        return known

    def written(self, packet: str, register: int, value: int, is_wide: bool) -> str:
        """The end of the line of a register that ``packet`` writes.

        ``is_wide``: ``value`` has 64 bits.
        """
        self.made += 1
        known = self._described_registers.get(register)
        if known is None:
            name = visible(self._text.name(register))
            known = self._described_registers[register] = name, self._text.formatter(register)
        name, decoded = known
        digits = f"{value:016x}" if is_wide else f"{value:08x}"
        return f"{packet}\t{name}\t{digits}\t{visible(decoded(value))}\n"

    # -- packets ----------------------------------------------------------------------------

    def packet(self, opcode: int, payload: Payload) -> Ends:
        """The ends of the lines of a packet: of each described dword, and of all after them."""
        count = payload.captured
        if count > _KEPT_DWORDS:
            return self._packet(opcode, payload)
        key = opcode, bytes(payload.words.data[payload.index : payload.index + count])
        known = self._packets.get(key)
        if known is None:
            known = self._packet(opcode, payload)
            self._keep(self._packets, key, known)
        return known

    def _packet(self, opcode: int, payload: Payload) -> Ends:
        count = min(payload.captured, _MAX_DWORDS)
        values = payload.words.data[payload.index : payload.index + count].tolist()
        layout = self._layout(opcode, values)
        dwords, known = layout.dwords, layout.ends
        if len(dwords) < count:
            self._describe(opcode, layout, count)
        ends = [""]
        position = behind = 0
        while position < count:
            described = dwords[position]
            if described is not None:
                value = values[position]
                if described[2] and position + 1 < count:
                    value |= values[position + 1] << 32
                end = known.get((position, value))
                ends.append(end or self._field(layout, position, value, described))
                position += described[2]
                behind = position + 1
            position += 1
        if behind < count or len(ends) == 1:
            name = "" if len(ends) == 1 else str(behind)
            raw = " ".join([f"{value:08x}" for value in values[behind:]])
            raw += " ..." if payload.captured > count else ""
            text = self._payload_text(layout.name, payload, values, behind)
            ends.append(f"{layout.name}\t{name}\t{raw}\t{text}\n")
        return tuple(ends)

    def _payload_text(self, name: str, payload: Payload, values: list[int], start: int) -> str:
        """The shader constants that are in a packet, from dword ``start`` of it on."""
        if name not in LOAD_STATE_PACKETS:
            return ""
        loaded = loaded_state(self._machine, payload)
        if loaded.kind != CONSTANTS or loaded.source != DIRECT or loaded.packet_dwords != start:
            return ""
        first = loaded.first * self._machine.gpu.facts.constant_dwords
        texts = []
        values = values[start:]
        while values:
            size = 4 - first % 4
            at = f"c{first // 4}{_COMPONENTS[first % 4]}"
            numbers = " ".join(map(float32_text, values[:size]))
            texts.append(f"{loaded.stage} {at} = {numbers}")
            first += size
            del values[:size]
        return f"{{ {' | '.join(texts)} }}"

    def _layout(self, opcode: int, values: list[int]) -> _Layout:
        """The layout of a packet, whose variants are the decoder's from now on."""
        decoder = self._decoder
        decoder.choose(self._domains[opcode], values)
        key = opcode, decoder.variants_key
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = _Layout(self.packet_name(opcode))
        return layout

    def _describe(self, opcode: int, layout: _Layout, count: int) -> None:
        """Look up the first ``count`` dwords of a packet."""
        domain, decoder = self._domains[opcode], self._decoder
        for position in range(len(layout.dwords), count):
            lookup = self._database.lookup(domain, position, decoder.variants)
            described = None
            if lookup is not None and lookup.type is not None:
                text = decoder.formatter(lookup.type).text
                described = visible(lookup.name), text, lookup.dwords == 2
            layout.dwords.append(described)

    def _field(self, layout: _Layout, position: int, value: int, described: _Dword) -> str:
        self.made += 1
        name, text, is_wide = described
        digits = 16 if is_wide else 8
        end = f"{layout.name}\t{name}\t{value:0{digits}x}\t{visible(text(value))}\n"
        if self._field_count >= _MAX_FIELDS:
            self._field_count = 0
            for other in self._layouts.values():
                other.ends.clear()
        if self.keeps:
            layout.ends[position, value] = end
            self._field_count += 1
        return end

    def _keep(self, memo: dict[_Key, _Value], key: _Key, value: _Value) -> None:
        if len(memo) >= _MAX_KEPT:
            memo.clear()
        if self.keeps:
            memo[key] = value
