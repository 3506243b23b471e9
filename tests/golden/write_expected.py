# SPDX-License-Identifier: MIT
"""Writes samples/expected: ``./dev expect``. Review the difference before you commit it.

Where the environment variable CFFDUMP names the reference's cffdump, its recorded output
(``*.cffdump.txt``) and the digests in cffdump.toml are written, too.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from runner import (
    CFFDUMP_SUFFIX,
    CFFDUMP_TABLE,
    CHECKOUT,
    EXPECTED,
    UNKNOWN_TO_CFFDUMP,
    build_samples,
    built_sample,
    cffdump_runs,
    run_sample,
    sample_cases,
    sample_digest,
)


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
        if cffdump := shlex.split(os.environ.get("CFFDUMP", "")):
            record_cffdump(cffdump, Path(folder))
    for path in EXPECTED.glob("*.txt"):
        if path.name not in names and not path.name.endswith(CFFDUMP_SUFFIX):
            path.unlink()


def record_cffdump(command: list[str], folder: Path) -> None:
    """Run the reference on every sample, write its output and the digests of the captures."""
    digests = []
    for path in EXPECTED.glob(f"*{CFFDUMP_SUFFIX}"):
        path.unlink()
    for name in sorted(path.stem for path in (CHECKOUT / "samples").glob("*.pm4")):
        if name.startswith(UNKNOWN_TO_CFFDUMP):
            continue
        capture = built_sample(folder, name)
        digests.append(f'{name} = "{sample_digest(capture)}"\n')
        for run, arguments in cffdump_runs().items():
            done = subprocess.run(
                [*command, *arguments, capture], stdin=subprocess.DEVNULL, capture_output=True
            )
            if done.returncode:
                sys.exit(f"{name}: cffdump: exit code {done.returncode}: {done.stderr.decode()}")
            (EXPECTED / f"{name}.{run}{CFFDUMP_SUFFIX}").write_bytes(done.stdout)
    table = CFFDUMP_TABLE.read_text("utf-8")
    table = re.sub(r"(?<=^\[captures\]\n).*\Z", "".join(digests), table, flags=re.M | re.S)
    CFFDUMP_TABLE.write_text(table, "utf-8")


if __name__ == "__main__":
    main()
