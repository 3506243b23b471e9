# SPDX-License-Identifier: MIT
"""The shaders of a capture as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.shaders import Shader
    from cffpy.isa.statistics import Statistics

SCHEMA = "cffpy.disasm-all/1"


def document(
    name: str, shaders: Sequence[Shader], left_out: int, with_listings: bool
) -> dict[str, Any]:
    """The shaders of a file; ``left_out``: how many more there are. Addresses are hex strings."""
    return {
        "file": name,
        "shaders": [
            _shader_document(number, shader, with_listings) for number, shader in enumerate(shaders)
        ],
        "left_out": left_out,
    }


def _shader_document(number: int, shader: Shader, with_listing: bool) -> dict[str, Any]:
    program = shader.program
    document: dict[str, Any] = {
        "shader": number,
        "stage": shader.stage,
        "generation": shader.generation,
        "address": f"{shader.gpuaddr:#x}",
        "instructions": program.instructions,
        "size": len(program.code),
        "stats": None if program.statistics is None else _statistics_document(program.statistics),
        "named_by": {"name": shader.naming.name, "packet": f"{shader.naming.packet:#x}"},
        "uses": shader.uses,
        "where": [
            {"submit": submit, "draws": [list(pair) for pair in ranges]}
            for submit, ranges in shader.where
        ],
        "where_is_complete": not shader.is_cut,
    }
    if with_listing:
        document["listing"] = program.text
    return document


def _statistics_document(statistics: Statistics) -> dict[str, Any]:
    return {
        "instr": statistics.instr,
        "nops": statistics.nops,
        "non_nops": statistics.non_nops,
        "mov": statistics.mov,
        "cov": statistics.cov,
        "last_baryf": statistics.last_baryf,
        "half": statistics.half,
        "full": statistics.full,
        "constlen": statistics.constlen,
        "cat": list(statistics.categories),
        "sstall": statistics.sstall,
        "ss": statistics.ss,
        "sy": statistics.sy,
    }
