# SPDX-License-Identifier: MIT
"""Imports rules-ng XML files: the texts of adreno/*.regs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from cffpy.descriptions.importing import texts_of
from cffpy.regdb.compile import read_directory
from cffpy.regdb.import_subjects import carry_subjects, has_subjects
from cffpy.regdb.import_xml import import_files
from cffpy.regdb.model import Description
from cffpy.regdb.printer import print_description

_ORIGIN = "src/freedreno/registers/adreno"


def register_texts(
    paths: Sequence[str], former: Mapping[str, Description]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """These XML files as ``{"a6xx.regs": text}``, and the registers that need an ``about``.

    What registers are for comes from ``former``, the edition that is replaced. Raises
    RegisterDbError with file and line.
    """
    carried = carry_subjects(import_files(paths), former)
    return texts_of(carried.files, _text, ".regs"), carried.unknown


def former_edition(directories: Sequence[str]) -> dict[str, Description]:
    """The first of these editions that says what registers are for; empty where none does."""
    for directory in directories:
        if os.path.isdir(os.path.join(directory, "adreno")):
            files = read_directory(directory)
            if has_subjects(files):
                return files
    return {}


def _text(name: str, description: Description) -> str:
    return (
        "# SPDX-License-Identifier: MIT\n"
        f"# Facts from Mesa's {_ORIGIN}/{name}.xml (MIT), by `cffpy db import`.\n\n"
        f"{print_description(description)}"
    )
