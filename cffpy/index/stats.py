# SPDX-License-Identifier: MIT
"""Statistics of an index: captures, GPUs, values that are rare, programs and passes by size."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.check.model import Finding
from cffpy.frame.faces import facts_document
from cffpy.frame.facts import Bits, described, model, stored
from cffpy.frame.geometry import Size
from cffpy.frame.passes import Pass
from cffpy.frame.submit import Submit
from cffpy.index.tables import (
    EXPORTED,
    FINDINGS,
    PROGRAMS,
    VALUES,
    IndexedShader,
    RegisterValueCount,
)
from cffpy.index.values import connect

if TYPE_CHECKING:
    from cffpy.index.reader import Index

_REGISTERS = """
SELECT count(*), count(DISTINCT (generation, register)) FROM register_values
"""
#: A value is rare where one capture has it, and its register has few values and many captures.
_RARE = """
SELECT generation, register, value, decoded, first_capture FROM (
    SELECT *, sum(captures) OVER w AS total, count(*) OVER w AS number FROM register_values
    WINDOW w AS (PARTITION BY generation, register))
WHERE captures = 1 AND number BETWEEN 2 AND 16 AND total >= 10
ORDER BY total DESC, generation, register, value LIMIT $most
"""
_PROGRAMS = """
SELECT stage, count(*) AS programs, sum(uses)::BIGINT AS uses, min(instructions),
    median(instructions)::BIGINT, max(instructions), max(full_registers)
FROM programs GROUP BY stage ORDER BY stage
"""
_LARGEST_PROGRAMS = """
SELECT digest, stage, instructions, captures, uses, first_capture FROM programs
ORDER BY instructions DESC, digest, stage LIMIT $most
"""
_LARGEST_PASSES = """
SELECT capture, "pass", mode, framebuffer_width, framebuffer_height, tile_count, draw_count
FROM passes ORDER BY draw_count DESC, capture, "pass" LIMIT $most
"""
_PROCESSES = """
SELECT coalesce(process, '') AS process, count(DISTINCT capture) AS captures FROM submits
GROUP BY 1 ORDER BY captures DESC, process LIMIT $most
"""
_LINTS = """
SELECT id, name, severity, count(*), count(DISTINCT capture) FROM findings
GROUP BY ALL ORDER BY id, severity
"""


@described(
    "process_count",
    is_value=False,
    like=(Submit,),
    captures="how many captures have it",
)
class ProcessCount(NamedTuple):
    """How many captures of an index a process has made."""

    process: str | None
    captures: int


@described(
    "rare_value",
    is_value=False,
    like=(RegisterValueCount,),
    capture="the capture",
)
class RareValue(NamedTuple):
    """A value that one capture alone has, of a register with few values."""

    generation: int
    register: str
    value: Bits | None
    decoded: str
    capture: str


@described(
    "stage_programs",
    is_value=False,
    like=(IndexedShader,),
    programs="how many programs there are",
    uses="draws and dispatches that run them",
    smallest="fewest instructions of a program",
    median="median of their instructions",
    largest="most instructions of a program",
    full_registers="most full registers of a program",
)
class StagePrograms(NamedTuple):
    """The programs of a stage."""

    stage: str
    programs: int
    uses: int
    smallest: int | None
    median: int | None
    largest: int | None
    full_registers: int | None


@described(
    "large_program",
    is_value=False,
    like=(IndexedShader,),
)
class LargeProgram(NamedTuple):
    """One of the programs with most instructions."""

    digest: str
    stage: str
    instructions: int
    captures: int
    uses: int
    first_capture: str


@described(
    "large_pass",
    is_value=False,
    like=(Pass,),
    capture="the capture",
    pass_="number of the pass in the capture",
)
class LargePass(NamedTuple):
    """One of the passes with most draws."""

    capture: str
    pass_: int
    mode: str | None
    framebuffer: Size | None
    tile_count: int | None
    draw_count: int


@described(
    "lint_count",
    is_value=False,
    like=(Finding,),
    findings="how many findings there are",
    captures="how many captures have one",
)
class LintCount(NamedTuple):
    """How often a lint has found something in an index, and in how many captures."""

    id: str
    name: str
    severity: str
    findings: int
    captures: int


@model("index")
class IndexStats:
    """Statistics of an index: cffpy index stats --json."""

    index: str = stored("folder or URL of the index")
    snapshot: int = stored("number of the published state")
    time: str = stored("when it was published")
    captures: int = stored("captures in the index")
    status: dict[str, int] = stored("captures by what became of them")
    gpus: dict[str, int] = stored("captures by the name of their GPU")
    drivers: dict[str, int] = stored("captures by their driver")
    editions: dict[str, int] = stored("captures by the edition that they are decoded with")
    bytes: int = stored("size of all captures", "bytes")
    draws: int = stored("draws of all captures")
    partitions: int = stored("files of the index")
    registers: int = stored("registers that have a value", default=0)
    register_values: int = stored("distinct values of all registers", default=0)
    processes: list[ProcessCount] = stored("captures by process", default_factory=list)
    rare_values: list[RareValue] = stored("values that one capture alone has", default_factory=list)
    programs: list[StagePrograms] = stored("programs by stage", default_factory=list)
    largest_programs: list[LargeProgram] = stored(
        "programs with most instructions", default_factory=list
    )
    largest_passes: list[LargePass] = stored("passes with most draws", default_factory=list)
    lints: list[LintCount] = stored("findings by lint", default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy index stats --json``."""
        return facts_document(self)


def statistics(index: Index, most: int = 10) -> IndexStats:
    """Statistics of an index. ``most``: rows of each list of large or rare things."""
    files = index.files
    summary = IndexStats(
        index.path,
        index.number,
        index.time,
        len(files),
        _counts(file.status for file in files),
        _counts(file.gpu or "unknown" for file in files),
        _counts(file.driver or "unknown" for file in files),
        _counts(file.edition for file in files),
        sum(file.size for file in files),
        sum(file.rows for file in files),
        len(index.parts),
    )
    with connect(1, index.path) as database:
        for table in (VALUES, PROGRAMS):
            database.register(table.name, index.corpus(table))
        for table in (EXPORTED["passes"], EXPORTED["submits"], FINDINGS):
            database.register(table.name, index.dataset(table))

        def rows(query: str) -> list[tuple[Any, ...]]:
            given = {"most": most} if "$most" in query else None
            result: list[tuple[Any, ...]] = database.execute(query, given).fetchall()
            return result

        ((summary.register_values, summary.registers),) = rows(_REGISTERS)
        summary.processes = [*map(ProcessCount._make, rows(_PROCESSES))]
        summary.rare_values = [*map(RareValue._make, rows(_RARE))]
        summary.programs = [*map(StagePrograms._make, rows(_PROGRAMS))]
        summary.largest_programs = [*map(LargeProgram._make, rows(_LARGEST_PROGRAMS))]
        summary.largest_passes = [*map(_large_pass, rows(_LARGEST_PASSES))]
        summary.lints = [*map(LintCount._make, rows(_LINTS))]
    return summary


def _large_pass(row: tuple[Any, ...]) -> LargePass:
    capture, index, mode, width, height, *counts = row
    framebuffer = None if width is None else Size(width, height)
    return LargePass(capture, index, mode, framebuffer, *counts)


def _counts(values: Any) -> dict[str, int]:  # noqa: ANN401
    return dict(sorted(Counter(values).items()))
