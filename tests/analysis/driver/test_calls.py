# SPDX-License-Identifier: MIT
"""Which call of the program made an action, on captures whose program is known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import cffpy
from cffpy.frame.driver import StateGroup
from tests.selection import first_always

BEGIN = "vkCmdBeginRenderPass or vkCmdBeginRendering"
END = "vkCmdEndRenderPass or vkCmdEndRendering"

#: Capture -> the calls of the program's draws and dispatches, by what the program did.
PROGRAMS = {
    "a740-vk-indirect-sysmem": {
        "vkCmdDrawIndexed": 1,
        "vkCmdDrawIndexedIndirect": 2,
        "vkCmdDrawIndirect": 1,
        "vkCmdDrawIndexedIndirectCount": 1,
        "vkCmdDrawIndirectCount": 1,
        "vkCmdDraw": 1,
    },
    "a660-vk-indirect-gmem": {
        "vkCmdDrawIndexed": 1,
        "vkCmdDrawIndexedIndirect": 2,
        "vkCmdDrawIndirect": 1,
        "vkCmdDrawIndexedIndirectCount": 1,
        "vkCmdDrawIndirectCount": 1,
        "vkCmdDraw": 1,
    },
    "a740-vk-xfb": {"vkCmdDraw": 2, "vkCmdDrawIndirectByteCountEXT": 1},
    "a690-vk-compute-full": {"vkCmdDispatch": 4, "vkCmdDispatchIndirect": 2},
    "a618-vk-depth-lrz-gmem": {"vkCmdDrawIndexed": 96},
    "a740-vk-dyn-secondary-gmem": {"vkCmdDrawIndexed": 50},
    "a740-vk-tri-auto": {"vkCmdDraw": 1},
    "a660-vk-tess": {"vkCmdDrawIndexed": 9},
    "pair-a740-scene-bad-missing-draw": {"vkCmdDrawIndexed": 39},
    "a630-gl-xfb-queries": {"glDrawArrays": 3, "glDrawArraysInstanced": 1},
    "a630-gl-indirect": {"glDrawElementsIndirect": 4},
    "a540-gl-indirect": {"glDrawElementsIndirect": 4},
    "a530-gl-compute": {"glDispatchCompute": 3, "glDispatchComputeIndirect": 1},
    "a430-gl-compute": {"glDispatchCompute": 3, "glDispatchComputeIndirect": 1},
    "a530-gl-inst-mrt": {"glDrawElementsInstanced": 3},
    "a330-gl-inst-mrt": {"glDrawElementsInstanced": 3},
    "a220-gl-passes": {"glDrawElements": 41},
    "a430-gl-passes-restore": {"glDrawElements": 41},
}

#: What Gallium's blitter draws for levels of textures, and a program may draw.
BLITTER = "glBlitFramebuffer or glGenerateMipmap or glDrawArrays"


@pytest.mark.parametrize("name", first_always(list(PROGRAMS)))
def test_calls_of_draws_and_dispatches(shared: Path, name: str) -> None:
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        made = [
            draw.call
            for one in capture.passes
            for draw in one.draws
            if draw.kind in ("draw", "dispatch") and not draw.role
        ]
        commands = Counter(str(call) for call in made)
        commands.pop(BLITTER, None)
        assert commands == PROGRAMS[name]
        assert {call.api for call in made} == {"OpenGL" if "-gl-" in name else "Vulkan"}


def test_clears_loads_and_stores(shared: Path) -> None:
    """Two passes, the first clears, the second loads; vkCmdClearAttachments in each."""
    with cffpy.open(shared / "captures/a618-vk-depth-lrz-gmem.rd.gz") as capture:
        calls = Counter(
            (one.index, each.kind, str(each.action.call))
            for one in capture.passes
            if one.kind == "render"
            for each in one.tiles[0].operations
            if each.action.execution.is_possible
        )
        first, second = (one.index for one in capture.passes if one.kind == "render")
        assert calls == {
            (first, "clear", BEGIN): 2,
            (first, "clear", "vkCmdClearAttachments"): 1,
            (first, "store", END): 2,
            (second, "load", BEGIN): 2,
            (second, "clear", "vkCmdClearAttachments"): 1,
            (second, "store", END): 2,
        }


def test_transfers(shared: Path) -> None:
    """6 clears of colour, 2 of depth, 6 blits, 5 image copies, a resolve, an update, 2 fills."""
    with cffpy.open(shared / "captures/a740-vk-xfer.rd.gz") as capture:
        calls = Counter(
            str(action.call) for one in capture.passes for action in one.draws if action.call
        )
        assert calls["vkCmdClearColorImage"] == 6
        assert calls["vkCmdClearDepthStencilImage"] == 1
        assert calls["vkCmdClearColorImage or vkCmdClearDepthStencilImage"] == 1
        assert calls["vkCmdBlitImage"] == 6
        assert calls["vkCmdCopyImage or vkCmdBlitImage"] == 5
        assert calls["vkCmdResolveImage"] == 1
        assert calls["vkCmdUpdateBuffer"] == 1
        assert calls["vkCmdFillBuffer"] > 0
        assert calls["vkCmdCopyBufferToImage"] > 0
        assert calls["vkCmdCopyImageToBuffer"] > 0
        assert calls["vkCmdCopyBuffer"] > 0


def groups_of(shared: Path, name: str) -> dict[str | None, StateGroup]:
    with cffpy.open(shared / "captures" / f"{name}.rd.gz") as capture:
        draw = next(one for one in capture.passes if one.kind == "render").draws[-1]
        return {group.name: group for group in draw.state_groups}


def test_dynamic_state_is_that_of_the_program_or_of_the_pipeline(shared: Path) -> None:
    dynamic = groups_of(shared, "a740-vk-dyn-secondary-gmem")
    assert dynamic["DYNAMIC + 3: depth bias"].commands == ("vkCmdSetDepthBias",)
    assert dynamic["DYNAMIC + 9: blend"].commands == ("vkCmdBindPipeline",)
    static = groups_of(shared, "a660-vk-tess")
    assert static["DYNAMIC + 3: depth bias"].commands == ("vkCmdBindPipeline",)
    assert static["DYNAMIC + 0: viewport"].commands == ("vkCmdSetViewport",)
    assert static["VB"].commands == ("vkCmdBindVertexBuffers",)


def test_an_unknown_driver_has_no_calls(samples: Path) -> None:
    with cffpy.open(samples / "a640-vendor-frame.rd") as capture:
        assert {action.call for action in capture.actions} == {None}


def test_calls_of_a_sample(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        indexed, plain = (draw.call for draw in capture.passes[0].draws)
        assert (indexed.commands, indexed.function) == (
            ("vkCmdDrawIndexed",),
            "tu_CmdDrawIndexed",
        )
        assert (plain.commands, plain.rule, plain.certainty) == (
            ("vkCmdDraw",),
            "the packet",
            "sure",
        )
