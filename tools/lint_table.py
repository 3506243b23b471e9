# SPDX-License-Identifier: MIT
"""Writes docs/check-captures.md: lints over a folder of captures, and what confirms the findings.

``python tools/lint_table.py FOLDER...``. Each FOLDER has captures and ground-truth.json: what
programs did, and what drivers recorded. A finding is confirmed where that record, which no lint
reads, says the same. FALSE has findings that were found to be false.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cffpy.check.registry import all_lints
from cffpy.check.runner import check_capture
from cffpy.container.open import open_capture
from cffpy.errors import CffpyError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "check-captures.md"

Record = dict[str, Any]


def _made_with(word: str) -> Callable[[Record], bool]:
    return lambda record: word in str(record.get("made_with"))


def _recorded(word: str) -> Callable[[Record], bool]:
    return lambda record: any(word in line for line in record.get("driver", ()))


def _few_tiles(record: Record) -> bool:
    lines = record.get("driver", ())
    return any(f" tiles={grid} " in line for line in lines for grid in ("1x1", "2x1", "1x2"))


#: Lint -> what the record of a capture has where its findings are true, in words and as a test.
CONFIRMED: dict[str, tuple[str, Callable[[Record], bool]]] = {
    "CFF016": ("made with noubwc", _made_with("noubwc")),
    "CFF019": ("the driver recorded gmem_layout=1", _recorded("gmem_layout=1")),
    "CFF020": ("the driver recorded passes in GMEM mode", _recorded("mode=gmem")),
    "CFF021": ("the driver recorded mode=sysmem", _recorded("mode=sysmem")),
    "CFF022": ("the driver recorded passes of at most two tiles", _few_tiles),
    "CFF023": ("the driver recorded mode=sysmem", _recorded("mode=sysmem")),
    "CFF039": ("made with spillall", _made_with("spillall")),
}

#: Lint -> captures in which its findings are false.
FALSE: dict[str, tuple[str, ...]] = {}


def main() -> int:
    """Write the page; the exit code."""
    captures: dict[str, Counter[str]] = {}
    truth: dict[str, Record] = {}
    skipped = 0
    for folder in map(Path, sys.argv[1:]):
        truth |= json.loads((folder / "ground-truth.json").read_bytes())
        for path in sorted(folder.glob("*.rd.gz")):
            try:
                content = open_capture(str(path))
                checked = check_capture(content, lambda _line: None, lints=all_lints())
            except CffpyError:
                skipped += 1
                continue
            found = Counter(finding.lint.id for finding in checked.findings)
            captures[path.name.removesuffix(".rd.gz")] = found
    fired = sorted({lint for found in captures.values() for lint in found})
    PAGE.write_text("\n".join(_page(captures, fired, skipped, truth)) + "\n", "utf-8")
    return 0


def _page(
    captures: dict[str, Counter[str]], fired: list[str], skipped: int, truth: dict[str, Record]
) -> list[str]:
    lines = [
        "# Lints over captures",
        "",
        "<!-- Written by tools/lint_table.py. -->",
        "",
        f"{len(captures)} captures of correct programs, of a2xx to a7xx, most of Mesa's drivers;"
        f" {skipped} files are not captures.",
        "A finding is confirmed where the record of the capture, which no lint reads, has the",
        "same; all others describe the commands themselves, which no record confirms. Findings",
        "that turned out to be wrong are counted as false.",
        "",
        "| lint | captures | findings | confirmed | false | confirmed by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for lint in fired:
        words, test = CONFIRMED.get(lint, ("", lambda _record: False))
        having = [name for name, found in captures.items() if found[lint]]
        total = sum(captures[name][lint] for name in having)
        confirmed = sum(captures[name][lint] for name in having if test(truth.get(name, {})))
        false = sum(captures[name][lint] for name in FALSE.get(lint, ()) if name in captures)
        lines.append(f"| {lint} | {len(having)} | {total} | {confirmed} | {false} | {words} |")
    short = [lint.removeprefix("CFF") for lint in fired]
    lines += [
        "",
        "## By capture",
        "",
        "Findings of each lint; captures without any are not listed.",
        "",
        f"| capture | {' | '.join(short)} |",
        f"| --- |{' --- |' * len(short)}",
    ]
    for name, found in captures.items():
        if found:
            cells = " | ".join(str(found[lint] or "") for lint in fired)
            lines.append(f"| {name} | {cells} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
