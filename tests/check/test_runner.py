# SPDX-License-Identifier: MIT
"""Lints of other packages, selection, counting, comparison."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cffpy.check.model import CheckedCapture, Lint, Report, at_draw
from cffpy.check.registry import LintError, all_lints, chosen_lints, find_lint
from cffpy.check.runner import Checked, check_capture, new_findings
from cffpy.container.open import open_bytes
from cffpy.errors import UsageError
from cffpy.frame.passes import Pass
from cffpy.pm4asm.assemble import assemble

CHECKOUT = Path(__file__).resolve().parents[2]


def each_draw(_lint: Lint, capture: CheckedCapture) -> Iterator[Report]:
    for found, draw in capture.draws():
        yield at_draw(found, draw, f"{draw.vertices} vertices", draw.vertices)


class EachDraw(Lint):
    """Reports each draw; two causes by the number of vertices."""

    id = "TST001"
    name = "each-draw"
    severity = "warning"
    summary, why, advice = "a draw", "Why.", "What."
    check = each_draw


class OnlyA7xx(EachDraw):
    generations = range(7, 8)


def run(sample: str, *lints: Lint) -> Checked:
    text = (CHECKOUT / "samples" / sample).read_bytes()
    content = open_bytes(assemble(io.BytesIO(text), sample), sample)
    return check_capture(content, pytest.fail, lints=lints)


def test_reports_of_one_cause_are_counted() -> None:
    found = run("lints/CFF020-quiet.pm4", EachDraw()).findings
    assert [(one.first.text, one.count, one.severity) for one in found] == [
        ("3 vertices", 10, "warning")
    ]
    assert not run("lints/CFF020-quiet.pm4", OnlyA7xx()).findings


def test_comparison() -> None:
    lints = chosen_lints(["CFF013", "CFF012"])
    good, bad = (run(f"lints/CFF013-{kind}.pm4", *lints) for kind in ("quiet", "fires"))
    assert [one.lint.id for one in new_findings(good, bad)] == ["CFF013"]
    assert not new_findings(bad, good)
    assert not new_findings(bad, bad)


def test_selection() -> None:
    assert [one.id for one in chosen_lints(["lrz-l*"])] == ["CFF013"]
    assert [one.id for one in chosen_lints(["cff01?"], ["lrz-lost"])][:3] == [
        "CFF010",
        "CFF011",
        "CFF012",
    ]
    assert [one.id for one in chosen_lints("lrz-*")] == ["CFF012", "CFF013", "CFF049"]
    assert "CFF012" not in [one.id for one in chosen_lints(ignore="lrz-*")]
    assert find_lint("empty-draw").id == "CFF007"
    with pytest.raises(UsageError, match="no lint is called 'nonsense'"):
        chosen_lints(["nonsense"])


# --- entry points --------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages; ``register`` adds an entry point."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def register(site: Path, value: str) -> None:
    folder = site / "other_lints-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other-lints\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[cffpy.lints]\nother = {value}\n")


def test_a_package_adds_a_lint(site: Path) -> None:
    package = "cffpy_example_lints"
    shutil.copytree(CHECKOUT / "examples" / "lint_package" / package, site / package)
    register(site, f"{package}:ManyPasses")
    try:
        lint = find_lint("EXA001")
        assert (lint.name, lint.severity) == ("many-passes", "info")
        assert lint.id in {one.id for one in all_lints()}
        assert not run("lints/CFF020-quiet.pm4", lint).findings
        passes = [Pass(index, "render", 0, [0], None, None) for index in range(102)]  # type: ignore[arg-type]

        class Capture:
            def render_passes(self) -> list[Pass]:
                return passes

        (report,) = lint.check(Capture())  # type: ignore[arg-type]
        assert report.text == "submit 0 has more than 100 render passes"
    finally:
        sys.modules.pop(package, None)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Lint", "cannot be loaded"),
        ("json:loads", "is not a subclass of Lint"),
        ("cffpy.check.model:Lint", "has no valid id"),
        ("cffpy.check.lints.cff007_empty_draw:EmptyDraw", "two lints have the id CFF007"),
    ],
)
def test_bad_entry_points(site: Path, value: str, message: str) -> None:
    register(site, value)
    with pytest.raises(LintError, match=message):
        all_lints()
