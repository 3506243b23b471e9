# SPDX-License-Identifier: MIT
"""Lint: a rule. Report: a place where it applies. Finding: all places of one cause.

A lint is declared once, by the decorator of the function that checks::

    @lint("CFF007", "warning")
    def empty_draw(capture: CheckedCapture) -> Iterator[Report]:
        '''A draw has no vertices or no instances.

        Why: The packet and the state before it cost time, and nothing is drawn.

        Advice: Leave the draw out, or find out why its count is 0.
        '''

The name of the function is the name of the lint, ``empty-draw``; its text is what ``cffpy check
--explain``, findings, SARIF and the documents say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from cffpy.analysis.observer import Observer
from cffpy.capture.gpu import GENERATIONS, named_gpu
from cffpy.errors import CffpyError, UnsupportedGpu
from cffpy.frame.facts import fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.frame.passes import Pass
from cffpy.frame.places import PacketLocation, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Passes
    from cffpy.image.devices import Device

#: "error": almost surely wrong. "warning": likely slow or wrong. "info": worth knowing.
Severity = Literal["error", "warning", "info"]

#: From the least to the most severe.
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")

#: The last generation that lints support.
_LAST = max([number for number, facts in GENERATIONS.items() if facts.is_checked])

#: The generations that a lint supports: all, from one on, or one.
ALL, FROM_A3XX, FROM_A5XX, FROM_A6XX, FROM_A7XX = [
    range(first, _LAST + 1) for first in (2, 3, 5, 6, 7)
]
ONLY_A7XX = range(7, 8)


class LintError(CffpyError):
    """A lint is not declared as it must be, or one of another package cannot be used."""


class Facts(Observer):
    """An observer of the walk whose results lints read. Lints name its class in ``needs``."""

    #: Whether it asks ``registers`` when the walk has ended: of actions that it has named to
    #: ``RegisterStore.ask`` during the walk.
    needs_registers = False
    registers: RegisterStore

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        """``passes`` has received each event before this observer does."""
        self.walk = walk
        self.passes = passes


_Facts = TypeVar("_Facts", bound=Facts)
_Value = TypeVar("_Value")


class Report(NamedTuple):
    """One place where a rule applies.

    ``cause``: reports of one lint with equal causes are one finding, which counts them.
    """

    text: str
    cause: Hashable
    place: PacketLocation | None = None
    pass_: Pass | None = None
    draw: Action | None = None
    #: Instead of the lint's severity, where a case is less certain.
    severity: Severity | None = None


@model("finding")
class Finding(ModelObject):
    """What a lint has found: the first place, and how many places there are."""

    lint: Lint
    _first: Report

    @fact()
    def id(self) -> str:
        """Id of the lint, as in CFF012."""
        return self.lint.id

    @fact()
    def name(self) -> str:
        """Name of the lint."""
        return self.lint.name

    @fact()
    def severity(self) -> Severity:
        """How certain and how bad it is: an error is almost surely wrong."""
        return self._first.severity or self.lint.severity

    @fact()
    def text(self) -> str:
        """What is wrong at the first place, in one line."""
        return self._first.text

    @fact()
    def why(self) -> str:
        """Why that matters."""
        return self.lint.why

    @fact()
    def advice(self) -> str:
        """What to do about it."""
        return self.lint.advice

    count: int = stored("how many places there are", default=1)

    @fact()
    def pass_(self) -> Pass | None:
        """The pass of the first place; None outside of passes."""
        return self._first.pass_

    @property
    def draw(self) -> Action | None:
        """The draw, dispatch or copy of the first place; None where it is at none."""
        return self._first.draw

    @fact(name="draw")
    def draw_number(self) -> int | None:
        """Number of its draw among the program's draws of the pass."""
        return None if self.draw is None else self.draw.number

    @fact()
    def draw_name(self) -> str | None:
        """The draw by the name that commands take: p0:8, or 57 for draw 57 of the dump."""
        name = None if self.draw is None else name_of(self.draw)
        return None if name is None else str(name)

    @fact()
    def dump_draw(self) -> int | None:
        """Number of its draw in ``cffpy dump``."""
        return None if self.draw is None else self.draw.dump_draw

    @fact()
    def place(self) -> PacketLocation | None:
        """Where the packet of the first place is."""
        return self._first.place

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the finding in another capture of the same program."""
        index = None if self.pass_ is None else self.pass_.index
        return self.lint.id, index, self.draw_number, self.text

    def __repr__(self) -> str:
        times = f", {self.count} places" if self.count > 1 else ""
        text = self.text if len(self.text) < 200 else f"{self.text[:200]}..."
        return f"<Finding {self.id} {self.name}, {self.severity}: {text}{times}>"


class CheckedCapture:
    """The input of lints: the passes, and the facts that they need."""

    def __init__(self, model: Passes, facts: Iterable[Facts], actions: list[Action]) -> None:
        #: What the walk has found: passes, waits of pipes, problems.
        self.model = model
        #: All executions, in order.
        self.actions = actions
        self._facts = {type(each): each for each in facts}
        self._computed: dict[Callable[[CheckedCapture], Iterable[Any]], Sequence[Any]] = {}
        #: The GPU that the first action's stream names; stream -> whether it names another one.
        self._first = _named(actions[0].place) if actions else None
        self._is_other: dict[int, bool] = {}

    @property
    def gpu(self) -> str | None:
        """Name of the GPU, as in "FD740"; None where it is not known."""
        return self.model.gpu

    @property
    def generation(self) -> int:
        """Its generation: 6 for a6xx."""
        return self.model.generation

    @cached_property
    def part(self) -> Device | None:
        """What is known of the GPU's tiles, caches and layouts; None where nothing is."""
        from cffpy.image.devices import device  # lazy: a table of all GPUs

        try:
            return device(self.gpu or "")
        except UnsupportedGpu:
            return None

    def is_of_other_gpu(self, place: PacketLocation) -> bool:
        """Whether the stream of a place names another GPU than it was decoded for.

        So it is in joined captures. Nothing can be said about such commands.
        """
        if place.number not in self._is_other:
            name = _named(place)
            is_other = None not in (name, self._first) and name not in (self._first, self.gpu)
            self._is_other[place.number] = is_other
        return self._is_other[place.number]

    def facts(self, kind: type[_Facts]) -> _Facts:
        """The facts of a class that the lint names in ``needs``."""
        facts = self._facts[kind]
        assert isinstance(facts, kind)
        return facts

    def once(self, compute: Callable[[CheckedCapture], Iterable[_Value]]) -> Sequence[_Value]:
        """What a function computes of the capture: it is called once for all lints that ask."""
        values = self._computed.get(compute)
        if values is None:
            values = self._computed[compute] = tuple(compute(self))
        return values

    @property
    def passes(self) -> list[Pass]:
        """All passes and groups in order."""
        return self.model.passes

    def own_passes(self) -> Iterator[Pass]:
        """Passes and groups, without commands of another GPU."""
        for pass_ in self.model.passes:
            if not self.is_of_other_gpu(pass_.first):
                yield pass_

    def render_passes(self) -> Iterator[Pass]:
        """Passes with a framebuffer, without commands of another GPU."""
        return (pass_ for pass_ in self.own_passes() if pass_.kind == "render")

    def draws(self) -> Iterator[tuple[Pass, Action]]:
        """The program's draws in render passes, each once."""
        for pass_ in self.render_passes():
            for draw in pass_.draws:
                if draw.kind == "draw":
                    yield pass_, draw

    def work(self) -> Iterator[tuple[Pass, Action]]:
        """The program's draws in render passes, and its dispatches, each once."""
        yield from self.draws()
        for pass_ in self.own_passes():
            for action in pass_.draws:
                if action.kind == "dispatch":
                    yield pass_, action


