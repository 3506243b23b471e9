# SPDX-License-Identifier: MIT
"""Style sheets of pages: what several pages need is in the kit, and stands there once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from cffpy.views.page_kit import document

KIT = Path(document.__file__).parent
VIEWS = KIT.parent
BASE, REPORT = KIT / "base.css", KIT / "report.css"

#: The sheets of each page, in their order; the last is its own.
PAGES = {
    "diff": (BASE, VIEWS / "diff_html/page.css"),
    "report": (BASE, REPORT, VIEWS / "report_html/report.css"),
    "report of Intel": (BASE, REPORT, VIEWS / "intel_report.css"),
    "crash": (BASE, VIEWS / "crash.css"),
}

Declaration = tuple[tuple[str, ...], str, str]


def declarations(text: str, around: tuple[str, ...] = ()) -> Iterator[Declaration]:
    """The rules around a declaration (``@media``), its selector, and the declaration."""
    while found := re.match(r"\s*([^{}]+)\{", text):
        selector = " ".join(found[1].split())
        depth, end = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body = text[found.end() : end - 1]
        if selector.startswith("@"):
            yield from declarations(body, (*around, selector))
        else:
            for part in selector.split(","):
                for line in filter(str.strip, body.split(";")):
                    yield around, part.strip(), " ".join(line.split())
        text = text[end:]


def sheet(path: Path) -> list[Declaration]:
    text = path.read_text("utf-8")
    return [*declarations(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_declares_nothing_twice(page: str) -> None:
    found = [declaration for path in PAGES[page] for declaration in sheet(path)]
    assert len(found) > 50
    assert [one for one in found if found.count(one) > 1] == []


def test_pages_share_what_they_have_in_common() -> None:
    for first, second in combinations(PAGES.values(), 2):
        assert set(sheet(first[-1])) & set(sheet(second[-1])) == set()


def test_every_sheet_is_of_a_page() -> None:
    used = {path for sheets in PAGES.values() for path in sheets}
    assert used == set(VIEWS.glob("**/*.css"))
