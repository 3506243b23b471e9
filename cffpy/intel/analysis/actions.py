# SPDX-License-Identifier: MIT
"""Actions: draws, dispatches, blits, and operations on depth buffers, with what they use."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.intel.analysis import surfaces
from cffpy.intel.analysis.programs import COMPUTE, dispatch_programs, draw_programs
from cffpy.intel.analysis.state import command_structs
from cffpy.intel.analysis.tables import binding_table, is_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.analysis.generated import GeneratedDraw
    from cffpy.intel.analysis.programs import Kernels, Program
    from cffpy.intel.analysis.state import Executed, State
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.analysis.tables import BindingTable
    from cffpy.intel.decoder.batches import BatchRunner

DRAWS = frozenset(
    ("3DPRIMITIVE", "3DPRIMITIVE_EXTENDED", "3DMESH_1D", "3DMESH_3D", "EXECUTE_INDIRECT_DRAW")
)
DISPATCHES = frozenset(
    ("GPGPU_WALKER", "COMPUTE_WALKER", "EXECUTE_INDIRECT_DISPATCH", "MEDIA_OBJECT_WALKER")
)
DEPTH_OPERATION = "3DSTATE_WM_HZ_OP"

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


class Action:
    """An action and its location.

    ``number``: among all actions of the capture. ``role``: "draw", "dispatch", or what the driver
    does by itself: "clear", "fast clear", "resolve", "copy", "empty draw", "generation", ...
    ``pass_index`` is None outside passes. ``generated``: for a draw that a shader wrote.
    """

    def __init__(self, number: int, command: Executed, role: str) -> None:
        self.number = number
        self.name = command.name
        self.address = command.address
        self.batch = command.batch
        self.submit = command.submit
        self.role = role
        self.counts = Counts()
        self.topology = ""
        self.is_indexed = False
        self.is_indirect = False
        self.is_predicated = False
        #: Whether a predicated action is executed; None where only the GPU knows it.
        self.predicate: bool | None = None
        self.programs: list[Program] = []
        self.tables: list[BindingTable] = []
        #: Stages whose tables are not in memory: what they use is unknown.
        self.missing_tables: list[str] = []
        self.depth: Surface | None = None
        self.stencil: Surface | None = None
        self.has_hiz = False
        #: The instruction that set the depth buffer.
        self.depth_command: Executed | None = None
        self.pass_index: int | None = None
        self.generated: GeneratedDraw | None = None

    @property
    def is_program(self) -> bool:
        """Whether the program asked for it: a draw or a dispatch, not work of the driver."""
        return self.role in ("draw", "dispatch")

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


def is_action(command: Executed) -> bool:
    """Whether an instruction makes the GPU draw, compute or copy."""
    name = command.name
    if name == DEPTH_OPERATION:
        return bool(depth_operations(command))
    return name in DRAWS or name in DISPATCHES or name.startswith("XY_")


def depth_operations(command: Executed) -> list[str]:
    """What 3DSTATE_WM_HZ_OP does to the depth and stencil buffers; empty where it ends one."""
    return [text for name, text in _DEPTH_OPERATIONS if command.number(name)]


def make_action(
    number: int, command: Executed, state: State, runner: BatchRunner, kernels: Kernels
) -> Action:
    """The action of an instruction, with what it uses of the state."""
    if command.name in DISPATCHES:
        return _dispatch(number, command, state, runner, kernels)
    if command.name in DRAWS:
        return _draw(number, command, state, runner, kernels)
    if command.name == DEPTH_OPERATION:
        action = Action(number, command, ", ".join(depth_operations(command)))
        _take_depth(action, state)
        return action
    return Action(number, command, "blit")


def _take_depth(action: Action, state: State) -> None:
    action.depth = surfaces.depth_buffer(state)
    action.stencil = surfaces.stencil_buffer(state)
    action.has_hiz = action.depth is not None and surfaces.uses_hiz(state)
    action.depth_command = state.get("3DSTATE_DEPTH_BUFFER")


def _draw(
    number: int, command: Executed, state: State, runner: BatchRunner, kernels: Kernels
) -> Action:
    action = Action(number, command, "draw")
    action.topology = _topology(command, state)
    action.is_indexed = bool(command.number("Vertex Access Type"))
    action.is_predicated = bool(command.number("Predicate Enable"))
    action.is_indirect = bool(command.number("Indirect Parameter Enable"))
    action.counts = _draw_counts(command, state, action.is_indirect)
    action.programs = draw_programs(state, runner)
    _add_tables(action, state, runner, kernels)
    _take_depth(action, state)
    if is_rectangle(action):
        action.role = _rectangle_role(action, state)
    elif not action.programs and _streams_out(state):
        action.role = "copy"  # drivers copy memory by points without any shader
    elif not action.programs and not action.is_indirect and action.counts.vertices == 0:
        action.role = "empty draw"  # drivers work around faults of the GPU by it
    return action


def is_rectangle(action: Action) -> bool:
    """Whether a draw is the driver's own: of rectangles, or of pixels without a vertex shader."""
    if action.topology == _RECTANGLES:
        return True
    stages = [program.stage for program in action.programs]
    return "PS" in stages and not any(stage in stages for stage in _FIRST_STAGES)


