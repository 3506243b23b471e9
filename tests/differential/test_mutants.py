# SPDX-License-Identifier: MIT
"""Mutants of captures and crash dumps through Mesa's own tools and through cffpy.

CFFDUMP and CRASHDEC name the programs, maybe with arguments (of Mesa 25.0.7); without them these
tests are skipped. The reference runs twice, with different contents of memory that it has not
written (glibc's MALLOC_PERTURB_). Where it ends by itself and prints the same both times, cffpy
prints the same bytes. CFFPY_MUTANTS is the number of mutants (200).
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import dumps, mutate
from tests.fuzz.captures import Library, piece
from tests.fuzz.packets import made_up
from tests.golden.runner import difference, run_dump
from tests.views.crashdec.test_crashdec import text_of

COUNT = int(os.environ.get("CFFPY_MUTANTS", "200"))
TIMEOUT = 60  # seconds


def program(variable: str) -> list[str]:
    """The words of a command line in the environment; a path in it becomes absolute."""
    words = shlex.split(os.environ.get(variable, ""))
    if words and os.sep in words[0]:
        words[0] = os.path.abspath(words[0])
    return words


CFFDUMP, CRASHDEC = program("CFFDUMP"), program("CRASHDEC")


def reference(line: list[str], folder: Path) -> tuple[bytes, int] | None:
    """What a program prints, and its exit code.

    None where it crashes, hangs, or does not print the same twice.
    """
    found = []
    for fill in ("1", "165"):
        try:
            done = subprocess.run(
                line,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                cwd=folder,
                timeout=TIMEOUT,
                env={**os.environ, "MALLOC_PERTURB_": fill},
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode < 0:
            return None
        found.append((done.stdout, done.returncode))
    return found[0] if found[0] == found[1] else None


def check_share(compared: int, differing: list[str]) -> None:
    """No difference, and enough mutants of which the reference prints something, reliably."""
    assert not differing, f"{len(differing)} of {compared} differ: " + "\n".join(differing[:5])
    assert compared > COUNT // 10


@pytest.mark.skipif(not CFFDUMP, reason="CFFDUMP names no cffdump (of Mesa 25.0.7)")
def test_captures(tmp_path: Path) -> None:
    library = Library()
    compared, differing = 0, []
    path = tmp_path / "mutant.rd"
    for number in range(COUNT):
        rng = Random(number)
        chosen, source = library.pick(rng)
        parts = made_up(rng, chosen) if source is None else piece(rng, source)
        path.write_bytes(mutate.mutant(rng, parts))
        options = rng.choice((["--unit-test"], ["--unit-test", "-s", "--once"]))
        found = reference([*CFFDUMP, *options, str(path)], tmp_path)
        if found is None:
            continue
        expected, _ = found
        compared += expected != b""
        report = difference(expected, run_dump([*options, str(path)], tmp_path).stdout)
        if report:
            differing.append(f"mutant {number}: {report}")
    check_share(compared, differing)


@pytest.mark.skipif(not CRASHDEC, reason="CRASHDEC names no crashdec (of Mesa 25.0.7)")
def test_crash_dumps(tmp_path: Path) -> None:
    """crashdec exits with 1 at a line that it cannot parse: cffpy continues there."""
    sources = dumps.sources()
    compared, differing = 0, []
    path = tmp_path / "mutant.devcore"
    for number in range(COUNT):
        rng = Random(number)
        data = dumps.mutant(rng, rng.choice(sources))
        path.write_bytes(data)
        found = reference([*CRASHDEC, "-f", str(path)], tmp_path)
        if found is None:
            continue
        expected, code = found
        compared += expected != b""
        ours, _ = text_of(data)
        report = difference(expected, ours[: len(expected)] if code else ours)
        if report:
            differing.append(f"mutant {number}: {report}")
    check_share(compared, differing)
