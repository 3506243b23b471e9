# SPDX-License-Identifier: MIT
"""Recorded and replayed segments change nothing but the time: output with and without is equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cffpy.container.open import open_capture
from cffpy.cp.machine import Machine
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from tests.golden.runner import difference

CAPTURES = (
    "a220-gl-tri",
    "a320-gl-tri",
    "a420-gl-tri",
    "a530-gl-var-nosbin",
    "a630-gl-indirect",
    "a660-vk-passes-gmem",
    "a660-vk-events-cond-gmem",
    "a740-vk-geom-gmem",
    "fd-clouds",
    "shadow",
)

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"summary": True},
    {"allregs": True, "color": True},
    {"once": True, "textures": True},
    {"query": ("RB_CNTL", "RB_MRT[0].CONTROL")},
    {"query": ("RB_DEPTH_CNTL",), "query_compare": True},
    {"draw": 2},
)


def dumped(path: Path, options: DumpOptions) -> bytes:
    pieces: list[bytes] = []
    printer = Dump(options, pieces.append, lambda line: None)
    for _ in range(2):  # the second time meets the state that the first one left
        printer.begin(path.name)
        printer.file(open_capture(str(path)))
    return b"".join(pieces)


@pytest.mark.parametrize("name", CAPTURES)
def test_output_is_the_same(name: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machines: list[Machine] = []
    allowed = True
    make = Machine.__init__

    def make_and_keep(self: Machine, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        self.keeps_segments = allowed
        machines.append(self)

    monkeypatch.setattr(Machine, "__init__", make_and_keep)
    path = shared / "captures" / f"{name}.rd.gz"
    replayed = 0
    for row in OPTIONS:
        options = DumpOptions(**row)
        allowed = True
        fast = dumped(path, options)
        replayed += machines.pop().segments_replayed
        allowed = False
        plain = dumped(path, options)
        assert machines.pop().segments_replayed == 0
        report = difference(plain, fast)
        if report:
            pytest.fail(f"{name} {row}: {report}", pytrace=False)
    if name.endswith(("-tri", "gmem", "clouds")):
        return
    assert replayed, "nothing was replayed"
