# SPDX-License-Identifier: MIT
"""Runs lints over a capture: one walk with the facts that they need, then each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.queries import PassWalk
from cffpy.check.model import SEVERITIES, CheckedCapture, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.check.model import Facts, Lint, Report
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.frame.passes import Answers, Passes

#: Findings of one lint, at most: a hostile capture may have a cause for each of its draws.
_MAX_FINDINGS = 1000


class Checked:
    """The result for one capture."""

    def __init__(self, passes: Passes, findings: list[Finding], damage: list[Damage]) -> None:
        self.passes = passes
        self.findings = findings
        self.damage = damage

    def count(self, severity: str) -> int:
        """How many findings have this severity."""
        return sum(finding.severity == severity for finding in self.findings)


def check_capture(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    *,
    lints: Sequence[Lint],
    wanted: Callable[[Report], bool] | None = None,
    answers: Answers | None = None,
) -> Checked:
    """Check a capture by these lints. Raises UnsupportedGpu where the generation is unknown.

    The findings are sorted: errors first, then by pass and draw. ``wanted``: the places that count.
    ``answers``: what passes and draws ask for that the walk does not find.
    """
    walk = PassWalk(content, complain, register_db, gpu)
    pending = PendingCheck(walk, lints, wanted)
    walk.run()
    return pending.finish(answers)


class PendingCheck:
    """The facts that lints need, attached to a walk; ``finish`` when the walk has run."""

    def __init__(
        self,
        walk: PassWalk,
        lints: Sequence[Lint],
        wanted: Callable[[Report], bool] | None = None,
    ) -> None:
        self._finder = walk.finder
        self._lints = lints
        self._wanted = wanted
        kinds: dict[type[Facts], None] = {}
        for lint in lints:
            kinds.update(dict.fromkeys(lint.needs))
        self._facts = [kind(walk.walk, walk.finder) for kind in kinds]
        for facts in self._facts:
            if facts.needs_registers:
                facts.registers = walk.few_registers
        walk.observe(*self._facts)

    def finish(self, answers: Answers | None) -> Checked:
        """The findings. ``answers``: see ``check_capture``."""
        passes = self._finder.found
        if answers is not None and passes.answers is not answers:
            passes.bind(answers)
        capture = CheckedCapture(passes, self._facts, self._finder.actions)
        findings = [
            finding
            for lint in self._lints
            if capture.generation in lint.generations
            for finding in _run(lint, capture, self._wanted)
        ]
        findings.sort(key=_order)
        return Checked(passes, findings, passes.damage)


def _run(
    lint: Lint, capture: CheckedCapture, wanted: Callable[[Report], bool] | None
) -> Iterable[Finding]:
    """The findings of one lint, one a cause."""
    by_cause: dict[Hashable, Finding] = {}
    for report in lint.check(capture):
        if wanted is not None and not wanted(report):
            continue
        if report.place is not None and capture.is_of_other_gpu(report.place):
            continue
        known = by_cause.get(report.cause)
        if known is not None:
            known.count += 1
        elif len(by_cause) < _MAX_FINDINGS:
            by_cause[report.cause] = Finding(lint, report)
    return by_cause.values()


def _order(finding: Finding) -> tuple[int, int, int, str]:
    first = finding._first
    index = -1 if first.pass_ is None else first.pass_.index
    draw = -1 if first.draw is None else first.draw.order
    return -SEVERITIES.index(finding.severity), index, draw, finding.lint.id


def new_findings(good: Checked, bad: Checked) -> list[Finding]:
    """The findings of ``bad`` that ``good`` does not have, or has less often."""
    known: dict[tuple[object, ...], int] = {}
    for finding in good.findings:
        known[finding.key] = known.get(finding.key, 0) + finding.count
    new = []
    for finding in bad.findings:
        if finding.count > known.get(finding.key, 0):
            new.append(finding)
    return new
