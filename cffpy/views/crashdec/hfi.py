# SPDX-License-Identifier: MIT
"""The queues of messages between driver and GMU (gmu-hfi).

crashdec: crashdec-hfi.c (mesa 25.0.7).
"""

from __future__ import annotations

import struct

from cffpy.c_numbers import signed32
from cffpy.views.crashdec.hexdump import hex_and_characters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Fields = Callable[["_Dwords", bool], Iterator[str]]

#: Queues that have a history, and its entries.
QUEUES, HISTORY = 2, 8

#: Dwords in front of the queues' headers, and of each header.
_TABLE_HEADER, _QUEUE_HEADER = 6, 12

_TABLE = (
    "version:       %u",
    "size:          %u",
    "qhdr0_offset:  %u",
    "qhdr_size:     %u",
    "num_queues:    %u",
    "active_queues: %u",
)
_QUEUE = (
    "status:       0x%x",
    "iova:         0x%x",
    "type:         0x%x",
    "size:         %u",
    "msg_size:     %u",
    "dropped:      %u",
    "rx_watermark: 0x%x",
    "tx_watermark: 0x%x",
    "rx_request:   0x%x",
    "tx_request:   0x%x",
    "read_index:   %u",
    "write_index:  %u",
)
_QUEUE_IOVA, _QUEUE_SIZE, _QUEUE_WRITE_INDEX = 1, 3, 11

#: GPU levels of the performance table; words that a message of newer GMUs is rounded up to.
_GPU_LEVELS, _CX_LEVELS, _ALIGNMENT = 16, 4, 4


class _Dwords:
    """Dwords that are read one after the other; 0 past the end."""

    def __init__(self, dwords: Sequence[int]) -> None:
        self._dwords = dwords
        self._next = 0

    def take(self) -> int:
        """The next dword of the message, 0 after its end."""
        value = self._dwords[self._next] if self._next < len(self._dwords) else 0
        self._next += 1
        return value

    def several(self, count: int) -> str:
        """The next dwords as hex digits."""
        return " ".join([f"{self.take():08x}" for _ in range(count)])


def _plain(*forms: str) -> Fields:
    def lines(dwords: _Dwords, is_legacy: bool) -> Iterator[str]:
        for form in forms:
            yield form % dwords.take()

    return lines


def _bandwidth_table(dwords: _Dwords, is_legacy: bool) -> Iterator[str]:
    yield from _plain(
        "bw_level_num:       %u",
        "cnoc_cmds_num:      %u",
        "ddr_cmds_num:       %u",
        "cnoc_wait_bitmask:  0x%x",
        "ddr_wait_bitmask:   0x%x",
    )(dwords, is_legacy)
    yield f"cnoc_cmds_addrs:    {dwords.several(6)}"
    for level in range(2):
        yield f"cnoc_cmds_data[{level}]:  {dwords.several(6)}"
    yield f"ddr_cmds_addrs:     {dwords.several(8)}"
    for level in range(16):
        yield f"ddr_cmds_data[{level}]:   {dwords.several(8)}"


def _performance_table(dwords: _Dwords, is_legacy: bool) -> Iterator[str]:
    gpu_levels, gmu_levels = dwords.take(), dwords.take()
    yield f"num_gpu_levels: {gpu_levels}"
    yield f"num_gmu_levels: {gmu_levels}"
    for level in range(_GPU_LEVELS):
        vote = f"gx_vote[{level}]:    vote={dwords.take()}"
        vote += "" if is_legacy else f", acd={dwords.take()}"
        vote += f", freq={dwords.take()}"
        if level < gpu_levels:
            yield vote
    for level in range(_CX_LEVELS):
        vote = f"cx_vote[{level}]:    vote={dwords.take()}, freq={dwords.take()}"
        if level < gmu_levels:
            yield vote


def _acknowledgement(dwords: _Dwords, is_legacy: bool) -> Iterator[str]:
    header = _Header(dwords.take())
    yield (
        f"ret_header: {header.name or '(null)'}  (id={header.id}, size={header.size}, "
        f"type={header.type}, seqnum={header.number})"
    )
    yield f"error:      {dwords.take()}"


#: Id -> name of a message, and the lines of its dwords.
_MESSAGES: dict[int, tuple[str, Fields]] = {
    0: (
        "H2F_MSG_INIT",
        _plain(
            "seg_id:          %u",
            "dbg_buffer_addr: 0x%08x",
            "dbg_buffer_size: %u",
            "boot_state:      %u",
        ),
    ),
    1: ("H2F_MSG_FW_VERSION", _plain("supported_version: 0x%x")),
    3: ("H2F_MSG_BW_TABLE", _bandwidth_table),
    4: ("H2F_MSG_PERF_TABLE", _performance_table),
    5: ("H2F_MSG_TEST", _plain()),
    10: ("H2F_MSG_START", _plain()),
    14: ("H2F_MSG_CORE_FW_START", _plain("handle: %u")),
    30: (
        "H2F_MSG_GX_BW_PERF_VOTE",
        _plain("ack_type: %u", "freq:     %u", "bw:       %u"),
    ),
    33: ("H2F_MSG_PREPARE_SLUMBER", _plain("bw:   %u", "freq: %u")),
    100: ("F2H_MSG_ERROR", _plain("code: %u")),
    126: ("F2H_MSG_ACK", _acknowledgement),
}


