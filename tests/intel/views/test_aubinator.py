# SPDX-License-Identifier: MIT
"""AUB files made here: what is printed, damage, limits; kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from struct import pack

import pytest

from cffpy.container.open import open_bytes
from cffpy.errors import UnsupportedGpu
from cffpy.intel.decoder.text import value_text
from cffpy.intel.views.aubinator.aub import AubDump
from cffpy.intel.views.aubinator.context import FULL, DecodeOptions, read_environment
from cffpy.intel.views.aubinator.error_dump import XeDump
from cffpy.intel.views.aubinator.handlers import dword_rows, looks_like_float
from cffpy.intel.views.aubinator.kernels import KernelText
from cffpy.limits import Limits
from tests.intel import aub_files as aub
from tests.intel import frames

BATCH = 0x100000


def dump(
    data: bytes, options: DecodeOptions | None = None, **more: object
) -> tuple[str, list[str]]:
    parts: list[str] = []
    limits = more.pop("limits", None)
    printer = AubDump(options or DecodeOptions(), parts.append, **more)  # type: ignore[arg-type]
    damage = printer.file(open_bytes(data, "test.aub", limits), "test.aub")  # type: ignore[arg-type]
    return "".join(parts), [str(one) for one in damage]


def headers(data: bytes, **more: object) -> list[str]:
    options = DecodeOptions()
    options.flags &= ~FULL
    text, damage = dump(data, options, **more)
    assert not damage
    return [line.rstrip() for line in text.splitlines()[6:]]


def test_head_and_jump() -> None:
    text, damage = dump(aub.file({BATCH: aub.END}, BATCH))
    assert not damage
    lines = text.splitlines()
    assert lines[0] == f"Aubinator: Intel AUB file decoder.{'':80}"
    assert lines[1:6] == [
        "File name:        test.aub",
        "PCI ID:           0x1912",
        "Application name: test",
        "Decoding as:      Intel(R) HD Graphics 530 (SKL GT2)",
        "",
    ]
    assert "0x00100000:  0x05000000:  MI_BATCH_BUFFER_END" in text
    assert "    Batch Buffer Start Address: 0x00100000\n" in text


def test_second_level_returns_and_first_level_does_not() -> None:
    second = BATCH + 0x10000
    batches = {BATCH: aub.jump(second, True) + b"\0" * 4 + aub.jump(second) + b"\0" * 4}
    lines = headers(aub.file({**batches, second: aub.END}, BATCH))
    names = [line.split(":  ")[-1] for line in lines]
    assert names == [
        "MI_BATCH_BUFFER_START",
        "MI_BATCH_BUFFER_START",
        "MI_BATCH_BUFFER_END",
        "MI_NOOP",
        "MI_BATCH_BUFFER_START",
        "MI_BATCH_BUFFER_END",
        "MI_BATCH_BUFFER_END",
    ]


def test_unmapped_batch() -> None:
    assert "Secondary batch at 0x00300000 unavailable" in headers(aub.file({}, 0x300000))


def test_a_loop_ends() -> None:
    lines = headers(aub.file({BATCH: aub.jump(BATCH)}, BATCH))
    assert "0x00100000: Max batch buffer jumps exceeded" in lines
    assert len(lines) < 120


def test_calls_that_multiply_are_limited() -> None:
    data = aub.file({BATCH: aub.jump(BATCH, True) * 8 + aub.END}, BATCH)
    _, damage = dump(data, limits=Limits(commands=100_000))
    assert len(damage) == 1
    assert "too many commands" in damage[0]


def secondary() -> bytes:
    """A file whose batch calls a secondary as ANV does: it stores where that one returns to."""
    called = BATCH + 0x10000
    back = BATCH + 20 + 12
    store = pack("<IQQ", 0x10000003, called + 8, back)
    batch = store + aub.jump(called) + aub.END
    return aub.file({BATCH: batch, called: b"\0" * 4 + aub.jump(0) + aub.END}, BATCH)


def test_secondaries_return_where_stores_are_followed() -> None:
    names = [line.split(":  ")[-1] for line in headers(secondary())]
    assert names[-2:] == ["Secondary batch at 0x00000000 unavailable", "MI_BATCH_BUFFER_END"]
    options = DecodeOptions(follows_stores=True)
    options.flags &= ~FULL
    text, damage = dump(secondary(), options)
    assert not damage
    assert [line.split(":  ")[-1].rstrip() for line in text.splitlines()[6:]] == [
        "MI_BATCH_BUFFER_START",
        "MI_STORE_DATA_IMM",
        "MI_BATCH_BUFFER_START",
        "MI_NOOP",
        "MI_BATCH_BUFFER_START",
        "MI_BATCH_BUFFER_END",
        "MI_BATCH_BUFFER_END",
    ]


def test_followed_loops_end() -> None:
    options = DecodeOptions(follows_stores=True)
    options.flags &= ~FULL
    text, _ = dump(aub.file({BATCH: aub.jump(BATCH)}, BATCH), options)
    assert "0x00100000: Max batch buffer jumps exceeded" in text


def test_unknown_instruction() -> None:
    batch = pack("<4I", 0x60050001, 1, 2, 0x05000000)
    lines = headers(aub.file({BATCH: batch}, BATCH))
    assert "0x00100000: unknown instruction 60050001" in lines
    assert "0x00100008: -- 00000002" in lines


def test_a_batch_ends_with_its_last_whole_dword() -> None:
    dump = b"**** Xe Device Coredump ****\nPCI ID: 0x64a0\n**** Job ****\nbatch_addr[0]: 0x100000\n"
    dump += b"**** VM state ****\n[100000].length: 0x6\n[100000].data: zz\n"
    parts: list[str] = []
    XeDump(DecodeOptions(), FULL, parts.append).file(open_bytes(dump, "dump"))
    assert "".join(parts).count("unknown instruction") == 1


def test_the_second_interface_descriptor_begins_8_bytes_behind_the_first() -> None:
    """The reference advances the data by 8 bytes, the address by 32; 0x40 bytes count as 100."""
    bases = [0x61010011, *[0] * 18]
    bases[6] = 0x200001
    load = [0x70020002, 0, 64, 0]
    data = pack("<8I", *range(0x100, 0x900, 0x100)) + bytes(64)
    batch = pack("<23I", *bases, *load) + aub.END
    text, _ = dump(aub.file({BATCH: batch, 0x200000: data.ljust(4096, b"\0")}, BATCH))
    shown = text.partition("descriptor 0")[2].splitlines()
    dwords = [line.split(" :")[0] for line in shown if line.endswith(" : Dword 0")]
    assert dwords[:3] == [
        "0x00200000:  0x00000100",
        "0x00200020:  0x00000300",
        "0x00200040:  0x00000500",
    ]


def test_comment_and_cut_file() -> None:
    data = aub.file({BATCH: aub.END}, BATCH) + aub.comment("hello")
    text, damage = dump(data)
    assert text.endswith("hello\n")
    text, damage = dump(data[:-4])
    assert "MI_BATCH_BUFFER_END" in text
    assert len(damage) == 1
    assert "past the end of the file" in damage[0]


def test_unknown_device() -> None:
    with pytest.raises(UnsupportedGpu, match="0x1234"):
        dump(aub.file({}, BATCH, device=0x1234))


def test_kernels_are_named_and_written(tmp_path: Path) -> None:
    heap = 0x200000
    base = [0x61010011, *[0] * 18]
    base[10] = heap | 1
    state = [0x78100007, 64, *[0] * 7]
    state[7] = 0x5  # enabled, SIMD8
    batch = pack(f"<{len(base) + len(state)}I", *base, *state) + aub.END
    send = pack("<4I", 0x31, 0, 0, 1 << 31)
    kernel = pack("<4I", 1, 2, 3, 4) + send
    data = aub.file({BATCH: batch, heap: b"\0" * 64 + kernel}, BATCH)
    text, damage = dump(data, kernels=KernelText(True, str(tmp_path)))
    assert not damage
    assert "\nReferenced SIMD8 vertex shader:\nkernel VS at 0x00200040: 32 bytes, sha256 " in text
    (path,) = tmp_path.iterdir()
    assert path.read_bytes() == kernel
    assert path.name.startswith("VS_0x0000000000200040_32_")


@pytest.mark.parametrize(
    ("text", "flags"),
    [("+surfaces", 0x1E), ("-full,offsets", 0xC), ("all,-color", 0xFFFFFFFE), ("floats", 0xE)],
)
def test_environment(text: str, flags: int) -> None:
    options = DecodeOptions()
    read_environment(options, {"INTEL_DECODE": text, "INTEL_DECODE_FILTERS": "A,B"})
    assert options.flags == flags
    assert options.filters == {"A", "B"}


def test_commands(run_cffpy: Callable[..., object], tmp_path: Path) -> None:
    path = tmp_path / "test.aub"
    path.write_bytes(aub.file({BATCH: aub.END}, BATCH))
    done = run_cffpy("aubinator", "--color=never", "--headers", str(path))
    assert done.returncode == 0  # type: ignore[attr-defined]
    assert done.stdout.startswith(b"Aubinator:")  # type: ignore[attr-defined]
    done = run_cffpy("aubinator")
    assert done.returncode == 2  # type: ignore[attr-defined]


def test_what_is_remembered_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = frames.frame() + frames.frame()[len(aub.header()) :]
    shown = [dump(data), dump(data, DecodeOptions(0x7FFFFFFF))]
    for name in (
        "decoder.text._MAX_REMEMBERED",
        "decoder.text._MAX_LINES",
        "decoder.groups._MAX_KEPT_FIELDS",
        "views.aubinator.kernels._MAX_REMEMBERED",
    ):
        monkeypatch.setattr(f"cffpy.intel.{name}", 0)
    assert [dump(data), dump(data, DecodeOptions(0x7FFFFFFF))] == shown


def test_a_table_is_looked_up_again_in_the_next_submission() -> None:
    """Its surface state is mapped only there."""
    surfaces = 0x200000
    base = [0x61010011, *[0] * 18]
    base[4] = surfaces | 1
    batch = pack("<19I2I", *base, 0x782A0000, 0) + aub.END
    memory = {BATCH: batch, surfaces: pack("<2I", 0x1000, 0x1000).ljust(4096, b"\0")}
    first = aub.file(memory, BATCH)
    second = aub.file({**memory, surfaces + 0x1000: bytes(4096)}, BATCH)
    text, damage = dump(first + second[len(aub.header()) :])
    assert not damage
    lines = [line for line in text.splitlines() if line.startswith("pointer 1:")]
    assert lines == ["pointer 1: 0x00001000 <not valid>", "pointer 1: 0x00001000"]


def test_a_value_is_formatted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty submissions of the same frame format no more than one."""
    counts: list[int] = []
    for copies in (1, 20):
        calls: list[int] = []

        def counted(*given: object, calls: list[int] = calls) -> str:
            calls.append(1)
            return value_text(*given)  # type: ignore[arg-type]

        monkeypatch.setattr("cffpy.intel.decoder.text.value_text", counted)
        text, _ = dump(aub.header() + frames.frame()[len(aub.header()) :] * copies)
        assert text.count(" 3DPRIMITIVE ") >= copies
        counts.append(len(calls))
    assert counts[0] == counts[1] > 100


