# SPDX-License-Identifier: MIT
"""Declarations that some copies of isaspec lack, and that Mesa 25.0.7 is known to have.

A copy without encode blocks has lost ``#cat3-src-gpr``, which stands between two of them: every
plain register as first or third source of category 3 would be ``no match``. It has also lost what
an encode block forces: DST_OFF of ``stg`` and ``stg.a`` is always 1, and no display shows it.

The importer adds either where it is missing; a complete Mesa tree imports unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from lark import Lark

from cffpy.isa.model import Bitset, Declaration, Preset
from cffpy.isa.parse import parse

_CAT3_SOURCE_REGISTER = """
bitset #cat3-src-gpr extends #cat3-src {
    display "{LAST}{HALF}{SRC}";
    field 0..7 SRC : #reg-gpr;
    pattern 8..9 00;
    field 10 LAST : bool "(last)";
    pattern 11..12 00;
}
"""

_PRESETS = {"#instruction-cat6-stg": (Preset("DST_OFF", 1),)}


def add_missing(declarations: list[Declaration], grammar: Lark) -> list[Declaration]:
    """``declarations`` with the known omissions filled, a bitset right behind its root."""
    names = {declaration.name for declaration in declarations}
    complete: list[Declaration] = []
    for declaration in declarations:
        if isinstance(declaration, Bitset) and not declaration.presets:
            presets = _PRESETS.get(declaration.name, ())
            declaration = replace(declaration, presets=presets)
        complete.append(declaration)
        if (
            isinstance(declaration, Bitset)
            and declaration.name == "#cat3-src"
            and "#cat3-src-gpr" not in names
        ):
            complete.extend(parse(_CAT3_SOURCE_REGISTER, "supplement", grammar).declarations)
    return complete
