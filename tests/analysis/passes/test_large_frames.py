# SPDX-License-Identifier: MIT
"""Large frames are shown whole: the defaults of the limits grow with the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.analysis.visibility import VisibilityReader
from cffpy.container.open import open_bytes
from cffpy.limits import MAX_KEPT, Limits
from cffpy.views.model_documents import passes_document
from tests.analysis.passes.batches import Batch, capture
from tests.analysis.passes.frames import frames_capture
from tests.selection import first_always
from tests.tile_streams import saying


def check(frames: int, draws: int, tiles: int, limits: Limits | None = None) -> int:
    """Passes, draws and tiles of a capture are complete; how many of them there are."""
    content = open_bytes(frames_capture(frames, draws, tiles), limits=limits)
    finder, damage = find_passes(content, pytest.fail)
    assert (damage, finder.found.truncated, content.truncated) == ([], [], [])
    passes = finder.found.passes
    assert [one.submit for one in passes] == list(range(frames))
    for one in passes:
        assert one.hardware_binning
        assert len(one.draws) == draws
        assert [len(tile.draws) for tile in one.tiles] == [draws] * tiles
    assert len(finder.actions) == frames * draws * (1 + tiles)
    assert [action.dump_draw for action in finder.actions] == list(range(len(finder.actions)))
    documents = list(passes_document(finder.found, passes)["passes"])
    assert [one["submit"] for one in documents] == list(range(frames))
    by_tile = VisibilityReader(finder.found).read(passes[-1]).by_tile
    primitives = {number: of.primitives for number, of in by_tile.items()}
    said = saying(passes[-1], primitives)
    assert len(said) == tiles
    assert {tile.emitted for tile in said} == {draws}
    return len(finder.actions) + frames * (1 + tiles)


def test_frames() -> None:
    assert check(2, 5, 3) == 2 * (5 * 4 + 4)


@pytest.mark.slow
def test_frames_of_4000_draws_in_10_tiles() -> None:
    assert check(6, 4000, 10) > 1 << 18


def test_the_limit_grows_with_the_file() -> None:
    data = frames_capture(6, 4000, 10)
    kept = 6 * (4000 * 11 + 11)
    assert Limits().of_capture(len(data)).kept > 4 * kept
    # the same with all buffers captured once
    assert Limits().of_capture(4 * 4000 * 4).kept > 2 * kept
    assert Limits().of_capture(0).kept == MAX_KEPT


@pytest.mark.parametrize("command", first_always(["passes", "draws", "tiles"]))
def test_a_cut_is_marked_everywhere(tmp_path: Path, run_cffpy, command: str) -> None:
    path = tmp_path / "frames.rd"
    path.write_bytes(frames_capture(1, 20, 5))
    for options, entries in (((), False), (("--limit", "draws=70"), True)):
        text = run_cffpy(command, *options, path)
        document = run_cffpy(command, "--json", *options, path)
        table = run_cffpy(command, "--csv", *options, path)
        codes = {done.returncode for done in (text, document, table)}
        assert codes == {1 if entries else 0}
        assert text.stdout.splitlines()[-1].startswith(b"truncated: ") is entries
        truncated = json.loads(document.stdout).get("truncated")
        if not entries:
            assert (truncated, text.stderr) == (None, b"")
            continue
        (cut,) = truncated
        assert cut["limit"] == "draws"
        assert "stream 0: more than 70 passes, tiles and draws" in cut["where"]
        assert b"--limit draws=N or CFFPY_MAX_DRAWS" in text.stderr


_COMMANDS = ("passes", "tiles --pass 0 --csv", "draws --all --json", "check", "lrz", "info")


@pytest.mark.parametrize("command", first_always(_COMMANDS))
@pytest.mark.parametrize("gpu", [220, 330, 430, 530])
def test_the_limit_is_met_while_the_last_pass_is_closed(
    tmp_path: Path, run_cffpy, gpu: int, command: str
) -> None:
    """A draw before any run waits for its pass, and gets one of its own when the capture ends."""
    path = tmp_path / "late.rd"
    path.write_bytes(capture(Batch(gpu).draw(vertices=0)))
    done = run_cffpy(*command.split(), "--limit", "draws=1", path)
    assert done.returncode == 1 or command == "info"
    assert b"internal error" not in done.stderr
    assert b"more than 1 passes, tiles and draws" in done.stderr + done.stdout or command == "info"


def test_the_limit_is_met_where_another_gpu_begins() -> None:
    """The walk goes on with the other GPU."""
    early = Batch(399).draw(vertices=0).draw(vertices=0)
    content = open_bytes(capture(early, Batch(430).draw()), limits=Limits(draws=2))
    finder, _ = find_passes(content, lambda line: None)
    found = finder.found
    assert (found.generation, [len(one.draws) for one in found.passes]) == (4, [1])
    (cut,) = found.truncated
    assert cut.limit == "draws"


def test_a_cut_is_trouble_for_diff(tmp_path: Path, run_cffpy) -> None:
    path = tmp_path / "frames.rd"
    path.write_bytes(frames_capture(1, 20, 5))
    assert run_cffpy("diff", path, path).returncode == 0
    done = run_cffpy("diff", "--limit", "draws=70", path, path)
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1].startswith(b"truncated: ")
    done = run_cffpy("diff", "--json", "--limit", "draws=70", path, path)
    assert [cut["limit"] for cut in json.loads(done.stdout)["truncated"]] == ["draws", "draws"]
