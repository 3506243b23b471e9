# SPDX-License-Identifier: MIT
"""Registers to which both captures write the same are left out, and nothing is reported otherwise.

Not even for a draw that is followed by one with the same writes, while others differ.
"""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from cffpy.analysis.diff.addresses import Addresses
from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.registers import (
    RegisterList,
    RegisterNames,
    RegisterPair,
    Written,
    parted,
)
from cffpy.analysis.diff.rules import RULES
from cffpy.container.open import open_capture
from cffpy.frame.faces import facts_document
from tests.analysis.diff.frames import WAIT, DrawCall, frame, write
from tests.builders import type7
from tests.selection import first_always

PAIRS = (
    ("pair-a430-gl-scene-good", "pair-a430-gl-scene-bad-depthop"),
    ("pair-a530-gl-cube-good", "pair-a530-gl-cube-bad-viewport"),
    ("pair-a660-cube-good", "pair-a660-cube-bad-filter"),
    ("pair-a740-scene-good", "pair-a740-scene-bad-missing-draw"),
    ("pair-a740-scene-good", "pair-a740-scene-bad-mode"),
    ("pair-a740-scene-good", "pair-a740-scene-bad-pushconst"),
    ("pair2-a740-frame-good", "pair2-a740-frame-bad-msaa"),
)

REGISTERS = ("RB_DEPTH_CNTL", "GRAS_SU_CNTL", "VFD_CONTROL_0", "VFD_CONTROL_1", "RB_MRT[0].CONTROL")


def both(good: Recording, bad: Recording, hidden: frozenset[str]) -> tuple[Comparison, Comparison]:
    """With all registers looked at, and without those that are equal."""
    return (
        compare(good, bad, hidden, skips_equal=False),  # type: ignore[arg-type]
        compare(good, bad, hidden),  # type: ignore[arg-type]
    )


def documents(found: Comparison) -> list[dict[str, Any]]:
    return [facts_document(one) for one in found.entries]


def same(good: Recording, bad: Recording) -> bool:
    """Whether both find the same."""
    for hidden in (frozenset(RULES), frozenset[str]()):
        expected, found = both(good, bad, hidden)
        if (documents(found), found.hidden) != (documents(expected), expected.hidden):
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_captures(shared: Path, good: str, bad: str) -> None:
    folder = shared / "captures"
    one, other = (
        record(open_capture(str(folder / f"{name}.rd.gz")), lambda line: None)
        for name in (good, bad)
    )
    assert same(one, other)


