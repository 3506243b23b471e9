# SPDX-License-Identifier: MIT
"""The shape of the code: complexity of functions, circular imports."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest
from radon.complexity import cc_visit
from radon.visitors import Class, Function

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "cffpy"
SOURCES = sorted(PACKAGE.rglob("*.py"))

MOST_COMPLEX = 15  # cyclomatic complexity of a function, as radon counts it


def name_of(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


# -- complexity -----------------------------------------------------------------------------------


def complex_functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and complexity of each function, methods and what is nested among them."""
    for block in cc_visit(text):
        if isinstance(block, Class):
            continue  # its methods are blocks, too
        assert isinstance(block, Function)
        yield block.fullname, block.complexity


@pytest.mark.parametrize("part", range(4))
def test_no_function_is_too_complex(part: int) -> None:
    """In four parts, which run in parallel."""
    found = {
        f"{name_of(path)}:{name}": complexity
        for path in SOURCES[part::4]
        for name, complexity in complex_functions(path.read_text("utf-8"))
        if complexity > MOST_COMPLEX
    }
    assert found == {}


def test_a_complex_function_is_found() -> None:
    text = "class A:\n  def b(self, x):\n" + "    if x: pass\n" * MOST_COMPLEX
    assert list(complex_functions(text)) == [("A.b", MOST_COMPLEX + 1)]


# -- circular imports -----------------------------------------------------------------------------


def circles(imported: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules each of which reaches all others of its group."""
    reached = {name: reachable(name, imported) for name in imported}
    found: list[set[str]] = []
    for name in imported:
        if name in reached[name] and not any(name in group for group in found):
            found.append({other for other in reached[name] if name in reached[other]})
    return found


def reachable(name: str, imported: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        more = imported[waiting.pop()] - found
        found |= more
        waiting += more
    return found


def test_no_circular_imports() -> None:
    """Those under TYPE_CHECKING and those within functions count.

    Not those among the modules of cffpy/frame under TYPE_CHECKING: the objects of the model name
    each other, a draw its pass and a pass its draws.
    """
    typed, run = graph(is_run=False), graph(is_run=True)
    imported = {name: typed.find_modules_directly_imported_by(name) for name in typed.modules}
    for name in imported:
        if name.startswith(FRAME):
            elsewhere = {one for one in imported[name] if not one.startswith(FRAME)}
            imported[name] = elsewhere | run.find_modules_directly_imported_by(name)
    assert list(map(sorted, circles(imported))) == []


FRAME = "cffpy.frame."


@cache
def graph(is_run: bool) -> grimp.ImportGraph:
    """What each module imports. ``is_run``: without what is imported for types only."""
    return grimp.build_graph("cffpy", exclude_type_checking_imports=is_run, cache_dir=None)


def test_types_come_from_below_too() -> None:
    """A contract of import-linter keeps the layers when code runs; here types count."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = {name.strip(): row for row, layer in enumerate(layers) for name in layer.split("|")}
    typed = graph(is_run=False)
    upward = []
    for name in typed.modules:
        layer = name.split(".")[1:2]
        for other in typed.find_modules_directly_imported_by(name):
            below = other.split(".")[1:2]
            if layer and below and layer != below and rows[layer[0]] >= rows[below[0]]:
                upward.append(f"{name} -> {other}")
    assert sorted(upward) == []


def test_a_circle_is_found() -> None:
    imported = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d", "a"}, "e": set()}
    assert circles(imported) == [{"b", "c"}, {"d"}]


# -- data that runs --------------------------------------------------------------------------------

#: What may read marshal data: compiled descriptions, of the wheel or of the user's own cache.
MARSHAL = {
    "cffpy/compiled.py",
    "cffpy/container/rd.py",
    "cffpy/descriptions/language.py",
    "cffpy/descriptions/store.py",
    "cffpy/intel/decoder/groups.py",
    "cffpy/intel/descriptions/compile.py",
    "cffpy/isa/store.py",
    "cffpy/pm4/reader.py",
    "cffpy/pm4/structs.py",
    "cffpy/regdb/catalog.py",
    "cffpy/regdb/compile.py",
    "cffpy/regdb/database.py",
}
#: What may use pickle: a temporary file without a name, and the pipe from a child process.
PICKLE = {"cffpy/tables/child_process.py", "cffpy/tables/spool.py"}


def test_no_data_is_run_as_code() -> None:
    imports: dict[str, set[str]] = {"marshal": set(), "pickle": set()}
    for path in SOURCES:
        text = path.read_text("utf-8")
        if not re.search(r"\b(marshal|pickle|eval|exec|compile)\b", text):
            continue  # parsing all modules takes seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                for name in {alias.name for alias in node.names} & imports.keys():
                    imports[name].add(name_of(path))
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in imports, path
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile"), path
    assert imports == {"marshal": MARSHAL, "pickle": PICKLE}


# -- documents ------------------------------------------------------------------------------------

#: Functions of the command line that name three members of a mapping which is no document of a
#: command: the state file of bisect, options, rows of a table, the frame around several documents.
NO_DOCUMENTS = {
    "bisect.py: __init__",
    "forms.py: documents",
}


def documents(text: str) -> Iterator[str]:
    """Functions that make a mapping with three or more named members."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef) and any(
            isinstance(node, ast.Dict) and sum(map(is_name, node.keys)) >= 3
            for node in ast.walk(function)
        ):
            yield function.name


def is_name(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def test_documents_are_made_by_views() -> None:
    found = {
        f"{path.name}: {name}"
        for path in (PACKAGE / "cli").glob("*.py")
        for name in documents(path.read_text("utf-8"))
    }
    assert found == NO_DOCUMENTS


# -- generations ----------------------------------------------------------------------------------

#: Where the number of a generation may decide: the table of generations, that of GPUs, the views of
#: the reference, whose own code does so, and Intel's generations, which are others.
DECIDES_BY_NUMBER = (
    "cffpy/capture/",
    "cffpy/image/devices.py",
    "cffpy/views/cffdump/",
    "cffpy/views/crashdec/",
    "cffpy/intel/",
)


def comparisons_of_generations(text: str) -> list[str]:
    """Comparisons of what is called ``generation`` with a number, or with a constant."""
    found: list[str] = []
    if "generation" not in text.lower():
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_generation, sides)) and any(map(is_constant, sides)):
                found.append(ast.unparse(node))
    return found


def is_generation(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.strip("_") in ("generation", "sub_generation")


def is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    return isinstance(node, ast.Tuple | ast.Set | ast.List)


def test_a_generation_is_a_record() -> None:
    """What differs between generations is a field of the record in capture/gpu.py."""
    found = {
        name_of(path): compared
        for path in SOURCES
        if not name_of(path).startswith(DECIDES_BY_NUMBER)
        and (compared := comparisons_of_generations(path.read_text("utf-8")))
    }
    assert found == {}


def test_a_comparison_of_a_generation_is_found() -> None:
    text = "a.generation >= 6\ngeneration in (6, 7)\nx not in generation\n_GENERATION == 5\n"
    text += "5 < gpu.sub_generation < 7\ngeneration in _KNOWN\na.generation == b.generation\n"
    assert comparisons_of_generations(text) == [
        "a.generation >= 6",
        "generation in (6, 7)",
        "5 < gpu.sub_generation < 7",
        "generation in _KNOWN",
    ]
