# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import cffpy.views.diff_html
from cffpy.analysis.diff.model import Comparison, Entry, Extent
from cffpy.views.diff import summary
from cffpy.views.diff_html.page import page
from cffpy.views.plain_text import visible
from tests.views.diff_html.comparisons import (
    HOSTILE,
    comparison,
    entry,
    field,
    paired,
    recording,
    render_pass,
)
from tests.views.page_kit.reading import Document, check_nothing_is_loaded

FOLDER = Path(cffpy.views.diff_html.__file__).parent


def links(document: Document) -> list[str]:
    """The ids that links lead to."""
    return [value[1:] for value in document.values("href") if value.startswith("#")]


@pytest.mark.parametrize("hostile", ["-", HOSTILE], ids=["plain", "hostile"])
def test_well_formed(hostile: str) -> None:
    document = Document(page(comparison(hostile)))
    ids = document.values("id")
    assert len(ids) == len(set(ids))
    assert links(document)
    assert set(links(document)) <= set(ids)
    assert set(document.values("aria-labelledby")) <= set(ids)
    for name in ("h1", "main", "header", "title", "style", "script"):
        assert document.tags[name] == 1, name


def test_everything_is_there() -> None:
    result = comparison()
    text = Document(page(result)).text
    at = -1
    whole = (summary(result), "/captures/good-.rd", "bad.rd", "what is damaged")
    titles = [one.title for one in result.entries]
    for part in (*whole, *titles, "Passes and draws", "Undecided, and of no effect", "SP_BASE- ×3"):
        assert part in text[at + 1 :], part
        at = text.index(part, at + 1)
    for part in (
        "RB_MRT[0].CONTROL.BLEND",
        "pass 1: CONSEQUENCE_TWO",
        "What follows from it: 2",
        "mov.f32f32 r0.x, r0.y",
        "41800000 (16)",
        str(result.entries[1].differences[0].good_place),
        str(result.entries[1].differences[0].bad_place),
        "missing in bad",
        "clear 000000ff",
        "2-4 3 DI_PT_TRILIST, 36 indices, #102-104",
    ):
        assert part in text, part


def test_hostile_strings_are_text() -> None:
    document = Document(page(comparison(HOSTILE)))
    plain = Document(page(comparison()))
    assert document.tags == plain.tags
    names = [(tag, name) for tag, name, _ in document.attributes]
    assert names == [(tag, name) for tag, name, _ in plain.attributes]
    assert document.text.count(visible(HOSTILE)) >= 8  # titles, fields, values, names, files, marks
    assert "injected" not in document.contents["script"]
    assert "\x1b" not in document.text


def test_needs_nothing_else_and_may_run_nothing_else() -> None:
    check_nothing_is_loaded(page(comparison(HOSTILE)))


@pytest.mark.parametrize("name", ["page.css", "page.js"])
def test_files_fit_into_their_elements(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert "</" not in text
    assert "<!--" not in text
    assert "\r" not in text


def test_classes_have_styles_and_ids_of_the_script_are_there() -> None:
    document = Document(page(comparison()))
    style, script = document.contents["style"], document.contents["script"]
    for name in re.findall(r'getElementById\("([\w-]+)"\)', script):
        assert name in document.values("id"), name
    known = {name for value in document.values("class") for name in value.split()}
    used = set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", style))
    unused = used - known - {"current", "match", "note"}  # the script's own; of what is cut short
    assert not unused


def test_without_differences() -> None:
    result = Comparison(recording("a", []), recording("b", []))
    document = Document(page(result))
    assert "no difference" in document.text
    assert "Nothing." in document.text
    assert document.tags["input"] == 0


def test_only_the_first_entry_is_open_and_consequences_are_folded() -> None:
    data = page(comparison()).decode()
    opened = re.findall(r'<details class="entry" open id="([\w-]+)"', data)
    assert opened == ["entry-1"]
    assert not re.search(r'<details class="follows"[^>]* open', data)


def many(entries: int, fields: int, consequences: int = 0, depth: int = 0) -> list[Entry]:
    made = []
    for number in range(entries):
        one = entry(f"pass 0, draw {number}: {'REGISTER' * 20}")
        one.extents = (Extent(0, 0, number % 500, number % 500),)
        details = tuple(f"+{offset:#x}: {'x' * 50} → {'<' * 50}" for offset in range(100))
        one.differences = [
            field(f"FIELD_{index}", "<" * 3000, "&" * 3000, details=details)
            for index in range(fields)
        ]
        if depth:
            one.consequences = many(consequences, 1, consequences, depth - 1)
        made.append(one)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(5000, 1), (4, 2000), (1, 1, 5000, 1), (3, 1, 3, 6)], ids=str)
def test_size_is_bounded(shape: tuple[int, ...]) -> None:
    good, bad = render_pass(0, 20_000), render_pass(0, 20_000)
    result = Comparison(recording("a" * 10_000, [good]), recording("b", [bad]))
    result.pairs = [paired(good, bad)]
    result.entries = many(*shape)
    result.hidden = {"addresses": Counter({f"{number}{'<' * 3000}": 1 for number in range(5000)})}
    data = page(result)
    assert len(data) < 20_000_000
    document = Document(data)
    assert "--json has all" in document.text
    assert "4,700 more" in document.text  # of the names
    assert set(links(document)) <= set(document.values("id"))


@pytest.mark.slow
def test_many_passes_are_bounded() -> None:
    good = [render_pass(number, 1) for number in range(5000)]
    result = Comparison(recording("a", good), recording("b", good))
    result.pairs = [paired(one, one) for one in good]
    result.entries = [entry("in all", at=tuple(Extent(n, n, 0, 0) for n in range(5000)))]
    data = page(result)
    assert len(data) < 6_000_000
    document = Document(data)
    assert re.search(r"[\d,]+ passes are not shown in full, 4,000 of them not at", document.text)
    assert set(links(document)) <= set(document.values("id"))
