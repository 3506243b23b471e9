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
    assert lines[-1] == "28 differences are of no effect: 28 addresses that moved together"


def test_everything(result: Comparison) -> None:
    lines = text_lines(tree(result, everything=True))
    assert not any("more lines" in line or "more fields" in line for line in lines)
    assert sum(line.strip() == "line 29" for line in lines) == 14
    assert "        deep" in lines
    assert lines[-2] == "  addresses: 28 (REG7, REG6, REG5, REG4 and 3 more)"


def test_what_is_undecided_is_shown_and_no_equality(result: Comparison) -> None:
    result.entries = []
    assert result.is_equal
    result.hidden["uncaptured"] = Counter({"uniform data FS 0": 1})
    assert (result.is_equal, result.differs) == (False, False)
    assert text_lines(tree(result)) == [
        "nothing is known to differ, 1 undecided: one → other",
        "undecided: the captures do not tell the effect",
        "  uncaptured: 1 (uniform data FS 0)",
        "28 differences are of no effect: 28 addresses that moved together",
    ]
    made = document(result)
    assert (made["equal"], made["differs"], made["undecided"]) == (False, False, 1)


def test_the_last_line_counts_by_rule(result: Comparison) -> None:
    result.hidden = {
        "scratch": Counter(one=1),
        "addresses": Counter(two=2),
        "tiles": Counter(one=1),
    }
    last = text_lines(tree(result))[-1]
    counted = "2 addresses that moved together, 1 scratch register, 1 register of tiles"
    assert last == f"4 differences are of no effect: {counted}"
    result.hidden = {"scratch": Counter(one=1)}
    last = text_lines(tree(result))[-1]
    assert last == "1 difference is of no effect: 1 scratch register"


def test_the_document_is_never_cut(result: Comparison) -> None:
    made = document(result)
    (entry,) = made["entries"]
    assert len(entry["differences"]) == 14
    assert len(entry["differences"][0]["details"]) == 30
    assert entry["consequences"][0]["consequences"][0]["title"] == "deep"
    (rule,) = made["rules"]
    assert (rule["rule"], rule["count"], rule["decided"]) == ("addresses", 28, True)
    assert next(iter(rule["differences"])) == "REG7"
