# SPDX-License-Identifier: MIT
"""NeededState: whether the registers that draws cannot do without were written, and where.

A draw needs the viewport and scissors, the description of each target that it writes, and the
programs of its stages. Which other registers it reads is not known.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.registers import Remembered
from cffpy.check.model import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.regdb.database import Database

_MAX_TARGETS = 8
_STAGES = ("VS", "HS", "DS", "GS", "FS")

#: First draws that are kept, at most.
_MAX_KEPT = 1 << 14

#: Names that a text has, at most.
_SHOWN = 3

#: Ends of names of registers that say where a target lies in memory.
_IN_MEMORY = ("].PITCH", "].BASE", "_BUFFER_PITCH", "_BUFFER_BASE")


class NeededRegister(NamedTuple):
    """A register that a draw needs. ``write``: the packet that wrote it, None for none.

    ``was_used``: something was drawn between the write and the pass of the draw.
    """

    name: str
    write: RegisterWrite | None
    was_used: bool


def listed(registers: Sequence[NeededRegister]) -> str:
    """The names of the first registers, and how many more there are."""
    names = [one.name for one in registers[:_SHOWN]]
    more = len(registers) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


class NeedyDraw(NamedTuple):
    """The first draw of a pass that needs these registers."""

    found: Pass
    draw: Action
    registers: tuple[NeededRegister, ...]
    #: Whether commands that ran before it were not captured.
    misses_commands: bool


class _Needs(NamedTuple):
    """The first draw of a pass with these needs: names and offsets of registers.

    ``begin``: position of the first action of the pass.
    """

    found: Pass
    draw: Action
    begin: int
    registers: list[tuple[str, int]]
    misses_commands: bool


class NeededState(Facts):
    """Takes, for the first draw of each pass with the same needs, what wrote each register."""

    needs_registers = True

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._names: Remembered[tuple[str, ...]]
        self._names_in_gmem: Remembered[tuple[str, ...]]
        self._seen: set[tuple[int, tuple[str, ...]]] = set()
        self._misses_commands = False
        #: The pass of the last action, and position of its first one.
        self._pass: int | None = None
        self._begin = 0
        self._draws: list[_Needs] = []

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._names = Remembered(self.walk.machine, _needed)
        self._names_in_gmem = Remembered(self.walk.machine, _needed_in_gmem)

    def commands_missing(self, gpuaddr: int) -> None:
        """What they wrote is not known."""
        self._misses_commands = True

    def draw_state_group_missing(self, gpuaddr: int) -> None:
        """Neither is what its registers hold."""
        self._misses_commands = True

    def action(self, action: Action) -> None:
        """Take one of the program's draws outside of binning runs."""
        found = self.passes.current
        index = None if found is None else found.index
        if index != self._pass:
            self._pass, self._begin = index, action.order
        if found is None or found.kind != "render" or action.binning:
            return
        if not action.execution.is_possible or not is_program_draw(action):
            return
        names = self._names_in_gmem() if found.mode == "gmem" else self._names()
        key = found.index, names
        if key in self._seen or len(self._seen) >= _MAX_KEPT:
            return
        self._seen.add(key)
        offset = self.walk.machine.names.register_offset
        needed = [(name, offset(name)) for name in names]
        self._draws.append(_Needs(found, action, self._begin, needed, self._misses_commands))

    @cached_property
    def draws(self) -> list[NeedyDraw]:
        """The first draws of each pass with the same needs, when the walk has ended."""
        store, drawn = self.registers, self._drawn_before()
        after = store.log.actions_after()
        needy = []
        for one in self._draws:
            order = one.draw.order
            if not store.has(order):
                continue
            entries = store.history(order).snapshot(order).entries
            registers = []
            for name, offset in one.registers:
                entry = entries.get(offset)
                if entry is None:
                    registers.append(NeededRegister(name, None, False))
                else:
                    write = store.log.source(entry, is_kept=True).of(offset)
                    registers.append(
                        NeededRegister(name, write, drawn[after[entry]] < drawn[one.begin])
                    )
            needy.append(NeedyDraw(one.found, one.draw, tuple(registers), one.misses_commands))
        return needy

    def _drawn_before(self) -> list[int]:
        """By ``Action.order``: how many actions before it are executed."""
        drawn = accumulate(action.execution.is_possible for action in self.passes.actions)
        return [0, *drawn]


def _needed(reader: RegisterReader) -> tuple[str, ...]:
    """The names of the registers that a draw needs now, as the generation has them."""
    return tuple(name for name in _candidates(reader) if reader.offset(name))


def _needed_in_gmem(reader: RegisterReader) -> tuple[str, ...]:
    """The same in a GMEM pass, where targets lie in GMEM.

    Where registers have both places of a target (a6xx and later), those of memory are not used: the
    vendor's driver leaves them as they are.
    """
    names = _needed(reader)
    if not reader.offset("RB_MRT[0].BASE_GMEM"):
        return names
    return tuple(name for name in names if not name.endswith(_IN_MEMORY))


def _candidates(reader: RegisterReader) -> Iterator[str]:
    discard = reader.first("PC_RASTER_CNTL", "VPC_RAST_CNTL") or ""
    if not reader.flag(discard, "DISCARD"):
        yield from _raster()
        yield from _colours(reader)
        yield from _depth(reader)
    for stage in _STAGES:
        if reader.flag(f"SP_{stage}_CONFIG", "ENABLED"):
            yield f"SP_{stage}_OBJ_START"
            yield f"SP_{stage}_CTRL_REG0"


def _raster() -> Iterator[str]:
    for axis in "XY":
        for part in ("SCALE", "OFFSET"):
            yield f"GRAS_CL_VPORT[0].{axis}{part}"
            yield f"GRAS_CL_VPORT_{axis}{part}_0"
            yield f"PA_CL_VPORT_{axis}{part}"
    for corner in ("TL", "BR"):
        yield f"GRAS_SC_SCREEN_SCISSOR[0].{corner}"
        yield f"GRAS_SC_VIEWPORT_SCISSOR[0].{corner}"
        yield f"GRAS_SC_SCREEN_SCISSOR_{corner}"


def _colours(reader: RegisterReader) -> Iterator[str]:
    count = reader.field("RB_FS_OUTPUT_CNTL1", "MRT")
    if count is None:
        count = reader.field("RB_FS_OUTPUT_CNTL", "MRT")
    for index in range(min(count or 0, _MAX_TARGETS)):
        target = f"RB_MRT[{index}]"
        yield f"{target}.CONTROL"
        if reader.field(f"{target}.CONTROL", "COMPONENT_ENABLE") == 0:
            continue
        for part in ("BUF_INFO", "PITCH", "BASE", "BASE_LO"):
            yield f"{target}.{part}"
        if reader.flag(f"{target}.CONTROL", "BLEND"):
            yield f"{target}.BLEND_CONTROL"


def _depth(reader: RegisterReader) -> Iterator[str]:
    depth = reader.first("RB_DEPTH_CNTL", "RB_DEPTH_CONTROL") or ""
    test = "Z_TEST_ENABLE" if reader.field(depth, "Z_TEST_ENABLE") is not None else "Z_ENABLE"
    if depth and reader.flag(depth, test):
        yield depth
        yield from ("RB_DEPTH_BUFFER_INFO", "RB_DEPTH_BUFFER_PITCH", "RB_DEPTH_BUFFER_BASE")
