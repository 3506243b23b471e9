# SPDX-License-Identifier: MIT
"""Recorded output of a newer Mesa, and both editions over the same captures.

Captures and recorded output are not part of the project; without them these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.frame.faces import row
from cffpy.regdb.aliases import Aliases
from tests.golden.runner import built_sample
from tests.golden.test_reference import SHARED

Run = Callable[..., subprocess.CompletedProcess[bytes]]

_ONE_FRAME = ("dump", "--unit-test", "--frame", "0", "--once")
_INDIRECT = "dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list"


def test_the_variable_chooses_the_edition(run_cffpy: Run, samples: Path) -> None:
    capture = built_sample(samples.parent, "a660-frame-gmem")
    chosen = run_cffpy("dump", capture, env={"CFFPY_EDITION": "mesa-25.3"})
    assert chosen.stdout == run_cffpy("dump", "--edition", "mesa-25.3", capture).stdout
    assert chosen.stdout != run_cffpy("dump", capture).stdout


@pytest.mark.parametrize("name", ["a660-frame-gmem", "a660-frame-binning", "a740-state-groups"])
@pytest.mark.parametrize("command", ["passes", "tiles"])
def test_analyses_are_the_same_in_both_editions(
    command: str, name: str, run_cffpy: Run, samples: Path
) -> None:
    """They find the registers by any of their names."""
    capture = built_sample(samples.parent, name)
    bundled = run_cffpy(command, "--json", capture)
    newer = run_cffpy(command, "--json", "--edition", "mesa-25.3", capture)
    assert json.loads(newer.stdout) == json.loads(bundled.stdout)


def captures() -> list[Path]:
    """A fixed share of the recorded captures; all of them where CFFPY_EXHAUSTIVE is set."""
    found = sorted((SHARED / "captures").glob("*.rd.gz"))
    return found if os.environ.get("CFFPY_EXHAUSTIVE") else found[3::7][:20]


@pytest.mark.slow
@pytest.mark.parametrize("path", captures(), ids=lambda path: path.name.removesuffix(".rd.gz"))
def test_shared_captures_are_the_same_in_both_editions(path: Path) -> None:
    """Passes, draws, tiles, and the registers at the first, the middle and the last draw."""
    names = Aliases.installed()
    with (
        cffpy.open(path, register_db="mesa-25.0") as old,
        cffpy.open(path, register_db="mesa-25.3") as new,
    ):
        old_passes, new_passes = list(old.passes), list(new.passes)
        assert [one.to_dict() for one in new_passes] == [one.to_dict() for one in old_passes]
        assert [tiles(one) for one in new_passes] == [tiles(one) for one in old_passes]
        old_draws, new_draws = list(old.draws), list(new.draws)
        assert len(new_draws) == len(old_draws)
        for draw, other in zip(old_draws, new_draws, strict=True):
            assert other.to_dict() == draw.to_dict()
        chosen = sorted({0, len(old_draws) // 2, len(old_draws) - 1} & {*range(len(old_draws))})
        for number in chosen:
            check_same_state(old_draws[number].state, new_draws[number].state, names)


def tiles(one: cffpy.Pass) -> list[object]:
    """What ``cffpy tiles`` shows of each tile of a pass."""
    return [row(tile) for tile in one.tiles]


def element(value: cffpy.StateValue) -> str:
    """Which element of a port it is; elements have the offset of the port."""
    return value.name.rpartition("[")[2] if value.name.endswith("]") else ""


def check_same_state(old: cffpy.RegisterState, new: cffpy.RegisterState, names: Aliases) -> None:
    """The same registers with the same values, by the same names or by those of aliases.tsv."""
    values = {(value.register.offset, element(value)): value for value in new.values()}
    for value in old.values():
        other = values.pop((value.register.offset, element(value)))
        assert other.value == value.value
        # one without a name is described in the other edition only
        is_described = not {value.name[:2], other.name[:2]} & {"0x"}
        if is_described and not _became_an_element(value.name, other.name):
            port, other_port = value.name.rpartition("[")[0], other.name.rpartition("[")[0]
            known = {value.name, *names.registers(value.name)}
            assert other.name in known or other_port in names.registers(port)
        if value.written_by is not None:
            assert other.written_by is not None
            assert other.written_by.place.gpuaddr == value.written_by.place.gpuaddr
    assert not values


def _became_an_element(old: str, new: str) -> bool:
    """Whether a register became an element of an array, or is one of an array without registers."""
    return "[" in new and ("[" not in old or "]+" in new)


def test_a8xx_is_decoded_by_the_edition_that_describes_it(run_cffpy: Run, samples: Path) -> None:
    capture = built_sample(samples.parent, "a830-frame-gmem")
    [found] = json.loads(run_cffpy("passes", "--json", capture).stdout)["passes"]
    assert (found["mode"], found["framebuffer"]) == ("gmem", {"width": 192, "height": 64})
    assert found["tile_count"] == 2
    # one dword is written, and is all that the format needs
    assert found["operations"][0]["clear_value"] == ["0xff402010"]
    chosen = run_cffpy("dump", "--edition", "mesa-25.3", capture)
    assert chosen.stdout == run_cffpy("dump", capture).stdout
    assert b"RB_CNTL: { BINW = 96 | BINH = 64 | RENDER_MODE = RENDERING_PASS" in chosen.stdout


def test_a8xx_is_assembled_from_what_decompile_writes(
    run_cffpy: Run, samples: Path, tmp_path: Path
) -> None:
    capture = built_sample(samples.parent, "a830-frame-gmem")
    text, again = tmp_path / "a830.pm4", tmp_path / "again.rd"
    assert run_cffpy("decompile", capture, "-o", text).returncode == 0
    assert run_cffpy("compile", text, "-o", again).returncode == 0
    assert again.read_bytes() == capture.read_bytes()
    assert "RB_RESOLVE_OPERATION" in text.read_text()


def test_a8xx_programs_targets_and_descriptors(samples: Path) -> None:
    """A sysmem pass and a dispatch by the registers and the descriptors of a8xx."""
    with cffpy.open(built_sample(samples.parent, "a830-sysmem-compute")) as capture:
        draw, dispatch = capture.draws
        assert [one.kind for one in capture.passes] == ["render", "compute"]
        assert (capture.passes[0].mode, draw.targets[0].address) == ("sysmem", 0x100100000)
        assert draw.programs == (("VS", 0x100002000), ("FS", 0x100002100))
        assert dispatch.programs == (("CS", 0x100002200),)
        assert [shader.stage for shader in capture.shaders] == ["VS", "FS", "CS"]
        of_draw = "{0}.WIDTH == 64 and {0}.FMT == FMT6_8_8_8_8_UNORM"
        assert not capture.draws.where(of_draw.format("texture")), "no program samples it"
        assert capture.draws.where(of_draw.format("bound_texture"))
        assert not draw.textures
        texture, _sampler = draw.descriptors
        assert (texture.bound, texture.enabled, texture.used) == (True, True, False)
        with pytest.raises(cffpy.CffpyError, match="texture descriptors of a8xx are not known"):
            texture.picture()
