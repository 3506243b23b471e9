# SPDX-License-Identifier: MIT
"""CP_MEMPOOL: register writes that wait for the clusters, one queue each.

crashdec: crashdec-mempool.c (mesa 25.0.7).
"""

from __future__ import annotations

import struct

from cffpy.value_object import ValueObject
from cffpy.views.crashdec.hexdump import hex_and_characters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CLUSTERS_A6XX = ("FE", "SP_VS", "PC_VS", "GRAS", "SP_PS", "PS")
_CLUSTERS_A7XX = ("FE", "SP_VS", "PC_VS", "GRAS", "SP_PS", "VPC_PS", "PS")

#: Blocks of the pool, chunks of a block, dwords of a chunk.
_BLOCKS, _CHUNKS, _CHUNK = 0x80, 8, 4

#: Dwords at which the parts of the array begin.
_NEXT_BLOCKS, _STATE, _SIZES = 0x1000, 0x1800, 0x2000

#: Dwords of the state words, and of the part with the queues' sizes; where the sizes stand in it.
_STATE_WORDS, _SIZE_WORDS, _QUEUE_SIZES = 0x50, 0x60, 0x18

#: State words: of all queues; of each queue, from the index on.
_UNKNOWN = (("unk0", 0), ("unk1", 0x10), ("unk3", 0x30), ("unk4", 0x48))
_WRITER, _WRITER_SECOND, _UNKNOWN_2 = 8, 0x18, 0x20
_READER, _READER_SECOND, _BLOCK_COUNT = 0x28, 0x38, 0x40


class QueuedWrite(ValueObject):
    """A register write of a chunk. ``is_pipe``: a register of the pipe, not of the GPU."""

    __slots__ = ("context", "is_pipe", "register", "value")

    def __init__(self, register: int, value: int, is_pipe: bool, context: int) -> None:
        self.register = register
        self.value = value
        self.is_pipe = is_pipe
        self.context = context


class _Position:
    """A chunk of a queue: where it is read or written next."""

    def __init__(self, word: int, second_block: int) -> None:
        self.first_block = word >> 3
        self.second_block = second_block
        self.chunk = word & 7
        #: Of the two blocks the one that the chunk is in.
        self.block = self.first_block if self.chunk > 3 else second_block


class MemoryPool:
    """The contents of CP_MEMPOOL as dwords; 0 past the end."""

    def __init__(self, contents: bytes) -> None:
        count = _SIZES + _SIZE_WORDS
        self._dwords = struct.unpack(f"<{count}I", contents[: 4 * count].ljust(4 * count, b"\0"))

    def show(
        self,
        is_a6xx: bool,
        verbose: bool,
        show_write: Callable[[QueuedWrite], str],
        complain: Callable[[str], None],
    ) -> Iterator[str]:
        """The text of all queues. ``show_write`` gives the lines of a write.

        A queue whose blocks are damaged ends where the damage is; ``complain`` takes a line.
        """
        dwords = self._dwords
        sizes = dwords[_SIZES : _SIZES + _SIZE_WORDS]
        yield "\tdata2:\n"
        yield from hex_and_characters(struct.pack(f"<{_SIZE_WORDS}I", *sizes), 4 * _SIZE_WORDS, 1)
        if verbose:
            for name, index in _UNKNOWN:
                yield f"\t{name}: {dwords[_STATE + index]:x}\n"
            yield "\n"
        for queue, cluster in enumerate(_CLUSTERS_A6XX if is_a6xx else _CLUSTERS_A7XX):
            yield f"\tCLUSTER_{cluster}:\n\n"
            yield from self._show_queue(
                queue, sizes[_QUEUE_SIZES + queue], verbose, show_write, complain
            )

    def _show_queue(
        self,
        queue: int,
        size: int,
        verbose: bool,
        show_write: Callable[[QueuedWrite], str],
        complain: Callable[[str], None],
    ) -> Iterator[str]:
        state = self._dwords[_STATE + queue : _STATE + _STATE_WORDS]
        writer = _Position(state[_WRITER], state[_WRITER_SECOND])
        reader = _Position(state[_READER], state[_READER_SECOND])
        if verbose:
            yield _queue_lines(writer, reader, state, size)
        block, chunk, count = reader.block, reader.chunk, 0
        while True:
            if verbose and (not count or not chunk):
                yield f"\tblock {block:x}\n"
            if block >= _BLOCKS:
                complain(f"CP_MEMPOOL: block {block:x} is too large: the queue is not followed")
                return
            chunk_in_block = chunk
            while (block, chunk_in_block) != (writer.block, writer.chunk):
                count += 1
                yield self._show_chunk(block, chunk_in_block, show_write)
                chunk_in_block += 1
                if chunk_in_block == _CHUNKS:
                    break
            if chunk_in_block != _CHUNKS:
                break
            if count > _BLOCKS * _CHUNKS:
                complain("CP_MEMPOOL: a queue's blocks form a circle: the queue is not followed")
                return
            block, chunk = self._dwords[_NEXT_BLOCKS + block], 0
        if count != size:
            yield f"\t\tCALCULATED SIZE {count} DOES NOT MATCH!\n"
        yield "\n"

    def _show_chunk(self, block: int, chunk: int, show_write: Callable[[QueuedWrite], str]) -> str:
        index = (block * _CHUNKS + chunk) * _CHUNK
        dwords = self._dwords[index : index + _CHUNK]
        text = "".join([show_write(one) for one in _writes(dwords)])
        # crashdec: dump_cp_mem_pool prints the chunk's place in its own units (mesa 25.0.7)
        place = 4 * (block * 0x20 + chunk + 4)
        return f"{text}\t{place:05x}: {' '.join([f'{word:08x}' for word in dwords])}\n"


def _writes(dwords: tuple[int, ...]) -> Iterator[QueuedWrite]:
    """The valid writes of a chunk of 128 bits."""
    bits = sum(word << 32 * place for place, word in enumerate(dwords))
    for number in range(2):
        if bits >> number & 1:
            yield QueuedWrite(
                register=bits >> 66 + 18 * number & 0x3FFFF,
                value=bits >> 2 + 32 * number & 0xFFFFFFFF,
                is_pipe=bool(bits >> 102 + number & 1),
                context=bits >> 104 + number & 1,
            )


def _queue_lines(writer: _Position, reader: _Position, state: tuple[int, ...], size: int) -> str:
    lines = (
        f"writer_first_block: 0x{writer.first_block:x}",
        f"writer_second_block: 0x{writer.second_block:x}",
        f"writer_chunk: {writer.chunk}",
        f"reader_first_block: 0x{reader.first_block:x}",
        f"reader_second_block: 0x{reader.second_block:x}",
        f"reader_chunk: {reader.chunk}",
        f"block_count: {_signed(state[_BLOCK_COUNT])}",
        f"unk2: 0x{state[_UNKNOWN_2]:x}",
        f"queue_size: {_signed(size)}",
    )
    return "".join([f"\t\t{line}\n" for line in lines]) + "\n"


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
