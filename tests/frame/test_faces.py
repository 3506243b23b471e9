# SPDX-License-Identifier: MIT
"""Each fact of each object of each sample is the same on every face."""

from __future__ import annotations

import csv
import importlib
import io
import json
import pkgutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, get_args

import pytest

import cffpy
from cffpy.analysis.diff.model import Difference, Entry, Extent
from cffpy.analysis.layout_check.checks import LayoutCheck
from cffpy.analysis.layout_check.comparison import LayoutDifference
from cffpy.analysis.lrz import PassLrz
from cffpy.analysis.pass_cost import MovedBytes, PassCost
from cffpy.analysis.register_store.register_state import LoggedState
from cffpy.analysis.summary import CaptureSummary, SectionCount
from cffpy.check.model import Finding
from cffpy.formats import image_format
from cffpy.frame.action import CLASSES, Action, ActionKind, Draw, HizOperation
from cffpy.frame.attachment import Attachment, Transfer, TransferEnd
from cffpy.frame.barrier import Barrier, Hazard, MemoryAccess
from cffpy.frame.binding import Constants, DataBuffer, Descriptor, VertexAttribute
from cffpy.frame.execution import PipeWait
from cffpy.frame.faces import (
    Named,
    columns,
    facts_document,
    facts_table,
    form_of,
    names,
    objects_table,
    row,
    schema,
    told,
)
from cffpy.frame.facts import Address, Model, described, fact, facts_of, model, model_of, stored
from cffpy.frame.field import FieldValue
from cffpy.frame.geometry import Size
from cffpy.frame.gpu_query import GpuQuery, QueryCopy, QueryCounter, QueryPredicate
from cffpy.frame.lrz import DrawLrz
from cffpy.frame.passes import Operation, Pass, Tile, TileVisibility, VisibleDraw
from cffpy.frame.pictures import ImageView, Picture
from cffpy.frame.places import ExecutedStream, PacketLocation
from cffpy.frame.register_state import Change, StateValue
from cffpy.frame.register_write import RegisterWrite
from cffpy.frame.render_mode import ModeChoice
from cffpy.frame.shader import CapturedShader, Shader
from cffpy.frame.stream_out import StreamOut, StreamOutBuffer, StreamOutput
from cffpy.frame.submit import Buffer, Problem, Stream, Submit
from cffpy.frame.visibility import Bin, PassVisibility, PipeStreams, VisibleEntry
from cffpy.image.devices import device
from cffpy.image.gmem import GmemLayout, GmemPlace, Tiling, turnip_tiles
from cffpy.image.layout import (
    ImageLayout,
    ImageRequest,
    LevelLayout,
    LrzLayout,
    image_layout,
    lrz_of_image,
)
from cffpy.query.properties import PROPERTIES, Subject
from cffpy.tables.schema import Column as TableColumn
from cffpy.tables.schema import Table
from cffpy.tables.writers import CsvFiles, JsonFiles, record_batch
from cffpy.views.image import ShownImage, WrittenPicture
from cffpy.views.layout import DriverLayout
from cffpy.views.model_documents import csv_columns, csv_rows
from tests.analysis.passes.streams import Streams
from tests.binned import SCENE
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

CHECKOUT = Path(__file__).resolve().parents[2]
#: All samples that are captures of commands of an Adreno GPU.
SAMPLES = sorted(path.stem for path in (CHECKOUT / "samples").glob("*.pm4"))

Colour = Literal["red", "green"]


@described("spot", x="distance from the left", y="distance from the top")
class Spot(NamedTuple):
    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.x},{self.y}"


@model("part")
class Part:
    """A part."""

    number: int = stored("its number", is_key=True)
    spot: Spot | None = stored("where it is", "pixels", default=None)


