# SPDX-License-Identifier: MIT
"""Draw-state groups by name: the numbers of each driver, and what its groups contain.

CP_SET_DRAW_STATE numbers groups, and drivers number theirs by an enum that changes from release to
release. ``LAYOUTS`` has the enums. A capture's layout is the enum with which the contents of its
first groups agree: each name has registers and packets of which a group of that name has at least
one (``_CONTENTS``). A group then has the name of its number, unless its own contents contradict.

Facts: enum tu_draw_state_group_id, enum tu_dynamic_state and enum fd6_state_id of Mesa, and what
turnip and freedreno write into these groups; captures of Mesa 25.0.7 and 26.0-devel agree.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from cffpy.cp.loadstate import LOAD_STATE_PACKETS, loaded_state
from cffpy.cp.session import Session
from cffpy.cp.sink import Sink
from cffpy.errors import UnsupportedGpu
from cffpy.frame.driver import StateGroup
from cffpy.pm4.reader import OPCODE, REGISTERS, Payload, read_header

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw
    from cffpy.cp.state import DrawStateGroup
    from cffpy.frame.driver import Certainty, DriverName, GroupRule
    from cffpy.frame.places import ExecutedStream
    from cffpy.pm4.descriptions import Descriptions

#: What a group of a name has at least one of: registers by their names in the bundled edition and
#: in newer ones, packets, and "LOAD" with the stage and the kind of what CP_LOAD_STATE6 loads.
_CONTENTS = {
    "PROGRAM_CONFIG": r"SP_VS_CONFIG|HLSQ_VS_CNTL|SP_VS_CONST_CONFIG",
    "PROGRAM": r"SP_VS_(CTRL_REG0|CNTL_0)",
    "PROGRAM_BINNING": r"SP_VS_(CTRL_REG0|CNTL_0)",
    "VS": r"SP_VS_(CTRL_REG0|CNTL_0)",
    "VS_BINNING": r"SP_VS_(CTRL_REG0|CNTL_0)",
    "HS": r"SP_HS_(CTRL_REG0|CNTL_0)|VFD_CONTROL_2",
    "DS": r"SP_DS_(CTRL_REG0|CNTL_0)|VFD_CONTROL_3",
    "GS": r"SP_GS_(CTRL_REG0|CNTL_0)|VFD_CONTROL_5",
    "GS_BINNING": r"SP_GS_(OUT|OUTPUT|VPC_DST|VPC_DEST|CTRL_REG0|CNTL_0)\b.*",
    "VPC": r"SP_[VDG]S_(OUT|OUTPUT|VPC_DST|VPC_DEST)\b.*",
    "FS": r"SP_FS_CTRL_REG0|SP_PS_CNTL_0",
    "TESS": r"PC_TESS_\w+|PC_HS_\w+|PC_DS_\w+",
    "VB": r"VFD_FETCH\[.*",
    "VI": r"VFD_DECODE\[.*",
    "VI_BINNING": r"VFD_DECODE\[.*",
    "RAST": r"GRAS_CL_CNTL|GRAS_SU_CNTL|(PC|VPC)_POLYGON_MODE",
    "DS state": r"RB_DEPTH_CNTL|RB_STENCIL_(CONTROL|CNTL)",
    "BLEND": r"(RB|SP)_BLEND_CNTL",
    # a6xx loads shared constants as it loads images: "SSBO"
    "CONST": r"LOAD \w+ (constants|UBO|SSBO)|HLSQ_SHARED_CONSTS_IMM.*|SP_SHARED_CONSTANT.*",
    "DESC_SETS": r"\w+_BINDLESS_BASE\[.*|HLSQ_INVALIDATE_CMD|SP_UPDATE_CNTL",
    "DESC_SETS_LOAD": r"LOAD .*",
    "VS_PARAMS": r"VFD_INDEX_OFFSET",
    "FS_PARAMS": r"LOAD .*",
    "INPUT_ATTACHMENTS_GMEM": r"LOAD .*",
    "INPUT_ATTACHMENTS_SYSMEM": r"LOAD .*",
    "LRZ": r"GRAS_LRZ_CNTL",
    "LRZ_BINNING": r"GRAS_LRZ_CNTL",
    "LRZ_AND_DEPTH_PLANE": r"GRAS_LRZ_CNTL",
    "DEPTH_PLANE": r"(GRAS_SU|RB)_DEPTH_PLANE_CNTL",
    "PRIM_MODE_GMEM": r"GRAS_SC_CNTL",
    "PRIM_MODE_SYSMEM": r"GRAS_SC_CNTL",
    # dynamic state of turnip
    "viewport": r"GRAS_CL_(VPORT|VIEWPORT)\[.*",
    "scissor": r"GRAS_SC_SCREEN_SCISSOR\[.*",
    "rasterization": r"GRAS_SU_CNTL",
    "line width": r"GRAS_SU_CNTL",
    "depth bias": r"GRAS_SU_POLY_OFFSET_SCALE",
    "blend constants": r"RB_BLEND_(RED_F32|CONSTANT_RED_FP32)",
    "depth bounds": r"RB_Z_BOUNDS_MIN|RB_DEPTH_BOUND_MIN",
    "stencil compare mask": r"RB_STENCILMASK|RB_STENCIL_MASK",
    "stencil write mask": r"RB_STENCILWRMASK|RB_STENCIL_WRITE_MASK",
    "stencil reference": r"RB_STENCILREF|RB_STENCIL_REF_CNTL",
    "depth and stencil": r"RB_STENCIL_(CONTROL|CNTL)",
    "RB_DEPTH_CNTL": r"RB_DEPTH_CNTL",
    "RB_STENCIL_CNTL": r"RB_STENCIL_(CONTROL|CNTL)",
    "sample locations": r"GRAS_SAMPLE_CONFIG|GRAS_SC_MSAA_SAMPLE_POS_CNTL",
    "vertex buffer stride": r"VFD_FETCH\[.*",
    "blend": r"(RB|SP)_BLEND_CNTL",
    "vertex input": r"VFD_DECODE\[.*",
    "patch control points": r"PC_HS_(INPUT_SIZE|PARAM_1)|CP_SET_SUBDRAW_SIZE",
    "fragment shading rate": r"RB_(FSR|VRS)_CONFIG",
    "primitive mode in sysmem": r"GRAS_SC_CNTL",
    # freedreno
    "PROG_CONFIG": r"SP_VS_CONFIG|HLSQ_VS_CNTL|SP_VS_CONST_CONFIG",
    "PROG": r"SP_VS_(CTRL_REG0|CNTL_0)",
    "PROG_BINNING": r"SP_VS_(CTRL_REG0|CNTL_0)",
    "PROG_INTERP": r"VPC_VARYING_INTERP\w*\[.*",
    "PROG_FB_RAST": r"RB_FS_OUTPUT_CNTL0|SP_FS_OUTPUT_CNTL1|(RB|SP)_PS_(OUTPUT|MRT)_CNTL",
    "VTXSTATE": r"VFD_DECODE\[.*",
    "VBO": r"VFD_FETCH\[.*",
    "DRIVER_PARAMS": r"LOAD .*",
    "PRIMITIVE_PARAMS": r"LOAD .*",
    "IBO": r"SP_IBO|SP_IBO_COUNT",
    "VS_TEX": r"LOAD VS (samplers|textures)|SP_VS_(TEX_\w+|TSIZE)",
    "HS_TEX": r"LOAD HS (samplers|textures)|SP_HS_(TEX_\w+|TSIZE)",
    "DS_TEX": r"LOAD DS (samplers|textures)|SP_DS_(TEX_\w+|TSIZE)",
    "GS_TEX": r"LOAD GS (samplers|textures)|SP_GS_(TEX_\w+|TSIZE)",
    "FS_TEX": r"LOAD FS (samplers|textures)|SP_FS_TEX_\w+|SP_PS_TSIZE",
    "RASTERIZER": r"GRAS_SU_CNTL",
    "ZSA": r"RB_DEPTH_CNTL",
    "SCISSOR": r"GRAS_SC_SCREEN_SCISSOR\[.*",
    "BLEND_COLOR": r"RB_BLEND_(RED_F32|CONSTANT_RED_FP32)",
    "SAMPLE_LOCATIONS": r"GRAS_SAMPLE_CONFIG|GRAS_SC_MSAA_SAMPLE_POS_CNTL",
    "SO": r"VPC_SO_.*",
    "VS_BINDLESS": r"\w+_BINDLESS_BASE\[0.*",
    "HS_BINDLESS": r"\w+_BINDLESS_BASE\[1.*",
    "DS_BINDLESS": r"\w+_BINDLESS_BASE\[2.*",
    "GS_BINDLESS": r"\w+_BINDLESS_BASE\[3.*",
    "FS_BINDLESS": r"\w+_BINDLESS_BASE\[4.*",
}

_BIND_PIPELINE = "vkCmdBindPipeline"

#: The command of the program that has a group written, by the group's name. Dynamic state of turnip
#: is that of a pipeline where the program does not set it: ``pipelines_told``.
_COMMANDS: dict[str, tuple[str, ...]] = {
    "VB": ("vkCmdBindVertexBuffers",),
    "CONST": ("vkCmdPushConstants", "vkCmdBindDescriptorSets"),
    "DESC_SETS": ("vkCmdBindDescriptorSets",),
    "DESC_SETS_LOAD": ("vkCmdBindDescriptorSets",),
    "VS_PARAMS": ("vkCmdDraw",),
    "INPUT_ATTACHMENTS_GMEM": ("vkCmdNextSubpass",),
    "INPUT_ATTACHMENTS_SYSMEM": ("vkCmdNextSubpass",),
    "viewport": ("vkCmdSetViewport",),
    "scissor": ("vkCmdSetScissor",),
    "line width": ("vkCmdSetLineWidth",),
    "rasterization": ("vkCmdSetLineWidth", "vkCmdSetCullMode", "vkCmdSetFrontFace"),
    "depth bias": ("vkCmdSetDepthBias",),
    "blend constants": ("vkCmdSetBlendConstants",),
    "depth bounds": ("vkCmdSetDepthBounds",),
    "depth and stencil": ("vkCmdSetStencilReference", "vkCmdSetStencilOp", "vkCmdSetDepthBounds"),
    "stencil compare mask": ("vkCmdSetStencilCompareMask",),
    "stencil write mask": ("vkCmdSetStencilWriteMask",),
    "stencil reference": ("vkCmdSetStencilReference",),
    "RB_DEPTH_CNTL": ("vkCmdSetDepthTestEnable", "vkCmdSetDepthCompareOp"),
    "RB_STENCIL_CNTL": ("vkCmdSetStencilOp",),
    "sample locations": ("vkCmdSetSampleLocationsEXT",),
    "vertex buffer stride": ("vkCmdBindVertexBuffers2",),
    "blend": ("vkCmdSetColorBlendEquationEXT", "vkCmdSetColorWriteMaskEXT"),
    "vertex input": ("vkCmdSetVertexInputEXT",),
    "patch control points": ("vkCmdSetPatchControlPointsEXT",),
    "fragment shading rate": ("vkCmdSetFragmentShadingRateKHR",),
    "primitive mode in sysmem": (),
}
_OF_PIPELINES = (
    *("PROGRAM_CONFIG", "PROGRAM", "PROGRAM_BINNING", "VS", "VS_BINNING", "HS", "DS", "GS"),
    *("GS_BINNING", "VPC", "FS"),
)
_COMMANDS.update(dict.fromkeys(_OF_PIPELINES, (_BIND_PIPELINE,)))

#: The same of freedreno.
_GL_COMMANDS: dict[str, tuple[str, ...]] = {
    "PROG_CONFIG": ("glUseProgram",),
    "PROG": ("glUseProgram",),
    "PROG_BINNING": ("glUseProgram",),
    "PROG_INTERP": ("glUseProgram",),
    "VTXSTATE": ("glVertexAttribPointer", "glVertexAttribFormat"),
    "VBO": ("glVertexAttribPointer", "glBindVertexBuffer"),
    "CONST": ("glUniform", "glBindBufferBase"),
    "RASTERIZER": ("glCullFace", "glFrontFace", "glPolygonOffset", "glEnable"),
    "ZSA": ("glDepthFunc", "glDepthMask", "glStencilFunc", "glEnable"),
    "BLEND": ("glBlendFunc", "glBlendEquation", "glColorMask", "glEnable"),
    "SCISSOR": ("glScissor", "glViewport"),
    "BLEND_COLOR": ("glBlendColor",),
    "SO": ("glBeginTransformFeedback",),
}
_GL_COMMANDS.update(
    dict.fromkeys(["VS_TEX", "HS_TEX", "DS_TEX", "GS_TEX", "FS_TEX"], ("glBindTexture",))
)

#: The kinds of ``LoadedState`` as ``_CONTENTS`` has them.
_KINDS = ("samplers", "textures", "shader", "constants", "SSBO", "SSBO", "SSBO", "UBO")


class GroupLayout(NamedTuple):
    """The numbers of a driver's groups. ``names``: by number; names by several sources have "|".

    ``dynamic``: those after the last of ``names``: of turnip, of dynamic state.
    """

    driver: DriverName
    releases: str | None
    names: tuple[str, ...]
    dynamic: tuple[str, ...] = ()

    def is_dynamic(self, number: int) -> bool:
        """Whether a group has state that a program may set apart from its pipeline."""
        return number >= len(self.names)

    def names_of(self, number: int) -> list[tuple[str, str]]:
        """What a number may be: the name, and the key of ``_CONTENTS``."""
        if number < len(self.names):
            name = self.names[number]
            return [(name.removesuffix(" state"), name)]
        number -= len(self.names)
        if number >= len(self.dynamic):
            return []
        return [(f"DYNAMIC + {number}: {name}", name) for name in self.dynamic[number].split("|")]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TURNIP_STAGES = _words(
    "PROGRAM_CONFIG VS VS_BINNING HS DS GS GS_BINNING VPC FS VB CONST DESC_SETS DESC_SETS_LOAD "
    "VS_PARAMS FS_PARAMS INPUT_ATTACHMENTS_GMEM INPUT_ATTACHMENTS_SYSMEM LRZ_AND_DEPTH_PLANE "
    "PRIM_MODE_GMEM"
)
_DYNAMIC_CORE = (
    "viewport",
    "scissor",
    "rasterization",
    "depth bias",
    "blend constants",
    "depth and stencil",
    "RB_DEPTH_CNTL",
    "sample locations",
    "vertex buffer stride",
    "blend",
    "vertex input",
    "patch control points",
)
#: VkDynamicState's own numbers come first.
_DYNAMIC_OF_VULKAN = (
    "viewport",
    "scissor",
    "line width",
    "depth bias",
    "blend constants",
    "depth bounds",
    "stencil compare mask",
    "stencil write mask",
    "stencil reference",
    "sample locations",
)

LAYOUTS = (
    GroupLayout(
        "turnip",
        "25.0 to 26.0-devel",
        _TURNIP_STAGES,
        (*_DYNAMIC_CORE, "primitive mode in sysmem|fragment shading rate"),
    ),
    GroupLayout("turnip", None, (*_TURNIP_STAGES, "PRIM_MODE_SYSMEM"), _DYNAMIC_CORE),
    GroupLayout(
        "turnip",
        None,
        _words(
            "PROGRAM_CONFIG PROGRAM PROGRAM_BINNING VB VI VI_BINNING RAST CONST DESC_SETS "
            "DESC_SETS_LOAD VS_PARAMS INPUT_ATTACHMENTS_GMEM INPUT_ATTACHMENTS_SYSMEM "
            "LRZ_AND_DEPTH_PLANE PRIM_MODE_GMEM PRIM_MODE_SYSMEM"
        ),
        _DYNAMIC_OF_VULKAN,
    ),
    GroupLayout(
        "turnip",
        None,
        _words(
            "PROGRAM_CONFIG PROGRAM PROGRAM_BINNING VB RAST CONST DESC_SETS DESC_SETS_LOAD "
            "VS_PARAMS INPUT_ATTACHMENTS_GMEM INPUT_ATTACHMENTS_SYSMEM LRZ_AND_DEPTH_PLANE "
            "PRIM_MODE_GMEM PRIM_MODE_SYSMEM"
        ),
        _DYNAMIC_OF_VULKAN,
    ),
    GroupLayout(
        "turnip",
        None,
        _words(
            "PROGRAM_CONFIG PROGRAM PROGRAM_BINNING TESS VB VI VI_BINNING RAST BLEND "
            "SHADER_GEOM_CONST FS_CONST DESC_SETS DESC_SETS_LOAD VS_PARAMS INPUT_ATTACHMENTS_GMEM "
            "INPUT_ATTACHMENTS_SYSMEM LRZ DEPTH_PLANE"
        ),
        (*_DYNAMIC_OF_VULKAN, "RB_DEPTH_CNTL", "RB_STENCIL_CNTL", "vertex buffer stride"),
    ),
    GroupLayout(
        "turnip",
        None,
        (
            *_words("PROGRAM PROGRAM_BINNING TESS VB VI VI_BINNING RAST"),
            "DS state",
            *_words(
                "BLEND VS_CONST HS_CONST DS_CONST GS_CONST FS_CONST DESC_SETS DESC_SETS_LOAD "
                "VS_PARAMS INPUT_ATTACHMENTS_GMEM INPUT_ATTACHMENTS_SYSMEM"
            ),
        ),
        _DYNAMIC_OF_VULKAN,
    ),
    GroupLayout(
        "freedreno",
        "25.0 to 26.0-devel",
        _words(
            "PROG_CONFIG PROG PROG_BINNING PROG_INTERP PROG_FB_RAST LRZ VTXSTATE VBO CONST "
            "DRIVER_PARAMS PRIMITIVE_PARAMS VS_TEX HS_TEX DS_TEX GS_TEX FS_TEX RASTERIZER ZSA "
            "BLEND SCISSOR BLEND_COLOR SAMPLE_LOCATIONS SO VS_BINDLESS HS_BINDLESS DS_BINDLESS "
            "GS_BINDLESS FS_BINDLESS PRIM_MODE_SYSMEM PRIM_MODE_GMEM"
        ),
    ),
    GroupLayout(
        "freedreno",
        None,
        _words(
            "PROG_CONFIG PROG PROG_BINNING PROG_INTERP PROG_FB_RAST LRZ LRZ_BINNING VTXSTATE VBO "
            "CONST DRIVER_PARAMS PRIMITIVE_PARAMS VS_TEX HS_TEX DS_TEX GS_TEX FS_TEX RASTERIZER "
            "ZSA BLEND SCISSOR BLEND_COLOR SO"
        ),
    ),
    # as captures of 2020 have it
    GroupLayout(
        "freedreno",
        None,
        _words(
            "PROG_CONFIG PROG PROG_BINNING PROG_INTERP PROG_FB_RAST LRZ LRZ_BINNING VTXSTATE VBO "
            "CONST DRIVER_PARAMS PRIMITIVE_PARAMS VS_TEX HS_TEX DS_TEX GS_TEX FS_TEX IBO "
            "RASTERIZER ZSA BLEND SCISSOR BLEND_COLOR"
        ),
    ),
)

#: Groups of so many draws tell a capture's layout.
_DRAWS = 16

#: So many groups, and dwords of each, are read at most.
_GROUPS, _DWORDS = 4096, 4096

#: A layout is known if so many numbers have the contents that it says, and at most one in eight
#: of them has others.
_LEAST, _MOST_OTHERS = 5, 8


@cache
def _pattern(key: str) -> re.Pattern[str] | None:
    """What a group of a name has one of; None where its contents do not tell the name."""
    text = _CONTENTS.get(key)
    return None if text is None else re.compile(text)


def _agrees(key: str, contents: frozenset[str]) -> bool | None:
    """Whether contents are what a group of a name has; None where that does not tell."""
    pattern = _pattern(key)
    if pattern is None or not contents:
        return None
    return any(pattern.fullmatch(item) for item in contents)


class _Contents(Sink):
    """What the groups that the first draws load contain: by number."""

    keeps_groups_after_draws = True

    def __init__(self) -> None:
        self.by_number: dict[int, set[frozenset[str]]] = {}
        self._read: set[tuple[int, int, int]] = set()
        self._loads_groups = False
        self._draws = 0

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        self._loads_groups = True
        key = group.group_id, group.gpuaddr, group.ndwords
        if key in self._read or len(self._read) >= _GROUPS:
            return
        self._read.add(key)
        place = self.machine.image.place(group.gpuaddr)
        if place is not None:
            contents = contents_of(self.machine, *place, group.ndwords)
            self.by_number.setdefault(group.group_id, set()).add(contents)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        self._draws += self._loads_groups
        self._loads_groups = False
        if self._draws >= _DRAWS:
            raise _Enough


class _Enough(Exception):
    """The groups of enough draws were read."""


def contents_of(machine: Machine, words: Words, index: int, ndwords: int) -> frozenset[str]:
    """The registers that commands write, the packets in them, and what these load."""
    items: set[str] = set()
    end = index + min(ndwords, _DWORDS)
    while index < min(end, words.count):
        kind, number, size = read_header(words.get(index))
        payload = Payload(words, index + 1, min(size, end - index) - 1)
        if kind == REGISTERS:
            items.update(_names(machine, range(number, number + payload.count)))
        elif kind == OPCODE:
            items.update(_items_of_packet(machine, number, payload))
        index += max(1, size)
    return frozenset(items)


def _names(machine: Machine, numbers: Iterable[int]) -> Iterable[str]:
    rows = (machine.names.register(number, machine.variants) for number in numbers)
    return (row.name for row in rows if row is not None)


def _items_of_packet(machine: Machine, opcode: int, payload: Payload) -> Iterable[str]:
    name = machine.packet_names[opcode] or ""
    if name in LOAD_STATE_PACKETS:
        loaded = loaded_state(machine, payload)
        kind = _KINDS[loaded.kind] if loaded.kind < len(_KINDS) else "other"
        return (f"LOAD {loaded.stage} {kind}",)
    if name == "CP_CONTEXT_REG_BUNCH":
        return _names(machine, payload.dwords()[::2])
    if name == "CP_CONTEXT_REG_BUNCH2":  # with two dwords before the pairs
        return _names(machine, payload.dwords()[2::2])
    return (name,)


class GroupNames:
    """Names the draw-state groups of a capture. ``layout``: of its driver; None: none fits."""

    def __init__(self, machine: Machine, layout: GroupLayout | None) -> None:
        self._machine = machine
        self.layout = layout
        #: Groups that were asked for, by where they are.
        self._named: dict[tuple[int | None, ...], StateGroup] = {}

    def group_at(self, words: Words, stream: ExecutedStream) -> StateGroup:
        """A group by its stream. ``words``: the buffer that its commands are in."""
        key = words.file_offset, words.address, stream.group, stream.gpuaddr, stream.ndwords
        group = self._named.get(key)
        if group is None:
            start = (stream.gpuaddr - words.address) // 4
            contents = frozenset[str]()
            if 0 <= start < words.count:
                contents = contents_of(self._machine, words, start, stream.ndwords)
            group = self.named(stream.group or 0, stream.gpuaddr, stream.ndwords, contents)
            if len(self._named) < _GROUPS:
                self._named[key] = group
        return group

    def group(self, image: MemoryImage, number: int, gpuaddr: int, dwords: int) -> StateGroup:
        """A group by its entry in CP_SET_DRAW_STATE."""
        place = image.place(gpuaddr)
        contents = frozenset[str]()
        if place is not None:
            contents = contents_of(self._machine, *place, dwords)
        return self.named(number, gpuaddr, dwords, contents)

    def named(self, number: int, gpuaddr: int, dwords: int, contents: frozenset[str]) -> StateGroup:
        """A group with its name. ``contents``: see ``contents_of``; empty: not captured."""
        layout = self.layout
        if layout is None:
            return StateGroup(number, None, None, None, None, None, gpuaddr, dwords, ())
        name: str | None = None
        rule: GroupRule | None = None
        commands: tuple[str, ...] = ()
        for possible, key in layout.names_of(number):
            agrees = _agrees(key, contents)
            if agrees is False or (agrees is None and name is not None):
                continue
            name, rule = possible, "number and contents" if agrees else "number"
            table = _COMMANDS if layout.driver == "turnip" else _GL_COMMANDS
            commands = table.get(key, ())
            if agrees:
                break
        if commands and layout.is_dynamic(number):
            commands = *commands, _BIND_PIPELINE
        certainty: Certainty | None = None
        if rule is not None:
            certainty = "sure" if rule == "number and contents" else "likely"
        known = layout.driver, layout.releases
        return StateGroup(number, name, *known, rule, certainty, gpuaddr, dwords, commands)


def read_group_names(content: Content, gpu: Gpu | None, descriptions: Descriptions) -> GroupNames:
    """The names of a capture's groups. Runs its commands as far as the first draws with groups."""
    contents = _Contents()
    session = Session(contents, warn=_ignore, gpu=gpu, descriptions=descriptions)
    with suppress(_Enough, UnsupportedGpu):
        session.run(content)
    session.machine.release()
    return GroupNames(session.machine, _layout_of(contents.by_number))