def _named(place: PacketLocation) -> str | None:
    """The name of the GPU that the stream of a place names."""
    gpu = named_gpu(place.stream._submitted.identity)
    return None if gpu is None else gpu.name


@dataclass(frozen=True, slots=True, eq=False)
class Lint:
    """A rule, as its function declares it by ``lint``."""

    #: As in CFF012. Rules of other packages have another prefix.
    id: str
    #: The name of the function with hyphens, as in "empty-draw".
    name: str
    severity: Severity
    #: The generations that it supports.
    generations: range
    #: Classes of facts that it reads.
    needs: tuple[type[Facts], ...]
    #: What it finds, in a line, without a capital and a full stop.
    summary: str
    #: Which places it reports, in sentences; "" where the summary says it all.
    reported: str
    #: Why that matters, and what to do, in sentences.
    why: str
    advice: str
    #: The places in a capture where the rule applies.
    check: Callable[[CheckedCapture], Iterator[Report]]

    def __repr__(self) -> str:
        return f"<Lint {self.id} {self.name}, {self.severity}: {self.summary}>"


def lint(
    id_: str,
    severity: Severity,
    generations: range = ALL,
    *,
    needs: tuple[type[Facts], ...] = (),
) -> Callable[[Callable[[CheckedCapture], Iterator[Report]]], Lint]:
    """Declare the lint that a function checks.

    Its docstring says what it finds, as a sentence; in further paragraphs, which places it reports,
    if that does not follow; then in paragraphs that begin with "Why: " and "Advice: ", why that
    matters and what to do. Raises LintError where one of these is missing.
    """

    def declare(check: Callable[[CheckedCapture], Iterator[Report]]) -> Lint:
        if severity not in SEVERITIES:
            raise LintError(f"the lint {id_} has the severity {severity!r}")
        text = [" ".join(part.split()) for part in (check.__doc__ or "").split("\n\n")]
        parts = {
            title: [part.removeprefix(title) for part in text if part.startswith(title)]
            for title in _TITLES
        }
        finds, *reported = [part for part in text if not part.startswith(_TITLES)] or [""]
        missing = [title.strip(": ") for title in _TITLES if len(parts[title]) != 1]
        if not finds:
            missing.insert(0, "summary")
        if missing:
            raise LintError(f"the text of the lint {id_} has no {', '.join(missing)}")
        return Lint(
            id_,
            check.__name__.replace("_", "-"),
            severity,
            generations,
            needs,
            _summary(finds),
            " ".join(reported),
            parts["Why: "][0],
            parts["Advice: "][0],
            check,
        )

    return declare


#: What paragraphs of the text of a lint begin with.
_TITLES = ("Why: ", "Advice: ")


def _summary(finds: str) -> str:
    """The sentence without its full stop, and without its capital unless that is of a name."""
    text = finds.removesuffix(".")
    first = text.partition(" ")[0]
    is_name = any(letter.isupper() for letter in first[1:])
    return text if is_name else text[:1].lower() + text[1:]


def at_draw(pass_: Pass, draw: Action, text: str, cause: Hashable) -> Report:
    """A report of one of the program's draws."""
    return Report(text, cause, draw.place, pass_, draw)


def at_pass(pass_: Pass, text: str, cause: Hashable = None) -> Report:
    """A report of a whole pass."""
    return Report(text, (pass_.index, cause), pass_.first, pass_)
