# SPDX-License-Identifier: MIT
"""``cffpy.diff``: two captures compared, as ``cffpy diff`` does it."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.rules import RULES
from cffpy.analysis.diff.selection import Chosen, Selection, draws_of_pass, selection_of
from cffpy.api.arguments import expect_all
from cffpy.api.capture import expect_capture
from cffpy.api.intel_source import IntelSource
from cffpy.api.places import place_of
from cffpy.api.walking import uncollected
from cffpy.errors import CaptureError, ContainerError, UsageError
from cffpy.frame.objects import Shown
from cffpy.frame.places import DrawRange
from cffpy.limits import Truncation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.diff import model
    from cffpy.analysis.diff.model import AppliedRule, Entry
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.api.capture import Capture
    from cffpy.api.source import Source
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import Place
    from cffpy.query.filters import Filter
    from cffpy.views.diff import DiffDocument


class PassPair(NamedTuple):
    """Two passes that are each other's counterparts; None: the capture has no counterpart.

    ``draws``: pairs of draws in order; None where a capture lacks the draw.
    """

    good: Pass | None
    bad: Pass | None
    draws: list[tuple[Action | None, Action | None]]


def _own_pass(capture: Capture, compared: Pass | None) -> Pass | None:
    """The pass of the capture's own model that stands for a compared pass."""
    return None if compared is None else capture.passes[compared.index]


def _own_draw(capture: Capture, compared: DrawInputs | None) -> Action | None:
    """The draw of the capture's own model that stands for a compared draw."""
    if compared is None:
        return None
    index, number = compared.action.pass_index, compared.action.number
    return None if index is None or number is None else capture.passes[index].draws[number]


class Comparison:
    """What differs between two captures, or between parts of them. Made by ``cffpy.diff``."""

    def __init__(self, good: Capture, bad: Capture, found: model.Comparison) -> None:
        self._captures = good, bad
        #: The object that the command uses; its shape may change.
        self.model = found

    @property
    def differs(self) -> bool:
        """Whether there are entries: differences that may have an effect."""
        return self.model.differs

    @property
    def undecided(self) -> int:
        """How many differences the captures do not decide: they may have an effect."""
        return self.model.undecided

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs and nothing is undecided, as exit code 0 says."""
        return self.model.is_equal

    @property
    def summary(self) -> str:
        """How much differs, in one line."""
        from cffpy.views.diff import summary

        return summary(self.model)

    @property
    def entries(self) -> list[Entry]:
        """One for each cause: ``title``, ``differences`` (``name``, ``good``, ``bad``, places),
        ``extents`` (passes and draws), ``consequences`` (entries that follow from it).
        """
        return Shown(self.model.entries)

    @property
    def passes(self) -> list[PassPair]:
        """The passes that are each other's counterparts, as the captures have them."""
        good, bad = self._captures
        return Shown(
            PassPair(
                _own_pass(good, pair.good),
                _own_pass(bad, pair.bad),
                Shown(
                    (_own_draw(good, mine), _own_draw(bad, theirs)) for mine, theirs in pair.draws
                ),
            )
            for pair in self.model.pairs
        )

    @property
    def rules(self) -> list[AppliedRule]:
        """The rules by which differences are counted and no entries: ``rule``, ``decided``,
        ``count``, ``differences`` (name of what differs, and how often).
        """
        return self.model.rules

    @property
    def truncated(self) -> list[Truncation]:
        """What limits left out of either capture."""
        sides = zip((self.model.good, self.model.bad), self._captures, strict=True)
        return [
            Truncation(cut.limit, f"{one.name}: {cut.where}")
            for one, capture in sides
            for cut in dict.fromkeys((*one.passes.truncated, *capture._source.content.truncated))
        ]

    def lines(self, everything: bool = False) -> Iterator[str]:
        """The lines that ``cffpy diff`` prints, with ``everything`` those of ``--all``."""
        from cffpy.views.diff import text_lines, tree

        return iter(text_lines(tree(self.model, everything)))

    def unified(self) -> Iterator[str]:
        """The lines of ``cffpy diff --unified``; decodes the captures once more."""
        from cffpy.views.diff_unified import unified

        numbers: tuple[set[int], set[int]] = (set(), set())
        for pair in self.model.pairs:
            for aligned in pair.draws:
                for of, drawn in zip(numbers, aligned, strict=True):
                    if drawn is not None and drawn.action.dump_draw is not None:
                        of.add(drawn.action.dump_draw)
        sides = zip(self._captures, numbers, strict=True)
        good, bad = (capture._source.draw_lines(of) for capture, of in sides)
        return unified(self.model, good, bad)

    def page(self) -> bytes:
        """The page of ``cffpy diff --html``, in UTF-8."""
        from cffpy.views.diff_html.page import page

        return page(self.model)

    def to_dict(self) -> DiffDocument:
        """The document of ``cffpy diff --json``, without its schema."""
        from cffpy.views.diff import document

        return document(self.model)

    def __repr__(self) -> str:
        return f"<Comparison: {self.summary}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(chr(10).join(self.lines()))}</pre>"


