# SPDX-License-Identifier: MIT
"""Depth: the depth, stencil, blend and LRZ state of a draw, and the LRZ buffer of a pass.

``DepthState`` is what the registers hold at a draw. ``LrzFollower`` notes how LRZ buffers are
cleared before passes, and which buffer each pass has (a6xx and later). Facts: the registers of
Mesa's database (25.0.7), of a2xx to a7xx. What a generation lacks is None or False.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cffpy.frame.lrz import DepthState, Direction
from cffpy.frame.passes import Lrz
from cffpy.frame.places import draw_ranges

if TYPE_CHECKING:
    from cffpy.analysis.registers import RegisterReader
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

_MAX_COLOURS = 8
_KEEP = "STENCIL_KEEP"
_ALWAYS = "FUNC_ALWAYS"

#: Depth formats of a draw without a depth buffer, of a5xx and later.
_NO_DEPTH = ("DEPTH5_NONE", "DEPTH6_NONE")

#: Raster operations whose result does not depend on the destination.
_ROPS_WITHOUT_DESTINATION = ("ROP_CLEAR", "ROP_COPY", "ROP_COPY_INVERTED", "ROP_SET")

#: A component in a format's name: FMT6_5_6_5_UNORM has its bits, RB5_R5G6B5_UNORM its letter, too.
_BITS = re.compile(r"(?<=_)\d+(?=_|$)")
_CHANNEL = re.compile(r"[RGBA]\d+")


def read_depth_state(reader: RegisterReader) -> DepthState:
    """The depth, stencil, blend and LRZ state that registers hold now."""
    depth = reader.first("RB_DEPTH_CNTL", "RB_DEPTH_CONTROL", "RB_DEPTHCONTROL") or ""
    test = "Z_TEST_ENABLE" if reader.field(depth, "Z_TEST_ENABLE") is not None else "Z_ENABLE"
    tests_depth = reader.flag(depth, test)
    tests, writes, funcs = _stencil(reader)
    colours, writes_colour, destination, idle = _colours(reader)
    enabled = reader.field("GRAS_LRZ_CNTL", "ENABLE")
    return DepthState(
        None if enabled is None else bool(enabled),
        reader.flag("GRAS_LRZ_CNTL", "LRZ_WRITE"),
        _direction(reader),
        _tested(reader),
        reader.address("GRAS_LRZ_BUFFER_BASE") or 0,
        _depth_buffer(reader),
        tests_depth,
        tests_depth and reader.flag(depth, "Z_WRITE_ENABLE"),
        reader.enum(depth, "ZFUNC"),
        tests,
        writes,
        funcs,
        destination,
        colours,
        writes_colour,
        idle,
        _z_mode(reader),
        _program_writes_depth(reader),
        _alpha(reader),
    )


def _direction(reader: RegisterReader) -> Direction | None:
    name = reader.enum("GRAS_LRZ_CNTL", "DIR")
    if name == "LRZ_DIR_LE":
        return "less"
    if name == "LRZ_DIR_GE":
        return "greater"
    return _tested(reader) if name is None else None  # a5xx has the bit alone


def _tested(reader: RegisterReader) -> Direction | None:
    greater = reader.field("GRAS_LRZ_CNTL", "GREATER")
    if greater is None:
        return None
    return "greater" if greater else "less"


def _depth_buffer(reader: RegisterReader) -> int | None:
    if reader.enum("RB_DEPTH_BUFFER_INFO", "DEPTH_FORMAT") in _NO_DEPTH:
        return None
    return reader.address("RB_DEPTH_BUFFER_BASE")


def _z_mode(reader: RegisterReader) -> str | None:
    name = reader.enum("GRAS_SU_DEPTH_PLANE_CNTL", "Z_MODE")
    return None if name is None else name.removeprefix("A6XX_")


def _program_writes_depth(reader: RegisterReader) -> bool:
    output = "RB_FS_OUTPUT_CNTL0"
    fields = ("FRAG_WRITES_Z", "FRAG_WRITES_SAMPMASK", "FRAG_WRITES_STENCILREF")
    return (
        any(reader.flag(output, field) for field in fields)
        or reader.flag("RB_FS_OUTPUT_CNTL", "FRAG_WRITES_Z")  # a5xx
        or reader.flag("RB_DEPTH_CONTROL", "FRAG_WRITES_Z")  # a3xx, a4xx
    )


def _alpha(reader: RegisterReader) -> str | None:
    if reader.flag("RB_BLEND_CNTL", "ALPHA_TO_COVERAGE"):
        return "alpha to coverage"
    func = reader.enum("RB_ALPHA_CONTROL", "ALPHA_TEST_FUNC")
    if reader.flag("RB_ALPHA_CONTROL", "ALPHA_TEST") and func != _ALWAYS:
        return "the alpha test"
    return None


# -- stencil --------------------------------------------------------------------------------------


def _stencil(reader: RegisterReader) -> tuple[bool, bool, tuple[str, ...]]:
    """Whether it is enabled, whether it may write, the functions of its faces."""
    control = reader.first("RB_STENCIL_CONTROL", "RB_DEPTHCONTROL") or ""
    if not reader.flag(control, "STENCIL_ENABLE"):
        return False, False, ()
    faces = [""]
    if reader.flag(control, "STENCIL_ENABLE_BF") or reader.flag(control, "BACKFACE_ENABLE"):
        faces.append("_BF")
    funcs, writes = [], False
    for face in faces:
        func = reader.enum(control, f"FUNC{face}") or reader.enum(control, f"STENCILFUNC{face}")
        funcs.append(func or "")
        operations = [
            reader.enum(control, f"{part}{face}") or reader.enum(control, f"STENCIL{part}{face}")
            for part in ("FAIL", "ZPASS", "ZFAIL")
        ]
        changes = any(name not in (None, _KEEP) for name in operations)
        writes |= changes and func != "" and _stencil_mask(reader, face) != 0
    return True, writes, tuple(funcs)


def _stencil_mask(reader: RegisterReader, face: str) -> int | None:
    if reader.offset("RB_STENCILWRMASK"):
        return reader.field("RB_STENCILWRMASK", "BFWRMASK" if face else "WRMASK")
    return reader.field(f"RB_STENCILREFMASK{face}", "STENCILWRITEMASK")


# -- colour ---------------------------------------------------------------------------------------


def _colours(reader: RegisterReader) -> tuple[int, bool, str | None, tuple[int, ...]]:
    """Buffers bound; whether any is written; why one is read; blending without effect."""
    if not reader.offset("RB_MRT[0].CONTROL"):
        return _a2xx_colours(reader)
    count = _count(reader)
    writes, destination = False, None
    idle: list[int] = []
    for index in range(min(count, _MAX_COLOURS)):
        target = f"RB_MRT[{index}]"
        mask = reader.field(f"{target}.CONTROL", "COMPONENT_ENABLE")
        writes |= bool(mask)
        name = reader.enum(f"{target}.BUF_INFO", "COLOR_FORMAT")
        has_effect = _blends(reader, target)
        if has_effect is False:
            idle.append(index)
        if destination is None:
            destination = _destination(reader, target, index, mask, name, bool(has_effect))
    return count, writes, destination, tuple(idle)


def _destination(
    reader: RegisterReader,
    target: str,
    index: int,
    mask: int | None,
    colour_format: str | None,
    blends: bool,
) -> str | None:
    if blends or reader.flag(f"{target}.CONTROL", "BLEND"):
        return f"blending of color {index}"
    if reader.flag(f"{target}.CONTROL", "ROP_ENABLE"):
        rop = reader.enum(f"{target}.CONTROL", "ROP_CODE")
        if rop not in _ROPS_WITHOUT_DESTINATION:
            return f"the logic operation of color {index}"
    if mask is not None and colour_format is not None:
        all_components = (1 << components(colour_format)) - 1
        if mask & all_components != all_components:
            return f"the write mask {mask:#x} of color {index}"
    return None


def _blends(reader: RegisterReader, target: str) -> bool | None:
    """Whether blending has an effect; None where it is off."""
    if not reader.flag(f"{target}.CONTROL", "BLEND"):
        return None
    control = f"{target}.BLEND_CONTROL"
    for part in ("RGB", "ALPHA"):
        if reader.enum(control, f"{part}_SRC_FACTOR") != "FACTOR_ONE":
            return True
        if reader.enum(control, f"{part}_DEST_FACTOR") != "FACTOR_ZERO":
            return True
        if reader.enum(control, f"{part}_BLEND_OPCODE") != "BLEND_DST_PLUS_SRC":
            return True
    return False


def _count(reader: RegisterReader) -> int:
    for name, field in (
        ("RB_FS_OUTPUT_CNTL1", "MRT"),
        ("RB_FS_OUTPUT_CNTL", "MRT"),
        ("RB_MODE_CONTROL", "MRT"),
        ("SP_FS_OUTPUT_REG", "MRT"),
    ):
        value = reader.field(name, field)
        if value is not None:
            return value + (name == "RB_MODE_CONTROL")  # of a3xx: one less
    return 0


def _a2xx_colours(reader: RegisterReader) -> tuple[int, bool, str | None, tuple[int, ...]]:
    mask = reader.value("RB_COLOR_MASK")
    blends = reader.flag("RB_COLORCONTROL", "BLEND_DISABLE") is False
    destination = "blending of color 0" if blends and mask else None
    return 1, bool(mask), destination, ()


def components(colour_format: str) -> int:
    """Components of a colour format, by its name: 4 for FMT6_8_8_8_8_UNORM. 4 where unclear."""
    _, _, name = colour_format.partition("_")
    return min(len(_CHANNEL.findall(name)) or len(_BITS.findall(f"_{name}")), 4) or 4


# -- LRZ buffers of passes -------------------------------------------------------------------------

_VIEW = "GRAS_LRZ_DEPTH_VIEW"

#: How far the second buffer is from the first, in bytes (GRAS_LRZ_CB_CNTL of Mesa 25.3); the value
#: of a fast clear, and whether there is one (a7xx).
_DISTANCE = "GRAS_UNKNOWN_8007"
_CLEAR_DEPTH, _CONTROL_2 = "GRAS_LRZ_CLEAR_DEPTH_F32", "GRAS_LRZ_CNTL2"

#: A view with all bits set fits no buffer: turnip switches LRZ off so.
_IMPOSSIBLE_VIEW = ("BASE_LAYER", "LAYER_COUNT", "BASE_MIP_LEVEL")


class LrzFollower:
    """Notes how LRZ buffers are cleared before passes, and which buffer each pass has.

    turnip binds the buffer and clears it by an event, before the pass. Where there is no such
    event, both drivers fill it by CP_BLIT; gallium binds it in the pass, before its first draws.
    """

    def __init__(self, registers: RegisterReader) -> None:
        self._registers = registers
        #: Of the next pass, as an event shows it.
        self._next: Lrz | None = None
        #: The buffer of the current pass is not known yet.
        self._is_open = False
        #: The current pass has drawn.
        self._has_drawn = False
        #: Addresses that were filled since the last pass.
        self._filled: set[int] = set()

    def begin(self, pass_: Pass) -> None:
        """A pass begins, with the buffer that an event has shown."""
        pass_.lrz, self._next = self._next, None
        self._is_open = pass_.lrz is None
        self._has_drawn = False

    def discard(self, pass_: Pass) -> None:
        """The pass was none: what was cleared in it is the next one's."""
        self._next, self._is_open = pass_.lrz, False

    def event(self, action: Action, current: Pass | None) -> None:
        """An LRZ_CLEAR event: of the pass that begins, or, after its first draw, of the next.

        ``current``: the pass that is open, None once the draws of its last tile have ended.
        """
        if not action.execution.is_possible:
            return
        fits_nothing = all(
            self._registers.field(_VIEW, name) == self._registers.field_mask(_VIEW, name)
            for name in _IMPOSSIBLE_VIEW
        )
        address = self._registers.address("GRAS_LRZ_BUFFER_BASE")
        lrz = Lrz(address, not fits_nothing, clear=action, disabled=fits_nothing)
        if not fits_nothing:
            lrz.second = self._second(address)
            if self._registers.flag(_CONTROL_2, "FC_ENABLE"):
                lrz.clear_depth = self._registers.number(_CLEAR_DEPTH)
        if current is not None and current.kind == "render" and not self._has_drawn:
            current.lrz = lrz
            self._is_open = False
        else:
            self._next = lrz

    def between_passes(self, action: Action) -> None:
        """An action between passes: it may fill the buffer of the next."""
        address = self._registers.address("RB_2D_DST")
        is_fill = action.kind == "blit" and self._registers.flag("RB_2D_BLIT_CNTL", "SOLID_COLOR")
        if is_fill and address is not None and action.execution.is_possible:
            self._filled.add(address)

    def bind(self, pass_: Pass) -> None:
        """The pass draws, or is over: its buffer is bound now."""
        self._has_drawn = True
        if not self._is_open:
            return
        self._is_open = False
        address = self._registers.address("GRAS_LRZ_BUFFER_BASE")
        if address:
            second = self._second(address)
            pass_.lrz = Lrz(address, cleared=address in self._filled, second=second)
        self._filled.clear()

    def _second(self, address: int | None) -> int | None:
        """The second buffer, behind the one at ``address``."""
        distance = self._registers.value(_DISTANCE)
        return address + distance if address and distance else None


def follow_lrz(pass_: Pass) -> None:
    """Find out whether LRZ is used, and which of the program's draws have it off."""
    lrz = pass_.lrz
    if lrz is None or lrz.disabled:  # then draws may enable it, but it has no effect
        return
    is_on = [
        (number, bool(draw.depth.lrz_enabled))
        for number, draw in enumerate(pass_.draws)
        if draw.depth is not None
    ]
    lrz.used = any(on for _, on in is_on)
    off = (number for number, on in is_on if not on)
    lrz.off_draws = draw_ranges(off, pass_.index) if lrz.used else ()
