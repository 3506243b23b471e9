# SPDX-License-Identifier: MIT
"""Reasons: why LRZ is off or does not write at a draw, as one table.

Facts: tu_lrz.cc of turnip, fd6_emit.cc and fd5_emit.c of the Gallium driver, Mesa 25.0.7; turnip of
26.0 keeps LRZ where the older one loses it: after blending with depth write, or a stencil test that
may reject fragments, it still tests LRZ, and does not write it any more.
"""

from __future__ import annotations

from typing import NamedTuple


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