def diff(
    good: Capture,
    bad: Capture,
    *,
    good_at: str | Place | None = None,
    bad_at: str | Place | None = None,
    show: Iterable[str] = (),
    strict: bool = False,
    where: str | None = None,
) -> Comparison:
    """Compare two captures; both may be the same one, with different parts.

    ``good_at``, ``bad_at``: a place of each: "s1" a submit, "p3" a pass, "p3:7" a draw, "p3:5-9"
    several, "p3:t5" a tile, "p3:binning" the binning run, also in other spellings; None for all of
    it. ``show``: rules whose differences are entries, too, as for ``--show``; ``strict``: all
    rules. ``where``: an expression (``cffpy help filter``). Draws are compared where it holds for
    one of the two, passes as wholes only if it is about passes alone. State before them counts as
    ever.

    Raises UsageError for other arguments, FilterError for an expression that is wrong or names what
    a GPU does not have, CaptureError where a capture has no such part or no draw matches, and what
    decoding raises.
    """
    expect_capture("good", good)
    expect_capture("bad", bad)
    if isinstance(show, str):
        show = (show,)
    shown = set(expect_all("show", show, str, "rules"))
    unknown = sorted(shown - {*RULES})
    if unknown:
        raise UsageError(f"no rule is named {unknown[0]}: {', '.join(RULES)}")
    hidden = frozenset(name for name in RULES if not strict and name not in shown)
    places = [None if one is None else place_of(one) for one in (good_at, bad_at)]
    query = None if where is None else _query(where)
    check_makers(good, bad)
    sources = good._source, bad._source
    if isinstance(sources[0], IntelSource) and isinstance(sources[1], IntelSource):
        parts = [_part(one, place) for one, place in zip((good, bad), places, strict=True)]
        return _compared_of_intel(
            (good, bad), (sources[0], sources[1]), (parts[0], parts[1]), query
        )
    recordings = _recordings(good, bad, query)
    parts = [_part(one, place) for one, place in zip((good, bad), places, strict=True)]
    first, second = (one.selected(part) for one, part in zip(recordings, parts, strict=True))
    if query is not None:
        first, second = _chosen(query, (good, bad), (first, second))
    from cffpy.analysis.diff.compare import compare

    with uncollected():
        result = Comparison(good, bad, compare(first, second, hidden))
    result.model.is_truncated = bool(result.truncated)
    return result


def check_makers(good: Capture, bad: Capture) -> None:
    """Raise ContainerError where only one of two captures is of an Intel GPU."""
    if (good.intel is None) == (bad.intel is None):
        return
    intel, adreno = (bad, good) if good.intel is None else (good, bad)
    raise ContainerError(
        f"{intel.name}, of an Intel GPU, cannot be compared with {adreno.name}, which is not"
    )


