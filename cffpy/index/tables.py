# SPDX-License-Identifier: MIT
"""The tables of an index: those of ``cffpy export`` as they are stored, and the index's own.

Counts of a register's values and programs of an index are declared facts: columns, documents, API.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, NamedTuple

from cffpy.capture.gpu import STAGES
from cffpy.check.model import Finding
from cffpy.frame.faces import columns, facts_document
from cffpy.frame.facts import Address, Bits, described, model_of
from cffpy.frame.register_state import StateValue
from cffpy.frame.shader import CapturedShader
from cffpy.query.filters import is_of_executions
from cffpy.query.properties import BINDING_FACTS, PROGRAM_NUMBERS, PROPERTIES
from cffpy.tables.schema import DEFAULT_TABLES, SCHEMA, TABLES, Column, Table, columns_of


@described(
    "register_value",
    is_value=False,
    like=(CapturedShader, StateValue),
    captures="how many captures have it",
    draws="how many draws have it",
    first_capture="the first capture that has it, by name",
)
class RegisterValueCount(NamedTuple):
    """A value of a register in an index: how many captures and draws have it, and which first."""

    generation: int
    register: str
    register_offset: Address
    value: Bits | None
    decoded: str
    captures: int
    draws: int
    first_capture: str


@described(
    "shader_use",
    is_value=False,
    like=(CapturedShader,),
    capture="the capture",
    names={"number": "shader"},
)
class IndexedUse(NamedTuple):
    """A capture that has a program of an index."""

    capture: str
    number: int
    uses: int


@described(
    "indexed_shader",
    is_value=False,
    like=(CapturedShader,),
    captures="how many captures have it",
    uses="draws and dispatches that run it, of all captures",
    first_capture="the first capture that has it, by name",
    first_shader="its number there",
    listing="its instructions as text",
    places="the first captures that have it",
)
class IndexedShader(NamedTuple):
    """A program of an index."""

    digest: str
    stage: str
    bytes: int
    instructions: int
    half_registers: int | None
    full_registers: int | None
    constlen: int | None
    ss: int | None
    sy: int | None
    captures: int
    uses: int
    first_capture: str
    first_shader: int
    listing: str
    places: list[IndexedUse]

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy index shader --json``."""
        return facts_document(self)


#: A column whose texts are stored once: listings of programs.
LISTING, LISTING_DIGEST = "listing", "listing_digest"

#: Properties of filters, each a column of the table of draws. A tile is of one execution of a draw;
#: large facts are computed where captures are asked for them.
PROPERTY_NAMES = (
    *(
        name
        for name, one in PROPERTIES.items()
        if not is_of_executions(name) and not (one.fact and one.fact.is_large)
    ),
    *(f"draw.shaders.{stage}" for stage in STAGES),
    "markers",
)
#: Properties that all draws of a pass share.
PASS_PROPERTIES = tuple(name for name in PROPERTY_NAMES if name.startswith("pass."))


def stored(table: Table) -> Table:
    """A table as partitions have it: a digest instead of a listing."""
    columns = tuple(
        Column(LISTING_DIGEST, "text", "SHA-256 of the listing")
        if column.name == LISTING
        else column
        for column in table.columns
    )
    return table._replace(columns=columns)


def of_facts(kind: type, *names: str) -> tuple[Column, ...]:
    """The columns of the facts of a model: of all, or of those that are named."""
    known = {
        column.name: Column(column.name, column.type, column.meaning)
        for column in columns(model_of(kind))
    }
    return tuple(known[name] for name in names or known)


#: The tables of ``cffpy export``, by name.
EXPORTED = {name: stored(TABLES[name]) for name in DEFAULT_TABLES}

LISTINGS = Table(
    "listings",
    "Listings of programs.",
    columns_of("""
listing_digest text SHA-256 of the listing
listing text disassembly
"""),
)

_CAPTURE = Column("capture", "text", "the file, as it was given")

FINDINGS = Table(
    "findings",
    "What cffpy check finds.",
    (
        _CAPTURE,
        *of_facts(Finding, "id", "name", "severity", "text", "count", "pass", "draw_name"),
        Column("document", "text", "object of cffpy check --json"),
    ),
)

#: Values of registers: of a partition, and of the whole index.
VALUES = Table(
    "register_values",
    "Distinct values of registers.",
    of_facts(RegisterValueCount),
)

