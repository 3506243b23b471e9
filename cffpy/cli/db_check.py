# SPDX-License-Identifier: MIT
"""``cffpy db check``: the findings of an edition's two parts, as text or JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from cffpy.errors import RegisterDbError
from cffpy.findings import ERROR, Finding

REGISTERS, INSTRUCTIONS = "registers", "instruction sets"
_WITHOUT = {
    REGISTERS: "none found (adreno/*.regs); an edition needs them",
    INSTRUCTIONS: "none found (isa/*.isa); the bundled ones are used",
}


#: A part's findings; None where the edition lacks the part.
Findings = dict[str, Sequence[Finding] | None]


def check_edition(name_or_path: str | None) -> Findings:
    """The findings by part. Raises RegisterDbError if the directory is not an edition."""
    from cffpy.editions.folders import resolve_edition
    from cffpy.isa.check import check_directory as check_instructions
    from cffpy.regdb.check import check_directory as check_registers

    parts: Findings = {REGISTERS: None, INSTRUCTIONS: None}
    try:
        directory = resolve_edition(name_or_path)
    except RegisterDbError:
        if name_or_path is None or not _has_instructions(name_or_path):
            raise
        directory = name_or_path
    else:
        parts[REGISTERS] = check_registers(directory)
    if _has_instructions(directory):
        parts[INSTRUCTIONS] = check_instructions(directory)
    return parts


def count_errors(findings: Sequence[Finding] | None) -> int:
    """How many of the findings are errors."""
    return sum(finding.severity == ERROR for finding in findings or ())


def as_lines(parts: Findings, errors_only: bool) -> list[str]:
    """One line for each finding, then one for each part."""
    lines = [
        str(finding) for findings in parts.values() for finding in _shown(findings, errors_only)
    ]
    lines += [_summary(part, findings) for part, findings in parts.items()]
    return lines


def _summary(part: str, findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return f"{part}: {_WITHOUT[part]}"
    errors = count_errors(findings)
    counts = Counter((finding.severity, finding.kind) for finding in findings)
    kinds = ", ".join(f"{count} {kind}" for (_severity, kind), count in sorted(counts.items()))
    summary = f"{part}: {errors} errors, {len(findings) - errors} notices"
    return f"{summary} ({kinds})" if kinds else summary


def _shown(findings: Sequence[Finding] | None, errors_only: bool) -> list[Finding]:
    return [finding for finding in findings or () if finding.severity == ERROR or not errors_only]


def _has_instructions(directory: str) -> bool:
    try:
        return any(name.endswith(".isa") for name in os.listdir(os.path.join(directory, "isa")))
    except OSError:
        return False
