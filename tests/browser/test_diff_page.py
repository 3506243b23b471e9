# SPDX-License-Identifier: MIT
"""The page of ``cffpy diff --html`` in a real browser."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cffpy.views.diff_html.page import page
from cffpy.views.plain_text import visible
from tests.browser.webdriver import ENTER, ESCAPE, Browser, missing_programs
from tests.selection import first_always
from tests.views.diff_html.comparisons import HOSTILE, comparison

ABSENT = missing_programs()
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"not installed: {', '.join(ABSENT)}")

# Anchors of the entries that can be seen, consequences among them.
SHOWN = """
return [...document.querySelectorAll(".entry")]
    .filter((one) => one.checkVisibility()).map((one) => one.id)
"""
CURRENT = "return [...document.querySelectorAll('.current')].map((one) => one.id)"
FOCUS = "return document.activeElement.closest('.entry, input, body').id"
OPEN = "return [...document.querySelectorAll('.entry[open]')].map((one) => one.id)"
FOLDS = "return [...document.querySelectorAll('.follows')].map((one) => one.open)"
ALL = [f"entry-{number}" for number in range(1, 6)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser") / "files") as running:
        yield running


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "diff #1 <&>.html"
    path.write_bytes(page(comparison(HOSTILE)))
    return path


@pytest.fixture
def opened(browser: Browser, document: Path) -> Iterator[Browser]:
    """The page, freshly loaded; the console must stay empty during the test."""
    browser.messages()
    browser.resize(1300, 900)
    browser.prefer("light")
    browser.open(document)
    yield browser
    assert browser.run("return window.injected") is None
    assert browser.messages() == []


def filter_by(browser: Browser, text: str) -> None:
    browser.press("/" + text)


def choose(browser: Browser, name: str, value: str) -> None:
    script = """
    const list = document.getElementById(arguments[0]);
    list.value = arguments[1];
    list.dispatchEvent(new Event("input", {bubbles: true}));
    """
    browser.run(script, name, value)


def test_loads_silently(opened: Browser) -> None:
    assert opened.run("return document.title").endswith("→ bad.rd – cffpy diff")
    assert opened.run(SHOWN) == ALL
    assert opened.run(OPEN) == ["entry-1"]
    assert opened.run("return document.getElementById('count').textContent") == "5 entries"
    assert opened.is_displayed(opened.find("#filter")[0])


def test_hostile_names_are_shown_and_do_nothing(opened: Browser) -> None:
    assert opened.run("return document.scripts.length") == 1
    assert opened.run("return document.images.length") == 0
    text = opened.run("return document.body.textContent")
    assert visible(HOSTILE) in text
    assert "window.injected" in text
    opened.click("#open-all")
    opened.click("#close-all")


def test_nothing_but_the_page_s_own_script_runs(opened: Browser) -> None:
    for script in (
        "const one = document.createElement('script'); one.text = 'window.injected = 2'",
        "document.body.insertAdjacentHTML('beforeend', '<img src=data:, onerror=x()>')",
        "document.body.innerHTML = '<p>'",
    ):
        refused = "try { %s; return '' } catch (problem) { return problem.name }" % script  # noqa: UP031
        assert opened.run(refused) == "TypeError"
    script = "const one = document.createElement('style'); one.textContent = 'p {}'"
    opened.run(f"{script}; document.body.append(one)")
    refused = opened.messages()
    assert refused
    assert any("Content Security Policy" in message for message in refused)


def test_filter_by_typing(opened: Browser) -> None:
    filter_by(opened, "uniform")
    assert opened.run(FOCUS) == "filter"
    assert opened.run(SHOWN) == ["entry-4"]
    assert opened.run("return document.getElementById('count').textContent") == "1 of 5 entries"
    opened.press(" no-such-thing")
    assert opened.run(SHOWN) == []
    opened.press(ESCAPE)
    assert opened.run(SHOWN) == ALL
    assert opened.run("return document.getElementById('filter').value") == ""
    assert opened.run(FOCUS) != "filter"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CONTROL.blend", ["entry-2"]),  # a name, in any case
        ("missing", ["entry-1", "entry-5"]),  # titles
        ("41800000", ["entry-4"]),  # a value
        ("mov.f32f32", ["entry-3"]),  # a line of a listing
        ("2-4 fs", ["entry-3"]),  # all words
        ("> 0x2008", ["entry-2", "entry-3", "entry-4"]),  # where it was written
    ],
)
def test_filter_matches(opened: Browser, text: str, found: list[str]) -> None:
    filter_by(opened, text)
    shown = [one for one in opened.run(SHOWN) if one.count("-") == 1]
    assert shown == found


def test_a_match_in_what_follows_shows_that_alone(opened: Browser) -> None:
    filter_by(opened, "consequence_two")
    opened.press(ENTER)
    assert opened.run(FOCUS) == "entry-2"
    opened.press("o")
    assert opened.run(SHOWN) == ["entry-2", "entry-2-2"]
    assert opened.run(FOLDS) == [True]


def test_filter_by_category_and_pass(opened: Browser) -> None:
    choose(opened, "category", "uniform data")
    assert opened.run(SHOWN) == ["entry-4"]
    choose(opened, "category", "lrz")
    assert opened.run(SHOWN) == ["entry-2"]
    choose(opened, "category", "")
    choose(opened, "pass", "2")
    assert opened.run(SHOWN) == ["entry-1"]
    pairs = "return [...document.querySelectorAll('.pair')].map((one) => one.checkVisibility())"
    assert opened.run(pairs) == [False, False, True]
    choose(opened, "category", "blend")
    assert opened.run(SHOWN) == []
    opened.press(ESCAPE)
    assert opened.run(SHOWN) == ALL
    assert opened.run(pairs) == [True] * 3


def test_moving(opened: Browser) -> None:
    opened.press("j")
    assert opened.run(CURRENT) == ["entry-1"]
    assert opened.run(FOCUS) == "entry-1"
    opened.press("jjk")
    assert opened.run(CURRENT) == ["entry-2"]
    opened.press("jjjjjjj")
    assert opened.run(CURRENT) == ["entry-5"]
    opened.press("kkkkkkkkk")
    assert opened.run(CURRENT) == ["entry-1"]


def test_opening_and_closing(opened: Browser) -> None:
    opened.press("jj")
    opened.press("o")
    assert opened.run(OPEN) == ["entry-1", "entry-2"]
    opened.press("o")
    assert opened.run(OPEN) == ["entry-1"]
    opened.press(ENTER)
    assert opened.run(OPEN) == ["entry-1", "entry-2"]
    opened.press(ENTER)
    assert opened.run(OPEN) == ["entry-1"]


def test_moving_passes_over_what_is_filtered_out(opened: Browser) -> None:
    filter_by(opened, "draws p0:2-4")
    opened.press(ENTER)
    assert opened.run(FOCUS) == "entry-2"
    opened.press("j")
    assert opened.run(FOCUS) == "entry-3"
    opened.press("j" + ESCAPE)
    assert opened.run(CURRENT) == ["entry-3"]
    assert opened.run(SHOWN) == ALL


def test_keys_are_text_in_the_filter(opened: Browser) -> None:
    filter_by(opened, "jko/")
    assert opened.run("return document.getElementById('filter').value") == "jko/"
    assert opened.run(CURRENT) == []


def test_folding(opened: Browser) -> None:
    assert opened.run(FOLDS) == [False]
    opened.click("#entry-2 > summary")
    opened.click("#entry-2 > .follows > summary")
    assert opened.run(SHOWN) == [*ALL[:2], "entry-2-1", "entry-2-2", *ALL[2:]]
    opened.press("j")
    assert opened.run(CURRENT) == ["entry-2-1"]
    opened.click("#entry-2 > .follows > summary")
    assert opened.run(SHOWN) == ALL
    opened.click("#open-all")
    assert opened.run(OPEN) == ALL
    opened.click("#close-all")
    assert opened.run(OPEN) == []


def test_links_open_what_they_lead_to(opened: Browser) -> None:
    filter_by(opened, "uniform")
    opened.run("document.querySelector('#pair-1').open = true")
    opened.run("document.querySelector('a[href=\"#entry-2-2\"]').click()")
    assert set(opened.run(OPEN)) == {"entry-1", "entry-2", "entry-2-2"}
    assert opened.run(FOCUS) == "entry-2-2"
    opened.run("document.getElementById('pair-0').open = false")
    opened.run("document.querySelector('#entry-2 a[href=\"#pair-0\"]').click()")
    assert opened.run("return document.getElementById('pair-0').open") is True


def test_light_and_dark(opened: Browser) -> None:
    colour = "return getComputedStyle(document.body)[arguments[0]]"
    light = opened.run(colour, "backgroundColor")
    ink = opened.run(colour, "color")
    opened.prefer("dark")
    assert opened.run(colour, "backgroundColor") != light
    assert opened.run(colour, "color") != ink


@pytest.mark.parametrize("width", first_always([1600, 700, 360]))
@pytest.mark.parametrize("scheme", first_always(["light", "dark"]))
def test_nothing_sticks_out_and_something_is_drawn(
    opened: Browser, width: int, scheme: str
) -> None:
    opened.prefer(scheme)
    opened.resize(width, 900)
    opened.click("#open-all")
    assert opened.run("return document.documentElement.scrollWidth") <= width
    assert len(rows_of_pixels(opened.screenshot())) > 50


@pytest.mark.slow
def test_reading_without_scripts(tmp_path: Path, document: Path) -> None:
    with Browser(tmp_path / "files", scripts=False) as browser:
        browser.open(document)
        shown = browser.text(browser.find("body")[0])
        for title in ("pass 2 of good is missing in bad", "Passes and draws", "RB_MRT[0].CONTROL"):
            assert title in shown
        assert not browser.is_displayed(browser.find("#filter")[0])
        fields = browser.find("#entry-2 > .fields")[0]
        assert not browser.is_displayed(fields)
        browser.click("#entry-2 > summary")
        assert browser.is_displayed(fields)
        assert browser.messages() == []


@pytest.mark.slow
def test_a_pair_of_captures(
    browser: Browser,
    shared: Path,
    tmp_path: Path,
    run_cffpy: Callable[..., subprocess.CompletedProcess[bytes]],
) -> None:
    good, bad = (shared / f"captures/pair-a740-scene-{one}.rd.gz" for one in ("good", "bad-blend"))
    done = run_cffpy("diff", "--html", tmp_path / "page.html", good, bad)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    browser.messages()
    browser.open(tmp_path / "page.html")
    assert browser.messages() == []
    title = browser.run("return document.querySelector('#entry-1 .title').textContent")
    assert "draws p0:10-14" in title
    filter_by(browser, "FACTOR_ONE")
    matched = browser.run("return document.querySelectorAll('.field.match').length")
    total = browser.run("return document.querySelectorAll('#entry-1 > .fields .field').length")
    assert 0 < matched < total
    assert len(rows_of_pixels(browser.screenshot())) > 50


def rows_of_pixels(png: bytes) -> set[bytes]:
    """The distinct rows of a picture, as they are stored: few of a blank one."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    data, at = b"", 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(data)
    stride = len(raw) // height
    assert stride > width
    return {raw[row * stride : (row + 1) * stride] for row in range(height)}
