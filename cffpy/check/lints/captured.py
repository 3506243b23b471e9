# SPDX-License-Identifier: MIT
"""What a draw needs and the capture does not hold: commands, programs, indices."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from cffpy.check.draw_states import DrawStates
from cffpy.check.model import FROM_A3XX, Facts, Report, at_draw, lint
from cffpy.cp.loadstate import program_dwords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.check.model import CheckedCapture
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.reader import Payload

# Where a capture lists buffers that are not commands, as a full capture does (RD_DUMP full), it
# lists all of them: drivers put each buffer of the submit into it. Render targets are never in the
# others.

#: Calls and addresses that are kept, at most.
_MAX_CALLS = 1 << 16


class MissingCommands(Facts):
    """``calls``: address, dwords asked for, dwords captured, and where the call is."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.calls: list[tuple[int, int, int, PacketLocation, Pass | None]] = []

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that call an IB."""
        return dict.fromkeys(("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFE"), self._call)

    def _call(self, payload: Payload) -> None:
        machine = self.walk.machine
        needed = 3 if machine.is_64bit else 2
        dwords = payload.dwords()[:needed]
        if len(dwords) < needed:
            return
        *halves, size = dwords
        address = sum(half << 32 * number for number, half in enumerate(halves))
        size &= 0xFFFFF
        place = machine.image.place(address)
        captured = 0 if place is None else max(0, place[0].count - place[1])
        if size and captured < size and len(self.calls) < _MAX_CALLS:
            here = self.walk.packet_location
            self.calls.append((address, size, captured, here, self.passes.current))


@lint("CFF038", "error", needs=(MissingCommands,))
def commands_not_captured(capture: CheckedCapture) -> Iterator[Report]:
    """An IB is called that the capture does not hold whole.

    Calls of addresses in no captured buffer, or of more dwords than it has.

    Why: What the GPU executes there is unknown; state and draws after it may be wrong in all
    results.

    Advice: Record the capture again with all buffers.
    """
    for address, asked, captured, place, pass_ in capture.facts(MissingCommands).calls:
        what = f"{captured} of its {asked} dwords were captured" if captured else "not captured"
        text = f"the IB at {address:#x}: {what}"
        yield Report(text, address, place, pass_)


class DeclaredMemory(Facts):
    """Which buffers the indices of draws lie in, and whether a capture lists all buffers."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: Submit and address of indices -> declared bytes up to the end of the buffer; 0: none.
        self._remaining: dict[tuple[int, int], int] = {}
        #: Submit -> address of a target -> whether it lies in a buffer.
        self._targets: dict[int, dict[int, bool]] = {}
        #: Address of what is copied to -> whether it lies in a buffer.
        self._copied: dict[int, bool] = {}

    def action(self, action: Action) -> None:
        """Look up indices and targets while the submit's memory is available."""
        if not action.execution.is_possible:
            return
        image, submit = self.walk.machine.image, action.place.submit
        for address in self._written(action):
            known = self._targets.setdefault(submit, {})
            if address and address not in known and len(known) < _MAX_CALLS:
                known[address] = image.remaining(address) > 0
        for transfer in action.transfers:
            address = None if transfer.destination is None else transfer.destination.address
            if address and len(self._copied) < _MAX_CALLS:
                self._copied[address] = image.remaining(address) > 0
        first = _first_index(action)
        if first is not None and len(self._remaining) < _MAX_CALLS:
            key = submit, first
            if key not in self._remaining:
                self._remaining[key] = image.remaining(first)

    def _written(self, action: Action) -> Iterator[int | None]:
        """Addresses of what an action renders to, stores or clears."""
        for target in action.targets:
            yield target.address
        run = self.passes.run
        if run is not None and run.operations and run.operations[-1].action is action:
            yield run.operations[-1].address

    def indices(self, draw: Action) -> int | None:
        """Declared bytes from a draw's first index to the end of its buffer; 0: no buffer.

        None where the draw has no indices in memory.
        """
        first = _first_index(draw)
        return None if first is None else self._remaining.get((_submit(draw), first))

    def is_full(self, draw: Action) -> bool:
        """Whether the capture lists all buffers of the draw's submit: most targets are in one.

        A submit without targets, of dispatches alone, is taken to be as the others; where none has
        any, what is copied to counts.
        """
        every = chain.from_iterable(of.values() for of in self._targets.values())
        candidates = (self._targets.get(_submit(draw), {}).values(), every, self._copied.values())
        known = next((lies for places in candidates if (lies := [*places])), [])
        return bool(known) and 2 * sum(known) > len(known)


