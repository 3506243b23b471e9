# SPDX-License-Identifier: MIT
"""Imports rules-ng XML files: the texts of adreno/*.regs."""

from __future__ import annotations

from collections.abc import Sequence

from cffpy.errors import RegisterDbError
from cffpy.regdb.import_xml import import_files
from cffpy.regdb.printer import print_description

_ORIGIN = "src/freedreno/registers/adreno"


def register_texts(paths: Sequence[str]) -> dict[str, str]:
    """These XML files as ``{"a6xx.regs": text}``. Raises RegisterDbError with file and line."""
    texts = {}
    for name, description in import_files(paths).items():
        try:
            texts[f"{name}.regs"] = header(name) + print_description(description)
        except ValueError as problem:
            raise RegisterDbError(str(problem), f"{name}.xml") from None
    return texts


def header(name: str) -> str:
    """The comment that starts the generated file of ``name``.xml."""
    return (
        "# SPDX-License-Identifier: MIT\n"
        f"# Facts from Mesa's {_ORIGIN}/{name}.xml (MIT), by `cffpy db import`.\n\n"
    )
