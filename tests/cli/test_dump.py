# SPDX-License-Identifier: MIT
"""cffpy dump, run as users run it: exit codes, messages, standard input, pipes, interrupts."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cffpy.container.writer import (
    NewSection,
    buffer_sections,
    capture_bytes,
    chip_id_section,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from tests.command_server import Run
from tests.interrupts import take_interrupts
from tests.selection import first_always

NOPS = [0x70108000] * 64


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uncompressed capture of a few packets."""
    path = tmp_path_factory.mktemp("captures") / "small.rd"
    path.write_bytes(small_capture())
    return path


def small_capture(gpu: int = 630) -> bytes:
    return capture_bytes(
        [
            gpu_id_section(gpu),
            *buffer_sections(0x100000, dwords_bytes(NOPS)),
            command_stream_section(0x100000, len(NOPS)),
        ]
    )


@pytest.fixture
def long_capture(tmp_path: Path) -> Path:
    """A capture that takes a long time to dump."""
    path = tmp_path / "long.rd"
    calls = [0x70BF8003, 0x100000, 0, len(NOPS)] * 4000
    sections = [
        gpu_id_section(630),
        *buffer_sections(0x100000, dwords_bytes(NOPS)),
        *buffer_sections(0x200000, dwords_bytes(calls)),
        *[command_stream_section(0x200000, len(calls))] * 50,
    ]
    path.write_bytes(capture_bytes(sections))
    return path


@pytest.fixture
def dump(run_cffpy: Run) -> Run:
    """``dump(arguments ...)``: cffpy dump; no traceback is ever shown."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        done = run_cffpy("dump", *arguments, **options)
        assert b"Traceback" not in done.stderr
        assert b"internal error" not in done.stderr
        return done

    return run


def one_line(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line on standard error."""
    assert done.stderr.count(b"\n") == 1, done.stderr
    return done.stderr.decode()


# --- what is read --------------------------------------------------------------------------------


def test_a_file(dump: Run, capture: Path) -> None:
    done = dump(capture)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(f"Reading {capture}...\ngpu_id: 630\n####".encode())
    assert done.stdout.endswith(b"#\nvertices: 0\n")
    assert b"\x1b" not in done.stdout
    plain = dump("--unit-test", capture)
    assert done.stdout.partition(b"\n")[2] == plain.stdout


@pytest.mark.parametrize("form", ["gz", "gz two members", "xz", "bz2", "zst"])
def test_compression_changes_nothing(dump: Run, capture: Path, tmp_path: Path, form: str) -> None:
    data = capture.read_bytes()
    if form == "zst":
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            zstd = pytest.importorskip("backports.zstd")
        packed = zstd.compress(data)
    else:
        packed = {
            "gz": gzip.compress(data),
            "gz two members": gzip.compress(data[:100]) + gzip.compress(data[100:]),
            "xz": lzma.compress(data),
            "bz2": bz2.compress(data),
        }[form]
    path = tmp_path / "any name"
    path.write_bytes(packed)
    expected = dump("--unit-test", capture)
    packed_done = dump("--unit-test", path)
    assert packed_done.stdout == expected.stdout
    assert (packed_done.returncode, packed_done.stderr) == (0, b"")


def test_standard_input(dump: Run, capture: Path) -> None:
    done = dump("-", input=gzip.compress(capture.read_bytes()))
    assert done.returncode == 0
    assert done.stdout.startswith(b"Reading -...\ngpu_id: 630\n")


def test_several_files(dump: Run, capture: Path) -> None:
    done = dump(capture, capture, "--unit-test")
    assert done.stdout == dump("--unit-test", capture).stdout * 2


# --- what is wrong -------------------------------------------------------------------------------


def test_a_missing_last_file(dump: Run, capture: Path) -> None:
    done = dump("--unit-test", capture, "/no/such/file")
    assert done.returncode == 2
    assert done.stdout == dump("--unit-test", capture).stdout
    assert b"/no/such/file" in done.stderr
    assert b"Usage" in done.stderr


def test_a_missing_first_file(dump: Run, capture: Path) -> None:
    done = dump("--unit-test", "/no/such/file", capture)
    assert done.returncode == 0
    assert done.stdout == dump("--unit-test", capture).stdout
    assert "/no/such/file" in one_line(done)


