# SPDX-License-Identifier: MIT
"""The tables of ``cffpy export`` and ``cffpy sql``: names, columns, types."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.pass_cost import PassCost
from cffpy.analysis.summary import CaptureSummary
from cffpy.check.model import Finding
from cffpy.frame.action import Action
from cffpy.frame.attachment import Attachment, Transfer
from cffpy.frame.barrier import Barrier
from cffpy.frame.binding import Binding, Slot
from cffpy.frame.execution import PipeWait
from cffpy.frame.faces import columns
from cffpy.frame.facts import model_of
from cffpy.frame.field import FieldValue
from cffpy.frame.gpu_query import GpuQuery, QueryCounter, QueryDraws
from cffpy.frame.lrz import DrawLrz
from cffpy.frame.passes import Operation, Pass, Tile, VisibleDraw
from cffpy.frame.register_state import StateValue
from cffpy.frame.render_mode import ModeChoice
from cffpy.frame.shader import CapturedShader
from cffpy.frame.stream_out import StreamOutBuffer, StreamOutput
from cffpy.frame.submit import Buffer, Problem, Stream, Submit
from cffpy.frame.visibility import Bin, PipeStreams

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.frame.faces import Column as FactColumn

#: The number rises when a table or column changes its meaning or is removed, not for additions.
SCHEMA = "cffpy.tables/1"


class Column(NamedTuple):
    """``type``: "text", "integer", "address" (unsigned, 64 bits), "real" or "flag"."""

    name: str
    type: str
    meaning: str
    #: Whether it is left out where a question does not name it: it costs something to make.
    is_optional: bool = False


class Table(NamedTuple):
    """A table. ``on_request``: it is large, and made only where it is asked for by name.

    ``names``: of the columns that rows are made of, where these are not all.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    on_request: bool = False
    names: frozenset[str] | None = None

    def with_columns(self, names: frozenset[str]) -> Table:
        """The same table with the columns of these names only, and what costs nothing."""
        made = tuple(one for one in self.columns if one.name in names or not one.is_optional)
        if len(made) == len(self.columns):
            return self
        return self._replace(columns=made, names=frozenset(column.name for column in made))

    def has(self, name: str) -> bool:
        """Whether rows are made of a column."""
        return self.names is None or name in self.names


def columns_of(text: str) -> tuple[Column, ...]:
    """Columns of lines ``name type meaning``."""
    rows = (line.split(None, 2) for line in text.splitlines() if line)
    return tuple(Column(name, kind, meaning) for name, kind, meaning in rows)


def of_model(kind: type, *owners: Column) -> tuple[Column, ...]:
    """The columns of the objects of a model: the owners of an object, and its facts."""
    plain = _plain(columns(model_of(kind)))
    return (Column("capture", "text", "the file, as it was given"), *owners, *plain)


def _plain(facts: Iterable[FactColumn]) -> Iterator[Column]:
    return (Column(column.name, column.type, column.meaning, True) for column in facts)


def _of_owner(*names: str) -> tuple[FactColumn, ...]:
    """The columns of an action that a table of its parts has, too."""
    known = {column.name: column for column in columns(model_of(Action))}
    return tuple(known[name] for name in names)


_OF_BOTH = ("action", "submit", "pass", "draw", "dump_draw")
#: Of the table of transfers; of targets.
OF_ACTION = _of_owner(
    *_OF_BOTH,
    *("name", "tile", "kind", "role", "packet", "executed", "pipe"),
    *("place_gpuaddr", "place_file_offset"),
)
OF_DRAW = _of_owner(*_OF_BOTH)


#: Of a file, which the column ``capture`` names.
OF_SUMMARY = tuple(column for column in columns(model_of(CaptureSummary)) if column.name != "file")

_OF_DRAWS = columns_of("""
first_draw integer draw_index of the first draw at which it holds
last_draw integer draw_index of the last one
""")
#: What the table of registers has of the packet that wrote one.
OF_WRITE = tuple(f"written_by_{name}" for name in ("place_gpuaddr", "submit", "pass", "pipe"))


def _of_register(*names: str, is_optional: bool = False) -> Iterator[Column]:
    known = {column.name: column for column in columns(model_of(StateValue))}
    of_facts = _plain(known[name] for name in names)
    return (column._replace(is_optional=is_optional) for column in of_facts)


