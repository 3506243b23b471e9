# SPDX-License-Identifier: MIT
"""Visibility streams of passes as text, JSON and a heat map; streams given as bytes, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cffpy.analysis.visibility import tile_slots, undecoded_format
from cffpy.document_types import Facts, Of, OneCapture
from cffpy.frame.faces import facts_document
from cffpy.frame.facts import model, stored
from cffpy.views.passes import size_text, title
from cffpy.views.plain_text import Styled
from cffpy.views.svg import FAINT, INK, NEUTRAL, ColourScale, Svg, pipe_colour
from cffpy.vsc.bits import as_written, slot_bit, slots
from cffpy.vsc.primitive_stream import primitives_per_bin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.errors import VisibilityStreamError
    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.passes import Pass, Passes, Tile
    from cffpy.frame.visibility import PassVisibility, PipeStreams, StreamPart
    from cffpy.vsc.pipe import InstanceRun, PipeVisibility
    from cffpy.vsc.primitive_stream import PrimitiveRun

SCHEMA = "cffpy.vsc/1"


class VscDocument(OneCapture):
    """Visibility streams: cffpy vsc --json."""

    passes: Annotated[Iterable[Facts], "the passes", Of("cffpy.frame.visibility:PassVisibility")]


_HEADINGS = ("bin", "tile", "column", "row", "draws", "culled", "primitives", "culled")
#: All columns hold numbers.
RIGHT = range(len(_HEADINGS))

_UNKNOWN = "unknown"
_NONE = "-"

#: Findings of a pipe or pass that text shows; JSON has more of them.
_SHOWN_FINDINGS = 8

Table = list[tuple[str, ...]]


# -- text -----------------------------------------------------------------------------------------


def head_lines(visibility: PassVisibility) -> Iterator[str]:
    """The pass: where its streams are, how many draws they should have."""
    pass_, streams = visibility.pass_, visibility.pass_.visibility_streams
    yield Styled(f"{title(pass_)}, submit {pass_.submit}")
    if pass_.waits:
        from cffpy.views.passes import wait_lines

        yield from (f"  {line}" for line in wait_lines(pass_.waits))
    if visibility.reason is not None or streams is None:
        yield from _undecoded_lines(visibility)
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
    if not visibility.pipes:
        yield "  VSC pipes: none is known"
    yield f"  draws of the binning run that use streams: {_wanted(visibility)}"
    decoded = [pipe for pipe in visibility.pipes if pipe.entries]
    if visibility.shared_with and decoded:
        numbers = ", ".join(map(str, visibility.shared_with[:_SHOWN_FINDINGS]))
        more = " ..." if len(visibility.shared_with) > _SHOWN_FINDINGS else ""
        noun = "pass" if len(visibility.shared_with) == 1 else "passes"
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
    vsc_pipe = pipe.pipe
    reason = "" if pipe.reason is None else f": {pipe.reason}"
    where = f"{vsc_pipe.width} x {vsc_pipe.height} tiles from {vsc_pipe.x},{vsc_pipe.y}"
    yield f"  pipe {vsc_pipe.number}, {where}: {pipe.state}{reason}"
    size = _address(pipe.size_address)
    if vsc_pipe.stream is not None:
        slots = ", ".join(f"{slot}: {_tiles_text(pipe, slot)}" for slot in sorted(pipe.tiles))
        yield f"    stream at {_part_text(pipe.draw_stream)}, size at {size}"
        yield from (f"    tiles by slot: {slots}" for _ in range(bool(slots)))
        yield from finding_lines(pipe, "    ")
        return
    yield f"    draw stream at {_part_text(pipe.draw_stream)}, size at {size}"
    yield f"    primitive streams at {_part_text(pipe.primitive_stream)}"
    if pipe.state in ("decoded", "damaged") or pipe.entries:
        fits = {True: "as in the binning run", False: "not as in the binning run"}
        compared = fits.get(pipe.fits) if pipe.fits is not None else "not compared"
        visible = f"{len(pipe.visible):,} visible"
        parts = [f"{_count(pipe.entries or 0, 'draw')}, {compared}, {visible}"]
        if pipe.primitives is not None:
            known = "" if pipe.primitives_whole else " in primitive streams"
            parts.append(f"{_count(pipe.primitives, 'primitive')}{known}")
        else:
            parts.append("primitives unknown")
        yield f"    {'; '.join(parts)}"
    yield from finding_lines(pipe, "    ")


def _undecoded_lines(visibility: PassVisibility) -> Iterator[str]:
    """Why streams are not decoded, and where those of pipes are."""
    yield f"  visibility streams: {visibility.reason}"
    streams = visibility.pass_.visibility_streams
    if visibility.pipes and streams is not None:
        yield f"  bins of {_bins_text(visibility.pass_)}; sizes at {_address(streams.sizes)}"


def _bins_text(pass_: Pass) -> str:
    size = "unknown size" if pass_.bin_size is None else str(pass_.bin_size)
    return size if pass_.grid is None else f"{size} in {pass_.grid.width} x {pass_.grid.height}"


def _tiles_text(pipe: PipeStreams, slot: int) -> str:
    return " ".join(str(tile.number) for tile in pipe.tiles[slot])


def finding_lines(checked: PassVisibility | PipeStreams, indent: str = "  ") -> Iterator[str]:
    """Findings of a pass and of its pipes, as lines."""
    for text in checked.findings[:_SHOWN_FINDINGS]:
        yield f"{indent}! {text}"
    more = len(checked.findings) - _SHOWN_FINDINGS + checked.more_findings
    if more > 0:
        yield f"{indent}! and {more} more like these"


def bin_table(pipe: PipeStreams) -> Table:
    """A row for each bin of a decoded pipe, below headings; [] for one that is not."""
    rows: Table = [
        (
            str(bin_.slot),
            ",".join(map(str, bin_.tiles)) or _NONE,
            *map(str, bin_.cell),
            str(bin_.entries),
            _share(bin_.culled_entries),
            _NONE if bin_.primitives is None else str(bin_.primitives),
            _share(bin_.culled_primitives),
        )
        for bin_ in pipe.bins
    ]
    return [_HEADINGS, *rows] if rows else []


def _wanted(visibility: PassVisibility) -> str:
    if not visibility.entries_known:
        return f"{_UNKNOWN}, not all its commands were captured"
    if visibility.least_entries == visibility.most_entries:
        return str(visibility.least_entries)
    most = "any number" if visibility.most_entries is None else str(visibility.most_entries)
    return f"{visibility.least_entries} to {most}, as only the GPU knows"


def _culled_text(pipes: list[PipeStreams]) -> str:
    """The share of (draw, bin) and (primitive, bin) that is culled."""
    draws = sum((pipe.entries or 0) * pipe.bin_count for pipe in pipes)
    visible = sum(sum(pipe.entries_per_bin) for pipe in pipes)
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


def document(
    passes: Passes, visibilitys: Iterable[PassVisibility], with_entries: bool
) -> VscDocument:
    """``with_entries``: list the entries that are visible in a pipe; there may be very many."""
    shown = ("visible",) if with_entries else ()
    return {
        "gpu": passes.gpu,
        "generation": passes.generation or None,
        "passes": [pass_document(visibility, shown) for visibility in visibilitys],
    }


def pass_document(visibility: PassVisibility, large: tuple[str, ...] = ()) -> Facts:
    """The facts of a pass. ``large``: facts of its pipes that are asked for by name."""
    pipes = [facts_document(pipe, large) for pipe in visibility.pipes]
    return {**facts_document(visibility), "pipes": pipes}


HEX_SCHEMA = "cffpy.vsc-hex/1"


@model("stream_error", frozen=True, is_value=False)
class StreamError:
    """Something wrong in the stream."""

    message: str = stored("what is wrong")
    bit: int = stored("the bit of the stream where it begins")


_BIT = "its first bit in the stream"
_BINS = "slots of the bins that are covered"
_BITFIELD = "the same as the bits of the stream"


@model("primitives_run", frozen=True, is_value=False)
class PrimitivesRun:
    """Primitives in a row that cover the same bins."""

    bit: int = stored(_BIT)
    primitives: int = stored("how many there are")
    bins: list[int] = stored(_BINS)
    bitfield: str = stored(_BITFIELD)


@model("stream_place", frozen=True)
class StreamPlace:
    """A draw's part of the primitive stream."""

    offset: int = stored("where it begins", "dwords")
    size: int = stored("its size", "dwords")


