# SPDX-License-Identifier: MIT
"""The programs of an action: kernels of its stages, and their binding tables.

A table is an array of 32-bit offsets of surface states. Its own offset is counted from the base of
the pool of tables, or from the surface state base; those of surface states always from the latter.
Its length is the driver's, or follows from the messages of the kernel.

``heaps`` has the parts of ANV's address space, which explain addresses. They are those of ANV
25.0.7; other drivers (iris, crocus, hasvk) use other layouts. So names are given only where the
bases that were programmed are ANV's.
"""

from __future__ import annotations

from struct import unpack
from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described, fact
from cffpy.intel.analysis.state import command_structs, read_struct
from cffpy.intel.analysis.surfaces import read_surface, samplers_at
from cffpy.intel.decoder.kernels import (
    RENDER_CACHE,
    SAMPLER,
    STAGE_INSTRUCTIONS,
    kernel_pointers,
    kernel_size,
    messages,
    sampler_index,
    surface_access,
    uses_addresses,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.analysis.surfaces import Sampler, Surface
    from cffpy.intel.decoder.batches import BatchRunner
    from cffpy.intel.decoder.groups import Command, Database
    from cffpy.intel.decoder.kernels import Message, SurfaceAccess

_GIB = 1 << 30

BINDING_TABLES = 0xC0000000
"""Where the pool of binding tables begins: one gigabyte, below the surface states."""
SURFACE_STATES = 0x100000000
"""Where the driver's own surface states begin."""
BINDLESS = 0x140000000
"""The base of surface states that shaders address by handle; from 12.5 on also of sets."""

#: Name, start and end of heaps, up to gen12.0 and from gen12.5 on.
_OLD = (
    ("general state", 0x200000, 0x40000000),
    ("low heap", 0x40000000, 0x80000000),
    ("binding table pool", BINDING_TABLES, SURFACE_STATES),
    ("internal surface states", SURFACE_STATES, BINDLESS),
    ("bindless surface states", BINDLESS, BINDLESS + 2 * _GIB),
    ("indirect descriptors", 0x200000000, 0x2C0000000),
    ("push descriptors", 0x2C0000000, 0x300000000),
    ("instructions", 0x300000000, 0x3C0000000),
    ("dynamic state", 0x3C0000000, 0x400000000),
)
_NEW = (
    *_OLD[:5],
    ("instructions", 0x200000000, 0x2C0000000),
    ("dynamic state", 0x2C0000000, 0x300000000),
    ("samplers of sets", 0x300000000, 0x380000000),
)
_FIRST_NEW = 125


def heaps(verx10: int) -> tuple[tuple[str, int, int], ...]:
    """Name, start and end of the heaps of a generation, rising."""
    return _NEW if verx10 >= _FIRST_NEW else _OLD


def is_anv(state: State) -> bool:
    """Whether the bases of state are those of ANV."""
    known = {name: start for name, start, _ in heaps(state.database.verx10)}
    bases = known["instructions"], known["dynamic state"]
    return (state.instruction_base, state.dynamic_base) == bases


def heap_of(address: int, verx10: int) -> str:
    """The heap that an address lies in, "" where it is in none."""
    return next(
        (name for name, start, end in heaps(verx10) if start <= address < end),
        "",
    )


COMPUTE = "CS"
_M32 = 0xFFFFFFFF
#: Kernels that are remembered.
_MAX_KERNELS = 1 << 12


class Program(NamedTuple):
    """A stage's kernels: width ("SIMD8", or "") and address of each; what the driver says of it.

    ``entries``: of its binding table, 0 also where the driver gives no number. ``samplers``: groups
    of four. ``table`` and ``sampler_states``: offsets; None where instructions of the stage name
    them, as for all but compute kernels and, for samplers, gen4 and gen5.
    """

    stage: str
    kernels: tuple[tuple[str, int], ...]
    entries: int
    samplers: int
    table: int | None = None
    sampler_states: int | None = None


class KernelFacts(NamedTuple):
    """What the messages of a kernel show: bytes, render targets written, highest table entry.

    ``highest`` is -1 where no message has an entry that is not computed. ``accesses``: what it does
    with surfaces, each once. ``samplers``: those that it names; ``computes_samplers``: it uses
    others, which it computes. ``uses_addresses``: it reads or writes memory without a surface.
    """

    size: int
    targets: int
    highest: int
    accesses: frozenset[SurfaceAccess] = frozenset()
    samplers: frozenset[int] = frozenset()
    computes_samplers: bool = False
    uses_addresses: bool = False


class Kernels:
    """The facts of kernels by their addresses; each kernel is read once."""

    def __init__(self, runner: BatchRunner) -> None:
        self._runner = runner
        self._known: dict[int, KernelFacts | None] = {}

    def forget(self) -> None:
        """Forget all kernels: memory may have changed."""
        self._known.clear()

    def facts(self, address: int) -> KernelFacts | None:
        """What is known of the kernel at an address; None where it is not in memory."""
        if address not in self._known:
            if len(self._known) >= _MAX_KERNELS:
                self._known.clear()
            self._known[address] = self._read(address)
        return self._known[address]

    def _read(self, address: int) -> KernelFacts | None:
        size = kernel_size(self._runner, address)
        if not size:
            return None
        database = self._runner.database
        code = self._runner.span(address, size)
        return _kernel_facts(size, list(messages(code, database.ver)), database.verx10)


def _kernel_facts(size: int, sent: Sequence[Message], verx10: int) -> KernelFacts:
    """What messages show of a kernel."""
    accesses = {surface_access(message, verx10) for message in sent}
    to_sampler = [message for message in sent if message.sfid == SAMPLER]
    samplers = {sampler_index(message, verx10 // 10) for message in to_sampler}
    return KernelFacts(
        size,
        targets=_highest(sent, (RENDER_CACHE,)) + 1,
        highest=_highest(sent, _WITH_TABLES),
        accesses=frozenset(access for access in accesses if access is not None),
        samplers=frozenset(sampler for sampler in samplers if sampler is not None),
        computes_samplers=any(
            message.descriptor is None or message.is_bindless for message in to_sampler
        ),
        uses_addresses=any(uses_addresses(message, verx10) for message in sent),
    )


def _highest(sent: Sequence[Message], functions: Collection[int]) -> int:
    """The highest entry that messages to some shared functions name; -1 without any."""
    indices = (message.table_index for message in sent if message.sfid in functions)
    return max((index for index in indices if index is not None), default=-1)


#: Shared functions whose descriptors begin with an entry of the binding table: sampler, render
#: cache, data ports. Others (URB, thread spawner, ...) have other bits there.
_WITH_TABLES = frozenset((2, 4, 5, 9, 10, 12))


#: Stage -> the struct of its unit's state in memory, the field of 3DSTATE_PIPELINED_POINTERS with
#: its address, and the one that enables the unit (gen4, gen5).
_UNITS = {
    "VS": ("VS_STATE", "Pointer to VS State", None),
    "GS": ("GS_STATE", "Pointer to GS State", "GS Enable"),
    "CLIP": ("CLIP_STATE", "Pointer to CLIP State", "Clip Enable"),
    "SF": ("SF_STATE", "Pointer to SF State", None),
    "PS": ("WM_STATE", "Pointer to WM State", None),
}


def draw_programs(state: State, runner: BatchRunner) -> list[Program]:
    """The programs of the 3D pipeline, in its order; stages without a kernel are left out."""
    units = state.get("3DSTATE_PIPELINED_POINTERS")
    if units is not None:
        return _unit_programs(state, units, runner)
    programs = []
    for stage, names in STAGE_INSTRUCTIONS.items():
        command = next((one for name in names if (one := state.get(name)) is not None), None)
        if command is None:
            continue
        kernels = kernel_pointers(command, state.database.ver)
        if kernels:
            programs.append(
                Program(
                    stage,
                    tuple((width, state.instruction_base + offset) for width, offset in kernels),
                    command.number("Binding Table Entry Count"),
                    command.number("Sampler Count"),
                )
            )
    return programs


def _unit_programs(state: State, units: Instruction, runner: BatchRunner) -> list[Program]:
    """Of gen4 and gen5: the state of each unit is in memory, from the general state base on.

    Kernels of gen4 are counted from that base, too, those of gen5 from the instruction base.
    """
    programs = []
    ver = state.database.ver
    base = state.instruction_base if ver > 4 else state.general_base
    for stage, (name, pointer, enable) in _UNITS.items():
        struct = state.database.struct(name)
        if struct is None or (enable is not None and not units.number(enable)):
            continue
        data = runner.span(state.general_base + units.number(pointer), 4 * struct.dwords)
        unit = read_struct(struct, data)
        kernels = [] if unit is None else kernel_pointers(unit, ver)
        if unit is not None and kernels:
            programs.append(
                Program(
                    stage,
                    tuple((width, base + offset) for width, offset in kernels),
                    unit.number("Binding Table Entry Count"),
                    unit.number("Sampler Count"),
                    sampler_states=state.general_base + unit.number("Sampler State Pointer"),
                )
            )
    return programs


def dispatch_programs(state: State, walker: Instruction, runner: BatchRunner) -> list[Program]:
    """The program of a dispatch; none where its descriptor is not in memory."""
    descriptor = _inner_descriptor(state.database, walker)
    if descriptor is None:
        descriptor = _loaded_descriptor(state, walker, runner)
    if descriptor is None:
        return []
    pointer, entries, table, samplers, sampler_states = (
        value or 0
        for value in descriptor.values(
            "Kernel Start Pointer",
            "Binding Table Entry Count",
            "Binding Table Pointer",
            "Sampler Count",
            "Sampler State Pointer",
        )
    )
    kernel = state.instruction_base + pointer
    width = walker.text("SIMD Size")
    if not width:
        body = command_structs(state.database, walker, "COMPUTE_WALKER_BODY")
        width = body[0].text("SIMD Size") if body else ""
    return [
        Program(
            COMPUTE,
            ((width, kernel),),
            entries,
            samplers,
            table & _M32,
            sampler_states & _M32,
        )
    ]


def _inner_descriptor(database: Database, walker: Command) -> Command | None:
    """The descriptor inside a COMPUTE_WALKER's body."""
    for body in command_structs(database, walker, "COMPUTE_WALKER_BODY"):
        for descriptor in command_structs(database, body, "INTERFACE_DESCRIPTOR_DATA"):
            return descriptor
    return None


def _loaded_descriptor(state: State, walker: Instruction, runner: BatchRunner) -> Command | None:
    """The descriptor that MEDIA_INTERFACE_DESCRIPTOR_LOAD has named."""
    load = state.get("MEDIA_INTERFACE_DESCRIPTOR_LOAD")
    struct = state.database.struct("INTERFACE_DESCRIPTOR_DATA")
    if load is None or struct is None:
        return None
    size = 4 * struct.dwords
    start = load.number("Interface Descriptor Data Start Address") & _M32
    address = state.dynamic_base + start + size * walker.number("Interface Descriptor Offset")
    return read_struct(struct, runner.span(address, size))


#: Entries of one table that are read; hardware takes no more than 256.
_MAX_ENTRIES = 256


@described(
    "table_entry",
    names={"number": "index", "state_address": "state"},
    number="its number",
    offset="the offset that the table has",
    state_address="GPU address of the surface state",
    heap="the heap of ANV that the surface state lies in; empty for other drivers",
    role='"render target" for a target that the kernel writes, else empty',
)
class Entry(NamedTuple):
    """An entry of a binding table.

    ``surface`` is None where the surface state is not in memory or not aligned.
    """

    number: int
    offset: Address
    state_address: Address
    surface: Surface | None
    heap: str
    role: str

    def describe(self) -> str:
        """The number of the entry and its surface, as ``draws`` lists a table."""
        what = "not valid" if self.surface is None else self.surface.describe()
        role = f" {self.role}:" if self.role else ""
        return f"{self.number}: {self.offset:#010x} -> {self.state_address:#x}{role} {what}"


#: How the length of a table is known.
LengthSource = Literal["driver", "kernel", "guess"]


@described(
    "binding_table",
    names={"source": "length_source"},
    stage="the stage",
    offset="its offset from the base of tables",
    address="its GPU address",
    source="how its length is known: the stage's instruction has it (driver), it is the highest "
    "entry that a message of the kernel names (kernel), or it ends before the first entry that "
    "leads nowhere (guess)",
    in_first_gigabyte="whether it lies in the gigabyte that ANV keeps for tables, so that its "
    "entries reach all surface states; None for other drivers",
    entries="its entries",
)
class BindingTable(NamedTuple):
    """The binding table of a stage."""

    stage: str
    offset: Address
    address: Address
    source: LengthSource
    in_first_gigabyte: bool | None
    entries: tuple[Entry, ...]

    def describe(self) -> str:
        """Its heading, in one line."""
        count = len(self.entries)
        parts = [f"{self.stage} table at {self.address:#x} (offset {self.offset:#x})"]
        parts.append(f"{count} {'entry' if count == 1 else 'entries'} ({self.source})")
        if self.in_first_gigabyte is not None:
            inside = "in" if self.in_first_gigabyte else "NOT in"
            parts.append(f"{inside} the gigabyte of binding tables")
        return ", ".join(parts)

    @fact()
    def length(self) -> int:
        """How many entries it has."""
        return len(self.entries)


def binding_table(
    state: State, program: Program, runner: BatchRunner, kernels: Kernels
) -> BindingTable | None:
    """The table of a program; None where it uses none."""
    offset = program.table if program.table is not None else state.tables.get(program.stage)
    if offset is None:
        return None
    facts = [kernels.facts(kernel) for _, kernel in program.kernels]
    known = [fact for fact in facts if fact is not None]
    count, source = _length(state, program, max((fact.highest for fact in known), default=-1))
    address = state.table_base + offset
    if source == "guess":
        entries = _guessed(state, runner, address)
    else:
        entries = _entries(state, runner, address, count)
    if not entries:
        return None
    if program.stage == "PS":
        entries = _with_targets(entries, known)
    in_gigabyte = BINDING_TABLES <= address < SURFACE_STATES if is_anv(state) else None
    return BindingTable(program.stage, offset, address, source, in_gigabyte, tuple(entries))


def is_missing(state: State, program: Program, runner: BatchRunner) -> bool:
    """Whether the driver says that a program has a binding table, and it is not in memory."""
    offset = program.table if program.table is not None else state.tables.get(program.stage)
    if offset is None or not program.entries:
        return False
    return not runner.span(state.table_base + offset, 4)


def _with_targets(entries: list[Entry], kernels: list[KernelFacts]) -> list[Entry]:
    """The entries of a fragment kernel's table, with the render targets marked."""
    targets = max((kernel.targets for kernel in kernels), default=0)
    if not kernels:
        targets = _targets_without_kernel(entries)
    return [
        entry._replace(role="render target") if entry.number < targets else entry
        for entry in entries
    ]


def _length(state: State, program: Program, highest: int) -> tuple[int, LengthSource]:
    """The number of entries, and how it is known."""
    if program.entries:
        return program.entries, "driver"
    if highest >= 0:
        return highest + 1, "kernel"
    # ANV leaves the number out on gen11 (a hardware bug of prefetching)
    return (0, "guess") if state.database.ver == 11 else (0, "driver")


def _entries(state: State, runner: BatchRunner, address: int, count: int) -> list[Entry]:
    data = runner.span(address, 4 * min(count, _MAX_ENTRIES))
    offsets = unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    return [_entry(state, runner, index, offset) for index, offset in enumerate(offsets)]


def _guessed(state: State, runner: BatchRunner, address: int) -> list[Entry]:
    """The entries up to the first that is zero or has no surface state."""
    entries = []
    for entry in _entries(state, runner, address, 32):
        if entry.surface is None or not entry.offset:
            break
        entries.append(entry)
    return entries


def _entry(state: State, runner: BatchRunner, index: int, offset: int) -> Entry:
    address = state.surface_base + offset
    surface = None
    struct = state.database.struct("RENDER_SURFACE_STATE")
    if not offset % 32 and struct is not None:
        surface = read_surface(state.database, runner.span(address, 4 * struct.dwords), address)
    heap = heap_of(address, state.database.verx10) if is_anv(state) else ""
    return Entry(index, offset, address, surface, heap, "")


def _targets_without_kernel(entries: list[Entry]) -> int:
    """Render targets come first; without the kernel all images and null surfaces count as such."""
    count = 0
    for entry in entries:
        if entry.surface is None or entry.surface.is_buffer:
            break
        count += 1
    return count


_SAMPLERS_OF_A_GROUP = 4
#: Samplers of one stage that are read.
_MAX_SAMPLERS = 16


def stage_samplers(
    state: State, programs: Iterable[Program], runner: BatchRunner, kernels: Kernels
) -> list[Sampler]:
    """The samplers of all stages.

    The driver says how many groups of four a stage has, or leaves that out (on gen11, a hardware
    bug of prefetching); then there are those that the kernels name.
    """
    samplers: list[Sampler] = []
    for program in programs:
        offset = program.sampler_states
        if offset is None:
            offset = state.samplers.get(program.stage)
        count = min(program.samplers * _SAMPLERS_OF_A_GROUP, _MAX_SAMPLERS)
        if not count:
            facts = (kernels.facts(kernel) for _, kernel in program.kernels)
            named = (max(fact.samplers, default=-1) for fact in facts if fact is not None)
            count = max(named, default=-1) + 1
        if offset is None or not count:
            continue
        samplers += samplers_at(runner, program.stage, state.dynamic_base + offset, count)
    return samplers