#: Of bindings, without their parts.
OF_BINDING = tuple(column for column in columns(model_of(Binding)) if column.name in Slot._fields)

_OF_PASS = Column("pass", "integer", "number of the pass")

#: Of the draw that stream-out writes of.
_OF_WRITTEN = (
    _OF_PASS,
    Column("draw", "integer", "number of the draw among the program's draws of its pass"),
)

_TABLES = (
    Table(
        "captures",
        "A row for each file.",
        (
            Column("capture", "text", "the file, as it was given"),
            Column("digest", "text", "SHA-256 of the decompressed file", True),
            Column("tables", "text", "schema of these tables"),
            *_plain(OF_SUMMARY),
        ),
    ),
    Table("submits", "Command streams that see one set of buffers.", of_model(Submit)),
    Table("streams", "Command streams, as they were submitted.", of_model(Stream)),
    Table("buffers", "Buffers of submits.", of_model(Buffer)),
    Table(
        "passes",
        "Render passes, and groups of dispatches and copies between them.",
        of_model(Pass),
    ),
    Table(
        "waits",
        "What the pipes BR and BV of a7xx wait for, and the packets that signal it.",
        of_model(
            PipeWait,
            Column("pass", "integer", "number of the pass that needs it; NULL behind the last one"),
        ),
    ),
    Table(
        "attachments",
        "Buffers that the draws of a pass render to.",
        of_model(Attachment, _OF_PASS),
    ),
    Table(
        "operations",
        "Loads, clears and stores of attachments, each execution.",
        of_model(Operation, _OF_PASS),
    ),
    Table("tiles", "Tiles of GMEM passes.", of_model(Tile)),
    Table(
        "actions",
        "Every execution of a draw, dispatch, blit, clear, load, store.",
        of_model(Action),
    ),
    Table(
        "draws",
        "The program's draws, dispatches and copies, each once.",
        of_model(
            Action,
            Column(
                "draw_index", "integer", "position among the program's draws of the capture"
            ),
        ),
    ),
    Table(
        "targets",
        "Buffers that the program's draws render to.",
        of_model(Attachment, *_plain(OF_DRAW)),
        on_request=True,
    ),
    Table(
        "transfers",
        "What actions copy, fill, clear, load, store: a row for each attachment of an action; of a"
        " packet that copies memory, action is that before it.",
        of_model(Transfer, *_plain(OF_ACTION)),
    ),
    Table(
        "registers",
        "Registers at the program's draws: a row for each change.",
        (
            Column("capture", "text", "the file, as it was given"),
            *_of_register("register", "register_offset"),
            *_OF_DRAWS,
            *_of_register("value"),
            *_of_register("decoded", *OF_WRITE, is_optional=True),
        ),
    ),
    Table(
        "fields",
        "Fields of registers: a row for each change of the register.",
        (
            Column("capture", "text", "the file, as it was given"),
            *_of_register("register"),
            *_OF_DRAWS,
            *_plain(columns(model_of(FieldValue))),
        ),
        on_request=True,
    ),
    Table(
        "descriptors",
        "Textures, samplers, storage and uniform buffers of draws: a row for each change.",
        of_model(Binding, *_OF_DRAWS),
    ),
    Table(
        "descriptor_fields",
        "Fields of descriptors: a row for each change of the descriptor.",
        of_model(FieldValue, *_OF_DRAWS, *_plain(OF_BINDING)),
        on_request=True,
    ),
    Table(
        "data_buffers",
        "Data that draws read: uniform data, vertices, indices, constants: a row for each change.",
        of_model(Binding, *_OF_DRAWS),
        on_request=True,
    ),
    Table(
        "shaders",
        "Distinct programs.",
        (*of_model(CapturedShader), Column("listing", "text", "its instructions as text", True)),
    ),
    Table(
        "shader_draws",
        "Which draws run a program: ranges of their numbers.",
        columns_of("""
capture text the file
shader integer number of the program
first_dump_draw integer number of the first draw in the dump
last_dump_draw integer number of the last one
"""),
    ),
    Table(
        "pipes",
        "VSC pipes of passes, and their visibility streams.",
        of_model(PipeStreams, _OF_PASS),
    ),
    Table(
        "bins",
        "Bins of VSC pipes whose visibility streams are decoded.",
        of_model(Bin, _OF_PASS, Column("pipe", "integer", "number of the VSC pipe")),
    ),
    Table(
        "visible_draws",
        "Draws of the program that are visible in tiles, by the visibility streams.",
        of_model(VisibleDraw, _OF_PASS, Column("tile", "integer", "number of the tile")),
        on_request=True,
    ),
    Table(
        "packets",
        "The lines of cffpy lines: register writes, dwords of packets, draws.",
        columns_of("""
capture text the file
submit integer number of the submit
level integer nesting of IBs
gpuaddr address GPU address of the packet
pipe text pipe of the CP that executes it: BR, BV, both, unknown; NULL where it is not said
pass integer pass of the next draw
dump_draw integer number of the next draw in the dump
packet text name of the packet
name text register, dword of the packet, or kind of the draw
raw text value in hexadecimal
decoded text value as text
"""),
        on_request=True,
    ),
    Table(
        "lrz",
        "LRZ at each draw of render passes, and why it is off.",
        of_model(DrawLrz, _OF_PASS),
        on_request=True,
    ),
    Table(
        "queries",
        "Queries of the driver: see cffpy passes --queries.",
        of_model(GpuQuery),
        on_request=True,
    ),
    Table(
        "query_counters",
        "Counters of queries, with their results.",
        of_model(QueryCounter, Column("query", "integer", "number of the query")),
        on_request=True,
    ),
    Table(
        "query_draws",
        "Which draws a query counts: ranges of their numbers.",
        of_model(QueryDraws, Column("query", "integer", "number of the query")),
        on_request=True,
    ),
    Table(
        "stream_outputs",
        "What draws write to buffers by stream-out: see cffpy draws --stream-out.",
        of_model(StreamOutput, *_OF_WRITTEN),
        on_request=True,
    ),
    Table(
        "stream_out_buffers",
        "Buffers that draws write by stream-out, and their offsets.",
        of_model(StreamOutBuffer, *_OF_WRITTEN),
        on_request=True,
    ),
    Table(
        "pass_costs",
        "What render passes move to and from memory, by formula.",
        of_model(PassCost),
    ),
    Table(
        "barriers",
        "Packets that clean caches, invalidate caches and wait: see cffpy passes --barriers.",
        of_model(Barrier),
        on_request=True,
    ),
    Table(
        "mode_choices",
        "Why render passes are in sysmem or GMEM mode: see cffpy passes --why.",
        of_model(ModeChoice),
        on_request=True,
    ),
    Table(
        "findings", "What lints find: see cffpy check.", of_model(Finding), on_request=True
    ),
    Table("problems", "Damage, what limits left out, warnings.", of_model(Problem)),
)  # fmt: skip

