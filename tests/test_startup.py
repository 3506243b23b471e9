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
    "cffpy.descriptions.language",
    "cffpy.regdb.language",
    "cffpy.regdb.compile",
    "cffpy.regdb.import_xml",
    "cffpy.isa.language",
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


WITHOUT_CONSTRUCT = """
import sys
sys.modules["construct"] = None
from cffpy.__main__ import run
for line in sys.stdin.read().splitlines():
    code = run(line.split("|"))
    assert not code, line
"""


def test_what_reads_runs_without_construct(samples: Path) -> None:
    """construct declares structures; what reads captures does so by rows that were made of them."""
    sample = samples / "a660-frame-binning.rd"
    crash = Path(__file__).resolve().parent.parent / "samples" / "a660-textures.devcore"
    commands = [["dump", sample], ["passes", sample], ["diff", sample, sample], ["vsc", sample]]
    commands += [["check", "--select", "CFF038", sample], ["crash", crash], ["crashdec", crash]]
    lines = "\n".join("|".join(map(str, command)) for command in commands)
    modules_after("dump", str(sample))  # compiles the descriptions if they have changed
    script = [sys.executable, "-c", WITHOUT_CONSTRUCT]
    done = subprocess.run(script, input=lines.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


#: What makes pictures, compares captures, answers filters, writes tables; forms other than text.
ON_DEMAND = (
    "cffpy.api.pictures",
    "cffpy.frame.faces",
    "cffpy.image.picture",
    "cffpy.index",
    "cffpy.query",
    "cffpy.tables",
    "importlib.metadata",
)
#: How registers at actions are kept.
REGISTERS = ("cffpy.analysis.register_store",)
COMPARISON = ("cffpy.analysis.diff",)

#: Commands, and what they do without.
UNUSED_BY = {
    "passes": (*ON_DEMAND, *REGISTERS, *COMPARISON),
    "draws": (*ON_DEMAND, *REGISTERS, *COMPARISON),
    "state --at p0:0": (*(set(ON_DEMAND) - {"cffpy.frame.faces"}), *COMPARISON),
    "check": (*ON_DEMAND, "cffpy.analysis.diff.record", "cffpy.analysis.diff.compare"),
    "find draw.vertices>1": ("cffpy.index.reader", "cffpy.tables", "hmac", *COMPARISON),
}


@pytest.mark.parametrize("command", UNUSED_BY)
def test_what_commands_do_without(command: str, samples: Path) -> None:
    arguments = (*command.split(), str(samples / "a630-triangle.rd.gz"))
    modules_after(*arguments)  # compiles the descriptions if they have changed
    loaded = modules_after(*arguments)
    assert "cffpy.analysis.passes.finder" in loaded
    assert [name for name in loaded if name.startswith(UNUSED_BY[command])] == []
    # passes of other generations; a module of the standard library that takes long
    assert loaded & {"cffpy.analysis.passes.a2xx", "cffpy.analysis.passes.a5xx"} == set()
    assert loaded & {"difflib", "cffpy.regdb.catalog"} == set() or command.startswith("find")


def test_info(samples: Path) -> None:
    """It reads sections, and decodes no commands."""
    loaded = modules_after("info", str(samples / "a630-triangle.rd.gz"))
    analyses = {name for name in loaded if name.startswith("cffpy.analysis.")}
    opening = {"cffpy.analysis.crash", "cffpy.analysis.crash.opening"}
    assert analyses == {"cffpy.analysis.summary", *opening}
    others = ("cffpy.check", "cffpy.cp.machine", "cffpy.frame.action", "cffpy.frame.passes")
    assert [name for name in loaded if name.startswith((*ON_DEMAND, *others))] == []
    assert len([name for name in loaded if name.startswith("cffpy.")]) < 90


@pytest.mark.parametrize(
    "command", ["passes", "vsc", "sql", "export", "index", "index build", "shaders", "edit"]
)
def test_help_imports_no_analysis(command: str) -> None:
    loaded = modules_after(*command.split(), "--help")
    costly = ("cffpy.analysis", "cffpy.api", "cffpy.cp", "cffpy.check", "cffpy.tables")
    assert [name for name in loaded if name.startswith(costly)] == []
    assert len([name for name in loaded if name.startswith("cffpy.")]) < 60


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
