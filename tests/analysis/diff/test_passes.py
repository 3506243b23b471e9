# SPDX-License-Identifier: MIT
"""Passes as wholes: how a pair differs in mode, sizes, attachments and operations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cffpy.analysis.diff.passes import is_laid_out_alike, structure
from cffpy.frame.attachment import Attachment
from cffpy.frame.execution import Executed
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Lrz, Operation, Pass, PassRun, Tile
from cffpy.frame.places import DrawRange

PLACE: Any = SimpleNamespace()
ACTION: Any = SimpleNamespace(execution=Executed.YES, place=None)


def made(*operations: Operation, **changes: Any) -> Pass:
    found = Pass(0, "render", 0, [0], PLACE, PLACE, "sysmem", framebuffer=Size(64, 32))
    found.attachments = [Attachment("color 0", 0x1000, "FMT6_8_8_8_8_UNORM")]
    found.draws = [ACTION]
    found.direct = PassRun(PLACE, operations=list(operations))
    found.samples = 1
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def clear(value: int, attachment: str = "color 0") -> Operation:
    return Operation("clear", attachment, "BLIT event", ACTION, clear_value=(value, 0, 0, 0))


def store(attachment: str = "color 0", resolves: bool = False) -> Operation:
    return Operation("store", attachment, "BLIT event", ACTION, resolves=resolves)


def told(one: Pass, other: Pass) -> list[tuple[str, str, str]]:
    return [(d.name, d.good, d.bad) for d in structure(one, other)]


def test_the_same() -> None:
    assert told(made(clear(1), store()), made(clear(1), store())) == []


@pytest.mark.parametrize(
    ("changes", "name", "good", "bad"),
    [
        ({"framebuffer": Size(60, 32)}, "framebuffer", "64x32", "60x32"),
        ({"samples": 4}, "samples", "1", "4"),
        ({"hardware_binning": True}, "binning", "no", "hardware"),
        ({"mode": "gmem", "grid": Size(3, 1)}, "mode", "sysmem", "gmem 3x1"),
        ({"attachments": []}, "color 0", "there", "missing"),
        (
            {"attachments": [Attachment("color 0", 0, "FMT6_16_UINT")]},
            "color 0 format",
            "FMT6_8_8_8_8_UNORM",
            "FMT6_16_UINT",
        ),
    ],
)
def test_one_thing_differs(changes: dict[str, Any], name: str, good: str, bad: str) -> None:
    assert told(made(), made(**changes)) == [(name, good, bad)]
    assert told(made(**changes), made()) == [(name, bad, good)]


def test_lrz() -> None:
    off = (DrawRange(2, 2), DrawRange(7, 9))
    one, other = made(lrz=Lrz(0x1000, used=True)), made(lrz=Lrz(0x1000, used=True, off_draws=off))
    assert told(one, other) == [("LRZ off in draws", "none", "2, 7-9")]
    assert told(one, made(lrz=Lrz(0x1000))) == [("LRZ used", "TRUE", "FALSE")]
    assert told(one, made(lrz=None)) == []


def test_operations() -> None:
    assert told(made(clear(1), store()), made(clear(0x11), store())) == [
        (
            "clear value of color 0",
            "0.00392 0.0 0.0 0.0 (00000001)",
            "0.0667 0.0 0.0 0.0 (00000011)",
        )
    ]
    assert told(made(clear(1), store()), made(clear(1))) == [
        ("color 0 at the end", "store", "nothing")
    ]
    assert told(made(clear(1), store()), made(store(resolves=True))) == [
        ("color 0 at the start", "clear", "nothing"),
        ("color 0 at the end", "store", "resolve"),
    ]


def at(kind: Any, attachment: str | None, address: int | None, gmem: int | None) -> Operation:
    return Operation(kind, attachment, "BLIT event", ACTION, address=address, gmem=gmem)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (
            at("clear", "color 0", 0x1000, None),
            at("clear", None, 0x5000, None),
            ("color 0 is cleared at", "0x1000", "0x5000"),
        ),
        (
            at("store", "color 0", 0x1000, 0),
            at("store", None, 0x5000, 0),
            ("color 0 is stored to", "0x1000", "0x5000"),
        ),
        (
            at("store", "color 0", 0x1000, 0),
            at("store", None, 0x1000, 0x80),
            ("color 0 is stored from", "GMEM 0x0", "GMEM 0x80"),
        ),
        (
            at("load", "depth+stencil", 0x1000, 0),
            at("load", None, 0x1000, 0x80),
            ("depth+stencil is loaded to", "GMEM 0x0", "GMEM 0x80"),
        ),
    ],
)
def test_an_operation_whose_place_is_not_that_of_its_attachment(
    one: Operation, other: Operation, found: tuple[str, str, str]
) -> None:
    """It is the same operation at another place, not one gone and another added."""
    assert told(made(one), made(other)) == [found]
    assert told(made(other), made(one)) == [(found[0], found[2], found[1])]


def test_an_attachment_that_lies_elsewhere_than_what_is_cleared() -> None:
    target = Attachment("color 0", 0x9000, "FMT6_8_8_8_8_UNORM")
    bad = made(at("clear", None, 0x1000, None), at("store", None, 0x1000, None))
    bad.attachments = [target]
    good = made(at("clear", "color 0", 0x1000, None), at("store", "color 0", 0x1000, None))
    assert told(good, bad) == [("color 0 lies at", "0x1000", "0x9000")]
    more = made(*good.direct.operations if good.direct else (), at("clear", None, 0, None))
    assert told(good, more) == [("an unknown attachment at the start", "nothing", "clear")]


def test_a_rectangle_clears_each_attachment_to_its_own_value() -> None:
    def rectangle(colour: int, depth: int, stencil: int) -> Operation:
        name, how = "color 0+depth+stencil", "rectangle draw"
        return Operation(
            "clear",
            name,
            how,
            ACTION,
            clear_value=(colour,),
            depth_value=depth,
            stencil_value=stencil,
        )

    good = made(rectangle(1, 2, 3))
    assert told(good, made(rectangle(9, 2, 3))) == [
        ("clear value of color 0", "00000001", "00000009")
    ]
    assert told(good, made(rectangle(1, 9, 3))) == [
        ("clear value of depth", "00000002", "00000009")
    ]
    assert told(good, made(rectangle(1, 2, 9))) == [
        ("clear value of stencil", "3 (00000003)", "9 (00000009)")
    ]


def test_depth_and_stencil_in_one_word_are_two_values() -> None:
    def packed(value: int) -> Operation:
        found = clear(value, "depth+stencil")
        found.format = "DEPTH6_24_8"
        return found

    assert told(made(packed(0x02FFFFFF)), made(packed(0x02000000))) == [
        ("clear value of depth", "1.0 (00ffffff)", "0.0 (00000000)")
    ]
    assert told(made(packed(0x02FFFFFF)), made(packed(0x03FFFFFF))) == [
        ("clear value of stencil", "2 (00000002)", "3 (00000003)")
    ]


def test_without_draws_operations_have_no_names() -> None:
    nothing = {"draws": [], "attachments": [], "samples": None}
    assert told(made(clear(1), store()), made(clear(1, "unknown"), store("x"), **nothing)) == []
    assert told(made(clear(1), store()), made(store("x"), **nothing)) == [
        ("all attachments at the start", "clear", "nothing")
    ]


def test_layouts() -> None:
    assert is_laid_out_alike(made(), made())
    for changes in ({"mode": "gmem"}, {"bin_size": Size(32, 32)}, {"framebuffer": Size(1, 1)}):
        assert not is_laid_out_alike(made(), made(**changes))


def test_what_is_unknown_on_one_side_is_no_difference() -> None:
    unknown = {"attachments": [Attachment("color 0", 0x1000, None)]}
    assert told(made(), made(**unknown)) == []


def test_layouts_of_attachments_are_compared_in_one_mode() -> None:
    linear = [Attachment("color 0", 0x1000, "FMT6_8_8_8_8_UNORM", "TILE6_LINEAR", ubwc=False)]
    tiled = [Attachment("color 0", 0x1000, "FMT6_8_8_8_8_UNORM", "TILE6_3", ubwc=True)]
    assert told(made(attachments=linear), made(attachments=tiled)) == [
        ("color 0 tiling", "TILE6_LINEAR", "TILE6_3"),
        ("color 0 UBWC", "FALSE", "TRUE"),
    ]
    gmem = made(attachments=tiled, mode="gmem", grid=Size(1, 1))
    assert [name for name, _, _ in told(made(attachments=linear), gmem)] == ["mode"]


def test_tiles_in_another_order_are_laid_out_otherwise() -> None:
    def tiled(*lefts: int) -> Pass:
        tiles = [Tile(PLACE, window_scissor=Rectangle(left, 0, left + 32, 32)) for left in lefts]
        return made(mode="gmem", grid=Size(2, 1), bin_size=Size(32, 32), tiles=tiles)

    one, other = tiled(0, 32), tiled(32, 0)
    assert not is_laid_out_alike(one, other)
    assert told(one, other) == [("first tile", "0,0+32x32", "32,0+32x32")]


def test_another_number_of_bins_is_a_difference() -> None:
    good, bad = (made(mode="gmem", grid=Size(columns, 1)) for columns in (5, 13))
    assert told(good, bad) == [("bins", "5x1", "13x1")]


def test_clear_values_are_shown_as_the_format_means_them() -> None:
    blue, grey = clear(0xFFFF0000), clear(0xFF333333)
    assert told(made(blue), made(grey)) == [
        ("clear value of color 0", "0.0 0.0 1.0 1.0 (ffff0000)", "0.2 0.2 0.2 1.0 (ff333333)")
    ]
