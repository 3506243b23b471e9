# SPDX-License-Identifier: MIT
"""Which files are captures, and the names of other kinds.

Folders of captures: files by frame and submit.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cffpy.container.kinds import captures_in, check_capture, is_capture, kind_of, name_order
from cffpy.container.open import open_bytes
from cffpy.container.writer import NewSection, buffer_sections, capture_bytes, gpu_id_section
from cffpy.errors import ContainerError
from cffpy.index.inputs import find_captures
from tests.builders import capture, type7

if TYPE_CHECKING:
    from collections.abc import Callable

CAPTURE = capture_bytes([gpu_id_section(630), *buffer_sections(0x1000, bytes(64))])


def test_an_empty_file_is_named() -> None:
    assert kind_of(b"") == "an empty file"


@pytest.mark.parametrize(
    "data",
    [
        b"",  # reported as empty
        b"\3\0\0\0\4",  # too short for a header
        b"\3\0\0\0\xff\xff\xff\xff",  # a known section of an impossible size
        CAPTURE,
        CAPTURE[:9],
        b"\xee\0\0\0\0\0\0\0" + CAPTURE,
        bytes(4096) + CAPTURE,
        capture_bytes([gpu_id_section(630)], markers=1),
    ],
)
def test_captures_also_damaged_ones(data: bytes) -> None:
    assert is_capture(data)


ELF = b"\x7fELF\2\1\1" + bytes(57) + bytes(range(256)) * 300


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ELF, "an ELF file"),
        (ELF + b"\x0d\0\0\0" * 8, "an ELF file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image"),
        (b'\n {"schema": "cffpy.state/2"}', "JSON text"),
        (b"---\nkernel: 5.8.0-test+\nmodule: msm\n", "a GPU crash dump (see cffpy crashdec)"),
        (b"<?xml version='1.0'?>", "XML text"),
        (b"hello\n", "text"),
        ("grüße\n".encode() * 100, "text"),
        (b"// comment\n\npm4 1\n", "text of the packet assembly language (see cffpy compile)"),
        (bytes(4096), "zero bytes"),
        (b"\xee\0\0\0\0\0\0\0" * 3, "binary data of unknown format"),
        (b"\x99\xaa" * 3000, "binary data of unknown format"),
    ],
)
def test_what_is_no_capture_is_named(data: bytes, kind: str) -> None:
    assert not is_capture(data)
    assert kind_of(data) == kind


def test_the_packing_is_named() -> None:
    content = open_bytes(gzip.compress(b"some text\n"), "x.gz")
    with pytest.raises(ContainerError, match=r"x\.gz: not a capture, but text, packed with gzip"):
        check_capture(content)
    assert check_capture(open_bytes(gzip.compress(CAPTURE))).data == CAPTURE


NAMES = [
    "app_00002.rd",
    "app_00010.rd",
    "app_combined.rd",
    "app_frame00001_submit00009.rd",
    "app_frame00001_submit00010.rd.gz",
    "app_frame00002_submit00001.rd",
    "app_frame100000_submit00001.rd",
    "app_submit99999.rd",
    "app_submit100000.rd",
    "other_00001.rd",
]


def test_order_of_names() -> None:
    mixed = [*NAMES]
    random.Random(1).shuffle(mixed)
    assert sorted(mixed, key=name_order) == NAMES
    assert sorted(["1.rd", "a.rd", "", "01.rd"], key=name_order) == ["", "01.rd", "1.rd", "a.rd"]


def test_captures_in_a_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in (*NAMES, "app_trigger", "notes.txt", "rd"):
        (tmp_path / name).write_bytes(b"")
    (inner / "x.RD.zst").write_bytes(b"")
    wanted = [str(tmp_path / name) for name in NAMES]
    assert captures_in([tmp_path]) == [*wanted, str(inner / "x.RD.zst")]
    (inner / "y.aub.gz").write_bytes(b"")
    (inner / "y.aub.txt").write_bytes(b"")
    assert captures_in([inner]) == [str(inner / "x.RD.zst"), str(inner / "y.aub.gz")]
    assert captures_in([inner], with_intel=False) == [str(inner / "x.RD.zst")]
    assert captures_in(["-", tmp_path / "notes.txt"]) == ["-", str(tmp_path / "notes.txt")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Frames of a program, and the file that triggers writing them."""
    for number in (9, 10):
        data = capture(630, type7(0x10, number))
        (tmp_path / f"app_frame0_submit{number}.rd").write_bytes(data)
    (tmp_path / "app_trigger").write_bytes(b"-1")
    return tmp_path


def test_dump_of_a_folder(folder: Path, run_cffpy: Callable) -> None:
    files = [folder / f"app_frame0_submit{number}.rd" for number in (9, 10)]
    done = run_cffpy("dump", folder)
    assert done.returncode == 0
    assert done.stdout == run_cffpy("dump", *files).stdout
    assert done.stdout.index(b"submit9.rd") < done.stdout.index(b"submit10.rd")
    assert b"trigger" not in done.stdout


def test_info_of_a_folder(folder: Path, run_cffpy: Callable) -> None:
    done = run_cffpy("info", folder)
    assert done.returncode == 0
    assert done.stdout.index(b"submit9.rd") < done.stdout.index(b"submit10.rd")


