# SPDX-License-Identifier: MIT
"""How names of registers and fields are spelt: ``RB_MRT[1].CONTROL``, and what else is understood.

All commands print indices in decimal, but commands that stand for a program of Mesa, which prints
``RB_MRT[0x1].CONTROL``. Both are understood everywhere, in upper and lower case.
"""

from __future__ import annotations

import re

_INDEX = re.compile(r"\[(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})\]")

#: A name of a register with an index, maybe with ``*``, ``?``, ``%`` or fields, and nothing else.
_INDEXED_NAME = r"[A-Za-z][A-Za-z0-9_%*?]*\[0[xX][0-9a-fA-F]{1,16}\][A-Za-z0-9_.%*?\[\]]*"
_SQL_LITERAL = re.compile(rf"'({_INDEXED_NAME})'")


def decimal_indices(name: str) -> str:
    """The name with indices in decimal: ``RB_MRT[10].CONTROL`` for ``RB_MRT[0xa].CONTROL``."""
    return _INDEX.sub(_decimal, name) if "[" in name else name


def folded(name: str) -> str:
    """The name, or a pattern of names, as it is printed: in capitals, with decimal indices."""
    return decimal_indices(name).upper()


def parse_index(text: str) -> int | None:
    """The number of an index, decimal or with 0x; None for anything else."""
    match = _INDEX.fullmatch(f"[{text}]")
    return None if match is None else _number(match[1])


def folded_literals(query: str) -> str:
    """A query of SQL whose literals ``'RB_MRT[0x1].CONTROL'`` have decimal indices."""
    return _SQL_LITERAL.sub(lambda match: f"'{decimal_indices(match[1])}'", query)


def _decimal(match: re.Match[str]) -> str:
    return f"[{_number(match[1])}]"


def _number(text: str) -> int:
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


def names_of_halves(name: str) -> tuple[str, str]:
    """The names by which the halves of a field of 64 bits are known."""
    return f"{name}_LO", f"{name}_HI"


def base_of_halves(low: str) -> str:
    """The name of an address whose lower half is the field ``low``."""
    return low.removesuffix("_LO")
