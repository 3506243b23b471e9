# SPDX-License-Identifier: MIT
"""How draws use slots."""

from __future__ import annotations

from typing import Any

from cffpy.analysis.inputs.uses import NO_SLOT_REGISTERS, TEXTURE, DrawUses
from cffpy.isa import operands
from cffpy.isa.operands import Descriptor


def test_slots_are_in_order_however_instructions_name_them() -> None:
    """Instructions are in sets: the order of these differs from run to run."""
    named: Any = [
        Descriptor(operands.TEXTURE, True, 3, 7),
        Descriptor(operands.TEXTURE, False, None, 2),
        Descriptor(operands.TEXTURE, True, 3, 1),
        Descriptor(operands.TEXTURE, True, 0, 5),
        Descriptor(operands.TEXTURE, False, None, 0),
    ]
    uses = DrawUses((("FS", named),), NO_SLOT_REGISTERS, names_uniform=True)
    slots = [(owner, slot) for owner, slot, _ in uses.named(TEXTURE)]
    assert slots == [("FS", 0), ("FS", 2), (0, 5), (3, 1), (3, 7)]
