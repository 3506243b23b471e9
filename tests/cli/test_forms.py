# SPDX-License-Identifier: MIT
"""Forms of output: each form of each command is what it says, and comes from the one writer."""

from __future__ import annotations

import ast
import bz2
import csv
import gzip
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from enum import IntEnum, StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cffpy
from cffpy.__main__ import run
from cffpy.cli import forms, output
from cffpy.cli.json_text import json_pieces, json_text
from cffpy.cli.question import Question
from cffpy.views.plain_text import visible
from tests.cli.test_option_table import GETOPT, commands
from tests.command_server import Run
from tests.conftest import CHECKOUT
from tests.selection import first_always

#: Options that are forms of output, in all commands; an argument is a file.
OPTIONS = (
    *("json", "jsonl", "csv", "plot", "svg", "html", "sarif", "markdown", "unified", "count"),
    "extract",
)

#: Those whose argument is a file.
FILE_FORMS = ("svg", "html", "extract")

#: What a command is asked in the tests of its forms; words in capitals are files of ``inputs``.
ARGUMENTS = {
    "afuc disasm": "MICROCODE --gpu a6xx",
    "bisect": "FRAME --state-file STATE",
    "check": "FRAME",
    "crash": "DUMP",
    "db check": "",
    "db device": "635 618",
    "db diff": "mesa-25.0 mesa-25.3 --gpu a7xx",
    "db editions": "",
    "db search": "LRZ --gpu 630",
    "db show": "RB_DEPTH_CNTL --gpu 630",
    "diff": "FRAME OTHER",
    "draws": "FRAME",
    "find": "draw.vertices>1 FRAME",
    "image": "FRAME --at p0:0",
    "index build": "FRAME -o NEW",
    "index compare": "INDEX INDEX",
    "index shader": "INDEX DIGEST",
    "index sql": "INDEX SHOW_TABLES",
    "index stats": "INDEX",
    "index values": "INDEX RB_DEPTH_CNTL",
    "info": "FRAME",
    "layout check": "FRAME",
    "layout image": "--gpu 650 --format RGBA8 --size 64x64",
    "layout formats": "--gpu 740 RGBA8",
    "layout lrz": "--gpu 740 --size 640x480",
    "layout tile": "--gpu 650 --format RGBA8 --size 64x64 1,2",
    "layout tiles": "--gpu 660 --size 64x64 --attachments RGBA8",
    "lines": "FRAME",
    "lrz": "FRAME",
    "passes": "FRAME",
    "report": "FRAME",
    "shaders": "FRAME",
    "sql": "FRAME SHOW_TABLES",
    "state": "FRAME --at p0:0",
    "tiles": "FRAME",
    "vsc": "BINNING",
}

#: Where a form needs other arguments.
OTHER = {("check", "markdown"): "--index INDEX"}


def declared() -> Iterator[tuple[str, str]]:
    """Each form of each command that has an option."""
    for name, command in commands():
        for option in command.params:
            if name not in GETOPT and isinstance(option, click.Option):
                yield from ((name, form) for form in OPTIONS if f"--{form}" in option.opts)


def schema_text(command: str, form: str) -> str:
    """What the help of a form says."""
    (found,) = (one for name, one in commands() if name == command)
    (option,) = (
        one for one in found.params if isinstance(one, click.Option) and f"--{form}" in one.opts
    )
    return option.help or ""


def check_json(text: bytes, command: str) -> None:
    schema = json.loads(text)["schema"]
    assert re.fullmatch(r"cffpy\.[a-z-]+(\.[a-z-]+)*/\d+", schema)
    assert schema in schema_text(command, "json")


def check_objects(text: bytes, _command: str) -> None:
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())


def check_table(text: bytes, _command: str) -> None:
    heading, *rows = csv.reader(io.StringIO(text.decode()))
    assert rows
    assert {len(row) for row in rows} == {len(heading)}


def check_svg(text: bytes, _command: str) -> None:
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"


def check_page(text: bytes, _command: str) -> None:
    assert text.startswith(b"<!doctype html>")
    assert text.endswith(b"</html>\n")


def check_sarif(text: bytes, _command: str) -> None:
    assert json.loads(text)["version"] == "2.1.0"


def check_capture(text: bytes, _command: str) -> None:
    with cffpy.open(io.BytesIO(text)) as capture:
        assert capture.submits


