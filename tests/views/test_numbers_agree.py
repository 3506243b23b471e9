# SPDX-License-Identifier: MIT
"""passes, tiles, draws, state and dump --annotate print the same numbers for the same capture.

Of the samples, of streams put together at random, and of mutants of both.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_bytes, open_capture
from cffpy.errors import CffpyError
from cffpy.frame.faces import facts_document
from cffpy.views import draws as draws_view
from cffpy.views import passes as passes_view
from cffpy.views.cffdump.annotate import draw_lines
from cffpy.views.model_documents import passes_document, tiles_document
from tests.analysis.passes.batches import Batch
from tests.analysis.passes.batches import find as find_batches
from tests.analysis.passes.marked import COLOUR, between, bins, move, sysmem, targets, tile
from tests.analysis.passes.streams import Streams
from tests.analysis.register_store.replay import state_at
from tests.fuzz.captures import file_bytes, parse
from tests.fuzz.mutate import flip
from tests.views.test_annotate import dumps

SEED = 20
MUTANTS = 40
COMPOSED = 12

#: The annotation of a draw: kind, number, pass, binning, tile, number in the dump.
SAID = re.compile(
    rb"^#cffpy (draw|dispatch|blit|resolve|lrz clear) (\d+) of pass (\d+)"
    rb"(, binning run)?(?:, tile (\d+))?(?: \(dump draw (\d+)\))?(?:; .*)?$",
    re.MULTILINE,
)


def find(data: bytes) -> PassFinder | None:
    """The passes of a capture; None if its GPU is unknown."""
    try:
        return find_passes(open_bytes(data), lambda line: None)[0]
    except CffpyError:
        return None


def composed(rng: random.Random, gpu: int) -> bytes:
    """Passes of all kinds, and what may lie between them."""
    s = Streams(gpu)
    draws = s.ib(
        targets(s),
        s.only("sysmem", commands=s.packet("CP_BLIT", 3)),
        s.draw(),
        s.when(1, s.draw(4)),
        s.only("gmem", commands=move(s, "CLEAR", 0)),
        s.draw(2, "DI_PT_RECTLIST"),
        s.draw(6),
    )

    def gmem(count: int) -> list[int]:
        code = []
        if rng.random() < 0.5:
            scissor = s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 128 * count, 96)
            code += [*s.marker("RM6_BIN_VISIBILITY"), *scissor, *bins(s, 128, 96), *draws]
        for column in range(count):
            stores = [*move(s, "STORE", 0, COLOUR), *s.packet("CP_BLIT", 3)]
            code += tile(s, 128 * column, 0, 128, 96, draws, stores)
        return code + (between(s) if rng.random() < 0.7 else [])

    kinds = (
        lambda: gmem(rng.randrange(1, 5)),
        lambda: sysmem(s, s.draw(), draws),
        lambda: s.packet("CP_BLIT", 3) * rng.randrange(1, 4),
        lambda: [*s.marker("RM6_COMPUTE"), *s.packet("CP_EXEC_CS", 0, 1, 2, 3) * 2],
        lambda: s.event("LRZ_CLEAR"),
        lambda: s.draw(),
    )
    streams = [
        [[rng.choice(kinds)() for _ in range(rng.randrange(1, 6))] for _ in range(2)]
        for _ in range(rng.randrange(1, 3))
    ]
    return s.capture(*streams)


def captures(samples: Path) -> list[bytes]:
    rng = random.Random(SEED)
    found = [open_capture(str(path)).data for path in sorted(samples.glob("*.rd*"))]
    return [bytes(data) for data in found] + [
        composed(rng, rng.choice((630, 740))) for _ in range(COMPOSED)
    ]


def check(data: bytes) -> None:
    finder = find(data)
    if finder is None:
        return
    actions = [facts_document(action) for action in finder.actions]
    passes = list(passes_document(finder.found, finder.found.passes)["passes"])
    numbers = [action["dump_draw"] for action in actions if action["dump_draw"] is not None]
    assert numbers == sorted(set(numbers))
    assert [one["pass"] for one in passes] == list(range(len(passes)))
    belongs = Counter(
        (action.order, one.index) for one in finder.found.passes for action in one.actions
    )
    assert set(belongs.values()) <= {1}
    assert sorted(belongs) == sorted(
        (action.order, action.pass_index)
        for action in finder.actions
        if action.pass_index is not None
    )
    for one, found in zip(passes, finder.found.passes, strict=True):
        mine = [action for action in actions if action["pass"] == one["pass"]]
        told = {action["draw"] for action in mine} - {None}
        assert told == set(range(one["draw_count"]))
        by_number = {action["dump_draw"]: action["draw"] for action in mine}
        for number, dump_draw in enumerate(one["dump_draws"]):
            assert dump_draw is None or by_number[dump_draw] == number
        roles = Counter((action["role"], action["tile"]) for action in mine)
        for operation in one["operations"]:
            assert roles[operation["kind"], operation["tile"]]
        tiles = list(tiles_document(finder.found, found, found.tiles)["tiles"])
        assert len(tiles) == one["tile_count"]
        for tile_number, shown in enumerate(tiles):
            drawn = [a for a in mine if a["tile"] == tile_number and not a["binning"]]
            assert shown["emitted"] == sum(a["draw"] is not None for a in drawn)
    row_counts = Counter(draws_view.cells(action)[1] for action in finder.actions)
    assert row_counts == Counter(
        "" if action["pass"] is None else str(action["pass"]) for action in actions
    )
    totals = list(passes_view.lines(finder.found, finder.found.submits))
    for submit in sorted({one["submit"] for one in passes}):
        mine = [one for one in passes if one["submit"] == submit and one["kind"] == "render"]
        drawn = sum(one["draw_count"] for one in mine)
        line = next(line for line in totals if line.startswith(f"submit {submit}:"))
        assert f" {drawn:,} program draw" in line


def check_state(data: bytes, rng: random.Random) -> None:
    finder = find(data)
    executed = [] if finder is None else [a for a in finder.actions if a.execution.is_possible]
    for action in rng.sample(executed, min(3, len(executed))):
        state = state_at(open_bytes(data), action.order, lambda line: None)
        assert state is not None
        told = facts_document(state.action)
        same = ("dump_draw", "kind", "packet", "vertices", "executed", "place", "tile", "binning")
        wanted = facts_document(action)
        assert [told[key] for key in same] == [wanted[key] for key in same]
        assert {target.name for target in state.action.targets} == {
            target.name for target in action.targets
        }


def check_annotations(data: bytes) -> None:
    """Everything that draws lists is in the dump, the same number of times."""
    finder = find(data)
    if finder is None or finder.found.problems:
        return
    _, annotated = dumps(data)
    begun = re.findall(rb"^#cffpy pass (\d+) begins", annotated, re.MULTILINE)
    assert list(map(int, begun)) == list(range(len(finder.found.passes)))
    said = [
        (kind.decode(), int(number), int(of_pass), bool(binning), _number(tile), _number(dump))
        for kind, number, of_pass, binning, tile, dump in SAID.findall(annotated)
    ]
    assert said == [
        (
            action.kind,
            action.number,
            action.pass_index,
            action.binning,
            action.tile_number,
            action.dump_draw,
        )
        for action in finder.actions
        if action.number is not None
    ]


def _number(digits: bytes) -> int | None:
    return int(digits) if digits else None


@pytest.mark.slow
def test_of_samples_and_composed_streams(samples: Path) -> None:
    rng = random.Random(SEED)
    for data in captures(samples):
        check(data)
        check_state(data, rng)


@pytest.mark.slow
def test_in_the_annotated_dump() -> None:
    rng = random.Random(SEED)
    for _ in range(COMPOSED):
        check_annotations(composed(rng, rng.choice((630, 740))))


@pytest.mark.fuzz
def test_of_mutants(samples: Path) -> None:
    rng = random.Random(SEED)
    sound = captures(samples)
    for _ in range(MUTANTS):
        parts = parse(rng.choice(sound))
        commands = [part for part in parts if len(part.payload) > 64]
        for part in rng.sample(commands, min(2, len(commands))):
            part.payload = bytearray(flip(rng, bytes(part.payload), rng.choice((1, 4, 20))))
        data = file_bytes(parts)
        check(data)
        check_state(data, rng)


@pytest.mark.parametrize("gpu", [330, 430])
def test_one_rectangle_that_loads_two_buffers(gpu: int) -> None:
    """Two operations, but one draw of the dump."""
    batch = Batch(gpu).set("RB_FRAME_BUFFER_DIMENSION", WIDTH=64, HEIGHT=32)
    batch.set("RB_DEPTH_CONTROL", 0)
    for number in (0, 1):
        batch.set(f"RB_MRT[{number}].BUF_INFO", COLOR_FORMAT=8, COLOR_BUF_PITCH=256)
    batch.draw(8, 2).packet(0x4C, 0, 0, 31 | 31 << 16).call(batch.ib().draw())
    finder = find_batches(batch)
    (found,) = finder.found.passes
    assert [operation.kind for operation in found.tiles[0].operations] == ["load", "load"]
    assert [action.order for action in found.actions] == [0, 1]
    notes = [note.text for note in draw_lines(finder)]  # type: ignore[arg-type]
    assert [text.count("load by") for text in notes] == [2, 0]
