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

#: "sure": all that was captured agrees with the rule, and nothing else is known to write it so.
#: "likely": the rule fits, and so may others.
Certainty = Literal["sure", "likely"]

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

    def __str__(self) -> str:
        """``group 22 (DYNAMIC + 3: depth bias)``."""
        return f"group {self.number}" if self.name is None else f"group {self.number} ({self.name})"
