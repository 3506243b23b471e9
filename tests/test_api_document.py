# SPDX-License-Identifier: MIT
"""docs/reference/api.md: its examples run, its reference is that of the docstrings."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tools import examples

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = (CHECKOUT / "docs/reference/api.md").read_text("utf-8")
BLOCKS = re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_block_ends() -> None:
    """A fence that is missing hides the text that follows in a block of code."""
    is_open = False
    for line in PAGE.splitlines():
        if line.startswith("```"):
            assert is_open == (line == "```"), line
            is_open = not is_open
    assert not is_open


def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """They share their names, and run in a folder with all samples."""
    parser = doctest.DocTestParser()
    test = parser.get_doctest("\n".join(BLOCKS), {}, "api.md", "api.md", 0)
    assert len(test.examples) >= 20
    report: list[str] = []
    with examples.runner() as runner:
        monkeypatch.chdir(runner.folder)
        doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)
