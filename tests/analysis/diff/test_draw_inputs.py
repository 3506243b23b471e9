# SPDX-License-Identifier: MIT
"""What draws read from registers is the same whether or not it is looked up at each draw."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from cffpy.analysis.diff import draw_inputs, recorder
from cffpy.analysis.diff.draw_inputs import DrawInputs, Writes
from cffpy.analysis.diff.model import Recording
from cffpy.analysis.diff.record import record
from cffpy.container.open import open_capture

CAPTURES = (
    "a330-gl-inst-mrt",
    "a430-gl-passes-restore",
    "a530-gl-scene-msaa4",
    "a660-vk-events-cond-gmem",
    "a690-vk-frame-720p",
    "a740-vk-bindless-gmem",
    "a740-vk-dyn-secondary-gmem",
)


def recorded(shared: Path, name: str) -> tuple[Recording, list[object]]:
    """A recording, and what its draws depend on."""
    found = record(open_capture(str(shared / "captures" / f"{name}.rd.gz")), lambda line: None)
    draws: list[object] = []
    for one in (found, *found.apart.values()):
        for draw in one.records.values():
            bases = {number: base for number, (_, base) in draw.sets.items()}
            draws.append((draw.facts, bases, draw.prefetched, draw.events, draw.fingerprint))
    return found, draws


@pytest.mark.parametrize("name", CAPTURES)
def test_the_same_as_at_each_draw(shared: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = recorded(shared, name)
    monkeypatch.setattr(Writes, "of", lambda self, changes: draw_inputs._ALL)
    _, expected = recorded(shared, name)
    assert found == expected
    assert len(found) > 2


def test_most_draws_read_what_the_one_before_read(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A counter."""
    made: list[DrawInputs] = []

    class Kept(DrawInputs):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            made.append(self)

    monkeypatch.setattr(recorder, "DrawInputs", Kept)
    _, draws = recorded(shared, "a740-vk-dyn-secondary-gmem")
    assert sum(one.looked_up for one in made) < len(draws)


def test_sets_that_become_larger() -> None:
    first: set[int] = {1}

    def holds(registers: Iterable[int]) -> bool:
        return not first.isdisjoint(registers)

    writes = Writes(holds, lambda registers: 5 in registers)
    changes = [({1: 0, 2: 0}, None), ({2: 0, 5: 0}, None)]
    assert writes.of(changes) == 3  # type: ignore[arg-type]
    assert writes.of(changes[1:]) == 2  # type: ignore[arg-type]
    first.add(2)
    writes.forget()
    assert writes.of(changes[1:]) == 3  # type: ignore[arg-type]
