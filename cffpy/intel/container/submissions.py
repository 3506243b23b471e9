# SPDX-License-Identifier: MIT
"""What an AUB file submits: memory is built up block by block; each submission has a ring.

Facts: aub_read.c and aubinator.c of Mesa 25.0.7.
"""

from __future__ import annotations

from struct import unpack

from cffpy.container.damage import Damage
from cffpy.intel.container import aub
from cffpy.intel.container.memory import AubMemory, MemoryExceeded
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.row_readers import BytesLike

_PAGE = 4096

_RENDER, _VIDEO, _BLITTER = (aub.ENGINES[name] for name in ("render", "video", "blitter"))
#: Offsets of a command streamer's registers: its base, and where they lie from there on.
_STREAMERS = {0x2000: _RENDER, 0x12000: _VIDEO, 0x22000: _BLITTER}

#: Bytes after a ring's commands, where its last instruction may continue.
_FOLLOWING = 1 << 18
#: Dwords of the context image that are read.
_CONTEXT_DWORDS = 52


class Commands(ValueObject):
    """The commands of a ring that one submission executes.

    ``address``: what the reference counts addresses from. ``is_ring``: jumps come back, as from a
    ring; classic files do not have this. ``following``: the file after them. ``global_address``:
    where they lie in the GGTT, None in classic files. ``offset``: in the file, of the block that
    submits. ``data_offset``: of the commands, in classic files.
    """

    __slots__ = (
        "address",
        "data",
        "data_offset",
        "engine",
        "following",
        "global_address",
        "is_ring",
        "offset",
    )

    def __init__(
        self,
        engine: int,
        data: BytesLike,
        address: int,
        offset: int,
        global_address: int | None = None,
        following: BytesLike = b"",
        data_offset: int | None = None,
    ) -> None:
        self.engine = engine
        self.data_offset = data_offset
        self.data = data
        self.address = address
        self.offset = offset
        self.global_address = global_address
        self.is_ring = global_address is not None
        self.following = following


class AubSubmissions:
    """Reads an AUB file: identities, comments, and the commands of each submission.

    ``memory``: as the commands of the last item see it. ``ver``: of the device; the caller sets it
    at an identity, since it decides how wide addresses of classic blocks are. ``damage``: what is
    wrong with the file, complete after ``items``.
    """

    def __init__(self, data: BytesLike, memory: AubMemory) -> None:
        self._reader = aub.AubReader(data, memory.write_physical)
        self.memory = memory
        self.damage: list[Damage] = []
        self._data_offset: int | None = None
        #: The last values written for a submission, by engine: 4 dwords, the last one lowest.
        self._ports = {engine: [0, 0, 0, 0] for engine in _STREAMERS.values()}
        self._written = dict.fromkeys(_STREAMERS.values(), 0)

    @property
    def ver(self) -> int:
        """The version of the device's graphics."""
        return self._reader.ver

    @ver.setter
    def ver(self, ver: int) -> None:
        self._reader.ver = ver

    @property
    def position(self) -> int:
        """Byte offset of the block that is being read."""
        return self._reader.position

    @property
    def data_offset(self) -> int:
        """Byte offset of the data of the write to memory that is being read."""
        known = self._data_offset
        return self.position + aub.MEMORY_WRITE_HEADER if known is None else known

    def items(self) -> Iterator[aub.Identity | aub.Comment | Commands]:
        """The file's contents, in order, up to the first block that cannot be read."""
        reader = self._reader
        has_identity = False
        try:
            for item in reader.items():
                if isinstance(item, aub.MemoryWrite):
                    self._data_offset = item.offset
                    self._write_memory(item)
                    self._data_offset = None
                elif isinstance(item, aub.RegisterWrite):
                    commands = self._write_register(item) if has_identity else None
                    if commands is not None:
                        yield commands
                        self.memory.end_submission()
                elif isinstance(item, aub.RingWrite):
                    if has_identity:
                        yield self._classic(item)
                        self.memory.end_submission()
                else:
                    has_identity = has_identity or isinstance(item, aub.Identity)
                    yield item
        except MemoryExceeded:
            message = "AUB: memory writes exceed the limit"
            self.damage.append(Damage(reader.position, message, limit="bytes"))
        if reader.damage is not None:
            self.damage.append(reader.damage)
        if not has_identity and not self.damage:
            self.damage.append(Damage(None, "AUB: no block names the device"))

    def _write_memory(self, item: aub.MemoryWrite) -> None:
        if item.space == aub.PHYSICAL:
            self.memory.write_physical(item.address, item.data)
        elif item.space == aub.GGTT:
            self.memory.write_ggtt(item.address, item.data)
        elif item.space == aub.GGTT_ENTRY:
            self.memory.write_ggtt_entries(item.address, item.data)
        elif item.space == aub.LOCAL:
            self.memory.write_local(item.address, item.data, item.rest)

    def _write_register(self, item: aub.RegisterWrite) -> Commands | None:
        base = item.offset & ~0xFFF
        engine = _STREAMERS.get(base)
        if engine is None:
            return None
        port = self._ports[engine]
        match item.offset - base:
            case 0x230:  # four writes make a submission
                index = self._written[engine]
                port[index] = item.value
                self._written[engine] = (index + 1) % 4
                return self._of_context(engine, port[3]) if index == 3 else None
            case 0x510:
                port[3] = item.value
            case 0x514:
                port[2] = item.value
            case 0x550:
                return self._of_context(engine, port[3])
        return None

    def _of_context(self, engine: int, descriptor: int) -> Commands | None:
        """What the context of a submission has in its ring."""
        memory = self.memory
        memory.is_classic = False
        memory.forget()
        base = descriptor & ~0xFFF
        memory.global_mapping(base)
        context = memory.span(False, base + _PAGE, 4 * _CONTEXT_DWORDS)
        if len(context) < 4 * _CONTEXT_DWORDS:
            self._missing("the context of a submission")
            return None
        words = unpack(f"<{_CONTEXT_DWORDS}I", context)
        head, tail, start = words[5], words[7], words[9]
        length = (words[11] & 0x1FF000) + _PAGE
        memory.root = words[49] << 32 | words[51]
        mapping = memory.global_mapping(start)
        if mapping is None:
            self._missing("the ring of a submission")
            return None
        data = memory.span(False, start + head, min(tail - head & 0xFFFFFFFF, length))
        return Commands(engine, data, mapping[0] + head, self.position, start + head)

    def _missing(self, what: str) -> None:
        self.damage.append(Damage(self.position, f"AUB: {what} is not in memory"))

    def _classic(self, item: aub.RingWrite) -> Commands:
        """The commands of a classic block."""
        self.memory.is_classic = True
        self.memory.forget()
        following = item.following[:_FOLLOWING]
        at = self.position
        return Commands(item.engine, item.data, 0, at, None, following, item.offset)
