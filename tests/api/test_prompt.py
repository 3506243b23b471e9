# SPDX-License-Identifier: MIT
"""What a person at a prompt sees: short texts, tables in notebooks, completion, public types."""

from __future__ import annotations

import builtins
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from inspect import getsource
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cffpy
from tests.selection import first_always

FRAME = "a660-frame-binning.rd"
SAMPLES = Path(__file__).parents[2] / "samples"


#: Types without a public name that public members have, and why.
BEHIND = {
    "Generation": "of Gpu.facts: what decoding knows of all GPUs of a generation",
    "CaptureLimits": "of Limits.of_capture: the numbers that the machine counts down",
    **dict.fromkeys(("CaptureFile", "Part", "Table"), "of Index: what building an index needs"),
    "ImageFormat": "of ImageView.form: how texels are read",
}
PUBLIC = {kind for name in cffpy.__all__ if isinstance(kind := getattr(cffpy, name), type)}


def is_public(value: object) -> bool:
    """Whether its class, or a class that it is derived from, has a public name.

    A mapping is one to its user, who does not see the class.
    """
    return isinstance(value, Mapping) or not PUBLIC.isdisjoint(type(value).__mro__)


#: Objects of one type that are looked into, items of a list, and how deep.
_OF_A_TYPE, _ITEMS, _DEPTH = 8, 3, 8


class Walk:
    """All that public members lead to: path -> object; equal types a few times."""

    def __init__(self, **roots: object) -> None:
        self.objects: dict[str, object] = {}
        self._known: dict[int, object] = {}
        self._looked: Counter[type] = Counter()
        for name, value in roots.items():
            self._add(name, value, 0)

    def _add(self, path: str, value: object, depth: int) -> None:
        is_list = isinstance(value, (list, tuple, dict)) and type(value).__name__ not in BEHIND
        if not (is_list or type(value).__module__.startswith("cffpy.")) or isinstance(value, type):
            return
        if id(value) in self._known or depth > _DEPTH:
            return
        self._known[id(value)] = value
        self.objects[path] = value
        self._looked[type(value)] += 1
        if self._looked[type(value)] > _OF_A_TYPE and not is_list:
            return
        if is_list:
            items = list(value.values()) if isinstance(value, dict) else list(value)
            for number, item in enumerate(items[:_ITEMS]):
                self._add(f"{path}[{number}]", item, depth + 1)
        if is_public(value):
            for name in dir(type(value)):
                if not name.startswith("_"):
                    with suppress(cffpy.CffpyError):
                        self._add(f"{path}.{name}", getattr(value, name), depth + 1)


def walk(capture: cffpy.Capture) -> Walk:
    roots = {"capture": capture, "select": capture.draws.select("draw.vertices")}
    roots["packets"] = list(islice(capture.packets(), 20))
    with suppress(cffpy.CaptureError):
        roots["findings"] = capture.check()
    return Walk(diff=cffpy.diff(capture, capture), report=cffpy.report(capture), **roots)


@pytest.fixture(
    params=first_always(
        [
            "a660-frame-binning.rd",
            "a220-triangle.rd",
            "a650-blits.rd",
            "a430-depth-good.rd",
            "a660-textures.rd",
            "a690-compute.rd",
            "a740-concurrent-gmem.rd",
            "a830-scaled-bins.rd",
            "skl-frame.aub.gz",
        ]
    )
)
def reached(request: pytest.FixtureRequest, samples: Path) -> Iterator[dict[str, object]]:
    """All objects of a sample that public members lead to, by their paths."""
    folder = SAMPLES if request.param.endswith(".aub.gz") else samples
    with cffpy.open(folder / request.param) as capture:
        yield walk(capture).objects


def test_texts_have_at_most_twenty_lines(reached: dict[str, object]) -> None:
    assert len(reached) > 100
    for path, value in reached.items():
        if is_public(value) or isinstance(value, (list, tuple, dict)):
            text = repr(value)
            assert len(text.splitlines()) <= 20, path
            assert len(text) < 8000, path
            assert " object at 0x" not in text, path


def test_types_of_objects_have_public_names(reached: dict[str, object]) -> None:
    others = {
        f"{type(value).__name__} {path}"
        for path, value in reached.items()
        if type(value).__module__.startswith("cffpy.")
        and not is_public(value)
        and not isinstance(value, (list, dict))
        and type(value).__name__ not in BEHIND
    }
    assert not others


def test_notebooks_show_objects(reached: dict[str, object]) -> None:
    for path, value in reached.items():
        if is_public(value) and hasattr(value, "_repr_html_"):
            html = value._repr_html_()
            assert html is None or html.count("<tr>") == html.count("</tr>"), path