@model("draws_run", frozen=True, is_value=False)
class DrawsRun:
    """Draws, or instances of a draw, in a row that cover the same bins."""

    bit: int = stored(_BIT)
    entry: int = stored("number of the first draw in the stream")
    entries: int = stored("how many draws there are")
    instance: int = stored("number of the first instance")
    instances: int | None = stored("how many instances there are")
    ends_draw: bool = stored("the last of them ends its draw")
    bins: list[int] = stored(_BINS)
    bitfield: str = stored(_BITFIELD)
    primitive_stream: StreamPlace | None = stored("its part of the primitive stream")


@model("bin_of_primitives", frozen=True, is_value=False)
class BinOfPrimitives:
    """A bin of a primitive stream."""

    slot: int = stored("slot in the pipe")
    primitives: int = stored("primitives that cover it")
    culled: float | None = stored("share of the primitives that do not, from 0 to 1")


@model("bin_of_draws", frozen=True, is_value=False)
class BinOfDraws:
    """A bin of a draw stream."""

    slot: int = stored("slot in the pipe")
    entries: int = stored("draws of the stream that cover it")
    culled: float | None = stored("share of the draws that do not, from 0 to 1")


_KIND = "the kind of the stream"
_BIN_COUNT = "bins of the pipe"
_SIZE = "size of the stream"
_RUNS = "what the stream says, in order"


