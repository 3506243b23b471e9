# SPDX-License-Identifier: MIT
"""Packets between draws: which are compared, and which of their fields.

Waits and cache events order what the GPU does. The other commands decide what is executed, as
predicates do, or move data between memory and registers. Addresses, timestamps and data are not
compared: they differ from one run of a program to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.cp.sink import Payload
    from cffpy.frame.field import FieldValue
    from cffpy.pm4.fields import Packets
    from cffpy.regdb.register_text import RegisterText


@dataclass(frozen=True, slots=True)
class Compared:
    """The dwords after the header that are compared.

    ``also``: those that are compared, too, if the packet's field ``where`` is not ``memory``: a
    register or a place on the chip, where other forms of the packet have an address.
    """

    dwords: tuple[int, ...] = ()
    also: tuple[int, ...] = ()
    where: Fields | None = None
    memory: int = 0
    #: Bits of the first dword that are not compared where they are one of these values. A packet
    #: without others is not compared at all then.
    ignored: tuple[int, frozenset[int]] = (0, frozenset())


_NAME_ONLY = Compared()
_FIRST = Compared((0,))
_ALL = Compared(tuple(range(8)))
#: Values of POLL and POLL_MEMORY, of WAIT_DST and of WRITE_DST: an address in memory.
_POLL_MEMORY, _TO_RAM = 1, 0

#: Packets that order or synchronise; compared as a sequence between draws.
BARRIERS: dict[str, Compared] = {
    "CP_GLOBAL_TIMESTAMP": _NAME_ONLY,
    "CP_LOCAL_TIMESTAMP": _NAME_ONLY,
    "CP_MODIFY_TIMESTAMP": _FIRST,
    "CP_WAIT_FOR_IDLE": _NAME_ONLY,
    "CP_WAIT_FOR_ME": _NAME_ONLY,
    "CP_WAIT_MEM_GTE": _NAME_ONLY,
    "CP_WAIT_MEM_WRITES": _NAME_ONLY,
    "CP_WAIT_REG_EQ": _ALL,
    "CP_WAIT_REG_GTE": _ALL,
    # FUNCTION and POLL, REF, MASK; the address where it polls a register
    "CP_WAIT_REG_MEM": Compared((0, 3, 4), (1,), Fields("CP_WAIT_REG_MEM", "POLL"), _POLL_MEMORY),
    "CP_WAIT_TIMESTAMP": Compared((0,), (1,), Fields("CP_WAIT_TIMESTAMP", "WAIT_DST"), _TO_RAM),
    "CP_WAIT_TWO_REGS": _ALL,
    "CP_WAIT_UNTIL_READ": _NAME_ONLY,
}

#: Packets with an event, which is compared as a barrier.
EVENTS: dict[str, Compared] = {
    "CP_EVENT_WRITE": _FIRST,
    "CP_EVENT_WRITE7": Compared((0,), (1,), Fields("CP_EVENT_WRITE7", "WRITE_DST"), _TO_RAM),
    "CP_EVENT_WRITE_CFL": _FIRST,
    "CP_EVENT_WRITE_SHD": _FIRST,
    "CP_EVENT_WRITE_ZPD": _FIRST,
}

#: Events that are not compared as such: what is an operation, and marks.
_OTHER_EVENTS = frozenset(("BLIT", "LRZ_CLEAR", "LABEL"))

#: A packet with several registers, each with an address: the numbers of the registers.
_EVERY_THIRD = Compared(tuple(range(0, 24, 3)))

#: MODE and MARKER_MODE, and values of both with which a run begins: RM6_DIRECT_RENDER,
#: RM6_BIN_VISIBILITY, RM6_BIN_RENDER_START.
_MODE, _BEGIN_RUNS = 0x10F, frozenset((1, 2, 4))

#: The other commands.
COMMANDS: dict[str, Compared] = {
    "CP_BV_BR_COUNT_OPS": _FIRST,
    "CP_CCHE_INVALIDATE": _NAME_ONLY,
    "CP_COND_EXEC": Compared((4,)),
    "CP_COND_REG_EXEC": _FIRST,
    "CP_COND_WRITE": Compared(
        (0, 2, 3), (1,), Fields("CP_COND_WRITE", "POLL_MEMORY"), _POLL_MEMORY
    ),
    "CP_COND_WRITE5": Compared((0, 3, 4), (1,), Fields("CP_COND_WRITE5", "POLL"), _POLL_MEMORY),
    "CP_DRAW_PRED_ENABLE_GLOBAL": _FIRST,
    "CP_DRAW_PRED_ENABLE_LOCAL": _FIRST,
    "CP_DRAW_PRED_SET": _FIRST,
    # where the program goes in the memory for instructions (a2xx), and its size
    "CP_IM_LOAD_IMMEDIATE": Compared((0, 1)),
    "CP_INVALIDATE_STATE": _FIRST,
    "CP_LOAD_CONSTANT_CONTEXT": Compared((1, 2)),
    "CP_MEMCPY": _FIRST,
    "CP_MEM_TO_MEM": _FIRST,
    "CP_MEM_TO_REG": _FIRST,
    "CP_MEM_TO_SCRATCH_MEM": Compared((0, 1)),
    "CP_MEM_WRITE": _NAME_ONLY,
    "CP_REG_RMW": _ALL,
    "CP_REG_TEST": _FIRST,
    "CP_REG_TO_MEM": _FIRST,
    "CP_REG_TO_MEM_OFFSET_MEM": _FIRST,
    "CP_REG_TO_MEM_OFFSET_REG": _FIRST,
    "CP_REG_TO_SCRATCH": _FIRST,
    "CP_REG_WR_NO_CTXT": _FIRST,
    "CP_SCRATCH_TO_REG": _FIRST,
    "CP_SCRATCH_WRITE": _FIRST,
    "CP_SET_AMBLE": Compared((2,)),
    "CP_SET_BIN_DATA": _NAME_ONLY,
    "CP_SET_BIN_DATA5": _FIRST,
    "CP_SET_BIN_DATA5_OFFSET": Compared((0, 1, 2, 3)),
    "CP_SET_DRAW_INIT_FLAGS": _FIRST,
    # a mode that begins a run of a pass is compared as that
    "CP_SET_MARKER": Compared((0,), ignored=(_MODE, _BEGIN_RUNS)),
    "CP_SET_MODE": _FIRST,
    "CP_SET_PSEUDO_REG": _EVERY_THIRD,
    # MODE and GMEM_ENABLE, VSC_ENABLE
    "CP_SET_RENDER_MODE": Compared((0, 3)),
    "CP_SET_SHADER_BASES": _FIRST,
    "CP_SET_SUBDRAW_SIZE": _FIRST,
    "CP_SET_VISIBILITY_OVERRIDE": _FIRST,
    "CP_SKIP_IB2_ENABLE_GLOBAL": _FIRST,
    "CP_SKIP_IB2_ENABLE_LOCAL": _FIRST,
    "CP_THREAD_CONTROL": _FIRST,
}

#: What the texts of damaged commands begin with.
DAMAGE = "damage:"

#: Fields with the offset of a register.
_REGISTERS = frozenset(("REG", "REG0", "REG1", "DST_REG", "POLL_ADDR", "POLL_ADDR_LO"))

#: All of these packets.
COMPARED_PACKETS = {**BARRIERS, **EVENTS, **COMMANDS}

#: Texts that are kept.
_MAX_KNOWN = 1 << 14


class PacketTexts:
    """What is compared of packets, as text: ``CP_WAIT_REG_MEM (FUNCTION=WRITE_EQ MASK=0x1)``.

    Of an event, its name and the other fields that are not 0: ``CACHE_FLUSH_TS (TIMESTAMP)``.
    """

    def __init__(self, text: RegisterText, packets: Packets) -> None:
        self._text = text
        self._packets = packets
        self._known: dict[tuple[str, tuple[int, ...]], str | None] = {}

    def of(self, name: str, payload: Payload) -> str | None:
        """The text of a packet of ``COMPARED_PACKETS``; None where it is not compared."""
        compared = COMPARED_PACKETS[name]
        wanted = compared.dwords
        if not wanted:
            return name
        data, index, captured = payload.words.data, payload.index, payload.captured
        if compared.where is not None:
            (where,) = payload.read(self._packets[compared.where])
            if where != compared.memory:
                wanted = (*wanted, *compared.also)
        end = min(max(wanted) + 1, captured)
        dwords = tuple([data[index + at] if at in wanted else 0 for at in range(end)])
        bits, values = compared.ignored
        if dwords and dwords[0] & bits in values:
            dwords = (dwords[0] & ~bits, *dwords[1:])
            if not dwords[0]:
                return None
        key = name, dwords
        if key not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._describe(name, dwords, wanted)
        return self._known[key]

    def _describe(self, name: str, dwords: tuple[int, ...], wanted: Sequence[int]) -> str | None:
        fields = self._text.structure_fields(name, dwords)
        fields = [one for one in fields if one.low // 32 in wanted]
        if not fields:
            return " ".join((name, *map(hex, dwords)))
        if name not in EVENTS:
            shown = self._shown(fields, dwords) or [self._field(one) for one in fields]
            return f"{name} ({' '.join(shown)})"
        event = fields[0]  # the lowest bits
        if event.text in _OTHER_EVENTS:
            return None
        title = f"event {event.text}" if event.text.startswith("0x") else event.text
        fields.remove(event)
        shown = self._shown(fields, (dwords[0] & ~_mask(event, 0), *dwords[1:]))
        return f"{title} ({' '.join(shown)})" if shown else title

    def _shown(self, fields: Sequence[FieldValue], dwords: Sequence[int]) -> list[str]:
        """The fields that are not 0, and bits that the description leaves out."""
        return [
            *(self._field(one) for one in fields if _bits(one, dwords)),
            *_others(fields, dwords),
        ]

    def _field(self, field: FieldValue) -> str:
        """``MASK=0x1``; of a flag that is set, only its name."""
        if field.value is True:
            return field.name
        if field.name in _REGISTERS and isinstance(field.value, int):
            return f"{field.name}={self._text.name(field.value)}"
        return f"{field.name}={field.text}"


def _mask(field: FieldValue, dword: int) -> int:
    """The bits of a field in a dword."""
    low, high = max(field.low - 32 * dword, 0), min(field.high - 32 * dword, 31)
    return (2 << high) - (1 << low) if low <= high else 0


def _bits(field: FieldValue, dwords: Sequence[int]) -> int:
    return sum(value & _mask(field, at) for at, value in enumerate(dwords))


def _others(fields: Sequence[FieldValue], dwords: Sequence[int]) -> Iterator[str]:
    """Bits that the description leaves out."""
    for at, value in enumerate(dwords):
        rest = value & ~sum(_mask(one, at) for one in fields)
        if rest:
            yield f"other bits of dword {at}: {rest:#x}"
