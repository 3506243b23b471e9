# SPDX-License-Identifier: MIT
"""EventReads: which registers a draw, dispatch, load, store, clear or blit reads.

The table is in register_db/adreno/reads: a file for each generation, its rows by hand. They are
from what Mesa's drivers write before each such event in captures of all kinds of programs, from the
hints ``usage`` in Mesa's register descriptions, and from notes of its authors. Each row says where
it is from. A register that the table does not have may be read, too.

A row has

- ``events``: what reads the registers (``EVENTS``),
- ``kind``: of loads, clears and stores the kind of action that does it, such as "resolve" for a
  BLIT event; the default is any,
- ``registers``: their names; ``{i}`` in a name stands for each index, ``{j}`` for what ``pointer``
  holds there,
- ``elements``: the field that says how many indices there are, or a number; the default is one,
- ``pointer``: a field that is the index of other registers,
- ``when``, ``unless``: fields that are not 0, or are 0, where the event reads them,
- ``since``: "pass" where each pass, or group of dispatches or blits, must write them anew, "submit"
  where it is enough that commands of the submit have,
- ``effect``: what another value changes: pixels, a hang, or only speed.
"""

from __future__ import annotations

import tomllib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from cffpy._data import data_path
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.errors import RegisterDbError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.register_write import RegisterWrite

#: What reads registers. "tile", "sysmem", "binning": a draw of the program in a tile, in sysmem
#: mode, in a binning run; "load", "clear", "store", "resolve": of an attachment.
EVENTS = ("tile", "sysmem", "binning", "dispatch", "load", "clear", "store", "resolve", "blit")

Effect = Literal["hang", "pixels", "speed"]
#: From the worst.
EFFECTS: tuple[Effect, ...] = ("hang", "pixels", "speed")
Since = Literal["pass", "submit"]

_FOLDER = "reads"

#: The newest generation with a table of its own; those after it have its rows.
_LAST = 6

#: Elements of a row, at most: fields of hostile registers say how many.
_MAX_ELEMENTS = 32


class Row(NamedTuple):
    """A row of the table; see the module."""

    events: tuple[str, ...]
    registers: tuple[str, ...]
    since: Since
    effect: Effect
    source: str
    kind: str = ""
    elements: str | int = 1
    pointer: str = ""
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


class ReadRegister(NamedTuple):
    """A register that an event reads. ``offset``: in dwords."""

    name: str
    offset: int
    since: Since
    effect: Effect


#: Who has set what an event should find set anew: another pass, an earlier submit, nobody.
Staleness = Literal["pass", "submit", "nobody"]


def next_pass(actions: Sequence[Action], order: int) -> int | None:
    """The pass of the first executed action from a position on: what is written is meant for it.

    But for clears of LRZ: a driver begins a pass with one, in the middle of what it writes.
    """
    for action in islice(actions, order, None):
        if action.execution.is_possible and action.kind != "lrz clear":
            return action.pass_index
    return None


def staleness(
    register: ReadRegister,
    write: RegisterWrite | None,
    meant_for: int | None,
    action: Action,
    passes: Sequence[Pass],
) -> Staleness | None:
    """Whose value an action reads in a register, where it should be its own; None where it is.

    ``write``: the packet that wrote the value. ``meant_for``: see ``next_pass``. What is written
    between passes, or in passes that render nothing, may be meant for all that follow.
    """
    if write is None:
        return "nobody"
    if write.origin(action) == "earlier submit":
        return "submit"
    if register.since != "pass" or write.pass_index is None or meant_for is None:
        return None
    is_others = meant_for != action.pass_index and passes[meant_for].kind == "render"
    return "pass" if is_others else None


class FieldReader(Protocol):
    """Registers by name, as RegisterReader and the state at an action have them."""

    def offset(self, name: str) -> int:
        """The register's offset in dwords; 0 if the generation has no register of this name."""

    def field(self, name: str, field: str = "") -> int | None:
        """A field's number, or of a register that is one plain field; None if not written."""


def event_of(action: Action) -> str | None:
    """What an action is to the table; None for what the table has nothing about."""
    event: str = action.role or action.kind
    if event == "draw":
        if not is_program_draw(action):
            return None
        if action.binning:
            return "binning"
        return "sysmem" if action.tile_number is None else "tile"
    return event if event in EVENTS else None


def rows_of(generation: int) -> tuple[Row, ...]:
    """The rows of a generation; none where nothing is known of it."""
    last = min(generation, _LAST)
    path = Path(data_path("register_db", "adreno", _FOLDER, f"a{last}xx.toml"))
    return rows_in(path) if path.exists() else ()


def rows_in(path: Path) -> tuple[Row, ...]:
    """The rows of a file. Raises RegisterDbError where they are wrong."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as problem:
        raise RegisterDbError(f"{path}: {problem}") from problem
    return tuple([_row(row, path) for row in table["reads"]])


def _row(table: dict[str, Any], path: Path) -> Row:
    known = dict(table)
    for key in ("events", "registers", "when", "unless"):
        if key in known:
            known[key] = tuple(known[key].split())
    if not set(known) <= set(Row._fields):
        raise RegisterDbError(f"{path}: a row cannot have {min(set(known) - set(Row._fields))}")
    row = Row(**known)
    if not set(row.events) <= set(EVENTS):
        raise RegisterDbError(f"{path}: no event is called {min(set(row.events) - set(EVENTS))}")
    return row


class EventReads:
    """Rows by event, and what they come to with given registers."""

    def __init__(self, rows: Collection[Row]) -> None:
        self._rows = {event: [row for row in rows if event in row.events] for event in EVENTS}

    def of(self, event: str, kind: str, reader: FieldReader) -> tuple[ReadRegister, ...]:
        """The registers that an event, by an action of a kind, reads with what registers hold.

        Those that the GPU has: another generation of a file lacks some.
        """
        read: dict[int, ReadRegister] = {}
        for row in self._rows[event]:
            if row.kind and row.kind != kind:
                continue
            for name in _names(row, reader):
                offset = reader.offset(name)
                if offset and offset not in read:
                    read[offset] = ReadRegister(name, offset, row.since, row.effect)
        return tuple(read.values())


def _names(row: Row, reader: FieldReader) -> Iterator[str]:
    """The names of the registers of a row that are read now."""
    elements = row.elements
    number = elements if isinstance(elements, int) else _value(elements, 0, reader)
    for i in range(min(number, _MAX_ELEMENTS)):
        is_read = all(_value(field, i, reader) for field in row.when)
        if is_read and not any(_value(field, i, reader) for field in row.unless):
            j = _value(row.pointer, i, reader) if row.pointer else 0
            for name in row.registers:
                yield name.replace("{i}", str(i)).replace("{j}", str(j))


def _value(name: str, i: int, reader: FieldReader) -> int:
    """The value of a field, "REGISTER.FIELD", or of a register that is one; 0 if not written."""
    name = name.replace("{i}", str(i))
    register, _, field = name.rpartition(".")
    if register and reader.offset(register):
        return reader.field(register, field) or 0
    return reader.field(name) or 0
