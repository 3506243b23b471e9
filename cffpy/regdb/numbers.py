# SPDX-License-Identifier: MIT
"""Numbers in names and offsets that a user writes, read as C's strtol does with base 0."""

from __future__ import annotations

_DIGITS = "0123456789abcdef"


def c_number(text: str) -> int:
    """Leading space and sign, the prefixes 0x and 0; ends at a non-digit. No digits: 0."""
    stripped = text.lstrip(" \t\n\v\f\r")
    sign = -1 if stripped.startswith("-") else 1
    digits = (stripped[1:] if stripped[:1] in ("+", "-") else stripped).lower()
    base = 10
    if digits.startswith("0x") and digits[2:3] and digits[2] in _DIGITS:
        base, digits = 16, digits[2:]
    elif digits.startswith("0"):
        base = 8
    accepted = _DIGITS[:base]
    taken = 0
    for character in digits:
        if character not in accepted:
            break
        taken = taken * base + int(character, base)
    return sign * taken
