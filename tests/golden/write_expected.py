# SPDX-License-Identifier: MIT
"""Writes samples/expected anew: ``./dev expect``. Read the difference before you commit it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from runner import EXPECTED, build_samples, run_sample, sample_cases


def main() -> None:
    """Run every case, write what it prints, remove what no case names."""
    names = set()
    with tempfile.TemporaryDirectory() as folder:
        build_samples(Path(folder))
        for case in sample_cases():
            done = run_sample(case, Path(folder))
            if done.returncode != case.get("exit", 0):
                sys.exit(f"{case['name']}: exit code {done.returncode}: {done.stderr.decode()}")
            names.add(f"{case['name']}.txt")
            (EXPECTED / f"{case['name']}.txt").write_bytes(done.stdout)
    for path in EXPECTED.glob("*.txt"):
        if path.name not in names:
            path.unlink()


if __name__ == "__main__":
    main()