@model("primitive_stream", frozen=True, is_value=False)
class PrimitiveStream:
    """A primitive stream: cffpy vsc --hex --json."""

    stream: str = stored(_KIND, words=("primitives",))
    bin_count: int = stored(_BIN_COUNT)
    size: int = stored(_SIZE, "bytes")
    runs: list[PrimitivesRun] = stored(_RUNS)
    primitives: int = stored("primitives of all runs")
    bins: list[BinOfPrimitives] = stored("the bins")
    errors: list[StreamError] = stored("what is wrong")


@model("draw_stream", frozen=True, is_value=False)
class DrawStream:
    """A draw stream: cffpy vsc --hex --draws --json."""

    stream: str = stored(_KIND, words=("draws",))
    bin_count: int = stored(_BIN_COUNT)
    size: int = stored(_SIZE, "bytes")
    runs: list[DrawsRun] = stored(_RUNS)
    entries: int = stored("draws of the stream")
    end_packet: bool = stored("it ends with the packet that ends a stream")
    primitive_stream_dwords: int = stored("size of the primitive stream", "dwords")
    bins: list[BinOfDraws] = stored("the bins")
    errors: list[StreamError] = stored("what is wrong")


def primitive_stream(
    data: bytes,
    bin_count: int,
    runs: Sequence[PrimitiveRun],
    problem: VisibilityStreamError | None,
) -> PrimitiveStream:
    """A primitive stream of ``bin_count`` bins. ``problem``: the error that ended decoding."""
    total = sum([run.primitives for run in runs])
    counts = enumerate(primitives_per_bin(runs, bin_count))
    return PrimitiveStream(
        "primitives",
        bin_count,
        len(data),
        [PrimitivesRun(run.offset, run.primitives, *_bins(run.bins, bin_count)) for run in runs],
        total,
        [BinOfPrimitives(slot, count, _culled(count, total)) for slot, count in counts],
        [] if problem is None else [StreamError(problem.reason, problem.bit_offset)],
    )


def draw_stream(data: bytes, pipe: PipeVisibility, runs: Sequence[InstanceRun]) -> DrawStream:
    """A draw stream, decoded as ``pipe``, with its ``runs`` of instances."""
    counts, total = enumerate(pipe.draws_per_bin), pipe.draw_count
    return DrawStream(
        "draws",
        pipe.bin_count,
        len(data),
        [_draws_run(run, pipe.bin_count) for run in runs],
        total,
        pipe.is_whole,
        pipe.primitive_stream_size // 4,
        [BinOfDraws(slot, count, _culled(count, total)) for slot, count in counts],
        [StreamError(item.message, item.bit_offset) for item in pipe.findings],
    )


