# SPDX-License-Identifier: MIT
"""The shaders of a capture as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cffpy.analysis.shaders import Shader
    from cffpy.isa.statistics import Statistics

SCHEMA = "cffpy.disasm-all/1"


def shader_document(number: int, shader: Shader, with_listing: bool) -> dict[str, Any]:
    """One shader; addresses are hex strings, sizes bytes."""
    program = shader.program
    document: dict[str, Any] = {
        "shader": number,
        "stage": shader.stage,
        "generation": shader.generation,
        "address": f"{shader.gpuaddr:#x}",
        "instructions": program.instructions,
        "size": len(program.code),
        "stats": None if program.statistics is None else statistics_document(program.statistics),
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


def statistics_document(statistics: Statistics) -> dict[str, Any]:
    """The numbers of a listing's Stats block."""
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
