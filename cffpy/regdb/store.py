# SPDX-License-Identifier: MIT
"""Loads the compiled generations of an edition of the register database.

The parser and the compiler are imported only if there is no up-to-date compiled form.
"""

from __future__ import annotations

import marshal

from cffpy import compiled
from cffpy._data import data_path
from cffpy.editions.folders import edition_name, editions, packaged_kind, source_files
from cffpy.errors import RegisterDbError
from cffpy.regdb import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KIND = "registers"
"""What compiled.py calls this sort of description."""


def load(directory: str | None, chip: str) -> dict[str, Any]:
    """The generation row of ``chip`` ("A6XX") of an edition; None is the bundled one.

    Raises RegisterDbError if the directory is not an edition, its descriptions are wrong, or it
    does not describe the chip.
    """
    row = _part(directory, chip)
    if row is None:
        known = ", ".join(chips(directory))
        raise RegisterDbError(f"the register database describes no {chip}, only {known}")
    return row


def load_subjects(directory: str | None, chip: str) -> dict[str, Any]:
    """What the registers of ``chip`` are for (rows.py: subjects); only ``subjects.py`` asks."""
    return _part(directory, rows.subjects_part(chip)) or {}


def load_block(directory: str | None, name: str) -> dict[str, Any] | None:
    """The generation row of a file that no generation imports ("a6xx_gmu"); None without it.

    Its registers are those of blocks beside the GPU's own register space: the GMU, the CP.
    """
    return _part(directory, rows.block_part(name))


def load_declared(directory: str | None, root: str) -> dict[str, Any]:
    """All that the root file ("a6xx") and its imports declare, regardless of conditions."""
    found = _part(directory, rows.declared_part(root))
    assert found is not None  # every generation names its root
    return found


def chips(directory: str | None) -> tuple[str, ...]:
    """The generations that an edition describes, lowest first."""
    return tuple(_overview(directory)["chips"])


def describing(chip: str) -> str | None:
    """The directory of the first installed edition that describes a generation, or None."""
    return next((one for one in editions().values() if chip in chips(one)), None)


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


def compile_edition(directory: str) -> dict[str, bytes]:
    """Parse and compile an edition: the parts that ``load`` reads, also for the wheel."""
    from cffpy.regdb.compile import compile_directory

    return compile_directory(directory, edition_name(directory))


def _overview(directory: str | None) -> dict[str, Any]:
    found = _part(directory, rows.OVERVIEW)
    assert found is not None  # every compiled form has it
    return found


def _part(directory: str | None, name: str) -> dict[str, Any] | None:
    path = data_path("register_db") if directory is None else directory
    kind = packaged_kind(KIND, path)
    content = compiled.load_packaged(kind, rows.SCHEMA, name) if kind else None
    if content is None:
        sources = source_files(path)
        content = compiled.load(KIND, rows.SCHEMA, sources, lambda: compile_edition(path), name)
    loaded: dict[str, Any] | None = marshal.loads(content) if content else None
    return loaded