def _draws_run(run: InstanceRun, bin_count: int) -> DrawsRun:
    place = run.place
    return DrawsRun(
        run.offset,
        run.draw,
        run.draws,
        run.first,
        run.instances,
        run.ends_draw,
        *_bins(run.bins, bin_count),
        None if place is None else StreamPlace(place.offset, place.size),
    )


def _bins(bins: int, bin_count: int) -> tuple[list[int], str]:
    return list(slots(bins, bin_count)), as_written(bins, bin_count)


def _culled(count: int, total: int) -> float | None:
    return 1 - count / total if total else None


#: Tiles that are drawn at most: as many as a grid of 128 x 128 has.
MAX_TILES = 16384

#: Pixels of the drawing.
_SIDE, _MARGIN, _HEAD, _LEGEND = 960, 20, 34, 240
_LEAST_WIDTH, _LEAST_HEIGHT = 760, 160
_ROW = 18
_TEXT_WIDTH = 7  # a digit's, about


class Heat(NamedTuple):
    """What is visible in each tile, by its number, and what the map shows of it."""

    draws: dict[int, int]
    primitives: dict[int, int]

    @property
    def by_primitives(self) -> bool:
        """Whether primitives are known wherever draws are."""
        return bool(self.primitives) and len(self.primitives) == len(self.draws)

    @property
    def values(self) -> dict[int, int]:
        """Primitives, or draws, by number of the tile."""
        return self.primitives if self.by_primitives else self.draws

    @property
    def label(self) -> str:
        """What ``values`` are."""
        return "primitives a tile" if self.by_primitives else "draws a tile"


def drawing(visibility: PassVisibility) -> Svg:
    """The heat map. Tiles of which nothing was decoded are left blank, with the reason as hint."""
    pass_ = visibility.pass_
    by_number = {pipe.pipe.number: pipe for pipe in visibility.pipes}
    tiles = [
        (tile, rectangle)
        for tile in pass_.tiles[:MAX_TILES]
        if (rectangle := tile.rectangle) is not None
    ]
    heat = _heat([tile for tile, _ in tiles], by_number)
    scale = ColourScale(0, max(1, *heat.values.values()) if heat.values else 1)

    width, height = _extent(visibility, [rectangle for _, rectangle in tiles])
    factor = _SIDE / max(width, height)
    legend_height = 100 + _ROW * len(visibility.pipes)
    inner = max(height * factor, legend_height, _LEAST_HEIGHT)
    left, top = _MARGIN, _MARGIN + _HEAD
    legend_left = 2 * _MARGIN + width * factor
    full_width = max(legend_left + _LEGEND + _MARGIN, _LEAST_WIDTH)
    svg = Svg(full_width, top + inner + _MARGIN, title(pass_))
    svg.text(left, _MARGIN + 6, f"{title(pass_)}: {heat.label}", 14, weight="bold")
    for tile, rectangle in tiles:
        pipe = None if tile.pipe is None else by_number.get(tile.pipe)
        hint = _hint(tile, rectangle, pipe, heat)
        box = (
            left + rectangle.left * factor,
            top + rectangle.top * factor,
            rectangle.size.width * factor,
            rectangle.size.height * factor,
        )
        _tile(svg, box, scale, heat.values.get(tile.number), hint)
    _outline_pipes(svg, visibility, left, top, factor)
    if pass_.framebuffer is not None:
        size = pass_.framebuffer
        svg.rectangle(left, top, size.width * factor, size.height * factor, stroke=INK)
    _legend(svg, visibility, legend_left, top, scale if heat.values else None, heat.label)
    return svg


def _tile(
    svg: Svg,
    box: tuple[float, float, float, float],
    scale: ColourScale,
    value: int | None,
    hint: str,
) -> None:
    """A tile in its colour, with its value where there is room. ``box``: x, y, width, height."""
    x, y, width, height = box
    fill = NEUTRAL if value is None else scale.colour(value)
    svg.rectangle(x, y, width, height, fill, FAINT, 0.75, hint=hint)
    if value is None or len(str(value)) * _TEXT_WIDTH >= width or height <= _ROW:
        return
    svg.text(x + width / 2, y + height / 2 + 4, str(value), 11, scale.ink(value), "middle")