def test_reading_is_announced_before_it_fails(dump: Run) -> None:
    assert dump("/no/such/file").stdout == b"Reading /no/such/file...\n"


def test_a_directory(dump: Run, tmp_path: Path) -> None:
    done = dump("--unit-test", tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert str(tmp_path).encode() in done.stderr


def test_no_file(dump: Run) -> None:
    done = dump()
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Usage" in done.stderr


def test_an_empty_file(dump: Run, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    done = dump("--unit-test", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{path}: the file is empty".encode() in done.stderr


def test_a_text_file(dump: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are no sections at all.\n" * 20)
    done = dump("--unit-test", path)
    assert done.returncode == 0
    assert done.stdout in (b"", b"corrupt file\n")
    assert str(path).encode() in done.stderr


def test_a_truncated_capture(dump: Run, capture: Path, tmp_path: Path) -> None:
    data = capture.read_bytes()
    path = tmp_path / "cut.rd"
    path.write_bytes(data[: len(data) - 40])  # amid the buffer
    done = dump("--unit-test", path)
    assert (done.returncode, done.stdout) == (0, b"gpu_id: 630\n")
    assert "cut short" in one_line(done)


def test_a_truncated_gzip_file(dump: Run, capture: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.rd.gz"
    packed = gzip.compress(capture.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    done = dump("--unit-test", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{path}: gzip stream: cut short".encode() in done.stderr


def test_a_section_of_impossible_size(dump: Run, capture: Path, tmp_path: Path) -> None:
    path = tmp_path / "wild.rd"
    path.write_bytes(capture.read_bytes() + b"\x0c\0\0\0\xff\xff\xff\xff" + bytes(64))
    done = dump("--unit-test", path)
    assert done.returncode == 0
    assert done.stdout == dump("--unit-test", capture).stdout + b"corrupt file\n"
    assert "impossible size" in one_line(done)


def test_an_unknown_gpu_of_a_known_generation(dump: Run, tmp_path: Path) -> None:
    path = tmp_path / "a655.rd"
    path.write_bytes(small_capture(655))
    done = dump("--unit-test", path)
    assert done.returncode == 0
    assert b"CP_NOP" in done.stdout
    assert "a6xx" in one_line(done)


def test_no_gpu_at_all(dump: Run, tmp_path: Path) -> None:
    path = tmp_path / "unknown.rd"
    path.write_bytes(small_capture(99999))
    done = dump("--unit-test", path)
    assert done.returncode == 1
    assert "--gpu" in one_line(done)
    helped = dump("--unit-test", "--gpu", "630", path)
    assert helped.returncode == 0
    assert b"CP_NOP" in helped.stdout


@pytest.mark.parametrize("gpu", ["a630", "a6xx", "A6XX", "6"])
def test_a_gpu_by_id_or_generation(dump: Run, tmp_path: Path, gpu: str) -> None:
    path = tmp_path / "unknown.rd"
    path.write_bytes(small_capture(99999))
    done = dump("--unit-test", "--gpu", gpu, path)
    assert done.returncode == 0
    assert done.stdout == dump("--unit-test", "--gpu", "630", path).stdout


@pytest.mark.parametrize(
    ("gpu", "message"), [("99999", "neither a GPU (630)"), ("a9xx", "neither a GPU (630)")]
)
def test_what_is_no_gpu(dump: Run, capture: Path, gpu: str, message: str) -> None:
    done = dump("--gpu", gpu, capture)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()


def test_an_unknown_chip_id(dump: Run, tmp_path: Path) -> None:
    path = tmp_path / "chip.rd"
    sections: list[NewSection] = [
        chip_id_section(0x43090909),
        *buffer_sections(0x100000, dwords_bytes(NOPS)),
        command_stream_section(0x100000, 1),
    ]
    path.write_bytes(capture_bytes(sections))
    done = dump("--unit-test", path)
    assert (done.returncode, b"chip_id: 0x43090909\n" in done.stdout) == (0, True)
    assert "a7xx" in one_line(done)


# --- options -------------------------------------------------------------------------------------


def test_unknown_options(dump: Run, capture: Path) -> None:
    done = dump("--no-such-option", capture)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("option", ["--query-written", "--query-delta", "--query-compare"])
def test_query_options_without_a_query(dump: Run, capture: Path, option: str) -> None:
    done = dump("--unit-test", option, capture)
    assert done.returncode == 2
    assert done.stdout == dump("--unit-test", capture).stdout, "all of the output comes first"
    assert done.stderr


@pytest.mark.parametrize(
    "arguments",
    first_always(
        [
            ("--summary", "--allregs"),
            ("-sa",),
            ("-S0", "-E0"),
            ("-F", "0"),
            ("--frame=0",),
            ("-D", "-1"),
            ("-v",),
            ("--no-pager", "--no-color", "--not-once"),
            ("--once", "--not-once"),
            ("--query-all",),
        ],
        3,
    ),
)
def test_options_that_change_nothing_here(dump: Run, capture: Path, arguments) -> None:
    done = dump("--unit-test", *arguments, capture)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == dump("--unit-test", capture).stdout
    assert dump("--unit-test", capture, *arguments).stdout == done.stdout


@pytest.mark.parametrize("argument", ["--\x1b[31mred", "-\x9b", "--dr\x07aw=1", "-D\x1b]0;x\x07"])
def test_usage_errors_print_no_control_characters(dump: Run, capture: Path, argument: str) -> None:
    done = dump(argument, capture)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert "Error: " in said
    assert all(character.isprintable() or character == "\n" for character in said)


@pytest.mark.parametrize("digits", ["\u0663", "1_0", " 1", "1 ", "\uff11", "0x1", ""])
@pytest.mark.parametrize("command", ["dump", "passes"])
def test_numbers_of_options_are_ascii_digits(
    run_cffpy: Run, capture: Path, command: str, digits: str
) -> None:
    option = "-D" if command == "dump" else "--pass"
    done = run_cffpy(command, f"{option}", digits, capture)
    assert done.returncode == 2
    wanted = b"is not a valid integer" if command == "dump" else b"is not a p"
    assert wanted in done.stderr
    assert done.stdout == b""


def test_a_range_without_submits(dump: Run, capture: Path) -> None:
    for arguments in (("-F", "5"), ("-S", "1"), ("-E", "-1"), ("-F", "3", "-E", "2")):
        assert dump("--unit-test", *arguments, capture).stdout == b"gpu_id: 630\n"
    assert b"cmdstream[0]" in dump("--unit-test", "-F", "3", "-S", "0", capture).stdout


def test_colour_is_asked_for(dump: Run, capture: Path) -> None:
    coloured = dump("--color", capture).stdout
    assert b"opcode: \x1b[0;1;35mCP_NOP\x1b[0m (10)" in coloured
    assert b"\x1b" not in dump("--color", "--no-color", capture).stdout


# --- pipes and interrupts ------------------------------------------------------------------------


def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cffpy", "dump", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.skipif(os.name == "nt", reason="no such pipes")
def test_a_reader_that_leaves(long_capture: Path) -> None:
    process = start("--unit-test", long_capture)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"gpu_id: 630\n"
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), errors) == (0, b"")


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_an_interrupt(long_capture: Path) -> None:
    process = start("--unit-test", long_capture, preexec_fn=take_interrupts)
    assert process.stdout is not None
    assert process.stderr is not None
    # the command cannot end before its output is read, which is more than the pipe holds
    assert process.stdout.readline() == b"gpu_id: 630\n"
    process.send_signal(signal.SIGINT)
    while process.stdout.read(1 << 20):
        pass
    errors = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(60) == 130
    assert b"Traceback" not in errors


def test_an_unknown_query_is_reported_on_standard_error(capture: Path, run_cffpy: Run) -> None:
    known = run_cffpy("dump", "-q", "RB_DEPTH_CNTL", "-q", "0x8820", capture)
    assert (known.returncode, known.stderr) == (0, b"")
    done = run_cffpy("dump", "-q", "RB_DEPT_CNTL", capture)
    assert done.returncode == 0, "the reference's"
    assert b"querystr: RB_DEPT_CNTL -> 0x0\n" in done.stdout
    (line,) = done.stderr.decode().splitlines()
    said = "cffpy: warning: a6xx has no register RB_DEPT_CNTL; did you mean RB_DEPTH_CNTL or "
    assert line.startswith(said)
