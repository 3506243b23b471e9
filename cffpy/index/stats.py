# SPDX-License-Identifier: MIT
"""Statistics of an index: captures, GPUs, values that are rare, programs and passes by size."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cffpy.index.tables import EXPORTED, FINDINGS, PROGRAMS, VALUES
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


@dataclass(slots=True)
class IndexStats:
    """Statistics of an index; rows of lists are objects, see ``to_dict``."""

    index: str
    snapshot: int
    time: str
    captures: int
    status: dict[str, int]
    gpus: dict[str, int]
    drivers: dict[str, int]
    editions: dict[str, int]
    bytes: int
    draws: int
    partitions: int
    registers: int = 0
    register_values: int = 0
    processes: list[dict[str, Any]] = field(default_factory=list)
    rare_values: list[dict[str, Any]] = field(default_factory=list)
    programs: list[dict[str, Any]] = field(default_factory=list)
    largest_programs: list[dict[str, Any]] = field(default_factory=list)
    largest_passes: list[dict[str, Any]] = field(default_factory=list)
    lints: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy index stats --json``."""
        return asdict(self)


def statistics(index: Index, most: int = 10) -> IndexStats:
    """Statistics of an index. ``most``: rows of each list of large or rare things."""
    files = index.files
    found = IndexStats(
        index.path,
        index.number,
        index.time,
        len(files),
        _counts(one.status for one in files),
        _counts(one.gpu or "unknown" for one in files),
        _counts(one.driver or "unknown" for one in files),
        _counts(one.edition for one in files),
        sum(one.size for one in files),
        sum(one.rows for one in files),
        len(index.parts),
    )
    with connect(1, index.path) as database:
        for table in (VALUES, PROGRAMS):
            database.register(table.name, index.corpus(table))
        for table in (EXPORTED["passes"], EXPORTED["submits"], FINDINGS):
            database.register(table.name, index.dataset(table))

        def rows(query: str, *names: str) -> list[dict[str, Any]]:
            given = {"most": most} if "$most" in query else None
            result = database.execute(query, given).fetchall()
            return [dict(zip(names, row, strict=True)) for row in result]

        ((found.register_values, found.registers),) = database.execute(_REGISTERS).fetchall()
        found.processes = rows(_PROCESSES, "process", "captures")
        found.rare_values = rows(_RARE, "generation", "register", "value", "decoded", "capture")
        found.programs = rows(
            _PROGRAMS, "stage", "programs", "uses", "smallest", "median", "largest", "full"
        )
        found.largest_programs = rows(
            _LARGEST_PROGRAMS, "digest", "stage", "instructions", "captures", "uses", "capture"
        )
        found.largest_passes = rows(
            _LARGEST_PASSES, "capture", "pass", "mode", "width", "height", "tiles", "draws"
        )
        found.lints = rows(
            "SELECT lint, name, severity, count(*), count(DISTINCT capture) FROM findings"
            " GROUP BY ALL ORDER BY lint, severity",
            *("lint", "name", "severity", "findings", "captures"),
        )
    return found


def _counts(values: Any) -> dict[str, int]:  # noqa: ANN401
    return dict(sorted(Counter(values).items()))
