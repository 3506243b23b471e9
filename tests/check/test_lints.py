# SPDX-License-Identifier: MIT
"""Each lint fires on its sample, and is quiet on the sample that differs in what it is about."""

from __future__ import annotations

import ast

import pytest

from cffpy.check.model import SEVERITIES, Lint
from cffpy.check.registry import TOPICS, all_lints
from tests.check.texts import CHECKOUT, SAMPLES, checked
from tests.selection import first_always

ALL = all_lints()


@pytest.mark.parametrize("lint", first_always(ALL), ids=lambda lint: lint.id)
def test_samples(lint: Lint) -> None:
    fires = checked(f"{lint.id}-fires", lint)
    assert {finding.lint.id for finding in fires.findings} == {lint.id}
    assert fires.findings[0]._first.place is not None
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


def test_every_module_of_lints_is_a_topic() -> None:
    folder = CHECKOUT / "cffpy" / "check" / "lints"
    assert sorted(TOPICS) == sorted(path.stem for path in folder.glob("[!_]*.py"))
    assert len(ALL) >= 48
    assert {path.stem.split("-")[0] for path in SAMPLES.glob("*.pm4")} == {one.id for one in ALL}


def test_no_two_lints_have_one_id() -> None:
    declared = [
        node.args[0].value
        for path in (CHECKOUT / "cffpy" / "check" / "lints").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lint"
    ]
    assert sorted(declared) == [one.id for one in ALL]


def test_each_rule_that_is_left_out_is_in_the_document() -> None:
    document = (CHECKOUT / "docs" / "reference" / "lints.md").read_text("utf-8")
    for number in set(range(1, 46)) - {int(lint.id[3:]) for lint in ALL}:
        assert f"| {number} |" in document, "with the reason"
