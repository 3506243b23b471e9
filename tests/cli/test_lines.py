# SPDX-License-Identifier: MIT
"""cffpy lines, run as users run it, and Capture.write_lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.shaders import collect_shaders
from cffpy.container.open import open_capture
from cffpy.tables.lines import COLUMNS, DrawLines, LineEnds, LineOptions, LineWalk, UniqueLines
from tests.analysis.passes.streams import Streams
from tests.builders import capture, type3, type4, type7
from tests.command_server import Run
from tests.selection import first_always

SAMPLES = (
    "a220-triangle",
    "a430-depth-good",
    "a530-two-submits",
    "a630-indirect",
    "a650-blits",
    "a660-frame-binning",
    "a660-frame-gmem",
    "a660-textures",
    "a690-compute",
    "a740-state-groups",
)


def rows(path: Path, *only: str, **options: object) -> list[dict[str, str]]:
    pieces: list[str] = []
    with cffpy.open(path) as capture:
        capture.write_lines(pieces.append, *([only] if only else []), **options)
    return [
        dict(zip(COLUMNS, line.split("\t"), strict=True))
        for line in "".join(pieces).split("\n")[:-1]
    ]


@pytest.mark.parametrize("name", first_always(SAMPLES, 4))
def test_the_last_write_before_a_draw_is_its_state(samples: Path, name: str) -> None:
    path = samples / f"{name}.rd"
    written = rows(path, "registers")
    assert written
    with cffpy.open(path) as capture:
        draw = capture.draws[-1]
        last = {}
        for row in written:
            if row["draw"] and int(row["draw"]) <= draw.dump_draw:
                last[row["name"]] = row
        for register, row in last.items():
            if register.startswith("0x") or "+" in register:
                continue
            value = draw.state[register]
            if value.value is None or value.written_by.packet != row["packet"]:
                continue
            if f"{value.written_by.place.gpuaddr:#x}" == row["gpuaddr"]:
                assert int(row["raw"], 16) == value.value, register
                assert row["decoded"] == value.text, register


@pytest.mark.parametrize("name", first_always(SAMPLES, 5))
def test_draws(samples: Path, name: str) -> None:
    path = samples / f"{name}.rd"
    found = [row for row in rows(path, "draws") if row["draw"]]
    with cffpy.open(path) as capture:
        executed = [
            one
            for one in capture.actions
            if one.executed is not False and one.dump_draw is not None
        ]
        assert [int(row["draw"]) for row in found] == [one.dump_draw for one in executed]
        for row, one in zip(found, executed, strict=True):
            assert row["gpuaddr"] == f"{one.place.gpuaddr:#x}"
            assert row["packet"] == one.packet
            assert row["pass"] == ("" if one.pass_ is None else str(one.pass_.index))
            assert int(row["submit"]) == one.submit


def test_nothing_has_two_lines(samples: Path) -> None:
    for name in ("a430-depth-good", "a740-state-groups"):
        found = rows(samples / f"{name}.rd")
        places = Counter(
            (row["gpuaddr"], row["draw"], row["packet"], row["name"], row["submit"])
            for row in found
        )
        assert [place for place, count in places.items() if count > 1] == []


def test_the_end_of_a_stream_that_runs_again_has_its_lines_once() -> None:
    """It ends with writes behind a packet that the machine need not run."""
    s = Streams(630)
    call = s.ib(s.draw(), type4(0x8800, 1), s.packet("CP_WAIT_FOR_ME"), type4(0x8801, 2))
    writes = [line for line in lines_of(s.capture([[call] * 3])) if line[7] == "register write"]
    assert len(writes) == 6


def test_shaders(samples: Path) -> None:
    found = rows(samples / "a660-frame-gmem.rd", "shaders")
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        for shader in capture.shaders:
            mine = [row for row in found if row["packet"] == shader.stage]
            assert len(mine) == shader.instructions
            assert mine[0]["gpuaddr"] == f"{shader.gpuaddr:#x}"
            assert all(row["draw"] == "3" for row in mine)


@pytest.mark.slow
def test_shaders_of_a2xx(shared: Path) -> None:
    path = shared / "captures" / "a200-gl-tri.rd.gz"
    found = rows(path, "shaders")
    assert {row["packet"] for row in found} == {"VS", "FS"}
    with cffpy.open(path) as capture:
        words = [word for one in capture.shaders for word in one.listing.split()]
    shown = [word for row in found for word in (row["raw"] + " " + row["decoded"]).split()]
    numbers = [f"{row['name']}:" for row in found if row["name"]]
    assert Counter(shown) + Counter(numbers) == Counter(words)


def test_changed_and_where(samples: Path) -> None:
    path = samples / "a660-frame-gmem.rd"
    everything, changed = rows(path, "registers"), rows(path, "registers", changed=True)
    assert 0 < len(changed) < len(everything)
    values: dict[str, str] = {}
    expected = []
    for row in everything:
        if values.get(row["name"]) != row["raw"]:
            expected.append(row)
        values[row["name"]] = row["raw"]
    assert changed == expected
    tile = rows(path, where="draw.tile == 1 and draw.vertices == 3")
    assert {row["draw"] for row in tile} == {tile[0]["draw"]}
    assert {row["name"] for row in tile} >= {"draw"}


def test_the_command(samples: Path, run_cffpy: Run) -> None:
    path = samples / "a660-frame-gmem.rd"
    done = run_cffpy("lines", "--header", path)
    assert (done.returncode, done.stderr) == (0, b"")
    header, *lines = done.stdout.decode().splitlines()
    assert header.split("\t") == list(COLUMNS)
    objects = [json.loads(line) for line in run_cffpy("lines", "--jsonl", path).stdout.splitlines()]
    assert [
        "\t".join("" if value is None else str(value) for value in one.values()) for one in objects
    ] == lines
    unique = run_cffpy("lines", "--unique", path).stdout.decode().splitlines()
    assert sum(int(line.split("\t")[0]) for line in unique) == len(lines)
    ends = [line.split("\t", 8)[8] for line in unique]
    assert len(set(ends)) == len(ends)


def test_damage_and_errors(samples: Path, run_cffpy: Run, tmp_path: Path) -> None:
    done = run_cffpy("lines", samples / "damaged.rd.gz")
    assert done.returncode == 1
    assert done.stdout
    assert done.stderr
    done = run_cffpy("lines", "missing.rd", samples / "a660-frame-gmem.rd", "--only", "draws")
    assert done.returncode == 1
    assert b"missing.rd" in done.stderr
    assert done.stdout.count(b"\n") == len(rows(samples / "a660-frame-gmem.rd", "draws"))
    done = run_cffpy("lines", samples / "a660-frame-gmem.rd", "--where", "NO_SUCH")
    assert done.returncode == 1
    assert b"has no register NO_SUCH" in done.stderr


def test_distinct_lines_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cffpy.tables.lines._MAX_UNIQUE", 2)
    found = UniqueLines()
    found.add("".join(f"f\t0\t0\t0x0\t0\t0\tp\tn\t{value}\t\n" for value in (1, 2, 1, 3)))
    assert found.is_full
    assert [line.split("\t")[0] for line in found.lines()] == ["2", "1"]


def check_lines_are_the_same(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """Lines of a replayed stream are made once, and equal those of a run packet by packet."""
    texts: list[list[str]] = [[], []]
    for found in texts:
        for path in paths:
            with cffpy.open(path) as capture:
                capture.write_lines(found.append)
        monkeypatch.setattr(LineWalk, "group_writes", lambda walk, registers: False)
        never = property(lambda walk: False, lambda walk, value: None)
        monkeypatch.setattr(LineWalk, "decodes_streams_once", never)
        monkeypatch.setattr(LineWalk, "keeps_lines", False)
        monkeypatch.setattr(LineEnds, "keeps", False)
    assert "".join(texts[0]) == "".join(texts[1])
    return "".join(texts[0])


def test_lines_that_are_kept(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a740-state-groups", "a660-frame-gmem", "a660-frame-binning", "a530-two-submits")
    text = check_lines_are_the_same([samples / f"{name}.rd" for name in names], monkeypatch)
    assert "register write\tRB_DEPTH_CNTL" in text
    assert "\tCP_SET_DRAW_STATE\t" in text


@pytest.mark.parametrize("name", ["a740-state-groups", "a660-frame-binning"])
def test_lines_are_kept(samples: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Ends of lines, lines of groups with equal contents, lines of streams that run again."""
    counted = []
    for keeps in (True, False):
        monkeypatch.setattr(LineWalk, "keeps_lines", keeps)
        monkeypatch.setattr(LineEnds, "keeps", keeps)
        pieces: list[str] = []
        walk = LineWalk(name, LineOptions(), pieces.append)
        walk.observe(PassFinder(walk), DrawLines(walk))
        walk.run(open_capture(str(samples / f"{name}.rd")), pytest.fail)
        walk.emit_rest()
        counted.append((walk.known, walk.ends.made, "".join(pieces)))
    (known, made, text), (never, each, same) = counted
    assert text == same
    assert known > never == 0
    assert made < each


