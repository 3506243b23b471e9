# SPDX-License-Identifier: MIT
"""Names of Intel GPUs on the command line: skl, gen9, gfx125, 12.5."""

from __future__ import annotations

from cffpy.errors import UnsupportedGpu
from cffpy.intel.descriptions import store

#: Three-letter names of platforms, as Mesa's tools take them, beside those of the generations.
_PLATFORMS = {
    "lpt": 40,
    "g4x": 45,
    "byt": 70,
    "chv": 80,
    "bxt": 90,
    "apl": 90,
    "kbl": 90,
    "glk": 90,
    "aml": 90,
    "cfl": 90,
    "whl": 90,
    "cml": 90,
    "ehl": 110,
    "jsl": 110,
    "rkl": 120,
    "dg1": 120,
    "adl": 120,
    "sg1": 120,
    "rpl": 120,
    "dg2": 125,
    "mtl": 125,
    "arl": 125,
    "lnl": 200,
    "bmg": 200,
    "ptl": 300,
}


def parse_gpu(name: str, directory: str | None = None) -> int:
    """The generation's verx10. Raises UnsupportedGpu with the names that are known."""
    known = store.generations(directory)
    lowered = name.lower()
    for generation, verx10 in known.items():
        if lowered == generation.lower():
            return verx10
    number = _PLATFORMS.get(lowered)
    if number is None:
        number = _number(lowered)
    if number in known.values():
        return number
    listed = ", ".join(generation.lower() for generation in known)
    raise UnsupportedGpu(f"unknown Intel GPU {name!r}; known are {listed}, gen9, gfx125, ...")


def _number(text: str) -> int:
    """verx10 of ``gen9``, ``gfx125``, ``12.5``, ``xe2``; 0 for anything else."""
    digits = text.removeprefix("gfx").removeprefix("gen").removeprefix("verx10=")
    major, dot, minor = digits.partition(".")
    if not (major.isdigit() and major.isascii() and len(major) <= 3):
        return 0
    if dot:
        return int(major) * 10 + int(minor) if minor.isdigit() and len(minor) == 1 else 0
    number = int(major)
    # 9, 11, 20 and 30 are versions, 75, 90 and 125 are ten times a version
    return number * 10 if number <= 30 else number
