# SPDX-License-Identifier: MIT
"""The text of registers and data blocks: GMU, CP, shader memory, clusters.

crashdec: decode_registers, decode_gmu_registers, decode_clusters, decode_indexed_registers,
decode_shader_blocks and what they call (mesa 25.0.7).

CP_MEMPOOL holds register writes that wait for the clusters, one queue each. crashdec:
crashdec-mempool.c (mesa 25.0.7).
"""

from __future__ import annotations

import struct

from cffpy.container.devcoredump import indexed_name
from cffpy.errors import UnsupportedGpu
from cffpy.pm4.descriptions import Disassemblers
from cffpy.pm4.reader import OPCODE, is_type4_or_type7, read_header
from cffpy.regdb.database import Database
from cffpy.regdb.decode import Decoder
from cffpy.value_object import ValueObject
from cffpy.views.cffdump.quirks import LEVELS, fields_of, reference_half
from cffpy.views.cffdump.registers import RegisterTable
from cffpy.views.crashdec.hexdump import hex_and_characters
from cffpy.views.crashdec.hfi import QUEUES, show_queues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.container.devcoredump import Item
    from cffpy.views.crashdec.options import CrashdecOptions
    from cffpy.views.crashdec.sink import CrashdecSink

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
        #: Of the two blocks the block that the chunk is in.
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
        text = "".join([show_write(write) for write in _writes(dwords)])
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


#: GPUs whose GMU has messages of another layout.
_LEGACY_GMU = (615, 618, 630)

_GMU_FILE, _CONTROL_FILE, _PIPE_FILE = "a6xx_gmu", "adreno_control_regs", "adreno_pipe_regs"

_STATISTICS = ("CP_SQE_STAT", "CP_BV_SQE_STAT")
_MICROCODE = "CP_UCODE_DBG_DATA"
_BV_MICROCODE = "CP_BV_SQE_UCODE_DBG"
#: Indexed registers whose data is printed without -v.
_SHOWN = (*_STATISTICS, "CP_DRAW_STATE", "CP_ROQ")
_PROGRAMS = ("A6XX_SP_INST_DATA", "A6XX_HLSQ_INST_RAM", "A7XX_SP_INST_DATA", "A7XX_HLSQ_INST_RAM")

#: The parts of CP_UCODE_DBG_DATA: distance in dwords; title, dwords, whether only with -v.
_UCODE_PART = 0x1000
_UCODE_PARTS = (
    ("SQE instruction cache:", 0x400, False),
    ("Unknown 1:", 0x80, False),
    ("Unknown 2:", 0x200, False),
    ("Unknown 3:", 0x80, False),
    ("SQE packet jumptable contents:", 0x80, True),
)
#: The parts with control registers: their place in the data; dwords of all control registers.
_SCRATCH_PART, _CONTROL_PART, _CONTROL_COUNT = 0x5000, 0x7000, 0x400

#: The generation, and the part of it, whose control registers were laid out anew (a750).
_A7XX, _GEN_3 = 7, 3

#: Bytes of zeros after data that are printed or disassembled in all.
_ZEROS = 128 << 20


