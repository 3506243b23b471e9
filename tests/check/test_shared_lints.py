# SPDX-License-Identifier: MIT
"""Lints over the shared captures: programs that are correct have no errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cffpy.check.registry import all_lints
from cffpy.check.runner import Checked, check_capture, new_findings
from cffpy.container.open import open_capture
from cffpy.errors import CffpyError

#: True errors: IBs whose buffers were removed from the capture on purpose.
TRUE_ERRORS = {("edge-missing-ib-bo", "CFF038")}

#: The bad capture of a pair -> the findings that are new in it.
PAIRS = {
    "pair-a740-scene-bad-blend": {"CFF013"},
    "pair-a740-scene-bad-mode": {"CFF021"},
    "pair2-a740-frame-bad-msaa": {"CFF018", "CFF021"},
}


def checked(path: Path) -> Checked:
    return check_capture(open_capture(str(path)), lambda _line: None, lints=all_lints())


@pytest.mark.slow
def test_no_error_is_false(shared: Path) -> None:
    errors = set()
    for path in sorted((shared / "captures").glob("*.rd.gz")):
        name = path.name.removesuffix(".rd.gz")
        try:
            found = checked(path).findings
        except CffpyError:
            continue
        errors |= {(name, one.lint.id) for one in found if one.severity == "error"}
    assert errors == TRUE_ERRORS


@pytest.mark.slow
def test_pairs(shared: Path) -> None:
    folder = shared / "captures"
    for pair in json.loads((folder / "pairs.json").read_bytes()):
        good, bad = (checked(folder / f"{pair[key]}.rd.gz") for key in ("good", "bad"))
        found = {one.lint.id for one in new_findings(good, bad)}
        assert found == PAIRS.get(pair["bad"], set()), pair["bad"]
