# SPDX-License-Identifier: MIT
"""Declarations that some copies of isaspec lack and the recorded output shows to be there.

A copy without encode blocks has lost ``#cat3-src-gpr``, which stands between two of them: every
plain register as first or third source of category 3 would be ``no match``. The importer adds it
where a file declares its root but not itself; a complete Mesa tree imports unchanged.
"""

from __future__ import annotations

from lark import Lark

from cffpy.isa.model import Bitset, Declaration
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


def add_missing(declarations: list[Declaration], grammar: Lark) -> list[Declaration]:
    """``declarations`` with the known omissions filled, each right behind its root."""
    names = {declaration.name for declaration in declarations}
    complete: list[Declaration] = []
    for declaration in declarations:
        complete.append(declaration)
        if (
            isinstance(declaration, Bitset)
            and declaration.name == "#cat3-src"
            and "#cat3-src-gpr" not in names
        ):
            complete.extend(parse(_CAT3_SOURCE_REGISTER, "supplement", grammar).declarations)
    return complete
