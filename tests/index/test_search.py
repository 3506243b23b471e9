# SPDX-License-Identifier: MIT
"""An index answers filters as the captures do."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy

#: A filter of each kind of operand and function.
FILTERS = (
    "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS",
    "RB_DEPTH_CONTROL.ZFUNC == FUNC_LESS",
    "draw.vertices > 3 and pass.mode == gmem",
    "draw.name ~ 'p0:[01]' and draw.kind == draw",
    "changed(RB_DEPTH_CNTL) or changed(RB_MRT[*].CONTROL)",
    "written(RB_MRT[0].CONTROL)",
    "written(RB_MRT[*].BASE) and not changed(RB_MRT[0].BASE)",
    "RB_MRT[*].BUF_INFO.COLOR_FORMAT == FMT6_8_8_8_8_UNORM",
    "all(RB_MRT[*].CONTROL.BLEND == false)",
    "target.format == FMT6_8_8_8_8_UNORM or target.samples > 1",
    "marker('.')",
    "unknown(RB_MRT[0].BASE)",
    "RB_MRT[0].BASE + 0x100 > 0x1000",
    "draw.shaders.FS > 0 and pass.tile_count > 0",
    "GRAS_CL_VPORT[0].XSCALE > 10",
    "not draw.executed",
    "pass.framebuffer.width in (1..500) and pass.loads == 0",
    "draw.groups.x >= 1",
    "texture.FMT == FMT6_8_8_8_8_UNORM and draw.vertices > 0",
    "texture.WIDTH > 0 or texture.FMT ~ '8'",
    "all(texture.WIDTH >= 16) and texture.stage == FS",
    "unknown(texture.FMT) or texture.slot in (0, 1)",
    "sampler.XY_MAG == A6XX_TEX_LINEAR or sampler.WRAP_S == A6XX_TEX_REPEAT",
    "storage.slot >= 0 or storage.CPP > 0 or storage.address > 0",
    "sampled(0x100008000) or texture.address > 0x1000",
    "draw.shaders.FS.instructions > 10",
    "draw.shaders.VS.cat5 == 0 and draw.shaders.FS.full_registers < 4",
    "unknown(draw.shaders.CS.constlen) and draw.shaders.FS.bytes >= 8",
)


def answers(found: object) -> list[dict[str, object]]:
    return [one.to_dict() for one in found]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("where", FILTERS)
def test_as_the_captures(where: str, built: Path, samples: Path) -> None:
    columns = "draw.vertices,pass.index"
    found = answers(cffpy.open_index(built).find(where, columns=columns))
    assert found == answers(cffpy.find(where, [samples], columns=columns, jobs=1))
    assert len(found) > 10


@pytest.mark.slow
def test_filters_find_something(built: Path) -> None:
    index = cffpy.open_index(built)
    counts = [sum(one.count for one in index.find(where, most=0)) for where in FILTERS]
    assert sum(count > 0 for count in counts) > len(FILTERS) // 2


@pytest.mark.slow
def test_as_captures_of_drivers(shared: Path, tmp_path: Path) -> None:
    paths = sorted((shared / "captures").glob("a[3567]*-gl-*.rd.gz"))[:16]
    cffpy.build_index(paths, tmp_path / "index", jobs=2)
    index = cffpy.open_index(tmp_path / "index")
    total = 0
    for where in FILTERS:
        found = answers(index.find(where))
        assert found == answers(cffpy.find(where, paths, jobs=2)), where
        total += sum(int(str(one["count"])) for one in found)
    assert total > 1000


@pytest.mark.slow
def test_some_draws_of_each_file(built: Path) -> None:
    index = cffpy.open_index(built)
    every = {one.path: one for one in index.find("draw.vertices > 0")}
    for one in index.find("draw.vertices > 0", most=1):
        whole = every[one.path]
        assert (one.count, one.unknown) == (whole.count, whole.unknown)
        assert one.draws == whole.draws[:1]
    assert any(one.count > 1 for one in every.values())


@pytest.mark.slow
def test_partitions_are_asked_in_groups(
    built: Path, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cffpy.index.reader._ROWS", 1)
    monkeypatch.setattr("cffpy.index.reader._REMEMBERED", 1)
    found = answers(cffpy.open_index(built).find(FILTERS[0]))
    assert found == answers(cffpy.find(FILTERS[0], [samples], jobs=1))


def test_wrong_filters(built: Path) -> None:
    index = cffpy.open_index(built)
    for where in (
        "NO_SUCH == 1",
        "pass.views = 3",
        "draw.shaders.XX > 0",
        "texture.XX > 0",
    ):
        with pytest.raises(cffpy.FilterError):
            list(index.find(where))
