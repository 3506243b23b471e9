# SPDX-License-Identifier: MIT
from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from cffpy.views.page_kit.markup import (
    LONGEST_TEXT,
    Budget,
    Markup,
    element,
    escape,
    join,
    text_lines,
)
from cffpy.views.plain_text import visible
from tests.views.diff_html.comparisons import HOSTILE

TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)


class Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[object] = []
        self.data = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(tag)

    def handle_data(self, data: str) -> None:
        self.data += data

    def handle_comment(self, data: str) -> None:
        self.seen.append(f"comment {data}")


@given(TEXTS)
def test_any_text_is_text(text: str) -> None:
    read = Reader(element("p", text, title=text))
    assert read.seen == [("p", [("title", visible(text))]), "p"]
    assert read.data == visible(text)


def test_hostile_text() -> None:
    read = Reader(element("p", HOSTILE, [HOSTILE], data_x=HOSTILE))
    assert read.seen == [("p", [("data-x", visible(HOSTILE))]), "p"]
    assert read.data == visible(HOSTILE) * 2
    element("p", HOSTILE).encode("utf-8")


def test_markup_stays_and_what_is_made_of_it_is_text_again() -> None:
    bold = element("b", "1 < 2")
    assert element("p", bold, " & ", None, [bold, ["x"]]) == (
        "<p><b>1 &lt; 2</b> &amp; <b>1 &lt; 2</b>x</p>"
    )
    assert join([bold, "<"]) == "<b>1 &lt; 2</b>&lt;"
    assert element("p", bold + "") == "<p>&lt;b&gt;1 &amp;lt; 2&lt;/b&gt;</p>"
    assert element("p", f"{bold}") == "<p>&lt;b&gt;1 &amp;lt; 2&lt;/b&gt;</p>"


def test_attributes() -> None:
    assert element("input", class_="a b", data_x=3, hidden=True, open=False, id=None) == (
        '<input class="a b" data-x="3" hidden>'
    )


def test_long_text_is_cut_and_says_so() -> None:
    text = escape("<" * 5000)
    assert text.count("&lt;") == LONGEST_TEXT
    assert text.endswith("… (5,000 characters)")


def test_budget() -> None:
    budget = Budget(3)
    assert not budget.is_spent
    assert budget.take(Markup("abcd")) == "abcd"
    assert budget.is_spent


def test_lines_of_text() -> None:
    """Ends of lines are ends of lines; each line is escaped, and long texts say what they lack."""
    assert text_lines([]) == ""
    assert text_lines(["a < b", "c\rd"]) == "a &lt; b\nc\\x0dd"
    long = [f"line {number}" for number in range(100)]
    assert text_lines(long).split("\n") == long
    assert text_lines(long, 14).split("\n") == ["line 0", "line 1", "… 98 more lines"]
    assert Reader(element("pre", text_lines(HOSTILE.split("\n")))).seen[0] == ("pre", [])
