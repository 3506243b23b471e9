# SPDX-License-Identifier: MIT
"""What the driver meant, as far as its streams tell: the names of its draw-state groups.

A stream does not name its driver. What is said here is inferred by rules, which each object
names together with how sure they are.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described

#: The drivers whose sources are known: turnip (Vulkan) and freedreno (Gallium) of Mesa.
DriverName = Literal["turnip", "freedreno"]

#: The interfaces that these drivers implement.
ApiName = Literal["Vulkan", "OpenGL"]

#: "sure": all that was captured agrees with the rule, and nothing else is known to write it so.
#: "likely": the rule fits, and so may others.
Certainty = Literal["sure", "likely"]

#: What a driver has a command stream for. "draws": the program's, with the clears and loads of
#: their pass; "prologue": what is done before them; "static state": registers that no draw changes;
#: "state": other registers.
StreamRole = Literal[
    "command buffer",
    "secondary command buffer",
    "draws",
    "draw epilogue",
    "binning",
    "prologue",
    "tile load",
    "tile clear",
    "tile store",
    "tile epilogue",
    "copies",
    "compute",
    "static state",
    "state",
    "preamble",
    "bin preamble",
    "postamble",
    "fence",
]

#: How a draw-state group gets its name.
GroupRule = Literal["number and contents", "number"]


@described(
    "state_group",
    number="GROUP_ID of CP_SET_DRAW_STATE",
    name="the driver's name of it, as in VB or DYNAMIC + 3: depth bias; None where the driver is "
    "not known, or its group of this number has other contents",
    driver="the driver whose numbers the groups of the capture have; None where none fits",
    releases="the releases of Mesa that number groups so; None where that is not known",
    rule="what the name follows from: the number and the contents, or the number alone, where the "
    "contents were not captured or do not tell; None without a name",
    certainty="how sure the name is; None without a name",
    gpuaddr="GPU address of its commands",
    dwords="the length of its commands in dwords",
    commands="the commands of the program that may have set it; of dynamic state, where a register "
    "alone is asked for, vkCmdBindPipeline, too; none where that is not known",
)
class StateGroup(NamedTuple):
    """A draw-state group: commands that CP_SET_DRAW_STATE has run before draws."""

    number: int
    name: str | None
    driver: DriverName | None
    releases: str | None
    rule: GroupRule | None
    certainty: Certainty | None
    gpuaddr: Address
    dwords: int
    commands: tuple[str, ...]

    def __str__(self) -> str:
        """``group 22 (DYNAMIC + 3: depth bias)``."""
        return f"group {self.number}" if self.name is None else f"group {self.number} ({self.name})"


@described(
    "driver",
    name="turnip (Vulkan) or freedreno (Gallium, OpenGL); None where it is not known",
    releases="the releases of Mesa that write such streams; None where that is not known",
    rule="what it follows from; None where it is not known",
    certainty="how sure it is; None where it is not known",
)
class Driver(NamedTuple):
    """The driver that wrote a capture."""

    name: DriverName | None
    releases: str | None
    rule: str | None
    certainty: Certainty | None

    def __str__(self) -> str:
        """``turnip of Mesa 25.0 to 26.0-devel``."""
        if self.name is None:
            return "unknown"
        return self.name if self.releases is None else f"{self.name} of Mesa {self.releases}"


@described(
    "called_stream",
    number="number of the submit's command stream that it is, or is called by",
    submit="number of the submit",
    gpuaddr="GPU address of its first dword",
    dwords="its length in dwords",
    level="0: the submit has it; 1: a stream of the submit calls it, or names it for later",
    role="what the driver has it for; None where that is not known",
    name="the driver's own name for this, as in draw_cs; None where the driver is not known",
    rule="what the role follows from",
    certainty="how sure the role is",
    calls="how often it is called; of a stream of the submit, 1",
    passes="the passes in which it is called, by number",
)
class CalledStream(NamedTuple):
    """A command stream of a submit, or an IB that such a stream calls, and what it is for."""

    number: int
    submit: int
    gpuaddr: Address
    dwords: int
    level: int
    role: StreamRole | None
    name: str | None
    rule: str | None
    certainty: Certainty | None
    calls: int
    passes: tuple[int, ...]

    def __str__(self) -> str:
        """``tile store (tile_store_cs) 0x1008de000, 26 dwords``."""
        name = "" if self.name is None else f" ({self.name})"
        return f"{self.role or 'unknown'}{name} {self.gpuaddr:#x}, {self.dwords} dwords"


@described(
    "probable_call",
    api="the interface that the program calls",
    commands="the commands that make such packets: one, or several that the packets do not tell "
    "apart; none where the driver does it on its own",
    function="the driver's function that writes the packets; None where it is not known",
    rule="what it follows from",
    certainty="how sure it is: likely where several commands are named, or the order tells",
)
class ProbableCall(NamedTuple):
    """The call of the program that made an action, as far as the stream tells."""

    api: ApiName
    commands: tuple[str, ...]
    function: str | None
    rule: str
    certainty: Certainty

    def __str__(self) -> str:
        """``vkCmdDrawIndexed``; ``glBlitFramebuffer or glGenerateMipmap``."""
        return " or ".join(self.commands) or (self.function or "unknown")
