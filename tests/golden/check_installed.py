# SPDX-License-Identifier: MIT
"""Checks an installed cffpy outside the checkout: ``check_installed.py COMMAND [SHARED]``.

Its output must be that of samples/expected, and the recorded output of the reference for some
captures of SHARED. It must use the compiled descriptions of the wheel: an empty cache stays empty.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from runner import EXPECTED, build_samples, difference, sample_cases

_RECORDED = 12
_LARGEST = 300_000  # bytes of recorded output


def main() -> None:
    """Run all checks; leave with a message at the first that fails."""
    command, *shared = sys.argv[1:]
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
        recorded = _recorded_cases(Path(shared[0])) if shared else []
        for arguments, log in recorded:
            _compare(log.name, lzma.decompress(log.read_bytes()), run("dump", *arguments))
        shown = run("db", "show", "RB_MRT[0].CONTROL", "--gpu", "630")
        if not shown.startswith(b"RB_MRT[0].CONTROL  0x8820"):
            sys.exit(f"db show: {shown!r}")
        captures = ["samples/a220-triangle.rd", "samples/a630-triangle.rd.gz"]
        page = run("diff", "--html", "-", *captures)
        if not page.endswith(b"</html>\n") or b"addEventListener" not in page:
            sys.exit(f"diff --html: {page[:1000]!r}")
        if os.listdir(cache):
            sys.exit(f"descriptions were compiled at a start: {os.listdir(cache)}")
    print(f"{len(sample_cases())} sample cases, {len(recorded)} recorded cases: identical")


def _recorded_cases(shared: Path) -> list[tuple[list[str], Path]]:
    table = shared / "reference" / "cases.json"
    if not table.exists():
        return []
    small = [
        case
        for case in json.loads(table.read_text())
        if "log" in case and "capture" in case and 0 < case["bytes"] <= _LARGEST
    ]
    small.sort(key=lambda case: str(case["name"]))
    return [
        (
            [*case["args"], str(shared.resolve() / "captures" / case["capture"])],
            shared / "reference" / case["log"],
        )
        for case in small[:: max(1, len(small) // _RECORDED)]
    ]


def _compare(name: str, expected: bytes, got: bytes) -> None:
    report = difference(expected, got)
    if report:
        sys.exit(f"{name}: {report}")


if __name__ == "__main__":
    main()
