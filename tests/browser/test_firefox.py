# SPDX-License-Identifier: MIT
"""The page of ``cffpy report`` in Firefox: it renders, finds, follows links, and loads nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from cffpy.views.report_html.page import page
from tests.browser.marionette import Firefox, firefox_path
from tests.views.report_html.documents import hostile_document, small_document

pytestmark = [
    pytest.mark.skipif(firefox_path() is None, reason="not installed: firefox-esr or firefox"),
    pytest.mark.slow,
]

ERRORS = """
window.found = [];
window.addEventListener("error", (event) => window.found.push(event.message));
window.addEventListener("unhandledrejection", (event) => window.found.push(String(event.reason)));
"""


def check_until(browser: Firefox, script: str, expected: Any) -> None:
    """Until a script returns this."""
    end = time.monotonic() + 60
    while (found := browser.run(script)) != expected:
        assert time.monotonic() < end, found
        time.sleep(0.05)


def test_in_firefox(tmp_path: Path) -> None:
    for name, document in (("small", small_document()), ("hostile", hostile_document())):
        (tmp_path / f"{name}.html").write_bytes(page(document))
    shown = "return [...document.querySelectorAll('main > .view:not([hidden])')].map((o) => o.id)"
    with Firefox(tmp_path / "profile") as browser:
        for name in ("small", "hostile"):
            browser.open(tmp_path / f"{name}.html")
            check_until(browser, "return document.body.classList.contains('scripted')", True)
            browser.run(ERRORS)
            assert browser.run("return document.querySelectorAll('.timeline-pass').length") == 3
            for fragment, view in (
                ("pass=1", "pass=1"),
                ("row=1", "draw"),
                ("packet=0", "packet"),
                ("resources", "resources"),
                ("shaders", "shaders"),
            ):
                browser.run("location.hash = arguments[0]", fragment)
                check_until(browser, shown, [view])
            browser.run("location.hash = 'row=1'")
            check_until(browser, "return document.querySelector('#draw .register') !== null", True)
            text = "draw.vertices * 2 > 6"
            browser.run(
                "search.value = arguments[0]; search.dispatchEvent(new Event('input'))", text
            )
            counted = (
                "return /^\\d+ of 5 draws$/.test(document.getElementById('count').textContent)"
            )
            check_until(browser, counted, True)
            assert browser.run("return performance.getEntriesByType('resource').length") == 0
            assert browser.run("return window.found") == []
            assert browser.run("return window.injected ?? null") is None
