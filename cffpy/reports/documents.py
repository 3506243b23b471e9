# SPDX-License-Identifier: MIT
"""The type of the document of ``cffpy report --json``.

Objects of a capture have the facts of their models, by their names; what only a report has is
declared here. Members of many values are columns (``cffpy.frame.fact_columns``). A *row* is the
number of a draw in the columns of ``draws``.

The search of a report's page evaluates expressions itself. Which words a name may be, what its
values are compared as, and how a register's bits are a number, are those of filters (cffpy.query).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict

from cffpy.capture.gpu import STAGES
from cffpy.document_types import Facts, FactsOf, Hex, InColumn, Of, OneCapture
from cffpy.errors import FilterError
from cffpy.frame.faces import sentence
from cffpy.query.names import NameTable, conversion
from cffpy.query.properties import BINDING_FACTS, OWNERS, PROGRAM_NUMBERS, PROPERTIES
from cffpy.query.syntax import Path
from cffpy.regdb import rows
from cffpy.reports.columns import NONE, Interned

if TYPE_CHECKING:
    from cffpy.query.properties import Property
    from cffpy.regdb.database import Database

_Picture = Annotated[int, "its number in pictures; -1 where there is none"]
_Rows = Annotated[list[int], "rows at which the value changes, ascending"]

#: Facts that the report has in another form.
OF_PASS_ELSEWHERE = ("dump_draws",)
OF_RUN_ELSEWHERE = ("operations",)
OF_LRZ_ELSEWHERE = ("draws",)
OF_WRITES_ELSEWHERE = ("pipe", "conditional")
#: Facts of bindings that tell the place.
SLOT = ("kind", "stage", "bindless_set", "slot")
#: Large facts of draws that it has.
OF_DRAWS_LARGE = ("lrz", "lrz_reasons", "stream_out", "queries")


# -- passes ---------------------------------------------------------------------------------------


class ReportedAttachment(TypedDict):
    """An attachment of a pass."""

    gmem_bytes: Annotated[int | None, "its size in GMEM, of one bin, in bytes"]
    picture: _Picture


class ReportedOperation(TypedDict):
    """Loads, clears or stores that are equal in all tiles: the facts are of the first one."""

    text: Annotated[str, "how it is done, as cffpy passes prints it"]
    times: Annotated[int, "how often it is executed in tiles, or in sysmem mode"]
    in_binning: Annotated[int, "how often in the binning run"]


class ReportedTiles(TypedDict):
    """The tiles of a pass, by columns."""


class ReportedPass(TypedDict):
    """A pass with its facts; tiles and operations as columns."""

    title: Annotated[str, "what it is, as cffpy passes prints it"]
    framebuffer_text: Annotated[str, "its size with layers, views and samples"]
    attachments: Annotated[
        list[Annotated[ReportedAttachment, FactsOf("cffpy.frame.attachment:Attachment")]],
        "the buffers that its draws render to",
    ]
    operations: Annotated[
        list[Annotated[ReportedOperation, FactsOf("cffpy.frame.passes:Operation")]],
        "loads, clears and stores that are executed, or may be; equal ones are one entry",
    ]
    tiles: Annotated[
        Annotated[
            ReportedTiles,
            FactsOf("cffpy.frame.passes:Tile", without=OF_RUN_ELSEWHERE, by_columns=True),
        ]
        | None,
        "its tiles in the order of execution; null without tiles",
    ]
    events_before: Annotated[
        dict[str, int], "waits and cache events between the pass before and this one, how many"
    ]
    visible_primitives: Annotated[
        int, "what visibility streams draw of its draws, as far as that is known"
    ]
    rows: Annotated[list[int], "the row of its first draw, and how many rows are its draws"]


class ReportedLrz(TypedDict):
    """LRZ in a render pass."""

    buffer: Annotated[str, "the LRZ buffer, in words"]
    summary: Annotated[str, "what its draws do with LRZ, in words"]


# -- draws ----------------------------------------------------------------------------------------


class ReportedDraws(TypedDict):
    """The program's draws, by columns."""

    visible_primitives: Annotated[
        list[int | None],
        "primitives that visibility streams draw, in all tiles of the pass together",
        InColumn(),
    ]
    shaders: Annotated[
        list[list[int | None]],
        "of each program its number in shaders; null where it was not captured",
        InColumn(),
    ]
    attributes: Annotated[
        list[list[Facts]],
        "its vertex attributes",
        Of("cffpy.frame.binding:VertexAttribute"),
        InColumn(),
    ]
    source: Annotated[list[str | None], "what it reads, of a copy, in words", InColumn()]
    destination: Annotated[list[str | None], "what it writes, of a copy, in words", InColumn()]


