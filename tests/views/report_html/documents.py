# SPDX-License-Identifier: MIT
"""Documents of reports: a small capture, hostile texts and numbers, many draws."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import cffpy
from cffpy.reports.columns import plain
from cffpy.reports.report import document
from tests.analysis.passes.small import small_capture
from tests.views.diff_html.comparisons import HOSTILE

#: Members that the page reads as numbers or as keywords.
_OWN = {"severity", "kind", "mode", "data", "dwords", "path", "png"}


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
    found["cut"] = [HOSTILE]
    found["problems"] = [{"kind": "damage", "text": HOSTILE, "file_offset": None}]
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
    count = sum(one["rows"][1] for one in found["passes"])
    draws["vertices"] = draws["instances"] = [1 << 80] * count
    draws["visible_primitives"] = [1 << 64] * count
    for one in found["passes"]:
        one["vertices"] = {"number": 1 << 160, "known": 1, "unknown": 0}
        one["visible_primitives"] = 1 << 70
        one["tile_count"] = 1 << 60
        for operation in one["operations"]:
            operation["times"] = 1 << 60
    return found


def long_document(length: int) -> dict[str, Any]:
    """The same with ``length`` draws in its last pass: those that are there, again and again."""
    found = small_document()
    last = found["passes"][-1]
    first, there = last["rows"]
    assert there
    last["rows"] = [first, length]
    draws = found["draws"]
    for column in draws.values():
        values = column["index"] if isinstance(column, dict) else column
        tail = values[first:]
        values[first:] = [tail[number % len(tail)] for number in range(length)]
    count = first + length
    draws["draw"] = [*(cell(draws["draw"], row) for row in range(first)), *range(length)]
    places = zip((cell(draws["pass"], row) for row in range(count)), draws["draw"], strict=True)
    draws["name"] = [f"p{index}:{number}" for index, number in places]
    return found


def cell(column: Any, row: int) -> Any:
    """The value of a row in a column."""
    return column[row] if isinstance(column, list) else column["values"][column["index"][row]]