@model("whole")
class Whole:
    """A whole.

    More about it.
    """

    secret: int
    number: int = stored("its number", is_key=True)
    colour: Colour | None = stored("its colour", default=None)
    address: Address | None = stored("where it lies", default=None)
    spots: tuple[Spot, ...] = stored("its spots", default=())
    parts: list[Part] = stored("its parts", default_factory=list)
    notes: list[str] = stored("what to know", default_factory=list)
    gaps: list[int | None] | None = stored("numbers", default=None)
    mark: int | str | None = stored("a number or a word", default=12)

    @fact(unit="bytes")
    def double(self) -> int:
        """Twice
        its number.
        """
        return 2 * self.number

    @fact(cost="large")
    def everything(self) -> list[int]:
        """All of it."""
        raise AssertionError

    @fact()
    def part_(self) -> Part | None:
        """Its first part."""
        return self.parts[0] if self.parts else None


WHOLE = Whole(
    9, 3, "red", 0x1000, (Spot(1, 2), Spot(3, 4)), [Part(7, Spot(5, 6)), Part(8)], ["a b", "c"]
)


def test_documents() -> None:
    assert facts_document(WHOLE) == {
        "whole": 3,
        "colour": "red",
        "address": "0x1000",
        "spots": [{"x": 1, "y": 2}, {"x": 3, "y": 4}],
        "parts": [{"part": 7, "spot": {"x": 5, "y": 6}}, {"part": 8, "spot": None}],
        "notes": ["a b", "c"],
        "gaps": None,
        "mark": 12,
        "double": 6,
        "part": 7,
    }
    assert facts_document(Whole(0, 1))["part"] is None


def test_schemas_say_the_meaning() -> None:
    definitions: dict[str, object] = {}
    found = schema(model_of(Whole), definitions)
    assert found["description"] == "A whole."
    assert found["properties"]["double"] == {
        "description": "Twice its number. In bytes.",
        "type": "integer",
    }
    assert found["properties"]["colour"]["enum"] == ["red", "green", None]
    assert found["properties"]["gaps"]["type"] == ["array", "null"]
    assert found["properties"]["gaps"]["items"] == {"type": ["integer", "null"]}
    assert found["properties"]["mark"]["type"] == ["integer", "string", "null"]
    assert {*definitions} == {"Part", "Spot"}
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator({**found, "$defs": definitions})
    validator.validate(facts_document(WHOLE))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**facts_document(WHOLE), "colour": "blue"})


def test_columns_and_rows() -> None:
    assert [(one.name, one.type) for one in columns(model_of(Whole))] == [
        ("whole", "integer"),
        ("colour", "text"),
        ("address", "address"),
        ("spots", "text"),
        ("notes", "text"),
        ("gaps", "text"),
        ("mark", "text"),
        ("double", "integer"),
        ("part", "integer"),
    ]
    assert row(WHOLE) == (3, "red", 0x1000, "1,2 3,4", "a b; c", None, "12", 6, 7)
    assert [one.name for one in columns(model_of(Part))] == ["part", "spot_x", "spot_y"]
    assert columns(model_of(Part))[1].meaning == "where it is, in pixels: distance from the left"
    assert row(Part(1)) == (1, None, None)


def test_names_in_filters() -> None:
    found = {one.name: one for one in names(model_of(Whole))}
    assert found["whole.colour"].words == ("red", "green")
    assert found["whole.address"].is_hexadecimal
    assert found["whole.parts.spot.x"].read(WHOLE) == [5, None]
    assert found["whole.spots.y"].read(WHOLE) == [2, 4]
    assert found["whole.gaps"].read(WHOLE) == []
    assert (found["whole.mark"].kind, found["whole.mark"].read(WHOLE)) == ("text", "12")
    assert found["whole.part"].read(WHOLE) == 7
    assert "whole.everything" in found, "it is asked for by name"


def test_wrong_declarations() -> None:
    @model("odd")
    class Odd:
        """Odd."""

        value: bytes = stored("bytes")

    with pytest.raises(TypeError, match=r"bytes of .* is no type of a fact"):
        form_of(facts_of(Odd)[0])
    with pytest.raises(TypeError, match="int declares no facts"):
        facts_of(int)


def test_each_fact_has_a_meaning_and_a_form() -> None:
    drawn = (Pass, Tile, Operation, Action, Draw, Attachment, Transfer, TransferEnd)
    for kind in (*drawn, CaptureSummary, Submit, Stream, Buffer, Problem):
        for one in facts_of(kind):
            assert form_of(one)
            assert told(one).endswith(".")
            assert len(told(one)) > 8, one.name


