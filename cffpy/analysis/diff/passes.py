# SPDX-License-Identifier: MIT
"""A pair of passes: how they differ as wholes, in layout, attachments, loads, clears and stores.

Clear values are text in the terms of the attachment's format, with the raw dwords after.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import Category
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.frame.facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.passes import Operation, Pass, PassRun, Tile
    from cffpy.frame.places import PacketLocation

#: What the program asks for comes before what the driver makes of it.
_STRUCTURE = Category("pass", 1)
_TARGETS = Category("targets", 2)
_LAYOUT = Category("targets", 3)
_MODE = Category("mode", 4)
_OPERATIONS = Category("load, clear and store", 5)
_MEANS = Category("load, clear and store", 6)
_TARGET_SAMPLES = Category("targets", 30, derived=True)
_TILES = Category("tiles", 35, derived=True)
_LRZ = Category("lrz", 80, derived=True)

_NOTHING = "nothing"
_UNKNOWN = "an unknown attachment"

#: Facts of a pass, of its attachments and of its LRZ that are compared, by their names. The others
#: follow from these, are compared as registers of draws, or are addresses.
_SIZES = {"framebuffer": _STRUCTURE, "render_area": _STRUCTURE}
_OF_DRAWS = {"samples": _STRUCTURE, "views": _STRUCTURE, "layers": _STRUCTURE}
_BINS = {"bin_size": _TILES, "grid": _TILES, "tile_count": _TILES}
_OF_ATTACHMENTS = {
    "format": _TARGETS,
    "swap": _TARGETS,
    "srgb": _TARGETS,
    "samples": _TARGET_SAMPLES,
    "tiling": _LAYOUT,
    "ubwc": _LAYOUT,
}
_OF_LRZ = {"cleared": _LRZ, "used": _LRZ, "disabled": _LRZ}

#: What differences of these are called.
_CALLED = {
    "grid": "bins",
    "tile_count": "tiles",
    "srgb": "sRGB",
    "ubwc": "UBWC",
    "cleared": "cleared before",
    "disabled": "switched off",
}


def _differing(
    one: object, other: object, compared: Mapping[str, Category]
) -> Iterator[tuple[str, object, object, Category]]:
    """The declared facts that differ: what each is called, both values, what it is about."""
    declared = {fact.name: fact for fact in facts_of(type(one))}
    for name, category in compared.items():
        mine, theirs = (declared[name].get(of) for of in (one, other))
        if mine != theirs:
            yield _CALLED.get(name, name.replace("_", " ")), mine, theirs, category


def is_laid_out_alike(one: Pass, other: Pass) -> bool:
    """Whether both passes are cut into the same tiles."""
    return (
        one.mode == other.mode
        and one.hardware_binning == other.hardware_binning
        and one.bin_size == other.bin_size
        and one.grid == other.grid
        and (one.framebuffer == other.framebuffer or None in (one.framebuffer, other.framebuffer))
        and _first_tile(one) == _first_tile(other)
    )


def _first(one: Pass) -> Tile | None:
    return one.tiles[0] if one.tiles else None


def _first_tile(one: Pass) -> Rectangle | None:
    return one.tiles[0].window_scissor if one.tiles else None


def ends_in_binning(one: Pass) -> bool:
    """Whether the commands end within the binning run, so that no tile is known."""
    return one.binning is not None and one.direct is None and not one.tiles


def structure(one: Pass, other: Pass) -> Iterator[Difference]:
    """Mode, sizes, samples, attachments, loads, clears and stores, LRZ."""
    if ends_in_binning(one) != ends_in_binning(other):
        yield Difference("tiles", str(len(one.tiles)), str(len(other.tiles)), _TILES)
        return
    if one.mode != other.mode:
        yield Difference("mode", mode_text(one), mode_text(other), _MODE)
    elif one.hardware_binning != other.hardware_binning:
        names = ("no", "hardware")
        texts = names[one.hardware_binning], names[other.hardware_binning]
        yield Difference("binning", *texts, _MODE)
    drawn = bool(one.draws and other.draws)
    whole = {**_SIZES, **_OF_DRAWS} if drawn else _SIZES
    for what, mine, theirs, category in _differing(one, other, whole):
        if mine is not None and theirs is not None:
            yield Difference(what, str(mine), str(theirs), category)
    if one.mode == other.mode == "gmem":
        for what, mine, theirs, category in _differing(one, other, _BINS):
            yield Difference(what, str(mine), str(theirs), category)
        good, bad = _first_tile(one), _first_tile(other)
        if good != bad:
            yield Difference("first tile", str(good), str(bad), _TILES)
    if drawn:
        yield from _binned(one, other)
        yield from _attachments(one, other)
    runs = one.direct or _first(one), other.direct or _first(other)
    yield from operation_differences((one, runs[0]), (other, runs[1]), by_name=drawn)
    yield from _lrz(one, other)


def run_structure(one: Pass, other: Pass) -> Iterator[Difference]:
    """Loads, clears and stores of two passes of which one run is compared."""
    runs = [of.direct or _first(of) or of.binning for of in (one, other)]
    is_drawn = bool(one.draws and other.draws)
    yield from operation_differences((one, runs[0]), (other, runs[1]), by_name=is_drawn)


def _binned(one: Pass, other: Pass) -> Iterator[Difference]:
    """How many draws the binning runs have, where the tiles have the same number.

    Where one has fewer, it is not known which: the binning run may have packets of its own.
    """
    if one.binning is None or other.binning is None or not one.tiles or not other.tiles:
        return
    counts = [sum(map(is_program_draw, of.binning.draws)) for of in (one, other) if of.binning]
    if counts[0] != counts[1] and len(one.draws) == len(other.draws):
        yield Difference("draws of the binning run", str(counts[0]), str(counts[1]), _MODE)


def mode_text(one: Pass) -> str:
    """``sysmem``, ``gmem 3x1``."""
    grid = f" {one.grid}" if one.grid else ""
    return f"{one.mode or 'unknown'}{grid}"


def _attachments(one: Pass, other: Pass) -> Iterator[Difference]:
    good = {target.name: target for target in one.attachments}
    bad = {target.name: target for target in other.attachments}
    for name in sorted(good.keys() | bad.keys()):
        mine, theirs = good.get(name), bad.get(name)
        if mine is None or theirs is None:
            texts = ("there", "missing") if theirs is None else ("missing", "there")
            yield Difference(name, *texts, _TARGETS)
            continue
        same_mode = one.mode == other.mode
        for what, left, right, category in _differing(mine, theirs, _OF_ATTACHMENTS):
            known = left is not None and right is not None
            if known and (same_mode or category is not _LAYOUT):
                yield Difference(f"{name} {what}", _text(left), _text(right), category)


def operation_differences(
    mine_of: tuple[Pass, PassRun | None], theirs_of: tuple[Pass, PassRun | None], by_name: bool
) -> Iterator[Difference]:
    """What is done to each attachment before, amid and after the draws, in a run of two passes.

    Without draws there is nothing that names attachments: all are compared as one.
    """
    passes = mine_of[0], theirs_of[0]
    moves = _moves(mine_of[1], theirs_of[1]) if by_name else []
    yield from dict.fromkeys(_move_difference(*passes, move) for move in moves)
    names = {id(operation): move.name for move in moves for operation in (move.good, move.bad)}
    good, bad = _by_attachment(mine_of[1], names), _by_attachment(theirs_of[1], names)
    if not by_name:
        good, bad = (
            {"all attachments": [operation for of in found.values() for operation in of]}
            for found in (good, bad)
        )
    for name in sorted(good.keys() | bad.keys()):
        yield from _of_attachment(name, passes, good.get(name, []), bad.get(name, []))


def _of_attachment(
    name: str, passes: tuple[Pass, Pass], mine: list[Operation], theirs: list[Operation]
) -> Iterator[Difference]:
    """What is done to one attachment."""
    same_mode = passes[0].mode == passes[1].mode
    for kinds, what in ((("load", "clear"), "at the start"), (("store",), "at the end")):
        if not same_mode and what == "at the end":
            continue  # in sysmem nothing is stored
        left, right = _kinds(mine, kinds), _kinds(theirs, kinds)
        if not same_mode:
            left, right = left.replace("load", _NOTHING), right.replace("load", _NOTHING)
        if left != right:
            places = _place(mine, kinds), _place(theirs, kinds)
            yield Difference(f"{name} {what}", left, right, _OPERATIONS, *places)
    if same_mode:
        yield from _clear_values(name, passes, mine, theirs)
        yield from _means(name, mine, theirs)


def _means(name: str, mine: list[Operation], theirs: list[Operation]) -> Iterator[Difference]:
    """The same is done to an attachment, but by other packets."""
    for kind, done in (("load", "loaded"), ("clear", "cleared"), ("store", "stored")):
        good, bad = ([one for one in of if one.kind == kind] for of in (mine, theirs))
        left, right = (", ".join(dict.fromkeys(one.how for one in of)) for of in (good, bad))
        if good and bad and left != right:
            places = good[0].action.place, bad[0].action.place
            yield Difference(f"{name} is {done} by", left, right, _MEANS, *places)


def by_attachment(one: Pass) -> dict[str, list[Operation]]:
    """Loads, clears and stores of a pass, in its first tile, by the name of the attachment."""
    return _by_attachment(one.direct or _first(one))


def _by_attachment(
    run: PassRun | None, names: Mapping[int, str] | None = None
) -> dict[str, list[Operation]]:
    """``names``: of operations by their ids, instead of what they say."""
    found: dict[str, list[Operation]] = {}
    for operation in _possible(run):
        attachment = operation.attachment or (names or {}).get(id(operation), _UNKNOWN)
        for name in attachment.split("+"):
            found.setdefault(name, []).append(operation)
    return found


def _possible(run: PassRun | None) -> list[Operation]:
    return [] if run is None else run.possible_operations


class _Move(NamedTuple):
    """An operation of an attachment that only one capture names, in both captures.

    An attachment lies elsewhere than where it is loaded, cleared or stored in one of them.
    """

    name: str
    good: Operation
    bad: Operation


def _moves(mine: PassRun | None, theirs: PassRun | None) -> list[_Move]:
    good, bad = _possible(mine), _possible(theirs)
    forth = [_Move(one.attachment or "", one, other) for one, other in _only_named_in(good, bad)]
    back = [_Move(one.attachment or "", other, one) for one, other in _only_named_in(bad, good)]
    return [*forth, *back]


def _only_named_in(
    named: Sequence[Operation], others: Sequence[Operation]
) -> Iterator[tuple[Operation, Operation]]:
    """Operations of attachments, and those of the other capture that do the same to an unknown one
    instead.
    """
    counts = Counter((one.attachment, one.kind, one.how) for one in others)
    unknown = [one for one in others if one.attachment is None]
    for operation in named:
        key = operation.attachment, operation.kind, operation.how
        if operation.attachment is None or counts[key]:
            counts[key] -= 1
            continue
        same = [one for one in unknown if (one.kind, one.how) == key[1:]]
        if same:
            other = max(same, key=lambda one: _places_in_common(operation, one))
            unknown.remove(other)
            yield operation, other


def _places_in_common(one: Operation, other: Operation) -> int:
    return (one.address == other.address) + (one.gmem == other.gmem)


#: What a moved operation is called: where in memory, where in GMEM.
_PLACES = {
    "load": ("is loaded from", "is loaded to"),
    "clear": ("is cleared at", "is cleared at"),
    "store": ("is stored to", "is stored from"),
}


def _move_difference(good: Pass, bad: Pass, move: _Move) -> Difference:
    """Where an operation has another place, else where the attachment has."""
    places = move.good.action.place, move.bad.action.place
    in_memory, in_gmem = _PLACES.get(move.good.kind, ("lies at", "lies at"))
    if move.good.address != move.bad.address:
        texts = _place_text(move.good.address), _place_text(move.bad.address)
        return Difference(f"{move.name} {in_memory}", *texts, _TARGETS, *places)
    if move.good.gmem != move.bad.gmem:
        texts = _gmem_text(move.good.gmem), _gmem_text(move.bad.gmem)
        return Difference(f"{move.name} {in_gmem}", *texts, _TARGETS, *places)
    return Difference(f"{move.name} lies at", *_places_of(move.name, good, bad), _TARGETS)


def _places_of(name: str, good: Pass, bad: Pass) -> tuple[str, str]:
    """Where an attachment lies in both passes: in GMEM if that differs."""
    mine, theirs = (
        next((target for target in one.attachments if target.name in name.split("+")), None)
        for one in (good, bad)
    )
    if mine is not None and theirs is not None and mine.gmem != theirs.gmem:
        return _gmem_text(mine.gmem), _gmem_text(theirs.gmem)
    return _place_text(mine.address if mine else None), _place_text(
        theirs.address if theirs else None
    )


def _place_text(address: int | None) -> str:
    return "an unknown address" if address is None else f"{address:#x}"


def _gmem_text(offset: int | None) -> str:
    return "an unknown offset in GMEM" if offset is None else f"GMEM {offset:#x}"


def _kinds(operations: list[Operation], kinds: tuple[str, ...]) -> str:
    found = [
        "resolve" if operation.resolves else operation.kind
        for operation in operations
        if operation.kind in kinds
    ]
    return ", ".join(found) or _NOTHING


def _place(operations: list[Operation], kinds: tuple[str, ...]) -> PacketLocation | None:
    return next((o.action.place for o in operations if o.kind in kinds), None)


def _clear_values(
    name: str, passes: tuple[Pass, Pass], mine: list[Operation], theirs: list[Operation]
) -> Iterator[Difference]:
    good, bad = (
        [(one, value) for one in of if (value := clear_value(name, one, found)) is not None]
        for of, found in zip((mine, theirs), passes, strict=True)
    )
    for (left, one), (right, other) in zip(good, bad, strict=False):
        if one != other and left.how == right.how:
            texts = (
                clear_text(name, one, left, passes[0]),
                clear_text(name, other, right, passes[1]),
            )
            if texts[0] != texts[1]:
                places = left.action.place, right.action.place
                yield Difference(f"clear value of {name}", *texts, _OPERATIONS, *places)


def _lrz(one: Pass, other: Pass) -> Iterator[Difference]:
    if one.lrz is None or other.lrz is None or one.mode != other.mode:
        return
    for what, good, bad, category in _differing(one.lrz, other.lrz, _OF_LRZ):
        yield Difference(f"LRZ {what}", _text(good), _text(bad), category)
    yield from _lrz_off(one, other)


def _lrz_off(one: Pass, other: Pass) -> Iterator[Difference]:
    """Which draws have LRZ off, or how many where a missing draw shifts their numbers."""
    ranges = [() if found.lrz is None else found.lrz.off_draws for found in (one, other)]
    if len(one.draws) == len(other.draws):
        name, (good, bad) = (
            "LRZ off in draws",
            (", ".join(one.numbers_text for one in found) for found in ranges),
        )
    else:
        name = "draws with LRZ off"
        good, bad = (str(sum(r.last - r.first + 1 for r in found)) for found in ranges)
    if good != bad:
        yield Difference(name, good or "none", bad or "none", _LRZ)


def _text(value: object) -> str:
    """Truth is spelt as in registers."""
    return str(value).upper() if isinstance(value, bool) else str(value)


#: Formats whose components are as wide as their names say, lowest first.
_COMPONENTS = re.compile(r"[A-Z]+\d?_([RGBA0-9_]+)_(UNORM|SNORM|UINT|SINT|FLOAT)")


def clear_value(name: str, operation: Operation, of: Pass) -> tuple[int, ...] | None:
    """The dwords that an attachment is cleared to; None where it is not.

    One rectangle may clear several attachments; one word may hold depth and stencil.
    """
    if name == "stencil" and not _has_stencil(operation, of):
        return None
    value = {"depth": operation.depth_value, "stencil": operation.stencil_value}.get(name)
    if value is not None:
        return (value,)
    if (operation.attachment or "").startswith("color") and not name.startswith("color"):
        return None
    if not operation.clear_value:
        return None
    if name in ("depth", "stencil") and _format(name, operation, of).endswith("24_8"):
        packed = operation.clear_value[0]
        return (packed >> 24,) if name == "stencil" else (packed & 0xFFFFFF,)
    return operation.clear_value


def clear_text(name: str, value: Sequence[int], operation: Operation, of: Pass) -> str:
    """``1.0 (00ffffff)``: the value as the format means it, and its dwords."""
    words = list(value)
    while len(words) > 1 and not words[-1]:
        words.pop()
    raw = " ".join(f"{word:08x}" for word in words)
    meant = _meant(name, value, operation, of)
    return raw if meant is None else f"{meant} ({raw})"


def _meant(name: str, value: Sequence[int], operation: Operation, of: Pass) -> str | None:
    form = _format(name, operation, of)
    if name == "stencil":
        return str(value[0] & 0xFF)
    if name == "depth":
        return _depth(value[0], form, operation)
    if operation.how == "rectangle draw":
        numbers = [_float(word) for word in value]
        is_usual = all(number == 0 or 1e-6 < abs(number) < 1e9 for number in numbers)
        return " ".join(map(_number, numbers)) if is_usual else None
    widths = _widths(form)
    if widths is None or not form.endswith("UNORM"):
        return None
    if operation.how == "BLIT event":  # as the format packs it
        packed = sum(word << 32 * number for number, word in enumerate(value))
    else:  # a component a dword
        packed, at = 0, 0
        for word, width in zip(value, widths, strict=False):
            packed |= (word & (1 << width) - 1) << at
            at += width
    components = []
    for width in widths:
        most = (1 << width) - 1
        components.append(_number((packed & most) / most))
        packed >>= width
    return " ".join(components)


def _depth(word: int, form: str, operation: Operation) -> str | None:
    if form.endswith("32") or operation.depth_value is not None or operation.how == "CP_BLIT":
        return _number(_float(word)) if word == 0 or 1e-6 < _float(word) <= 1 else None
    if form.endswith(("24_8", "X8Z24")):
        return _number((word & 0xFFFFFF) / 0xFFFFFF)
    return _number((word & 0xFFFF) / 0xFFFF) if form.endswith("16") else None


def _widths(form: str) -> tuple[int, ...] | None:
    """Bits of each component: of ``FMT6_8_8_8_8_UNORM`` 8, 8, 8, 8."""
    found = _COMPONENTS.fullmatch(form)
    if found is None:
        return None
    widths = tuple(int(width) for width in re.findall(r"\d+", found[1]))
    return widths if 0 < len(widths) <= 4 and all(1 <= width <= 32 for width in widths) else None


def _format(name: str, operation: Operation, of: Pass) -> str:
    known = {target.name: target.format for target in of.attachments}
    return (
        known.get(name)
        or known.get("depth" if name == "stencil" else name)
        or (operation.format or "")
    )


def _has_stencil(operation: Operation, of: Pass) -> bool:
    names = {target.name: target.format or "" for target in of.attachments}
    formats = (names.get("depth", ""), operation.format or "")
    if "stencil" in names or not any(formats):
        return True
    return any(form.endswith("24_8") or "S8" in form for form in formats)


def _float(word: int) -> float:
    number: float = struct.unpack("<f", (word & 0xFFFFFFFF).to_bytes(4, "little"))[0]
    return number


def _number(value: float) -> str:
    """Three digits are what a program's clear value needs: 0.2, not 0.200000003."""
    text = f"{value:.3g}"
    return text if "." in text or "e" in text or not text.lstrip("-").isdigit() else f"{text}.0"