@pytest.mark.parametrize(
    "command",
    [
        ["dump"],
        ["info"],
        ["check"],
        ["draws", "--json"],
        ["find", "draw.vertices > 0"],
        ["find", "--where", "draw.vertices > 0", "--jobs", "2"],
        ["lines"],
        ["passes"],
    ],
    ids=" ".join,
)
def test_a_folder_without_captures(command: list[str], tmp_path: Path, run_cffpy: Callable) -> None:
    """A name that is wrong is not a folder without findings."""
    done = run_cffpy(*command, tmp_path)
    assert done.returncode != 0
    assert done.stdout == b""
    assert b"no captures in the folder" in done.stderr


def test_an_export_of_nothing_leaves_no_file(tmp_path: Path, run_cffpy: Callable) -> None:
    out = tmp_path / "out.csv"
    done = run_cffpy("export", tmp_path, "-o", f"{out}/")
    assert done.returncode == 1
    assert b"no captures in the folder" in done.stderr
    assert not out.exists()


def test_what_is_made_of_a_capture_is_none(tmp_path: Path) -> None:
    names = ["a.rd", "a.rd.gz", "b.rd.tar", "b.rd.xz", "c.RD.BZ2", "d.rd.zip"]
    for name in (*names, "a.rd.txt", "a.rd.json", "a.rd.log", "a.gz", "rd.gz", "a.rdx"):
        (tmp_path / name).write_bytes(b"")
    assert captures_in([tmp_path]) == [str(tmp_path / name) for name in names]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipes_and_devices_of_a_folder_are_not_read(folder: Path) -> None:
    """Nobody writes into such a pipe, and /dev/zero has no end; a lost link is worth a message."""
    os.mkfifo(folder / "pipe.rd")
    (folder / "endless.rd").symlink_to("/dev/zero")
    (folder / "lost.rd").symlink_to("nowhere")
    names = [Path(one).name for one in captures_in([folder])]
    assert names == ["app_frame0_submit9.rd", "app_frame0_submit10.rd", "lost.rd"]
    indexed = [Path(one.name).name for one in find_captures([folder]).files]
    assert sorted(indexed) == sorted(names)


def test_a_folder_that_cannot_be_listed_stands_for_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening it says why, so that its captures are not left out without a word."""
    locked = folder / "locked"
    locked.mkdir()
    scan = os.scandir

    def refusing(path: str) -> object:
        if Path(path) == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert captures_in([folder])[-1] == str(locked)


# --- sections that Mesa's replay tool uses -------------------------------------------------------


def with_logs() -> bytes:
    """A capture with a shader log, a CP log and buffers to write."""
    address = (0x1000).to_bytes(4, "little") + (0x40).to_bytes(4, "little") + bytes(4)
    buffer = (0x1_0000_2000).to_bytes(8, "little") + (16).to_bytes(8, "little") + b"out.bin\0"
    newer = buffer[:16] + (1).to_bytes(8, "little") + b"newer.bin\0"
    extra = [NewSection(15, address), NewSection(16, address)]
    extra += [NewSection(17, buffer), NewSection(17, newer), NewSection(17, b"\x01")]
    return capture_bytes([gpu_id_section(630), *extra]) + capture(630, type7(0x10, 1))


def test_sections_for_replay_are_shown(tmp_path: Path, run_cffpy: Callable) -> None:
    path = tmp_path / "logs.rd"
    path.write_bytes(with_logs())
    text = run_cffpy("info", path).stdout.decode()
    assert "shader log at 0x1000, 64 bytes" in text
    assert "CP log     at 0x1000, 64 bytes" in text
    assert "write      out.bin: 16 bytes at 0x100002000" in text
    assert "write      newer.bin: 16 bytes at 0x100002000" in text
    for name in ("RD_SHADER_LOG_BUFFER", "RD_CP_LOG_BUFFER", "RD_WRBUFFER"):
        assert name in text


def test_sections_for_replay_are_in_the_json_document(tmp_path: Path, run_cffpy: Callable) -> None:
    path = tmp_path / "logs.rd"
    path.write_bytes(with_logs())
    [file] = json.loads(run_cffpy("info", "--json", path).stdout)["files"]
    assert [tuple(one.values()) for one in file["replay_buffers"]] == [
        ("shader log", "0x1000", 64, None),
        ("CP log", "0x1000", 64, None),
        ("write", "0x100002000", 16, "out.bin"),
        ("write", "0x100002000", 16, "newer.bin"),
        ("write", "0x1", 0, None),
    ]


def test_sections_for_replay_survive_text(tmp_path: Path, run_cffpy: Callable) -> None:
    path, source, again = (tmp_path / name for name in ("logs.rd", "logs.pm4", "again.rd"))
    path.write_bytes(with_logs())
    assert run_cffpy("decompile", path, "-o", source).returncode == 0
    assert "section RD_WRBUFFER" in source.read_text()
    assert run_cffpy("compile", source, "-o", again).returncode == 0
    assert again.read_bytes() == path.read_bytes()


def test_sections_for_replay_change_no_dump(tmp_path: Path, run_cffpy: Callable) -> None:
    path, plain = tmp_path / "logs.rd", tmp_path / "plain.rd"
    path.write_bytes(with_logs())
    plain.write_bytes(capture_bytes([gpu_id_section(630)]) + capture(630, type7(0x10, 1)))
    shown = [run_cffpy("dump", "--unit-test", one).stdout for one in (path, plain)]
    assert shown[0] == shown[1]
