# SPDX-License-Identifier: MIT
"""Comparison of two captures of Intel GPUs, as ``cffpy.diff`` makes it of all captures.

``intel.analysis.comparison`` aligns the program's draws and compares what they use, as texts by
name. Here this becomes passes side by side, and an entry for each cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent, PassPair, joined
from cffpy.analysis.diff.report import entry_of, entry_order, missing_draws, missing_passes
from cffpy.analysis.diff.rules import FACT_CATEGORIES, OTHER, TOPICS, Category
from cffpy.analysis.diff.selection import Chosen
from cffpy.errors import CaptureError
from cffpy.intel.analysis.comparison import Differences, Part
from cffpy.query.search import subjects

if TYPE_CHECKING:
    from cffpy.analysis.diff.model import PassIndices
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.selection import Selection
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.api.intel_source import IntelSource
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, Passes
    from cffpy.query.filters import Filter

#: Value of what one of the captures does not have.
_NONE = "none"

#: What names of differences contain, and what they are about; the first that matches counts.
_CATEGORIES: tuple[tuple[str, Category], ...] = (
    (r"^draw ", FACT_CATEGORIES["draw"]),
    (r" kernel$", FACT_CATEGORIES["shader"]),
    (r"sampler", FACT_CATEGORIES["sampler"]),
    (r" table entry \d+$|^set |^set of ", FACT_CATEGORIES["texture"]),
    (r"push constant |dynamic offset ", FACT_CATEGORIES["push constants"]),
    (r"^3DSTATE_CONSTANT", FACT_CATEGORIES["constants"]),
    (r"^3DSTATE_VERTEX_BUFFERS", FACT_CATEGORIES["vertex buffer"]),
    (r"^3DSTATE_INDEX_BUFFER", FACT_CATEGORIES["index buffer"]),
    (r"BLEND|^3DSTATE_CC_STATE", TOPICS["blend", False]),
    (r"DEPTH_STENCIL", TOPICS["depth_stencil", False]),
    (r"SCISSOR|DRAWING_RECTANGLE", TOPICS["scissor", False]),
    (r"VIEWPORT", TOPICS["viewport", False]),
    (r"MULTISAMPLE|SAMPLE_(MASK|PATTERN)", TOPICS["samples", False]),
    (r"^3DSTATE_(RASTER|SF|CLIP|WM\b)", TOPICS["rasterizer", False]),
    (r"^3DSTATE_(VF|VERTEX)", TOPICS["vertex_input", False]),
    (r"^depth buffer$|(DEPTH|STENCIL|HIER)\w*_BUFFER", TOPICS["targets", False]),
)


@dataclass(slots=True)
class ComparedCapture:
    """A capture of a comparison; it stands where others have a Recording."""

    name: str
    passes: Passes
    damage: list[str]
    chosen: Chosen | None = None


class _Drawn(NamedTuple):
    """A draw of a comparison; it stands where others have DrawInputs."""

    action: Action


def compare_intel(
    sources: tuple[IntelSource, IntelSource],
    parts: tuple[Selection, Selection],
    query: Filter | None = None,
) -> Comparison:
    """What differs between two captures, or parts of them.

    ``query``: pairs of draws are compared where it holds for either. Raises CaptureError where a
    capture has no such part, or no draw matches.
    """
    first, second = (one.compared for one in sources)
    found = Differences(first, second, *map(_part, sources, parts))
    sides = [_side(*one) for one in zip(sources, parts, strict=True)]
    if query is not None:
        _choose(found, sources, query)
        for side, source in zip(sides, sources, strict=True):
            side.chosen = Chosen(query.where or "", _matching(source, query))
    good, bad = (cast("Recording", one) for one in sides)
    pairs = _pairs(found)
    entries = [entry for pair in pairs if pair.good and pair.bad for entry in missing_draws(pair)]
    entries = [*missing_passes(pairs), *entries, *_entries(found)]
    return Comparison(good, bad, pairs, entries)


def _part(source: IntelSource, part: Selection) -> Part:
    if part.run is not None:
        problem = "Intel GPUs have no tiles and no binning runs"
        raise CaptureError(f"{source.content.name}: {part.place}: {problem}")
    draws = None if part.draws is None else part.draws.numbers
    return Part(part.submit, part.index, draws)


def _side(source: IntelSource, part: Selection) -> ComparedCapture:
    found = source.walk().finder.found
    return ComparedCapture(
        f"{source.content.name}{part}", found, [str(one) for one in found.damage]
    )


def _choose(found: Differences, sources: tuple[IntelSource, IntelSource], query: Filter) -> None:
    """Leave only draws for which a filter holds; of pairs, for either."""
    chosen = []
    for source in sources:
        passes = source.walk().finder.found.passes
        matching = _matching(source, query)
        draws = (passes[index].draws[one] for index in matching for one in matching[index])
        chosen.append({draw.order for draw in draws})
    good, bad = chosen
    found.choose(good, bad)
    if not (found.pairs or found.missing or found.added):
        names = dict.fromkeys(one.content.name for one in sources)
        raise CaptureError(f"no draw of {' or '.join(names)} matches {query.where}")


def _matching(source: IntelSource, query: Filter) -> dict[int, set[int]]:
    """The draws for which a filter holds, by pass and number."""
    draws: dict[int, set[int]] = {}
    bound = source.record_for(query)
    passes = source.walk().finder.found.passes
    for one in subjects((draw for of in passes for draw in of.draws), passes):
        if one.found_pass is not None and one.action is not None and bound.matches(one):
            assert one.action.number is not None
            draws.setdefault(one.found_pass.index, set()).add(one.action.number)
    return draws


def _pairs(found: Differences) -> list[PassPair]:
    """Passes with counterparts, their draws side by side; a pass of one capture has none."""
    passes = found.good.survey.passes, found.bad.survey.passes
    pairs: dict[PassIndices, PassPair] = {}
    partners: tuple[dict[int, PassPair], dict[int, PassPair]] = ({}, {})
    for good, bad in found.pairs:
        indices = good.pass_index, bad.pass_index
        pair = pairs.get(indices)
        if pair is None:
            pair = pairs[indices] = _pass_pair(passes, indices)
            for partner, index in zip(partners, indices, strict=True):
                if index is not None:
                    partner.setdefault(index, pair)
        pair.draws.append((_drawn(good), _drawn(bad)))
    for side, actions in enumerate((found.missing, found.added)):
        for action in actions:
            index = action.pass_index
            pair = None if index is None else partners[side].get(index)
            if pair is None:
                indices = (index, None) if side == 0 else (None, index)
                pair = pairs.setdefault(indices, _pass_pair(passes, indices))
            drawn = _drawn(action)
            pair.draws.append((drawn, None) if side == 0 else (None, drawn))
    return sorted(pairs.values(), key=_pair_order)


def _pass_pair(passes: tuple[list[Pass], list[Pass]], indices: PassIndices) -> PassPair:
    good, bad = (
        None if index is None else of[index] for of, index in zip(passes, indices, strict=True)
    )
    return PassPair(good, bad)


def _pair_order(pair: PassPair) -> tuple[int, bool]:
    one = pair.good or pair.bad
    return (-1 if one is None else one.index), pair.good is None


def _drawn(action: Action) -> DrawInputs:
    return cast("DrawInputs", _Drawn(action))


def _entries(found: Differences) -> list[Entry]:
    """An entry for differences of one category that the same draws have."""
    actions = found.good.survey.actions, found.bad.survey.actions
    causes: dict[tuple[Category, tuple[tuple[int, int], ...]], list[Difference]] = {}
    for one in found.entries:
        about = _category(one.what)
        difference = Difference(one.what, one.good or _NONE, one.bad or _NONE, about)
        causes.setdefault((about, tuple(one.draws)), []).append(difference)
    entries = []
    for (_, draws), differences in causes.items():
        pairs = ((actions[0][good], actions[1][bad]) for good, bad in draws)
        entries.append(entry_of(joined(_extent(*pair) for pair in pairs), differences))
    return sorted(entries, key=entry_order)


def _extent(good: Action, bad: Action) -> Extent:
    return Extent(good.pass_index, bad.pass_index, good.number, good.number)


def _category(name: str) -> Category:
    """What a difference of this name is about."""
    return next((about for pattern, about in _CATEGORIES if re.search(pattern, name)), OTHER)
