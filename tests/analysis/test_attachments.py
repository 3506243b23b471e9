# SPDX-License-Identifier: MIT
"""How the registers of each generation say in what order components are, and that they are sRGB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.attachments import attachments, parts_of_depth, written_components
from cffpy.frame.attachment import Attachment


class Reader:
    """The fields of some registers: ``RB_MRT[0].BUF_INFO COLOR_SWAP`` -> its number or name."""

    def __init__(self, **found: Any) -> None:
        self._found = {name.replace("__", " "): value for name, value in found.items()}

    def set(self, name: str, value: Any) -> Reader:
        self._found[name] = value
        return self

    def field(self, register: str, name: str = "") -> Any:
        return self._found.get(f"{register} {name}".strip())

    value = address = number = enum = field

    def flag(self, register: str, name: str) -> bool:
        return bool(self.field(register, name))


def of(generation: int, reader: Reader) -> Attachment:
    """The only colour buffer."""
    any_reader: Any = reader
    return next(one for one in attachments(any_reader, generation) if one.name == "color 0")


def bound(generation: int) -> Reader:
    """What shows that there is a colour buffer."""
    reader = Reader()
    if generation == 2:
        return reader.set("RB_COLOR_INFO FORMAT", "COLORX_8_8_8_8")
    reader.set("RB_MRT[0].BUF_INFO COLOR_FORMAT", "8_8_8_8")
    if generation <= 4:
        return reader.set("RB_MRT[0].BUF_INFO COLOR_BUF_PITCH", 256).set("RB_MRT[0].BASE", 1)
    count = "RB_FS_OUTPUT_CNTL MRT" if generation == 5 else "RB_FS_OUTPUT_CNTL1 MRT"
    return reader.set("RB_MRT[0].PITCH", 256).set(count, 1)


@pytest.mark.parametrize("generation", [3, 4, 5, 6, 7])
def test_order_and_srgb(generation: int) -> None:
    plain = of(generation, bound(generation).set("RB_MRT[0].BUF_INFO COLOR_SWAP", "WZYX"))
    assert (plain.swap, plain.srgb) == ("WZYX", False)
    place = (
        ("RB_SRGB_CNTL SRGB_MRT0", 1) if generation > 5 else ("RB_MRT[0].BUF_INFO COLOR_SRGB", 1)
    )
    reader = bound(generation).set("RB_MRT[0].BUF_INFO COLOR_SWAP", "WXYZ").set(*place)
    found = of(generation, reader)
    assert (found.swap, found.srgb) == ("WXYZ", True)


def test_a2xx_has_numbers_of_swaps_and_no_srgb() -> None:
    for number, swap in enumerate(("WZYX", "WXYZ", "ZYXW", "XYZW")):
        found = of(2, bound(2).set("RB_COLOR_INFO SWAP", number))
        assert (found.swap, found.srgb) == (swap, None)


@pytest.mark.parametrize("prefix", ["DEPTHX", "DEPTH4", "DEPTH5", "DEPTH6"])
def test_stencil_is_in_one_format(prefix: str) -> None:
    packed = Attachment("depth", 0, f"{prefix}_24_8")
    assert parts_of_depth(packed, depth=True, stencil=True) == "depth+stencil"
    assert parts_of_depth(packed, depth=False, stencil=True) == "stencil"
    assert written_components((packed,), depth=True, stencil=True) == ["depth", "stencil"]
    for form in ("16", "32"):
        plain = Attachment("depth", 0, f"{prefix}_{form}")
        assert parts_of_depth(plain, depth=True, stencil=True) == "depth"
        assert written_components((plain,), depth=True, stencil=True) == ["depth"]


@pytest.mark.slow
def test_filters_and_text_of_a_capture(shared: Path) -> None:
    """BGRA of gallium on a4xx; sRGB of turnip; the API, text and filters say the same."""
    with cffpy.open(shared / "captures/a430-gl-passes-restore.rd.gz") as capture:
        draws = capture.draws
        swapped = [draw for draw in draws if any(t.swap == "WXYZ" for t in draw.targets)]
        assert swapped
        assert [*draws.where("target.swap == WXYZ")] == swapped
    with cffpy.open(shared / "captures/x1-85-wgpu-cubes-msaa.rd.gz") as capture:
        (found,) = [one for one in capture.passes if any(t.srgb for t in one.attachments)]
        assert [*capture.draws.where("target.srgb")] == [*found.draws]
        assert {one["srgb"] for one in found.to_dict()["attachments"]} == {True}
