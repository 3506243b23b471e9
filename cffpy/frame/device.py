# SPDX-License-Identifier: MIT
"""Parts as Mesa's drivers know them: their ids and properties, of several side by side."""

from __future__ import annotations

from typing import Literal

from cffpy.frame.facts import Address, fact, model, stored

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
