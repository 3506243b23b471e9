# SPDX-License-Identifier: MIT
"""Barriers: packets that clean caches, invalidate caches and wait, and the hazards that they guard.

Stages and accesses are Vulkan's, without VK_PIPELINE_STAGE_2_, VK_ACCESS_2_ and _BIT. A clean
writes what a cache holds to memory; an invalidate has the next read fetch memory again.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.frame.places import PacketLocation

#: Caches. "color", "depth": those of the render backend (CCU from a5xx on). "resolve": what BLIT
#: events of a7xx and later store through. "texture": the unified L2 cache, through which programs,
#: vertex fetches and blits read, and programs write. "lrz": of low-resolution depth.
Cache = Literal["color", "depth", "resolve", "texture", "lrz"]

#: What a wait is for. "idle": all work before is done. "front end": the part of the command
#: processor that fetches commands has caught up. "CP writes": memory that packets write. "value": a
#: value in memory or in a register.
Wait = Literal["idle", "front end", "CP writes", "value"]

HazardKind = Literal["read after write", "write after read", "write after write"]

#: What a barrier is for. "hazards": they are in its list. "cache mode": the colour cache gets
#: another place in GMEM. "outside": nothing of the submit is before it, or after it: it is for
#: other submits or for the CPU. "nothing": no access before it meets one behind it. "unknown":
#: something of the submit reads or writes memory that cannot be seen.
Guards = Literal["hazards", "cache mode", "outside", "nothing", "unknown"]

#: What a barrier contributes to a hazard.
Part = Literal["clean", "invalidate", "wait"]


@described(
    "memory_access",
    is_value=False,
    what="what is read or written: color 0, texture 3 of FS, source of a copy",
    stage="stage of Vulkan",
    access="access of Vulkan",
    action="the name of the draw, dispatch or copy, as commands take it; None for what has none",
    place="where its packet is",
)
class MemoryAccess(NamedTuple):
    """A read or write of memory by an action."""

    what: str
    stage: str
    access: str
    action: str | None
    place: PacketLocation

    def __str__(self) -> str:
        return f"{self.what} of {self.action or self.place} ({self.access})"


@model("hazard")
class Hazard(ModelObject):
    """Two accesses of one range of memory, of which one writes, on both sides of a barrier."""

    kind: HazardKind = stored("which of both accesses writes")
    address: Address = stored("GPU address of the first byte that both have")
    size: int | None = stored("how much both have; None where it is not known", "bytes")
    first: MemoryAccess = stored("the access before the barrier")
    second: MemoryAccess = stored("the access behind it")
    parts: tuple[Part, ...] = stored("what the barrier contributes: cleans, invalidates, waits")
    sure: bool = stored("both accesses are sure to happen; else they may happen", default=True)


class Function(NamedTuple):
    """What a packet or event does."""

    cleans: tuple[Cache, ...] = ()
    invalidates: tuple[Cache, ...] = ()
    waits: Wait | None = None


#: Accesses that a clean makes available, and that an invalidate makes visible.
_AVAILABLE: dict[Cache, tuple[str, ...]] = {
    "color": ("COLOR_ATTACHMENT_WRITE", "TRANSFER_WRITE"),
    "depth": ("DEPTH_STENCIL_ATTACHMENT_WRITE",),
    "resolve": ("COLOR_ATTACHMENT_WRITE", "DEPTH_STENCIL_ATTACHMENT_WRITE", "TRANSFER_WRITE"),
    "texture": ("SHADER_STORAGE_WRITE", "TRANSFORM_FEEDBACK_WRITE"),
    "lrz": (),
}
_VISIBLE: dict[Cache, tuple[str, ...]] = {
    "color": ("COLOR_ATTACHMENT_READ", "COLOR_ATTACHMENT_WRITE", "TRANSFER_WRITE"),
    "depth": ("DEPTH_STENCIL_ATTACHMENT_READ", "DEPTH_STENCIL_ATTACHMENT_WRITE"),
    "resolve": (),
    "texture": (
        "SHADER_SAMPLED_READ",
        "SHADER_STORAGE_READ",
        "UNIFORM_READ",
        "VERTEX_ATTRIBUTE_READ",
        "INDEX_READ",
        "INPUT_ATTACHMENT_READ",
        "TRANSFER_READ",
    ),
    "lrz": (),
}
_VISIBLE_BY_WAIT: dict[Wait, tuple[str, ...]] = {
    "front end": ("INDIRECT_COMMAND_READ", "CONDITIONAL_RENDERING_READ"),
}
_SHADERS = ("VERTEX_SHADER", "FRAGMENT_SHADER", "COMPUTE_SHADER")
#: Access -> the stages that have it.
_STAGES: dict[str, tuple[str, ...]] = {
    "COLOR_ATTACHMENT_READ": ("COLOR_ATTACHMENT_OUTPUT",),
    "COLOR_ATTACHMENT_WRITE": ("COLOR_ATTACHMENT_OUTPUT",),
    "DEPTH_STENCIL_ATTACHMENT_READ": ("EARLY_FRAGMENT_TESTS", "LATE_FRAGMENT_TESTS"),
    "DEPTH_STENCIL_ATTACHMENT_WRITE": ("EARLY_FRAGMENT_TESTS", "LATE_FRAGMENT_TESTS"),
    "TRANSFER_READ": ("TRANSFER",),
    "TRANSFER_WRITE": ("TRANSFER",),
    "SHADER_SAMPLED_READ": _SHADERS,
    "SHADER_STORAGE_READ": _SHADERS,
    "SHADER_STORAGE_WRITE": _SHADERS,
    "UNIFORM_READ": _SHADERS,
    "INPUT_ATTACHMENT_READ": ("FRAGMENT_SHADER",),
    "VERTEX_ATTRIBUTE_READ": ("VERTEX_ATTRIBUTE_INPUT",),
    "INDEX_READ": ("INDEX_INPUT",),
    "TRANSFORM_FEEDBACK_WRITE": ("TRANSFORM_FEEDBACK",),
    "INDIRECT_COMMAND_READ": ("DRAW_INDIRECT",),
    "CONDITIONAL_RENDERING_READ": ("CONDITIONAL_RENDERING",),
}


def stages_of(accesses: tuple[str, ...]) -> tuple[str, ...]:
    """The stages that have these accesses, each once, in order."""
    return tuple(dict.fromkeys(stage for access in accesses for stage in _STAGES[access]))


@model("barrier")
class Barrier(ModelObject):
    """Packets in a row that clean caches, invalidate caches or wait.

    Executed in each tile, it is one barrier with several ``times``.
    """

    number: int = stored("number of the barrier in the capture", is_key=True)
    submit: int = stored("number of its submit")
    pass_: int | None = stored(
        "number of the pass that is open around it; None between passes", name="pass"
    )
    place: PacketLocation = stored("where its first packet is")
    packets: tuple[str, ...] = stored("names of the packets and events, in order")
    _functions: tuple[Function, ...]
    times: int = stored("how often it is executed, or may be", default=1)
    conditional: bool = stored("only the GPU knows whether it is executed", default=False)
    guards: Guards = stored(
        "what it is for: hazards that are in its list, another place of the colour cache in GMEM, "
        "what is outside of the submit, nothing, or unknown, where memory that is read or written "
        "cannot be seen",
        default="unknown",
    )
    hazards: list[Hazard] = stored(
        "the hazards that it guards, each pair of accesses once", default_factory=list
    )
    unknown: str | None = stored("where it is unknown: what cannot be seen, in words", default=None)

    @fact()
    def cleans(self) -> tuple[Cache, ...]:
        """Caches that it writes to memory."""
        return tuple(dict.fromkeys(cache for one in self._functions for cache in one.cleans))

    @fact()
    def invalidates(self) -> tuple[Cache, ...]:
        """Caches whose contents it discards."""
        return tuple(dict.fromkeys(cache for one in self._functions for cache in one.invalidates))

    @fact()
    def waits(self) -> tuple[Wait, ...]:
        """What it waits for."""
        return tuple(dict.fromkeys(one.waits for one in self._functions if one.waits is not None))

    @fact()
    def source_accesses(self) -> tuple[str, ...]:
        """The accesses of Vulkan that its cleans make available: those of its hazards, else all
        that they can.
        """
        if self.hazards:
            return tuple(dict.fromkeys(hazard.first.access for hazard in self.hazards))
        found = (access for cache in self.cleans for access in _AVAILABLE[cache])
        return tuple(dict.fromkeys(found))

    @fact()
    def destination_accesses(self) -> tuple[str, ...]:
        """The accesses of Vulkan to which it makes memory visible: those of its hazards, else all
        that it can.
        """
        if self.hazards:
            return tuple(dict.fromkeys(hazard.second.access for hazard in self.hazards))
        found = [access for cache in self.invalidates for access in _VISIBLE[cache]]
        found += [access for wait in self.waits for access in _VISIBLE_BY_WAIT.get(wait, ())]
        return tuple(dict.fromkeys(found))

    @fact()
    def source_stages(self) -> tuple[str, ...]:
        """The stages of Vulkan that are before it: of its hazards, else of ``source_accesses``."""
        if self.hazards:
            return tuple(dict.fromkeys(hazard.first.stage for hazard in self.hazards))
        return stages_of(self.source_accesses)

    @fact()
    def destination_stages(self) -> tuple[str, ...]:
        """The stages of Vulkan that are behind it: of its hazards, else of
        ``destination_accesses``.
        """
        if self.hazards:
            return tuple(dict.fromkeys(hazard.second.stage for hazard in self.hazards))
        return stages_of(self.destination_accesses)

    def __repr__(self) -> str:
        return f"<Barrier {self.number}: {', '.join(self.packets)}; guards {self.guards}>"
