# SPDX-License-Identifier: MIT
"""Checks an installed cffpy outside the checkout: ``check_installed.py COMMAND``.

Its output must be that of samples/expected. It must use the compiled descriptions of the wheel: an
empty cache stays empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from runner import EXPECTED, build_samples, difference, sample_cases


def main() -> None:
    """Run all checks; leave with a message at the first that fails."""
    (command,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        build_samples(Path(folder))
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": folder,
            "CFFPY_CACHE": cache,
            "LC_ALL": "C",
        }

        def run(*arguments: str, stdin: Path | None = None) -> bytes:
            with open(stdin or os.devnull, "rb") as source:
                return subprocess.run(
                    [os.path.abspath(command), *arguments],
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env=environment,
                ).stdout

        for case in sample_cases():
            files = [name if name == "-" else f"samples/{name}" for name in case["files"]]
            stdin = Path(folder, "samples", case["stdin"]) if "stdin" in case else None
            got = run("dump", *case["args"], *files, stdin=stdin)
            _compare(case["name"], (EXPECTED / f"{case['name']}.txt").read_bytes(), got)
        shown = run("db", "show", "RB_MRT[0].CONTROL", "--gpu", "630")
        if not shown.startswith(b"RB_MRT[0].CONTROL  0x8820"):
            sys.exit(f"db show: {shown!r}")
        captures = ["samples/a220-triangle.rd", "samples/a630-triangle.rd.gz"]
        page = run("diff", "--html", "-", *captures)
        if not page.endswith(b"</html>\n") or b"addEventListener" not in page:
            sys.exit(f"diff --html: {page[:1000]!r}")
        if os.listdir(cache):
            sys.exit(f"descriptions were compiled at a start: {os.listdir(cache)}")
    print(f"{len(sample_cases())} sample cases: identical")


def _compare(name: str, expected: bytes, got: bytes) -> None:
    report = difference(expected, got)
    if report:
        sys.exit(f"{name}: {report}")


if __name__ == "__main__":
    main()
