# SPDX-License-Identifier: MIT
"""The visibility streams of passes: as lines and tables of text, as a document for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from cffpy.analysis.stream_tiles import position_of_bin
from cffpy.analysis.visibility import undecoded_format
from cffpy.analysis.visibility_model import State
from cffpy.document_types import Hex, OneCapture
from cffpy.views.model_documents import hexadecimal
from cffpy.views.passes import title
from cffpy.views.plain_text import Styled
from cffpy.vsc.bits import slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.visibility_model import (
        Findings,
        PassVisibility,
        PipeStreams,
        StreamPart,
        VisibleEntry,
    )
    from cffpy.frame.passes import Pass, Passes, TileVisibility

SCHEMA = "cffpy.vsc/1"

_Findings = Annotated[list[str], "what is wrong or does not agree, in words"]
_More = Annotated[int, "further findings, which are only counted"]
_Reason = Annotated[str | None, "why the streams are not decoded; null where they are"]
_Column = Annotated[int | None, "column in the grid of bins"]
_Row = Annotated[int | None, "row in the grid of bins"]


class StreamBase(TypedDict):
    """Where the streams of all pipes are."""

    address: Annotated[Hex | None, "GPU address of the first pipe's stream"]
    pitch: Annotated[int | None, "bytes from one pipe's stream to the next"]
    limit: Annotated[int | None, "bytes that a pipe may write"]


class StreamBases(TypedDict):
    """Where the streams of a pass are."""

    draw: Annotated[StreamBase, "the draw streams"]
    primitive: Annotated[StreamBase, "the primitive streams"]
    sizes: Annotated[Hex | None, "GPU address of the sizes of the draw streams"]


class PartOfStreams(TypedDict):
    """A stream of a pipe."""

    address: Annotated[Hex | None, "GPU address of its first byte"]
    capacity: Annotated[int | None, "bytes that the pipe may write"]
    captured: Annotated[int, "bytes that the capture has"]
    size: Annotated[int | None, "bytes that the VSC says it has written"]


class BinOfPipe(TypedDict):
    """A bin of a pipe."""

    bin: Annotated[int, "slot in the pipe"]
    tiles: Annotated[list[int], "numbers of the tiles that use it"]
    column: _Column
    row: _Row
    draws: Annotated[int, "entries of the draw stream that cover it"]
    culled_draws: Annotated[float | None, "share of the entries that do not, from 0 to 1"]
    primitives: Annotated[int | None, "primitives that cover it"]
    culled_primitives: Annotated[float | None, "share of the primitives that do not, from 0 to 1"]


class EntryOfStream(TypedDict):
    """An entry of a draw stream that covers bins."""

    draw: Annotated[int, "its number in the stream"]
    program_draw: Annotated[int | None, "number among the program's draws of the pass"]
    bins: Annotated[list[int], "slots of the bins that it covers"]
    primitives: Annotated[
        Sequence[int] | None, "primitives in each bin; null without primitive streams"
    ]


class PipeOfPass(TypedDict):
    """A VSC pipe and its streams."""

    pipe: Annotated[int, "number of the VSC pipe"]
    x: Annotated[int, "its first column in the grid of bins"]
    y: Annotated[int, "its first row"]
    w: Annotated[int, "its columns"]
    h: Annotated[int, "its rows"]
    state: Annotated[State, "how far its streams are decoded"]
    reason: _Reason
    fits: Annotated[
        bool | None, "the streams can be of this pass's draws; null where that is not known"
    ]
    draw_stream: Annotated[PartOfStreams, "its draw stream"]
    primitive_streams: Annotated[PartOfStreams, "its primitive streams"]
    size_address: Annotated[Hex | None, "GPU address of the size of its draw stream"]
    draws: Annotated[int | None, "entries of the draw stream"]
    primitives: Annotated[int | None, "primitives of these"]
    primitives_complete: Annotated[bool, "also of entries without primitive streams"]
    bins: Annotated[list[BinOfPipe], "its bins; empty where the streams are not decoded"]
    visible_draws: Annotated[int | None, "entries that cover a bin"]
    visible: Annotated[list[EntryOfStream] | None, "these; null without --draws"]
    findings: _Findings
    more_findings: _More


class VisibleInTile(TypedDict):
    """What is executed in a tile."""

    tile: Annotated[int, "number of the tile"]
    overridden: Annotated[bool, "the streams are ignored, and all draws are executed"]
    draws: Annotated[list[int], "numbers of the program's draws that are executed"]
    primitives: Annotated[list[int | None], "primitives of each of them that cover the tile"]


class DrawsOfStreams(TypedDict):
    """How many entries the streams of a pass should have, by the draws of its binning run."""

    known: Annotated[bool, "all commands of the binning run are known"]
    least: Annotated[int, "at least so many"]
    most: Annotated[int | None, "at most so many; null where nothing limits them"]


_WithPass = TypedDict("_WithPass", {"pass": Annotated[int, "number of the pass"]})


class VisibilityOfPass(_WithPass):
    """The visibility streams of a pass."""

    submit: Annotated[int, "number of its submit"]
    cp_pipe: Annotated[
        Literal["BR", "BV", "both", "unknown"] | None,
        "the pipe of the CP that executes the binning run; null where the stream does not say it",
    ]
    reason: _Reason
    draws: Annotated[DrawsOfStreams, "how many entries the streams should have"]
    shared_with: Annotated[list[int], "passes of the submit whose streams are at the same address"]
    streams: Annotated[StreamBases | None, "where the streams are"]
    pipes: Annotated[list[PipeOfPass], "the VSC pipes"]
    tiles: Annotated[list[VisibleInTile], "the tiles whose visibility is known"]
    findings: _Findings
    more_findings: _More


class VscDocument(OneCapture):
    """Visibility streams: cffpy vsc --json."""

    passes: Annotated[list[VisibilityOfPass], "the passes"]


_HEADINGS = ("bin", "tile", "column", "row", "draws", "culled", "primitives", "culled")
#: All columns hold numbers.
RIGHT = range(len(_HEADINGS))

_UNKNOWN = "unknown"
_NONE = "-"

#: Findings of a pipe or pass that text shows; JSON has more of them.
_SHOWN_FINDINGS = 8

Table = list[tuple[str, ...]]


# -- text -----------------------------------------------------------------------------------------


def head_lines(found: PassVisibility) -> Iterator[str]:
    """The pass: where its streams are, how many draws they should have."""
    one, streams = found.one, found.one.visibility_streams
    yield Styled(f"{title(one)}, submit {one.submit}")
    if one.waits:
        from cffpy.views.pipe_waits import wait_lines

        yield from (f"  {line}" for line in wait_lines(one.waits))
    if found.reason is not None or streams is None:
        yield f"  visibility streams: {found.reason}"
        return
    parts = (
        ("draw streams", streams.draw, streams.draw_pitch, streams.draw_limit),
        (
            "primitive streams",
            streams.primitive,
            streams.primitive_pitch,
            streams.primitive_limit,
        ),
    )
    for name, address, pitch, limit in parts:
        sizes = f"pitch {_number(pitch)}, limit {_number(limit)}"
        yield f"  {name} at {_address(address)}, {sizes}"
    yield f"  sizes at {_address(streams.sizes)}"
    if not found.pipes:
        yield "  VSC pipes: none is known"
    yield f"  draws of the binning run that use streams: {_wanted(found)}"
    decoded = [pipe for pipe in found.pipes if pipe.entries]
    if found.shared_with and decoded:
        numbers = ", ".join(map(str, found.shared_with[:_SHOWN_FINDINGS]))
        more = " ..." if len(found.shared_with) > _SHOWN_FINDINGS else ""
        noun = "pass" if len(found.shared_with) == 1 else "passes"
        yield f"  the same memory as {noun} {numbers}{more}: it holds the streams of one only"
    if decoded:
        yield f"  culled in all bins: {_culled_text(decoded)}"


def nothing_text(passes: Passes) -> str:
    """What to say where no pass has hardware binning."""
    text = "no pass with hardware binning"
    reason = undecoded_format(passes.generation)
    return text if reason is None else f"{text} was found; visibility streams: {reason}"


def pipe_lines(pipe: PipeStreams) -> Iterator[str]:
    """A pipe: its state, its streams, its totals, what is wrong."""
    one = pipe.pipe
    reason = "" if pipe.reason is None else f": {pipe.reason}"
    where = f"{one.width} x {one.height} tiles from {one.x},{one.y}"
    yield f"  pipe {one.number}, {where}: {pipe.state}{reason}"
    size = _address(pipe.size_address)
    yield f"    draw stream at {_part_text(pipe.draw)}, size at {size}"
    yield f"    primitive streams at {_part_text(pipe.primitive)}"
    if pipe.state in ("decoded", "damaged") or pipe.entries:
        fits = {True: "as in the binning run", False: "not as in the binning run"}
        compared = fits.get(pipe.fits) if pipe.fits is not None else "not compared"
        visible = f"{len(pipe.visible):,} visible"
        parts = [f"{_count(pipe.entries, 'draw')}, {compared}, {visible}"]
        if pipe.primitives is not None:
            known = "" if pipe.primitives_whole else " in primitive streams"
            parts.append(f"{_count(pipe.primitives, 'primitive')}{known}")
        else:
            parts.append("primitives unknown")
        yield f"    {'; '.join(parts)}"
    yield from finding_lines(pipe.findings, "    ")


def finding_lines(findings: Findings, indent: str = "  ") -> Iterator[str]:
    """What is wrong."""
    for text in findings.texts[:_SHOWN_FINDINGS]:
        yield f"{indent}! {text}"
    more = len(findings.texts) - _SHOWN_FINDINGS + findings.more
    if more > 0:
        yield f"{indent}! and {more} more like these"


def bin_table(found: Pass, pipe: PipeStreams) -> Table:
    """A row for each bin of a decoded pipe, below headings; [] for one that is not."""
    if not pipe.draws_per_bin:
        return []
    rows: Table = [_HEADINGS]
    for slot in range(pipe.bin_count):
        tiles = pipe.tiles.get(slot, [])
        column, row = position_of_bin(found, pipe, slot)
        counts = pipe.primitives_per_bin
        rows.append(
            (
                str(slot),
                ",".join(str(tile.number) for tile in tiles) or _NONE,
                str(column),
                str(row),
                str(pipe.draws_per_bin[slot]),
                _share(pipe.culled_draws(slot)),
                _NONE if counts is None else str(counts[slot]),
                _share(pipe.culled_primitives(slot)),
            )
        )
    return rows


def _wanted(found: PassVisibility) -> str:
    if not found.draws_known:
        return f"{_UNKNOWN}, not all its commands were captured"
    if found.least_draws == found.most_draws:
        return str(found.least_draws)
    most = "any number" if found.most_draws is None else str(found.most_draws)
    return f"{found.least_draws} to {most}, as only the GPU knows"


def _culled_text(pipes: list[PipeStreams]) -> str:
    """The share of (draw, bin) and (primitive, bin) that is culled."""
    draws = sum(pipe.entries * pipe.bin_count for pipe in pipes)
    visible = sum(sum(pipe.draws_per_bin) for pipe in pipes)
    parts = [f"{_share(1 - visible / draws if draws else None)} of draws"]
    counted = [pipe for pipe in pipes if pipe.primitives and pipe.primitives_per_bin is not None]
    primitives = sum((pipe.primitives or 0) * pipe.bin_count for pipe in counted)
    if primitives:
        drawn = sum(sum(pipe.primitives_per_bin or ()) for pipe in counted)
        known = all(pipe.primitives_whole for pipe in counted)
        noun = "primitives" if known else "primitives in primitive streams"
        parts.append(f"{_share(1 - drawn / primitives)} of {noun}")
    return ", ".join(parts)


def _part_text(part: StreamPart) -> str:
    room = "unknown" if part.capacity is None else str(part.capacity)
    used = "unknown size" if part.size is None else str(part.size)
    missing = ""
    if part.capacity is not None and 0 < part.captured < part.capacity:
        missing = f", {part.captured} captured"
    elif not part.captured:
        missing = ", not captured"
    return f"{_address(part.address)}: {used} of {room} bytes{missing}"


def _address(address: int | None) -> str:
    return _UNKNOWN if address is None else f"{address:#x}"


def _number(number: int | None) -> str:
    return _UNKNOWN if number is None else str(number)


def _share(share: float | None) -> str:
    return _NONE if share is None else f"{share:.1%}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# -- JSON -----------------------------------------------------------------------------------------


def document(passes: Passes, found: Iterable[PassVisibility], with_entries: bool) -> VscDocument:
    """Addresses are hex strings, sizes bytes, shares 0 to 1; what is not known is null.

    ``with_entries``: list the draws that are visible in a pipe; there may be very many.
    """
    return {
        "gpu": passes.gpu,
        "generation": passes.generation or None,
        "passes": [pass_document(one, with_entries) for one in found],
    }


def pass_document(found: PassVisibility, with_entries: bool) -> VisibilityOfPass:
    """One pass; see ``document``."""
    one, streams = found.one, found.one.visibility_streams
    return {
        "pass": one.index,
        "submit": one.submit,
        "cp_pipe": one.binning_pipe,
        "reason": found.reason,
        "draws": {
            "known": found.draws_known,
            "least": found.least_draws,
            "most": found.most_draws,
        },
        "shared_with": found.shared_with,
        "streams": None
        if streams is None
        else {
            "draw": _base(streams.draw, streams.draw_pitch, streams.draw_limit),
            "primitive": _base(streams.primitive, streams.primitive_pitch, streams.primitive_limit),
            "sizes": hexadecimal(streams.sizes),
        },
        "pipes": [_pipe_document(one, pipe, with_entries) for pipe in found.pipes],
        "tiles": [_tile_document(number, tile) for number, tile in sorted(found.tiles.items())],
        "findings": found.findings.texts,
        "more_findings": found.findings.more,
    }


def _base(address: int | None, pitch: int | None, limit: int | None) -> StreamBase:
    return {"address": hexadecimal(address), "pitch": pitch, "limit": limit}


def _pipe_document(one: Pass, pipe: PipeStreams, with_entries: bool) -> PipeOfPass:
    where = pipe.pipe
    decoded = bool(pipe.draws_per_bin)
    return {
        "pipe": where.number,
        "x": where.x,
        "y": where.y,
        "w": where.width,
        "h": where.height,
        "state": pipe.state,
        "reason": pipe.reason,
        "fits": pipe.fits,
        "draw_stream": _part_document(pipe.draw),
        "primitive_streams": _part_document(pipe.primitive),
        "size_address": hexadecimal(pipe.size_address),
        "draws": pipe.entries if decoded else None,
        "primitives": pipe.primitives,
        "primitives_complete": pipe.primitives_whole,
        "bins": [_bin_document(one, pipe, slot) for slot in range(pipe.bin_count)]
        if decoded
        else [],
        "visible_draws": len(pipe.visible) if decoded else None,
        "visible": [_entry_document(entry, pipe.bin_count) for entry in pipe.visible]
        if with_entries
        else None,
        "findings": pipe.findings.texts,
        "more_findings": pipe.findings.more,
    }


def _entry_document(entry: VisibleEntry, bin_count: int) -> EntryOfStream:
    """A draw that covers bins: its number in the stream, and among the program's draws."""
    return {
        "draw": entry.entry,
        "program_draw": None if entry.draw is None else entry.draw.action.number,
        "bins": list(slots(entry.bins, bin_count)),
        "primitives": entry.primitives,
    }


def _part_document(part: StreamPart) -> PartOfStreams:
    return {
        "address": hexadecimal(part.address),
        "capacity": part.capacity,
        "captured": part.captured,
        "size": part.size,
    }


def _bin_document(one: Pass, pipe: PipeStreams, slot: int) -> BinOfPipe:
    tiles = pipe.tiles.get(slot, [])
    column, row = position_of_bin(one, pipe, slot)
    counts = pipe.primitives_per_bin
    return {
        "bin": slot,
        "tiles": [tile.number for tile in tiles],
        "column": column,
        "row": row,
        "draws": pipe.draws_per_bin[slot],
        "culled_draws": pipe.culled_draws(slot),
        "primitives": None if counts is None else counts[slot],
        "culled_primitives": pipe.culled_primitives(slot),
    }


def _tile_document(number: int, tile: TileVisibility) -> VisibleInTile:
    """What is executed in a tile, by the numbers of the program's draws."""
    return {
        "tile": number,
        "overridden": tile.overridden,
        "draws": list(tile.draws),
        "primitives": [tile.primitives.get(draw) for draw in tile.draws],
    }
