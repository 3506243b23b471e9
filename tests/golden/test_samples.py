# SPDX-License-Identifier: MIT
"""The samples' output, byte for byte as committed in samples/expected.

``NAME.txt`` is what cffpy printed when the case was added; ``NAME.RUN.cffdump.txt`` is what Mesa's
cffdump printed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.runner import (
    CFFDUMP_SUFFIX,
    CHECKOUT,
    EXPECTED,
    NOT_RECORDED,
    UNKNOWN_TO_CFFDUMP,
    Case,
    built_sample,
    cffdump_runs,
    difference,
    recorded_captures,
    sample_cases,
    sample_digest,
)

Run = Callable[..., subprocess.CompletedProcess[bytes]]

TEXTS = sorted((CHECKOUT / "samples").glob("*.pm4"))
CASES = sample_cases()


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_sample(case: Case, samples: Path, run_cffpy: Run) -> None:
    files = [name if name == "-" else f"samples/{name}" for name in case["files"]]
    with open(samples / case["stdin"] if "stdin" in case else os.devnull, "rb") as stdin:
        done = run_cffpy("dump", *case["args"], *files, cwd=samples.parent, stdin=stdin)
    report = difference((EXPECTED / f"{case['name']}.txt").read_bytes(), done.stdout)
    if report:
        pytest.fail(f"{case['name']}: {report}", pytrace=False)
    assert done.returncode == case.get("exit", 0), done.stderr


def test_every_expected_file_has_a_case() -> None:
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names))
    expected = {path.name for path in EXPECTED.glob("*.txt")}
    cffdump = {name for name in expected if name.endswith(CFFDUMP_SUFFIX)}
    assert expected - cffdump == {f"{name}.txt" for name in names}
    assert cffdump == {
        f"{name}.{run}{CFFDUMP_SUFFIX}" for name in recorded_captures() for run in cffdump_runs()
    }


@pytest.mark.parametrize("run", cffdump_runs())
@pytest.mark.parametrize("name", recorded_captures())
def test_cffdump(name: str, run: str, samples: Path, run_cffpy: Run) -> None:
    """The dump is what the reference printed for the same capture."""
    capture = built_sample(samples.parent, name)
    arguments = [*cffdump_runs()[run], str(capture.relative_to(samples.parent))]
    done = run_cffpy("dump", *arguments, cwd=samples.parent)
    expected = (EXPECTED / f"{name}.{run}{CFFDUMP_SUFFIX}").read_bytes()
    report = difference(expected, done.stdout)
    if report:
        pytest.fail(f"{name}: {report}", pytrace=False)
    assert done.returncode == 0, done.stderr


def test_the_reference_decoded_the_samples_as_they_are(samples: Path) -> None:
    digests = {
        path.stem: sample_digest(built_sample(samples.parent, path.stem))
        for path in TEXTS
        if not path.stem.startswith((UNKNOWN_TO_CFFDUMP, *NOT_RECORDED))
    }
    assert digests == recorded_captures(), "record again: CFFDUMP=/path/to/cffdump ./dev expect"


def test_every_sample_has_a_case(samples: Path) -> None:
    captures = {path.name for path in samples.glob("*.rd*")}
    assert captures <= {name for case in CASES for name in case["files"]}


@pytest.mark.parametrize(
    ("expected", "got", "report"),
    [
        (b"a\nb\n", b"a\nb\n", []),
        (
            b"1\n2\n3\n4\n5\n",
            b"1\n2\n3\n4\n\xff\n",
            [
                "first difference at line 5 (of 6 expected, 6 got)",
                "    2",
                "    3",
                "    4",
                "  - 5",
                "  - ",
                "  + \\xff",
                "  + ",
            ],
        ),
        (
            b"1\n2",
            b"1",
            [
                "first difference at line 2 (of 2 expected, 1 got)",
                "    1",
                "  - 2",
                "  + (end)",
            ],
        ),
    ],
)
def test_difference(expected: bytes, got: bytes, report: list[str]) -> None:
    assert difference(expected, got).splitlines() == report
