# SPDX-License-Identifier: MIT
"""Schemas of documents: valid, what commands write agrees with them, each member is explained."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cffpy.cli.reference import schema_names, schema_of
from tests.selection import first_always

jsonschema = pytest.importorskip("jsonschema")

Run = Callable[..., subprocess.CompletedProcess[bytes]]

CHECKOUT = Path(__file__).resolve().parent.parent
SCHEMAS = {name: schema_of(name) for name in schema_names()}

#: Name of the schema -> the command that writes the document.
COMMANDS = {
    "diff": ("diff", "--json", "--strict"),
    "shaders": ("shaders", "--json"),
    "draws": ("draws", "--all", "--json"),
    "image": ("image", "--at", "p0:0", "--json"),
    "info": ("info", "--json", "--buffers"),
    "inherited": ("draws", "--inherited", "--json"),
    "layout-check": ("layout", "check", "--json"),
    "lrz": ("lrz", "--json"),
    "passes": ("passes", "--json"),
    "report": ("report", "--json"),
    "state": ("state", "--at", "p0:0", "--json"),
    "tiles": ("tiles", "--pass", "0", "--json"),
    "vsc": ("vsc", "--pass", "0", "--json"),
}

#: The same of documents that other options or other files give; {A}, {B} and {Q} are samples.
OTHERS = {
    "bisect": ("bisect", "--json", "-o", "{OUT}/try.rd", "--state-file", "{OUT}/state", "{A}"),
    "check": ("check", "--json", "{A}", "{B}"),
    "columns": ("draws", "--columns", "draw.vertices,target.format,RB_DEPTH_CNTL.ZFUNC",
                "--json", "{A}"),
    "crash": ("crash", "--json", "{CRASH}"),
    "db-check": ("db", "check", "--json"),
    "db-device": ("db", "device", "635", "618", "--json"),
    "db-diff": ("db", "diff", "mesa-25.0", "mesa-25.3", "--json"),
    "db-editions": ("db", "editions", "--json"),
    "db-search": ("db", "search", "LRZ", "--json"),
    "db-show": ("db", "show", "RB_DEPTH_CNTL", "--json"),
    "draws.stream-out": ("draws", "--stream-out", "--json", "{Q}"),
    "files": ("passes", "--json", "{A}", "{B}", "{OUT}/missing.rd"),
    "find": ("find", "--json", "draw.number == 0", "--columns", "target.format", "{A}", "{B}"),
    "layout.image": ("layout", "image", "--gpu", "650", "--format", "RGBA8", "--size", "64x64",
                     "--levels", "3", "--ubwc", "--json"),
    "layout.formats": ("layout", "formats", "--gpu", "740", "RGBA8", "--json"),
    "layout.lrz": ("layout", "lrz", "--gpu", "740", "--size", "1920x1080", "--json"),
    "layout.texels": ("layout", "tile", "--gpu", "650", "--format", "RGBA8", "--size", "256x256",
                      "17,33", "--json"),
    "layout.tiles": ("layout", "tiles", "--gpu", "660", "--size", "1920x1080",
                     "--attachments", "RGBA8,D24S8", "--json"),
    "passes.cost": ("passes", "--cost", "--json", "{A}"),
    "passes.queries": ("passes", "--queries", "--json", "{Q}"),
    "passes.barriers": ("passes", "--barriers", "--json", "{A}"),
    "passes.why": ("passes", "--why", "--json", "{A}"),
    "sql": ("sql", "--json", "{A}", "SELECT * FROM draws"),
    "states": ("state", "--where", "draw.number >= 0", "--json", "{A}"),
    "vsc-hex": ("vsc", "--hex", "9d45800002000000", "--bins", "4", "--draws", "--json"),
}  # fmt: skip

#: Name of the schema of a JSON line -> the command that writes such lines.
LINES = {
    "check.line": ("check", "--jsonl", "{A}", "{B}"),
    "columns.line": ("draws", "--columns", "draw.vertices,target.format", "--jsonl", "{A}"),
    "shaders.line": ("shaders", "--jsonl", "{A}"),
    "draws.line": ("draws", "--all", "--jsonl", "{A}", "{B}"),
    "draws.stream-out.line": ("draws", "--stream-out", "--jsonl", "{Q}"),
    "find.line": ("find", "draw.number >= 0", "--jsonl", "{A}", "{B}"),
    "lines": ("lines", "--only", "draws", "--jsonl", "{A}"),
    "lrz.line": ("lrz", "--jsonl", "{A}"),
    "passes.cost.line": ("passes", "--cost", "--jsonl", "{A}", "{B}"),
    "passes.queries.line": ("passes", "--queries", "--jsonl", "{Q}"),
    "passes.barriers.line": ("passes", "--barriers", "--jsonl", "{A}", "{B}"),
    "passes.why.line": ("passes", "--why", "--jsonl", "{A}", "{B}"),
    "passes.line": ("passes", "--jsonl", "{A}", "{B}"),
    "state.line": ("state", "--where", "draw.number == 0", "--jsonl", "{A}", "{B}"),
    "tiles.line": ("tiles", "--jsonl", "{A}"),
}

#: The same of Intel captures, of indexes and of microcode; {I}, {E}: an AUB file, an error state.
INTEL = {
    "intel-crash": ("crash", "--json", "{E}"),
    "intel-report": ("report", "--json", "{I}"),
}
INDEXES = {
    "index-compare": ("compare", "{OLD}", "{NEW}", "--json"),
    "index-shader": ("shader", "{NEW}", "{DIGEST}", "--json"),
    "index-stats": ("stats", "{NEW}", "--json"),
    "index-values": ("values", "{NEW}", "RB_DEPTH_CNTL", "--json"),
}
#: Documents with tests of their own.
ALONE = ("index-build", "index-values.line", "microcode")

CAPTURES = (
    "a220-gl-passes",
    "a330-gl-inst-mrt",
    "a430-gl-passes-restore",
    "a540-gl-indirect",
    "a660-vk-passes-gmem",
    "a740-vk-fdm",
    "edge-missing-ib-bo",
    "edge-two-processes-concat",
)


def check_document(name: str, text: bytes) -> None:
    document = json.loads(text)
    assert document["schema"] == SCHEMAS[name]["$id"]
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    wrong = [
        f"{list(error.absolute_path)[:8]}: {error.message[:200]}"
        for error in validator.iter_errors(document)
    ]
    assert not wrong


def test_each_schema_has_a_command() -> None:
    assert {*COMMANDS, *OTHERS, *LINES, *INTEL, *INDEXES, *ALONE} == set(SCHEMAS)


def test_each_document_has_a_schema() -> None:
    """Each schema name in the code has a schema of that version."""
    names = set()
    for path in sorted((CHECKOUT / "cffpy").rglob("*.py")):
        names |= set(re.findall(r'"(cffpy\.[a-z.-]+/\d+)"', path.read_text("utf-8")))
    names -= {"cffpy.tables/1", "cffpy.index/1"}  # of tables and files, not of a document
    known = {schema["$id"] for schema in SCHEMAS.values()}
    assert len(names) > 30
    assert known == names


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_documents(name: str, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    if name == "sql":
        pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
    crash = tmp_path / "crash.devcore"
    crash.write_bytes((CHECKOUT / "samples/a660-textures.devcore").read_bytes())
    places = {
        "A": samples / "a660-frame-binning.rd",
        "B": samples / "a430-depth-good.rd",
        "Q": samples / "a650-queries.rd",
        "OUT": tmp_path,
        "CRASH": crash,
    }
    command = [part.format(**places) for part in OTHERS[name]]
    text = run_cffpy(*command, check=False).stdout
    check_document(name, text)
    if name == "files":
        documents = [one["document"] for one in json.loads(text)["files"]]
        assert documents.pop() is None
        for document in documents:
            check_document("passes", json.dumps(document).encode())
    if name == "bisect":
        for answer in ("--bad", "--bad", "--good"):
            text = run_cffpy(*command, answer, check=False).stdout
            if text:
                check_document(name, text)


@pytest.mark.parametrize(
    "name",
    first_always(
        ["RB_MRT", "A6XX", "CP_SET_DRAW_STATE", "a6xx_tile_mode", "A6XX_TEX_CONST", "VPC_SO_PROG"]
    )
    + first_always(
        ["3DSTATE_VS --gpu skl", "RENDER_SURFACE_STATE --gpu skl", "CS_CHICKEN1 --gpu gfx9"]
    ),
)
def test_each_kind_of_description(name: str, run_cffpy: Run) -> None:
    check_document("db-show", run_cffpy("db", "show", *name.split(), "--json").stdout)


def test_other_kinds_of_names_and_streams(run_cffpy: Run) -> None:
    check_document("db-search", run_cffpy("db", "search", "Z", "--gpu", "skl", "--json").stdout)
    primitives = run_cffpy("vsc", "--hex", "f9628000", "--bins", "4", "--json").stdout
    check_document("vsc-hex", primitives)


def test_a_line_is_an_object_of_its_schema(samples: Path, run_cffpy: Run) -> None:
    path = samples / "a660-frame-gmem.rd"
    validator = jsonschema.Draft202012Validator(SCHEMAS["lines"])
    for options in ((), ("--unique",)):
        lines = run_cffpy("lines", "--jsonl", *options, path).stdout.splitlines()
        for line in lines[:: len(lines) // 50]:
            assert not list(validator.iter_errors(json.loads(line)))


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_json_lines(name: str, samples: Path, run_cffpy: Run) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    files = {
        "A": samples / "a660-frame-binning.rd",
        "B": samples / "a660-frame-gmem.rd",
        "Q": samples / "a650-queries.rd",
    }
    command = [part.format(**files) for part in LINES[name]]
    done = run_cffpy(*command, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["file"] for row in rows} <= {str(path) for path in files.values()}
    assert rows
    for row in rows:
        assert not list(validator.iter_errors(row))


@pytest.mark.slow
@pytest.mark.parametrize("name", INTEL)
def test_documents_of_intel_captures(name: str, run_cffpy: Run) -> None:
    folder = CHECKOUT / "samples"
    places = {"I": folder / "skl-frame.aub.gz", "E": folder / "skl-hang.i915.gz"}
    command = [part.format(**places) for part in INTEL[name]]
    check_document(name, run_cffpy(*command, check=False).stdout)


@pytest.mark.slow
def test_documents_of_shared_intel_captures(shared: Path, run_cffpy: Run) -> None:
    captures = sorted((shared / "intel/captures").glob("*.gz"))
    for path in captures[::5]:
        for command in ("info", "passes", "draws"):
            check_document(command, run_cffpy(command, "--json", path, check=False).stdout)
        check_document("intel-report", run_cffpy("report", "--json", path, check=False).stdout)
        check_document("state", run_cffpy("state", "--at", "#1", "--json", path).stdout)
        check_document("states", run_cffpy("state", "--at", "p0", "--json", path).stdout)


@pytest.mark.slow
def test_documents_of_indexes(samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    places = {"OLD": tmp_path / "old.index", "NEW": tmp_path / "new.index", "DIGEST": ""}
    one, other = samples / "a660-frame-gmem.rd", samples / "a430-depth-good.rd"
    for files, index in (((one,), places["OLD"]), ((one, other), places["NEW"])):
        check_document(
            "index-build", run_cffpy("index", "build", *files, "-o", index, "--json").stdout
        )
    question = ("sql", places["NEW"], "SELECT digest FROM programs LIMIT 1", "--json")
    places["DIGEST"] = json.loads(run_cffpy("index", *question).stdout)["rows"][0][0]
    for name, arguments in INDEXES.items():
        command = [part.format(**places) for part in arguments]
        check_document(name, run_cffpy("index", *command, check=False).stdout)
    lines = run_cffpy("index", "values", places["NEW"], "RB_DEPTH_CNTL", "--jsonl").stdout
    validator = jsonschema.Draft202012Validator(SCHEMAS["index-values.line"])
    for line in lines.splitlines():
        assert not list(validator.iter_errors(json.loads(line)))
    assert lines


def test_documents_of_an_intel_summary_and_microcode(tmp_path: Path, run_cffpy: Run) -> None:
    folder = CHECKOUT / "samples"
    text = run_cffpy("info", "--json", folder / "skl-frame.aub.gz").stdout
    check_document("info", text)
    firmware = tmp_path / "a6xx_sqe.fw"
    run_cffpy("afuc", "asm", "--gpu", "a6xx", folder / "microcode/a6xx.asm", "-o", firmware)
    text = run_cffpy("afuc", "disasm", "--gpu", "a6xx", "--json", firmware).stdout
    check_document("microcode", text)


def test_a_line_has_the_members_of_the_document() -> None:
    """A line of ``draws --jsonl`` is an object of the document's list, with its file."""
    places = {"draws": "draws", "tiles": "tiles", "state": "registers", "lrz": "passes",
              "passes.cost": "passes", "shaders": "shaders", "columns": "rows"}  # fmt: skip
    for name, place in places.items():
        line, schema = SCHEMAS[f"{name}.line"], SCHEMAS[name]
        item = schema["properties"][place]["items"]
        if "$ref" in item:
            item = schema["$defs"][item["$ref"].rpartition("/")[2]]
        assert item["properties"].items() <= line["properties"].items(), name
        assert set(line["required"]) - set(item["required"]) <= {"file", "pass", "draw"}


