# SPDX-License-Identifier: MIT
"""Events: the printed fields that a listing and its statistics count.

Mirrors the field callback of the reference (disasm-a3xx.c, disasm_field_cb; mesa 25.0.7, 25.3):
what is counted is what the template *prints*, in its order. ``follow_registers`` is the part of it
that finds the highest registers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

(REPEAT, NOP, NAME, SY, SS, CONST, GPR, REPEATED, DST, HALF, SWIZ, SCOPE, SIZE) = range(13)
"""Kinds of events: printed fields that the statistics know. An event is ``value << 4 | kind``."""

(UNNAMED, OTHER, ALIAS, NOP_NAME, END, CHSH, BARY) = range(7)
"""Values of a NAME event; UNNAMED: the template shows no name. A listing watches values from
NOP_NAME on."""

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
    "SCOPE": SCOPE,
}
_NAMES = {"alias": ALIAS, "nop": NOP_NAME, "end": END, "chsh": CHSH, "bary.f": BARY}

Events: TypeAlias = "tuple[int, ...]"
RegisterState: TypeAlias = "tuple[bool, bool, int, int]"
Maxima: TypeAlias = "tuple[int, int, int]"

CLEAR: RegisterState = (False, False, 0, 0)
"""No operand pending: half, repeated, file, number."""
_NOWHERE, _FILE_HALF, _FILE_GPR, _FILE_CONST = 0, 1, 2, 3
"""Register files; components of others count nowhere."""
_TEXTURES = 0
"""The scope of an ``alias`` that only texture instructions see."""


def event_kind(reference: str) -> int:
    """The kind of event of a field reference as the template writes it, or -1."""
    kind = _KINDS.get(reference)
    if kind is not None:
        return kind
    if "HALF" in reference:
        return HALF
    return SIZE if "TYPE_SIZE" in reference else -1


def name_event(name: str) -> int:
    """The event of printing the instruction's name."""
    return _NAMES.get(name, OTHER) << 4 | NAME


class Aliases:
    """Registers that ``alias`` defines for the next texture instruction.

    They are not registers of the program, and not part of its footprint (mesa 25.3).
    """

    __slots__ = ("_full", "_half")

    def __init__(self) -> None:
        self._full: set[int] = set()
        self._half: set[int] = set()

    def begin(self, events: Events) -> None:
        """An instruction begins: an ``alias`` prints scope and size before its register."""
        is_full = is_of_texture = False
        for event in events:
            kind, value = event & 15, event >> 4
            if kind == NAME:
                is_of_texture = value == ALIAS
            elif kind == SCOPE:
                is_of_texture = is_of_texture and value == _TEXTURES
            elif kind == SIZE:
                is_full = bool(value)
            elif kind == DST and is_of_texture:
                (self._full if is_full else self._half).add(value)

    def place(self, is_half: bool, file: int, component: int) -> int:
        """The file in which a component counts."""
        if file != _FILE_GPR:
            return file
        if is_half and component not in self._half:
            return _FILE_HALF
        # also a half one that is an alias
        return _NOWHERE if component in self._full else _FILE_GPR

    def clear(self) -> None:
        """A texture instruction has ended."""
        self._full.clear()
        self._half.clear()


def follow_registers(
    events: Events,
    state: RegisterState,
    aliases: Aliases | None = None,
) -> tuple[Maxima, RegisterState]:
    """Highest half, full and constant components of one instruction that begins in ``state``.

    The second value is the state after it. ``aliases``: what does not count; None: all counts.
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
            if aliases is None:
                place = _FILE_HALF if half and file == _FILE_GPR else file
            else:
                place = aliases.place(half, file, component)
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
