# SPDX-License-Identifier: MIT
"""Draws of a6xx and later with the state and run of the draw before take what that one has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import cffpy
from cffpy.analysis.passes.a6xx import A6xxTracker
from cffpy.views.model_documents import passes_document
from tests.analysis.passes.marked import BOTH, only, sysmem
from tests.analysis.passes.streams import Streams

if TYPE_CHECKING:
    from pathlib import Path

    from cffpy.frame.action import Action


def facts(path: Path) -> tuple[dict[str, Any], list[tuple[object, ...]]]:
    """The document of passes, and what it does not have of each action."""
    with cffpy.open(path) as capture:
        model = capture._source.model
        actions = [
            (one.order, one.pass_index, one.tile_number, one.binning, one.targets, one.depth)
            for one in capture._source.walked.finder.actions
        ]
        document = passes_document(model, model.passes)
        return {**document, "passes": list(document["passes"])}, actions


def always_anew(tracker: A6xxTracker, action: Action) -> None:
    tracker._draw_anew(action, tracker._drawn())


@pytest.mark.slow
def test_passes_are_equal(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [*samples.glob("a6*.rd*"), *samples.glob("a7*.rd*")]
    assert len(paths) > 10
    expected = []
    with monkeypatch.context() as patch:
        patch.setattr(A6xxTracker, "_draw", always_anew)
        for path in paths:
            expected.append(facts(path))
    for path, wanted in zip(paths, expected, strict=True):
        assert facts(path) == wanted, path


@BOTH
def test_state_is_read_where_it_changes(gpu: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter: equal draws are not looked at, one with another number of layers is."""
    anew: list[Action] = []
    really = A6xxTracker._draw_anew

    def counted(tracker: A6xxTracker, action: Action, drawn: Any) -> None:
        anew.append(action)
        really(tracker, action, drawn)

    monkeypatch.setattr(A6xxTracker, "_draw_anew", counted)
    s = Streams(gpu)
    layers = s.reg("GRAS_MAX_LAYER_INDEX", value=3)
    body = [*s.draw() * 5, *layers, *s.draw() * 4, *s.reg("RB_MRT[0].PITCH", value=2048)]
    found = only(s.find(sysmem(s, body, s.draw() * 2)).found.passes)
    assert len(found.draws) == 11
    assert found.layers == 4
    assert [found.draws.index(action) for action in anew] == [0, 5, 9]
    pitches = [draw.targets[0].pitch for draw in found.draws]
    assert pitches == [1024] * 9 + [2048] * 2
