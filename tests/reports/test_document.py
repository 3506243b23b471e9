# SPDX-License-Identifier: MIT
"""The document of a report says what the objects of the interface say."""

from __future__ import annotations

import base64
import json
import re
import sys
from bisect import bisect_right
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cffpy
from cffpy.analysis.walk import Walk
from cffpy.container.open import open_capture
from cffpy.errors import CffpyError
from cffpy.frame.faces import facts_document
from cffpy.frame.objects import Selection
from cffpy.frame.passes import Pass
from cffpy.regdb.spelling import decimal_indices
from cffpy.reports import bindings, draws, registers
from cffpy.reports.columns import Cuts, plain
from cffpy.reports.report import document
from cffpy.reports.resources import layout
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.passes import lines as pass_lines
from cffpy.views.report_html.passes import rows_of
from tests.analysis.passes.small import small_capture
from tests.selection import first_always
from tests.views.report_html.documents import cell

SAMPLES = (
    "a220-triangle",
    "a430-depth-good",
    "a530-two-submits",
    "a630-indirect",
    "a650-blits",
    "a660-frame-binning",
    "a660-textures",
    "a690-compute",
    "a740-state-groups",
    "a830-frame-gmem",
)


def at(column: dict[str, Any], row: int) -> int:
    """The change of a column in force at a draw; -1: none."""
    return bisect_right(column["draws"], row) - 1


def part_of(facts: dict[str, Any], column: str) -> Any:
    """What a column has of the facts of an object: ``place.gpuaddr``."""
    found: Any = facts
    for name in column.split("."):
        found = None if found is None else found[name]
    return found


def check_registers(capture: cffpy.Capture, found: dict[str, Any]) -> int:
    """Every register of every draw: its value, text, fields and the packet that wrote it."""
    columns, writes = found["registers"]["columns"], found["registers"]["writes"]
    checked = 0
    for row, draw in enumerate(capture.draws):
        shown = {}
        for column in columns:
            change = at(column, row)
            if change >= 0:
                shown[column["name"]] = column, column["value"][change], column["write"][change]
        values = {value.name: value for value in draw.state.values()}
        assert set(shown) == set(values)
        for name, (column, value, write) in shown.items():
            expected = values[name]
            if value < 0:
                assert expected.value is None
                continue
            digits, text, *fields = column["values"][value]
            assert int(digits, 16) == expected.value
            assert (digits if text is None else text) == expected.text
            texts = {column["fields"][int(key)][0]: one for key, one in dict(*fields).items()}
            assert texts == {field.name: field.text for field in expected.fields.values()}
            by = expected.written_by
            assert by is not None
            facts = facts_document(by)
            for title, given in writes.items():
                if title != "dump":
                    assert cell(given, write) == part_of(facts, title), title
            checked += 1
    return checked


def check_bindings(capture: cffpy.Capture, found: dict[str, Any]) -> int:
    """The descriptors and data of every draw."""
    places, values = found["bindings"]["places"], found["bindings"]["values"]
    checked = 0
    for row, draw in enumerate(capture.draws):
        shown = {}
        for place in places:
            change = at(place, row)
            if change >= 0 and place["value"][change] >= 0:
                key = place["kind"], place["stage"], place["bindless_set"], place["slot"]
                shown[key] = values[place["value"][change]]
        for one in draw.bindings:
            value = dict(shown.pop((one.kind, one.stage, one.bindless_set, one.slot)))
            facts = facts_document(one)
            place = value.pop("place", None)
            assert place == (None if one.place is None else str(one.place))
            value.pop("picture", None)
            if isinstance(one, cffpy.Descriptor):
                texts = {name: text for name, _, _, text in value.pop("fields")}
                assert texts == {field.name: field.text for field in one.fields.values()}
                assert value.pop("dwords") == bytes(one.data or b"").hex()
            elif one.data is not None:
                assert one.data.hex().startswith(value.pop("data"))
            for name in ("kind", "stage", "bindless_set", "slot", "place", "fields", "dwords"):
                facts.pop(name)
            assert value == {name: one for name, one in facts.items() if one not in (None, [])}
            checked += 1
        assert not shown
    return checked


