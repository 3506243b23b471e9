# SPDX-License-Identifier: MIT
"""A line for each capture of a folder: python folder.py FOLDER"""

import sys
from pathlib import Path

import cffpy


def main(folder: str) -> None:
    """Print GPU, passes, draws and problems; files that are not captures are named, too."""
    for path in sorted(Path(folder).iterdir()):
        if not path.is_file():
            continue
        try:
            with cffpy.open(path) as capture:
                gpu = "unknown GPU" if capture.gpu is None else capture.gpu.name
                passes, draws = len(capture.passes), len(capture.draws)
                problems = len(capture.problems)
                print(f"{path.name}: {gpu}, {passes} passes, {draws} draws, {problems} problems")
        except cffpy.CffpyError as problem:
            print(f"{path.name}: {problem}")


if __name__ == "__main__":
    main(*sys.argv[1:])
