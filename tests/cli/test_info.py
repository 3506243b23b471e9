# SPDX-License-Identifier: MIT
"""cffpy info, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_section,
    command_stream_section,
    gpu_id_section,
)
from tests.builders import capture, type7
from tests.command_server import Run
from tests.selection import first_always


def test_tables(run_cffpy: Run, samples: Path) -> None:
    done = run_cffpy("info", samples / "a630-triangle.rd.gz")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert done.stderr == b""
    assert "FD630 (a6xx, 64-bit), gpu id 630" in text
    assert "triangle/1: fence=1" in text
    assert "0x100001000" in text
    assert "\x1b" not in text
    assert "file offset" not in text


def test_buffers(run_cffpy: Run, samples: Path) -> None:
    done = run_cffpy("info", "--buffers", samples / "a220-triangle.rd")
    assert "buffers of submit 0" in done.stdout.decode()
    assert "0x10001000" in done.stdout.decode()


def test_colour(run_cffpy: Run, samples: Path) -> None:
    path = samples / "a220-triangle.rd"
    assert b"\x1b[" in run_cffpy("info", "--color", path).stdout
    assert b"\x1b[" in run_cffpy("info", path, env={"FORCE_COLOR": "1"}).stdout
    both = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    assert b"\x1b[" not in run_cffpy("info", path, env=both).stdout
    assert b"\x1b[" in run_cffpy("info", "--color", path, env=both).stdout


def test_a_stream_without_commands_is_no_damage(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.rd"
    path.write_bytes(capture_bytes([gpu_id_section(630), command_stream_section(0x1000, 0)]))
    for command in ("info", "passes"):
        done = run_cffpy(command, path)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"damage" not in done.stdout
    path.write_bytes(capture_bytes([gpu_id_section(630), command_stream_section(0x1000, 1)]))
    assert run_cffpy("info", path).returncode == 1


@pytest.mark.parametrize("names", first_always([(530, 630), (630, 530), (530, 530), (630, 660)]))
def test_gpus_of_two_generations(names: tuple[int, int], run_cffpy: Run, tmp_path: Path) -> None:
    """As in files that were joined: the first one decides, which a line says."""
    path = tmp_path / "a.rd"
    path.write_bytes(b"".join(capture(gpu, type7(0x26)) for gpu in names))
    is_mixed = {one // 100 for one in names} == {5, 6}
    shown = run_cffpy("info", path).stdout.decode()
    assert (f"also names FD{names[1]}: decoded as FD{names[0]}" in shown) == is_mixed
    line = f"cffpy: warning: the file also names FD{names[1]}: all its commands are decoded as "
    for command in ("passes", "lines", "dump"):
        done = run_cffpy(command, path)
        assert done.returncode == 0
        assert done.stderr.decode().startswith(line) == is_mixed
        assert run_cffpy(command, "--gpu", "630", path).stderr == b""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_unreadable_files_fail_but_do_not_hide_others(
    run_cffpy: Run, samples: Path, tmp_path: Path, options: list[str]
) -> None:
    done = run_cffpy("info", *options, tmp_path / "no", samples / "a220-triangle.rd")
    assert done.returncode == 1
    assert done.stderr.decode() == f"cffpy: error: {tmp_path / 'no'}: No such file or directory\n"
    assert b"FD220" in done.stdout
    if options:
        assert "No such file" in json.loads(done.stdout)["files"][0]["error"]


def test_hostile_names(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "a[b]c.rd"
    path.write_bytes(
        capture_bytes(
            [
                gpu_id_section(999),
                command_section("[red]x\x1b]0;title\x07[/nope]"),
                *buffer_sections(0x1000, bytes(4), size=100),
                command_stream_section(0x1000, 5),
                command_stream_section(0x9000, 5),
            ]
        )
    )
    done = run_cffpy("info", "--buffers", path)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "a[b]c.rd" in text
    assert "[red]x\\x1b]0;title\\x07[/nope]" in text
    assert "\x1b" not in text
    assert "1 dwords" in text
    assert "unknown (gpu id 999)" in text
