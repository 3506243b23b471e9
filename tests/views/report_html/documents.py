# SPDX-License-Identifier: MIT
"""Documents of reports: a small capture, hostile texts and numbers, many draws."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import cffpy
from cffpy.reports.document import document
from cffpy.reports.words import plain
from tests.analysis.passes.small import small_capture
from tests.views.diff_html.comparisons import HOSTILE

#: Members that the page reads as numbers or as keywords.
_OWN = {"severity", "kind", "mode", "data", "dwords", "tile_columns", "png"}


#: A picture of one red texel.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJg"
    "gg=="
)


@cache
def _small() -> dict[str, Any]:
    capture = cffpy.open(small_capture())
    other = cffpy.open(small_capture(640))
    found = plain(document(capture, other))
    found["pictures"] = [{"width": 1, "height": 1, "notes": ["a texel"], "png": PNG}]
    for one in found["passes"]:
        for target in one["attachments"]:
            target["picture"] = 0
    return found


def small_document() -> dict[str, Any]:
    """The report of the small capture, compared with one that differs."""
    return copy.deepcopy(_small())


def hostile_document() -> dict[str, Any]:
    """The same with texts that contain markup; only the page's own words stay."""
    found = _hostile(small_document(), "")
    assert isinstance(found, dict)
    found["cut"] = found["problems"] = [HOSTILE]
    for one in found["passes"]:
        one["markers"] = [HOSTILE, HOSTILE]
        one["unknown"] = [HOSTILE]
    for shader in found["shaders"]:
        shader["listing"] = HOSTILE * 3
    return found


def _hostile(part: Any, name: str) -> Any:
    if isinstance(part, dict):
        return {key: _hostile(value, key) for key, value in part.items()}
    if isinstance(part, list):
        return [_hostile(value, name) for value in part]
    if isinstance(part, str) and name not in _OWN and not part.startswith("0x"):
        return HOSTILE
    return part


def huge_document() -> dict[str, Any]:
    """The same with numbers that no capture has."""
    found = small_document()
    draws = found["draws"]
    draws["vertices"] = [1 << 80] * len(draws["vertices"])
    draws["instances"] = [1 << 80] * len(draws["instances"])
    draws["visible"] = [1 << 64] * len(draws["visible"])
    for one in found["passes"]:
        one["totals"] = {"vertices": 1 << 160, "not_counted": 0, "visible": 1 << 70}
        one["tile_count"] = 1 << 60
        for operation in one["operations"]:
            operation["times"] = 1 << 60
    return found


def long_document(length: int) -> dict[str, Any]:
    """The same with ``length`` draws in its last pass: those that are there, again and again."""
    found = small_document()
    last = found["passes"][-1]
    first, there = last["draws"]
    assert there
    last["draws"] = [first, length]
    draws = found["draws"]
    for name, column in draws.items():
        values = column["index"] if isinstance(column, dict) else column
        if not name.endswith("_sets"):
            tail = values[first:]
            values[first:] = [tail[number % len(tail)] for number in range(length)]
    draws["number"][first:] = range(length)
    return found
