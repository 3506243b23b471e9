# SPDX-License-Identifier: MIT
"""Kernels: which ones an instruction names, and where one ends.

A kernel ends at a message that ends the thread, or at an illegal instruction. Facts:
brw_disassemble_find_end of Mesa 25.0.7; instruction formats of the PRMs.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from cffpy.intel.decoder.groups import Command, Database, Group

    class KernelMemory(Protocol):
        """What kernels are read from."""

        database: Database

        def span(self, address: int, size: int, ppgtt: bool = True) -> bytes:
            """Up to ``size`` bytes from ``address`` on."""


_SENDS = (0x31, 0x32, 0x33, 0x34)
_COMPACTED = 1 << 29
_FULL_SIZE, _COMPACT_SIZE = 16, 8

#: Shared functions.
SAMPLER, RENDER_CACHE, URB = 2, 5, 6
_IMMEDIATE = 3
#: Binding table indices from here on mean memory without a table entry.
_FIRST_SPECIAL = 240

_STEP = 1 << 12
#: Bytes that are searched for the end.
_MAX_SIZE = 1 << 20


def kernel_size(memory: KernelMemory, address: int) -> int:
    """The size in bytes of the kernel at an address, as far as it is in memory."""
    # bit 127 ends the thread before gen12, then bit 34
    end_byte, end_bit = (4, 2) if memory.database.ver >= 12 else (15, 7)
    data = memory.span(address, _STEP)
    position = 0
    while position < _MAX_SIZE:
        if position + _FULL_SIZE > len(data) and len(data) % _STEP == 0:
            data += memory.span(address + len(data), _STEP)
        if position + _COMPACT_SIZE > len(data):
            return len(data)
        word = int.from_bytes(data[position : position + 4], "little")
        opcode = word & 0x7F
        last = data[position + end_byte : position + end_byte + 1]
        size = _COMPACT_SIZE if word & _COMPACTED else _FULL_SIZE
        if not opcode or (opcode in _SENDS and last and last[0] >> end_bit & 1):
            return min(position + size, len(data))
        position += size
    return position


#: Table indices of bindless messages, whose surface state a register has the offset of, and of
#: messages with addresses.
_BINDLESS, _ADDRESSES = 252, (253, 255)


class Message:
    """A message that a kernel sends: to a shared function (``sfid``), with a descriptor.

    ``descriptor`` and ``extended``, the second descriptor, are None where the kernel computes them.
    """

    __slots__ = ("descriptor", "extended", "sfid")

    def __init__(self, sfid: int, descriptor: int | None, extended: int | None = None) -> None:
        self.sfid = sfid
        self.descriptor = descriptor
        self.extended = extended

    @property
    def table_index(self) -> int | None:
        """The entry of the binding table; None where it is none, or is computed."""
        if self.descriptor is None or self.descriptor & 0xFF >= _FIRST_SPECIAL:
            return None
        return self.descriptor & 0xFF

    @property
    def is_bindless(self) -> bool:
        """Whether the surface is in no table, but at an offset that the kernel computes."""
        return self.descriptor is not None and self.descriptor & 0xFF == _BINDLESS


def messages(data: bytes, ver: int) -> Iterator[Message]:
    """The messages of a kernel, in the order of its code.

    Facts: brw_inst.h of Mesa 25.0.7 (sfid, desc, sel_reg32_desc, send_ex_desc).
    """
    position = 0
    while position + _COMPACT_SIZE <= len(data):
        word = int.from_bytes(data[position : position + 16], "little")
        if word & _COMPACTED:
            position += _COMPACT_SIZE  # a send is never compacted before gen12
            continue
        if word & 0x7F in _SENDS and position + _FULL_SIZE <= len(data):
            yield _message_xe(word) if ver >= 12 else _message(word, ver)
        position += _FULL_SIZE


def _message(word: int, ver: int) -> Message:
    is_split = word & 0x7F in _SENDS[2:]
    # of a plain send, the kind of its second operand: an immediate, or a register
    kind = word >> (89 if ver >= 8 else 42) & 3
    computed = word >> 77 & 1 if is_split else kind != _IMMEDIATE
    place = 24 if ver >= 6 else 92 if ver == 5 else 120
    return Message(word >> place & 0xF, None if computed else word >> 96 & 0x7FFFFFFF)


def _message_xe(word: int) -> Message:
    extended = (
        (word >> 124 & 0xF) << 28
        | (word >> 96 & 3) << 26
        | (word >> 64 & 3) << 24
        | (word >> 35 & 0x1FFF) << 11
        | (word >> 99 & 0x1F) << 6
    )
    second = None if word >> 49 & 1 else extended
    if word >> 48 & 1:
        return Message(word >> 92 & 0xF, None, second)
    descriptor = (
        (word >> 122 & 3) << 30
        | (word >> 67 & 0x1F) << 25
        | (word >> 51 & 0x1F) << 20
        | (word >> 113 & 0x1FF) << 11
        | (word >> 81 & 0x7FF)
    )
    return Message(word >> 92 & 0xF, descriptor, second)


#: Ways to a surface: by the sampler, by the cache of constants, by other data ports.
SAMPLED, CONSTANT, DATA = "sampled", "constant", "data"


class SurfaceAccess(NamedTuple):
    """What a message does with a surface: its entry in the binding table, and how.

    ``entry`` is None where the kernel computes it, or where the surface is ``is_bindless``.
    ``way``: SAMPLED, CONSTANT or DATA.
    """

    entry: int | None
    is_bindless: bool
    way: str
    reads: bool
    writes: bool


_CONSTANTS, _DATA_0, _DATA_1 = 9, 10, 12
#: Types of messages to the data ports that only read, and that only write; others do both.
_READS_0, _WRITES_0 = frozenset((0, 1, 2, 3, 4)), frozenset((8, 10, 11, 12))
_READS_1, _WRITES_1 = frozenset((1, 4, 5)), frozenset((9, 10, 13))
#: The same of gen7, which has one port for data.
_READS_7, _WRITES_7 = _READS_0 | {5}, _WRITES_0 | {13}
_FENCE_0 = 7
#: From gen12.5 on: typed and untyped memory; what their descriptors say.
_LSC = (13, 15, 1)
_FLAT, _IN_TABLE, _LSC_FENCE, _LSC_LOADS, _LSC_STORES = 0, 3, 31, (0, 2), (4, 6)


def surface_access(message: Message, verx10: int) -> SurfaceAccess | None:
    """What a message does with a surface; None where it uses none, and for render targets.

    Facts: brw_eu_defines.h and brw_eu.h of Mesa 25.0.7.
    """
    if verx10 >= 125 and message.sfid in _LSC:
        return _lsc_access(message)
    known = _ACCESSES.get(message.sfid)
    if known is None:
        return None
    if message.descriptor is not None and message.table_index is None and not message.is_bindless:
        return None  # memory without a surface
    way, reads, writes = known
    if way == DATA:
        kind = None if message.descriptor is None else message.descriptor >> 14 & 0x1F
        reads, writes = _data_access(message.sfid, kind, verx10)
    if not reads and not writes:
        return None
    return SurfaceAccess(message.table_index, message.is_bindless, way, reads, writes)


#: Shared function -> way, reads, writes; those of data ports follow from the message.
_ACCESSES = {
    SAMPLER: (SAMPLED, True, False),
    4: (CONSTANT, True, False),  # the cache of samplers, which reads constants, too
    _CONSTANTS: (CONSTANT, True, False),
    _DATA_0: (DATA, True, True),
    _DATA_1: (DATA, True, True),
}


def _data_access(sfid: int, kind: int | None, verx10: int) -> tuple[bool, bool]:
    """Whether a message to a data port reads and writes; ``kind``: None where it is computed."""
    if kind is None:
        return True, True
    if sfid == _DATA_0 and kind == _FENCE_0:
        return False, False
    if verx10 <= 70:
        reads, writes = _READS_7, _WRITES_7
        kind &= 0xF
    else:
        reads, writes = (_READS_0, _WRITES_0) if sfid == _DATA_0 else (_READS_1, _WRITES_1)
    return kind not in writes, kind not in reads


def _lsc_access(message: Message) -> SurfaceAccess | None:
    descriptor, extended = message.descriptor, message.extended
    if descriptor is None:
        return SurfaceAccess(None, False, DATA, True, True)
    operation, address_type = descriptor & 0x3F, descriptor >> 29 & 3
    if address_type == _FLAT or operation == _LSC_FENCE:
        return None
    in_table = address_type == _IN_TABLE
    index = extended >> 24 if in_table and extended is not None else None
    reads, writes = operation not in _LSC_STORES, operation not in _LSC_LOADS
    return SurfaceAccess(index, not in_table, DATA, reads, writes)


def uses_addresses(message: Message, verx10: int) -> bool:
    """Whether a message reads or writes memory by addresses, without a surface, or may do so."""
    descriptor = message.descriptor
    if verx10 >= 125 and message.sfid in _LSC:
        if descriptor is None:
            return True
        return descriptor >> 29 & 3 == _FLAT and descriptor & 0x3F != _LSC_FENCE
    if message.sfid not in (_DATA_0, _DATA_1):
        return False
    return descriptor is None or descriptor & 0xFF in _ADDRESSES


#: Messages to the sampler that read texels or sizes without a sampler: ld, resinfo, ...
_WITHOUT_SAMPLER = frozenset((7, 10, 11, 26, 28, 29, 30, 31))


def sampler_index(message: Message, ver: int) -> int | None:
    """The sampler that a message names; None where it needs none, or where that is computed."""
    descriptor = message.descriptor
    if message.sfid != SAMPLER or descriptor is None or message.is_bindless:
        return None
    kind = descriptor >> 12 & (0x1F if ver >= 7 else 0xF)
    return None if ver >= 5 and kind in _WITHOUT_SAMPLER else descriptor >> 8 & 0xF


def instructions(code: bytes) -> Iterator[bytes]:
    """The instructions of a kernel: 16 bytes each, 8 of a compacted one; the last may be cut."""
    position = 0
    while position < len(code):
        word = int.from_bytes(code[position : position + 4], "little")
        size = _COMPACT_SIZE if word & _COMPACTED else _FULL_SIZE
        yield code[position : position + size]
        position += size


WIDTHS = ("SIMD8", "SIMD16", "SIMD32")

#: Stage -> instructions that set it, the newest first.
STAGE_INSTRUCTIONS = {
    "VS": ("3DSTATE_VS",),
    "HS": ("3DSTATE_HS",),
    "DS": ("3DSTATE_DS",),
    "GS": ("3DSTATE_GS",),
    "TASK": ("3DSTATE_TASK_SHADER",),
    "MESH": ("3DSTATE_MESH_SHADER",),
    "PS": ("3DSTATE_PS", "3DSTATE_WM"),
}

_FRAGMENT = ("3DSTATE_PS", "3DSTATE_WM", "WM_STATE")


def kernel_pointers(command: Command, ver: int) -> list[tuple[str, int]]:
    """The enabled kernels of a stage: width, "" where it is not chosen, and offset.

    ``command``: its instruction, up to gen5 the state of its unit. Offsets are counted from the
    instruction base.
    """
    group, words = command.group, command.words
    if group.name in _FRAGMENT:
        return fragment_pointers(group, words, ver)
    pointer, enabled, threads, maximum = command.values(
        "Kernel Start Pointer",
        "Enable",
        "Number of Threads in GPGPU Thread Group",
        "Local X Maximum",
    )
    is_on = enabled != 0 if threads is None else bool(threads and maximum)
    return [("", pointer or 0)] if is_on and pointer is not None else []


def fragment_pointers(group: Group, words: tuple[int, ...], ver: int) -> list[tuple[str, int]]:
    """The fragment kernels that are enabled, by width: width and offset.

    Where the hardware expects a kernel depends on how many widths are enabled
    (decode_ps_kern of Mesa 25.0.7).
    """
    if ver >= 20:
        return _fragment_pointers_xe2(group, words)
    names = tuple(f"Kernel Start Pointer {index}" for index in range(3))
    enables = tuple(f"{width} Pixel Dispatch Enable" for width in (8, 16, 32))
    values = group.values(words, names + enables)
    pointers = [pointer or 0 for pointer in values[:3]]
    enabled = [bool(each) for each in values[3:]]
    if ver == 4:
        pointers = [pointers[0]] * 3
    if sum(enabled) == 1:
        index = enabled.index(True)
        if index:
            pointers[index], pointers[0] = pointers[0], 0
    else:
        pointers[1], pointers[2] = pointers[2], pointers[1]
    return [(WIDTHS[index], pointers[index]) for index in range(3) if enabled[index]]


def _fragment_pointers_xe2(group: Group, words: tuple[int, ...]) -> list[tuple[str, int]]:
    pointers = []
    for index in (0, 1):
        names = (
            f"Kernel Start Pointer {index}",
            f"Kernel {index} Enable",
            f"Kernel[{index}] : SIMD Width",
        )
        pointer, enabled, width = group.values(words, names)
        if enabled:
            pointers.append((WIDTHS[2] if width or width is None else WIDTHS[1], pointer or 0))
    return pointers
