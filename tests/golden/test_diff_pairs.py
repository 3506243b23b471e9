# SPDX-License-Identifier: MIT
"""Pairs of recorded captures: the change of the program is the first entry.

captures/pairs.json has the change of each program; the tables here have the expected entry: its
location and its first field.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cffpy.analysis.diff.align import DrawKeys
from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison, Entry
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.rules import RULES
from cffpy.analysis.inputs.recorder import LOADED
from cffpy.container.open import open_bytes, open_capture
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import NewSection, capture_bytes
from tests.golden.diff_edits import file_offset, load
from tests.selection import first_always
from tests.tile_streams import NewTile, Stream, View

HIDDEN = frozenset(RULES)

#: Last part of the bad capture's name -> its first entry's title.
EXPECTED = {
    "depthop": r"draws p24:0-23: RB_DEPTH_CONTROL\.ZFUNC: FUNC_LESS → FUNC_ALWAYS",
    "bad-viewport": r"(draw p24:0|draws p0:0-39): GRAS_CL_VPORT\S*XOFFSET\S*: ",
    "filter": r"draw p0:0: sampler .*: ANISO: A6XX_TEX_ANISO_8 → A6XX_TEX_ANISO_1",
    "fov": r"draw p0:0: uniform data .* \(2 of 64 words\)",
    "texfmt": r"draw p0:0: texture .*: SRGB: FALSE → TRUE",
    "zclear": r"pass 0: clear value of depth: 1\.0 \(00ffffff\) → 0\.0 \(00000000\)",
    "blend": r"draws p0:10-14: RB_(BLEND_CNTL|MRT\[0\]\.(BLEND_)?CONTROL)\.",
    "missing-draw": r"draw p0:17 of good is missing in bad",
    "mode": r"pass 0: sysmem in bad, gmem 3x1 in good",
    "pushconst": r"draw p0:20: HLSQ_SHARED_CONSTS_IMM\[12\]",
    "shader": r"draws p0:15-19: shader FS: ",
    "load": r"pass 0: color 0 at the start: clear → load",
    "nostore": r"pass 0: color 0 at the end: store → nothing",
    "size": r"pass 0: framebuffer: 1280x720 → 1272x720",
    "msaa": r"pass 1: samples: 1 → 4",
}


def recording(path: Path) -> Recording:
    return record(open_capture(str(path)), lambda line: None)


def compared(good: Path, bad: Path) -> Comparison:
    return compare(recording(good), recording(bad), HIDDEN)


def pairs(shared: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((shared / "captures" / "pairs.json").read_text())
    return found


def capture(shared: Path, name: str) -> Path:
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    return path


def flat(entries: list[Entry]) -> set[tuple[str, str, str]]:
    found = set()
    for entry in entries:
        found |= {(d.name, d.good, d.bad) for d in entry.differences}
        found |= flat(entry.consequences)
    return found


@pytest.mark.slow
def test_the_change_is_the_first_entry_and_the_only_one(shared: Path) -> None:
    for pair in pairs(shared):
        kind = next((kind for kind in EXPECTED if pair["bad"].endswith(kind)), None)
        if kind is None:
            continue
        result = compared(capture(shared, pair["good"]), capture(shared, pair["bad"]))
        titles = [entry.title for entry in result.entries]
        assert titles, pair
        assert re.match(EXPECTED[kind], titles[0]), (pair, titles)
        assert len(titles) == 1, (pair, titles)


def test_every_kind_of_pair_has_an_expectation(shared: Path) -> None:
    unknown = [
        pair["bad"]
        for pair in pairs(shared)
        if not any(pair["bad"].endswith(kind) for kind in EXPECTED)
    ]
    assert unknown == []


@pytest.mark.parametrize(
    "name",
    first_always(
        [
            "a220-gl-cube",
            "a330-gl-inst-mrt",
            "a430-gl-compute",
            "a530-gl-blit-msaa",
            "a630-gl-indirect",
            "a660-vk-dynrend-msaa-gmem",
            "a740-vk-geom-gmem",
            "a740-vk-xfer",
            "edge-missing-ib-bo",
        ]
    ),
)
def test_a_capture_against_itself_has_no_difference(shared: Path, name: str) -> None:
    path = capture(shared, name)
    result = compared(path, path)
    assert result.entries == []
    assert result.hidden == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_always(["shader", "blend", "load", "size", "texfmt"]))
def test_the_other_way_round_the_same_differs(shared: Path, kind: str) -> None:
    pair = next(pair for pair in pairs(shared) if pair["bad"].endswith(kind))
    good, bad = capture(shared, pair["good"]), capture(shared, pair["bad"])
    one, other = recording(good), recording(bad)
    forth, back = compare(one, other, HIDDEN), compare(other, one, HIDDEN)
    turned = {(name, bad, good) for name, good, bad in flat(back.entries)}
    assert flat(forth.entries) == turned


def submits(path: Path) -> list[bytes]:
    """A capture divided into one for each submit, each with the sections that name the GPU."""
    head: list[NewSection] = []
    cut: list[list[NewSection]] = [[]]
    streamed = False
    for section in iter_sections(open_capture(str(path)).data):
        new = NewSection(section.type, bytes(section.payload))
        if section.type in (SectionType.GPU_ID, SectionType.CHIP_ID):
            head.append(new)
            continue
        if section.type == SectionType.GPUADDR and streamed:
            cut.append([])
            streamed = False
        streamed = streamed or section.type == SectionType.CMDSTREAM_ADDR
        cut[-1].append(new)
    return [capture_bytes([*head, *sections]) for sections in cut]


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        pytest.param("BIG-a730-vk-scene1000-unsorted-sysmem-2frames", 1, 2, marks=pytest.mark.slow),
        ("a730-vk-passes3-load-same-fb", 1, 2),
    ],
)
def test_two_frames_of_one_program_at_other_addresses_are_the_same(
    shared: Path, name: str, one: int, other: int
) -> None:
    cut = submits(capture(shared, name))
    assert cut[one] != cut[other]
    first, second = (record(open_bytes(cut[number]), lambda line: None) for number in (one, other))
    assert [entry.title for entry in compare(first, second, HIDDEN).entries] == []


@pytest.mark.parametrize(
    ("name", "one", "other"),
    first_always(
        [
            ("a618-vk-cube-gmem-forcebin", 1, 2),
            ("BIG-a660-vk-cube-100frames-101submits", 5, 50),
        ],
        names=3,
    ),
)
def test_frames_of_a_cube_that_turns_differ_in_its_matrix_alone(
    shared: Path, name: str, one: int, other: int
) -> None:
    cut = submits(capture(shared, name))
    first, second = (record(open_bytes(cut[number]), lambda line: None) for number in (one, other))
    (entry,) = compare(first, second, HIDDEN).entries
    assert re.match(r"draw p\d:0: push constants 0 \(4 of 20 words\): ", entry.title)


def test_a_frame_whose_uniform_data_alone_changes_differs_in_that(shared: Path) -> None:
    cut = submits(capture(shared, "a660-vkcube-5frames"))
    first, second = (record(open_bytes(cut[number]), lambda line: None) for number in (1, 2))
    entries = compare(first, second, HIDDEN).entries
    assert len(entries) == 1
    assert entries[0].title.startswith("draw p0:0: uniform data ")


def test_gears_that_turn_differ_in_constants_alone(shared: Path) -> None:
    cut = submits(capture(shared, "glxgears-a420"))
    first, second = (record(open_bytes(cut[number]), lambda line: None) for number in (3, 5))
    found = flat(compare(first, second, HIDDEN).entries)
    assert found
    assert {name.partition(" (")[0] for name, _, _ in found} == {"constants VS 0"}


#: Captures of one program with other driver options -> the first entry, and the number of entries.
OPTIONS = [
    (
        "a740-vk-var-unalignedstore",
        "a740-vk-var-dynamic",
        r"pass 0: color 0 is stored by: CP_BLIT → BLIT event$",
        1,
    ),
    ("a740-vk-var-dynamic", "a740-vk-var-noubwc", r"pass 0: color 0 UBWC: TRUE → FALSE", 1),
    ("a740-vk-var-dynamic", "a740-vk-var-syncdraw", r"CP_WAIT_FOR_IDLE.* before draws p0:0-49", 1),
    ("a740-vk-var-dynamic", "a740-vk-var-flushall", r"PC_CCU_INVAL.* before draws p0:0-49", 3),
    (
        "a740-vk-var-dynamic",
        "a740-vk-var-rastorder",
        r"draws p0:0-49: GRAS_SC_CNTL\.SINGLE_PRIM_MODE: NO_FLUSH → FLUSH_PER_OVERLAP",
        1,
    ),
    ("a740-vk-var-nolrzfc", "a740-vk-var-dynamic", r"pass 0 of good is missing in bad", 2),
    (
        "a740-vk-scene300-1440p-gmem-forcebin",
        "a740-vk-scene300-1440p-gmem-nobin",
        r"pass 0: binning: hardware → no$",
        1,
    ),
    ("a530-gl-scene60-nobin", "a530-gl-scene-msaa4", r"pass 24: samples: 1 → 4", 1),
    # two generations: fields that only one of them has are no differences
    ("a690-vk-multiview", "a740-vk-multiview-gmem", r"pass 0: depth UBWC: FALSE → TRUE", 2),
]


@pytest.mark.parametrize(("good", "bad", "first", "count"), first_always(OPTIONS, names=4))
def test_what_a_driver_option_changes(
    shared: Path, good: str, bad: str, first: str, count: int
) -> None:
    titles = [e.title for e in compared(capture(shared, good), capture(shared, bad)).entries]
    assert len(titles) == count, titles
    assert all(re.match(first, title) for title in titles[:1]), titles


@pytest.mark.slow
def test_only_the_draw_with_other_push_constants_is_another_draw(shared: Path) -> None:
    good, bad = (
        recording(capture(shared, f"pair-a740-scene-{name}")) for name in ("good", "bad-pushconst")
    )
    draws = good.of(good.passes.passes[0]), bad.of(bad.passes.passes[0])
    keys = [DrawKeys(one).own for one in (good, bad)]
    others = [
        number
        for number, (one, other) in enumerate(zip(*draws, strict=True))
        if keys[0][one.action.order] != keys[1][other.action.order]
    ]
    assert others == [20]


def test_descriptors_of_storage_are_compared(shared: Path) -> None:
    content = load(bytes(open_capture(str(capture(shared, "a430-gl-compute"))).data))
    good = record(content, lambda line: None)
    key = "storage size", "CS", 0
    fact = next(fact for one in good.records.values() if (fact := one.facts[LOADED].get(key)))
    assert fact.data is not None
    data = bytearray(content.data)
    data[file_offset(content, fact.data) + 2] ^= 1
    bad = record(open_bytes(bytes(data)), lambda line: None)
    (entry,) = compare(good, bad, HIDDEN).entries
    assert entry.differences[0].name == "storage size CS 0: WIDTH"


#: Captures of one program by drivers of 25.0.7 and of 26.0: the older, the newer, and how many of
#: the program's draws both have. Each draw of the older has its partner; what the newer has besides
#: are passes that the older was not asked to keep.
OF_TWO_DRIVERS = [
    ("a530-gl-scene60-nobin", "a530-gl-scene60", 84),
    ("a660-vk-passes-gmem", "a660-vk-passes-gmem", 121),
    ("a660-vk-query-gmem", "a618-vk-query-gmem", 21),
    ("a690-vk-compute-full", "a740-vk-compute", 44),
    ("a740-gl-passes", "a740-gl-passes", 82),
    ("a740-vk-bindless-gmem", "a740-vk-bindless-gmem", 20),
    ("a740-vk-cube-sysmem", "a740-vk-cube-gmem-cb", 1),
    ("a740-vk-fdm", "a740-vk-fdm", 30),
    ("a740-vk-tess", "a740-vk-tess", 9),
]


@pytest.mark.parametrize(("older", "newer", "count"), OF_TWO_DRIVERS)
def test_draws_of_two_drivers_are_paired(shared: Path, older: str, newer: str, count: int) -> None:
    found = compared(
        shared / "captures" / f"{older}.rd.gz", shared / "m26/captures" / f"m26-{newer}.rd.gz"
    )
    pairs = [pair for one in found.pairs for pair in one.draws]
    assert len(pairs) == count
    assert all(mine is not None and theirs is not None for mine, theirs in pairs)
    assert all(pair.bad is not None for pair in found.pairs)
    assert sum(pair.good is not None for pair in found.pairs) == len(found.good.passes.passes)


def test_tiles_of_a_density_map_in_another_order(tmp_path: Path) -> None:
    """Bins one by one, and merged: what is scaled for a tile is no difference."""
    half, whole = [View((1 / 2, 1 / 2))], [View()]
    corners = [(0, 0), (256, 0), (0, 256), (256, 256)]
    apart = [NewTile(corner, half if corner[0] == 0 else whole) for corner in corners]
    first = NewTile((256, 0), whole, bin_word=4 << 16 | 1 << 22 | 0b101, height=512)
    last = NewTile((0, 0), half, bin_word=4 << 16 | 0b101, height=512)
    older, newer = Stream(apart), Stream([first, last], moved_by_gpu=True)
    paths = []
    for name, stream in (("older", older), ("newer", newer)):
        paths.append(tmp_path / f"{name}.rd")
        paths[-1].write_bytes(stream.build())
    found = compared(*paths)
    (pair,) = found.pairs
    assert [(mine is None, theirs is None) for mine, theirs in pair.draws] == [(False, False)]
    names = {one.name for entry in found.entries for one in entry.differences}
    assert not [name for name in names if "VPORT" in name or "SCISSOR" in name]
    assert found.hidden["tiles"]["GRAS_CL_VPORT[0].XSCALE"] == 1
