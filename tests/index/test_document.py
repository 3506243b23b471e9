# SPDX-License-Identifier: MIT
"""The examples in Python of docs/guide/many-captures.md."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/many-captures.md"


@pytest.mark.slow
def test_examples(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in samples.glob("*.rd"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    blocks = PAGE.read_text("utf-8").split("```pycon\n")[1:]
    text = "\n".join(block.partition("```")[0] for block in blocks)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert test.examples
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0
