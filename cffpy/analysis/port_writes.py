# SPDX-License-Identifier: MIT
"""PortWrites: what the writes of a port fill, dword after dword.

A port has no value: each write is the next element of the memory behind it (cffpy.regdb.ports).
Walks keep these elements as registers of their own, so all that is asked of a register can be asked
of an element. Source: the notes at VPC_SO_CNTL and VPC_SO_PROG in Mesa's a6xx.xml; a5xx has no
field for the pointer there, and its driver sets bit 16 before each program, as that of a6xx does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from cffpy.cp.machine import Machine
    from cffpy.frame.places import PacketLocation
    from cffpy.regdb.ports import Port


class PortWrite(NamedTuple):
    """One dword that a packet writes: the register, or an element, and its value."""

    number: int
    value: int


def _do_nothing() -> None:
    """Nobody asks for this write, but it is not stored together with others."""


class PortWrites:
    """The ports of a generation, and which elements are written next."""

    def __init__(self, machine: Machine) -> None:
        ports = machine.database.ports.values()
        self._machine = machine
        #: By offset.
        self.ports: dict[int, Port] = {port.offset: port for port in ports}
        self._pointers: dict[int, list[Port]] = {}
        for port in ports:
            self._pointers.setdefault(port.pointer, []).append(port)
        offsets = {*self.ports, *self._pointers}
        #: Of ports, and of registers with their pointers.
        self.offsets = frozenset(offsets)
        #: From the first of their offsets to the one after the last.
        self.span = (min(offsets), max(offsets) + 1) if offsets else (0, 0)
        #: Of each port: the value of its pointer's register that was seen last, and the element
        #: that is written next.
        self._next: dict[int, tuple[int | None, int]] = {}
        #: Of each port, the elements that are not 0.
        self._filled: dict[int, set[int]] = {port.offset: set() for port in ports}

    def watched(self) -> dict[int, Callable[[], None]]:
        """The ports and registers with pointers, as registers that a walk watches."""
        return dict.fromkeys(self.offsets, _do_nothing)

    def may_store(self, touched: Collection[int], registers: Mapping[int, int]) -> bool:
        """Whether a draw-state group may be stored at once of which a walk watches ``touched``.

        Most programs write 0 to the pointer's register, and nothing to the port.
        """
        return all(number in self._pointers and not registers[number] for number in touched)

    def publish(
        self,
        register: int,
        values: Sequence[int],
        location: PacketLocation,
        ndwords: int,
        callbacks: Iterable[Callable[[range, PacketLocation, int], None]],
    ) -> None:
        """A packet writes ``values`` to ``register`` and the registers behind it: publish elements.

        ``callbacks``: ``Observer.registers_written``, with ``ndwords`` as there. The machine gets
        the values at once.
        """
        registers = self._machine.state.registers
        for number, value in self._changes(register, values):
            registers[number] = value
            for written in callbacks:
                written(range(number, number + 1), location, ndwords)

    def _changes(self, register: int, values: Iterable[int]) -> Iterator[PortWrite]:
        """What a packet writes that writes ``values`` to ``register`` and those after it."""
        for number, value in enumerate(values, register):
            port = self.ports.get(number)
            if port is not None:
                yield self._write(port, value)
                continue
            yield PortWrite(number, value)
            for moved in self._pointers.get(number, ()):
                yield from self._move(moved, value)

    def _move(self, port: Port, value: int) -> Iterator[PortWrite]:
        """The pointer is written."""
        self._next[port.offset] = value, port.start(value)
        if value & port.reset:
            filled = self._filled[port.offset]
            for element in sorted(filled):
                yield PortWrite(element, 0)
            filled.clear()

    def _write(self, port: Port, value: int) -> PortWrite:
        """The port is written."""
        pointer = self._machine.state.registers.get(port.pointer)
        seen, index = self._next.get(port.offset, (None, 0))
        if pointer is not None and pointer != seen:
            index = port.start(pointer)  # it was written by a packet that need not run
        self._next[port.offset] = pointer, index + 1
        element = port.elements[index % len(port.elements)]
        (self._filled[port.offset].add if value else self._filled[port.offset].discard)(element)
        return PortWrite(element, value)
