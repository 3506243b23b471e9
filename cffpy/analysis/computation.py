# SPDX-License-Identifier: MIT
"""Computation: what the command processor computes, copies and compares itself.

Packets move values between registers, scratch registers, scratch memory and memory, change them
and compare them. Where all inputs are known, so is the result; where one comes from elsewhere on
the GPU, the result is unknown. A register that is forgotten is no longer among the machine's, so
it reads as unknown. Facts: the packets' descriptions in Mesa's adreno_pm4.xml.

A capture holds memory as it was before the submit ran. ``KnownMemory`` has the dwords whose value
the command stream itself has decided: an earlier packet of the same submit has stored a known
value, and nothing on the GPU may have stored another one since. It also remembers the dwords that
the GPU has stored, since the capture has old values of them. ``GpuStores`` are the draws,
dispatches and blits that may have stored: programs that store are found by their instructions, when
a value is asked for; blits store to the buffer that their registers name. Render targets are taken
to lie elsewhere.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.cp.state import Overlay
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.analysis.registers import Programs, RegisterReader
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import ActionKind
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.descriptions import Disassemblers
    from cffpy.pm4.reader import Payload

# -- memory that the stream has decided ------------------------------------------------------------

#: Dwords that are remembered of a submit; more are treated as unknown.
_MAX_DWORDS = 1 << 16

#: The range of no addresses: the lowest, the highest.
_NO_ADDRESSES = 1 << 64, -1

#: Packets that a value is said to come from, at most.
MAX_PACKETS = 8

#: Structures in memory that are looked at one by one.
_MAX_STRUCTURES = 256

_DWORD_MASK = 0xFFFFFFFF


class Known(NamedTuple):
    """A known dword. ``packets``: those that it comes from, the first eight in execution."""

    value: int
    packets: tuple[PacketLocation, ...] = ()


#: Values, each with the number of the action before which it was stored.
Entries = list[tuple[Known, int]]


def joined(*values: Known) -> tuple[PacketLocation, ...]:
    """The packets that a result of these values comes from, each once."""
    packets = dict.fromkeys(packet for value in values for packet in value.packets)
    return tuple(packets)[:MAX_PACKETS]


class KnownMemory:
    """The known dwords of the current submit, and the dwords that the GPU has stored."""

    def __init__(self, machine: Machine, writes_image: bool = True) -> None:
        """``writes_image``: known values are written to the machine's memory image, too."""
        self._machine = machine
        self._writes_image = writes_image
        #: Address -> value, and the number of the action before which it was stored. None: the GPU
        #: has stored something.
        self._dwords: dict[int, tuple[Known, int] | None] = {}
        #: The lowest and the highest of the addresses.
        self._least, self._most = _NO_ADDRESSES

    def __bool__(self) -> bool:
        return bool(self._dwords)

    def clear(self) -> None:
        """A submit begins: its memory was captured anew."""
        self._dwords.clear()
        self._least, self._most = _NO_ADDRESSES

    def read(self, address: int) -> tuple[Known, int] | None:
        """The dword at an address, and the action before which it was stored; None: unknown."""
        return self._dwords.get(address)

    def is_unknown(self, address: int) -> bool:
        """Whether the GPU has stored the dword at an address since it was captured."""
        return self._dwords.get(address, True) is None

    def entries(self, address: int, dwords: int, stride: int, count: int) -> Entries | None:
        """What was stored in ``count`` structures of ``dwords`` dwords, ``stride`` bytes apart.

        None where the GPU has stored one of the dwords, or where there are too many to look at and
        something may have been stored among them.
        """
        if count > _MAX_STRUCTURES:
            end = address + stride * count
            is_outside = not self._dwords or end <= self._least or address > self._most
            return [] if is_outside else None
        entries: Entries = []
        for number in range(count):
            first = address + stride * number
            for at in range(first, first + 4 * dwords, 4):
                if at in self._dwords:
                    entry = self._dwords[at]
                    if entry is None:
                        return None
                    entries.append(entry)
        return entries

    def write(self, address: int, values: Sequence[Known | None], order: int) -> None:
        """Store dwords; None where only the GPU knows the value.

        ``order``: the number of actions before. Known values are written to the memory image, so
        that commands and parameters are read as they are then.
        """
        if address & 3:
            self.forget(address & ~3, 4 * len(values) + 4)
            return
        for at, known in zip(range(address, address + 4 * len(values), 4), values, strict=True):
            if at not in self._dwords and len(self._dwords) >= _MAX_DWORDS:
                continue
            self._remember(at, None if known is None else (known, order))
            if known is not None and self._writes_image:
                self._store(at, known.value)

    def forget(self, address: int, size: int) -> None:
        """The GPU may store anything in these ``size`` bytes."""
        end = address + size
        if size > 4 * len(self._dwords) + 256:
            touched: Iterable[int] = [at for at in self._dwords if address <= at < end]
        else:
            touched = range(address & ~3, end, 4)
        for at in touched:
            if at in self._dwords or len(self._dwords) < _MAX_DWORDS:
                self._remember(at, None)

    def _remember(self, address: int, entry: tuple[Known, int] | None) -> None:
        self._dwords[address] = entry
        self._least = min(self._least, address)
        self._most = max(self._most, address)

    def forget_from(self, address: int) -> None:
        """The GPU stores something that begins at an address, of a size that is not known."""
        size = self._machine.image.remaining(address)
        if size and self._dwords:
            self.forget(address, size)

    def _store(self, address: int, value: int) -> None:
        image = self._machine.image
        place = image.place(address)
        if place is not None and place[1] < place[0].count and place[0].data[place[1]] != value:
            image.write(address, (value & _DWORD_MASK).to_bytes(4, "little"))


