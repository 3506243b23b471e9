# SPDX-License-Identifier: MIT
"""Captures of Intel GPUs through the model that all captures have."""

from __future__ import annotations

from functools import cached_property

import pytest

import cffpy
from cffpy.api.intel_source import REFUSED, IntelSource
from cffpy.api.source import Source
from cffpy.errors import CaptureError, FilterError, IntelFileError, UsageError
from tests.frame.test_faces import check_object, objects_of_commands
from tests.intel import frames


@pytest.mark.parametrize("data", [frames.frame(), frames.hang()], ids=["AUB", "i915"])
def test_every_fact_on_every_face(data: bytes) -> None:
    with cffpy.open(data) as capture:
        for one in objects_of_commands(capture):
            check_object(one)
        for action in capture.actions:
            assert action.to_dict()["place"]["file_offset"] is None


def test_the_same_classes() -> None:
    with cffpy.open(frames.frame()) as capture:
        assert [type(one).__name__ for one in capture.actions[:2]] == ["HizOperation", "Draw"]
        draw = capture.draw("p0:1")
        assert draw is capture.draw(2) is capture.draws[1]
        assert draw.pass_ is capture.passes[0]
        assert draw.executions == [draw]
        assert (draw.first, draw.first_instance, draw.base_vertex) == (0, 0, 0)
        assert [str(one.generated) for one in capture.draws if one.generated] == [
            "generated 0:0",
            "predicted 0:1",
            "predicted 1:0",
            "predicted 1:1",
        ]
        assert capture.gpu is None
        assert repr(capture) == "<Capture data: Intel>"
    with pytest.raises(UsageError):
        assert draw.pass_


def test_filters() -> None:
    with cffpy.open(frames.frame()) as capture:
        found = capture.draws.where("draw.vertices > 8 and target.format == R8G8B8A8_UNORM")
        assert [one.name for one in found] == ["p0:0", "p0:2", "p0:7"]
        assert [one.name for one in capture.actions.where("draw.role == generation")] == [
            "#4",
            "#7",
        ]
        assert len(capture.passes.where("pass.kind == render and draw.vertices == 36")) == 1
        for wrong in (
            "RB_DEPTH_CNTL.ZFUNC == 1",
            "texture.FMT == 1",
            "draw.packet == 3DPRIMITVE",
            "pass.kind == rendered",
        ):
            with pytest.raises(FilterError):
                capture.draws.where(wrong)


def test_what_intel_gpus_do_not_have_is_refused() -> None:
    with cffpy.open(frames.frame()) as capture:
        assert capture.lrz == capture.buffers == []
        with pytest.raises(CaptureError, match="data: inherited registers: Intel GPUs have none"):
            assert capture.inherited
        with pytest.raises(CaptureError, match=r"registers at draws: .* see Capture.intel.state"):
            assert capture.draws[0].state
        with pytest.raises(CaptureError, match="what draws have bound"):
            assert capture.draws[0].textures
        with pytest.raises(IntelFileError, match="not a capture of an Adreno GPU"):
            cffpy.open(frames.frame(), gpu="630")


def test_no_result_of_adreno_is_asked_of_an_intel_capture() -> None:
    """Each public method of a source is the same for both, has an Intel form, or is refused."""
    same = {"ask", "choose", "content", "filter", "forget", "is_closed", "note_truncated"}
    same |= {"passes_of_submit", "visibilities", "visibility", "walked"}
    own = {"check", "close", "collected", "events_before", "intel", "lrz", "shader", "spans"}
    own |= {"summary", "walk", "walk_for_tables", "walk_whole", "write_lines"}
    public = {name for name in vars(Source) if not name.startswith("_")}
    assert public - same - own == set(REFUSED)
    assert own <= set(vars(IntelSource))
    assert not any(isinstance(vars(IntelSource)[name], cached_property) for name in REFUSED)
