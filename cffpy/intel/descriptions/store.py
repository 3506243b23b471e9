# SPDX-License-Identifier: MIT
"""Loads the compiled descriptions of Intel GPUs: bundled, or of another edition's ``intel/``.

An edition without ``intel/*.gen`` has the bundled ones. The parser and the compiler are imported
only if there is no up-to-date compiled form. ``parse_gpu`` reads names of GPUs: skl, gen9, gfx125.
"""

from __future__ import annotations

from cffpy.descriptions.store import Store
from cffpy.editions.folders import intel_files
from cffpy.errors import UnsupportedGpu
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def has_descriptions(directory: str) -> bool:
    """Whether a directory has descriptions of Intel GPUs."""
    return bool(intel_files(directory))


def load_generation(directory: str | None, verx10: int) -> dict[str, Any]:
    """The rows of a generation (125 for 12.5); ``directory`` None is the bundled edition.

    Raises UnsupportedGpu if it is not described.
    """
    generation: dict[str, Any] | None = COMMANDS.load(str(verx10), directory)
    if generation is None:
        known = ", ".join(str(number) for number in generations(directory).values())
        raise UnsupportedGpu(f"no descriptions of gen {verx10}, only {known}")
    return generation


def generations(directory: str | None) -> dict[str, int]:
    """Name -> verx10 of the generations, oldest first."""
    names: dict[str, int] = COMMANDS.load(rows.OVERVIEW, directory)["generations"]
    return dict(sorted(names.items(), key=lambda item: item[1]))


def devices(directory: str | None) -> dict[int, tuple[str, int]]:
    """PCI id -> marketing name and verx10; the bundled ones for an edition without any."""
    return COMMANDS.load(rows.DEVICES, directory) or COMMANDS.load(rows.DEVICES) or {}


def formats(directory: str | None) -> dict[int, str]:
    """Number -> name of a surface format; the bundled ones for an edition without any."""
    return COMMANDS.load(rows.FORMATS, directory) or COMMANDS.load(rows.FORMATS) or {}


def _compile(directory: str) -> dict[str, bytes]:
    from cffpy.intel.descriptions.compile import compile_files

    return compile_files(intel_files(directory))


COMMANDS = Store("intel", rows.SCHEMA, intel_files, _compile)

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
    known = generations(directory)
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
