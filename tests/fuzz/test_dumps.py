# SPDX-License-Identifier: MIT
"""A few mutants of crash dumps; ``python -m tests.fuzz.dumps`` runs more."""

from __future__ import annotations

from random import Random

import pytest

from cffpy.container.kgsl_snapshot import is_snapshot
from tests.fuzz import dumps


@pytest.mark.fuzz
def test_mutants_of_snapshots() -> None:
    sources = [one for one in dumps.sources() if is_snapshot(one)]
    assert not dumps.run(300, originals=sources)


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(3))
def test_mutants(part: int) -> None:
    assert not dumps.run(100, 100 * part)


def test_mutants_are_changed() -> None:
    sources = dumps.sources()[:3]
    changed = [dumps.mutant(Random(number), sources[0]) != sources[0] for number in range(50)]
    assert sum(changed) > 40
