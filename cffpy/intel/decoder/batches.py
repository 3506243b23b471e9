# SPDX-License-Identifier: MIT
"""THE loop over the instructions of batches, and the jumps between batches.

Views and analyses derive from ``BatchRunner`` and override its callbacks. Facts:
intel_batch_decoder.c of Mesa 25.0.7.
"""

from __future__ import annotations

from struct import pack, unpack_from

from cffpy.intel.decoder.groups import Command, length_by_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.groups import Database, Group
    from cffpy.row_readers import BytesLike

    #: Offset and size -> bytes, and how many lie before the end of the batch, or more than size.
    Fetch = Callable[[int, int], tuple[bytes, int]]

#: Addresses have 48 bits from gen8 on; the rest repeats the highest one.
M48 = (1 << 48) - 1

_MAX_JUMPS = 100
#: Jumps without return in one batch, where stores are followed.
_MAX_GOTOS = 1 << 12
#: Bytes of a batch that are read at a time.
_STEP = 1 << 16
#: Dwords that one command stores.
_MAX_STORED = 16
#: Distinct first dwords that are remembered.
_MAX_KINDS = 1 << 14

START, END = "MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END"
STORE = "MI_STORE_DATA_IMM"
_JUMP_FIELDS = (
    "Batch Buffer Start Address",
    "Second Level Batch Buffer",
    "Address Space Indicator",
    "Predication Enable",
)


class Kind:
    """What is known of instructions by their first dword.

    ``length`` in dwords, at least 1. ``size``: bytes that are passed to ``instruction``; those
    after the instruction's end are what follows it. ``is_executed``: BatchRunner acts on it.
    """

    __slots__ = ("group", "is_executed", "is_jump", "length", "size")

    def __init__(self, group: Group, length: int, size: int) -> None:
        self.group = group
        self.length = max(1, length)
        self.size = size
        self.is_jump = group.name in (START, END)
        self.is_executed = self.is_jump or group.name == STORE


def _unknown_size(header: int) -> tuple[int, int]:
    """Length in dwords, and size in bytes, of an instruction that no description has."""
    length = max(1, length_by_header(header))
    return length, 4 * length


