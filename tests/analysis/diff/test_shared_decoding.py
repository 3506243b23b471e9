# SPDX-License-Identifier: MIT
"""What the two walks of a comparison share, and what draws share in one: the results stay the same.

Each memo is switched off in turn, and its counter shows that it hits.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.diff import recording as recording
from cffpy.analysis.diff.addresses import BoundAddresses
from cffpy.analysis.diff.differences import Differ
from cffpy.analysis.diff.recording import Shared
from cffpy.analysis.diff.registers import CaptureRegisters
from cffpy.analysis.inputs import descriptor_sets, facts
from cffpy.cp import decoded
from cffpy.errors import CffpyError
from tests.analysis.passes.streams import Streams
from tests.builders import damaged, type4, type7
from tests.selection import first_always

#: Captures and the field that is changed wherever it is written.
EDITS = (
    ("a220-gl-passes", "RB_DEPTHCONTROL.ZFUNC"),
    ("a320-gl-scene150-720p", "RB_DEPTH_CONTROL.ZFUNC"),
    ("a430-gl-scene150-720p", "RB_DEPTH_CONTROL.ZFUNC"),
    ("a530-gl-scene-msaa4", "RB_DEPTH_CNTL.ZFUNC"),
    ("a660-gl-scene-msaa4-1080p", "RB_DEPTH_CNTL.ZFUNC"),
    ("a740-vk-frame-msaa4-1080p", "RB_DEPTH_CNTL.ZFUNC"),
)

PAIRS = (
    ("pair-a530-gl-cube-good", "pair-a530-gl-cube-bad-viewport"),
    ("pair-a660-cube-good", "pair-a660-cube-bad-filter"),
    ("pair-a740-scene-good", "pair-a740-scene-bad-missing-draw"),
    ("pair2-a740-frame-good", "pair2-a740-frame-bad-msaa"),
)

#: How each memo is switched off.
Switch = Callable[[pytest.MonkeyPatch], None]
SWITCHES: dict[str, Switch] = {
    "streams": lambda patch: patch.setattr(decoded, "MAX_KEPT", 0),
    "regions": lambda patch: patch.setattr(facts, "MAX_REGIONS", 0),
    "sets": lambda patch: patch.setattr(descriptor_sets, "MAX_SETS", 0),
    "facts": lambda patch: patch.setattr(facts, "MAX_KNOWN", 0),
    "addresses": lambda patch: patch.setattr(CaptureRegisters, "_has_halves", lambda *_: False),
    "differences": lambda patch: patch.setattr(Differ, "register", _afresh(Differ.register)),
}


def _afresh(register: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *given: register(self, *given[:-1], ())


def document(good: bytes | str, bad: bytes | str) -> str:
    """All that a comparison finds, with nothing hidden, and the problems of both captures."""
    try:
        captures = cffpy.open(good), cffpy.open(bad)
        found = cffpy.diff(*captures, strict=True)
    except CffpyError as error:
        return str(error)
    problems = [[str(one) for one in capture._source.problems] for capture in captures]
    return json.dumps([found.to_dict(), problems])


def edited(path: Path, field: str) -> bytes:
    """A copy with another comparison of depth."""
    return cffpy.edit(cffpy.open(str(path)), set_registers={field: "FUNC_ALWAYS"})


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize(("name", "field"), EDITS)
def test_edits(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str, field: str, switch: str
) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    both = str(path), edited(path, field)
    found = document(*both)
    SWITCHES[switch](monkeypatch)
    assert document(*both) == found
    assert document(*both[::-1]) != found


@pytest.mark.slow
@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("pair", PAIRS)
def test_pairs(
    shared: Path, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str], switch: str
) -> None:
    both = [str(shared / "captures" / f"{name}.rd.gz") for name in pair]
    found = document(*both)
    SWITCHES[switch](monkeypatch)
    assert document(*both) == found


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_always(range(40)))
def test_damaged(samples: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    path = random.Random(seed).choice(sorted(samples.glob("a[2-8]*.rd.gz")))
    data = gzip.decompress(path.read_bytes())
    found = document(data, damaged(data, seed))
    for switch in SWITCHES.values():
        with monkeypatch.context() as patch:
            switch(patch)
            assert document(data, damaged(data, seed)) == found


class _Shared(Shared):
    """The last one that was made."""

    last: Shared

    def __init__(self) -> None:
        super().__init__()
        type(self).last = self


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", first_always(["a320-gl-scene150-720p", "a740-vk-frame-msaa4-1080p"])
)
def test_draws_are_taken_over(shared: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A counter: most draws of an edited copy are not decoded again."""
    path = shared / "captures" / f"{name}.rd.gz"
    good, bad = cffpy.open(str(path)), cffpy.open(edited(path, dict(EDITS)[name]))
    monkeypatch.setattr(recording, "Shared", _Shared)
    assert cffpy.diff(good, bad).differs
    draws = sum(len(one.draws) for one in good.passes)
    assert _Shared.last.streams.draws_taken > draws / 2
    assert _Shared.last.facts.regions.taken > 0
    assert name.startswith("a3") or _Shared.last.sets.taken > 0


