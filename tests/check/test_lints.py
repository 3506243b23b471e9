# SPDX-License-Identifier: MIT
"""Each lint fires on its sample, and is quiet on the sample that differs in what it is about."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cffpy.check.model import SEVERITIES, Lint
from cffpy.check.registry import LINTS, all_lints
from cffpy.check.runner import Checked, check_capture
from cffpy.container.open import open_bytes
from cffpy.pm4asm.assemble import assemble

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLES = CHECKOUT / "samples" / "lints"
ALL = all_lints()


def checked(sample: str, lint: Lint) -> Checked:
    text = (SAMPLES / f"{sample}.pm4").read_bytes()
    content = open_bytes(assemble(io.BytesIO(text), sample), sample)
    return check_capture(content, lambda _line: None, lints=[lint])


@pytest.mark.parametrize("lint", ALL, ids=lambda lint: lint.id)
def test_samples(lint: Lint) -> None:
    fires = checked(f"{lint.id}-fires", lint)
    assert {finding.lint.id for finding in fires.findings} == {lint.id}
    assert fires.findings[0].first.place is not None
    quiet = [path.stem for path in SAMPLES.glob(f"{lint.id}-quiet*.pm4")]
    assert f"{lint.id}-quiet" in quiet
    for sample in quiet:
        assert not checked(sample, lint).findings, sample


@pytest.mark.parametrize("lint", ALL, ids=lambda lint: lint.id)
def test_texts(lint: Lint) -> None:
    assert lint.severity in SEVERITIES
    assert lint.name == lint.name.lower()
    assert not lint.summary.endswith(".")
    assert lint.why.endswith(".")
    assert lint.advice.endswith(".")


def test_the_table_has_every_file() -> None:
    folder = CHECKOUT / "cffpy" / "check" / "lints"
    assert sorted(LINTS) == sorted(path.stem for path in folder.glob("cff*.py"))
    assert len(LINTS) >= 35
    assert {path.stem.split("-")[0] for path in SAMPLES.glob("*.pm4")} == {one.id for one in ALL}


def test_every_lint_is_in_the_document() -> None:
    document = (CHECKOUT / "docs" / "check.md").read_text("utf-8")
    for lint in ALL:
        assert f"| {lint.id} | {lint.severity} | `{lint.name}` |" in document
    for number in set(range(1, 46)) - {int(lint.id[3:]) for lint in ALL}:
        assert f"| {number} |" in document, "each rule that is left out is listed with the reason"
