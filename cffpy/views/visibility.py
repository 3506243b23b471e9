# SPDX-License-Identifier: MIT
"""The visibility streams of passes: as lines and tables of text, as a document for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from cffpy.analysis.visibility import undecoded_format
from cffpy.document_types import Facts, Of, OneCapture
from cffpy.frame.faces import facts_document
from cffpy.views.passes import title
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.visibility import PassVisibility, PipeStreams, StreamPart
    from cffpy.frame.passes import Passes

SCHEMA = "cffpy.vsc/1"


class VscDocument(OneCapture):
    """Visibility streams: cffpy vsc --json."""

    passes: Annotated[Iterable[Facts], "the passes", Of("cffpy.analysis.visibility:PassVisibility")]


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
    one, streams = found.pass_, found.pass_.visibility_streams
    yield Styled(f"{title(one)}, submit {one.submit}")
    if one.waits:
        from cffpy.views.passes import wait_lines

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


def finding_lines(found: PassVisibility | PipeStreams, indent: str = "  ") -> Iterator[str]:
    """What is wrong."""
    for text in found.findings[:_SHOWN_FINDINGS]:
        yield f"{indent}! {text}"
    more = len(found.findings) - _SHOWN_FINDINGS + found.more_findings
    if more > 0:
        yield f"{indent}! and {more} more like these"


def bin_table(pipe: PipeStreams) -> Table:
    """A row for each bin of a decoded pipe, below headings; [] for one that is not."""
    rows: Table = [
        (
            str(one.slot),
            ",".join(map(str, one.tiles)) or _NONE,
            *map(str, one.cell),
            str(one.entries),
            _share(one.culled_entries),
            _NONE if one.primitives is None else str(one.primitives),
            _share(one.culled_primitives),
        )
        for one in pipe.bins
    ]
    return [_HEADINGS, *rows] if rows else []


def _wanted(found: PassVisibility) -> str:
    if not found.entries_known:
        return f"{_UNKNOWN}, not all its commands were captured"
    if found.least_entries == found.most_entries:
        return str(found.least_entries)
    most = "any number" if found.most_entries is None else str(found.most_entries)
    return f"{found.least_entries} to {most}, as only the GPU knows"


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


def document(passes: Passes, found: Iterable[PassVisibility], with_entries: bool) -> VscDocument:
    """``with_entries``: list the entries that are visible in a pipe; there may be very many."""
    shown = ("visible",) if with_entries else ()
    return {
        "gpu": passes.gpu,
        "generation": passes.generation or None,
        "passes": [pass_document(one, shown) for one in found],
    }


def pass_document(found: PassVisibility, large: tuple[str, ...] = ()) -> Facts:
    """The facts of a pass. ``large``: facts of its pipes that are asked for by name."""
    pipes = [facts_document(pipe, large) for pipe in found.pipes]
    return {**facts_document(found), "pipes": pipes}