def _first_index(draw: Action) -> int | None:
    """The address of the first index; of an indirect draw, the address of all indices."""
    region = draw.index_region or draw.indirect_indices
    return None if region is None else region[0]


def _submit(draw: Action) -> int:
    return draw.place.submit


@lint("CFF037", "error", FROM_A3XX, needs=(DrawStates, DeclaredMemory))
def program_not_captured(capture: CheckedCapture) -> Iterator[Report]:
    """A program is enabled, but its code is not in the capture.

    Programs at address 0, outside of captured buffers, or longer than what was captured. Whether an
    address has no buffer, only a capture of all buffers tells: one whose render targets lie in
    buffers. Else the finding is info.

    Why: At an address without a buffer the GPU faults or runs whatever lies there. Where the
    capture lacks the buffer, nothing can be said about the program.

    Advice: Check SP_xS_OBJ_START; record the capture with all buffers (RD_DUMP full).
    """
    states, memory = capture.facts(DrawStates), capture.facts(DeclaredMemory)
    for pass_, draw in capture.work():
        for program in states.programs(draw):
            captured = states.captured_bytes(draw, program)
            size = 4 * program_dwords(capture.generation, program.units)
            cause = pass_.index, program.stage, program.address
            name = f"the {program.stage} program at {program.address:#x}"
            if not program.address:
                yield at_draw(pass_, draw, f"the {program.stage} program has address 0", cause)
            elif not captured and memory.is_full(draw):
                yield at_draw(pass_, draw, f"{name} lies in no buffer of the submit", cause)
            elif not captured:
                text = f"{name} was not captured"
                yield at_draw(pass_, draw, text, cause)._replace(severity="info")
            elif captured < size:
                text = f"{name} has {size} bytes, of which {captured} were captured"
                yield at_draw(pass_, draw, text, cause)._replace(severity="info")


_NULL = "INDX_BASE is 0"


@lint("CFF047", "error", needs=(DeclaredMemory,))
def no_index_buffer(capture: CheckedCapture) -> Iterator[Report]:
    """The indices of a draw lie in no buffer, or behind the end of theirs.

    Draws with INDX_BASE 0; in captures of all buffers, those whose indices are in none.

    Why: The GPU faults, or draws with indices that are other data.

    Advice: Check INDX_BASE, and that the buffer is part of the submit.
    """
    memory = capture.facts(DeclaredMemory)
    for pass_, draw in capture.draws():
        there = memory.indices(draw)
        text = None if there is None else _fault(draw, there)
        if text and (memory.is_full(draw) or text == _NULL):
            yield at_draw(pass_, draw, text, (pass_.index, text))


def _fault(draw: Action, there: int) -> str | None:
    """What is wrong with the indices of a draw. ``there``: bytes of the buffer from the first."""
    values, region = draw._values, draw.index_region
    if values is None or draw.vertices == 0:
        return None
    if not values.index_base:
        return _NULL
    if not there:
        return f"INDX_BASE {values.index_base:#x} lies in no buffer of the submit"
    if region is None:
        return None
    _, count, size = region
    if draw.indices_within is not None:  # CFF048: the GPU reads no more
        count = max(0, draw.indices_within - (draw.first_index or 0))
    if count * size <= there:
        return None
    return f"{count} indices have {count * size} bytes, of which the buffer has {there}"