#: A key is the number of the partition and the row of the draw in it: number << 32 | row.
DRAWS = Table(
    "filter_draws",
    "The program's draws with the properties of filters, as JSON.",
    (
        *columns_of("""
key integer number of the partition and row of the draw
before integer key of the draw with which changed() compares
executed flag registers have values
capture text the file
generation integer 7 for a7xx
submit integer number of the submit
pass integer index of the pass
name text name that commands take
dump_draw integer number in cffpy dump
tile integer position of the tile
"""),
        *(Column(name, "text", "property of filters") for name in PROPERTY_NAMES),
    ),
)

STATES = Table(
    "filter_registers",
    "Dwords of registers: a row for each change.",
    columns_of("""
number integer offset of the dword, or number of an element of a port
first_key integer key of the first draw at which the value holds
last_key integer key of the last one
value integer the dword; -1 where only the GPU knows it
"""),
)

WRITES = Table(
    "filter_writes",
    "Writes of registers: runs of draws before each of which the dword was written.",
    columns_of("""
number integer offset of the dword, or number of an element of a port
first_key integer key of the first draw of the run
last_key integer key of the last one
"""),
)

INSTRUCTIONS = Table(
    "filter_instructions",
    "What instructions, structures in memory and registers of Intel GPUs hold: a row for each"
    " change.",
    columns_of("""
name text name of the instruction, structure or register
first_key integer key of the first draw at which it holds
last_key integer key of the last one
words text the dwords in hexadecimal; empty where they are not known
"""),
)

BOUND = Table(
    "filter_descriptors",
    "Descriptors of draws: for each kind a row for each change of what draws use.",
    columns_of("""
kind text texture, sampler or storage
first_key integer key of the first draw that has these descriptors
last_key integer key of the last one
list_digest text SHA-256 of their document
"""),
)

LISTS = Table(
    "filter_descriptor_lists",
    "Descriptors of one kind that a draw uses.",
    columns_of("""
list_digest text SHA-256 of the document
document text JSON: of each the facts that it has, by their names, and its bytes
"""),
)

RUN = Table(
    "filter_programs",
    "Numbers of the programs that draws run.",
    columns_of("""
capture text the file
submit integer number of the submit
stage text VS, FS, CS, ...
gpuaddr address GPU address of the program
numbers text JSON: those of cffpy disasm by name
"""),
)

#: What partitions have besides EXPORTED.
OWN = {
    table.name: table
    for table in (
        *(LISTINGS, FINDINGS, VALUES),
        *(DRAWS, STATES, WRITES, INSTRUCTIONS, BOUND, LISTS, RUN),
    )
}
#: Those whose rows are found by the key of a draw, ``first_key``.
KEYED = (STATES, WRITES, INSTRUCTIONS, BOUND)
#: Those with texts that rows of other tables name by a digest.
TEXTS = (LISTINGS, LISTS)

FILES = Table(
    "files",
    "A row for each file of an index, also for those that could not be decoded.",
    columns_of("""
name text the file
location text absolute path or URL
member text path in an archive
root text the input by which it was found
size integer stored bytes
mtime integer time of its last change, in nanoseconds since 1970
part text the partition that has its rows
stored_digest text SHA-256 of the stored bytes
digest text SHA-256 of the decompressed bytes
gpu text name of the GPU
generation integer 7 for a7xx
driver text the driver: turnip or gallium; NULL where the capture does not show it
edition text edition of the descriptions that decoded it
settings text how it was decoded
schema text tables that were made
problems text damage and warnings, a line each
error text why it could not be decoded
seconds real processor time
memory integer most bytes that the worker has used so far
first_row integer first of its draws in the partition
rows integer number of its draws
status text what became of it: ok, damaged or failed
"""),
)

PROGRAMS = Table(
    "programs",
    "Distinct programs of all captures.",
    tuple(
        Column(LISTING_DIGEST, "text", "SHA-256 of the listing") if one.name == LISTING else one
        for one in of_facts(IndexedShader)
    ),
)

#: Tables of a snapshot.
CORPUS = {table.name: table for table in (FILES, VALUES, PROGRAMS, LISTINGS)}


def fingerprint() -> str:
    """Identifies the tables and columns: entries with another fingerprint are decoded again."""
    text = json.dumps(
        [
            (table.name, [(column.name, column.type) for column in table.columns])
            for table in (*EXPORTED.values(), *OWN.values())
        ]
        + [("facts", [*BINDING_FACTS, *PROGRAM_NUMBERS])]
    )
    return f"{SCHEMA} {sha256(text.encode()).hexdigest()[:12]}"
