# SPDX-License-Identifier: MIT
"""CONTRIBUTING.md says how many files a packet, field, generation, command and fact take."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import capture, type4, type7

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parent.parent
SMMU_TABLE_UPDATE = 0x53  # a packet of a5xx and later that has no row


class Copy:
    """A copy of the checkout that is edited, and the files that were."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("cffpy", "register_db", "grammars"):
            shutil.copytree(CHECKOUT / name, root / name)
        self.edited: set[str] = set()

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} in {name}"
        path.write_text(text.replace(old, new), "utf-8")
        self.edited.add(name)

    def append(self, name: str, text: str) -> None:
        with (self.root / name).open("a", encoding="utf-8") as file:
            file.write(text)
        self.edited.add(name)

    def run(self, *arguments: object, content: bytes = b"") -> str:
        path = self.root / "capture.rd"
        path.write_bytes(content)
        command = [sys.executable, *map(str, arguments)]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "CFFPY_CACHE": str(self.root / "cache"),
        }
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, check=True
        )
        return done.stdout.decode()

    def cffpy(self, *arguments: object, content: bytes = b"") -> str:
        return self.run("-m", "cffpy", *arguments, content=content)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.fixture
def allowed() -> Callable[[str], int]:
    """How many files CONTRIBUTING.md names: the numbers of its sentence on this."""
    text = (CHECKOUT / "CONTRIBUTING.md").read_text("utf-8")
    numbers = {"one": 1, "two": 2, "three": 3}

    def files(what: str) -> int:
        sentence = text.partition("Files to change: ")[2].partition(".")[0]
        (part,) = [part for part in sentence.split(", ") if part.startswith(f"{what} ")]
        return numbers[part.split()[1]]

    return files


def test_packet(copy: Copy, allowed: Callable[[str], int]) -> None:
    copy.append(
        "cffpy/cp/packets/mode.py",
        "\n\ndef cp_smmu_table_update(machine: Runner, payload: Payload, level: int) -> None:\n"
        "    machine.write_register(0x8811, payload[0], level)\n",
    )
    table = "cffpy/cp/packets/__init__.py"
    copy.replace(table, "    cp_set_marker,\n", "    cp_set_marker,\n    cp_smmu_table_update,\n")
    copy.replace(
        table,
        '    "CP_SET_BIN":',
        '    "CP_SMMU_TABLE_UPDATE": _effect(cp_smmu_table_update),\n    "CP_SET_BIN":',
    )
    script = (
        "import cffpy; capture = cffpy.open('capture.rd');"
        "print(hex(capture.draws[0].state['RB_UNKNOWN_8811'].value))"
    )
    draw = type7(0x38, 4, 1, 3)
    content = capture(630, [*type4(0x8811, 0x10), *type7(SMMU_TABLE_UPDATE, 0x70), *draw])
    assert copy.run("-c", script, content=content) == "0x70\n"
    assert len(copy.edited) <= allowed("packet")


def test_field(copy: Copy, allowed: Callable[[str], int]) -> None:
    line = "    reg32 0x8819 RB_UNKNOWN_8819 usage cmd about other\n"
    with_field = line.replace(" other\n", " other {\n        4..7 MINE : uint\n    }\n")
    copy.replace("register_db/adreno/a6xx.regs", line, with_field)
    content = capture(630, type4(0x8819, 0x50))
    assert "RB_UNKNOWN_8819: { MINE = 5 }" in copy.cffpy("dump", "capture.rd", content=content)
    assert len(copy.edited) <= allowed("field")


def test_generation(copy: Copy, allowed: Callable[[str], int]) -> None:
    copy.replace(
        "cffpy/capture/gpu.py",
        "        _from_a6xx(8),\n",
        "        _from_a6xx(8),\n        _from_a6xx(9),\n",
    )
    common = "register_db/adreno/adreno_common.regs"
    copy.replace(common, "    A7XX = 7\n", "    A7XX = 7\n    A9XX = 9\n")
    content = capture(930, [*type4(0x8800, 0), *type7(0x38, 4, 1, 3)])
    assert "write RB_" in copy.cffpy("dump", "capture.rd", content=content)
    passes = copy.cffpy("passes", "--gpu", "a9xx", "capture.rd", content=content)
    assert "1 DI_PT_TRILIST; #0\n" in passes
    assert len(copy.edited) <= allowed("generation")


