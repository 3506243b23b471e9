# SPDX-License-Identifier: MIT
"""Names of captures of Intel GPUs in filters: fields of instructions, registers, descriptors.

State is set by instructions, so ``3DSTATE_PS.Kernel_Start_Pointer_0`` is a field of the last one
of this name before a draw, and ``3DSTATE_SO_BUFFER[1].Surface_Size`` of one that has several. The
descriptions have names with spaces and dots; ``_`` stands for these, in upper or lower case.
``SCISSOR_RECT[0].Scissor_Rectangle_X_Min`` is a field of a structure in memory that an instruction
points at. ``GT_MODE`` is a register of the command streamer. ``texture.Surface_Format`` is a field
of each surface state, ``sampler.Min_Mode_Filter`` of each sampler state.
"""

from __future__ import annotations

import re
from functools import partial
from struct import unpack_from
from typing import TYPE_CHECKING, Any

from cffpy.errors import FilterError
from cffpy.frame.binding import Binding
from cffpy.intel.analysis.state import STRUCTURES, sets_state
from cffpy.intel.decoder.text import described_fields, field_values
from cffpy.intel.descriptions import rows
from cffpy.query.names import UnknownRegister, nearest
from cffpy.query.register_values import SlotCursor, StateField, StateNames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from cffpy.frame.field import FieldValue
    from cffpy.intel.decoder.groups import Database, Field, Group
    from cffpy.query.register_values import DrawnState
    from cffpy.query.syntax import Path

    class StoredDescriptor(Protocol):
        """A descriptor of an index."""

        @property
        def data(self) -> bytes | None:
            """Its bytes."""


_NAME = re.compile(r"([A-Za-z0-9_]+)(\[(?:\*|[0-9A-Fa-fxX]+)\])?(?:\.(.+))?")
#: Descriptors of an index whose fields are kept.
_MOST_DECODED = 1 << 12

_NO_LETTERS = re.compile(r"[^A-Za-z0-9]+")

#: The struct of the descriptors of each kind.
_STRUCTS = {"sampler": "SAMPLER_STATE"}
_SURFACE = "RENDER_SURFACE_STATE"


def folded(name: str) -> str:
    """A name of a field as it is compared: capitals, other characters as one ``_``."""
    return _NO_LETTERS.sub("_", name).strip("_").upper()


class InstructionNames(StateNames):
    """The names of one generation. ``state``: what the draws have that are asked about."""

    def __init__(self, database: Database, state: Callable[[], DrawnState | None]) -> None:
        self._database, self._state = database, state
        #: Fields of descriptors of an index, by their bytes.
        self._fields: dict[tuple[str, bytes], dict[str, FieldValue]] = {}
        self.chip = f"gen{database.verx10 / 10:g}"
        self._slots = {
            group.name.upper(): group for group in database.instructions if sets_state(group.name)
        }
        structures = ((name, database.struct(name)) for name in STRUCTURES)
        self._slots.update((name, group) for name, group in structures if group is not None)
        self._registers = {name.upper(): name for name in database.register_names}

    def has(self, name: str) -> bool:
        """Whether an instruction that sets state, or a register, has this name."""
        return name.upper() in self._slots or name.upper() in self._registers

    def find(self, path: Path) -> tuple[StateField, list[SlotCursor], re.Pattern[str] | None]:
        """The field of a name, what reads it, and a pattern where it is one of several slots.

        Raises FilterError with the column and the nearest names.
        """
        match = _NAME.fullmatch(path.text)
        name, index, rest = ("", None, None) if match is None else match.groups()
        group = self._slots.get(name.upper())
        register = self._registers.get(name.upper())
        if group is None and register is not None:
            group = self._database.register(register)
        if group is None or (index is not None and register is not None):
            known = [*self._slots, *self._registers]
            what = "instruction or register"
            raise UnknownRegister(self.chip, path, lambda wanted: _near(wanted, known), what)
        field = self._field(path, group, rest)
        if index == "[*]":
            return field, [], re.compile(rf"{re.escape(group.name)}(\[\d+\])?")
        number = "" if index is None else f"[{int(index[1:-1], 0)}]"
        return field, [self.cursor(f"{group.name}{number}", field)], None

    def cursor(self, slot: str, field: StateField) -> SlotCursor:
        """What reads a field of a slot."""
        return SlotCursor(self._state, slot, field)

    def cursors(self, pattern: re.Pattern[str], field: StateField) -> list[SlotCursor]:
        """What reads a field of each slot that matches."""
        state = self._state()
        return [] if state is None else [self.cursor(one, field) for one in state.slots(pattern)]

    def _field(self, path: Path, group: Group, name: str | None) -> StateField:
        if name is None:
            if group.kind == "register" and group.dwords == 1:
                return StateField(path.text, group.name, is_hex=True, is_whole=True)
            example = _example(self._database, group)
            message = f"{group.name} has several values: name a field, as in {example}"
            raise FilterError(message, "", 1, path.column)
        known: dict[str, tuple[str, Field]] = {}
        for one in described_fields(self._database, group):
            known.setdefault(folded(one[0]), one)
        found = known.get(folded(name))
        if found is None:
            near = nearest(folded(name), [_spelt(one) for one, _ in known.values()])
            message = f"{group.name} of {self.chip} has no field {name}{near}"
            raise FilterError(message, "", 1, path.column + path.text.index(".") + 1)
        name, field = found
        kind = "bool" if field.kind == rows.BOOL else "number"
        is_hex = field.kind in (rows.ADDRESS, rows.OFFSET)
        return StateField(path.text, name, kind, is_hex, tuple(field.values))

    def descriptor_field(
        self, path: Path, kind: str, name: str
    ) -> tuple[StateField, Callable[[Binding], Any]]:
        """A field of descriptors of a kind, and what reads it. Raises FilterError."""
        group = self._database.struct(_STRUCTS.get(kind, _SURFACE))
        if group is None:
            raise FilterError(f"{self.chip} has no {kind} descriptors", "", 1, path.column)
        field = self._field(path, group, name)
        return field, partial(self._field_of, field, group)

    def _field_of(
        self, field: StateField, group: Group, binding: Binding | StoredDescriptor
    ) -> bool | int | float | None:
        """The value of a field; of a descriptor of an index, decoded once for equal bytes."""
        fields = binding.fields if isinstance(binding, Binding) else self._decoded(group, binding)
        found = fields.get(field.name)
        return None if found is None else field.read(found)

    def _decoded(self, group: Group, stored: StoredDescriptor) -> dict[str, FieldValue]:
        data = stored.data
        if data is None or len(data) < 4 * group.dwords:
            return {}
        key = group.name, data
        known = self._fields.get(key)
        if known is None:
            words = unpack_from(f"<{group.dwords}I", data)
            known = {one.name: one for one in field_values(self._database, group, words)}
            if len(self._fields) >= _MOST_DECODED:
                self._fields.clear()
            self._fields[key] = known
        return known


def _near(wanted: str, known: Sequence[str]) -> Sequence[str]:
    from difflib import get_close_matches

    return get_close_matches(wanted.partition(".")[0].upper(), known, n=3, cutoff=0.5)


def _spelt(name: str) -> str:
    return _NO_LETTERS.sub("_", name).strip("_")


def _example(database: Database, group: Group) -> str:
    field = next((name for name, _ in described_fields(database, group)), "...")
    return f"{group.name}.{_spelt(field)}"