# -- computation -----------------------------------------------------------------------------------

#: CP_MEM_TO_MEM: the signs of up to three operands, and whether they have 64 bits; after this
#: dword, the addresses of the destination and of the operands.
SUM = Fields("CP_MEM_TO_MEM", "NEG_A", "NEG_B", "NEG_C", "DOUBLE")
SUM_ADDRESSES = Fields("CP_MEM_TO_MEM", "DST", "SRC_A", "SRC_B", "SRC_C", variant="ADDRESSES")
_SCRATCH_REGISTERS = 8
#: Dwords of the memory that CP_MEM_TO_SCRATCH_MEM fills.
_SCRATCH_MEMORY = 48

#: Dwords of one packet that are followed.
_MAX_COPIED = 1 << 12

_SIGN = 0x80000000

_RMW = Fields(
    "CP_REG_RMW",
    "DST_REG",
    "DST_SCRATCH",
    "ROTATE",
    "SRC1_ADD",
    "SRC1_IS_REG",
    "SRC0_IS_REG",
    "SRC0",
    "SRC1",
)
_MEM_TO_REG = Fields("CP_MEM_TO_REG", "REG", "CNT", "SHIFT_BY_2", "SRC")
_REG_TO_MEM = Fields("CP_REG_TO_MEM", "REG", "CNT", "64B", "ACCUMULATE", "DEST")
_OFFSET_REG = Fields("CP_REG_TO_MEM_OFFSET_REG", "REG", "CNT", "DEST")
_OFFSET_MEM = Fields("CP_REG_TO_MEM_OFFSET_MEM", "REG", "CNT", "DEST")
_MEMCPY = Fields("CP_MEMCPY", "DWORDS", "SRC", "DST")
_MEM_TO_SCRATCH = Fields("CP_MEM_TO_SCRATCH_MEM", "CNT", "OFFSET", "SRC")
#: CNT of the next two is one less than the number of registers.
_REG_TO_SCRATCH = Fields("CP_REG_TO_SCRATCH", "REG", "SCRATCH", "CNT")
_SCRATCH_TO_REG = Fields("CP_SCRATCH_TO_REG", "REG", "SCRATCH", "CNT")
_SCRATCH_WRITE = Fields("CP_SCRATCH_WRITE", "SCRATCH")
_COMPARED = ("FUNCTION", "SIGNED_COMPARE", "POLL", "POLL_ADDR", "REF", "MASK")
_COND_WRITE5 = Fields("CP_COND_WRITE5", *_COMPARED, "WRITE_MEMORY", "WRITE_ADDR", "WRITE_DATA")
_WAIT_REG_MEM = Fields("CP_WAIT_REG_MEM", *_COMPARED)
_COND_WRITE = Fields(
    "CP_COND_WRITE",
    "FUNCTION",
    "POLL_MEMORY",
    "POLL_ADDR",
    "REF",
    "MASK",
    "WRITE_MEMORY",
    "WRITE_ADDR",
    "WRITE_DATA",
)
_LOAD_CONSTANT_CONTEXT = Fields("CP_LOAD_CONSTANT_CONTEXT", "TYPE", "INDEX", "COUNT")

