# SPDX-License-Identifier: MIT
"""Compares passes recorded by the drivers with those that cffpy finds, field by field.

Each exception is a rule with its reason, for all captures: no capture has a special rule. Facts:
"ground-truth.json" in the reference material's passes-and-tiles.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.frame.geometry import Rectangle
from cffpy.frame.passes import Pass, PassRun

Outcome = Literal["matched", "not in the stream", "different"]

#: What a driver recorded of one pass: name -> value, as text.
Line = dict[str, str]

#: Loads and stores round a render area outwards to such blocks.
_BLOCK_WIDTH, _BLOCK_HEIGHT = 16, 4

#: gallium's masks of buffers.
_DEPTH, _STENCIL, _FIRST_COLOUR, _UNNAMED = 1, 2, 4, 1 << 16


@dataclass(frozen=True)
class Comparison:
    """One field of one pass. ``rule``: why the values need not be equal."""

    index: int
    field: str
    outcome: Outcome
    ours: str
    theirs: str
    rule: str = ""

    def __str__(self) -> str:
        rule = f"  ({self.rule})" if self.rule else ""
        ours, theirs = f"ours {self.ours}", f"driver {self.theirs}"
        return f"pass {self.index:3} {self.field:9} {self.outcome:17} {ours:22} {theirs}{rule}"


def compare_capture(entry: dict[str, Any], passes: list[Pass]) -> list[Comparison]:
    """All fields of all passes of a capture; ``entry``: its part of the ground truth."""
    found = [one for one in passes if one.kind == "render"]
    is_turnip = "turnip" in entry["made_with"]
    lines = expected_lines(entry, is_turnip, len(found))
    if is_turnip and len(lines) < len(found):
        return _compare_executions(lines, found)
    if len(lines) != len(found):
        return [Comparison(-1, "passes", "different", str(len(found)), str(len(lines)))]
    return [
        comparison
        for line, one in zip(lines, found, strict=True)
        for comparison in compare_pass(line, one, is_turnip)
    ]


def lines_of_passes(entry: dict[str, Any], passes: list[Pass]) -> list[tuple[Line, Pass]]:
    """Each render pass with what the driver recorded of it."""
    found = [one for one in passes if one.kind == "render"]
    is_turnip = "turnip" in entry["made_with"]
    lines = expected_lines(entry, is_turnip, len(found))
    if not is_turnip or len(lines) >= len(found):
        return list(zip(lines, found, strict=True))
    return [
        (min(lines, key=lambda line: _differences(compare_pass(line, one, True))), one)
        for one in found
    ]


def expected_lines(entry: dict[str, Any], is_turnip: bool, found: int) -> list[Line]:
    """The lines of passes, of the last submit only where the capture holds no other.

    gallium's ``submit`` line follows the batches that it carries. turnip's passes are written when
    they are recorded: those of the last submit are the last ones.
    """
    submits: list[list[Line]] = [[]]
    for text in entry["driver"]:
        line = dict(part.split("=", 1) for part in text.split() if "=" in part)
        if "fb" not in line:
            submits.append([])
        elif line["mode"] != "nondraw":
            submits[-1].append(line)
    lines = [line for submit in submits for line in submit]
    if not entry["last_submit_only"]:
        return lines
    if is_turnip:
        return lines[max(0, len(lines) - found) :]
    return next((submit for submit in reversed(submits) if submit), [])


def _compare_executions(lines: list[Line], found: list[Pass]) -> list[Comparison]:
    """turnip records a pass once and may execute it often: each is like one that was recorded."""
    compared: list[Comparison] = []
    used: set[int] = set()
    for one in found:
        of_lines = [compare_pass(line, one, is_turnip=True) for line in lines]
        best = min(
            range(len(lines)), key=lambda number: _differences(of_lines[number]), default=None
        )
        if best is None:
            return [Comparison(-1, "passes", "different", str(len(found)), "0")]
        used.update(n for n, line in enumerate(lines) if line == lines[best])
        compared += of_lines[best]
    for number in set(range(len(lines))) - used:
        compared.append(
            Comparison(-1, "recorded", "different", "never executed", str(lines[number]))
        )
    return compared


def _differences(comparisons: list[Comparison]) -> int:
    return sum(comparison.outcome == "different" for comparison in comparisons)


def compare_pass(line: Line, found: Pass, is_turnip: bool) -> list[Comparison]:
    """All fields of one pass."""
    return [
        Comparison(found.index, field, outcome, ours, theirs, rule)
        for field, outcome, ours, theirs, rule in _fields(line, found, is_turnip)
    ]


#: Field, outcome, ours, the driver's, rule.
_Row = tuple[str, Outcome, str, str, str]


def _fields(line: Line, found: Pass, is_turnip: bool) -> Iterator[_Row]:
    yield _framebuffer(line, found, is_turnip)
    yield _draws(line, found)
    yield _equal("mode", found.mode, line["mode"])
    if line["mode"] == "gmem":
        yield _equal("tiles", found.grid, line["tiles"])
        count = prod(map(int, line["tiles"].split("x")))
        bins = sum(len(tile.merged_slots) or 1 for tile in found.tiles)
        merged = f", {len(found.tiles)} with merged bins" if bins > len(found.tiles) else ""
        rule = "a tile may cover several bins" if merged else ""
        outcome: Outcome = "matched" if bins == count else "different"
        yield "tile count", outcome, f"{bins}{merged}", str(count), rule
        yield _equal("bin size", found.bin_size, line.get("tile") or line["tile0"])
        yield _pipes(line, found)
        if "binning" in line:
            yield _equal("binning", int(found.hardware_binning), line["binning"])
        if "concurrent" in line:
            ours = found.concurrent in ("yes", "decided by the GPU")
            yield _equal("concurrent", int(ours), line["concurrent"])
    if "area" in line:
        yield _area(line, found)
        layers = line["fb"].split("x")[2]
        if found.layers is None:
            yield "layers", "not in the stream", "None", layers, "nothing is drawn or moved"
        else:
            yield _equal("layers", found.layers, layers)
    if "samples" in line:
        yield _samples(line, found)
    if "cleared" in line:
        for field, kind in (("cleared", "clear"), ("restore", "load"), ("resolve", "store")):
            yield _mask(field, kind, line, found)


def _equal(field: str, ours: object, theirs: str) -> _Row:
    return field, "matched" if str(ours) == theirs else "different", str(ours), theirs, ""


def _framebuffer(line: Line, found: Pass, is_turnip: bool) -> _Row:
    theirs = "x".join(line["fb"].split("x")[:2])
    ours = str(found.framebuffer)
    if theirs == "0x0":
        return "fb", "not in the stream", ours, theirs, "there is no framebuffer"
    if found.framebuffer is None and is_turnip and not found.hardware_binning:
        width, height = map(int, theirs.split("x"))
        limit = found.framebuffer_limit
        fits = limit is not None and limit.width >= width and limit.height >= height
        rule = "turnip clips no tile without binning"
        return "fb", "not in the stream" if fits else "different", f"<= {limit}", theirs, rule
    return _equal("fb", ours, theirs)


def _draws(line: Line, found: Pass) -> _Row:
    ours, theirs = len(found.draws), int(line["draws"])
    if ours == theirs:
        return _equal("draws", ours, line["draws"])
    if "batch" in line:
        clears = _rectangle_clears(found)
        if ours + clears == theirs:
            rule = f"gallium counts its blitter's {clears} clears"
            return "draws", "matched", str(ours), line["draws"], rule
        patches = sum("PATCHES" in (draw.primitive or "") for draw in found.draws)
        if ours - patches == theirs:
            rule = f"gallium does not count {patches} draws of patches"
            return "draws", "matched", str(ours), line["draws"], rule
    return _equal("draws", ours, line["draws"])


def _rectangle_clears(found: Pass) -> int:
    run: PassRun | None = found.direct or (found.tiles[0] if found.tiles else None)
    if run is None:
        return 0
    return sum(
        operation.kind == "clear" and operation.how == "rectangle draw"
        for operation in run.operations
    )


def _pipes(line: Line, found: Pass) -> _Row:
    theirs = prod(map(int, line["pipes"].split("x")))
    if not found.pipes and not found.hardware_binning:
        return "pipes", "not in the stream", "0", str(theirs), "no binning run"
    return _equal("pipes", len(found.pipes), str(theirs))


def _area(line: Line, found: Pass) -> _Row:
    theirs = line["area"]
    if found.render_area is None and found.mode != "gmem":
        rule = "nothing is cleared or resolved by CP_BLIT"
        return "area", "not in the stream", "None", theirs, rule
    if found.render_area is None:
        hows = {operation.how for run in found.runs for operation in run.operations}
        rule = "; ".join(text for text in found.unknown if text.startswith("render area:"))
        if "BLIT event" not in hows:
            rule = "no load, clear or store has a scissor"
        return "area", "not in the stream" if rule else "different", "None", theirs, rule
    left, top, width, height = map(int, re.findall(r"\d+", theirs))
    exact = Rectangle(left, top, left + width, top + height)
    if found.render_area_rounded and found.render_area == _rounded(exact) != exact:
        return "area", "matched", str(found.render_area), theirs, "rounded to blocks of 16x4"
    return _equal("area", found.render_area, str(exact))


def _rounded(area: Rectangle) -> Rectangle:
    return area.rounded(_BLOCK_WIDTH, _BLOCK_HEIGHT)


def _samples(line: Line, found: Pass) -> _Row:
    if line["samples"] == "0" or (found.samples is None and not found.actions):
        return "samples", "not in the stream", str(found.samples), line["samples"], "nothing drawn"
    return _equal("samples", found.samples, line["samples"])


def _mask(field: str, kind: str, line: Line, found: Pass) -> _Row:
    theirs = int(line[field], 16)
    if found.mode != "gmem" and kind != "clear":
        return field, "not in the stream", "-", line[field], "bookkeeping in sysmem"
    run = found.direct or (found.tiles[0] if found.tiles else None)
    ours = 0
    for operation in () if run is None else run.operations:
        if operation.kind != kind or not operation.action.execution.is_possible:
            continue
        if operation.attachment is not None:
            for name in operation.attachment.split("+"):
                ours |= _bit(name)
        elif kind != "clear":
            # clears may be of what is not an attachment, such as LRZ's buffers
            ours |= _UNNAMED
    packed: Callable[[int], int] = lambda mask: (mask & ~3) | bool(mask & 3)  # noqa: E731
    outcome: Outcome = "matched" if packed(ours) == packed(theirs) else "different"
    rule = "" if ours == theirs else "depth and stencil are one buffer"
    return field, outcome, f"{ours:#x}", line[field], rule


def _bit(name: str) -> int:
    if name in ("depth", "stencil"):
        return _DEPTH if name == "depth" else _STENCIL
    named = re.fullmatch(r"color (\d)", name)
    return _FIRST_COLOUR << int(named[1]) if named else _UNNAMED


def same_draws_everywhere(found: Pass) -> bool:
    """Whether each tile executes the program's draws of the pass, in their order."""
    return all(
        [draw.number for draw in tile.draws if is_program_draw(draw)]
        == list(range(len(found.draws)))
        for tile in found.tiles
    )


def loads_come_from_where_stores_go(found: Pass) -> bool:
    """Whether what is loaded and stored, layer by layer, lies where the pass says."""
    places: dict[str, set[int | None]] = {}
    loads = []
    for operation in (operation for run in found.runs for operation in run.operations):
        if not operation.action.execution.is_possible or operation.attachment is None:
            continue
        if operation.kind == "store" and not operation.resolves:
            places.setdefault(operation.attachment, set()).add(operation.address)
        elif operation.kind == "load":
            loads.append(operation)
    return all(
        operation.address is not None
        and operation.address in places.get(operation.attachment or "", {operation.address})
        for operation in loads
    )
