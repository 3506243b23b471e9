# SPDX-License-Identifier: MIT
"""Prints batches: the loop over instructions, and jumps between batches.

Facts: intel_batch_decoder.c of Mesa 25.0.7. What is printed behind an instruction is in the other
files of this folder; handlers.py has the table.
"""

from __future__ import annotations

from struct import pack, unpack, unpack_from

from cffpy.intel.container.host_memory import HostMemory
from cffpy.intel.decoder.groups import length_by_header
from cffpy.intel.views.aubinator.context import M48, Command, Printer
from cffpy.intel.views.aubinator.handlers import HANDLERS, STATE_HANDLERS
from cffpy.intel.views.aubinator.options import ACCUMULATE, COLOUR, FULL, OFFSETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Group
    from cffpy.intel.decoder.text import _Plan
    from cffpy.intel.views.aubinator.options import DecodeOptions
    from cffpy.row_readers import BytesLike

    #: Offset and size -> bytes, and how many lie before the end of the batch, or more than size.
    Fetch = Callable[[int, int], tuple[bytes, int]]

_RED = "\x1b[31m"
_BLUE_HEADER = "\x1b[0;44m\x1b[1;37m"
_GREEN_HEADER = "\x1b[1;42m"
_NORMAL = "\x1b[0m"

_MAX_JUMPS = 100
#: Jumps without return in one batch, where stores are followed.
_MAX_GOTOS = 1 << 12
#: Bytes of a batch that are read at a time.
_STEP = 1 << 16
#: Dwords that one command stores.
_MAX_STORED = 16
#: Distinct first dwords that are remembered.
_MAX_KINDS = 1 << 14

_START, _END = "MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END"
_JUMP_FIELDS = (
    "Batch Buffer Start Address",
    "Second Level Batch Buffer",
    "Address Space Indicator",
    "Predication Enable",
)
#: Instructions at which the accumulated ones are printed.
_PRINT_ACCUMULATED = frozenset(
    ["3DPRIMITIVE", "3DPRIMITIVE_EXTENDED", "GPGPU_WALKER", "3DSTATE_WM_HZ_OP", "COMPUTE_WALKER"]
)


class _Kind:
    """What is known of instructions by their first dword."""

    __slots__ = (
        "group",
        "handler",
        "headline",
        "is_jump",
        "is_store",
        "length",
        "plan",
        "size",
        "state",
    )

    def __init__(self, group: Group, length: int, plan: _Plan, headline: str) -> None:
        self.group = group
        self.length = length
        self.plan = plan
        self.headline = headline
        #: Bytes that are read: MI_LOAD_REGISTER_IMM shows the dword that follows it.
        self.size = max(plan.size, 4 * length + 4)
        self.handler = HANDLERS.get(group.name)
        self.state = STATE_HANDLERS.get(group.name)
        self.is_jump = group.name in (_START, _END)
        self.is_store = group.name == "MI_STORE_DATA_IMM"


def _unknown_size(header: int) -> tuple[int, int]:
    """Length in dwords, and size in bytes, of an instruction that no description has."""
    length = max(1, length_by_header(header))
    return length, 4 * length


