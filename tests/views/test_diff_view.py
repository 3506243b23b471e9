# SPDX-License-Identifier: MIT
"""A comparison as a tree of lines: what is cut short, what is counted."""

from __future__ import annotations

from collections import Counter

import pytest

from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent
from cffpy.analysis.diff.recording import Recording
from cffpy.analysis.diff.rules import Category
from cffpy.frame.passes import Passes
from cffpy.views.diff import document, summary, text_lines, tree

ABOUT = Category("blend", 10)


def field(number: int, details: int = 0) -> Difference:
    lines = tuple(f"line {n}" for n in range(details))
    return Difference(f"field {number}", "a", "b", ABOUT, details=lines)


@pytest.fixture
def result() -> Comparison:
    recordings = [
        Recording(name=name, passes=Passes(), database=None, generation=6)
        for name in ("one", "other")
    ]
    found = Comparison(*recordings)
    inner = Entry("deep", (Extent(0, 0),), [field(0)])
    follows = [Entry(f"follows {n}", (Extent(0, 0),), [field(n)]) for n in range(15)]
    follows[0].consequences.append(inner)
    found.entries = [
        Entry("cause", (Extent(0, 0, 1, 2),), [field(n, 30) for n in range(14)], follows)
    ]
    found.hidden = {"addresses": Counter({f"REG{n}": n for n in range(1, 8)})}
    return found


def test_summary(result: Comparison) -> None:
    assert summary(result) == "1 difference, 16 more that follow"
    result.entries.append(Entry("another", (Extent(0, 0),)))
    assert summary(result) == "2 differences, 16 more that follow"
    result.entries = []
    assert summary(result) == "no difference"


def test_the_tree_is_cut_short_and_says_so(result: Comparison) -> None:
    lines = text_lines(tree(result))
    assert lines[0] == "1 difference, 16 more that follow: one → other"
    assert lines[1:3] == ["cause", "  field 0: a → b"]
    assert "    and 6 more lines" in lines
    assert "  and 2 more fields (--all shows them)" in lines
    assert "    and 3 more" in lines
    assert lines[-1] == "  addresses: 28 (REG7, REG6, REG5, REG4 and 3 more)"


def test_everything(result: Comparison) -> None:
    lines = text_lines(tree(result, everything=True))
    assert not any("more lines" in line or "more fields" in line for line in lines)
    assert sum(line.strip() == "line 29" for line in lines) == 14
    assert "        deep" in lines


def test_the_document_is_never_cut(result: Comparison) -> None:
    made = document(result)
    (entry,) = made["entries"]
    assert len(entry["differences"]) == 14
    assert len(entry["differences"][0]["details"]) == 30
    assert entry["consequences"][0]["consequences"][0]["title"] == "deep"
    assert made["hidden"]["addresses"]["count"] == 28
    assert next(iter(made["hidden"]["addresses"]["names"])) == "REG7"