#: POLL (poll_memory_type).
_POLL_REGISTER, _POLL_MEMORY, _POLL_SCRATCH = range(3)

#: FUNCTION (cp_cond_function): how the polled value is compared with REF.
_FUNCTIONS: dict[int, Callable[[int, int], bool]] = {
    0: lambda polled, reference: True,
    1: lambda polled, reference: polled < reference,
    2: lambda polled, reference: polled <= reference,
    3: lambda polled, reference: polled == reference,
    4: lambda polled, reference: polled != reference,
    5: lambda polled, reference: polled >= reference,
    6: lambda polled, reference: polled > reference,
}
_EQUAL = 3

#: Where the addresses of CP_MEM_TO_MEM begin.
_FIRST_ADDRESS = 1

#: CP_LOAD_CONSTANT_CONTEXT and CP_SET_CONSTANT count context registers from here.
_CONTEXT_REGISTERS = 0x2000
_CONTEXT_KIND = 4


#: Event -> the registers that hold where it stores counts: names of all generations.
_STORED_BY_EVENTS = {
    "ZPASS_DONE": ("RB_SAMPLE_COUNT_ADDR",),
    "WRITE_PRIMITIVE_COUNTS": ("VPC_SO_STREAM_COUNTS",),
    **{
        f"FLUSH_SO_{number}": (f"VPC_SO[{number}].FLUSH_BASE", f"VPC_SO[{number}].FLUSH_ADDR")
        for number in range(4)
    },
}
#: Bytes that an event stores at most.
_COUNTS_BYTES = 64
_EVENT_WRITE = Fields("CP_EVENT_WRITE", "ADDR_0")
_EVENT_WRITE7 = Fields("CP_EVENT_WRITE7", "WRITE_DST", "WRITE_ENABLED", "1")


class _Maybe(int):
    """The value of a register if commands were executed of which only the GPU knows whether."""


