# SPDX-License-Identifier: MIT
"""Registers written again with the value that they had: python rewritten_state.py CAPTURE"""

import sys
from collections import Counter

import cffpy


def main(path: str) -> None:
    """Print how often each register was written between draws without a change of its value."""
    wasted: Counter[str] = Counter()
    with cffpy.open(path) as capture:
        for draw in capture.draws:
            changed = {change.name for change in draw.state.changed}
            wasted.update(v.name for v in draw.state.written if v.name not in changed)
    for name, count in wasted.most_common(20):
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