# -- real objects ----------------------------------------------------------------------------------


def as_json(value: object) -> object:
    """A value of a fact as the rules say, written again for this test."""
    if isinstance(value, Enum):
        raise TypeError(value)
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "__model__"):
        return [as_json(one) for one in value]
    if hasattr(value, "__model__"):
        return {
            facts.name if not facts.is_key else model_of(type(value)).word: expected(facts, value)
            for facts in facts_of(type(value))
            if facts.cost != "large"
        }
    return value


def expected(one: object, owner: object) -> object:
    value = one.get(owner)  # type: ignore[attr-defined]
    form = form_of(one)  # type: ignore[arg-type]
    if value is None:
        return None
    if form.kind == "address":
        return [hex(part) for part in value] if form.is_list else hex(value)
    if form.kind == "reference":
        return value.index if isinstance(value, Pass) else value.number
    return as_json(value)


def objects(capture: cffpy.Capture) -> Iterator[object]:
    yield capture.summary
    yield from capture.summary.sections
    yield from capture.problems
    for submit in capture.submits:
        yield submit
        yield from submit.streams
        yield from submit.buffers
    yield from capture.shaders
    yield from capture.check()
    for check in capture.layout_checks.checks:
        yield from within(check)
    for cost in capture.costs:
        yield cost
        yield from cost.operations
    for lrz in capture.lrz:
        yield lrz
        yield from lrz.draws
    for query in capture.queries:
        yield from (query, *query.counters, *query.copies, *query.predicates)
    for written in capture.stream_out:
        yield from (written, *written.outputs, *written.buffers)
    for draw in capture.draws:
        state = draw.state
        for register in state.registers:
            yield register
            yield from filter(None, (register.written_by,))
        yield from state.changed
        yield from draw.attributes
        yield from draw.shaders.values()
        for binding in draw.bindings:
            yield binding
            yield from binding.fields.values()
    for one in capture.passes:
        yield from one.waits
        yield from filter(None, (one.mode_choice,))
    for barrier in capture.barriers:
        yield barrier
        for hazard in barrier.hazards:
            yield from (hazard, hazard.first, hazard.second)
    yield from (draw.state for draw in capture.draws[-1:])
    yield from objects_of_commands(capture)


def objects_of_commands(capture: cffpy.Capture) -> Iterator[object]:
    """Those that captures of both vendors have."""
    for one in capture.passes:
        yield one
        yield from one.tiles
        yield from one.operations
        yield from one.attachments
        yield from objects_of_visibility(one.visibility)
    yield from capture.actions
    for action in capture.transfers:
        yield action
        yield from action.transfers
        for moved in action.transfers:
            yield from filter(None, (moved.source, moved.destination, *moved.added))


def objects_of_visibility(found: PassVisibility) -> Iterator[object]:
    yield found
    for pipe in found.pipes:
        yield from (pipe, *pipe.bins, *pipe.visible)
    for tile in found.tiles:
        yield from (tile, *tile.draws)


def within(one: object) -> Iterator[object]:
    """An object, and those that its documents show as objects, and so on."""
    yield one
    for declared in facts_of(type(one)):
        form = form_of(declared)
        value = declared.get(one) if form.kind == "object" and declared.cost != "large" else None
        if value is None:
            continue
        several = value.values() if form.is_mapping else value if form.is_list else [value]
        for part in several:
            yield from within(part)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_fact_of_every_object_of_samples(name: str, samples: Path) -> None:
    with cffpy.open(next(samples.glob(f"{name}.rd*"))) as capture:
        for one in objects(capture):
            check_object(one)


def copies() -> bytes:
    """A capture with packets that copy and add memory; that is in none of the samples."""
    s = Streams(630)
    add = s.packet("CP_MEM_TO_MEM", 1 << 1 | 1 << 29, *(0x1000, 1, 0x2000, 1, 0x3000, 1))
    return s.capture([[s.draw(), s.packet("CP_MEMCPY", 4, 0x1000, 1, 0x2000, 1), add]])


