# SPDX-License-Identifier: MIT
"""Why passes are in sysmem or GMEM mode: samples, and captures whose options are known."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import cffpy
from cffpy.analysis.driver.render_mode import ModeInputs, mode_choices
from cffpy.frame.render_mode import RULES, ModeChoice
from tests.selection import first_always

#: Rules of the autotuner, which an option can hide.
AUTOTUNED = ("few draws", "many draws", "multisampled", "cleared", "state of draws", "history")

#: Captures with known options: TU_DEBUG, FD_MESA_DEBUG. Those that run always come first.
NAMES = (
    "a740-vk-tri-auto",
    "a660-gl-cube-gmem",
    "a740-vk-cube-sysmem",
    "a430-gl-cube-gmem",
    "a220-gl-passes",
    "a320-gl-scene150-720p",
    "a330-gl-scene60-nobin",
    "a430-gl-scene60-sysmem",
    "a540-gl-scene150-720p",
    "a630-gl-scene150-gmem",
    "a630-gl-xfb-queries",
    "a660-gl-scene-msaa4-1080p",
    "a660-gl-tessgeom",
    "a660-vk-passes-gmem",
    "a660-vk-tess",
    "a690-vk-frame-720p",
    "a740-gl-passes",
    "a740-vk-fdm",
    "a740-vk-frame-msaa4-1080p",
    "a740-vk-geom-gmem",
    "a740-vk-indirect-sysmem",
    "a740-vk-scene300-1440p-gmem-forcebin",
    "a740-vk-scene300-1440p-gmem-nobin",
    "a740-vkcube-5frames",
    "m26-a740-vk-tess",
    "m26-a750-vk-frame-auto",
    "x1-85-wgpu-cubes-msaa",
)


class Known(NamedTuple):
    """A capture, and what the driver was told."""

    choices: list[ModeChoice]
    is_turnip: bool
    options: tuple[str, ...]

    @property
    def forced(self) -> str | None:
        return next((option for option in self.options if option in ("sysmem", "gmem")), None)


def known(shared: Path, name: str) -> Known:
    folder = shared / ("m26/captures" if name.startswith("m26") else "captures")
    truth: dict[str, Any] = json.loads((folder / "ground-truth.json").read_text())[name]
    found = re.search(r"(TU_DEBUG|FD_MESA_DEBUG)='?([a-z_,]*)", truth["made_with"])
    assert found is not None
    options = tuple(filter(None, found[2].split(",")))
    with cffpy.open(folder / f"{name}.rd.gz") as capture:
        choices = [one.mode_choice for one in capture.passes if one.kind == "render"]
    return Known([one for one in choices if one], found[1] == "TU_DEBUG", options)


@pytest.mark.parametrize("name", first_always(NAMES, 4))
def test_rules_of_drivers(shared: Path, name: str) -> None:
    """Without options each pass is in the mode of the rules; else the option is named, or it is
    unknown. No GPU has run the frames, so there is no history.
    """
    one = known(shared, name)
    assert one.choices
    for choice in one.choices:
        assert choice.driver in ("turnip" if one.is_turnip else "freedreno", None)
        assert choice.rule != "history"
        if choice.driver is None:
            continue
        if one.forced is None:
            assert choice.mode == choice.without_history
            assert choice.rule != "debug option"
        elif choice.rule == "debug option":
            assert choice.detail.endswith(f"={one.forced}")
        elif choice.mode != choice.without_history:
            assert choice.rule == "unknown"
        if one.is_turnip and choice.counts_samples:
            assert one.forced is None
        if one.is_turnip and one.forced is not None and choice.rule in AUTOTUNED:
            assert choice.certainty != "sure"
        check_binning(choice, one.options)


def check_binning(choice: ModeChoice, options: tuple[str, ...]) -> None:
    if choice.mode == "gmem" and choice.binning_reason is not None:
        is_forced = "forcebin" in choice.binning_reason
        assert is_forced <= ("forcebin" in options)
        assert ("nobin" in choice.binning_reason) <= ("nobin" in options)


def test_what_a_frame_of_turnip_counts(shared: Path) -> None:
    """Bytes by the formats of the program (ground-truth.json): 4 samples of 8 bytes, resolved."""
    one = known(shared, "x1-85-wgpu-cubes-msaa")
    scene, screen = one.choices
    assert (scene.rule, scene.certainty, scene.counts_samples) == ("multisampled", "likely", True)
    # cleared: 4 x (4 + 4) bytes; resolved: 4 x 4 read, 4 written
    assert (scene.sysmem_bytes, scene.gmem_bytes, scene.draws) == (32 + 20, 4, 2)
    assert scene.pixels == 1024 * 768
    assert (screen.rule, screen.mode, screen.gmem_bytes) == ("few draws", "sysmem", None)


def test_the_most_samples_are_those_of_the_formula(shared: Path) -> None:
    """At the limit the autotuner chooses sysmem, one sample more and it chooses GMEM."""
    found = [one for one in known(shared, "a660-vk-passes-gmem").choices if one.sysmem_samples]
    assert found
    for choice in found:
        most, pixels = choice.sysmem_samples, choice.pixels
        assert most is not None
        assert pixels is not None
        assert choice.draw_cost is not None
        total = round(choice.draw_cost * choice.draws)
        for samples, mode in ((most, "sysmem"), (most + 1, "gmem")):
            moved = samples * total // choice.draws
            sysmem = (choice.sysmem_bytes or 0) * pixels + moved
            gmem = ((choice.gmem_bytes or 0) * pixels * 11 + moved) // 10
            assert mode == ("sysmem" if sysmem <= gmem else "gmem") or most < 0


def frame_and_inputs(path: Path) -> tuple[Any, ModeInputs]:
    from cffpy.analysis.queries import find_mode_inputs
    from cffpy.container.open import open_capture

    (finder, inputs), _ = find_mode_inputs(open_capture(path), lambda _warned: None)
    return finder.found, inputs


def test_history_is_certain_where_samples_are_counted(samples: Path) -> None:
    """A pass that the autotuner measured, in another mode than without history."""
    frame, inputs = frame_and_inputs(samples / "a660-barriers.rd")
    (pass_,) = (one for one in frame.passes if one.kind == "render")
    pass_.samples = 4
    (choice,) = mode_choices(frame, inputs, "turnip")
    assert (choice.rule, choice.certainty, choice.mode) == ("history", "sure", "sysmem")
    assert choice.function == "tu_autotune_use_bypass"
    inputs.counted.clear()
    (choice,) = mode_choices(frame, inputs, "turnip")
    assert (choice.rule, choice.certainty) == ("debug option", "likely")
    assert choice.reason == "TU_DEBUG=sysmem forces it"


def test_a_driver_that_is_not_known(samples: Path) -> None:
    """What both drivers have in common is known; else nothing is."""
    frame, inputs = frame_and_inputs(samples / "a660-barriers.rd")
    (choice,) = mode_choices(frame, inputs)
    assert (choice.rule, choice.certainty, choice.function) == ("unknown", None, None)
    (pass_,) = (one for one in frame.passes if one.kind == "render")
    stages = tuple(one._replace(stage="HS") for one in pass_.draws[0].programs)
    pass_.draws[0].programs = stages
    (choice,) = mode_choices(frame, inputs)
    assert (choice.rule, choice.certainty) == ("tessellation", "sure")


def test_a_rule_against_the_mode_is_unknown(samples: Path) -> None:
    frame, inputs = frame_and_inputs(samples / "a660-frame-gmem.rd")
    (pass_,) = (one for one in frame.passes if one.kind == "render")
    pass_.draws[0].programs = tuple(one._replace(stage="DS") for one in pass_.draws[0].programs)
    (choice,) = mode_choices(frame, inputs, "turnip")
    assert (choice.rule, choice.certainty) == ("unknown", None)


def test_each_rule_has_a_text() -> None:
    for rule, text in RULES.items():
        choice = ModeChoice(0, "gmem", "turnip", rule, "this")
        assert "{" not in choice.reason
        assert choice.function == (text.turnip or None)
        assert replace(choice, driver=None).function is None
