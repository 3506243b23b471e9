# SPDX-License-Identifier: MIT
"""Push constants and descriptor sets of ANV, the Vulkan driver, found from a draw.

All is of ANV 25.0.7. Nothing is read where the bases that were programmed are not those of ANV.

One block of push constants serves all stages of a draw: 64 dwords of the program, then 8 offsets of
sets, 8 offsets of their samplers and 16 dynamic offsets. Stages read pieces of it (anv_private.h,
anv_push_constants).

Up to gen12.0 a set is a buffer of small records, reached through an entry of a binding table:
handles of surface states and samplers, or the address and range of a buffer. From gen12.5 on a set
is an array of surface states in the bindless heap, with an array of its samplers in dynamic state;
push constants have the offsets of both, and entries of binding tables name their memory. The layout
of a set is not in the command stream, so the kind of a record is found from what it refers to
(anv_descriptor_set.c).
"""

from __future__ import annotations

from struct import unpack
from typing import NamedTuple

from cffpy.frame.facts import Address, described
from cffpy.intel.analysis.programs import BINDLESS, SURFACE_STATES, heap_of, is_anv
from cffpy.intel.analysis.surfaces import read_surface, sampler_at, set_samplers
from cffpy.intel.decoder.batches import M48

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.state import State
    from cffpy.intel.analysis.surfaces import Sampler, Surface
    from cffpy.intel.decoder.batches import BatchRunner


_CLIENT, _SETS, _DYNAMIC = 64, 8, 16
_BLOCK = 4 * (_CLIENT + 2 * _SETS + _DYNAMIC)
_UNIT = 32
#: Bytes of dynamic state with the samplers of sets, which are taken from its top.
_DYNAMIC_STATE = 3 << 30
#: Heaps that push constants are written to: of draws, of dispatches.
_HEAPS = ("dynamic state", "general state")


@described(
    "push_constants",
    stage="the stage",
    address="GPU address of the block",
    first="first byte that the stage reads",
    size="bytes that the stage reads",
    set_offsets="offsets of descriptor sets from the driver's surface states; the low 6 bits are "
    "the index of the set's first dynamic offset",
    sampler_offsets="offsets of the samplers of sets from the dynamic state base",
    dynamic_offsets="offsets of dynamic buffers",
)
class PushConstants(NamedTuple):
    """The block that a stage reads, as ANV lays it out. ``client``: the program's own data."""

    stage: str
    address: Address
    first: int
    size: int
    client: bytes
    set_offsets: tuple[Address, ...]
    sampler_offsets: tuple[Address, ...]
    dynamic_offsets: tuple[Address, ...]

    def lines(self) -> list[str]:
        """Its heading, and the offsets that are not zero."""
        end = self.first + self.size
        lines = [f"{self.stage} push constants at {self.address:#x}, bytes {self.first} to {end}"]
        for number, offset in enumerate(self.set_offsets):
            if offset:
                address = SURFACE_STATES + (offset & ~63)
                lines.append(
                    f"  set {number}: offset {offset:#x} -> {address:#x},"
                    f" first dynamic offset {offset & 63}"
                )
        for number, offset in enumerate(self.sampler_offsets):
            if offset:
                lines.append(f"  samplers of set {number}: offset {offset:#x}")
        for number, offset in enumerate(self.dynamic_offsets):
            if offset:
                lines.append(f"  dynamic offset {number}: {offset:#x}")
        return lines


def push_constants(
    state: State, runner: BatchRunner, stage: str, pieces: list[tuple[int, int]]
) -> PushConstants | None:
    """The block that pieces (address and bytes) of a stage's constants lie in; None without one.

    A piece need not begin where the block does. It is assumed to, unless the offsets of sets are
    plausible for another begin only.
    """
    if not is_anv(state):
        return None
    for address, size in pieces:
        if heap_of(address, state.database.verx10) not in _HEAPS:
            continue
        starts = [address - shift for shift in range(0, 4 * (_CLIENT + _SETS) + 1, _UNIT)]
        blocks = [
            block
            for start in starts
            if (block := _block(state, runner, stage, start, address, size)) is not None
        ]
        if blocks and blocks[0].first == 0:
            return blocks[0]
        return next((block for block in blocks if any(block.set_offsets)), None)
    return None


