# SPDX-License-Identifier: MIT
"""What ``cffpy.analysis.visibility`` finds: the streams of a pass, and what its tiles execute.

All sizes are bytes. None means that it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from cffpy.frame.passes import Pass, Pipe, StreamDraw, Tile, TileVisibility

#: "decoded": without damage. "damaged": up to the damage. "overflowed": not, or without primitives.
#: All others: not at all.
State = Literal["decoded", "damaged", "overflowed", "not captured", "not written", "not decoded"]

#: Findings that are kept of a pipe, and of a pass; the others are only counted.
_KEPT = 100


@dataclass(slots=True)
class Findings:
    """What is wrong or does not agree, in words; ``more``: how many further ones there were."""

    texts: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, text: str) -> None:
        """Note one."""
        if len(self.texts) < _KEPT:
            self.texts.append(text)
        else:
            self.more += 1


@dataclass(slots=True)
class StreamPart:
    """One pipe's part of a stream buffer.

    ``capacity``: what the pipe may write. ``captured``: what the capture has of that. ``size``: as
    the VSC reported it; of primitive streams, as the draw stream adds it up.
    """

    address: int | None
    capacity: int | None
    captured: int
    size: int | None = None


class VisibleEntry(NamedTuple):
    """An entry of a draw stream that covers bins.

    ``entry``: its number in the stream. ``draw``: whose it is. ``bins``: bitfield, see
    ``cffpy.vsc.bits``. ``primitives``: by slot, of all its instances.
    """

    entry: int
    draw: StreamDraw | None
    bins: int
    primitives: tuple[int, ...] | None


@dataclass(slots=True)
class PipeStreams:
    """The streams of one VSC pipe of a pass.

    ``fits``: whether they can be of this pass's draws; None where that could not be compared.
    ``entries``: draws in the draw stream; ``visible``: those with bins.
    ``primitives``: of all entries that the binning run processed, where each draw's are known,
    else of those that have primitive streams; ``primitives_whole`` says which.
    ``draws_per_bin``, ``primitives_per_bin``: by slot; the latter None without primitive streams.
    ``tiles``: slot -> the tiles that use it.
    """

    pipe: Pipe
    draw: StreamPart
    primitive: StreamPart
    size_address: int | None
    state: State = "not captured"
    reason: str | None = None
    fits: bool | None = None
    findings: Findings = field(default_factory=Findings)
    entries: int = 0
    visible: list[VisibleEntry] = field(default_factory=list)
    primitives: int | None = None
    primitives_whole: bool = False
    draws_per_bin: tuple[int, ...] = ()
    primitives_per_bin: tuple[int, ...] | None = None
    tiles: dict[int, list[Tile]] = field(default_factory=dict)

    @property
    def bin_count(self) -> int:
        """Bins of the pipe, each with a slot from 0 on."""
        return self.pipe.width * self.pipe.height

    @property
    def is_trusted(self) -> bool:
        """Whether the streams are whole and, as far as is known, those of this pass."""
        return self.state == "decoded" and self.fits is True

    def culled_draws(self, slot: int) -> float | None:
        """The share (0 to 1) of the draws that a bin skips; None without draws."""
        return 1 - self.draws_per_bin[slot] / self.entries if self.entries else None

    def culled_primitives(self, slot: int) -> float | None:
        """The share (0 to 1) of ``primitives`` that do not cover a bin."""
        if self.primitives_per_bin is None or not self.primitives:
            return None
        return 1 - self.primitives_per_bin[slot] / self.primitives


@dataclass(slots=True)
class PassVisibility:
    """The visibility of a pass. ``reason``: why it has no streams to decode, else None.

    ``least_draws``, ``most_draws``: entries that the streams must have by the draws of the binning
    run; ``most_draws`` is None where nothing limits them. ``draws_known``: all commands of the
    binning run were followed; else the two say nothing.
    ``shared_with``: passes of the same submit whose streams lie at the same address.
    ``tiles``: number of the tile -> what is executed; tiles without it are unknown.
    """

    one: Pass
    reason: str | None = None
    least_draws: int = 0
    most_draws: int | None = 0
    draws_known: bool = True
    shared_with: list[int] = field(default_factory=list)
    pipes: list[PipeStreams] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    tiles: dict[int, TileVisibility] = field(default_factory=dict)

    def __repr__(self) -> str:
        what = self.reason or f"{len(self.pipes)} pipes, {len(self.tiles)} tiles"
        return f"<PassVisibility of pass {self.one.index}: {what}>"

    @property
    def is_damaged(self) -> bool:
        """A stream is wrong in itself, not only in what it is compared with."""
        return any(pipe.state == "damaged" for pipe in self.pipes)