def test_every_fact_of_copies() -> None:
    with cffpy.open(copies()) as capture:
        copy, added = (one.transfers[0] for one in capture.transfers)
        assert (copy.source, copy.destination) == (
            TransferEnd(0x100001000, size=16),
            TransferEnd(0x100002000, size=16),
        )
        assert added.source == TransferEnd(0x100002000, size=8)
        assert added.added == (TransferEnd(0x100003000, size=8, negated=True),)
        for one in objects(capture):
            check_object(one)


def test_every_fact_of_visibility_streams() -> None:
    with cffpy.open(SCENE.capture()) as capture:
        (one,) = capture.passes
        assert one.visibility.pipes[0].visible
        for found in objects_of_visibility(one.visibility):
            check_object(found)


def entries_of(entries: list[Entry]) -> Iterator[object]:
    for one in entries:
        yield one
        yield from one.extents
        for difference in one.differences:
            yield difference
            yield from filter(None, (difference.good_place, difference.bad_place))
        yield from entries_of(one.consequences)


def test_every_fact_of_a_comparison(samples: Path) -> None:
    paths = (samples / "a430-depth-good.rd", samples / "a430-depth-bad.rd")
    found = cffpy.diff(*map(cffpy.open, paths), strict=True)
    objects_of_entries = list(entries_of(found.entries))
    for one in objects_of_entries:
        check_object(one)
    assert {Entry, Extent, Difference} <= set(map(type, objects_of_entries))


def test_every_fact_of_images_and_layouts(samples: Path) -> None:
    pytest.importorskip("PIL")
    part = device("650")
    request = ImageRequest(image_format("D24S8"), 64, 64, levels=3, ubwc=True)
    layout = image_layout(request, part.generation, part.has_linear_mip_fallback)
    tiling = turnip_tiles(part, 640, 480, [image_format("RGBA8"), image_format("D24S8")])
    shown: list[object] = [request, layout, lrz_of_image(request, 6, has_fast_clear=True)]
    shown += [tiling, DriverLayout("FULL", True, tiling.layout)]
    with cffpy.open(samples / "a660-pictures.rd") as capture:
        for image in capture.draws[0].images:
            view = None if image.image is None else image.image.view
            shown.append(ShownImage(image.kind, image.number, image.label, view, image.problem))
        picture = capture.draws[0].images[0].image
        assert picture is not None
        shown.append(WrittenPicture("a.png", 0, 0, picture.picture(0, 0)))
    found = [one for each in shown for one in within(each)]
    for one in found:
        check_object(one)
    drawn = {ShownImage, ImageView, WrittenPicture, Picture, ImageRequest, ImageLayout}
    tiles = {LevelLayout, LrzLayout, Tiling, GmemLayout, GmemPlace, DriverLayout, Size}
    assert set(map(type, found)) == drawn | tiles


LINTS = sorted((CHECKOUT / "samples" / "lints").glob("*-fires.pm4"))


@pytest.mark.parametrize("path", first_always(LINTS, 4), ids=lambda path: path.stem)
def test_every_fact_of_samples_of_lints(path: Path) -> None:
    with cffpy.open(cffpy.compile(path.read_bytes())) as capture:
        assert capture.check()
        for one in objects(capture):
            check_object(one)


#: Samples that together have all kinds of objects, beside ``copies`` and SCENE.
OF_ALL_KINDS = (
    "a650-queries",
    "a660-barriers",
    "a660-frame-sysmem",
    "a740-concurrent-gmem",
    "a830-sysmem-compute",
    "damaged",
)