class ReportedShader(TypedDict):
    """A program that draws run."""

    shader: Annotated[int, "number of the program in the report"]
    listing: Annotated[str | None, "its disassembly; null where the report has no room for it"]


# -- the search -----------------------------------------------------------------------------------


class SearchedFact(TypedDict):
    """A name of filters, and where the report has its value."""

    kind: Annotated[Literal["number", "text", "bool"], "what it is compared as"]
    many: Annotated[bool, "it has several values"]
    hexadecimal: Annotated[bool, "the report has it as a text in hexadecimal"]


class SearchedProperty(SearchedFact):
    """A property of draws or passes."""

    meaning: Annotated[str, "what it means"]
    words: Annotated[list[str], "all values of a text; empty for any text"]
    path: Annotated[
        str | None,
        "members that lead to it, as jq has them, from draw, a row of draws, or from pass, the pass"
        " of the row; null: it is not in the report",
    ]


class SearchedOwner(TypedDict):
    """What names of bindings begin with."""

    kind: Annotated[str, "the kind of bindings"]
    used: Annotated[bool, "only those that a draw uses"]


class SearchNames(TypedDict):
    """The names of filters that the search of the page has."""

    properties: Annotated[dict[str, SearchedProperty], "properties by their names"]
    stages: Annotated[list[str], "stages of programs"]
    numbers: Annotated[dict[str, str], "the meanings of numbers of programs, by their names"]
    owners: Annotated[dict[str, SearchedOwner], "what names of bindings begin with"]
    bindings: Annotated[dict[str, SearchedFact], "facts of bindings by their names"]


# -- differences ----------------------------------------------------------------------------------


class ReportedDifference(TypedDict):
    """A difference from the other capture, with what follows from it."""

    title: Annotated[str, "what differs"]
    extents: Annotated[
        list[list[int]], "where: pass, first and last row; -1 for what the report does not have"
    ]
    fields: Annotated[
        list[list[Any]], "name, value in the other capture, value here, lines of details"
    ]
    more: Annotated[int, "further fields"]
    consequences: Annotated[list[ReportedDifference], "what follows from it"]


class ReportedComparison(TypedDict):
    """The differences from another capture."""

    other: Annotated[str, "the other capture"]
    damage: Annotated[list[str], "its damage, in words"]
    summary: Annotated[str, "how many differences there are, in words"]
    entries: Annotated[list[ReportedDifference], "the differences"]
    missing: Annotated[list[str], "passes that this capture lacks, in words"]


# -- registers ------------------------------------------------------------------------------------


class ValueType(TypedDict):
    """How bits of a register are a value, for the search."""

    kind: Annotated[Literal["bool", "uint", "int", "fixed", "ufixed", "float"], "its type"]
    low: Annotated[int, "the lowest bit"]
    high: Annotated[int, "the highest bit"]
    shift: NotRequired[Annotated[int, "bits that it is shifted to the left"]]
    radix: NotRequired[Annotated[int, "bits behind the point"]]
    words: NotRequired[Annotated[dict[str, int], "names of values"]]
    ids: NotRequired[Annotated[Literal[True], "it is the number of a shader's register"]]


class RegisterColumn(TypedDict):
    """A register: the draws at which it changes, with the values from these on."""

    offset: Annotated[int, "its offset in dwords"]
    name: Annotated[str, "its name"]
    bits: Annotated[Literal[32, 64], "32, or 64 for two dwords"]
    topic: Annotated[str | None, "what it is for"]
    type: Annotated[int, "its number in types; -1 for one plain number"]
    fields: Annotated[list[list[Any]], "of each field its name, lowest and highest bit, type"]
    values: Annotated[
        list[list[Any]],
        "of each value its digits, its text, null where that is the same, and of its fields the"
        " texts by their numbers",
    ]
    draws: _Rows
    value: Annotated[list[int], "from each of these on, the number of the value; -1: unknown"]
    write: Annotated[list[int], "the number of the packet in writes; -1: none is known"]


class ReportedWrites(TypedDict):
    """The packets that wrote registers, by columns."""

    dump: Annotated[list[int], "the packet's number in dump; -1 where it is not there"]


class RegisterColumns(TypedDict):
    """The registers at all draws, by their changes."""

    types: Annotated[list[ValueType], "the distinct types of registers and fields"]
    columns: Annotated[list[RegisterColumn], "the registers that were written"]
    writes: Annotated[
        Annotated[
            ReportedWrites,
            FactsOf(
                "cffpy.frame.register_write:RegisterWrite",
                without=OF_WRITES_ELSEWHERE,
                by_columns=True,
            ),
        ]
        | None,
        "the packets that wrote them; null without commands",
    ]