def patched(value: int, before: int) -> bytes:
    """A stream that runs, is written to, and runs again; a copy has ``before`` in it at first."""
    s = Streams(660)
    depth = s.offset("RB_DEPTH_CNTL")
    draw = type7(s.opcode("CP_DRAW_INDX_OFFSET"), 0x84, 1, 3)
    commands = [*type4(depth, before), *draw, *type4(depth + 1, 1), *draw]
    s.buffers[0x8000] = commands
    call = type7(s.opcode("CP_INDIRECT_BUFFER"), 0x8000, 0, len(commands))
    write = type7(s.opcode("CP_MEM_WRITE"), 0x8004, 0, value)
    return s.capture([[[*call, *write, *call]]])


@pytest.mark.parametrize(
    ("value", "before"), first_always([(2, 1), (1, 2), (3, 2), (2, 2)], names=2)
)
def test_memory_that_is_written_to(
    monkeypatch: pytest.MonkeyPatch, value: int, before: int
) -> None:
    """What is kept is what was decoded, not what a packet has stored there since."""
    both = patched(2, 1), patched(value, before)
    found = document(*both)
    SWITCHES["streams"](monkeypatch)
    assert document(*both) == found


@pytest.mark.slow
def test_places_are_those_of_the_second_capture(shared: Path) -> None:
    """Of a file with the same commands elsewhere in it."""
    path = shared / "captures" / "a740-vk-frame-msaa4-1080p.rd.gz"
    copy = edited(path, "RB_DEPTH_CNTL.ZFUNC")
    moved = bytes.fromhex("0200000004000000") + b"cmd\0" + copy
    texts = [str(one.bad_place) for one in _differences(str(path), copy)]
    others = [str(one.bad_place) for one in _differences(str(path), moved)]
    assert texts
    assert [_moved(one, 12) for one in texts] == others


def _differences(good: str, bad: bytes | str) -> list[Any]:
    found = cffpy.diff(cffpy.open(good), cffpy.open(bad))
    return [one for entry in found.entries for one in entry.differences]


def _moved(place: str, by: int) -> str:
    head, _, offset = place.rpartition(" +")
    return f"{head} +{int(offset, 16) + by:#x}"


@pytest.mark.slow
def test_addresses_are_noted_once(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter."""
    both = [
        str(shared / "captures" / f"pair-a740-scene-{name}.rd.gz") for name in ("good", "bad-blend")
    ]
    counts = []
    for switch in (None, SWITCHES["addresses"]):
        with monkeypatch.context() as patch:
            if switch is not None:
                switch(patch)
            counts.append(0)
            noting = BoundAddresses._addresses_in

            def counted(of: Any, found: Any, noting: Any = noting) -> Any:
                counts[-1] += 1
                return noting(of, found)

            patch.setattr(BoundAddresses, "_addresses_in", counted)
            document(*both)
    assert 0 < counts[0] < counts[1]
