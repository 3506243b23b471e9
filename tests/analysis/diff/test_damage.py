# SPDX-License-Identifier: MIT
"""Damaged commands of one capture are a difference where they are executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cffpy
from tests.builders import capture, type4, type7
from tests.selection import first_always

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command_server import Run

GROUP = 0x200000
SET_DRAW_STATE, DRAW, MARKER = 0x43, 0x38, 0x65
ALL_MODES = 7 << 20
#: Two registers, which the commands after them set again.
STATE = type4(0x8871, 1) + type4(0x8872, 1)


def draws(dwords: int, group: list[int], direct: list[int], count: int = 2) -> cffpy.Capture:
    """Draws with a group of this size, and with registers and other dwords before each."""
    words = type7(MARKER, 1)
    for _ in range(count):
        words += type7(SET_DRAW_STATE, ALL_MODES | dwords, GROUP, 0)
        words += [*direct, *type7(DRAW, 4 | 2 << 6, 1, 3)]
    return cffpy.open(capture(630, words, {GROUP: group}))


def titles(good: cffpy.Capture, bad: cffpy.Capture) -> list[str]:
    return [entry.title for entry in cffpy.diff(good, bad).entries]


@pytest.mark.parametrize(
    ("count", "where"), first_always([(1, "draw p0:0"), (4, "draws p0:0-3")], names=2)
)
def test_a_group_that_ends_within_a_packet(count: int, where: str) -> None:
    good, bad = (draws(size, STATE, [], count) for size in (4, 3))
    (title,) = titles(good, bad)
    damage = "damage: a packet goes 1 dwords past its stream's end"
    assert title.startswith(f"{where}: other commands before it: without {damage} → {damage}")
    assert titles(bad, bad) == []
    assert titles(bad, draws(3, STATE, [], count)) == []


def test_a_dword_that_is_no_header() -> None:
    good, bad = (draws(4, STATE, one) for one in ([0x50000000, 0], [0x60000000, 0]))
    assert good.problems != []
    damage = ["damage: no packet header: 50000000", "damage: no packet header: 60000000"]
    (title,) = titles(good, bad)
    assert f"{damage[0]} → {damage[1]}" in title


@pytest.mark.parametrize("last", range(5))
def test_a_capture_that_ends_in_its_binning_run(
    last: int, samples: Path, run_cffpy: Run, tmp_path: Path
) -> None:
    whole, cut = samples / "a660-frame-binning.rd", tmp_path / "cut.rd"
    assert run_cffpy("edit", whole, "--truncate-after-draw", f"#{last}", "-o", cut).returncode == 0
    done = run_cffpy("diff", whole, cut)
    expected = {3: b"draw p0:1 of good is missing in bad", 4: b"pass 0: tiles: 8"}
    assert expected.get(last, b"draws p0:0-1 of good are missing in bad") in done.stdout
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_register_of_one_generation_after_the_last_draw() -> None:
    """GRAS_LRZ_CNTL2 is of a7xx alone: which capture is the first one does not matter."""
    text = (
        "pm4 1\ngpu_id {}\nbuffer memory 0x10001000 size 4096 {{\n"
        "  commands main at 0x10001000 {{\n"
        "    CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
        " NUM_INSTANCES=1 NUM_INDICES=3\n    {} = 0x1\n  }}\n}}\nstream main\n"
    )
    older, newer = (
        cffpy.open(cffpy.compile(text.format(gpu, register)))
        for gpu, register in ((660, "GRAS_LRZ_CNTL"), (740, "GRAS_LRZ_CNTL2"))
    )
    for pair in ((older, newer), (newer, older)):
        assert [rule.rule for rule in cffpy.diff(*pair).rules] == ["unread"]
