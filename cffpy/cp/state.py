# SPDX-License-Identifier: MIT
"""CpState: everything that decoding changes, in one object.

Lifetimes (Mesa: the statics of cffdec.c, and cffdec_init): values, modes, draw-state
groups, the thread and the skip_ib2 flags live as long as the object; ``start_file`` clears only
the marks that the reference clears at a file's start. Nothing is cleared between submits.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, KeysView

#: Bits of the enable mask: in which render modes a draw-state group is loaded.
BINNING, GMEM, SYSMEM = 1, 2, 4
ALL_MODES = BINNING | GMEM | SYSMEM

#: Flags of a draw-state group.
GROUP_DISABLE, GROUP_DISABLE_ALL, GROUP_LOAD_IMMEDIATE = 2, 4, 8

#: Draw-state groups of a8xx; others have half as many.
GROUP_COUNT = 64

#: Levels of streams for which draws are counted.
MOST_DRAW_LEVELS = 16


class DrawStateGroup:
    """A draw-state group that waits for the next draw. ``ndwords`` at ``gpuaddr``."""

    __slots__ = ("enable_mask", "flags", "gpuaddr", "group_id", "ndwords")

    def __init__(
        self, group_id: int, enable_mask: int, flags: int, ndwords: int, gpuaddr: int
    ) -> None:
        self.group_id = group_id
        self.enable_mask = enable_mask
        self.flags = flags
        self.ndwords = ndwords
        self.gpuaddr = gpuaddr


class Overlay(dict[int, int]):
    """Registers on top of others: writes stay here, other registers are read from below."""

    def __init__(self, below: dict[int, int]) -> None:
        super().__init__()
        self._below = below
        #: Registers that became unknown, even if they are below.
        self._gone: set[int] = set()

    def __missing__(self, register: int) -> int:
        if register in self._gone:
            raise KeyError(register)
        return self._below[register]

    def __contains__(self, register: object) -> bool:
        if super().__contains__(register):
            return True
        return register not in self._gone and register in self._below

    def get(self, register: int, default: int | None = None) -> int | None:  # type: ignore[override]
        """The register's value, here or below."""
        value = super().get(register)
        if value is not None:
            return value
        return default if register in self._gone else self._below.get(register, default)

    def pop(self, register: int, default: int | None = None) -> int | None:  # type: ignore[override]
        """Forget a register here; its value, or ``default``. Below, it stays."""
        value = self.get(register, default)
        super().pop(register, None)
        self._gone.add(register)
        return value

    def __iter__(self) -> Iterator[int]:
        yield from super().__iter__()
        hidden = self._gone
        for register in self._below:
            if register not in hidden and not super().__contains__(register):
                yield register

    def keys(self) -> KeysView[int]:  # type: ignore[override]
        """All registers, here and below: ``dict`` makes a copy by it."""
        return dict.fromkeys(self).keys()

    def written(self) -> Iterator[tuple[int, int]]:
        """The registers that are here, and their values."""
        return zip(super().__iter__(), super().values(), strict=True)

    def apply_to(self, *others: dict[int, int]) -> None:
        """Do to other registers what was done to these."""
        for other in others:
            for register in self._gone:
                other.pop(register, None)
            other.update(self.written())


class CpState:
    """Registers, draw-state groups, render mode and nesting of streams, as packets leave them."""

    __slots__ = (
        "bin_rectangle",
        "draw_count",
        "draws",
        "enable_mask",
        "groups",
        "ib_level",
        "loading_groups",
        "needs_wfi",
        "pipes_differ",
        "registers",
        "render_mode",
        "rewritten",
        "skip_ib2_global",
        "skip_ib2_local",
        "thread",
        "written_before",
    )

    def __init__(self) -> None:
        #: Register offset -> last value written; a register never written reads as 0.
        self.registers: dict[int, int] = {}
        #: Registers written in this file, up to the last draw; since then: ``rewritten``.
        self.written_before: set[int] = set()
        #: Registers written since the last draw.
        self.rewritten: set[int] = set()

        self.groups: list[DrawStateGroup | None] = [None] * GROUP_COUNT
        self.loading_groups = False
        self.enable_mask = ALL_MODES
        self.render_mode: str | None = None
        self.thread: str | None = None
        self.skip_ib2_global = False
        self.skip_ib2_local = False
        self.needs_wfi = False

        #: Two pipes execute, and they have other groups or another enable mask: what loads groups
        #: asks the sink to have each pipe do it (``StreamSink.each_pipe``).
        self.pipes_differ = False

        #: Nesting of indirect buffers and draw-state groups; 0 is the submit's own stream.
        self.ib_level = 0
        #: Draws since the stream at each level began.
        self.draws = [0] * MOST_DRAW_LEVELS
        #: Draws, blits and dispatches of this file so far.
        self.draw_count = 0

        #: The current bin's rectangle: left, top, right, bottom.
        self.bin_rectangle = (0, 0, 0, 0)

    def fork(self) -> CpState:
        """A copy to continue with, without changing this state.

        It takes constant time: registers are not copied. It does not know which of them were
        written.
        """
        other = CpState()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, list) else value)
        other.registers = Overlay(self.registers)
        other.written_before, other.rewritten = set(), set()
        return other

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
        """Store a value: the register counts as written since the last draw."""
        self.registers[register] = value
        self.rewritten.add(register)

    def clear_rewritten(self) -> None:
        """A draw is done: no register counts as written since it."""
        self.written_before |= self.rewritten
        self.rewritten.clear()

    def finish_draw(self) -> None:
        """Count a draw, and start a new set of rewritten registers."""
        self.clear_rewritten()
        self.draw_count += 1