@pytest.mark.slow
def test_other_documents_of_shared_captures(shared: Path, run_cffpy: Run) -> None:
    for capture in CAPTURES:
        path = shared / f"captures/{capture}.rd.gz"
        check_document("check", run_cffpy("check", "--json", path, check=False).stdout)
        check_document("passes.cost", run_cffpy("passes", "--cost", "--json", path,
                                                check=False).stdout)  # fmt: skip
        found = run_cffpy("find", "--json", "--all", "draw.kind != draw", path, check=False)
        check_document("find", found.stdout)
    for dump in sorted((shared / "crash").glob("*.devcore.gz"))[::4]:
        check_document("crash", run_cffpy("crash", "--json", dump, check=False).stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_of_samples(name: str, samples: Path, run_cffpy: Run) -> None:
    sample = str(samples / "a660-frame-binning.rd")
    files = [sample, str(samples / "a660-frame-gmem.rd")] if name == "diff" else [sample]
    check_document(name, run_cffpy(*COMMANDS[name], *files, check=False).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES)
def test_documents_of_shared_captures(capture: str, shared: Path, run_cffpy: Run) -> None:
    path = str(shared / f"captures/{capture}.rd.gz")
    checked = 0
    for name, command in COMMANDS.items():
        files = [path, str(shared / "captures/a660-vk-xfer.rd.gz")] if name == "diff" else [path]
        text = run_cffpy(*command, *files, check=False).stdout
        if text:  # none for a capture without such a draw or without tiles
            check_document(name, text)
            checked += 1
    assert checked >= 6


@pytest.mark.parametrize("name", first_always(sorted(SCHEMAS), 8))
def test_schemas_are_valid(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]


def members(schema: object) -> Iterator[tuple[str, dict[str, object]]]:
    """All members of all objects that a schema describes."""
    if isinstance(schema, list):
        for one in schema:
            yield from members(one)
    elif isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties.items()
        for one in (*properties.values(), *(v for k, v in schema.items() if k != "properties")):
            yield from members(one)


def test_each_member_says_what_it_means() -> None:
    for name, schema in SCHEMAS.items():
        for member, told in members(schema):
            assert "description" in told, f"{name}: {member}"


def test_the_command(run_cffpy: Run) -> None:
    assert run_cffpy("schema").stdout.decode().split() == sorted(SCHEMAS)
    text = run_cffpy("schema", "cffpy.passes/1").stdout
    assert json.loads(text) == SCHEMAS["passes"]
    failed = run_cffpy("schema", "nothing", check=False)
    assert failed.returncode == 2
    assert b"there is no schema nothing" in failed.stderr
