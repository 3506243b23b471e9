# SPDX-License-Identifier: MIT
"""CFF022: a binning run of at most two tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A5XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report

#: Drivers use a binning run for more tiles.
_FEW = 2


class NeedlessBinning(Lint):
    """A binning run of at most two tiles."""

    id = "CFF022"
    name = "needless-binning"
    severity = "info"
    generations = FROM_A5XX
    summary = "a binning run of at most two tiles"
    why = (
        "The binning run executes all vertex programs once more. With two tiles there is little "
        "to skip."
    )
    advice = "Do not force hardware binning for small framebuffers."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """GMEM passes with a binning run and one or two tiles."""
        for found in capture.render_passes():
            if found.hardware_binning and 0 < len(found.tiles) <= _FEW:
                tiles = "1 tile" if len(found.tiles) == 1 else f"{len(found.tiles)} tiles"
                yield at_pass(found, f"a binning run for {tiles}")