#: Two modes of a packet, of which each gives its dwords another meaning: commands, decoded dwords.
MODES = (
    (
        "CP_COND_REG_EXEC SYSMEM GMEM MODE=RENDER_MODE DWORDS=0",
        ["{ GMEM | SYSMEM | MODE = RENDER_MODE }", "{ DWORDS = 0 }"],
    ),
    (
        "CP_COND_REG_EXEC REG0=0x123 MODE=REG_COMPARE REG1=0x456 DWORDS=0",
        ["{ REG0 = 0x123 | MODE = REG_COMPARE }", "{ REG1 = 0x456 }", "{ DWORDS = 0 }"],
    ),
)


def capture_of(*commands: str) -> bytes:
    packets = "\n".join(commands)
    block = f"buffer b 0x1000 size 4096 {{\ncommands main {{\n{packets}\n}}\n}}"
    return cffpy.compile(f"pm4 1\ngpu_id 630\n{block}\nstream main\n")


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("order", first_always([(0, 1), (1, 0), (0, 1, 0), (1, 0, 0, 1)], 2))
def test_a_packet_chooses_its_own_variant(
    monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...], keeps: bool
) -> None:
    """The text of a dword does not depend on the packets before it."""
    monkeypatch.setattr(LineEnds, "keeps", keeps)
    opened = cffpy.open(capture_of(*(MODES[number][0] for number in order)))
    pieces: list[str] = []
    opened.write_lines(pieces.append)
    decoded = [line.split("\t")[-1] for line in "".join(pieces).splitlines()]
    assert decoded == [text for number in order for text in MODES[number][1]]
    names = [set(packet.fields) for packet in opened.packets()]
    fields = {"GMEM", "SYSMEM", "BINNING"}, {"REG0", "REG1"}
    assert [name & (fields[0] | fields[1]) for name in names] == [fields[n] for n in order]


