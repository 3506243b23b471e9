# SPDX-License-Identifier: MIT
"""A draw-state group that is no longer loaded: the registers that it wrote are a difference.

What a group writes for draws may be counted only where no draw uses it: invalidations of caches,
registers of dispatches, descriptors that no shader names. Groups that only the binning run
loads are not compared.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy

#: Capture -> groups that no draw outside of the binning run depends on.
CAPTURES = {
    "a740-vk-tri-auto": {2, 11},
    "a660-vk-cube-gmem-forcebin": {2, 12, 18, 31},
    "a630-gl-blit-msaa": {2, *range(23, 30)},
}


def test_push_constants_that_are_no_longer_written(shared: Path) -> None:
    """Registers whose names the database only gives by offset."""
    path = shared / "captures" / "a740-vk-tri-auto.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    good = cffpy.open(path)
    found = cffpy.diff(good, cffpy.open(cffpy.edit(good, drop_groups=[10])))
    (entry,) = found.entries
    assert "HLSQ_SHARED_CONSTS_IMM[0]+0: 0x0 → not written" in entry.title


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_what_a_group_wrote_is_missing(shared: Path, name: str) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    good = cffpy.open(path)
    same = set()
    for group in range(32):
        try:
            bad = cffpy.open(cffpy.edit(good, drop_groups=[group]))
        except cffpy.CaptureError:  # no such group
            continue
        found = cffpy.diff(good, bad)
        if not found.differs:
            assert "inherited" not in found.hidden, (group, found.hidden)
            same.add(group)
    assert same == CAPTURES[name]
