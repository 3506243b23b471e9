# SPDX-License-Identifier: MIT
"""Arguments of another type are UsageErrors that say what to pass, everywhere in the interface."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cffpy
from tests.selection import first_always

SAMPLE = "a430-depth-good.rd"

#: Call, an argument that it cannot use, and the error.
CALLS: dict[str, tuple[Callable[[cffpy.Capture, Any], object], Any, str]] = {
    "diff of paths": (
        lambda good, wrong: cffpy.diff(wrong, good),
        "a.rd",
        "good must be a capture that cffpy.open has opened, not the str 'a.rd'",
    ),
    "diff of bytes": (lambda good, wrong: cffpy.diff(good, wrong), b"", "bad must be a capture"),
    "part": (
        lambda good, wrong: cffpy.diff(good, good, bad_at=wrong),
        3.5,
        'a place must be a text, as in "p3:17", not the float 3.5',
    ),
    "classes": (
        lambda good, wrong: cffpy.diff(good, good, show=wrong),
        None,
        "show must be a list",
    ),
    "where": (lambda good, wrong: good.draws.where(wrong), 5, "a filter must be a text, not int"),
    "text": (lambda _, wrong: cffpy.compile(wrong), None, "text must be the text of a capture"),
    "decompile": (lambda _, wrong: cffpy.decompile(wrong), "a.rd", "capture must be a capture"),
    "submit": (lambda good, wrong: cffpy.decompile(good, submit=wrong), "0", "submit must be the"),
    "edit": (lambda _, wrong: cffpy.edit(wrong, nop_draws=[1]), None, "capture must be a capture"),
    "values": (
        lambda good, wrong: cffpy.edit(good, set_registers=wrong),
        "RB_DEPTH_CNTL=1",
        "set_registers must be values by the names of registers",
    ),
    "draws as one text": (
        lambda good, wrong: cffpy.edit(good, nop_draws=wrong),
        "01",
        "nop_draws must be a list of draws, not the str '01'",
    ),
    "groups": (
        lambda good, wrong: cffpy.edit(good, drop_groups=wrong),
        [True],
        "each of drop_groups must be one of numbers of groups, not the bool True",
    ),
    "registers": (lambda _, wrong: cffpy.registers(wrong), None, "gpu must be a GPU, as in"),
    "edition": (
        lambda _, wrong: cffpy.registers("a6xx", register_db=wrong),
        5,
        "register_db must be the name or directory of an edition",
    ),
    "limits": (lambda _, wrong: cffpy.open(b"", limits=wrong), [], "limits must be limits by name"),
    "progress": (
        lambda _, wrong: cffpy.open(b"", progress=wrong),
        1,
        "progress must be a function",
    ),
    "file": (lambda _, wrong: cffpy.open(wrong), 5, "cannot open a int"),
    "paths": (lambda _, wrong: cffpy.find("draw.indexed", wrong), None, "paths must be a list"),
    "query": (lambda _, wrong: cffpy.sql([], wrong), None, "query must be a text in SQL, not None"),
    "output": (lambda _, wrong: cffpy.export([], wrong), None, "output must be a path, not None"),
    "tables": (
        lambda _, wrong: cffpy.export([], "o.csv", tables=wrong),
        "draws",
        "tables must be a list of names of tables",
    ),
    "report": (lambda _, wrong: cffpy.report(wrong), "a.rd", "capture must be a capture"),
    "report's file": (lambda good, wrong: cffpy.report(good, wrong), 1, "path must be a path"),
    "report's other": (
        lambda good, wrong: cffpy.report(good, compare=wrong),
        "a.rd",
        "compare must be a capture",
    ),
    "index": (lambda _, wrong: cffpy.open_index(wrong), None, "path must be a path, not None"),
    "inputs": (lambda _, wrong: cffpy.build_index(wrong, "i"), [5], "each of inputs must be one"),
    "is_bad": (lambda _, wrong: cffpy.bisect(b"", wrong), None, "is_bad must be a function"),
    "firmware": (lambda _, wrong: cffpy.disassemble_microcode(wrong), "a.fw", "data must be the b"),
    "microcode": (
        lambda _, wrong: cffpy.assemble_microcode(wrong),
        b"nop",
        "text must be the text",
    ),
    "lints": (
        lambda good, wrong: good.check(select=wrong),
        "CFF001",
        "select must be a list of ids",
    ),
}


@pytest.mark.parametrize("case", first_always(CALLS, 13))
def test_the_error_says_what_to_pass(samples: Path, case: str) -> None:
    call, wrong, message = CALLS[case]
    with cffpy.open(samples / SAMPLE) as capture, pytest.raises(cffpy.UsageError) as caught:
        call(capture, wrong)
    assert str(caught.value).startswith(message)


def test_one_path_stands_for_a_list_of_it(samples: Path, tmp_path: Path) -> None:
    (found,) = cffpy.find("draw.vertices > 0", samples / SAMPLE, jobs=1)
    assert (found.count, found.error) == (2, None)
    pytest.importorskip("pyarrow")
    assert cffpy.export(str(samples / SAMPLE), tmp_path / "o.csv", tables=["draws"]) == {"draws": 2}


def test_type_checkers_see_each_public_name() -> None:
    """They read the imports that are never executed."""
    assert cffpy.__file__ is not None
    tree = ast.parse(Path(cffpy.__file__).read_text("utf-8"))
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert set(cffpy.__all__) <= imported | {"__version__"}