def _layout_of(by_number: dict[int, set[frozenset[str]]]) -> GroupLayout | None:
    """The layout with which most numbers agree; None where none fits, or two fit as well."""
    best: list[tuple[int, GroupLayout]] = []
    for layout in LAYOUTS:
        agreeing = others = 0
        for number, all_contents in by_number.items():
            told = [_agrees_with(layout, number, contents) for contents in all_contents]
            agreeing += True in told and False not in told
            others += False in told
        if agreeing >= _LEAST and others * _MOST_OTHERS <= agreeing:
            best.append((agreeing - others, layout))
    most = max((score for score, _ in best), default=0)
    fitting = [layout for score, layout in best if score == most]
    return fitting[0] if len(fitting) == 1 else None


def _agrees_with(layout: GroupLayout, number: int, contents: frozenset[str]) -> bool | None:
    names = layout.names_of(number)
    if not names:
        return False
    told = [_agrees(key, contents) for _, key in names]
    return True if True in told else None if None in told else False


def told_by_pipelines(groups: list[StateGroup], image: MemoryImage) -> list[StateGroup]:
    """The groups of a draw of turnip, with who set dynamic state.

    What a pipeline has is in the memory of pipelines, where the draw's programs are set; what
    the program sets is in the memory of its command buffer.
    """
    of_pipelines = {
        buffer.gpuaddr
        for group in groups
        if group.commands == (_BIND_PIPELINE,)
        if (buffer := image.find(group.gpuaddr)) is not None
    }
    told = []
    for group in groups:
        buffer = image.find(group.gpuaddr)
        if len(group.commands) > 1 and _BIND_PIPELINE in group.commands and buffer is not None:
            is_set = buffer.gpuaddr not in of_pipelines
            commands = tuple(name for name in group.commands if name != _BIND_PIPELINE)
            group = group._replace(commands=commands if is_set else (_BIND_PIPELINE,))
        told.append(group)
    return told


