# SPDX-License-Identifier: MIT
"""All values that a register had at draws: python register_values.py CAPTURE REGISTER"""

import sys
from collections import Counter

import cffpy


def main(path: str, name: str) -> None:
    """Print each value with the number of draws that have it, and the first of them."""
    counts: Counter[str] = Counter()
    first: dict[str, str | None] = {}
    with cffpy.open(path) as capture:
        for draw in capture.draws:
            text = draw.state[name].text
            counts[text] += 1
            first.setdefault(text, draw.name)
    for text, count in counts.most_common():
        print(f"{count:6} draws from {first[text]} on: {text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