#: All tables by name.
TABLES = {table.name: table for table in _TABLES}

#: Tables that are made by default.
DEFAULT_TABLES = tuple(table.name for table in _TABLES if not table.on_request)

#: Views: name -> its SELECT, over the tables that it names.
VIEWS = {
    "register_at_draw": (
        "SELECT d.capture, d.pass, d.draw, d.name, d.draw_index, r.register, r.register_offset,"
        " r.value, r.decoded FROM draws d JOIN registers r ON r.capture = d.capture"
        " AND d.draw_index BETWEEN r.first_draw AND r.last_draw"
    ),
    "shader_of_draw": (
        "SELECT d.capture, d.pass, d.draw, d.name, d.draw_index, s.shader, s.stage,"
        " s.instructions, s.full_registers, s.half_registers FROM draws d"
        " JOIN shader_draws u ON u.capture = d.capture"
        " AND d.dump_draw BETWEEN u.first_dump_draw AND u.last_dump_draw"
        " JOIN shaders s ON s.capture = u.capture AND s.shader = u.shader"
    ),
    "descriptor_at_draw": (
        "SELECT d.capture, d.pass, d.draw, d.name, d.draw_index, t.kind, t.stage,"
        " t.bindless_set, t.slot, t.enabled, t.used, t.reads, t.writes,"
        " t.address, t.format, t.width, t.height, t.dwords"
        " FROM draws d JOIN descriptors t ON t.capture = d.capture"
        " AND d.draw_index BETWEEN t.first_draw AND t.last_draw"
    ),
}
#: The tables that a view is made of.
VIEW_TABLES = {
    "register_at_draw": ("draws", "registers"),
    "shader_of_draw": ("draws", "shader_draws", "shaders"),
    "descriptor_at_draw": ("draws", "descriptors"),
}
