# SPDX-License-Identifier: MIT
"""What ``diff`` says of mutants of a capture: reported, of no effect, counted by a rule, or silent.

``python -m tests.analysis.diff.mutants FILE...`` prints the counts of captures, and what is silent.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Literal, NamedTuple

import cffpy
from cffpy.api.comparison import Comparison
from tests.analysis.diff.effects import Effects, effects_of
from tests.analysis.diff.mutations import KINDS, Mutation, mutations, sample

#: What becomes of a mutant. "silent": equal for ``diff``, and not proven to be.
Outcome = Literal["reported", "no effect", "by rule", "silent"]
OUTCOMES: tuple[Outcome, ...] = ("reported", "no effect", "by rule", "silent")


class Mutant(NamedTuple):
    """A mutation and what ``diff`` says of it. ``titles``: of the entries."""

    mutation: Mutation
    outcome: Outcome
    titles: tuple[str, ...]
    rules: tuple[str, ...]

    @property
    def names_cause(self) -> bool:
        """Whether there is one entry, and its first difference is what was changed."""
        name = self.mutation.about.removeprefix("write of ")
        return len(self.titles) == 1 and name in self.titles[0]


class Mutants:
    """The mutants of a capture, compared with it one by one."""

    def __init__(self, capture: bytes) -> None:
        self._capture = capture
        self._effects: Effects | None = None

    def run(self, most: int) -> Iterator[Mutant]:
        """Compare mutants, at most so many of each kind."""
        for one in sample(mutations(self._capture), most):
            yield self.classified(one)

    def classified(self, mutation: Mutation) -> Mutant:
        """Compare one mutant."""
        mutant = mutation.apply(self._capture)
        result = cffpy.diff(cffpy.open(self._capture), cffpy.open(mutant))
        titles = tuple(entry.title for entry in result.entries)
        rules = tuple(rule.rule for rule in result.rules)
        return Mutant(mutation, self._outcome(result, mutation, mutant), titles, rules)

    def _outcome(self, result: Comparison, mutation: Mutation, mutant: bytes) -> Outcome:
        if result.differs:
            return "reported"
        if mutation.kind != "memory":
            if self._effects is None:
                self._effects = effects_of(self._capture)
            if effects_of(mutant) == self._effects:
                return "no effect"
        return "by rule" if result.rules else "silent"


def counts_text(mutants: Iterable[Mutant]) -> Iterator[str]:
    """A table of counts by kind, and what is silent and counted by rule, most frequent first."""
    mutants = list(mutants)
    for kind in KINDS:
        of = [one for one in mutants if one.mutation.kind == kind]
        if not of:
            continue
        counts = Counter(one.outcome for one in of)
        single = sum(len(one.titles) == 1 for one in of)
        named = sum(one.names_cause for one in of)
        shown = ", ".join(f"{counts[one]} {one}" for one in OUTCOMES)
        yield f"  {kind}: {len(of)}: {shown} (one entry {single}, cause named {named})"
    for outcome in ("silent", "by rule"):
        rest = Counter(
            f"{one.mutation.kind} {one.mutation.about} {' '.join(one.rules)}".strip()
            for one in mutants
            if one.outcome == outcome
        )
        for about, number in rest.most_common():
            yield f"    {outcome} {number} {about}"


def main() -> None:
    """Print the counts of files."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.diff.mutants")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=100, help="mutants of each kind")
    options = parser.parse_args()
    for path in options.files:
        begin = process_time()
        capture = read(path)
        mutants = list(Mutants(capture).run(options.most))
        sys.stdout.write(f"{path.name}: {len(mutants)} mutants, {process_time() - begin:.1f} s\n")
        for line in counts_text(mutants):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def read(path: Path) -> bytes:
    """A capture, decompressed; of a text, compiled."""
    if path.suffix == ".pm4":
        return bytes(cffpy.compile(path.read_text("utf-8")))
    return bytes(cffpy.open(path).data)


if __name__ == "__main__":
    main()
