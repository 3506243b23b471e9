# SPDX-License-Identifier: MIT
"""Lints over the shared captures: programs that are correct have no errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cffpy.check.registry import all_lints, chosen_lints
from cffpy.check.runner import Checked, check_capture, new_findings
from cffpy.container.open import open_bytes, open_capture
from cffpy.errors import CffpyError

#: True errors: IBs whose buffers were removed from the capture on purpose.
TRUE_ERRORS = {("edge-missing-ib-bo", "CFF038")}

#: The bad capture of a pair -> the findings that are new in it.
PAIRS = {
    "pair-a740-scene-bad-blend": {"CFF013"},
    "pair-a740-scene-bad-mode": {"CFF021"},
    "pair2-a740-frame-bad-msaa": {"CFF018", "CFF021"},
}


#: Drivers wait for each draw there: TU_DEBUG=syncdraw, and an older driver.
WAIT_FOR_EACH_DRAW = {
    "a630-vk-scene200-1080p-sysmem-flushall-syncdraw",
    "a740-vk-var-syncdraw",
    "shadow",
}

#: Captures of different GPUs, one after the other in a file.
JOINED = [
    ("a740-vk-tess", "a660-vk-cube-gmem-forcebin"),
    ("a660-vk-cube-gmem-forcebin", "a740-vk-tess"),
    ("a530-gl-scene60-nobin", "a740-vk-tess"),
    ("a610-vk-frame-720p", "a740-vk-geom-gmem"),
    ("a330-gl-scene60-nobin", "a660-vk-tess"),
]


def checked(path: Path, *lints: str) -> Checked:
    return check_capture(open_capture(str(path)), lambda _line: None, lints=chosen_lints(lints))


def captures(shared: Path) -> Iterator[tuple[str, Path]]:
    for folder in ("captures", "m26/captures"):
        for path in sorted((shared / folder).glob("*.rd.gz")):
            yield path.name.removesuffix(".rd.gz"), path


@pytest.mark.slow
def test_no_error_is_false(shared: Path) -> None:
    errors, waits = set(), set()
    for name, path in captures(shared):
        try:
            found = checked(path).findings
        except CffpyError:
            continue
        errors |= {(name, one.lint.id) for one in found if one.severity == "error"}
        waits |= {name for one in found if one.lint.id == "CFF027"}
        # those that were false: input attachments in GMEM; scissors without vertices
        assert not {one.lint.id for one in found} & {"CFF008", "CFF033", "CFF041"}, name
    assert errors == TRUE_ERRORS
    assert waits == WAIT_FOR_EACH_DRAW


@pytest.mark.slow
def test_each_pass_that_avoids_the_cache_is_found(shared: Path) -> None:
    """The driver recorded which GMEM layout a pass has."""
    expected, found = {}, {}
    truth = {}
    for folder in ("captures", "m26/captures"):
        truth |= json.loads((shared / folder / "ground-truth.json").read_bytes())
    for name, path in captures(shared):
        lines = truth.get(name, {}).get("driver") or ()
        expected[name] = sum("gmem_layout=1" in line for line in lines)
        try:
            found[name] = len(checked(path, "CFF019").findings)
        except CffpyError:
            found[name] = 0
    assert found == expected
    assert sum(expected.values()) >= 14


@pytest.mark.slow
@pytest.mark.parametrize("names", JOINED, ids="+".join)
def test_captures_of_two_gpus_in_one_file(shared: Path, names: tuple[str, str]) -> None:
    """All is decoded for the first GPU: nothing can be said about the commands of the other one."""
    contents = [open_capture(str(shared / "captures" / f"{name}.rd.gz")) for name in names]
    joined = open_bytes(b"".join(bytes(one.data) for one in contents), "joined")
    alone = check_capture(contents[0], lambda _line: None, lints=all_lints())
    both = check_capture(joined, lambda _line: None, lints=all_lints())
    texts = [(one.lint.id, one._first.text, one.count) for one in both.findings]
    assert texts == [(one.lint.id, one._first.text, one.count) for one in alone.findings]


@pytest.mark.slow
def test_pairs(shared: Path) -> None:
    folder = shared / "captures"
    for pair in json.loads((folder / "pairs.json").read_bytes()):
        good, bad = (checked(folder / f"{pair[key]}.rd.gz") for key in ("good", "bad"))
        found = {one.lint.id for one in new_findings(good, bad)}
        assert found == PAIRS.get(pair["bad"], set()), pair["bad"]