def _block(
    state: State, runner: BatchRunner, stage: str, start: int, address: int, size: int
) -> PushConstants | None:
    data = runner.span(start, _BLOCK)
    if len(data) < _BLOCK:
        return None
    words = unpack(f"<{_BLOCK // 4}I", data)
    sets = words[_CLIENT : _CLIENT + _SETS]
    samplers = words[_CLIENT + _SETS : _CLIENT + 2 * _SETS]
    dynamic = words[_CLIENT + 2 * _SETS :]
    verx10 = state.database.verx10
    makes_sense = all(
        not offset or heap_of(SURFACE_STATES + offset, verx10) == "bindless surface states"
        for offset in sets
    ) and all(offset <= _DYNAMIC_STATE for offset in samplers)
    if not makes_sense:
        return None
    return PushConstants(
        stage, start, address - start, size, data[: 4 * _CLIENT], sets, samplers, dynamic
    )


_FIRST_DIRECT = 125
_SET_HEAPS = ("indirect descriptors", "push descriptors")
#: Sets of one action, and bytes of one set, that are read. ANV binds 8 sets.
_MAX_SETS, _MAX_SET = 32, 1 << 14
_STATE_SIZE, _RECORD = 64, 8
#: Bits of a handle below the offset of its surface state.
_HANDLE_SHIFT = 6
#: Depths of storage images that a record may have in place of a sampler.
_MOST_LAYERS = 1 << 12


class Descriptor(NamedTuple):
    """A descriptor at ``offset`` bytes in its set.

    ``kind``: "buffer" (address and range), "sampled image", "image" (without a sampler, or a
    storage image), "surface" (a surface state in the set itself). ``sampler``: its address, or 0;
    ``sampler_state`` is None where it is not in memory.
    """

    offset: int
    kind: str
    surface: Surface | None
    address: int
    size: int
    sampler: int
    sampler_state: Sampler | None = None

    def describe(self) -> str:
        """Kind, offset and contents, as ``draws`` lists a descriptor."""
        if self.kind == "buffer":
            return f"{self.offset:#x}: buffer at {self.address:#x}, {self.size} bytes"
        what = "not in memory" if self.surface is None else self.surface.describe()
        sampler = f", sampler at {self.sampler:#x}" if self.sampler else ""
        if self.sampler_state is not None:
            sampler += f": {self.sampler_state.describe()}"
        return f"{self.offset:#x}: {self.kind} {what}{sampler}"


@described(
    "descriptor_set",
    names={"number": "set"},
    number="its number; None where only a binding table refers to it",
    address="its GPU address",
    size="bytes; 0 where they are not known",
    source="what refers to it",
)
class DescriptorSet(NamedTuple):
    """A descriptor set of ANV. ``samplers``: the array of a direct set."""

    number: int | None
    address: Address
    size: int
    source: str
    descriptors: tuple[Descriptor, ...]
    samplers: tuple[Sampler, ...] = ()

    def describe(self) -> str:
        """Its heading, in one line."""
        name = "set" if self.number is None else f"set {self.number}"
        size = f", {self.size} bytes" if self.size else ""
        return f"descriptor {name} at {self.address:#x}{size}, by {self.source}"


def descriptor_sets(
    state: State, uses: Uses, runner: BatchRunner, pushed: Iterable[PushConstants]
) -> list[DescriptorSet]:
    """The sets of an action, each once; none for drivers other than ANV."""
    if not is_anv(state):
        return []
    is_direct = state.database.verx10 >= _FIRST_DIRECT
    places = _places(state, uses, pushed if is_direct else ())
    read = _surface_states if is_direct else _records
    samplers = _samplers_of_sets(state, runner, pushed) if is_direct else {}
    return [
        DescriptorSet(
            number,
            address,
            size,
            source,
            read(state, runner, address, size, places),
            samplers.get(number, ()),
        )
        for address, (number, size, source) in sorted(places.items(), key=lambda one: _order(*one))
    ]