# -- rows of dwords: columns, pitch, limits, and what is taken for a float -------------------------


@pytest.mark.parametrize(
    ("word", "is_float"),
    [(0x3F800000, True), (0, True), (0x80000000, True), (1, False), (0xC0000000, True)],
)
def test_floats(word: int, is_float: bool) -> None:
    assert looks_like_float(word) == is_float


def rows(count: int, pitch: int, lines: int = -1) -> list[int]:
    """How many dwords each line has."""
    text = dword_rows(pack(f"<{count}I", *range(1, count + 1)), pitch, lines, True)
    assert text.endswith("\n")
    return [len(line.split()) for line in text[:-1].split("\n")]


def test_rows() -> None:
    assert rows(10, 0) == [0, 8, 2]
    assert rows(10, 12) == [3, 3, 3, 1]
    assert rows(12, 40) == [8, 2, 2]
    assert rows(10, 7) == [8, 2]
    assert rows(0, 0) == [0]


def test_lines_are_limited() -> None:
    assert rows(10, 12, 2) == [3, 3, 3, 0]
    assert rows(10, 12, 3) == [3, 3, 3, 1]
    assert rows(10, 12, 0) == [3, 0]
    assert rows(20, 0, 1) == [0, 8, 0]
    assert rows(20, 0, 0) == [0, 0]


def test_text() -> None:
    data = pack("<fIf", 1.5, 7, -2)
    assert dword_rows(data, 12, -1, True) == "        1.50   0x00000007      -2.00\n"
    assert dword_rows(data[:4], 4, -1, False) == "    0x3fc00000\n"
