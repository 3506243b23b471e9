# SPDX-License-Identifier: MIT
"""The modules that a dump imports. Times are not measured: modules determine the start-up time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COSTLY = {
    "click",
    "rich",
    "construct",
    "lark",
    "numpy",
    "asyncio",
    "contextlib",
    "enum",
    "re",
    "typing",
    "dataclasses",
    "hashlib",
    "importlib.metadata",
    "importlib.resources",
    "inspect",
    "json",
    "logging",
    "multiprocessing",
    "pathlib",
    "pickle",
    "subprocess",
    "tempfile",
    "tomllib",
    "xml",
}

# Sides of cffpy itself that a dump has no use for.
UNUSED = {
    "cffpy.descriptions.parse",
    "cffpy.regdb.parse",
    "cffpy.regdb.compile",
    "cffpy.regdb.import_xml",
    "cffpy.isa.parse",
    "cffpy.container.writer",
    "cffpy.cli.db",
    "cffpy.cli.info",
    "cffpy.analysis.walk",
    "cffpy.api.capture",
    "cffpy.views.cffdump.annotate",
}

SCRIPT = """
import sys
before = set(sys.modules)
from cffpy.__main__ import run
code = run(sys.argv[1:])
assert not code, code
print(*set(sys.modules) - before, file=sys.stderr)
"""


def modules_after(*arguments: str) -> set[str]:
    """What ``cffpy ARGUMENTS`` imports that a bare interpreter has not."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, check=True, text=True
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("options", "sample"),
    [
        ([], "a630-triangle.rd.gz"),
        (["-s", "--color"], "a630-triangle.rd.gz"),
        (["-q", "RB_MRT[0].CONTROL"], "a630-triangle.rd.gz"),
        ([], "a220-triangle.rd"),
    ],
)
def test_dump(options: list[str], sample: str, samples: Path) -> None:
    arguments = ["dump", *options, str(samples / sample)]
    modules_after(*arguments)  # compiles the descriptions if they have changed
    loaded = modules_after(*arguments)
    assert "cffpy.cp.machine" in loaded
    assert "cffpy.cp.decoded" not in loaded  # only walks keep streams decoded
    assert loaded & COSTLY == set()
    assert loaded & UNUSED == set()
    if sample.endswith(".rd"):
        assert "gzip" not in loaded


def test_dump_with_shaders(shared: Path) -> None:
    arguments = ["dump", str(shared / "captures" / "a530-gl-tri.rd.gz")]
    modules_after(*arguments)
    loaded = modules_after(*arguments)
    assert "cffpy.isa.ir3" in loaded
    assert loaded & COSTLY == set()
    assert loaded & UNUSED == set()


def test_passes(samples: Path) -> None:
    """What makes pictures, compares captures or answers filters is imported when it is used."""
    loaded = modules_after("passes", str(samples / "a630-triangle.rd.gz"))
    assert "cffpy.analysis.pass_walk" in loaded
    unused = ("cffpy.analysis.diff", "cffpy.api.pictures", "cffpy.image.picture", "cffpy.query")
    assert [name for name in loaded if name.startswith((*unused, "cffpy.tables"))] == []
    assert loaded & {"difflib", "shutil", "cffpy.regdb.catalog"} == set()


def test_import_costs_next_to_nothing() -> None:
    script = (
        "import sys; before = set(sys.modules); import cffpy; print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert set(done.stdout.split()) - {"__future__"} == {"cffpy", "cffpy._version"}


SEARCHES = """
import gc
searched = []
gc.callbacks.append(lambda phase, info: searched.append(phase))
import cffpy
searched.clear()
opening = cffpy.open
is_young = len(gc.get_objects(0)) >= gc.get_threshold()[0]
print(gc.isenabled(), len(searched), is_young and not gc.get_freeze_count())
"""


def test_modules_are_not_searched_for_garbage() -> None:
    """Those of a public name that is used first, which stay: neither while nor after.

    Where objects are frozen, as Python 3.12 does itself, all that is young stays young.
    """
    found = subprocess.run(
        [sys.executable, "-c", SEARCHES], capture_output=True, check=True, text=True
    )
    assert found.stdout.split() == ["True", "0", "False"]
