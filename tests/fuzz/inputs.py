# SPDX-License-Identifier: MIT
"""Command lines for inputs other than captures: SQL, scripts, filters, questions.

Names of files and texts contain what a terminal, HTML, SQL or a format string would interpret.
"""

from __future__ import annotations

import importlib.util
import json
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz import texts

if TYPE_CHECKING:
    from tests.fuzz.commands import Files

#: Names of files, some of which are code in some language.
FILE_NAMES = (
    "mutant.rd",
    "mutant.rd",
    "mutant.rd",
    "'; DROP TABLE draws; --.rd",
    '"><img src=x onerror=alert(1)>.rd',
    "\x1b[31mred\u202e.rd",
    "%s%n{0}$(id)`id`.rd",
    "a\nb.rd",
    "-o.rd",
)

#: Queries of every table; invalid SQL; queries that would access files.
_SELECTS = (
    "SELECT * FROM draws",
    "SELECT mode, count(*) FROM passes GROUP BY mode",
    "SELECT register, max(value) FROM registers GROUP BY 1 ORDER BY 2 DESC LIMIT 9",
    "SELECT capture, sum(vertices) FROM draws GROUP BY capture",
    "SELECT * FROM submits, buffers LIMIT 20",
    "SELECT * FROM shaders",
    "SELECT * FROM no_such_table",
    "SELECT 'a' || chr(27) || '[31m' AS \"\x1b[0m\"",
    "SELECT * FROM read_csv('/etc/passwd')",
    "COPY draws TO '/tmp/never.csv'",
    "ATTACH '/tmp/never.db'",
    "SELECT repeat('x', 1000000)",
    "; ; SELECT 1; DROP TABLE draws",
    "SELECT (((((",
)

_SCRIPT = """
local n = 0
function start_submit() io.write("submit\\n") end
function draw(kind, count)
  n = n + 1
  io.write(tostring(kind), " ", count, " ", tostring(regs.val(0x8820)), "\\n")
end
function end_cmdstream() io.write(n, "\\n") end
"""

#: Kind of question -> questions that have an answer.
_QUESTIONS = {
    "image": (
        {"gpu": "650", "format": "R8G8B8A8_UNORM", "width": 64, "height": 64, "levels": 3},
        {"gpu": "530", "format": "RG16F", "width": 100, "height": 2000, "ubwc_asked": True},
        {"gpu": "740", "format": "ASTC_6x5", "width": 9, "height": 9, "depth": 7, "is_3d": True},
    ),
    "lrz": (
        {"gpu": "740", "width": 1920, "height": 1080, "samples": 4, "layers": 6},
        {"gpu": "540", "width": 64, "height": 64},
    ),
    "tile": (
        {
            "cpp": 4,
            "width": 16,
            "height": 4,
            "pitch": 256,
            "size": 4096,
            "highest_bank_bit": 15,
            "bank_swizzle_levels": 6,
            "macrotile": 8,
            "linear_hex": "5a" * 256,
        },
        {
            "cpp": 16,
            "width": 4,
            "height": 1,
            "pitch": 1024,
            "highest_bank_bit": 13,
            "bank_swizzle_levels": 7,
            "macrotile": 4,
            "tiled_hex": "a5" * 2048,
        },
    ),
}
_VALUES = (
    *(0, 1, -1, 3, 31, 1 << 20, 1 << 28, 1 << 40, 10**4000, 1e300, 1.5, float("nan"), True, None),
    *("", "ff", "\x1b[31m", "\ud800", "R" * 3000, [], {}, [0, 0], [[[[]]]]),
)


def has(library: str) -> bool:
    """Whether an optional library is installed."""
    return importlib.util.find_spec(library) is not None


def sql(rng: Random, files: Files) -> list[str]:
    """A query, sometimes changed. Without DuckDB: an error."""
    select = rng.choice(_SELECTS)
    if rng.random() < 0.2:
        select = texts.mutated_text(rng, select).replace("\0", "")[:2000]
    form = rng.choice(([], ["--json"], ["--jsonl"], ["--csv"]))
    return ["sql", *form, str(files.mutant), select]


