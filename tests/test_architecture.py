# SPDX-License-Identifier: MIT
"""The architecture names files that exist, and functions in the order of their calls."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
TEXT = (CHECKOUT / "docs" / "internals" / "architecture.md").read_text("utf-8")

#: Runs ``cffpy dump`` and prints the stack of the first call of a function as JSON.
TRACER = """
import json, sys
import cffpy.__main__
path, name = sys.argv.pop(1), sys.argv.pop(1)
def profile(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_qualname == name and code.co_filename.endswith(path):
        sys.setprofile(None)
        stack = []
        while frame:
            code = frame.f_code
            stack.append([code.co_filename.replace(chr(92), "/"), code.co_qualname])
            frame = frame.f_back
        print(json.dumps(stack[::-1]), file=sys.stderr)
sys.setprofile(profile)
cffpy.__main__.main()
"""


def calls_shown() -> list[tuple[str, str]]:
    """File and function of each line of the path of a register write."""
    block = TEXT.partition("that one register write passes")[2].split("```")[1]
    return re.findall(r"^ (\S+\.py): (\S+)", block, re.MULTILINE)


def test_a_register_write_passes_the_functions_shown(samples: Path) -> None:
    shown = calls_shown()
    assert len(shown) > 6
    command = [sys.executable, "-c", TRACER, *shown[-1], "dump", samples / "a630-triangle.rd.gz"]
    done = subprocess.run(command, capture_output=True, check=True)
    stack = json.loads(done.stderr)
    found = [
        (file, name)
        for path, name in stack
        for file, wanted in shown
        if name == wanted and path.endswith(f"cffpy/{file}")
    ]
    assert found == shown
    assert b"write RB_BIN_CONTROL (8800)" in done.stdout


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`([a-z_]+/[a-z_0-9/]+\.(?:py|js|css|lua))`", TEXT)))
)
def test_files_exist(path: str) -> None:
    assert (CHECKOUT / path).exists() or list((CHECKOUT / "cffpy").rglob(path))