class DumpColumns(TypedDict):
    """Packets as cffpy dump shows them, by columns, in the order of memory."""

    digits: Annotated[Literal[8, 16], "digits of an address"]
    texts: Annotated[list[str], "distinct texts"]
    lines: Annotated[list[int], "the lines about the packet: a number in texts"]
    rows: Annotated[
        list[int], "the rows with its dwords, with offsets for addresses: a number in texts"
    ]
    gpuaddr: Annotated[list[Hex], "its GPU address"]
    file_offset: Annotated[list[Hex], "its offset in the decompressed file, in bytes"]
    follows: Annotated[list[int], "1 where it is the packet after the one before, else 0"]


# -- what draws use -------------------------------------------------------------------------------


class BindingPlace(TypedDict):
    """A place where something is bound, and the draws at which that changes."""

    kind: Annotated[str, "the kind of bindings"]
    stage: Annotated[str | None, "the stage; null where several share it"]
    bindless_set: Annotated[int | None, "number of the bindless set"]
    slot: Annotated[int, "number of the slot"]
    draws: _Rows
    value: Annotated[list[int], "from each of these on, the number in values; -1: nothing"]


class BoundValue(TypedDict):
    """What is bound, and how a draw uses it."""

    place: NotRequired[Annotated[str, "the packet that loaded it, as commands print places"]]
    fields: NotRequired[
        Annotated[list[list[Any]], "of each field its name, lowest and highest bit, text"]
    ]
    dwords: NotRequired[Annotated[str, "the bytes of a descriptor, in hexadecimal"]]
    data: NotRequired[Annotated[str, "the first bytes of data, in hexadecimal"]]
    picture: NotRequired[_Picture]
    bound: Annotated[bool, "see the fact"]
    used: Annotated[bool, "see the fact"]
    reads: Annotated[bool, "see the fact"]
    writes: Annotated[bool, "see the fact"]


class BindingColumns(TypedDict):
    """What draws have bound, by its changes."""

    places: Annotated[list[BindingPlace], "the places"]
    values: Annotated[
        list[Annotated[BoundValue, FactsOf("cffpy.frame.binding:Binding", SLOT, is_sparse=True)]],
        "the distinct values",
    ]


class ReportedBuffer(TypedDict):
    """The buffer that an address is in."""

    gpuaddr: Annotated[Hex, "its GPU address"]
    size: Annotated[int, "its size in bytes"]


_OfPass = TypedDict("_OfPass", {"pass": Annotated[int, "number of the pass"]})


class ResourceUse(_OfPass):
    """How a pass uses a resource."""

    how: Annotated[Literal["read", "write"], "whether the pass reads or writes it"]
    row: Annotated[int, "row of the first draw that does; -1 for operations of the pass"]
    times: Annotated[int, "how often"]


class Resource(TypedDict):
    """Memory that passes write or read, by its address."""

    submit: Annotated[int, "number of the submit"]
    gpuaddr: Annotated[Hex, "its GPU address"]
    kinds: Annotated[list[str], "what it is used as: texture, color 0, ..."]
    text: Annotated[str, "its format and size, in words"]
    buffer: Annotated[ReportedBuffer | None, "the captured buffer that it is in"]
    gmem: Annotated[bool, "the address is one of GMEM"]
    uses: Annotated[list[ResourceUse], "the passes that use it"]


class Resources(TypedDict):
    """The memory that passes use, and the graph of passes."""

    resources: Annotated[list[Resource], "memory by its address"]
    edges: Annotated[
        list[list[Any]],
        "from a pass that writes memory to one that reads it: both numbers, the resources",
    ]
    nodes: Annotated[list[list[int]], "the drawn graph: pass, left, top, width and height"]


class Picture(TypedDict):
    """A picture of a captured image, or the reason why there is none."""

    width: NotRequired[Annotated[int, "width of the image in texels"]]
    height: NotRequired[Annotated[int, "its height"]]
    notes: NotRequired[Annotated[list[str], "what is to be known of it, in words"]]
    png: NotRequired[Annotated[str, "the picture, in base64; it may be smaller"]]
    reason: NotRequired[Annotated[str, "why there is no picture"]]


# -- the document ---------------------------------------------------------------------------------