#: Expressions with names of each kind: registers, properties, descriptors, programs, functions.
FILTERS = (
    "RB_MRT[*].CONTROL.BLEND == 1 and (pass.mode in (gmem, sysmem) or draw.vertices in (3, 5..8))",
    'texture.FMT ~ "8_8" and (sampler.ANISO in 1..16 or unknown(texture.WIDTH))',
    "all(texture.WIDTH >= 64) and texture.stage == FS and texture.slot in (0, 1)",
    "sampled(0x100008000) or sampled(4KiB) or texture.address not in (0, 1MiB..2MiB)",
    "draw.shaders.FS.instructions > 10 and draw.shaders.VS.cat5 == 0"
    " or draw.shaders.CS.full_registers < 4",
    'marker("(a+)+b") or pass.markers !~ "^x" or written(RB_DEPTH_CNTL)',
)


def filtered(rng: Random, files: Files) -> list[str]:
    """A filter, mostly changed: of find, or of a list."""
    select = rng.choice(FILTERS)
    if rng.random() < 0.8:
        select = texts.mutated_text(rng, select)
    wanted = select.replace("\0", "")[:2000]
    mutant = str(files.mutant)
    if rng.random() < 0.5:
        form = rng.choice(([], ["--json"], ["--jsonl"], ["--all"]))
        return ["find", "--jobs", "1", *form, "--", wanted, mutant]
    command = rng.choice(("draws", "passes", "lines", "tiles", "state"))
    form = rng.choice(([], ["--jsonl"]))
    return [command, f"--where={wanted}", *form, mutant]


def exported(rng: Random, files: Files) -> list[str]:
    """Tables in forms that need a library."""
    forms = ["csv", *(["parquet", "arrow"] if has("pyarrow") else [])]
    forms += ["duckdb"] if has("duckdb") else []
    form = rng.choice(forms)
    output = f"{files.folder}/out{rng.randrange(1 << 30)}.{form}" + "/" * (form != "duckdb")
    return ["export", "-o", output, str(files.mutant)]


def scripted(rng: Random, files: Files) -> list[str]:
    """A Lua script, whole or changed. Without lupa: an error."""
    script = files.folder / "script.lua"
    text = _SCRIPT if rng.random() < 0.7 else texts.mutated_text(rng, _SCRIPT)
    script.write_bytes(text.encode("utf-8", "surrogatepass"))
    return ["dump", "--script", str(script), str(files.mutant)]


def editions(rng: Random, files: Files) -> list[str]:
    """Another edition of the descriptions."""
    command = rng.choice(("dump", "passes", "draws", "check", "state", "decompile"))
    more = ["--at", "#0"] if command == "state" else []
    name = rng.choice(("mesa-25.3", "mesa-25.3", "../../..", "\x1b[0m"))
    return [command, "--edition", name, *more, str(files.mutant)]


def layouts(rng: Random, files: Files) -> list[str]:
    """Questions in JSON lines, with wrong values, broken lines, members that are missing."""
    kind = rng.choice(("image", "lrz", "tile"))
    rows = []
    for _ in range(rng.choice((1, 3, 20))):
        question: dict[str, object] = dict(rng.choice(_QUESTIONS[kind]))
        for _ in range(rng.choice((0, 1, 1, 2))):
            question[rng.choice((*question, "layers", "samples"))] = rng.choice(_VALUES)
        if rng.random() < 0.1:
            question.pop(rng.choice(list(question)))
        row = json.dumps(question)
        rows.append(row if rng.random() < 0.8 else texts.mutated_text(rng, row))
    path = files.folder / "questions.jsonl"
    path.write_bytes("\n".join(rows).encode("utf-8", "surrogatepass"))
    return ["layout", kind, "--batch", str(path)]
