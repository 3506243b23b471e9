# SPDX-License-Identifier: MIT
"""Shared by the benchmarks: description of the machine, tables, JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence


def machine() -> dict[str, object]:
    """CPU, cores, Python, system and date: what a result means nothing without."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%d"),
    }


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def machine_line(facts: Mapping[str, object]) -> str:
    """The machine in one line."""
    return "{cpu}, {cores} cores, {python}, {system}, {date}".format(**facts)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table: the first column to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    print(_row(heads, widths))
    print(_row(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], widths))
    for row in rows:
        print(_row(row, widths))
    print()


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if number else cell.ljust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"| {' | '.join([first, *others])} |"


def print_json(schema: str, version: int, content: Mapping[str, object]) -> None:
    """``content`` after the name and version of its schema."""
    json.dump({"schema": schema, "version": version, **content}, sys.stdout, indent=1)
    print()