@pytest.mark.slow
def test_vertices_that_do_not_begin_with_their_buffer(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "samples/a660-frame-gmem.pm4").read_text("utf-8")
    path = tmp_path / "capture.rd"
    path.write_bytes(cffpy.compile(text.replace("VFD_INDEX_OFFSET = 0x0", "VFD_INDEX_OFFSET = 2")))
    with cffpy.open(path) as capture:
        found = document(capture)
        assert check_bindings(capture, found)
        assert 0x30 in [one.get("first_byte") for one in found["bindings"]["values"]]


def dumped(path: Path) -> set[str]:
    """The lines of a dump, without the tabs of their nesting."""
    parts: list[bytes] = []
    dump = Dump(DumpOptions(), parts.append, lambda _line: None)
    dump.begin(path.name)
    dump.file(open_capture(str(path)))
    return {line.replace("\t", "") for line in b"".join(parts).decode("latin-1").split("\n")}


def check_written_registers(found: dict[str, Any]) -> None:
    """The fragment of a packet has a line of each register that it gave a value."""
    dump, writes = found["dump"], found["registers"]["writes"]
    for column in found["registers"]["columns"]:
        pairs = zip(column["write"], column["value"], strict=True)
        for write in {write for write, value in pairs if write >= 0 and value >= 0}:
            text = decimal_indices(dump["texts"][dump["lines"][writes["dump"][write]]])
            assert re.search(rf"\b{re.escape(column['name'])}\W", text), (column["name"], text)


def check_fragments(path: Path, found: dict[str, Any]) -> int:
    """Every line about a packet is one of the dump's; rows follow each other in memory."""
    dump, writes = found["dump"], found["registers"]["writes"]
    lines = dumped(path)
    for row, (text, dwords) in enumerate(zip(dump["lines"], dump["rows"], strict=True)):
        start = int(dump["gpuaddr"][row], 16)
        for line in dump["texts"][text].splitlines():
            assert line.replace("\t", "") in lines
        for line in filter("*".__ne__, dump["texts"][dwords].splitlines()):
            at = start + int(line.split(":")[0], 16)
            assert f"{at:0{dump['digits']}x}:{line}".replace("\t", "") in lines
    for write, row in enumerate(writes["dump"]):
        assert dump["gpuaddr"][row] == writes["place.gpuaddr"][write]
    check_written_registers(found)
    assert not dump["follows"][0]
    return sum(dump["follows"])


@pytest.mark.slow
def test_fragments_of_the_dump(samples: Path) -> None:
    for name in (
        "a220-triangle",
        "a430-depth-good",
        "a530-two-submits",
        "a660-frame-binning",
        "a740-state-groups",
        "a830-frame-gmem",
    ):
        path = samples / f"{name}.rd"
        assert check_fragments(path, plain(document(cffpy.open(path))))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "captures/a220-gl-cube-full",
        "captures/a330-gl-inst-mrt",
        "captures/a660-vk-indirect-gmem",
        "captures/a740-vk-bindless-gmem",
        "m26/captures/m26-a740-gl-passes",
    ],
)
def test_fragments_of_shared_captures(name: str, shared: Path) -> None:
    path = shared / f"{name}.rd.gz"
    assert check_fragments(path, plain(document(cffpy.open(path)))) > 50


