# SPDX-License-Identifier: MIT
"""Properties of draws, passes and tiles in filters: ``pass.mode``, ``draw.instances``.

A row for each: what it is compared as, a function that reads it, and the words that it may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.attachments import MAX_COLOURS
from cffpy.analysis.passes.batch_tracker import WORKAROUND
from cffpy.analysis.pipes import PIPES
from cffpy.cp.draw_values import DRAW_PACKETS
from cffpy.frame.action import KINDS, MEMORY_COPIES
from cffpy.frame.draw_names import name_of
from cffpy.frame.execution import Executed
from cffpy.frame.faces import names
from cffpy.frame.facts import model_of
from cffpy.frame.passes import Pass, Tile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cffpy.frame.action import Action
    from cffpy.frame.faces import Named
    from cffpy.frame.passes import Pass, Tile
    from cffpy.frame.transfer import TransferEnd
    from cffpy.regdb.database import Database

    #: None: unknown, or there is none.
    Value = bool | int | float | str | None


class Subject:
    """What a filter is asked about: a draw, or a pass or tile as a whole.

    ``order``: the action at which registers are read, -1 for none. ``before``: the action with
    which ``changed`` compares, -1 for none.
    """

    __slots__ = ("action", "before", "found_pass", "order", "tile")

    def __init__(
        self,
        action: Action | None,
        found_pass: Pass | None,
        tile: Tile | None = None,
        before: int = -1,
    ) -> None:
        self.action = action
        self.found_pass = found_pass
        self.tile = tile
        executed = action is not None and action.execution is not Executed.NO
        self.order = action.order if action is not None and executed else -1
        self.before = before


class Property(NamedTuple):
    """``kind``: "number", "text" or "bool". ``get`` returns a list where ``is_many``.

    ``words``: all values that a text may have; empty for any text. ``enums``: the ends of the names
    of enums of the register database, whose values it may have, too.
    """

    kind: str
    get: Callable[[Subject], object]
    words: tuple[str, ...] = ()
    is_many: bool = False
    enums: tuple[str, ...] = ()

    def values(self, database: Database) -> list[str]:
        """All values that a text may have on a GPU; empty for any text."""
        named = database.enum_names() if self.enums else ()
        enums = (database.enum(name) for name in named if name.endswith(self.enums))
        return [*self.words, *(value[0] for enum in enums for value in enum)]


def _draw(kind: str, read: Callable[[Action], Value], *words: str) -> Property:
    return Property(
        kind, lambda subject: None if subject.action is None else read(subject.action), words
    )


def _facts_of(kind: type, owner: Callable[[Subject], object]) -> dict[str, Property]:
    """The facts of a model, by their names in filters."""

    def of(named: Named) -> Property:
        def get(subject: Subject) -> object:
            one = owner(subject)
            return None if one is None else named.read(one)

        return Property(named.kind, get, named.words, named.is_many)

    return {named.name: of(named) for named in names(model_of(kind))}


def _targets(kind: str, name: str, *words: str, enums: tuple[str, ...] = ()) -> Property:
    def get(subject: Subject) -> list[Value]:
        if subject.action is not None:
            found = subject.action.targets
        else:
            found = () if subject.found_pass is None else tuple(subject.found_pass.attachments)
        return [getattr(one, name) for one in found]

    return Property(kind, get, words, is_many=True, enums=enums)


#: Of targets; the texts of sources and destinations are of the same enums.
_TARGET_TEXTS = {
    "format": _targets("text", "format", "S8_UINT", enums=("_format", "_fmt", "formatx", "_ifmt")),
    "tiling": _targets("text", "tiling", "linear", "tiled", enums=("tile_mode",)),
}


def _ends(name: str, end: str) -> Property:
    """Of each source or destination that an action has."""
    kind, read = _END_PROPERTIES[name]
    like = _TARGET_TEXTS.get(name)

    def get(subject: Subject) -> list[Value]:
        transfers = () if subject.action is None else subject.action.transfers
        ends = [getattr(one, end) for one in transfers]
        return [read(one) for one in ends if one is not None]

    if like is None:
        return Property(kind, get, is_many=True)
    return Property(kind, get, like.words, is_many=True, enums=like.enums)


def _area(name: str) -> Callable[[TransferEnd], Value]:
    return lambda end: None if end.rectangle is None else getattr(end.rectangle, name)


def _area_size(name: str) -> Callable[[TransferEnd], Value]:
    return lambda end: None if end.rectangle is None else getattr(end.rectangle.size, name)


#: Properties of both ends of what an action copies, fills, clears, loads or stores.
_END_PROPERTIES: dict[str, tuple[str, Callable[[TransferEnd], Value]]] = {
    "address": ("number", lambda end: end.address),
    "gmem": ("number", lambda end: end.gmem),
    "format": ("text", lambda end: end.format),
    "tiling": ("text", lambda end: end.tiling),
    "pitch": ("number", lambda end: end.pitch),
    "samples": ("number", lambda end: end.samples),
    "ubwc": ("bool", lambda end: end.ubwc),
    "left": ("number", _area("left")),
    "top": ("number", _area("top")),
    "width": ("number", _area_size("width")),
    "height": ("number", _area_size("height")),
}
_ENDS = ("source", "destination")


def _groups(position: int) -> Callable[[Action], Value]:
    return lambda action: None if action.groups is None else action.groups[position]


_KINDS = ("draw", "dispatch", "blit", "resolve", "lrz clear")
_ROLES = (
    *("", "clear", "copy", "fill", "load", "resolve", "scale", "store", "unknown"),
    WORKAROUND,
)
_EVENTS = [name for name in KINDS if name.startswith("EVENT:")]
_PACKETS = (
    *sorted(DRAW_PACKETS),
    *sorted(KINDS.keys() - _EVENTS),
    "CP_EVENT_WRITE",
    *MEMORY_COPIES,
)
_TARGETS = (*(f"color {number}" for number in range(MAX_COLOURS)), "depth", "stencil")

PROPERTIES: dict[str, Property] = {
    "draw.name": _draw("text", lambda one: str(name_of(one) or "")),
    "draw.number": _draw("number", lambda one: one.number),
    "draw.dump": _draw("number", lambda one: one.dump_draw),
    "draw.kind": _draw("text", lambda one: one.kind, *_KINDS),
    "draw.role": _draw("text", lambda one: one.role, *_ROLES),
    "draw.packet": _draw("text", lambda one: one.packet, *_PACKETS),
    "draw.primitive": _draw(
        "text", lambda one: one.primitive, "compute", "COMPUTE", *_EVENTS
    )._replace(enums=("pc_di_primtype", "cp_blit_cmd")),
    "draw.vertices": _draw("number", lambda one: one.vertices),
    "draw.instances": _draw("number", lambda one: one.instances),
    "draw.groups_x": _draw("number", _groups(0)),
    "draw.groups_y": _draw("number", _groups(1)),
    "draw.groups_z": _draw("number", _groups(2)),
    "draw.indexed": _draw("bool", lambda one: one.indexed),
    "draw.indirect": _draw("bool", lambda one: one.indirect),
    "draw.emitted": _draw("bool", lambda one: one.execution.is_possible),
    "draw.executed": _draw("bool", lambda one: _executed(one.execution)),
    "draw.pipe": _draw("text", lambda one: one.pipe, *PIPES),
    "draw.binning": _draw("bool", lambda one: one.binning),
    "draw.tile": _draw("number", lambda one: one.tile_number),
    "draw.submit": _draw("number", lambda one: one.place.submit.submit),
    "draw.stream": _draw("number", lambda one: one.place.submit.number),
    "draw.gpuaddr": _draw("number", lambda one: one.place.gpuaddr),
    "draw.file_offset": _draw("number", lambda one: one.place.file_offset),
    "draw.level": _draw("number", lambda one: one.level),
    **_facts_of(Pass, lambda subject: subject.found_pass),
    **_facts_of(Tile, lambda subject: subject.tile),
    "target.name": _targets("text", "name", *_TARGETS),
    "target.format": _TARGET_TEXTS["format"],
    "target.swap": _targets("text", "swap", enums=("color_swap",)),
    "target.srgb": _targets("bool", "srgb"),
    "target.tiling": _TARGET_TEXTS["tiling"],
    "target.address": _targets("number", "address"),
    "target.pitch": _targets("number", "pitch"),
    "target.gmem": _targets("number", "gmem"),
    "target.ubwc": _targets("bool", "ubwc"),
    "target.samples": _targets("number", "samples"),
    **{f"{end}.{name}": _ends(name, end) for end in _ENDS for name in _END_PROPERTIES},
}


#: Properties that are shown in hexadecimal.
HEXADECIMAL = frozenset(
    (
        "draw.gpuaddr",
        "draw.file_offset",
        *(
            one.name
            for one in (*names(model_of(Pass)), *names(model_of(Tile)))
            if one.is_hexadecimal
        ),
        *(f"{owner}.{name}" for owner in ("target", *_ENDS) for name in ("address", "gmem")),
    )
)


def _executed(executed: Executed) -> bool | None:
    return None if executed is Executed.UNKNOWN else executed is Executed.YES


def program_address(stage: str) -> Property:
    """``draw.shaders.FS``: GPU address of the program of a stage; None where it has none."""
    return _draw("number", lambda one: dict(one.programs).get(stage))


def markers(subject: Subject) -> Sequence[str]:
    """The debug markers that are open around the pass."""
    return () if subject.found_pass is None else subject.found_pass.markers


class Properties(NamedTuple):
    """Where filters read properties: of a capture's objects, or of rows that were stored.

    ``named``: PROPERTIES, or the same names with other functions. ``program``: the property of a
    stage. ``markers``: the open debug markers of a subject.
    """

    named: Mapping[str, Property]
    program: Callable[[str], Property]
    markers: Callable[[Subject], Sequence[str]]


#: Properties of the objects of a walk.
OF_CAPTURES = Properties(PROPERTIES, program_address, markers)