class BlockText:
    """Prints registers and data of a dump. A half of a 64-bit register waits for the other."""

    def __init__(
        self,
        view: CrashdecSink,
        options: CrashdecOptions,
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> None:
        self._view = view
        self._options = options
        self._complain = complain
        self._register_db = register_db
        self._disassemblers = Disassemblers(register_db)
        self._gmu: RegisterTable | None = None
        self._control: RegisterTable | None = None
        self._pipe: RegisterTable | None = None
        self._pipe_database: Database | None = None
        self._generation = 0
        #: The first scratch control register, and how many there are; whether their numbers, and
        #: the data's parts, are a750's.
        self._scratch, self._has_many_controls = range(0), False
        self._is_legacy = False
        self._zeros = _ZEROS

    def use_gpu(self, gpu: Gpu, number: int) -> None:
        """The dump is of this GPU; ``number``: in the dump, 0 where the dump has none."""
        self._generation = generation = gpu.generation
        self._is_legacy = number in _LEGACY_GMU
        self._gmu = self._control = self._pipe = None
        if generation in (6, 7):
            self._gmu = self._table(_GMU_FILE, "A6XX")
            self._pipe = self._table(_PIPE_FILE, f"A{generation}XX_PIPE_REG")
        has_new = self._view.position.rules.has_new_control_registers and generation == _A7XX
        self._has_many_controls = has_new and _sub_generation(gpu) >= _GEN_3
        self._scratch = range(0x100, 0x200 if has_new else 0x180)
        if self._has_many_controls:
            self._scratch = range(0x400, 0x500)
            self._control = self._table(_CONTROL_FILE, "A7XX_GEN3_CONTROL_REG")
        elif 5 <= generation <= 7:
            self._control = self._table(_CONTROL_FILE, f"A{generation}XX_CONTROL_REG")

    def _table(self, file: str, domain: str) -> RegisterTable | None:
        database = Database.open_block(file, domain, self._register_db)
        if database is None:
            self._complain(f"the register database has no {domain} of {file}")
            return None
        palette = self._view.palette
        decoder = Decoder(database, palette, fields_of(self._view.edition), reference_half)
        return RegisterTable(self._view, {}, decoder)

    def begin(self, section: str) -> None:
        """A section begins: no half of a register waits."""
        if self._generation:
            self._view.registers.begin()
            if self._gmu is not None:
                self._gmu.begin()

    # -- registers --------------------------------------------------------------------------

    def register(self, register: int, value: int) -> None:
        """A GPU register's line, if its value is complete."""
        self._register(self._view.registers, register, value)

    def gmu_register(self, register: int, value: int) -> None:
        """Print the line of a GMU register; of two dwords that are one value, after the second."""
        self._register(self._gmu or self._view.registers, register, value)

    def _register(self, table: RegisterTable, register: int, value: int) -> None:
        complete = table.push(register, value)
        if complete is not None:
            self._view.put(f"\t{complete[1]:08x}{LEVELS[0]}{table.line(*complete)}")

    # -- data -------------------------------------------------------------------------------

    def hex(self, contents: bytes, size: int) -> None:
        """Rows of hex and characters, one tab deep."""
        missing = size - len(contents)
        if missing > self._zeros:
            self._complain(f"of {missing} bytes of zeros only {self._zeros} are shown")
            size -= missing - self._zeros
            missing = self._zeros
        self._zeros -= max(0, missing)
        output = self._view.output
        for rows in hex_and_characters(contents, size, 1):
            output.put_large(rows)
            output.flush_if_full()

    def queues(
        self, contents: bytes, size: int, iova: int, history: Sequence[Sequence[int]]
    ) -> None:
        """The queues of the GMU."""
        if self._options.verbose:
            self.hex(contents, size)
        if len(contents) < 20 or contents[16] > QUEUES or any(contents[17:20]):
            self._complain(f"gmu-hfi: only {QUEUES} queues are shown")
        memory = contents.ljust(min(size, len(contents) + (1 << 20)), b"\0")
        for text in show_queues(memory, iova, history, self._is_legacy):
            self._view.put(text)

    def indexed(self, name: str, contents: bytes, size: int) -> None:
        """The data of an entry of indexed-registers."""
        knows_new_names = self._view.position.rules.knows_new_names
        if knows_new_names:
            name = indexed_name(name)
        if name in _STATISTICS:
            self._statistics(contents)
        elif name == _MICROCODE or (name == _BV_MICROCODE and knows_new_names):
            self._microcode(contents)
        elif name == "CP_MEMPOOL":
            self._pool(contents)
        if self._options.verbose or name in _SHOWN:
            self.hex(contents, size)

    def _statistics(self, contents: bytes) -> None:
        counter, *registers = struct.unpack("<33I", contents[:132].ljust(132, b"\0"))
        text = f"\t PC: {counter:04x}\n"
        header = registers[0]
        if self._generation != 5 and header >> 28 == 7 and is_type4_or_type7(header):
            kind, opcode, _ = read_header(header)
            name = self._view.machine.packet_labels[opcode] if kind == OPCODE else None
            if name:
                text += f"\tPKT: {name}\n"
        for number in range(16):
            low, high = registers[number], registers[number + 16]
            text += f"\t${number + 1:02x}: {low:08x}\t\t${number + 17:02x}: {high:08x}\n"
        self._view.put(text)

    def _microcode(self, contents: bytes) -> None:
        put = self._view.put
        for number, (title, dwords, only_verbose) in enumerate(_UCODE_PARTS):
            if only_verbose and not self._options.verbose:
                continue
            start = 4 * _UCODE_PART * number
            put(f"\t{title}\n")
            part = contents[start : start + 4 * dwords]
            put("".join(hex_and_characters(part, 4 * dwords, 1)))
        put("\tSQE scratch control regs:\n")
        self._control_registers(contents, _SCRATCH_PART, self._scratch)
        if self._has_many_controls:
            put("\tSQE control regs:\n")
            self._control_registers(contents, _CONTROL_PART, range(_CONTROL_COUNT))

    def _control_registers(self, contents: bytes, dword: int, registers: range) -> None:
        """The control registers whose values begin at a dword of the microcode's data."""
        table = self._control
        if table is None:
            return
        start, size = 4 * dword, 4 * len(registers)
        part = contents[start : start + size].ljust(size, b"\0")
        table.begin()
        for (value,), register in zip(struct.iter_unpack("<I", part), registers, strict=True):
            self._register(table, register, value)

    def _pool(self, contents: bytes) -> None:
        pool = MemoryPool(contents)
        texts = pool.show(
            self._generation == 6, self._options.verbose, self._queued_write, self._complain
        )
        for text in texts:
            self._view.put(text)

    def _queued_write(self, write: QueuedWrite) -> str:
        """The lines of a register write that waits in CP_MEMPOOL."""
        table = self._pipe if write.is_pipe else self._view.registers
        register, value = write.register, write.value
        if table is None:
            return f"\t\twrite {register:#x} ({register:02x}) pipe\n"
        entry = table.entry(register)
        line = f"{LEVELS[2]}{table.line(entry, value)}"
        if write.is_pipe:
            is_void = table.type_name(register) == "void"
            return f"\t\twrite {entry.name} ({register:02x}) pipe\n{'' if is_void else line}"
        context = f" context {write.context}" if self._generation == 6 else ""
        return f"\t\twrite {entry.name} ({register:05x}){context}\n{line}"

    def shader(self, kind: str, item: Item) -> None:
        """A block of shader memory: programs as instructions and hex, others hex with -v."""
        assert item.block is not None
        is_program = kind in _PROGRAMS
        if not is_program and not self._options.verbose:
            return
        contents, size = item.block.contents(), item.block.declared
        if is_program:
            code = contents.ljust(min(size, len(contents) + (1 << 20)), b"\0")
            listing = self._disassemblers.ir3(self._generation).listing(code, 1)
            self._view.output.put_large(listing.code)
        self.hex(contents, size)


def _sub_generation(gpu: Gpu) -> int:
    """Within its generation, from 1 on; 0 where it is not known."""
    from cffpy.image.devices import device_of  # lazy: few dumps need it, and it takes long

    try:
        return device_of(gpu).sub_generation
    except UnsupportedGpu:
        return 0