def test_one_walk_records_everything(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = Walk.run_session
    monkeypatch.setattr(Walk, "run_session", lambda *given: runs.append(1) or run(*given))
    found = []
    for releases in (False, True):
        capture = cffpy.open(samples / "a660-textures.rd")
        found.append(plain(document(capture, releases=releases)))
        assert runs == [1]
        runs.clear()
    assert found[0] == found[1]
    assert len(capture.draws) == len(rows_of(found[0]["draws"]))  # by another walk
    assert runs == [1]
    state = capture.draws[-1].state
    assert all(value.written_by for value in state.values())


@pytest.mark.parametrize("name", first_always(SAMPLES))
def test_samples(name: str, samples: Path) -> None:
    capture = cffpy.open(samples / f"{name}.rd")
    found = plain(document(capture))
    assert json.loads(json.dumps(found, allow_nan=False)) == json.loads(json.dumps(found))
    assert len(rows_of(found["draws"])) == len(capture.draws)
    assert check_registers(capture, found) or not capture.draws
    check_bindings(capture, found)
    assert found["cut"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["a660-vk-passes-gmem", "a630-gl-vtk-scene", "a740-vk-bindless-gmem", "a430-gl-cube-gmem"],
)
def test_shared_captures(name: str, shared: Path) -> None:
    capture = cffpy.open(shared / f"captures/{name}.rd.gz")
    found = plain(document(capture))
    assert check_registers(capture, found) > 1000
    assert check_bindings(capture, found) > 10
    assert found["resources"]["resources"]


def test_passes_of_the_small_capture() -> None:
    capture = cffpy.open(small_capture())
    found = plain(document(capture))
    frame = next(one for one in found["passes"] if one["mode"] == "gmem")
    assert len(rows_of(frame["tiles"])) == 2
    stores = [one for one in frame["operations"] if one["kind"] == "store"]
    assert [one["times"] for one in stores] == [2]
    first, count = frame["rows"]
    drawn = rows_of(found["draws"])[first : first + count]
    assert {one["pass"] for one in drawn} == {frame["pass"]}


def test_totals_of_vertices_that_only_the_gpu_knows() -> None:
    def drawn(kind: str, vertices: int | None, instances: int | None) -> Any:
        facts = SimpleNamespace(vertices=vertices, instances=instances)
        return SimpleNamespace(kind=kind, _packet_facts=facts, **vars(facts))

    def drawn_in_pass(*found: Any) -> Pass:
        place: Any = None
        return Pass(0, "render", 0, [0], place, place, draws=Selection("draws", found))

    unknown = drawn("draw", None, 1)
    whole = drawn_in_pass(drawn("draw", 3, 2), unknown, drawn("draw", 6, None))
    assert whole.vertices == (9, 2, 1)  # also of draws whose instances are not known
    assert whole.instances == (3, 2, 1)
    assert drawn_in_pass(unknown).vertices == (0, 0, 1)
    assert drawn_in_pass(drawn("dispatch", None, None)).vertices == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a740-vk-indirect-sysmem", "a330-gl-inst-mrt"])
def test_vertices_are_those_that_passes_counts(name: str, shared: Path) -> None:
    with cffpy.open(shared / f"captures/{name}.rd.gz") as capture:
        lines = list(pass_lines(capture._source.model, capture._source.model.submits))
        shown = re.findall(r"([\d,]+) vertices or indices", "\n".join(map(str, lines)))
        counted = [
            one["vertices"]["number"]
            for one in plain(document(capture))["passes"]
            if one["kind"] == "render" and one["rows"][1]
        ]
    assert [int(text.replace(",", "")) for text in shown] == counted


def test_shaders_and_resources(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-textures.rd")
    found = plain(document(capture))
    for row, draw in enumerate(capture.draws):
        numbers = cell(found["draws"]["shaders"], row)
        for (stage, _), number in zip(draw.programs, numbers, strict=True):
            shader = draw.shaders.get(stage)
            assert (number is None) == (shader is None)
            if shader is not None:
                assert found["shaders"][number]["listing"] == shader.listing
    textures = {one.address for draw in capture.draws for one in draw.textures if one.address}
    resources = found["resources"]["resources"]
    listed = {int(one["gpuaddr"], 16) for one in resources if "texture" in one["kinds"]}
    assert textures == listed


@pytest.mark.slow
def test_a_pass_that_reads_what_another_wrote(shared: Path) -> None:
    found = plain(document(cffpy.open(shared / "captures/a630-gl-vtk-scene.rd.gz")))
    edges = {(one, other) for one, other, _ in found["resources"]["edges"]}
    assert (8, 9) in edges
    assert {index for index, *_ in found["resources"]["nodes"]} == {i for e in edges for i in e}
    columns = {index: x for index, x, *_ in found["resources"]["nodes"]}
    assert all(columns[one] < columns[other] for one, other in edges)


@pytest.mark.parametrize(
    ("module", "name", "value", "said"),
    first_always(
        [
            (draws, "MAX_DRAWS", 1, "draws after the first 1"),
            (draws, "_MAX_LISTINGS", 1, "listings of shaders from 0 on"),
            (registers, "MAX_CHANGES", 5, "more than 5 changes"),
            (registers, "MAX_WRITES", 1, "packets that wrote registers"),
            (draws, "_MAX_PASS_TILES", 1, "tiles of pass 0 after the first 1"),
            (bindings, "_MAX_STEPS", 1, "draws from"),
            (bindings, "_MAX_ALL_BYTES", 1, "contents of buffers"),
        ],
        names=4,
    ),
)
def test_what_is_cut_is_said(
    module: Any, name: str, value: int, said: str, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, value)
    sample = "a660-textures" if name == "_MAX_ALL_BYTES" else "a660-frame-binning"
    found = plain(document(cffpy.open(samples / f"{sample}.rd")))
    assert any(said in text for text in found["cut"]), found["cut"]


def test_without_grandalf_there_is_no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [[0, 1, [0]], [1, 2, [0]]]
    cuts = Cuts()
    boxes = {index: (x, y) for index, x, y, _, _ in layout(edges, cuts)}
    assert boxes[0][0] < boxes[1][0] < boxes[2][0]
    monkeypatch.setitem(sys.modules, "grandalf.graphs", None)
    assert layout(edges, cuts) == []
    assert any("cffpy[report]" in text for text in cuts.texts)


def test_pictures_of_textures(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    capture = cffpy.open(samples / "a660-textures.rd")
    found = plain(document(capture))
    textures = {one.dwords: one for draw in capture.draws for one in draw.textures}
    assert textures
    for value in found["bindings"]["values"]:
        if "picture" in value:
            words = memoryview(bytes.fromhex(value["dwords"])).cast("I")
            shown = found["pictures"][value["picture"]]
            if "reason" in shown:
                with pytest.raises(CffpyError, match=re.escape(shown["reason"])):
                    textures[tuple(words)].picture()
                continue
            expected = textures[tuple(words)].picture()
            assert (shown["width"], shown["height"]) == (expected.width, expected.height)
            assert base64.b64decode(shown["png"]).startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert all("png" not in one for one in document(capture)["pictures"])


def test_differences_are_at_draws_of_the_report(samples: Path) -> None:
    good = cffpy.open(samples / "a430-depth-good.rd")
    bad = cffpy.open(samples / "a430-depth-bad.rd")
    comparison = cffpy.diff(good, bad)
    found = document(bad, good)["comparison"]
    assert found["entries"]
    assert [entry["title"] for entry in found["entries"]] == [e.title for e in comparison.entries]
    extents = [extent for entry in found["entries"] for extent in entry["extents"]]
    assert all(0 <= first <= last < len(bad.draws) for _, first, last in extents if first >= 0)
    assert any(first >= 0 for _, first, _ in extents)


def test_the_graph_does_not_depend_on_addresses_in_memory() -> None:
    """grandalf keeps edges in sets; objects that live on give the next ones other addresses."""
    pytest.importorskip("grandalf")
    edges = [(0, 2, 0), (0, 4, 0), (0, 5, 0), (1, 3, 0), (2, 3, 0), (3, 4, 0), (3, 5, 0)]
    first = layout(edges, Cuts())
    kept = []
    for count in range(60):
        kept.append([bytearray(64 + count) for _ in range(3 * count)])
        assert layout(edges, Cuts()) == first


@pytest.mark.slow
def test_gmem_is_not_memory_that_was_not_captured(shared: Path) -> None:
    """Input attachments are textures whose address is one of GMEM."""
    capture = cffpy.open(shared / "m26/captures/m26-a730-vk-subpass-gmem.rd.gz")
    resources = plain(document(capture))["resources"]["resources"]
    found = [one["gpuaddr"] for one in resources if one["gmem"]]
    assert found == ["0x100000", "0x154000", "0x1a8000"]
    assert all(one["buffer"] is None for one in resources if one["gmem"])
    assert any(one["buffer"] is None for one in resources if not one["gmem"])
