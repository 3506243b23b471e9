# SPDX-License-Identifier: MIT
"""Phases of passes besides the program's draws: binning runs, clears, loads and stores.

A binning run executes the program's draws before the tiles do, with shaders and draw-state groups
of its own. A clear, load or store of an attachment is a draw, a copy or an event with state of its
own. Both are recordings as that of the draws is. What differs in the same way as for the
program's draws of the same passes is reported once, for these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Difference, Entry, Extent, PassPair, joined
from cffpy.analysis.diff.recording import operations_of, other_clears
from cffpy.analysis.diff.report import draws_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cffpy.analysis.diff.model import AlignedDraws, FoundDifferences, PassIndices
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.selection import Phase
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.frame.passes import Pass

#: Clears, loads and stores that a title names.
_MAX_NAMED = 2


class BinningPair:
    """A pair of passes in their binning runs, aligned as the draws of the tiles are."""

    def __init__(self, pair: PassPair, recordings: tuple[Recording, Recording]) -> None:
        """``pair``: with all draws aligned. ``recordings``: of the binning runs of the captures."""
        assert pair.good is not None
        assert pair.bad is not None
        self._passes = pair.good.index, pair.bad.index
        both = zip(recordings, (pair.good, pair.bad), strict=True)
        by_number = [
            {record.action.number: record for record in _records(recording, one)}
            for recording, one in both
        ]
        self.draws: AlignedDraws = []
        #: Numbers of the draws that one capture does not execute in the binning run.
        self._missing: tuple[list[int], list[int]] = ([], [])
        # a pass that ends in its binning run has its draws there
        have_tiles = bool(pair.good.tiles and pair.bad.tiles)
        for drawn in pair.draws:
            mine, theirs = (
                None if one is None else of.get(one.action.number)
                for one, of in zip(drawn, by_number, strict=True)
            )
            if mine is None and theirs is None:
                continue
            self.draws.append((mine, theirs))
            if have_tiles and None not in drawn and (mine is None or theirs is None):
                self._note_missing(mine, theirs)

    def _note_missing(self, mine: DrawInputs | None, theirs: DrawInputs | None) -> None:
        record = mine or theirs
        assert record is not None
        assert record.action.number is not None
        self._missing[mine is None].append(record.action.number)

    def missing(self) -> Iterator[Entry]:
        """Draws that both captures have in tiles, and one of them not in the binning run."""
        for in_bad, numbers in enumerate(self._missing):
            if not numbers:
                continue
            extents = joined(
                Extent(*self._passes, number, number, bool(in_bad), "binning run")
                for number in numbers
            )
            there, absent = ("bad", "good") if in_bad else ("good", "bad")
            verb = "is" if len(numbers) == 1 else "are"
            title = f"{draws_text(extents)} of {there} {verb} missing in {absent}, binning run"
            yield Entry(title, extents, rank=0)


class OperationPair:
    """Clears, loads and stores of a pair of passes, where both do the same to their attachments.

    If not, that is a difference of the passes as wholes.
    """

    def __init__(self, pair: PassPair, recordings: tuple[Recording, Recording]) -> None:
        """``recordings``: of clears, loads and stores."""
        assert pair.good is not None
        assert pair.bad is not None
        mine, theirs = _records(recordings[0], pair.good), _records(recordings[1], pair.bad)
        self.draws: AlignedDraws
        if _what_is_done(pair.good) == _what_is_done(pair.bad) and len(mine) == len(theirs):
            self.draws = list(zip(mine, theirs, strict=True))
        else:
            self.draws = [*((one, None) for one in mine), *((None, one) for one in theirs)]

    def missing(self) -> Iterator[Entry]:
        """None: see above."""
        return iter(())


def _records(recording: Recording, one: Pass) -> list[DrawInputs]:
    """The actions of a phase of a pass, in order."""
    orders = (action.order for action in recording.passes_by_index[one.index].draws)
    return [recording.records[order] for order in orders if order in recording.records]


def _what_is_done(one: Pass) -> list[tuple[object, ...]]:
    operations = [(of.action.binning, of.kind, of.attachment, of.how) for of in operations_of(one)]
    return [*((of.binning, of.kind) for of in other_clears(one)), *operations]


#: How the actions of a phase are aligned.
PAIRS: dict[Phase, type[BinningPair] | type[OperationPair]] = {
    "binning run": BinningPair,
    "operations": OperationPair,
}


def only_of_phase(
    phase: Phase,
    found: FoundDifferences,
    of_draws: Mapping[Difference, Iterable[Extent]],
    good: Recording,
) -> FoundDifferences:
    """What differs in a phase, without what differs for the draws of the same passes.

    ``good``: the capture that draws are counted in.
    """
    kept: FoundDifferences = {}
    for difference, extents in found.items():
        passes = {(one.good_pass, one.bad_pass) for one in of_draws.get(difference, ())}
        rest = [one for one in extents if (one.good_pass, one.bad_pass) not in passes]
        if not rest:
            continue
        if phase == "operations":
            _add_operations(kept, difference, rest, good)
        else:
            kept[difference] = [replace(one, phase=phase) for one in rest]
    return kept


def _add_operations(
    kept: FoundDifferences, difference: Difference, extents: list[Extent], good: Recording
) -> None:
    """Operations have no numbers that users know: they are named, at the pass as a whole."""
    by_passes: dict[PassIndices, list[Extent]] = {}
    for extent in extents:
        by_passes.setdefault((extent.good_pass, extent.bad_pass), []).append(extent)
    for passes, of in by_passes.items():
        assert passes[0] is not None
        names = _operation_names(good.passes_by_index[passes[0]], of)
        named = replace(difference, name=f"{difference.name} of the {names}")
        left_by = of[0].left_by if len({one.left_by for one in of}) == 1 else None
        extent = Extent(*passes, phase="operations", left_by=left_by)
        kept.setdefault(named, []).append(extent)


def _operation_names(one: Pass, extents: list[Extent]) -> str:
    """``clear of color 0, store of color 0 and 2 more``."""
    orders = [action.order for action in one.draws]
    wanted = {
        order
        for extent in extents
        if extent.first is not None and extent.last is not None
        for order in orders[extent.first : extent.last + 1]
    }
    clears = [
        "clear of LRZ" if action.kind == "lrz clear" else "clear in the binning run"
        for action in other_clears(one)
        if action.order in wanted
    ]
    operations = [
        f"{operation.kind} of {operation.attachment or 'an unknown attachment'}"
        for operation in operations_of(one)
        if operation.action.order in wanted
    ]
    names = list(dict.fromkeys([*clears, *operations]))
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