def _places(
    state: State, uses: Uses, pushed: Iterable[PushConstants]
) -> dict[int, tuple[int | None, int, str]]:
    """Address of each set -> its number, size, and what leads to it."""
    places: dict[int, tuple[int | None, int, str]] = {}
    for block in pushed:
        for index, offset in enumerate(block.set_offsets):
            if offset:
                address = SURFACE_STATES + (offset & ~(_STATE_SIZE - 1))
                places.setdefault(address, (index, 0, f"push constants of {block.stage}"))
    for table in uses.tables:
        for entry in table.entries:
            surface = entry.surface
            if surface is None or not surface.is_buffer or not _is_set(surface, state):
                continue
            number, _, source = places.get(
                surface.address, (None, 0, f"{table.stage} table entry {entry.number}")
            )
            if surface.address in places or len(places) < _MAX_SETS:
                places[surface.address] = number, surface.size, source
    return places


def _samplers_of_sets(
    state: State, runner: BatchRunner, pushed: Iterable[PushConstants]
) -> dict[int | None, tuple[Sampler, ...]]:
    """Number of a set -> its samplers. All stages of a draw share one block of offsets."""
    offsets = {
        number: offset
        for block in pushed
        for number, offset in enumerate(block.sampler_offsets)
        if offset and block.set_offsets[number]
    }
    return {
        number: tuple(set_samplers(runner, state, offset, offsets.values()))
        for number, offset in offsets.items()
    }


def _order(address: int, place: tuple[int | None, int, str]) -> tuple[int, int]:
    return (1 << 30 if place[0] is None else place[0]), address


def _is_set(surface: Surface, state: State) -> bool:
    """Whether a buffer lies where ANV keeps descriptor sets."""
    if state.database.verx10 >= _FIRST_DIRECT:
        return heap_of(surface.address, state.database.verx10) == "bindless surface states"
    return heap_of(surface.address, state.database.verx10) in _SET_HEAPS


def _surface_states(
    state: State, runner: BatchRunner, address: int, size: int, others: Iterable[int]
) -> tuple[Descriptor, ...]:
    """The surface states of a set, up to its end, the next set, or what is no surface state."""
    end = min((other for other in others if other > address), default=address + _MAX_SET)
    end = min(end, address + (size or _MAX_SET), address + _MAX_SET)
    data = runner.span(address, end - address)
    states = []
    for offset in range(0, len(data) - _STATE_SIZE + 1, _STATE_SIZE):
        surface = read_surface(state.database, data[offset:], address + offset)
        is_state = surface is not None and not surface.kind.startswith("type ")
        if not size and not (is_state and any(data[offset : offset + _STATE_SIZE])):
            break
        if surface is not None and is_state:
            states.append(Descriptor(offset, "surface", surface, surface.address, surface.size, 0))
    return tuple(states)


def _records(
    state: State, runner: BatchRunner, address: int, size: int, _others: Iterable[int]
) -> tuple[Descriptor, ...]:
    """The records of a set. Zeros between them are padding, or records that are not written."""
    data = runner.span(address, min(size or _STATE_SIZE, _MAX_SET))
    records = []
    offset = 0
    while offset + _RECORD <= len(data):
        record = None
        if not offset % 16 and offset + 16 <= len(data):
            record = _buffer(runner, data[offset : offset + 16], offset)
        step = 16 if record is not None else _RECORD
        if record is None:
            record = _image(state, runner, data[offset : offset + _RECORD], offset)
        if record is not None:
            records.append(record)
        offset += step
    return tuple(records)


def _buffer(runner: BatchRunner, record: bytes, offset: int) -> Descriptor | None:
    """A record of address, range and zero; None for any other."""
    address, size, zero = unpack("<QII", record)
    address &= M48
    # an image's record has a sampler's offset, which is small, in place of the upper half
    if zero or not size or not address >> 32 or not runner.span(address, 1):
        return None
    return Descriptor(offset, "buffer", None, address, size, 0)


def _image(state: State, runner: BatchRunner, record: bytes, offset: int) -> Descriptor | None:
    """A record of a surface handle, and of a sampler's or a depth; None for any other."""
    handle, second = unpack("<2I", record)
    if not handle and not second:
        return None
    place = BINDLESS + (handle >> _HANDLE_SHIFT)
    surface = read_surface(state.database, runner.span(place, _STATE_SIZE), place)
    if surface is None or (surface.is_null and not handle):
        return None
    has_sampler = second > _MOST_LAYERS
    sampler = state.dynamic_base + second if has_sampler else 0
    kind = "sampled image" if has_sampler else "image"
    known = sampler_at(runner, sampler) if has_sampler else None
    return Descriptor(offset, kind, surface, surface.address, surface.size, sampler, known)
