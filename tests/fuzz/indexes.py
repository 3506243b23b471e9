# SPDX-License-Identifier: MIT
"""Damaged indexes of captures, and commands that ask them."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import cffpy
from tests.fuzz import inputs

if TYPE_CHECKING:
    from tests.fuzz.commands import Files

_SAMPLES = Path(__file__).resolve().parents[2] / "samples"
_NAMES = ("a430-depth-good", "a660-frame-gmem", "a660-textures")

_ASKED = (
    ["index", "stats"],
    ["index", "stats", "--json"],
    ["index", "values", "RB_*", "--json"],
    ["index", "shader", "0000"],
    ["index", "sql", "SELECT * FROM register_at_draw LIMIT 50", "--json"],
    ["index", "sql", "SELECT * FROM shaders, files LIMIT 50"],
    ["find", "--json", "--where", "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS or changed(RB_MRT[*].CONTROL)"],
    ["find", "--where", "texture.WIDTH > 0 or draw.shaders.FS.instructions > 3"],
    ["find", "--json", "--where", "written(RB_DEPTH_CNTL) or all(sampler.WRAP_S == 0)"],
    ["check", "--json", "--index"],
)
_VALUES: tuple[Any, ...] = (
    *(None, -1, 0, 1 << 40, 1 << 70, 1.5, "", "../../etc", "\x1b[31m", "x" * 5000),
    *([], {}, [[[]]], True, "cffpy.index/1"),
)


@functools.cache
def _sound() -> tempfile.TemporaryDirectory[str]:
    """A folder with an index, made by another process: its libraries have threads."""
    found = tempfile.TemporaryDirectory(prefix="cffpy-fuzz-index-")
    captures = Path(found.name) / "captures"
    captures.mkdir()
    for name in _NAMES:
        data = cffpy.compile((_SAMPLES / f"{name}.pm4").read_text())
        (captures / f"{name}.rd").write_bytes(data)
    command = [sys.executable, "-m", "cffpy", "index", "build", str(captures), "--jobs", "1"]
    subprocess.run(
        [*command, "-o", f"{found.name}/index"], check=True, capture_output=True, timeout=300
    )
    return found


def damaged(rng: Random, files: Files) -> list[str]:
    """A question to an index of which a file or two are damaged. Without DuckDB: an error."""
    path = files.folder / "night.index"
    if inputs.has("duckdb") and inputs.has("pyarrow"):
        shutil.copytree(Path(_sound().name) / "index", path)
        stored = [one for one in path.rglob("*") if one.suffix in (".json", ".parquet")]
        stored.sort(key=lambda one: one.name)  # folders of partitions have random names
        for one in rng.sample(stored, rng.choice((1, 1, 2, 5))):
            _damage(rng, one)
    command = rng.choice(_ASKED)
    if command[0] == "index" and rng.random() < 0.1:
        return ["index", "compare", str(path), str(path)]
    if command[:2] in (["index", "values"], ["index", "shader"], ["index", "sql"]):
        return [*command[:2], str(path), *command[2:]]
    return [*command, str(path)]


def _damage(rng: Random, path: Path) -> None:
    data = bytearray(path.read_bytes())
    kind = rng.randrange(5)
    if kind == 0:
        path.unlink()
        return
    if kind == 1 and path.suffix == ".json":
        document = json.loads(data)
        _change(rng, document)
        data = bytearray(json.dumps(document).encode())
    elif kind == 1:
        del data[rng.randrange(len(data)) :]
    elif kind == 2:
        # the description of the columns is at the end
        at = max(0, len(data) - 1 - rng.randrange(2000))
        data[at] ^= 1 << rng.randrange(8)
    else:
        for _ in range(rng.choice((1, 3, 20))):
            data[rng.randrange(len(data))] = rng.choice((0, 255, rng.randrange(256)))
    path.write_bytes(bytes(data))


def _change(rng: Random, document: Any) -> None:
    """Replace a value somewhere in a document."""
    places = list(document) if isinstance(document, dict) else list(range(len(document)))
    if not places:
        return
    place = rng.choice(places)
    inside = document[place]
    if isinstance(inside, dict | list) and inside and rng.random() < 0.8:
        _change(rng, inside)
    else:
        document[place] = rng.choice(_VALUES)
