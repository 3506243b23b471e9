# SPDX-License-Identifier: MIT
"""The kernels of an action: their stages, addresses, and what is known of their tables."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.intel.analysis.state import command_structs, read_struct
from cffpy.intel.decoder.kernels import RENDER_CACHE, kernel_size, messages
from cffpy.intel.decoder.stages import STAGE_INSTRUCTIONS, kernel_pointers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.decoder.batches import BatchRunner
    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Command

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

    ``highest`` is -1 where no message has an entry that is not computed.
    """

    size: int
    targets: int
    highest: int


class Kernels:
    """Reads kernels, each once."""

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
        targets, highest = 0, -1
        for message in messages(self._runner.span(address, size), self._runner.database.ver):
            index = message.table_index
            if index is None:
                continue
            if message.sfid == RENDER_CACHE:
                targets = max(targets, index + 1)
            if message.sfid in _WITH_TABLES:
                highest = max(highest, index)
        return KernelFacts(size, targets, highest)


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
    found = []
    for stage, names in STAGE_INSTRUCTIONS.items():
        command = next((one for name in names if (one := state.get(name)) is not None), None)
        if command is None:
            continue
        kernels = kernel_pointers(command, state.database.ver)
        if kernels:
            found.append(
                Program(
                    stage,
                    tuple((width, state.instruction_base + offset) for width, offset in kernels),
                    command.number("Binding Table Entry Count"),
                    command.number("Sampler Count"),
                )
            )
    return found


def _unit_programs(state: State, units: Instruction, runner: BatchRunner) -> list[Program]:
    """Of gen4 and gen5: the state of each unit is in memory, from the general state base on.

    Kernels of gen4 are counted from that base, too, those of gen5 from the instruction base.
    """
    found = []
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
            found.append(
                Program(
                    stage,
                    tuple((width, base + offset) for width, offset in kernels),
                    unit.number("Binding Table Entry Count"),
                    unit.number("Sampler Count"),
                    sampler_states=state.general_base + unit.number("Sampler State Pointer"),
                )
            )
    return found


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
