# SPDX-License-Identifier: MIT
"""CFF025: the colour cache changes its place in GMEM while it holds pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.capture.generations import generation_of
from cffpy.check.facts.barriers import Barriers
from cffpy.check.model import FROM_A6XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.barriers import Step
    from cffpy.check.model import CheckedCapture

#: Parts of the names of events that empty the colour cache; of a7xx, one that cleans all caches.
_EMPTYING = ("CCU_FLUSH_COLOR", "CCU_CLEAN_COLOR", "CCU_INVALIDATE_COLOR", "CACHE_FLUSH_TS")


class CacheModeSwitch(Lint):
    """The colour cache changes its place in GMEM while it holds pixels."""

    id = "CFF025"
    name = "cache-mode-switch"
    severity = "error"
    generations = FROM_A6XX
    needs = (Barriers,)
    summary = "the colour cache changes its place in GMEM while it holds pixels"
    why = (
        "Rendering in sysmem and in GMEM mode use different parts of GMEM as cache (RB_CCU_CNTL). "
        "What the cache holds at a switch is written to a wrong place, or lost."
    )
    advice = (
        "Between the modes emit PC_CCU_FLUSH_COLOR_TS or CCU_CLEAN_COLOR after sysmem rendering, "
        "PC_CCU_INVALIDATE_COLOR, and on a6xx CP_WAIT_FOR_IDLE; for depth likewise."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Switches without any event that empties the cache; on a6xx also without a wait."""
        barriers = capture.facts(Barriers)
        for before, after in barriers.switches:
            steps = barriers.steps[before + 1 : after]
            step = barriers.steps[after]
            missing = _missing(steps, generation_of(capture.generation).has_resolve_cache)
            if missing is not None:
                text = f"the mode of the colour cache changes without {missing} before"
                yield Report(text, missing, step.place, step.found, step.action)


def _missing(steps: list[Step], is_a7xx: bool) -> str | None:
    """What is missing between two actions with another mode, in words."""
    emptying = _EMPTYING if is_a7xx else _EMPTYING[:3]
    names = [step.name for step in steps]
    if not any(part in name for name in names for part in emptying):
        return "a clean or invalidate of the cache"
    if not is_a7xx and not any(step.kind == "wait" for step in steps):
        return "CP_WAIT_FOR_IDLE"
    return None
