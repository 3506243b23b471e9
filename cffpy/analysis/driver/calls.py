# SPDX-License-Identifier: MIT
"""Which call of the program made an action: the command of Vulkan or OpenGL, the driver's function.

It follows from the driver, the packet, what the action does, what it moves between, and its place
among the draws of its pass. Where several commands make the same packets, all of them are named.

Facts: tu_cmd_buffer.cc, tu_clear_blit.cc and tu_lrz.cc of turnip, fdN_draw.c, fdN_gmem.c and the
blitters of freedreno, Mesa 25.0.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.attachment import is_tiled
from cffpy.frame.driver import ProbableCall

if TYPE_CHECKING:
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import TransferEnd
    from cffpy.frame.driver import ApiName, Certainty, Driver
    from cffpy.frame.passes import Passes

_BEGIN = "vkCmdBeginRenderPass", "vkCmdBeginRendering"
_END = "vkCmdEndRenderPass", "vkCmdEndRendering"

#: Formats of which the bytes are depth or stencil, whatever they are copied as.
_DEPTH_FORMATS = ("FMT6_Z24_UNORM_S8_UINT_AS_R8G8B8A8", "FMT6_Z24_UNORM_S8_UINT")

#: The vertices of the rectangle that Gallium's blitter draws.
_BLITTER_VERTICES = 4


class Calls:
    """The calls of a capture's actions."""

    def __init__(self, passes: Passes, driver: Driver) -> None:
        self._driver = driver
        self._generation = passes.generation
        #: Pass, tile and whether it is a binning run -> order of the first draw of the program.
        self._first_draws: dict[tuple[int | None, int | None, bool], int] = {}
        self._render_passes = {one.index for one in passes.passes if one.kind == "render"}
        #: Addresses of LRZ buffers, of passes and of what clears them.
        self._lrz: set[int] = set()
        for action in passes.actions:
            if action.number is not None and action.kind == "draw" and not action.role:
                self._first_draws.setdefault(_run_key(action), action.order)
            if action.kind == "lrz clear" and action.destination is not None:
                self._lrz.add(action.destination.address or 0)
        for pass_ in passes.passes:
            if pass_.lrz is not None and pass_.lrz.address is not None:
                self._lrz.add(pass_.lrz.address)
        self._lrz.discard(0)

    def of(self, action: Action) -> ProbableCall | None:
        """The call that made an action; None where the driver is not known, or nothing tells."""
        if self._driver.name == "turnip":
            return self._of_turnip(action)
        if self._driver.name == "freedreno":
            return self._of_freedreno(action)
        return None

    def _say(
        self,
        commands: tuple[str, ...],
        function: str | None,
        rule: str,
        certainty: Certainty = "sure",
    ) -> ProbableCall:
        if self._driver.certainty != "sure":
            certainty = "likely"
        api: ApiName = "Vulkan" if self._driver.name == "turnip" else "OpenGL"
        return ProbableCall(api, commands, function, rule, certainty)

    # -- turnip ---------------------------------------------------------------------------------

    def _of_turnip(self, action: Action) -> ProbableCall | None:
        if action.kind == "dispatch":
            end = "Indirect" if action.indirect else ""
            return self._say((f"vkCmdDispatch{end}",), f"tu_CmdDispatch{end}", "the packet")
        if action.kind == "copy":
            return None
        if action.kind == "draw" and not action.role:
            name = _vulkan_draw(action)
            return self._say((f"vkCmd{name}",), f"tu_Cmd{name}", "the packet")
        if action.kind == "lrz clear":
            return self._clear_of_lrz()
        if action.role in ("clear", "fast clear", "load", "store") and self._is_in_run(action):
            return self._operation_of_turnip(action)
        return self._transfer_of_turnip(action)

    def _is_in_run(self, action: Action) -> bool:
        transfer = action.transfers[0] if action.transfers else None
        return action.pass_index is not None and (
            action.number is None or (transfer is not None and transfer.attachment is not None)
        )

    def _clear_of_lrz(self) -> ProbableCall:
        rule = "it clears an LRZ buffer"
        commands = *_BEGIN, "vkCmdClearDepthStencilImage"
        return self._say(commands, None, rule, "likely")

    def _operation_of_turnip(self, action: Action) -> ProbableCall:
        if action.role == "load":
            return self._say(_BEGIN, "tu_load_gmem_attachment", "it loads an attachment")
        if action.role == "store":
            return self._say(_END, "tu_store_gmem_attachment", "it stores an attachment")
        first = self._first_draws.get(_run_key(action))
        if first is not None and action.order > first:
            rule = "it clears after a draw of its pass"
            return self._say(("vkCmdClearAttachments",), "tu_CmdClearAttachments", rule, "likely")
        is_sysmem = action.kind in ("blit", "draw")
        function = f"tu_clear_{'sysmem' if is_sysmem else 'gmem'}_attachment"
        return self._say(_BEGIN, function, "it clears before the draws of its pass", "likely")

    def _transfer_of_turnip(self, action: Action) -> ProbableCall | None:
        source, destination = action.source, action.destination
        if destination is None:
            return None
        if action.role in ("fill", "clear", "fast clear"):
            return self._fill_of_turnip(destination)
        if action.role == "resolve":
            if action.pass_index in self._render_passes:
                return self._say(_END, None, "samples are resolved in a pass", "likely")
            rule = "samples are resolved between passes"
            return self._say(("vkCmdResolveImage",), "tu_CmdResolveImage2", rule, "likely")
        if source is None:
            return None
        from_image, to_image = is_tiled(source.tiling), is_tiled(destination.tiling)
        if action.role == "scale":
            return self._say(("vkCmdBlitImage",), "tu_CmdBlitImage2", "it scales or mirrors")
        if from_image and to_image:
            either = "vkCmdCopyImage", "vkCmdBlitImage"
            return self._say(either, "tu_CmdCopyImage2", "between tiled images", "likely")
        if from_image:
            name, rule = "CopyImageToBuffer", "from a tiled image to linear memory"
        elif to_image:
            name, rule = "CopyBufferToImage", "from linear memory to a tiled image"
        elif destination.format == "FMT6_32_UINT":
            return self._say(
                ("vkCmdUpdateBuffer",), "tu_CmdUpdateBuffer", "linear, in dwords", "likely"
            )
        elif destination.format == "FMT6_8_UNORM":
            name, rule = "CopyBuffer", "linear, in bytes"
        else:
            commands = "vkCmdCopyImage", "vkCmdCopyBufferToImage", "vkCmdCopyImageToBuffer"
            return self._say(commands, None, "between linear images", "likely")
        return self._say((f"vkCmd{name}",), f"tu_Cmd{name}2", rule, "likely")

    def _fill_of_turnip(self, destination: TransferEnd) -> ProbableCall:
        if destination.address in self._lrz:
            return self._clear_of_lrz()
        if not is_tiled(destination.tiling) and destination.format == "FMT6_32_UINT":
            rule = "it fills linear memory with dwords"
            return self._say(("vkCmdFillBuffer",), "tu_CmdFillBuffer", rule, "likely")
        depth = "vkCmdClearDepthStencilImage", "tu_CmdClearDepthStencilImage"
        colour = "vkCmdClearColorImage", "tu_CmdClearColorImage"
        if destination.format in _DEPTH_FORMATS:
            return self._say((depth[0],), depth[1], "it fills an image of depth and stencil")
        if destination.format in ("FMT6_32_FLOAT", "FMT6_16_UNORM", "FMT6_8_UINT"):
            rule = "it fills an image of colour or depth"
            return self._say((colour[0], depth[0]), None, rule, "likely")
        return self._say((colour[0],), colour[1], "it fills an image of colour", "likely")

    # -- freedreno ------------------------------------------------------------------------------

    def _function(self, name: str) -> str:
        return f"fd{min(self._generation, 6)}_{name}"

    def _of_freedreno(self, action: Action) -> ProbableCall | None:
        if action.kind == "dispatch":
            end = "Indirect" if action.indirect else ""
            function = self._function("launch_grid")
            return self._say((f"glDispatchCompute{end}",), function, "the packet")
        if action.kind == "copy":
            return None
        if action.kind == "draw" and not action.role:
            return self._draw_of_freedreno(action)
        if action.kind == "lrz clear" or action.role in ("clear", "fast clear"):
            return self._say(("glClear",), self._function("clear"), "it clears", "likely")
        if action.role == "load":
            rule = "what the target held is drawn over"
            return self._say((), self._function("emit_tile_mem2gmem"), rule)
        if action.role == "store":
            rule = "it stores a target at the end of a batch"
            return self._say((), self._function("emit_tile_gmem2mem"), rule)
        if action.role == "fill":
            return self._fill_of_freedreno(action)
        return self._copy_of_freedreno(action)

    def _draw_of_freedreno(self, action: Action) -> ProbableCall:
        is_rectangle = (
            action.primitive == "DI_PT_TRIFAN"
            and action.vertices == _BLITTER_VERTICES
            and not action.indexed
            and not action.indirect
        )
        if is_rectangle:
            commands = "glBlitFramebuffer", "glGenerateMipmap", "glDrawArrays"
            rule = "a fan of four vertices, as Gallium's blitter draws"
            return self._say(commands, "util_blitter_blit", rule, "likely")
        if action.packet == "CP_DRAW_AUTO":
            name = "glDrawTransformFeedback"
        else:
            name = "glDrawElements" if action.indexed else "glDrawArrays"
            if action.indirect:
                name += "Indirect"
            elif (action.instances or 1) > 1:
                name += "Instanced"
        return self._say((name,), self._function("draw_vbos"), "the packet")

    def _fill_of_freedreno(self, action: Action) -> ProbableCall | None:
        destination = action.destination
        if destination is None:
            return None
        if destination.address in self._lrz:
            return self._say(
                ("glClear",), self._function("clear_lrz"), "it fills an LRZ buffer", "likely"
            )
        if is_tiled(destination.tiling):
            return self._say(("glClear", "glClearTexImage"), None, "it fills an image", "likely")
        rule = "it fills linear memory: flags of UBWC, an LRZ buffer, or a buffer"
        return self._say(("glTexStorage2D", "glClearBufferData"), None, rule, "likely")

    def _copy_of_freedreno(self, action: Action) -> ProbableCall | None:
        source, destination = action.source, action.destination
        if source is None or destination is None:
            return None
        function = self._function("blit")
        if action.role in ("scale", "resolve"):
            commands = "glBlitFramebuffer", "glGenerateMipmap"
            return self._say(commands, function, "it scales, mirrors or resolves", "likely")
        from_image, to_image = is_tiled(source.tiling), is_tiled(destination.tiling)
        if from_image and to_image:
            names = "glBlitFramebuffer", "glCopyTexSubImage2D", "glCopyImageSubData"
            return self._say(names, function, "between tiled images", "likely")
        if to_image:
            rule = "from linear memory to a tiled image"
            return self._say(("glTexSubImage2D",), function, rule, "likely")
        if from_image:
            rule = "from a tiled image to linear memory"
            return self._say(("glReadPixels",), function, rule, "likely")
        rule = "between linear memory"
        return self._say(("glCopyBufferSubData", "glTexSubImage2D"), function, rule, "likely")


def _run_key(action: Action) -> tuple[int | None, int | None, bool]:
    return action.pass_index, action.tile_number, action.binning


def _vulkan_draw(action: Action) -> str:
    """The name of a draw command without ``vkCmd``."""
    if action.packet == "CP_DRAW_AUTO":
        return "DrawIndirectByteCountEXT"
    name = "DrawIndexed" if action.indexed else "Draw"
    if action.indirect:
        name += "Indirect"
        values = action._values
        if values is not None and values.has_count:
            name += "Count"
    return name