class ReportDocument(OneCapture):
    """What the page of a capture shows: cffpy report --json.

    A member in columns is a list with the value of each row, or an object where few values repeat:
    each value once, and of each row the number of its value.
    """

    program: Annotated[str, "the program that made it, with its version"]
    file: Annotated[str, "name of the file"]
    problems: Annotated[list[Facts], "problems of the capture", Of("cffpy.frame.submit:Problem")]
    submits: Annotated[list[Facts], "its submits", Of("cffpy.frame.submit:Submit")]
    passes: Annotated[
        list[Annotated[ReportedPass, FactsOf("cffpy.frame.passes:Pass", OF_PASS_ELSEWHERE)]],
        "its passes",
    ]
    lrz: Annotated[
        list[Annotated[ReportedLrz, FactsOf("cffpy.analysis.lrz:PassLrz", OF_LRZ_ELSEWHERE)]],
        "LRZ in each render pass with draws",
    ]
    costs: Annotated[
        list[Facts], "bytes that render passes move", Of("cffpy.analysis.pass_cost:PassCost")
    ]
    draws: Annotated[
        ReportedDraws,
        FactsOf("cffpy.frame.action:Action", large=OF_DRAWS_LARGE, by_columns=True),
        "the program's draws, by columns",
    ]
    filter: Annotated[SearchNames, "the names that the search has"]
    findings: Annotated[list[Facts], "what cffpy check finds", Of("cffpy.check.model:Finding")]
    comparison: Annotated[
        ReportedComparison | None, "differences from the capture of --compare; null without it"
    ]
    registers: Annotated[RegisterColumns, "the registers at all draws"]
    dump: Annotated[DumpColumns | None, "the packets that wrote them, and those around these"]
    shaders: Annotated[
        list[Annotated[ReportedShader, FactsOf("cffpy.frame.shader:Shader")]],
        "the distinct programs that draws run",
    ]
    bindings: Annotated[BindingColumns, "what draws have bound"]
    resources: Annotated[Resources, "the memory that passes use"]
    pictures: Annotated[list[Picture], "pictures of textures and attachments"]
    cut: Annotated[list[str], "what was left out, in words"]


#: What names begin with -> where the objects are: in a row of draws, or in the row's pass.
_PLACES = {
    "draw": "draw",
    "pass": "pass",
    "target": "draw.targets[]",
    "source": "draw.transfers[].source[]",  # [] also leaves out null
    "destination": "draw.transfers[].destination[]",
}

#: What the report has in another form than the model.
_ELSEWHERE = ("pass.operations.", *(f"pass.{name}" for name in OF_PASS_ELSEWHERE))


def filter_document(database: Database | None) -> dict[str, Any]:
    """See SearchNames. ``database``: None where the capture has no commands."""
    bindings = {
        name: {"kind": one.kind, "many": one.is_many, "hexadecimal": one.is_hexadecimal}
        for name, one in BINDING_FACTS.items()
        if not name.startswith("place.")  # the page has its text
    }
    properties = {} if database is None else PROPERTIES
    return {
        "properties": {name: _property(name, one, database) for name, one in properties.items()},
        "stages": list(STAGES),
        "numbers": {name: sentence(one.meaning) for name, one in PROGRAM_NUMBERS.items()},
        "owners": {name: {"kind": kind, "used": used} for name, (kind, used) in OWNERS.items()},
        "bindings": bindings,
    }


def _property(name: str, declared: Property, database: Database | None) -> dict[str, Any]:
    owner = name.partition(".")[0]
    fact = declared.fact
    assert fact is not None
    is_there = owner in _PLACES and not name.startswith(_ELSEWHERE)
    if fact.is_large:
        is_there = name in [f"draw.{large}" for large in (*OF_DRAWS_LARGE, "visible_primitives")]
    return {
        "kind": declared.kind,
        "many": declared.is_many,
        "hexadecimal": fact.is_hexadecimal,
        "meaning": sentence(fact.meaning),
        "words": declared.values(database),
        "path": f"{_PLACES[owner]}.{fact.path}" if is_there else None,
    }


class ValueTypes:
    """The distinct types of registers and fields, by their numbers in the document."""

    def __init__(self, database: Database) -> None:
        self._table = NameTable(database)
        self._types: Interned[str] = Interned()

    def add(self, name: str) -> int:
        """The number of the type of a register or field; -1 for one plain number."""
        try:
            type_row = self._table.find(Path(name, 1)).type_row
        except FilterError:
            return NONE  # a name that no expression can have
        if type_row is None:
            return NONE
        kind, low, high, shift, radix = conversion(type_row)
        document: dict[str, Any] = {"kind": kind, "low": low, "high": high}
        if shift:
            document["shift"] = shift
        if radix:
            document["radix"] = radix
        words = self._table.words(name, type_row)
        if type_row[0] == rows.REGID:
            document["ids"] = True
        elif words is not None and kind != "bool":
            document["words"] = dict(words.values)
        return self._types.add(json.dumps(document))

    def to_list(self) -> list[Any]:
        """The types."""
        return [json.loads(value) for value in self._types.values]
