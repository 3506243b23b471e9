# SPDX-License-Identifier: MIT
"""Lints of other packages, selection, counting, comparison."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.register_store import recorder
from cffpy.analysis.register_store.log import RegisterLog
from cffpy.check.model import CheckedCapture, Lint, LintError, Report, at_draw, lint
from cffpy.check.registry import all_lints, chosen_lints, find_lint
from cffpy.check.runner import Checked, check_capture, new_findings
from cffpy.container.open import open_bytes
from cffpy.errors import UsageError
from cffpy.frame.passes import Pass
from cffpy.pm4asm.assemble import assemble

CHECKOUT = Path(__file__).resolve().parents[2]


def each_draw(capture: CheckedCapture) -> Iterator[Report]:
    """A draw.

    Why: Two causes by the number of vertices.

    Advice: What.
    """
    for pass_, draw in capture.draws():
        yield at_draw(pass_, draw, f"{draw.vertices} vertices", draw.vertices)


EACH_DRAW = lint("TST001", "warning")(each_draw)


def run(sample: str, *lints: Lint) -> Checked:
    text = (CHECKOUT / "samples" / sample).read_bytes()
    content = open_bytes(assemble(io.BytesIO(text), sample), sample)
    return check_capture(content, pytest.fail, lints=lints)


def test_reports_of_one_cause_are_counted() -> None:
    found = run("lints/CFF020-quiet.pm4", EACH_DRAW).findings
    assert [(one._first.text, one.count, one.severity) for one in found] == [
        ("3 vertices", 10, "warning")
    ]
    only_a7xx = lint("TST001", "warning", range(7, 8))(each_draw)
    assert not run("lints/CFF020-quiet.pm4", only_a7xx).findings


def findings(checked: Checked) -> list[tuple[str, str, int, str]]:
    return [
        (one.lint.id, one._first.text, one.count, str(one._first.place)) for one in checked.findings
    ]


@pytest.mark.parametrize("sample", ["lints/CFF003-fires.pm4", "lints/CFF003-quiet.pm4"])
def test_writes_are_joined_between_the_draws_that_lints_ask(
    sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packets that are found, and whether draws used what they wrote, stay the same."""
    lints = chosen_lints(["CFF003", "CFF004"])
    expected = findings(run(sample, *lints))
    joins, join = [], RegisterLog.join

    def counting(log: RegisterLog, *arguments: Any, **named: Any) -> None:
        joins.append(len(log.entries))
        join(log, *arguments, **named)

    monkeypatch.setattr(RegisterLog, "join", counting)
    monkeypatch.setattr(recorder, "_FEW_ENTRIES", -(1 << 20))
    monkeypatch.setattr(recorder, "_MAX_APART", 0)
    assert findings(run(sample, *lints)) == expected
    assert len(joins) > 1


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
    register(site, f"{package}:many_passes")
    try:
        added = find_lint("EXA001")
        assert (added.name, added.severity) == ("many-passes", "info")
        assert added.summary == "a submit has many render passes"
        assert added.id in {one.id for one in all_lints()}
        assert not run("lints/CFF020-quiet.pm4", added).findings
        passes = [Pass(index, "render", 0, [0], None, None) for index in range(102)]  # type: ignore[arg-type]

        class Capture:
            def render_passes(self) -> list[Pass]:
                return passes

        (report,) = added.check(Capture())  # type: ignore[arg-type]
        assert report.text == "submit 0 has more than 100 render passes"
    finally:
        sys.modules.pop(package, None)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Lint", "cannot be loaded"),
        ("json:loads", "is no function with the decorator lint"),
        ("cffpy.check.model:Lint", "is no function with the decorator lint"),
        ("cffpy.check.lints.draws:empty_draw", "two lints have the id CFF007"),
    ],
)
def test_bad_entry_points(site: Path, value: str, message: str) -> None:
    register(site, value)
    with pytest.raises(LintError, match=message):
        all_lints()


# --- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("severity", "text", "message"),
    [
        ("fatal", each_draw.__doc__, "the lint TST002 has the severity 'fatal'"),
        ("info", None, "the text of the lint TST002 has no summary, Why, Advice"),
        ("info", "A draw.\n\nWhy: Because.", "the text of the lint TST002 has no Advice"),
        ("info", "Why: Because.\n\nAdvice: Do.", "the text of the lint TST002 has no summary"),
    ],
)
def test_a_declaration_is_whole(severity: str, text: str | None, message: str) -> None:
    def silent(_capture: CheckedCapture) -> Iterator[Report]:
        yield from ()

    silent.__doc__ = text
    with pytest.raises(LintError, match=message):
        lint("TST002", severity)(silent)  # type: ignore[arg-type]


def test_the_text_of_a_lint_is_its_docstring() -> None:
    known = {one.id: one for one in all_lints()}
    direction, waits = known["CFF049"], known["CFF027"]
    assert direction.name == "lrz-direction"
    assert direction.summary == "LRZ tests in another direction than the depth test"
    assert direction.reported == "Draws that test depth and LRZ, with GREATER or DIR against ZFUNC."
    assert waits.summary == "most draws of a pass wait until the GPU is idle"
    assert waits.reported.startswith("Passes in which more than half of the draws")
    assert waits.advice.endswith("TU_DEBUG=syncdraw adds one for each draw.")


@lint("TST003", "info")
def each_colour(capture: CheckedCapture) -> Iterator[Report]:
    """A draw that writes colours.

    Why: It asks for what the walk of the lints does not find.

    Advice: None.
    """
    for pass_, draw in capture.draws():
        assert draw.pass_ is pass_
        if "FS" in draw.shaders and draw.state["RB_RENDER_COMPONENTS"].value:
            yield at_draw(pass_, draw, f"{len(draw.textures)} textures", pass_.index)


def test_a_lint_asks_all_that_a_draw_answers(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        findings = capture._source.check([each_colour]).findings
        assert [one.count for one in findings] == [len(one.draws) for one in capture.passes]
        assert findings[0].text == f"{len(capture.passes[0].draws[0].textures)} textures"
        again = capture._source.walk_whole([each_colour]).findings
        assert [(one.text, one.count) for one in again] == [
            (one.text, one.count) for one in findings
        ]
