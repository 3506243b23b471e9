# SPDX-License-Identifier: MIT
"""Loads the compiled generations of an edition of the register database.

The parser and the compiler are imported only if there is no up-to-date compiled form.
"""

from __future__ import annotations

from cffpy.descriptions.store import Store
from cffpy.editions.folders import edition_name, editions, source_files
from cffpy.errors import RegisterDbError
from cffpy.regdb import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(directory: str | None, chip: str) -> dict[str, Any]:
    """The generation row of ``chip`` ("A6XX") of an edition; None is the bundled one.

    Raises RegisterDbError if the directory is not an edition, its descriptions are wrong, or it
    does not describe the chip.
    """
    row: dict[str, Any] | None = REGISTERS.load(chip, directory)
    if row is None:
        known = ", ".join(chips(directory))
        raise RegisterDbError(f"the register database describes no {chip}, only {known}")
    return row


def load_subjects(directory: str | None, chip: str) -> dict[str, Any]:
    """What the registers of ``chip`` are for (rows.py: subjects); only ``subjects.py`` asks."""
    subjects: dict[str, Any] | None = REGISTERS.load(rows.subjects_part(chip), directory)
    return subjects or {}


def load_block(directory: str | None, name: str) -> dict[str, Any] | None:
    """The generation row of a file that no generation imports ("a6xx_gmu"); None without it.

    Its registers belong to blocks beside the GPU's own register space: the GMU, the CP.
    """
    row: dict[str, Any] | None = REGISTERS.load(rows.block_part(name), directory)
    return row


def load_declared(directory: str | None, root: str) -> dict[str, Any]:
    """All that the root file ("a6xx") and its imports declare, regardless of conditions."""
    row: dict[str, Any] | None = REGISTERS.load(rows.declared_part(root), directory)
    assert row is not None  # every generation names its root
    return row


def chips(directory: str | None) -> tuple[str, ...]:
    """The generations that an edition describes, lowest first."""
    return tuple(_overview(directory)["chips"])


def describing(chip: str) -> str | None:
    """The directory of the first installed edition that describes a generation, or None."""
    return next((edition for edition in editions().values() if chip in chips(edition)), None)


def decoding(directory: str | None, chip: str) -> str | None:
    """The directory of the edition that decodes a generation where ``directory`` is chosen.

    Another one only where the bundled edition, None, does not describe the generation.
    """
    is_described = directory is not None or chip in chips(None)
    return directory if is_described else describing(chip)


def edition(directory: str | None) -> str:
    """The name of an edition, such as "mesa 25.0.7"."""
    name: str = _overview(directory)["edition"]
    return name


def _overview(directory: str | None) -> dict[str, Any]:
    overview: dict[str, Any] | None = REGISTERS.load(rows.OVERVIEW, directory)
    assert overview is not None  # every compiled form has it
    return overview


def _compile(directory: str) -> dict[str, bytes]:
    from cffpy.regdb.compile import compile_directory

    return compile_directory(directory, edition_name(directory))


REGISTERS = Store("registers", rows.SCHEMA, source_files, _compile)
