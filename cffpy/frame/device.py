# SPDX-License-Identifier: MIT
"""Parts: as Mesa's drivers know them, side by side; as the commands of a capture show one."""

from __future__ import annotations

from typing import Literal

from cffpy.frame.facts import Address, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.frame.places import PacketLocation

#: "magic": the value of a register that is not documented.
PropertyKind = Literal[
    "tiling", "caches", "memory", "shaders", "limits", "feature", "quirk", "magic"
]


@model("device_id", frozen=True)
class DeviceId:
    """An id by which drivers know a part."""

    name: str = stored("the name that drivers give it")
    gpu_id: int | None = stored("its GPU id, as 618")
    chip_id: Address | None = stored("its chip id; None where a GPU id names it")
    any_speed_bin: bool = stored("the chip id is of any speed bin")


@model("device", frozen=True, is_value=False)
class KnownDevice:
    """A part that drivers know."""

    name: str = stored("its name, as 618")
    generation: int = stored("its generation: 7 for a7xx")
    sub_generation: int | None = stored("its division within the generation; None without any")
    edition: str = stored("the edition whose table has it")
    ids: list[DeviceId] = stored("the ids by which drivers know it")


@model("device_property", frozen=True)
class DeviceProperty:
    """A property of parts, as Mesa's table of devices names it."""

    kind: PropertyKind = stored("what the property is about; magic: an undocumented register")
    name: str = stored("its name; of a magic register, the register's")
    values: list[int | str | None] = stored(
        "its value for each of the parts, in their order: a number, yes, no, a fraction,"
        " a magic register in hexadecimal; None where the table does not say it"
    )

    @fact()
    def is_same(self) -> bool:
        """Whether the parts have the same value."""
        return all(value == self.values[0] for value in self.values)


#: "register": a register has the value. "formula": it follows from several registers. "trial": of
#: all sizes and alignments that parts of the generation have, only this gives the tiles of the
#: passes. "parts": all known parts that nothing contradicts have it.
FactRule = Literal["register", "formula", "trial", "parts"]

Certainty = Literal["certain", "likely"]


@model("device_fact", is_value=False)
class DeviceFact(ModelObject):
    """A property of a capture's GPU, as its commands show it."""

    kind: PropertyKind = stored("what the property is about; magic: an undocumented register")
    name: str = stored("its name, as in the table of devices")
    value: int | str | None = stored(
        "its value by the commands; of a magic register in hexadecimal; None where they do not tell"
    )
    rule: FactRule | None = stored("how the value was found")
    expected: int | str | None = stored(
        "what the table of devices has for the part; None for an unknown part"
    )
    fits: bool | None = stored(
        "the commands have what the table has; None where either does not say it"
    )
    packets: list[PacketLocation] = stored(
        "the packets that show it; of a trial the first packets of the passes"
    )

    @fact()
    def certainty(self) -> Certainty | None:
        """How sure the value is: certain where a register has it."""
        if self.rule is None:
            return None
        return "certain" if self.rule == "register" else "likely"


@model("device_report", is_value=False)
class DeviceReport(ModelObject):
    """What the commands of a capture show of its GPU."""

    device: str | None = stored("the part that the capture's id names; None for an unknown one")
    edition: str | None = stored("the edition whose table the facts are compared with")
    fitting: list[str] = stored("the known parts that no fact contradicts")
    facts: list[DeviceFact] = stored("what the commands show")

    @fact()
    def misfits(self) -> list[str]:
        """Names of the facts that do not fit the part."""
        return [each.name for each in self.facts if each.fits is False]