class BatchPrinter(Printer):
    """Prints batches of one generation.

    ``budget``: dwords of commands that are decoded in all; ``is_exhausted`` says that they were not
    enough. ``acthd`` is the address that the GPU had reached, 0 where it is unknown.
    """

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        options: DecodeOptions,
        write: Callable[[str], object],
        budget: int,
    ) -> None:
        super().__init__(database, memory, options, write)
        self.budget = budget
        self.is_exhausted = False
        self.engine = 1
        self.acthd = 0
        self._jumps = 0
        #: Where a jump without return leads, while stores are followed: the batch ends there.
        self._goto: tuple[int, bool] | None = None
        self._kinds: dict[tuple[int, int], _Kind | None] = {}
        #: Knows host addresses, which matter to accumulated instructions only.
        self.host = memory if isinstance(memory, HostMemory) else None
        self._accumulated: dict[str, tuple[_Kind, bytes, int | None]] = {}

    def print_data(
        self,
        data: BytesLike,
        address: int,
        from_ring: bool,
        behind: BytesLike = b"",
        pointer: int | None = None,
    ) -> None:
        """Print the commands in ``data``; their addresses are shown from ``address`` on.

        ``behind``: what lies in memory behind it; an instruction may go on there. ``pointer``: the
        host address of the data, where it is known (host_memory.py).
        """
        size = len(data)
        data = bytes(data) + bytes(behind)
        self._batch(lambda offset, _: (data[offset:], size - offset), address, from_ring, pointer)

    def print_at(self, address: int, ppgtt: bool) -> bool:
        """Print the batch at an address, up to its end; False where it is unmapped."""
        if self.database.ver >= 8:
            address &= M48
        read = self.memory.read
        if not self.memory.span(ppgtt, address, 4):
            return False
        pointer = None if self.host is None else self.host.pointer(ppgtt, address)
        self._batch(
            lambda offset, size: read(ppgtt, address + offset, size), address, False, pointer
        )
        return True

    def _go_on(self, address: int, ppgtt: bool) -> None:
        """Print the batch at an address, and those that it jumps to without coming back."""
        for _ in range(_MAX_GOTOS):
            self._goto = None
            if not self.print_at(address, ppgtt):
                self.out(f"Secondary batch at 0x{address:08x} unavailable\n")
            if self._goto is None:
                return
            address, ppgtt = self._goto
        self._goto = None
        self._complain(f"0x{address:08x}: Max batch buffer jumps exceeded")

    def _batch(
        self, fetch: Fetch, address: int, from_ring: bool, pointer: int | None = None
    ) -> None:
        shows_offsets = self.flags & OFFSETS
        if self._jumps >= _MAX_JUMPS:
            shown = address if shows_offsets else 0
            self._complain(f"0x{shown:08x}: Max batch buffer jumps exceeded")
            return
        self._jumps += 1
        start = position = 0
        data, end = fetch(0, _STEP)
        while not self.is_exhausted:
            if position + 4 > end:
                break
            if position >= len(data):
                start += position
                data, end = fetch(start, _STEP)
                position = 0
                continue
            header = unpack_from("<I", data, position)[0] if position + 4 <= len(data) else 0
            kind = self._kind(header)
            length, size = (kind.length, kind.size) if kind is not None else _unknown_size(header)
            if position and position + size > len(data):
                start += position
                data, end = fetch(start, max(_STEP, size))
                position = 0
            shown = address + start + position if shows_offsets else 0
            self.budget -= length
            if self.budget < 0:
                self.is_exhausted = True
            if kind is None:
                self._unknown(data[position : position + size], shown)
                position += size
                continue
            instruction = data[position : position + size]
            place = None if pointer is None else pointer + start + position
            position += 4 * length
            if self._instruction(kind, instruction, shown, from_ring, place):
                break
        self._jumps -= 1

    def _instruction(
        self, kind: _Kind, data: bytes, shown: int, from_ring: bool, pointer: int | None
    ) -> bool:
        """Print an instruction, do what it does; whether the batch ends with it."""
        self._print(kind, data, shown, pointer)
        if kind.state is not None:
            kind.state(self, Command(kind.group, data))
        elif kind.is_store and self.options.follows_stores:
            self._store(Command(kind.group, data))
        return kind.is_jump and self._ends(kind, data, from_ring)

    def _kind(self, header: int) -> _Kind | None:
        key = (header, self.engine)
        try:
            return self._kinds[key]
        except KeyError:
            pass
        group = self.database.instruction(header, self.engine)
        kind = None
        if group is not None:
            length = group.length_of(header)
            plan = self.groups.plan(group, header, length)
            _begin, end = self._colours(group.name)
            headline = f":  0x{header:08x}:  {group.name:<80}{end}\n"
            kind = _Kind(group, max(1, length), plan, headline)
        if len(self._kinds) >= _MAX_KINDS:
            self._kinds.clear()
        self._kinds[key] = kind
        return kind

    def _colours(self, name: str) -> tuple[str, str]:
        if not self.flags & COLOUR:
            return "", ""
        if not self.flags & FULL:
            return _NORMAL, _NORMAL
        return (_GREEN_HEADER if name in (_START, _END) else _BLUE_HEADER), _NORMAL

    def _complain(self, line: str) -> None:
        if self.flags & COLOUR:
            line = f"{_RED}{line}{_NORMAL}"
        self.out(f"{line}\n")

    def _unknown(self, data: bytes, shown: int) -> None:
        data = data.ljust(4, b"\0")
        words = unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
        self._complain(f"0x{shown:08x}: unknown instruction {words[0]:08x}")
        for number, word in enumerate(words[1:], 1):
            self._complain(f"0x{shown + 4 * number:08x}: -- {word:08x}")

    def _print(self, kind: _Kind, data: bytes, shown: int, pointer: int | None) -> None:
        """Print an instruction, or remember it, as the options say."""
        if self.flags & ACCUMULATE:
            self._accumulated[kind.group.name] = kind, data, pointer
            if kind.group.name in _PRINT_ACCUMULATED:
                self._print_accumulated()
            return
        filters = self.options.filters
        if filters is not None and kind.group.name not in filters:
            return
        marked = " (ACTHD)" if self.acthd and shown == self.acthd else ""
        self._show(kind, data, shown, marked)

    def _show(self, kind: _Kind, data: bytes, shown: int, marked: str = "") -> None:
        begin = self._colours(kind.group.name)[0] if self.flags & COLOUR else ""
        text = f"{begin}0x{shown:08x}{marked}{kind.headline}"
        if self.flags & FULL:
            self.out(text + self.groups.planned(kind.plan, shown, data[: kind.plan.size]))
            if kind.handler is not None:
                kind.handler(self, Command(kind.group, data))
        else:
            self.out(text)

    def _print_accumulated(self) -> None:
        self.out("----\n")
        for name in sorted(self._accumulated):
            kind, data, pointer = self._accumulated[name]
            now = None
            if self.host is not None and pointer is not None:
                now = self.host.at_pointer(pointer, len(data))
            if now is None or now == data:
                self._show(kind, data, 0)
            else:
                self._show_replaced(kind, now, pointer or 0)

    def _show_replaced(self, kind: _Kind, data: bytes, pointer: int) -> None:
        """Print a remembered instruction in whose place something else lies by now.

        intel_print_accumulated_instrs uses its old name, handlers look it up again (mesa 25.0.7).
        """
        assert self.host is not None  # the caller makes sure
        header = unpack_from("<I", data.ljust(4, b"\0"))[0]
        length = kind.group.length_of(header)
        plan = self.groups.plan(kind.group, header, length)
        data = self.host.at_pointer(pointer, max(plan.size, 4 * length + 4)) or data
        begin, end = self._colours(kind.group.name)
        self.out(f"{begin}0x{0:08x}:  0x{header:08x}:  {kind.group.name:<80}{end}\n")
        if self.flags & FULL:
            self.out(self.groups.planned(plan, 0, data[: plan.size]))
            group = self.database.instruction(header, self.engine)
            if kind.handler is not None and group is not None:
                kind.handler(self, Command(group, data))

    def _store(self, command: Command) -> None:
        """Execute MI_STORE_DATA_IMM: the dwords behind the address are written to it."""
        address, is_global = command.values("Address", "Use Global GTT")
        count = min(command.group.length_of(command.dword(0)) - 3, _MAX_STORED)
        if address is None or is_global or count <= 0 or self.database.ver < 8:
            return
        data = b"".join([pack("<I", command.dword(3 + number)) for number in range(count)])
        self.memory.store(address & M48, data)

    def _ends(self, kind: _Kind, data: bytes, from_ring: bool) -> bool:
        """Follow a jump; whether the batch ends with this instruction."""
        if kind.group.name == _END:
            return True
        command = Command(kind.group, data)
        target, second_level, ppgtt, predicate = command.values(*_JUMP_FIELDS)
        if predicate:
            return False
        place = target or 0, bool(ppgtt)
        is_left = not second_level and not from_ring
        if self.options.follows_stores:
            if is_left:
                self._goto = place
            else:
                self._go_on(*place)
        elif not self.print_at(*place):
            self.out(f"Secondary batch at 0x{place[0]:08x} unavailable\n")
        return is_left
