# SPDX-License-Identifier: MIT
"""CpState: everything that decoding changes, in one object.

What survives what (spec of the dump format, "State that survives"): values, modes, draw-state
groups, the thread and the skip_ib2 flags live as long as the object; ``start_file`` clears only
the marks that the reference clears at a file's start. Nothing is cleared between submits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: Bits of the enable mask: in which render modes a draw-state group is loaded.
BINNING, GMEM, SYSMEM = 1, 2, 4
ALL_MODES = BINNING | GMEM | SYSMEM

#: Flags of a draw-state group.
GROUP_DISABLE, GROUP_DISABLE_ALL, GROUP_LOAD_IMMEDIATE = 2, 4, 8

GROUP_COUNT = 32


@dataclass(slots=True)
class DrawStateGroup:
    """A draw-state group that waits for the next draw. ``ndwords`` at ``gpuaddr``."""

    group_id: int
    enable_mask: int
    flags: int
    ndwords: int
    gpuaddr: int


@dataclass(slots=True)
class CpState:
    """The command processor's state."""

    #: Register offset -> last value written; a register never written reads as 0.
    registers: dict[int, int] = field(default_factory=dict)
    #: Registers written in this file, up to the last draw; since then: ``rewritten``.
    written_before: set[int] = field(default_factory=set)
    #: Registers written since the last draw.
    rewritten: set[int] = field(default_factory=set)

    groups: list[DrawStateGroup | None] = field(default_factory=lambda: [None] * GROUP_COUNT)
    loading_groups: bool = False
    enable_mask: int = ALL_MODES
    render_mode: str | None = None
    thread: str | None = None
    skip_ib2_global: bool = False
    skip_ib2_local: bool = False
    needs_wfi: bool = False

    #: Nesting of indirect buffers and draw-state groups; 0 is the submit's own stream.
    ib_level: int = 0
    #: Draws since the stream at each level began.
    draws: list[int] = field(default_factory=lambda: [0] * 16)
    #: Draws, blits and dispatches of this file so far.
    draw_count: int = 0

    #: The bin's rectangle as last told: left, top, right, bottom.
    bin_rectangle: tuple[int, int, int, int] = (0, 0, 0, 0)

    def start_file(self) -> None:
        """Clear what a file's start, and its first accepted GPU id, clear."""
        self.written_before.clear()
        self.rewritten.clear()
        self.draw_count = 0

    def value(self, register: int) -> int:
        """A register's last value, 0 if it was never written."""
        return self.registers.get(register, 0)

    def was_written(self, register: int) -> bool:
        """True when the register was written in this file."""
        return register in self.rewritten or register in self.written_before

    def set_register(self, register: int, value: int) -> None:
        """Write a register."""
        self.registers[register] = value
        self.rewritten.add(register)

    def clear_rewritten(self) -> None:
        """Forget which registers were written since the last draw, not that they were."""
        self.written_before |= self.rewritten
        self.rewritten.clear()

    def finish_draw(self) -> None:
        """Count a draw: what is written from now on is written since this one."""
        self.clear_rewritten()
        self.draw_count += 1
