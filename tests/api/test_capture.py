# SPDX-License-Identifier: MIT
"""cffpy.open and Capture: inputs, laziness, what is returned, errors."""

from __future__ import annotations

import gc
import gzip
import io
import json
import subprocess
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.cp.machine import Machine

Run = Callable[..., subprocess.CompletedProcess[bytes]]

GMEM = "a660-frame-gmem.rd"


@pytest.fixture
def capture(samples: Path) -> cffpy.Capture:
    return cffpy.open(samples / GMEM)


def test_a_capture_is_opened_by_path_bytes_and_file(samples: Path) -> None:
    path = samples / GMEM
    stored = path.read_bytes()
    with open(path, "rb") as file:
        sources = [path, str(path), stored, bytearray(gzip.compress(stored)), file]
        names = [[draw.name for draw in cffpy.open(source).draws] for source in sources]
    assert names[0]
    assert all(found == names[0] for found in names)


def test_captures_do_not_share_anything(samples: Path) -> None:
    first, second = cffpy.open(samples / GMEM), cffpy.open(samples / "a430-depth-good.rd")
    one, other = first.draws[0].state, second.draws[0].state
    assert first.gpu is not None
    assert second.gpu is not None
    assert (first.gpu.generation, second.gpu.generation) == (6, 4)
    assert "GRAS_CL_CNTL" in first.registers
    assert one["RB_DEPTH_CNTL"].register.offset != other["RB_DEPTH_CONTROL"].register.offset
    second.close()
    assert first.draws[0].state["RB_DEPTH_CNTL"].value == one["RB_DEPTH_CNTL"].value


def test_wrong_arguments_are_errors_of_the_tree(samples: Path, tmp_path: Path) -> None:
    path = samples / GMEM
    text = tmp_path / "text"
    text.write_text("not a capture, not at all\n")
    for arguments in (
        {"source": tmp_path / "none"},
        {"source": text},
        {"source": 5},
        {"source": io.StringIO("x")},
        {"source": path, "gpu": "999"},
        {"source": path, "register_db": "no-such-edition"},
        {"source": path, "limits": {"draws": 0}},
        {"source": path, "limits": {"none": 1}},
    ):
        with pytest.raises(cffpy.CffpyError) as problem:
            cffpy.open(**arguments)  # type: ignore[arg-type]
        assert "\n" not in str(problem.value)


def test_a_large_file_object_is_not_read_as_a_whole(samples: Path) -> None:
    with pytest.raises(cffpy.ContainerError, match="more than 100 bytes"):
        cffpy.open(io.BytesIO((samples / GMEM).read_bytes()), limits={"bytes": 100})


def test_a_closed_capture_says_so(samples: Path) -> None:
    with cffpy.open(samples / GMEM) as capture:
        assert capture.draws
    for name in ("draws", "gpu", "submits", "memory", "problems"):
        with pytest.raises(cffpy.UsageError, match="closed"):
            getattr(capture, name)
    assert "closed" in repr(capture)


def test_a_closed_capture_is_freed_at_once(samples: Path) -> None:
    """Without the garbage collector: what was found refers to no walk, and the walk to nothing."""
    gc.collect()
    gc.disable()
    try:
        with cffpy.open(samples / GMEM) as capture:
            draw = capture.draws[0]
            assert draw.pass_ is capture.passes[0]
            assert draw.state["RB_DEPTH_CNTL"].written_by is not None
            del draw
            found = [weakref.ref(capture._source.walked.finder), weakref.ref(capture.draws)]
        assert [one() for one in found] == [None, None]
    finally:
        gc.enable()


@pytest.mark.slow
def test_a_closed_capture_leaves_no_memory(samples: Path) -> None:
    """Nor does a comparison: a loop over captures needs no more memory than one of them."""
    gc.collect()
    before = count_machines()
    for name in ("a660-frame-gmem.rd", "a660-frame-binning.rd"):
        with cffpy.open(samples / name) as good, cffpy.open(samples / GMEM) as bad:
            assert cffpy.diff(good, bad).differs == (name != GMEM)
            assert bad.draws[0].state["RB_DEPTH_CNTL"].value is not None
            assert count_machines() > before
    assert count_machines() == before


def count_machines() -> int:
    """Machines have the memory of a capture."""
    return sum(isinstance(one, Machine) for one in gc.get_objects())


def test_a_draw_of_a_closed_capture(samples: Path) -> None:
    with cffpy.open(samples / GMEM) as capture:
        draw = capture.draws[0]
    assert draw.vertices == 36
    for name in ("pass_", "state", "textures"):
        with pytest.raises(cffpy.UsageError, match="closed"):
            getattr(draw, name)


def test_each_thing_is_computed_once(capture: cffpy.Capture) -> None:
    assert capture.draws is capture.draws
    assert capture.passes[0] is capture.passes[0]
    first = capture.draws[0]
    assert first.pass_ is capture.passes[first.pass_index]
    assert first in capture.actions
    assert first in first.executions


def test_tiles(samples: Path) -> None:
    capture = cffpy.open(samples / "a660-frame-binning.rd")
    found = capture.passes[0]
    assert len(found.tiles) == len(found.tiles) > 1
    for tile in found.tiles:
        assert [action.order for action in tile.actions] == sorted(
            {action.order for action in tile.draws}
            | {operation.action.order for operation in tile.operations}
        )
        assert all(action.tile is tile and action.pass_ is found for action in tile.actions)
    in_tiles = sum(len(tile.actions) for tile in found.tiles)
    assert in_tiles < len(found.actions)  # the binning run is executed, too
    assert [draw.number for draw in found.draws] == list(range(len(found.draws)))
    assert len(found.draws[0].executions) == len(found.tiles) + 1


