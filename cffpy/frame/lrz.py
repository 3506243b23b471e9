# SPDX-License-Identifier: MIT
"""LRZ at a draw: the state that decides it, what the draw does with it, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.frame.facts import described, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.frame.places import PacketLocation

if TYPE_CHECKING:
    from cffpy.frame.action import Action

#: The direction of LRZ: what it keeps of depth.
Direction = Literal["less", "greater"]

#: Depth functions for which LRZ has a direction.
_LESS = ("FUNC_LESS", "FUNC_LEQUAL")
_GREATER = ("FUNC_GREATER", "FUNC_GEQUAL")
_ALWAYS = "FUNC_ALWAYS"


class DepthState(NamedTuple):
    """``lrz`` fields are those of GRAS_LRZ_CNTL; depth functions are names, as in FUNC_LESS."""

    #: None where the generation has no LRZ, or the register was never written.
    lrz_enabled: bool | None
    lrz_writes: bool
    #: "less", "greater"; None where the register does not contain it (a6xx gallium).
    lrz_direction: Direction | None
    #: "less", "greater": what LRZ tests for, by the bit GREATER; None without that bit.
    lrz_test: str | None
    #: Address of the LRZ buffer; 0: none is bound.
    lrz_buffer: int
    #: Address of the depth buffer, or its offset in GMEM up to a5xx; None where none is bound.
    depth_buffer: int | None
    tests_depth: bool
    writes_depth: bool
    depth_func: str | None
    #: Whether the stencil test is enabled; whether a face may write stencil.
    tests_stencil: bool
    writes_stencil: bool
    #: The functions of the faces in use.
    stencil_funcs: tuple[str, ...]
    #: Why the result depends on what a colour buffer holds, in words; None where it does not.
    destination_read: str | None
    #: Colour buffers bound; whether any component of any of them is written.
    colours: int
    writes_colour: bool
    #: Colour buffers with blending on whose result is the source alone: blending without effect.
    idle_blends: tuple[int, ...]
    #: The name of Z_MODE without a prefix: EARLY_Z, LATE_Z, EARLY_LRZ_LATE_Z.
    z_mode: str | None
    #: Whether the fragment program writes depth, stencil reference or the sample mask.
    program_writes_depth: bool
    #: Alpha test or alpha-to-coverage.
    alpha_kills: str | None

    @property
    def direction(self) -> Direction | None:
        """The LRZ direction of the depth function: "less", "greater", or None."""
        if self.depth_func in _LESS:
            return "less"
        return "greater" if self.depth_func in _GREATER else None

    @property
    def stencil_has_effect(self) -> bool:
        """Whether the stencil test can reject anything or write anything."""
        return self.tests_stencil and (
            self.writes_stencil or any(func != _ALWAYS for func in self.stencil_funcs)
        )


class Reason(NamedTuple):
    """``text`` may have a place for a detail of the draw: ``{}``.

    ``loses``: LRZ stays off for the rest of the pass. ``advice``: what a program can do.
    """

    text: str
    loses: bool = False
    advice: str = ""


_KEEP_DIRECTION = "Draw what needs the other direction in a separate pass, or last."
_OWN_PASS = "Draw it after all other draws that write depth, or in another pass."

#: Key, as JSON documents have it -> reason.
REASONS: dict[str, Reason] = {
    "no depth test": Reason("the depth test is off"),
    "equal": Reason("the depth function is {}: LRZ has no range for it"),
    "always": Reason("the depth function is {}, without depth write"),
    "always, written": Reason(
        "the depth function is {} with depth write: the range is no longer known",
        True,
        "Use a depth function with a direction, or turn depth write off.",
    ),
    "no direction": Reason(
        "the depth function is {}, which has no direction, after a draw that set one",
        True,
        "Draw it in another pass: the Gallium driver keeps LRZ off until the next depth clear.",
    ),
    "direction": Reason("the direction is {}, against the last draw that wrote depth"),
    "direction, written": Reason(
        "the direction is {} with depth write, against the last draw that wrote depth",
        True,
        _KEEP_DIRECTION,
    ),
    "direction, any draw": Reason(
        "the direction is {}, against the last draw that wrote depth:"
        " the Gallium driver turns LRZ off, also without depth write",
        True,
        _KEEP_DIRECTION,
    ),
    "stencil written": Reason("the stencil test writes stencil, without depth write"),
    "stencil and depth written": Reason(
        "the stencil test writes stencil while depth is written", True, _OWN_PASS
    ),
    "destination read": Reason(
        "{} uses what the target holds while depth is written",
        True,
        "Turn depth write off for blended draws, and draw them last.",
    ),
    "program": Reason("the fragment program {}", False, "Use early fragment tests if possible."),
    "program, no direction": Reason(
        "the fragment program {}, before any draw has set a direction",
        True,
        "Draw what has a normal depth test first, or use early fragment tests.",
    ),
    "late depth test": Reason("the depth test is late (Z_MODE is {})"),
    "depth cleared": Reason(
        "depth was cleared in the pass after its first draw",
        True,
        "Clear depth by the load operation of a pass.",
    ),
    "depth buffer changed": Reason("the depth buffer is not the one of the first draw", True),
    "no depth buffer": Reason(
        "the draw has no depth buffer, as in a subpass without one",
        True,
        "Draw all that is tested against the depth buffer before that subpass.",
    ),
    "secondary": Reason(
        "the draw is in a secondary command buffer: turnip does not use LRZ there on this GPU",
        True,
    ),
    "density map": Reason("the pass has a fragment density map"),
    "lost": Reason("an earlier draw of the pass lost LRZ"),
    "no buffer": Reason("no LRZ buffer is bound"),
    "disabled": Reason("the driver marked the LRZ buffer as unusable for the pass"),
    "not cleared": Reason("LRZ was not valid at the start of the pass: depth was not cleared"),
    "not enabled": Reason("no draw of the pass enables LRZ; the command stream does not tell why"),
    "not known": Reason("the command stream does not tell why"),
    # LRZ tests, but does not write
    "no depth write": Reason("depth is not written"),
    "target read": Reason("{} uses what the target holds"),
    "kill": Reason("the fragment program may discard fragments"),
    "alpha": Reason("{} may discard fragments"),
    "stencil": Reason("the stencil test may reject fragments"),
    "writes lost": Reason("{} has turned off writes of LRZ for the rest of the pass"),
    "sysmem": Reason("a sysmem pass of this GPU does not write LRZ"),
}


def reason_text(key: str, detail: str = "") -> str:
    """The reason in words, with its detail."""
    return REASONS[key].text.format(detail)


#: What a draw does with LRZ.
Use = Literal["test and write", "test", "off"]


@described("reason", key="the reason, as a word or two")
class Why(NamedTuple):
    """Why a draw does not use LRZ, or does not write it."""

    key: str
    #: A detail in its text.
    detail: str = ""

    @fact()
    def text(self) -> str:
        """The reason, in words."""
        return reason_text(self.key, self.detail)

    @fact()
    def loses(self) -> bool:
        """Whether LRZ stays off for the rest of the pass."""
        return REASONS[self.key].loses

    @fact()
    def advice(self) -> str:
        """What a program can do about it; may be empty."""
        return REASONS[self.key].advice

    def __str__(self) -> str:
        return self.text


@model("draw_lrz", is_value=False)
class DrawLrz(ModelObject):
    """LRZ at a draw of the program."""

    draw: int = stored("number of the draw in its pass")
    action: Action
    use: Use = stored("what the draw does with LRZ")
    direction: Direction | None = stored("the direction of LRZ; None where it has none")
    reasons: tuple[Why, ...] = stored(
        "why LRZ is off or does not write; empty where the draw tests and writes", default=()
    )

    @fact()
    def dump_draw(self) -> int | None:
        """Its number in ``cffpy dump``; None for what the dump does not number."""
        return self.action.dump_draw

    @fact()
    def place(self) -> PacketLocation:
        """Where its packet is."""
        return self.action.place

    def __repr__(self) -> str:
        why = "; ".join(reason.text for reason in self.reasons)
        return f"<DrawLrz {self.draw}: {self.use}{f', {why}' if why else ''}>"