class Computation:
    """Follows what the command processor computes.

    ``forgotten`` is called for registers whose value becomes unknown: the first, and how many.
    ``location`` is the place of the current packet, ``order`` the number of the next action;
    ``may_store`` says whether a program that has run since an action may have stored to memory.
    ``writes_image``: known values are written to the machine's memory image, too.
    """

    def __init__(
        self,
        machine: Machine,
        forgotten: Callable[[int, int], None],
        location: Callable[[], PacketLocation],
        order: Callable[[], int],
        may_store: Callable[[int], bool],
        writes_image: bool = True,
    ) -> None:
        self._machine = machine
        self._forgotten = forgotten
        self._location = location
        self._order = order
        self._may_store = may_store
        #: What packets have stored in memory.
        self.memory = KnownMemory(machine, writes_image)
        #: None: unknown.
        self._scratch: list[Known | None] = [None] * _SCRATCH_REGISTERS
        self._scratch_memory: list[Known | None] = [None] * _SCRATCH_MEMORY
        #: Of the register that is being written: the packets that its value comes from.
        self.sources: tuple[PacketLocation, ...] = ()
        #: Whether what runs may be executed or not: its results are unknown.
        self.is_uncertain = False
        #: While it does, the registers as they were before.
        self._below: dict[int, int] | None = None

    def handlers(self) -> dict[str, Callable[[Payload], None]]:
        """The handlers of packets that copy and compute."""
        return {
            "CP_MEM_TO_REG": self._memory_to_registers,
            "CP_REG_TO_MEM": self._registers_to_memory,
            "CP_REG_TO_MEM_OFFSET_REG": partial(self._to_unknown_place, _OFFSET_REG),
            "CP_REG_TO_MEM_OFFSET_MEM": partial(self._to_unknown_place, _OFFSET_MEM),
            "CP_MEM_TO_MEM": self._memory_to_memory,
            "CP_MEMCPY": self._memory_copy,
            "CP_MEM_TO_SCRATCH_MEM": self._memory_to_scratch_memory,
            "CP_REG_TO_SCRATCH": self._registers_to_scratch,
            "CP_SCRATCH_TO_REG": self._scratch_to_registers,
            "CP_SCRATCH_WRITE": self._scratch_write,
            "CP_COND_WRITE": self._conditional_write,
            "CP_COND_WRITE5": self._conditional_write5,
            "CP_WAIT_REG_MEM": self._wait,
            "CP_LOAD_CONSTANT_CONTEXT": self._load_context,
            "CP_EVENT_WRITE": self._event_write,
            "CP_EVENT_WRITE7": self._event_write7,
        }

    # -- values ---------------------------------------------------------------------------------

    def register(self, register: int) -> Known | None:
        """The value of a register, as a result of the current packet."""
        value = self._machine.state.registers.get(register)
        return None if value is None or isinstance(value, _Maybe) else Known(value)

    def begin_uncertain(self) -> None:
        """What follows may be executed or not: collect what it writes to registers."""
        state = self._machine.state
        if self._below is None:
            self._below, state.registers = state.registers, Overlay(state.registers)

    def end_uncertain(self) -> None:
        """Registers go on as if it were executed; which value they hold, only the GPU knows."""
        written, below = self._machine.state.registers, self._below
        if below is None:
            return
        assert isinstance(written, Overlay)
        changed = {
            register: _Maybe(value)
            for register, value in written.written()
            if isinstance(old := below.get(register), _Maybe) or old != value
        }
        written.apply_to(below)
        below.update(changed)
        self._machine.state.registers, self._below = below, None

    def dword(self, address: int) -> Known | None:
        """The dword in memory; None where only the GPU knows it."""
        known = self.memory.read(address)
        if known is None or self._may_store(known[1]):
            return None
        return known[0]

    def stored_by(
        self, address: int, dwords: int, stride: int = 0, count: int = 1
    ) -> tuple[PacketLocation, ...] | None:
        """The packets that have stored structures in memory; None: the GPU may have stored them.

        ``count`` structures of ``dwords`` dwords lie ``stride`` bytes apart. Empty where all are
        as they were captured.
        """
        entries = self.memory.entries(address, dwords, stride, count)
        if entries is None:
            return None
        if entries and self._may_store(min(order for _, order in entries)):
            return None
        return joined(*(known for known, _ in entries))

    def scratch_memory(self, offset: int) -> Known | None:
        """A dword of the memory that CP_MEM_TO_SCRATCH_MEM fills."""
        return self._scratch_memory[offset] if offset < _SCRATCH_MEMORY else None

    def forget(self, register: int, count: int) -> None:
        """From now on only the GPU knows what these registers hold."""
        for offset in range(register, register + count):
            self._machine.state.registers.pop(offset, None)
        self._forgotten(register, count)

    def forget_event(self, name: str | None, address: Callable[[str], int | None]) -> None:
        """An event has the GPU store counts at an address that a register holds."""
        for register in _STORED_BY_EVENTS.get(name or "", ()):
            base = address(register)
            if base:
                self.memory.forget(base, _COUNTS_BYTES)

    def new_submit(self) -> None:
        """Forget what the memory of the submit before held."""
        self.memory.clear()

    def stored(self, address: int, data: Payload) -> None:
        """Note the dwords that CP_MEM_WRITE stores."""
        if data.count > _MAX_COPIED:
            self.memory.forget(address, 4 * data.count)
            return
        packets = (self._location(),)
        self._write(address, [Known(value, packets) for value in data.dwords()])

    def _write(self, address: int, values: Sequence[Known | None]) -> None:
        if self.is_uncertain:
            values = [None] * len(values)
        self.memory.write(address, values, self._order())

    def _made(self, value: int, *inputs: Known) -> Known:
        """A result of the current packet."""
        return Known(value & _DWORD_MASK, (*joined(*inputs), self._location())[-MAX_PACKETS:])

    def _set_register(self, register: int, known: Known | None) -> None:
        """Write a register, or forget it."""
        if known is None:
            self.forget(register, 1)
            return
        self.sources = known.packets
        self._machine.write_register(register, known.value, self._machine.state.ib_level)
        self.sources = ()

    # -- registers ------------------------------------------------------------------------------

    def modified(self, payload: Payload) -> Callable[[], None] | None:
        """CP_REG_RMW, before the machine stores its simple form: what to do after that, if any."""
        values = payload.read(self._machine.packets[_RMW])
        register, to_scratch, rotation, adds, is_reg1, is_reg0, mask, bits = values
        target = self._scratch_of(register) if to_scratch else self.register(register)
        first = self.register(mask) if is_reg0 else Known(mask)
        second = self.register(bits) if is_reg1 else Known(bits)
        result = self._modification(target, first, second, rotation, bool(adds))
        if to_scratch:
            before = self._machine.state.registers.get(register)
            return partial(self._restore, register, before, result)
        if any((rotation, adds, is_reg1, is_reg0)) or result is None:
            return partial(self._modify, register, result)
        return None

    def _modification(
        self,
        target: Known | None,
        mask: Known | None,
        bits: Known | None,
        rotation: int,
        adds: bool,
    ) -> Known | None:
        """``target`` masked, rotated to the left, then joined with ``bits`` by or, or added."""
        if mask is None or bits is None or (target is None and mask.value):
            return None
        target = target or Known(0)
        old = target.value & mask.value
        old = (old << rotation | old >> 32 - rotation) & _DWORD_MASK
        total = old + bits.value if adds else old | bits.value
        return self._made(total, target, mask, bits)

    def _modify(self, register: int, result: Known | None) -> None:
        if result is None:
            self.forget(register, 1)
        else:
            self._machine.state.set_register(register, result.value)

    def _restore(self, number: int, before: int | None, result: Known | None) -> None:
        """The machine takes the number of a scratch register for a register's."""
        if before is None:
            self._machine.state.registers.pop(number, None)
        else:
            self._machine.state.set_register(number, before)
        if number < _SCRATCH_REGISTERS:
            self._scratch[number] = None if self.is_uncertain else result

    def _scratch_of(self, number: int) -> Known | None:
        return self._scratch[number] if number < _SCRATCH_REGISTERS else None

    def _memory_to_registers(self, payload: Payload) -> None:
        register, count, shifts, address = payload.read(self._machine.packets[_MEM_TO_REG])
        for step in range(min(count or 1, _MAX_COPIED)):
            known = self.dword(address + 4 * step)
            if known is not None and shifts:
                known = known._replace(value=known.value << 2 & _DWORD_MASK)
            self._set_register(register + step, known)

    def _registers_to_scratch(self, payload: Payload) -> None:
        register, scratch, count = payload.read(self._machine.packets[_REG_TO_SCRATCH])
        for step in range(min(count + 1, _SCRATCH_REGISTERS - scratch)):
            known = None if self.is_uncertain else self.register(register + step)
            self._scratch[scratch + step] = known and self._made(known.value)

    def _scratch_to_registers(self, payload: Payload) -> None:
        register, scratch, count = payload.read(self._machine.packets[_SCRATCH_TO_REG])
        for step in range(count + 1):
            self._set_register(register + step, self._scratch_of(scratch + step))

    def _scratch_write(self, payload: Payload) -> None:
        (scratch,) = payload.read(self._machine.packets[_SCRATCH_WRITE])
        values = payload.dwords()[1 : 1 + _SCRATCH_REGISTERS - scratch]
        made = [None if self.is_uncertain else self._made(value) for value in values]
        self._scratch[scratch : scratch + len(values)] = made

    def _load_context(self, payload: Payload) -> None:
        """Of a2xx: context registers, from memory."""
        kind, index, count = payload.read(self._machine.packets[_LOAD_CONSTANT_CONTEXT])
        if kind == _CONTEXT_KIND:
            self.forget(_CONTEXT_REGISTERS + index, min(count, _CONTEXT_REGISTERS))

    # -- memory ---------------------------------------------------------------------------------

    def _registers_to_memory(self, payload: Payload) -> None:
        values = payload.read(self._machine.packets[_REG_TO_MEM])
        register, count, is_wide, accumulates, address = values
        count = min(max(count, 1), _MAX_COPIED)
        known = [self.register(register + step) for step in range(count)]
        made = [known_value and self._made(known_value.value) for known_value in known]
        if accumulates:
            made = self._sums(address, made, bool(is_wide))
        self._write(address, made)

    def _sums(self, address: int, added: list[Known | None], is_wide: bool) -> list[Known | None]:
        """The sums of these dwords and of memory; ``is_wide``: of numbers of 64 bits."""
        size = 2 if is_wide else 1
        totals: list[Known | None] = []
        for first in range(0, len(added) // size * size, size):
            part = added[first : first + size]
            terms = [part, [self.dword(address + 4 * at) for at in range(first, first + size)]]
            totals += self._sum([(1, term) for term in terms], size)
        return totals

    def _sum(self, terms: list[tuple[int, list[Known | None]]], size: int) -> list[Known | None]:
        """The sum of numbers of ``size`` dwords, each with its sign."""
        total = 0
        inputs: list[Known] = []
        for sign, dwords in terms:
            for place, dword in enumerate(dwords):
                if dword is None:
                    return [None] * size
                inputs.append(dword)
                total += sign * (dword.value << 32 * place)
        return [self._made(total >> 32 * place, *inputs) for place in range(size)]

    def _memory_to_memory(self, payload: Payload) -> None:
        *negated, is_wide = payload.read(self._machine.packets[SUM])
        size = 2 if is_wide else 1
        target, *sources = payload.read(self._machine.packets[SUM_ADDRESSES], _FIRST_ADDRESS)
        count = (payload.captured - _FIRST_ADDRESS) // 2
        if count < 1:
            return
        terms = [
            (-1 if negative else 1, [self.dword(source + 4 * at) for at in range(size)])
            for source, negative in zip(sources[: count - 1], negated, strict=False)
        ]
        self._write(target, self._sum(terms, size))

    def _memory_copy(self, payload: Payload) -> None:
        count, source, address = payload.read(self._machine.packets[_MEMCPY])
        if count > _MAX_COPIED:
            self.memory.forget(address, 4 * count)
            return
        copied = [self.dword(source + 4 * step) for step in range(count)]
        self._write(address, [dword and self._made(dword.value, dword) for dword in copied])

    def _to_unknown_place(self, fields: Fields, payload: Payload) -> None:
        """A copy to memory at an offset that is read elsewhere."""
        _register, _count, address = payload.read(self._machine.packets[fields])
        self.memory.forget_from(address)

    def _event_write(self, payload: Payload) -> None:
        """What an event stores, and when, is up to the rest of the GPU."""
        if payload.count > 1:
            (address,) = payload.read(self._machine.packets[_EVENT_WRITE])
            self.memory.forget(address, _COUNTS_BYTES)

    def _event_write7(self, payload: Payload) -> None:
        if payload.count > 1:
            on_chip, stores, address = payload.read(self._machine.packets[_EVENT_WRITE7])
            if stores and not on_chip:
                self.memory.forget(address, _COUNTS_BYTES)

    def _memory_to_scratch_memory(self, payload: Payload) -> None:
        count, offset, address = payload.read(self._machine.packets[_MEM_TO_SCRATCH])
        for step in range(min(count, _SCRATCH_MEMORY - offset)):
            known = None if self.is_uncertain else self.dword(address + 4 * step)
            self._scratch_memory[offset + step] = known and self._made(known.value, known)

    # -- comparisons ----------------------------------------------------------------------------

    def compare(
        self, function: int, signed: int, polled: Known | None, reference: int, mask: int
    ) -> bool | None:
        """Whether a comparison holds; None where that is unknown."""
        if function == 0:
            return True
        if polled is None or function not in _FUNCTIONS:
            return None
        return holds(function, signed, polled.value, reference, mask)

    def _polled(self, poll: int, address: int) -> Known | None:
        if poll == _POLL_REGISTER:
            return self.register(address & _DWORD_MASK)
        if poll == _POLL_MEMORY:
            return self.dword(address)
        return self._scratch_of(address & _DWORD_MASK) if poll == _POLL_SCRATCH else None

    def _conditional_write(self, payload: Payload) -> None:
        values = payload.read(self._machine.packets[_COND_WRITE])
        function, in_memory, address, reference, mask, *written = values
        polled = self._polled(_POLL_MEMORY if in_memory else _POLL_REGISTER, address)
        self._write_if(self.compare(function, 0, polled, reference, mask), polled, *written)

    def _conditional_write5(self, payload: Payload) -> None:
        values = payload.read(self._machine.packets[_COND_WRITE5])
        function, signed, poll, address, reference, mask, *written = values
        polled = self._polled(poll, address)
        self._write_if(self.compare(function, signed, polled, reference, mask), polled, *written)

    def _write_if(
        self, holds: bool | None, polled: Known | None, to_memory: int, address: int, value: int
    ) -> None:
        if holds is False:
            return
        made = None if holds is None else self._made(value, *([] if polled is None else [polled]))
        if to_memory:
            self._write(address, [made])
        else:
            self._set_register(address & _DWORD_MASK, made)

    def _wait(self, payload: Payload) -> None:
        """CP_WAIT_REG_MEM: after a wait for one value, memory holds that value."""
        values = payload.read(self._machine.packets[_WAIT_REG_MEM])
        function, _signed_compare, poll, address, reference, mask = values
        is_value = function == _EQUAL and mask == _DWORD_MASK and poll == _POLL_MEMORY
        if is_value and self.memory.is_unknown(address):
            self._write(address, [self._made(reference)])

    def condition_of_memory(self, nonzero: int, below: int, reference: int) -> bool | None:
        """CP_COND_EXEC: whether one dword is not 0, and another is less than a number (signed)."""
        first, second = self.dword(nonzero), self.dword(below)
        parts = (
            None if first is None else first.value != 0,
            None if second is None else _signed(second.value) < _signed(reference),
        )
        if False in parts:
            return False
        return None if None in parts else True


def holds(function: int, signed: int, value: int, reference: int, mask: int) -> bool:
    """Whether a comparison holds. ``function``: a cp_cond_function that there is."""
    test, value = _FUNCTIONS[function], value & mask
    return test(_signed(value), _signed(reference)) if signed else test(value, reference)


def _signed(value: int) -> int:
    return (value ^ _SIGN) - _SIGN


# -- stores of the GPU -----------------------------------------------------------------------------

#: Instructions of a3xx and later that store to memory that others see.
_STORES = re.compile(r"\b(stg|stib|stgb|atomic)\b")

#: Bytes of a program that are looked at.
_MAX_PROGRAM = 1 << 20

#: Where a blit stores; names of all generations.
_BLIT_DESTINATIONS = ("RB_2D_DST", "RB_COPY_DEST_BASE")
_RESOLVE_DESTINATIONS = ("RB_BLIT_DST",)


class GpuStores:
    """Follows the actions of a submit, for one GPU."""

    def __init__(
        self,
        machine: Machine,
        registers: RegisterReader,
        memory: KnownMemory,
        disassemblers: Disassemblers,
    ) -> None:
        self._machine = machine
        self._registers = registers
        self._memory = memory
        self._disassemblers = disassemblers
        #: The lists of programs that have run while values were known -> order of the last action.
        self._ran: dict[Programs, int] = {}
        #: Where a program lies -> whether it stores.
        self._storing: dict[tuple[Words, int], bool] = {}

    def new_submit(self) -> None:
        """Forget the stores to the memory of the submit before."""
        self._ran.clear()
        self._storing.clear()

    def action(self, kind: ActionKind, programs: Programs, order: int) -> None:
        """An action that may be executed."""
        if kind in ("draw", "dispatch"):
            self._ran[programs] = order
            return
        names = _BLIT_DESTINATIONS if kind == "blit" else _RESOLVE_DESTINATIONS
        name = self._registers.first(*names, *(f"{name}_LO" for name in names))
        address = None if name is None else self._registers.address(name.removesuffix("_LO"))
        if address:
            self._memory.forget_from(address)

    def since(self, order: int) -> bool:
        """Whether programs of this action or a later one may have stored anything."""
        return any(
            last >= order and any(self.program_stores(address) for _, address in programs)
            for programs, last in self._ran.items()
        )

    def program_stores(self, address: int) -> bool:
        """Whether a program may store to memory; True where it was not captured."""
        place = self._machine.image.place(address)
        if place is None:
            return True  # it was not captured
        known = self._storing.get(place)
        if known is None:
            known = self._storing[place] = self._read(*place)
        return known

    def _read(self, words: Words, index: int) -> bool:
        facts = self._machine.gpu.facts
        if facts.instruction_set == "a2xx":
            return False
        data = words.bytes(index, min(words.count - index, _MAX_PROGRAM // 4))
        listing = self._disassemblers.ir3(facts.number).listing(data, 0)
        return not listing.instructions or _STORES.search(listing.text) is not None
