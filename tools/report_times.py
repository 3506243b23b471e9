# SPDX-License-Identifier: MIT
"""Measures reports: ``python -m tools.report_times [NAME...]``.

Prints a row of its table for each of the ten largest captures of the shared folder
(``CFFPY_SHARED``), or for the captures with these names: sizes, processor time to write the page,
and what Chromium measures: first paint, ready for input, first draw shown. It needs Chromium.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.browser.webdriver import Browser

CHECKOUT = Path(__file__).resolve().parent.parent

_LARGEST = 10
_PATIENCE = 60.0

_PAINT = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_READY = "return document.body.classList.contains('scripted')"
_DRAW = "return document.querySelector('#draw h2') !== null"


def main(names: list[str]) -> None:
    """Measure the captures with these names, or the largest."""
    sys.path.insert(0, str(CHECKOUT))
    from tests.browser.webdriver import Browser

    shared = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared") / "captures"
    found = sorted(shared.glob("*.rd.gz"), key=lambda path: path.stat().st_size, reverse=True)
    if names:
        found = [path for path in found if path.name.removesuffix(".rd.gz") in names]
    print("| capture | capture, KB | page, KB | seconds | painted | ready | first draw |")
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder) / "browser") as browser:
        for path in found[:_LARGEST]:
            page = Path(folder) / "page.html"
            before = getrusage(RUSAGE_CHILDREN).ru_utime
            command = [sys.executable, "-m", "cffpy", "report", str(path), "-o", str(page)]
            subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
            seconds = getrusage(RUSAGE_CHILDREN).ru_utime - before
            times = [f"{one:.1f}" for one in _times(browser, page)]
            sizes = [f"{one.stat().st_size / 1000:,.0f}" for one in (path, page)]
            cells = [path.name.removesuffix(".rd.gz"), *sizes, f"{seconds:.1f}", *times]
            print(f"| {' | '.join(cells)} |", flush=True)


def _times(browser: Browser, page: Path) -> tuple[float, float, float]:
    """Seconds until the page is painted, ready for input, and, after that, shows a draw."""
    start = time.perf_counter()
    browser.open(page)
    _wait(browser, _READY)
    ready = time.perf_counter() - start
    painted = float(browser.run(_PAINT)) / 1000
    start = time.perf_counter()
    browser.run("location.hash = 'row=0'")
    _wait(browser, _DRAW)
    return painted, ready, time.perf_counter() - start


def _wait(browser: Browser, script: str) -> None:
    end = time.perf_counter() + _PATIENCE
    while not browser.run(script) and time.perf_counter() < end:
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1:])
