# SPDX-License-Identifier: MIT
"""Prints batches: the callbacks of the loop over instructions (decoder/batches.py).

Facts: intel_batch_decoder.c of Mesa 25.0.7. What is printed after an instruction is in the other
files of this folder; handlers.py has the table.
"""

from __future__ import annotations

from struct import unpack, unpack_from

from cffpy.intel.container.memory import HostMemory
from cffpy.intel.decoder.batches import END, START, Kind
from cffpy.intel.decoder.groups import Command
from cffpy.intel.views.aubinator.context import ACCUMULATE, COLOUR, FULL, OFFSETS, Printer
from cffpy.intel.views.aubinator.handlers import HANDLERS, STATE_HANDLERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.groups import Database, Group
    from cffpy.intel.decoder.text import Plan
    from cffpy.intel.views.aubinator.context import DecodeOptions

_RED = "\x1b[31m"
_BLUE_HEADER = "\x1b[0;44m\x1b[1;37m"
_GREEN_HEADER = "\x1b[1;42m"
_NORMAL = "\x1b[0m"

#: Instructions at which the accumulated ones are printed.
_PRINT_ACCUMULATED = frozenset(
    ["3DPRIMITIVE", "3DPRIMITIVE_EXTENDED", "GPGPU_WALKER", "3DSTATE_WM_HZ_OP", "COMPUTE_WALKER"]
)


class _Kind(Kind):
    """As Kind, with how its instructions are printed."""

    __slots__ = ("handler", "headline", "plan", "state")

    def __init__(self, group: Group, length: int, plan: Plan, headline: str) -> None:
        # MI_LOAD_REGISTER_IMM shows the dword that follows it
        super().__init__(group, length, max(plan.size, 4 * max(1, length) + 4))
        self.plan = plan
        self.headline = headline
        self.handler = HANDLERS.get(group.name)
        self.state = STATE_HANDLERS.get(group.name)


class BatchPrinter(Printer):
    """Prints batches of one generation.

    ``acthd`` is the address that the GPU had reached, 0 where it is unknown.
    """

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        options: DecodeOptions,
        write: Callable[[str], object],
        budget: int,
    ) -> None:
        super().__init__(database, memory, options, write, budget)
        self.acthd = 0
        #: Whether all instructions are printed as they come, with their fields and no colour.
        self._prints_all = options.filters is None and (
            options.flags & (FULL | COLOUR | ACCUMULATE) == FULL
        )
        #: Knows host addresses, which matter to accumulated instructions only.
        self.host = memory if isinstance(memory, HostMemory) else None
        self._accumulated: dict[str, tuple[_Kind, bytes, int | None]] = {}

    def host_pointer(self, address: int, ppgtt: bool) -> int | None:
        """The host address of a batch, where it is known."""
        return None if self.host is None else self.host.pointer(ppgtt, address)

    def new_kind(self, group: Group, header: int, length: int) -> Kind:
        """With the plan of its text, and its handlers."""
        plan = self.groups.plan(group, header, length)
        _begin, end = self._colours(group.name)
        headline = f":  0x{header:08x}:  {group.name:<80}{end}\n"
        return _Kind(group, length, plan, headline)

    def instruction(self, kind: Kind, data: bytes, address: int, pointer: int | None) -> None:
        """Print an instruction, or remember it, as the options say; keep the state it sets."""
        assert isinstance(kind, _Kind)  # new_kind makes no others
        filters = self.options.filters
        if self._prints_all and not self.acthd:
            shown = address if self.flags & OFFSETS else 0
            self.out(self.groups.headed(kind.plan, shown, data[: kind.plan.size], kind.headline))
            if kind.handler is not None:
                kind.handler(self, Command(kind.group, data))
        elif self.flags & ACCUMULATE:
            self._accumulated[kind.group.name] = kind, data, pointer
            if kind.group.name in _PRINT_ACCUMULATED:
                self._print_accumulated()
        elif filters is None or kind.group.name in filters:
            shown = self._shown(address)
            marked = " (ACTHD)" if self.acthd and shown == self.acthd else ""
            self._show(kind, data, shown, marked)
        if kind.state is not None:
            kind.state(self, Command(kind.group, data))

    def unknown(self, data: bytes, address: int) -> bool:
        """Print the dwords of an instruction that no description has."""
        shown = self._shown(address)
        data = data.ljust(4, b"\0")
        words = unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
        self._complain(f"0x{shown:08x}: unknown instruction {words[0]:08x}")
        for number, word in enumerate(words[1:], 1):
            self._complain(f"0x{shown + 4 * number:08x}: -- {word:08x}")
        return False

    def missing_batch(self, address: int) -> None:
        """Print that the target of a jump is unmapped."""
        self.out(f"Secondary batch at 0x{address:08x} unavailable\n")

    def too_many_jumps(self, address: int) -> None:
        """Print that a batch is left out."""
        self._complain(f"0x{self._shown(address):08x}: Max batch buffer jumps exceeded")

    def _shown(self, address: int) -> int:
        return address if self.flags & OFFSETS else 0

    def _colours(self, name: str) -> tuple[str, str]:
        if not self.flags & COLOUR:
            return "", ""
        if not self.flags & FULL:
            return _NORMAL, _NORMAL
        return (_GREEN_HEADER if name in (START, END) else _BLUE_HEADER), _NORMAL

    def _complain(self, line: str) -> None:
        if self.flags & COLOUR:
            line = f"{_RED}{line}{_NORMAL}"
        self.out(f"{line}\n")

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
