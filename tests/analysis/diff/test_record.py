# SPDX-License-Identifier: MIT
"""A hostile capture may have any number of draws: the number of compared ones is limited."""

from __future__ import annotations

import pytest

from cffpy import limits
from cffpy.analysis.diff import recording as module
from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.rules import RULES
from cffpy.container.open import open_bytes
from tests.builders import capture, type7

DRAW, MARKER, DIRECT_RENDER = 0x38, 0x65, 1


def recorded(draws: int) -> module.Recording:
    commands = type7(MARKER, DIRECT_RENDER)
    for number in range(draws):
        commands += type7(DRAW, 4, 1, 3 + number)
    return module.record(open_bytes(capture(630, commands)), lambda line: None)


def test_draws_behind_the_limit_are_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(recorded(5).records) == 5
    assert recorded(5).passes.problems == []
    monkeypatch.setattr(limits, "MAX_COMPARED", 3)
    monkeypatch.setattr(limits, "DWORDS_COMPARED", 1 << 20)
    cut = recorded(5)
    assert len(cut.records) == 3
    assert cut.passes.problems == [f"only the first 3 draws are compared {limits.hint('draws')}"]
    assert compare(cut, recorded(5), frozenset(RULES)).entries == []
    assert recorded(3).passes.problems == []
