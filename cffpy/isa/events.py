# SPDX-License-Identifier: MIT
"""Events: the printed fields that a listing and its statistics count.

Mirrors the field callback of the reference (disasm-a3xx.c, disasm_field_cb; mesa 25.0.7): what is
counted is what the template *prints*, in its order. ``follow_registers`` is the part of it that
finds the highest registers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

(REPEAT, NOP, NAME, SY, SS, CONST, GPR, REPEATED, DST, HALF, SWIZ) = range(11)
"""Kinds of events: printed fields that the statistics know. An event is ``value << 4 | kind``."""

(UNNAMED, OTHER, NOP_NAME, END, CHSH, BARY) = range(6)
"""Values of a NAME event; UNNAMED: the template shows no name."""

_KINDS = {
    "REPEAT": REPEAT,
    "NOP": NOP,
    "NAME": NAME,
    "SY": SY,
    "SS": SS,
    "CONST": CONST,
    "GPR": GPR,
    "SRC_R": REPEATED,
    "SRC1_R": REPEATED,
    "SRC2_R": REPEATED,
    "SRC3_R": REPEATED,
    "DST": DST,
    "SWIZ": SWIZ,
}
_NAMES = {"nop": NOP_NAME, "end": END, "chsh": CHSH, "bary.f": BARY}

Events: TypeAlias = "tuple[int, ...]"
RegisterState: TypeAlias = "tuple[bool, bool, int, int]"
Maxima: TypeAlias = "tuple[int, int, int]"

CLEAR: RegisterState = (False, False, 0, 0)
"""No operand pending: half, repeated, file, number."""
_FILE_HALF, _FILE_GPR, _FILE_CONST = 1, 2, 3
"""Register files; 0 is another one, whose components count nowhere."""


def event_kind(reference: str) -> int:
    """The kind of event of a field reference as the template writes it, or -1."""
    kind = _KINDS.get(reference)
    if kind is not None:
        return kind
    return HALF if "HALF" in reference else -1


def name_event(name: str) -> int:
    """The event of printing the instruction's name."""
    return _NAMES.get(name, OTHER) << 4 | NAME


def follow_registers(events: Events, state: RegisterState) -> tuple[Maxima, RegisterState]:
    """Highest half, full and constant components of one instruction that begins in ``state``.

    The second value is the state after it.
    """
    half, repeated, file, number = state
    repeat = 0
    highest = [0, 0, 0, 0]
    for event in events:
        kind = event & 15
        value = event >> 4
        if kind == SWIZ:
            component = number << 2 | value
            if repeated:
                component += repeat
            place = _FILE_HALF if half and file == _FILE_GPR else file
            if component > highest[place]:
                highest[place] = component
            half, repeated, file, number = CLEAR
        elif kind == GPR:
            if value < 48:
                number, file = value, _FILE_GPR
        elif kind == HALF:
            half = bool(value)
        elif kind == DST:
            repeated = True
        elif kind == REPEATED:
            repeated = bool(value)
        elif kind == CONST:
            number, file = value, _FILE_CONST
        elif kind == REPEAT:
            repeat = value
    _other, most_half, most_full, most_const = highest
    return (most_half, most_full, most_const), (half, repeated, file, number)
