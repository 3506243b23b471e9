# SPDX-License-Identifier: MIT
"""``python -m tests.fuzz.guided NAME``: one parser under atheris, guided by coverage.

Needs ``pip install -e '.[fuzz]'``. Ends with the first bug and saves its input in the folder
``--keep``; inputs that reached new code are saved there, too, and used by the next run.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["cffpy"]):
    from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).resolve().parent / "corpus"


def main() -> None:
    """Does not return: libFuzzer ends the process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seconds", type=int, default=20, help="Of one input, at most.")
    parser.add_argument("--size", type=int, default=4096, help="Bytes of one input, at most.")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "cffpy-guided"))
    parser.add_argument("--merge", metavar="FOLDER", help="Only choose inputs, into this one.")
    options, given = parser.parse_known_args()
    target, seeds = TARGETS[options.target]
    if given:  # libFuzzer runs itself to merge, with flags of its own
        atheris.Setup([sys.argv[0], *given], target)
        atheris.Fuzz()
    corpus = Path(options.keep) / options.target
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()):
        if number == 0:
            target(seed)  # compiles descriptions, which is not part of an input's time
        (corpus / f"seed-{number}").write_bytes(seed)
    for path in sorted((CORPUS / options.target).glob("*")):
        (corpus / path.name).write_bytes(path.read_bytes())
    again = Path(options.keep) / f"{options.target}-again.log"
    command = f"{sys.executable} -m tests.fuzz.guided {options.target}"
    again.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    again.chmod(0o700)
    arguments = [
        str(again),
        f"-max_total_time={options.minutes * 60:.0f}",
        f"-timeout={options.seconds}",
        f"-max_len={options.size}",
        "-rss_limit_mb=1536",
        f"-artifact_prefix={options.keep}/{options.target}-",
        *([] if options.merge is None else ["-merge=1", options.merge]),
        str(corpus),
    ]
    atheris.Setup(arguments, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