def _compared_of_intel(
    captures: tuple[Capture, Capture],
    sources: tuple[IntelSource, IntelSource],
    parts: tuple[Selection, Selection],
    query: Filter | None,
) -> Comparison:
    from cffpy.api.intel_diff import compare_intel

    result = Comparison(*captures, compare_intel(sources, parts, query))
    result.model.is_truncated = bool(result.truncated)
    return result


def share(good: Capture, bad: Capture) -> None:
    """Have ``record`` decode once what two captures have in common. Before either is recorded."""
    one, other = good._source, bad._source
    if isinstance(one, IntelSource):
        return
    is_recorded = "recording" in vars(one) or "recording" in vars(other)
    if one.register_db == other.register_db and not is_recorded:
        from cffpy.analysis.diff.recording import Shared

        other.record_with(one, Shared())


def record(capture: Capture, where: str | None = None) -> None:
    """Decode a capture for ``diff``, which finds it decoded; ``where`` is that of ``diff``."""
    if where is None:
        capture._source.record()
    else:
        capture._source.record_for(_query(where))


def _query(where: str) -> Filter:
    from cffpy.query.filters import Filter

    return Filter(where)


def _recordings(good: Capture, bad: Capture, query: Filter | None) -> tuple[Recording, Recording]:
    """Both captures; one object for both if their bytes are the same."""
    one, other = good._source, bad._source
    is_one = one is other or (
        one.register_db == other.register_db
        and one.given_gpu == other.given_gpu
        and good._source.content.limits == bad._source.content.limits
        and good._source.content.data == bad._source.content.data
    )
    if query is not None:
        for source in (one,) if is_one else (one, other):
            source.record_for(query)
    elif not is_one:
        share(good, bad)
    first = one.recording
    return first, replace(first, name=bad.name) if is_one else other.recording


def _chosen(
    query: Filter, captures: tuple[Capture, Capture], recordings: tuple[Recording, Recording]
) -> tuple[Recording, Recording]:
    """The recordings, with the draws for which an expression holds."""
    good = _matching(captures[0]._source, query)
    is_one = recordings[0].records is recordings[1].records
    bad = good if is_one else _matching(captures[1]._source, query)
    first, second = (
        replace(one, chosen=of) for one, of in zip(recordings, (good, bad), strict=True)
    )
    if not any(one.has_chosen(pass_) for one in (first, second) for pass_ in one.selected_passes()):
        names = first.name if first.name == second.name else f"{first.name} or {second.name}"
        raise CaptureError(f"no draw of {names} matches {query.where}")
    return first, second


def _matching(source: Source, query: Filter) -> Chosen:
    """The draws of a capture that match; its passes, if the filter is about passes alone."""
    from cffpy.query.properties import Subject
    from cffpy.query.search import subjects

    draws: dict[int, set[int]] = {}
    bound = source.record_for(query)
    text = query.where or ""
    if bound is None:
        return Chosen(text, draws)
    passes = source.walked.finder.found.passes
    for subject in subjects((draw for of in passes for draw in of.draws), passes):
        if subject.found_pass is not None and subject.action is not None and bound.matches(subject):
            number = subject.action.number
            if number is not None:
                draws.setdefault(subject.found_pass.index, set()).add(number)
    if bound.is_of_draws:
        return Chosen(text, draws)
    whole = (pass_.index for pass_ in passes if bound.matches(Subject(None, pass_)))
    return Chosen(text, draws, frozenset(whole))


def _part(capture: Capture, place: Place | None) -> Selection:
    """What is compared for a place. Raises CaptureError where the capture has none."""
    part = selection_of(place)
    if part is not None:
        return part
    if isinstance(place, DrawRange):
        raise UsageError(
            f"{place} is draws of the dump: those of a pass, as p3:5-9, can be compared"
        )
    try:
        start = capture._scope(place).start
    except CaptureError as problem:
        raise CaptureError(f"{capture.name}: {problem}") from None
    if start is None:
        raise CaptureError(f"{capture.name}: {place} is in no pass")
    index, draw = start
    return Selection(index=index) if draw is None else draws_of_pass(index, draw)