def test_a_packet_without_a_description_of_its_own() -> None:
    """CP_LOAD_STATE6_FRAG is described as CP_LOAD_STATE6."""
    pieces: list[str] = []
    data = capture_of("CP_LOAD_STATE6_FRAG STATE_BLOCK=SB6_FS_TEX NUM_UNIT=1")
    cffpy.open(data).write_lines(pieces.append)
    assert "STATE_BLOCK = SB6_FS_TEX" in pieces[0]


#: CP_LOAD_STATE6_FRAG, CP_LOAD_STATE4 and CP_LOAD_STATE: constants of the FS in the packet, their
#: first dwords and what follows them.
DIRECT_CONSTANTS = (
    (630, type7(0x34, 0x00B0400C, 0, 0, *[0x3F800000, 0, 0xBF000000, 0x40000000] * 2), "3"),
    (530, type7(0x30, 0x00B0000C, 1, 0, *[0x3F800000, 0, 0xBF000000, 0x40000000] * 2), "3"),
    (430, type3(0x30, 0x00B0000C, 1, *[0x3F800000, 0, 0xBF000000, 0x40000000] * 2), "2"),
    (320, type3(0x30, 0x01300018, 1, *[0x3F800000, 0, 0xBF000000, 0x40000000] * 2), "2"),
)


@pytest.mark.parametrize(("gpu", "commands", "name"), DIRECT_CONSTANTS)
def test_constants_in_a_packet(gpu: int, commands: list[int], name: str) -> None:
    """Dwords behind the described ones have a line together; constants are floats."""
    raw = "3f800000 00000000 bf000000 40000000"
    numbers = "1.000000 0.000000 -0.500000 2.000000"
    last = lines_of(capture(gpu, commands))[-1]
    assert last[-3:] == [name, f"{raw} {raw}", f"{{ FS c12 = {numbers} | FS c13 = {numbers} }}"]


def test_constants_that_begin_within_a_vec4() -> None:
    """The unit of an a3xx is two dwords."""
    commands = type3(0x30, 0x00F00003, 1, 0x3F800000, 0, 0, 0, 0x40000000, 0)
    assert lines_of(capture(320, commands))[-1][-1] == (
        "{ FS c1.zw = 1.000000 0.000000 | FS c2 = 0.000000 0.000000 2.000000 0.000000 }"
    )


