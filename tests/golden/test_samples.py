# SPDX-License-Identifier: MIT
"""The samples' output, byte for byte as committed in samples/expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.runner import EXPECTED, Case, difference, run_sample, sample_cases

CASES = sample_cases()


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_sample(case: Case, samples: Path) -> None:
    done = run_sample(case, samples.parent)
    report = difference((EXPECTED / f"{case['name']}.txt").read_bytes(), done.stdout)
    if report:
        pytest.fail(f"{case['name']}: {report}", pytrace=False)
    assert done.returncode == case.get("exit", 0), done.stderr


def test_every_expected_file_has_a_case() -> None:
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names))
    assert {path.stem for path in EXPECTED.glob("*.txt")} == set(names)


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
