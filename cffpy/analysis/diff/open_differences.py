# SPDX-License-Identifier: MIT
"""OpenDifferences: each difference, from the draw where it appears to the one where it is gone.

The cost depends on what changes, not on draws times state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Extent
from cffpy.analysis.inputs.descriptor_sets import is_of_set

if TYPE_CHECKING:
    from collections.abc import Container

    from cffpy.analysis.diff.model import Difference, FoundDifferences, PassIndices
    from cffpy.analysis.diff.state import Subject


class _Open:
    """The differences of a register or fact that hold from draw ``since`` on.

    ``written``: the last draw for which either capture wrote it. ``left_by``: as in ``Extent``.
    """

    __slots__ = ("differences", "left_by", "since", "written")

    def __init__(
        self, differences: tuple[Difference, ...], since: int, left_by: PassIndices | None
    ) -> None:
        self.differences = differences
        self.since = since
        self.written = since
        self.left_by = left_by


class OpenDifferences:
    """What differs at the present pair of draws. ``found``: what differs, and where."""

    def __init__(self, found: FoundDifferences) -> None:
        self.found = found
        #: The present pair of passes.
        self._passes: PassIndices = (None, None)
        self._open: dict[Subject, _Open] = {}

    def enter(self, good_pass: int, bad_pass: int) -> None:
        """Go on to a pair of passes."""
        self._passes = good_pass, bad_pass

    def of(self, subject: Subject) -> tuple[Difference, ...]:
        """How a register or fact differs so far."""
        known = self._open.get(subject)
        return () if known is None else known.differences

    def set(
        self,
        subject: Subject,
        differences: tuple[Difference, ...],
        number: int,
        last: int,
        left_by: PassIndices | None,
    ) -> None:
        """From draw ``number`` on it differs so. ``last``: the draw that was compared before."""
        known = self._open.get(subject)
        if known is not None:
            if known.differences == differences:
                return
            self._close(subject, last)
        if differences:
            self._open[subject] = _Open(differences, number, left_by)

    def note_written(self, written: Container[Subject], number: int) -> None:
        """Either capture wrote these for a draw."""
        for subject, opened in self._open.items():
            if subject in written:
                opened.written = number

    def forget_left_over(self, subject: Subject) -> None:
        """A pair of draws has written a register: its value is left over no more."""
        known = self._open.get(subject)
        if known is not None:
            known.left_by = None

    def skip_to(self, number: int, last: int) -> None:
        """Draws between ``last`` and ``number`` are not compared.

        What is open ends with ``last``, and holds again from the latter on.
        """
        for subject, opened in self._open.items():
            self._note(subject, opened, last)
            opened.since = number

    def close(self, last: int) -> None:
        """The pass is over, with this draw."""
        for subject in list(self._open):
            self._close(subject, last)

    def _close(self, subject: Subject, last: int) -> None:
        self._note(subject, self._open.pop(subject), last)

    def _note(self, subject: Subject, opened: _Open, last: int) -> None:
        """What is open holds up to the draw ``last``."""
        if last < opened.since:
            return
        # descriptors of sets, and what the packet of a draw says, are of each draw
        is_of_draw = is_of_set(subject) or (isinstance(subject, tuple) and subject[0] == "draw")
        extent = Extent(
            *self._passes,
            opened.since,
            last,
            written=last if is_of_draw else opened.written,
            left_by=opened.left_by,
        )
        for difference in opened.differences:
            self.found.setdefault(difference, []).append(extent)
