# SPDX-License-Identifier: MIT
"""Writes the screenshots of docs/guide/look.md: ``python -m tools.report_screenshots [NAME...]``.

It needs Chromium and the captures of the shared folder (``CFFPY_SHARED``), so ``./dev docs`` does
not run it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent

_TILES = """
[...document.querySelectorAll("main > .view:not([hidden]) h3")]
    .find((one) => one.textContent === "Tiles").scrollIntoView()
"""
_REGISTER = """
[...document.querySelectorAll(".register")]
    .find((one) => one.textContent.startsWith("VFD_CONTROL_1")).open = true
"""

#: Name of the picture -> capture, light or dark, fragment, a script that is run before.
PICTURES = {
    "draw": ("a630-gl-vtk-scene", "light", "pass=16&draw=2&where=draw.vertices > 30", _REGISTER),
    "pass": ("a660-vk-passes-gmem", "light", "pass=6", _TILES),
    "density": ("a740-vk-fdm", "dark", "pass=0", _TILES),
    "resources": ("a630-gl-vtk-scene", "light", "resources", ""),
}

_WIDTH, _HEIGHT, _COLOURS = 1180, 760, 128


def main(names: list[str]) -> None:
    """Write the pictures with these names, or all."""
    sys.path.insert(0, str(CHECKOUT))
    import cffpy
    from tests.browser.webdriver import Browser

    shared = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder) / "browser") as browser:
        browser.resize(_WIDTH, _HEIGHT)
        for name in names or PICTURES:
            capture, scheme, fragment, script = PICTURES[name]
            page = Path(folder) / f"{name}.html"
            cffpy.report(cffpy.open(shared / f"captures/{capture}.rd.gz"), page)
            browser.prefer(scheme)
            browser.open(page)
            browser.run("location.hash = arguments[0]", fragment)
            time.sleep(1)
            browser.run(script)
            time.sleep(0.5)
            _write(CHECKOUT / f"docs/guide/report-{name}.png", browser.screenshot())


def _write(path: Path, png: bytes) -> None:
    """A picture with few colours, which is small."""
    from PIL import Image

    image = Image.open(BytesIO(png)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    image.save(path, "PNG", optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
