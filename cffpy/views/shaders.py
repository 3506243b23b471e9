# SPDX-License-Identifier: MIT
"""The shaders of a capture as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cffpy.document_types import Facts, Of

if TYPE_CHECKING:
    from cffpy.isa.statistics import Statistics

SCHEMA = "cffpy.disasm-all/1"


class ShadersDocument(TypedDict):
    """Shaders of a capture: cffpy disasm --all --json."""

    file: Annotated[str, "the capture"]
    shaders: Annotated[
        list[Facts], "the distinct programs by first use", Of("cffpy.analysis.shaders:Shader")
    ]
    left_out: Annotated[int, "programs that are not listed, because there were too many"]


def statistics_document(statistics: Statistics) -> dict[str, Any]:
    """The numbers of a listing's Stats block."""
    return {
        "instr": statistics.instr,
        "nops": statistics.nops,
        "non_nops": statistics.non_nops,
        "mov": statistics.mov,
        "cov": statistics.cov,
        "last_baryf": statistics.last_baryf,
        "half_registers": statistics.half,
        "full_registers": statistics.full,
        "constlen": statistics.constlen,
        "cat": list(statistics.categories),
        "sstall": statistics.sstall,
        "ss": statistics.ss,
        "sy": statistics.sy,
    }