def test_samples_have_all_kinds_of_objects(samples: Path) -> None:
    found: set[type] = set()
    kinds: set[str] = set()
    paths = (next(samples.glob(f"{name}.rd*")) for name in OF_ALL_KINDS)
    for source in (*paths, copies(), SCENE.capture()):
        with cffpy.open(source) as capture:
            found |= set(map(type, objects(capture)))
            kinds |= {one.kind for one in (*capture.actions, *capture.transfers)}
    classes = {*CLASSES.values()} - {HizOperation}  # which Adreno does not have
    assert kinds == {*get_args(ActionKind)} - {HizOperation.kind}
    drawn = {*classes, Pass, Tile, Operation, Attachment, Transfer, TransferEnd}
    submitted = {CaptureSummary, SectionCount, Submit, Stream, Buffer, Problem}
    bound = {Descriptor, DataBuffer, Constants, FieldValue, Shader, CapturedShader}
    bound |= {StateValue, RegisterWrite, LoggedState, Change, VertexAttribute}
    seen = {PassVisibility, PipeStreams, Bin, VisibleEntry, TileVisibility, VisibleDraw}
    assert found == {
        *drawn,
        *submitted,
        *bound,
        *seen,
        PassLrz,
        DrawLrz,
        PassCost,
        MovedBytes,
        GpuQuery,
        QueryCounter,
        QueryCopy,
        QueryPredicate,
        StreamOut,
        StreamOutBuffer,
        StreamOutput,
        ModeChoice,
        Barrier,
        Hazard,
        MemoryAccess,
        Finding,
        LayoutCheck,
        LayoutDifference,
        PacketLocation,
        ExecutedStream,
        PipeWait,
    }
    rest = {kind for kind in declared_models() if not kind.__module__.startswith(ELSEWHERE)}
    bases = {base for kind in found for base in kind.__mro__}
    assert rest - bases - reachable(found) == set()


#: Packages whose objects have tests of their own: of comparisons, images and layouts above, of
#: descriptions in tests/regdb/test_lookup.py and tests/test_schemas.py, of tables of devices in
#: tests/image/test_devices.py, the others in ``test_faces_crash``, tests/index and tests/intel.
ELSEWHERE = (
    "cffpy.analysis.crash",
    "cffpy.analysis.diff",
    "cffpy.frame.description",
    "cffpy.frame.device",
    "cffpy.frame.pictures",
    "cffpy.image",
    "cffpy.index",
    "cffpy.intel",
    "cffpy.regdb.compare",
    "cffpy.reports",
    "cffpy.views",
)


def declared_models() -> Iterator[type]:
    """The classes that declare facts, of all modules that can be imported."""
    for module in pkgutil.walk_packages(cffpy.__path__, "cffpy."):
        if module.name.endswith("__main__"):
            continue
        try:
            named = vars(importlib.import_module(module.name))
        except ImportError:  # of an extra that is not installed
            continue
        for kind in named.values():
            is_own = isinstance(kind, type) and kind.__module__ == module.name
            if is_own and isinstance(vars(kind).get("__model__"), Model):
                yield kind


def reachable(kinds: Iterable[type]) -> set[type]:
    """The models of objects, and of what their documents show."""
    known: set[type] = set()
    waiting = [model_of(kind) for kind in kinds]
    while waiting:
        declared = waiting.pop()
        if declared.of not in known:
            known.add(declared.of)
            forms = map(form_of, declared.facts)
            waiting += [form.model for form in forms if form.model is not None]
    return known


def read_of(read: Callable[[Any], object], one: object) -> object:
    """A value; the error where it needs the capture, which a crash report has not."""
    try:
        return read(one)
    except cffpy.UsageError as problem:
        return str(problem)


#: Objects of each kind that are written in all forms; writing all takes minutes.
MOST_WRITTEN = 20
WRITTEN: Counter[type] = Counter()


def check_forms(one: object, document: dict[str, Any], cells: dict[str, Any]) -> None:
    """What a schema allows; pages of notebooks; Arrow, CSV and JSON lines, read back."""
    declared = model_of(type(one))
    if VALIDATORS is not None:
        VALIDATORS(declared).validate(json.loads(json.dumps(document)))
    page = facts_table(one)
    shown = [name for name, value in document.items() if value not in (None, [])]
    assert [name for name in document if f"<tr><td>{name}</td>" in page] == shown
    titles = [title for title, cell in cells.items() if cell is not None]
    assert (objects_table([one]) or "").count("<th>") == len(titles)
    assert all(f"<th>{title}</th>" in (objects_table([one]) or "") for title in titles)
    assert 0 < len(repr(one).splitlines()) <= 20
    line = [*cells.values()]
    if not line:  # what it has are lists of objects
        return
    shown_columns = (TableColumn(name, kind, told) for name, kind, told, _ in columns(declared))
    table = Table("objects", "Objects.", tuple(shown_columns))
    with TemporaryDirectory() as folder:
        for form in (CsvFiles, JsonFiles):
            writer = form(f"{folder}/{form.suffix}")
            writer.write(table, [tuple(line)])
            writer.close()
        with open(f"{folder}/.csv", newline="") as file:
            head, read = csv.reader(file)
        assert head == [column.name for column in table.columns]
        assert read == [csv_cell(cell) for cell in line]
        assert [*json.loads(Path(folder, ".jsonl").read_text()).values()] == line
    if find_spec("pyarrow") is not None:
        assert [*record_batch(table, [tuple(line)]).to_pylist()[0].values()] == line