def test_most_draws_of_a_pair_write_the_same(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter: registers of such draws are not looked at."""
    folder = shared / "captures"
    one, other = (
        record(open_capture(str(folder / f"pair-a740-scene-{name}.rd.gz")), lambda line: None)
        for name in ("good", "bad-blend")
    )
    settled: list[RegisterPair] = []
    settling = RegisterPair.settle

    def counted(of: RegisterPair) -> None:
        settled.append(of)
        settling(of)

    monkeypatch.setattr(RegisterPair, "settle", counted)
    assert compare(one, other, frozenset(RULES)).entries
    with_equal = len(settled)
    settled.clear()
    compare(one, other, frozenset(RULES), skips_equal=False)
    assert with_equal < len(settled) / 2


def test_registers_at_the_same_position_are_apart() -> None:
    of = RegisterList((), is_whole=True, counts=False, has_commands=False, keys=None)
    first, second, third = (Written({1: number}, of) for number in range(3))
    assert parted([first, second], [first, second]) == ([first, second], ())
    assert parted([first, second], [first, third]) == ([first], [second, third])
    assert parted([first, second], [second, first]) == ([], [first, second, second, first])
    assert parted([first], [first, second]) == ((), [first, first, second])
    assert parted([first], [Written({1: 0}, of)]) == ([first], [])
    unknown = Written({1: 0}, of, frozenset((2,)))
    assert parted([first], [unknown]) == ([], [first, unknown])


def test_both_sides_have_one_key_for_one_name() -> None:
    """Of two generations, too."""
    names = RegisterNames()
    assert names.key("RB_ONE", 0x10) == 0x10
    assert names.key("RB_TWO", 0x11) == 0x11
    assert names.key("RB_ONE", 0x20) == 0x10
    moved = names.key("RB_OTHER", 0x11)  # the offset is that of another one
    assert moved not in (0x10, 0x11, 0x20)
    assert names.names[moved] == "RB_OTHER"


def changed(rng: random.Random, draws: list[dict[str, int]]) -> list[dict[str, int]]:
    """The same writes with a few changed, left out or added."""
    result = [dict(draw) for draw in draws]
    for _ in range(rng.randrange(4)):
        draw = rng.choice(result)
        name = rng.choice(REGISTERS)
        if name in draw and rng.random() < 0.4:
            del draw[name]
        else:
            draw[name] = rng.randrange(4)
    return result


@pytest.mark.parametrize("seed", first_always(range(12)))
def test_random_frames(seed: int) -> None:
    rng = random.Random(seed)
    draws = [{name: rng.randrange(4) for name in REGISTERS if rng.random() < 0.4} for _ in range(6)]
    frames = [
        frame([DrawCall(3 + number, one) for number, one in enumerate(changed(rng, draws))])
        for _ in range(3)
    ]
    for good, bad in combinations(frames, 2):
        assert same(good, bad)


#: A texture of set 0 is sampled before the fragment shader starts: its slot is in another register.
PREFETCHES = {"SP_FS_PREFETCH_CNTL": 1, "SP_FS_PREFETCH[0].CMD": 1 << 28}

#: Where the descriptor sets, and what may be bound as vertices, begin.
SETS, VERTICES = 0x20000, 0x30000


def random_draw(rng: random.Random) -> DrawCall:
    """With few values, so that draws often have what others have."""
    packets: list[int] = []
    if rng.random() < 0.3:
        packets += write("SP_BINDLESS_BASE[0].DESCRIPTOR", SETS + 0x100 * rng.randrange(4) + 3, 0)
    if rng.random() < 0.3:
        packets += write("VFD_FETCH[0].BASE", VERTICES + 0x40 * rng.randrange(3), 0)
    if rng.random() < 0.1:
        packets += write("VFD_FETCH[0].BASE", VERTICES + 0x40 * rng.randrange(3))
    if rng.random() < 0.1:
        packets += type7(WAIT)
    if rng.random() < 0.1:
        packets += write("SP_FS_BINDLESS_PREFETCH[0].CMD", rng.randrange(2) << 16)
    registers = {name: rng.randrange(2) for name in REGISTERS if rng.random() < 0.2}
    return DrawCall(rng.choice((3, 3, 3, 6)), registers, packets)


def random_frame(draws: list[DrawCall], contents: bytes) -> Recording:
    """In two passes."""
    half = len(draws) // 2
    draws[0] = DrawCall(3, PREFETCHES, draws[0].packets)
    buffers = {SETS: contents, VERTICES: bytes(range(256))}
    return frame(draws[:half], draws[half:], buffers=buffers)


@pytest.mark.parametrize("seed", first_always(range(20), 2))
def test_random_frames_with_sets_and_addresses(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Several draws in a row are equal; a few others, or the contents of a set, are not."""
    rng = random.Random(seed)
    draws = [random_draw(rng) for _ in range(24)]
    contents = bytearray(0x400)
    for offset in range(0, len(contents), 0x40):
        contents[offset : offset + 4] = (VERTICES + 0x40 * rng.randrange(4)).to_bytes(4, "little")
        contents[offset + 16] = rng.randrange(3)
    others = list(draws)
    for _ in range(rng.randrange(1, 3)):
        position = rng.randrange(len(others))
        others[position : position + rng.randrange(2)] = [random_draw(rng)][: rng.randrange(2)]
    changed_contents = bytearray(contents)
    if rng.random() < 0.3:
        changed_contents[rng.randrange(len(contents))] ^= 1
    good = random_frame(draws, bytes(contents))
    bad = random_frame(others, bytes(changed_contents))
    noted: list[set[int]] = []
    differences = Addresses.differences

    def seen(of: Addresses, *given: Any) -> Any:
        noted.append(of._equal)
        return differences(of, *given)

    monkeypatch.setattr(Addresses, "differences", seen)
    assert same(good, bad)
    assert len(noted) == 4
    assert noted[::2] == noted[1::2]
    assert noted[0]
