# SPDX-License-Identifier: MIT
"""What actions use: state, kernels, samplers, buffers. Read while their memory is available."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.frame.facts import Address, described, fact
from cffpy.frame.objects import ModelObject
from cffpy.intel.analysis.anv import (
    DescriptorSet,
    PushConstants,
    descriptor_sets,
    push_constants,
)
from cffpy.intel.analysis.programs import COMPUTE, BindingTable, stage_samplers
from cffpy.intel.analysis.state import command_structs
from cffpy.intel.analysis.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.programs import KernelFacts
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.survey import SurveyWalk


#: Descriptors of sets that actions have together.
_MAX_DESCRIPTORS = 1 << 18


@described(
    "kernel",
    stage="the stage",
    width="SIMD8, ...; empty where it is not chosen",
    address="GPU address of its first instruction",
)
class Kernel(NamedTuple):
    """A kernel of a stage; ``facts`` is None if it is not in memory."""

    stage: str
    width: str
    address: Address
    facts: KernelFacts | None

    @fact("bytes")
    def size(self) -> int | None:
        """Size of its instructions; None where it is not in memory."""
        return None if self.facts is None else self.facts.size


class VertexBuffer(NamedTuple):
    """A vertex buffer: address, bytes, pitch in bytes."""

    number: int
    address: int
    size: int
    pitch: int


class ConstantBuffer(NamedTuple):
    """Constants that are pushed to a stage: slot, address, and what memory holds there."""

    stage: str
    slot: int
    address: int
    size: int
    data: bytes


@described("uses")
class DrawState(ModelObject):
    """What an action uses: what it has bound is in its bindings, what is set in its state."""

    def __init__(self, walk: SurveyWalk, action: Action, command: Instruction) -> None:
        self.action = action
        self.uses = uses = walk.uses[action.order]
        self._has_bases = walk.state.has_bases
        self._kernels = _kernels(walk, uses)
        self.samplers = stage_samplers(walk.state, uses.programs, walk, walk.kernels)
        self.vertex_buffers = _vertex_buffers(walk)
        self.constants = _constants(walk, uses)
        self.pushed = pushed_constants(walk, uses, command)
        self.sets = descriptor_sets(walk.state, uses, walk, self.pushed)

    @fact()
    def has_bases(self) -> bool:
        """Whether commands set the bases of kernels, tables and states; if not, addresses of these
        are offsets.
        """
        return self._has_bases

    @fact()
    def kernels(self) -> list[Kernel]:
        """The kernels of its stages."""
        return self._kernels

    @fact()
    def binding_tables(self) -> list[BindingTable]:
        """The binding tables of its stages."""
        return self.uses.tables

    @fact()
    def missing_tables(self) -> list[str]:
        """Stages whose binding tables are not in memory."""
        return self.uses.missing_tables

    @fact()
    def descriptor_sets(self) -> list[DescriptorSet]:
        """The descriptor sets that it refers to."""
        return self.sets

    @fact()
    def push_constants(self) -> list[PushConstants]:
        """The blocks of push constants of its stages, as ANV lays them out."""
        return self.pushed


def states_of_actions(
    content: Content, orders: Set[int], directory: str | None = None
) -> dict[int, DrawState]:
    """What the actions with these numbers use; the capture after the last of them is not run.

    Those after too many descriptors are left out.
    """
    taken: dict[int, DrawState] = {}
    left = _MAX_DESCRIPTORS

    def at_action(walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        nonlocal left
        if action.order in orders:
            state = taken[action.order] = DrawState(walk, action, command)
            left -= sum(
                len(descriptor_set.descriptors) + len(descriptor_set.samplers)
                for descriptor_set in state.sets
            )
        return left <= 0 or len(taken) == len(orders)

    survey(content, directory, at_action)
    return taken


def _kernels(walk: SurveyWalk, uses: Uses) -> list[Kernel]:
    return [
        Kernel(program.stage, width, address, walk.kernels.facts(address))
        for program in uses.programs
        for width, address in program.kernels
    ]


def _vertex_buffers(walk: SurveyWalk) -> list[VertexBuffer]:
    buffers = []
    for number, (state, _) in sorted(walk.state.vertex_buffers.items()):
        start, end, size, pitch = (
            value or 0
            for value in state.values(
                "Buffer Starting Address", "End Address", "Buffer Size", "Buffer Pitch"
            )
        )
        start &= (1 << 48) - 1
        size = size or max(end + 1 - start, 0)
        if start and not state.number("Null Vertex Buffer"):
            buffers.append(VertexBuffer(number, start, size, pitch))
    return buffers


def _constants(walk: SurveyWalk, uses: Uses) -> list[ConstantBuffer]:
    return [
        ConstantBuffer(program.stage, slot, address, size, walk.span(address, size))
        for program in uses.programs
        for slot, address, size in walk.state.constants.get(program.stage, ())
    ]


def pushed_constants(walk: SurveyWalk, uses: Uses, command: Instruction) -> list[PushConstants]:
    """The push constants of each stage; a dispatch before 12.5 loads them by MEDIA_CURBE_LOAD."""
    blocks = []
    for program in uses.programs:
        pieces = [
            (address, size) for _, address, size in walk.state.constants.get(program.stage, ())
        ]
        if program.stage == COMPUTE:
            pieces = _compute_constants(walk, command)
        block = push_constants(walk.state, walk, program.stage, pieces)
        if block is not None:
            blocks.append(block)
    return blocks


def _compute_constants(walk: SurveyWalk, walker: Instruction) -> list[tuple[int, int]]:
    """Address and bytes of a dispatch's constants."""
    for body in command_structs(walk.database, walker, "COMPUTE_WALKER_BODY"):
        start, length = body.values("Indirect Data Start Address", "Indirect Data Length")
        return [(walk.state.general_base + (start or 0), length or 0)]
    load = walk.state.get("MEDIA_CURBE_LOAD")
    if load is None:
        return []
    offset = load.number("CURBE Data Start Address")
    return [(walk.state.dynamic_base + offset, load.number("CURBE Total Data Length"))]
