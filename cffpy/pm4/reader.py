# SPDX-License-Identifier: MIT
"""Readers of packets: their headers, their dwords, and their fields by name.

``read_header`` reads a word as (kind, register or opcode, dwords with header). The order of its
tests is the reference's: types 0, 4, 3, 7, 2, on every generation.

``Fields`` is a list of names, for which each generation has a fast reader:

    DRAW = Fields("CP_DRAW_INDX_OFFSET", "PRIM_TYPE", "NUM_INSTANCES", "NUM_INDICES")
    primitive, instances, indices = packets[DRAW].read(dwords, index)

Names come from the register database, and from cffpy.pm4.structs for what it does not describe;
the bits come from there. A name that begins with ``cffdump:`` is one of cffpy.pm4.deviations.

``Payload`` is a view of a packet's dwords, which are copied only when they are read.

Readers are made of the Structs' rows, which cffpy.compiled keeps. Packets are decoded by the
bundled descriptions, regardless of the edition that shows them: what the machine and the analyses
read is part of the bundled edition, and other editions rename fields. Packets of a generation that
the bundled edition does not describe are decoded by the first edition that does.
"""

from __future__ import annotations

import marshal
import os

from cffpy._data import data_path
from cffpy.c_numbers import odd_parity
from cffpy.descriptions.store import Store
from cffpy.editions.folders import source_files
from cffpy.pm4.deviations import BY_NAME, PREFIX
from cffpy.regdb import store as register_store
from cffpy.row_readers import DwordReader, find_row, make_packer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.capture.memory import Words
    from cffpy.regdb.database import Database
    from cffpy.row_readers import Rows

_STRUCTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "structs.py")

#: The part of HEADERS, and the part of PACKETS with the names of the chips.
_ALL_HEADERS, _CHIPS = "headers", "chips"


def load_headers() -> dict[str, Rows]:
    """The rows of packet headers: by type, "TYPE0" to "TYPE7"."""
    rows: dict[str, Rows] = HEADERS.load(_ALL_HEADERS)
    return rows


def load_packets(chip: str) -> dict[str, bytes]:
    """The packed rows of each packet and structure of ``chip`` ("A6XX"), by name.

    ``NAME:VARIANT`` is a packet in one of its variants. ``marshal.loads`` gives (rows, dwords of an
    entry, 0 for what is not a list of entries). A chip that no edition has is decoded as the last
    one that the bundled edition has.
    """
    packed: dict[str, bytes] | None = PACKETS.load(chip)
    if packed is None:
        directory = register_store.describing(chip)
        part = PACKETS.load(_CHIPS)[-1] if directory is None else chip
        packed = PACKETS.load(part, directory)
    return packed or {}


def _compile_headers(_directory: str) -> dict[str, bytes]:
    from cffpy.pm4.structs import compile_headers

    return {_ALL_HEADERS: marshal.dumps(compile_headers())}


def _compile_packets(directory: str) -> dict[str, bytes]:
    from cffpy.pm4.structs import compile_chips, compile_newer

    bundled = register_store.chips(None)
    if directory != data_path("register_db"):
        last = load_packets(bundled[-1])
        newer = [chip for chip in register_store.chips(directory) if chip not in bundled]
        return {chip: marshal.dumps(compile_newer(chip, directory, last)) for chip in newer}
    chips = compile_chips(bundled)
    parts = {chip: marshal.dumps(packets) for chip, packets in chips.items()}
    return {_CHIPS: marshal.dumps(tuple(chips)), **parts}


HEADERS = Store("headers", 1, lambda _directory: [_STRUCTS], _compile_headers, of_editions=False)
PACKETS = Store(
    "packets",
    2,
    lambda directory: [*source_files(directory), _STRUCTS],
    _compile_packets,
)

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


_OPCODES = "adreno_pm4_type3_packets"

#: What ``packet_name`` returns of a packet of type 0 or 4.
REGISTER_WRITE = "register write"