def test_dwords_behind_the_described_ones() -> None:
    """A descriptor in a packet, data for memory; those beyond a limit are marked."""
    textures = lines_of(capture(630, type7(0x34, 0x00504000, 0, 0, 0x12, 0x34)))
    assert textures[-1][-3:] == ["3", "00000012 00000034", ""]
    nop = lines_of(capture(630, type7(0x10, *range(300))))
    assert [line[-3] for line in nop] == [""]
    assert nop[0][-2].startswith("00000000 00000001 ")
    assert nop[0][-2].endswith(" 000000ff ...")


def lines_of(data: bytes) -> list[list[str]]:
    """The columns of each line."""
    pieces: list[str] = []
    cffpy.open(data).write_lines(pieces.append)
    return [line.split("\t") for line in "".join(pieces).splitlines()]


def check_shaders(path: Path) -> None:
    """The walk collects what ``shaders`` does, which follows commands as the dump does."""
    collector, _ = collect_shaders(open_capture(str(path)), lambda _line: None)
    expected = [
        (f"{one.gpuaddr:#x}", str(next((ranges[0][0] for _, ranges in one.where if ranges), "")))
        for one in collector.shaders
    ]
    found = [row for row in rows(path, "shaders") if row["name"] == "0000"]
    assert [(row["gpuaddr"], row["draw"]) for row in found] == expected


@pytest.mark.parametrize("name", ["a430-depth-good", "a660-frame-binning", "a740-state-groups"])
def test_shaders_are_those_of_a_separate_run(samples: Path, name: str) -> None:
    check_shaders(samples / f"{name}.rd")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a740-vk-fdm", "a660-vk-passes-gmem", "a320-gl-tri"])
def test_shaders_of_shared_captures(shared: Path, name: str) -> None:
    check_shaders(shared / f"captures/{name}.rd.gz")


@pytest.mark.slow
def test_the_same_of_shared_captures(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a740-vk-fdm", "a660-vk-passes-gmem", "edge-two-processes-concat", "a420-gl-tri")
    names += ("a530-gl-tri", "a220-gl-passes")
    paths = [shared / f"captures/{name}.rd.gz" for name in names]
    text = check_lines_are_the_same(paths, monkeypatch)
    assert text.count("\n") > 10_000


def dwords_of_dump(text: str) -> Counter[int]:
    """Address of a register write packet -> dwords that all its executions write."""
    found: Counter[int] = Counter()
    offset = None
    for line in text.splitlines():
        begins = re.match(r"\t*write \S+ \(([0-9a-f]+)\)", line)
        if begins:
            offset = int(begins[1], 16)
        packet = re.match(r"([0-9a-f]{8,16}):\t+0000: ([0-9a-f]{8})", line)
        if packet and offset is not None:
            header = int(packet[2], 16)
            if header >> 28 == 4:  # type 4
                register, count = header >> 8 & 0x3FFFF, header & 0x7F
            else:
                register, count = header & 0x7FFF, (header >> 16 & 0x3FFF) + 1
            if register == offset:
                found[int(packet[1], 16)] += count
                offset = None
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a220-gl-passes",
        "a306-gl-cube-gmem",
        "a430-gl-var-flush",
        "a530-gl-var-ddraw",
        "a630-gl-blit-msaa",
        "a740-vk-xfer",
    ],
)
def test_each_register_of_the_dump_has_one_line(shared: Path, run_cffpy: Run, name: str) -> None:
    """Captures whose commands are all executed: what each packet of the dump writes."""
    path = shared / f"captures/{name}.rd.gz"
    expected = dwords_of_dump(run_cffpy("dump", "--no-color", str(path)).stdout.decode("latin-1"))
    found: Counter[int] = Counter()
    for row in rows(path, "registers"):
        if row["packet"] == "register write":
            found[int(row["gpuaddr"], 16)] += len(row["raw"]) // 8
    assert expected
    assert found == expected


def test_levels(samples: Path) -> None:
    """The column is the nesting of IBs and groups, for every kind of line."""
    found = rows(samples / "a660-frame-gmem.rd")
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        levels = {
            f"{packet.place.gpuaddr:#x}": sum(
                stream.kind in ("IB", "group") for stream in packet.place.stream.path
            )
            for packet in capture.packets()
        }
    checked = [row for row in found if row["gpuaddr"] in levels]
    assert len(checked) > 100
    assert {levels[row["gpuaddr"]] for row in checked} == {0, 1, 2}
    for row in checked:
        assert int(row["level"]) == levels[row["gpuaddr"]], row