def csv_cell(cell: object) -> str:
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


@cache
def validator(declared: Model) -> Any:
    definitions: dict[str, Any] = {}
    whole = schema(declared, definitions)
    import jsonschema

    return jsonschema.Draft202012Validator({**whole, "$defs": definitions})


VALIDATORS = None if find_spec("jsonschema") is None else validator


def check_object(one: object) -> None:
    document = facts_document(one)
    assert document == as_json(one)
    cells = dict(zip((c.name for c in columns(model_of(type(one)))), row(one), strict=True))
    if WRITTEN[type(one)] < MOST_WRITTEN:
        WRITTEN[type(one)] += 1
        check_forms(one, document, cells)
    filters = {name.name: name for name in names(model_of(type(one)))}
    word = model_of(type(one)).word
    for declared in facts_of(type(one)):
        shown = word if declared.is_key else declared.name
        name = f"{word}.{declared.attribute if declared.name == word else declared.name}"
        if declared.cost == "large":
            assert shown not in document
            assert shown not in cells
            if form_of(declared).kind != "object":
                assert read_of(filters[name].read, one) == read_of(declared.get, one)
            continue
        form, value = form_of(declared), document[shown]
        if form.is_mapping:
            assert shown not in cells
            assert name not in filters
            continue
        if form.kind == "object":
            if not form.is_list:
                for part, named, inner in leaves(form.parts, value or {}):
                    title = "_".join((shown, *part))
                    if inner is None and title not in cells:
                        continue  # an object that is not there
                    cell = cells[title]
                    assert inner in (cell, None if cell is None else hex_of(cell)), name
                    assert filters[".".join((name, *named))].read(one) == cell
            continue
        cell, read = cells[shown], filters[name].read(one)
        if form.is_list:
            given = [] if declared.get(one) is None else list(declared.get(one))
            between = "; " if form.kind == "text" else " "
            shown_as = hex if form.kind == "address" else str
            assert read == given
            assert (cell or "") == between.join("?" if v is None else shown_as(v) for v in given)
        else:
            shown_value = str(value) if form.kind == "scalar" and value is not None else value
            assert shown_value in (cell, hex_of(cell)), name
            assert read == cell


def leaves(
    of: Model, document: dict[str, object]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], object]]:
    """The values in a document of an object, and in those within it: by paths, and in filters."""
    facts = {of.word if one.is_key else one.name: one for one in of.facts}
    for name, value in document.items():
        declared, form = facts[name], form_of(facts[name])
        if form.is_list or form.is_mapping:
            continue
        if isinstance(value, dict):
            for path, named, inner in leaves(form.parts, value):
                yield (name, *path), (declared.name, *named), inner
        else:
            yield (name,), (declared.name,), value


def hex_of(cell: object) -> object:
    return hex(cell) if isinstance(cell, int) else None