class BatchRunner:
    """Runs batches of one generation.

    ``budget``: dwords of commands that are decoded in all; ``is_exhausted`` says that they were not
    enough. ``engine``: a bit of rows.ENGINE_BITS. ``follows_stores``: MI_STORE_DATA_IMM is
    executed, and a jump without return ends its caller's batch, as on the GPU.
    """

    def __init__(
        self, database: Database, memory: AddressSpace, budget: int, follows_stores: bool
    ) -> None:
        self.database = database
        self.memory = memory
        self.budget = budget
        self.is_exhausted = False
        self.engine = 1
        #: Whether commands have no effect at present; a batch still ends with its last one.
        self.is_skipping = False
        #: Whether jumps with the predicate are followed; the reference never does.
        self.takes_predicated = False
        self.follows_stores = follows_stores
        self._jumps = 0
        #: Where a jump without return leads, while stores are followed: the batch ends there.
        self._goto: tuple[int, bool] | None = None
        #: Kinds by first dword, for each engine.
        self._kinds: dict[int, dict[int, Kind | None]] = {}

    # --- callbacks ------------------------------------------------------------------------------

    def new_kind(self, group: Group, header: int, length: int) -> Kind:
        """What is remembered of instructions with this first dword; ``length`` in dwords."""
        return Kind(group, length, 4 * max(1, length))

    def instruction(self, kind: Kind, data: bytes, address: int, pointer: int | None) -> None:
        """An instruction at an address; ``pointer``: its host address, where that is known."""
        raise NotImplementedError

    def unknown(self, data: bytes, address: int) -> bool:
        """An instruction that no description has, with its guessed length.

        Returns whether the batch ends with it.
        """
        return False

    def missing_batch(self, address: int) -> None:
        """A jump leads to an address that is unmapped."""

    def too_many_jumps(self, address: int) -> None:
        """The batch at this address is not run: jumps are nested too deep, or do not end."""

    def cut_batch(self, address: int, from_ring: bool) -> None:
        """Commands end with their memory at this address; batches have MI_BATCH_BUFFER_END."""

    # --- running --------------------------------------------------------------------------------

    def span(self, address: int, size: int, ppgtt: bool = True) -> bytes:
        """Up to ``size`` bytes from ``address`` on; empty where it is unmapped."""
        if self.database.ver >= 8:
            address &= M48
        return self.memory.span(ppgtt, address, size)

    def run_data(
        self,
        data: BytesLike,
        address: int,
        from_ring: bool,
        following: BytesLike = b"",
        pointer: int | None = None,
    ) -> None:
        """Run the commands in ``data``; their addresses are counted from ``address`` on.

        ``following``: the memory after it, where an instruction may continue. ``pointer``: the
        host address of the data, where it is known (host_memory.py).
        """
        size = len(data)
        data = bytes(data) + bytes(following)
        self._batch(lambda offset, _: (data[offset:], size - offset), address, from_ring, pointer)
        self._follow_goto()

    def run_at(self, address: int, ppgtt: bool) -> bool:
        """Run the batch at an address, up to its end; False where it is unmapped."""
        if self.database.ver >= 8:
            address &= M48
        read = self.memory.read
        if not self.memory.span(ppgtt, address, 4):
            return False
        pointer = self.host_pointer(address, ppgtt)
        self._batch(
            lambda offset, size: read(ppgtt, address + offset, size), address, False, pointer
        )
        return True

    def host_pointer(self, address: int, ppgtt: bool) -> int | None:
        """The host address of a batch, where it is known."""
        return None

    def jump(self, address: int, ppgtt: bool) -> None:
        """Go on at an address, after the current instruction; it must end its batch."""
        self._goto = address, ppgtt

    def _call(self, address: int, ppgtt: bool) -> None:
        """Run the batch at an address, and those that it jumps to without return."""
        self._goto = address, ppgtt
        self._follow_goto()

    def _follow_goto(self) -> None:
        for _ in range(_MAX_GOTOS):
            if self._goto is None:
                return
            address, ppgtt = self._goto
            self._goto = None
            if not self.run_at(address, ppgtt):
                self.missing_batch(address)
        if self._goto is not None:
            self.too_many_jumps(self._goto[0])
            self._goto = None

    def _batch(
        self, fetch: Fetch, address: int, from_ring: bool, pointer: int | None = None
    ) -> None:
        if self._jumps >= _MAX_JUMPS:
            self.too_many_jumps(address)
            return
        self._jumps += 1
        start = position = 0
        data, end = fetch(0, _STEP)
        kinds = self._kinds.setdefault(self.engine, {})
        while not self.is_exhausted:
            if position + 4 > end:
                self.cut_batch(address + start + position, from_ring)
                break
            if position >= len(data):
                start += position
                data, end = fetch(start, _STEP)
                position = 0
                continue
            header = unpack_from("<I", data, position)[0] if position + 4 <= len(data) else 0
            kind = kinds[header] if header in kinds else self._new_kind(kinds, header)
            length, size = (kind.length, kind.size) if kind is not None else _unknown_size(header)
            if position and position + size > len(data):
                start += position
                data, end = fetch(start, max(_STEP, size))
                position = 0
            place = start + position
            self.budget -= length
            self.is_exhausted = self.budget < 0
            instruction = data[position : position + size]
            position += 4 * length
            if kind is None:
                is_last = self.unknown(instruction, address + place)
            else:
                host = None if pointer is None else pointer + place
                self.instruction(kind, instruction, address + place, host)
                is_last = kind.is_executed and self._execute(kind, instruction, from_ring)
            if is_last or self._goto is not None:
                break
        self._jumps -= 1

    def _execute(self, kind: Kind, data: bytes, from_ring: bool) -> bool:
        """Execute a jump or a store; returns whether it ends the batch."""
        if kind.is_jump:
            return self._ends(kind, data, from_ring)
        if self.follows_stores and not self.is_skipping:
            self._store(Command(kind.group, data))
        return False

    def _new_kind(self, kinds: dict[int, Kind | None], header: int) -> Kind | None:
        """The kind of a first dword that is not among the ``kinds`` of the current engine."""
        group = self.database.instruction(header, self.engine)
        kind = None
        if group is not None:
            kind = self.new_kind(group, header, group.length_of(header))
        if len(kinds) >= _MAX_KINDS:
            kinds.clear()
        kinds[header] = kind
        return kind

    def _store(self, command: Command) -> None:
        """Execute MI_STORE_DATA_IMM: the dwords after the address are written to it."""
        address, is_global = command.values("Address", "Use Global GTT")
        count = min(command.group.length_of(command.dword(0)) - 3, _MAX_STORED)
        if address is None or is_global or count <= 0 or self.database.ver < 8:
            return
        data = b"".join([pack("<I", command.dword(3 + number)) for number in range(count)])
        self.memory.store(address & M48, data)

    def _ends(self, kind: Kind, data: bytes, from_ring: bool) -> bool:
        """Follow a jump; whether the batch ends with this instruction."""
        if kind.group.name == END:
            return True
        if self._goto is not None:
            return True  # the callback has chosen where to go on
        command = Command(kind.group, data)
        target, second_level, ppgtt, predicate = command.values(*_JUMP_FIELDS)
        if self.is_skipping or (predicate and not self.takes_predicated):
            return False
        place = target or 0, bool(ppgtt)
        is_left = not second_level and not from_ring
        if self.follows_stores:
            if is_left:
                self._goto = place
            else:
                self._call(*place)
        elif not self.run_at(*place):
            self.missing_batch(place[0])
        return is_left
