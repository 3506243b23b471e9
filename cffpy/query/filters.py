# SPDX-License-Identifier: MIT
"""Filter: an expression and the columns to show, to be bound to the names of a GPU."""

from __future__ import annotations

from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from cffpy.errors import FilterError, UsageError
from cffpy.frame.objects import Named
from cffpy.query.names import (
    INTEL,
    NameTable,
    NoRegisters,
    UnknownRegister,
    nearest,
)
from cffpy.query.predicates import OncePerState, Operand, Operands, Predicates
from cffpy.query.properties import OF_CAPTURES, OWNERS, Properties, Uses
from cffpy.query.register_values import Cursor, SlotCursor
from cffpy.query.syntax import Call, Path, nodes_of
from cffpy.regdb import store
from cffpy.regdb.database import Database

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.intel.decoder.groups import Database as InstructionDatabase
    from cffpy.query.properties import Resources, Subject
    from cffpy.query.register_values import DrawnState, RegisterChanges, StateNames


class Filter:
    """An expression and the names of columns, parsed. Bind it before it is asked.

    Raises FilterError for what is not an expression. The same object serves any number of captures.
    """

    def __init__(
        self,
        where: str | None,
        columns: str | None = None,
        properties: Properties = OF_CAPTURES,
        uses: Callable[[], Uses] = Uses,
        remembers: bool = True,
    ) -> None:
        """``properties``, ``uses``: what reads those of subjects, and what draws use.

        ``remembers``: whether conditions of registers are asked once for equal registers only.
        """
        from cffpy.query.parse import parse_filter, parse_paths  # lazily: lark is slow to import

        self.where = where
        self._properties = properties
        self._uses = uses
        self._remembers = remembers
        for text in (where, columns):
            if text is not None and not isinstance(text, str):
                raise UsageError(f"a filter must be a text, not {type(text).__name__} object")
        self._root = None if where is None else parse_filter(where)
        self._columns = [] if columns is None else parse_paths(columns)
        names = {path.text for path in nodes_of((self._root, *self._columns), Path)}
        #: Whether it reads what differs between the executions of a draw: in which tile, whether it
        #: is visible there. Then it is asked about each execution of the program's draws.
        self.is_of_executions = any(map(is_of_executions, names))
        #: Whether it asks for writes that change nothing.
        self.needs_writes = any(call.name == "written" for call in nodes_of(self._root, Call))
        self._bound: dict[tuple[str | None, str, bool], BoundFilter] = {}
        #: Held while it is asked: what reads registers goes from action to action.
        self.lock = RLock()

    def bind(self, database: Database, is_lenient: bool = False) -> BoundFilter:
        """Look up all names. Raises FilterError for one that the GPU has not.

        ``is_lenient``: such a name is an unknown value instead. One object for each generation:
        it answers for the capture whose registers were attached last.
        """
        key = database.directory, database.chip, is_lenient
        if key not in self._bound:
            self._bound[key] = self._bind(database, is_lenient)
        return self._bound[key]

    def bind_for_intel(
        self, database: InstructionDatabase | None, is_lenient: bool = False
    ) -> BoundFilter:
        """As ``bind``, for a capture of an Intel GPU.

        ``database``: None where the names of its instructions are not asked for.
        """
        key = "intel", "" if database is None else str(database.verx10), is_lenient
        if key not in self._bound:
            uses = self._uses()
            table: StateNames | NoRegisters = NoRegisters(INTEL)
            if database is not None:
                from cffpy.query.instructions import InstructionNames  # lazily: Intel's only

                table = InstructionNames(database, uses.drawn_state)
            self._bound[key] = self._bind_to(
                Operands(None, table, is_lenient, self._properties, uses)
            )
        return self._bound[key]

    def _bind(self, database: Database, is_lenient: bool) -> BoundFilter:
        return self._bind_to(
            Operands(database, NameTable(database), is_lenient, self._properties, self._uses())
        )

    def _bind_to(self, operands: Operands) -> BoundFilter:
        predicates = Predicates(operands, self._remembers)
        columns = [operands.path(path) for path in self._columns]
        matches = _always if self._root is None else predicates.predicate(self._root)
        return BoundFilter(matches, operands, columns, predicates)

    def check(self, directory: str | None) -> None:
        """Look up all names. Raises FilterError where every generation lacks one.

        That of the error in the last place.
        """
        errors: list[FilterError] = []
        for chip in reversed(store.chips(directory)):  # the newest has most names
            try:
                self.bind(Database.open(chip, directory))
            except FilterError as problem:
                errors.append(problem)
            else:
                return
        from cffpy.intel.decoder.groups import Database as InstructionDatabase
        from cffpy.intel.descriptions.store import generations

        for verx10 in reversed(generations(directory).values()):
            try:
                self.bind_for_intel(InstructionDatabase(verx10, directory))
            except FilterError:
                continue
            return
        raise self._of_all(errors[::-1]) from None

    def _of_all(self, errors: list[FilterError]) -> FilterError:
        """One error for those of all generations."""
        # a generation that knows the register says more than those that lack it
        last = max(
            reversed(errors), key=lambda one: (one.column, not isinstance(one, UnknownRegister))
        )
        if not isinstance(last, UnknownRegister):
            return last
        same = [one for one in errors if isinstance(one, UnknownRegister) and one.name == last.name]
        if len(same) < len(errors):
            return last
        known = {*self._properties.named, *(name for one in same for name in one.near)}
        message = f"no generation has a register {last.name}{nearest(last.name, sorted(known))}"
        return FilterError(message, "", 1, last.column)