def test_progress_is_reported(samples: Path) -> None:
    reports: list[tuple[int, int]] = []
    capture = cffpy.open(samples / GMEM, progress=lambda done, size: reports.append((done, size)))
    assert not reports
    assert capture.draws
    done, size = reports[-1]
    assert done == size
    assert [number for number, _ in reports] == sorted(number for number, _ in reports)


def test_the_walk_can_be_cancelled(samples: Path) -> None:
    def cancel(_done: int, _size: int) -> None:
        raise KeyboardInterrupt

    capture = cffpy.open(samples / GMEM, progress=cancel)
    with pytest.raises(KeyboardInterrupt):
        _ = capture.draws


def test_documents_are_those_of_the_commands(
    capture: cffpy.Capture, samples: Path, run_cffpy: Run
) -> None:
    path = samples / GMEM

    def document(*arguments: object) -> dict[str, object]:
        found: dict[str, object] = json.loads(run_cffpy(*arguments, "--json", path).stdout)
        return found

    def same(value: object) -> object:
        return json.loads(json.dumps(value))

    draws = document("draws")["draws"]
    assert same([draw.to_dict() for draw in capture.draws]) == draws
    everything = document("draws", "--all")["draws"]
    assert same([action.to_dict() for action in capture.actions]) == everything
    assert same(capture.to_dict()) == document("info")["files"][0]  # type: ignore[index]
    assert same([one.to_dict() for one in capture.passes]) == document("passes")["passes"]
    tiles = capture.passes[0].tiles
    assert same([tile.to_dict() for tile in tiles]) == document("tiles")["tiles"]
    for draw in capture.draws:
        state = document("state", "--at", draw.name)
        assert same(draw.state.to_dict()) == {k: v for k, v in state.items() if k != "schema"}


def test_a_draw_by_name(capture: cffpy.Capture) -> None:
    draw = capture.draws[-1]
    assert capture.draw(draw.name) is draw
    number = next(a.dump_draw for a in capture.actions if a.executed and a.dump_draw)
    assert capture.draw(number).dump_draw == number
    with pytest.raises(cffpy.CaptureError):
        capture.draw("p99:0")
    with pytest.raises(cffpy.UsageError):
        capture.draw("x")


def test_memory(capture: cffpy.Capture) -> None:
    buffer = capture.submits[0].buffers[0]
    memory = capture.submits[0].memory
    data = bytes(buffer.contents)
    assert memory.read(buffer.gpuaddr, len(data)) == data
    assert memory.read(buffer.gpuaddr + 4, 8) == data[4:12]
    assert memory.u32(buffer.gpuaddr) == int.from_bytes(data[:4], "little")
    assert memory.u64(buffer.gpuaddr) == int.from_bytes(data[:8], "little")
    assert memory.read(0x10, 4) is None
    assert memory.read(buffer.gpuaddr, 1 << 50) is None
    assert memory.captured(buffer.gpuaddr) >= len(data)
    assert memory.buffer(buffer.gpuaddr + 1) is not None
    assert buffer.gpuaddr in buffer
    with pytest.raises(cffpy.UsageError):
        memory.read(buffer.gpuaddr, -1)
    with pytest.raises(TypeError):
        buffer.contents[0] = 1


def test_memory_of_each_submit(samples: Path) -> None:
    capture = cffpy.open(samples / "a530-two-submits.rd")
    assert len(capture.submits) == 2
    for submit in capture.submits:
        for stream in submit.streams:
            assert submit.memory.read(stream.gpuaddr, stream.dwords * 4)
        assert all(one.submit == submit.number for one in submit.passes)
    first, second = (submit.memory for submit in capture.submits)
    assert first is not second


def test_damage_raises_nothing(samples: Path) -> None:
    capture = cffpy.open(samples / "damaged.rd.gz")
    assert capture.draws
    assert capture.problems
    assert {problem.kind for problem in capture.problems} <= {"damage", "truncated", "warning"}
    assert str(capture.problems[0]).startswith("damage: ")
    stored = (samples / GMEM).read_bytes()
    packed = gzip.compress(stored)
    cut = cffpy.open(packed[: len(packed) // 2])
    assert any("gzip" in problem.text for problem in cut.problems)
    assert isinstance(cut.draws, list)


def test_an_empty_capture() -> None:
    empty = cffpy.open(b"")
    assert empty.gpu is None
    assert empty.draws == []
    assert [problem.text for problem in empty.problems] == ["the file is empty"]
    with pytest.raises(cffpy.CaptureError):
        _ = empty.registers


@pytest.mark.parametrize("name", ["a660-frame-gmem", "a220-triangle", "a690-compute"])
def test_what_a_notebook_shows(samples: Path, name: str) -> None:
    capture = cffpy.open(samples / f"{name}.rd")
    draw = capture.draws[0]
    for shown in (capture, capture.passes[0], draw, draw.state, next(draw.state.values())):
        assert repr(shown).startswith("<")
        assert "<table>" in shown._repr_html_() or "<b>" in shown._repr_html_()


@pytest.mark.slow
def test_public_names() -> None:
    for name in cffpy.__all__:
        assert getattr(cffpy, name).__doc__ or name == "__version__"
    assert set(cffpy.__all__) <= set(dir(cffpy))
    with pytest.raises(AttributeError):
        _ = cffpy.nothing
