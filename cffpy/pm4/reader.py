# SPDX-License-Identifier: MIT
"""Packet headers: reads a word as (kind, register or opcode, dwords with header), and packs words.

The order of the tests is the reference's: types 0, 4, 3, 7, 2, on every generation.
"""

from __future__ import annotations

from cffpy.c_numbers import odd_parity
from cffpy.pm4.store import load_headers
from cffpy.row_readers import DwordReader, make_packer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.regdb.database import Database

_ROWS = load_headers()

#: Kinds of a packet: it writes registers, has an opcode, is one idle dword, or is not valid.
REGISTERS, OPCODE, IDLE, BAD = range(4)

Header = tuple[int, int, int]

#: Headers kept at most: hostile streams may hold nothing but different words.
_MEMO_LIMIT = 1 << 16

_read_type0 = DwordReader(_ROWS["TYPE0"]).read
_read_type3 = DwordReader(_ROWS["TYPE3"]).read
_read_type4 = DwordReader(_ROWS["TYPE4"]).read
_read_type7 = DwordReader(_ROWS["TYPE7"]).read
_pack_type0 = make_packer(_ROWS["TYPE0"], type=0)
_pack_type3 = make_packer(_ROWS["TYPE3"], type=3, zero=0, zero_15=0, predicate=0)
_pack_type4 = make_packer(_ROWS["TYPE4"], type=4)
_pack_type7 = make_packer(_ROWS["TYPE7"], type=7, zero=0)

#: A type-2 packet: one dword that does nothing.
TYPE2_HEADER = make_packer(_ROWS["TYPE2"], type=2, zero=0)()


def read_header(word: int) -> Header:
    """Kind, register offset or opcode, and size in dwords (header included) of a packet."""
    if word >> 30 == 0:
        register, count, _ = _read_type0((word,))
        return REGISTERS, register, count + 2
    if word >> 28 == 4:
        count, count_parity, register, register_parity, _ = _read_type4((word,))
        if count_parity == odd_parity(count) and register_parity == odd_parity(register):
            return REGISTERS, register, count + 1
    if word >> 30 == 3:
        _, zero, opcode, zero_15, count, _ = _read_type3((word,))
        if not zero and not zero_15:
            return OPCODE, opcode, count + 2
    if word >> 28 == 7:
        count, count_parity, opcode, opcode_parity, zero, _ = _read_type7((word,))
        good = count_parity == odd_parity(count) and opcode_parity == odd_parity(opcode)
        if good and not zero:
            return OPCODE, opcode, count + 1
    if word == TYPE2_HEADER:
        return IDLE, 0, 1
    return BAD, 0, 1


def type0_header(register: int, count: int) -> int:
    """Writes ``count`` registers, 1 to 0x4000, from ``register`` on, below 0x8000."""
    return _pack_type0(register, count - 1)


def type3_header(opcode: int, count: int) -> int:
    """A packet with an opcode below 0x80 and ``count`` dwords of payload, 1 to 0x4000."""
    return _pack_type3(opcode, count - 1)


def type4_header(register: int, count: int) -> int:
    """Writes ``count`` registers, up to 0x7F, from ``register`` on, below 0x80000."""
    return _pack_type4(count, odd_parity(count), register, odd_parity(register))


def type7_header(opcode: int, count: int) -> int:
    """A packet with an opcode below 0x80 and ``count`` dwords of payload, up to 0x3FFF."""
    return _pack_type7(count, odd_parity(count), opcode, odd_parity(opcode))


class HeaderMemo(dict[int, Header]):
    """Header word -> what it means, read once for each distinct word."""

    def __missing__(self, word: int) -> Header:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        header = self[word] = read_header(word)
        return header


def is_type4_or_type7(word: int) -> bool:
    """True for a header whose parity shows that it is one (a5xx and later)."""
    return word >> 28 in (4, 7) and read_header(word)[0] != BAD


def next_packet(dwords: Sequence[int], index: int, end: int) -> int:
    """Index of the next type-4 or type-7 header from ``index`` on, ``end`` if there is none."""
    while index < end:
        word = dwords[index]
        if word >> 28 in (4, 7) and is_type4_or_type7(word):
            return index
        index += 1
    return end


_PACKETS = "adreno_pm4_type3_packets"

#: What ``packet_name`` returns of a packet of type 0 or 4.
REGISTER_WRITE = "register write"


def packet_name(database: Database, header: int) -> str:
    """The name of a packet by its header; its opcode in hex where it has none."""
    kind, opcode, _ = read_header(header)
    if kind != OPCODE:
        return REGISTER_WRITE if kind == REGISTERS else "unknown"
    chip = database.variant("chip", database.chip)
    variants = {} if chip is None else {"chip": chip}
    return database.enum_name(_PACKETS, opcode, variants) or f"{opcode:#x}"
