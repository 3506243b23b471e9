# SPDX-License-Identifier: MIT
"""Actions: draws, dispatches, blits, and operations on depth buffers, with what they use.

Their targets become attachments of the model.
"""

from __future__ import annotations

from typing import NamedTuple

from cffpy.frame.action import (
    CLASSES,
    DISPATCH_INSTRUCTIONS,
    DRAW_INSTRUCTIONS,
    HIZ_OPERATION,
    Groups,
    PacketFacts,
    StageProgram,
)
from cffpy.frame.attachment import Attachment
from cffpy.frame.execution import Executed
from cffpy.intel.analysis import surfaces
from cffpy.intel.analysis.programs import (
    binding_table,
    dispatch_programs,
    draw_programs,
    is_missing,
)
from cffpy.intel.analysis.state import command_structs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Role
    from cffpy.frame.places import PacketLocation
    from cffpy.intel.analysis.programs import BindingTable, Kernels, Program
    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.decoder.batches import BatchRunner


def attachments(
    targets: Iterable[Surface], depth: Surface | None, stencil: Surface | None
) -> tuple[Attachment, ...]:
    """The colour buffers that an action writes, then its depth and stencil buffers."""
    listed = [_attachment(f"color {number}", one) for number, one in enumerate(targets)]
    if depth is not None:
        listed.append(_attachment("depth", depth))
    if stencil is not None:
        listed.append(_attachment("stencil", stencil))
    return tuple(listed)


def _attachment(name: str, surface: Surface) -> Attachment:
    return Attachment(
        name,
        surface.address,
        surface.format,
        tiling=surface.tiling.lower() or None,
        pitch=surface.pitch,
        samples=surface.samples,
        surface=surface.measures,
    )


#: The condition of an action that a predicate decides about.
PREDICATE = "predicate"

_RECTANGLES = "RECTLIST"
_FIRST_STAGES = ("VS", "MESH")

_DRAW_REGISTERS = (0x2434, 0x2438, 0x2430, 0x243C, 0x2440)
_DISPATCH_REGISTERS = (0x2500, 0x2504, 0x2508)

_DEPTH_OPERATIONS = (
    ("Depth Buffer Clear Enable", "depth clear"),
    ("Stencil Buffer Clear Enable", "stencil clear"),
    ("Depth Buffer Resolve Enable", "depth resolve"),
    ("Hierarchical Depth Buffer Resolve Enable", "HiZ resolve"),
)

#: What a command of the 2D engine does, by a word of its name.
_BLITS: tuple[tuple[str, Role], ...] = (("COPY", "copy"), ("COLOR", "fill"))


class Counts(NamedTuple):
    """How much an action draws or computes; None where only the GPU knows it.

    A draw: ``first`` vertex or index, ``base`` added to indices. A dispatch: ``groups``.
    """

    vertices: int | None = None
    instances: int | None = None
    first: int | None = None
    first_instance: int | None = None
    base: int | None = None
    groups: tuple[int | None, int | None, int | None] | None = None


class Uses:
    """What an action uses, in the terms of Intel GPUs; its other facts are in the action.

    ``batch``: address of the batch that its instruction is in.
    """

    __slots__ = (
        "batch",
        "counts",
        "depth",
        "depth_command",
        "has_hiz",
        "missing_tables",
        "programs",
        "stencil",
        "tables",
    )

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.counts = Counts()
        self.programs: list[Program] = []
        self.tables: list[BindingTable] = []
        #: Stages whose tables are not in memory: what they use is unknown.
        self.missing_tables: list[str] = []
        self.depth: Surface | None = None
        self.stencil: Surface | None = None
        self.has_hiz = False
        #: The instruction that set the depth buffer.
        self.depth_command: Instruction | None = None

    @property
    def targets(self) -> list[Surface]:
        """The render targets that its kernel writes, null surfaces left out."""
        return [
            entry.surface
            for table in self.tables
            for entry in table.entries
            if entry.role and entry.surface is not None and not entry.surface.is_null
        ]

    @property
    def has_unknown_targets(self) -> bool:
        """Whether its render targets are in a binding table that was not captured."""
        return "PS" in self.missing_tables

    def table(self, stage: str) -> BindingTable | None:
        """The binding table of a stage, or None."""
        return next((table for table in self.tables if table.stage == stage), None)

    def take_depth(self, state: State) -> None:
        """Note the depth and stencil buffers."""
        self.depth = surfaces.depth_buffer(state)
        self.stencil = surfaces.stencil_buffer(state)
        self.has_hiz = self.depth is not None and surfaces.uses_hiz(state)
        self.depth_command = state.get("3DSTATE_DEPTH_BUFFER")

    def take_programs(
        self, programs: list[Program], state: State, runner: BatchRunner, kernels: Kernels
    ) -> None:
        """Note programs and their binding tables."""
        self.programs = programs
        for program in programs:
            table = binding_table(state, program, runner, kernels)
            if table is not None:
                self.tables.append(table)
            elif is_missing(state, program, runner):
                self.missing_tables.append(program.stage)


def is_action(command: Instruction) -> bool:
    """Whether an instruction makes the GPU draw, compute or copy."""
    name = command.name
    if name == HIZ_OPERATION:
        return bool(_depth_operations(command))
    return name in DRAW_INSTRUCTIONS or name in DISPATCH_INSTRUCTIONS or name.startswith("XY_")


def _depth_operations(command: Instruction) -> list[str]:
    """What 3DSTATE_WM_HZ_OP does to the depth and stencil buffers; empty where it ends one."""
    return [text for name, text in _DEPTH_OPERATIONS if command.number(name)]


