# SPDX-License-Identifier: MIT
"""ModeChoice: why a pass is rendered in sysmem or in GMEM mode, and what its driver counts."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.frame.driver import Certainty, DriverName
from cffpy.frame.facts import fact, model, stored
from cffpy.frame.objects import ModelObject

#: How a render pass is rendered.
Mode = Literal["sysmem", "gmem"]

#: The rule that decided.
ModeRule = Literal[
    "tessellation",
    "layers",
    "no attachment",
    "nothing drawn",
    "empty render area",
    "does not fit",
    "density map",
    "few draws",
    "many draws",
    "cleared",
    "state of draws",
    "multisampled",
    "history",
    "debug option",
    "unknown",
]


class RuleText(NamedTuple):
    """What a rule is, in words, and the function of each driver that has it; "" where none has."""

    text: str
    turnip: str = ""
    freedreno: str = ""


_TURNIP, _FREEDRENO = "use_sysmem_rendering", "fd_gmem_render_tiles"
_FALLBACK = "fallback_use_bypass"

#: Rule -> its text, which has a place for a detail: ``{}``.
RULES: dict[ModeRule, RuleText] = {
    "tessellation": RuleText("draws tessellate, which tiles cannot have", _TURNIP, _FREEDRENO),
    "layers": RuleText("the framebuffer has {}, which tiles cannot have", "", _FREEDRENO),
    "no attachment": RuleText("there is no attachment", "", _FREEDRENO),
    "nothing drawn": RuleText("nothing is drawn or cleared", "", _FREEDRENO),
    "empty render area": RuleText("the render area is empty", _TURNIP),
    "does not fit": RuleText("no tile of its attachments fits into GMEM", _TURNIP),
    "density map": RuleText(
        "it has a fragment density map: the autotuner keeps to GMEM", "tu_autotune_use_bypass"
    ),
    "few draws": RuleText(
        "{}, at most 5, and one sample a pixel: sysmem where no earlier frame was measured",
        _FALLBACK,
        _FALLBACK,
    ),
    "many draws": RuleText("{}, more than 5", _FALLBACK, _FALLBACK),
    "cleared": RuleText("it is cleared", "", _FALLBACK),
    "state of draws": RuleText("draws have {}", "", _FALLBACK),
    "multisampled": RuleText("it has {}", _FALLBACK, _FALLBACK),
    "history": RuleText(
        "the samples of earlier frames, without which {} is chosen",
        "tu_autotune_use_bypass",
        "fd_autotune_use_bypass",
    ),
    "debug option": RuleText("{} forces it", _TURNIP, _FREEDRENO),
    "unknown": RuleText("not known: {}"),
}


@model("mode_choice")
class ModeChoice(ModelObject):
    """Why a render pass is in its mode, by the rules of its driver (Mesa 25.0.7 and 25.3).

    What the driver knew besides is not in commands: how many samples passed in earlier frames,
    options of the environment, barriers inside the pass.
    """

    index: int = stored("number of the pass in the capture", name="pass")
    mode: Mode = stored("how it is rendered")
    driver: DriverName | None = stored("the driver, where the capture shows it", default=None)
    rule: ModeRule = stored("the rule of the driver that decided", default="unknown")
    #: A detail in the text of the rule.
    detail: str = ""
    certainty: Certainty | None = stored(
        "how sure the rule is; None where it is not known", default=None
    )
    counts_samples: bool | None = stored(
        "its commands count samples for the autotuner (ZPASS_DONE around all draws); None where "
        "the generation has no such counts",
        default=None,
    )
    without_history: Mode | None = stored(
        "what the driver chooses without options, where it has not measured earlier frames; None "
        "where the driver is not known",
        default=None,
    )
    draws: int = stored("draw calls that the autotuner counts", default=0)
    pixels: int | None = stored("pixels of the render area", default=None)
    sysmem_bytes: int | None = stored(
        "of turnip's formula: what clears and resolves of sysmem rendering move, of each pixel",
        "bytes",
        default=None,
    )
    gmem_bytes: int | None = stored(
        "of turnip's formula: what loads and stores of GMEM rendering move, of each pixel; None in "
        "sysmem mode, whose commands have no stores",
        "bytes",
        default=None,
    )
    draw_cost: float | None = stored(
        "the mean over its draws: of turnip bytes that a sample reads and writes, of freedreno how "
        "often a sample reads or writes a buffer",
        default=None,
    )
    sysmem_samples: int | None = stored(
        "most samples, in the mean of earlier frames, with which the autotuner chooses sysmem; -1: "
        "it never does; None where the formula needs what commands do not have",
        default=None,
    )
    binning_reason: str | None = stored(
        "of a GMEM pass: why it has a binning run, or none, in words", default=None
    )

    @fact()
    def reason(self) -> str:
        """The rule in words, with what it is about."""
        return RULES[self.rule].text.format(self.detail)

    @fact()
    def function(self) -> str | None:
        """The function of the driver that has the rule; None where it is not known."""
        text = RULES[self.rule]
        name = {"turnip": text.turnip, "freedreno": text.freedreno}.get(self.driver or "", "")
        return name or None

    def __repr__(self) -> str:
        return f"<ModeChoice of pass {self.index}: {self.mode}, {self.reason}>"