class _Header:
    """The first dword of a message: its id, size in dwords, type, sequence number."""

    __slots__ = ("id", "number", "size", "type")

    def __init__(self, word: int) -> None:
        self.id = word & 0xFF
        self.size = word >> 8 & 0xFF
        self.type = word >> 16 & 0xF
        self.number = word >> 20

    @property
    def name(self) -> str | None:
        """The message's name, None for an unknown id."""
        known = _MESSAGES.get(self.id)
        return None if known is None else known[0]


class _Queue:
    """A queue of messages in the memory of the section."""

    def __init__(self, memory: bytes, header: Sequence[int], iova: int) -> None:
        start = header[_QUEUE_IOVA] - iova & 0xFFFFFFFF
        size = min(header[_QUEUE_SIZE], max(0, len(memory) - start) // 4)
        self._memory = struct.unpack_from(f"<{size}I", memory, start) if size else ()
        self.size = size
        self.write_index = header[_QUEUE_WRITE_INDEX]

    def dwords(self, index: int, count: int) -> list[int]:
        """``count`` dwords from ``index``, around the end of the queue."""
        return [self._memory[(index + place) % self.size] for place in range(count)]

    def header(self, index: int) -> _Header:
        """The header of the message at ``index``."""
        return _Header(self._memory[index])

    def after(self, index: int, header: _Header, is_legacy: bool) -> int:
        """The index after the message at ``index``."""
        return (index + _step(header, is_legacy)) % self.size

    def is_good(self, index: int, is_legacy: bool) -> bool:
        """Whether messages from ``index`` lead to the write index, one number after the other."""
        if not 0 <= index < self.size:
            return False
        number: int | None = None
        for _ in range(self.size + 1):
            if index == self.write_index:
                return True
            header = self.header(index)
            if header.type > 2 or header.name is None or not header.size:
                return False
            if number is not None and header.number != number + 1 & 0xFFF:
                return False
            number = header.number
            index = self.after(index, header, is_legacy)
        return False


def _step(header: _Header, is_legacy: bool) -> int:
    if is_legacy:
        return header.size
    return -(-header.size // _ALIGNMENT) * _ALIGNMENT


def show_queues(
    memory: bytes, iova: int, history: Sequence[Sequence[int]], is_legacy: bool
) -> Iterator[str]:
    """The table of queues, each queue's header, and its messages as far as they can be followed.

    ``memory``: of the section, which lies at ``iova``. ``history``: for each queue the indices at
    which the last messages began. ``is_legacy``: the GMU of GPUs 615, 618, 630.
    """
    table = _unpack(memory, 0, _TABLE_HEADER)
    for form, value in zip(_TABLE, table, strict=True):
        yield f"\t{form % value}\n"
    for number in range(min(table[4], QUEUES)):
        header = _unpack(memory, _TABLE_HEADER + _QUEUE_HEADER * number, _QUEUE_HEADER)
        yield f"\tqueue[{number}]:\n"
        for form, value in zip(_QUEUE, header, strict=True):
            yield f"\t\t{form % value}\n"
        queue = _Queue(memory, header, iova)
        start = None
        for index in reversed(history[number]):
            if not queue.is_good(signed32(index & 0xFFFFFFFF), is_legacy):
                break
            start = index
        if start is not None:
            yield from _show_messages(queue, start, is_legacy)


def _show_messages(queue: _Queue, index: int, is_legacy: bool) -> Iterator[str]:
    while index != queue.write_index:
        header = queue.header(index)
        name, fields = _MESSAGES[header.id]
        yield (
            f"\t\t\t------ {name} (id={header.id}, size={header.size}, type={header.type}, "
            f"seqnum={header.number})\n"
        )
        step = _step(header, is_legacy)
        dwords = queue.dwords(index, step)
        if not header.type:
            for line in fields(_Dwords(dwords[1:]), is_legacy):
                yield f"\t\t\t\t{line}\n"
        yield from hex_and_characters(struct.pack(f"<{step}I", *dwords), 4 * step, 4)
        index = queue.after(index, header, is_legacy)


def _unpack(memory: bytes, index: int, count: int) -> tuple[int, ...]:
    """``count`` dwords from dword ``index``; 0 past the end."""
    return struct.unpack(
        f"<{count}I", memory[4 * index : 4 * (index + count)].ljust(4 * count, b"\0")
    )
