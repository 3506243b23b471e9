# SPDX-License-Identifier: MIT
"""The visibility streams of a pass, and what they say of its tiles.

``cffpy.analysis.visibility`` reads the streams and fills these objects. All sizes are bytes. None
means that it is not known.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.geometry import Cell
from cffpy.frame.objects import ModelObject
from cffpy.frame.passes import Pass, Pipe, TileVisibility, VisibilityStreams
from cffpy.vsc.bits import slots

if TYPE_CHECKING:
    from cffpy.frame.passes import StreamDraw, Tile

#: "decoded": without damage. "damaged": up to the damage. "overflowed": not, or without primitives.
#: All others: not at all.
State = Literal["decoded", "damaged", "overflowed", "not captured", "not written", "not decoded"]

#: Findings that are kept of a pipe, and of a pass; the others are only counted.
_KEPT = 100


@model("stream_part", is_value=True)
class StreamPart(ModelObject):
    """The part of a stream buffer that a VSC pipe writes."""

    address: Address | None = stored("GPU address of its first byte")
    capacity: int | None = stored("what the pipe may write", "bytes")
    captured: int = stored("what the capture has of that", "bytes")
    size: int | None = stored(
        "what the VSC says it has written; of a primitive stream, what the draw stream says",
        "bytes",
        default=None,
    )


@described(
    "visible_entry",
    is_value=False,
    entry="its number in the draw stream",
    primitives="primitives in each bin of the pipe; None without primitive streams",
)
class VisibleEntry(NamedTuple):
    """An entry of a draw stream that covers bins.

    ``stream_draw``: whose entry it is. ``bitfield``: the bins, see ``cffpy.vsc.bits``.
    """

    entry: int
    primitives: tuple[int, ...] | None
    bitfield: int
    stream_draw: StreamDraw | None

    @fact()
    def draw(self) -> int | None:
        """Number of its draw among the program's draws of the pass; None where that is unknown, and
        for what the driver adds.
        """
        return None if self.stream_draw is None else self.stream_draw.action.number

    @fact()
    def bins(self) -> tuple[int, ...]:
        """Slots of the bins that it covers."""
        return slots(self.bitfield, self.bitfield.bit_length())


@described("bin", is_value=False, slot="its slot in the VSC pipe")
class Bin(NamedTuple):
    """A bin of a VSC pipe whose streams are decoded."""

    streams: PipeStreams
    slot: int

    @fact()
    def tiles(self) -> list[int]:
        """Numbers of the tiles that use it."""
        return [tile.number for tile in self.streams.tiles.get(self.slot, ())]

    @fact()
    def cell(self) -> Cell:
        """Its place in the grid of bins: the tile's, or by the order of slots where no tile uses
        it.
        """
        tiles, pipe = self.streams.tiles.get(self.slot), self.streams.pipe
        row, column = divmod(self.slot, pipe.width)
        cell = cell_of(self.streams.pass_, tiles[0]) if tiles else None
        return cell or Cell(pipe.x + column, pipe.y + row)

    @fact()
    def entries(self) -> int:
        """Entries of the draw stream that cover it."""
        return self.streams.entries_per_bin[self.slot]

    @fact()
    def culled_entries(self) -> float | None:
        """Share of the entries that do not, from 0 to 1; None without entries."""
        every = self.streams.entries
        return 1 - self.entries / every if every else None

    @fact()
    def primitives(self) -> int | None:
        """Primitives that cover it; None without primitive streams."""
        counts = self.streams.primitives_per_bin
        return None if counts is None else counts[self.slot]

    @fact()
    def culled_primitives(self) -> float | None:
        """Share of the primitives of the pipe that do not, from 0 to 1."""
        covering, every = self.primitives, self.streams.primitives
        return None if covering is None or not every else 1 - covering / every


@model("compared")
class Compared(ModelObject):
    """What is compared with the commands of a pass."""

    findings: list[str] = stored(
        "what is wrong or does not agree, in words", default_factory=list, kw_only=True
    )
    more_findings: int = stored("further findings, which are only counted", default=0, kw_only=True)

    def add_finding(self, text: str) -> None:
        """Note something that is wrong."""
        if len(self.findings) < _KEPT:
            self.findings.append(text)
        else:
            self.more_findings += 1


@model("pipe_streams")
class PipeStreams(Compared):
    """The streams of a VSC pipe, as a pass has written them."""

    pass_: Pass
    pipe: Pipe = stored("number of the VSC pipe")
    draw_stream: StreamPart = stored(
        "its draw stream; up to a5xx its only stream, of an unknown format"
    )
    primitive_stream: StreamPart = stored("its primitive streams; unknown up to a5xx")
    size_address: Address | None = stored("GPU address at which the size of the draw stream is")
    state: State = stored("how far its streams are decoded", default="not captured")
    reason: str | None = stored(
        "why the streams are not decoded; None where they are", default=None
    )
    fits: bool | None = stored(
        "the streams can be of the draws of this pass; None where that could not be compared",
        default=None,
    )
    entries: int | None = stored(
        "entries of the draw stream: a draw of the binning run has one or more; None where it is "
        "not decoded",
        default=None,
    )
    #: By slot, how many entries and primitives cover the bin; of the latter None without primitive
    #: streams.
    entries_per_bin: tuple[int, ...] = ()
    primitives_per_bin: tuple[int, ...] | None = None
    #: Slot -> the tiles that use it.
    tiles: dict[int, list[Tile]] = field(default_factory=dict)

    @fact()
    def visible_entries(self) -> int | None:
        """Entries that cover a bin."""
        return None if self.entries is None else len(self.visible)

    primitives: int | None = stored(
        "primitives of all entries, or of those with primitive streams", default=None
    )
    primitives_whole: bool = stored(
        "these are the primitives of all entries, also of those without primitive streams",
        default=False,
    )

    @fact()
    def bins(self) -> list[Bin]:
        """Its bins; empty where the draw stream is not decoded."""
        return [Bin(self, slot) for slot in range(len(self.entries_per_bin))]

    visible: list[VisibleEntry] = field(default_factory=list)

    @fact(cost="large", name="visible")
    def _visible(self) -> list[VisibleEntry]:
        """The entries that cover a bin."""
        return self.visible

    @property
    def bin_count(self) -> int:
        """Bins of the pipe, each with a slot from 0 on."""
        return self.pipe.width * self.pipe.height

    @property
    def is_trusted(self) -> bool:
        """Whether the streams are whole and, as far as is known, those of this pass."""
        return self.state == "decoded" and self.fits is True


@model("pass_visibility")
class PassVisibility(Compared):
    """The visibility streams of a pass, and what they say of its tiles."""

    pass_: Pass = stored("the pass")
    reason: str | None = stored(
        "why the streams are not decoded; None where they are", default=None
    )

    @fact()
    def visibility_streams(self) -> VisibilityStreams | None:
        """Where the streams of the pass are."""
        return self.pass_.visibility_streams

    entries_known: bool = stored(
        "all commands of the binning run are known; else the next two say nothing", default=True
    )
    least_entries: int = stored(
        "entries that a draw stream has at least, by the draws of the binning run", default=0
    )
    most_entries: int | None = stored(
        "entries that it has at most; None where nothing limits them", default=0
    )
    shared_with: list[int] = stored(
        "numbers of the passes of the submit whose streams are at the same address",
        default_factory=list,
    )
    pipes: list[PipeStreams] = stored("the VSC pipes", default_factory=list)
    #: Number of a tile -> what is visible in it; tiles without it are unknown.
    by_tile: dict[int, TileVisibility] = field(default_factory=dict)

    @fact()
    def tiles(self) -> list[TileVisibility]:
        """The tiles of which it is known what is visible."""
        return [tile for _, tile in sorted(self.by_tile.items())]

    def __repr__(self) -> str:
        what = self.reason or f"{len(self.pipes)} pipes, {len(self.by_tile)} tiles"
        return f"<PassVisibility of pass {self.pass_.index}: {what}>"

    @property
    def is_damaged(self) -> bool:
        """A stream is wrong in itself, not only in what it is compared with."""
        return any(pipe.state == "damaged" for pipe in self.pipes)


def cell_of(pass_: Pass, tile: Tile) -> Cell | None:
    """The place of a tile in the grid of bins, by its window offset."""
    if tile.window_offset is None or pass_.bin_size is None:
        return None
    x, y = tile.window_offset
    return Cell(x // pass_.bin_size.width, y // pass_.bin_size.height)
