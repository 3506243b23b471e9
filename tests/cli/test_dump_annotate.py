# SPDX-License-Identifier: MIT
"""cffpy dump --annotate, run as users run it: files, standard input, prefixes."""

from __future__ import annotations

from pathlib import Path

from cffpy.container.section_types import SectionType
from tests.builders import capture, type7
from tests.command_server import Run

DRAW = type7(0x38, 4, 1, 3)


def without(annotated: bytes, prefix: bytes = b"#cffpy ") -> bytes:
    """What is left when each line with the prefix is removed."""
    assert annotated.startswith(prefix)
    return b"\n".join(line for line in annotated.split(b"\n") if not line.startswith(prefix))


def test_files_and_standard_input(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    first, second = samples / "a630-triangle.rd.gz", samples / "a220-triangle.rd"
    arguments = [first, "-", second, first]
    data = capture(630, DRAW)
    plain = run_cffpy("dump", *arguments, input=data)
    annotated = run_cffpy("dump", "--annotate", *arguments, input=data)
    assert (annotated.returncode, annotated.stderr) == (0, plain.stderr)
    assert without(annotated.stdout) == plain.stdout
    assert annotated.stdout.count(b"#cffpy submit 0 begins") == 4


def test_one_prefix_for_all_files(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.rd"
    evil.write_bytes(capture(630, DRAW, before=[(SectionType.CMD, b"x\n#cffpy y\n#cffpy2 z")]))
    arguments = [samples / "a630-triangle.rd.gz", evil]
    plain = run_cffpy("dump", *arguments).stdout
    assert b"\n#cffpy2 z\n" in plain
    assert without(run_cffpy("dump", "--annotate", *arguments).stdout, b"#cffpy3 ") == plain


def test_names_of_files_and_registers_count(run_cffpy: Run, tmp_path: Path) -> None:
    path = tmp_path / "a\n#cffpy b.rd"
    path.write_bytes(capture(630, DRAW))
    query = "x\n#cffpy2 y"
    plain = run_cffpy("dump", "-q", query, path).stdout
    annotated = run_cffpy("dump", "--annotate", "-q", query, path).stdout
    assert without(annotated, b"#cffpy3 ") == plain


def test_errors_are_those_of_dump(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    unknown = tmp_path / "unknown.rd"
    unknown.write_bytes(capture(630, DRAW)[16:])
    damaged = tmp_path / "damaged.rd"
    damaged.write_bytes((samples / "a630-triangle.rd.gz").read_bytes()[:-200])
    for name in (tmp_path / "absent.rd", unknown, damaged):
        for files in ([name], [name, samples / "a220-triangle.rd"]):
            plain = run_cffpy("dump", *files)
            annotated = run_cffpy("dump", "--annotate", *files)
            assert annotated.returncode == plain.returncode
            assert annotated.stderr == plain.stderr
            assert without(annotated.stdout) == plain.stdout


def test_help(run_cffpy: Run) -> None:
    assert b"--annotate" in run_cffpy("dump", "--help").stdout