def check_text(text: bytes, _command: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra"):
        json.loads(text)


CHECKS: dict[str, Callable[[bytes, str], None]] = {
    "json": check_json,
    "jsonl": check_objects,
    "csv": check_table,
    "svg": check_svg,
    "html": check_page,
    "sarif": check_sarif,
    "extract": check_capture,
}


@pytest.fixture(scope="module")
def inputs(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("inputs")
    return {
        "BINNING": str(samples / "a660-frame-binning.rd"),
        "DUMP": str(CHECKOUT / "samples" / "a660-textures.devcore"),
        "FRAME": str(samples / "a660-frame-gmem.rd"),
        "INDEX": str(folder / "index"),
        "MICROCODE": str(folder / "sqe.fw"),
        "NEW": str(folder / "new.index"),
        "OTHER": str(samples / "a660-frame-sysmem.rd"),
        "SHOW_TABLES": "SHOW TABLES",
        "STATE": str(folder / "state.json"),
    }


def make(inputs: dict[str, str], words: list[str]) -> None:
    """Make what few commands need: an index, a program of the SQE."""
    if "INDEX" in words and not os.path.exists(inputs["INDEX"]):
        assert run(["index", "build", inputs["FRAME"], "-o", inputs["INDEX"], "--jobs", "1"]) == 0
    if "DIGEST" in words:
        from cffpy.index.reader import open_index

        (inputs["DIGEST"],) = next(
            iter(open_index(inputs["INDEX"]).sql("SELECT digest FROM programs"))
        )
    if "MICROCODE" in words:
        text = next((CHECKOUT / "samples" / "microcode").glob("*.asm"))
        assert run(["afuc", "asm", str(text), "-o", inputs["MICROCODE"]]) == 0


def test_each_command_with_forms_is_tried() -> None:
    having = {command for command, _ in declared()}
    assert having == ARGUMENTS.keys()
    text = CHECKS.keys() ^ set(OPTIONS)
    assert text == {"plot", "markdown", "unified", "count"}  # lines: check_text


@pytest.mark.parametrize(
    "case", first_always([*declared()], 16), ids=lambda case: "-".join(case).replace(" ", "-")
)
def test_a_form(
    case: tuple[str, str],
    inputs: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It is what its name says, and one module writes it."""
    command, form = case
    words = OTHER.get(case, ARGUMENTS[command]).split()
    needs_data = command.split()[0] in ("sql", "index") or "INDEX" in words
    if needs_data and find_spec("duckdb") is None:
        pytest.skip("the libraries are not installed")
    make(inputs, words)
    capfd.readouterr()
    writers: list[str] = []
    enter = output.PagedOutput.__enter__

    def recorded(self: output.PagedOutput) -> Any:
        writers.append(sys._getframe(1).f_globals["__name__"])
        return enter(self)

    monkeypatch.setattr(output.PagedOutput, "__enter__", recorded)
    option = [f"--{form}", "-"] if form in FILE_FORMS else [f"--{form}"]
    assert run([*command.split(), *option, *(inputs.get(word, word) for word in words)]) in (0, 1)
    text = capfd.readouterr().out.encode("utf-8", "surrogateescape")
    CHECKS.get(form, check_text)(text, command)
    assert writers == ["cffpy.cli.forms"]


def pairs_of_forms() -> list[tuple[str, str, str]]:
    """Each form of a command beside the one that its help names first."""
    forms_of: dict[str, list[str]] = {}
    for command, form in declared():
        forms_of.setdefault(command, []).append(form)
    return [(name, known[0], form) for name, known in forms_of.items() for form in known[1:]]


@pytest.mark.parametrize("case", pairs_of_forms(), ids="-".join)
def test_one_form_at_a_time(
    case: tuple[str, str, str], inputs: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    command, *both = case
    words = [inputs.get(word, word) for word in ARGUMENTS[command].split()]
    options = [[f"--{form}", "-"] if form in FILE_FORMS else [f"--{form}"] for form in both]
    assert run([*command.split(), *options[0], *options[1], *words]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "cannot be used together" in " ".join(err.split())


#: What reads a capture, whose text does not have the name of a single file.
OF_CAPTURES = ("draws", "image", "lrz", "passes", "shaders", "state", "tiles", "vsc")


@pytest.mark.parametrize("command", OF_CAPTURES)
def test_standard_input_in_any_compression(
    command: str, inputs: dict[str, str], run_cffpy: Run
) -> None:
    name, *more = ARGUMENTS[command].split()
    data = Path(inputs[name]).read_bytes()
    plain = run_cffpy(command, inputs[name], *more)
    assert plain.stdout
    for packed in (data, gzip.compress(data), bz2.compress(data)):
        done = run_cffpy(command, "-", *more, input=packed)
        assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, b"")


#: Modules that write what programs of Mesa write, and those that write for all others.
WRITERS = {
    *("aubinator.py", "crashdec.py", "dump.py", "getopt_commands.py"),
    *("forms.py", "output.py", "pager.py", "progress.py"),
}


def writes(tree: ast.AST) -> Iterator[str]:
    """What of a module writes to standard output by itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in ("PagedOutput", "write_all", "print"):
            yield node.id
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name in ("click.echo", "sys.stdout.write", "sys.stdout.buffer"):
                yield name


@pytest.mark.parametrize("text", ["click.echo('x')", "print(1)", "sys.stdout.buffer.write(b'')"])
def test_what_writes_is_seen(text: str) -> None:
    assert [*writes(ast.parse(text))]


def test_only_the_writers_write() -> None:
    folder = Path(forms.__file__).parent
    found = {
        path.name: [*writes(ast.parse(path.read_text("utf-8")))]
        for path in folder.glob("*")
        if path.suffix == ".py"
    }
    assert {name for name, what in found.items() if what} <= WRITERS
    assert all(found[name] for name in ("forms.py", "output.py", "dump.py"))


def test_a_form_that_a_result_lacks_is_an_error() -> None:
    result = forms.Result(lines=lambda: ["text"])
    for form in ("json", "jsonl", "csv", "sarif", "plot"):
        with pytest.raises(click.UsageError, match=f"there is no --{form} of this output"):
            forms.write_result(result, Question(form=form))
    with pytest.raises(click.UsageError, match="there is no --svg of this output"):
        forms.write_result(result, Question(form="svg", output="-"))


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_what_is_known_is_written_before_the_rest(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the draws of each capture that ``find`` searches."""
    written: list[bytes] = []
    monkeypatch.setattr(forms, "write_all", lambda _stream, data: written.append(data))

    def lines() -> Iterator[str]:
        yield "one"
        yield forms.LINES_SO_FAR
        assert written == [b"one\n"]
        yield "two"

    def items() -> Iterator[Any]:
        yield {"one": 1}
        yield forms.OBJECTS_SO_FAR
        assert written == [b'{"one": 1}\n']
        yield {"two": 2}

    forms.write_result(forms.Result(lines=lines, items=items), Question(form=form))
    assert written[1] == (b"two\n" if form == "text" else b'{"two": 2}\n')


CELLS = (
    st.none()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["\n", "a\nb", "\x1b[m", "\ud800", ","])
)


def row_by_row(columns: list[str], rows: list[list[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow([visible(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue().encode("utf-8", "backslashreplace")


@settings(suppress_health_check=[])
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5), st.integers(1, 3))
def test_csv(rows: list[list[object]], at_once: int) -> None:
    """Each cell is shown as in all text, however many rows are written together."""
    written: list[bytes] = []
    result = forms.Result(columns=lambda: ["name", "x\ty"], rows=lambda: rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "_ROWS_AT_ONCE", at_once)
        patch.setattr(forms, "write_all", lambda _stream, data: written.append(data))
        forms.write_result(result, Question(form="csv"))
    assert b"".join(written) == row_by_row(["name", "x\ty"], rows)


class _Text(StrEnum):
    ONE = "one"


class _Number(IntEnum):
    ONE = 1


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from([*_Text])
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inside: (
        st.lists(inside) | st.dictionaries(st.text(), inside) | st.tuples(inside, inside)
    ),
    max_leaves=40,
)


@pytest.mark.slow
@given(st.dictionaries(st.text() | st.integers(), _VALUES))
def test_text_is_that_of_the_standard_encoder(document: dict[str, object]) -> None:
    """For documents of all shapes, empty containers and names that are numbers included."""
    assert "".join(json_pieces(document)) == json.dumps(document, indent=2)


def test_floats_that_are_not_finite_are_texts() -> None:
    """JSON has none; readers of other languages refuse what Python's encoder writes for them."""
    values = {"rows": [{"a": float("nan"), "b": [float("-inf"), 1.5], "c": {"d": float("inf")}}]}
    expected = {"rows": [{"a": "nan", "b": ["-inf", 1.5], "c": {"d": "inf"}}]}
    assert "".join(json_pieces(values)) == json.dumps(expected, indent=2)
    assert json_text(values) == json.dumps(expected)


def test_subclasses_of_numbers_and_strings() -> None:
    document = {"rows": [{"number": _Number.ONE, "text": _Text.ONE, "flag": True}]}
    assert "".join(json_pieces(document)) == json.dumps(document, indent=2)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_iterator_is_an_array(count: int) -> None:
    rows = [{"row": number, "items": [number]} for number in range(count)]
    text = "".join(json_pieces({"rows": iter(rows)}))
    assert text == json.dumps({"rows": rows}, indent=2)


def test_pieces_are_large_and_rows_are_taken_when_they_are_written() -> None:
    taken = 0

    def rows() -> object:
        nonlocal taken
        for taken in range(1, 20_001):
            yield {"row": taken, "text": "x" * 40}

    pieces = json_pieces({"rows": rows()})
    first = next(pieces)
    assert 1 << 18 <= len(first) < 1 << 19
    assert 0 < taken < 10_000
    assert 2 <= sum(1 for _ in pieces) < 10


def test_what_json_has_no_form_for() -> None:
    with pytest.raises(TypeError):
        "".join(json_pieces({"rows": [{"value": object()}]}))