#: Number of a draw in the dump -> number, address and dwords of each group that it loads.
GroupsAtDraws = dict[int | None, tuple[tuple[int, int, int], ...]]


class _Loaded(Sink):
    """The groups that each draw loads. Draws with the same groups share the tuple."""

    keeps_groups_after_draws = True

    def __init__(self) -> None:
        self.at_draws: GroupsAtDraws = {}
        self._kept: dict[tuple[tuple[int, int, int], ...], tuple[tuple[int, int, int], ...]] = {}
        self._loaded: dict[int, tuple[int, int, int]] = {}

    def group(self, group: DrawStateGroup, loaded: bool, level: int) -> None:
        if loaded:
            key = group.group_id, group.gpuaddr, group.ndwords
            self._loaded[group.group_id] = key

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if draw.counted and self._loaded:
            groups = tuple([self._loaded[number] for number in sorted(self._loaded)])
            draws = self.machine.state.draw_count
            self.at_draws[draws] = self._kept.setdefault(groups, groups)
        self._loaded = {}


def find_groups_at_draws(
    content: Content, register_db: str | None, gpu: Gpu | None
) -> GroupsAtDraws:
    """The groups that each draw loads: runs all commands."""
    loaded = _Loaded()
    session = Session(loaded, warn=_ignore, register_db=register_db, gpu=gpu)
    with suppress(UnsupportedGpu):
        session.run(content)
    session.machine.release()
    return loaded.at_draws


def _ignore(_line: str) -> None:
    """Warnings are those of any other walk over the capture."""