def _streams_out(state: State) -> bool:
    command = state.get("3DSTATE_STREAMOUT")
    return command is not None and bool(command.number("SO Function Enable"))


def _topology(command: Executed, state: State) -> str:
    source = state.get("3DSTATE_VF_TOPOLOGY") or command
    return source.text("Primitive Topology Type")


def _draw_counts(command: Executed, state: State, is_indirect: bool) -> Counts:
    names = (
        "Vertex Count Per Instance",
        "Instance Count",
        "Start Vertex Location",
        "Start Instance Location",
        "Base Vertex Location",
    )
    if is_indirect:
        values = [state.registers.get(one, (None, None))[0] for one in _DRAW_REGISTERS]
    else:
        values = command.values(*names)
        if values[3] is None and values[0] is not None:
            values[3] = 0  # gen4 has no such field
    base = values[4]
    if base is not None and base >> 31 & 1:
        values[4] = base - (1 << 32)
    return Counts(values[0], values[1], values[2], values[3], values[4])


def _rectangle_role(action: Action, state: State) -> str:
    """What a rectangle does: drivers clear, copy and resolve by them, programs cannot draw them."""
    shader = state.get("3DSTATE_PS") or state.get("3DSTATE_WM")
    if shader is not None:
        if shader.number("Render Target Fast Clear Enable"):
            return "fast clear"
        if shader.number("Render Target Resolve Type") or shader.number(
            "Render Target Resolve Enable"
        ):
            return "resolve"
    table = action.table("PS")
    if table is None:
        return "clear"
    reads = any(not entry.role and entry.surface is not None for entry in table.entries)
    return "copy" if reads else "clear"


def _dispatch(
    number: int, command: Executed, state: State, runner: BatchRunner, kernels: Kernels
) -> Action:
    action = Action(number, command, "dispatch")
    action.is_predicated = bool(command.number("Predicate Enable"))
    action.is_indirect = bool(command.number("Indirect Parameter Enable"))
    source = next(iter(command_structs(state.database, command, "COMPUTE_WALKER_BODY")), command)
    if action.is_indirect:
        groups = [state.registers.get(one, (None, None))[0] for one in _DISPATCH_REGISTERS]
    else:
        groups = source.values(*(f"Thread Group ID {axis} Dimension" for axis in "XYZ"))
    action.counts = Counts(groups=(groups[0], groups[1], groups[2]))
    action.programs = dispatch_programs(state, command, runner)
    _add_tables(action, state, runner, kernels)
    return action


def _add_tables(action: Action, state: State, runner: BatchRunner, kernels: Kernels) -> None:
    for program in action.programs:
        table = binding_table(state, program, runner, kernels)
        if table is not None:
            action.tables.append(table)
        elif is_missing(state, program, runner):
            action.missing_tables.append(program.stage)


def stage_names(action: Action) -> str:
    """The stages of an action, as "VS PS"."""
    return " ".join(program.stage for program in action.programs if program.stage != COMPUTE) or (
        COMPUTE if action.programs else ""
    )
