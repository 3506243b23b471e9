# SPDX-License-Identifier: MIT
"""Findings of the checkers of register and instruction-set descriptions."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = "error"
NOTICE = "notice"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding. ``file`` is a name like ``a6xx.regs``; ``line`` counts from 1.

    ``severity``: ERROR or NOTICE. ``kind``: a few words shared by all findings of the kind.
    """

    file: str
    line: int
    severity: str
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.message}"