def packet_name(database: Database, header: int) -> str:
    """The name of a packet by its header; its opcode in hex where it has none."""
    kind, opcode, _ = read_header(header)
    if kind != OPCODE:
        return REGISTER_WRITE if kind == REGISTERS else "unknown"
    chip = database.variant("chip", database.chip)
    variants = {} if chip is None else {"chip": chip}
    return database.enum_name(_OPCODES, opcode, variants) or f"{opcode:#x}"


class Fields:
    """Fields of a packet or structure that are read together, as ints, in the order of ``names``.

    ``variant``: the value of the enum that decides what the packet holds. A field that a generation
    does not have is read as 0. ``A..B`` is the number that the bits from field A to field B make.
    Where two dwords have a field of one name, ``2.NAME`` is the field of dword "2".
    """

    __slots__ = ("names", "packet", "variant")

    def __init__(self, packet: str, *names: str, variant: str = "") -> None:
        self.packet = packet
        self.names = names
        self.variant = variant

    def __repr__(self) -> str:
        return f"Fields({self.packet!r}, {', '.join(map(repr, self.names))}, {self.variant!r})"


class Packets(dict[Fields, DwordReader]):
    """The readers of a generation ("A6XX"), made when they are first asked for."""

    def __init__(self, chip: str) -> None:
        super().__init__()
        self.chip = chip
        self._packed = load_packets(chip)

    def __missing__(self, fields: Fields) -> DwordReader:
        rows, _ = self._load(fields.packet, fields.variant)
        deviations = BY_NAME.get(fields.packet, {})
        chosen = [
            deviations[name] if name.startswith(PREFIX) else find_row(rows, name)
            for name in fields.names
        ]
        reader = self[fields] = DwordReader(chosen)
        return reader

    def rows(self, packet: str, variant: str = "") -> Rows:
        """All rows of a packet or structure; none where the generation does not have it."""
        return self._load(packet, variant)[0]

    def entry_dwords(self, packet: str) -> int:
        """The dwords of each entry of a packet that is a list of entries; else 0."""
        return self._load(packet, "")[1]

    def names(self) -> tuple[str, ...]:
        """Names of all packets and structures; with variants, ``NAME:VARIANT``."""
        return tuple(self._packed)

    def _load(self, packet: str, variant: str) -> tuple[Rows, int]:
        packed = self._packed.get(f"{packet}:{variant}" if variant else packet)
        if packed is None:
            return (), 0
        loaded: tuple[Rows, int] = marshal.loads(packed)
        return loaded


class Payload:
    """A packet's dwords (with or without its header): ``count`` from ``index`` of ``words``.

    The buffer may end before the packet does. Dwords after the packet can be read too, because the
    reference's handlers read them.
    """

    __slots__ = ("count", "index", "words")

    def __init__(self, words: Words, index: int, count: int) -> None:
        self.words = words
        self.index = index
        self.count = count

    def __getitem__(self, position: int) -> int:
        """The dword at ``position``, 0 after the end of the buffer."""
        return self.words.get(self.index + position)

    @property
    def captured(self) -> int:
        """How many of the ``count`` dwords the buffer holds."""
        return max(0, min(self.count, self.words.count - self.index))

    def read(self, reader: DwordReader, position: int = 0) -> tuple[int, ...]:
        """The values of ``reader`` at ``position``; dwords after the buffer's end are 0."""
        start = self.index + position
        if start + reader.dwords <= self.words.count:
            return reader.read(self.words.data, start)
        return reader.read([self.words.get(start + place) for place in range(reader.dwords)])

    def dwords(self) -> list[int]:
        """The dwords of the packet that were captured, copied."""
        return self.words.data[self.index : self.index + self.captured].tolist()

    def rest(self, skip: int) -> Payload:
        """The packet without its first ``skip`` dwords."""
        return Payload(self.words, self.index + skip, self.count - skip)
