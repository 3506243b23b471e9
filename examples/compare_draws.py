# SPDX-License-Identifier: MIT
"""Registers in which a draw of two captures differs: python compare_draws.py ONE OTHER DRAW"""

import sys

import cffpy


def main(one: str, other: str, name: str) -> None:
    """Print a line for each register that differs."""
    with cffpy.open(one) as first, cffpy.open(other) as second:
        before, now = first.draw(name).state, second.draw(name).state
        for register in sorted({*before, *now}):
            if register not in first.registers or register not in second.registers:
                continue
            old, new = before[register], now[register]
            if old.value != new.value:
                print(f"{register}: {old.text} -> {new.text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