#: Properties of one execution of a draw; those of tiles are such, too.
_OF_EXECUTIONS = ("draw.tile", "draw.binning", "draw.visible")


def is_of_executions(name: str) -> bool:
    """Whether a property may differ between the executions of a draw."""
    return name in _OF_EXECUTIONS or name.startswith("tile.")


def _always(_subject: Subject) -> bool:
    return True


#: What names begin with whose values belong to draws.
_OF_DRAWS = (
    "draw.",
    "target.",
    "source.",
    "destination.",
    *(f"{owner}." for owner in OWNERS),
)


class BoundFilter:
    """A filter whose names were looked up."""

    def __init__(
        self,
        matches: Callable[[Subject], bool | None],
        operands: Operands,
        columns: list[Operand],
        predicates: Predicates,
    ) -> None:
        #: Whether it holds for a subject: True, False, or None where that is unknown.
        self.matches = matches
        self._operands = operands
        #: Whether it asks for writes that change nothing.
        self.needs_writes = predicates.needs_writes
        self._states = predicates.states
        #: What is asked once for equal registers.
        self._kept: list[OncePerState[Any]] = [*self._states]
        read = {
            name: self._reader(operand, predicates.remembers)
            for name, operand in operands.named.items()
        }
        self._values = [
            read[name] for name, operand in operands.named.items() if operand.kind != "unknown"
        ]
        self._columns = [read[operand.name] for operand in columns]

    def _reader(self, operand: Operand, remembers: bool) -> Callable[[Subject], Named]:
        """What reads the value of a name, of registers once for equal ones."""
        read = partial(_named, operand)
        cursors = [one for one in operand.cursors if isinstance(one, Cursor)]
        if not remembers or not cursors or operand.is_many:  # a list belongs to who asked
            return read
        value = OncePerState(read, cursors)
        self._kept.append(value)
        return value.at

    @property
    def evaluations(self) -> int:
        """How often conditions of registers were asked, once for equal registers."""
        return sum(state.evaluations for state in self._states)

    @property
    def registers(self) -> set[int]:
        """The dwords of registers that it reads."""
        return {
            offset
            for cursor in self._cursors
            for offset in (cursor.place.offset, cursor.place.upper)
            if offset is not None
        }

    @property
    def slots(self) -> set[str]:
        """The names of instructions, structures and registers of Intel GPUs that it reads."""
        cursors = self._operands.cursors
        return {one.slot for one in cursors if isinstance(one, SlotCursor)}

    @property
    def slot_patterns(self) -> list[re.Pattern[str]]:
        """What names of others that it reads match as a whole."""
        return [one.slots for one in self._operands.named.values() if one.slots is not None]

    @property
    def properties(self) -> list[str]:
        """The properties that it reads: "draw.vertices", "draw.shaders.FS"."""
        return [
            name
            for name, one in self._operands.named.items()
            if not one.cursors and one.slots is None and one.kind != "unknown"
        ]

    @property
    def is_of_draws(self) -> bool:
        """Whether it reads registers, or properties of draws."""
        named = self._operands.named
        return any(
            one.cursors or one.slots or one.kind == "unknown" or name.startswith(_OF_DRAWS)
            for name, one in named.items()
        )

    @property
    def is_of_executions(self) -> bool:
        """As ``Filter.is_of_executions``."""
        return any(map(is_of_executions, self._operands.named))

    @property
    def absent(self) -> list[str]:
        """Names that the GPU has not, if it was bound leniently: "a3xx has no RB_DEPTH_CNTL"."""
        return self._operands.absent

    def attach(self, changes: RegisterChanges) -> None:
        """Read these registers from now on."""
        for cursor in self._cursors:
            cursor.attach(changes)
        self._reset()

    def attach_store(self, store: RegisterStore) -> None:
        """Read the registers of a capture, at all actions, from now on."""
        history = store.history(-1)
        history.collect(self.registers)
        turns = store if store.log.turns else None
        for cursor in self._cursors:
            cursor.attach(history, turns)
        self._reset()

    def _reset(self) -> None:
        for kept in self._kept:
            kept.reset()

    @property
    def _cursors(self) -> list[Cursor]:
        """What reads registers."""
        return [one for one in self._operands.cursors if isinstance(one, Cursor)]

    def use(self, resources: Resources | None) -> None:
        """Read descriptors and shaders of this capture from now on."""
        self._operands.uses.resources = resources

    def use_state(self, state: DrawnState) -> None:
        """Read what instructions have set of this from now on."""
        self._operands.uses.state = state

    def values(self, subject: Subject) -> list[Named]:
        """The values of all names in the expression and the columns, each once."""
        return [read(subject) for read in self._values]

    def columns(self, subject: Subject) -> list[Named]:
        """The values of the columns."""
        return [read(subject) for read in self._columns]


def _named(operand: Operand, subject: Subject) -> Named:
    return Named(operand.name, operand.shown(subject), operand.is_hex)