def test_programs_have_a_line_each_with_their_names(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        lines = repr(capture.shaders).splitlines()[1:-1]
        assert len(lines) == len(capture.shaders) > 1
        for number, line in enumerate(lines):
            assert line.startswith(f" <CapturedShader sh{number} {capture.shaders[number].stage} ")


def test_objects_of_the_model_are_tables_in_notebooks(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        one = capture.passes[0]
        for made in (one.tiles[0], one.operations[0], capture.submits[0], capture.costs[0]):
            html = made._repr_html_()
            assert html.count("<tr>") == html.count("</tr>") > 1
        tiles = one.tiles._repr_html_()
        assert tiles is not None
        assert tiles.count("<tr>") == len(one.tiles) + 1
        assert "rectangle_left" in tiles
        assert cffpy.open(samples / FRAME).problems == []


def test_a_state_is_a_mapping(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        state = capture.draws[0].state
        assert state.keys() == list(state)
        assert [name for name, _ in state.items()] == state.keys()
        assert dict(state) == dict(state.items())
        assert state.get("RB_DEPTH_CNTL") == state["RB_DEPTH_CNTL"]
        assert state.get("no such register") is None
        assert "ZFUNC" in dir(state["RB_DEPTH_CNTL"])
        assert state._ipython_key_completions_() == state.keys()


def test_columns_of_a_selection(samples: Path) -> None:
    with cffpy.open(samples / FRAME) as capture:
        apart = capture.draws.select("draw.vertices", "RB_DEPTH_CNTL.ZFUNC")
        assert apart
        together = capture.draws.select("draw.vertices,RB_DEPTH_CNTL.ZFUNC")
        assert [[v.value for v in values] for _, values in apart] == [
            [v.value for v in values] for _, values in together
        ]
        few = capture.draws.select("draw.vertices", where="draw.number == 0")
        assert len(few) < len(apart)


def test_rows_as_a_table(samples: Path) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    rows = cffpy.sql(samples / FRAME, "SELECT tile, pass FROM tiles ORDER BY tile")
    assert repr(rows) == "<Rows of tile, pass>"
    table = rows.arrow()
    assert table.column_names == ["tile", "pass"]
    assert table["tile"].to_pylist() == list(range(len(table)))
    with pytest.raises(cffpy.UsageError, match="have been read"):
        rows.arrow()


def names_in(function: Any, annotation: str) -> Iterator[str]:
    """The classes of cffpy that an annotation names."""
    module = sys.modules[function.__module__]
    for word in re.findall(r"\b[A-Z]\w+", annotation):
        imported = re.search(rf"from (cffpy[\w.]*) import [^\n]*\b{word}\b", getsource(module))
        kind = vars(module).get(word)
        if kind is None and imported is not None:
            kind = getattr(import_module(imported[1]), word, None)
        if isinstance(kind, type) and kind.__module__.startswith("cffpy."):
            yield word


def functions_of(public: object) -> Iterator[tuple[str, Any]]:
    if not isinstance(public, type):
        yield "", public
        return
    for name, member in inspect.getmembers_static(public):
        function = getattr(member, "fget", None) or getattr(member, "func", None)
        function = function or getattr(member, "__func__", None) or member
        if not name.startswith("_") and inspect.isfunction(function):
            yield f".{name}", function


def test_types_of_members_have_public_names() -> None:
    missing = set()
    for public in cffpy.__all__:
        for name, function in functions_of(getattr(cffpy, public)):
            if "its shape may change" in (inspect.getdoc(function) or "").lower():
                continue
            for annotation in getattr(function, "__annotations__", {}).values():
                missing |= {
                    f"{public}{name}: {word}"
                    for word in names_in(function, str(annotation))
                    if word not in {*cffpy.__all__, *BEHIND} and not word.endswith("Document")
                }
    assert not missing


def test_types_of_facts_have_public_names() -> None:
    missing = set()
    for kind in PUBLIC:
        for fact in getattr(getattr(kind, "__model__", None), "facts", ()):
            words = names_in(SimpleNamespace(__module__=fact.module), fact.annotation)
            missing |= {f"{kind.__name__}.{fact.name}: {word}" for word in words} - {
                f"{kind.__name__}.{fact.name}: {word}" for word in cffpy.__all__
            }
    assert not missing


def test_errors_that_docstrings_name_are_public() -> None:
    for public in cffpy.__all__:
        for name, function in functions_of(getattr(cffpy, public)):
            for error in re.findall(
                r"\b[A-Z]\w+Error\b|MissingLibrary", inspect.getdoc(function) or ""
            ):
                assert error in cffpy.__all__ or hasattr(builtins, error), f"{public}{name}"


SCRIPT = """
import cffpy

with cffpy.open("capture.rd") as capture:
    for draw in capture.draws.where("draw.vertices > 3"):
        value: cffpy.StateValue = draw.state["RB_DEPTH_CNTL"]
        number: int | None = value.value
    tile: cffpy.Tile = capture.passes[0].tiles[0]
    left: int = 0 if tile.rectangle is None else tile.rectangle.left
    findings: list[cffpy.Finding] = capture.check()
    where: cffpy.PacketLocation | None = findings[0].place
    submit: cffpy.Submit = capture.submits[0]
    sizes: list[int] = [buffer.size for buffer in submit.buffers]
"""


@pytest.mark.slow
def test_scripts_are_checked_strictly(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SCRIPT + "sizes.append(submit.process)\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([*command, str(wrong)], capture_output=True, text=True, cwd=tmp_path)
    assert 'incompatible type "str | None"; expected "int"' in done.stdout