def test_fact(copy: Copy, allowed: Callable[[str], int]) -> None:
    """It is on all faces: JSON, JSON Lines, CSV, its schema, filters and their columns, SQL."""
    before = "    @fact()\n    def emitted(self) -> bool:\n"
    added = (
        '    @fact(unit="vertices")\n    def drawn(self) -> int | None:\n'
        '        """Vertices of all instances."""\n'
        "        vertices, instances = self.vertices, self.instances\n"
        "        return None if vertices is None else vertices * (instances or 1)\n\n"
    )
    copy.replace("cffpy/frame/action.py", before, added + before)
    content = capture(630, type7(0x38, 4, 2, 3) + type7(0x38, 4, 5, 7))
    draws = json.loads(copy.cffpy("draws", "--json", "capture.rd", content=content))["draws"]
    assert [one["drawn"] for one in draws] == [6, 35]
    lines = copy.cffpy("draws", "--jsonl", "capture.rd", content=content).splitlines()
    assert [json.loads(line)["drawn"] for line in lines] == [6, 35]
    rows = csv.DictReader(copy.cffpy("draws", "--csv", "capture.rd", content=content).splitlines())
    assert [row["drawn"] for row in rows] == ["6", "35"]
    how = ("--where", "draw.drawn > 6", "--columns", "draw.drawn", "--csv")
    assert copy.cffpy("draws", *how, "capture.rd", content=content).splitlines()[1] == "p0:1,35"
    script = (
        "from cffpy.frame.action import Action; from cffpy.frame.faces import schema;"
        "from cffpy.frame.facts import model_of;"
        "print(schema(model_of(Action), {})['properties']['drawn']['description'])"
    )
    assert copy.run("-c", script) == "Vertices of all instances. In vertices.\n"
    pytest.importorskip("duckdb")
    query = "SELECT drawn FROM draws ORDER BY draw_index"
    assert copy.cffpy("sql", "capture.rd", query, "--csv", content=content).split() == [
        "drawn",
        "6",
        "35",
    ]
    assert len(copy.edited) <= allowed("fact")


def test_fact_of_bindings(copy: Copy, allowed: Callable[[str], int], samples: Path) -> None:
    """It is on all faces of bindings: JSON, filters and their columns, SQL, reports."""
    before = "    @fact()\n    def bound(self) -> bool:\n"
    added = (
        "    @fact()\n    def is_even(self) -> bool:\n"
        '        """Whether the number of its slot is even."""\n'
        "        return self.slot % 2 == 0\n\n"
    )
    copy.replace("cffpy/frame/binding.py", before, added + before)
    content = (samples / "a660-textures.rd").read_bytes()
    (draw,) = json.loads(
        copy.cffpy("draws", "--bindings", "--json", "capture.rd", content=content)
    )["draws"]
    assert {one["is_even"] for one in draw["bindings"]} == {True, False}
    assert all(one["is_even"] == (one["slot"] % 2 == 0) for one in draw["bindings"])
    how = ("--where", "texture.is_even", "--columns", "bound_sampler.is_even", "--csv")
    shown = copy.cffpy("draws", *how, "capture.rd", content=content).splitlines()
    assert shown == ["draw,bound_sampler.is_even", "p0:0,true false true"]
    report = json.loads(copy.cffpy("report", "--json", "capture.rd", content=content))
    assert {"is_even"} <= {name for one in report["bindings"]["values"] for name in one}
    assert "is_even" in report["filter"]["bindings"]
    pytest.importorskip("duckdb")
    query = "SELECT count(*) AS n FROM descriptors WHERE kind = 'texture' AND is_even"
    assert copy.cffpy("sql", "capture.rd", query, "--csv", content=content).split() == ["n", "1"]
    assert len(copy.edited) <= allowed("fact")


def test_command(copy: Copy, allowed: Callable[[str], int]) -> None:
    copy.append(
        "cffpy/cli/count.py",
        '"""``cffpy count``: the number of draws."""\n\nimport click\n\nimport cffpy\n\n\n'
        '@click.command()\n@click.argument("path")\ndef count(path: str) -> None:\n'
        '    """Count draws."""\n    click.echo(len(cffpy.open(path).draws))\n',
    )
    copy.replace(
        "cffpy/cli/main.py",
        '    "completion": _Row(',
        '    "count": _Row("cffpy.cli.count", "count", "Count draws."),\n    "completion": _Row(',
    )
    content = capture(630, type7(0x38, 4, 1, 3) * 2)
    assert copy.cffpy("count", "capture.rd", content=content) == "2\n"
    assert "count" in copy.cffpy("--help")
    assert len(copy.edited) + 1 <= allowed("command"), "and its page in docs/reference/commands"
