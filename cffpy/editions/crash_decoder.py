# SPDX-License-Identifier: MIT
"""What crashdec of a release does: a part of the edition's record (``cffpy.editions.record``)."""

from __future__ import annotations

from cffpy.value_object import ValueObject


class CrashDecoder(ValueObject):
    """crashdec of a release.

    ``look_back``: dwords before the read pointer from which the ring's commands are shown.
    ``reads_ring_registers``: the read pointer is the register CP_RB_RPTR, less, on a6xx, what
    waits in the ROQ (CP_ROQ_AVAIL_RB); else it is the line ``rptr`` of the ring.
    ``marks_places``: where the CP stood is compared by buffer and place, and may be in the ring;
    else it is compared by GPU address, from IB1 on. ``skips_finished_ib1``: where nothing is left
    of IB1, no IB before it is looked for. ``knows_new_names``: entries of indexed registers are
    known by all names that kernels give them, the microcode of BV among them. ``knows_locations``:
    clusters may have lines ``location``. ``has_new_control_registers``: a7xx has 0x100
    scratch registers, and those of gen 3 (a750) are laid out in another way; else all
    generations have 0x80 at 0x100.
    """

    __slots__ = (
        "has_new_control_registers",
        "knows_locations",
        "knows_new_names",
        "look_back",
        "marks_places",
        "reads_ring_registers",
        "skips_finished_ib1",
    )

    def __init__(
        self,
        look_back: int,
        reads_ring_registers: bool = False,
        marks_places: bool = False,
        skips_finished_ib1: bool = False,
        knows_new_names: bool = False,
        knows_locations: bool = False,
        has_new_control_registers: bool = False,
    ) -> None:
        self.look_back = look_back
        self.reads_ring_registers = reads_ring_registers
        self.marks_places = marks_places
        self.skips_finished_ib1 = skips_finished_ib1
        self.knows_new_names = knows_new_names
        self.knows_locations = knows_locations
        self.has_new_control_registers = has_new_control_registers