def _heat(tiles: list[Tile], pipes: dict[int, PipeStreams]) -> Heat:
    """What is visible in the tiles whose bins were decoded whole."""
    heat = Heat({}, {})
    for tile in tiles:
        pipe = None if tile.pipe is None else pipes.get(tile.pipe)
        slots = tile_slots(tile)
        if pipe is None or pipe.state not in ("decoded", "overflowed") or not slots:
            continue
        if max(slots) >= len(pipe.entries_per_bin):
            continue
        if len(slots) == 1:
            heat.draws[tile.number] = pipe.entries_per_bin[slots[0]]
            if pipe.primitives_per_bin:
                heat.primitives[tile.number] = pipe.primitives_per_bin[slots[0]]
        else:  # merged bins: a draw that is visible in several of them is executed once
            bits = sum(slot_bit(slot) for slot in slots)
            heat.draws[tile.number] = sum(bool(entry.bitfield & bits) for entry in pipe.visible)
    return heat


def heat_of(visibility: PassVisibility) -> Heat:
    """What is visible in the tiles of a pass."""
    return _heat(visibility.pass_.tiles, {pipe.pipe.number: pipe for pipe in visibility.pipes})


def _extent(visibility: PassVisibility, rectangles: list[Rectangle]) -> tuple[int, int]:
    """Framebuffer and tiles, at least a pixel."""
    size = visibility.pass_.framebuffer
    width = max([1 if size is None else size.width, *(rectangle.right for rectangle in rectangles)])
    height = max(
        [1 if size is None else size.height, *(rectangle.bottom for rectangle in rectangles)]
    )
    return max(1, width), max(1, height)


def _outline_pipes(
    svg: Svg, visibility: PassVisibility, left: float, top: float, factor: float
) -> None:
    size, grid = visibility.pass_.bin_size, visibility.pass_.grid
    if size is None:
        return
    for position, streams in enumerate(visibility.pipes):
        pipe = streams.pipe
        wide = pipe.width if grid is None else min(pipe.width, grid.width - pipe.x)
        high = pipe.height if grid is None else min(pipe.height, grid.height - pipe.y)
        svg.rectangle(
            left + pipe.x * size.width * factor + 2,
            top + pipe.y * size.height * factor + 2,
            wide * size.width * factor - 4,
            high * size.height * factor - 4,
            stroke=pipe_colour(position),
            stroke_width=2.5,
        )
        svg.pipe_label(
            left + pipe.x * size.width * factor,
            top + pipe.y * size.height * factor,
            pipe.number,
            pipe_colour(position),
        )


def _hint(tile: Tile, rectangle: Rectangle, pipe: PipeStreams | None, heat: Heat) -> str:
    texts = [f"tile {tile.number}, {rectangle}"]
    if pipe is None:
        return f"{texts[0]}\nin no VSC pipe"
    slots = "+".join(map(str, tile_slots(tile))) or "unknown"
    texts.append(f"VSC pipe {pipe.pipe.number}, slot {slots}: {pipe.state}")
    if tile.number in heat.draws:
        texts.append(f"{heat.draws[tile.number]} of {pipe.entries} draws")
    if tile.number in heat.primitives:
        texts.append(f"{heat.primitives[tile.number]} primitives")
    if pipe.fits is False:
        texts.append("the streams are not of this pass's draws")
    if tile.visibility_override:
        texts.append("streams are ignored: every draw is executed")
    return "\n".join(texts)


def _legend(
    svg: Svg, visibility: PassVisibility, x: float, y: float, scale: ColourScale | None, label: str
) -> None:
    if scale is None:
        decoded = sum(pipe.state in ("decoded", "overflowed") for pipe in visibility.pipes)
        reason = "the bins of tiles are unknown" if decoded else "no stream was decoded"
        svg.text(x, y + 12, reason)
        y += 24
    else:
        scale.legend(svg, x, y, _LEGEND - 20, label)
        y += 54
    svg.text(x, y + 12, f"framebuffer {size_text(visibility.pass_)}")
    y += 24
    for position, streams in enumerate(visibility.pipes):
        pipe = streams.pipe
        svg.rectangle(x, y + 2, 24, 12, stroke=pipe_colour(position), stroke_width=2.5)
        svg.text(x + 32, y + 12, f"VSC pipe {pipe.number}: {streams.state}", 11)
        y += _ROW