#: Command -> the list in its document, and the objects that it has; all with ``--json``.
LISTS: dict[str, tuple[str, Callable[[cffpy.Capture], Iterable[Any]]]] = {
    "info": ("files", lambda capture: [capture.summary]),
    "passes": ("passes", lambda capture: capture.passes),
    "passes --cost": ("passes", lambda capture: capture.costs),
    "tiles": ("tiles", lambda capture: capture.passes[0].tiles),
    "draws": ("draws", lambda capture: capture.draws),
    "draws --all": ("draws", lambda capture: capture.actions),
    "state --at p0:0": ("registers", lambda capture: capture.draws[0].state.registers),
    "shaders": ("shaders", lambda capture: capture.shaders),
    "lrz": ("passes", lambda capture: capture.lrz),
    "vsc": ("passes", lambda capture: [one.visibility for one in capture.passes]),
    "check": ("findings", lambda capture: capture.check()),
    "layout check": ("checks", lambda capture: capture.layout_checks.checks),
}
#: Commands with tables.
TABLES = ("passes", "tiles", "draws", "draws --all", "state --at p0:0")
#: Commands with lines.
LINES = ("passes", "tiles", "draws", "draws --all", "shaders", "lrz", "check")


@pytest.mark.parametrize("command", LISTS)
def test_commands_write_what_the_model_says(command: str, samples: Path, run_cffpy: Run) -> None:
    path = samples / "a660-frame-binning.rd"
    place, listed = LISTS[command]
    large = ("listing",) if command == "shaders" else ()
    with cffpy.open(path) as capture:
        shown = [*listed(capture)]
        documents = [facts_document(one, large) for one in shown]
        titles = csv_columns(type(shown[0]))
        cells = [["" if cell is None else str(cell) for cell in one] for one in csv_rows(shown)]
    words = command.split()
    document = json.loads(run_cffpy(*words, "--json", path).stdout)
    assert documents
    assert document.get(place, document.get("files", [{}])[0].get(place)) == documents
    if command in TABLES:
        text = run_cffpy(*words, "--csv", path).stdout.decode()
        assert [*csv.reader(io.StringIO(text))] == [titles, *cells]
    if command in LINES:
        lines = run_cffpy(*words, "--jsonl", path).stdout.splitlines()
        assert [json.loads(line) for line in lines] == [
            {"file": str(path), **one} for one in documents
        ]


def of_passes(name: str) -> Callable[[cffpy.Capture], Iterable[object]]:
    """Reads the objects of all passes that an attribute has."""
    return lambda capture: chain.from_iterable(getattr(one, name) for one in capture.passes)


#: Table -> the model of its rows, and the objects of a capture.
ROWS: dict[str, tuple[type, Callable[[cffpy.Capture], Iterable[object]]]] = {
    "actions": (Action, lambda capture: capture.actions),
    "attachments": (Attachment, of_passes("attachments")),
    "operations": (Operation, of_passes("operations")),
    "passes": (Pass, lambda capture: capture.passes),
    "tiles": (Tile, of_passes("tiles")),
    "waits": (PipeWait, of_passes("waits")),
}


@pytest.mark.parametrize("table", ROWS)
def test_sql_has_all_facts(table: str, samples: Path) -> None:
    pytest.importorskip("duckdb")
    kind, listed = ROWS[table]
    path = samples / "a740-concurrent-gmem.rd"
    with cffpy.open(path) as capture:
        cells = [row(one) for one in listed(capture)]
    names = ", ".join(f'"{one.name}"' for one in columns(model_of(kind)))
    rows = cffpy.sql([path], f"SELECT {names} FROM {table}")
    assert cells
    assert sorted(map(tuple, rows), key=str) == sorted(cells, key=str)


def test_filters_have_the_facts_of_draws_and_of_what_they_move(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        for action in capture.actions:
            subject = Subject(action, action.pass_)
            for named in names(model_of(Action), "draw"):
                if named.name in PROPERTIES:
                    assert PROPERTIES[named.name].get(subject) == named.read(action)
            for prefix, ends in (("source", "source"), ("destination", "destination")):
                found = [getattr(one, ends) for one in action.transfers]
                for named in names(model_of(TransferEnd), prefix):
                    values = _values_of(named, [end for end in found if end is not None])
                    assert PROPERTIES[named.name].get(subject) == values
            for named in names(model_of(Attachment), "target"):
                assert PROPERTIES[named.name].get(subject) == _values_of(named, action.targets)


def _values_of(named: Named, owners: Iterable[object]) -> list[Any]:
    """The values of a fact of several objects; all elements where it is a list."""
    values = [named.read(owner) for owner in owners]
    return [*chain.from_iterable(values)] if named.is_many else values
