# SPDX-License-Identifier: MIT
"""Merged bins of a7xx: one tile that takes the visibility streams of several bins.

CP_SET_BIN_DATA5 and CP_SET_BIN_DATA5_OFFSET say which by a mask. Fact: adreno_pm4.xml of Mesa
releases behind 25.0.7, which describe it; turnip of 25.0.7 does not use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cffpy.cp.sink import Payload

#: VSC_MASK, from slot VSC_N on; 0 means VSC_N alone.
_RELATIVE = 0xFFFF

#: ABS_MASK: the dword behind the first is a mask of all slots instead.
_ABSOLUTE = 1 << 28

_SLOTS = 32


def merged_slots(payload: Payload, generation: int) -> tuple[tuple[int, ...], Payload]:
    """The slots that are merged, () where it is one; and the packet without a dword of mask.

    The first dword of the packet that is returned is of no use where the mask was a dword.
    """
    word = payload[0]
    slot = word >> 22 & 0x1F
    if generation < 7:
        return (), payload
    if word & _ABSOLUTE:
        mask, payload = payload[1], payload.rest(1)
    else:
        mask = (word & _RELATIVE) << slot
    slots = tuple(number for number in range(_SLOTS) if mask >> number & 1)
    return slots if len(slots) > 1 else (), payload
