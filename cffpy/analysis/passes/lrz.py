# SPDX-License-Identifier: MIT
"""Low-resolution depth of a pass as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cffpy.analysis.passes.model import Pass


def follow_lrz(found: Pass) -> None:
    """Find out whether LRZ is used, and the first of the program's draws that lost it."""
    lrz = found.lrz
    if lrz is None:
        return
    for number, draw in enumerate(found.program_draws):
        if draw.lrz is None or lrz.off_from is not None:
            continue
        if draw.lrz.enabled:
            lrz.used = True
        elif lrz.used:
            lrz.off_from = number
