# SPDX-License-Identifier: MIT
"""The record of an edition: found by its release, and what its members change in a dump."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cffpy
from cffpy.container.open import open_bytes
from cffpy.editions.folders import editions, resolve_edition
from cffpy.editions.record import EDITIONS, edition_record
from cffpy.regdb.database import Database
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from tests.analysis.test_edits import draw
from tests.builders import capture, type4, type7
from tests.editions.test_folders import make

CHECKOUT = Path(__file__).resolve().parent.parent.parent
AMBLE, NOP, INDIRECT = 0x55, 0x10, 0x3F
PREAMBLE = 0x200000
#: RB_DEPTH_CNTL, RB_BLEND_CNTL.
REGISTER, BLEND = 0x8871, 0x8865


def dump(data: bytes, edition: str | None = None, **options: object) -> str:
    pieces: list[bytes] = []
    register_db = None if edition is None else resolve_edition(edition)
    printer = Dump(
        DumpOptions(unit_test=True, **options), pieces.append, lambda line: None, register_db
    )
    printer.begin("capture")
    printer.file(open_bytes(data))
    return b"".join(pieces).decode()


# -- which record ---------------------------------------------------------------------------------


def test_each_installed_edition_has_a_record() -> None:
    releases = [f"mesa-{major}.{minor}" for major, minor in (one.release for one in EDITIONS)]
    assert releases == list(editions())
    assert [edition_record(path) for path in editions().values()] == list(EDITIONS)
    assert edition_record(None) is EDITIONS[0]


@pytest.mark.parametrize(
    ("name", "number"),
    [("mesa 24.1", 0), ("mesa 25.2.9", 0), ("mesa 25.3.1", 1), ("mesa 31.0", 1), ("mine", 0)],
)
def test_other_editions_have_the_record_of_their_release(
    name: str, number: int, tmp_path: Path
) -> None:
    assert edition_record(make(tmp_path / "other", name, {"a6xx.regs": ""})) is EDITIONS[number]


def test_registers_of_follow_ups_exist() -> None:
    """By the names of the bundled edition, or of the only edition that describes the generation."""
    for edition, directory in zip(EDITIONS, editions().values(), strict=True):
        for generation, rows in edition.follow_ups.items():
            described = directory if generation == 8 else None
            database = Database.open(f"A{generation}XX", described)
            assert [name for name, _ in rows if not database.register_offset(name)] == []


def test_nothing_else_tells_releases_apart() -> None:
    pattern = re.compile(r"folders import .*\brelease\b|\bEDITIONS\b")
    found = {
        str(path.relative_to(CHECKOUT / "cffpy"))
        for path in (CHECKOUT / "cffpy").rglob("*.py")
        if pattern.search(path.read_text())
    }
    assert found == {"editions/record.py"}


# -- what is followed -----------------------------------------------------------------------------


def with_amble(length: int = 2) -> bytes:
    commands = [*type7(AMBLE, PREAMBLE, 0, length | 1 << 20), *type7(NOP, 0)]
    return capture(630, commands, {PREAMBLE: type4(REGISTER, 1)})


def test_the_dump_of_25_3_follows_ambles() -> None:
    shown = dump(with_amble(), "mesa-25.3").splitlines()
    place = shown.index("\t\taddr=200000")
    assert shown[place + 1 : place + 4] == [
        "\t\t\t\twrite RB_DEPTH_CNTL (8871)",
        "\t\t\t\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_NEVER }",
        "0000000000200000:\t\t\t\t0000: 48887101 00000001",
    ]


def test_the_default_dump_does_not() -> None:
    shown = dump(with_amble())
    assert "addr=" not in shown
    assert "RB_DEPTH_CNTL" not in shown


def test_ambles_that_are_empty_or_not_captured() -> None:
    assert "\t\taddr=200000\n00000000" in dump(with_amble(0), "mesa-25.3")
    missing = capture(630, type7(AMBLE, 0x300000, 0, 2))
    assert "\t\taddr=300000\n00000000" in dump(missing, "mesa-25.3")


def test_an_amble_that_names_itself_ends() -> None:
    commands = type7(AMBLE, 0x100000, 0, 4)
    assert dump(capture(630, commands), "mesa-25.3").count("addr=100000") < 10


@pytest.mark.parametrize("edition", editions())
def test_analyses_do_not_run_ambles_where_they_are_set(edition: str, tmp_path: Path) -> None:
    """The GPU runs them when it switches contexts, which a capture of one context does not show."""
    commands = [*type7(AMBLE, PREAMBLE, 0, 2 | 1 << 20), *type4(BLEND, 5), *draw(3)]
    path = tmp_path / "amble.rd"
    path.write_bytes(capture(630, commands, {PREAMBLE: type4(REGISTER, 1)}))
    with cffpy.open(path, register_db=edition) as opened:
        [only] = opened.draws
        written = {value.register.offset for value in only.state.values()}
    assert (BLEND in written, REGISTER in written) == (True, False)


# -- bindless descriptors -------------------------------------------------------------------------


@pytest.mark.parametrize(("edition", "shown"), [("mesa-25.0", [0, 1, 2]), ("mesa-25.3", [1])])
def test_empty_bindless_descriptors(edition: str, shown: list[int]) -> None:
    base = Database.open("A6XX").register_offset("SP_BINDLESS_BASE[0].DESCRIPTOR")
    commands = [*type4(base, 0x300000, 0), *type7(0x38, 4, 1, 3)]
    data = capture(630, commands, {0x300000: [*[0] * 16, 7, *[0] * 31]})
    text = dump(data, edition, bindless=True)
    assert [int(number) for number in re.findall(r"UBO\[(\d+)\]", text)] == shown


# -- follow-ups of a8xx ---------------------------------------------------------------------------

DESCRIPTORS = 0x300000
A8XX = Database.open("A8XX", resolve_edition("mesa-25.3"))


def descriptors_after(base: str, counter: str, count: int, **options: object) -> list[str]:
    """The rows of hex of the descriptors that are shown after a register, without addresses."""
    counted = type4(A8XX.register_offset(counter), count)
    named = type4(A8XX.register_offset(base), DESCRIPTORS, 0)
    memory = [number + 1 for number in range(64)]
    text = dump(capture(830, [*counted, *named], {DESCRIPTORS: memory}), **options)
    return re.findall(r"^00000000003000(\w\w):", text, re.MULTILINE)


@pytest.mark.parametrize("options", [{}, {"summary": True}], ids=["all", "summary"])
@pytest.mark.parametrize(
    ("base", "counter", "rows"),
    [
        ("SP_PS_TEXMEMOBJ_BASE", "SP_PS_TSIZE", ["00", "20", "40", "60"]),
        ("SP_CS_SAMPLER_BASE", "SP_CS_TSIZE", ["00", "10"]),
        ("SP_CS_UAV_BASE", "SP_CS_USIZE", ["00", "20", "40", "60"]),
    ],
)
def test_descriptors_follow_their_register(
    base: str, counter: str, rows: list[str], options: dict[str, object]
) -> None:
    """As many as the register of the stage counts, of 16 dwords, or 4 of a sampler."""
    assert descriptors_after(base, counter, 2, **options) == rows
    assert descriptors_after(base, counter, 0, **options) == []


def test_the_count_of_graphics_storage_is_register_0() -> None:
    """The reference looks for a register that does not exist."""
    assert descriptors_after("SP_GFX_UAV_BASE", "SP_CS_USIZE", 2) == []


@pytest.mark.parametrize("count", [0xFFFFFFFF, 0x7FFFFFFF])
def test_more_descriptors_than_memory(count: int) -> None:
    """A negative count is none."""
    shown = descriptors_after("SP_CS_UAV_BASE", "SP_CS_USIZE", count)
    assert len(shown) == (0 if count >> 31 else 8)


def test_a_stream_that_runs_again_with_another_count() -> None:
    """Its text is not repeated: it depends on the register."""
    called = type4(A8XX.register_offset("SP_PS_TEXMEMOBJ_BASE"), DESCRIPTORS, 0) * 3
    call = type7(INDIRECT, 0x400000, 0, len(called))
    commands = []
    for count in (1, 0, 2, 1):
        commands += [*type4(A8XX.register_offset("SP_PS_TSIZE"), count), *call]
    data = capture(830, commands, {0x400000: called, DESCRIPTORS: [1] * 64})
    shown = re.findall(r"^00000000003000(\w\w):", dump(data), re.MULTILINE)
    one, two = ["00", "20"], ["00", "20", "40", "60"]
    assert shown == [*one * 3, *two * 3, *one * 3]


# -- files of programs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpu", "register", "edition", "files"),
    [
        (630, "SP_FS_OBJ_START", "mesa-25.0", ["0000.fo3"]),
        (630, "SP_FS_OBJ_START", "mesa-25.3", []),
        (420, "SP_FS_OBJ_START", "mesa-25.3", ["0000.fo3"]),
    ],
)
def test_programs_have_files_by_the_names_of_their_registers(
    gpu: int,
    register: str,
    edition: str,
    files: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    offset = Database.open(f"A{gpu // 100}XX").register_offset(register)
    values = [0x300000, 0] if gpu > 500 else [0x300000]
    write = type4(offset, *values)
    text = dump(capture(gpu, write, {0x300000: [0, 0x03000000]}), edition, dump_shaders=True)
    assert "end" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == files