def make_action(
    order: int,
    command: Instruction,
    place: PacketLocation,
    state: State,
    runner: BatchRunner,
    kernels: Kernels,
) -> tuple[Action, Uses]:
    """The action of an instruction, with what it uses of the state."""
    uses = Uses(command.batch)
    if command.name in DISPATCH_INSTRUCTIONS:
        facts, role = _dispatch(uses, command, state, runner, kernels)
    elif command.name in DRAW_INSTRUCTIONS:
        facts, role = _draw(uses, command, state, runner, kernels)
    elif command.name == HIZ_OPERATION:
        operations = _depth_operations(command)
        uses.take_depth(state)
        facts = PacketFacts("HiZ operation", command.name, ", ".join(operations))
        role = "clear" if any("clear" in operation for operation in operations) else "resolve"
    else:
        facts = PacketFacts("blit", command.name, None)
        role = next((role for word, role in _BLITS if word in command.name), "unknown")
    action = CLASSES[facts.kind](
        _packet_facts=facts,
        order=order,
        dump_draw=order,
        role=role,
        execution=Executed.YES,
        level=len(place.stream.path) - 1,
        programs=tuple(
            StageProgram(program.stage, address)
            for program in uses.programs
            for _, address in program.kernels
        ),
        targets=attachments(uses.targets, uses.depth, uses.stencil),
        place=place,
    )
    return action, uses


def _draw(
    uses: Uses, command: Instruction, state: State, runner: BatchRunner, kernels: Kernels
) -> tuple[PacketFacts, Role]:
    topology = _topology(command, state)
    is_indirect = bool(command.number("Indirect Parameter Enable"))
    counts = uses.counts = _draw_counts(command, state, is_indirect)
    uses.take_programs(draw_programs(state, runner), state, runner, kernels)
    uses.take_depth(state)
    facts = PacketFacts(
        "draw",
        command.name,
        topology or None,
        counts.vertices,
        counts.instances,
        first=counts.first,
        first_instance=counts.first_instance,
        base_vertex=counts.base,
        indexed=bool(command.number("Vertex Access Type")),
        indirect=is_indirect,
    )
    role: Role = ""
    if is_rectangle(topology, uses):
        role = _rectangle_role(uses, state)
    elif not uses.programs and _streams_out(state):
        role = "copy"  # drivers copy memory by points without any shader
    elif not uses.programs and not is_indirect and counts.vertices == 0:
        role = "workaround"  # of faults of the GPU
    return facts, role


def is_rectangle(topology: str | None, uses: Uses) -> bool:
    """Whether a draw is the driver's own: of rectangles, or of pixels without a vertex shader."""
    if topology == _RECTANGLES:
        return True
    stages = [program.stage for program in uses.programs]
    return "PS" in stages and not any(stage in stages for stage in _FIRST_STAGES)


def _streams_out(state: State) -> bool:
    command = state.get("3DSTATE_STREAMOUT")
    return command is not None and bool(command.number("SO Function Enable"))


def _topology(command: Instruction, state: State) -> str:
    source = state.get("3DSTATE_VF_TOPOLOGY") or command
    return source.text("Primitive Topology Type")


def _draw_counts(command: Instruction, state: State, is_indirect: bool) -> Counts:
    names = (
        "Vertex Count Per Instance",
        "Instance Count",
        "Start Vertex Location",
        "Start Instance Location",
        "Base Vertex Location",
    )
    if is_indirect:
        values = [state.registers.get(name, (None, None))[0] for name in _DRAW_REGISTERS]
    else:
        values = command.values(*names)
        if values[3] is None and values[0] is not None:
            values[3] = 0  # gen4 has no such field
    base = values[4]
    if base is not None and base >> 31 & 1:
        values[4] = base - (1 << 32)
    return Counts(values[0], values[1], values[2], values[3], values[4])


def _rectangle_role(uses: Uses, state: State) -> Role:
    """What a rectangle does: drivers clear, copy and resolve by them, programs cannot draw them."""
    shader = state.get("3DSTATE_PS") or state.get("3DSTATE_WM")
    if shader is not None:
        if shader.number("Render Target Fast Clear Enable"):
            return "fast clear"
        if shader.number("Render Target Resolve Type") or shader.number(
            "Render Target Resolve Enable"
        ):
            return "resolve"
    table = uses.table("PS")
    if table is None:
        return "clear"
    reads = any(not entry.role and entry.surface is not None for entry in table.entries)
    return "copy" if reads else "clear"


def _dispatch(
    uses: Uses, command: Instruction, state: State, runner: BatchRunner, kernels: Kernels
) -> tuple[PacketFacts, Role]:
    is_indirect = bool(command.number("Indirect Parameter Enable"))
    source = next(iter(command_structs(state.database, command, "COMPUTE_WALKER_BODY")), command)
    if is_indirect:
        x, y, z = (state.registers.get(name, (None, None))[0] for name in _DISPATCH_REGISTERS)
    else:
        x, y, z = source.values(*(f"Thread Group ID {axis} Dimension" for axis in "XYZ"))
    uses.counts = Counts(groups=(x, y, z))
    uses.take_programs(dispatch_programs(state, command, runner), state, runner, kernels)
    groups = None if x is None or y is None or z is None else Groups(x, y, z)
    return PacketFacts("dispatch", command.name, None, indirect=is_indirect, groups=groups), ""


def is_program(action: Action) -> bool:
    """Whether the program asked for it: a draw or a dispatch, not work of the driver."""
    return not action.role
